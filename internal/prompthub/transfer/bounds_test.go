package transfer_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

// zipped returns an archive of n equal files.
func zipped(t testing.TB, n int, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range n {
		f, err := w.Create(fmt.Sprintf(name, i))
		require.NoError(t, err)
		_, err = f.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

// aliases is front matter in which a text of some length stands and 199 aliases of it.
func aliases(length int) string {
	return "---\nname: bomb\nvisibility: public\na0: &a0 " + strings.Repeat("x", length) + "\nb: [" + strings.Repeat("*a0,", 199) + "]\n---\nHello"
}

// TestWhatAnImportExpandsTo: what a file is worth when its archive is unpacked and its aliases are
// followed is bounded for the request as a whole: twice the files take at most twice the memory. No
// other test runs meanwhile, because its memory would be counted.
func TestWhatAnImportExpandsTo(t *testing.T) { //nolint:paralleltest // measures what all allocate
	for name, tt := range map[string]struct {
		file, content string
		most          uint64 // MiB that are allocated
	}{
		"aliases":        {"p%d.md", aliases(20_000), 48},
		"parts":          {"p%d.md", "---\nb: [" + strings.Repeat("x,", 50_000) + "]\n---\nHello", 48},
		"parts of YAML":  {"p%d.prompt.yml", "b: [" + strings.Repeat("[],", 30_000) + "]\n", 48},
		"words":          {"p%d.md", "---\nb: " + strings.Repeat("x ", 50_000) + "\n---\nHello", 48},
		"rows of a list": {"p%d.json", "[" + strings.Repeat(`{"prompt":"x"},`, 200) + `{"prompt":"x"}]`, 48},
		"rows":           {"p%d.csv", "act,prompt\n" + strings.Repeat("a,b\n", 2000), 48},
		"texts":          {"p%d.md", strings.Repeat("a b ", 50_000), 48},
	} {
		s, _ := newService(t)
		cost := func(n int) uint64 {
			file := zipped(t, n, tt.file, tt.content)
			require.Less(t, len(file), 128<<10, name)
			before := allocated()
			_, err := transfer.Import(t.Context(), s, ann, file, transfer.Options{File: "a.zip", DryRun: true})
			used := allocated() - before
			t.Logf("%s: %d files, %d bytes: %d KiB allocated, error %v", name, n, len(file), used>>10, err)
			return used
		}
		once, twice := cost(16), cost(32)
		require.LessOrEqual(t, twice, 5*once/2+1<<20, name)
		require.Less(t, twice, tt.most<<20, name)
	}
}

// TestKeptFilesCostLittle: a file that costs much to read is not kept with the prompt that is made of
// it, and its import says so; and one that was kept by an earlier version is not read.
func TestKeptFilesCostLittle(t *testing.T) { //nolint:paralleltest // measures what all allocate
	s, _ := newService(t)
	for name, tt := range map[string]struct {
		file string
		kept bool
	}{
		"aliases": {"---\nname: a\nb: &b x\nc: [*b]\n---\nHello", false},
		"stars":   {"---\nname: b\nb: Q & A, **bold** *a*\n---\nHello", true},
		"parts":   {"---\nname: c\nb: [" + strings.Repeat("x,", 5000) + "]\n---\nHello", false},
		"long":    {"---\nname: d\nb: " + strings.Repeat("x", 200<<10) + "\n---\nHello", true},
	} {
		items := take(t, s, tt.file, transfer.Options{File: "a.md"})
		require.Equal(t, transfer.Created, items[0].Outcome, "%s: %v", name, items)
		if tt.kept {
			require.NotContains(t, items[0].Loss, "source", name)
		} else {
			require.Contains(t, items[0].Loss, "source", name)
		}
		v, err := s.Get(t.Context(), ann, items[0].ID)
		require.NoError(t, err)
		made, err := s.SourceOf(t.Context(), ann, v)
		require.NoError(t, err)
		require.Equal(t, tt.kept, made != nil, name)
		f, err := transfer.FileOf(t.Context(), s, ann, v, "markdown", "")
		require.NoError(t, err)
		require.Equal(t, tt.kept, string(f.Bytes) == tt.file, name)
	}
	bomb := aliases(1000)
	v, _, err := s.Create(t.Context(), ann, prompt.Draft{
		Title: "x", Text: "Hello", Visibility: prompt.Public, Source: &prompt.Source{Format: "markdown", File: "a.md", Bytes: []byte(bomb)},
	}, "")
	require.NoError(t, err)
	made, err := s.SourceOf(t.Context(), ann, v)
	require.NoError(t, err)
	require.Equal(t, bomb, string(made.Bytes), "a version before kept such files")
	before := allocated()
	f, err := transfer.FileOf(t.Context(), s, auth.User{}, v, "markdown", "")
	require.NoError(t, err)
	require.NotContains(t, string(f.Bytes), "a0")
	_, err = transfer.Offers(t.Context(), s, auth.User{}, v)
	require.NoError(t, err)
	require.Less(t, allocated()-before, uint64(2<<20))
}
