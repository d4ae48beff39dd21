package azure

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A reply is what a stub answers; err stands for a connection that breaks.
type reply struct {
	status int
	header map[string]string
	body   string
	err    error
}

// A sent is a request that a stub got.
type sent struct {
	*http.Request
	body string
}

// A stub is a transport that gives its replies in turn, the last one for ever.
type stub struct {
	mu      sync.Mutex
	replies []reply
	sent    []sent
}

func (s *stub) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		body, _ = io.ReadAll(req.Body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.replies[min(len(s.sent), len(s.replies)-1)]
	s.sent = append(s.sent, sent{req, string(body)})
	if r.err != nil {
		return nil, r.err
	}
	resp := &http.Response{
		StatusCode: r.status, Request: req, Header: http.Header{},
		Body: io.NopCloser(bytes.NewReader([]byte(r.body))), ContentLength: int64(len(r.body)),
	}
	for name, value := range r.header {
		resp.Header.Set(name, value)
	}
	return resp, nil
}

// stubbed returns a store of the public cloud that talks to a stub.
func stubbed(t *testing.T, replies ...reply) (*Store, *stub) {
	t.Helper()
	return stubbedAt(t, Config{ConnectionString: "AccountName=acct;AccountKey=a2V5"}, replies...)
}

func stubbedAt(t *testing.T, cfg Config, replies ...reply) (*Store, *stub) {
	t.Helper()
	s := &stub{replies: replies}
	store, err := newStore(cfg, s)
	require.NoError(t, err)
	return store, s
}

// refusal is the table service's answer of an error.
func refusal(status int, code string) reply {
	return reply{status: status, header: map[string]string{
		"x-ms-request-id": "rid",
		"Content-Type":    "application/json",
	}, body: odataError(code, "Some words.")}
}

func odataError(code, message string) string {
	return `{"odata.error":{"code":"` + code + `","message":{"lang":"en-US","value":"` + message + `\nRequestId:1"}}}`
}

// batchReply is the answer to a batch whose parts are given.
func batchReply(parts ...string) reply {
	var b strings.Builder
	b.WriteString("--batchresponse_1\r\nContent-Type: multipart/mixed; boundary=changesetresponse_2\r\n\r\n")
	for _, part := range parts {
		b.WriteString(
			"--changesetresponse_2\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n" +
				part + "\r\n")
	}
	b.WriteString("--changesetresponse_2--\r\n--batchresponse_1--\r\n")
	return reply{status: http.StatusAccepted, body: b.String()}
}

func done(etag string) string {
	part := "HTTP/1.1 204 No Content\r\nDataServiceVersion: 3.0;\r\n"
	if etag != "" {
		part += "ETag: " + etag + "\r\n"
	}
	return part + "\r\n"
}

func failed(status, code, message string) string {
	return "HTTP/1.1 " + status + "\r\nContent-Type: application/json\r\n\r\n" + odataError(code, message)
}
