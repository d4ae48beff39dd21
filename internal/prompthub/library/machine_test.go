package library_test

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/transact"
)

// A machine runs what an author may do with names, versions and labels, in any order, and a model
// of it, which says in a few lines what the documentation promises.
type machine struct {
	t   *rapid.T
	s   *library.Service
	db  *promptdb.DB
	now time.Time

	queues  queue.Queues
	prompts []*modelled
	keys    map[string]*key // the prompts of names and slugs
}

// A modelled is a prompt as it should be.
type modelled struct {
	id            prompt.ID
	name, slug    string
	versions      map[int64]string // their texts
	current, last int64
	from          int64
	labels        map[string]int64
	moves         map[string][]int64 // where each label was before, as far as it can be taken back
	public        bool
	deleted       time.Time
	origin        prompt.ForkedFrom
}

// A key is where a name leads, and whether it is an old one.
type key struct {
	to  *modelled
	old bool
}

var (
	author = auth.User{ID: "ann", Name: "Ann"}
	reader = auth.User{ID: "bob", Name: "Bob"}

	someNames  = []string{"a", "b", "c", "d"}
	someLabels = []string{"production", "staging"}
	someTexts  = []string{"one", "two", "three"}
)

func newMachine(t *rapid.T) *machine {
	m := &machine{t: t, now: time.Date(2026, 3, 31, 23, 30, 0, 0, time.UTC), keys: map[string]*key{}}
	clock := func() time.Time { return m.now }
	tables, queues := memory.NewTables(), memory.NewQueues(clock)
	var together transact.Func
	if rapid.Bool().Draw(t, "together") {
		together = memory.Together(tables, queues)
	}
	m.queues = queues
	m.db = promptdb.New(promptdb.Config{
		Store: tables, Queues: m.queues, Transact: together, Tables: promptdb.DefaultTables(), Now: clock,
		Log:        slog.New(slog.DiscardHandler),
		Background: func(f func()) { f() },
		Sleep:      func(_ context.Context, d time.Duration) error { m.now = m.now.Add(d); return nil },
	})
	require.NoError(t, m.db.Create(context.Background()))
	m.s = library.New(m.db, prompt.Rules{}, clock)
	return m
}

// any draws one of the prompts that were not purged.
func (m *machine) any() *modelled {
	if len(m.prompts) == 0 {
		m.t.Skip("no prompt")
	}
	return m.prompts[rapid.IntRange(0, len(m.prompts)-1).Draw(m.t, "prompt")]
}

// living draws one that is not deleted.
func (m *machine) living() *modelled {
	p := m.any()
	if !p.deleted.IsZero() {
		m.t.Skip("it is deleted")
	}
	return p
}

func one(t *rapid.T, of []string, name string) string { return rapid.SampledFrom(of).Draw(t, name) }

// free reports whether a prompt may take a name.
func (m *machine) free(name string, p *modelled) bool {
	k := m.keys[name]
	return k == nil || k.to == p || k.old || !k.to.deleted.IsZero()
}

// answers asserts the kind of an error, and reports whether there is none.
func (m *machine) answers(want fault.Kind, err error) bool {
	if want == fault.Internal { // none
		require.NoError(m.t, err)
		return true
	}
	require.Error(m.t, err)
	require.Equal(m.t, want, fault.Of(err), err.Error())
	return false
}

func when(wrong bool, kind fault.Kind) fault.Kind {
	if wrong {
		return kind
	}
	return fault.Internal
}

// maxPrompts is how many there are: few, so that the same meets several commands.
const maxPrompts = 4

func (m *machine) create(t *rapid.T) {
	m.few(t)
	name, public := one(t, someNames, "name"), rapid.Bool().Draw(t, "public")
	d := prompt.Draft{Name: name, Title: "T", Text: one(t, someTexts, "text"), Visibility: visibility(public)}
	free := m.free(name, nil)
	v, _, err := m.s.Create(context.Background(), author, d, "")
	if m.answers(when(!free, fault.Conflict), err) {
		m.add(v, d.Text, public)
	}
}

