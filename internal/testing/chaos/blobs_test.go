package chaos_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/memory"
	"prompthub/internal/testing/chaos"
)

// TestBlobs loses the answer of a put, lets another land late, and stops its process at a third.
func TestBlobs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := chaos.NewWorld(time.Now())
		store := memory.NewBlobs(w.Now)
		p := w.Process("p")
		b := p.Blobs(store)
		require.NoError(t, b.Create(t.Context(), "pictures"))
		body := make(chan string, 1)
		call := func(do func(context.Context) error) (*chaos.Call, chan error) {
			got := make(chan error, 1)
			go func() { got <- do(t.Context()) }()
			synctest.Wait()
			require.Len(t, w.Pending(), 1)
			return w.Pending()[0], got
		}
		put := func(ctx context.Context) error { return b.Put(ctx, "pictures", "a.jpg", []byte("body")) }
		get := func(ctx context.Context) error {
			got, err := b.Get(ctx, "pictures", "a.jpg")
			body <- string(got.Body)
			return err
		}
		c, got := call(put)
		require.True(t, c.Write)
		require.Equal(t, "put pictures a.jpg", c.Label)
		c.Lose(chaos.ErrTimeout)
		require.ErrorIs(t, <-got, chaos.ErrTimeout)
		c, got = call(put)
		c.Pass()
		require.ErrorIs(t, <-got, blob.ErrExists, "the first has landed")

		c, got = call(func(ctx context.Context) error { return b.Delete(ctx, "pictures", "a.jpg") })
		land := c.Delay(chaos.ErrTimeout)
		require.ErrorIs(t, <-got, chaos.ErrTimeout)
		c, got = call(get)
		require.False(t, c.Write)
		c.Pass()
		require.NoError(t, <-got)
		require.Equal(t, "body", <-body)
		land()
		c, got = call(get)
		c.Pass()
		require.ErrorIs(t, <-got, blob.ErrNotFound)
		require.Empty(t, <-body)

		c, got = call(put)
		c.Stop(true)
		require.ErrorIs(t, <-got, chaos.ErrKilled)
		require.ErrorIs(t, put(t.Context()), chaos.ErrKilled)
		page, err := store.List(t.Context(), "pictures", "", 10, "")
		require.NoError(t, err)
		require.Len(t, page.Items, 1)
		other := w.Process("q").Blobs(store)
		c, got = call(func(ctx context.Context) error {
			_, err := other.List(ctx, "pictures", "a", 10, "")
			return err
		})
		require.Equal(t, "list pictures a", c.Label)
		c.Fail(blob.ErrBusy)
		require.ErrorIs(t, <-got, blob.ErrBusy)
	})
}
