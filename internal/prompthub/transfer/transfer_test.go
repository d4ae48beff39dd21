package transfer_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/transfer"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

var ann = auth.User{ID: "ann", Name: "Ann"}

// failing is a store whose writes fail once some have landed.
type failing struct {
	table.DB
	left atomic.Int64        // writes until they fail
	wait func(time.Duration) // sets the clock of the service forward

	damaged atomic.Value // what of kept files is damaged, as a text
}

// fail lets that many writes land; a negative number all.
func (f *failing) fail(after int) {
	if after < 0 {
		after = math.MaxInt
	}
	f.left.Store(int64(after))
}

var errStore = errors.New("the store is away")

func (f *failing) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if f.left.Add(-1) < 0 {
		return nil, errStore
	}
	return f.DB.Write(ctx, name, ops...)
}

// List damages kept files as the test asks for: all of a row, or the bytes in it, of each version
// or of a number.
func (f *failing) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := f.DB.List(ctx, name, r, limit, next)
	what, number, _ := strings.Cut(f.damaged.Load().(string), " ")
	hit := func(row table.Row) bool {
		_, n, ok := schema.ParseSource(row.Row)
		return ok && what != "" && (number == "" || number == strconv.FormatInt(n, 10))
	}
	if what == "row" {
		switch n := slices.IndexFunc(page.Rows, hit); n {
		case -1:
		case 0:
			page, err = f.DB.List(ctx, name, r, 1, next)
			return table.Page{}, cmp.Or[error](err, &table.DamagedError{Key: page.Rows[0].Key, Next: page.Next})
		default:
			return f.DB.List(ctx, name, r, n, next)
		}
	}
	for i, row := range page.Rows {
		if what == "bytes" && hit(row) {
			props := slices.Clone(row.Props)
			for j := range props {
				if props[j].Name == "Packed" {
					props[j].Value = table.String("AAAA")
				}
			}
			page.Rows[i] = table.Row{Key: row.Key, Props: props}
		}
	}
	return page, err
}

// newService returns a service over a store in memory, whose clock goes on by itself.
func newService(t testing.TB) (*library.Service, *failing) {
	t.Helper()
	begin := time.Date(2026, 3, 31, 23, 30, 0, 0, time.UTC)
	var clock atomic.Int64 // since then
	now := func() time.Time { return begin.Add(time.Duration(clock.Add(int64(time.Millisecond)))) }
	store := &failing{DB: memory.NewTables(), wait: func(d time.Duration) { clock.Add(int64(d)) }}
	store.fail(-1)
	store.damaged.Store("")
	db := promptdb.New(promptdb.Config{
		Store: store, Queues: memory.NewQueues(now), Tables: promptdb.DefaultTables(), Now: now,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() },
		Sleep:      func(ctx context.Context, d time.Duration) error { store.wait(d); return ctx.Err() },
	})
	require.NoError(t, db.Create(t.Context()))
	return library.New(db, prompt.Rules{}, now), store
}

// take imports a file, in as many requests as it takes.
func take(t require.TestingT, s *library.Service, file string, o transfer.Options) []transfer.Item {
	var all []transfer.Item
	for {
		r, err := transfer.Import(context.Background(), s, ann, []byte(file), o)
		require.NoError(t, err)
		if all = append(all, r.Items...); !r.More {
			return all
		}
		o.From = r.Through
	}
}

// give returns the whole export of an account.
func give(t require.TestingT, s *library.Service) string {
	var file strings.Builder
	for cursor, more := "", true; more; more = cursor != "" {
		part, next, err := transfer.Export(context.Background(), s, ann, cursor)
		require.NoError(t, err)
		file.Write(part)
		cursor = next
	}
	return file.String()
}

func outcomes(items []transfer.Item) (list []string) {
	for _, i := range items {
		list = append(list, i.Name+" "+string(i.Outcome))
	}
	return list
}

