package promptdb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/chaos"
)

// The tests of this file fail for faults that no other noticed.

// aside is a store that does something before a write.
type aside struct {
	table.DB
	before func(name string, ops []table.Op)
}

func (a *aside) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if a.before != nil {
		a.before(name, ops)
	}
	return a.DB.Write(ctx, name, ops...)
}

// TestOldWakeUpIsSentAgain: a process stands still at what it read. What it then writes needs a
// repair message of its own.
func TestOldWakeUpIsSentAgain(t *testing.T) {
	tests := map[string]struct {
		reads, writes, queue string
		do                   func(prompt.Prompt) func(context.Context, *promptdb.DB) error
	}{
		"edit": {
			"get Prompts ", "write Prompts ", promptdb.QueueRepairs,
			func(p prompt.Prompt) func(context.Context, *promptdb.DB) error {
				return func(ctx context.Context, db *promptdb.DB) error {
					return toVisibility(prompt.Private)(ctx, db, p.ID)
				}
			},
		},
		"vote": {
			"list PromptVotes ", "write PromptVotes ", promptdb.QueueMoves,
			func(p prompt.Prompt) func(context.Context, *promptdb.DB) error {
				return castIt(p.ID)
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				r := newRing(t)
				tk := r.start(name, tt.do(r.seeded(1)))
				// a vote reads again after a refusal, with the repair message of the first try
				stood, refused := false, name == "edit"
				var sent time.Time
				for !tk.settled() {
					synctest.Wait()
					if tk.settled() {
						break
					}
					c := r.Pending()[0]
					switch {
					case !c.Wake.IsZero():
						r.Advance(c.Wake.Sub(r.Now()))
					case strings.HasPrefix(c.Label, "send "+tt.queue):
						sent = r.Now()
					case strings.HasPrefix(c.Label, tt.writes) && !refused:
						refused = true
						c.Fail(table.ErrBusy)
						continue
					case strings.HasPrefix(c.Label, tt.reads) && refused && !stood:
						stood = true
						for _, other := range r.Pending() {
							if other != c {
								sent = r.Now()
								other.Pass()
							}
						}
						answer := c.Hold()
						r.Advance(25 * time.Second)
						answer()
						continue
					case strings.HasPrefix(c.Label, tt.writes):
						require.Less(t, r.Now().Sub(sent), 25*time.Second,
							"a commit follows a repair message of long before")
					}
					c.Pass()
				}
				tk.process.Kill()
				synctest.Wait()
				require.NoError(t, tk.err)
				require.True(t, stood)
			})
		})
	}
}

// TestFirstPageBesideWrites: while a prompt is being taken off the lists somebody reads a first
// page, which still has it. Once that is answered the page is read anew.
func TestFirstPageBesideWrites(t *testing.T) {
	for name, first := range firstPages {
		t.Run(name, func(t *testing.T) {
			store := &aside{DB: memory.NewTables()}
			w := newWorldOn(t, store)
			p := w.add("ann", draft("Going", "text"))
			w.run()
			w.clock.Advance(time.Minute)
			store.before = func(_ string, ops []table.Op) {
				if ops[0].Kind == table.Delete {
					_, err := first(t.Context(), w.DB, 20)
					require.NoError(t, err)
				}
			}
			w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
			page, err := first(t.Context(), w.DB, 20)
			require.NoError(t, err)
			require.Empty(t, page.Items)
		})
	}
}

// TestOrphanKeyTakenOver: anti-entropy is about to remove an Idempotency-Key that leads to no
// prompt; a new prompt takes it over.
func TestOrphanKeyTakenOver(t *testing.T) {
	store := &aside{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	old, _ := w.keyed("Old")
	w.run()
	prompts := promptdb.DefaultTables().Prompts
	for _, row := range []string{string(old.ID), w.MineRow(old).Row} {
		_, err := store.Write(t.Context(), prompts,
			table.Op{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: "u|ann", Row: row}, ETag: table.Any}})
		require.NoError(t, err)
	}
	var taken prompt.Prompt
	store.before = func(name string, ops []table.Op) {
		if name == prompts && ops[0].Kind == table.Delete && strings.HasPrefix(ops[0].Row.Row, "!idem|") {
			store.before = nil
			taken, _ = w.keyed("New")
		}
	}
	_, err := w.Reindex(t.Context(), false, func(promptdb.Difference) {}, func(int) {})
	require.NoError(t, err)
	require.NotEmpty(t, taken.ID, "the key was not about to be removed")
	again, made := w.keyed("Again")
	require.False(t, made)
	require.Equal(t, taken.ID, again.ID)
}

