package transfer_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/jsonsize"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

// zipped returns an archive of n equal files, and of bytes that cannot be compressed until it has
// some size.
func zipped(t testing.TB, n, size int, name, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add := func(name, content string) {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(content))
		require.NoError(t, err)
		require.NoError(t, w.Flush())
	}
	for i := range n {
		add(fmt.Sprintf(name, i), content)
	}
	pad := make([]byte, max(0, size-b.Len()-100*n))
	rand.NewChaCha8([32]byte{}).Read(pad)
	add("pad.bin", string(pad))
	require.NoError(t, w.Close())
	return b.Bytes()
}

// aliases is front matter in which a text of some length stands and 199 aliases of it.
func aliases(length int) string {
	return "---\nname: bomb\nvisibility: public\na0: &a0 " + strings.Repeat("x", length) + "\nb: [" +
		strings.Repeat("*a0,", 199) + "]\n---\nHello"
}

// TestWhatAnImportExpandsTo: what a file is worth when its archive is unpacked and its aliases are
// followed is bounded for the request as a whole: twice the files take at most twice the memory,
// and 128 KB of them a bounded one. No other test runs meanwhile, because its memory would be
// counted.
func TestWhatAnImportExpandsTo(t *testing.T) { //nolint:paralleltest // measures what all allocate
	for name, tt := range map[string]struct{ file, content string }{
		"aliases":       {"p%d.md", aliases(20_000)},
		"parts":         {"p%d.md", "---\nb: [" + strings.Repeat("x,", 50_000) + "]\n---\nHello"},
		"parts of YAML": {"p%d.prompt.yml", "b: [" + strings.Repeat("[],", 30_000) + "]\n"},
		"words":         {"p%d.md", "---\nb: " + strings.Repeat("x ", 50_000) + "\n---\nHello"},
		"rows of JSON":  {"p%d.json", "[" + strings.Repeat(`{"prompt":"x"},`, 200) + `{"prompt":"x"}]`},
		"rows of CSV":   {"p%d.csv", "act,prompt\n" + strings.Repeat("a,b\n", 200)},
		"texts":         {"p%d.md", strings.Repeat("a b ", 50_000)},
	} {
		s, _ := newService(t)
		cost := func(n int) int {
			file := zipped(t, n, 128<<10, tt.file, tt.content)
			require.InDelta(t, 128<<10, len(file), 10<<10, name)
			before := allocated()
			r, err := transfer.Import(t.Context(), s, ann, file, transfer.Options{File: "a.zip", DryRun: true})
			used := int(allocated() - before)
			t.Logf("%s: %d files, %d bytes: %d KiB allocated; through with %d of %d, %v", name, n, len(file),
				used>>10, r.Through, r.Entries, err)
			require.NoError(t, err, name)
			return used
		}
		once, twice := cost(15), cost(30)
		require.LessOrEqual(t, twice, 5*once/2, name)
		require.Less(t, twice, 64<<20, name)
	}
}

