package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/telemetry"
)

// A kept is an application whose rows name files.
type kept struct {
	Service
	differs string // what verify finds
	begun   func() // is called when a store is made, where it is set
}

func newKept(name string) *kept {
	k := &kept{}
	k.Service = Service{Name: name, Blobs: true, Files: true, Read: func() (Settings, Build, error) {
		return Settings{}, func(_ Settings, st Store, _ *slog.Logger, _ *telemetry.Telemetry) App {
			return App{
				Wait:     func() {},
				Triggers: []function.Trigger{{Name: "wake", Queue: "wake"}, {Name: "hourly"}},
				Create: func(ctx context.Context) error {
					if k.begun != nil {
						k.begun()
					}
					return errors.Join(st.Blobs.Create(ctx, "files"), st.Tables.Create(ctx, "Rows", "Secrets"),
						st.Queues.Create(ctx, "wake", queue.Poison("wake")))
				},
				Contents: &backup.Contents{Application: name, Containers: []string{"files"}, Tables: []backup.Table{
					{Name: "Rows", Stored: "Rows", Names: func(row table.Row) []backup.Blob {
						return []backup.Blob{{Container: "files", Name: row.Row + ".txt"}}
					}},
					{Name: "Secrets", Stored: "Secrets", Out: "they open accounts"},
				}},
				Verify: func(_ context.Context, _ View, found func(any), _ func(int)) (int, error) {
					if k.differs != "" {
						found(k.differs)
					}
					return 3, nil
				},
			}
		}, nil
	}}
	return k
}

// runs runs a command, and returns the exit code and what it says.
func (k *kept) runs(t *testing.T, args ...string) (code int, said string) {
	t.Helper()
	return k.runsWhile(t.Context(), args...)
}

func (k *kept) runsWhile(ctx context.Context, args ...string) (code int, said string) {
	var out bytes.Buffer
	p := Program{Service: k.Service, Commands: k.KeepingCommands()}
	return p.Run(ctx, args, Streams{In: strings.NewReader(""), Out: &out, Err: &out}), out.String()
}

// stocked makes a store with three rows and their files.
func (k *kept) stocked(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, k.on(dir, func(st Store) error {
		_, build, _ := k.Read()
		if err := build(Settings{}, st, nil, nil).Create(t.Context()); err != nil {
			return err
		}
		for i := range 3 {
			name := fmt.Sprint("row", i)
			if _, err := st.Tables.Write(t.Context(), "Rows", rowOf(name)); err != nil {
				return err
			}
			if err := st.Blobs.Put(t.Context(), "files", name+".txt",
				bytes.Repeat([]byte{byte(i)}, 700_000)); err != nil {
				return err
			}
		}
		return nil
	}))
	return dir
}

func (k *kept) on(dir string, do func(Store) error) error {
	st, err := k.OpenStore(dir, "")
	if err != nil {
		return err
	}
	return errors.Join(do(st), st.Close())
}

