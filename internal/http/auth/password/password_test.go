package password

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/argon2"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

func TestHash(t *testing.T) {
	t.Parallel()
	h := NewHasher()
	one, err := h.Hash(t.Context(), By{Name: "anna"}, "correct horse")
	require.NoError(t, err)
	require.Regexp(t, `^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$`, one)
	two, err := h.Hash(t.Context(), By{Name: "anna"}, "correct horse")
	require.NoError(t, err)
	require.NotEqual(t, one, two, "each has a salt of its own")
	for password, right := range map[string]bool{"correct horse": true, "correct horsE": false, "": false} {
		ok, renew, err := h.Verify(t.Context(), By{Name: "anna"}, password, one)
		require.NoError(t, err)
		require.Equal(t, right, ok, password)
		require.False(t, renew)
	}
}

// old makes the hash of the password "secret" with other costs.
func old(memory, passes uint32) string {
	salt := []byte("sixteen bytes !!")
	b := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=1$%s$%s", memory, passes, b(salt),
		b(argon2.IDKey([]byte("secret"), salt, passes, memory, 1, 32)))
}

func TestVerifyRenews(t *testing.T) {
	t.Parallel()
	h := NewHasher()
	for _, c := range []struct {
		memory, passes uint32
		renew          bool
	}{{8 << 10, 2, true}, {19 << 10, 1, true}, {19 << 10, 2, false}, {20 << 10, 3, false}} {
		ok, renew, err := h.Verify(t.Context(), By{Name: "anna"}, "secret", old(c.memory, c.passes))
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, c.renew, renew, c)
		ok, renew, err = h.Verify(t.Context(), By{Name: "anna"}, "Secret", old(c.memory, c.passes))
		require.NoError(t, err)
		require.False(t, ok || renew, "a wrong password renews nothing")
	}
}

// TestTestHasher: a hash for tests is of its password, and a Hasher of a process makes a new one of
// it.
func TestTestHasher(t *testing.T) {
	t.Parallel()
	hashed, err := NewTestHasher().Hash(t.Context(), By{Name: "anna"}, "secret")
	require.NoError(t, err)
	for h, renews := range map[*Hasher]bool{NewTestHasher(): false, NewHasher(): true} {
		ok, renew, err := h.Verify(t.Context(), By{Name: "anna"}, "secret", hashed)
		require.NoError(t, err)
		require.True(t, ok)
		require.Equal(t, renews, renew)
		ok, _, err = h.Verify(t.Context(), By{Name: "anna"}, "Secret", hashed)
		require.NoError(t, err)
		require.False(t, ok)
	}
}

// known is of argon2-cffi 25.1, which wraps the implementation of argon2's authors.
const known = "$argon2id$v=19$m=19456,t=2,p=1$cFPnkFNvVCa/FSZkvqnpnw$BZLoCa3nzSlj13bQ15FLV2gnRQxtOzbUDanhR6F4b/s"

func TestVerifyKnows(t *testing.T) {
	t.Parallel()
	ok, renew, err := NewHasher().Verify(t.Context(), By{Name: "anna"}, "пароль", known)
	require.NoError(t, err)
	require.True(t, ok)
	require.False(t, renew)
}

func TestVerifyOfNoAccount(t *testing.T) {
	t.Parallel()
	for _, password := range []string{"", "secret"} {
		ok, renew, err := NewHasher().Verify(t.Context(), By{Name: "anna"}, password, "")
		require.NoError(t, err)
		require.False(t, ok || renew)
	}
}

func TestDamaged(t *testing.T) {
	t.Parallel()
	good := old(8<<10, 1)
	for _, bad := range []string{
		"$", "secret", "x" + good, good + " ", good + "$", good[:len(good)-1],
		strings.Replace(good, "argon2id", "argon2i", 1),
		strings.Replace(good, "v=19", "v=16", 1), strings.Replace(good, "m=8192", "m=4194304", 1),
		strings.Replace(good, "m=8192", "m=+8192", 1),
		strings.Replace(good, "t=1", "t=0", 1), strings.Replace(good, "t=1", "t=17", 1),
		strings.Replace(good, "p=1", "p=0", 1), strings.Replace(good, "p=1", "p=256", 1),
	} {
		_, _, err := NewHasher().Verify(t.Context(), By{Name: "anna"}, "secret", bad)
		require.ErrorIs(t, err, errDamaged, bad)
	}
}

// A caller waits while all places are taken: until one is free, it goes away, or 10 s have passed.
// Callers who have signed in before have places of their own.
func TestWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHasher(cost{memory: 8, passes: 1, lanes: 1})
		places := h.others.free
		require.Equal(t, places, h.known.free)
		require.GreaterOrEqual(t, places, 1)
		require.LessOrEqual(t, places, 4)
		for range places {
			_, err := h.others.enter(t.Context(), By{Name: "mallory"})
			require.NoError(t, err)
		}
		begun := time.Now()
		_, err := h.Hash(t.Context(), By{Name: "anna"}, "secret")
		require.Equal(t, fault.Unavailable, fault.Of(err))
		require.Equal(t, httpjson.Busy, fault.CodeOf(err))
		require.Equal(t, 10*time.Second, time.Since(begun))
		begun = time.Now()
		_, err = h.Hash(t.Context(), By{Name: "anna", Known: true}, "secret")
		require.NoError(t, err)
		require.Zero(t, time.Since(begun))

		gone, leave := context.WithCancel(t.Context())
		leave()
		_, _, err = h.Verify(gone, By{Name: "anna"}, "secret", "")
		require.ErrorIs(t, err, context.Canceled)

		time.AfterFunc(9*time.Second, h.others.leave)
		_, err = h.Hash(t.Context(), By{Name: "anna"}, "secret")
		require.NoError(t, err)
		require.Equal(t, 1, h.others.free, "it gave its place back")
		require.Empty(t, h.others.waiting)
		require.Empty(t, h.others.turns)
	})
}

