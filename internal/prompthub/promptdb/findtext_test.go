package promptdb_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/prompt/prompttest"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// skewed returns drafts whose words are as uneven as those of people: one is in all texts, one in
// one, and each other one in half as many as the one before it, of titles and of texts.
func skewed(n int) []prompt.Draft {
	rnd := rand.New(rand.NewPCG(5, 5))
	pick := func() string { return words[min(int(rnd.ExpFloat64()*4), len(words)-1)] }
	ds := make([]prompt.Draft, n)
	for i := range ds {
		text := []string{"everywhere"}
		for range rnd.IntN(12) {
			text = append(text, pick())
		}
		if i == n/3 {
			text = append(text, "nowhere")
		}
		d := prompt.Draft{Title: pick() + " " + pick(), Text: strings.Join(text, " "), Visibility: prompt.Public}
		for _, tag := range someTags[:3] {
			if rnd.IntN(3) == 0 {
				d.Tags = append(d.Tags, tag)
			}
		}
		ds[i] = d
	}
	return ds
}

// TestTextSearchAgreesWithALinearScan asks 500 questions of two libraries in all orders, of titles
// alone and of texts, and walks each answer to its end: it is what a look at every prompt finds.
// Then it asks 100 while others write. "make search" asks 5,000 of each. Where time is short it
// asks a fifth, of a third of the prompts.
func TestTextSearchAgreesWithALinearScan(t *testing.T) {
	n := 300
	if testing.Short() {
		n = 100
	}
	t.Run("skewed", func(t *testing.T) { compareWithScan(t, skewed(n)) })
	t.Run("real", func(t *testing.T) { compareWithScan(t, prompttest.Real(t)) })
}

func compareWithScan(t *testing.T, ds []prompt.Draft) {
	w := newWorldOn(t, memory.NewShortPages(3))
	rnd := rand.New(rand.NewPCG(1, 1))
	var all []prompt.Prompt
	for _, d := range ds {
		if p := w.add("ann", d); rnd.IntN(4) > 0 {
			all = append(all, p)
			for v := range rnd.IntN(5) {
				w.vote(prompt.UserID(fmt.Sprint("v", v)), p.ID, []prompt.Vote{prompt.Like, prompt.Like, prompt.Dislike}[rnd.IntN(3)])
			}
		} else {
			w.goes(p, rnd.IntN(3))
		}
	}
	w.run()
	w.check()
	all = w.truth(all)
	scan := newLinear(all)
	questions, found := 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for asked := 0; asked < 5; {
			want, ok := drawQuestion(rt, all)
			if !ok {
				continue
			}
			asked++
			ids := scan.find(want)
			questions, found = questions+1, found+len(ids)
			require.Equal(rt, ids, w.walk(want, rapid.IntRange(1, 100).Draw(rt, "limit")), "%q", want.Words)
		}
	})
	t.Logf("%d prompts, %d questions, %d answers", len(all), questions, found)
	if !testing.Short() {
		w.compareWhileWriting(t, all)
	}
}

// compareWhileWriting asks again while another instance takes every third prompt off the lists
// and puts it back: those that stay are what a look at each of them finds, once and in order, and
// of the others nothing is found that the words are not in.
func (w *world) compareWhileWriting(t *testing.T, all []prompt.Prompt) {
	var stay, others []prompt.Prompt
	for i, p := range all {
		if i%3 == 0 {
			others = append(others, p)
		} else {
			stay = append(stay, p)
		}
	}
	stopWriting := w.toggle(others)
	defer stopWriting()
	stays, comes := newLinear(stay), newLinear(others)
	each := 1
	if os.Getenv("SEARCH_MORE") != "" {
		each = 5
	}
	questions, found, between := 0, 0, 0
	rapid.Check(t, func(rt *rapid.T) {
		for asked := 0; asked < each; {
			want, ok := drawQuestion(rt, all)
			if !ok {
				continue
			}
			asked++
			var ids []prompt.ID
			may := comes.find(want)
			for _, id := range w.walk(want, rapid.IntRange(1, 100).Draw(rt, "limit")) {
				if _, ok := stays.texts[id]; ok {
					ids = append(ids, id)
					continue
				}
				between++
				require.Contains(rt, may, id, "%q", want.Words)
			}
			questions, found = questions+1, found+len(ids)
			require.Equal(rt, stays.find(want), ids, "%q", want.Words)
		}
	})
	t.Logf("while others write: %d questions, %d answers, and %d of what came and went", questions, found, between)
}

