package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/api"
)

// TestNoEditIsLost lets many edit one prompt at the same time, each on top of what he read.
func TestNoEditIsLost(t *testing.T) {
	t.Parallel()
	editors := 50
	if testing.Short() { // each edit is tried again as often as others come first
		editors = 15
	}
	w := newRealWorld(t, func(c *api.Config) {
		c.Admission = httpjson.NewAdmission(httpjson.Limits{AtWork: 8 * editors}, c.Now)
	})
	ann := w.as("Ann")
	path := prompts + "/" + ann.create("Shared").ID
	ann.do(http.MethodPatch, path, `{"text":"unconditional"}`).problem(428)

	var wg sync.WaitGroup
	for i := range editors {
		wg.Go(func() {
			a := ann.get(path)
			for tries := 0; ; tries++ {
				text, tag := a.prompt().Text, a.header.Get("ETag")
				next := ann.do(http.MethodPatch, path, fmt.Sprintf(`{"text":%q}`, text+fmt.Sprintf("\nline %d.", i)),
					"If-Match", tag)
				if next.status == http.StatusOK {
					return
				}
				if next.status != http.StatusPreconditionFailed && next.status != http.StatusServiceUnavailable ||
					tries > 1000 {
					t.Errorf("edit %d: %d %s", i, next.status, next.body)
					return
				}
				a = ann.get(path)
			}
		})
	}
	wg.Wait()
	got := ann.get(path).is(200).prompt()
	require.EqualValues(t, 1+editors, got.Revision)
	lines := strings.Split(got.Text, "\n")[1:]
	slices.Sort(lines)
	require.Len(t, slices.Compact(lines), editors)
}

// TestReplays sends the same creation many times at once.
func TestReplays(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	ann := w.as("Ann")
	post := func(p person, title string) answer {
		return p.do(http.MethodPost, prompts, draft(title), "Idempotency-Key", "the-key")
	}
	answers := make([]answer, 20)
	var wg sync.WaitGroup
	for i := range answers {
		wg.Go(func() { answers[i] = post(ann, "Once") })
	}
	wg.Wait()
	made := map[int]int{}
	for _, a := range answers {
		made[a.status]++
		require.Equal(t, answers[0].prompt().ID, a.prompt().ID)
	}
	require.Equal(t, map[int]int{201: 1, 200: 19}, made)
	require.Equal(t, []string{"Once"}, ann.get("/api/v1/me/prompts").titles())
	post(ann, "Another").problem(422)
	other := post(w.as("Bob"), "Once").is(201)
	require.NotEqual(t, answers[0].prompt().ID, other.prompt().ID)
}
