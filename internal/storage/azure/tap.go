package azure

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/runtime"
)

// A tap takes the body of an answer away from the SDK, which would decode it into maps and
// encode it again, at twenty times the cost of reading it once. Addresses,
// signatures, repetition and headers stay the SDK's.
type tap struct {
	stub string // what the SDK gets to decode instead
	body string // what the service sent
}

// Stubs that the SDK takes for an answer without content.
const (
	emptyRow   = `{}`
	emptyPage  = `{"value":[]}`
	emptyBatch = "--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n--c\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n\r\n--c--\r\n--b--\r\n"
)

type tapKey struct{}

// tapped returns a context whose next request leaves the body of its answer in t.
func tapped(ctx context.Context, t *tap) context.Context {
	return context.WithValue(ctx, tapKey{}, t)
}

// bodyTap is the policy that does so. It belongs inside the repetition, so that an answer
// which breaks off counts as a failed attempt.
type bodyTap struct{}

func (bodyTap) Do(req *policy.Request) (*http.Response, error) {
	t, ok := req.Raw().Context().Value(tapKey{}).(*tap)
	if !ok {
		return req.Next()
	}
	runtime.SkipBodyDownload(req)
	resp, err := req.Next()
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		return resp, err
	}
	defer resp.Body.Close()
	var body strings.Builder
	if resp.ContentLength > 0 {
		body.Grow(int(resp.ContentLength))
	}
	if _, err := io.Copy(&body, resp.Body); err != nil {
		return nil, err
	}
	t.body = body.String()
	resp.Body = io.NopCloser(strings.NewReader(t.stub))
	return resp, nil
}
