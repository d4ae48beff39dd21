package functiontest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

// lost are the headers of a request that do not survive forwarding. The two content headers
// that do are set with the body.
var lost = []string{
	"Allow", "Content-Disposition", "Content-Encoding", "Content-Language", "Content-Length", "Content-Location",
	"Content-Md5", "Content-Range", "Content-Type", "Expires", "Last-Modified",
	"Host", // not a header of its own to the client inside the host
}

// forward sends a copy of a request to the handler and its answer to the client. An answer of any
// status is a success to the host. A client that goes away is not looked for.
func (h *Host) forward(w http.ResponseWriter, r *http.Request, f *function, path string, body []byte) (err error) {
	in := h.records.begin(Invocation{Function: f.name, Forwarded: true})
	var a answer
	defer func() { h.records.end(in, a.status, false, err) }()
	if r.ContentLength < 0 {
		// The copied Transfer-Encoding has no content to go with.
		return errors.New("a chunked request cannot be forwarded")
	}
	if len(body) > 0 && !oneMediaType(r.Header["Content-Type"]) {
		return errors.New("the Content-Type is none")
	}
	if a, err = h.send(context.WithoutCancel(r.Context()), func(ctx context.Context) (*http.Request, error) {
		return copyOf(ctx, r, in.ID, h.worker.addr, path, body)
	}); err != nil {
		return err
	}
	if err := h.killOver(r); err != nil {
		return err
	}
	header, err := passed(a.header)
	if err != nil {
		return err
	}
	maps.Copy(w.Header(), header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that is gone changes nothing
	return nil
}

// oneMediaType reports whether the values of Content-Type are what the host can read.
func oneMediaType(values []string) bool {
	if len(values) == 0 {
		return true
	}
	kind, _, err := mime.ParseMediaType(values[0])
	return len(values) == 1 && err == nil && strings.Contains(kind, "/")
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
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery = decoded, escaped, merge(r.URL.RawQuery)
	req.Host = r.Host
	for name, values := range r.Header {
		if !slices.Contains(lost, name) {
			req.Header.Set(name, fold(name, values))
		}
	}
	announce(req, r)
	if ct := r.Header.Get("Content-Type"); len(body) > 0 && ct != "" {
		req.Header.Set("Content-Type", ct)
	}
	mark(req, id)
	return req, nil
}

// announce copies the header Trailer, although the trailers are lost. Go's client sends none in its
// usual spelling.
func announce(to, from *http.Request) {
	names := slices.Concat(to.Header["Trailer"], slices.Sorted(maps.Keys(from.Trailer)))
	to.Header.Del("Trailer")
	if len(names) > 0 {
		to.Header["trailer"] = []string{strings.Join(names, ", ")}
	}
}

// fold joins the lines of one header.
func fold(name string, values []string) string {
	switch name {
	case "Cookie":
		return strings.Join(values, "; ")
	case "User-Agent":
		return strings.Join(values, " ")
	}
	return strings.Join(values, ", ")
}

// mark adds the headers of the host to what there is.
func mark(req *http.Request, id string) {
	for name, value := range map[string]string{
		"X-Azure-Functions-Hostversion": version, "X-Azure-Functions-Invocationid": id,
		"User-Agent": "Azure-Functions-Host/" + version,
	} {
		req.Header.Set(name, fold(name, append(slices.Clone(req.Header[name]), value)))
	}
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

// attempts is how often a request without a body is sent.
const attempts = 4

// roundTrip sends a request. It follows no redirect and keeps no cookie. One without a body is sent
// again if the connection ended before the first byte of the answer.
func (h *Host) roundTrip(req *http.Request) (answer, error) {
	if req.ContentLength != 0 {
		return once(h.transport, req)
	}
	for n := 1; ; n++ {
		var sent, begun atomic.Bool
		// On a connection that was used before, Go would repeat some requests by itself.
		a, err := once(h.fresh, req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			WroteRequest:         func(httptrace.WroteRequestInfo) { sent.Store(true) },
			GotFirstResponseByte: func() { begun.Store(true) },
		})))
		if err == nil || n == attempts || !sent.Load() || begun.Load() || req.Context().Err() != nil {
			return a, err
		}
	}
}

// A sending is a body on its way to the handler.
type sending struct {
	io.ReadCloser

	left atomic.Int64
}

func (s *sending) Read(b []byte) (int, error) {
	n, err := s.ReadCloser.Read(b)
	s.left.Add(-int64(n))
	return n, err
}

// sendWhole sends a request. The host does not look at an answer that comes before the handler has
// read the body: it fails to send the rest.
func sendWhole(t *http.Transport, req *http.Request) (*http.Response, error) {
	body := &sending{ReadCloser: req.Body}
	if body.left.Store(req.ContentLength); req.ContentLength > 0 {
		req.Body = body
	}
	res, err := t.RoundTrip(req)
	if err == nil && body.left.Load() > 0 {
		return nil,
			errors.Join(fmt.Errorf("the handler answered %d before it had read the body, of which %d bytes are left",
				res.StatusCode, body.left.Load()), res.Body.Close())
	}
	return res, err
}

func once(t *http.Transport, req *http.Request) (answer, error) {
	res, err := sendWhole(t, req)
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