// TestTextSearchOutOfTime walks searches of which each request is out of time after its first look:
// what it answers then is all there is up to its cursor.
func TestTextSearchOutOfTime(t *testing.T) {
	t.Parallel()
	w, store := newSlowWorld(t)
	var all []prompt.Prompt
	for _, d := range skewed(100) {
		all = append(all, w.add("ann", d))
	}
	w.run()
	all = w.truth(all)
	scan := newLinear(all)
	store.takes = 2 * time.Second
	for _, words := range []string{"act", "actor", "translate", "translator", "actor translator"} {
		q, err := prompt.ParseQuery(words)
		require.NoError(t, err)
		for _, order := range []promptdb.Order{promptdb.Newest, promptdb.MostLiked, promptdb.Relevance} {
			want := promptdb.Search{Words: q, Text: true, Order: order}
			for limit := range 5 {
				require.Equal(t, scan.find(want), w.walk(want, limit+1), "%s, %s, pages of %d", words, order, limit+1)
			}
		}
	}
}

// TestTextSearchThatIsLate walks searches of which each request is out of time before its first
// look: it looks once all the same, so that the next one has less to do.
func TestTextSearchThatIsLate(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, memory.NewTables())
	var all []prompt.Prompt
	for _, d := range skewed(100) {
		all = append(all, w.add("ann", d))
	}
	w.run()
	scan := newLinear(w.truth(all))
	w.DB = promptdb.New(promptdb.Config{Store: w.store, Queues: w.queues, Tables: promptdb.DefaultTables(), Log: slog.New(slog.DiscardHandler), Now: func() time.Time {
		w.clock.Advance(time.Minute)
		return w.clock.Now()
	}})
	require.NoError(t, w.Create(t.Context())) // which learns that texts are in the index
	for _, words := range []string{"act", "actor translate", "everywhere", "everywhere act"} {
		for _, order := range []promptdb.Order{promptdb.Newest, promptdb.MostLiked, promptdb.Relevance} {
			want := promptdb.Search{Words: query(t, words), Text: true, Order: order}
			require.Equal(t, scan.find(want), w.walk(want, 3), "%s, %s", words, order)
		}
	}
}

// toggle makes prompts private and public again, one after the other, and does what the queue
// function would, until stop is called.
func (w *world) toggle(ps []prompt.Prompt) (stop func()) {
	db := w.another()
	ctx, cancel := context.WithCancel(w.t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			p := ps[i%len(ps)]
			_, _ = db.Change(ctx, p.AuthorID, p.ID, func(now prompt.Prompt) (prompt.Prompt, error) {
				now.Visibility = []prompt.Visibility{prompt.Private, prompt.Public}[i/len(ps)%2]
				return now, nil
			})
			ms, _ := w.queues.Receive(ctx, promptdb.QueueRepairs, 16, time.Second)
			for _, m := range ms {
				_ = db.Repair(ctx, m.Text)
			}
			w.clock.Advance(time.Second)
		}
	})
	return func() { cancel(); writing.Wait() }
}

// A linear finds by a look at every prompt.
type linear struct {
	all   []prompt.Prompt
	texts map[prompt.ID]prompt.Text
}

