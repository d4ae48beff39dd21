package promptdb_test

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// freely limits no look into the storage.
func freely() error { return nil }

func ciToken(now time.Time, id string) promptdb.Token {
	return promptdb.Token{
		ID: id, OwnerID: "ann|a/b", OwnerName: "Ann", Name: "CI", Scopes: []string{"read", "write"},
		Secret:  [32]byte{1, 2, 3},
		Claimed: true, CreatedAt: now, ExpiresAt: now.Add(time.Hour),
	}
}

// The cells of the crash table.

func makeToken(ctx context.Context, db *promptdb.DB, r *ring, _ prompt.Prompt) error {
	r.tokens++
	return db.AddToken(ctx, ciToken(r.Now(), strings.Repeat(string('a'+rune(r.tokens)), 16)))
}

func tokenMade(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	listed, err := r.truth.Tokens(context.Background(), "ann|a/b")
	require.NoError(t, err)
	ids := make(map[string]bool)
	for _, token := range listed {
		ids[token.ID] = true
	}
	for i := range r.tokens {
		id := strings.Repeat(string('b'+rune(i)), 16)
		in, err := r.truth.Token(context.Background(), id, freely)
		require.NoError(t, err)
		require.False(t, in != nil && !ids[id], "a token that its owner does not see")
	}
	require.False(t, ok && len(listed) == 0)
}

func hasToken(r *ring, _ *prompt.Prompt) {
	require.NoError(r.t, r.truth.AddToken(context.Background(), ciToken(r.Now(), strings.Repeat("a", 16))))
}

func revokeToken(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	_, err := db.RemoveToken(ctx, "ann|a/b", strings.Repeat("a", 16), "a_x")
	return err
}

func tokenRevoked(t *testing.T, r *ring, _ prompt.Prompt, ok bool) {
	r.Advance(time.Minute) // also by an instance that believed it a moment ago
	in, err := r.truth.Token(context.Background(), strings.Repeat("a", 16), freely)
	require.NoError(t, err)
	listed, err := r.truth.Tokens(context.Background(), "ann|a/b")
	require.NoError(t, err)
	require.False(t, ok && (in != nil || len(listed) > 0))
	require.False(t, in != nil && len(listed) == 0, "a token that its owner does not see")
}

func useToken(ctx context.Context, db *promptdb.DB, _ *ring, _ prompt.Prompt) error {
	t, err := db.Token(ctx, strings.Repeat("a", 16), freely)
	if err == nil {
		db.TokenUsed(ctx, t)
	}
	return err
}

func tokenUsed(t *testing.T, r *ring, _ prompt.Prompt, _ bool) {
	listed, err := r.truth.Tokens(context.Background(), "ann|a/b")
	require.NoError(t, err)
	require.Len(t, listed, 1)
}

// tokenRow changes a row of the access tokens.
func (w *world) tokenRow(kind table.Kind, key table.Key, props ...table.Prop) {
	w.t.Helper()
	_, err := w.store.Write(w.t.Context(), promptdb.DefaultTables().AccessTokens,
		table.Op{Kind: kind, Row: table.Row{Key: key, ETag: table.Any, Props: props}})
	require.NoError(w.t, err)
}

func TestTokensInABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{strings.Repeat("a", 16), strings.Repeat("b", 16)} {
		require.NoError(t, w.AddToken(t.Context(), ciToken(w.clock.Now(), id)))
	}
	token, err := w.Token(t.Context(), strings.Repeat("b", 16), freely)
	require.NoError(t, err)
	w.TokenUsed(t.Context(), token)
	// One that a writer left half way is in no backup.
	w.tokenRow(table.Delete, table.Key{Partition: "t|" + strings.Repeat("a", 16), Row: "t"})
	var first, second bytes.Buffer
	_, err = w.Backup(t.Context(), &first, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(first.String(), `"kind":"token"`))
	other := newWorld(t)
	err = restore(t.Context(), other.DB, bytes.NewReader(first.Bytes()))
	require.NoError(t, err)
	require.Empty(t, other.found())
	restored, err := other.Token(t.Context(), strings.Repeat("b", 16), freely)
	require.NoError(t, err)
	require.Equal(t, token, restored)
	_, err = other.Backup(t.Context(), &second, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, first.String(), second.String())
	err = restore(t.Context(), other.DB, bytes.NewReader(first.Bytes()))
	require.ErrorContains(t, err, "not empty")
}

// Verify finds a token that lets somebody in and that its owner does not see as it is.
func TestVerifyTokens(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, id := range []string{strings.Repeat("a", 16), strings.Repeat("b", 16), strings.Repeat("c", 16)} {
		require.NoError(t, w.AddToken(t.Context(), ciToken(w.clock.Now(), id)))
	}
	require.Empty(t, w.found())
	w.tokenRow(table.Delete, table.Key{Partition: "u|ann%7Ca%2Fb", Row: strings.Repeat("a", 16)})
	w.tokenRow(table.Merge, table.Key{Partition: "u|ann%7Ca%2Fb", Row: strings.Repeat("b", 16)},
		table.Prop{Name: "Scopes", Value: table.String("read")})
	w.tokenRow(table.Delete, table.Key{Partition: "t|" + strings.Repeat("c", 16), Row: "t"})
	found := w.found()
	require.Len(t, found, 2)
	require.Contains(t, found[0], "its owner does not see")
	require.Contains(t, found[1], "Scopes")
}

// An aging store takes its time to read a row.
type aging struct {
	table.DB
	get func()
}

func (s *aging) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	row, err := s.DB.Get(ctx, name, key)
	s.get()
	return row, err
}

// A token is believed for a time that is counted from before it was read: what it says may be as
// old as that.
func TestTokenIsKeptFromBeforeItWasRead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := strings.Repeat("a", 16)
	require.NoError(t, w.AddToken(t.Context(), ciToken(w.clock.Now(), id)))
	reads := 0
	other := w.over(&aging{DB: w.store, get: func() { reads++; w.clock.Advance(4 * time.Second) }})
	for _, want := range []int{1, 1, 2} {
		_, err := other.Token(t.Context(), id, freely)
		require.NoError(t, err)
		require.Equal(t, want, reads)
		w.clock.Advance(2 * time.Second)
	}
}

func TestByAuthorListsWhatEveryoneMaySee(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := draft("public", "text")
	d.OwnTags = []string{"only in her own lists"}
	public := w.add("ann", d)
	hidden := draft("private", "text")
	hidden.Visibility = prompt.Private
	w.add("ann", hidden)
	page, err := w.ByAuthor(t.Context(), "ann", promptdb.Filter{}, "", 10)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, public.ID, page.Items[0].ID)
	require.Empty(t, page.Items[0].OwnTags)
}
