package promptdb_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	rows "prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// aCollection is the collection that the tests make: the same each time that a command is sent.
func aCollection(owner prompt.UserID, ids ...prompt.ID) prompt.Collection {
	at := aShelf().CreatedAt
	return prompt.Collection{
		Owner: owner, Slug: "support", Version: 1, CreatedAt: at, UpdatedAt: at,
		CollectionDraft: prompt.CollectionDraft{
			Name: "Support", About: "For customers",
			Visibility: prompt.Public, Prompts: ids,
		},
	}
}

func makeCollection(owner prompt.UserID) func(context.Context, *promptdb.DB, *ring, prompt.Prompt) error {
	return func(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
		return db.AddCollection(ctx, "a_x", aCollection(owner, p.ID))
	}
}

func withCollection(r *ring, p *prompt.Prompt) {
	withWorkspace(r, p)
	require.NoError(r.t, makeCollection(shelf)(context.Background(), r.truth, r, *p))
}

func renameCollection(name string) func(*prompt.Collection) error {
	return func(c *prompt.Collection) error {
		c.Name = name
		return nil
	}
}

func changeCollection(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	_, err := db.EditCollection(ctx, shelf, "a_x", "support", renameCollection("Other"))
	return err
}

func deleteCollection(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	return db.RemoveCollection(ctx, shelf, "a_x", "support", func(prompt.Collection) error { return nil })
}

// collectionIs checks which version a collection has, 0 for none, and that each of its changes in a
// workspace has one event.
func collectionIs(owner prompt.UserID, version int64) func(*testing.T, *ring, prompt.Prompt, bool) {
	return func(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
		c, err := r.truth.Collection(context.Background(), owner, "support")
		require.NoError(t, err)
		has := int64(0)
		if c != nil {
			has = c.Version
			require.Equal(t, []prompt.ID{p.ID}, c.Prompts)
		}
		if ok {
			require.Equal(t, version, has)
		}
		if !prompt.IsWorkspace(owner) {
			return
		}
		events := map[prompt.EventType]int64{}
		for row, err := range table.All(context.Background(), r.store,
			promptdb.DefaultTables().Prompts, rows.EventsOf(owner)) {
			require.NoError(t, err)
			_, e, _ := rows.ParseEvent(row)
			if strings.HasPrefix(string(e.Type), "collection.") {
				require.Equal(t, "support", e.Name)
				require.Equal(t, prompt.UserID("a_x"), e.By)
				events[e.Type]++
			}
		}
		require.Equal(t, has, events[prompt.CollectionCreated]+
			events[prompt.CollectionChanged]-events[prompt.CollectionDeleted])
	}
}

func TestCollections(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	p := w.add("ann", draft("Listed"))
	require.NoError(t, w.AddCollection(ctx, "", aCollection("ann", p.ID)))
	taken := aCollection("ann")
	require.Equal(t, fault.Conflict, fault.Of(w.AddCollection(ctx, "", taken)))
	require.NoError(t, w.AddCollection(ctx, "", aCollection("bob")), "another owner's")

	c, err := w.EditCollection(ctx, "ann", "", "support", renameCollection("Support"))
	require.NoError(t, err)
	require.EqualValues(t, 1, c.Version, "nothing changed")
	w.clock.Advance(time.Second)
	c, err = w.EditCollection(ctx, "ann", "", "support", renameCollection("Help"))
	require.NoError(t, err)
	require.EqualValues(t, 2, c.Version)
	require.Equal(t, w.clock.Now().UTC().Truncate(time.Millisecond), c.UpdatedAt)
	_, err = w.EditCollection(ctx, "ann", "", "none", renameCollection("Help"))
	require.Equal(t, fault.NotFound, fault.Of(err))

	for i := range prompt.MaxCollections - 1 {
		more := aCollection("ann")
		more.Slug = fmt.Sprint("more-", i)
		require.NoError(t, w.AddCollection(ctx, "", more))
	}
	more := aCollection("ann")
	more.Slug = "one-more"
	require.Equal(t, prompt.QuotaCollections, fault.CodeOf(w.AddCollection(ctx, "", more)))
	all, err := w.Collections(ctx, "ann")
	require.NoError(t, err)
	require.Len(t, all, prompt.MaxCollections)
	require.Equal(t, c, all[len(all)-1], "by their slugs")
	w.check()

	refuse := fault.New(fault.Forbidden, "no")
	require.Equal(t, error(refuse),
		w.RemoveCollection(ctx, "ann", "", "support", func(prompt.Collection) error { return refuse }))
	for range 2 {
		require.NoError(t, w.RemoveCollection(ctx, "ann", "", "support", func(prompt.Collection) error { return nil }))
	}
	none, err := w.Collection(ctx, "ann", "support")
	require.NoError(t, err)
	require.Nil(t, none)
	require.NoError(t, w.AddCollection(ctx, "", more))
	w.check()
}

// TestCollectionsInABackup: it is itself again when it was restored.
func TestCollectionsInABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.shared("ann")
	require.NoError(t, w.AddCollection(t.Context(), "a_x", aCollection(shelf, p.ID)))
	require.NoError(t, w.AddCollection(t.Context(), "", aCollection("bob|x", p.ID)))
	first, left := w.backedUp()
	require.Empty(t, left)
	other := restoredFrom(t, bytes.NewBuffer(bytes.Clone(first.Bytes())))
	for _, owner := range []prompt.UserID{shelf, "bob|x"} {
		c, err := other.Collection(t.Context(), owner, "support")
		require.NoError(t, err)
		require.Equal(t, aCollection(owner, p.ID), *c)
	}
	second, left := other.backedUp()
	require.Empty(t, left)
	require.Equal(t, first.String(), second.String())
}

// TestForeignCollection: verify names a row that is none, readers see none, and anti-entropy leaves
// it alone.
func TestForeignCollection(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := aCollection("ann")
	c.Visibility = "secret"
	_, err := w.store.Write(t.Context(), promptdb.DefaultTables().Prompts,
		table.Op{Kind: table.Insert, Row: rows.CollectionRow(c)})
	require.NoError(t, err)
	differences := w.verified()
	require.Len(t, differences, 1)
	require.Contains(t, differences[0], "is no row that this version writes")
	all, err := w.Collections(t.Context(), "ann")
	require.NoError(t, err)
	require.Empty(t, all)
	_, err = w.Collection(t.Context(), "ann", "support")
	require.Equal(t, fault.NotFound, fault.Of(err))
	_, _, err = w.Sweep(t.Context())
	require.NoError(t, err)
	require.Len(t, w.verified(), 1)
}
