package command

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A guarded watchdog, and requests that end when they are told to, of which an empty address
// panics.
func guarded(t *testing.T) (d *watchdog, ask func() (end func()), stuck *atomic.Pointer[time.Time]) {
	t.Helper()
	d, stuck = new(watchdog), new(atomic.Pointer[time.Time])
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	go guard(ctx, d.moves, StuckAfter, func() { now := time.Now(); stuck.Store(&now) })
	ask = func() func() {
		done := make(chan struct{})
		h := d.watch(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			<-done
			panic(http.ErrAbortHandler)
		}))
		go func() {
			defer func() { _ = recover() }()
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody))
		}()
		return func() { close(done); synctest.Wait() }
	}
	return d, ask, stuck
}

func TestWatchdogEndsWhatHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, ask, stuck := guarded(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Nil(t, stuck.Load(), "nothing is asked, so nothing hangs")
		began := time.Now()
		defer ask()()
		defer ask()()
		time.Sleep(StuckAfter - time.Second)
		synctest.Wait()
		require.Nil(t, stuck.Load())
		time.Sleep(2 * lookEvery)
		synctest.Wait()
		require.WithinRange(t, *stuck.Load(), began.Add(StuckAfter), began.Add(StuckAfter+lookEvery))
	})
}

func TestWatchdogLetsWorkGoOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		_, ask, stuck := guarded(t)
		defer ask()() // one that never ends
		for range 20 {
			end := ask()
			time.Sleep(StuckAfter - 2*lookEvery)
			end()
		}
		synctest.Wait()
		require.Nil(t, stuck.Load(), "others were finished")
	})
}

func TestHungEndsTheProcess(t *testing.T) {
	t.Parallel()
	if os.Getenv("TEST_HUNG") != "" {
		hung(slog.New(slog.NewJSONHandler(os.Stdout, nil)), "as a test says")
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHungEndsTheProcess$")
	cmd.Env = append(os.Environ(), "TEST_HUNG=1")
	out, err := cmd.Output()
	var exit *exec.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, Failed, exit.ExitCode())
	require.Contains(t, string(out), "TestHungEndsTheProcess", "the log says what every goroutine does")
}
