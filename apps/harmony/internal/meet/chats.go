package meet

import (
	"context"
	"slices"
	"strings"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/pairs"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Rooms are the chats of members.
func (s *Service) Rooms() chat.Rooms {
	return chat.Rooms{
		Store: s.Store, Chats: s.Tables.Chats, UserChats: s.Tables.UserChats, Messages: s.Tables.Messages,
		NewID: s.newID, DropImage: func(ctx context.Context, chat, image string) error {
			return s.deleteFiles(ctx, ContainerChats, account.Image{ID: image, UserID: chat}.Blobs())
		},
	}
}

// roomOf returns the chat of a pair as it must be: it takes messages while they match.
func roomOf(p pairs.Pair) chat.Room {
	at := p.MatchedAt
	if at == 0 {
		at = p.Last
	}
	return chat.Room{
		ID: p.ChatID(), Members: p.IDs, Open: p.Matched(), CreatedAt: table.TimeOf(at),
		Match: p.MatchNumber, MatchedAt: table.TimeOf(at),
	}
}

// followChat has the chat of a pair follow it.
func (s *Service) followChat(ctx context.Context, p pairs.Pair) error {
	return s.Rooms().Follow(ctx, roomOf(p), p.Version, p.Fresh())
}

// An Other is the other member of a chat of two.
type Other struct {
	Card    *Card // nil if the caller may not see them
	Present bool  // whether they can be written to
}

// Others returns the other members of a caller's chats of two, by their ids. Staff see no more of
// them than others do.
func (s *Service) Others(ctx context.Context, caller User, ids []string) ([]Other, error) {
	rows := make([]table.Row, len(ids))
	for i, id := range ids {
		rows[i].Row = id
	}
	all, err := s.readMembers(ctx, caller.ID, rows)
	if err != nil {
		return nil, err
	}
	viewer := caller
	viewer.Role = Member
	others := make([]Other, len(ids))
	for i, one := range all {
		if one.of == nil {
			continue
		}
		others[i].Present = s.isPresent(one.of)
		if sightOf(viewer, *one.of, one.shows, one.pair, s.Now()) != Hidden {
			card := cardOf(caller, *one.of, one.pair, s.Now())
			others[i].Card = &card
		}
	}
	return others, nil
}

// Present reports whether a member can be written to.
func (s *Service) Present(ctx context.Context, id string) (bool, error) {
	u, err := s.readUser(ctx, id)
	return s.isPresent(u), err
}

func (s *Service) isPresent(u *User) bool {
	return u != nil && u.Registered && !u.Deleted() && !u.Suspended(s.Now())
}

// Estranged returns the members that a member has blocked, and those that have blocked the member.
func (s *Service) Estranged(ctx context.Context, id string) (map[string]bool, error) {
	var rows [2][]table.Row
	read := func(i int, partition string) func(context.Context) error {
		return func(ctx context.Context) (err error) {
			rows[i], _, err = s.Budget().Rows(ctx, s.Tables.Blocks, table.Range{Partition: partition}, rowstore.MaxScan)
			return err
		}
	}
	err := rowstore.Both(ctx, read(0, id), read(1, id+"_BY"))
	all := map[string]bool{}
	for _, row := range slices.Concat(rows[0], rows[1]) {
		_, other, _ := strings.Cut(row.Key.Row, "_")
		all[other] = true
	}
	return all, err
}
