package promptdb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A half is a store that makes tables in any order: here the last one first, and then only as many
// as may be.
type half struct {
	table.DB
	left int
}

func (h *half) Create(ctx context.Context, names ...string) error {
	for _, name := range slices.Backward(names) {
		if h.left--; h.left < 0 {
			return errors.New("that was all")
		}
		if err := h.DB.Create(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// TestReadyMeansAllTables: while a table is missing, Ready says no.
func TestReadyMeansAllTables(t *testing.T) {
	all := promptdb.DefaultTables().All()
	for n := range len(all) + 1 {
		db := promptdb.New(promptdb.Config{
			Store: &half{memory.NewTables(), n}, Queues: memory.NewQueues(time.Now),
			Tables: promptdb.DefaultTables(), Now: time.Now,
		})
		err := db.Create(t.Context())
		require.Equal(t, n == len(all), err == nil, "%d tables", n)
		require.Equal(t, n == len(all), db.Ready(t.Context()) == nil, "%d tables", n)
	}
}

func TestNewestAcrossMonthsAtEveryPageSize(t *testing.T) {
	w := newWorld(t)
	var want []string
	for i := range 40 {
		switch i {
		case 10:
			w.clock.Advance(time.Hour) // into the next month
		case 20:
			w.clock.Advance(100 * 24 * time.Hour) // and over an empty one
		}
		p := w.add("ann", draft(numbered(i)))
		want = append(want, p.Title)
	}
	hidden := draft("private")
	hidden.Visibility = prompt.Private
	w.add("ann", hidden)
	slices.Reverse(want)
	for limit := 1; limit <= 41; limit++ {
		require.Equal(t, want, w.newest(limit), "limit %d", limit)
	}
	w.run()
	w.check()
}

func TestMostLikedFollowsVotes(t *testing.T) {
	w := newWorld(t)
	var ps []prompt.Prompt
	for i := range 12 {
		ps = append(ps, w.add("ann", draft(numbered(i))))
	}
	// Number i gets 3i likes, so that several buckets are in use; number 0 is disliked.
	for i, p := range ps {
		for v := range 3 * i {
			w.vote(prompt.UserID(fmt.Sprintf("voter %d", v)), p.ID, prompt.Like)
		}
	}
	w.vote("critic", ps[0].ID, prompt.Dislike)
	w.run()
	w.check()
	var want []string
	for i := 11; i >= 0; i-- {
		want = append(want, numbered(i))
	}
	for limit := 1; limit <= 13; limit++ {
		require.Equal(t, want, w.mostLiked(limit), "limit %d", limit)
	}
	// The last becomes the first: across buckets, and back.
	for v := range 40 {
		w.vote(prompt.UserID(fmt.Sprintf("voter %d", v)), ps[0].ID, prompt.Like)
	}
	w.run()
	require.Equal(t, numbered(0), w.mostLiked(5)[0])
	for v := range 40 {
		w.vote(prompt.UserID(fmt.Sprintf("voter %d", v)), ps[0].ID, prompt.None)
	}
	w.run()
	w.check()
	require.Equal(t, numbered(0), w.mostLiked(5)[11])
}

func TestVotesAreExactUnderContention(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("hot"))
	var wg sync.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			for i := range 20 {
				v := []prompt.Vote{prompt.Like, prompt.Dislike, prompt.None}[(g+i)%3]
				_, err := w.Vote(context.Background(), prompt.UserID(fmt.Sprintf("voter %d", g)), p.ID, v)
				if err != nil {
					t.Errorf("vote: %v", err)
				}
			}
			if _, err := w.Vote(context.Background(), prompt.UserID(fmt.Sprintf("voter %d", g)),
				p.ID, prompt.Like); err != nil {
				t.Errorf("vote: %v", err)
			}
		})
	}
	wg.Wait()
	v, err := w.Get(t.Context(), "voter 3", p.ID)
	require.NoError(t, err)
	require.Equal(t, prompt.Tally{Likes: 16}, v.Unweighed())
	require.Equal(t, prompt.Like, v.MyVote)
	w.run()
	w.check()
}

func TestGoneAtOnce(t *testing.T) {
	takeAway := map[string]func(p prompt.Prompt) prompt.Prompt{
		"delete":     func(p prompt.Prompt) prompt.Prompt { p.DeletedAt = p.CreatedAt.Add(time.Hour); return p },
		"un-publish": func(p prompt.Prompt) prompt.Prompt { p.Visibility = prompt.Private; return p },
		"hide": func(p prompt.Prompt) prompt.Prompt {
			p.HiddenAt, p.HiddenBy = p.CreatedAt.Add(time.Hour), "mod"
			return p
		},
	}
	for name, take := range takeAway {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			p := w.add("ann", draft("A title of several words", "code-review", "text"))
			w.vote("bob", p.ID, prompt.Like)
			require.NotZero(t, w.publicRows())
			_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				return take(p), nil
			})
			require.NoError(t, err)
			require.Zero(t, w.publicRows())
			_, err = w.Get(t.Context(), "bob", p.ID)
			require.Equal(t, fault.NotFound, fault.Of(err))
			_, err = w.Vote(t.Context(), "bob", p.ID, prompt.Dislike)
			require.Equal(t, fault.NotFound, fault.Of(err))
			mine, err := w.MyVotes(t.Context(), "bob", prompt.None, "", 20)
			require.NoError(t, err)
			require.Empty(t, mine.Items)
			w.run()
			w.check()
			require.Zero(t, w.publicRows())
		})
	}
}

