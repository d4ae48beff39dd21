package verify

import (
	"context"
	"errors"
	"strings"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/deck"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/pairs"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// members are the checks of accounts, pictures, pairs and chats.
func (s Store) members() []meet.Check {
	t := s.Tables
	lists := func(name string) meet.Check {
		return meet.Check{Name: "list " + name, Table: name, Range: table.Range{To: "DAY_"}, Look: s.listed(name)}
	}
	owned := func(name string) meet.Check {
		return meet.Check{
			Name: "owner " + name, Table: name,
			Look: func(ctx context.Context, row table.Row) ([]meet.Finding, error) {
				u, err := s.Account(ctx, row.Partition)
				if err != nil || u != nil {
					return nil, err
				}
				return s.Refused(name, row.Key), nil
			},
		}
	}
	return []meet.Check{
		{Name: "accounts", Table: t.Users, Look: s.user},
		{Name: "addresses", Table: t.UserEmails, Look: s.address},
		owned(t.Sessions), owned(t.UserPreferences), owned(t.UserSettings), owned(t.UserImages),
		{Name: "pictures", Table: t.UserImages, Range: table.Range{From: "0"}, Look: s.picture},
		{Name: "deck", Table: t.Deck, Look: s.inDeck},
		{Name: "pairs", Table: t.Pairs, Look: s.pair},
		lists(t.Likes), lists(t.LikesReceived), lists(t.Blocks),
		{Name: "list " + t.Matches, Table: t.Matches, Look: s.match},
		{Name: "chats", Table: t.Messages, Range: table.Range{From: "!chat", To: "!chat~"}, Look: s.numbers},
		{Name: "pictures of messages", Table: t.Messages, Range: s.Rooms().Images(), Look: s.sentPicture},
		{Name: "list " + t.UserChats, Table: t.UserChats, Look: s.userChat},
	}
}

func says(name string, key table.Key, text string) []meet.Finding {
	return []meet.Finding{{Table: name, Key: key, Says: text}}
}

// user compares an account with its address, its settings, its pictures and its rows in decks.
func (s Store) user(ctx context.Context, row table.Row) (found []meet.Finding, err error) {
	u := account.ParseUser(row)
	if !u.Registered || u.Erasing {
		return nil, nil // half-way, and its message or its timer goes on
	}
	mend := func(ctx context.Context) error { return s.SettleUser(ctx, u.ID, rules.Languages[0]) }
	email, err := s.GetRow(ctx, s.Tables.UserEmails, account.EmailKey(u.Email))
	if err != nil {
		return nil, err
	}
	if email == nil || email.Props.Get("UserId").Str() != u.ID {
		found = says(s.Tables.Users, row.Key, "its address leads to another account, or to none")
	}
	for name, key := range map[string]table.Key{
		s.Tables.UserPreferences: account.PreferencesKey(u.ID),
		s.Tables.UserSettings:    account.SettingsKey(u.ID),
	} {
		some, err := s.Missing(ctx, name, key, mend)
		if err != nil {
			return nil, err
		}
		found = append(found, some...)
	}
	rows, _, err := s.Budget().Rows(ctx, s.Tables.UserImages, table.Range{Partition: u.ID}, table.MaxPage)
	if err != nil {
		return nil, err
	}
	all := account.ParseImages(u.ID, rows)
	for _, head := range rows {
		if head.Key.Row == account.ImagesHead && int(head.Props.Get("Count").Int()) != len(all.All) {
			found = append(found, says(s.Tables.UserImages, head.Key,
				"it counts another number of pictures than there are")...)
		}
	}
	if u.ProfileImageURL != all.First() {
		found = append(found, meet.Finding{
			Table: s.Tables.Users, Key: row.Key,
			Says: "it does not show the first picture", Mend: mend,
		})
	}
	e, err := s.entry(ctx, u)
	if err != nil || e.Out {
		return found, err
	}
	for _, key := range e.Keys() {
		in, err := s.GetRow(ctx, s.Tables.Deck, key)
		if err != nil {
			return nil, err
		}
		if in == nil || !e.Is(*in) {
			found = append(found, meet.Finding{
				Table: s.Tables.Deck, Key: key,
				Says: "it is missing, or not as the member is", Mend: mend,
			})
		}
	}
	return found, nil
}

// entry returns a member as decks must have them.
func (s Store) entry(ctx context.Context, u account.User) (deck.Entry, error) {
	looks, shows := rules.NewPreferences(), rules.NewPrivacy(rules.Languages[0])
	err := rowstore.Both(ctx, func(ctx context.Context) error {
		row, err := s.GetRow(ctx, s.Tables.UserPreferences, account.PreferencesKey(u.ID))
		if row != nil {
			looks = account.ParsePreferences(*row)
		}
		return err
	}, func(ctx context.Context) error {
		row, err := s.GetRow(ctx, s.Tables.UserSettings, account.SettingsKey(u.ID))
		if row != nil {
			shows = account.ParsePrivacy(*row)
		}
		return err
	})
	return meet.DeckEntry(u, looks, shows), err
}

// address compares the row of an address with the account that it leads to.
func (s Store) address(ctx context.Context, row table.Row) ([]meet.Finding, error) {
	u, err := s.Account(ctx, row.Props.Get("UserId").Str())
	if err != nil || u != nil && account.EmailKey(u.Email) == row.Key {
		return nil, err
	}
	return says(s.Tables.UserEmails, row.Key, "it leads to no account with this address"), nil
}

// picture looks for the files of a picture.
func (s Store) picture(ctx context.Context, row table.Row) ([]meet.Finding, error) {
	return s.missingFiles(ctx, s.Tables.UserImages, row.Key, meet.ContainerProfiles,
		account.Image{ID: row.Key.Row, UserID: row.Partition}.Blobs())
}

// missingFiles looks for the files of the picture of a row.
func (s Store) missingFiles(ctx context.Context, name string, key table.Key, container string,
	files []string,
) (found []meet.Finding, err error) {
	for _, file := range files {
		_, err := s.Blobs.Get(ctx, container, file)
		if errors.Is(err, blob.ErrNotFound) {
			found = append(found, says(name, key, "a file of the picture is missing")...)
		} else if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// inDeck looks whether a row of decks is of a member as they are.
func (s Store) inDeck(ctx context.Context, row table.Row) ([]meet.Finding, error) {
	if row.Props.Get("IsOut").Bool() {
		return nil, nil
	}
	_, id, _ := strings.Cut(row.Key.Row, "_")
	u, err := s.Account(ctx, id)
	if err != nil {
		return nil, err
	}
	if u != nil {
		e, err := s.entry(ctx, *u)
		if err != nil {
			return nil, err
		}
		for _, key := range e.Keys() {
			if key == row.Key && !e.Out {
				return nil, nil
			}
		}
	}
	// It is taken out as it was read: a writer who has come meanwhile knows better.
	return []meet.Finding{{
		Table: s.Tables.Deck, Key: row.Key, Says: "the member must not be here",
		Mend: func(ctx context.Context) error {
			err := s.Write(ctx, s.Tables.Deck,
				[]table.Op{{Kind: table.Merge, Row: table.Row{Key: row.Key, ETag: row.ETag, Props: table.Props{
					{Name: "IsOut", Value: table.Bool(true)}, {Name: "UpdatedAt", Value: table.Time(s.Now())},
				}}}})
			if rowstore.Overtaken(err) {
				return nil
			}
			return err
		},
	}}, nil
}

// pair holds what must be true of a pair, and compares the lists with it.
func (s Store) pair(ctx context.Context, row table.Row) (found []meet.Finding, err error) {
	p := pairs.Parse(row)
	if p.Matched() != (p.Like[0] > 0 && p.Like[1] > 0) {
		found = says(s.Tables.Pairs, row.Key, "a match must be there if both like each other, and only then")
	}
	if p.Blocked() && (p.Like[0] > 0 || p.Like[1] > 0) {
		found = append(found, says(s.Tables.Pairs, row.Key, "a like is there in spite of a block")...)
	}
	if len(found) > 0 {
		return found, nil // the lists would follow it
	}
	mend := func(ctx context.Context) error { return s.SettlePair(ctx, p.IDs[0], p.IDs[1]) }
	want := p.Lists(s.PairTables())
	for _, l := range want {
		is, err := s.GetRow(ctx, l.Table, l.Row.Key)
		if err != nil {
			return nil, err
		}
		if is == nil || !same(*is, l.Row) {
			found = append(found, meet.Finding{
				Table: l.Table, Key: l.Row.Key,
				Says: "it is missing, or not as the pair says", Mend: func(ctx context.Context) error {
					if is != nil {
						err := s.Write(ctx, l.Table,
							[]table.Op{{Kind: table.Delete, Row: table.Row{Key: is.Key, ETag: is.ETag}}})
						if err != nil && !rowstore.Overtaken(err) {
							return err
						}
					}
					return mend(ctx)
				},
			})
		}
	}
	if p.MatchNumber == 0 {
		return found, nil
	}
	for i := range p.IDs {
		key := p.MatchRow(i, 0).Key
		is, err := s.GetRow(ctx, s.Tables.Matches, key)
		if err != nil {
			return nil, err
		}
		if is == nil && p.Matched() {
			found = append(found, meet.Finding{Table: s.Tables.Matches, Key: key, Says: "it is missing", Mend: mend})
		}
	}
	some, err := s.Rooms().Check(ctx, chat.Room{ID: p.ChatID(), Members: p.IDs, Open: p.Matched()}, p.Version)
	for _, c := range some {
		m := mend
		if c.Mend != nil {
			m = c.Mend
		}
		found = append(found, meet.Finding{Table: c.Table, Key: c.Key, Says: c.Says, Mend: m})
	}
	return found, err
}

// same reports whether a row has the properties of another one.
func same(is, want table.Row) bool {
	for _, p := range want.Props {
		if is.Props.Get(p.Name) != p.Value {
			return false
		}
	}
	return true
}

// read reads a pair.
func (s Store) read(ctx context.Context, a, b string) (pairs.Pair, error) {
	p := pairs.Of(a, b)
	row, err := s.GetRow(ctx, s.Tables.Pairs, p.Key())
	if row != nil {
		p = pairs.Parse(*row)
	}
	return p, err
}

// listed looks whether a pair has a row of a list.
func (s Store) listed(name string) func(context.Context, table.Row) ([]meet.Finding, error) {
	return func(ctx context.Context, row table.Row) ([]meet.Finding, error) {
		owner := strings.TrimSuffix(strings.TrimSuffix(row.Partition, "_ANON"), "_BY")
		// a secret like of a member who was erased
		if row.Partition == pairs.ReceivedBy(owner, true) && strings.HasSuffix(row.Key.Row, "_") {
			return nil, nil
		}
		p, err := s.read(ctx, owner, row.Key.Row[strings.LastIndexByte(row.Key.Row, '_')+1:])
		if err != nil {
			return nil, err
		}
		for _, l := range p.Lists(s.PairTables()) {
			if l.Table == name && l.Row.Key == row.Key {
				return nil, nil
			}
		}
		return s.Refused(name, row.Key), nil
	}
}

// match compares a row of Matches with its pair. One that an earlier version of the pair has left
// is written anew; no later version can be there.
func (s Store) match(ctx context.Context, row table.Row) ([]meet.Finding, error) {
	p, err := s.read(ctx, row.Partition, row.Key.Row)
	if err != nil {
		return nil, err
	}
	if p.MatchNumber == 0 {
		return s.Refused(s.Tables.Matches, row.Key), nil
	}
	at := p.MatchedAt
	if at == 0 {
		at = table.Ticks(row.Props.Get("CreatedAt").Time())
	}
	want := p.MatchRow(p.Side(row.Partition), at)
	if row.Props.Get("IsActive").Bool() == p.Matched() && row.Props.Get("ChatId").Str() == p.ChatID() &&
		(!p.Matched() || table.Ticks(row.Props.Get("CreatedAt").Time()) == at) {
		return nil, nil
	}
	return []meet.Finding{{
		Table: s.Tables.Matches, Key: row.Key, Says: "it is not as the pair says",
		Mend: func(ctx context.Context) error {
			want.ETag = row.ETag
			err := s.Write(ctx, s.Tables.Matches, []table.Op{{Kind: table.Replace, Row: want}})
			if rowstore.Overtaken(err) {
				return nil
			}
			return err
		},
	}}, nil
}

// numbers compares the head of a chat with its messages.
func (s Store) numbers(ctx context.Context, row table.Row) ([]meet.Finding, error) {
	wrong, err := s.Rooms().Numbers(ctx, row.Partition)
	if err != nil || wrong == "" {
		return nil, err
	}
	return says(s.Tables.Messages, row.Key, wrong), nil
}

// sentPicture looks for the message of a picture, and for its files.
func (s Store) sentPicture(ctx context.Context, row table.Row) ([]meet.Finding, error) {
	image, wrong, err := s.Rooms().CheckImage(ctx, row)
	if err != nil {
		return nil, err
	}
	if wrong != "" {
		return says(s.Tables.Messages, row.Key, wrong), nil
	}
	return s.missingFiles(ctx, s.Tables.Messages, row.Key, meet.ContainerChats,
		account.Image{ID: image, UserID: row.Partition}.Blobs())
}

// userChat looks whether a row in the list of chats is of a chat that the member takes part in.
func (s Store) userChat(_ context.Context, row table.Row) ([]meet.Finding, error) {
	if event := row.Props.Get("EventId").Str(); event != "" {
		if chat.OfEvent(event) == row.Key.Row {
			return nil, nil
		}
		return says(s.Tables.UserChats, row.Key, "it is not of the chat of this event"), nil
	}
	other := row.Props.Get("OtherId").Str()
	if other == "" || pairs.Of(row.Partition, other).ChatID() == row.Key.Row {
		return nil, nil
	}
	return says(s.Tables.UserChats, row.Key, "it is not of a chat of these two members"), nil
}