// TestRejectedHaveCodes: an entry is rejected with the code of the rule that it breaks, or with
// that of all for which there is no other.
func TestRejectedHaveCodes(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	for file, code := range map[string]fault.Code{
		`{"title":"x","text":"y","unknown":1,"variables":[{"name":"a","type":"b"}]}`: transfer.EntryRefused,
		`{"title":"x","text":"` + strings.Repeat("y", 200_000) + `"}`:                "TEXT_TOO_LONG",
		`{"title":["x"],"text":"y"}`:                                                 transfer.Unreadable,
	} {
		items := take(t, s, file, transfer.Options{File: "a.jsonl"})
		require.Equal(t, transfer.Rejected, items[0].Outcome, "%.100s", file)
		require.Equal(t, code, items[0].Code, "%.100s: %s", file, items[0].Reason)
	}
}

// TestIncludedComesFirst: what a prompt includes is made before it, wherever it stands in a file;
// those that include one another are told.
func TestIncludedComesFirst(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	file := `{"name":"c","title":"C","text":"@@@langfusePrompt:name=b|label=latest@@@"}` + "\n" +
		`{"name":"b","title":"B","text":"@@@langfusePrompt:name=a|label=latest@@@"}` + "\n" +
		`{"name":"a","title":"A","text":"x"}` + "\n" +
		`{"name":"d","title":"D","text":"@@@langfusePrompt:name=e|label=latest@@@"}` + "\n" +
		`{"name":"e","title":"E","text":"@@@langfusePrompt:name=d|label=latest@@@"}` + "\n"
	require.Equal(t, []string{"a created", "b created", "c created", "e rejected", "d rejected"},
		outcomes(take(t, s, file, transfer.Options{File: "x.jsonl"})))
}

// TestUpdateKeepsTheKind: a file makes no text of a chat, nor a chat of a text because its format
// has only messages.
func TestUpdateKeepsTheKind(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	take(t, s,
		`{"name":"chat","title":"C","messages":[{"role":"system","content":"S"},{"role":"user","content":"{{q}}"}]}`+
			"\n"+`{"name":"text","title":"T","text":"x"}`, transfer.Options{File: "x.jsonl"})
	before := give(t, s)
	for file, say := range map[string][2]string{
		"a.md": {
			"---\nname: chat\n---\nText",
			"the prompt is a chat, and a text would take the place of its messages: ",
		},
		"a.prompt.yml": {
			"name: text\nmessages:\n  - role: user\n    content: y\n",
			"the prompt is a text, and messages would take its place: ",
		},
	} {
		for _, dry := range []bool{true, false} {
			items := take(t, s, say[0], transfer.Options{File: file, Update: true, DryRun: dry})
			require.Equal(t, transfer.Rejected, items[0].Outcome, file)
			require.Contains(t, items[0].Reason, say[1])
		}
	}
	require.Equal(t, before, give(t, s))
	items := take(t, s, "name: chat\nmessages:\n  - role: user\n    content: y\n",
		transfer.Options{File: "a.prompt.yml", Update: true})
	require.Equal(t, transfer.Updated, items[0].Outcome, items)
}

// TestNamesBeforeSlugs: a prompt is not refused because another one, which stands before it in the
// file, has taken its name for a slug.
func TestNamesBeforeSlugs(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	file := ""
	for _, name := range []string{"Support/Reply", "a b", "a-b", "support-reply"} {
		file += fmt.Sprintf(`{"name":%q,"title":"T","text":"x"}`+"\n", name)
	}
	require.Equal(t, []string{"support-reply created", "Support/Reply created", "a-b created", "a b created"},
		outcomes(take(t, s, file, transfer.Options{File: "x.jsonl"})))
}

