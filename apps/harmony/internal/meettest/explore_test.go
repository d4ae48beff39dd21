package meettest_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/chats"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/pairs"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/apps/harmony/internal/topic"
	"prompthub/apps/harmony/internal/verify"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
	"prompthub/internal/testing/chaos"
	"prompthub/internal/testing/repeatable"
)

// TestExplore runs likes, chats, events, topics, pictures and accounts of several processes with
// their calls interleaved, time moving, answers lost, writes that land late, processes that stop,
// and messages that come twice. At all times a match is there if both like, no more attend than
// there are places, replies are counted exactly, an address has one account at most, and nothing
// lands after the answer that forbids it. At rest each promised thing is there once, and every list
// is as the truth says. In half of the schedules the store changes tables together.
//
// EXPLORE_SCHEDULES sets their number, which is 10,000 in "make -C apps/harmony soak"; EXPLORE_SEED
// runs one alone.
func TestExplore(t *testing.T) {
	t.Parallel()
	base := meettest.New(t)
	still := func(context.Context, time.Duration) error { return nil }
	c := newRooms(base.On(store(base.DB, base.Clock.Now, still), base.Queues, repeatable.Seeded(1)))
	ctx, admin := t.Context(), base.Members["admin"]
	require.NoError(t, c.events.Create(ctx))
	require.NoError(t, c.forum.Create(ctx))
	places := 2
	e, err := c.events.NewEvent(ctx, admin, events.Draft{
		Title: "Concert", Start: meettest.Began.Add(1000 * time.Hour).Format(time.RFC3339), Category: "concert",
		Capacity: &places, Visibility: events.Public, Published: true,
	})
	require.NoError(t, err)
	_, err = c.forum.NewSection(ctx, admin, forum.Section{ID: "music", Name: "Music"})
	require.NoError(t, err)
	talk, err := c.forum.NewTopic(ctx, base.Members["anna"], "music", "A topic", "Enough content", "")
	require.NoError(t, err)
	no := false
	for _, like := range [][2]string{{"anna", "bob"}, {"bob", "anna"}, {"bob", "carol"}} {
		_, _, err := c.Like(ctx, base.Members[like[0]], base.Members[like[1]].UserID, &no)
		require.NoError(t, err)
	}
	for _, row := range base.Rows(meettest.Tables.Sessions) { // no schedule is as long
		end := table.Time(meettest.Began.Add(1000 * time.Hour))
		_, err := base.DB.Write(ctx, meettest.Tables.Sessions,
			table.Op{
				Kind: table.Merge,
				Row: table.Row{
					Key: row.Key, ETag: table.Any,
					Props: table.Props{{Name: "AccessEndsAt", Value: end}, {Name: "EndsAt", Value: end}},
				},
			})
		require.NoError(t, err)
	}
	chaos.Explore(t, 300, func(seed uint64) *chaos.Explorer {
		x := &explorer{
			Explorer: chaos.NewExplorer(seed, meettest.Began,
				chaos.Times{Call: rowstore.CallWithin, WriteEnd: rowstore.WriteEnd, Land: rowstore.LandWithin}),
			World: base.Clone(t), rooms: map[*chaos.Process]*rooms{}, members: maps.Clone(base.Members), draft: e.Event,
			places: places, topics: []string{talk.ID},
			flying: map[string]int{}, fog: map[string]bool{}, watches: map[string]func(rows) error{},
			said: map[string]bool{}, passed: map[string]bool{}, signed: map[string]signed{},
		}
		for _, one := range topic.OfEvent(e.ID, "", "", meettest.Began) {
			x.topics = append(x.topics, one.ID)
		}
		x.together = x.Luck.IntN(2) == 0
		x.queues, x.World.Blobs = memory.NewQueues(x.Explorer.Now), memory.NewBlobs(x.Explorer.Now)
		require.NoError(t, x.World.Blobs.Create(ctx, meet.ContainerProfiles,
			meet.ContainerChats, meet.ContainerRemoved))
		require.NoError(t, x.queues.Create(ctx, meet.QueueLists, meet.QueuePairs, meet.QueueMails))
		calm := x.On(store(x.DB, x.Explorer.Now, still), x.queues, repeatable.Seeded(x.Luck.Uint64()))
		calm.Transact = x.transact()
		x.calm = newRooms(calm)
		synctest.Test(t, func(*testing.T) {
			x.TimeOuts, x.Crashes = x.Luck.IntN(6), x.Luck.IntN(2) // of commands with some ten calls
			x.Run(15+x.Luck.IntN(25), x.begin, x.look)
			x.rest()
		})
		return x.Explorer
	}, "message", "twice", "match", "like", "unmatch", "block", "unlike", "send", "edit", "read", "register", "leave",
		"wait for", "wait no more", "was given", "reply", "lock", "sign up", string(meet.EmailTaken), "suspend",
		"delete", "restore", "publish", "picture", "delete picture", "order pictures", "send picture", "unknown",
		string(chat.Closed), string(events.EventFull), string(forum.TopicLocked))
}

