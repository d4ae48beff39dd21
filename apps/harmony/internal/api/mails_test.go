package api_test

import (
	"context"
	"errors"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/api"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/delivery/mail"
	"prompthub/internal/host/function"
	"prompthub/internal/http/openapi"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Tokens of no one.
var (
	unknownJoin = account.JoinForm.Format(make([]byte, account.JoinForm.IDBytes), [32]byte{})
	unknownMove = account.MoveForm.Format(make([]byte, account.MoveForm.IDBytes), [32]byte{})
)

// A postman keeps the mails that are sent.
type postman struct {
	mu    sync.Mutex
	all   []mail.Message
	fails int // how many mails the server refuses
}

func (p *postman) Send(_ context.Context, m mail.Message) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fails > 0 {
		p.fails--
		return errors.New("550 no mailbox " + m.To)
	}
	p.all = append(p.all, m)
	return nil
}

// newMailWorld is newWorld with mails.
func newMailWorld(t *testing.T) (*world, *postman) {
	t.Helper()
	w, p := newWorldOfToday(t), &postman{}
	w.service.Mail, w.service.Site, w.service.MailsADay = p, "https://harmony.example", 100
	return w, p
}

// mails has the jobs of mails done, and returns what was sent since the last call.
func (w *world) mails(p *postman) []mail.Message {
	w.t.Helper()
	w.background.Wait()
	for _, trigger := range w.service.Triggers() {
		if trigger.Queue != meet.QueueMails {
			continue
		}
		for {
			list, err := w.service.Queues.Receive(w.t.Context(), trigger.Queue, queue.MaxReceive, time.Second)
			require.NoError(w.t, err)
			if len(list) == 0 {
				break
			}
			for _, m := range list {
				require.NoError(w.t, trigger.Run(w.t.Context(),
					function.Invocation{Text: m.Text, Inserted: m.Inserted}))
				require.NoError(w.t, w.service.Queues.Delete(w.t.Context(), trigger.Queue, m.Receipt))
			}
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.all
	p.all = nil
	return sent
}

var inLink = regexp.MustCompile(`https://harmony\.example/app/([a-z-]+)(?:\?token=([a-z0-9_]+))?`)

// linked returns the page and the token of the link of a mail.
func linked(t *testing.T, m mail.Message) (page, token string) {
	t.Helper()
	found := inLink.FindStringSubmatch(m.Text)
	require.NotNil(t, found, m.Text)
	return found[1], found[2]
}

// hashes hides hashes of addresses and sizes of messages in calls.
var hashes = regexp.MustCompile(`[0-9a-f]{64}|(JOIN_|EMAIL_)[0-9a-f]+`)

// bounded asks what mails lead to, and holds it to its bound.
func (w *world) bounded(id, path, token, body string) (int, map[string]any) {
	w.t.Helper()
	w.background.Wait()
	w.calls.Start(time.Millisecond)
	from := time.Now()
	status, answer := w.ask("POST", path, token, body)
	steps := int(time.Since(from) / time.Millisecond)
	w.background.Wait()
	w.calls.Stop()
	require.Less(w.t, status, 300, answer)
	require.Equal(w.t, api.Bounds()[id], openapi.Bound{Steps: steps, Calls: w.calls.Count()}, id)
	return status, answer
}

// TestNoOneIsTold: a registration and a forgotten password are answered alike, after the same calls
// of the storage, whether there is an account. What it is stands in the mail alone.
func TestNoOneIsTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, p := newMailWorld(t)
		w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
		register := func(name string) string {
			return `{"email":"` + name + `@example.com","password":"tea under seven lamps","name":"Анна","birthDate":"2000-02-29","gender":"female","language":"ru"}`
		}
		did := func(path, body string) (int, map[string]any, string) {
			w.calls.Start(time.Millisecond)
			from := time.Now()
			status, answer := w.ask("POST", path, "", body)
			took := time.Since(from)
			w.background.Wait()
			w.calls.Stop()
			return status, answer, took.String() + "\n" + hashes.ReplaceAllString(w.calls.Lines(ids), "")
		}
		status, answer, made := did("/auth/register", register("anna"))
		require.Equal(t, 202, status, answer)
		require.Empty(t, answer)
		sent := w.mails(p)
		require.Len(t, sent, 1)
		require.Equal(t, "anna@example.com", sent[0].To)
		page, token := linked(t, sent[0])
		require.Equal(t, "confirm", page)
		status, answer = w.ask("POST", "/auth/login", "",
			`{"email":"anna@example.com","password":"tea under seven lamps"}`)
		require.Equal(t, 401, status, answer)
		status, answer = w.ask("POST", "/auth/confirm", "", `{"token":"`+token+`","password":"another one"}`)
		require.Equal(t, 401, status)
		require.Equal(t, "INVALID_CREDENTIALS", answer["code"])
		status, session := w.bounded("confirm", "/auth/confirm", "",
			`{"token":"`+token+`","password":"tea under seven lamps"}`)
		require.Equal(t, 200+1, status, session)
		w.background.Wait()
		status, answer = w.ask("POST", "/auth/confirm", "", `{"token":"`+token+`","password":"tea under seven lamps"}`)
		require.Equal(t, 401, status)
		require.Equal(t, "INVALID_TOKEN", answer["code"])

		status, answer, again := did("/auth/register", register("anna"))
		require.Equal(t, 202, status)
		require.Empty(t, answer)
		require.Equal(t, made, again)
		sent = w.mails(p)
		require.Len(t, sent, 1)
		require.Equal(t, "У вас уже есть аккаунт", sent[0].Subject)
		page, _ = linked(t, sent[0])
		require.Equal(t, "forgot", page)

		w.bounded("forgot-password", "/auth/forgot", "", `{"email":"someone@example.com"}`)
		require.Empty(t, w.mails(p))
		status, answer, known := did("/auth/forgot", `{"email":"Anna@example.com"}`)
		require.Equal(t, 202, status)
		require.Empty(t, answer)
		sent = w.mails(p)
		require.Len(t, sent, 1)
		page, token = linked(t, sent[0])
		require.Equal(t, "reset", page)
		status, answer, unknown := did("/auth/forgot", `{"email":"nobody@example.com"}`)
		require.Equal(t, 202, status)
		require.Empty(t, answer)
		require.Equal(t, known, unknown)
		require.Empty(t, w.mails(p))
		status, _ = w.ask("POST", "/auth/reset", "", `{"token":"`+token+`","password":"eleven lamps over tea"}`)
		require.Equal(t, 204, status)
		status, answer = w.ask("GET", "/auth/me", session["accessToken"].(string), "")
		require.Equal(t, 401, status, answer)
		status, _ = w.ask("POST", "/auth/reset", "", `{"token":"`+token+`","password":"twelve lamps over tea"}`)
		require.Equal(t, 401, status)
		status, _ = w.ask("POST", "/auth/login", "", `{"email":"anna@example.com","password":"eleven lamps over tea"}`)
		require.Equal(t, 200, status)

		for range 10 { // and no address gets more than some a day
			_, _, _ = did("/auth/forgot", `{"email":"anna@example.com"}`)
		}
		require.Len(t, w.mails(p), 4)
		tokens, err := w.service.DB.List(t.Context(), w.service.Tables.Sessions,
			table.Range{Filter: func(p table.Props) bool {
				return strings.HasPrefix(p.Get("Device").Str(), "reset")
			}}, 100, "")
		require.NoError(t, err)
		require.Len(t, slices.DeleteFunc(tokens.Rows, func(row table.Row) bool { return !rowstore.IsMatch(row) }), 4,
			"no more than mails since she signed in")
		time.Sleep(24 * time.Hour)
		_, _, _ = did("/auth/forgot", `{"email":"anna@example.com"}`)
		require.Len(t, w.mails(p), 1)
		time.Sleep(24 * time.Hour)
		w.service.MailsADay = 0
		_, _, _ = did("/auth/forgot", `{"email":"anna@example.com"}`)
		require.Empty(t, w.mails(p), "none is none, also the first of a day")
	})
}

