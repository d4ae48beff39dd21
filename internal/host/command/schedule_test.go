package command

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/backup"
)

// scheduled returns a schedule into a new folder, whose backups are what says tells, and its log.
func scheduled(t *testing.T, every time.Duration, keep int, says func(w io.Writer) error) (schedule, *bytes.Buffer) {
	log := &bytes.Buffer{}
	return schedule{
		backupPlan: backupPlan{into: t.TempDir(), every: every, keep: keep},
		backups: &backups{
			snapshot: func(do func(View) error) error { return do(View{}) },
			write: func(_ context.Context, _ View, w io.Writer, _ backup.Reports) (backup.Count, error) {
				return backup.Count{Rows: 1}, says(w)
			},
			one: make(chan struct{}, 1), within: time.Minute,
		},
		name: "hub", log: slog.New(slog.NewTextHandler(log, nil)),
	}, log
}

func writesX(w io.Writer) error {
	_, err := io.WriteString(w, "x\n")
	return err
}

// in returns the names of the files of a folder.
func in(t *testing.T, dir string) (names []string) {
	t.Helper()
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range all {
		names = append(names, f.Name())
	}
	return names
}

// runs has a schedule run for some time.
func (s schedule) runs(t *testing.T, how time.Duration) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), how)
	defer stop()
	require.NoError(t, s.run(ctx))
}

// TestScheduleKeepsTheNewest: a backup at once and one after each interval, also over a restart,
// of which the newest stay. Other files stay, and so does one that a command writes at the moment;
// what a kill has left of a backup goes.
func TestScheduleKeepsTheNewest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, log := scheduled(t, 24*time.Hour, 3, writesX)
		for _, name := range []string{
			"hub-notes.jsonl", ".hub-notes.jsonl.123", "other-20000101T000000Z.jsonl",
			".hub-20000101T000000Z.jsonl.123",
		} {
			require.NoError(t, os.WriteFile(filepath.Join(s.into, name), nil, 0o600))
		}
		byHand := filepath.Join(s.into, "hub-20000101T000000Z-by-hand.jsonl")
		sameName := filepath.Join(s.into, "hub-20000101T120000Z.jsonl")
		require.NoError(t, WriteFile(byHand, func(io.Writer) error {
			return WriteFile(sameName, func(w io.Writer) error {
				s.runs(t, time.Minute)
				return writesX(w)
			})
		}))
		require.FileExists(t, byHand)
		require.FileExists(t, sameName)
		require.NoError(t, errors.Join(os.Remove(byHand), os.Remove(sameName)))
		s.runs(t, 73*time.Hour) // at 0, 24, 48 and 72 hours; the bubble begins at midnight
		s.runs(t, time.Hour)    // not due
		require.Equal(t, []string{
			".hub-notes.jsonl.123", "hub-20000102T000000Z.jsonl", "hub-20000103T000000Z.jsonl",
			"hub-20000104T000000Z.jsonl", "hub-notes.jsonl", "other-20000101T000000Z.jsonl",
		}, in(t, s.into))
		s.runs(t, 23*time.Hour) // due 96 hours after the first
		require.Contains(t, in(t, s.into), "hub-20000105T000000Z.jsonl")
		file, err := os.Open(filepath.Join(s.into, "hub-20000105T000000Z.jsonl"))
		require.NoError(t, err)
		defer file.Close()
		text, err := io.ReadAll(backup.Unseal(file))
		require.NoError(t, err)
		require.Equal(t, "x\n", string(text))
		require.Contains(t, log.String(),
			"msg=backup file="+filepath.Join(s.into, "hub-20000101T000000Z.jsonl")+" rows=1 files=0 bytes=182")
	})
}

// TestScheduleGoesOnAfterAFailure: the log says why and when it tries again; no file is left, and
// none of the older ones is removed.
func TestScheduleGoesOnAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		s, log := scheduled(t, 24*time.Hour, 1, func(w io.Writer) error {
			if fails {
				return errors.Join(writesX(w), errors.New("no space left on device"))
			}
			return writesX(w)
		})
		s.runs(t, 15*time.Minute)
		require.Empty(t, in(t, s.into))
		require.Contains(t, log.String(), "level=ERROR msg=backup")
		require.Contains(t, log.String(), "no space left on device")
		require.Contains(t, log.String(), "again_in=10m0s")
		fails = false
		s.runs(t, time.Minute)
		require.Len(t, in(t, s.into), 1)
	})
}

// TestScheduleAfterAWrongClock: a file of a time to come does not keep backups from being made.
func TestScheduleAfterAWrongClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := scheduled(t, time.Hour, 5, writesX)
		require.NoError(t, os.WriteFile(filepath.Join(s.into, "hub-20991231T000000Z.jsonl"), nil, 0o600))
		s.runs(t, time.Minute)
		require.Contains(t, in(t, s.into), "hub-20000101T000000Z.jsonl")
	})
}

func TestPlansThatCannotBeKept(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	snapshot := func(func(View) error) error { return nil }
	write := nothing
	good := backupPlan{into: t.TempDir(), every: time.Minute, keep: 1}
	require.NoError(t, good.check(Store{Snapshot: snapshot}, write))
	require.NoError(t, backupPlan{}.check(Store{}, nil))
	for _, c := range []struct {
		plan  backupPlan
		store Store
		write Backup
		says  string
	}{
		{backupPlan{good.into, time.Second, 1}, Store{Snapshot: snapshot}, write, "at least 1m0s"},
		{backupPlan{good.into, time.Minute, 0}, Store{Snapshot: snapshot}, write, "keep at least one"},
		{good, Store{}, write, "in a storage account"},
		{good, Store{Snapshot: snapshot}, nil, "writes no backups"},
		{
			backupPlan{good.into + "/none", time.Minute, 1},
			Store{Snapshot: snapshot},
			write,
			"make it, or mount its disk",
		},
		{backupPlan{file, time.Minute, 1}, Store{Snapshot: snapshot}, write, "make it, or mount its disk"},
	} {
		require.ErrorContains(t, c.plan.check(c.store, c.write), c.says)
	}
}
