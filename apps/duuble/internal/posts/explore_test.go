package posts_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/pictures"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/chaos"
	"prompthub/internal/testing/repeatable"
)

// What the schedules are about. The last person is in no hub at the beginning.
const (
	persons  = 4
	managing = persons // the manager of the service
	keepFor  = 24 * time.Hour
)

// TestExplore runs what people do around posts, hubs and each other in several processes, with
// their calls interleaved, time moving, answers lost, writes that land late, processes that stop,
// and messages that come twice. At all times counts are those of rows, an end stays an end, a date
// stays a date, and each answer holds until somebody changes the thing. At rest verify is silent,
// each promised thing is there once, and no one sees hidden things; after the time for which
// things can come back, nothing is left of those that ended.
//
// EXPLORE_SCHEDULES sets their number, which is 10,000 in "make -C apps/duuble soak"; EXPLORE_SEED
// runs one alone.
func TestExplore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	base := &explorer{}
	for i := range persons + 1 {
		base.claims = append(base.claims, w.again(i+1))
	}
	ann := base.claims[0]
	base.hubs = []string{w.hub(ann, 2, 3), w.hub(base.claims[1], 1)}
	_, err := w.posts.Hubs.SetRole(t.Context(), ann, base.hubs[0], base.claims[1].UserID, hubs.Admin)
	require.NoError(t, err)
	slider, ends := &posts.Slider{Text: "Tea?"}, &posts.Slider{Text: "Coffee?", EndsAt: w.Now().Add(3 * time.Hour)}
	for i, d := range []posts.Draft{
		{Slider: slider, Visibility: posts.PublicHub, Hubs: base.hubs[:1]},
		{Slider: ends},
		{Slider: slider, Visibility: posts.Locked, Hubs: base.hubs[:1]},
	} {
		made, err := w.posts.Create(t.Context(), base.claims[i%2], d, "")
		require.NoError(t, err)
		base.posts = append(base.posts, made.ID)
	}
	for i, hub := range base.hubs {
		invited, err := w.posts.Hubs.Invite(t.Context(), base.claims[2-2*i], hub,
			[]string{duubletest.Number(persons)}, hubs.MostLasts)
		require.NoError(t, err)
		base.invited = append(base.invited, token{invited[0].Token, hub, persons - 1})
		l, err := w.posts.Hubs.NewLink(t.Context(), ann, hub, hubs.MostLasts)
		require.NoError(t, err)
		base.links = append(base.links, token{l.Token, hub, 0})
	}
	_, err = w.posts.Hubs.Join(t.Context(), base.claims[2], base.links[1].text)
	require.NoError(t, err)
	talk := w.discussed(base.claims[0], base.hubs[0], base.posts[2])
	w.writes(base.claims[1], base.hubs[0], talk, "root", "")
	for range 3 {
		w.pump(2 * time.Minute)
	}
	began := w.Now()
	chaos.Explore(t, 300, func(seed uint64) *chaos.Explorer {
		x := &explorer{
			Explorer: chaos.NewExplorer(seed, began,
				chaos.Times{Call: rowstore.CallWithin, WriteEnd: rowstore.WriteEnd, Land: rowstore.LandWithin}),
			t: t, db: &watched{Tables: w.db.Clone(), changed: map[place]bool{}},
			services: map[*chaos.Process]*posts.Service{}, talks: map[*posts.Service]*discussions.Service{},
			claims: slices.Clone(base.claims), hubs: base.hubs, posts: slices.Clone(base.posts),
			invited: slices.Clone(base.invited), links: slices.Clone(base.links), known: newKnown(),
			flying: map[string]int{}, fog: map[string]bool{}, watches: map[string]watch{}, left: map[string]bool{},
			cast: map[string]ballot.Position{}, promised: map[string]promise{},
		}
		x.queues = memory.NewQueues(x.Explorer.Now)
		require.NoError(t, x.queues.Create(t.Context(), append(posts.Queues(), people.Queues()...)...))
		x.blobs = duubletest.Blobs(x.Explorer.Now)
		duubletest.CopyBlobs(t, w.blobs, x.blobs)
		calm := duubletest.Rows(x.db, x.Explorer.Now)
		x.calm = x.service(calm, x.blobs, x.queues, x.Luck.Uint64())
		synctest.Test(t, func(*testing.T) {
			x.TimeOuts, x.Crashes = x.Luck.IntN(6), x.Luck.IntN(2) // of commands with some twenty calls
			x.Run(15+x.Luck.IntN(25), x.begin, x.look)
			x.rest()
		})
		return x.Explorer
	}, "vote", "follow", "unfollow", "block", "unblock", "invite", "accept", "link", "join", "approve", "reject",
		"depart", "remove", "role", "post", "delete", "restore", "comment", "delete comment", "repost", "share",
		"discuss", "say", "save", "unsave", "unsay", "ban", "unban", "take out", "put back", "face",
		"picture", "leave", "return",
		"purge", "settle", "end", "ended", string(ballot.VoteEnded), "expire", "message", "twice", "unknown", "counted",
		"purged account", "purged post", string(ballot.AlreadyVoted), string(hubs.LastSuperAdmin),
		string(hubs.AlreadyDecided), string(people.AccountDeleted), string(discussions.DiscussionNotFound),
		string(hubs.Banned))
}

