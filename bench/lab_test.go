package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/function"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/doors/gitdoor"
	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/doors/langsmith"
	"prompthub/internal/prompthub/doors/marketplace"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/doors/worker"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// callTime is how long each call to the storage takes where steps are counted.
const callTime = 5 * time.Millisecond

// ann wrote the prompt of a lab.
const ann = "Ann"

// A lab is a library in memory, where every call to the storage is counted and takes its time. It
// is meant for a synctest bubble, where time passes only while everybody waits: there it tells how
// many calls were made one after another.
type lab struct {
	t      testing.TB
	meter  *meter
	db     *promptdb.DB
	doors  http.Handler // all of them: the API, the pages and others
	jobs   map[string]function.Func
	prompt prompt.ID    // by ann, public: three tags, a title of five words
	behind atomic.Int64 // calls that were left to follow the answer
	cursor string       // of a page that was read before
	packed string       // the path of a package
	token  api.ShownToken
	hub    *library.Service
	invite string // its id
	secret string // of an invitation or a link

	projections atomic.Int64
}

const (
	typicalTitle = "Write better short mystery novels" // no two words share a token
	otherTitle   = "Better write short mystery novels" // the same words under another name
	typicalText  = "You are an editor of crime stories. Read the draft that follows, sentence by sentence, and answer with a table of three columns: the place, " +
		"what keeps a reader from going on there, and one better wording. Judge plot, characters, pace, dialogue, tension and style; praise nothing. " +
		"Then name the weakest chapter, explain in two paragraphs why it fails, and suggest how to mend it without new scenes."
	typicalTags = `"text","writing","education"`
	filled      = 60 // prompts in addition to the typical one
)

// stock is what a lab begins with. To fill it takes longer than what most labs are for, so it is
// done once, and each lab has a copy.
var stock struct {
	rows   *memory.Tables
	prompt prompt.ID
	at     time.Time
}

// opening is when a lab is filled: the clock of a bubble begins at a time before which hot and
// trending know no others.
var opening = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

func newLab(t testing.TB) *lab {
	l := stocked(t)
	l.restart()
	return l
}

// stocked returns a lab in which no instance runs yet.
func stocked(t testing.TB) *lab {
	l := &lab{t: t, meter: &meter{rows: memory.NewTables(), messages: memory.NewQueues(time.Now)}}
	if stock.rows == nil {
		time.Sleep(time.Until(opening))
		l.fill()
	}
	time.Sleep(time.Until(stock.at)) // the clock of a bubble begins anew
	return &lab{
		t: t, prompt: stock.prompt,
		meter: &meter{rows: stock.rows.Clone(), messages: memory.NewQueues(time.Now)},
	}
}

// fill makes the library.
func (l *lab) fill() {
	l.t.Helper()
	l.restart()
	for i := range filled {
		title, tags := fmt.Sprintf("Common words of number %d", i), `"text"`
		if i%20 == 0 {
			title, tags = fmt.Sprintf("Common and scarce number %d", i), `"text","legal","data"`
		}
		l.create(title, tags)
		l.vote("Vera", prompt.Like)
	}
	l.create(typicalTitle, typicalTags)
	l.settle()
	time.Sleep(10 * time.Second) // lists count votes of a moment ago again
	synctest.Wait()
	stock.rows, stock.prompt, stock.at = l.meter.rows.(*memory.Tables), l.prompt, time.Now()
}

// restart puts a new instance of the program in place of the old one. It remembers nothing.
func (l *lab) restart() {
	l.begin(io.Discard)
	require.NoError(l.t, l.db.Create(l.t.Context()))
}

