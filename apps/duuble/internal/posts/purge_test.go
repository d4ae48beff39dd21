package posts_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// A life has the people, hubs and posts around a person that has left Duuble.
type life struct {
	ann, bob, cid    people.Claim
	tea, alone, bobs string // hubs: of Ann with Bob and Cid, of Ann alone, and of Bob
	post             string // of Bob, with a vote of Ann and one of Cid
	reply            string // of Bob, to a comment of Ann
	kept, gone       string // discussions of Bob's hub: of a post of Bob, and of one of Ann
	request          string // of Cid, which Ann has approved
}

// live has Ann do everything that a person can, and leave.
func (w *world) live() life {
	w.t.Helper()
	ctx := w.t.Context()
	x := life{ann: w.ann, bob: w.enter(2), cid: w.enter(3)}
	dan, eve := w.enter(4), w.enter(5)
	make := func(c people.Claim) string {
		h := duubletest.NewHub(w.t, w.posts.Hubs, c, hubs.Draft{Name: "Tea"})
		return h.ID
	}
	invite := func(c people.Claim, hub string, i int) string {
		all, err := w.posts.Hubs.Invite(ctx, c, hub, []string{duubletest.Number(i)}, hubs.MostLasts)
		require.NoError(w.t, err)
		return all[0].Token
	}
	link := func(c people.Claim, hub string) string {
		l, err := w.posts.Hubs.NewLink(ctx, c, hub, hubs.MostLasts)
		require.NoError(w.t, err)
		return l.Token
	}
	join := func(c, of people.Claim, hub string, i int) {
		_, err := w.posts.Hubs.Accept(ctx, c, hubs.Key{Token: invite(of, hub, i)})
		require.NoError(w.t, err)
	}
	x.tea, x.alone, x.bobs = make(w.ann), make(w.ann), make(x.bob)
	var err error
	x.request, err = w.posts.Hubs.Join(ctx, x.cid, link(w.ann, x.tea))
	require.NoError(w.t, err)
	_, err = w.posts.Hubs.Decide(ctx, w.ann, x.tea, x.request, true)
	require.NoError(w.t, err)
	w.Pass(time.Second)
	join(x.bob, w.ann, x.tea, 2)
	join(w.ann, x.bob, x.bobs, 1)
	invite(w.ann, x.tea, 90)
	link(w.ann, x.bobs)
	_, err = w.posts.Hubs.Join(ctx, w.ann, link(dan, make(dan)))
	require.NoError(w.t, err)
	w.talked(x.bob)
	thought := "x"
	_, err = w.posts.Create(ctx, w.ann, posts.Draft{Thought: &thought}, "key")
	require.NoError(w.t, err)
	c, err := w.posts.Create(ctx, x.bob,
		posts.Draft{Visibility: posts.PublicHub, Hubs: []string{x.bobs}, Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(w.t, err)
	x.post = c.ID
	for _, voter := range []people.Claim{w.ann, x.cid} {
		_, err = w.posts.Vote(ctx, voter, x.post, ballot.Neutral)
		require.NoError(w.t, err)
	}
	for _, to := range [][]string{nil, {x.bobs}} {
		_, err = w.posts.Share(ctx, w.ann, x.post, to, "note of Ann", "")
		require.NoError(w.t, err)
	}
	_, err = w.posts.Create(ctx, w.ann, posts.Draft{Source: x.post, Thought: &thought}, "")
	require.NoError(w.t, err)
	said := w.say(w.ann, x.post, "of Ann", "")
	x.reply = w.say(x.bob, x.post, "of Bob", said)
	w.say(w.ann, x.post, "again of Ann", said)
	x.kept, x.gone = w.discussed(x.bob, x.bobs, x.post), w.discussed(x.bob, x.bobs, w.locked(w.ann, x.bobs))
	first := w.writes(w.ann, x.bobs, x.kept, "message of Ann", "")
	w.writes(x.bob, x.bobs, x.kept, "reply of Bob", first)
	w.writes(x.bob, x.bobs, x.gone, "message of Bob", "")
	for _, id := range []string{x.kept, x.gone} {
		for _, c := range []people.Claim{w.ann, x.bob} {
			_, err = w.talks.Save(ctx, c, x.bobs, id)
			require.NoError(w.t, err)
		}
	}
	for _, tie := range [][2]people.Claim{{w.ann, x.bob}, {x.bob, w.ann}, {w.ann, dan}} {
		_, err = w.people.Follow(ctx, tie[0], tie[1].UserID, true)
		require.NoError(w.t, err)
	}
	_, err = w.people.Block(ctx, w.ann, dan.UserID, true)
	require.NoError(w.t, err)
	_, err = w.people.Block(ctx, eve, w.ann.UserID, true)
	require.NoError(w.t, err)
	w.face(w.ann, w.upload(w.ann, assets.Profile))
	w.upload(w.ann, assets.Message)
	pictured, err := w.posts.Create(ctx, w.ann,
		posts.Draft{Article: &posts.Article{Kind: "media", Picture: w.upload(w.ann, assets.Post)}}, "")
	require.NoError(w.t, err)
	shown, err := w.posts.Comment(ctx, w.ann, x.post, posts.Said{Picture: w.upload(w.ann, assets.Comment)}, "", "")
	require.NoError(w.t, err)
	sent, err := w.talks.Say(ctx, w.ann, x.bobs, x.kept,
		posts.Said{Text: "message of Ann", Picture: w.upload(w.ann, assets.Message)}, "", "")
	require.NoError(w.t, err)
	w.people.Admins = []string{duubletest.Number(2)}
	_, err = w.posts.Manage.SetDefaultUser(ctx, x.bob, w.ann.UserID, 1, true)
	require.NoError(w.t, err)
	for c, of := range map[people.Claim]manage.Target{
		w.ann: {Kind: manage.APerson, ID: x.bob.UserID},
		x.cid: {Kind: manage.APerson, ID: w.ann.UserID},
	} {
		_, _, err = w.posts.Manage.Report(ctx, c, of, "spam", "")
		require.NoError(w.t, err)
	}
	for _, of := range []manage.Target{
		{Kind: manage.AHub, ID: x.tea},
		{Kind: manage.APost, ID: pictured.ID},
		{Kind: manage.AComment, ID: x.post + "|" + shown.ID},
		{Kind: manage.AMessage, ID: x.bobs + "|" + x.kept + "|" + sent.ID},
	} {
		_, _, err = w.posts.Manage.Report(ctx, x.bob, of, "spam", "")
		require.NoError(w.t, err)
	}
	w.pump(2 * time.Minute)
	w.pump(0) // until what she did is in homes
	require.NotEmpty(w.t, w.home(x.cid))
	require.NoError(w.t, w.people.Leave(ctx, w.ann))
	w.pump(2 * time.Minute)
	w.Pass(-2 * time.Minute)
	return x
}

// stopping returns a service that has an accident at one of its calls, also of files.
func (w *world) stopping(c *calls.Crash) *posts.Service {
	tables, queues := c.Over(w.db, w.queues)
	return w.overBlobs(tables, calls.Blobs(w.blobs, c.Make), queues)
}

// copy returns a world with the same rows, in which no message waits.
func (w *world) copy() *world {
	w.t.Helper()
	other := newWorld(w.t)
	other.ann = w.ann
	other.Pass(w.Now().Sub(other.Now()))
	for _, name := range duubletest.Tables.All() {
		require.NoError(w.t, other.clear(name))
		for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
			require.NoError(w.t, err)
			_, err = other.db.Write(w.t.Context(), name,
				table.Op{Kind: table.Insert, Row: table.Row{Key: row.Key, Props: row.Props}})
			require.NoError(w.t, err)
		}
	}
	duubletest.CopyBlobs(w.t, w.blobs, other.blobs)
	return other
}

// clear removes all rows of a table.
func (w *world) clear(name string) error {
	for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
		if err == nil {
			_, err = w.db.Write(w.t.Context(), name, table.Op{Kind: table.Delete, Row: row})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// traces returns the rows that have a text in a key or in a value.
func (w *world) traces(text string) (all []string) {
	w.t.Helper()
	for _, name := range duubletest.Tables.All() {
		for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
			require.NoError(w.t, err)
			if strings.Contains(fmt.Sprint(row.Key, row.Props), text) {
				all = append(all, fmt.Sprint(name, " ", row.Key))
			}
		}
	}
	for _, name := range w.files() {
		if strings.Contains(name, strings.ToLower(text)) {
			all = append(all, name)
		}
	}
	return all
}

// TestPurgeOfAccounts: a person who left 29 d 23:59:59 ago is kept whole. Of one who left 30 d
// 00:00:01 ago no row has a trace, after a purge that stopped at any call, and after two: the votes
// stay counted, hubs get another super_admin, and the number begins anew and votes anew.
func TestPurgeOfAccounts(t *testing.T) {
	t.Parallel()
	first := newWorld(t)
	x := first.live()
	for n := 1; ; n++ {
		w := first.copy()
		ctx := t.Context()
		require.NotEmpty(t, w.traces("idem|"))
		w.Pass(keep - time.Second)
		require.NoError(t, w.posts.Hubs.Expire(ctx))
		require.NoError(t, w.people.Expire(ctx))
		require.NoError(t, w.posts.Purge(ctx))
		require.Empty(t, w.differences())
		require.Greater(t, len(w.traces(x.ann.UserID)), 25, "a second too early")
		require.Empty(t, w.traces("idem|"), "an Idempotency-Key is known for a day")
		if n == 1 {
			w.comesBack(x)
			continue
		}
		w.Pass(2 * time.Second)
		c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0, GoesOn: n%4 < 2}}
		err := w.stopping(c).Purge(ctx)
		what := fmt.Sprintf("call %d: %v", n, err)
		for range 2 {
			w.purge(what)
			require.Empty(t, w.traces(x.ann.UserID), what)
			require.Empty(t, w.differences(), what)
		}
		w.afterwards(x, what)
		if c.Left > 0 {
			require.NoError(t, err)
			require.Greater(t, n, 100, "accidents never happened")
			break // there is no such call
		}
	}
}