// An explorer is one schedule.
type explorer struct {
	*chaos.Explorer
	t        *testing.T
	db       *watched
	queues   *memory.Queues
	blobs    blob.Store
	phone    duubletest.Phone
	calm     *posts.Service // whose calls all pass
	services map[*chaos.Process]*posts.Service
	talks    map[*posts.Service]*discussions.Service
	claims   []people.Claim // of each person, as they are signed in
	hubs     []string
	names    int // how many were chosen

	known *known

	mu       sync.Mutex // of the fields below
	posts    []string
	invited  []token
	links    []token
	flying   map[string]int
	fog      map[string]bool // what a command without an answer may change yet
	answers  []answer
	watches  map[string]watch // they must hold until another command changes the same
	left     map[string]bool  // people who have left, or may have: all of theirs may go
	ended    []string         // sessions that were told to have ended
	cast     map[string]ballot.Position
	promised map[string]promise
}

// A watch is what must hold, and the people with whose accounts it may end.
type watch struct {
	of    []string
	holds func() error
}

// A token is good for a hub, one of an invitation for one person.
type token struct {
	text, hub string
	person    int
}

// A promise is a row that must be there at rest, as long as a post and some people are.
type promise struct {
	post string
	name string // of the table
	key  table.Key
	by   string // whose it is
	live bool   // it may have been deleted otherwise
}

// An answer came to a command that changes things.
type answer struct {
	what, thing string
	of          []string
	err         error
	then        func() func() error
}

// service returns the service of a process.
func (x *explorer) service(rows *rowstore.Store, blobs blob.Store, queues queue.Queues, seed uint64) *posts.Service {
	luck := repeatable.Seeded(seed)
	accounts := duubletest.People(rows, blobs, queues, luck, keyring.Ring{make([]byte, 32)}, &x.phone)
	accounts.Keep = keepFor
	accounts.Admins = []string{duubletest.Number(managing + 1)}
	s := service(x.t, queues, luck, accounts)
	s.Ballot.SettleAfter = keepFor
	s.Ballot.VoteMin = 1 // so that the votes of a few people are counted
	s.MaxFans = 1        // so that others read what a person does
	return s
}

// process returns the service of a process that runs, or of a new one.
func (x *explorer) process() *posts.Service {
	p, isNew := x.One()
	if isNew {
		rows := &rowstore.Store{
			DB: p.Tables(x.db), Now: p.Now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) {
				go do()
			}, Sleep: p.Sleep,
			Random: func(time.Duration) time.Duration { return 0 },
		}
		s := x.service(rows, p.Blobs(x.blobs), p.Queues(x.queues), x.Luck.Uint64())
		x.services[p], x.talks[s] = s, discussions.New(s)
	}
	return x.services[p]
}

// triggers are the functions of a process: those of queues, or those of timers.
func triggers(s *posts.Service, timers bool) []function.Trigger {
	return slices.DeleteFunc(append(s.Triggers(),
		s.People.Triggers(s.Hubs.Expire, (&pictures.Service{Assets: s.People.Assets, Posts: s}).Sweep)...),
		func(t function.Trigger) bool { return (t.Queue == "") != timers })
}

// do runs a command that changes a thing of some people. If it succeeds while no other changes the
// thing, what then returns must hold from now on.
func (x *explorer) do(what, thing string, of []string, command func() error, then func() func() error) {
	x.mu.Lock()
	if thing != "" {
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
		x.answers = append(x.answers, answer{what, thing, of, err, then})
	}()
}

// goes notes that a person may be leaving, so that promises about them may end.
func (x *explorer) goes(user string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.left[user] = true
	for thing, w := range x.watches {
		if slices.Contains(w.of, user) {
			delete(x.watches, thing)
		}
	}
}

// hear takes down what was answered.
func (x *explorer) hear() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range x.answers {
		unknown := errors.Is(a.err, chaos.ErrKilled) ||
			fault.CodeOf(a.err) == "" && fault.Of(a.err) == fault.Unavailable || fault.CodeOf(a.err) == ballot.Busy
		if a.thing != "" {
			x.flying[a.thing]--
			if unknown {
				x.fog[a.thing] = true
			}
		}
		switch {
		case unknown:
			x.Meet("unknown")
		// a reply to a deleted comment
		case a.err != nil && fault.CodeOf(a.err) == "" && fault.Of(a.err) != fault.Invalid:
			x.Note(fmt.Errorf("%s: %w", a.what, a.err))
		case a.err != nil:
			x.Meet(string(fault.CodeOf(a.err)))
		default:
			x.Meet(a.what)
		}
		clear := a.err == nil && a.thing != "" && !x.fog[a.thing] && x.flying[a.thing] == 0
		if clear && a.then != nil && !slices.ContainsFunc(a.of, func(user string) bool { return x.left[user] }) {
			x.watches[a.thing] = watch{a.of, a.then()}
		}
	}
	x.answers = nil
}