// TestNewerRowsAreNotWritten: a binary that does not know which rows a newer one wrote leaves the
// prompt alone.
func TestNewerRowsAreNotWritten(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", draft("Newer", "text"))
	w.run()
	key := table.Key{Partition: "u|ann", Row: string(p.ID)}
	w.put(table.Merge, key, table.Prop{Name: "RowsVersion", Value: table.Int32(promptdb.RowsVersion + 1)})
	before, err := w.store.Get(t.Context(), promptdb.DefaultTables().Prompts, key)
	require.NoError(t, err)
	_, err = w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Title = "Changed"
		return p, nil
	})
	require.Equal(t, fault.Unavailable, fault.Of(err), "%v", err)
	_ = w.Rewrite(t.Context(), "ann", p.ID)
	_, _, _ = w.Sweep(t.Context())
	after, err := w.store.Get(t.Context(), promptdb.DefaultTables().Prompts, key)
	require.NoError(t, err)
	require.Equal(t, before, after)
}

// TestEveryAttemptIsKnown: the first commit is not answered and lands while the second is on its
// way, which then fails. The change is the writer's own.
func TestEveryAttemptIsKnown(t *testing.T) {
	bubble(t, func(t *testing.T) {
		r := newRing(t)
		p := r.seeded(1)
		tk := r.start("edit", func(ctx context.Context, db *promptdb.DB) error {
			return toVisibility(prompt.Private)(ctx, db, p.ID)
		})
		var land func()
		commits := 0
		for !tk.settled() {
			synctest.Wait()
			if tk.settled() {
				break
			}
			c := r.Pending()[0]
			if !c.Wake.IsZero() {
				r.Advance(c.Wake.Sub(r.Now()))
			}
			if strings.HasPrefix(c.Label, "write Prompts ") && strings.Contains(c.Label, "replace") {
				commits++
				switch commits {
				case 1:
					land = c.Delay(chaos.ErrTimeout)
					continue
				case 2:
					land()
				}
			}
			c.Pass()
		}
		tk.process.Kill()
		synctest.Wait()
		require.NoError(t, tk.err)
		require.Equal(t, 2, commits, "it waits for itself, or tries again what it has done")
	})
}

