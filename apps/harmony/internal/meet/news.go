package meet

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// seenKey is the key of the row that says which matches a member has seen in their list: those up
// to an instant.
func seenKey(user string) table.Key { return table.Key{Partition: user, Row: "SEEN"} }

// readNews reads the rows of the caller's matches, and up to when they were seen, next to the
// caller and other reads.
func (s *Service) readNews(ctx context.Context, c Claim,
	reads ...func(context.Context) error,
) (caller Caller, rows []table.Row, seen time.Time, err error) {
	caller, err = s.identifyCaller(ctx, c, append(reads, func(ctx context.Context) (err error) {
		rows, _, err = s.Budget().Rows(ctx, s.Tables.Matches, table.Range{Partition: c.UserID}, rowstore.MaxScan)
		return err
	}, func(ctx context.Context) error {
		row, err := s.GetRow(ctx, s.Tables.UserPreferences, seenKey(c.UserID))
		if row != nil {
			seen = row.Props.Get("MatchesAt").Time()
		}
		return err
	})...)
	return caller, rows, seen, err
}

// NewMatches returns the matches that the caller has not seen in their list, the newest first, up
// to limit.
func (s *Service) NewMatches(ctx context.Context, c Claim, limit int) ([]Entry, error) {
	caller, rows, seen, err := s.readNews(ctx, c)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r table.Row) bool {
		return !r.Props.Get("IsActive").Bool() || !r.Props.Get("CreatedAt").Time().After(seen)
	})
	slices.SortFunc(rows, func(a, b table.Row) int {
		return cmp.Compare(b.Props.Get("CreatedAt").Int(), a.Props.Get("CreatedAt").Int())
	})
	entries, _, err := FillPage(ctx, partsOf(rows, limit+1), limit, s.matchesOf(ctx, caller))
	return entries, err
}

// SeeMatches notes that the caller has seen the matches up to an instant.
func (s *Service) SeeMatches(ctx context.Context, c Claim, at time.Time) error {
	return s.Upsert(ctx, s.Tables.UserPreferences,
		table.Row{Key: seenKey(c.UserID), Props: table.Props{{Name: "MatchesAt", Value: table.Time(at)}}})
}

// mostNews is how many rows of likes a tag of news is made of.
const mostNews = 100

// NewsTag returns what changes when a like, a match or a message of a chat of two comes for the
// caller, or their list of matches is seen. It costs a few reads, and none for each row. A secret
// like never changes it: of these nothing may be told but how many there are.
func (s *Service) NewsTag(ctx context.Context, c Claim) (string, error) {
	var likes, chats []table.Row
	_, matches, seen, err := s.readNews(ctx, c, func(ctx context.Context) (err error) {
		likes, _, err = s.Budget().Rows(ctx, s.Tables.LikesReceived, table.Range{Partition: c.UserID}, mostNews)
		return err
	}, func(ctx context.Context) (err error) {
		chats, _, err = s.Budget().Rows(ctx, s.Tables.UserChats, table.Range{Partition: c.UserID}, rowstore.MaxScan)
		return err
	})
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	for _, rows := range [][]table.Row{likes, matches, chats} {
		for _, row := range rows {
			p := row.Props
			fmt.Fprintln(sum, row.Key.Row, p.Get("IsActive").Bool(), p.Get("CreatedAt").Int(),
				p.Get("LastAt").Int(), p.Get("ReadUpTo").Str())
		}
		fmt.Fprintln(sum)
	}
	fmt.Fprintln(sum, seen)
	return hex.EncodeToString(sum.Sum(nil)[:8]), nil
}
