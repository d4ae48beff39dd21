package events

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An Invite is a code that opens one secret event, for any number of members.
type Invite struct {
	Code      string
	ExpiresAt time.Time // zero: never
	Revoked   bool
	Uses      int // registrations by it
	CreatedAt time.Time
	CreatedBy string

	etag string
}

// isGood reports whether the invite opens its event.
func (i Invite) isGood(now time.Time) bool {
	return !i.Revoked && (i.ExpiresAt.IsZero() || now.Before(i.ExpiresAt))
}

// inviteColumns are the properties of an invite.
var inviteColumns = rowstore.Columns[Invite]{
	rowstore.Flag("Revoked", func(i *Invite) *bool { return &i.Revoked }),
	rowstore.Number("Uses", func(i *Invite) *int { return &i.Uses }),
	rowstore.Instant("CreatedAt", func(i *Invite) *time.Time { return &i.CreatedAt }),
	rowstore.Text("CreatedBy", func(i *Invite) *string { return &i.CreatedBy }),
	rowstore.Instant("ExpiresAt", func(i *Invite) *time.Time { return &i.ExpiresAt }).Optional(),
}

func (i Invite) toRow(event string) table.Row {
	return table.Row{Key: table.Key{Partition: event, Row: i.Code}, ETag: i.etag, Props: inviteColumns.Props(&i)}
}

func parseInvite(row table.Row) Invite {
	i := Invite{Code: row.Key.Row, etag: row.ETag}
	inviteColumns.Read(row.Props, &i)
	return i
}

var codeForm = regexp.MustCompile(`^[A-Z0-9-]{4,32}$`)

// normalCode returns a code as it is kept.
func normalCode(s string) string { return strings.ToUpper(strings.TrimSpace(s)) }

// readInvite reads an invite of an event; nil if there is none.
func (s *Service) readInvite(ctx context.Context, event, code string) (*Invite, error) {
	if !meet.IsID(event) || !codeForm.MatchString(code) {
		return nil, nil
	}
	row, err := s.GetRow(ctx, s.tables.EventInvites, table.Key{Partition: event, Row: code})
	if err != nil || row == nil {
		return nil, err
	}
	i := parseInvite(*row)
	return &i, nil
}

// ofCode is the beginning of the partitions by which events are found by codes.
const ofCode = "CODE_"

// mostOpened is how many events with one code are looked at.
const mostOpened = 20

func codeKey(code, event string) table.Key { return table.Key{Partition: ofCode + code, Row: event} }

// listCode has an event be found by a code.
func (s *Service) listCode(ctx context.Context, code, event string) error {
	return s.members.Upsert(ctx, s.tables.EventInvites,
		table.Row{Key: codeKey(code, event), Props: table.Props{{Name: "EventId", Value: table.String(event)}}})
}