// TestEveryFieldIsKept sets every property of every row of the truth to a value of its own and
// follows it through a backup that is restored, and through reindex: no property is forgotten.
func TestEveryFieldIsKept(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p := mixed(w)[0]
	for _, name := range []string{"first-name", "second-name"} {
		w.edit(p.AuthorID, p.ID, func(p *prompt.Prompt) {
			p.Name, p.Description, p.Message = name, "About "+name, "for "+name
			p.Text += name + include("other|label=latest")
			p.Made = prompt.Made{By: "maker of " + name, At: time.Date(2025, 1, 2, 3, 4, 5, 6_000_000, time.UTC)}
			p.Labels, p.Follows = []string{"there"}, true
		})
	}
	w.edit(p.AuthorID, p.ID, func(p *prompt.Prompt) {
		p.Kind, p.Text = prompt.KindChat, ""
		p.Messages = []prompt.Message{{Role: "system", Content: "You are {{who}}."}}
		p.Config, p.OwnTags = `{"temperature":0.5}`, []string{"my own", "a; b"}
		p.ForkedFrom = prompt.ForkedFrom{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Version: 3}
		p.Variables = []prompt.Variable{{Name: "who", Type: "text", Description: "whom to play", Required: true}}
	})
	for _, n := range []int64{1, 2, 3} {
		w.clock.Advance(time.Millisecond)
		_, err := w.SetLabels(t.Context(), p.AuthorID, p.ID, []string{"production"}, n,
			prompt.Actor{Key: "mover"}, allow)
		require.NoError(t, err)
	}
	_, err := w.UndoLabel(t.Context(), p.AuthorID, p.ID, "production", prompt.Actor{Key: "undoer"}, "")
	require.NoError(t, err)
	require.NoError(t, w.DeleteVersion(t.Context(), p.AuthorID, p.ID, 1, prompt.Actor{}))
	w.keyed("Keyed")
	require.NoError(t, w.PutTag(t.Context(),
		prompt.TagInfo{Tag: "own", DisplayName: "Own", SortOrder: 77, Active: true}))
	require.NoError(t, w.PutTag(t.Context(),
		prompt.TagInfo{Tag: "old", DisplayName: "Old", SortOrder: 78, Active: true}))
	require.NoError(t, w.RetireTag(t.Context(), "old"))
	w.run()
	want := w.stored()
	passing := []string{"ProjectedAt", "LoggedAt", "Logs"} // say when, not what
	filled := map[string]bool{}
	for _, rows := range want {
		for _, row := range rows {
			for _, p := range row.Props {
				filled[p.Name] = filled[p.Name] || p.Value.Str() != "" || p.Value.Int() != 0
			}
		}
	}
	for name, is := range filled {
		require.True(t, is || name == "Pending",
			"every row has an empty %s: the library is too plain to tell whether it is kept", name)
	}
	var out bytes.Buffer
	_, err = w.Backup(t.Context(), &out, func(d promptdb.Difference) { w.t.Error(d) }, func(int) {})
	require.NoError(t, err)
	to := newWorldOn(t, memory.NewTables())
	err = restore(t.Context(), to.DB, bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	to.run()
	require.Equal(t, without(want, passing), without(to.stored(), passing), "restored")
	_, err = w.Reindex(t.Context(), false, func(promptdb.Difference) {}, func(int) {})
	require.NoError(t, err)
	w.run()
	require.Equal(t, without(want, passing), without(w.stored(), passing), "indexed anew")
}

// stored returns all rows of all tables.
func (w *world) stored() map[string]map[table.Key]table.Row {
	all := map[string]map[table.Key]table.Row{}
	for _, name := range promptdb.DefaultTables().All() {
		if name == promptdb.DefaultTables().SystemState {
			continue
		}
		all[name] = map[table.Key]table.Row{}
		for row, err := range table.All(w.t.Context(), w.store, name, table.Range{}) {
			require.NoError(w.t, err)
			all[name][row.Key] = row
		}
	}
	return all
}

// unstamped returns the key of a row without what says when, as in logs. It is none of a row that
// says only what was.
func unstamped(key table.Key, props table.Props) (of table.Key, is bool) {
	public, own := strings.HasPrefix(key.Partition, "s|"), strings.HasPrefix(key.Partition, "o|")
	switch {
	case props.Get("Gone").Bool():
		return key, false
	case public:
		key.Partition = "s"
	}
	if public || own {
		_, key.Row, _ = strings.Cut(key.Row, "|")
	}
	return key, true
}

// without returns rows by table and key as text, in order, without some properties.
func without(rows map[string]map[table.Key]table.Row, names []string) map[string][]string {
	all := map[string][]string{}
	for name, byKey := range rows {
		for key, row := range byKey {
			key, is := unstamped(key, row.Props)
			if !is {
				continue
			}
			for _, p := range row.Props {
				zero := p.Value.Str() == "" && p.Value.Int() == 0
				if !slices.Contains(names, p.Name) && !zero {
					all[name] = append(all[name], fmt.Sprintf("%s %s=%s", key, p.Name, p.Value))
				}
			}
		}
		slices.Sort(all[name])
	}
	return all
}

// A hookedReads store does something at each read: hold is asked before it, and then after it.
type hookedReads struct {
	table.DB
	hold, then func(name string, key table.Key)
}

func (b *hookedReads) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	b.hold(name, key)
	row, err := b.DB.Get(ctx, name, key)
	b.then(name, key)
	return row, err
}

func (b *hookedReads) List(ctx context.Context, name string, r table.Range, limit int,
	next string,
) (table.Page, error) {
	page, err := b.DB.List(ctx, name, r, limit, next)
	b.then(name, table.Key{Partition: r.FromPartition})
	return page, err
}

func nothing(string, table.Key) {}

// TestMonthListedBesideALook: while an instance looks for the first month that has prompts, it
// lists one in an earlier month.
func TestMonthListedBesideALook(t *testing.T) {
	t.Parallel()
	store := &hookedReads{DB: memory.NewTables(), hold: nothing, then: nothing}
	w := newWorldOn(t, store)
	w.add("ann", draft("now"))
	require.Equal(t, []string{"now"}, w.newest(20))
	w.clock.Advance(2 * time.Minute)
	listed := false
	store.then = func(name string, key table.Key) {
		if name == promptdb.DefaultTables().Newest && strings.HasSuffix(key.Partition, "|") { // from the first month on
			store.then = nothing
			listed = true
			w.clock.Advance(-90 * 24 * time.Hour)
			w.add("ann", draft("earlier"))
			w.clock.Advance(90*24*time.Hour - time.Millisecond)
		}
	}
	w.newest(20)
	require.True(t, listed)
	w.clock.Advance(2 * time.Second) // first pages are kept for less, and the months for a minute
	require.Equal(t, []string{"now", "earlier"}, w.newest(20))
}

