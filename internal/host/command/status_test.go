package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// TestFacts: what somebody must look after is marked, and nothing else.
func TestFacts(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	well := func() Status {
		return Status{
			Version: "1.0", Started: now.Add(-time.Hour), RowsVersion: 7, Store: "a.db",
			FileBytes: 2_500_000, Disk: Room{1000e6, 100e6},
			Queues: []QueueLoad{{"jobs", 3, 0}}, Backups: &Backups{Duration(24 * time.Hour), now.Add(-47 * time.Hour)},
			Swept: now.Add(-71 * time.Hour),
		}
	}
	for _, f := range well().Facts(now) {
		require.Empty(t, f.Alert, f.Name)
	}
	for name, change := range map[string]func(*Status){
		"Free on its disk":                     func(s *Status) { s.Disk.Free-- },
		"Queue jobs":                           func(s *Status) { s.Queues[0].Poison = 1 },
		"Newest backup":                        func(s *Status) { s.Backups.Newest = now.Add(-49 * time.Hour) },
		"Newest backup ":                       func(s *Status) { s.Backups.Every = 0 },
		"Newest backup  ":                      func(s *Status) { s.Backups.Newest = time.Time{} },
		"All rows compared":                    func(s *Status) { s.Swept = now.Add(-73 * time.Hour) },
		"":                                     func(s *Status) { s.Swept = time.Time{} },
		" ":                                    func(s *Status) { s.Backups, s.FileBytes, s.Disk = nil, 0, Room{} },
		"  ":                                   func(s *Status) { s.Started, s.Backups = time.Time{}, nil },
		"   the first backup is being written": func(s *Status) { s.Started, s.Backups.Newest = now, time.Time{} },
	} {
		s := well()
		change(&s)
		var alerts []string
		for _, f := range s.Facts(now) {
			if f.Alert != "" {
				alerts = append(alerts, f.Name)
			}
		}
		if want := trimmed(name); want != "" {
			require.Equal(t, []string{want}, alerts)
		} else {
			require.Empty(t, alerts, name)
		}
	}
	var out bytes.Buffer
	s := well()
	require.NoError(t, s.print(&out, false, now))
	require.NotContains(t, out.String(), "!")
	s.Queues[0].Poison = 2
	require.ErrorIs(t, s.print(&out, false, now), errAlerts)
	require.Contains(t, out.String(), "3 waiting, 2 set aside\n                     ! Read in the log")
	out.Reset()
	require.ErrorIs(t, s.print(&out, true, now), errAlerts)
	var again Status
	require.NoError(t, json.Unmarshal(out.Bytes(), &again))
	require.Equal(t, s, again)
}

// trimmed returns the name of a fact that must be marked, which begins with no space.
func trimmed(name string) string {
	if name == "" || name[0] == ' ' {
		return ""
	}
	for name[len(name)-1] == ' ' {
		name = name[:len(name)-1]
	}
	return name
}

