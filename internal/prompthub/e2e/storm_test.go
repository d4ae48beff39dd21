package e2e

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStorm lets 64 voters vote on one prompt without pause. The author's changes are answered with
// success all the same, at the first try: a change waits for at most two seconds before it answers
// 503.
func TestStorm(t *testing.T) {
	t.Parallel()
	work(t)
	a := startLocal(t, "embedded")
	ann := user{t: t, url: a.url(), name: "ann"}
	p := ann.create("Eye of the storm")
	stop := make(chan struct{})
	var votes atomic.Int64
	var wg sync.WaitGroup
	for v := range 64 {
		wg.Go(func() {
			u := user{t: t, url: a.url(), name: fmt.Sprintf("voter %d", v)}
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				status, _, err := u.try("PUT", "/prompts/"+p.ID+"/vote",
					map[string]string{"value": []string{"like", "none", "dislike"}[i%3]}, nil)
				if err != nil || status != 200 && status != 404 {
					t.Errorf("vote: %d, %v", status, err)
					return
				}
				votes.Add(1)
			}
		})
	}
	for range 5 {
		ann.do(200, "PATCH", "/prompts/"+p.ID, map[string]string{"visibility": "private"}, nil, "If-Match", "*")
		require.Empty(t, user{t: t, url: a.url(), name: "bob"}.walk("/prompts?sort=most-liked", func() {}))
		require.Empty(t, user{t: t, url: a.url(), name: "bob"}.walk("/prompts?q=storm&tag=text", func() {}))
		ann.do(200, "PATCH", "/prompts/"+p.ID, map[string]string{"visibility": "public"}, nil, "If-Match", "*")
		require.Len(t, user{t: t, url: a.url(), name: "bob"}.walk("/prompts?sort=newest", func() {}), 1)
	}
	ann.do(204, "DELETE", "/prompts/"+p.ID, nil, nil)
	require.Empty(t, user{t: t, url: a.url(), name: "bob"}.walk("/prompts?sort=newest", func() {}))
	ann.do(200, "POST", "/prompts/"+p.ID+"/restore", nil, nil)
	close(stop)
	wg.Wait()
	t.Logf("%d votes", votes.Load())
	require.Greater(t, votes.Load(), int64(64))
	finish(t, a)
}
