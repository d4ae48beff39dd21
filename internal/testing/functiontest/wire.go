package functiontest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// The limits of the host's web server.
const (
	maxLine   = 8 << 10  // bytes of the first line
	maxHead   = 32 << 10 // bytes of the headers
	maxFields = 100
)

// A front is the host's web server. That of net/http refuses other requests than it does.
type front struct {
	net.Listener
	host *Host

	mu    sync.Mutex
	over  bool
	conns map[net.Conn]bool
	busy  sync.WaitGroup
}

func newFront(h *Host, l net.Listener) *front {
	return &front{Listener: l, host: h, conns: make(map[net.Conn]bool)}
}

// serve returns when all connections have ended after shut.
func (f *front) serve() {
	for {
		c, err := f.Accept()
		if err != nil {
			break
		}
		if f.add(c) {
			f.busy.Go(func() { f.connection(c) })
		}
	}
	f.busy.Wait()
}

func (f *front) add(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.over {
		_ = c.Close()
		return false
	}
	f.conns[c] = true
	return true
}

// shut closes the port and all connections.
func (f *front) shut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.over = true
	// Only a listener that is closed already can fail to close.
	_ = f.Close()
	for c := range f.conns {
		_ = c.Close()
	}
}

// connection answers one request after the other.
func (f *front) connection(c net.Conn) {
	defer func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.conns, c)
		_ = c.Close()
	}()
	in := bufio.NewReaderSize(c, maxHead)
	for {
		head, status, err := readHead(in)
		if err != nil {
			return
		}
		var r *http.Request
		if status == 0 {
			r, status = parseHead(head)
		}
		if status != 0 {
			// Closed, as the server does not know where the next request begins. The rest of
			// this one is read, so that the client sees the answer and no reset.
			_ = write(c, &recorder{status: status, header: http.Header{"Connection": {"close"}}},
				&http.Request{Close: true})
			_ = c.SetReadDeadline(time.Now().Add(time.Second))
			_, _ = io.Copy(io.Discard, in)
			return
		}
		if !f.one(c, in, r) {
			return
		}
	}
}

// one answers one request. It reports whether another may follow.
func (f *front) one(c net.Conn, in *bufio.Reader, r *http.Request) bool {
	body := io.LimitReader(in, r.ContentLength)
	if r.ContentLength < 0 {
		body = httputil.NewChunkedReader(in)
	}
	if r.ContentLength == 0 {
		r.Body = http.NoBody
	} else {
		r.Body = io.NopCloser(body)
		if r.Header.Get("Expect") != "" {
			if _, err := io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n"); err != nil {
				return false
			}
		}
	}
	r.RemoteAddr = c.RemoteAddr().String()
	w := &recorder{header: make(http.Header)}
	stop := func() {}
	if f.host.proxying {
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		r = r.WithContext(ctx)
		if r.ContentLength == 0 {
			stop = leaves(c, in, cancel)
		}
	}
	f.host.ServeHTTP(w, r)
	r.Close = r.Close || r.ContentLength < 0 || r.ContentLength > maxRequest ||
		strings.EqualFold(w.header.Get("Connection"), "close")
	if w.stream != nil {
		defer func() { _ = w.stream.Close() }() // it was read to its end, or the client is told
	}
	err := write(c, w, r)
	stop()
	if err != nil {
		return false
	}
	if r.Close {
		_ = c.SetReadDeadline(time.Now().Add(time.Second)) // unread bytes would reset the connection
	}
	if _, err := io.Copy(io.Discard, body); err != nil {
		return false
	}
	if r.ContentLength < 0 {
		_, _ = in.ReadSlice('\n') // the end of the chunks
	}
	return !r.Close
}

// readHead reads the first line and the headers of a request. The status is that of a refusal.
func readHead(in *bufio.Reader) (head []byte, status int, err error) {
	for fields := -1; ; fields++ {
		line, err := in.ReadSlice('\n')
		switch {
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return nil, 0, err
		case fields < 0 && len(line) > maxLine:
			return nil, http.StatusRequestURITooLong, nil
		case errors.Is(err, bufio.ErrBufferFull), fields > maxFields, len(head) > maxLine+maxHead:
			return nil, http.StatusRequestHeaderFieldsTooLarge, nil
		}
		head = append(head, line...)
		if len(bytes.TrimRight(line, "\r\n")) > 0 {
			continue
		}
		if fields >= 0 {
			if first := bytes.IndexByte(head, '\n'); len(head)-first > maxHead {
				return nil, http.StatusRequestHeaderFieldsTooLarge, nil
			}
			return head, 0, nil
		}
		head, fields = nil, fields-1 // an empty line before a request
	}
}

