package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/table"
)

// answering is a service that answers who asks for a backup of a store.
func answering(t *testing.T, within time.Duration, write Backup) (s Service, dir string, file *embedded.Store) {
	t.Helper()
	s, dir = Service{Name: "asked"}, t.TempDir()
	file, err := embedded.Open(s.storeFile(dir), time.Now)
	require.NoError(t, err)
	require.NoError(t, file.Tables.Create(t.Context(), "Rows"))
	st := s.storeOf(file, dir, "")
	stop := answer(t, dir, running{
		service: s, store: st,
		backups: &backups{dir: dir, snapshot: st.Snapshot, write: write, one: make(chan struct{}, 1), within: within},
	})
	t.Cleanup(func() {
		stop()
		require.NoError(t, file.Close())
	})
	return s, dir, file
}

// answer has a process that has the store in dir open answer commands until stop.
func answer(t *testing.T, dir string, r running) (stop func()) {
	t.Helper()
	l, err := r.service.listenForCommands(dir)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- serve(ctx, l, r.answers(), slog.New(slog.DiscardHandler)) }()
	return func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoFileExists(t, r.service.socketFile(dir))
	}
}

func unheard(backup.Count) {}

// rowOf is a row that fills pages.
func rowOf(name string) table.Op {
	return table.Op{
		Kind: table.Insert,
		Row: table.Row{
			Key:   table.Key{Partition: "p", Row: name},
			Props: table.Props{{Name: "Text", Value: table.String(strings.Repeat("x", 30_000))}},
		},
	}
}

func names(ctx context.Context, tables table.DB, w io.Writer) error {
	for row, err := range table.All(ctx, tables, "Rows", table.Range{}) {
		if err != nil {
			return err
		}
		fmt.Fprintln(w, row.Row)
	}
	return nil
}

// TestBackupIsOfOneMoment: rows written while it is made are not in it.
func TestBackupIsOfOneMoment(t *testing.T) {
	t.Parallel()
	var s Service
	var dir string
	var file *embedded.Store
	s, dir, file = answering(t, 10*time.Second,
		func(ctx context.Context, v View, w io.Writer, r backup.Reports) (backup.Count, error) {
			later := rowOf("later")
			later.Kind = table.Upsert
			if _, err := file.Tables.Write(ctx, "Rows", later); err != nil {
				return backup.Count{}, err
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "backup-*")); len(left) > 0 && runtime.GOOS != "windows" {
				return backup.Count{}, errors.New("a kill would leave " + left[0])
			}
			if _, err := v.Tables.Write(ctx, "Rows", rowOf("none")); err == nil {
				return backup.Count{}, errors.New("a snapshot was written to")
			}
			r.Left("a row")
			return backup.Count{Rows: 1}, names(ctx, v.Tables, w)
		})
	_, err := file.Tables.Write(t.Context(), "Rows", rowOf("before"))
	require.NoError(t, err)
	room := make([]table.Op, 40) // for rows written meanwhile: else they wait until the file may be mapped anew
	for i := range room {
		room[i] = rowOf(fmt.Sprint("room ", i))
	}
	_, err = file.Tables.Write(t.Context(), "Rows", room...)
	require.NoError(t, err)
	for i, op := range room {
		room[i] = table.Op{Kind: table.Delete, Row: table.Row{Key: op.Row.Key, ETag: table.Any}}
	}
	_, err = file.Tables.Write(t.Context(), "Rows", room...)
	require.NoError(t, err)
	info, err := os.Stat(s.socketFile(dir))
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.EqualValues(t, 0o600, info.Mode().Perm())
	}
	var out bytes.Buffer
	said, err := s.AskBackup(t.Context(), dir, &out, unheard)
	require.NoError(t, err)
	written, err := io.ReadAll(backup.Unseal(&out))
	require.NoError(t, err)
	require.Equal(t, "before\n", string(written))
	require.Equal(t, Backed{Count: backup.Count{Rows: 1}, Left: 1, LeftOut: []string{"a row"}}, said)
	files, err := filepath.Glob(filepath.Join(dir, "backup-*"))
	require.NoError(t, err)
	require.Empty(t, files)

	_, err = s.AskBackup(t.Context(), dir, io.Discard, unheard)
	require.NoError(t, err, "the first one has ended")
}

