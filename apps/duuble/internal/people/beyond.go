package people

import (
	"context"
	"strings"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An activity of a person is written into the homes of the last followers, as many as package feed
// says. The homes of all other followers read it from the list of the person. A home must know
// whose lists it reads, so each of these follows is marked, once, when a job of the person first
// stops before it. The row `fans` of the person says how far: the follows from before an instant
// are marked (`marked`), or will be by a job that has begun (`begun`). Instants are {inv}, as in
// frd|, and name no one.
//
// A follow that comes back has its old place. It may come while a job marks. So the job writes
// `begun` before it reads the list, and a follow reads `begun` after it was listed: one of the two
// finds the other.

const (
	beyondRows = "fb|"
	fansRow    = "fans"
	isBeyond   = "beyond"
	marked     = "marked"
	begun      = "begun"
	// markAtOnce is how many follows are marked at once.
	markAtOnce = 16
)

// instantOf returns the instant in a position of frd|.
func instantOf(position string) string {
	at, _, _ := strings.Cut(position, "|")
	return at
}

// MarkFans marks the followers of a person that were read, after a position, and reports whether
// there may be more to mark after them. isLast says that no more are listed. It is called with none
// before the first are read.
func (s *Service) MarkFans(ctx context.Context, user, after string, rows []table.Row,
	isLast bool,
) (more bool, err error) {
	after = instantOf(after)
	until, err := s.setFans(ctx, user, begun, after)
	if err != nil {
		return false, err
	}
	for i, row := range rows {
		if until != "" && instantOf(strings.TrimPrefix(row.Row, fanByTime)) > until {
			rows, isLast = rows[:i], true
			break
		}
	}
	err = rowstore.Each(ctx, len(rows), markAtOnce, func(ctx context.Context, i int) error {
		return s.markBeyond(ctx, lists.ID(rows[i]), user)
	})
	if err == nil && isLast {
		_, err = s.setFans(ctx, user, marked, after)
	}
	return !isLast, err
}

// setFans notes how far followers are marked, or will be, unless that is known, and returns the
// instant before which they are.
func (s *Service) setFans(ctx context.Context, user, column, after string) (until string, err error) {
	err = s.Change(ctx, s.Tables.Users, func(ctx context.Context) ([]table.Op, error) {
		row, err := s.userRow(ctx, user, fansRow)
		if err != nil {
			return nil, err
		}
		next := table.Row{Key: table.Key{Partition: schema.User(user), Row: fansRow}}
		was := map[string]string{}
		if row != nil {
			next.ETag = row.ETag
			was[begun], was[marked] = row.Props.Get(begun).Str(), row.Props.Get(marked).Str()
		}
		until = was[marked]
		if was[column] != "" && was[column] <= after {
			return nil, nil
		}
		was[column] = after
		for _, name := range []string{begun, marked} {
			if was[name] != "" {
				next.Props = append(next.Props, table.Prop{Name: name, Value: table.String(was[name])})
			}
		}
		return []table.Op{rowstore.Put(next)}, nil
	})
	return until, err
}

// markBeyond marks a follow that holds.
func (s *Service) markBeyond(ctx context.Context, from, to string) error {
	return s.Change(ctx, s.Tables.Users, func(ctx context.Context) ([]table.Op, error) {
		x, err := s.readTie(ctx, followRows, from, to)
		if err != nil || !x.isLive() || x.beyond {
			return nil, err
		}
		x.beyond = true
		return append([]table.Op{rowstore.Put(x.toRow())},
			listOps(from, beyondRows+rowstore.Descending(x.createdAt)+"|"+to, true)...), nil
	})
}

// catchUp marks a follow that has come into the list of followers at a place that is marked.
func (s *Service) catchUp(ctx context.Context, x *tie) error {
	row, err := s.userRow(ctx, x.to, fansRow)
	if err != nil || row == nil || x.beyond || rowstore.Descending(x.createdAt) < row.Props.Get(begun).Str() {
		return err
	}
	return s.markBeyond(ctx, x.from, x.to)
}

// Beyond returns up to most people: the home of a person must read their activities from their
// lists. The person followed them last.
func (s *Service) Beyond(ctx context.Context, user string, most int) (ids []string, err error) {
	rows, _, err := s.Budget().Rows(ctx, s.Tables.Users, table.Prefix(schema.User(user), beyondRows), most)
	for _, row := range rows {
		ids = append(ids, lists.ID(row))
	}
	return ids, err
}