func (m *machine) few(t *rapid.T) {
	if len(m.prompts) == maxPrompts {
		t.Skip("enough prompts")
	}
}

func visibility(public bool) prompt.Visibility {
	if public {
		return prompt.Public
	}
	return prompt.Private
}

func (m *machine) add(v library.View, text string, public bool) *modelled {
	p := &modelled{
		id: v.ID, name: v.Name, slug: v.Slug, versions: map[int64]string{1: text}, current: 1, last: 1, from: 1,
		labels: map[string]int64{}, moves: map[string][]int64{}, public: public,
	}
	require.True(m.t, m.free(p.name, p) && m.free(p.slug, p), "%s and %s were free", p.name, p.slug)
	m.keys[p.name], m.keys[p.slug] = &key{to: p}, &key{to: p}
	m.prompts = append(m.prompts, p)
	return p
}

func (m *machine) rename(t *rapid.T) {
	p, name := m.living(), one(t, someNames, "name")
	free := m.free(name, p)
	_, err := m.s.Patch(context.Background(), author, p.id, library.Match{Any: true},
		func(d *prompt.Draft) { d.Name = name })
	if !m.answers(when(!free, fault.Conflict), err) || name == p.name {
		return
	}
	if p.name != p.slug {
		m.keys[p.name] = &key{to: p, old: true}
	}
	p.name = name
	m.keys[name] = &key{to: p}
}

func (m *machine) write(t *rapid.T) {
	p, text := m.living(), one(t, someTexts, "text")
	labels := rapid.SliceOfNDistinct(rapid.SampledFrom(someLabels), 0, 2, rapid.ID[string]).Draw(t, "labels")
	public := rapid.Bool().Draw(t, "public")
	to := visibility(public)
	_, err := m.s.Patch(context.Background(), author, p.id, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Text, d.Labels, d.Visibility = text, labels, to
	})
	require.NoError(t, err)
	m.holds(p, text)
	if public && !p.public {
		p.from = p.current
	}
	p.public = public
	for _, l := range labels {
		p.move(l, p.current)
	}
}

// holds is what becomes of a prompt that gets a text.
func (m *machine) holds(p *modelled, text string) {
	if p.versions[p.current] != text {
		p.last++
		p.current = p.last
		p.versions[p.last] = text
	}
}

func (p *modelled) move(label string, to int64) {
	if from := p.labels[label]; from != to {
		p.moves[label] = append(p.moves[label], from)
		p.put(label, to)
	}
}

func (p *modelled) put(label string, to int64) {
	if p.labels[label] = to; to == 0 {
		delete(p.labels, label)
	}
}

func (m *machine) label(t *rapid.T) {
	p, label := m.living(), one(t, someLabels, "label")
	to := rapid.Int64Range(0, p.last+1).Draw(t, "version")
	_, exists := p.versions[to]
	err := m.s.SetLabel(context.Background(), author, p.id, label, to)
	if m.answers(when(to > 0 && !exists || to == 0 && p.labels[label] == 0, fault.NotFound), err) {
		p.move(label, to)
	}
}

func (m *machine) undo(t *rapid.T) {
	p, label := m.living(), one(t, someLabels, "label")
	moves := p.moves[label]
	possible := len(moves) > 0 && (moves[len(moves)-1] == 0 || p.versions[moves[len(moves)-1]] != "")
	err := m.s.UndoLabel(context.Background(), author, p.id, label, "")
	if m.answers(when(!possible, fault.Conflict), err) {
		p.put(label, moves[len(moves)-1])
		p.moves[label] = moves[:len(moves)-1]
	}
}

func (m *machine) deleteVersion(t *rapid.T) {
	p := m.living()
	n := rapid.OneOf(rapid.Just(p.current), rapid.Int64Range(1, p.last+1)).Draw(t, "version")
	_, exists := p.versions[n]
	left := int64(0)
	for v := range p.versions {
		if v != n {
			left = max(left, v)
		}
	}
	want := when(!exists, fault.NotFound)
	if exists && (left == 0 || p.public && left < p.from) {
		want = fault.Conflict
	}
	err := m.s.DeleteVersion(context.Background(), author, p.id, n)
	if !m.answers(want, err) {
		return
	}
	delete(p.versions, n)
	for _, l := range someLabels {
		if p.labels[l] == n {
			p.move(l, 0)
		}
	}
	if n == p.current {
		p.current = left
	}
}

