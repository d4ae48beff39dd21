package promptdb_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// leaver has an id that keys hold encoded.
const leaver = "tenant|ann/42"

// traces returns where any table says a user or his key: in keys as they are encoded there, and in
// values. Events of workspaces may keep the key, which leads nowhere any more.
func (w *world) traces(user prompt.UserID) (found []string) {
	w.t.Helper()
	encoded := strings.NewReplacer("|", "%7C", "/", "%2F").Replace(string(user))
	for _, name := range promptdb.DefaultTables().All() {
		for row, err := range table.All(w.t.Context(), w.store, name, table.Range{}) {
			require.NoError(w.t, err)
			text := row.Partition + " " + row.Row
			for _, p := range row.Props {
				text += " " + p.Value.String()
			}
			key := w.AuthorKey(user)
			byKey := key != "" && strings.Contains(text, key) && !strings.HasPrefix(row.Row, "!ev|")
			if strings.Contains(text, string(user)) || strings.Contains(text, encoded) || byKey {
				found = append(found, name+": "+row.Key.String())
			}
		}
	}
	return found
}

// live has a user leave traces wherever there can be some, and returns bob's prompt that he liked.
func (w *world) live(user prompt.UserID) (liked prompt.Prompt) {
	w.t.Helper()
	ctx := w.t.Context()
	_, err := w.PutProfile(ctx, user, prompt.Profile{Handle: "ann-lee", Name: "Ann"})
	require.NoError(w.t, err)
	w.moved(user, "new|"+user)
	w.moved(user, "newer|"+user)
	require.NoError(w.t, w.AddToken(ctx,
		promptdb.Token{
			ID: "abc", OwnerID: user, OwnerName: "Ann", Name: "CI", Scopes: []string{"read"},
			CreatedAt: w.clock.Now(), ExpiresAt: w.clock.Now().AddDate(0, 0, 90),
		}))
	w.furnish(user)
	public := w.add(user, draft("Public", "text"))
	_, err = w.Change(ctx, user, public.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Text, p.Name, p.Labels = "other", "folder/new", []string{"production"}
		p.Source = &prompt.Source{Format: "markdown", File: string(user) + ".md", Bytes: []byte("other")}
		return p, nil
	})
	require.NoError(w.t, err)
	w.clock.Advance(time.Millisecond)
	keyed := w.made(user, prompt.Draft{
		Title: "Private", Text: include("folder/new|version=1"),
		Visibility: prompt.Private,
	})
	_, _, err = w.Add(ctx, keyed, &promptdb.Idempotency{Key: "key", Body: "body"})
	require.NoError(w.t, err)
	deleted := w.add(user, draft("Deleted"))
	_, err = w.Change(ctx, user, deleted.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.DeletedAt = w.clock.Now()
		return p, nil
	})
	require.NoError(w.t, err)
	liked = w.add("bob", draft("Bob's"))
	fork := w.made("bob", draft("A fork"))
	fork.ForkedFrom = prompt.ForkedFrom{ID: public.ID, Version: 1}
	_, _, err = w.Add(ctx, fork, nil)
	require.NoError(w.t, err)
	unvoted, hidden := w.add("bob", draft("Bob's second")), w.add("bob", draft("Bob's third"))
	w.vote("bob", public.ID, prompt.Like)
	w.vote("bob", liked.ID, prompt.Dislike)
	w.vote(user, liked.ID, prompt.Like)
	w.vote(user, public.ID, prompt.Like)
	require.NoError(w.t, w.Favorite(ctx, user, liked.ID))
	require.NoError(w.t, w.Favorite(ctx, user, keyed.ID))
	require.NoError(w.t, w.Favorite(ctx, "bob", public.ID))
	require.NoError(w.t, w.AddCollection(ctx, "", aCollection(user, liked.ID, public.ID)))
	require.NoError(w.t, w.AddCollection(ctx, "", aCollection("bob", public.ID, liked.ID)))
	w.vote(user, unvoted.ID, prompt.Like)
	w.vote(user, unvoted.ID, prompt.None) // which leaves a row that is in no list
	w.vote(user, hidden.ID, prompt.Like)
	// it cannot be seen now, to take the vote back
	_, err = w.Change(ctx, "bob", hidden.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.HiddenAt, p.HiddenBy, p.HiddenReason = w.clock.Now(), user, "Spam"
		return p, nil
	})
	require.NoError(w.t, err)
	w.run()
	w.check()
	return liked
}