// TestFormerNames: a prompt keeps its names elsewhere, by its slug and by names that it had, unless
// another one is there; and prompts that include it by such a name come after it.
func TestFormerNames(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	add := func(s *library.Service, name, text string) prompt.ID {
		v, _, err := s.Create(ctx, ann,
			prompt.Draft{Name: name, Title: name, Text: text, Visibility: prompt.Private}, "")
		require.NoError(t, err)
		return v.ID
	}
	rename := func(s *library.Service, id prompt.ID, name string) {
		_, err := s.Patch(ctx, ann, id, library.Match{Any: true}, func(d *prompt.Draft) { d.Name = name })
		require.NoError(t, err)
	}
	find := func(s *library.Service, name string) string {
		v, err := s.GetByName(ctx, ann, library.IDOf(ann), name, library.WantedVersion{})
		require.NoError(t, err, name)
		return v.Name
	}
	o := transfer.Options{File: "account.jsonl"}
	from, _ := newService(t)
	id := add(from, "greet", "Hello.")
	rename(from, id, "Greet/Them")
	rename(from, id, "welcome them")
	add(from, "letter", "@@@langfusePrompt:name=Greet/Them|label=latest@@@ Dear")
	add(from, "Support/Reply", "x")
	want := give(t, from)
	require.Contains(t, want, `{"name":"welcome them","title":"greet","tags":[],"visibility":"private","slug":"greet","oldNames":["Greet/Them"],`)
	require.Contains(t, want, `"name":"letter","title"`)

	to, _ := newService(t)
	items := take(t, to, want, o)
	require.NotContains(t, strings.Join(outcomes(items), " "), "rejected", "%v", items)
	require.Equal(t, want, give(t, to))
	for _, name := range []string{"welcome them", "greet", "Greet/Them"} {
		require.Equal(t, "welcome them", find(to, name))
	}

	taken, _ := newService(t)
	add(taken, "greet", "Mine.")
	add(taken, "Greet/Them", "Mine too.")
	take(t, taken, want, o)
	require.Equal(t, "greet", find(taken, "greet"))
	require.Equal(t, "Greet/Them", find(taken, "Greet/Them"))
	require.Equal(t, "welcome them", find(taken, "welcome-them"))

	for file, reason := range map[string]string{
		`{"name":"n","slug":"-","title":"T","versions":[{"text":"x"}]}`:                                       "slug: leave the slug out, or give one of at most 64 of a-z, 0-9 and -, with no hyphen at an end or twice",
		`{"name":"n","oldNames":["a|b"],"title":"T","versions":[{"text":"x"}]}`:                               "oldNames[0]: remove | from the name",
		`{"name":"n","oldNames":["1","2","3","4","5","6","7","8","9"],"title":"T","versions":[{"text":"x"}]}`: "oldNames: give at most 8 old names, there are 9",
	} {
		items := take(t, to, file, o)
		require.Equal(t, transfer.Rejected, items[0].Outcome)
		require.Contains(t, items[0].Reason, reason)
	}
}

// TestImportGoesOn: an import that the store cut short, wherever, is finished by the same file, and
// nothing is there twice.
func TestImportGoesOn(t *testing.T) {
	t.Parallel()
	whole, _ := newService(t)
	file := ""
	for i := range 4 {
		file += fmt.Sprintf(`{"name":"p%d","title":"P%d","tags":[],"visibility":"public","publicFrom":2,"versions":[{"version":1,"text":"a"},{"version":2,"text":"b","labels":["production"]},{"version":4,"text":"c","recall":"bad"}]}`+"\n", i, i)
	}
	o := transfer.Options{File: "account.jsonl"}
	take(t, whole, file, o)
	want := give(t, whole)
	require.Contains(t, want, `"publicFrom":2`)
	require.Contains(t, want, `"recall":"bad"`)
	for writes := 0; ; writes += 7 {
		s, store := newService(t)
		store.fail(writes)
		_, err := transfer.Import(t.Context(), s, ann, []byte(file), o)
		store.fail(-1)
		store.wait(2 * time.Minute) // until the lease of the stopped writer has ended
		items := take(t, s, file, o)
		require.NotContains(t, strings.Join(outcomes(items), " "), "rejected", "after %d writes: %v", writes, items)
		require.Equal(t, want, give(t, s), "after %d writes", writes)
		if err == nil {
			return
		}
	}
}

// part returns the line of a history with some of its versions, and the hashes of the others.
func part(t *testing.T, line string, from, to int64) string {
	t.Helper()
	var l map[string]jsontext.Value
	require.NoError(t, json.Unmarshal([]byte(line), &l))
	var versions []format.Version
	require.NoError(t, json.Unmarshal(l["versions"], &versions))
	some, others := []format.Version{}, []map[string]any{}
	for _, v := range versions {
		if from <= v.Version && v.Version < to {
			some = append(some, v)
			continue
		}
		others = append(others, map[string]any{
			"version": v.Version, "kind": v.Kind,
			"labels": v.Labels, "hash": v.Hash(),
		})
	}
	for name, list := range map[string]any{"versions": some, "others": others} {
		b, err := json.Marshal(list)
		require.NoError(t, err)
		l[name] = b
	}
	b, err := json.Marshal(l)
	require.NoError(t, err)
	return string(b) + "\n"
}

