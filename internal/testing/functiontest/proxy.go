package functiontest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// dropped are the headers of a request that do not survive proxying: those of the connection, and
// marks of proxies before the host.
var dropped = []string{
	"Connection", "Keep-Alive", "Te", "Transfer-Encoding", "Upgrade", "Proxy-Authorization", "Proxy-Connection",
	"Forwarded", "X-Forwarded-Prefix", "Content-Length", "Host",
}

// ofConnection are the headers of an answer that the client does not see.
var ofConnection = []string{"Connection", "Keep-Alive", "Transfer-Encoding", "Upgrade", "Alt-Svc", "Proxy-Authenticate"}

// frontEndAddress is the address of the platform's front end, as the host sees it.
const frontEndAddress = "169.254.130.1"

// proxy passes a request on to the handler, and its answer to the client as it comes. A body of
// known length is read before that.
func (h *Host) proxy(w http.ResponseWriter, r *http.Request, f *function, path string) (err error) {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	in := h.records.begin(Invocation{Function: f.name, Forwarded: true})
	status := 0
	defer func() { h.records.end(in, status, false, err) }()
	ctx, cancel := context.WithTimeoutCause(r.Context(), h.app.runTime, errTimeout)
	context.AfterFunc(ctx, func() {
		if errors.Is(context.Cause(ctx), errTimeout) {
			h.worker.kill()
		}
	})
	res, err := h.sendProxied(ctx, r, in.ID, path, body)
	if err != nil {
		cancel()
		return err
	}
	status = res.StatusCode
	for name, values := range res.Header {
		if slices.Contains(ofConnection, name) {
			continue
		}
		for _, v := range values {
			if !ascii(v) {
				cancel()
				return errors.Join(errors.New("a header of the answer is not ASCII"), res.Body.Close())
			}
			w.Header().Add(name, v)
		}
	}
	w.WriteHeader(status)
	w.(*recorder).stream = &passing{res.Body, res.ContentLength, cancel}
	return nil
}

// A passing is the body of an answer that the client gets while the handler writes it.
type passing struct {
	io.ReadCloser
	length int64
	cancel func()
}

// Close ends the request to the handler.
func (s *passing) Close() error {
	s.cancel()
	return s.ReadCloser.Close()
}

// tryPause is how long the host waits for a handler that does not listen, at least.
const tryPause = 200 * time.Millisecond

// tries is how often the host sends a request that ended before the head of its answer.
const tries = 10

// sendProxied sends a request, one without a body again and again. A handler that was started anew
// meanwhile gets it too.
func (h *Host) sendProxied(ctx context.Context, r *http.Request, id, path string, body []byte) (*http.Response, error) {
	again := tries
	if r.ContentLength != 0 {
		again = 1
	}
	var res *http.Response
	var err error
	for range again {
		if err = h.worker.await(ctx); err != nil && !errors.Is(err, errExited) {
			return nil, err
		}
		var req *http.Request
		if req, err = h.proxied(ctx, r, id, path, body); err != nil {
			return nil, err
		}
		if res, err = h.roundTripProxied(req, r); err == nil {
			if err = h.killOver(r); err != nil {
				_ = res.Body.Close() // its connection has ended
			}
		}
		if err == nil || ctx.Err() != nil {
			break
		}
		if dial := (*net.OpError)(nil); errors.As(err, &dial) && dial.Op == "dial" {
			time.Sleep(tryPause) // a handler that is being started does not listen yet
		}
	}
	return res, err
}

// roundTripProxied sends a request once, and without a Content-Length up to as often as .NET does.
func (h *Host) roundTripProxied(req, from *http.Request) (*http.Response, error) {
	times := 1
	if from.ContentLength == 0 && len(from.Header["Content-Length"]) == 0 {
		times = attempts
	}
	for n := 1; ; n++ {
		var begun atomic.Bool
		res, err := sendWhole(h.fresh, req.WithContext(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
			GotFirstResponseByte: func() { begun.Store(true) },
		})))
		if err == nil || n == times || begun.Load() || req.Context().Err() != nil {
			return res, err
		}
	}
}

// proxied builds the request that the handler sees.
func (h *Host) proxied(ctx context.Context, r *http.Request, id, path string, body []byte) (*http.Request, error) {
	var content io.Reader = bytes.NewReader(body)
	if r.ContentLength < 0 {
		content = &bounded{r.Body, maxRequest}
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, "http://"+h.worker.addr, content)
	if err != nil {
		return nil, err
	}
	escaped := proxiedPath(path)
	decoded, err := url.PathUnescape(escaped)
	if err != nil {
		return nil, fmt.Errorf("path %q: %w", escaped, err)
	}
	req.URL.Path, req.URL.RawPath, req.URL.RawQuery = decoded, escaped, proxiedQuery(r.URL.RawQuery)
	for name, values := range r.Header {
		if !slices.Contains(dropped, name) {
			req.Header.Set(name, fold(name, values))
		}
	}
	announce(req, r)
	if r.Header.Get("User-Agent") == "" {
		req.Header["User-Agent"] = []string{""} // or Go would send its own
	}
	peer, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return nil, err
	}
	scheme := "http"
	if h.options.FrontEnd { // whose X-Forwarded-Proto the host believes
		peer, scheme = frontEndAddress, "https"
	}
	for name, value := range map[string]string{
		"X-Forwarded-For": peer, "X-Forwarded-Host": r.Host, "X-Forwarded-Proto": scheme, "X-Ms-Invocation-Id": id,
		"X-Azure-Functions-Hostversion": version, "X-Azure-Functions-Invocationid": id,
	} {
		req.Header.Set(name, value)
	}
	return req, nil
}

// proxiedPath returns the escaped path on which the host proxies a request for a received path.
// A slash that was escaped is escaped twice.
func proxiedPath(path string) string {
	var b strings.Builder
	for i := range len(path) {
		if c := path[i]; unreserved(c) || strings.IndexByte("/:@!$&'()*+,;=", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// proxiedQuery returns a query as the handler gets it, which is as it was sent but for escapes.
func proxiedQuery(query string) string {
	query = unescape(query, func(s string) bool { return len(s) == 1 && unreserved(s[0]) })
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; strings.IndexByte("\"<>\\^`", c) >= 0 || c >= utf8.RuneSelf ||
			c == '%' && !isEscape(query[i:]) {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// A bounded is a body in chunks, which may not be longer than one of known length.
type bounded struct {
	from io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.from.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, errors.New("the request is too long")
	}
	return n, err
}

// past is a deadline that is over.
var past = time.Unix(1, 0)

// leaves calls gone if the client ends the connection before stop is called.
func leaves(c net.Conn, in interface{ Peek(int) ([]byte, error) }, gone func()) (stop func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if _, err := in.Peek(1); err != nil {
			gone()
		}
	}()
	return func() {
		_ = c.SetReadDeadline(past) // a connection that is closed has nothing to read
		<-ended
		_ = c.SetReadDeadline(time.Time{})
	}
}