// afterwards requires that others have what was theirs, and that the number of Ann begins anew.
func (w *world) afterwards(x life, what string) {
	w.t.Helper()
	ctx := w.t.Context()
	bob, cid := w.again(2), w.again(3)
	card, err := w.posts.Card(ctx, bob, x.post)
	require.NoError(w.t, err, what)
	require.Equal(w.t, []int64{2, 1, 0, 2}, []int64{card.Result.Total, card.Comments, card.Reposts, card.Shares}, what)
	shares, err := w.posts.Shares(ctx, bob, x.post, "", 10)
	require.NoError(w.t, err, what)
	for _, x := range shares.Items {
		require.Equal(w.t, []any{people.Person{FullName: people.DeletedName}, ""}, []any{x.By, x.Note}, what)
	}
	feed, err := w.posts.InHub(ctx, bob, x.bobs, "", 10)
	require.NoError(w.t, err, what)
	require.Len(w.t, feed.Cards, 2, what)
	require.Equal(w.t, []string{"of Bob"}, w.said(bob, x.post, ""), what)
	said, err := w.talks.Messages(ctx, bob, x.bobs, x.kept, "", "", 10)
	require.NoError(w.t, err, what)
	require.Len(w.t, said.Items, 2, what)
	require.Equal(w.t, []any{people.Person{FullName: people.DeletedName}, "message of Ann", int64(1)},
		[]any{said.Items[1].Author, said.Items[1].Text, said.Items[1].Replies}, what)
	require.Equal(w.t, []string{"message of Ann", ""}, []string{said.Items[0].Text, said.Items[0].Picture}, what)
	saved, err := w.talks.Saved(ctx, bob, "", 10)
	require.NoError(w.t, err, what)
	require.Len(w.t, saved.Items, 1, what)
	require.Equal(w.t, x.kept, saved.Items[0].ID, what)
	require.Empty(w.t, w.traces(x.gone), what)
	me, err := w.people.Me(ctx, bob)
	require.NoError(w.t, err, what)
	require.Equal(w.t, people.Counts{Posts: 1, VotesCast: 1}, me.Counts, what)
	members, err := w.posts.Hubs.Members(ctx, cid, x.tea, "", "", 10)
	require.NoError(w.t, err, what)
	require.Len(w.t, members.Items, 2, what)
	require.Equal(w.t, []string{hubs.Member, hubs.SuperAdmin},
		[]string{members.Items[0].Role, members.Items[1].Role}, what)
	require.Equal(w.t, cid.UserID, members.Items[1].Person.ID, "no one was an admin, and Cid came first")
	open, err := w.posts.Hubs.Get(ctx, bob, x.alone)
	require.NoError(w.t, err, what)
	require.Zero(w.t, open.Members, what)

	in, anew := w.signIn(1)
	require.True(w.t, in.IsNew, what)
	require.NotEqual(w.t, x.ann.UserID, in.User.ID, what)
	old, name := "PERSON1", "Anew"
	_, err = w.people.SetBasics(ctx, anew, people.Basics{Username: &old, FullName: &old})
	require.Equal(w.t, people.UsernameTaken, fault.CodeOf(err), what)
	reason, err := w.people.NameAvailable(ctx, anew, "Person1")
	require.NoError(w.t, err, what)
	require.Equal(w.t, people.ReasonTaken, reason, what)
	_, err = w.people.SetBasics(ctx, anew, people.Basics{Username: &name, FullName: &name})
	require.NoError(w.t, err, what)
	_, err = w.people.AcceptTerms(ctx, anew, "1", "1")
	require.NoError(w.t, err, what)
	_, err = w.posts.Vote(ctx, anew, x.post, ballot.Left)
	require.NoError(w.t, err, what)
	w.pump(2 * time.Minute)
	require.Empty(w.t, w.differences(), what)
}

