package discussions

import (
	"context"
	"slices"
	"time"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// MaxSaved is how many discussions a person may have saved.
const MaxSaved = 1000

const (
	savedRows   = "sv|"
	savedByTime = "svd|"
)

func savedRow(user, hub, discussion string, at time.Time) table.Row {
	return table.Row{
		Key:   table.Key{Partition: schema.User(user), Row: savedRows + hub + "|" + discussion},
		Props: table.Props{{Name: "saved_at", Value: table.Time(at)}},
	}
}

func savedInOrder(user, hub, discussion string, at time.Time) table.Row {
	return table.Row{
		Key: table.Key{
			Partition: schema.User(user),
			Row:       savedByTime + rowstore.Descending(at) + "|" + discussion,
		},
		Props: table.Props{{Name: "hub_id", Value: table.String(hub)}},
	}
}

// savedAt returns when a person has saved a discussion, the zero time if the person has not.
func (s *Service) savedAt(ctx context.Context, user, hub, discussion string) (time.Time, error) {
	row, err := s.GetRow(ctx, s.Tables.Users, savedRow(user, hub, discussion, time.Time{}).Key)
	if err != nil || row == nil {
		return time.Time{}, err
	}
	return row.Props.Get("saved_at").Time(), nil
}

// Save keeps a discussion for the caller, and returns since when. One that is kept stays so since
// the same time.
func (s *Service) Save(ctx context.Context, c people.Claim, hub, discussion string) (at time.Time, err error) {
	var t *thread
	full := false
	u, err := s.Hubs.MustBeIn(ctx, c, hub, func(ctx context.Context) (err error) {
		t, err = s.readThread(ctx, hub, discussion)
		return err
	}, func(ctx context.Context) error {
		rows, _, err := s.Budget().Rows(ctx, s.Tables.Users, table.Prefix(schema.User(c.UserID), savedRows), MaxSaved)
		full = len(rows) >= MaxSaved
		return err
	})
	if err == nil {
		err = s.mustSee(ctx, c.UserID, t)
	}
	if err != nil {
		return at, err
	}
	now := table.TimeOf(table.Ticks(s.Now()))
	err = s.Change(ctx, s.Tables.Users, func(ctx context.Context) (ops []table.Op, err error) {
		if at, err = s.savedAt(ctx, u.ID, hub, discussion); err != nil || !at.IsZero() {
			return nil, err
		}
		if full {
			return nil, fault.Coded(fault.Conflict, people.TooMany,
				"you have saved as many discussions as a person may; take one back first")
		}
		at = now
		return []table.Op{
			rowstore.Put(savedRow(u.ID, hub, discussion, now)),
			rowstore.Put(savedInOrder(u.ID, hub, discussion, now)),
		}, nil
	})
	return at, err
}

// Unsave keeps a discussion no longer. One that is not kept is as good.
func (s *Service) Unsave(ctx context.Context, c people.Claim, hub, discussion string) error {
	u, err := s.Hubs.MustBeIn(ctx, c, hub)
	if err != nil || !schema.IsID(discussion) {
		return err
	}
	return s.dropSaved(ctx, u.ID, hub, discussion)
}

func (s *Service) dropSaved(ctx context.Context, user, hub, discussion string) error {
	return s.Change(ctx, s.Tables.Users, func(ctx context.Context) ([]table.Op, error) {
		at, err := s.savedAt(ctx, user, hub, discussion)
		if err != nil || at.IsZero() {
			return nil, err
		}
		return []table.Op{
			rowstore.Removal(savedRow(user, hub, discussion, at).Key),
			rowstore.Removal(savedInOrder(user, hub, discussion, at).Key),
		}, nil
	})
}

// Saved returns the discussions that the caller has saved, of the hubs of which the caller is a
// member, the last that were saved first. Those that have gone for good are not kept any longer.
func (s *Service) Saved(ctx context.Context, c people.Claim, after string, limit int) (hubs.Page[Discussion], error) {
	var rows []table.Row
	next := ""
	u, err := s.People.Member(ctx, c, func(ctx context.Context) (err error) {
		in := lists.List{Table: s.Tables.Users, Partition: schema.User(c.UserID), Prefix: savedByTime}
		rows, next, err = lists.Read(ctx, s.Store, in, after, limit, s.ofMine(c.UserID))
		return err
	})
	if err != nil {
		return hubs.Page[Discussion]{}, err
	}
	found := make([]*thread, len(rows))
	err = rowstore.Each(ctx, len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		found[i], err = s.readThread(ctx, hubOf(rows[i]), lists.ID(rows[i]))
		return err
	})
	if err != nil {
		return hubs.Page[Discussion]{}, err
	}
	var all []*thread
	for i, t := range found {
		if t != nil {
			all = append(all, t)
			continue
		}
		ctx := context.WithoutCancel(ctx)
		s.Background(func() { // if it fails, the next read does it
			_ = s.dropSaved(ctx, u.ID, hubOf(rows[i]), lists.ID(rows[i]))
		})
	}
	items, err := s.describeThreads(ctx, u.ID, all, nil)
	return hubs.Page[Discussion]{Items: items, Next: next}, err
}

func hubOf(row table.Row) string { return row.Props.Get("hub_id").Str() }

// ofMine returns those of rows of saved discussions that are of hubs of a person.
func (s *Service) ofMine(user string) lists.Wanted {
	return func(ctx context.Context, rows []table.Row) (wanted []table.Row, err error) {
		var in []string
		for _, row := range rows {
			in = append(in, hubOf(row))
		}
		mine, err := s.Hubs.In(ctx, user, slices.Compact(slices.Sorted(slices.Values(in))))
		for _, row := range rows {
			if slices.Contains(mine, hubOf(row)) {
				wanted = append(wanted, row)
			}
		}
		return wanted, err
	}
}
