package people

import (
	"context"
	"fmt"
	"strings"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/table"
)

// VerifyRows compares accounts with the rows of Names by which they are found, and ties with counts
// and mirrors, and reports each difference. It is silent only in a quiet system.
func (s *Service) VerifyRows(ctx context.Context, report func(string)) (rows int, err error) {
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Range{}) {
		if err != nil {
			return rows, err
		}
		id := strings.TrimPrefix(row.Partition, schema.User(""))
		name, what := "", ""
		switch row.Key.Row {
		case meRow:
			u := parseUser(row)
			if err := s.verifyWords(ctx, u, report); err != nil {
				return rows, err
			}
			if err := s.Assets.VerifyThing(ctx, pictureOf(u.ID), u.Picture, report); err != nil {
				return rows, err
			}
			if u.Username != "" {
				name, what = nameRows+strings.ToLower(u.Username), "username"
			}
		case "id|phone":
			phone, err := s.Keys.Open("phone", id, row.Props.Get("provider_id").Str())
			if err != nil {
				report(fmt.Sprintf("user %s: none of SECRET_KEYS opens the phone number", id))
				continue
			}
			name, what = phoneRows+s.Number(phone), "phone number"
		}
		if name == "" {
			continue
		}
		rows++
		owner, err := s.ownerOf(ctx, name)
		if err != nil {
			return rows, err
		}
		if owner != id {
			report(fmt.Sprintf("user %s: the %s does not lead to the account", id, what))
		}
	}
	if err := s.searchIndex().Strays(ctx, func(id string) {
		report("user " + id + ": a row by which a search finds them is of nothing")
	}); err != nil {
		return rows, err
	}
	ties, err := s.verifyTies(ctx, report)
	if err != nil {
		return rows + ties, err
	}
	pictures, err := s.Assets.VerifyRows(ctx, report)
	return rows + ties + pictures, err
}