func (m *machine) restoreVersion(t *rapid.T) {
	p := m.living()
	n := rapid.Int64Range(1, p.last+1).Draw(t, "version")
	text, exists := p.versions[n]
	_, _, err := m.s.RestoreVersion(context.Background(), author, p.id, n)
	if m.answers(when(!exists, fault.NotFound), err) {
		m.holds(p, text)
	}
}

func (m *machine) remove(*rapid.T) {
	p := m.any()
	require.NoError(m.t, m.s.Delete(context.Background(), author, p.id, library.Match{Any: true}))
	if p.deleted.IsZero() {
		p.deleted = m.now
	}
}

func (m *machine) restore(*rapid.T) {
	p := m.any()
	late := !p.deleted.IsZero() && m.now.After(p.deleted.AddDate(0, 0, prompt.RestoreDays))
	v, former, err := m.s.Restore(context.Background(), author, p.id)
	if !m.answers(when(late, fault.NotFound), err) || p.deleted.IsZero() {
		return
	}
	_, other := prompt.Slugs(p.name, p.id)
	wanted := ""
	if !m.free(p.name, p) {
		wanted, p.name = p.name, other
	}
	if !m.free(p.slug, p) {
		p.slug = other
	}
	require.Equal(m.t, []string{p.name, p.slug, wanted}, []string{v.Name, v.Slug, former})
	m.keys[p.name], m.keys[p.slug] = &key{to: p}, &key{to: p}
	p.deleted = time.Time{}
}

func (m *machine) purge(*rapid.T) {
	m.now = m.now.Add(32 * 24 * time.Hour)
	_, err := m.db.Purge(context.Background())
	require.NoError(m.t, err)
	gone := func(p *modelled) bool {
		return !p.deleted.IsZero() && m.now.Sub(p.deleted) > (prompt.RestoreDays+1)*24*time.Hour
	}
	maps.DeleteFunc(m.keys, func(_ string, k *key) bool { return gone(k.to) })
	m.prompts = slices.DeleteFunc(m.prompts, gone)
}

func (m *machine) fork(t *rapid.T) {
	m.few(t)
	p := m.living()
	v, isNew, err := m.s.Fork(context.Background(), author, p.id, library.WantedVersion{}, "")
	require.NoError(m.t, err)
	require.True(m.t, isNew)
	fork := m.add(v, p.versions[p.current], false)
	fork.origin = prompt.ForkedFrom{ID: p.id, Version: p.current}
}

// merge takes what the prompt has that a fork comes from, and that was perhaps changed a moment
// ago.
func (m *machine) merge(t *rapid.T) {
	var forks []*modelled
	for _, p := range m.prompts {
		if p.origin.ID != "" && p.deleted.IsZero() {
			forks = append(forks, p)
		}
	}
	if len(forks) == 0 {
		t.Skip("no fork")
	}
	p := rapid.SampledFrom(forks).Draw(t, "fork")
	up := m.upstream(p)
	if up != nil && rapid.Bool().Draw(t, "changed") {
		text := one(t, someTexts, "text")
		_, err := m.s.Patch(context.Background(), author, up.id, library.Match{Any: true},
			func(d *prompt.Draft) { d.Text = text })
		require.NoError(t, err)
		m.holds(up, text)
	}
	_, _, err := m.s.MergeUpstream(context.Background(), author, p.id, library.Theirs)
	if m.answers(when(up == nil, fault.Conflict), err) {
		m.holds(p, up.versions[up.current])
		p.origin.Version = up.current
	}
}

// upstream returns what a fork comes from, nil where it is gone.
func (m *machine) upstream(p *modelled) *modelled {
	for _, q := range m.prompts {
		if q.id == p.origin.ID && q.deleted.IsZero() {
			return q
		}
	}
	return nil
}

