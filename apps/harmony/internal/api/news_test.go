package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/letters"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/host/function"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/calls"
)

// news lets the timer and the jobs of mails do their work once things have waited long enough, and
// returns the texts that were sent to whom.
func (w *world) news(p *postman) map[string]string {
	w.t.Helper()
	time.Sleep(16 * time.Minute)
	require.NoError(w.t, w.service.NewsTrigger().Run(w.t.Context(), function.Invocation{}))
	texts := map[string]string{}
	for _, m := range w.mails(p) {
		require.NotContains(w.t, texts, m.To, "one mail for all")
		texts[m.To] = m.Subject + "\n" + m.Text
		require.NotContains(w.t, m.Text, "Анна", "no mail says who")
	}
	return texts
}

// TestEventsByMail: attendees of an event hear by mail that it is cancelled, or is elsewhere or at
// another time, by its clocks and as it is then. No other change is told, and no one else hears.
func TestEventsByMail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, p := newMailWorld(t)
		w.service.Mail = nil
		anna, annas, _ := w.account("anna")
		_, bobs, _ := w.account("bob")
		_, carols, _ := w.account("carol")
		_, err := w.service.SetRole(t.Context(), "bob@example.com", meet.Admin)
		require.NoError(t, err)
		w.service.Mail = p
		event := `{"title":"Концерт","description":"","startDate":"2026-12-31T20:00","timeZone":"Europe/Moscow","location":"Лужники","category":"concert","visibility":"public","isPublished":true,"capacity":1}`
		id := w.event(bobs, event)
		status, answer := w.ask("POST", "/events/"+id+"/register", annas, `{}`)
		require.Equal(t, 201, status, answer)
		status, answer = w.ask("POST", "/events/"+id+"/wait", carols, `{}`)
		require.Equal(t, 201, status, answer)
		change := func(from, to string) map[string]string {
			_, in := w.ask("POST", "/auth/login", "", `{"email":"bob@example.com","password":"tea under seven lamps"}`)
			event = strings.Replace(event, from, to, 1)
			status, answer := w.ask("PUT", "/admin/events/"+id, in["accessToken"].(string), event)
			require.Equal(t, 200, status, answer)
			w.background.Wait()
			w.settleLists()
			return w.news(p)
		}
		require.Empty(t, change(`"description":""`, `"description":"!"`))
		texts := change("T20:00", "T21:30")
		require.Len(t, texts, 1)
		require.Contains(t, texts["anna@example.com"], "• Концерт: 31.12.2026 21:30 (Europe/Moscow), Лужники\n")
		texts = change("isPublished", "isCancelled\":true,\"isPublished")
		require.Contains(t, texts["anna@example.com"], "• Концерт: отменено\n")
		require.Empty(t, w.news(p))
		require.Empty(t, w.waitingRows(), "one who waits for a place attends not")

		// An event that changes again while the mail is written is told next time.
		w.service.DB = &calls.Rival{
			DB: w.service.DB, Before: calls.WritesTo(w.service.Tables.UserPreferences), Do: func() {
				require.NoError(t, w.service.EventChanged(t.Context(), anna, letters.EventChange{
					ID: id, Title: "Снова", Start: time.Now(),
				}))
			},
		}
		require.Contains(t, change("T21:30", "T22:30")["anna@example.com"], "• Концерт: отменено\n")
		time.Sleep(24 * time.Hour) // three mails a day
		require.Contains(t, w.news(p)["anna@example.com"], "• Снова: ")
	})
}

// waitingRows returns the keys of rows about members for whom there is news.
func (w *world) waitingRows() (keys []string) {
	w.t.Helper()
	page, err := w.service.DB.List(w.t.Context(), w.service.Tables.Mails,
		table.Range{Partition: account.WaitRows}, 100, "")
	require.NoError(w.t, err)
	for _, row := range page.Rows {
		keys = append(keys, row.Key.Row)
	}
	return keys
}

// settleLists has the jobs of events done.
func (w *world) settleLists() {
	w.t.Helper()
	for {
		list, err := w.service.Queues.Receive(w.t.Context(), meet.QueueLists, queue.MaxReceive, time.Second)
		require.NoError(w.t, err)
		if len(list) == 0 {
			return
		}
		for _, m := range list {
			require.NoError(w.t, w.service.Triggers(w.events.Settlers()...)[0].Run(w.t.Context(),
				function.Invocation{Text: m.Text, Inserted: m.Inserted}))
			require.NoError(w.t, w.service.Queues.Delete(w.t.Context(), meet.QueueLists, m.Receipt))
		}
	}
}