// TestErase has an account erased whose user has left traces wherever there can be some: thirty
// days later no table has their id, prompts of others are there, and their tallies are without the
// user's votes.
func TestErase(t *testing.T) {
	t.Parallel()
	for name, store := range map[string]table.DB{
		"pages of any size": memory.NewShortPages(2),
		"whole pages":       memory.NewTables(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorldOn(t, store)
			ctx := t.Context()
			liked := w.live(leaver)
			at := w.clock.Now().AddDate(0, 0, 30)
			got, err := w.EraseAt(ctx, leaver, at)
			require.NoError(t, err)
			require.Equal(t, at, got)
			before := w.traces(leaver)
			w.check()

			w.clock.Advance(30 * 24 * time.Hour)
			got, err = w.EraseAt(ctx, leaver, w.clock.Now().AddDate(0, 0, 30))
			require.NoError(t, err)
			require.Equal(t, at, got, "the first day counts")
			n, err := w.Erase(ctx)
			require.NoError(t, err)
			require.Zero(t, n)
			require.Equal(t, before, w.traces(leaver), "its day has not passed")

			// a backup in between knows of it
			var first bytes.Buffer
			_, err = w.Backup(ctx, &first, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
			require.NoError(t, err)
			other := newWorld(t)
			other.clock.now = w.clock.Now()
			err = restore(ctx, other.DB, bytes.NewReader(first.Bytes()))
			require.NoError(t, err)
			other.check()

			for _, w := range []*world{w, other} {
				w.clock.Advance(24 * time.Hour)
				_, _, err = w.Sweep(ctx) // which remembers where it stopped
				require.NoError(t, err)
				n, err = w.Erase(ctx)
				require.NoError(t, err)
				require.Equal(t, 1, n)
				w.run()
				w.requireErased(leaver, liked.ID)
			}
		})
	}
}

// requireErased checks that nothing of a user is left, and that no other user lost anything.
func (w *world) requireErased(user prompt.UserID, liked prompt.ID) {
	w.t.Helper()
	ctx := w.t.Context()
	w.check()
	require.Empty(w.t, w.traces(user))
	var backup bytes.Buffer
	_, err := w.Backup(ctx, &backup, func(d promptdb.Difference) { w.t.Error(d) }, func(int) {})
	require.NoError(w.t, err)
	require.NotContains(w.t, backup.String(), user)
	other := newWorld(w.t)
	err = restore(ctx, other.DB, &backup)
	require.NoError(w.t, err)
	other.check()
	n, err := w.Erase(ctx)
	require.NoError(w.t, err)
	require.Zero(w.t, n)

	v, err := w.Get(ctx, "bob", liked)
	require.NoError(w.t, err)
	require.Equal(w.t, prompt.Tally{Dislikes: 1}, v.Unweighed())
	require.ElementsMatch(w.t, []string{"A fork", "Bob's", "Bob's second"}, w.newest(10))
	for _, w := range []*world{w, other} {
		_, err = w.PutProfile(ctx, "bob", prompt.Profile{Handle: "ann-lee"})
		require.Equal(w.t, fault.Invalid, fault.Of(err), "a handle is never given to another")
	}
}

// TestEraseTakenBack keeps an account whose user changed his mind, also where the wish was cut
// short.
func TestEraseTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.live(leaver)
	before := w.traces(leaver)
	_, err := w.EraseAt(ctx, leaver, w.clock.Now().AddDate(0, 0, 30))
	require.NoError(t, err)
	require.NoError(t, w.CancelErase(ctx, leaver))
	require.NoError(t, w.CancelErase(ctx, leaver))
	at, err := w.Erasure(ctx, leaver)
	require.NoError(t, err)
	require.True(t, at.IsZero())
	require.Equal(t, before, w.traces(leaver))
	// without a mark the row of the day is nothing, and one of another day neither
	for _, day := range []int{-3, -2} {
		w.userRow(table.Insert, table.Row{
			Key: table.Key{
				Partition: "erase|" + w.clock.Now().AddDate(0, 0, day).Format("20060102"),
				Row:       "tenant%7Cann%2F42",
			},
			Props: table.Props{{Name: "UserId", Value: table.String(leaver)}},
		})
	}
	w.check()
	n, err := w.Erase(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
	require.Equal(t, before, w.traces(leaver))
}

// TestVerifyErasure: a mark that no job would find is told.
func TestVerifyErasure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.EraseAt(t.Context(), leaver, w.clock.Now())
	require.NoError(t, err)
	w.check()
	key := table.Key{Partition: "erase|" + w.clock.Now().Format("20060102"), Row: "tenant%7Cann%2F42"}
	w.userRow(table.Delete, table.Row{Key: key, ETag: table.Any})
	require.Len(t, w.found(), 1)
}

// TestEraseForgetsPlaces: anti-entropy may have stopped in the middle of what the user wrote.
func TestEraseForgetsPlaces(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	state := promptdb.DefaultTables().SystemState
	place := base64.RawURLEncoding.EncodeToString([]byte("Prompts\x00u|tenant%7Cann%2F42\x00x"))
	for name, props := range map[string]table.Props{
		"PromptVotes": {
			{Name: "Next", Value: table.String("x")},
			{Name: "Votes", Value: table.String(fmt.Sprintf(`{"partition":"p|x","author":%q}`, leaver))},
		},
		"Prompts": {{Name: "Next", Value: table.String("1!" + place)}},
		"Users":   {{Name: "Next", Value: table.String("of others")}},
	} {
		_, err := w.store.Write(t.Context(), state,
			table.Op{Kind: table.Upsert, Row: table.Row{Key: table.Key{Partition: "sweep", Row: name}, Props: props}})
		require.NoError(t, err)
	}
	w.eraseToday(leaver)
	require.Empty(t, w.traces(leaver))
	for name, want := range map[string]string{"PromptVotes": "", "Prompts": "", "Users": "of others"} {
		row, err := w.store.Get(t.Context(), state, table.Key{Partition: "sweep", Row: name})
		require.NoError(t, err)
		require.Equal(t, want, row.Props.Get("Next").Str(), name)
	}
}