var commands = strings.Split("vote vote vote vote vote follow follow follow unfollow block block unblock invite invite accept accept accept link join join approve approve approve approve reject "+
	"depart depart remove role post delete delete restore restore comment comment comment delete-comment delete-comment repost share discuss discuss say say say save unsave unsay unsay ban unban unban take-out put-back put-back face leave return return back purge purge settle end end expire "+
	"message message message message message message message message wait wait wait wait-long wait-long wait-due wait-due", " ")

// begin runs a command.
func (x *explorer) begin() {
	what := strings.ReplaceAll(commands[x.Luck.IntN(len(commands))], "-", " ")
	x.Trace = append(x.Trace, "begin "+what)
	ctx := context.Background()
	switch what {
	case "wait":
		x.Wait()
		return
	case "wait long":
		x.WaitLong(time.Hour)
		x.hear()
		clear(x.fog) // every write has landed by now
		return
	case "wait due":
		x.WaitLong(time.Minute)
		x.hear()
		clear(x.fog)
		x.pump(ctx) // no message waits as long
		x.untilDue(ctx)
		return
	}
	x.mu.Lock()
	post := x.posts[x.Luck.IntN(len(x.posts))]
	if x.Luck.IntN(3) > 0 {
		post = x.posts[x.Luck.IntN(3)]
	}
	x.mu.Unlock()
	x.act(ctx, what, x.process(), x.Luck.IntN(persons), post)
}

// act has a person do something, mostly around a post, and jobs do theirs.
func (x *explorer) act(ctx context.Context, what string, s *posts.Service, i int, post string) {
	me, other := x.claims[i], x.claims[(i+1+x.Luck.IntN(persons-1))%persons]
	hub := x.hubs[x.Luck.IntN(3)/2]
	switch what {
	case "message":
		x.deliver(ctx, s)
	case "purge", "settle", "end", "expire":
		x.job(ctx, what, s)
	case "follow", "unfollow", "block", "unblock":
		x.tie(ctx, what, s, me, other)
	case "invite", "accept", "link", "join", "approve", "reject", "depart", "remove", "role", "ban", "unban":
		roles := []string{hubs.Member, hubs.Admin, hubs.SuperAdmin}
		switch what {
		case "accept", "join":
			roles = []string{""}
		case "approve", "reject", "remove", "ban", "unban":
			roles = roles[1:]
		case "role":
			roles = roles[2:]
		}
		i = x.of(hub, i, roles...)
		me = x.claims[i]
		if other.UserID == me.UserID {
			other = x.claims[(i+1)%persons]
		}
		x.member(ctx, what, s, hub, me, other, i)
	case "face":
		picture := x.picture(s, me, assets.Profile, "")
		x.do(what, "", nil, func() error {
			shown, err := picture(ctx)
			if err == nil {
				_, err = s.People.SetBasics(ctx, me, people.Basics{Picture: &shown})
			}
			return err
		}, nil)
	case "leave", "return", "back":
		x.account(ctx, what, s, i)
	case "take out", "put back":
		x.place(ctx, what, s, hub, post, x.claims[x.of(hub, i, hubs.Admin, hubs.SuperAdmin)])
	case "discuss", "say", "save", "unsave", "unsay":
		x.talk(ctx, what, s, hub, post, x.claims[x.of(hub, i, hubs.Member, hubs.Admin, hubs.SuperAdmin)])
	default:
		x.around(ctx, what, s, post, hub, me)
	}
}