// TestRestoreRefuses: restore and drill refuse a bad backup with exit code 1 and say why. They
// leave no store and no file.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	k, folder := newKept("kept"), t.TempDir()
	data, file := k.stocked(t), filepath.Join(folder, "backup.jsonl")
	code, said := k.runs(t, "backup", file, "--data", data)
	require.Equal(t, OK, code, said)
	require.Contains(t, said, "3 rows, 3 files\n")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	parts := bytes.Count(whole, []byte(`{"part":`))
	require.Equal(t, 3, parts)
	refused := func(name string, text []byte, why string) {
		t.Helper()
		bad, dir := filepath.Join(folder, "bad.jsonl"), filepath.Join(t.TempDir(), "new")
		require.NoError(t, os.WriteFile(bad, text, 0o600))
		for _, args := range [][]string{{"restore", bad, "--data", dir}, {"drill", bad, "--temp", folder}} {
			code, said := k.runs(t, args...)
			require.Equal(t, Failed, code, "%s: %s", name, said)
			require.Contains(t, said, why, name)
		}
		require.NoDirExists(t, dir, name)
		left, err := os.ReadDir(folder)
		require.NoError(t, err)
		require.Len(t, left, 2, name)
	}
	for n, at := 0, 0; n < parts; n++ {
		next := at + bytes.Index(whole[at:], []byte(`{"part":`))
		bad := bytes.Clone(whole)
		bad[(at+next)/2] ^= 4
		refused("a bit", bad, fmt.Sprintf("part %04d of the backup is damaged", n+1))
		at = next + bytes.IndexByte(whole[next:], '\n') + 1
	}
	refused("cut", whole[:len(whole)/2], "cut short: it ends in part 0002")
	refused("its end is missing", whole[:bytes.LastIndex(whole, []byte(`{"parts"`))], "cut short")
	refused("nothing", nil, "cut short")

	resealed := func(change func(lines string) string) []byte {
		var lines, sealed bytes.Buffer
		_, err := lines.ReadFrom(backup.Unseal(bytes.NewReader(whole)))
		require.NoError(t, err)
		seal := backup.NewSealer(&sealed)
		_, err = seal.Write([]byte(change(lines.String())))
		require.NoError(t, errors.Join(err, seal.Close()))
		return sealed.Bytes()
	}
	line := func(begin string) func(string) string { // removes the first one that begins so
		return func(lines string) string {
			at := strings.Index(lines, begin)
			return lines[:at] + lines[at+strings.IndexByte(lines[at:], '\n')+1:]
		}
	}
	refused("of another application",
		resealed(func(l string) string { return strings.Replace(l, `"kept"`, `"other"`, 1) }),
		"it begins a backup of other, and this is kept")
	refused("of a newer version",
		resealed(func(l string) string { return strings.Replace(l, `"version":2`, `"version":9`, 1) }),
		"the backup is of version 9, which is newer than this program")
	refused("a row without its file", resealed(line(`{"container":"files","blob":"row1.txt"`)),
		"names the file files/row1.txt, which the backup does not have")
	refused("a file without its row", resealed(line(`{"table":"Rows","partition":"p","row":"row1"`)),
		"the file files/row1.txt belongs to no row")
	k.differs = "Rows: a row is wrong"
	refused("it does not verify", whole, "Rows: a row is wrong\n")
	k.differs = ""

	code, said = k.runs(t, "restore", file, "--data", data)
	require.Equal(t, Failed, code)
	require.Contains(t, said, "the store is not empty: the table Rows has rows")
	require.NoError(t, os.Remove(filepath.Join(data, "kept.db")))
	code, said = k.runs(t, "restore", file, "--data", data)
	require.Equal(t, Failed, code)
	require.Contains(t, said, "the store has no rows, but files in files")
	require.NoFileExists(t, filepath.Join(data, "kept.db"))
	code, _ = k.runs(t, "restore", file, "more")
	require.Equal(t, Usage, code)

	dir := filepath.Join(t.TempDir(), "new")
	code, said = k.runs(t, "restore", file, "--data", dir)
	require.Equal(t, OK, code, said)
	again := filepath.Join(folder, "again.jsonl")
	code, said = k.runs(t, "backup", again, "--data", dir)
	require.Equal(t, OK, code, said)
	same, err := os.ReadFile(again)
	require.NoError(t, err)
	require.True(t, bytes.Equal(whole, same))
	code, said = k.runs(t, "backup", again, "--data", dir)
	require.Equal(t, Failed, code)
	require.Contains(t, said, "is there already")
}

