// Package population makes up members and writes them as rows, since to register thousands of them
// takes long: for the test of growth and for the benchmark.
package population

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/pairs"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Member is one who was made up.
type Member struct {
	ID, Name    string
	Gender      string
	BirthDate   time.Time
	Position    *rules.Position
	Preferences rules.Preferences
	Shuffle     string

	Access string // the token of a session that lasts a day
	secret [2]session.Secret
	email  string
}

// Make makes up the member of a number, always the same one. Most are men or women, and one in
// three looks for one gender. One in four looks for members of about their age, and four in five
// give a position in one of some towns.
func Make(n int) Member {
	r := rand.New(rand.NewPCG(uint64(n), 10))
	m := Member{
		ID: random(r).String(), Name: fmt.Sprint("Member ", n), Gender: rules.Genders[min(r.IntN(20)/9, 2+r.IntN(2))],
		email:       fmt.Sprintf("member%d@example.com", n),
		BirthDate:   time.Date(1966+r.IntN(42), time.Month(1+r.IntN(12)), 1+r.IntN(28), 0, 0, 0, 0, time.UTC),
		Preferences: rules.NewPreferences(), Shuffle: fmt.Sprintf("%016x", r.Uint64()),
	}
	if r.IntN(5) > 0 {
		town := towns[r.IntN(len(towns))]
		m.Position = &rules.Position{Lat: town.Lat + r.IntN(5), Lon: town.Lon + r.IntN(9)}
	}
	if r.IntN(3) == 0 {
		m.Preferences.ShowMe = rules.ShowMe[1+r.IntN(2)]
	}
	if age := 2026 - m.BirthDate.Year(); r.IntN(4) == 0 {
		m.Preferences.AgeMin, m.Preferences.AgeMax = max(age-10, rules.Adult), age+10
	}
	for i := range m.secret {
		m.secret[i] = session.Secret(append(append([]byte{}, bytes(r)...), bytes(r)...))
	}
	return m
}

// towns are where members live.
var towns = []rules.Position{
	{Lat: 557, Lon: 376},
	{Lat: 599, Lon: 303},
	{Lat: 550, Lon: 829},
	{Lat: 568, Lon: 606},
	{Lat: 525, Lon: 133},
	{Lat: 415, Lon: 449},
}

func random(r *rand.Rand) uuid.UUID {
	id := uuid.UUID(bytes(r))
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id
}

func bytes(r *rand.Rand) []byte {
	b := make([]byte, 16)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// Fill writes n members who are registered, several at a time.
func Fill(ctx context.Context, s *meet.Service, n, parallel int) ([]Member, error) {
	all := make([]Member, n)
	return all, rowstore.Each(ctx, n, parallel, func(ctx context.Context, i int) (err error) {
		all[i], err = write(ctx, s, Make(i))
		return err
	})
}

// write writes the rows of a member, and those that follow from them as a job does.
func write(ctx context.Context, s *meet.Service, m Member) (Member, error) {
	now := s.Now().UTC()
	u := account.User{
		ID: m.ID, Email: m.email, Name: m.Name, Gender: m.Gender, BirthDate: m.BirthDate, Position: m.Position,
		Role: account.Member, Registered: true, Shuffle: m.Shuffle,
		About:     account.About{Bio: "Tea, seven lamps, and every concert since the first one.", Location: "Москва"},
		CreatedAt: now, UpdatedAt: now, LastSeen: now,
	}
	g := account.Sessions.Grant(session.Session{User: m.ID, ID: m.ID, CreatedAt: now, Device: "made up"},
		m.secret[0], m.secret[1], now)
	g.AccessEnds = now.Add(24 * time.Hour)
	m.Access = account.TokensOf(g, now).Access
	for _, w := range []struct {
		table string
		row   table.Row
	}{
		{s.Tables.Users, u.Row(now)},
		{s.Tables.UserEmails, table.Row{
			Key:   account.EmailKey(u.Email),
			Props: table.Props{{Name: "UserId", Value: table.String(u.ID)}},
		}},
		{s.Tables.UserPreferences, account.PreferencesRow(u.ID, m.Preferences, account.Daily{}, now)},
		{s.Tables.Sessions, table.Row{
			Key:   table.Key{Partition: m.ID, Row: m.ID},
			Props: session.Columns.Props(&g.Session),
		}},
	} {
		if err := s.Upsert(ctx, w.table, w.row); err != nil {
			return m, err
		}
	}
	return m, s.SettleUser(ctx, u.ID, "ru")
}

// Claim is what the token of a member says.
func (m Member) Claim() meet.Claim {
	c, err := meet.ParseAccess(m.Access)
	if err != nil {
		panic(err) // Fill has made it
	}
	return c
}

// Match writes that two members like each other. A match and a chat follow, which are written as a
// job does it. It returns the id of the chat.
func Match(ctx context.Context, s *meet.Service, a, b Member) (chat string, err error) {
	p := pairs.Of(a.ID, b.ID)
	p.Like = [2]int64{p.Tick(s.Now()), p.Tick(s.Now())}
	p.MatchedAt, p.MatchNumber, p.Version = p.Like[1], 1, 2
	if err := s.Upsert(ctx, s.Tables.Pairs, p.Row()); err != nil {
		return "", err
	}
	return p.ChatID(), s.SettlePair(ctx, p.IDs[0], p.IDs[1])
}