// untilDue waits until something goes for good, give or take what clocks differ. Then one process
// removes what is due while its owner brings it back by another.
func (x *explorer) untilDue(ctx context.Context) {
	all := slices.DeleteFunc(x.rows("Admin", ""), func(row table.Row) bool {
		kind := strings.Split(row.Partition, "|")
		return kind[0] != "due" || !slices.Contains([]string{"tie", "purge", "account", "hub"}, kind[1])
	})
	if len(all) == 0 {
		return
	}
	due := all[x.Luck.IntN(len(all))]
	d := due.Props.Get("due_at").Time().Add(keepFor).Sub(x.Explorer.Now()) +
		time.Duration(x.Luck.IntN(2000)-1000)*time.Millisecond
	if d > 0 {
		x.Advance(d)
		x.Trace = append(x.Trace, "wait "+d.String())
	}
	x.Meet("due")
	s := x.process()
	x.job(ctx, "purge", x.process())
	name := strings.Split(due.Row, "|")[1:]
	owner := func(user string) int {
		return slices.IndexFunc(x.claims[:persons], func(c people.Claim) bool { return c.UserID == user })
	}
	switch strings.Split(due.Partition, "|")[1] {
	case "purge":
		row, err := x.db.Get(ctx, "Posts", table.Key{Partition: "p|" + name[0], Row: "!post"})
		if i := owner(row.Props.Get("author_id").Str()); err == nil && i >= 0 {
			x.around(ctx, "restore", s, name[0], x.hubs[0], x.claims[i])
		}
	case "tie":
		if from, to := owner(name[0]), owner(name[2]); from >= 0 && to >= 0 {
			x.tie(ctx, map[string]string{"fo": "follow", "bl": "block"}[name[1]], s, x.claims[from], x.claims[to])
		}
	case "account":
		i := owner(name[0])
		if i < 0 {
			break
		}
		if x.Luck.IntN(2) == 0 {
			x.account(ctx, []string{"return", "back"}[x.Luck.IntN(2)], s, i)
			break
		}
		x.mu.Lock()
		all := slices.Clone(x.posts)
		x.mu.Unlock()
		for _, post := range all { // others have seen what goes
			if row, err := x.db.Get(ctx, "Posts", table.Key{Partition: "p|" + post, Row: "!post"}); err == nil &&
				row.Props.Get("author_id").Str() == name[0] {
				what := []string{"vote", "comment", "share", "repost", "discuss", "say", "approve"}[x.Luck.IntN(7)]
				x.Trace = append(x.Trace, "begin "+what)
				x.act(ctx, what, s, (i+1+x.Luck.IntN(persons-1))%persons, post)
			}
		}
	case "hub":
		if i := owner(name[2]); i >= 0 && name[1] == "m" {
			x.member(ctx, "accept", s, name[0], x.claims[i], people.Claim{}, i)
		}
	}
}

// job runs the job of a timer.
func (x *explorer) job(ctx context.Context, what string, s *posts.Service) {
	all := triggers(s, true)
	job := all[slices.IndexFunc(all, func(t function.Trigger) bool { return t.Name == what })]
	x.do(what, "", nil, func() error {
		_ = job.Run(ctx, function.Invocation{Timer: true}) // the next one goes on
		return nil
	}, nil)
}

// of returns a person who is in a hub as one of some roles, "" of one who is not; mostly.
func (x *explorer) of(hub string, i int, roles ...string) int {
	var some []int
	for i, c := range x.claims[:persons] {
		row, _ := x.db.Get(context.Background(), "Hubs", table.Key{Partition: "h|" + hub, Row: "m|" + c.UserID})
		role := row.Props.Get("role").Str()
		if !present(row.Props) {
			role = ""
		}
		if slices.Contains(roles, role) {
			some = append(some, i)
		}
	}
	if len(some) == 0 || x.Luck.IntN(4) == 0 {
		return i
	}
	return some[x.Luck.IntN(len(some))]
}

// is returns what holds a row to a condition.
func (x *explorer) is(what, name string, key table.Key, right func(table.Props) bool) func() func() error {
	return func() func() error {
		return func() error {
			row, err := x.db.Get(context.Background(), name, key)
			if err != nil && !errors.Is(err, table.ErrNotFound) {
				return err
			}
			if !right(row.Props) {
				return fmt.Errorf("%s was answered, and %s is %v", what, key, row.Props)
			}
			return nil
		}
	}
}

func present(p table.Props) bool { return p != nil && !p.Get("IsDeleted").Bool() }

func absent(p table.Props) bool { return !present(p) }

// tie changes a follow or a block of a person.
func (x *explorer) tie(ctx context.Context, what string, s *posts.Service, me, other people.Claim) {
	change, row, right := s.People.Follow, "fo|", present
	if what == "block" || what == "unblock" {
		change, row = s.People.Block, "bl|"
	}
	live := what == "follow" || what == "block"
	if !live {
		right = absent
	}
	pair := []string{me.UserID, other.UserID}
	slices.Sort(pair)
	x.do(what, "pair "+strings.Join(pair, " "), pair, func() error {
		_, err := change(ctx, me, other.UserID, live)
		return err
	}, x.is(what, "Users", table.Key{Partition: "u|" + me.UserID, Row: row + other.UserID}, right))
}

