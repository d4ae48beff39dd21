package api_test

import (
	"net/http"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/apptest"
)

// TestChangesSentTwice: each change that needs no body is done once and answered as one that was
// done, although the host sends it to a second handler because the first one was killed.
func TestChangesSentTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOfToday(t)
		rows := func() string {
			time.Sleep(time.Second) // for all that follows the answer
			synctest.Wait()
			return apptest.Rows(t, w.people.DB, rowstore.DefaultTables[schema.Tables]().All()...)
		}
		direct, sent := w.Handler, map[string]bool{}
		// There is no invitation, request, membership or session any more.
		refused := regexp.MustCompile(`/(accept|decline|approve|reject|members/me|users/me|logout)$`)
		secret := regexp.MustCompile(`/(resend|links)$`)
		through := apptest.Twice(t, direct, rows, func(r *http.Request) bool {
			return refused.MatchString(r.URL.Path) || secret.MatchString(r.URL.Path)
		})
		do := func(c step) {
			sent[c.id] = sent[c.id] || c.body == ""
			w.Handler = through
			status, answer := w.ask(c.method, c.path, c.token, c.body, "Idempotency-Key", c.key)
			w.Handler = direct
			require.Equal(t, c.status, status, "%s: %v", c.id, answer)
		}
		w.story(do)
		_, fred, _ := w.person(number(400), "Fred")
		do(step{"logout", "POST", "/auth/logout", fred, "", 204, ""})
		for _, id := range openapitest.New(t, direct).Bare() {
			require.True(t, sent[id], "%s is not sent", id)
		}
		time.Sleep(time.Second) // until nothing waits for more votes
	})
}