// TestStatusOfARunningService: a command gets it from the process that has the store open, and a
// verification of one moment of the store.
func TestStatusOfARunningService(t *testing.T) {
	t.Parallel()
	s, dir := Service{Name: "asked", Read: func() (Settings, Build, error) { return Settings{}, nil, nil }}, t.TempDir()
	file, err := s.openFile(dir, "", embedded.Open)
	require.NoError(t, err)
	defer file.Close()
	require.NoError(t, file.Tables.Create(t.Context(), "Rows"))
	require.NoError(t, file.Queues.Create(t.Context(), "jobs"))
	_, err = file.Queues.Send(t.Context(), "jobs", "later", time.Hour)
	require.NoError(t, err)
	_, err = file.Tables.Write(t.Context(), "Rows", rowOf("a"), rowOf("b"))
	require.NoError(t, err)
	swept := time.Now().Add(-time.Hour).UTC()
	wrong := errors.New("the table cannot be read")
	var fails error
	r := running{
		service: s, store: file, started: time.Now(),
		app: App{
			Tables: []string{"Rows"}, RowsVersion: 3, Swept: func(context.Context) (time.Time, error) {
				return swept, nil
			},
			Verify: func(ctx context.Context, v View, found func(any), progress func(int)) (int, error) {
				if _, err := v.Tables.Write(ctx, "Rows", rowOf("c")); err == nil {
					return 0, errors.New("a snapshot was written to")
				}
				if _, err := v.Queues.Send(ctx, "jobs", "more", 0); err == nil {
					return 0, errors.New("a snapshot was sent to")
				}
				if texts, err := v.Queues.Peek(ctx, "jobs"); err != nil || !slices.Equal(texts, []string{"later"}) {
					return 0, fmt.Errorf("on the queue is %q: %w", texts, err)
				}
				progress(1)
				found(map[string]string{"row": "b"})
				return 2, fails
			},
		},
		backups: &backups{dir: dir, snapshot: file.Snapshot, one: make(chan struct{}, 1), within: time.Minute},
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.serveCommands(ctx, dir, r, slog.New(slog.DiscardHandler)) }()
	defer func() { stop(); require.NoError(t, <-ended) }()
	require.Eventually(t, func() bool { _, err := s.statusOf(t.Context(), dir, false); return err == nil },
		time.Minute, 10*time.Millisecond)

	st, err := s.statusOf(t.Context(), dir, false)
	require.NoError(t, err)
	require.Equal(t, 3, st.RowsVersion)
	require.Equal(t, file.Where, st.Store)
	require.Positive(t, st.FileBytes)
	require.Positive(t, st.Disk.Size)
	require.WithinDuration(t, swept, st.Swept, 0)
	require.Equal(t, &Backups{}, st.Backups, "it was not told to write any")
	require.Empty(t, st.Tables)
	st, err = s.statusOf(t.Context(), dir, true)
	require.NoError(t, err)
	require.Equal(t, []Count{{"Rows", 2}}, st.Tables)

	var seen []string
	verify := func() (int, error) {
		return s.AskVerify(t.Context(), dir, func(m json.RawMessage) error {
			seen = append(seen, string(m))
			return nil
		}, func(int) {})
	}
	n, err := verify()
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, []string{`{"row":"b"}`}, seen)
	fails = wrong
	_, err = verify()
	require.EqualError(t, err, wrong.Error())
	r.backups.one <- struct{}{}
	_, err = verify()
	require.ErrorContains(t, err, "(BACKUP_RUNNING)")
}

// TestWorkForACommand: the process does it, and what it writes comes to the streams of the command.
// When either of both goes away, the other one hears of it.
func TestWorkForACommand(t *testing.T) {
	t.Parallel()
	s, dir := Service{Name: "asked"}, t.TempDir()
	file, err := s.openFile(dir, "", embedded.Open)
	require.NoError(t, err)
	defer file.Close()
	began, ended := make(chan struct{}), make(chan error, 1)
	r := running{service: s, store: file, app: App{Asked: map[string]Action{
		"greet": func(_ context.Context, std Streams, args []string) error {
			fmt.Fprintf(std.Out, "hello %q\n", args)
			fmt.Fprintln(std.Err, "by the process")
			if len(args) == 0 {
				return errors.New("nobody is there")
			}
			return nil
		},
		"wait": func(ctx context.Context, _ Streams, _ []string) error {
			began <- struct{}{}
			<-ctx.Done()
			ended <- ctx.Err()
			return ctx.Err()
		},
	}}}
	l, err := s.listenForCommands(dir)
	require.NoError(t, err)
	server := newServer(r.answers(), slog.New(slog.DiscardHandler))
	requests, stop := context.WithCancel(t.Context())
	server.BaseContext = func(net.Listener) context.Context { return requests }
	go server.Serve(l)
	defer server.Close()
	ask := func(ctx context.Context, name string, args ...string) (string, string, error) {
		var out, errs bytes.Buffer
		err := s.AskTo(ctx, dir, Streams{Out: &out, Err: &errs}, name, args...)
		return out.String(), errs.String(), err
	}
	out, errs, err := ask(t.Context(), "greet", "ann", "cook|7 & \"x\"")
	require.NoError(t, err)
	require.Equal(t, `hello ["ann" "cook|7 & \"x\""]`+"\n", out)
	require.Equal(t, "by the process\n", errs)
	out, _, err = ask(t.Context(), "greet")
	require.EqualError(t, err, "nobody is there")
	require.Equal(t, "hello []\n", out)
	_, _, err = ask(t.Context(), "sing")
	require.ErrorContains(t, err, "404 Not Found; is it of the same version?")

	ctx, leave := context.WithCancel(t.Context())
	go func() { <-began; leave() }()
	_, _, err = ask(ctx, "wait")
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, <-ended, context.Canceled)
	go func() { <-began; stop() }()
	_, _, err = ask(t.Context(), "wait")
	require.EqualError(t, err, "the process that has the store open ends; run the same command again")
	<-ended
}

