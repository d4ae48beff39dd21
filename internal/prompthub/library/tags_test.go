package library_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// newService returns an instance of the application on stores, and its database.
func newService(t *testing.T, store table.DB, queues queue.Queues) (*library.Service, *promptdb.DB) {
	t.Helper()
	db := promptdb.New(promptdb.Config{
		Store: store, Queues: queues, Tables: promptdb.DefaultTables(), Now: time.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() }, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, db.Create(t.Context()))
	return library.New(db, prompt.Rules{}, time.Now), db
}

// TestSplitTags: what the catalog has, as it is written there, are tags of the catalog, and all
// else are own ones.
func TestSplitTags(t *testing.T) {
	s, _ := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	all := []string{" text ", "Text", "kitchen", "text", "kitchen", "retired", "gone"}
	var active []string
	catalog, err := s.Tags(t.Context(), auth.User{}, false)
	require.NoError(t, err)
	for _, tag := range catalog {
		if tag.Tag != "text" {
			active = append(active, string(tag.Tag))
		}
	}
	require.GreaterOrEqual(t, len(active), prompt.MaxTags)
	tags, own, err := s.SplitTags(t.Context(), append(all, active...), []prompt.Tag{"retired"})
	require.NoError(t, err)
	require.Len(t, tags, prompt.MaxTags)
	require.Equal(t, []prompt.Tag{"text", "retired"}, tags[:2])
	require.Equal(t, []string{"Text", "kitchen", "gone"}, own[:3])
	require.Equal(t, active[prompt.MaxTags-2:], own[3:])
}

func TestRetire(t *testing.T) {
	store, q := memory.NewTables(), memory.NewQueues(time.Now)
	make := func() *library.Service { s, _ := newService(t, store, q); return s }
	a, b := make(), make()
	who := auth.User{ID: "mod", Roles: []string{auth.RoleAdmin}}
	_, err := a.PutTag(t.Context(), who, prompt.TagInfo{Tag: "x", DisplayName: "Old", Active: false})
	require.NoError(t, err)
	_, err = b.Tags(t.Context(), who, true) // b remembers
	require.NoError(t, err)
	_, err = a.PutTag(t.Context(), who, prompt.TagInfo{Tag: "x", DisplayName: "New", Active: true})
	require.NoError(t, err)
	require.NoError(t, b.RetireTag(t.Context(), who, "x")) // answered: retired
	all, err := make().Tags(t.Context(), who, true)
	require.NoError(t, err)
	for _, tag := range all {
		if tag.Tag == "x" {
			t.Logf("%+v", tag)
			require.False(t, tag.Active, "retiring answered success")
		}
	}
}