// TestHistoryInParts: a history may come in parts, wherever it is cut and an import of a part is;
// then it is what it is as a whole, and the same parts again change nothing. A part that comes too
// early is told.
func TestHistoryInParts(t *testing.T) {
	t.Parallel()
	const line = `{"name":"p","title":"P","tags":["text"],"visibility":"public","publicFrom":4,"vote":"like","versions":[` +
		`{"version":2,"text":"b"},{"version":3,"text":"c","labels":["staging"]},{"version":4,"kind":"text","text":"d"},{"version":7,"text":"e","labels":["production"]},{"version":8,"text":"f"}]}` + "\n"
	o := transfer.Options{File: "account.jsonl"}
	whole, _ := newService(t)
	take(t, whole, line, o)
	want := give(t, whole)
	require.Contains(t, want, `"publicFrom":4`)
	for cut := int64(3); cut <= 8; cut++ {
		for writes := -1; writes < 40; writes += 3 {
			s, store := newService(t)
			first, second := part(t, line, 0, cut), part(t, line, cut, 9)
			items := take(t, s, second, o)
			require.Equal(t, []string{"p rejected"}, outcomes(items))
			require.Contains(t, items[0].Reason, "which another part of the file brings")
			store.fail(writes)
			_, err := transfer.Import(t.Context(), s, ann, []byte(first), o)
			if err == nil {
				_, err = transfer.Import(t.Context(), s, ann, []byte(second), o)
			}
			require.True(t, err == nil || writes >= 0)
			store.fail(-1)
			store.wait(2 * time.Minute) // until the lease of the stopped writer has ended
			take(t, s, first, o)
			take(t, s, second, o)
			require.Equal(t, want, give(t, s), "cut before version %d, and after %d writes", cut, writes)
			require.Equal(t, []string{"p unchanged"}, outcomes(take(t, s, first, o)))
			require.Equal(t, []string{"p unchanged"}, outcomes(take(t, s, second, o)))
			require.Equal(t, []string{"p unchanged"}, outcomes(take(t, s, line, o)))
			items = take(t, s, strings.Replace(first, `"text":"b"`, `"text":"x"`, 1), o)
			require.Equal(t, []string{"p rejected"}, outcomes(items), "another history")
		}
	}
}

// TestFollowedInParts: a prompt that goes on in another service is the same after an import that
// was stopped at any write, whole or in parts, and where versions were added meanwhile.
func TestFollowedInParts(t *testing.T) {
	t.Parallel()
	const begin = `{"name":"p","title":"","tags":["text"],"visibility":"private","from":"langfuse","versions":[` +
		`{"version":2,"text":"b","madeBy":"ann","madeAt":"2025-03-04T05:06:07.8Z","description":""},{"version":3,"text":"c","labels":["production"],"description":""}`
	const more = `{"version":5,"text":"c","madeBy":"bob","description":""},{"version":6,"kind":"chat","messages":[{"role":"user","content":"d"}],"description":"","labels":["production"]}]}` + "\n"
	old, line := begin+"]}\n", strings.Replace(begin, `,"labels":["production"]`, "", 1)+","+more
	o := transfer.Options{File: "account.jsonl"}
	whole, _ := newService(t)
	require.Equal(t, []string{"p created"}, outcomes(take(t, whole, line, o)))
	want := give(t, whole)
	require.Contains(t, want, `"text":"b","madeBy":"ann","madeAt":"2025-03-04T05:06:07.8Z","description":""`)
	require.Contains(t, want, `"labels":["production"],"description":""`)
	for _, lines := range [][]string{{line}, {old, line}, {part(t, line, 0, 4), part(t, line, 4, 9)}} {
		for writes := -1; writes < 40; writes += 3 {
			s, store := newService(t)
			for _, l := range lines {
				items := take(t, s, l, transfer.Options{File: "account.jsonl", DryRun: true})
				require.NotEqual(t, transfer.Rejected, items[0].Outcome, items[0].Reason)
			}
			require.Equal(t, "{\"profile\":{}}\n", give(t, s), "a dry run")
			store.fail(writes)
			var err error
			for _, l := range lines {
				if err == nil {
					_, err = transfer.Import(t.Context(), s, ann, []byte(l), o)
				}
			}
			require.True(t, err == nil || writes >= 0)
			store.fail(-1)
			store.wait(2 * time.Minute) // until the lease of the stopped writer has ended
			for _, l := range lines {
				for _, item := range take(t, s, l, o) {
					require.Empty(t, item.Loss)
				}
			}
			require.Equal(t, want, give(t, s), "%d lines, after %d writes", len(lines), writes)
			for _, l := range lines[len(lines)-1:] {
				require.Equal(t, []string{"p unchanged"}, outcomes(take(t, s, l, o)))
			}
		}
	}
}