// signIn signs in by the number of the person i.
func (w *world) signIn(i int) (people.SignedIn, people.Claim) {
	w.t.Helper()
	challenge, err := w.people.RequestCode(w.t.Context(), "sms", duubletest.Number(i),
		"sign_in", people.Asker{Site: "x"})
	require.NoError(w.t, err)
	code, _, _ := strings.Cut(w.phone.Text, " ")
	in, err := w.people.Verify(w.t.Context(), challenge.ID, code, "")
	require.NoError(w.t, err)
	c, err := w.people.ParseAccess(in.Tokens.Access)
	require.NoError(w.t, err)
	return in, c
}

// comesBack requires that Ann comes back with all that she had.
func (w *world) comesBack(x life) {
	w.t.Helper()
	ctx := w.t.Context()
	_, ann := w.signIn(1)
	require.Equal(w.t, x.ann.UserID, ann.UserID)
	me, err := w.people.Return(ctx, ann)
	require.NoError(w.t, err)
	require.Equal(w.t, people.Counts{Posts: 4, LockedPosts: 1, VotesCast: 1, Following: 1, Followers: 1}, me.Counts)
	of, err := w.posts.Of(ctx, ann, ann.UserID, "", 10)
	require.NoError(w.t, err)
	require.Len(w.t, of.Cards, 6)
	mine, err := w.posts.Hubs.Mine(ctx, ann, "", 10)
	require.NoError(w.t, err)
	require.Len(w.t, mine.Items, 4)
	asked, err := w.posts.Hubs.MyRequests(ctx, ann, "", 10)
	require.NoError(w.t, err)
	require.Len(w.t, asked.Items, 1)
	require.Equal(w.t, []string{"", "of Ann"}, w.said(ann, x.post, ""))
	w.Pass(time.Hour)
	require.NoError(w.t, w.posts.Purge(ctx), "it goes by the row of a leaving that did not last")
	require.Empty(w.t, w.differences())
	_, err = w.people.Me(ctx, w.again(1))
	require.NoError(w.t, err)
}

