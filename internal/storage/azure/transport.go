package azure

import (
	"context"
	"net"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
)

// How long one attempt may take. Projections count on the deadline of a write: a sent request
// has landed, or failed for its sender, when it is over.
const (
	writeTimeout = 5 * time.Second
	readTimeout  = 10 * time.Second
)

// newTransport returns a transport that keeps a connection for every request of a busy
// instance: the default of two, or the SDK's of ten, would dial for most.
func newTransport(emulated bool) *http.Transport {
	idle := time.Minute
	if emulated {
		// Azurite closes after five, and a write that meets a closing connection is lost
		idle = 2 * time.Second
	}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 3 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   3 * time.Second,
		ExpectContinueTimeout: time.Second,
		MaxIdleConns:          512,
		MaxIdleConnsPerHost:   256,
		IdleConnTimeout:       idle,
	}
}

// clientOptions returns the options of both services. Their retry options are those of a
// write, so that a call which asks for nothing is sent once.
func clientOptions(rt http.RoundTripper, emulated bool) azcore.ClientOptions {
	opts := azcore.ClientOptions{
		Transport:        &http.Client{Transport: rt},
		Retry:            policy.RetryOptions{MaxRetries: -1, TryTimeout: writeTimeout},
		PerCallPolicies:  []policy.Policy{withoutBody{}},
		PerRetryPolicies: []policy.Policy{bodyTap{}},
	}
	if emulated {
		opts.PerCallPolicies = append(opts.PerCallPolicies, asciiBody{})
	}
	return opts
}

// repeatable returns a context whose requests are repeated a little, for those that do the
// same however often they are sent.
func repeatable(ctx context.Context) context.Context {
	return policy.WithRetryOptions(ctx, policy.RetryOptions{
		MaxRetries:    2,
		TryTimeout:    readTimeout,
		RetryDelay:    100 * time.Millisecond,
		MaxRetryDelay: time.Second,
	})
}
