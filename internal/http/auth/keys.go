package auth

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"prompthub/internal/fault"
)

const (
	keysLast   = time.Hour   // after that they are fetched anew, so that a withdrawn key is forgotten
	renewAgain = time.Minute // after a renewal that failed
)

// A keySet is the keys of an issuer. It fetches them when a token names one that it does not
// know, but not all the time: anybody can send such tokens.
type keySet struct {
	fetched func() *oidc.RemoteKeySet // returns a set that is still empty
	now     func() time.Time
	pace    *pace // of the fetches

	mu    sync.Mutex
	keys  *oidc.RemoteKeySet
	renew time.Time // when to replace keys
}

func newKeySet(ctx context.Context, address string, link http.RoundTripper, now func() time.Time) *keySet {
	pace := &pace{now: now}
	ctx = oidc.ClientContext(ctx, &http.Client{Transport: &paced{link, pace}})
	fetched := func() *oidc.RemoteKeySet { return oidc.NewRemoteKeySet(ctx, address) }
	return &keySet{fetched: fetched, now: now, pace: pace, keys: fetched(), renew: now().Add(keysLast)}
}

// VerifySignature returns the payload of a token that one of the keys signed. The verifier
// has checked the algorithm.
func (k *keySet) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	if k.due() {
		fresh := k.fetched()
		if payload, err := fresh.VerifySignature(ctx, token); !unfetched(err) {
			k.replace(fresh)
			return payload, err
		}
	}
	payload, err := k.current().VerifySignature(ctx, token)
	if errors.Is(err, errTooSoon) {
		// Another request may have fetched the key after this one looked for it and before it
		// tried to fetch it.
		payload, err = k.current().VerifySignature(ctx, token)
	}
	if unreadable(ctx, err) {
		return nil, k.pace.useless(errors.New("the issuer publishes keys that cannot be read"))
	}
	return payload, err
}

// unfetched reports whether a set has no answer because it has no keys: only such errors have a
// cause.
func unfetched(err error) bool { return errors.Unwrap(err) != nil }

// unreadable reports whether a set was fetched and is of no use.
func unreadable(ctx context.Context, err error) bool {
	return unfetched(err) && fault.Of(err) != fault.Unavailable && !errors.Is(err, errTooSoon) && ctx.Err() == nil
}

// due tells one caller to replace the keys. The others go on with those that are there.
func (k *keySet) due() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now().Before(k.renew) {
		return false
	}
	k.renew = k.now().Add(renewAgain)
	return true
}

func (k *keySet) replace(fresh *oidc.RemoteKeySet) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.keys, k.renew = fresh, k.now().Add(keysLast)
}

func (k *keySet) current() *oidc.RemoteKeySet {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.keys
}