// begin is restart while the storage is away: the instance has not read what it reads as it starts.
func (l *lab) begin(logs io.Writer) {
	log := slog.New(slog.NewJSONHandler(logs, nil))
	l.db = promptdb.New(promptdb.Config{
		Store: l.meter, Queues: meteredQueues{l.meter}, Blobs: memory.NewBlobs(time.Now),
		Tables: promptdb.DefaultTables(), Now: time.Now, Log: log,
		Quota: promptdb.Quota{Bytes: 1 << 30, Prompts: 10_000}, // as deployed
		Count: func(_ context.Context, kind string, n int) {
			if kind == "projections" {
				l.projections.Add(int64(n))
			}
		},
		Background: func(f func()) {
			l.behind.Add(1)
			go f()
		},
		Sleep: func(_ context.Context, d time.Duration) error {
			time.Sleep(d)
			return nil
		},
	})
	sleep := func(ctx context.Context, d time.Duration) error { time.Sleep(d); return ctx.Err() }
	l.hub = library.New(l.db, prompt.Rules{}, time.Now).WithPasswords(
		library.NewPasswords(password.NewTestHasher(), time.Now, sleep))
	hub := l.hub
	admission := httpjson.NewAdmission(httpjson.Limits{}, time.Now)
	identify := hub.WithTokens(hub.WithSessions(auth.Dev(), admission.Guess), true, admission.Guess)
	routes := api.New(api.Config{
		Service: hub, Identify: identify, Claimed: true, Admission: admission,
		PublicRead: true, Log: log, Now: time.Now, Version: "bench",
	})
	pages := web.New(web.Config{
		Service: hub, Identify: auth.Dev(), Admission: admission, SignIn: web.Dev,
		PublicRead: true, Log: log, Now: time.Now,
		Status: func(context.Context) ([]web.Fact, error) { return nil, nil },
	})
	programs := doors.Door{Identify: identify, Admission: admission, Service: hub, PublicRead: true}
	installers := marketplace.New(marketplace.Config{Door: programs, Claimed: true, Log: log, Now: time.Now})
	clones := gitdoor.New(gitdoor.Config{Door: programs, Log: log, Now: time.Now})
	assistants := mcp.New(mcp.Config{
		Door: programs, Log: log, Now: time.Now, Version: "bench",
		Issuers: []string{"https://issuer.example"},
	})
	foreign := doors.Foreign{
		Door: doors.Door{Identify: identify, Admission: admission, Service: hub}, Log: log,
		Now: time.Now,
	}
	l.doors = httpjson.Mount(marketplace.Prefix, mcp.Mount(web.Mount(routes, pages), assistants), installers)
	l.doors = httpjson.Mount(gitdoor.Prefix, l.doors, clones)
	l.doors = httpjson.Mount(langsmith.Prefix, httpjson.Mount(langfuse.Prefix, l.doors, langfuse.New(foreign)),
		langsmith.New(foreign))
	l.jobs = make(map[string]function.Func)
	for _, t := range worker.Triggers(l.db, log) {
		l.jobs[t.Name] = t.Run
	}
}

// ask makes a request that must succeed, and decodes the answer into v unless that is nil.
func (l *lab) ask(c call, v any) {
	l.t.Helper()
	w := serve(l.t, l.doors, c)
	require.Equal(l.t, 2, w.Code/100, "%s %s: %s", c.method, c.path, w.Body)
	if v != nil {
		require.NoError(l.t, json.Unmarshal(w.Body.Bytes(), v))
	}
}

// run runs a function as its trigger does.
func (l *lab) run(job, text string) {
	l.t.Helper()
	require.Contains(l.t, l.jobs, job)
	require.NoError(l.t, l.jobs[job](l.t.Context(), function.Invocation{Function: job, Text: text, Dequeued: 1}))
}

func (l *lab) draft(title, tags string) string {
	return fmt.Sprintf(`{"title":%q,"text":%q,"tags":[%s],"visibility":"public"}`, title, typicalText, tags)
}

func (l *lab) create(title, tags string) {
	l.t.Helper()
	time.Sleep(time.Millisecond) // so that each has a time of its own
	var made struct{ ID prompt.ID }
	l.ask(call{method: http.MethodPost, path: "/prompts", user: ann, body: l.draft(title, tags)}, &made)
	l.prompt = made.ID
}

// warm makes the instance remember what it remembers after its first requests.
func (l *lab) warm() {
	l.t.Helper()
	l.ask(call{method: http.MethodGet, path: "/tags", user: ann}, nil)
	_, err := l.db.Author(l.t.Context(), ann, l.prompt)
	require.NoError(l.t, err)
	_, err = l.db.Newest(l.t.Context(), "", 1) // which months have prompts
	require.NoError(l.t, err)
	l.search()
	_, err = l.db.Usage(l.t.Context(), ann)
	require.NoError(l.t, err)
	l.db.TouchUser(l.t.Context(), ann, "Ann")
	synctest.Wait()
}

// search has the instance load the scopes that are searched, and follow their logs.
func (l *lab) search() {
	l.t.Helper()
	l.ask(call{method: http.MethodGet, path: "/prompts?q=word&scope=mine", user: ann}, nil)
}

// makeShelf makes a workspace of ann's with a member and an access token, which the instance has
// read more than some seconds ago.
func (l *lab) makeShelf() {
	l.t.Helper()
	l.ask(call{method: http.MethodPost, path: "/workspaces", user: ann, body: `{"handle":"shelf"}`}, nil)
	l.ask(put("/workspaces/shelf/members/role/readers", ann, `{"role":"reader"}`), nil)
	l.ask(call{
		method: http.MethodPost, path: "/workspaces/shelf/tokens", user: ann,
		body: `{"name":"CI","scopes":["read"]}`,
	}, &l.token)
	time.Sleep(10 * time.Second)
}