// Opened returns the events that are not over and that an invite opens, by their starts. A wrong
// code opens none, like the code of an event that is gone. from names the caller, for the count of
// wrong codes.
func (s *Service) Opened(ctx context.Context, c meet.Claim, code, from string) ([]View, error) {
	code = normalCode(code)
	var rows []table.Row
	caller, err := s.members.Look(ctx, c, func(ctx context.Context) (err error) {
		if codeForm.MatchString(code) {
			rows, _, err = s.Budget().Rows(ctx, s.tables.EventInvites, table.Range{Partition: ofCode + code},
				mostOpened)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	done, err := s.members.Attempt("invite " + from)
	if err != nil {
		return nil, err
	}
	all := make([]Standing, len(rows))
	for i := range all {
		all[i].Caller = caller
	}
	err = rowstore.Each(ctx, 2*len(rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		st, id := &all[i/2], rows[i/2].Key.Row
		if i%2 == 1 {
			st.invite, err = s.readInvite(ctx, id, code)
			return err
		}
		return s.readStanding(ctx, st, id, caller.ID)
	})
	if err != nil {
		done(false)
		return nil, err
	}
	views := []View{}
	for _, st := range all {
		st.invited = st.event != nil && st.invite != nil && st.invite.isGood(s.Now())
		if st.invited && st.sightOf() == Full && s.Now().Before(st.event.Ends()) {
			views = append(views, s.viewOf(st, Full))
		}
	}
	slices.SortStableFunc(views, func(a, b View) int { return a.Start.Compare(b.Start) })
	done(len(views) == 0)
	return views, nil
}

// An InviteDraft is what an admin says of a new invite.
type InviteDraft struct {
	Code      string // "" for one that is drawn
	ExpiresAt string // RFC 3339, or a time of the event's zone; "" for never
	Rotate    bool   // whether all others are revoked
	Key       string // requests with one key and the same draft draw one code; "" for a request without one
}

// drawn are the characters of codes that are drawn: Crockford's, that people do not mistake for one
// another.
const drawn = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// NewInvite makes an invite of an event; admins may. If all others must be revoked that is done
// first, so that an error never leaves them good next to the new one.
func (s *Service) NewInvite(ctx context.Context, c meet.Claim, event string, d InviteDraft) (Invite, error) {
	caller, e, all, err := s.readInvites(ctx, c, event)
	if err != nil {
		return Invite{}, err
	}
	var b rules.Broken
	again := false // whether an invite with this code is that of an earlier request
	i := Invite{Code: normalCode(d.Code), CreatedAt: s.Now().UTC(), CreatedBy: caller.ID}
	if i.Code == "" {
		// The code is a secret, and a key may be none: what only the service knows is in it.
		id, err := s.members.DraftID(caller.ID, "invite|"+event+"|"+caller.PasswordHash, d.Key, d)
		if err != nil {
			return Invite{}, err
		}
		i.Code = drawCode(id)
		again = d.Key != ""
	}
	if !codeForm.MatchString(i.Code) {
		b.Add("code", CodeForm, "give 4 to 32 letters of A to Z, digits and hyphens", nil)
	}
	if d.ExpiresAt != "" {
		i.ExpiresAt = b.Moment("expiresAt", d.ExpiresAt, e.Clock())
	}
	if err := b.Err(); err != nil {
		return Invite{}, err
	}
	var ops []table.Op
	for _, other := range all {
		switch {
		case other.Code == i.Code && again:
			return other, nil
		case other.Code == i.Code:
			return Invite{}, codeTaken()
		case d.Rotate && !other.Revoked:
			ops = append(ops, revokeOp(event, other.Code))
		}
	}
	for len(ops) > 0 {
		n := min(len(ops), table.MaxBatch)
		if err := s.Write(ctx, s.tables.EventInvites, ops[:n]); err != nil {
			return Invite{}, rowstore.Unavailable(err)
		}
		ops = ops[n:]
	}
	if err := s.listCode(ctx, i.Code, event); err != nil {
		return Invite{}, err
	}
	err = s.Write(ctx, s.tables.EventInvites, []table.Op{{Kind: table.Insert, Row: i.toRow(event)}})
	if rowstore.Overtaken(err) && again {
		if was, err := s.readInvite(ctx, event, i.Code); err != nil || was != nil {
			return *cmp.Or(was, &i), err
		}
	}
	if rowstore.Overtaken(err) {
		return Invite{}, codeTaken()
	}
	if err != nil {
		return Invite{}, rowstore.Unavailable(err)
	}
	return i, nil
}

func codeTaken() error {
	return &fault.Error{
		Kind: fault.Conflict, Code: CodeTaken, Text: "the event has an invite with this code already",
		Fields: []fault.Field{{Name: "body.code", Code: CodeTaken, Message: "give another code"}},
	}
}

// drawCode makes a code of an id.
func drawCode(id string) string {
	id = strings.ReplaceAll(id, "-", "")
	var b strings.Builder
	for n := range 10 { // of 32 hexadecimal digits, of which those of the version are left out
		v := strings.IndexByte("0123456789abcdef", id[n])*16 + strings.IndexByte("0123456789abcdef", id[20+n])
		b.WriteByte(drawn[v%len(drawn)])
	}
	return b.String()
}

func revokeOp(event, code string) table.Op {
	return table.Op{
		Kind: table.Merge,
		Row: table.Row{
			Key: table.Key{Partition: event, Row: code}, ETag: table.Any,
			Props: table.Props{{Name: "Revoked", Value: table.Bool(true)}},
		},
	}
}

// readInvites reads an event with all its invites, for an admin.
func (s *Service) readInvites(ctx context.Context, c meet.Claim,
	event string,
) (caller meet.User, e *Event, all []Invite, err error) {
	caller, err = s.requireAdmin(ctx, c, func(ctx context.Context) (err error) {
		e, err = s.readEvent(ctx, event)
		return err
	}, func(ctx context.Context) error {
		if !meet.IsID(event) {
			return nil
		}
		rows, _, err := s.Budget().Rows(ctx, s.tables.EventInvites, table.Range{Partition: event}, rowstore.MaxScan)
		for _, row := range rows {
			all = append(all, parseInvite(row))
		}
		return err
	})
	if err == nil && (e == nil || e.Deleted()) {
		err = Missing()
	}
	return caller, e, all, err
}

// An InvitePage is a part of a list of invites.
type InvitePage struct {
	Invites []Invite
	Next    string
}

// Invites returns the invites of an event by their codes, to admins.
func (s *Service) Invites(ctx context.Context, c meet.Claim, event, after string, limit int) (InvitePage, error) {
	_, _, all, err := s.readInvites(ctx, c, event)
	p := InvitePage{Invites: []Invite{}}
	for _, i := range all {
		if i.Code <= after {
			continue
		}
		if len(p.Invites) == limit {
			p.Next = p.Invites[limit-1].Code
			break
		}
		p.Invites = append(p.Invites, i)
	}
	return p, err
}

// Revoke has an invite open its event no more; admins may. Members who attend by it still do.
func (s *Service) Revoke(ctx context.Context, c meet.Claim, event, code string) error {
	var i *Invite
	code = normalCode(code)
	_, err := s.requireAdmin(ctx, c, func(ctx context.Context) (err error) {
		i, err = s.readInvite(ctx, event, code)
		return err
	})
	if err == nil && i == nil {
		err = fault.Coded(fault.NotFound, InviteNotFound, "the event has no such invite")
	}
	if err != nil || i.Revoked {
		return err
	}
	if err := s.Write(ctx, s.tables.EventInvites, []table.Op{revokeOp(event, code)}); err != nil {
		return rowstore.Unavailable(err)
	}
	return nil
}