func newLinear(all []prompt.Prompt) linear {
	l := linear{all, map[prompt.ID]prompt.Text{}}
	for _, p := range all {
		l.texts[p.ID] = prompt.NewText(p.Content().Words())
	}
	return l
}

func (l linear) find(want promptdb.Search) (ids []prompt.ID) {
	for _, p := range inOrder(l.all, want) {
		if hasAll(p.Tags, want.Tags) && matches(want, p, l.texts[p.ID]) {
			ids = append(ids, p.ID)
		}
	}
	return ids
}

// drawQuestion draws a search for words of one of the prompts. It is not ok where there is
// nothing to look for.
func drawQuestion(rt *rapid.T, all []prompt.Prompt) (want promptdb.Search, ok bool) {
	about := rapid.SampledFrom(all).Draw(rt, "about")
	want = promptdb.Search{
		Text: rapid.IntRange(0, 4).Draw(rt, "in texts") > 0, Words: drawWords(rt, about),
		Order: rapid.SampledFrom(orders()).Draw(rt, "order"),
	}
	if rapid.IntRange(0, 3).Draw(rt, "tagged") == 0 {
		want.Tags = about.Tags
	}
	return want, !want.Words.Empty() && !want.Words.Nothing()
}

// goes takes a prompt off the lists in one of the ways there are.
func (w *world) goes(p prompt.Prompt, how int) {
	_, err := w.Change(w.t.Context(), p.AuthorID, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		switch how {
		case 0:
			p.Visibility = prompt.Private
		case 1:
			p.DeletedAt = w.clock.Now()
		default:
			p.HiddenAt, p.HiddenBy, p.HiddenReason = w.clock.Now(), "mod", "spam"
		}
		return p, nil
	})
	require.NoError(w.t, err)
}

// matches is what a search means, asked of one prompt.
func matches(want promptdb.Search, p prompt.Prompt, text prompt.Text) bool {
	title := prompt.NormalizeTitle(p.Title)
	switch {
	case !want.Text:
		return want.Words.Match(title)
	case len(want.Words.Words(prompt.LongestPrefix)) == 0: // texts are not found by stop words alone
		return want.Words.Match(title) && !want.Words.LeavesOut(title, text)
	}
	return want.Words.MatchText(title, text) != prompt.Nowhere
}

// drawWords draws words of a prompt's title and text, whole or cut, and of others.
func drawWords(rt *rapid.T, about prompt.Prompt) prompt.Query {
	from := append(strings.Fields(about.Title), strings.Fields(about.Text)...)
	from = append(from, "everywhere", "nowhere", "the", "absent")
	parts := rapid.SliceOfN(rapid.SampledFrom(from), 1, 4).Draw(rt, "words")
	for i, part := range parts {
		if runes := []rune(part); rapid.IntRange(0, 3).Draw(rt, "cut") == 0 {
			parts[i] = string(runes[:rapid.IntRange(1, len(runes)).Draw(rt, "to")])
		}
	}
	q, err := prompt.ParseQuery(string([]rune(strings.Join(parts, " "))[:min(90, len([]rune(strings.Join(parts, " "))))]))
	if err != nil {
		return prompt.Query{}
	}
	return q
}

// walk returns the prompts of all pages of a search.
func (w *world) walk(want promptdb.Search, limit int) []prompt.ID {
	w.t.Helper()
	var ids []prompt.ID
	after := ""
	for range 10_000 {
		page, err := w.Find(w.t.Context(), want, after, limit)
		require.NoError(w.t, err)
		require.LessOrEqual(w.t, len(page.Items), limit)
		for _, it := range page.Items {
			ids = append(ids, it.ID)
		}
		require.NotEqual(w.t, "again "+after, "again "+page.After+map[bool]string{true: " at the end"}[after == ""])
		if after = page.After; after == "" {
			return ids
		}
	}
	w.t.Fatal("the walk does not end")
	return nil
}

