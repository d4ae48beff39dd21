package meet

import (
	"context"
	"errors"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Trace is a part of a table whose rows may name a member, in their keys or their properties.
// Forget takes the member out of such a row. It may be called again for a row that an earlier run
// has changed, or one that is gone.
type Trace struct {
	Table  string
	Range  table.Range
	Forget func(ctx context.Context, row table.Row, user string) error
}

// Traces are those of members, but for their chats, which come later, and for the account itself,
// the row of its address and what State has of it: they go last.
func (s *Service) Traces() []Trace {
	var all []Trace
	for _, name := range []string{
		s.Tables.Sessions, s.Tables.UserImages, s.Tables.UserPreferences, s.Tables.UserSettings,
		s.Tables.Pairs, s.Tables.Likes, s.Tables.LikesReceived, s.Tables.Matches, s.Tables.Blocks, s.Tables.Deck,
	} {
		all = append(all, Trace{Table: name, Forget: s.Drop(name)})
	}
	return all
}

// Drop returns what removes a row of a table that names a member.
func (s *Service) Drop(name string) func(context.Context, table.Row, string) error {
	return func(ctx context.Context, row table.Row, _ string) error { return s.RemoveKey(ctx, name, row.Key) }
}

// Blank empties texts of a row, unless it is gone. Others who change the row do so under its ETag,
// so none of them brings a text back.
func (s *Service) Blank(ctx context.Context, name string, key table.Key, texts ...string) error {
	var props table.Props
	for _, text := range texts {
		props = append(props, table.Prop{Name: text, Value: table.String("")})
	}
	err := s.Write(ctx, name, []table.Op{{Kind: table.Merge, Row: table.Row{Key: key, ETag: table.Any, Props: props}}})
	if err == nil || errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return rowstore.Unavailable(err)
}