// TestSlowBackupKeepsNoWriteWaiting: a client that takes a backup slowly does not hold up writes,
// also where the file outgrows its mapping.
func TestSlowBackupKeepsNoWriteWaiting(t *testing.T) {
	t.Parallel()
	s, dir, file := answering(t, 10*time.Second,
		func(_ context.Context, _ View, w io.Writer, _ backup.Reports) (backup.Count, error) {
			_, err := io.WriteString(w, strings.Repeat(strings.Repeat(" ", 1023)+"\n", 32<<10))
			return backup.Count{Rows: 1}, err
		})
	conn, err := net.Dial("unix", s.socketFile(dir))
	require.NoError(t, err)
	defer conn.Close()
	fmt.Fprint(conn, "GET /backup HTTP/1.1\r\nHost: store\r\n\r\n")
	_, err = conn.Read(make([]byte, 1)) // it has begun to come
	require.NoError(t, err)
	for batch := range 20 {
		ops := make([]table.Op, 40)
		for i := range ops {
			ops[i] = rowOf(fmt.Sprint(batch, " ", i))
		}
		_, err := file.Tables.Write(t.Context(), "Rows", ops...)
		require.NoError(t, err)
	}
	_, err = s.AskBackup(t.Context(), dir, io.Discard, unheard)
	require.EqualError(t, err, "another backup is being made; ask again when it has ended (BACKUP_RUNNING)")
}

// lines are empty ones.
type lines struct{}

func (lines) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '\n'
	}
	return len(b), nil
}

// TestBackupRefused: the caller is told why there is none, and what to do.
func TestBackupRefused(t *testing.T) {
	t.Parallel()
	for want, write := range map[string]Backup{
		"stop the service and back up then: context deadline exceeded (BACKUP_TOO_SLOW)": func(ctx context.Context,
			_ View, _ io.Writer, _ backup.Reports,
		) (backup.Count, error) {
			<-ctx.Done()
			return backup.Count{}, ctx.Err()
		},
		"restore an older backup if the store is damaged, and ask again: damaged (BACKUP_FAILED)": func(context.Context,
			View, io.Writer, backup.Reports,
		) (backup.Count, error) {
			return backup.Count{}, errors.New("damaged")
		},
	} {
		s, dir, _ := answering(t, time.Millisecond, write)
		_, err := s.AskBackup(t.Context(), dir, io.Discard, unheard)
		require.ErrorContains(t, err, want)
	}
	// as if the directory had gone; a socket that is open stays
	s, dir, _ := answering(t, time.Minute, nothing)
	require.NoError(t, os.Rename(dir, dir+".gone"))
	_, err := s.AskBackup(t.Context(), dir+".gone", io.Discard, unheard)
	require.ErrorContains(t, err, "let the service write there, and ask again")
	require.ErrorContains(t, err, "(BACKUP_NO_ROOM)")
}

func nothing(context.Context, View, io.Writer, backup.Reports) (backup.Count, error) {
	return backup.Count{}, nil
}

// TestBackupCutOff: a file that did not come whole is no backup.
func TestBackupCutOff(t *testing.T) {
	t.Parallel()
	s, dir := Service{Name: "asked"}, t.TempDir()
	l, err := s.listenForCommands(dir)
	require.NoError(t, err)
	server := http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		send(w, Backed{}, io.MultiReader(io.LimitReader(lines{}, 3*sendBytes), broken{}))
	}), ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	go server.Serve(l)
	defer server.Close()
	_, err = s.AskBackup(t.Context(), dir, io.Discard, unheard)
	require.ErrorContains(t, err, "the backup was cut off")
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("broken") }

// TestSocketOfBackups: one that a killed process has left is in no later one's way, and where there
// can be none both sides say why.
func TestSocketOfBackups(t *testing.T) {
	t.Parallel()
	s, dir := Service{Name: "asked"}, t.TempDir()
	left, err := net.Listen("unix", s.socketFile(dir))
	require.NoError(t, err)
	left.(*net.UnixListener).SetUnlinkOnClose(false)
	require.NoError(t, left.Close())
	_, err = s.AskBackup(t.Context(), dir, io.Discard, unheard)
	require.ErrorContains(t, err, "the process that has the store open answers no command at "+s.socketFile(dir))
	require.ErrorContains(t, err, "end it, and try again then")
	l, err := s.listenForCommands(dir)
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, os.WriteFile(s.socketFile(dir), nil, 0o600))
	_, err = s.listenForCommands(dir)
	require.EqualError(t, err, s.socketFile(dir)+" is no socket; move it away")

	long := filepath.Join(dir, strings.Repeat("long", 30))
	_, err = s.listenForCommands(long)
	require.ErrorContains(t, err, "give --data a shorter one")
	_, err = s.AskBackup(t.Context(), long, io.Discard, unheard)
	require.ErrorContains(t, err, "answers no command")
}