// TestMadeElsewhere: who made a version elsewhere, and when, is told in one line and as a time.
func TestMadeElsewhere(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	for made, want := range map[string]string{
		`"madeBy":"` + strings.Repeat("x", 101) +
			`"`: "version 1: madeBy: shorten this to at most 100 characters, it has 101",
		`"madeBy":"a\nb"`:                 "version 1: madeBy: send one line",
		`"madeAt":"1789-01-01T00:00:00Z"`: "version 1: madeAt: give a time from 1970 on",
		`"madeAt":"yesterday"`:            "not a line of an account",
		`"madeBy":7`:                      "not a line of an account",
	} {
		for _, from := range []string{"", `"from":"langfuse",`} {
			items := take(t, s, `{"name":"p","title":"P","tags":[],"visibility":"private",`+from+
				`"versions":[{"version":1,"text":"x",`+made+`}]}`+"\n", transfer.Options{File: "a.jsonl"})
			require.Equal(t, []transfer.Outcome{transfer.Rejected}, []transfer.Outcome{items[0].Outcome}, made)
			require.Contains(t, items[0].Reason, want)
		}
	}
	require.Equal(t, "{\"profile\":{}}\n", give(t, s))
}

// allocated returns how many bytes were allocated until now.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// TestLimitsOfHistories: a history that is too long is told with its limit.
func TestLimitsOfHistories(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	gap := `{"name":"gap","title":"T","tags":[],"visibility":"private","versions":[{"version":102,"text":"x"}]}` + "\n"
	items := take(t, s, gap, transfer.Options{File: "a.jsonl"})
	require.Equal(t, []string{"gap rejected"}, outcomes(items))
	require.Equal(t, "more than 100 versions were deleted", items[0].Reason)
	holes := `{"name":"holes","title":"T","tags":[],"visibility":"private","versions":[{"version":61,"text":"x"},{"version":122,"text":"y"}]}` + "\n"
	items = take(t, s, holes, transfer.Options{File: "a.jsonl"})
	require.Equal(t, "more than 100 versions were deleted", items[0].Reason)
}

// TestManyDeleted: that too many versions were deleted is told before others are made up for all of
// them, which would take all memory. No other test runs at the same time, whose memory would be
// counted.
func TestManyDeleted(t *testing.T) {
	s, _ := newService(t)
	var many strings.Builder
	many.WriteString(
		`{"name":"many","title":"T","tags":[],"visibility":"private","versions":[{"version":101,"text":"x"}`)
	for n := 202; n < 16_000*101; n += 101 {
		fmt.Fprintf(&many, `,{"version":%d,"text":"x"}`, n)
	}
	many.WriteString("]}\n")
	before := allocated()
	items := take(t, s, many.String(), transfer.Options{File: "a.jsonl"})
	require.Equal(t, "more than 100 versions were deleted", items[0].Reason)
	require.Less(t, allocated()-before, uint64(256<<20))
}

