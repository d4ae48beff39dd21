package attempts

import (
	"context"
	"time"

	"prompthub/internal/http/httpjson"
)

// Limits of wrong passwords in 15 minutes, besides those of one address for one account.
const (
	wrongOfSite    = 40
	wrongOfNetwork = 2 * wrongOfSite
)

// A From is the address that a request comes from, and the network around it, "" where there is
// none.
type From struct{ Site, Network string }

// Password takes an attempt to sign in to an account. Wrong passwords of strangers must not keep
// its owner out: they count for their address, and make others who are not known wait some seconds.
func (a *Counter) Password(ctx context.Context, account string, from From,
	sleep func(context.Context, time.Duration) error,
) (done func(failed bool), err error) {
	limits := []Limit{{Name: ofAccount(account)}, {Name: atSite(account, from), Most: Most}}
	if from.Site != "" {
		limits = append(limits, Limit{Name: "at " + from.Site, Most: wrongOfSite})
	}
	if from.Network != "" {
		limits = append(limits, Limit{Name: "in " + from.Network, Most: wrongOfNetwork})
	}
	done, err = a.Begin(limits...)
	if err != nil {
		return nil, err
	}
	if wait := a.Delay(limits[0].Name); wait > 0 {
		resume := httpjson.Pause(ctx)
		err = sleep(ctx, wait)
		resume()
		if err != nil {
			done(false)
			return nil, err
		}
	}
	return done, nil
}

// Forgive forgets the wrong passwords for an account whose person has set a new one: all that slow
// others down, and those of the address that they come from.
func (a *Counter) Forgive(account string, from From) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range []string{ofAccount(account), atSite(account, from)} {
		if w, ok := a.failed.Get(name); ok {
			w.failures = 0
		}
	}
}

func ofAccount(account string) string { return "account " + account }

func atSite(account string, from From) string { return ofAccount(account) + " at " + from.Site }
