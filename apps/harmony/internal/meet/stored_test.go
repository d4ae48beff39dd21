package meet_test

import (
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/testing/azurite"
)

// TestLikesAtOnceStored: forty pairs that like each other at the same instant, on the file and on
// Azurite: each has one match and one chat, and one of the two answers says so.
func TestLikesAtOnceStored(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(*testing.T, *world){
		"file": func(t *testing.T, w *world) {
			t.Helper()
			file, err := embedded.Open(filepath.Join(t.TempDir(), "harmony.db"), w.clock.Now)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, file.Close()) })
			w.blobs = file.Blobs
			w.Service = w.over(file.Tables, file.Queues)
			w.Transact = file.Transact
		},
		"Azurite": func(t *testing.T, w *world) {
			t.Helper()
			account, err := azure.New(azure.Config{
				ConnectionString: azurite.WithBlobs(t, azurite.Account(t)),
				Blobs:            true,
			})
			require.NoError(t, err)
			w.blobs = account.Blobs
			w.Service = w.over(account.Tables, account.Queues)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			open(t, w)
			w.AllChats = meettest.Talks(w.Service)
			ctx := t.Context()
			require.NoError(t, w.Create(ctx))
			var following sync.WaitGroup
			w.Background = following.Go
			for i := range 40 {
				pair := [2]meet.Claim{w.enter(fmt.Sprint(i, " a")), w.enter(fmt.Sprint(i, " b"))}
				var likes [2]meet.Like
				var errs [2]error
				var wg sync.WaitGroup
				start := make(chan struct{})
				for side := range pair {
					wg.Go(func() {
						<-start
						likes[side], _, errs[side] = w.Like(ctx, pair[side], pair[1-side].UserID, nil)
					})
				}
				close(start)
				wg.Wait()
				require.NoError(t, errs[0])
				require.NoError(t, errs[1])
				require.NotEqual(t, likes[0].Match, likes[1].Match, "one of the two makes the match")
				for side, c := range pair {
					require.Equal(t, []string{pair[1-side].UserID}, all(t, w.Matches, c))
					page, err := w.Chats(ctx, c, "", 10)
					require.NoError(t, err)
					require.Len(t, page.Chats, 1)
					require.True(t, page.Chats[0].Open)
				}
			}
			following.Wait()
		})
	}
}