// TestNoLabelOnADeletedPrompt: no rule decides whether a label may move on a deleted prompt.
func TestNoLabelOnADeletedPrompt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.setDeleted(w.add("ann", draft("T")), true)
	_, err := w.SetLabels(t.Context(), "ann", p.ID, []string{"staging"}, 1, prompt.Actor{}, func(prompt.Prompt) error {
		return errors.New("asked")
	})
	require.Equal(t, prompt.ErrUnknown(), err)
}

// TestLabelBesideDeletion: a prompt is deleted after somebody who moves a label has read it, and
// another takes its name before he has read its labels.
func TestLabelBesideDeletion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.mustRename(w.add("ann", draft("Old")), "wanted")
	read := make(chan struct{})
	truth := promptdb.PromptKey("ann", p.ID)
	var other prompt.Prompt
	gone := sync.OnceFunc(func() {
		w.setDeleted(p, true)
		other = w.mustRename(w.add("ann", draft("New")), "wanted")
		close(read)
	})
	db := w.over(&hookedReads{
		DB: w.store,
		hold: func(_ string, key table.Key) {
			if key.Partition == truth.Partition && key != truth {
				<-read
			}
		},
		then: func(_ string, key table.Key) {
			if key == truth {
				gone()
			}
		},
	})
	_, err := db.SetLabels(t.Context(), "ann", p.ID, []string{"staging"}, 1, prompt.Actor{}, allow)
	require.Equal(t, prompt.ErrUnknown(), err)
	labels, _, err := w.Labels(t.Context(), "ann", other.ID)
	require.NoError(t, err)
	require.Empty(t, labels)
	require.Equal(t, other.ID, w.at("wanted"))
	w.run()
	w.check()
}

// TestSweepThatFailedBeginsAgain: a table counts as walked once nothing in it failed.
func TestSweepThatFailedBeginsAgain(t *testing.T) {
	t.Parallel()
	store := &refusing{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	w.add("ann", draft("T", "text"))
	w.run()
	tags := promptdb.DefaultTables().TagIndex
	missing := w.all(tags)[0]
	w.must(tags, table.Op{Kind: table.Delete, Row: table.Row{Key: missing.Key, ETag: table.Any}})
	store.name = tags
	_, _, err := w.Sweep(t.Context())
	require.Error(t, err)
	store.name = ""
	w.clock.Advance(10 * time.Minute)
	_, _, err = w.Sweep(t.Context())
	require.NoError(t, err)
	require.Len(t, w.all(tags), 1)
}

// refusing is a store that takes no write of one table.
type refusing struct {
	table.DB
	name string
}

func (r *refusing) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if name == r.name {
		return nil, table.ErrBusy
	}
	return r.DB.Write(ctx, name, ops...)
}

// TestSweepAfterAWrongClock: a clock that was ahead by years does not end anti-entropy for as long.
func TestSweepAfterAWrongClock(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.add("ann", draft("T"))
	w.run()
	w.clock.Advance(10 * 365 * 24 * time.Hour)
	_, _, err := w.Sweep(t.Context())
	require.NoError(t, err)
	w.clock.Advance(-10 * 365 * 24 * time.Hour)
	rows, _, err := w.Sweep(t.Context())
	require.NoError(t, err)
	require.NotZero(t, rows)
}

