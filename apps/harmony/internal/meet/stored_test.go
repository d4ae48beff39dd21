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

// TestLikesAtOnceStored: forty pairs that like each other at the same instant, all at once, on the
// file and on Azurite: each has one match and one chat, and one of the two answers says so.
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
			account, err := azure.New(azure.Config{ConnectionString: azurite.WithBlobs(t, azurite.Account(t)), Blobs: true})
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
			const pairs = 40
			var people [pairs][2]meet.Claim
			for i := range people {
				for side := range people[i] {
					people[i][side] = w.enter(fmt.Sprint(i, " ", side))
				}
			}
			var likes [pairs][2]meet.Like
			var errs [pairs][2]error
			start := make(chan struct{})
			var wg sync.WaitGroup
			for i := range people {
				for side := range people[i] {
					wg.Go(func() {
						<-start
						likes[i][side], _, errs[i][side] = w.Like(ctx, people[i][side], people[i][1-side].UserID, nil)
					})
				}
			}
			close(start)
			wg.Wait()
			following.Wait()
			for i, pair := range people {
				require.NoError(t, errs[i][0])
				require.NoError(t, errs[i][1])
				require.NotEqual(t, likes[i][0].Match, likes[i][1].Match, "one of the two makes the match")
				for side, c := range pair {
					require.Equal(t, []string{pair[1-side].UserID}, all(t, w.Matches, c))
					page, err := w.Chats(ctx, c, "", 10)
					require.NoError(t, err)
					require.Len(t, page.Chats, 1)
					require.True(t, page.Chats[0].Open)
				}
			}
		})
	}
}