// TestMailsThatFail: a mail that the server refuses is sent again some minutes later, with another
// link, and given up after four tries. The log does not say to whom it was.
func TestMailsThatFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, p := newMailWorld(t)
		var log strings.Builder
		w.service.Log = slog.New(slog.NewTextHandler(&log, nil))
		w.service.Mail = nil
		w.account("anna")
		w.service.Mail = p
		for _, tt := range []struct{ fails, sent int }{{3, 1}, {4, 0}} {
			p.fails = tt.fails
			status, _ := w.ask("POST", "/auth/forgot", "", `{"email":"anna@example.com"}`)
			require.Equal(t, 202, status)
			var sent []mail.Message
			for range 60 {
				sent = append(sent, w.mails(p)...)
				time.Sleep(time.Minute)
			}
			require.Len(t, sent, tt.sent)
			require.Zero(t, p.fails)
		}
		p.fails = 1
		status, answer := w.ask("POST", "/auth/register", "", `{"email":"anna@example.com","password":"tea under seven lamps","name":"Анна","birthDate":"2000-02-29","gender":"female","language":"ru"}`)
		require.Equal(t, 202, status, answer)
		require.Empty(t, w.mails(p))
		time.Sleep(2 * time.Minute)
		require.Len(t, w.mails(p), 1, "that there is an account, too")
		require.Contains(t, log.String(), "a mail was not sent, and is given up")
		require.NotContains(t, log.String(), "anna@")
	})
}

