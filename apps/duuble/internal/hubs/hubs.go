// Package hubs keeps groups of people: hubs with members and roles, invitations by phone number,
// links to join by, and requests that admins decide.
//
// # Where the truth is
//
// All that decides is in the partition h|{hub} of one table, so that each change is one batch
// under the ETags of the rows that were read:
//
//	hub                          name, description, link, and how many super_admins there are
//	c|00                         how many members there are
//	m|{user}                     a membership: role, when it began, and whether it goes on
//	mj|{inv}|{user}              members by the time when they joined
//	mr|{role}|{inv}|{user}       the same of a role
//	iv|{id}, ivd|{status}|{inv}|{id}   an invitation, and invitations by status and time
//	ip|{number}                  which open invitation a number has
//	ln|{id}                      a link
//	ji|{id}, jr|{status}|{inv}|{id}    a request to join, and requests by status and time
//	jp|{user}                    which pending request the person has
//	bd|{inv}|{id}, bn|{number}   a ban, and which one a number has
//	o|{change}|{n}               people who must be told of a change
//	w|{word}                     a word by which the hub is found, see package search
//
// Rows elsewhere only point here, and are written before the batch: h|{hub} and jr|{inv}|{id} in
// the partition of a user, and bn|{hub}|{ban}, tok|{hash}, ph|{number} and link|{lower} of Names,
// due|expire|{hour} and due|hub|{hour} of Admin. A pointer to a row that is not there, or not any
// more, means nothing. So a process may stop anywhere.
package hubs

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"slices"
	"time"

	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Service is what people may do with hubs. New makes one.
type Service struct {
	Config
	Events Events
	Acts   Acts
	active active
}

// Acts are lists of other rooms that have what was done in a hub, the newest first; nil are none.
type Acts struct{ Posts, Discussions func(hub string) lists.List }

// A Config is what a Service needs. Every field is required.
type Config struct {
	*rowstore.Store
	Tables  schema.Tables // prefixed
	Entropy io.Reader     // random bytes, for ids and tokens
	People  *people.Service
}

// New returns the service.
func New(c Config) *Service { return &Service{Config: c, active: newActive()} }

// The codes of errors.
const (
	HubNotFound        fault.Code = "HUB_NOT_FOUND"
	MemberNotFound     fault.Code = "MEMBER_NOT_FOUND"
	InvitationNotFound fault.Code = "INVITATION_NOT_FOUND"
	LinkNotFound       fault.Code = "LINK_NOT_FOUND"
	RequestNotFound    fault.Code = "REQUEST_NOT_FOUND"
	NotAMember         fault.Code = "NOT_A_MEMBER"
	Forbidden                     = people.Forbidden
	InvitationNotYours fault.Code = "INVITATION_NOT_YOURS"
	LinkTaken          fault.Code = "LINK_TAKEN"
	LastSuperAdmin     fault.Code = "LAST_SUPER_ADMIN"
	AlreadyDecided     fault.Code = "ALREADY_DECIDED"
	HubFull            fault.Code = "HUB_FULL"
	TooMany                       = people.TooMany
)

// Bounds of what there can be.
const (
	MaxMembers = 50_000 // of a hub
	MaxHubs    = 500    // of a person, with those that the person has left
	MaxOpen    = 1000   // open invitations of a hub
	MaxLinks   = 100    // of a hub
)

func noHub() error { return fault.Coded(fault.NotFound, HubNotFound, "there is no such hub") }

func notAMember() error {
	return fault.Coded(fault.Forbidden, NotAMember, "you are not a member of this hub; ask for an invitation")
}

func roleForbidden() error {
	return fault.Coded(fault.Forbidden, Forbidden, "your role in this hub does not allow this; ask one of its admins")
}

func alreadyDecided() error {
	return fault.Coded(fault.Conflict, AlreadyDecided, "this was decided before; look at it again")
}

func tooMany(text string) error { return fault.Coded(fault.Conflict, TooMany, text) }

func (s *Service) newID() string { return schema.NewID(s.Now(), s.Entropy) }

// allHubs is the range of all rows of all hubs.
var allHubs = table.Range{FromPartition: schema.Hub(""), ToPartition: table.After(schema.Hub(""))}

// hubKey returns the key of a row of a hub.
func hubKey(hub, row string) table.Key {
	return table.Key{Partition: schema.Hub(hub), Row: row}
}

func (s *Service) readRow(ctx context.Context, hub, row string) (*table.Row, error) {
	return s.GetRow(ctx, s.Tables.Hubs, hubKey(hub, row))
}

// writePointer writes a row that names something, before what it names is written.
func (s *Service) writePointer(ctx context.Context, name string, key table.Key, props ...table.Prop) error {
	return s.Upsert(ctx, name, table.Row{Key: key, Props: props})
}

func insertOp(key table.Key, props ...table.Prop) table.Op {
	return table.Op{Kind: table.Insert, Row: table.Row{Key: key, Props: props}}
}

func textProp(name, value string) table.Prop {
	return table.Prop{Name: name, Value: table.String(value)}
}

func timeProp(name string, t time.Time) table.Prop {
	return table.Prop{Name: name, Value: table.Time(t)}
}

// newToken returns a token that no one can guess, and the hash by which it is found.
func (s *Service) newToken() (token, hash string) {
	b := make([]byte, 32)
	if _, err := io.ReadFull(s.Entropy, b); err != nil {
		panic(err) // the system has no random numbers, and ids would have none either
	}
	token = base64.RawURLEncoding.EncodeToString(b)
	return token, hashOf(token)
}

func hashOf(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func tokenKey(hash string) table.Key { return table.Key{Partition: "tok|" + hash, Row: "r"} }

// The kinds of things that tokens stand for.
const (
	anInvitation = "invitation"
	aLink        = "link"
)

// readToken returns what a token stands for, "" if that is nothing of the kind.
func (s *Service) readToken(ctx context.Context, token, kind string) (hub, id string, err error) {
	row, err := s.GetRow(ctx, s.Tables.Names, tokenKey(hashOf(token)))
	if err != nil || row == nil || row.Props.Get("kind").Str() != kind {
		return "", "", err
	}
	return row.Props.Get("hub_id").Str(), row.Props.Get("id").Str(), nil
}

// A Page is a part of a list. Next is the position that the next one begins after, "" at the end.
type Page[T any] struct {
	Items []T
	Next  string
}

// listRows reads rows of a partition that begin with a prefix.
func (s *Service) listRows(ctx context.Context, name, partition, prefix, after string, limit int,
	wanted func(table.Row) bool,
) (rows []table.Row, next string, err error) {
	var some lists.Wanted
	if wanted != nil {
		some = func(_ context.Context, rows []table.Row) ([]table.Row, error) {
			return slices.DeleteFunc(slices.Clone(rows), func(row table.Row) bool { return !wanted(row) }), nil
		}
	}
	return lists.Read(ctx, s.Store, lists.List{Table: name, Partition: partition, Prefix: prefix}, after, limit, some)
}
