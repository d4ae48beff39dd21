package httpjson

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestPause: a request that waits for something else than the processor gives its turn to others,
// is charged for nothing meanwhile, and goes on once there is a turn again.
func TestPause(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := NewAdmission(Limits{Reads: 100, ReadBurst: 500, Writes: 20, WriteBurst: 100}, time.Now)
		var done sync.WaitGroup
		at, paused, began := 0, make(chan struct{}), make(chan struct{})
		request := func(left string, do func(ctx context.Context)) {
			r := httptest.NewRequest(http.MethodPost, "/", nil)
			r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1", at)
			at++
			done.Go(func() {
				Observer{Log: slog.New(slog.DiscardHandler), Now: time.Now}.Observe(
					http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						c := CallerOf(r, "")
						assert.NoError(t, a.Admit(r.Context(), w.Header(), c, true))
						leave, err := a.Enter(r.Context(), c)
						if assert.NoError(t, err) {
							do(r.Context())
							leave()
							assert.Equal(t, left, w.Header().Get("RateLimit-Remaining"))
						}
					})).ServeHTTP(httptest.NewRecorder(), r)
			})
		}
		for range cap(a.turns) {
			request("99", func(ctx context.Context) {
				resume := Pause(ctx)
				<-paused
				resume()
			})
		}
		synctest.Wait()
		require.Empty(t, a.turns)
		for range cap(a.turns) {
			request("95", func(context.Context) { <-began }) // a second of work of which each has its part
		}
		synctest.Wait()
		require.Len(t, a.turns, cap(a.turns), "others have all turns")
		time.Sleep(time.Second)
		close(paused)
		synctest.Wait()
		close(began)
		done.Wait()
		require.Empty(t, a.turns)
		Pause(t.Context())()
	})
}