// TestPurgeOfAccountsAgainstReturn: a purge whose clock is ahead stops at any call, and the person
// comes back then: with all there was, or never.
func TestPurgeOfAccountsAgainstReturn(t *testing.T) {
	t.Parallel()
	first := newWorld(t)
	x := first.live()
	first.Pass(keep)
	require.NoError(t, first.posts.Purge(t.Context()))
	returned, gone := 0, 0
	for n := 1; ; n += 1 + n/8 { // after the mark of the account the calls are alike
		w := first.copy()
		w.Pass(time.Second)
		c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: true}}
		_ = w.stopping(c).Purge(t.Context())
		if c.Left > 0 {
			break // there is no such call
		}
		w.Pass(-time.Second)
		in, ann := w.signIn(1)
		if in.User.ID == x.ann.UserID {
			_, err := w.people.Return(t.Context(), ann)
			if err == nil {
				returned++
				w.comesBack(x)
				continue
			}
			require.Equal(t, people.AccountDeleted, fault.CodeOf(err), n)
		}
		gone++
		w.Pass(2 * time.Second)
		w.purge(n)
		require.Empty(t, slices.DeleteFunc(w.traces(x.ann.UserID), func(row string) bool {
			return strings.HasPrefix(row, "Sessions rl|")
		}), n)
		require.Empty(t, w.differences(), n)
	}
	require.Positive(t, returned)
	require.Greater(t, gone, 5)
}