// TestAccountsMove: an account of any history is the same elsewhere, with the files that its
// versions were made of.
func TestAccountsMove(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		here, _ := newService(t)
		for i := range rapid.IntRange(1, 3).Draw(rt, "prompts") {
			for n := range rapid.IntRange(1, 4).Draw(rt, "versions") {
				extra := rapid.SampledFrom([]string{"", "# a comment\n", "license: MIT\n"}).Draw(rt, "extra")
				public := rapid.SampledFrom([]string{"", "visibility: public\n"}).Draw(rt, "visibility")
				label := rapid.SampledFrom([]string{"", "labels: [production]\n", "labels: [a, b]\n"}).Draw(
					rt, "labels")
				text := rapid.SampledFrom([]string{"x", "Hello {{who}}", "é\n\n  y"}).Draw(rt, "text")
				about := rapid.SampledFrom([]string{"", "description: one\n", "description: two\n"}).Draw(rt, "about")
				extra += about
				file := fmt.Sprintf("---\nname: p%d\n%s%s%s---\n\n%s %d\n", i, extra, public, label, text, n)
				take(rt, here, file, transfer.Options{File: "p.md", Update: true})
			}
			v, err := here.GetByName(t.Context(), ann, library.IDOf(ann),
				fmt.Sprintf("p%d", i), library.WantedVersion{})
			require.NoError(rt, err)
			for n := range v.Version {
				if rapid.SampledFrom([]bool{true, false, false}).Draw(rt, "recall") {
					require.NoError(rt, here.Recall(t.Context(), ann, v.ID, n+1, "because"))
				}
			}
		}
		account := give(rt, here)
		there, _ := newService(t)
		items := take(rt, there, account, transfer.Options{File: "account.jsonl"})
		require.False(rt, slices.ContainsFunc(items, func(i transfer.Item) bool {
			return i.Outcome == transfer.Rejected
		}), "%v", items)
		require.Equal(rt, account, give(rt, there))
		for _, i := range take(rt, there, account, transfer.Options{File: "account.jsonl"}) {
			require.Equal(rt, transfer.Unchanged, i.Outcome)
		}
	})
}

// TestHandlesMove: the handle that a user has chosen comes in the place of one that was made of the
// name, and the same file again changes nothing.
func TestHandlesMove(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	take(t, s, "---\nname: p\n---\n\ntext\n", transfer.Options{File: "p.md"})
	given, err := s.Profile(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, "ann", given.Handle)
	const profile = `{"profile":{"handle":"ann-lee","name":"Ann Lee"}}` + "\n"
	for _, want := range []transfer.Outcome{transfer.Updated, transfer.Unchanged} {
		require.Equal(t, want, take(t, s, profile, transfer.Options{File: "account.jsonl"})[0].Outcome)
	}
	moved, err := s.Profile(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, []string{"ann-lee", "ann"}, []string{moved.Handle, moved.Former})
}

// TestFilesThatAreNotSent: a history that names the file of a version and does not bring it goes in
// without, and the same file again changes nothing.
func TestFilesThatAreNotSent(t *testing.T) {
	t.Parallel()
	here, _ := newService(t)
	take(t, here, "---\nname: p\nlicense: MIT\n---\n\none\n", transfer.Options{File: "p.md"})
	account := regexp.MustCompile(`"source":\{[^}]*\}`).ReplaceAllString(give(t, here),
		`"fileHash":"`+strings.Repeat("0", 64)+`"`)
	require.Contains(t, account, `"fileHash":"000`)
	there, _ := newService(t)
	for _, want := range []transfer.Outcome{transfer.Created, transfer.Unchanged} {
		items := take(t, there, account, transfer.Options{File: "account.jsonl"})
		require.Equal(t, want, items[1].Outcome, items[1].Reason)
	}
}

// TestHistoriesOfBefore: an account whose versions have no descriptions of their own, as releases
// before wrote it, has the same versions elsewhere, and importing it again changes nothing.
func TestHistoriesOfBefore(t *testing.T) {
	t.Parallel()
	here, _ := newService(t)
	for _, text := range []string{"one", "two"} {
		take(t, here, "---\nname: p\ndescription: Greets\n---\n\n"+text+"\n",
			transfer.Options{File: "p.md", Update: true})
	}
	const about = `"description":"Greets"`
	account := give(t, here)
	require.Equal(t, 3, strings.Count(account, about), account)
	account = strings.ReplaceAll(account, ","+about, "")
	account = strings.Replace(account, `"name":"p"`, `"name":"p",`+about, 1)
	there, _ := newService(t)
	for _, want := range []transfer.Outcome{transfer.Created, transfer.Unchanged} {
		items := take(t, there, account, transfer.Options{File: "account.jsonl"})
		require.Equal(t, want, items[1].Outcome, items[1].Reason)
	}
	id := take(t, there, account, transfer.Options{File: "account.jsonl"})[1].ID
	for n, text := range []string{"one", "two"} {
		v, err := there.GetVersion(t.Context(), ann, id, library.WantedVersion{Number: int64(n + 1)})
		require.NoError(t, err)
		require.True(t, v.ShownVersion.Undescribed)
		require.Equal(t, "Greets", v.Description)
		require.Equal(t, prompt.Content{Text: text}.Hash(), v.ShownVersion.Hash)
	}
}

