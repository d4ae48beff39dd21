package api_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/apptest"
)

// TestChangesSentTwice: each change that needs no body is done once and answered as one that was
// done, although the host sends it to a second handler because the first one was killed.
func TestChangesSentTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStory(t, newWorldOfToday(t))
		names := slices.Concat(
			meettest.Tables.All(), meettest.EventTables.All(), meettest.ForumTables.All(), rowstore.DefaultTables[reports.Tables]().All(),
			rowstore.DefaultTables[shop.Tables]().All(), rowstore.DefaultTables[blog.Tables]().All(),
		)
		rows := func() string {
			s.background.Wait()
			return apptest.Rows(t, s.service.DB, names...)
		}
		h := s.Handler
		s.Handler = apptest.Twice(t, h, rows, func(r *http.Request) bool {
			return strings.HasSuffix(r.URL.Path, "/logout") // the session is not known any more
		})
		sent := map[string]bool{}
		tell := func(c request, _ cost) { sent[c.id] = sent[c.id] || c.body == "" }
		s.run(s.requests(), tell)
		_, eve, _ := s.account("eve")
		s.run([]request{{"logout", "POST", "/auth/logout", eve, "", 204}}, tell)
		for _, id := range openapitest.New(t, h).Bare() {
			require.True(t, sent[id], "%s is not sent", id)
		}
	})
}