// makeProposal makes an open proposal for a label of a prompt of such a workspace.
func (l *lab) makeProposal() {
	l.t.Helper()
	l.makeRuled()
	l.ask(call{
		method: http.MethodPost, path: "/prompts/" + string(l.prompt) + "/proposals", user: ann,
		body: `{"label":"production","version":1}`,
	}, nil)
	time.Sleep(10 * time.Second)
}

// makeRuled makes such a workspace with a rule, and a prompt in it.
func (l *lab) makeRuled() {
	l.t.Helper()
	l.makeShelf()
	l.ask(call{
		method: http.MethodPut, path: "/workspaces/shelf/rules", user: ann,
		header: http.Header{"If-Match": {"*"}}, body: `{"rules":[{"label":"production","approvals":1}]}`,
	}, nil)
	var made struct{ ID prompt.ID }
	l.ask(call{
		method: http.MethodPost, path: "/prompts", user: ann,
		body: `{"title":"Shared","text":"Text","workspace":"shelf"}`,
	}, &made)
	l.prompt = made.ID
	time.Sleep(10 * time.Second)
}

// makeInvite makes an invitation to such a workspace.
func (l *lab) makeInvite() {
	l.t.Helper()
	l.makeShelf()
	l.again()
}

// again makes another one.
func (l *lab) again() {
	l.t.Helper()
	for _, of := range []string{ann, "admin"} { // there is room for fifty
		all, err := l.db.Invites(l.t.Context(), prompt.UserID(of))
		require.NoError(l.t, err)
		for _, i := range all {
			require.NoError(l.t, l.db.RemoveInvite(l.t.Context(), i))
		}
	}
	var made api.ShownInvite
	l.ask(call{
		method: http.MethodPost, path: "/invites", user: ann,
		body: `{"workspaces":[{"handle":"shelf","role":"reader"}],"uses":10}`,
	}, &made)
	l.invite, l.secret = made.ID, made.Secret
	time.Sleep(10 * time.Second)
}

// makeAdminInvite makes an invitation by which a stranger gets an account.
func (l *lab) makeAdminInvite() {
	l.t.Helper()
	var err error
	l.secret, err = l.hub.AdminInvite(l.t.Context(), true)
	require.NoError(l.t, err)
}

// makeAccount makes an account with a password.
func (l *lab) makeAccount() { l.join("chief") }

func (l *lab) join(handle string) {
	l.t.Helper()
	if there, err := l.db.UserID(l.t.Context(), handle); err == nil && there != "" {
		return
	}
	secret, err := l.hub.AdminInvite(l.t.Context(), true)
	require.NoError(l.t, err)
	_, err = l.hub.AcceptInvite(l.t.Context(), auth.User{}, secret,
		library.NewPerson{Handle: handle, Password: aPassword}, library.Asker{})
	require.NoError(l.t, err)
}

const aPassword = "correct horse battery"

// makeSession signs such an account in.
func (l *lab) makeSession() {
	l.t.Helper()
	l.makeAccount()
	var err error
	l.token.Secret, err = l.hub.SignIn(l.t.Context(), "chief", aPassword, library.Asker{})
	require.NoError(l.t, err)
}

// makeReset makes a link to set a new password for such an account.
func (l *lab) makeReset() {
	l.t.Helper()
	l.join("forgets")
	var err error
	l.secret, _, err = l.hub.NewReset(l.t.Context(), "forgets")
	require.NoError(l.t, err)
}

// allowLogin allows a command line to sign in as ann. The secret of its challenge is "x".
func (l *lab) allowLogin() {
	l.t.Helper()
	sum := sha256.Sum256([]byte("x"))
	var err error
	l.secret, err = l.hub.AllowLogin(l.t.Context(), auth.User{ID: ann, Name: ann}, "laptop", hex.EncodeToString(sum[:]))
	require.NoError(l.t, err)
}

// deleteShelf deletes such a workspace.
func (l *lab) deleteShelf() {
	l.t.Helper()
	l.makeShelf()
	l.ask(call{method: http.MethodDelete, path: "/workspaces/shelf", user: ann}, nil)
	time.Sleep(10 * time.Second)
}

// promptOfShelf puts a prompt into such a workspace.
func (l *lab) promptOfShelf() {
	l.t.Helper()
	l.makeShelf()
	var made struct{ ID prompt.ID }
	l.ask(call{
		method: http.MethodPost, path: "/prompts", user: ann,
		body: `{"title":"Shared","text":"text","workspace":"shelf"}`,
	}, &made)
	l.prompt = made.ID
	time.Sleep(10 * time.Second)
}

