package promptdb_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// filesOf is an edit that gives a prompt files of these contents, by their paths, and sends the
// bytes of all.
func filesOf(contents ...string) func(*prompt.Prompt) {
	return func(p *prompt.Prompt) {
		p.Files, p.FileBytes = nil, make(map[string][]byte)
		for i := 0; i < len(contents); i += 2 {
			f := prompt.NewFile(prompt.FileBytes{Path: contents[i], Bytes: []byte(contents[i+1])})
			p.Files = append(p.Files, f)
			p.FileBytes[f.SHA256] = []byte(contents[i+1])
		}
	}
}

// keptFiles is an edit that keeps the files of a prompt and sends no bytes.
func keptFiles(p *prompt.Prompt) { p.Text += " more" }

func noise(n int) string {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return string(b)
}

func (w *world) fileRows() (rows []table.Row) {
	for row, err := range table.All(w.t.Context(), w.store, promptdb.DefaultTables().Files, table.Range{}) {
		require.NoError(w.t, err)
		rows = append(rows, row)
	}
	return rows
}

// reads returns the bytes of the files of a version, but for a SKILL.md that was made.
func (w *world) reads(p prompt.Prompt, n int64) map[string]string {
	v, err := w.GetVersion(w.t.Context(), p.AuthorID, p.ID, promptdb.WantedVersion{Number: n})
	require.NoError(w.t, err)
	all, err := w.FileBytes(w.t.Context(), p.ID, v.Files)
	require.NoError(w.t, err)
	require.Equal(w.t, v.ShownVersion.Hash, v.ShownVersion.Digest())
	got := make(map[string]string)
	for _, f := range v.Files.Written() {
		got[f.Path] = string(all[f.SHA256])
	}
	return got
}

// TestFilesOfVersions: each version has its own files, whatever became of others, and bytes that do
// not change are stored once.
func TestFilesOfVersions(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*world{
		"table by table": newWorldOn(t, memory.NewTables()),
		"whole":          newWholeWorld(t),
	} {
		t.Run(name, func(t *testing.T) {
			large := noise(700_000) // three rows
			p := w.add("ann", draft("Skill", "text"))
			w.edit("ann", p.ID, filesOf("a/b.txt", "one", "empty", "", "large.bin", large))
			w.edit("ann", p.ID, keptFiles)
			w.edit("ann", p.ID, filesOf("a/b.txt", "two", "large.bin", large))
			w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Files = prompt.Files{} })
			require.Equal(t, map[string]string{"a/b.txt": "one", "empty": "", "large.bin": large}, w.reads(p, 2))
			require.Equal(t, w.reads(p, 2), w.reads(p, 3))
			require.Equal(t, map[string]string{"a/b.txt": "two", "large.bin": large}, w.reads(p, 4))
			require.Empty(t, w.reads(p, 5))
			// one, two, the empty one, three rows of the large one, three of a SKILL.md
			require.Len(t, w.fileRows(), 9)
			w.check()
			c, err := w.LabelsRow(t.Context(), "ann", p.ID)
			require.NoError(t, err)
			require.GreaterOrEqual(t, c.Files, int64(700_006))
		})
	}
}

// TestBytesThatNobodyHas: a version does not name bytes that were not sent and that the version
// before does not have.
func TestBytesThatNobodyHas(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("Skill", "text"))
	_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		filesOf("a", "unknown")(&p)
		p.FileBytes = nil
		return p, nil
	})
	require.Equal(t, prompt.UnknownContent, fault.CodeOf(err))
	require.Empty(t, w.fileRows())
	w.check()
}

// TestFilesOfAPrompt: those of all versions together have at most 64 MiB.
func TestFilesOfAPrompt(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("Skill", "text"))
	four := strings.Repeat("x", 4<<20-100_000)
	var err error
	for i := range 17 {
		_, err = w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			filesOf("a", four+string(rune('a'+i)))(&p)
			return p, nil
		})
		if err != nil {
			break
		}
	}
	require.Equal(t, prompt.FilesTooLarge, fault.CodeOf(err))
}

// TestSweepOfFiles: bytes that no version names are removed after a day, and no others.
func TestSweepOfFiles(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("Skill", "text"))
	w.edit("ann", p.ID, filesOf("a", "one", "b", "both"))
	w.edit("ann", p.ID, filesOf("a", "two", "b", "both"))
	require.NoError(t, w.DeleteVersion(t.Context(), "ann", p.ID, 2, prompt.Actor{}))
	sweep := func() int {
		w.run()
		_, found, err := w.Sweep(t.Context())
		require.NoError(t, err)
		require.Zero(t, found, "bytes that go are no difference")
		return len(w.fileRows())
	}
	require.Equal(t, 5, sweep())
	w.clock.Advance(23 * time.Hour)
	require.Equal(t, 5, sweep(), "younger than a day")
	w.clock.Advance(26 * time.Hour)
	require.Equal(t, 3, sweep(), "without those of version 2 alone")
	require.Equal(t, map[string]string{"a": "two", "b": "both"}, w.reads(p, 3))
	c, err := w.LabelsRow(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	size := int64(0)
	v, err := w.GetVersion(t.Context(), "ann", p.ID, promptdb.WantedVersion{Number: 3})
	require.NoError(t, err)
	for _, f := range v.Files {
		size += int64(f.Size)
	}
	require.Equal(t, size, c.Files, "and the quota knows")
	w.check()
}

