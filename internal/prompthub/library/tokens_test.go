package library_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A timed service has a clock that a test moves.
type timed struct {
	*library.Service
	mu     sync.Mutex
	now    time.Time
	tables table.DB
	queues queue.Queues
}

func (s *timed) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *timed) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

func newTimed(t *testing.T) *timed {
	s := &timed{now: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	s.tables, s.queues = memory.NewTables(), memory.NewQueues(s.Now)
	s.Service = s.instance(t)
	return s
}

// instance returns another service over the same tables.
func (s *timed) instance(t *testing.T) *library.Service {
	db := promptdb.New(promptdb.Config{
		Store: s.tables, Queues: s.queues, Tables: promptdb.DefaultTables(), Now: s.Now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() }, Sleep: func(context.Context, time.Duration) error { return nil },
	})
	require.NoError(t, db.Create(t.Context()))
	return library.New(db, prompt.Rules{}, s.Now)
}

// as returns whom a token stands for.
func (s *timed) as(token string, claimed bool) (auth.User, error) {
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	return s.WithTokens(auth.Dev(), claimed, freely)(r)
}

// freely is a guess that nothing limits.
func freely(*http.Request) (wrong func(), err error) { return func() {}, nil }

func TestAccessTokens(t *testing.T) {
	t.Parallel()
	s := newTimed(t)
	ann := auth.User{ID: "ann", Name: "Ann", Roles: []string{auth.RoleAdmin}}
	made, token, err := s.CreateToken(t.Context(), ann,
		library.TokenDraft{Name: "CI", Scopes: []string{auth.ScopeWrite}})
	require.NoError(t, err)
	who, err := s.as(token, false)
	require.NoError(t, err)
	require.Equal(t, auth.User{ID: "ann", Name: "Ann", Grant: &auth.Grant{TokenID: made.ID, Scopes: []string{"write"}}},
		who)
	require.False(t, who.Admin())

	_, err = s.as(token, true)
	require.Equal(t, fault.Unauthenticated, fault.Of(err), "it was made where users sign in")
	_, other, err := s.CreateToken(t.Context(), ann,
		library.TokenDraft{Name: "other", Scopes: []string{auth.ScopeRead}})
	require.NoError(t, err)
	_, secret, _ := library.Tokens.Parse(other)
	_, err = s.Bearer(t.Context(), made.ID, secret, false, func() error { return nil })
	require.Equal(t, fault.Unauthenticated, fault.Of(err), "the secret of another token")

	_, _, err = s.Create(t.Context(), who, prompt.Draft{Title: "T", Text: "X", Visibility: prompt.Public}, "")
	require.Equal(t, fault.Forbidden, fault.Of(err), "others would see it")
	v, _, err := s.Create(t.Context(), who, prompt.Draft{Title: "T", Text: "X", Visibility: prompt.Private}, "")
	require.NoError(t, err)
	require.Equal(t, fault.Forbidden, fault.Of(s.Delete(t.Context(), who, v.ID, library.Match{Any: true})))
	_, _, err = s.CreateToken(t.Context(), who, library.TokenDraft{Name: "more", Scopes: auth.Scopes()})
	require.Equal(t, fault.Forbidden, fault.Of(err))

	s.pass(made.ExpiresAt.Sub(s.Now()) - time.Second)
	_, err = s.as(token, false)
	require.NoError(t, err)
	s.pass(time.Second)
	_, err = s.as(token, false)
	require.Equal(t, fault.Unauthenticated, fault.Of(err))
}