// TestInvisibleCharactersAreRemoved: titles and names of a file lose what no reader sees, and the
// report says so; texts keep it.
func TestInvisibleCharactersAreRemoved(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	const text = "Say it.\U000e0049\u202e"
	lines := ""
	for _, d := range []format.Document{
		{Name: "file\u202e", Title: "\u202etxt.exe\U000e0041", Text: text},
		{Name: "shown", Title: "\u200b", Text: text},
		{Name: "emoji", Title: "👩\u200d👧", Text: text},
	} {
		b, err := json.Marshal(d)
		require.NoError(t, err)
		lines += string(b) + "\n"
	}
	items := take(t, s, lines, transfer.Options{File: "a.jsonl"})
	require.Equal(t, []string{"file created", "shown created", "emoji created"}, outcomes(items))
	require.Equal(t, []string{"title.invisible", "name.invisible"}, items[0].Loss)
	require.Equal(t, []string{"title.invisible"}, items[1].Loss)
	require.Empty(t, items[2].Loss)
	for i, title := range []string{"txt.exe", "shown", "👩\u200d👧"} {
		v, err := s.Get(t.Context(), ann, items[i].ID)
		require.NoError(t, err)
		require.Equal(t, title, v.Title)
		require.Equal(t, text, v.Text)
	}
	require.Equal(t, []string{"file unchanged", "shown unchanged", "emoji unchanged"},
		outcomes(take(t, s, lines, transfer.Options{File: "a.jsonl"})))
}

// TestUpdateTakesWhatOnlyTheFormatKnows: a file that says the same of the prompt is a version if
// the library would give another one away; the same file, or one that only looks otherwise, is
// none.
func TestUpdateTakesWhatOnlyTheFormatKnows(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	send := func(name, file string, update bool) transfer.Item {
		items := take(t, s, file, transfer.Options{File: name, Update: update})
		require.Len(t, items, 1)
		return items[0]
	}
	const skill = "---\nname: a\ndescription: d\nlicense: MIT\n---\nDo it.\n"
	require.Equal(t, transfer.Created, send("a/SKILL.md", skill, true).Outcome)
	for _, tt := range []struct {
		name, file string
		outcome    transfer.Outcome
	}{
		{"a/SKILL.md", skill, transfer.Unchanged},
		{"a/SKILL.md", strings.ReplaceAll(skill, "\n", "\r\n"), transfer.Unchanged},
		{"a/SKILL.md", strings.Replace(skill, "MIT", "ISC", 1), transfer.Updated},
		{"a/SKILL.md", strings.Replace(skill, "MIT", "ISC", 1), transfer.Unchanged},
		{"a/SKILL.md", strings.Replace(skill, "MIT", "ISC # ours", 1), transfer.Updated},
		{"a.md", "---\nname: a\n---\nDo it.\n", transfer.Unchanged},          // knows no more
		{"a.md", "---\nname: a\nmood: dry\n---\nDo it.\n", transfer.Updated}, // another format, which does
		{"a.csv", "name,title,text\na,a,Do it.\n", transfer.Unchanged},       // of many prompts
		{"a.csv", "name,title,text,note\na,a,Do it.,x\n", transfer.Updated},  // with one more column
		{"a.csv", "note,name,title,text\nx,a,a,Do it.\nx,b,b,B\n", ""},       // which are in another order
	} {
		if tt.outcome == "" {
			items := take(t, s, tt.file, transfer.Options{File: tt.name, Update: true})
			require.Equal(t, []transfer.Outcome{transfer.Unchanged, transfer.Created},
				[]transfer.Outcome{items[0].Outcome, items[1].Outcome})
			continue
		}
		item := send(tt.name, tt.file, true)
		require.Equal(t, tt.outcome, item.Outcome, "%s %q: %s", tt.name, tt.file, item.Reason)
	}
	item := send("a/SKILL.md", strings.Replace(skill, "MIT", "GPL", 1), false)
	require.Equal(t, transfer.Rejected, item.Outcome)
	require.Contains(t, item.Reason, "update it")
}