// TestProfileOfTwoWindows: what the one wrote does not take back what the other did.
func TestProfileOfTwoWindows(t *testing.T) {
	t.Parallel()
	store := &aside{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	_, err := w.PutProfile(t.Context(), "ann", prompt.Profile{Name: "Ann"})
	require.NoError(t, err)
	store.before = func(string, []table.Op) {
		store.before = nil
		_, err := w.another().PutProfile(t.Context(), "ann", prompt.Profile{Handle: "ann-lee", Name: "Ann"})
		require.NoError(t, err)
	}
	got, err := w.PutProfile(t.Context(), "ann", prompt.Profile{Name: "Ann Lee"})
	require.NoError(t, err)
	require.Equal(t, prompt.Profile{Handle: "ann-lee", Name: "Ann Lee"}, got)
	got, err = w.Profile(t.Context(), "ann")
	require.NoError(t, err)
	require.Equal(t, prompt.Profile{Handle: "ann-lee", Name: "Ann Lee"}, got)
}

// TestRevokedTokenIsForgotten: the instance that revokes a token believes it no longer.
func TestRevokedTokenIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	token := ciToken(w.clock.Now(), strings.Repeat("a", 16))
	require.NoError(t, w.AddToken(t.Context(), token))
	got, err := w.Token(t.Context(), token.ID, freely)
	require.NoError(t, err)
	require.NotNil(t, got)
	there, err := w.RemoveToken(t.Context(), token.OwnerID, token.ID, "a_x")
	require.NoError(t, err)
	require.True(t, there)
	got, err = w.Token(t.Context(), token.ID, freely)
	require.NoError(t, err)
	require.Nil(t, got)
}

// TestTextSearchAsksRowsForTags: prompts that have a word in their text and lack a tag are not
// read.
func TestTextSearchAsksRowsForTags(t *testing.T) {
	t.Parallel()
	store := &counted{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	const many = 40
	for i := range many {
		w.add("ann", prompt.Draft{
			Title: numbered(i), Text: "zebra",
			Tags: []prompt.Tag{"text"}, Visibility: prompt.Public,
		})
	}
	w.add("ann", prompt.Draft{Title: "Wanted", Text: "zebra", Tags: []prompt.Tag{"image"}, Visibility: prompt.Public})
	w.run()
	store.reset()
	require.Equal(t, []string{"Wanted"},
		w.find(t, promptdb.Search{Text: true, Words: query(t, "zebra"), Tags: []prompt.Tag{"image"}}, 20))
	require.Less(t, store.count(), many/2)
}

// TestRestoreWithoutIndex: a restore that ends when all rows are read leaves a store that a reindex
// makes whole. Until then it is none.
func TestRestoreWithoutIndex(t *testing.T) {
	t.Parallel()
	from := newWorld(t)
	from.add("ann", draft("T", "text"))
	backup := from.backup()
	store := &refusing{DB: memory.NewTables()}
	w := newWorldOn(t, store)
	require.NoError(t, w.Ready(t.Context()))
	store.name = promptdb.DefaultTables().TagIndex
	require.ErrorIs(t, restore(t.Context(), w.DB, strings.NewReader(backup)), promptdb.ErrNotIndexed)
	store.name = ""
	for _, err := range []error{w.Ready(t.Context()), w.another().Create(t.Context())} {
		require.ErrorIs(t, err, promptdb.ErrNotIndexed)
		require.Equal(t, promptdb.RestoreIncomplete, fault.CodeOf(err))
	}
	_, err := w.Reindex(t.Context(), false, func(promptdb.Difference) {}, func(int) {})
	require.NoError(t, err)
	require.NoError(t, w.Ready(t.Context()))
	w.run()
	w.check()
}

// TestRestoreCutOff: whatever write of a restore fails, its store is refused or has nothing of it.
func TestRestoreCutOff(t *testing.T) {
	t.Parallel()
	from := newWorld(t)
	from.vote("bob", from.add("ann", draft("T", "text")).ID, prompt.Like)
	from.run()
	backup := from.backup()
	for n := 0; ; n++ {
		store := &failing{DB: memory.NewTables()}
		w := newWorldOn(t, store)
		store.on, store.left = true, n
		err := restore(t.Context(), w.DB, strings.NewReader(backup))
		store.on = false
		if err == nil {
			require.NoError(t, w.Ready(t.Context()))
			require.Greater(t, n, 5)
			return
		}
		if n == 0 {
			require.NoError(t, w.Ready(t.Context()), "nothing was written")
			continue
		}
		require.Equal(t, promptdb.RestoreIncomplete, fault.CodeOf(w.Ready(t.Context())), "write %d failed", n)
	}
}

// failing is a store that takes n writes.
type failing struct {
	table.DB
	on   bool
	mu   sync.Mutex
	left int
}

func (f *failing) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	f.mu.Lock()
	f.left--
	over := f.on && f.left < 0
	f.mu.Unlock()
	if over {
		return nil, table.ErrInvalid
	}
	return f.DB.Write(ctx, name, ops...)
}
