package meet

import (
	"context"
	"time"

	"prompthub/apps/harmony/internal/deck"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/cursor"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

func (s *Service) deckIndex() deck.Index {
	return deck.Index{Store: s.Store, Table: s.Tables.Deck, Rows: deck.MaxRows}
}

// DeckEntry returns the member as decks look at them. A suspension ends by itself, so it does not
// take a member out: the truth decides.
func DeckEntry(u User, looks rules.Preferences, shows rules.Privacy) deck.Entry {
	return deck.Entry{
		UserID: u.ID, Shuffle: u.Shuffle, Gender: u.Gender, BirthDate: u.BirthDate,
		Position: u.Position, Preferences: looks,
		Out: !u.Registered || u.Deleted() || shows.Visibility != "public",
	}
}

func samePosition(a, b *rules.Position) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// followDeck has the rows of decks follow a member, of whom was is an earlier version. hints are
// others that they had or may have.
func (s *Service) followDeck(ctx context.Context, was User, hints ...User) error {
	read := func(ctx context.Context) (deck.Entry, error) {
		var u *User
		var looks rules.Preferences
		var shows rules.Privacy
		err := rowstore.Each(ctx, 3, 3, func(ctx context.Context, i int) (err error) {
			switch i {
			case 0:
				u, err = s.readUser(ctx, was.ID)
			case 1:
				looks, _, err = s.readPreferences(ctx, was.ID)
			case 2:
				shows, _, err = s.readPrivacy(ctx, was.ID)
			}
			return err
		})
		if err != nil || u == nil {
			gone := DeckEntry(was, looks, shows)
			gone.Out = true
			return gone, err
		}
		return DeckEntry(*u, looks, shows), nil
	}
	var known []deck.Entry
	for _, u := range append(hints, was) {
		known = append(known, DeckEntry(u, rules.Preferences{}, rules.Privacy{}))
	}
	return s.deckIndex().Follow(ctx, read, known...)
}

// changeDeck makes a change of a member after which the rows of decks must follow, before the
// answer: from then on decks are as the member has said.
func (s *Service) changeDeck(ctx context.Context, was, next User, change func(context.Context) error) error {
	ctx = s.Outbox().Begin(ctx)
	wake, err := s.Outbox().Send(ctx, userChange{Kind: KindUser, ID: was.ID, Until: s.Outbox().Landed(ctx)})
	if err != nil {
		return err
	}
	if err := change(ctx); err != nil {
		return err // the message stays: the change may have landed, or may still land
	}
	return s.Outbox().Finish(ctx, wake, s.followDeck(ctx, was, next))
}

// A DeckPage is a part of the deck. Next is where the next one goes on, "" at the end.
type DeckPage struct {
	Cards []Card
	Next  string
}

// passedFor is how long a pass hides a member.
const passedFor = 90 * 24 * time.Hour

// The bounds of a page of the deck.
const (
	deckRounds = 3
	deckLooks  = 20 // candidates of a round whose truth is read: half more than were asked for, at most
)

// Deck returns a part of the caller's deck: the members who fit, both ways, and whom the caller has
// not decided on. after is the Next of the part before, "" for the first one. A part may be short,
// even empty, before the end.
func (s *Service) Deck(ctx context.Context, c Claim, after string, limit int) (DeckPage, error) {
	var looks rules.Preferences
	var place *table.Row
	caller, err := s.identifyCaller(ctx, c, func(ctx context.Context) (err error) {
		looks, _, err = s.readPreferences(ctx, c.UserID)
		return err
	}, func(ctx context.Context) (err error) {
		if after == "" {
			place, err = s.GetRow(ctx, s.Tables.UserPreferences, placeKey(c.UserID))
		}
		return err
	})
	if err != nil {
		return DeckPage{}, err
	}
	me := DeckEntry(caller.User, looks, rules.Privacy{})
	me.Gender = caller.DeckGender(s.Now())
	walk := deck.Walk{Start: caller.Shuffle}
	if after != "" {
		var ok bool
		if walk, ok = deck.ParseWalk(Uncover(caller.User, "deck", after)); !ok {
			return DeckPage{}, cursor.Refuse()
		}
	} else if place != nil {
		walk.Start = place.Props.Get("Place").Str()
	}
	page, first := DeckPage{Cards: []Card{}}, ""
	for round := 0; round < deckRounds && len(page.Cards) < limit && !walk.Ended(); round++ {
		var all []deck.Candidate
		from := walk
		if all, walk, err = s.deckIndex().Round(ctx, me, walk, min(deckLooks, limit+max(limit/2, 5))); err != nil {
			return DeckPage{}, err
		}
		some, err := s.dealCards(ctx, caller, me, all)
		if err != nil {
			return DeckPage{}, err
		}
		for i, card := range some {
			if card == nil {
				continue
			}
			if first == "" {
				first = all[i].Row
			}
			if page.Cards = append(page.Cards, *card); len(page.Cards) == limit {
				if i < len(some)-1 {
					walk = from.After(all[i])
				}
				break
			}
		}
	}
	if !walk.Ended() {
		page.Next = Cover(caller.User, "deck", walk.String())
	}
	if after == "" && first != "" {
		s.keepPlace(ctx, c.UserID, place, first)
	}
	return page, nil
}

// dealCards returns the cards of candidates, nil for those whom the truth refuses.
func (s *Service) dealCards(ctx context.Context, caller Caller, me deck.Entry, all []deck.Candidate) ([]*Card, error) {
	rows := make([]table.Row, len(all))
	for i, one := range all {
		rows[i].Row = one.Row
	}
	truth, err := s.readMembers(ctx, caller.ID, rows)
	if err != nil {
		return nil, err
	}
	now, cards := s.Now(), make([]*Card, len(all))
	viewer := caller.User
	viewer.Role = Member
	for i, one := range truth {
		if one.of == nil {
			continue
		}
		they := DeckEntry(*one.of, all[i].Preferences, one.shows)
		side := one.pair.Side(caller.ID)
		switch {
		case they.Out, !all[i].Holds(they), !deck.Fit(me, they, now):
		case sightOf(viewer, *one.of, one.shows, one.pair, now) == Hidden:
		case one.pair.Like[side] > 0, one.pair.Pass[side] > 0 && now.Sub(table.TimeOf(one.pair.Pass[side])) < passedFor:
		default:
			card := cardOf(caller.User, *one.of, one.pair, now)
			cards[i] = &card
		}
	}
	return cards, nil
}

func placeKey(user string) table.Key { return table.Key{Partition: user, Row: "PLACE"} }

// placeEvery is how often a member's place in the deck is kept.
const placeEvery = time.Minute

// keepPlace keeps where the deck of a member begins: whom they decided on long ago need not be
// looked at again. To lose one does no harm.
func (s *Service) keepPlace(ctx context.Context, user string, was *table.Row, place string) {
	if was != nil && (was.Props.Get("Place").Str() == place ||
		s.Now().Sub(was.Props.Get("UpdatedAt").Time()) < placeEvery) {
		return
	}
	row := table.Row{
		Key: placeKey(user),
		Props: table.Props{
			{Name: "Place", Value: table.String(place)},
			{Name: "UpdatedAt", Value: table.Time(s.Now())},
		},
	}
	ctx = context.WithoutCancel(ctx)
	s.Background(func() { _ = s.Upsert(ctx, s.Tables.UserPreferences, row) })
}