// makeToken makes an access token of ann's.
func (l *lab) makeToken() {
	l.t.Helper()
	l.ask(call{
		method: http.MethodPost, path: "/me/tokens", user: ann,
		body: `{"name":"CI","scopes":["read","write","publish"]}`,
	}, &l.token)
}

func (l *lab) vote(who string, v prompt.Vote) {
	l.t.Helper()
	l.ask(call{
		method: http.MethodPut, path: l.path("/prompts/{id}/vote"), user: who,
		body: fmt.Sprintf(`{"value":%q}`, v),
	}, nil)
}

// path puts what the lab knows into a path.
func (l *lab) path(path string) string {
	return strings.NewReplacer("{id}", string(l.prompt), "{author}", l.db.AuthorKey(ann), "{cursor}", l.cursor,
		"{package}", l.packed, "{token}", cmp.Or(l.token.ID, "none"), "{invite}", cmp.Or(l.invite, "none"), "{secret}",
		cmp.Or(l.secret, "none")).Replace(path)
}

// voteOnce is a vote of Vera's on the prompt.
func (l *lab) voteOnce() { l.vote("Vera", prompt.Like) }

// likes makes n strangers like the prompt, and leaves the jobs of that undone.
func (l *lab) likes(n int) {
	l.t.Helper()
	for i := range n {
		l.vote(fmt.Sprint("stranger ", i), prompt.Like)
	}
	l.each(func(string, string) {})
}

// settle does what the queues hold.
func (l *lab) settle() {
	l.t.Helper()
	l.each(l.run)
}

// each gives every message to do until both queues are empty.
func (l *lab) each(do func(job, text string)) {
	l.t.Helper()
	for left := 1; left > 0; {
		time.Sleep(2 * time.Second)
		left = l.deliver(do)
	}
}

// deliver gives the messages that can be seen to do, and returns how many there are besides.
func (l *lab) deliver(do func(job, text string)) (left int) {
	l.t.Helper()
	ctx := l.t.Context()
	// the functions have their names
	for _, name := range []string{promptdb.QueueMoves, promptdb.QueueRepairs} {
		for more := true; more; {
			ms, err := l.meter.messages.Receive(ctx, name, 32, 10*time.Minute)
			require.NoError(l.t, err)
			for _, m := range ms {
				do(name, m.Text)
				require.NoError(l.t, l.meter.messages.Delete(ctx, name, m.Receipt))
			}
			more = len(ms) > 0
		}
		n, err := l.meter.messages.Len(ctx, name)
		require.NoError(l.t, err)
		left += n
	}
	return left
}

// rows counts the index rows of the prompt.
func (l *lab) rows() int64 {
	l.t.Helper()
	n := int64(0)
	t := promptdb.DefaultTables()
	for _, name := range []string{
		t.Newest, t.MostLiked, t.Hot, t.Best, t.Trending, t.TagIndex, t.TitleIndex,
		t.DeletedIndex, t.HiddenIndex, t.Votes,
	} {
		for row, err := range table.All(l.t.Context(), l.meter.rows, name, table.Range{}) {
			require.NoError(l.t, err)
			if row.Props.Get("PromptId").Str() == string(l.prompt) && row.Props.Get("VoterId").Str() == "" {
				n++
			}
		}
	}
	return n
}

// message is what a vote or a change leaves on a queue.
func (l *lab) message(voter string) string {
	return fmt.Sprintf(`{"v":1,"author":%q,"prompt":%q,"voter":%q}`, ann, l.prompt, voter)
}

// A spent is what one request made.
type spent struct {
	steps  int   // calls one after another until the answer
	calls  count // all, with those that need not end before the answer
	behind int64 // the latter
	body   int   // bytes of the answer
}

// measure makes one request and counts.
func (l *lab) measure(r request) spent {
	l.t.Helper()
	return l.measured(func() int { return r.make(l) })
}

// measured counts what a request spends, which returns how long its answer is.
func (l *lab) measured(request func() int) (s spent) {
	l.t.Helper()
	synctest.Wait()
	l.meter.delay = callTime
	defer func() { l.meter.delay = 0 }()
	calls, behind, began := l.meter.count(), l.behind.Load(), time.Now()
	s.body = request()
	took := time.Since(began)
	time.Sleep(10 * callTime)
	synctest.Wait()
	require.Zero(l.t, took%callTime, "something else than calls took time")
	s.steps, s.calls, s.behind = int(took/callTime), l.meter.count().minus(calls), l.behind.Load()-behind
	return s
}