func TestEditMovesIndexRows(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("Old words", "text", "image"))
	_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Title, p.Tags = "New words", []prompt.Tag{"image", "testing"}
		p.Revision++
		return p, nil
	})
	require.NoError(t, err)
	w.check()
	require.Equal(t, []string{"New words"}, w.find(t, promptdb.Search{Tags: []prompt.Tag{"testing"}}, 5))
	require.Empty(t, w.find(t, promptdb.Search{Tags: []prompt.Tag{"text"}}, 5))
	require.Empty(t, w.find(t, promptdb.Search{Words: query(t, "old")}, 5))
	require.Equal(t, []string{"New words"}, w.find(t, promptdb.Search{Words: query(t, "new")}, 5))
}

func (w *world) find(t testing.TB, want promptdb.Search, limit int) []string {
	t.Helper()
	return w.titles(limit, func(after string) (promptdb.Page, error) { return w.Find(t.Context(), want, after, limit) })
}

func query(t testing.TB, q string) prompt.Query {
	t.Helper()
	parsed, err := prompt.ParseQuery(q)
	require.NoError(t, err)
	return parsed
}

func TestIdempotentAdd(t *testing.T) {
	w := newWorld(t)
	key := &promptdb.Idempotency{Key: "k", Body: "b"}
	var wg sync.WaitGroup
	ids := make([]prompt.ID, 20)
	made := make([]bool, 20)
	for i := range ids {
		p := w.made("ann", draft("once"))
		wg.Go(func() {
			got, isNew, err := w.Add(context.Background(), p, key)
			if err != nil {
				t.Errorf("add: %v", err)
			}
			ids[i], made[i] = got.ID, isNew
		})
	}
	wg.Wait()
	require.Len(t, slices.Compact(ids), 1)
	require.Equal(t, 1, len(slices.DeleteFunc(made, func(b bool) bool { return !b })))
	w.run()
	w.check()

	_, _, err := w.Add(t.Context(), w.made("ann", draft("other")), &promptdb.Idempotency{Key: "k", Body: "other"})
	require.Equal(t, fault.Invalid, fault.Of(err))
	_, isNew, err := w.Add(t.Context(), w.made("bob", draft("once")), key)
	require.NoError(t, err)
	require.True(t, isNew, "another user's key is another key")

	_, err = w.Change(t.Context(), "ann", ids[0], func(p prompt.Prompt) (prompt.Prompt, error) {
		p.DeletedAt = w.clock.Now()
		return p, nil
	})
	require.NoError(t, err)
	again, isNew, err := w.Add(t.Context(), w.made("ann", draft("once")), key)
	require.NoError(t, err)
	require.True(t, isNew, "the prompt was deleted: a new one takes its place")
	require.NotEqual(t, ids[0], again.ID)
	w.run()
	w.check()
}

func TestMyVotes(t *testing.T) {
	w := newWorld(t)
	var want []string
	for i := range 30 {
		p := w.add("ann", draft(numbered(i)))
		switch {
		case i%3 == 0:
			w.vote("bob", p.ID, prompt.Like)
			want = append(want, p.Title)
		case i%3 == 1:
			w.vote("bob", p.ID, prompt.Dislike)
		default:
			w.vote("bob", p.ID, prompt.Like)
			w.vote("bob", p.ID, prompt.None)
		}
	}
	own := draft("own and private")
	own.Visibility = prompt.Private
	p := w.add("bob", own)
	w.vote("bob", p.ID, prompt.Like)
	want = append(want, p.Title)
	slices.Reverse(want)
	for limit := 1; limit < 13; limit++ {
		got := w.titles(limit, func(after string) (promptdb.Page, error) {
			return w.MyVotes(t.Context(), "bob", prompt.Like, after, limit)
		})
		require.Equal(t, want, got, "limit %d", limit)
	}
	page, err := w.Newest(t.Context(), "", 30)
	require.NoError(t, err)
	require.NoError(t, w.MarkVotes(t.Context(), "bob", page.Items))
	for _, it := range page.Items {
		var n int
		_, err := fmt.Sscanf(it.Title, "Prompt number %d", &n)
		require.NoError(t, err)
		require.Equal(t, []prompt.Vote{prompt.Like, prompt.Dislike, prompt.None}[n%3], it.MyVote, it.Title)
	}
}