// TestTurns: a caller who has had fewer places comes first, and one with four hashes that wait is
// refused.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := newLine(1)
		leave, err := l.enter(t.Context(), By{Name: "mallory"})
		require.NoError(t, err)
		var order []string
		wait := func(name string) {
			go func() {
				leave, err := l.enter(t.Context(), By{Name: name})
				if err == nil {
					order = append(order, name)
					leave()
				}
			}()
			synctest.Wait()
		}
		for range 4 {
			wait("mallory")
		}
		_, err = l.enter(t.Context(), By{Name: "mallory"})
		require.Equal(t, httpjson.TooManyAtOnce, fault.CodeOf(err))
		require.Equal(t, fault.Limited, fault.Of(err))
		wait("eve")
		wait("eve")
		wait("anna")
		leave()
		synctest.Wait()
		require.Equal(t, []string{"eve", "anna", "mallory", "eve", "mallory", "mallory", "mallory"}, order)
		require.Equal(t, 1, l.free)
		require.Empty(t, l.waiting)
	})
}

// stay has a caller enter the line, work in it and leave. It returns how long the caller waited.
func stay(ctx context.Context, l *line, by By, work time.Duration) (time.Duration, error) {
	begun := time.Now()
	leave, err := l.enter(ctx, by)
	if err != nil {
		return 0, err
	}
	waited := time.Since(begun)
	time.Sleep(work)
	leave()
	return waited, nil
}

// TestNewcomers: somebody who comes for the first time does not wait for a hundred others who have
// been there again and again.
func TestNewcomers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const work = 100 * time.Millisecond
		l := newLine(1)
		ctx, stop := context.WithCancel(t.Context())
		var others sync.WaitGroup
		defer others.Wait()
		defer stop()
		enter := func(name string) (time.Duration, error) { return stay(ctx, l, By{Name: name}, work) }
		for i := range 90 { // who wait 9 s for a turn of each
			others.Go(func() {
				for ctx.Err() == nil {
					_, _ = enter(fmt.Sprint("wrong ", i))
				}
			})
		}
		time.Sleep(time.Minute)
		for n := range 5 {
			waited, err := enter(fmt.Sprint("anna ", n))
			require.NoError(t, err)
			require.LessOrEqual(t, waited, work)
			time.Sleep(50 * time.Second) // past the end of a minute, too
		}
		for range 20 { // almost as often as each of them
			waited, err := enter("bob")
			require.NoError(t, err)
			require.LessOrEqual(t, waited, 30*work)
			time.Sleep(10 * time.Second)
		}
		l.mu.Lock()
		kept := len(l.now) + len(l.before)
		l.mu.Unlock()
		require.LessOrEqual(t, kept, 2*96, "only those of two minutes are kept")
	})
}

// TestNetworks: somebody who comes for the first time does not wait for a flood of addresses that
// come once each, if these are in networks that have come before. In a network the caller who has
// had fewer places comes first.
func TestNetworks(t *testing.T) {
	t.Parallel()
	for what, address := range map[string]func(i int) By{
		"IPv4": func(i int) By { return At(fmt.Sprintf("203.0.%d.%d", i%8, i/8%256), "") },
		"IPv6": func(i int) By {
			return At(fmt.Sprintf("2001:db8:%x:%x::/64", i%8, i/8), fmt.Sprintf("2001:db8:%x::/48", i%8))
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const work = 100 * time.Millisecond
				l := newLine(1)
				ctx, stop := context.WithCancel(t.Context())
				var others sync.WaitGroup
				defer others.Wait()
				defer stop()
				enter := func(by By) (time.Duration, error) { return stay(ctx, l, by, work) }
				var came atomic.Int64
				for range 90 {
					others.Go(func() {
						for ctx.Err() == nil {
							_, _ = enter(address(int(came.Add(1))))
						}
					})
				}
				time.Sleep(time.Minute)
				for i := range 5 {
					waited, err := enter(At(fmt.Sprintf("198.51.%d.7", i), ""))
					require.NoError(t, err)
					require.LessOrEqual(t, waited, work)
					time.Sleep(20 * time.Second)
				}
			})
		})
	}
	require.Equal(t, By{Name: "203.0.113.7", Network: "203.0.113.0/24"}, At("203.0.113.7", ""))
	require.Equal(t, By{Name: "2001:db8::/64", Network: "2001:db8::/48"}, At("2001:db8::/64", "2001:db8::/48"))
	require.Equal(t, By{}, At("", ""))

	synctest.Test(t, func(t *testing.T) {
		l := newLine(1)
		leave, err := l.enter(t.Context(), At("203.0.113.1", ""))
		require.NoError(t, err)
		var order []string
		for _, by := range []By{At("203.0.113.1", ""), At("203.0.113.2", ""), At("198.51.100.1", "")} {
			go func() {
				leave, err := l.enter(t.Context(), by)
				if err == nil {
					order = append(order, by.Name)
					leave()
				}
			}()
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		require.Equal(t, []string{"198.51.100.1", "203.0.113.2", "203.0.113.1"}, order)
	})
}