// TestTextSearchWhileOthersWrite walks searches in texts while prompts come, go and are edited: a
// prompt that was there all along appears once, in its order.
func TestTextSearchWhileOthersWrite(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	stays := map[prompt.ID]bool{}
	var others []prompt.Prompt
	for i := range 150 {
		p := w.add("ann", prompt.Draft{Title: fmt.Sprint("Prompt ", i), Text: fmt.Sprint("needle in stack ", i%7), Visibility: prompt.Public})
		if i%2 == 0 {
			stays[p.ID] = true
		} else {
			others = append(others, p)
		}
	}
	w.run()
	stopWriting := w.toggle(others)
	defer stopWriting()
	for i, order := range []promptdb.Order{promptdb.Newest, promptdb.MostLiked, promptdb.Newest, promptdb.Hot} {
		seen := map[prompt.ID]int{}
		for _, id := range w.walk(promptdb.Search{Text: true, Words: query(t, "needle stack"), Order: order}, 7+i*20) {
			seen[id]++
		}
		for id := range stays {
			require.Equal(t, 1, seen[id], "%s, %s", order, id)
		}
	}
}

// TestNoTextLeaks searches for words of a text that is private again, before any job has run, and
// for words that an edit has taken away.
func TestNoTextLeaks(t *testing.T) {
	for name, order := range map[string]promptdb.Order{"newest": promptdb.Newest, "most liked": promptdb.MostLiked} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			finds := func(words string) []string {
				return w.find(t, promptdb.Search{Text: true, Words: query(t, words), Order: order}, 10)
			}
			secret := func(title string) prompt.Prompt {
				return w.add("ann", prompt.Draft{Title: title, Text: "open sesame", Visibility: prompt.Public})
			}
			for how := range 3 {
				p := secret(fmt.Sprint("Cave ", how))
				require.Empty(t, finds("sesame"), "the job has not run yet")
				w.run()
				require.Equal(t, []string{p.Title}, finds("sesame"))
				require.Equal(t, []string{p.Title}, finds("sesame cave"))
				w.goes(p, how)
				require.Empty(t, finds("sesame"), "gone with the answer")
				w.run()
				w.check()
				require.Empty(t, w.textRows(p.ID))
			}
			p := secret("Edited")
			w.run()
			_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
				p.Draft.Text = "closed for good"
				return p, nil
			})
			require.NoError(t, err)
			require.Empty(t, finds("sesame"), "what it held is not shown")
			w.run()
			w.check()
			require.Equal(t, []string{"Edited"}, finds("closed"))
		})
	}
}

func (w *world) textRows(id prompt.ID) []string {
	name := promptdb.DefaultTables().TextIndex
	var keys []string
	page, err := w.store.List(w.t.Context(), name, table.Range{}, 1000, "")
	require.NoError(w.t, err)
	for _, row := range page.Rows {
		if w.OwnerOf(name, row.Key) == id {
			keys = append(keys, row.String())
		}
	}
	return keys
}

// TestTextRowsFollowEdits edits a prompt in all ways that change its rows in the text index.
func TestTextRowsFollowEdits(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	p := w.add("ann", prompt.Draft{Title: "Count", Text: strings.Join(words[:20], " "), Visibility: prompt.Public})
	w.run()
	for i, edit := range []func(*prompt.Prompt){
		func(p *prompt.Prompt) { p.Draft.Text += " added" },
		func(p *prompt.Prompt) { p.Draft.Text += " kettle" },
		func(p *prompt.Prompt) { p.Draft.Text += " teapot" },
		func(p *prompt.Prompt) { p.Draft.Title = "Counted" },
		func(p *prompt.Prompt) { p.Draft.Text = "added"; p.Draft.Tags = []prompt.Tag{"text"} },
		func(p *prompt.Prompt) { p.Visibility = prompt.Private; p.Draft.Text = "nobody" },
		func(p *prompt.Prompt) { p.Visibility = prompt.Public },
	} {
		_, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) { edit(&p); return p, nil })
		require.NoError(t, err)
		if i%2 == 0 { // now and then two edits before the job runs
			w.run()
			w.check()
		}
	}
	require.Empty(t, bySchema(w.store))
	require.Len(t, w.textRows(p.ID), 1)
}