// TestRepairPoints: a row that points at what a person, a hub or a post has is told if it is
// missing, and a repair writes it again.
func TestRepairPoints(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	x := w.live()
	unused := w.upload(x.bob, assets.Profile)
	require.NoError(t, w.posts.Delete(ctx, x.bob, x.post))
	w.pump(2 * time.Minute)
	require.Empty(t, w.differences())
	kinds := map[string]int{}
	for _, name := range []string{"Users", "Lists", "Admin"} {
		for row, err := range table.All(ctx, w.db, name, table.Range{}) {
			require.NoError(t, err)
			kind, _, _ := strings.Cut(row.Row, "|")
			switch name {
			case "Users":
				if !slices.Contains([]string{"br", "co", "sh", "h", "jr", "w", "as"}, kind) {
					continue
				}
			case "Lists":
				if kind, _, _ = strings.Cut(row.Partition, "|"); kind == "act" || kind == "home" {
					continue // some are of deleted things
				}
			default:
				kind = strings.TrimRight(row.Partition, "|0123456789")
				if kind == "cfg" || kind == "due|asset" && !strings.Contains(row.Row, unused) ||
					strings.HasPrefix(kind, "repk") || kind == "due|settle" ||
					kind == "due|name" || kind == "due|expire" {
					continue
				}
				if strings.Contains(row.Row, "|bl|") {
					continue // of a block that holds, in case that it had not been written
				}
			}
			kinds[name+" "+kind]++
			_, err = w.db.Write(ctx, name, rowstore.Removal(row.Key))
			require.NoError(t, err)
			require.NotEmpty(t, w.differences(), "%s %s is gone", name, row.Key)
			require.NoError(t, w.people.Repair(ctx))
			require.NoError(t, w.people.Assets.Repair(ctx))
			require.NoError(t, w.posts.Repair(ctx))
			require.NoError(t, w.posts.Hubs.Repair(ctx))
			require.Empty(t, w.differences(), "%s %s", name, row.Key)
			again, err := w.db.Get(ctx, name, row.Key)
			require.NoError(t, err)
			written := func(p table.Prop) bool { return p.Name == "at" } // of package search: when it was written
			require.ElementsMatch(t, slices.DeleteFunc(row.Props, written),
				slices.DeleteFunc(again.Props, written), "%s %s", name, row.Key)
		}
	}
	for _, kind := range []string{
		"Users br", "Users co", "Users sh", "Users h", "Users jr", "Users w", "Lists pn",
		"Lists hn", "Lists au", "Lists hf", "Lists pub", "Admin due|purge", "Admin due|tie",
		"Admin due|hub", "Admin due|account",
	} {
		require.Positive(t, kinds[kind], kind)
	}
}

// TestErase: of an account that is erased no trace stays but in rows that say when something is
// due, whether the person has left or not, after an accident to any call and a repeat. Others keep
// their own.
func TestErase(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	gone := newWorld(t)
	x := gone.live()
	there := gone.copy()
	_, ann := there.signIn(1)
	_, err := there.people.Return(ctx, ann)
	require.NoError(t, err)
	there.pump(2 * time.Minute)
	require.Empty(t, there.differences())
	require.Equal(t, fault.NotFound, fault.Of(gone.posts.Erase(ctx, "x|y")))
	require.Equal(t, fault.NotFound, fault.Of(gone.posts.Erase(ctx, "nobody")))
	for name, first := range map[string]*world{"has left": gone, "is there": there} {
		for n := 1; ; n += 1 + 40*min(n/20, 1) { // the later calls are those of a purge, which has a test of its own
			w := first.copy()
			c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0}}
			err := w.stopping(c).Erase(ctx, x.ann.UserID)
			what := fmt.Sprintf("%s, call %d: %v", name, n, err)
			if err != nil {
				if again := w.posts.Erase(ctx, x.ann.UserID); again != nil {
					require.Equal(t, fault.NotFound, fault.Of(again), what)
				}
			}
			for _, row := range w.traces(x.ann.UserID) {
				require.Regexp(t, `^Admin due\|`, row, what)
			}
			w.pump(2 * time.Minute)
			w.purge(what)
			require.Empty(t, w.differences(), what)
			w.afterwards(x, what)
			if c.Left > 0 {
				require.Greater(t, n, 5, "accidents never happened")
				break // there is no such call
			}
		}
	}
}

