package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"time"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// follows is how many people each one follows, and is followed by.
const follows = 50

// fillers is how many write at once: as many batches as the store writes together.
const fillers = 256

// A member is a person who is signed in.
type member struct {
	people.Claim
	access string
}

// A community is people of whom each follows 50 others. Two in five have posted, and their posts
// are in the homes of those who follow them. Voters are people besides, whom no one follows.
type community struct {
	posters, voters []member
	hot             []string // posts with a slider, by one of the posters
}

// phones keep the last text that each number got.
type phones struct{ texts sync.Map }

// Send implements sms.Sender.
func (p *phones) Send(_ context.Context, to, text string) error {
	p.texts.Store(to, text)
	return nil
}

// A room is the services over a storage.
type room struct {
	*posts.Service
	phones *phones
}

// secret is the key of everything that is made up here.
var secret = make([]byte, keyring.KeyBytes)

// over returns the services over a storage.
func over(db table.DB, queues queue.Queues, together transact.Func) (*room, error) {
	tables := rowstore.DefaultTables[schema.Tables]()
	keys, err := ballot.NewKeys(secret)
	if err != nil {
		return nil, err
	}
	rows := &rowstore.Store{
		DB: db, Now: time.Now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { do() },
		Sleep:  func(_ context.Context, d time.Duration) error { time.Sleep(d); return nil },
		Random: func(most time.Duration) time.Duration { return mathrand.N(most + 1) },
	}
	r := &room{phones: &phones{}}
	kept := assets.New(assets.Config{
		Store: rows, Tables: tables, Entropy: rand.Reader,
		Blobs: memory.NewBlobs(time.Now), Pictures: picture.NewMakerOf(assets.MaxPixels),
	})
	accounts := people.New(people.Config{
		Store: rows, Tables: tables, Queues: queues, Entropy: rand.Reader,
		Keys: keyring.Ring{secret}, SMS: r.phones, Assets: kept,
		Keep: 30 * 24 * time.Hour, CodeLasts: time.Minute, PerPhone: -1, PerAddress: -1,
		PerNetwork: -1, PerCountry: -1, PerHour: -1,
	})
	votes := ballot.New(ballot.Config{
		Store: rows, Posts: tables.Posts, Due: tables.Admin, Queues: queues, Transact: together, Keys: keys, VoteMin: 3,
		SettleAfter: 24 * time.Hour, Entropy: rand.Reader,
		Follow: func(ctx context.Context, all []ballot.Receipt) error { return r.FollowVotes(ctx, all) },
	})
	r.Service = posts.New(posts.Config{
		Store: rows, Tables: tables, Queues: queues, Entropy: rand.Reader, People: accounts,
		Hubs:   hubs.New(hubs.Config{Store: rows, Tables: tables, Entropy: rand.Reader, People: accounts}),
		Ballot: votes, PostsADay: -1, CommentsADay: -1, MessagesADay: -1, VotesAnHour: -1,
	})
	return r, nil
}

// create makes tables and queues.
func (r *room) create(ctx context.Context) error {
	err := r.Queues.Create(ctx, append(posts.Queues(), people.Queues()...)...)
	if err == nil {
		err = r.DB.Create(ctx, r.Tables.All()...)
	}
	if err == nil {
		err = r.People.CheckKeys(ctx)
	}
	return err
}

// enter makes the account of a number.
func (r *room) enter(ctx context.Context, i int) (member, error) {
	number, name := fmt.Sprintf("+346%08d", i), fmt.Sprintf("Person%d", i)
	// as if each had an address of their own
	c, err := r.People.RequestCode(ctx, "sms", number, "sign_in", people.Asker{Site: number})
	if err != nil {
		return member{}, err
	}
	text, _ := r.phones.texts.LoadAndDelete(number)
	code, _, _ := strings.Cut(text.(string), " ")
	in, err := r.People.Verify(ctx, c.ID, code, "bench")
	if err != nil {
		return member{}, err
	}
	claim, err := r.People.ParseAccess(in.Tokens.Access)
	if err == nil {
		_, err = r.People.SetBasics(ctx, claim, people.Basics{Username: &name, FullName: &name})
	}
	if err == nil {
		_, err = r.People.AcceptTerms(ctx, claim, "1", "1")
	}
	return member{claim, in.Tokens.Access}, err
}

// fill makes a community of n people, with some voters, and hot posts with some shards.
func (r *room) fill(ctx context.Context, n, voters int, hot ...int) (*community, error) {
	c := &community{posters: make([]member, n*2/5), voters: make([]member, voters)}
	if err := r.create(ctx); err != nil {
		return nil, err
	}
	err := rowstore.Each(ctx, len(c.posters), fillers, func(ctx context.Context, i int) (err error) {
		c.posters[i], err = r.enter(ctx, i)
		return err
	})
	if err != nil {
		return nil, err
	}
	thought := "A good cup needs seven lamps, and somebody to argue with."
	err = rowstore.Each(ctx, len(c.posters), fillers, func(ctx context.Context, i int) error {
		_, err := r.Create(ctx, c.posters[i].Claim,
			posts.Draft{Thought: &thought, Slider: &posts.Slider{Text: "Is tea better than coffee?"}}, "")
		return err
	})
	if err == nil {
		err = r.jobs(ctx)
	}
	if err == nil {
		err = r.befriend(ctx, c, n)
	}
	if err != nil {
		return nil, err
	}
	for _, shards := range hot {
		card, err := r.Create(ctx, c.posters[0].Claim,
			posts.Draft{Slider: &posts.Slider{Text: "Is tea better than coffee?"}}, "")
		if err == nil {
			_, err = r.DB.Write(ctx, r.Tables.Posts,
				table.Op{
					Kind: table.Merge,
					Row: table.Row{
						Key: table.Key{Partition: schema.Post(card.ID), Row: "!post"}, ETag: table.Any,
						Props: table.Props{{Name: "shards", Value: table.Int32(int32(shards))}},
					},
				})
		}
		if err != nil {
			return nil, err
		}
		c.hot = append(c.hot, card.ID)
	}
	// They are last, because an access token lasts a quarter of an hour.
	err = rowstore.Each(ctx, voters, fillers, func(ctx context.Context, i int) (err error) {
		c.voters[i], err = r.enter(ctx, n+i)
		return err
	})
	if err == nil {
		err = r.jobs(ctx)
	}
	return c, err
}

