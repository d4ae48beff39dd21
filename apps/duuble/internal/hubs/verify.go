package hubs

import (
	"context"
	"fmt"
	"strings"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// VerifyRows compares counts, orders and locks of hubs with what they follow from, and the rows
// that point at hubs with hubs. It reports each difference, and is silent only in a quiet system.
func (s *Service) VerifyRows(ctx context.Context, report func(string)) (rows int, err error) {
	var one *audit
	finish := func() {
		if one != nil {
			one.check(report)
		}
	}
	for row, err := range table.All(ctx, s.DB, s.Tables.Hubs, allHubs) {
		if err != nil {
			return rows, rowstore.Unavailable(err)
		}
		rows++
		if isWord(row) {
			continue
		}
		hub := strings.TrimPrefix(row.Partition, schema.Hub(""))
		if one == nil || one.hub != hub {
			finish()
			one = &audit{hub: hub, want: map[string]bool{}, got: map[string]bool{}}
		}
		one.add(row)
		if row.Row == "hub" {
			if err := s.People.Assets.VerifyThing(ctx, pictureOf(hub), parseHub(row).Picture, report); err != nil {
				return rows, err
			}
		}
	}
	finish()
	if err := s.searchIndex().Strays(ctx, func(id string) {
		report("hub " + id + ": a row by which a search finds it is of nothing")
	}); err != nil {
		return rows, err
	}
	return rows, s.eachPointer(ctx, func(name string, key table.Key, _ ...table.Prop) error {
		row, err := s.GetRow(ctx, name, key)
		if err == nil && row == nil {
			what, _, _ := strings.Cut(key.Row, "|")
			report(fmt.Sprintf("a row %s of %s is missing that points at a hub", what, name))
		}
		return err
	})
}

// An audit is what follows from the rows of a hub, and the rows that are there.
type audit struct {
	hub               string
	there             bool
	said, superAdmins int64
	live, manage      int64
	want, got         map[string]bool // rows that follow from others
}

func (a *audit) add(row table.Row) {
	kind, _, _ := strings.Cut(row.Row, "|")
	switch kind {
	case "hub":
		a.there, a.superAdmins = true, parseHub(row).superAdmins
	case "c":
		a.said += row.Props.Get("member_count").Int()
	case "m":
		if m := parseMembership(row); m.isLive() {
			a.live++
			if m.Role == SuperAdmin {
				a.manage++
			}
			a.want[m.byTime().Row], a.want[m.byRole().Row] = true, true
		}
	case "ji":
		r := parseRequest(row)
		a.want[r.byStatus().Row] = true
		if r.Status == Pending {
			a.want[r.lockKey().Row] = true
		}
	case "iv":
		v := parseInvitation(row)
		a.want[v.byStatus().Row] = true
		if v.Status == Invited {
			a.want[v.lockKey().Row] = true
		}
	case "bd":
		a.want[parseBan(row).lockKey().Row] = true
	case "mj", "mr", "jr", "jp", "ivd", "ip", "bn":
		a.got[row.Row] = true
	}
}

func (a *audit) check(report func(string)) {
	differs := func(format string, args ...any) {
		report("hub " + a.hub + ": " + fmt.Sprintf(format, args...))
	}
	if !a.there {
		differs("it has rows and does not exist")
	}
	if a.said != a.live {
		differs("%d members are counted, and there are %d", a.said, a.live)
	}
	if a.superAdmins != a.manage || a.manage < 1 && a.live > 0 {
		differs("%d super_admins are counted, and there are %d", a.superAdmins, a.manage)
	}
	for key := range a.want {
		if !a.got[key] {
			kind, _, _ := strings.Cut(key, "|")
			differs("a row %s is missing", kind)
		}
	}
	for key := range a.got {
		if !a.want[key] {
			kind, _, _ := strings.Cut(key, "|")
			differs("a row %s is of nothing", kind)
		}
	}
}