// rooms are those of a process.
type rooms struct {
	*meet.Service
	events *events.Service
	chats  *chats.Service
	forum  *forum.Service
}

func newRooms(s *meet.Service) *rooms {
	happens := events.New(s, meettest.EventTables, meettest.ForumTables)
	return &rooms{s, happens, chats.New(s, happens), forum.New(s, happens, meettest.ForumTables)}
}

// triggers are the jobs.
func (r *rooms) triggers() []function.Trigger {
	return r.Triggers(slices.Concat(r.events.Settlers(), r.chats.Settlers(), r.forum.Settlers())...)
}

func (r *rooms) compared() verify.Store {
	return verify.Store{Service: r.Service, Checks: append(r.events.Checks(), r.forum.Checks()...)}
}

// An explorer is one schedule.
type explorer struct {
	*chaos.Explorer
	*meettest.World
	queues *memory.Queues
	calm   *rooms // whose calls all pass
	rooms  map[*chaos.Process]*rooms
	draft  events.Event
	places int
	topics []string
	texts  int

	together bool // whether the store changes tables together

	mu      sync.Mutex
	members map[string]meet.Claim // as they are signed in
	flying  map[string]int        // commands under way, by what they change
	fog     map[string]bool       // what a command without an answer may change yet
	answers []answer
	watches map[string]func(rows) error // they must hold until another command changes the same
	signed  map[string]signed           // by their addresses
	passed  map[string]bool             // members who may be passed over by waiters
	were    rows                        // of the look before
	said    map[string]bool             // texts that were promised, unless they were changed since
}

// signed is what was answered to those who registered an address.
type signed struct {
	tries    int
	given    int    // how many were told that they have it
	password string // of the one who was told that they have it, "" if there is none
	id       string
}

// An answer came to a command that changes things.
type answer struct {
	what   string
	things []string
	err    error
	then   func() func(rows) error
}

// store returns a store whose work after answers runs by itself.
func store(db table.DB, now func() time.Time, sleep func(context.Context, time.Duration) error) *rowstore.Store {
	return &rowstore.Store{
		DB: db, Now: now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { go do() }, Sleep: sleep,
		Random: func(time.Duration) time.Duration { return 0 },
	}
}

// process returns the rooms of a process that runs, or of a new one.
func (x *explorer) process() *rooms {
	p, isNew := x.One()
	if isNew {
		w := *x.World
		w.Blobs = p.Blobs(x.World.Blobs)
		s := w.On(store(p.Tables(x.DB), p.Now, p.Sleep), p.Queues(x.queues), repeatable.Seeded(x.Luck.Uint64()))
		if x.together {
			s.Transact = p.Transact(x.transact())
		}
		x.rooms[p] = newRooms(s)
	}
	return x.rooms[p]
}

// transact changes tables together, if those of the schedule do.
func (x *explorer) transact() transact.Func {
	if !x.together {
		return nil
	}
	return memory.Together(x.DB, x.queues)
}

// do runs a command that changes things. If it succeeds while no other changes them, what then
// returns must hold from now on.
func (x *explorer) do(what string, things []string, command func() error, then func() func(rows) error) {
	x.mu.Lock()
	for _, thing := range things {
		x.flying[thing]++
		if x.flying[thing] > 1 {
			x.fog[thing] = true
		}
		delete(x.watches, thing)
	}
	x.mu.Unlock()
	go func() {
		err := command()
		x.mu.Lock()
		defer x.mu.Unlock()
		x.answers = append(x.answers, answer{what, things, err, then})
	}()
}