// jobs do what messages ask for that can be seen now.
func (r *room) jobs(ctx context.Context) error {
	for _, trigger := range append(r.Triggers(), r.People.Triggers()...) {
		for trigger.Queue != "" {
			list, err := r.Queues.Receive(ctx, trigger.Queue, queue.MaxReceive, time.Minute)
			if err != nil {
				return err
			}
			if len(list) == 0 {
				break
			}
			err = rowstore.Each(ctx, len(list), len(list), func(ctx context.Context, i int) error {
				return errors.Join(trigger.Run(ctx, function.Invocation{Text: list[i].Text}),
					r.Queues.Delete(ctx, trigger.Queue, list[i].Receipt))
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// befriend makes the people of a community who have not posted, has each of the n follow 50 others,
// and writes what these did into the homes. To follow half a million times takes long, so the rows
// are copies of those of one follow, and of an activity in the list of a person.
func (r *room) befriend(ctx context.Context, c *community, n int) error {
	one, other := c.posters[0].UserID, c.posters[1].UserID
	if _, err := r.People.Follow(ctx, c.posters[0].Claim, other, true); err != nil {
		return err
	}
	var me table.Row
	var out, in []table.Row // of the one who follows, and of the other
	for _, user := range []string{one, other} {
		for row, err := range table.All(ctx, r.DB, r.Tables.Users, table.Range{Partition: schema.User(user)}) {
			if err != nil {
				return err
			}
			switch kind, _, _ := strings.Cut(row.Row, "|"); kind {
			case "me":
				me = row
			case "fo", "fod":
				out = append(out, row)
			case "fr", "frd":
				in = append(in, row)
			}
		}
	}
	ids := make([]string, n)
	for i := range ids {
		if ids[i] = schema.NewID(r.Now(), rand.Reader); i < len(c.posters) {
			ids[i] = c.posters[i].UserID
		}
	}
	acts := make([]table.Row, len(c.posters))
	err := rowstore.Each(ctx, len(acts), fillers, func(ctx context.Context, i int) error {
		page, err := r.DB.List(ctx, r.Tables.Lists, table.Range{Partition: "act|" + ids[i]}, 1, "")
		if err == nil {
			acts[i] = page.Rows[0]
		}
		return err
	})
	if err != nil {
		return err
	}
	copied := func(row table.Row, partition, key string) table.Op {
		return table.Op{
			Kind: table.Upsert,
			Row:  table.Row{Key: table.Key{Partition: partition, Row: key}, Props: row.Props},
		}
	}
	return rowstore.Each(ctx, n, fillers, func(ctx context.Context, i int) error {
		user := schema.User(ids[i])
		counts := table.Op{
			Kind: table.Merge,
			Row: table.Row{Key: table.Key{Partition: user, Row: "c|00"}, ETag: table.Any, Props: table.Props{
				{Name: "following_count", Value: table.Int64(follows)},
				{Name: "followers_count", Value: table.Int64(follows)},
			}},
		}
		own := []table.Op{counts}
		if i >= len(c.posters) {
			own[0].Kind, own[0].Row.ETag = table.Insert, ""
			own = append(own, copied(me, user, "me"))
		}
		var to, from, home []table.Op
		for k := range follows {
			whom, who := (i+1+k*n/follows)%n, (i-1-k*n/follows+2*n)%n
			for _, row := range out {
				to = append(to, copied(row, user, strings.Replace(row.Row, other, ids[whom], 1)))
			}
			for _, row := range in {
				from = append(from, copied(row, user, strings.Replace(row.Row, one, ids[who], 1)))
			}
			if whom < len(acts) {
				home = append(home, copied(acts[whom], "home|"+ids[i], acts[whom].Row))
			}
		}
		for _, ops := range [][]table.Op{own, to, from} {
			if _, err := r.DB.Write(ctx, r.Tables.Users, ops...); err != nil {
				return err
			}
		}
		_, err := r.DB.Write(ctx, r.Tables.Lists, home...)
		return err
	})
}

// vote casts n votes on a post, without the rows of lists that follow.
func (r *room) vote(ctx context.Context, post string, n int) error {
	return rowstore.Each(ctx, n, 64, func(ctx context.Context, i int) error {
		_, err := r.Ballot.Cast(ctx,
			ballot.Vote{Post: post, Voter: fmt.Sprintf("voter%08d", i), Position: ballot.Position(i % 5)})
		return err
	})
}
