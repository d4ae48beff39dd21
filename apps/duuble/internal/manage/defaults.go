package manage

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Bounds of the default feed.
const (
	MaxDefaultUsers = 20
	MaxOrder        = 999_999
)

const (
	settingsOfAll  = "cfg"
	defaultRows    = "df|"
	defaultUserRow = defaultRows + "%06d|%s"
)

// A DefaultUser is a person whose posts the default feed shows.
type DefaultUser struct {
	UserID   string
	Person   people.Person
	Order    int
	IsActive bool
}

// DefaultFeed returns the people of the default feed in order, without their names.
func (s *Service) DefaultFeed(ctx context.Context) ([]DefaultUser, error) {
	all, _, err := s.defaultUsers(ctx)
	return all, err
}

// defaultUsers reads them, and their rows.
func (s *Service) defaultUsers(ctx context.Context) (all []DefaultUser, rows []table.Row, err error) {
	rows, _, err = s.Budget().Rows(ctx, s.Tables.Admin, table.Prefix(settingsOfAll, defaultRows), MaxDefaultUsers+1)
	for _, row := range rows {
		order, user, _ := strings.Cut(strings.TrimPrefix(row.Row, defaultRows), "|")
		n, err := strconv.Atoi(order)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: an order of the default feed", table.ErrDamaged)
		}
		all = append(all, DefaultUser{UserID: user, Order: n, IsActive: row.Props.Get("is_active").Bool()})
	}
	return all, rows, err
}

// DefaultUsers returns the people of the default feed, to those who manage the service.
func (s *Service) DefaultUsers(ctx context.Context, c people.Claim) (all []DefaultUser, err error) {
	_, err = s.People.Admin(ctx, c, func(ctx context.Context) (err error) {
		all, _, err = s.defaultUsers(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(all))
	for i, one := range all {
		ids[i] = one.UserID
	}
	persons, err := s.People.People(ctx, ids)
	for i := range all {
		all[i].Person = persons[all[i].UserID]
	}
	return all, err
}

// SetDefaultUser puts a person into the default feed, or changes the place of one.
func (s *Service) SetDefaultUser(ctx context.Context, c people.Claim, user string, order int,
	active bool,
) (DefaultUser, error) {
	var b rules.Broken
	b.Add(order >= 1 && order <= MaxOrder, "displayOrder", "give 1 to 999,999")
	persons := map[string]people.Person{}
	_, err := s.People.Admin(ctx, c, func(ctx context.Context) (err error) {
		if schema.IsID(user) {
			persons, err = s.People.People(ctx, []string{user})
		}
		return err
	})
	if err == nil {
		err = b.Err()
	}
	if err == nil && persons[user].ID == "" {
		err = fault.Coded(fault.NotFound, people.UserNotFound, "there is no such person")
	}
	if err != nil {
		return DefaultUser{}, err
	}
	one := DefaultUser{user, persons[user], order, active}
	return one, s.placeDefault(ctx, user, &one)
}

// RemoveDefaultUser takes a person out of the default feed. One who is not in it is as good.
func (s *Service) RemoveDefaultUser(ctx context.Context, c people.Claim, user string) error {
	if _, err := s.People.Admin(ctx, c); err != nil {
		return err
	}
	return s.placeDefault(ctx, user, nil)
}

// placeDefault writes the row of a person, or removes it.
func (s *Service) placeDefault(ctx context.Context, user string, to *DefaultUser) error {
	return s.Change(ctx, s.Tables.Admin, func(ctx context.Context) (ops []table.Op, err error) {
		all, rows, err := s.defaultUsers(ctx)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(all, func(one DefaultUser) bool { return one.UserID == user })
		if to == nil {
			if at >= 0 {
				ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: rows[at].Key, ETag: rows[at].ETag}})
			}
			return ops, nil
		}
		row := table.Row{
			Key:   table.Key{Partition: settingsOfAll, Row: fmt.Sprintf(defaultUserRow, to.Order, user)},
			Props: table.Props{{Name: "is_active", Value: table.Bool(to.IsActive)}},
		}
		switch {
		case at >= 0 && rows[at].Key == row.Key:
			row.ETag = rows[at].ETag
			if all[at].IsActive == to.IsActive {
				return nil, nil
			}
		case at >= 0:
			ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: rows[at].Key, ETag: rows[at].ETag}})
		case len(all) >= MaxDefaultUsers:
			return nil, fault.Coded(fault.Conflict, people.TooMany,
				"the default feed has as many people as it may; take one out first")
		}
		return append(ops, rowstore.Put(row)), nil
	})
}