// TestLongLists: nothing is made of a list that no prompt can have, be it JSON or a row of CSV. No
// other test runs meanwhile, because its memory would be counted.
func TestLongLists(t *testing.T) { //nolint:paralleltest // measures what all allocate
	s, _ := newService(t)
	list := func(before, element, after string) string {
		n := (transfer.MaxFile - len(before) - len(after)) / (len(element) + 1)
		return before + strings.Repeat(element+",", n-1) + element + after
	}
	numbers := make([]string, 300_000)
	for i := range numbers {
		numbers[i] = fmt.Sprintf(`"%x":0`, i)
	}
	for name, tt := range map[string]struct{ file, content string }{
		"variables": {"a.jsonl", list(`{"title":"x","text":"y","variables":[`, "{}", "]}")},
		"messages":  {"a.jsonl", list(`{"title":"x","messages":[`, "{}", "]}")},
		"tags":      {"a.jsonl", list(`{"title":"x","text":"y","tags":[`, `""`, "]}")},
		"labels":    {"", list(`{"title":"x","text":"y","labels":[`, `""`, "]}")},
		"members":   {"a.json", `{"title":"x","text":"y",` + strings.Join(numbers, ",") + "}"},
		"a list":    {"a.json", list("[", "{}", "]")},
		"Langfuse":  {"a.json", list(`{"name":"x","prompt":[`, "{}", "]}")},
		"LangChain": {"a.json", list(`{"lc":1,"id":[`, `""`, "]}")},
		"versions":  {"a.jsonl", list(`{"name":"x","title":"x","versions":[`, "{}", "]}")},
		"a history": {"a.jsonl", `{"name":"x","title":"x","versions":[{}]}` + "\n" +
			list(`{"of":"x","versions":[`, "{}", "]}")[:transfer.MaxFile-50] + "\n"},
		"old names": {"a.jsonl", list(`{"name":"x","title":"x","versions":[{}],"oldNames":[`, `""`, "]}")},
		"an entry": {"a.jsonl", `{"title":"x","text":"y","variables":[` +
			strings.Repeat("{},", 30_000) + "{}]}"},
		"versions of an entry": {"a.jsonl", `{"name":"x","title":"x","versions":[` +
			strings.Repeat("{},", 30_000) + "{}]}"},
		"an entry of Langfuse": {"a.json", `{"name":"x","prompt":[` + strings.Repeat("{},", 30_000) + "{}]}"},
		"a header":             {"a.csv", strings.Repeat(",", transfer.MaxFile)},
		"a row":                {"a.csv", "act,prompt\n" + strings.Repeat(",", transfer.MaxFile-20)},
		"tabs":                 {"a.csv", "act\tprompt\n" + strings.Repeat("\t", transfer.MaxFile-20)},
	} {
		before := allocated()
		r, err := transfer.Import(t.Context(), s, ann, []byte(tt.content),
			transfer.Options{File: tt.file, DryRun: true})
		used := int(allocated() - before)
		t.Logf("%s: %d KiB allocated; %v", name, used>>10, err)
		code := fault.CodeOf(err)
		if err == nil {
			require.NotEmpty(t, r.Items, name)
			for _, item := range r.Items {
				code = item.Code
			}
		}
		require.Equal(t, jsonsize.TooManyParts, code, name)
		require.Less(t, used, 24<<20, name)
	}
}

// TestTooManyEntries: a file has as many entries as a list may have, in each format.
func TestTooManyEntries(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	for name, tt := range map[string]struct{ file, head, entry, foot string }{
		"JSON Lines": {"a.jsonl", "", `{"title":"t","text":"x"}` + "\n", ""},
		"an account": {"", "", `{"name":"x","title":"t","text":"x"}` + "\n", ""},
		"CSV":        {"a.csv", "act,prompt\n", "t,x\n", ""},
		"a list":     {"a.json", "[", `{"title":"t","text":"x"},`, `{"title":"t","text":"x"}]`},
	} {
		n := format.MaxRows
		if tt.foot != "" {
			n-- // which has one
		}
		o := transfer.Options{File: tt.file, DryRun: true}
		_, err := transfer.Import(t.Context(), s, ann, []byte(tt.head+strings.Repeat(tt.entry, n)+tt.foot), o)
		require.NoError(t, err, name)
		_, err = transfer.Import(t.Context(), s, ann, []byte(tt.head+strings.Repeat(tt.entry, n+1)+tt.foot), o)
		require.Equal(t, format.TooManyEntries, fault.CodeOf(err), "%s: %v", name, err)
	}
}

// TestImportInSteps: where the files of an archive cost much to read, one request is through with a
// part of them, and all of them come in the end.
func TestImportInSteps(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	file := zipped(t, 12, 128<<10, "p%d.md", "---\nb: ["+strings.Repeat("x,", 5000)+"]\n---\nHello")
	o := transfer.Options{File: "a.zip"}
	for requests := 1; ; requests++ {
		r, err := transfer.Import(t.Context(), s, ann, file, o)
		require.NoError(t, err)
		require.Len(t, r.Items, min(4, 12-o.From), "a request reads 25,000 parts")
		for _, i := range r.Items {
			require.Equal(t, transfer.Created, i.Outcome, i.Reason)
		}
		if o.From = r.Through; !r.More {
			require.Equal(t, 3, requests)
			break
		}
	}
}

