package posts

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// The default feed shows public posts of some people whom the managers of the service choose: first
// the newest post of each, in the order of the people, then the second newest of each, and so on.

// Bounds of the default feed.
const (
	MaxDefaultUsers = 20
	MaxOrder        = 999_999
	mostDefault     = 50 // posts of each person
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

// defaultUsers reads them in order.
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
func (s *Service) SetDefaultUser(ctx context.Context, c people.Claim, user string, order int, active bool) (DefaultUser, error) {
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
		row := table.Row{Key: table.Key{Partition: settingsOfAll, Row: fmt.Sprintf(defaultUserRow, to.Order, user)}, Props: table.Props{{Name: "is_active", Value: table.Bool(to.IsActive)}}}
		switch {
		case at >= 0 && rows[at].Key == row.Key:
			row.ETag = rows[at].ETag
			if all[at].IsActive == to.IsActive {
				return nil, nil
			}
		case at >= 0:
			ops = append(ops, table.Op{Kind: table.Delete, Row: table.Row{Key: rows[at].Key, ETag: rows[at].ETag}})
		case len(all) >= MaxDefaultUsers:
			return nil, fault.Coded(fault.Conflict, people.TooMany, "the default feed has as many people as it may; take one out first")
		}
		return append(ops, rowstore.Put(row)), nil
	})
}

// Default returns the default feed. A position is an instant, after which no post is in the list,
// and how many turns and people are done.
func (s *Service) Default(ctx context.Context, c people.Claim, after string, limit int) (Page, error) {
	if _, err := s.People.Visitor(ctx, c); err != nil {
		return Page{}, err
	}
	return s.defaultPage(ctx, c.UserID, after, limit)
}

// defaultHome is the default feed as a home.
func (s *Service) defaultHome(ctx context.Context, c people.Claim, after string, limit int) (HomePage, error) {
	page, err := s.Default(ctx, c, after, limit)
	all := HomePage{Items: []Item{}, Default: true}
	if page.Next != "" {
		all.Next = asDefault + page.Next
	}
	for _, card := range page.Cards {
		all.Items = append(all.Items, Item{Card: card})
	}
	return all, err
}

func (s *Service) defaultPage(ctx context.Context, viewer, after string, limit int) (Page, error) {
	asOf, skip := table.Ticks(s.Now()), 0
	if after != "" {
		ticks, done, _ := strings.Cut(after, " ")
		var errs [2]error
		asOf, errs[0] = strconv.ParseInt(ticks, 10, 64)
		skip, errs[1] = strconv.Atoi(done)
		if errs[0] != nil || errs[1] != nil || skip < 0 || skip > MaxDefaultUsers*mostDefault {
			return Page{}, rowstore.BadPosition()
		}
	}
	users, _, err := s.defaultUsers(ctx)
	users = slices.DeleteFunc(users, func(one DefaultUser) bool { return !one.IsActive })
	if err != nil || len(users) == 0 {
		return Page{Cards: []Card{}}, err
	}
	turns := min((skip+limit)/len(users)+1, mostDefault)
	of := make([][]table.Row, len(users))
	err = rowstore.Each(ctx, len(users), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		l := lists.List{Table: s.Tables.Lists, Partition: byAuthor(users[i].UserID)}
		var err error
		of[i], _, err = lists.Read(ctx, s.Store, l, schema.Inv(table.TimeOf(asOf)), turns, onlyPublic)
		return err
	})
	if err != nil {
		return Page{}, err
	}
	// The rows of the list from the first turn on, as far as they were read.
	var rows []table.Row
	next := ""
	for n := skip; n < turns*len(users); n++ {
		turn, i := n/len(users), n%len(users)
		if turn >= len(of[i]) {
			continue
		}
		if len(rows) == limit {
			next = fmt.Sprintf("%d %d", asOf, n)
			break
		}
		rows = append(rows, of[i][turn])
	}
	cards, err := s.page(ctx, viewer, rows)
	cards = slices.DeleteFunc(cards, func(c Card) bool { return c.Author.ID == "" })
	return Page{cards, next}, err
}

// onlyPublic returns those of rows of the list of a person that name posts for everybody.
func onlyPublic(_ context.Context, rows []table.Row) ([]table.Row, error) {
	return slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool { return !row.Props.Get(isPublic).Bool() }), nil
}