// TestSignalEndsACommand: a command that a signal ends says so, and says how things are then.
func TestSignalEndsACommand(t *testing.T) {
	t.Parallel()
	k, folder := newKept("kept"), t.TempDir()
	data, file, dir := k.stocked(t), filepath.Join(folder, "backup.jsonl"), filepath.Join(folder, "new")
	code, said := k.runs(t, "backup", file, "--data", data)
	require.Equal(t, OK, code, said)
	for _, c := range []struct {
		args []string
		next string
	}{
		{[]string{"backup", filepath.Join(folder, "second.jsonl"), "--data", data}, "there is no backup"},
		{[]string{"restore", file, "--data", dir}, "nothing of the backup is in the store"},
		{[]string{"drill", file, "--temp", folder}, "the store of the drill is removed"},
	} {
		ctx, end := context.WithCancelCause(t.Context())
		signal := func() { end(errors.New("interrupt signal received")) }
		if k.begun = signal; c.args[0] == "backup" {
			signal()
		}
		code, said := k.runsWhile(ctx, c.args...)
		require.Equal(t, Failed, code, said)
		require.Contains(t, said, c.args[0]+": interrupt signal received; "+c.next+"\n")
		require.NotContains(t, said, "context canceled")
		require.Equal(t, []string{"backup.jsonl"}, in(t, folder))
	}
}

// TestBackupLacksAFile: backup names a file that is lost. Only restore with --incomplete reads such
// a backup.
func TestBackupLacksAFile(t *testing.T) {
	t.Parallel()
	k, file := newKept("kept"), filepath.Join(t.TempDir(), "backup.jsonl")
	data := k.stocked(t)
	require.NoError(t, k.on(data, func(st Store) error { return st.Blobs.Delete(t.Context(), "files", "row2.txt") }))
	code, said := k.runs(t, "backup", file, "--data", data)
	require.Equal(t, Failed, code)
	require.Contains(t, said, "Rows p names the file files/row2.txt, which is missing\n")
	dir := filepath.Join(t.TempDir(), "new")
	code, said = k.runs(t, "restore", file, "--data", dir)
	require.Equal(t, Failed, code)
	require.Contains(t, said, "names the file files/row2.txt, which the backup does not have")
	code, said = k.runs(t, "restore", file, "--data", dir, "--incomplete")
	require.Equal(t, OK, code, said)
}