// TestSettingsOfOperators: a mistake in them is told.
func TestSettingsOfOperators(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"METRICS_ADDR", ":9464", "127.0.0.1:9464"},
		{"METRICS_ADDR", "0.0.0.0:9464", "0.0.0.0:9464"},
		{"METRICS_ADDR", "[::1]:0", "[::1]:0"},
		{"METRICS_ADDR", "9464", ""},
		{"METRICS_ADDR", "127.0.0.1:http", ""},
		{"METRICS_ADDR", "127.0.0.1:70000", ""},
		{"LOG_FORMAT", "json", "json"},
		{"LOG_FORMAT", "text", "text"},
		{"LOG_FORMAT", "JSON", ""},
	} {
		t.Run(c.name+" "+c.value, func(t *testing.T) {
			t.Setenv(c.name, c.value)
			var s Settings
			err := ReadSettings(&s)
			got := string(s.Metrics)
			if c.name == "LOG_FORMAT" {
				got = string(s.LogFormat)
			}
			if c.want == "" {
				r := (*auth.Refusal)(nil)
				require.ErrorAs(t, err, &r)
				require.Equal(t, c.name, r.Setting)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	var out bytes.Buffer
	slog.New(LogFormat("json").handler(&out, slog.LevelInfo)).Info("x")
	require.True(t, json.Valid(out.Bytes()), out.String())
}

// silent is a store that answers nothing while it is held up.
type silent struct {
	table.DB
	held chan struct{}
}

func (s silent) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	<-s.held
	return s.DB.Get(ctx, name, key)
}

// TestPulse: a process whose store has answered nothing for too long ends, and one whose store is
// held up by a backup does not. Systemd hears of it only while the store answers.
func TestPulse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var mu sync.Mutex
		var all []string
		p := &pulse{notify: func(state string) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, state)
		}}
		told := func() []string {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		store := silent{memory.NewTables(), make(chan struct{})}
		var stuck atomic.Pointer[time.Time]
		go guard(ctx, p.moves, stillAfter, func() { now := time.Now(); stuck.Store(&now) })
		go p.beat(ctx, store)
		time.Sleep(backupWithin)
		require.Equal(t, []string{"READY=1"}, told())
		store.held <- struct{}{} // the backup has ended
		time.Sleep(lookEvery)
		store.held <- struct{}{}
		require.Equal(t, []string{"READY=1", "WATCHDOG=1", "WATCHDOG=1"}, told())
		began := time.Now()
		time.Sleep(stillAfter - time.Second)
		synctest.Wait()
		require.Nil(t, stuck.Load())
		time.Sleep(3 * lookEvery)
		synctest.Wait()
		require.WithinRange(t, *stuck.Load(), began.Add(stillAfter-lookEvery), began.Add(stillAfter+2*lookEvery))
		close(store.held)
		stop()
		require.Equal(t, "STOPPING=1", told()[len(told())-1])
	})
}