// TestFilesSavedAgain: bytes that come back with each save count once, after a sweep that finds
// nothing to remove.
func TestFilesSavedAgain(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("Skill", "text"))
	for _, content := range []string{"one", "two", "one", "two", "one"} {
		w.edit("ann", p.ID, filesOf("a", content))
	}
	w.run()
	w.clock.Advance(26 * time.Hour)
	before := len(w.fileRows())
	_, _, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.Len(t, w.fileRows(), before)
	size := int64(0)
	for _, row := range w.fileRows() {
		size += row.Props.Get("Size").Int()
	}
	c, err := w.LabelsRow(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Equal(t, size, c.Files)
	w.check()
}

// TestPurgeOfFiles: the bytes of a prompt that is purged go with it.
func TestPurgeOfFiles(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("Skill", "text"))
	w.edit("ann", p.ID, filesOf("a", "one"))
	w.edit("ann", p.ID, func(p *prompt.Prompt) { p.DeletedAt = w.clock.Now() })
	w.run()
	w.clock.Advance(32 * 24 * time.Hour)
	_, err := w.Purge(t.Context())
	require.NoError(t, err)
	require.Empty(t, w.fileRows())
	w.check()
}

// TestBackupOfFiles: a backup has the files of all versions, and reads back as they were.
func TestBackupOfFiles(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	large := noise(700_000)
	p := w.add("ann", draft("Skill", "text"))
	w.edit("ann", p.ID, filesOf("a", "one", "large", large))
	w.edit("ann", p.ID, filesOf("a", "two", "large", large))
	w.run()
	var out bytes.Buffer
	_, err := w.Backup(t.Context(), &out, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	require.Equal(t, 5, bytes.Count(out.Bytes(), []byte(`{"kind":"file"`)), "each once")
	for name, other := range map[string]*world{
		"table by table": newWorldOn(t, memory.NewTables()),
		"whole":          newWholeWorld(t),
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, restore(t.Context(), other.DB, bytes.NewReader(out.Bytes())))
			require.Equal(t, w.reads(p, 2), other.reads(p, 2))
			require.Equal(t, w.reads(p, 3), other.reads(p, 3))
			was, err := w.LabelsRow(t.Context(), "ann", p.ID)
			require.NoError(t, err)
			is, err := other.LabelsRow(t.Context(), "ann", p.ID)
			require.NoError(t, err)
			require.Equal(t, was.Files, is.Files)
			other.check()
		})
	}
}

// TestLostFiles: verify names bytes that are missing or not what their name says, no reader is
// given them, and a backup leaves them out and goes on.
func TestLostFiles(t *testing.T) {
	t.Parallel()
	for name, harm := range map[string]func(w *world, row table.Row) table.Op{
		"missing": func(_ *world, row table.Row) table.Op { return table.Op{Kind: table.Delete, Row: row} },
		"damaged": func(_ *world, row table.Row) table.Op {
			return table.Op{
				Kind: table.Merge,
				Row: table.Row{
					Key: row.Key, ETag: table.Any,
					Props: table.Props{{Name: "Data", Value: table.String("AAAA")}},
				},
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorldOn(t, memory.NewTables())
			p := w.add("ann", draft("Skill", "text"))
			w.edit("ann", p.ID, filesOf("a", "one"))
			w.run()
			sum := sha256.Sum256([]byte("one"))
			for _, row := range w.fileRows() {
				if strings.HasPrefix(row.Row, hex.EncodeToString(sum[:])) {
					_, err := w.store.Write(t.Context(), promptdb.DefaultTables().Files, harm(w, row))
					require.NoError(t, err)
				}
			}
			found := w.verified()
			require.Len(t, found, 1)
			require.True(t, strings.HasPrefix(found[0], promptdb.DefaultTables().Files), found)
			v, err := w.Get(t.Context(), "ann", p.ID)
			require.NoError(t, err)
			_, err = w.FileBytes(t.Context(), p.ID, v.Files)
			require.Error(t, err)
			left := 0
			_, err = w.Backup(t.Context(), &bytes.Buffer{}, func(promptdb.Difference) { left++ }, func(int) {})
			require.NoError(t, err)
			require.Equal(t, 1, left)
		})
	}
}

// TestRefusedFiles: a save that a quota refuses stores no bytes.
func TestRefusedFiles(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("Skill", "text"))
	w.quota = promptdb.Quota{Bytes: 10_000}
	w.DB = w.another()
	_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		filesOf("a", noise(20_000))(&p)
		return p, nil
	})
	require.Equal(t, fault.Invalid, fault.Of(err))
	require.Empty(t, w.fileRows())
}