// member changes who is in a hub.
func (x *explorer) member(ctx context.Context, what string, s *posts.Service, hub string,
	me, other people.Claim, i int,
) {
	in := func(user string, right func(table.Props) bool) func() func() error {
		return x.is(what, "Hubs", table.Key{Partition: "h|" + hub, Row: "m|" + user}, right)
	}
	thing := func(user string) string { return "member " + hub + " " + user }
	lasts := keepFor * time.Duration(1+x.Luck.IntN(60)) / 2
	switch what {
	case "invite":
		guest := x.of(hub, x.Luck.IntN(persons), "")
		x.do(what, "", nil, func() error {
			all, err := s.Hubs.Invite(ctx, me, hub, []string{duubletest.Number(1 + guest)}, lasts)
			x.mu.Lock()
			defer x.mu.Unlock()
			for _, v := range all {
				x.invited = append(x.invited, token{v.Token, hub, guest})
			}
			return err
		}, nil)
	case "link":
		x.do(what, "", nil, func() error {
			l, err := s.Hubs.NewLink(ctx, me, hub, lasts)
			if err == nil {
				x.mu.Lock()
				defer x.mu.Unlock()
				x.links = append(x.links, token{l.Token, hub, 0})
			}
			return err
		}, nil)
	case "accept", "join":
		x.mu.Lock()
		tokens := x.invited
		if what == "join" {
			tokens = x.links
		}
		x.mu.Unlock()
		if len(tokens) == 0 {
			return
		}
		one := tokens[x.Luck.IntN(len(tokens))]
		for _, other := range tokens { // mostly one that is the person's own, and the newest
			if what == "accept" && other.person == i && x.Luck.IntN(3) > 0 {
				one = other
			}
		}
		if what == "join" {
			x.do(what, "", nil, func() error { _, err := s.Hubs.Join(ctx, me, one.text); return err }, nil)
			return
		}
		x.do(what, "member "+one.hub+" "+me.UserID, nil, func() error {
			_, err := s.Hubs.Accept(ctx, me, hubs.Key{Token: one.text})
			return err
		}, nil)
	case "approve", "reject":
		waiting := slices.DeleteFunc(x.rows("Hubs", "h|"+hub), func(row table.Row) bool {
			return !strings.HasPrefix(row.Row, "ji|") ||
				x.Luck.IntN(3) > 0 && row.Props.Get("status").Str() != hubs.Pending
		})
		if len(waiting) == 0 {
			return
		}
		one := waiting[x.Luck.IntN(len(waiting))]
		user, then := one.Props.Get("user_id").Str(), func() func() error { return func() error { return nil } }
		if what == "approve" {
			then = in(user, present)
		}
		x.do(what, thing(user), []string{user}, func() error {
			_, err := s.Hubs.Decide(ctx, me, hub, strings.TrimPrefix(one.Row, "ji|"), what == "approve")
			return err
		}, then)
	case "depart":
		x.do(what, thing(me.UserID), []string{me.UserID}, func() error {
			return s.Hubs.Remove(ctx, me, hub, me.UserID)
		}, in(me.UserID, absent))
	case "remove":
		x.do(what, thing(other.UserID), []string{other.UserID}, func() error {
			return s.Hubs.Remove(ctx, me, hub, other.UserID)
		}, in(other.UserID, absent))
	case "ban":
		x.do(what, thing(other.UserID), []string{other.UserID}, func() error {
			_, err := s.Hubs.Ban(ctx, me, hub, other.UserID)
			return err
		}, in(other.UserID, absent))
	case "unban":
		bans := slices.DeleteFunc(x.rows("Hubs", "h|"+hub), func(row table.Row) bool {
			return !strings.HasPrefix(row.Row, "bd|")
		})
		if len(bans) > 0 {
			ban := bans[x.Luck.IntN(len(bans))].Row
			x.do(what, "", nil, func() error {
				return s.Hubs.EndBan(ctx, me, hub, ban[strings.LastIndexByte(ban, '|')+1:])
			}, nil)
		}
	case "role":
		role := hubs.Roles[x.Luck.IntN(len(hubs.Roles))]
		x.do(what, thing(other.UserID), []string{other.UserID}, func() error {
			_, err := s.Hubs.SetRole(ctx, me, hub, other.UserID, role)
			return err
		}, in(other.UserID, func(p table.Props) bool {
			is := p.Get("role").Str() // or one who has inherited the hub of a person who left
			return present(p) && (is == role || is == hubs.SuperAdmin && len(x.left) > 0)
		}))
	}
}