func TestBackupAndRestoreAreTheSameToTheByte(t *testing.T) {
	w := newWorld(t)
	_, err := w.Tags(t.Context())
	require.NoError(t, err)
	require.NoError(t, w.PutTag(t.Context(),
		prompt.TagInfo{Tag: "c++", DisplayName: "C++", SortOrder: 5, Active: false}))
	for i := range 30 {
		d := draft(numbered(i), "text")
		d.Text += "\r\n\t\"<&>\u2028 😀 日本語"
		if i%5 == 0 {
			d.Visibility = prompt.Private
		}
		p := w.made(prompt.UserID(fmt.Sprintf("author|%d", i%4)), d)
		w.clock.Advance(time.Millisecond)
		_, _, err := w.Add(t.Context(), p, &promptdb.Idempotency{Key: fmt.Sprint(i), Body: "b"})
		require.NoError(t, err)
		w.TouchUser(t.Context(), p.AuthorID, "")
		if d.Visibility == prompt.Public {
			for v := range i {
				w.vote(prompt.UserID(fmt.Sprintf("voter/%d", v)), p.ID, prompt.Vote(v%3-1))
			}
		}
		if i%7 == 3 {
			_, err := w.Change(t.Context(), p.AuthorID, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				p.DeletedAt = w.clock.Now()
				return p, nil
			})
			require.NoError(t, err)
		}
	}
	w.run()
	var first, second bytes.Buffer
	rows, err := w.Backup(t.Context(), &first, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, rows+2, strings.Count(first.String(), "\n"))

	other := newWorldOn(t, memory.NewTables())
	_, err = other.Tags(t.Context()) // a catalog that was filled already is replaced
	require.NoError(t, err)
	err = restore(t.Context(), other.DB, bytes.NewReader(first.Bytes()))
	require.NoError(t, err)
	other.run()
	other.check()
	_, err = other.Backup(t.Context(), &second, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, first.String(), second.String())
	require.Equal(t, w.mostLiked(7), other.mostLiked(7))

	err = restore(t.Context(), other.DB, bytes.NewReader(first.Bytes()))
	require.ErrorContains(t, err, "not empty")
	cut := first.Bytes()[:first.Len()-40]
	err = restore(t.Context(), newWorld(t).DB, bytes.NewReader(cut))
	require.Error(t, err)
}

func TestPurge(t *testing.T) {
	w := newWorld(t)
	stays := w.add("ann", draft("stays"))
	goes := w.made("ann", draft("goes", "text"))
	_, _, err := w.Add(t.Context(), goes, &promptdb.Idempotency{Key: "k", Body: "b"})
	require.NoError(t, err)
	for v := range 250 {
		w.vote(prompt.UserID(fmt.Sprintf("voter %d", v)), goes.ID, prompt.Like)
		w.vote(prompt.UserID(fmt.Sprintf("voter %d", v)), stays.ID, prompt.Like)
	}
	w.run()
	_, err = w.Change(t.Context(), "ann", goes.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.DeletedAt = w.clock.Now()
		return p, nil
	})
	require.NoError(t, err)
	w.clock.Advance(29 * 24 * time.Hour)
	n, err := w.Purge(t.Context())
	require.NoError(t, err)
	require.Zero(t, n)
	w.clock.Advance(3 * 24 * time.Hour)
	n, err = w.Purge(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	w.check()
	var backup bytes.Buffer
	_, err = w.Backup(t.Context(), &backup, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.NotContains(t, backup.String(), string(goes.ID))
	require.Equal(t, []string{"stays"}, w.mostLiked(5))
}

func TestRedrivePutsPoisonBack(t *testing.T) {
	w := newWorld(t)
	p := w.add("ann", draft("hot"))
	w.vote("bob", p.ID, prompt.Like)
	for _, name := range []string{promptdb.QueueMoves, promptdb.QueueRepairs} {
		w.clock.Advance(2 * time.Minute)
		ms, err := w.queues.Receive(t.Context(), name, 32, time.Minute)
		require.NoError(t, err)
		for _, m := range ms { // as the host does after five failures
			_, err := w.queues.Send(t.Context(), queue.Poison(name), m.Text, 0)
			require.NoError(t, err)
			require.NoError(t, w.queues.Delete(t.Context(), name, m.Receipt))
		}
	}
	w.run()
	got, err := w.Record(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Zero(t, got.Likes, "nobody projects the vote")
	n, err := w.Redrive(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n, "of the vote")
	w.run()
	w.check()
	got, err = w.Record(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Equal(t, int32(1), got.Likes)
}

func TestSweepRestsAfterAFullPass(t *testing.T) {
	w := newWorld(t)
	w.add("ann", draft("one"))
	swept, err := w.Swept(t.Context())
	require.NoError(t, err)
	require.Zero(t, swept)
	rows, differences, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.NotZero(t, rows)
	require.Zero(t, differences)
	first := w.clock.Now()
	swept, err = w.Swept(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, first, swept, 0)
	w.clock.Advance(time.Hour)
	rows, _, err = w.Sweep(t.Context())
	require.NoError(t, err)
	require.Zero(t, rows)
	w.clock.Advance(24 * time.Hour)
	rows, _, err = w.Sweep(t.Context())
	require.NoError(t, err)
	require.NotZero(t, rows)
}