// parseHead reads a request without its body. The status is that of a refusal.
func parseHead(head []byte) (r *http.Request, status int) {
	first, rest, _ := strings.Cut(string(head), "\n")
	parts := strings.Split(strings.TrimRight(first, "\r"), " ")
	if len(parts) != 3 || !strings.HasPrefix(parts[1], "/") {
		return nil, http.StatusBadRequest
	}
	target := parts[1]
	if strings.ContainsFunc(target, func(c rune) bool { return c >= utf8.RuneSelf || c < ' ' }) {
		return nil, http.StatusBadRequest
	}
	path, query, has := strings.Cut(target, "?")
	if strings.Contains(path, "%00") {
		return nil, http.StatusBadRequest
	}
	if target = escapeStrays(path); has {
		target += "?" + query
	}
	if !ascii(rest) {
		if utf8.ValidString(rest) {
			return nil, http.StatusInternalServerError
		}
		return nil, http.StatusBadRequest
	}
	if status = refuseHost(rest, parts[2]); status != 0 {
		return nil, status
	}
	r, err := http.ReadRequest(bufio.NewReader(
		strings.NewReader(strings.ToUpper(parts[0]) + " " + target + " " + parts[2] + "\r\n" + rest)))
	if err != nil {
		return nil, http.StatusBadRequest
	}
	return r, 0
}

// escapeStrays escapes the percent signs of a path that begin no escape.
func escapeStrays(path string) string {
	var b strings.Builder
	for i := range len(path) {
		b.WriteByte(path[i])
		if path[i] == '%' && !isEscape(path[i:]) {
			b.WriteString("25")
		}
	}
	return b.String()
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c >= utf8.RuneSelf })
}

// refuseHost returns the status for a request whose Host is none, or zero.
func refuseHost(headers, proto string) int {
	var hosts []string
	for line := range strings.SplitSeq(headers, "\n") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "Host") {
			hosts = append(hosts, strings.TrimSpace(value))
		}
	}
	switch {
	case len(hosts) == 0 && proto == "HTTP/1.0":
		return http.StatusInternalServerError
	case len(hosts) != 1 || strings.ContainsAny(hosts[0], " /@,"):
		return http.StatusBadRequest
	}
	u, err := url.Parse("http://" + hosts[0])
	if err != nil || u.Hostname() == "" || strings.Contains(hosts[0], "..") {
		return http.StatusInternalServerError
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.Atoi(port); err != nil || n > 65535 {
			return http.StatusInternalServerError
		}
	}
	return 0
}

// A recorder is an answer on its way to a client.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
	stream *passing // instead of body, if the answer is passed on as it comes
}

// Header returns the headers to come.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader keeps the status.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write keeps a part of the body.
func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// write sends an answer, with its length unless it is passed on as it comes.
func write(to io.Writer, w *recorder, r *http.Request) error {
	w.WriteHeader(http.StatusOK)
	if w.header.Get("Date") == "" {
		w.header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	}
	if w.header.Get("Server") == "" {
		w.header.Set("Server", "Kestrel")
	}
	length := int64(w.body.Len())
	if n, err := strconv.ParseInt(w.header.Get("Content-Length"), 10, 64); err == nil && r.Method == http.MethodHead {
		length = n
	}
	res := &http.Response{
		StatusCode: w.status, ProtoMajor: 1, ProtoMinor: 1, Header: w.header,
		Body: io.NopCloser(&w.body), ContentLength: length, Request: r, Close: r.Close,
	}
	if w.stream != nil {
		res.Body = w.stream
		if r.Method != http.MethodHead {
			res.ContentLength = w.stream.length
		}
		if res.ContentLength < 0 {
			res.TransferEncoding = []string{"chunked"}
		}
		return res.Write(to)
	}
	out := bufio.NewWriter(to)
	if err := res.Write(out); err != nil {
		return err
	}
	return out.Flush()
}