// around changes posts, and comments, votes and shares on them.
func (x *explorer) around(ctx context.Context, what string, s *posts.Service, post, hub string, me people.Claim) {
	thought := "four cups"
	where := table.Key{Partition: "p|" + post, Row: "!post"}
	author := ""
	if row, err := x.db.Get(ctx, "Posts", where); err == nil {
		author = row.Props.Get("author_id").Str()
	}
	if what == "delete" || what == "restore" {
		for _, c := range x.claims {
			if c.UserID == author && x.Luck.IntN(4) > 0 {
				me = c
			}
		}
	}
	switch what {
	case "vote":
		if x.Luck.IntN(4) > 0 { // so that some come together
			post = x.posts[x.Luck.IntN(2)]
		}
		position := ballot.Position(x.Luck.IntN(5))
		name := post + " " + me.UserID
		if before, is := x.cast[name]; is {
			position = before // so that the sums are known
		}
		x.cast[name] = position
		x.do(what, "", nil, func() error {
			_, err := s.Vote(ctx, me, post, position)
			x.promise(err, promise{
				post: post, name: "Posts",
				key: table.Key{Partition: "p|" + post, Row: "v|" + me.UserID}, by: me.UserID,
			})
			return err
		}, nil)
	case "post", "repost":
		d := posts.Draft{Thought: &thought, Slider: &posts.Slider{Text: "Tea?"}}
		switch x.Luck.IntN(3) {
		case 0:
			d.Visibility, d.Hubs = posts.PublicHub, []string{hub}
		case 1:
			d.Visibility, d.Hubs = posts.Locked, []string{hub}
		}
		if x.Luck.IntN(3) == 0 {
			d.Slider.EndsAt = x.Explorer.Now().Add(time.Duration(1+x.Luck.IntN(120)) * time.Minute)
		}
		if what == "repost" {
			d.Source = post
		}
		key := []string{"", fmt.Sprint("key ", x.Luck.IntN(3), d.Visibility, d.Hubs, d.Source)}[x.Luck.IntN(2)]
		x.do(what, "", nil, func() error {
			made, err := s.Create(ctx, me, d, key)
			if err == nil {
				x.mu.Lock()
				if !slices.Contains(x.posts, made.ID) {
					x.posts = append(x.posts, made.ID)
				}
				x.mu.Unlock()
				x.promise(nil, promise{
					post: made.ID, name: "Posts",
					key: table.Key{Partition: "p|" + made.ID, Row: "!post"}, by: me.UserID,
				})
			}
			return err
		}, nil)
	case "delete":
		x.do(what, "post "+post, []string{author}, func() error { return s.Delete(ctx, me, post) },
			x.is(what, "Posts", where, absent))
	case "restore":
		x.do(what, "post "+post, []string{author}, func() error {
			_, err := s.Restore(ctx, me, post)
			return err
		}, x.is(what, "Posts", where, present))
	case "share":
		var in []string
		if x.Luck.IntN(2) == 0 {
			in = []string{hub}
		}
		x.do(what, "", nil, func() error {
			shared, err := s.Share(ctx, me, post, in, "read this", "")
			x.promise(err, promise{
				post: post, name: "Posts",
				key: table.Key{Partition: "p|" + post, Row: "se|" + inv(shared.CreatedAt) + "|" + shared.ID},
			})
			return err
		}, nil)
	case "comment", "delete comment":
		partition := "p|" + post
		if what == "delete comment" {
			partition = "" // of all, as there are few
		}
		some := slices.DeleteFunc(x.rows("Posts", partition), func(row table.Row) bool {
			return !strings.HasPrefix(row.Row, "ci|") ||
				what == "delete comment" && !slices.ContainsFunc(x.claims, func(c people.Claim) bool {
					return c.UserID == row.Props.Get("author_id").Str()
				})
		})
		id := ""
		if len(some) > 0 {
			one := some[x.Luck.IntN(len(some))]
			id, author = strings.TrimPrefix(one.Row, "ci|"), one.Props.Get("author_id").Str()
			if what == "delete comment" {
				post = strings.TrimPrefix(one.Partition, "p|")
				me = x.claims[slices.IndexFunc(x.claims, func(c people.Claim) bool { return c.UserID == author })]
			}
		}
		if what == "comment" {
			if x.Luck.IntN(2) == 0 {
				id = ""
			}
			key := []string{"", fmt.Sprint("key ", x.Luck.IntN(3), post, id)}[x.Luck.IntN(2)]
			picture := x.picture(s, me, assets.Comment, key)
			x.do(what, "", nil, func() error {
				shown, err := picture(ctx)
				if err != nil {
					return err
				}
				made, err := s.Comment(ctx, me, post, posts.Said{Text: "a good cup", Picture: shown}, id, key)
				x.promise(err, promise{
					post: post, name: "Posts",
					key: table.Key{Partition: "p|" + post, Row: "ci|" + made.ID}, by: me.UserID, live: true,
				})
				return err
			}, nil)
			return
		}
		if id == "" {
			return
		}
		key := table.Key{Partition: "p|" + post, Row: "ci|" + id}
		x.mu.Lock()
		x.promised[key.String()] = promise{}
		x.mu.Unlock()
		x.do(what, "comment "+id, []string{author, me.UserID}, func() error {
			return s.DeleteComment(ctx, me, post, id)
		}, x.is(what, "Posts", key, absent))
	}
}

