package people

import (
	"context"
	"fmt"
	"strings"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// phoneRows begins the reservations of numbers.
const phoneRows = "phone|"

// halfwayCheck is what the check row says while stored numbers have names by two keys, so that no
// process serves them.
func halfwayCheck(check string) string { return "rekey|" + check }

// Rekey names all stored numbers by the first of SECRET_KEYS, and seals them under it, so that the
// others are needed no more. No other process may be at work on the data. Stopped anywhere, it
// must be run again with the same keys. others do the same with what else is named by numbers.
func (s *Service) Rekey(ctx context.Context, others ...func(context.Context) error) (users int, err error) {
	first := s.Keys[:1]
	newest := first.LastMAC("check", "keys")
	row, err := s.GetRow(ctx, s.Tables.Admin, keysRow)
	if err != nil {
		return 0, err
	}
	if row == nil {
		return 0, keysDoNotMatch()
	}
	check := row.Props.Get("check").Str()
	if check != newest && check != halfwayCheck(newest) && check != s.Keys.LastMAC("check", "keys") {
		return 0, keysDoNotMatch()
	}
	say := func(check string) error {
		return s.Upsert(ctx, s.Tables.Admin,
			table.Row{Key: keysRow, Props: table.Props{{Name: "check", Value: table.String(check)}}})
	}
	if err := say(halfwayCheck(newest)); err != nil {
		return 0, err
	}
	named := map[string]bool{}
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Range{}) {
		if err != nil {
			return users, rowstore.Unavailable(err)
		}
		if row.Key.Row != "id|phone" {
			continue
		}
		id := strings.TrimPrefix(row.Partition, schema.User(""))
		phone, err := s.Keys.Open("phone", id, row.Props.Get("provider_id").Str())
		if err != nil {
			return users, fmt.Errorf("user %s: %w", id, err)
		}
		name := phoneRows + first.LastMAC("phone", phone)
		named[name] = true
		err = s.Upsert(ctx, s.Tables.Names, table.Row{Key: nameKey(name), Props: table.Props{
			{Name: "user_id", Value: table.String(id)},
			{Name: "created_at", Value: row.Props.Get("created_at")},
		}})
		if err == nil {
			row.Props = table.Props{{Name: "provider_id", Value: table.String(s.Keys.Seal("phone", id, phone))}}
			err = s.Write(ctx, s.Tables.Users, []table.Op{{Kind: table.Merge, Row: row}})
		}
		if err != nil {
			return users, rowstore.Unavailable(err)
		}
		users++
	}
	for _, do := range others {
		if err := do(ctx); err != nil {
			return users, err
		}
	}
	// Codes that are on their way name their numbers by the key that goes. So do the windows of
	// numbers, and reservations of accounts that were never made.
	for name, prefixes := range map[string][]string{
		s.Tables.Sessions: {codeRows, windowRows},
		s.Tables.Names:    {phoneRows},
	} {
		for _, prefix := range prefixes {
			for row, err := range table.All(ctx, s.DB, name,
				table.Range{FromPartition: prefix, ToPartition: table.After(prefix)}) {
				if err == nil && !named[row.Partition] {
					err = s.RemoveRow(ctx, name, row)
				}
				if err != nil {
					return users, rowstore.Unavailable(err)
				}
			}
		}
	}
	return users, say(newest)
}