// check reads all that can be read, as its author and as another, and holds it against the model.
func (m *machine) check(*rapid.T) {
	m.now = m.now.Add(time.Second)
	for _, name := range someNames {
		k := m.keys[name]
		for _, who := range []auth.User{author, reader} {
			seen := k != nil && k.to.deleted.IsZero() && (who.ID == author.ID || k.to.public)
			v, err := m.s.GetByName(context.Background(), who, library.IDOf(author), name, library.WantedVersion{})
			if m.answers(when(!seen, fault.NotFound), err) {
				require.Equal(m.t, k.to.id, v.ID, "%s leads to another prompt", name)
			}
		}
	}
	for _, p := range m.prompts {
		m.reads(p, author, 1)
		m.reads(p, reader, p.from)
	}
	// of labels that were moved
	messages, err := m.queues.Receive(context.Background(), promptdb.QueueRepairs, queue.MaxReceive, time.Minute)
	require.NoError(m.t, err)
	for _, x := range messages {
		require.NoError(m.t, m.db.Repair(context.Background(), x.Text))
		require.NoError(m.t, m.queues.Delete(context.Background(), promptdb.QueueRepairs, x.Receipt))
	}
	var found []string
	_, err = m.db.Verify(context.Background(), func(d promptdb.Difference) {
		found = append(found, d.String())
	}, func(int) {})
	require.NoError(m.t, err)
	require.Empty(m.t, found)
}

// reads holds what somebody reads of a prompt, from a version on, against the model.
func (m *machine) reads(p *modelled, who auth.User, from int64) {
	seen := p.deleted.IsZero() && (who.ID == author.ID || p.public)
	v, err := m.s.Get(context.Background(), who, p.id)
	for n := range p.last + 2 {
		text, exists := p.versions[n]
		of, err := m.s.GetVersion(context.Background(), who, p.id, library.WantedVersion{Number: n})
		if m.answers(when(!seen || !exists || n < from, fault.NotFound), err) {
			require.Equal(m.t, text, of.Text)
		}
	}
	if !m.answers(when(!seen, fault.NotFound), err) {
		return
	}
	require.Equal(m.t, []any{p.name, p.slug, p.versions[p.current], p.current, p.origin},
		[]any{v.Name, v.Slug, v.Text, v.Version, v.ForkedFrom})
	labels := maps.Clone(p.labels)
	maps.DeleteFunc(labels, func(_ string, n int64) bool { return n < from })
	got, latest, err := m.s.Labels(context.Background(), who, p.id)
	require.NoError(m.t, err)
	require.Equal(m.t, labels, got)
	require.Equal(m.t, p.current, latest)
	for _, l := range someLabels {
		of, err := m.s.GetVersion(context.Background(), who, p.id, library.WantedVersion{Label: l})
		if m.answers(when(labels[l] == 0, fault.NotFound), err) {
			require.Equal(m.t, p.versions[labels[l]], of.Text)
		}
	}
	h, err := m.s.Versions(context.Background(), who, p.id, 100, "")
	require.NoError(m.t, err)
	want := slices.Collect(maps.Keys(p.versions))
	want = slices.DeleteFunc(want, func(n int64) bool { return n < from })
	slices.Sort(want)
	var numbers []int64
	for _, x := range h.Items {
		numbers = append(numbers, x.Number)
	}
	slices.Reverse(numbers)
	require.Equal(m.t, fmt.Sprint(want), fmt.Sprint(numbers))
}

// TestMachine runs what authors do in any order, with a look at everything after each step.
func TestMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		step := func(do func(*machine, *rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) { m.t = t; do(m, t) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"create": step((*machine).create), "rename": step((*machine).rename), "write": step((*machine).write),
			"label": step((*machine).label), "undo": step((*machine).undo),
			"delete a version":  step((*machine).deleteVersion),
			"restore a version": step((*machine).restoreVersion), "delete": step((*machine).remove),
			"restore": step((*machine).restore),
			"purge":   step((*machine).purge), "fork": step((*machine).fork),
			"merge": step((*machine).merge), "": step((*machine).check),
		})
	})
}