// TestVerifyOnItsWay: what work that is still to be done will mend is told of a store that stands
// still, and is no fault; of one that is in use it is not told.
func TestVerifyOnItsWay(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	run := func(wrong bool) func(func(any), func(int)) (int, error) {
		return func(found func(any), _ func(int)) (int, error) {
			found(OnItsWay("a count"))
			if wrong {
				found("a list")
			}
			return 7, nil
		}
	}
	rows, err := Service{}.report(t.Context(), Streams{Out: &out, Err: io.Discard}, run(false))
	require.NoError(t, err)
	require.Equal(t, 7, rows)
	require.Equal(t, "still on its way: a count\n", out.String())
	_, err = Service{}.report(t.Context(), Streams{Out: &out, Err: io.Discard}, run(true))
	require.ErrorIs(t, err, errDiffers)
	require.Contains(t, err.Error(), ": 1")
	st := Store{Snapshot: func(do func(View) error) error { return do(View{}) }}
	r := running{store: st, app: App{
		Settles: time.Nanosecond,
		Verify: func(_ context.Context, _ View, found func(any), progress func(int)) (int, error) {
			return run(true)(found, progress)
		},
	}}
	var all []any
	_, err = r.verify(t.Context(), func(d any) { all = append(all, d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, []any{"a list"}, all)
}

// TestVerifyLooksAgain: verify tells of a difference in a running service only if the difference is
// still there after a while.
func TestVerifyLooksAgain(t *testing.T) {
	t.Parallel()
	looks := 0
	st := Store{Snapshot: func(do func(View) error) error { return do(View{}) }}
	r := running{store: st, app: App{
		Settles: time.Nanosecond,
		Verify: func(_ context.Context, _ View, found func(any), _ func(int)) (int, error) {
			if looks++; looks == 1 {
				found("for a moment")
			} else {
				found("since")
			}
			found("always")
			return 2, nil
		},
	}}
	var all []any
	rows, err := r.verify(t.Context(), func(d any) { all = append(all, d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, 2, rows)
	require.Equal(t, []any{"always"}, all)
}

// TestRedrive: messages that were set aside come back on their queue, each once, on a store that is
// closed and on one that a process has open.
func TestRedrive(t *testing.T) {
	t.Parallel()
	k := newKept("redriven")
	dir := k.stocked(t)
	setAside := func(qs queue.Queues) {
		for i := range queue.MaxReceive + 1 {
			_, err := qs.Send(t.Context(), queue.Poison("wake"), fmt.Sprint(i), 0)
			require.NoError(t, err)
		}
	}
	on := func(qs queue.Queues) [2]int {
		waiting, err := qs.Len(t.Context(), "wake")
		require.NoError(t, err)
		aside, err := qs.Len(t.Context(), queue.Poison("wake"))
		require.NoError(t, err)
		return [2]int{waiting, aside}
	}
	redriven := func(want string) {
		code, said := k.runs(t, "redrive", "--data", dir)
		require.Equal(t, OK, code, said)
		require.Contains(t, said, want)
	}
	require.NoError(t, k.on(dir, func(st Store) error { setAside(st.Queues); return nil }))
	redriven("messages put back: 33\n")
	redriven("messages put back: 0\n")
	require.NoError(t, k.on(dir, func(st Store) error {
		require.Equal(t, [2]int{33, 0}, on(st.Queues))
		setAside(st.Queues)
		_, build, _ := k.Read()
		stop := answer(t, dir, running{service: k.Service, app: build(Settings{}, st, nil, nil), store: st})
		redriven("messages put back: 33\n")
		stop()
		require.Equal(t, [2]int{66, 0}, on(st.Queues))
		return nil
	}))
	code, said := k.runs(t, "redrive", "--data", t.TempDir())
	require.Equal(t, Failed, code)
	require.Contains(t, said, "there is no store in")
}

// TestVerifyNamesDamage: over rows in whose file a bit has flipped a verification does not stop
// before it has named each.
func TestVerifyNamesDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	s, err := embedded.Open(path, time.Now)
	require.NoError(t, err)
	require.NoError(t, s.Tables.Create(t.Context(), "Rows"))
	for _, name := range []string{"a", "b", "c"} {
		_, err := s.Tables.Write(t.Context(), "Rows", table.Op{Kind: table.Insert, Row: table.Row{
			Key:   table.Key{Partition: "p", Row: name},
			Props: table.Props{{Name: "text", Value: table.String("ten cups of tea " + name)}},
		}})
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	file, err := os.ReadFile(path)
	require.NoError(t, err)
	for _, name := range []string{"a", "c"} {
		text := []byte("ten cups of tea " + name)
		require.Contains(t, string(file), string(text))
		file = bytes.ReplaceAll(file, text, append([]byte("men"), text[3:]...)) // t and m differ in two bits
	}
	require.NoError(t, os.WriteFile(path, file, 0o600))
	s, err = embedded.Open(path, time.Now)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	st := Store{Snapshot: func(do func(View) error) error { return do(View{From: backup.From{Tables: s.Tables}}) }}
	r := running{store: st, app: App{
		Tables: []string{"Rows"},
		Verify: func(ctx context.Context, v View, _ func(any), _ func(int)) (rows int, err error) {
			for _, err := range table.All(ctx, v.Tables, "Rows", table.Range{}) {
				if err != nil {
					return rows, fault.Wrap(fault.Internal, "something is damaged", err)
				}
				rows++
			}
			return rows, nil
		},
	}}
	var all []string
	_, err = r.verify(t.Context(), func(d any) { all = append(all, d.(string)) }, func(int) {})
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Contains(t, all[0], "Rows p")
	require.Contains(t, all[0], "a: the row is damaged")
	require.Contains(t, all[1], "c: the row is damaged")
}
