package functiontest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// lost are the headers of a request that do not survive forwarding. The two content headers
// that do are set with the body.
var lost = []string{
	"Allow", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location",
	"Content-Md5", "Content-Range", "Content-Type", "Expires", "Last-Modified",
	"Expect", "Host", // not headers of their own to the client inside the host
}

// forward sends a copy of a request to the handler and its answer to the client. An answer of any
// status is a success to the host.
func (h *Host) forward(w http.ResponseWriter, r *http.Request, f *function, path string, body []byte) (err error) {
	in := h.records.begin(Invocation{Function: f.name, Forwarded: true})
	var a answer
	defer func() { h.records.end(in, a.status, false, err) }()
	if r.ContentLength < 0 {
		// The copied Transfer-Encoding has no content to go with.
		return errors.New("a chunked request cannot be forwarded")
	}
	if a, err = h.send(r.Context(), func(ctx context.Context) (*http.Request, error) {
		return copyOf(ctx, r, in.ID, h.worker.addr, path, body)
	}); err != nil {
		return err
	}
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that is gone changes nothing
	return nil
}

// copyOf builds the request that the handler sees.
func copyOf(ctx context.Context, r *http.Request, id, addr, path string, body []byte) (*http.Request, error) {
	escaped := forwarded(path)
	decoded, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", escaped, err)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, "http://"+addr, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery = decoded, escaped, merge(r.URL.Query())
	req.Host = r.Host
	req.Header = r.Header.Clone()
	for _, name := range lost {
		req.Header.Del(name)
	}
	if len(body) > 0 {
		if ct := r.Header.Get("Content-Type"); ct != "" {
			req.Header.Set("Content-Type", ct)
		}
	}
	mark(req, id)
	return req, nil
}

// mark adds the headers of the host to what there is.
func mark(req *http.Request, id string) {
	req.Header.Add("X-Azure-Functions-HostVersion", version)
	req.Header.Add("X-Azure-Functions-InvocationId", id)
	req.Header.Set("User-Agent", strings.TrimSpace(req.Header.Get("User-Agent")+" Azure-Functions-Host/"+version))
}

// merge rebuilds a query from a dictionary: the values of a repeated key become one.
func merge(query url.Values) string {
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(query)) {
		pairs = append(pairs, url.QueryEscape(key)+"="+strings.ReplaceAll(url.QueryEscape(strings.Join(query[key], ",")), "+", "%20"))
	}
	return strings.Join(pairs, "&")
}

// An answer of the handler, read to its end: nothing is streamed, and trailers are lost.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// send sends one request to the handler, which it waits for while it starts. A handler that
// takes longer than the time of a function is restarted, with all that it is doing.
func (h *Host) send(ctx context.Context, build func(context.Context) (*http.Request, error)) (answer, error) {
	if err := h.worker.await(ctx); err != nil && !errors.Is(err, errExited) {
		return answer{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, h.app.runTime, errTimeout)
	defer cancel()
	req, err := build(ctx)
	if err != nil {
		return answer{}, err
	}
	a, err := h.roundTrip(req)
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		h.worker.kill()
		return a, errTimeout
	}
	return a, err
}

var errTimeout = errors.New("functionTimeout is over, the handler is restarted")

// roundTrip follows no redirect and keeps no cookie.
func (h *Host) roundTrip(req *http.Request) (answer, error) {
	res, err := h.transport.RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, fmt.Errorf("read the answer: %w", err)
	}
	return answer{res.StatusCode, res.Header, body}, nil
}