// TestStrayTextRowsGo: a row of a word that the text does not have is a difference, which
// anti-entropy removes within a month, even where a job for the prompt was lost, too.
func TestStrayTextRowsGo(t *testing.T) {
	for _, lost := range []bool{false, true} {
		w := newWorldOn(t, memory.NewTables())
		p := w.add("ann", prompt.Draft{Title: "Count", Text: strings.Join(words[:5], " "), Visibility: prompt.Public})
		w.run()
		name := promptdb.DefaultTables().TextIndex
		page, err := w.store.List(t.Context(), name, table.Range{}, 1, "")
		require.NoError(t, err)
		stray := table.Row{Key: page.Rows[0].Key, Props: page.Rows[0].Props}
		stray.Partition += "stray"
		if w.must(name, table.Op{Kind: table.Insert, Row: stray}); lost {
			w.edit("ann", p.ID, func(p *prompt.Prompt) { p.Text += " edited" })
			w.queues = memory.NewQueues(w.clock.Now)
			w.DB = w.another()
			require.NoError(t, w.Create(t.Context()))
		}
		want := len(w.textRows(p.ID)) - 1
		if lost {
			want++ // of the word that came
		}
		found := 0
		for range 31 {
			w.clock.Advance(24 * time.Hour)
			_, differences, err := w.Sweep(t.Context())
			require.NoError(t, err)
			found += differences
			w.run()
		}
		require.NotZero(t, found)
		require.NotContains(t, strings.Join(w.textRows(p.ID), "\n"), "stray")
		require.Len(t, w.textRows(p.ID), want)
		w.check()
	}
}

// inFlight counts the writes of text rows that are under way, each of which takes a moment.
type inFlight struct {
	table.DB
	mu        sync.Mutex
	now       map[string]int // by prompt
	prompts   int            // at most
	ofAPrompt int            // at most
}

func (s *inFlight) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if name == promptdb.DefaultTables().TextIndex {
		id := ops[0].Row.Row
		s.add(id, 1)
		time.Sleep(5 * time.Millisecond) // of the bubble's clock
		defer s.add(id, -1)
	}
	return s.DB.Write(ctx, name, ops...)
}

func (s *inFlight) add(id string, n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now[id] += n; s.now[id] == 0 {
		delete(s.now, id)
	}
	s.prompts, s.ofAPrompt = max(s.prompts, len(s.now)), max(s.ofAPrompt, s.now[id])
}

// TestTextsTakeTurns: the rows of a text are written all together, and those of two texts at a
// time, however many jobs the host starts: writes that somebody waits for come between.
func TestTextsTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		s := &inFlight{DB: memory.NewTables(), now: map[string]int{}}
		w := newWorldOn(t, s)
		var text strings.Builder
		for i := range prompt.MaxTextWords {
			fmt.Fprintf(&text, "word%d ", i)
		}
		const prompts = 10
		for i := range prompts {
			w.add("ann", prompt.Draft{Title: fmt.Sprint("Long ", i), Text: text.String(), Visibility: prompt.Public})
		}
		w.clock.Advance(promptdb.Lease)
		messages, err := w.queues.Receive(t.Context(), promptdb.QueueRepairs, 2*prompts, time.Hour)
		require.NoError(t, err)
		require.Len(t, messages, prompts)
		var jobs errgroup.Group
		for _, m := range messages {
			jobs.Go(func() error { return w.Repair(t.Context(), m.Text) })
		}
		require.NoError(t, jobs.Wait())
		w.check()
		require.Equal(t, 2, s.prompts)
		require.Equal(t, prompt.MaxTextWords, s.ofAPrompt)
	})
}