// hear takes down what was answered.
func (x *explorer) hear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range x.answers {
		unknown := errors.Is(a.err, chaos.ErrKilled) || fault.Of(a.err) == fault.Unavailable
		clear := a.err == nil
		for _, thing := range a.things {
			x.flying[thing]--
			if unknown {
				x.fog[thing] = true
			}
			clear = clear && !x.fog[thing] && x.flying[thing] == 0
		}
		switch {
		case unknown:
			x.Meet("unknown")
		case a.err != nil:
			x.Meet(string(fault.CodeOf(a.err)))
		default:
			x.Meet(a.what)
		}
		if clear && a.then != nil {
			x.watches[a.things[0]] = a.then()
		}
	}
	x.answers = nil
}

// begin runs a command.
func (x *explorer) begin() {
	all := []string{
		"like", "like", "like", "like", "unlike", "unlike", "unmatch", "block", "unblock", "pass", "send", "send",
		"send", "edit", "edit", "edit", "delete message", "read",
		"register", "register", "leave", "leave", "remove", "wait for", "wait for", "wait for", "wait no more",
		"capacity", "publish", "talk", "talk", "talk", "picture", "picture", "delete picture", "order pictures",
		"send picture", "send picture", "reply", "reply", "delete reply", "lock", "unlock", "suspend", "lift", "delete",
		"restore", "sign up", "sign up",
		"message", "message", "message", "wait", "wait", "long wait",
	}
	what := all[x.Luck.IntN(len(all))]
	x.Trace = append(x.Trace, "begin "+what)
	ctx := context.Background()
	switch what {
	case "wait":
		x.Wait()
		return
	case "long wait":
		x.WaitLong(2 * time.Hour)
		x.hear()
		clear(x.fog) // every write has landed by now
		for range 3 {
			x.deliver(ctx, x.process())
		}
		return
	}
	r := x.process()
	names := []string{"anna", "bob", "carol"}
	if most := 3 - min(1, x.Luck.IntN(3)); true { // anna and bob have most to do with one another
		x.Luck.Shuffle(most, func(i, j int) { names[i], names[j] = names[j], names[i] })
	}
	if what == "talk" || what == "leave" || what == "remove" { // those who attend have most to say, and to leave
		x.mu.Lock()
		now := x.rowsNow()
		if at := slices.IndexFunc(names, func(name string) bool { return now.going[x.members[name].UserID] }); at >= 0 {
			names[0], names[at] = names[at], names[0]
		}
		x.mu.Unlock()
	}
	x.mu.Lock()
	a, b, admin, moderator := x.members[names[0]], x.members[names[1]], x.members["admin"], x.members["moderator"]
	x.mu.Unlock()
	pair := pairs.Of(a.UserID, b.UserID)
	two, side, room := []string{"pair " + pair.ChatID()}, pair.Side(a.UserID), pair.ChatID()
	going, event := "going "+a.UserID, x.draft.ID
	about := x.topics[x.Luck.IntN(len(x.topics))]
	holds := func(what string, is func(pairs.Pair) bool) func() func(rows) error {
		return func() func(rows) error {
			return func(now rows) error {
				if !is(now.pairs[room]) {
					return fmt.Errorf("%s was answered, and %+v", what, now.pairs[room])
				}
				return nil
			}
		}
	}
	ended := func(what string, is func(pairs.Pair) bool) func() func(rows) error {
		return func() func(rows) error {
			n := x.rowsNow().messages[room]
			return func(now rows) error {
				if now.messages[room] != n {
					return fmt.Errorf("%s was answered, and a message has landed", what)
				}
				return holds(what, is)()(now)
			}
		}
	}
	switch what {
	case "like":
		secret := x.Luck.IntN(3) == 0
		x.do(what, two, func() error {
			like, _, err := r.Like(ctx, a, b.UserID, &secret)
			if like.Match {
				x.Meet("match")
			}
			return err
		}, holds(what, func(p pairs.Pair) bool { return p.Like[side] > 0 }))
	case "unlike":
		x.do(what, two, func() error { return r.Unlike(ctx, a, b.UserID) },
			holds(what, func(p pairs.Pair) bool { return p.Like[side] == 0 && !p.Matched() }))
	case "unmatch":
		x.do(what, two, func() error { return r.Unmatch(ctx, a, b.UserID) },
			ended(what, func(p pairs.Pair) bool { return p.Like == [2]int64{} && !p.Matched() }))
	case "block":
		x.do(what, two, func() error { return r.Block(ctx, a, b.UserID) },
			ended(what, func(p pairs.Pair) bool { return p.Block[side] > 0 && p.Like == [2]int64{} }))
	case "unblock":
		x.do(what, two, func() error { return r.Unblock(ctx, a, b.UserID) },
			holds(what, func(p pairs.Pair) bool { return p.Block[side] == 0 }))
	case "pass":
		x.do(what, two, func() error { return r.Pass(ctx, a, b.UserID) }, nil)
	case "send", "talk":
		if what == "talk" {
			room = chat.OfEvent(event)
		}
		key := []string{"", fmt.Sprint("key ", x.Luck.IntN(4))}[x.Luck.IntN(2)]
		x.texts++
		text := fmt.Sprint("text ", x.texts)
		if key != "" {
			text = key // the same request again is the same message
		}
		x.do("send", nil, func() error {
			_, _, err := r.chats.Send(ctx, a, room, text, key)
			x.promise(err, room+a.UserID+text)
			return err
		}, nil)
	case "send picture":
		room = []string{room, chat.OfEvent(event)}[x.Luck.IntN(2)]
		key := []string{"", fmt.Sprint("picture ", x.Luck.IntN(2))}[x.Luck.IntN(2)]
		x.do(what, nil, func() error {
			_, _, err := r.chats.SendImage(ctx, a, room, meettest.PNG, key)
			return err
		}, nil)
	case "edit", "delete message", "read":
		x.message(ctx, what, r, a, []string{room, chat.OfEvent(event)}[x.Luck.IntN(2)])
	case "register":
		x.do(what, []string{going}, func() error {
			_, _, err := r.events.Register(ctx, a, event, "", a.UserID)
			return err
		}, x.attends(a, true))
	case "leave":
		x.do(what, []string{going}, func() error { return r.events.Unregister(ctx, a, event) }, x.attends(a, false))
	case "wait for":
		x.do(what, []string{going}, func() error {
			_, _, err := r.events.WaitFor(ctx, a, event, "", a.UserID)
			return err
		}, func() func(rows) error {
			return func(now rows) error {
				if now.waits[a.UserID] == 0 && !now.going[a.UserID] {
					return errors.New("a member was told that they wait, and does not")
				}
				return nil
			}
		})
	case "wait no more":
		x.do(what, []string{going}, func() error { return r.events.WaitNoMore(ctx, a, event) },
			func() func(rows) error {
				return func(now rows) error {
					if now.waits[a.UserID] != 0 {
						return errors.New("a member was told that they wait no more, and does")
					}
					return nil
				}
			})
	case "remove":
		x.do(what, []string{going}, func() error { return r.events.Remove(ctx, admin, event, a.UserID) },
			x.attends(a, false))
	case "capacity", "publish":
		d := events.Draft{
			Title: "Concert", Start: x.draft.Start.Format(time.RFC3339),
			Category: []string{"concert", "party"}[x.Luck.IntN(2)], Visibility: events.Public, Published: true,
		}
		d.Published = what == "capacity" || x.Luck.IntN(2) == 0
		places := 1 + x.Luck.IntN(3)
		d.Capacity = &places
		x.do(what, nil, func() error {
			_, err := r.events.Edit(ctx, admin, event, d)
			return err
		}, nil)
	case "reply":
		x.texts++
		text := fmt.Sprint("reply ", x.texts)
		x.do(what, nil, func() error {
			_, err := r.forum.Reply(ctx, a, about, text, "")
			x.promise(err, about+a.UserID+text)
			return err
		}, nil)
	case "delete reply":
		replies := x.repliesOf(about, a.UserID)
		if len(replies) == 0 {
			return
		}
		reply := replies[x.Luck.IntN(len(replies))]
		x.forget(about + a.UserID + reply.Props.Get("Content").Str())
		x.do(what, nil, func() error { return r.forum.DeleteReply(ctx, a, about, reply.Key.Row) }, nil)
	case "lock", "unlock":
		is := what == "lock"
		x.do(what, []string{"lock " + about}, func() error {
			_, err := r.forum.Edit(ctx, moderator, about, forum.Edit{Locked: &is})
			return err
		}, func() func(rows) error {
			n := x.rowsNow().replies[about]
			return func(now rows) error {
				if is && now.replies[about] != n {
					return errors.New("a lock was answered, and a reply has landed")
				}
				return nil
			}
		})
	case "picture", "delete picture", "order pictures":
		x.picture(ctx, what, r, a)
	case "suspend", "lift":
		x.passed[a.UserID] = true
		x.do(what, []string{"user " + a.UserID}, func() error {
			if what == "lift" {
				return r.Unsuspend(ctx, moderator, a.UserID)
			}
			return r.Suspend(ctx, moderator, a.UserID, 3000, "spam")
		}, func() func(rows) error {
			return func(now rows) error {
				if now.suspended[a.UserID] != (what == "suspend") {
					return fmt.Errorf("%s was answered, and is not so", what)
				}
				return nil
			}
		})
	case "delete":
		x.passed[a.UserID] = true
		x.do(what, []string{"user " + a.UserID, going}, func() error {
			_, err := r.DeleteMe(ctx, a, password)
			return err
		}, nil)
	case "restore":
		x.do(what, []string{"user " + a.UserID}, func() error {
			in, err := r.Restore(ctx, names[0]+"@example.com", password, meet.Asker{Agent: "test"})
			if err != nil {
				return err
			}
			c, err := meet.ParseAccess(in.Tokens.Access)
			x.mu.Lock()
			defer x.mu.Unlock()
			x.members[names[0]] = c
			return err
		}, nil)
	case "sign up":
		x.signUp(ctx, r)
	case "message":
		x.deliver(ctx, r)
	}
}