// TestMove: an account has another address when a mail there was answered, and the old one is told.
// An address that another account has is not told from one that is free.
func TestMove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, p := newMailWorld(t)
		w.Handler = openapitest.New(t, w).Enforce(t, w.Handler)
		w.service.Mail = nil
		_, access, _ := w.account("anna")
		w.account("bob")
		w.service.Mail = p
		move := func(to string) []mail.Message {
			status, answer := w.ask("POST", "/auth/change-email", access,
				`{"password":"tea under seven lamps","email":"`+to+`"}`)
			require.Equal(t, 202, status, answer)
			return w.mails(p)
		}
		sent := move("bob@example.com")
		require.Len(t, sent, 1)
		page, _ := linked(t, sent[0])
		require.Equal(t, "forgot", page, "bob is told, and nobody else")
		sent = move("ann@example.com")
		require.Len(t, sent, 1)
		require.Equal(t, "ann@example.com", sent[0].To)
		_, old := linked(t, sent[0])
		sent = move("anna@example.org")
		page, token := linked(t, sent[0])
		require.Equal(t, "confirm-email", page)
		for _, wrong := range []string{old, strings.Replace(token, "hm_", "hx_", 1)} {
			status, answer := w.ask("POST", "/auth/confirm-email", "", `{"token":"`+wrong+`"}`)
			require.Equal(t, 401, status, answer)
		}
		_, me := w.ask("GET", "/auth/me", access, "")
		require.Equal(t, "anna@example.com", me["email"])
		w.ask("POST", "/auth/forgot", "", `{"email":"anna@example.com"}`)
		_, reset := linked(t, w.mails(p)[0])
		status, answer := w.bounded("confirm-email", "/auth/confirm-email", "", `{"token":"`+token+`"}`)
		require.Equal(t, 204, status, answer)
		status, _ = w.ask("POST", "/auth/confirm-email", "", `{"token":"`+token+`"}`)
		require.Equal(t, 401, status)
		_, me = w.ask("GET", "/auth/me", access, "")
		require.Equal(t, "anna@example.org", me["email"])
		status, _ = w.ask("POST", "/auth/reset", "", `{"token":"`+reset+`","password":"eleven lamps over tea"}`)
		require.Equal(t, 401, status, "a mail at the address of before sets no password")
		require.Empty(t, w.mails(p))
		time.Sleep(2 * time.Minute)
		sent = w.mails(p)
		require.Len(t, sent, 1)
		require.Equal(t, "anna@example.com", sent[0].To)
		for to, want := range map[string]int{"anna@example.com": 401, "anna@example.org": 200} {
			status, _ = w.ask("POST", "/auth/login", "", `{"email":"`+to+`","password":"tea under seven lamps"}`)
			require.Equal(t, want, status, to)
		}
	})
}
