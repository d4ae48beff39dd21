package rowstore_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
)

// TestCachedListensToItsCaller: a caller who goes away waits no longer, the read goes on for the
// others, and it has a deadline of its own.
func TestCachedListensToItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var c rowstore.Cached[int]
		slow := func(ctx context.Context) (int, error) {
			select {
			case <-ctx.Done():
				return 0, ctx.Err()
			case <-time.After(3 * time.Second):
				return 7, nil
			}
		}
		leaves, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		stays := make(chan int)
		go func() {
			synctest.Wait() // the first caller's read is under way
			n, err := c.Now(t.Context(), time.Now, time.Minute, slow)
			assert.NoError(t, err)
			stays <- n
		}()
		began := time.Now()
		_, err := c.Now(leaves, time.Now, time.Minute, slow)
		require.Equal(t, fault.Unavailable, fault.Of(err))
		require.Equal(t, time.Second, time.Since(began))
		require.Equal(t, 7, <-stays)

		var other rowstore.Cached[int]
		began = time.Now()
		_, err = other.Now(context.WithoutCancel(t.Context()), time.Now, time.Minute,
			func(ctx context.Context) (int, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, rowstore.CallWithin, time.Since(began))
	})
}

// TestPanicOfASharedRead: a read that panics ends the request of each caller, and not the process.
// The next caller reads anew.
func TestPanicOfASharedRead(t *testing.T) {
	t.Parallel()
	var c rowstore.Cached[int]
	for range 2 {
		func() {
			defer func() { require.ErrorContains(t, recover().(error), "index out of range") }()
			_, _ = c.Now(t.Context(), time.Now, time.Minute, func(context.Context) (int, error) {
				var none []int
				return none[len(none)], nil
			})
		}()
	}
	n, err := c.Now(t.Context(), time.Now, time.Minute, func(context.Context) (int, error) { return 7, nil })
	require.NoError(t, err)
	require.Equal(t, 7, n)
}

// TestNewLRU: a full cache drops the entry that was not used for longest, and no other.
func TestNewLRU(t *testing.T) {
	t.Parallel()
	c := rowstore.NewLRU[string, int](2)
	c.Add("a", 1)
	c.Add("b", 2)
	c.Get("a")
	c.Add("c", 3)
	require.ElementsMatch(t, []string{"a", "c"}, c.Keys())
}

// TestCachedForgets: after Forget the next caller reads anew, and a read that had begun before is
// not kept.
func TestCachedForgets(t *testing.T) {
	t.Parallel()
	var c rowstore.Cached[int]
	began, goOn := make(chan struct{}), make(chan struct{})
	old := make(chan int)
	go func() {
		n, err := c.Now(t.Context(), time.Now, time.Hour, func(context.Context) (int, error) {
			close(began)
			<-goOn
			return 1, nil
		})
		assert.NoError(t, err)
		old <- n
	}()
	<-began
	c.Forget()
	read := func(context.Context) (int, error) { return 2, nil }
	n, err := c.Now(t.Context(), time.Now, time.Hour, read)
	require.NoError(t, err)
	require.Equal(t, 2, n, "read anew, while the old read goes on")
	close(goOn)
	require.Equal(t, 1, <-old)
	require.Equal(t, 2, c.Last())
}
