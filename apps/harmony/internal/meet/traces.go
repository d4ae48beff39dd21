package meet

import (
	"context"
	"errors"
	"strings"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/pairs"
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
	} {
		all = append(all, Trace{Table: name, Forget: s.Drop(name)})
	}
	all = append(all, Trace{
		Table: s.Tables.Mails, Range: table.Range{Partition: account.WaitRows},
		Forget: s.Drop(s.Tables.Mails),
	})
	// before pairs: they say which likes count
	all = append(all, Trace{Table: s.Tables.LikesReceived, Forget: s.forgetLike})
	for _, name := range []string{s.Tables.Pairs, s.Tables.Likes, s.Tables.Matches, s.Tables.Blocks, s.Tables.Deck} {
		all = append(all, Trace{Table: name, Forget: s.Drop(name)})
	}
	return all
}

// forgetLike takes a member out of a like that another one received. A secret like stays
// without its sender: if the number of them fell by one on the day when an account is erased, it
// would tell whose it was.
func (s *Service) forgetLike(ctx context.Context, row table.Row, user string) error {
	reader, secret := strings.CutSuffix(row.Partition, pairs.ReceivedBy("", true))
	if !secret || reader == user {
		return s.RemoveKey(ctx, s.Tables.LikesReceived, row.Key)
	}
	var of *User // nil if the reader is being erased, too
	var p pairs.Pair
	err := rowstore.Both(ctx, func(ctx context.Context) (err error) {
		of, err = s.readUser(ctx, reader)
		return err
	}, func(ctx context.Context) (err error) {
		p, err = s.readPair(ctx, reader, user)
		return err
	})
	if err != nil {
		return err
	}
	if of == nil || !p.Counts(p.Side(user), ticksOf(row.Key)) {
		return s.RemoveKey(ctx, s.Tables.LikesReceived, row.Key)
	}
	for at := ticksOf(row.Key); ; at++ { // two likes of the same instant are two
		unsigned := table.Key{Partition: row.Partition, Row: rowstore.Descending(table.TimeOf(at)) + "_"}
		err = s.Write(ctx, s.Tables.LikesReceived,
			[]table.Op{
				{Kind: table.Insert, Row: table.Row{Key: unsigned}},
				{Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}},
			})
		switch {
		case errors.Is(err, table.ErrExists):
		case err == nil || errors.Is(err, table.ErrNotFound): // an earlier run has come so far
			return nil
		default:
			return rowstore.Unavailable(err)
		}
	}
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