// TestVerifyAfterShorterKeep: activities that a purge removed while they were kept for a shorter
// time are not missing.
func TestVerifyAfterShorterKeep(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.post(w.ann, posts.Public)
	w.pump(2 * time.Minute)
	short := w.over(w.db, w.queues).People
	short.Keep = time.Second
	require.NoError(t, service(t, w.queues, w.luck, short).Purge(t.Context()))
	require.Empty(t, w.traces("post_created"))
	require.Empty(t, w.differences())
	w.post(w.ann, posts.Public)
	w.pump(2 * time.Minute)
	require.NoError(t, w.posts.Purge(t.Context()))
	require.NotEmpty(t, w.each("Lists", "act|"+w.ann.UserID, func(string) bool { return true }))
}

// TestEraseOfWriter: an account is erased while the job of its post writes into homes: verify names
// the rows that are left, and the next purge removes them.
func TestEraseOfWriter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	bob := w.enter(2)
	for _, c := range []people.Claim{w.ann, w.enter(3)} {
		_, err := w.people.Follow(ctx, c, bob.UserID, true)
		require.NoError(t, err)
	}
	w.pump(2 * time.Minute)
	w.post(bob, posts.Public)
	var once sync.Once
	jobs := w.over(calls.Tables(w.db, func(ctx context.Context, c calls.Call) error {
		if c.Write && strings.Contains(c.Label, "home|") {
			once.Do(func() { require.NoError(t, w.posts.Erase(ctx, bob.UserID)) })
		}
		_, err := c.Do(ctx)
		return err
	}), w.queues)
	for _, trigger := range jobs.Triggers() {
		if trigger.Queue == "" {
			continue
		}
		list, err := w.queues.Receive(ctx, trigger.Queue, queue.MaxReceive, time.Second)
		require.NoError(t, err)
		for _, m := range list {
			require.NoError(t, trigger.Run(ctx, function.Invocation{Text: m.Text}))
			require.NoError(t, w.queues.Delete(ctx, trigger.Queue, m.Receipt))
		}
	}
	left := w.differences()
	require.Len(t, left, 2)
	require.Contains(t, left[0], "user "+bob.UserID+": there is no such account, and a home has it")
	w.purge()
	require.Empty(t, w.differences())
	for _, row := range w.traces(bob.UserID) {
		require.Regexp(t, `^Admin due\|`, row)
	}
}

// TestApprovalWithinAPurge: an approval comes while the account of the person who asks is removed
// for good, at any call: there is no member without an account.
func TestApprovalWithinAPurge(t *testing.T) {
	t.Parallel()
	begin := newWorld(t)
	ann, bob := begin.ann, begin.enter(2)
	hub := begin.group(bob, nil)
	link, err := begin.posts.Hubs.NewLink(t.Context(), bob, hub, hubs.MostLasts)
	require.NoError(t, err)
	request, err := begin.posts.Hubs.Join(t.Context(), ann, link.Token)
	require.NoError(t, err)
	begin.pump(2 * time.Minute)
	require.NoError(t, begin.people.Leave(t.Context(), ann))
	begin.pump(keep - time.Hour)
	outcomes := map[bool]int{}
	for n := 1; ; n++ {
		w := begin.copy()
		w.Pass(2 * time.Hour)
		bob := w.again(2)
		left := n
		rival := &calls.Rival{DB: w.db, Before: func(string, table.Op) bool { left--; return left == 0 }}
		rival.Do = func() {
			_, err := w.posts.Hubs.Decide(t.Context(), bob, hub, request, true)
			outcomes[err == nil]++
		}
		require.NoError(t, w.over(rival, w.queues).Purge(t.Context()))
		w.pump(2 * time.Minute)
		w.purge()
		require.Empty(t, w.differences(), "write %d", n)
		require.Empty(t, w.traces(ann.UserID), "write %d", n)
		h, err := w.posts.Hubs.Get(t.Context(), w.again(2), hub)
		require.NoError(t, err)
		require.EqualValues(t, 1, h.Members)
		if rival.Do != nil {
			break // there is no such write
		}
	}
	require.Greater(t, outcomes[true], 1)
	require.Greater(t, outcomes[false], 1)
}