func (w *world) eraseToday(user prompt.UserID) {
	w.t.Helper()
	_, err := w.EraseAt(w.t.Context(), user, w.clock.Now())
	require.NoError(w.t, err)
	done, err := w.EraseNow(w.t.Context(), user, w.clock.Now().Add(time.Minute))
	require.NoError(w.t, err)
	require.True(w.t, done)
}

// TestEraseBeforeItsDay: an operator erases an account whose user has asked for it already, and has
// thirty days.
func TestEraseBeforeItsDay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	liked := w.live(leaver)
	_, err := w.EraseAt(t.Context(), leaver, w.clock.Now().AddDate(0, 0, 30))
	require.NoError(t, err)
	w.eraseToday(leaver)
	w.run()
	w.requireErased(leaver, liked.ID)
}

func markedToBeErased(r *ring, p *prompt.Prompt) {
	ctx := context.Background()
	votes("ann", prompt.Like)(r, p)
	votes("vera", prompt.Like)(r, p)
	require.NoError(r.t, chooseHandle(ctx, r.truth, r, *p))
	movedUser(r, p)
	_, err := r.truth.EraseAt(ctx, "ann", r.Now())
	require.NoError(r.t, err)
	r.Advance(24 * time.Hour)
}

func erase(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	_, err := db.Erase(ctx)
	if err != nil {
		r.timers = append(r.timers, func() error {
			_, err := r.truth.Erase(context.Background())
			return err
		})
	}
	return err
}

func erased(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	w := &world{DB: r.truth, t: t, store: r.store}
	if ok {
		// the handle has the user's name in it, and leads to no user
		require.Equal(t, []string{"Users: h|ann-lee / r"}, w.traces("ann"))
		id, err := r.truth.UserID(context.Background(), "ann-lee")
		require.NoError(t, err)
		require.Empty(t, id)
	}
}

func askToBeErased(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	_, err := db.EraseAt(ctx, "ann", r.Now().AddDate(0, 0, 30))
	return err
}

func toBeErased(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	at, err := r.truth.Erasure(context.Background(), "ann")
	require.NoError(t, err)
	require.True(t, !ok || !at.IsZero())
}

func keptAfterAll(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	return db.CancelErase(ctx, "ann")
}

// Settle leaves no message of an erased user on any queue, and those of others for their jobs.
func TestSettle(t *testing.T) {
	for name, w := range map[string]*world{"in steps": newWorld(t), "whole": newWholeWorld(t)} {
		t.Run(name, func(t *testing.T) {
			p := w.add("ann", draft("Hers"))
			q := w.add("bob", draft("His"))
			w.vote("ann", q.ID, prompt.Like)
			w.vote("eve", q.ID, prompt.Like)
			for _, poison := range []string{promptdb.QueueMoves + "-poison", promptdb.QueueRepairs + "-poison"} {
				for _, text := range []string{
					fmt.Sprintf(`{"v":1,"author":"ann","prompt":%q,"voter":"bob"}`, p.ID),
					fmt.Sprintf(`{"v":1,"author":"bob","prompt":%q,"voter":"ann"}`, q.ID),
					fmt.Sprintf(`{"v":1,"author":"bob","prompt":%q,"voter":"eve"}`, q.ID), "no message",
				} {
					_, err := w.queues.Send(t.Context(), poison, text, 0)
					require.NoError(t, err)
				}
			}
			_, err := w.EraseAt(t.Context(), "ann", w.clock.Now())
			require.NoError(t, err)
			done, err := w.EraseNow(t.Context(), "ann", w.clock.Now().Add(time.Hour))
			require.NoError(t, err)
			require.True(t, done)
			seen, err := w.Settle(t.Context(), "ann", w.clock.Now().Add(time.Hour))
			require.NoError(t, err)
			require.True(t, seen)
			left := map[string]int{}
			for _, queue := range []string{
				promptdb.QueueMoves, promptdb.QueueRepairs, promptdb.QueueMoves + "-poison",
				promptdb.QueueRepairs + "-poison",
			} {
				ms, err := w.queues.Receive(t.Context(), queue, 32, time.Minute)
				require.NoError(t, err)
				n, err := w.queues.Len(t.Context(), queue)
				require.NoError(t, err)
				require.Len(t, ms, n, "all can be seen again")
				for _, m := range ms {
					require.NotContains(t, m.Text, "ann")
					left[queue]++
				}
			}
			require.Equal(t, 2, left[promptdb.QueueMoves+"-poison"])
			require.Equal(t, 2, left[promptdb.QueueRepairs+"-poison"])
			require.NotZero(t, left[promptdb.QueueMoves], "the vote of another")
		})
	}
}