// place has an admin take a post out of a hub, or put it back.
func (x *explorer) place(ctx context.Context, what string, s *posts.Service, hub, post string, me people.Claim) {
	change, out := s.TakeOut, true
	if what == "put back" {
		change, out = s.PutBack, false
	}
	author := ""
	if row, err := x.db.Get(ctx, "Posts", table.Key{Partition: "p|" + post, Row: "!post"}); err == nil {
		author = row.Props.Get("author_id").Str()
	}
	key := table.Key{Partition: "p|" + post, Row: "!t|" + hub}
	x.do(what, "place "+post+" "+hub, []string{author}, func() error { return change(ctx, me, hub, post) },
		x.is(what, "Posts", key, func(p table.Props) bool { return p == nil || isOut(p) == out }))
}

// isOut reports whether an admin took a post out of the hub of a target.
func isOut(target table.Props) bool { return !target.Get("taken_at").Time().IsZero() }

// picture returns an upload of a picture of a person, or of none: the same of each request with a
// key.
func (x *explorer) picture(s *posts.Service, me people.Claim,
	purpose, key string,
) func(context.Context) (string, error) {
	if key == "" && x.Luck.IntN(3) > 0 || key != "" && !strings.HasPrefix(key, "key 0") {
		return func(context.Context) (string, error) { return "", nil }
	}
	x.Meet("picture")
	shown := &pictures.Service{Assets: s.People.Assets, Posts: s, ADay: -1}
	return func(ctx context.Context) (string, error) { return shown.Upload(ctx, me, purpose, duubletest.PNG, key) }
}

// talk has a person begin a discussion, write into one, or save one.
func (x *explorer) talk(ctx context.Context, what string, s *posts.Service, hub, post string, me people.Claim) {
	talks := x.talks[s]
	if what == "discuss" {
		x.do(what, "", nil, func() error {
			d, _, err := talks.Start(ctx, me, hub, post)
			x.promise(err, promise{post: post, name: "Hubs", key: table.Key{Partition: "h|" + hub, Row: "d|" + d.ID}})
			return err
		}, nil)
		return
	}
	some := slices.DeleteFunc(x.rows("Hubs", "h|"+hub), func(row table.Row) bool {
		return !strings.HasPrefix(row.Row, "d|")
	})
	if len(some) == 0 {
		return
	}
	one := some[x.Luck.IntN(len(some))]
	id, about := strings.TrimPrefix(one.Row, "d|"), one.Props.Get("post_id").Str()
	if what == "say" {
		parent := ""
		said := slices.DeleteFunc(x.rows("Hubs", "d|"+hub+"|"+id), func(row table.Row) bool {
			return !strings.HasPrefix(row.Row, "gi|")
		})
		if len(said) > 0 && x.Luck.IntN(2) == 0 {
			parent = strings.TrimPrefix(said[x.Luck.IntN(len(said))].Row, "gi|")
		}
		key := []string{"", fmt.Sprint("key ", x.Luck.IntN(3), id, parent)}[x.Luck.IntN(2)]
		picture := x.picture(s, me, assets.Message, key)
		x.do(what, "", nil, func() error {
			shown, err := picture(ctx)
			if err != nil {
				return err
			}
			m, err := talks.Say(ctx, me, hub, id, posts.Said{Text: "a good cup", Picture: shown}, parent, key)
			x.promise(err, promise{
				post: about, name: "Hubs",
				key: table.Key{Partition: "d|" + hub + "|" + id, Row: "gi|" + m.ID},
			})
			return err
		}, nil)
		return
	}
	if what == "unsay" {
		said := slices.DeleteFunc(x.rows("Hubs", "d|"+hub+"|"+id), func(row table.Row) bool {
			return !strings.HasPrefix(row.Row, "gi|")
		})
		if len(said) > 0 {
			message := strings.TrimPrefix(said[x.Luck.IntN(len(said))].Row, "gi|")
			x.do(what, "", nil, func() error { return talks.DeleteMessage(ctx, me, hub, id, message) }, nil)
		}
		return
	}
	change, right := func() error { _, err := talks.Save(ctx, me, hub, id); return err }, present
	if what == "unsave" {
		change, right = func() error { return talks.Unsave(ctx, me, hub, id) }, absent
	}
	x.do(what, "saved "+id+" "+me.UserID, []string{me.UserID}, change,
		x.is(what, "Users", table.Key{Partition: "u|" + me.UserID, Row: "sv|" + hub + "|" + id}, right))
}

func inv(t time.Time) string { return fmt.Sprintf("%019d", table.MaxTicks-table.Ticks(t)) }

// promise takes down that a row was promised.
func (x *explorer) promise(err error, p promise) {
	if err != nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if _, is := x.promised[p.key.String()]; !is {
		x.promised[p.key.String()] = p
	} else if strings.HasPrefix(p.key.Row, "v|") {
		x.Note(fmt.Errorf("%s was accepted twice", p.key))
	}
}