// TestNewsByMail: one mail tells a member of likes, matches and messages that waited, once, not
// while they are here, three times a day at most, and none who does not want it. No mail tells of a
// secret like.
func TestNewsByMail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, p := newMailWorld(t)
		w.service.Mail = nil
		anna, annas, refresh := w.account("anna")
		bob, bobs, _ := w.account("bob")
		_, carols, _ := w.account("carol")
		w.service.Mail = p
		renew := func(token *string) {
			status, answer := w.ask("POST", "/auth/login", "",
				`{"email":"`+map[*string]string{&annas: "anna", &bobs: "bob", &carols: "carol"}[token]+
					`@example.com","password":"tea under seven lamps"}`)
			require.Equal(t, 200, status, answer)
			*token = answer["accessToken"].(string)
		}
		status, _ := w.ask("PUT", "/settings/privacy", annas, `{"profileVisibility":"public","anonymousLikes":false,"language":"ru","notificationsEnabled":true,"emailNotifications":true}`)
		require.Equal(t, 200, status)
		require.Empty(t, w.news(p), "there is nothing")
		renew(&bobs)
		renew(&carols)
		status, _ = w.ask("POST", "/likes", carols, `{"toUserId":"`+anna+`","anonymous":true}`)
		require.Equal(t, 201, status)
		require.Empty(t, w.news(p), "a secret like is told by no mail")
		renew(&bobs)
		status, _ = w.ask("POST", "/likes", bobs, `{"toUserId":"`+anna+`"}`)
		require.Equal(t, 201, status)
		texts := w.news(p)
		require.Len(t, texts, 1)
		require.Contains(t, texts["anna@example.com"], "Пока вас не было: 1 новый лайк.")
		require.Empty(t, w.news(p), "it is told once")

		renew(&annas)
		_, like := w.ask("POST", "/likes", annas, `{"toUserId":"`+bob+`"}`)
		chat := "/chats/" + like["chatId"].(string) + "/messages"
		renew(&annas)
		status, _ = w.ask("POST", chat, annas, `{"content":"Ты на концерте?"}`)
		require.Equal(t, 201, status)
		texts = w.news(p)
		require.Contains(t, texts["bob@example.com"], "1 новая пара, новые сообщения в 1 чате.")

		renew(&bobs)
		status, _ = w.ask("POST", chat, bobs, `{"content":"Да"}`)
		require.Equal(t, 201, status)
		time.Sleep(12 * time.Minute)
		status, answer := w.ask("POST", "/auth/refresh", "", `{"refreshToken":"`+refresh+`"}`)
		require.Equal(t, 200, status, answer)
		time.Sleep(4 * time.Minute) // the message waits for 16 minutes, and she is here
		status, _ = w.ask("GET", "/auth/me", answer["accessToken"].(string), "")
		require.Equal(t, 200, status)
		w.background.Wait()
		require.NoError(t, w.service.NewsTrigger().Run(t.Context(), function.Invocation{}))
		require.Empty(t, w.mails(p), "she is here")
		texts = w.news(p)
		require.Contains(t, texts["anna@example.com"], "новые сообщения в 1 чате", "she has left without reading it")

		for range 3 {
			renew(&bobs)
			time.Sleep(time.Second)
			_, _ = w.ask("POST", chat, bobs, `{"content":"Да"}`)
			texts = w.news(p)
		}
		require.Empty(t, texts, "three a day")
		// A message that comes while the mail is written is told by the next one.
		db, once := w.service.DB, false
		w.service.DB = calls.Tables(db, func(ctx context.Context, c calls.Call) error {
			if !once && strings.Contains(c.Label, account.WaitRows+".. "+anna+"_") {
				once = true
				renew(&bobs)
				time.Sleep(time.Second)
				status, _ := w.ask("POST", chat, bobs, `{"content":"Ещё"}`)
				require.Equal(t, 201, status)
				time.Sleep(time.Second)
			}
			_, err := c.Do(ctx)
			return err
		})
		time.Sleep(24 * time.Hour)
		texts = w.news(p)
		require.Contains(t, texts["anna@example.com"], "новые сообщения в 1 чате", "what came after them")
		require.True(t, once)
		w.service.DB = db
		texts = w.news(p)
		require.Contains(t, texts["anna@example.com"], "новые сообщения в 1 чате")
		_, link, found := strings.Cut(texts["anna@example.com"], "писем: https://harmony.example")
		require.True(t, found, texts)
		link = strings.TrimSpace(link)
		pages := w.pages(httpjson.NewAdmission(httpjson.Limits{}, time.Now))
		press := func(link string) (int, string) { // as a mail program does, of no site and without a session
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, link,
				strings.NewReader("List-Unsubscribe=One-Click"))
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			rec := httptest.NewRecorder()
			pages.ServeHTTP(rec, r)
			return rec.Code, rec.Body.String()
		}
		status, _ = press(link[:len(link)-1] + "x")
		require.Equal(t, 422, status)
		status, page := press(link)
		require.Equal(t, 200, status, "a redirect is no answer, by RFC 8058")
		require.Contains(t, page, "Писем о новом больше не будет.")
		renew(&bobs)
		_, _ = w.ask("POST", chat, bobs, `{"content":"Да"}`)
		require.Empty(t, w.news(p))
		renew(&annas)
		_, settings := w.ask("GET", "/settings", annas, "")
		require.Equal(t, false, settings["privacy"].(map[string]any)["emailNotifications"])
	})
}