// TestOrderOfFiles: prompts that others include come first, with files of any format in an archive,
// and a name for which another one would be the slug.
func TestOrderOfFiles(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, content := range map[string]string{
		"a.md":         "---\nname: \"a/1\"\n---\n@@@langfusePrompt:name=b é|label=latest@@@",
		"b.json":       `[{"name":"b \u00e9","text":"@@@langfusePrompt:name=d|label=latest@@@"},{"name":"z","text":"@@@langfusePrompt:name=b \u00e9|label=latest@@@"}]`,
		"c.prompt.yml": "name: 'c é' # a comment\nmessages:\n  - role: user\n    content: |\n      @@@langfusePrompt:name=z|label=latest@@@\n",
		"d.csv":        "act,prompt,name\nD,@@@langfusePrompt:name=e|label=latest@@@,d\nA,x,a-1\n",
		"e.md":         "@@@langfusePrompt:name=F 7|label=latest@@@",
		"f.md":         "---\nname: F 7\nvisibility: public\n---\nx",
	} {
		f, err := w.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(content))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	require.Equal(t, []string{
		"F 7 created", "e created", "d created", "b é created", "a-1 created",
		"a/1 created", "z created", "c é created",
	},
		outcomes(take(t, s, b.String(), transfer.Options{File: "a.zip"})))
}

// TestKeptFilesCostLittle: a file that costs much to read is not kept with the prompt that is made
// of it, and its import says so; and one that was kept by an earlier version is not read.
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
		made, err := s.SourceOf(t.Context(), v)
		require.NoError(t, err)
		require.Equal(t, tt.kept, made != nil, name)
		f, err := transfer.FileOf(t.Context(), s, v, "markdown", "")
		require.NoError(t, err)
		require.Equal(t, tt.kept, string(f.Bytes) == tt.file, name)
	}
	items := take(t, s, "---\nname: e\nb: ["+strings.Repeat("x,", 4000)+"]\n---\nHello", transfer.Options{File: "a.md"})
	v, err := s.Get(t.Context(), ann, items[0].ID)
	require.NoError(t, err)
	for _, f := range []string{"skill", "markdown"} {
		before := allocated()
		made, err := transfer.FileOf(t.Context(), s, v, f, "")
		require.NoError(t, err)
		if used := allocated() - before; f == "markdown" {
			require.Greater(t, used, uint64(300<<10), "the file is read")
		} else {
			require.Less(t, used, uint64(250<<10), "the file is not read")
			require.Contains(t, made.Loss, "extra.b")
		}
	}

	bomb := aliases(1000)
	v, _, err = s.Create(t.Context(), ann, prompt.Draft{
		Title: "x", Text: "Hello", Visibility: prompt.Public,
		Source: &prompt.Source{Format: "markdown", File: "a.md", Bytes: []byte(bomb)},
	}, "")
	require.NoError(t, err)
	made, err := s.SourceOf(t.Context(), v)
	require.NoError(t, err)
	require.Equal(t, bomb, string(made.Bytes), "a version before kept such files")
	before := allocated()
	f, err := transfer.FileOf(t.Context(), s, v, "markdown", "")
	require.NoError(t, err)
	require.NotContains(t, string(f.Bytes), "a0")
	_, err = transfer.Offers(t.Context(), s, v)
	require.NoError(t, err)
	require.Less(t, allocated()-before, uint64(8<<20), "0.4 MiB; with the race detector, which empties pools, 4.3")

	parts := "---\nb: [" + strings.Repeat("x, ", 5000) + "]\n---\nHello"
	v, _, err = s.Create(t.Context(), ann, prompt.Draft{
		Title: "y", Text: "Hello", Visibility: prompt.Public,
		Source: &prompt.Source{Format: "markdown", File: "a.md", Bytes: []byte(parts)},
	}, "")
	require.NoError(t, err)
	f, err = transfer.FileOf(t.Context(), s, v, "markdown", "")
	require.NoError(t, err)
	require.Less(t, len(f.Bytes), 1000, "a file of so many parts is not read, whoever kept it")
}

// TestKeptFilesThatAreCompared: a request compares its entries with few large files, and the rest
// comes with the next one.
func TestKeptFilesThatAreCompared(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	for i := range 12 {
		file := fmt.Sprintf("---\nname: a%d\ndescription: d\nnote: %s\n---\nDo it.\n", i, strings.Repeat("x", 200<<10))
		require.Equal(t, transfer.Created, take(t, s, file, transfer.Options{File: "a/SKILL.md"})[0].Outcome)
	}
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i := range 12 {
		f, err := w.Create(fmt.Sprintf("a%d/SKILL.md", i))
		require.NoError(t, err)
		_, err = fmt.Fprintf(f, "---\nname: a%d\ndescription: d\n---\nDo it.\n", i)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	r, err := transfer.Import(t.Context(), s, ann, b.Bytes(),
		transfer.Options{File: "a.zip", Update: true, DryRun: true})
	require.NoError(t, err)
	require.True(t, r.More)
	require.Less(t, r.Through, 8)
	require.Greater(t, r.Through, 3)
}
