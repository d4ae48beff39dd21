package prompthub_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth"
	"prompthub/internal/memory"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

func TestRetire(t *testing.T) {
	store, q := memory.NewTables(), memory.NewQueues(time.Now)
	make := func() *prompthub.Service {
		db := promptdb.New(promptdb.Config{
			Store: store, Queues: q, Tables: promptdb.DefaultTables(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Background: func(f func()) { f() }, Sleep: func(context.Context, time.Duration) error { return nil },
		})
		require.NoError(t, db.Create(t.Context()))
		return prompthub.New(db, prompt.Rules{}, time.Now)
	}
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
