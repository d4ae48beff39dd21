package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/api"
	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/discussions"
	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/pictures"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/internal/delivery/sms"
	"prompthub/internal/host/command"
	"prompthub/internal/host/function"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
	"prompthub/internal/testing/repeatable"
)

// A world is the API over stores in memory.
type world struct {
	t *testing.T
	http.Handler
	assets     *assets.Service
	pictures   *pictures.Service
	people     *people.Service
	hubs       *hubs.Service
	posts      *posts.Service
	talks      *discussions.Service
	ballot     *ballot.Store
	queues     *memory.Queues
	calls      calls.Recorder
	log        strings.Builder
	background sync.WaitGroup
	streams    func(poll, open time.Duration) // has streams of notifications wait
	over       func(*httpjson.Admission) http.Handler
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, queues: memory.NewQueues(time.Now)}
	entropy := repeatable.Seeded(1)
	tables := rowstore.DefaultTables[schema.Tables]()
	log := slog.New(slog.NewTextHandler(&w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	rows := &rowstore.Store{
		DB: calls.Tables(memory.NewTables(), w.calls.Make), Now: time.Now, Log: log, Background: w.background.Go,
		Sleep:  command.Sleep,
		Random: func(time.Duration) time.Duration { return 0 },
	}
	queues := calls.Queues(w.queues, w.calls.Make)
	for _, name := range append(posts.Queues(), people.Queues()...) {
		require.NoError(t, w.queues.Create(t.Context(), name))
	}
	require.NoError(t, rows.DB.Create(t.Context(), tables.All()...))
	w.assets = assets.New(assets.Config{
		Store: rows, Tables: tables, Entropy: entropy,
		Blobs: calls.Blobs(duubletest.Blobs(time.Now), w.calls.Make), Pictures: picture.NewMakerOf(assets.MaxPixels),
	})
	w.people = people.New(people.Config{
		Store: rows, Tables: tables, Queues: queues, Entropy: entropy, Keys: keyring.Ring{make([]byte, 32)},
		SMS: sms.Printed{To: &strings.Builder{}}, Assets: w.assets,
		Keep: 30 * 24 * time.Hour, CodeLasts: 5 * time.Minute, PerPhone: -1, PerAddress: -1, PerNetwork: -1,
		PerCountry: -1, PerHour: -1, KeepCodes: true, Admins: []string{number(0)},
	})
	keys, err := ballot.NewKeys(make([]byte, 32))
	require.NoError(t, err)
	voting := *rows
	voting.Background = func(do func()) { go do() }
	w.ballot = ballot.New(ballot.Config{
		Store: &voting, Posts: "Posts", Due: "Admin", Queues: queues, Keys: keys, VoteMin: 3,
		SettleAfter: 24 * time.Hour, Entropy: entropy,
		Follow: func(ctx context.Context, votes []ballot.Receipt) error { return w.posts.FollowVotes(ctx, votes) },
	})
	w.hubs = hubs.New(hubs.Config{Store: rows, Tables: tables, Entropy: entropy, People: w.people})
	w.posts = posts.New(posts.Config{
		Store: rows, Tables: tables, Queues: queues, Entropy: entropy, People: w.people,
		Hubs: w.hubs, Ballot: w.ballot, PostsADay: 100, CommentsADay: 1000, MessagesADay: 1000, VotesAnHour: 300,
	})
	w.talks = discussions.New(w.posts)
	w.pictures = &pictures.Service{Assets: w.assets, Posts: w.posts, ADay: -1}
	ready := func(ctx context.Context) error {
		_, err := rows.GetRow(ctx, "Admin", table.Key{Partition: "ready"})
		return err
	}
	unlimited := httpjson.Limits{Writes: -1, Reads: -1, AtWork: 10_000} // a test may have all of them at work at once
	door := func(admission *httpjson.Admission, poll, open time.Duration) http.Handler {
		return api.New(api.Config{
			People: w.people, Posts: w.posts, Hubs: w.hubs, Discussions: w.talks, Pictures: w.pictures, VoteMin: 3,
			Ready: ready, Admission: admission, Log: log, Now: time.Now, Version: "test",
			Streams: stream.New(stream.Config{Posts: w.posts, Poll: poll, For: open}),
		})
	}
	w.streams = func(poll, open time.Duration) {
		w.Handler = door(httpjson.NewAdmission(unlimited.Complete(false), time.Now), poll, open)
	}
	w.over = func(admission *httpjson.Admission) http.Handler { return door(admission, 0, 0) }
	w.streams(0, 0)
	return w
}

// ask sends a request and returns the status and the answer.
func (w *world) ask(method, path, token, body string, headers ...string) (int, map[string]any) {
	w.t.Helper()
	r := httptest.NewRequestWithContext(w.t.Context(), method, api.Prefix+path, strings.NewReader(body))
	r.RemoteAddr, r.Host = "127.0.0.1:1", "localhost"
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
		if strings.HasPrefix(body, "\x89PNG") {
			r.Header.Set("Content-Type", "image/png")
		}
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	w.ServeHTTP(rec, r)
	var answer map[string]any
	if rec.Body.Len() > 0 && strings.Contains(rec.Header().Get("Content-Type"), "json") {
		require.NoError(w.t, json.Unmarshal(rec.Body.Bytes(), &answer), "%s", rec.Body)
	}
	return rec.Code, answer
}

// picture uploads a picture, and returns its id.
func (w *world) picture(token, purpose string) string {
	w.t.Helper()
	status, a := w.ask("POST", "/assets", token,
		fmt.Sprintf(`{"purpose":%q,"contentType":"image/png","fileSizeBytes":%d}`, purpose, len(duubletest.PNG)))
	require.Equal(w.t, 201, status, a)
	id := a["assetId"].(string)
	status, a = w.ask("PUT", "/assets/"+id+"/content", token, string(duubletest.PNG))
	require.Equal(w.t, 200, status, a)
	return id
}

// code asks for a code, and returns its challenge too.
func (w *world) code(number string) (challenge, code string) {
	w.t.Helper()
	status, c := w.ask("POST", "/auth/otp/request", "",
		`{"channel":"sms","destination":"`+number+`","purpose":"sign_in"}`)
	require.Equal(w.t, 202, status, c)
	challenge = c["challengeId"].(string)
	status, d := w.ask("GET", "/dev/otp/"+challenge, "", "")
	require.Equal(w.t, 200, status, d)
	return challenge, d["code"].(string)
}

// enter signs in.
func (w *world) enter(number string) map[string]any {
	w.t.Helper()
	challenge, code := w.code(number)
	status, in := w.ask("POST", "/auth/otp/verify", "", `{"challengeId":"`+challenge+`","code":"`+code+`"}`)
	require.Equal(w.t, 200, status, "%v\n%s", in, &w.log)
	return in
}

// person makes an account with a name, and returns its id and tokens.
func (w *world) person(number, name string) (id, access, refresh string) {
	w.t.Helper()
	in := w.enter(number)
	access = in["accessToken"].(string)
	status, me := w.ask("PUT", "/onboarding/profile-basics", access, `{"username":"`+name+`","fullName":"`+name+`"}`)
	require.Equal(w.t, 200, status, me)
	status, me = w.ask("POST", "/onboarding/terms", access, `{"termsVersion":"1","privacyVersion":"1"}`)
	require.Equal(w.t, 200, status, me)
	return in["userId"].(string), access, in["refreshToken"].(string)
}

// post posts a question with a slider, and returns its id.
func (w *world) post(access string) string {
	w.t.Helper()
	status, c := w.ask("POST", "/posts", access, `{"slider":{"text":"Is tea better than coffee?"}}`)
	require.Equal(w.t, 201, status, c)
	w.background.Wait()
	return c["postId"].(string)
}

// comment comments on a post, or replies to a comment unless it is "", and returns the id.
func (w *world) comment(access, post, parent string) string {
	w.t.Helper()
	status, c := w.ask("POST", "/posts/"+post+"/comments", access, `{"text":"Why not?","parentCommentId":"`+parent+`"}`)
	require.Equal(w.t, 201, status, c)
	return c["commentId"].(string)
}

// pump does what messages ask for, until none is left.
func (w *world) pump() {
	w.t.Helper()
	w.background.Wait()
	for _, trigger := range append(w.posts.Triggers(), w.people.Triggers()...) {
		if trigger.Queue == "" {
			continue
		}
		list, err := w.queues.Receive(w.t.Context(), trigger.Queue, queue.MaxReceive, time.Minute)
		require.NoError(w.t, err)
		for _, m := range list {
			require.NoError(w.t, trigger.Run(w.t.Context(), function.Invocation{Text: m.Text}))
			require.NoError(w.t, w.queues.Delete(w.t.Context(), trigger.Queue, m.Receipt))
		}
	}
}

// rest does it until all that follows from messages is done, too.
func (w *world) rest() {
	w.t.Helper()
	for range 20 {
		w.pump()
	}
}

// chosen has the default feed show posts of a person.
func (w *world) chosen(id string) {
	w.t.Helper()
	_, manager, _ := w.person(number(0), "Manager")
	status, d := w.ask("PUT", "/admin/default-feed/"+id, manager, `{"displayOrder":1,"isActive":true}`)
	require.Equal(w.t, 200, status, d)
}

func number(i int) string { return fmt.Sprintf("+346%08d", i) }
