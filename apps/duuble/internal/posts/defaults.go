package posts

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/cursor"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// The default feed shows public posts of people that the managers of the service chose: first
// the newest post of each, in the order of the people, then the second newest of each, and so on.

// mostDefault is how many posts of each person the default feed shows.
const mostDefault = 50

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
		if errs[0] != nil || errs[1] != nil || skip < 0 || skip > manage.MaxDefaultUsers*mostDefault {
			return Page{}, cursor.Refuse()
		}
	}
	users, err := s.Manage.DefaultFeed(ctx)
	users = slices.DeleteFunc(users, func(one manage.DefaultUser) bool { return !one.IsActive })
	if err != nil || len(users) == 0 {
		return Page{Cards: []Card{}}, err
	}
	turns := min((skip+limit)/len(users)+1, mostDefault)
	of := make([][]table.Row, len(users))
	err = rowstore.Each(ctx, len(users), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		l := lists.List{Table: s.Tables.Lists, Partition: byAuthor(users[i].UserID)}
		var err error
		of[i], _, err = lists.Read(ctx, s.Store, l, rowstore.Descending(table.TimeOf(asOf)), turns, onlyPublic)
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
	cards, err := s.readPage(ctx, viewer, rows)
	cards = slices.DeleteFunc(cards, func(c Card) bool { return c.Author.ID == "" })
	return Page{cards, next}, err
}

// onlyPublic returns those of rows of the list of a person that name posts for everybody.
func onlyPublic(_ context.Context, rows []table.Row) ([]table.Row, error) {
	return slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool {
		return !row.Props.Get(isPublic).Bool()
	}), nil
}