// account has a person leave Duuble, or come back.
func (x *explorer) account(ctx context.Context, what string, s *posts.Service, i int) {
	me := x.claims[i]
	x.goes(me.UserID)
	thing, key := "account "+me.UserID, table.Key{Partition: "u|" + me.UserID, Row: "me"}
	switch what {
	case "leave":
		x.do(what, thing, nil, func() error {
			err := s.People.Leave(ctx, me)
			if err == nil {
				x.mu.Lock()
				defer x.mu.Unlock()
				x.ended = append(x.ended, me.SessionID)
			}
			return err
		}, x.is(what, "Users", key, absent))
	case "return":
		c, err := x.signIn(ctx, i)
		if err != nil || c.UserID != me.UserID { // the number has begun anew
			x.Note(err)
			return
		}
		x.do(what, thing, nil, func() error { _, err := s.People.Return(ctx, c); return err },
			x.is(what, "Users", key, present))
	default:
		x.do("return", thing, nil, func() error {
			_, err := s.People.RestoreUser(ctx, x.claims[managing], me.UserID)
			return err
		}, x.is(what, "Users", key, present))
	}
}

// signIn signs a person in, with all calls of it passing. After a purge that makes a new account.
func (x *explorer) signIn(ctx context.Context, i int) (people.Claim, error) {
	accounts := x.calm.People
	c, err := accounts.RequestCode(ctx, "sms", duubletest.Number(i+1), "sign_in", people.Asker{Site: "x"})
	if err != nil {
		return people.Claim{}, err
	}
	code, _, _ := strings.Cut(x.phone.Text, " ")
	in, err := accounts.Verify(ctx, c.ID, code, "")
	if err != nil {
		return people.Claim{}, err
	}
	claim, err := accounts.ParseAccess(in.Tokens.Access)
	if err == nil && in.IsNew {
		x.names++
		name := fmt.Sprintf("Anew%d.%d", i, x.names)
		if _, err = accounts.SetBasics(ctx, claim, people.Basics{Username: &name, FullName: &name}); err == nil {
			_, err = accounts.AcceptTerms(ctx, claim, "1", "1")
		}
	}
	if err == nil {
		x.claims[i] = claim
	}
	return claim, err
}

// deliver delivers a message to a job, if there is one, and now and then leaves it for another
// time.
func (x *explorer) deliver(ctx context.Context, s *posts.Service) {
	all := triggers(s, false)
	trigger := all[x.Luck.IntN(len(all))]
	x.Deliver(ctx, x.queues, trigger.Queue, func(ctx context.Context, m queue.Message) error {
		return trigger.Run(ctx, function.Invocation{Text: m.Text, Inserted: m.Inserted})
	})
}

// rest lets everything pass from now on, until nothing is left to do, and looks at what there is.
// Then it lets the time pass for which things can come back.
func (x *explorer) rest() {
	x.Rest()
	x.Note(x.look())
	ctx := context.Background()
	x.pump(ctx)
	for range 2 { // a purge that was stopped goes on with the next one, and there is another one after it
		x.Advance(people.AgainAfter)
		x.timers(ctx)
		x.pump(ctx)
	}
	x.Note(x.look())
	x.verify(ctx, "at rest")
	x.Note(x.atRest(ctx))
	for range 4 { // an account goes after what is due before it, and pictures of nothing in a week
		x.Advance(max(keepFor, assets.UnusedFor/3) + 26*time.Hour)
		x.timers(ctx)
		x.pump(ctx)
	}
	x.Note(x.look())
	x.verify(ctx, "after all is due")
	x.Note(x.nothingLeft())
}

// timers runs the jobs of timers.
func (x *explorer) timers(ctx context.Context) {
	for _, job := range triggers(x.calm, true) {
		if err := job.Run(ctx, function.Invocation{Timer: true}); err != nil {
			x.Note(fmt.Errorf("%s: %w", job.Name, err))
		}
	}
}

// pump has the jobs do all that messages ask for.
func (x *explorer) pump(ctx context.Context) {
	quiet := 0
	for round := 0; quiet < 3 && round < 100; round++ {
		x.Advance(time.Minute)
		quiet++
		for _, trigger := range triggers(x.calm, false) {
			list, err := x.queues.Receive(ctx, trigger.Queue, queue.MaxReceive, time.Second)
			x.Note(err)
			for _, m := range list {
				quiet = 0
				if err := trigger.Run(ctx, function.Invocation{Text: m.Text, Inserted: m.Inserted}); err != nil {
					x.Note(fmt.Errorf("%s %s: %w", trigger.Name, m.Text, err))
				}
				x.Note(x.queues.Delete(ctx, trigger.Queue, m.Receipt))
			}
		}
		synctest.Wait()
	}
	if quiet < 3 {
		x.Note(errors.New("messages never end"))
	}
}

func (x *explorer) verify(ctx context.Context, when string) {
	all, err := differences(ctx, x.calm)
	x.Note(err)
	if len(all) > 0 {
		x.Note(fmt.Errorf("%s: %s", when, strings.Join(all, "; ")))
	}
}
