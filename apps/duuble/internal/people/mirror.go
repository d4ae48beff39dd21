package people

import (
	"context"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Mirror is a row in the partition of a user that follows from a row elsewhere, and is counted
// there. It is written with the count in one batch, and only if its version is a later one. So
// messages may come twice, late and in any order, and the count is that of the live mirrors.
type Mirror struct {
	User    string
	Row     string // its key
	Version int64  // of what it follows from
	Live    bool   // one that is not is kept for its version, and not counted
	Props   table.Props
	Column  string // of the count
	Order   string // the key of a row by which live ones are listed; "" if there is none
}

func (s *Service) userRow(ctx context.Context, user, row string) (*table.Row, error) {
	return s.GetRow(ctx, s.Tables.Users, table.Key{Partition: schema.User(user), Row: row})
}

func isLive(row *table.Row) bool { return row != nil && !row.Props.Get(deleted).Bool() }

const (
	deleted   = "IsDeleted"
	tally     = "c|00"
	following = "following_count"
	followers = "followers_count"
	blocking  = "blocks_count"
)

// Reflect writes a mirror, unless there is one of this version or a later one, or no such user any
// more.
func (s *Service) Reflect(ctx context.Context, m Mirror) error {
	_, err := s.reflectMirror(ctx, m)
	return err
}

// reflectMirror is Reflect, and reports whether there is such a user.
func (s *Service) reflectMirror(ctx context.Context, m Mirror) (is bool, err error) {
	err = s.Change(ctx, s.Tables.Users, func(ctx context.Context) ([]table.Op, error) {
		var there, counts *table.Row
		var u *User
		reads := []func(context.Context) error{
			func(ctx context.Context) (err error) { u, err = s.readUser(ctx, m.User); return err },
			func(ctx context.Context) (err error) { there, err = s.userRow(ctx, m.User, m.Row); return err },
			func(ctx context.Context) (err error) { counts, err = s.userRow(ctx, m.User, tally); return err },
		}
		err := rowstore.All(ctx, reads...)
		if is = u != nil; err != nil || !is || there != nil && there.Props.Get("version").Int() >= m.Version {
			return nil, err
		}
		row := table.Row{
			Key: table.Key{Partition: schema.User(m.User), Row: m.Row},
			Props: append(m.Props[:len(m.Props):len(m.Props)],
				table.Prop{Name: "version", Value: table.Int64(m.Version)},
				table.Prop{Name: deleted, Value: table.Bool(!m.Live)}),
		}
		if there != nil {
			row.ETag = there.ETag
		}
		ops := []table.Op{rowstore.Put(row)}
		if isLive(there) != m.Live {
			ops = append(ops, countOp(m.User, counts, m.Column, m.Live))
			ops = append(ops, listOps(m.User, m.Order, m.Live)...)
		}
		return ops, nil
	})
	return is, err
}

// countOp returns the write of a count that becomes one more or one less. row is the row of all
// counts of the user, nil if there is none.
func countOp(user string, row *table.Row, column string, more bool) table.Op {
	op := table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: schema.User(user), Row: tally}}}
	n := int64(0)
	if row != nil {
		n, op.Kind, op.Row.ETag = row.Props.Get(column).Int(), table.Merge, row.ETag
	}
	if more {
		n++
	} else {
		n--
	}
	op.Row.Props = table.Props{{Name: column, Value: table.Int64(n)}}
	return op
}

// listOps returns the write of a row by which something is listed, or not any more.
func listOps(user, row string, live bool) []table.Op {
	key := table.Key{Partition: schema.User(user), Row: row}
	switch {
	case row == "":
		return nil
	case live:
		return []table.Op{{Kind: table.Insert, Row: table.Row{Key: key}}}
	}
	return []table.Op{rowstore.Removal(key)}
}

// Forget removes a mirror, and takes it out of its count and list if it is in them, unless keep
// says that it stays.
func (s *Service) Forget(ctx context.Context, m Mirror, keep func(*table.Row) bool) error {
	return s.Change(ctx, s.Tables.Users, func(ctx context.Context) ([]table.Op, error) {
		there, err := s.userRow(ctx, m.User, m.Row)
		if err != nil || there == nil || keep(there) {
			return nil, err
		}
		ops := []table.Op{{Kind: table.Delete, Row: table.Row{Key: there.Key, ETag: there.ETag}}}
		if !isLive(there) {
			return ops, nil
		}
		counts, err := s.userRow(ctx, m.User, tally)
		ops = append(ops, countOp(m.User, counts, m.Column, false))
		return append(ops, listOps(m.User, m.Order, false)...), err
	})
}