// signUp registers an address, each time with another password.
func (x *explorer) signUp(ctx context.Context, r *rooms) {
	address := []string{"dora@example.com", "eve@example.com"}[x.Luck.IntN(2)]
	x.mu.Lock()
	s := x.signed[address]
	s.tries++
	x.signed[address] = s
	x.mu.Unlock()
	secret := secretOf(s.tries)
	x.do("sign up", nil, func() error {
		in, err := r.Register(ctx, meet.Registration{
			Email: address, Password: secret, Name: "Somebody",
			BirthDate: "2000-02-29", Gender: "female", Language: "en", By: meet.Asker{Agent: "test"},
		})
		if err != nil {
			return err
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		s := x.signed[address]
		s.given++
		s.id, s.password = in.Me.ID, secret
		x.signed[address] = s
		return nil
	}, nil)
}

func secretOf(try int) string { return fmt.Sprintf("tea under %d lamps", 10+try) }

// accounts holds the accounts to the answers: each address has one at most, and only one that has
// its address is registered. At rest nothing is left of others, and the account that was promised
// is good for the password that it was made with, and for no other.
func (x *explorer) accounts(rest bool) error {
	owners, users := map[string]string{}, map[string]account.User{}
	for _, row := range x.Rows(meettest.Tables.UserEmails) {
		owners[row.Key.Row] = row.Props.Get("UserId").Str()
	}
	for _, row := range x.Rows(meettest.Tables.Users) {
		u := account.ParseUser(row)
		users[u.ID] = u
		if owner := owners[account.EmailKey(u.Email).Row]; owner != u.ID && (u.Registered || rest) {
			return fmt.Errorf("%s is an account of %s, whose address leads to %q", u.ID, u.Email, owner)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for address, s := range x.signed {
		owner := owners[account.EmailKey(address).Row]
		if s.given > 1 {
			return fmt.Errorf("%s was given to %d", address, s.given)
		}
		if s.id != "" && s.id != owner {
			return fmt.Errorf("%s was promised to %s, and leads to %q", address, s.id, owner)
		}
		if !rest {
			continue
		}
		if owner != "" && !users[owner].Registered {
			return fmt.Errorf("the account of %s is half made: %+v", address, users[owner])
		}
		good := 0
		for try := range s.tries {
			_, err := x.calm.Login(context.Background(), address, secretOf(try+1), meet.Asker{Agent: "test"})
			if err == nil {
				good++
			}
			if (err == nil) != (s.password == secretOf(try+1)) && s.id != "" {
				return fmt.Errorf("of %s one of %d passwords: good is %t", address, s.tries, err == nil)
			}
			x.Advance(time.Minute) // ten wrong passwords within a quarter of an hour are too many
		}
		if good > 1 || owner != "" && good == 0 {
			return fmt.Errorf("%d passwords are good for %s", good, address)
		}
	}
	return nil
}

// attends is what holds once a member was told to attend the event, or to do so no more: then no
// message of theirs lands in its chat.
func (x *explorer) attends(c meet.Claim, is bool) func() func(rows) error {
	return func() func(rows) error {
		n := x.rowsNow().talks[c.UserID]
		return func(now rows) error {
			switch {
			case now.going[c.UserID] != is:
				return fmt.Errorf("a member attends: %t, and was told %t", now.going[c.UserID], is)
			case !is && now.talks[c.UserID] != n:
				return errors.New("a member was told that they attend no more, and a message of theirs has landed")
			}
			return nil
		}
	}
}

// picture changes the pictures of a member.
func (x *explorer) picture(ctx context.Context, what string, r *rooms, c meet.Claim) {
	all := x.rowsNow().pictures[c.UserID].All
	things := []string{"pictures " + c.UserID}
	there := func(id string, is bool) func() func(rows) error {
		return func() func(rows) error {
			return func(now rows) error {
				if slices.ContainsFunc(now.pictures[c.UserID].All, func(i account.Image) bool {
					return i.ID == id
				}) != is {
					return fmt.Errorf("%s was answered, and is not so", what)
				}
				return nil
			}
		}
	}
	switch {
	case what == "picture":
		var added meet.Image
		x.do(what, things, func() (err error) {
			added, err = r.AddImage(ctx, c, c.UserID, meettest.PNG)
			return err
		}, func() func(rows) error { return there(added.ID, true)() })
	case len(all) == 0:
	case what == "delete picture":
		id := all[x.Luck.IntN(len(all))].ID
		x.do(what, things, func() error { return r.DeleteImage(ctx, c, c.UserID, id) }, there(id, false))
	default:
		var ids []string
		for _, i := range slices.Backward(all) {
			ids = append(ids, i.ID)
		}
		x.do(what, things, func() error {
			_, err := r.OrderImages(ctx, c, c.UserID, ids)
			return err
		}, func() func(rows) error {
			return func(now rows) error {
				if first := now.pictures[c.UserID].All[0].ID; first != ids[0] {
					return fmt.Errorf("%s is first, and %s was told to be", first, ids[0])
				}
				return nil
			}
		})
	}
}

// promise takes down that a text was promised, and forget that it may be changed.
func (x *explorer) promise(err error, text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, changed := x.said[text]; err == nil && !changed {
		x.said[text] = true
	}
}

func (x *explorer) forget(text string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.said[text] = false
}

// message changes a message of a member, or marks messages as read.
func (x *explorer) message(ctx context.Context, what string, r *rooms, c meet.Claim, room string) {
	some := slices.DeleteFunc(x.Rows(meettest.Tables.Messages), func(row table.Row) bool {
		sender := row.Props.Get("SenderId").Str()
		system := row.Props.Get("Type").Str() == chat.TypeSystem
		return system || sender == "" || sender != c.UserID && (what != "read" || row.Partition != room)
	})
	if len(some) == 0 {
		return
	}
	one := some[x.Luck.IntN(len(some))]
	room = one.Partition
	x.texts++
	to := fmt.Sprint("edit ", x.texts)
	if what != "read" {
		x.forget(room + c.UserID + one.Props.Get("Content").Str())
	}
	x.do(what, nil, func() (err error) {
		switch what {
		case "edit":
			_, err = r.chats.EditMessage(ctx, c, room, one.Key.Row, to)
		case "read":
			_, err = r.chats.MarkRead(ctx, c, room, one.Key.Row)
		default:
			err = r.chats.DeleteMessage(ctx, c, room, one.Key.Row)
		}
		return err
	}, nil)
}

// deliver delivers a message to a job, if there is one, and now and then leaves it for another
// time.
func (x *explorer) deliver(ctx context.Context, r *rooms) {
	trigger := r.triggers()[x.Luck.IntN(2)]
	x.Deliver(ctx, x.queues, trigger.Queue, func(ctx context.Context, m queue.Message) error {
		return trigger.Run(ctx, function.Invocation{Text: m.Text, Inserted: m.Inserted})
	})
}

// rows are what the rules are about.
type rows struct {
	pairs     map[string]pairs.Pair // by their chats
	messages  map[string]int        // how many there are, by chats
	talks     map[string]int        // how many there are in the chat of the event, by senders
	texts     map[string]int        // chats and topics, senders and texts
	replies   map[string]int        // how many there are, by topics
	going     map[string]bool
	waits     map[string]int64 // the numbers of the waiters of the event
	waited    map[string]bool  // attendees who waited before
	suspended map[string]bool
	pictures  map[string]account.Images // by members
}

// rowsNow reads the rows.
func (x *explorer) rowsNow() rows {
	now := rows{
		map[string]pairs.Pair{},
		map[string]int{},
		map[string]int{},
		map[string]int{},
		map[string]int{},
		map[string]bool{},
		map[string]int64{},
		map[string]bool{},
		map[string]bool{},
		map[string]account.Images{},
	}
	files := map[string][]table.Row{}
	for _, row := range x.Rows(meettest.Tables.UserImages) {
		files[row.Partition] = append(files[row.Partition], row)
	}
	for user, rows := range files {
		now.pictures[user] = account.ParseImages(user, rows)
	}
	for _, row := range x.Rows(meettest.Tables.Pairs) {
		p := pairs.Parse(row)
		now.pairs[p.ChatID()] = p
	}
	for _, row := range x.Rows(meettest.Tables.Messages) {
		if row.Key.Row[0] == '!' || row.Key.Row[0] == '~' || row.Props.Get("Type").Str() == chat.TypeSystem {
			continue
		}
		sender := row.Props.Get("SenderId").Str()
		now.messages[row.Partition]++
		if text := row.Props.Get("Content").Str(); text != "" { // else it was deleted
			now.texts[row.Partition+sender+text]++
		}
		if row.Partition == chat.OfEvent(x.draft.ID) {
			now.talks[sender]++
		}
	}
	for _, row := range x.Rows(meettest.ForumTables.ForumReplies) {
		if row.Key.Row != topic.HeadRow {
			id := topic.Of(row.Key)
			now.replies[id]++
			if text := row.Props.Get("Content").Str(); text != "" {
				now.texts[id+row.Props.Get("AuthorId").Str()+text]++
			}
		}
	}
	for _, row := range x.Rows(meettest.EventTables.EventAttendees) {
		if user, waits := strings.CutPrefix(row.Key.Row, "~"); waits {
			now.waits[user] = row.Props.Get("Number").Int()
		} else {
			now.going[user] = true
			now.waited[user] = !row.Props.Get("WaitedSince").Time().IsZero()
		}
	}
	for _, row := range x.Rows(meettest.Tables.Users) {
		u := account.ParseUser(row)
		now.suspended[u.ID] = u.Suspended(x.Explorer.Now())
	}
	return now
}

// repliesOf returns the replies of a member in a topic.
func (x *explorer) repliesOf(about, user string) []table.Row {
	return slices.DeleteFunc(x.Rows(meettest.ForumTables.ForumReplies), func(row table.Row) bool {
		return topic.Of(row.Key) != about || row.Key.Row == topic.HeadRow || row.Props.Get("AuthorId").Str() != user
	})
}

// look holds the rows to the rules that hold at all times.
func (x *explorer) look() error {
	x.hear()
	now := x.rowsNow()
	for _, p := range now.pairs {
		if likes := p.Like[0] > 0 && p.Like[1] > 0; likes != p.Matched() ||
			p.Blocked() && (p.Like[0] > 0 || p.Like[1] > 0) {
			return fmt.Errorf("a pair is %+v", p)
		}
	}
	for text, n := range now.texts {
		if n > 1 {
			return fmt.Errorf("%d times: %s", n, text)
		}
	}
	attend, count, places, waiting := 0, 0, 0, 0
	for _, row := range x.Rows(meettest.EventTables.EventAttendees) {
		if row.Key.Row == "!event" {
			count, places = int(row.Props.Get("Attendees").Int()), int(row.Props.Get("Capacity").Int())
			waiting = int(row.Props.Get("Waiting").Int())
		} else if row.Key.Row[0] != '~' {
			attend++
		}
	}
	if attend != count || attend > places || len(now.waits) != waiting {
		return fmt.Errorf("%d attend, %d are counted, for %d places; %d wait, %d are counted", attend, count,
			places, len(now.waits), waiting)
	}
	if err := x.queue(now); err != nil {
		return err
	}
	counts := map[string]int{}
	for _, row := range x.Rows(meettest.ForumTables.ForumReplies) {
		if id := topic.Of(row.Key); row.Key.Row == topic.HeadRow {
			counts[id] += int(row.Props.Get("ReplyCount").Int())
		} else if row.Props.Get("DeletedAt").Time().IsZero() {
			counts[id]--
		}
	}
	for id, n := range counts {
		if n != 0 {
			return fmt.Errorf("topic %s counts %d replies too many", id, n)
		}
	}
	for user, all := range now.pictures {
		for i, image := range all.All {
			if image.Order != i {
				return fmt.Errorf("the pictures of %s have no order: %+v", user, all.All)
			}
			for _, name := range image.Blobs() {
				if _, err := x.World.Blobs.Get(context.Background(), meet.ContainerProfiles, name); err != nil {
					return fmt.Errorf("a picture without a file: %w", err)
				}
			}
		}
	}
	if err := x.accounts(false); err != nil {
		return err
	}
	for thing, watch := range x.watches {
		if err := watch(now); err != nil {
			return fmt.Errorf("%s: %w", thing, err)
		}
	}
	return nil
}

// queue holds the places that were given since the last look to the order of the waiters: while a
// member waits, no member who came later, or did not wait, is given a place.
func (x *explorer) queue(now rows) error {
	before := x.were
	x.were = now
	for first, number := range before.waits {
		if now.waits[first] != number || x.passed[first] {
			continue // one who has a place, waits anew, or may be passed over
		}
		for user := range now.going {
			if before.going[user] {
				continue
			}
			x.Meet("was given")
			if later, waited := before.waits[user]; !now.waited[user] || waited && later > number {
				return fmt.Errorf("%s waits, and %s was given a place", first, user)
			}
		}
	}
	for user := range now.waited {
		if now.waited[user] && before.waits[user] > 0 {
			x.Meet("was given")
		}
	}
	return nil
}

// rest lets everything pass from now on, until nothing is left to do, and looks at what there is.
func (x *explorer) rest() {
	x.Rest()
	x.Note(x.look())
	ctx := context.Background()
	for range 6 {
		x.Advance(time.Minute)
		for _, trigger := range x.calm.triggers() {
			list, err := x.queues.Receive(ctx, trigger.Queue, queue.MaxReceive, time.Second)
			x.Note(err)
			for _, m := range list {
				x.Note(trigger.Run(ctx, function.Invocation{Text: m.Text, Inserted: m.Inserted}))
				x.Note(x.queues.Delete(ctx, trigger.Queue, m.Receipt))
			}
		}
		synctest.Wait()
	}
	x.Note(x.look())
	x.Note(x.accounts(true))
	now := x.rowsNow()
	for text, is := range x.said {
		if is && now.texts[text] != 1 {
			x.Note(fmt.Errorf("%q was promised, and is there %d times", text, now.texts[text]))
		}
	}
	compared := x.calm.compared()
	ofPairs := []string{x.calm.Tables.Likes, x.calm.Tables.LikesReceived, x.calm.Tables.Matches, x.calm.Tables.Blocks}
	x.verify(compared, "before tidy", func(f meet.Finding) bool {
		// A late write has left it, and tidy removes it.
		return f.Says == "the truth refuses it" && (!x.together || !slices.Contains(ofPairs, f.Table))
	})
	x.Advance(25 * time.Hour)
	for range 2 {
		x.Note(tidy.Job{
			Service: x.calm.Service, Walks: compared.Walks(),
			Containers: []tidy.Container{{Name: meet.ContainerChats, Named: x.calm.chats.Named}},
		}.Run(ctx))
		x.Advance(25 * time.Hour)
	}
	synctest.Wait()
	x.verify(compared, "after tidy", func(meet.Finding) bool { return false })
	want := map[string]int{}
	for _, all := range x.rowsNow().pictures {
		want[meet.ContainerProfiles] += 2 * len(all.All)
	}
	for _, row := range x.Rows(meettest.Tables.Messages) {
		want[meet.ContainerChats] += len(chats.Files(row))
	}
	for _, container := range []string{meet.ContainerProfiles, meet.ContainerChats} {
		left, err := x.World.Blobs.List(ctx, container, "", 1000, "")
		x.Note(err)
		if len(left.Items) != want[container] {
			x.Note(fmt.Errorf("%d files in %s after tidy, want %d", len(left.Items), container, want[container]))
		}
	}
}

// verify notes the rows that are not as they must be, unless they may be so.
func (x *explorer) verify(compared verify.Store, when string, may func(meet.Finding) bool) {
	_, err := compared.Verify(context.Background(), func(f meet.Finding) {
		if !may(f) {
			x.Note(fmt.Errorf("%s: %s %s: %s", when, f.Table, f.Key, f.Says))
		}
	})
	x.Note(err)
}