// TestWritesWithinAPurge: what a request writes that had seen an account, or a post of it, before
// they were removed for good, is removed too.
func TestWritesWithinAPurge(t *testing.T) {
	t.Parallel()
	begin := newWorld(t)
	ann, bob := begin.ann, begin.enter(2)
	hub, other := begin.group(bob, map[int]people.Claim{1: ann}), begin.group(bob, nil)
	post := begin.locked(ann, hub)
	shared, err := begin.posts.Create(t.Context(), ann,
		posts.Draft{Visibility: posts.PublicHub, Hubs: []string{hub}, Slider: &posts.Slider{Text: "Tea?"}}, "")
	require.NoError(t, err)
	talk := begin.discussed(bob, hub, post)
	link, err := begin.posts.Hubs.NewLink(t.Context(), bob, other, hubs.MostLasts)
	require.NoError(t, err)
	request, err := begin.posts.Hubs.Join(t.Context(), ann, link.Token)
	require.NoError(t, err)
	begin.pump(2 * time.Minute)
	for name, c := range map[string]struct {
		row string // the purge comes before it is inserted
		do  func(s *posts.Service, c people.Claim) error
	}{
		"vote": {"v|", func(s *posts.Service, c people.Claim) error {
			_, err := s.Vote(t.Context(), c, post, ballot.Neutral)
			return err
		}},
		"comment": {"ci|", func(s *posts.Service, c people.Claim) error {
			_, err := s.Comment(t.Context(), c, post, posts.Said{Text: "x"}, "", "")
			return err
		}},
		"share": {"se|", func(s *posts.Service, c people.Claim) error {
			_, err := s.Share(t.Context(), c, shared.ID, []string{other}, "x", "")
			return err
		}},
		"discussion": {"d|", func(s *posts.Service, c people.Claim) error {
			_, _, err := discussions.New(s).Start(t.Context(), c, hub, shared.ID)
			return err
		}},
		"message": {"gi|", func(s *posts.Service, c people.Claim) error {
			_, err := discussions.New(s).Say(t.Context(), c, hub, talk, posts.Said{Text: "x"}, "", "")
			return err
		}},
		"save": {"sv|", func(s *posts.Service, c people.Claim) error {
			_, err := discussions.New(s).Save(t.Context(), c, hub, talk)
			return err
		}},
		"report": {"", func(s *posts.Service, c people.Claim) error {
			_, _, err := s.Manage.Report(t.Context(), c, manage.Target{Kind: manage.APost, ID: shared.ID}, "spam", "")
			return err
		}},
		"approval": {"m|", func(s *posts.Service, c people.Claim) error {
			_, err := s.Hubs.Decide(t.Context(), c, other, request, true)
			return err
		}},
		"follow": {"fo|", func(s *posts.Service, c people.Claim) error {
			_, err := s.People.Follow(t.Context(), c, ann.UserID, true)
			return err
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := begin.copy()
			w.t = t
			rival := &calls.Rival{DB: w.db, Before: func(_ string, op table.Op) bool {
				return strings.HasPrefix(op.Row.Row, c.row)
			}}
			s := w.over(rival, w.queues)
			rival.Do = func() { require.NoError(t, w.posts.Erase(t.Context(), ann.UserID)) }
			_ = c.do(s, bob) // which may or may not find that it came too late
			require.Nil(t, rival.Do)
			for range 3 {
				w.pump(2 * time.Minute)
			}
			w.purge()
			w.pump(2 * time.Minute)
			require.Empty(t, w.differences())
			for _, row := range slices.Concat(w.traces(ann.UserID), w.traces(post), w.traces(shared.ID)) {
				require.Regexp(t, `^(Sessions rl\||Users u\|`+bob.UserID+` / uv\||Admin due\|settle\|)`, row)
			}
		})
	}
}