// TestDamagedFile: a version whose file is damaged is restored without it, and the message tells
// so; its export is written anew, and tells that the file is lost.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	for _, damaged := range []string{"row", "bytes"} {
		s, store := newService(t)
		for _, text := range []string{"one", "two"} {
			take(t, s, "---\nname: p\nlicense: MIT\n---\n\n"+text+"\n", transfer.Options{File: "p.md", Update: true})
		}
		v, err := s.GetByName(t.Context(), ann, library.IDOf(ann), "p", library.WantedVersion{})
		require.NoError(t, err)
		store.damaged.Store(damaged)
		v, made, err := s.RestoreVersion(t.Context(), ann, v.ID, 1)
		require.NoError(t, err, damaged)
		require.True(t, made)
		require.Equal(t, []string{"one", "Restores version 1, but not its file, which is damaged"},
			[]string{v.Text, v.Message})
		f, err := transfer.FileOf(t.Context(), s, v, "markdown", "")
		require.NoError(t, err, damaged)
		require.Contains(t, f.Loss, "source")
		require.Contains(t, string(f.Bytes), "one")
		a, b, err := s.Compare(t.Context(), ann, v.ID, 1, 3)
		require.NoError(t, err)
		_, err = transfer.CompareFiles(t.Context(), s, a, b)
		require.NoError(t, err)

		store.damaged.Store("")
		v, _, err = s.RestoreVersion(t.Context(), ann, v.ID, 2)
		require.NoError(t, err)
		require.Equal(t, []string{"two", "Restores version 2"}, []string{v.Text, v.Message})
	}
}

// TestAccountWithDamagedFiles: the export of an account goes on past files that are damaged and
// names them, and what it wrote can be taken in, twice.
func TestAccountWithDamagedFiles(t *testing.T) {
	t.Parallel()
	whole, store := newService(t)
	for _, text := range []string{"one", "two"} {
		take(t, whole, "---\nname: p\nlicense: "+text+"\n---\n\n"+text+"\n",
			transfer.Options{File: "p.md", Update: true})
	}
	v, err := whole.GetByName(t.Context(), ann, library.IDOf(ann), "p", library.WantedVersion{})
	require.NoError(t, err)
	_, err = whole.Patch(t.Context(), ann, v.ID, library.Match{Any: true}, func(d *prompt.Draft) { d.Text = "three" })
	require.NoError(t, err)
	take(t, whole, "Another.", transfer.Options{File: "q.md"})
	for damaged, lost := range map[string][]int64{
		"row": {1, 2}, "bytes": {1, 2}, "row 1": {1}, "row 2": {2},
		"bytes 1": {1}, "bytes 2": {2},
	} {
		store.damaged.Store(damaged)
		file := give(t, whole)
		store.damaged.Store("")
		p, _, goesOn := strings.Cut(file, `{"name":"q"`)
		require.True(t, goesOn, damaged)
		require.Equal(t, len(lost), strings.Count(p, `"loss":["source"]`), damaged)
		require.Equal(t, 2-len(lost), strings.Count(p, `"source":{`), damaged)

		there, _ := newService(t)
		for _, want := range []transfer.Outcome{transfer.Created, transfer.Unchanged} {
			item := take(t, there, file, transfer.Options{File: "account.jsonl"})[1]
			require.Equal(t, want, item.Outcome, "%s: %s", damaged, item.Reason)
			var told []string
			for _, n := range lost {
				told = append(told, fmt.Sprintf("source (version %d: damaged where it was exported)", n))
			}
			require.Equal(t, told, item.Loss, damaged)
		}
		is, err := there.GetByName(t.Context(), ann, library.IDOf(ann), "p", library.WantedVersion{})
		require.NoError(t, err)
		require.Equal(t, []any{"three", int64(3)}, []any{is.Text, is.Version})
	}
}
