package ballot_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
	"prompthub/internal/testing/azurite"
	"prompthub/internal/testing/repeatable"
)

// An observation is one thing that can be known of the votes: an answer, a line of the log, a row
// as it was written, a message, or a request to a service with its answer. Its text has no value
// that is random in itself; those are in noise, apart, with spaces between them.
type observation struct {
	what  string
	noise string
}

// A leak is a mistake that the check must find.
type leak string

const (
	noLeak         leak = ""
	notSealed      leak = "the box is not sealed"
	noClasses      leak = "each scope has boxes of its own"
	hashOfRequest  leak = "the receipt has a hash of the request"
	lengthOfResult leak = "a row is longer for one position"
	logged         leak = "the log has the length of the request"
)

var leaks = []leak{notSealed, noClasses, hashOfRequest, lengthOfResult, logged}

// Where the votes are stored.
const (
	inMemory = iota
	inFile
	onAzurite
)

// A history is a course of votes, jobs and restarts that a seed decides. It is the same
// whatever the positions are, unless the program makes it depend on them.
type history struct {
	seed    uint64
	leak    leak
	storage int
	voteMin int
	ends    bool       // whether the post has an end
	hubs    [][]string // of each voter
}

func newHistory(seed uint64, l leak) history {
	rnd := rand.New(rand.NewPCG(seed, 7))
	h := history{seed: seed, leak: l, voteMin: 2 + rnd.IntN(2)}
	voters, oneOf := 12+rnd.IntN(16), 4
	if l == noClasses { // to find it takes releases in each scope
		h.voteMin, voters, oneOf = 2, 30, 2
	}
	for range voters {
		var hubs []string
		for _, hub := range []string{"hub1", "hub2", "hub3"} {
			if rnd.IntN(oneOf) == 0 {
				hubs = append(hubs, hub)
			}
		}
		h.hubs = append(h.hubs, hubs)
	}
	return h
}

// errNotTheSame is of histories of which nothing can be said.
var errNotTheSame = errors.New("a history is not the same twice")

// A recorder writes down all that is written, and makes some batches lose a race. It puts leaks
// into what is stored. On Azurite a wiretap writes down instead of it.
type recorder struct {
	table.DB
	queue.Queues
	together  transact.Func
	mu        sync.Mutex
	rnd       *rand.Rand
	keys      ballot.Keys
	leak      leak
	positions []ballot.Position
	posts     []observation // in the order in which they were written
	others    []observation // those that are written at the same time, sorted in the end
	wire      *wiretap
	gate      *gate // the next batch waits at it
}

// A gate holds a batch back.
type gate struct{ reached, opens chan struct{} }

func (r *recorder) loses(name string, ops []table.Op) error {
	r.mu.Lock()
	var g *gate
	if name == posts {
		g, r.gate = r.gate, nil
	}
	lose := name == posts && len(ops) > 1 && r.rnd.IntN(8) == 0
	r.mu.Unlock()
	if g != nil {
		close(g.reached)
		<-g.opens
	}
	if lose {
		return &table.OpError{Index: len(ops) - 1, Key: ops[len(ops)-1].Row.Key, Err: table.ErrConflict}
	}
	return nil
}

func (r *recorder) Create(ctx context.Context, names ...string) error {
	return r.DB.Create(ctx, names...)
}

// leaky returns what is written with the leak in it.
func (r *recorder) leaky(ops []table.Op) []table.Op {
	ops = slices.Clone(ops)
	for i, op := range ops {
		var more table.Props
		if r.leak == notSealed && op.Row.Props.Get("sealed").Str() != "" {
			more = table.Props{{
				Name:  "counts",
				Value: table.String(hex.EncodeToString([]byte(ballot.Plain(r.keys, op.Row)))),
			}}
		}
		var n int
		if _, err := fmt.Sscanf(op.Row.Row, ballot.ReceiptRows+"voter%03d", &n); err == nil {
			position := ballot.Positions()[r.positions[n]]
			switch r.leak {
			case hashOfRequest:
				sum := sha256.Sum256([]byte(position))
				more = table.Props{{Name: "request", Value: table.String(hex.EncodeToString(sum[:]))}}
			case lengthOfResult:
				more = table.Props{{Name: "pad", Value: table.String(strings.Repeat("x", len(position)))}}
			}
		}
		ops[i].Row.Props = slices.Concat(op.Row.Props, more)
	}
	return ops
}

func (r *recorder) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	ops = r.leaky(ops)
	if err := r.loses(name, ops); err != nil {
		return nil, err
	}
	etags, err := r.DB.Write(ctx, name, ops...)
	if err == nil {
		r.record(name, ops)
	}
	return etags, err
}

func (r *recorder) transact(ctx context.Context, t transact.Transaction) ([]string, error) {
	t.Ops = r.leaky(t.Ops)
	if err := r.loses(t.Table, t.Ops); err != nil {
		return nil, err
	}
	etags, err := r.together(ctx, t)
	if err == nil {
		r.record(t.Table, t.Ops)
		for _, row := range t.Put {
			r.record(row.Table, []table.Op{{Kind: table.Upsert, Row: row.Row}})
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, m := range t.Messages {
			r.others = append(r.others, observation{what: "send " + m.Text})
		}
	}
	return etags, err
}

// A logbook takes lines of the log down.
type logbook struct{ *recorder }

func (l logbook) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.others = append(l.others, observation{what: "log: " + string(line)})
	return len(line), nil
}

// log returns a log whose lines have no time.
func (r *recorder) log() *slog.Logger {
	return slog.New(slog.NewTextHandler(logbook{r},
		&slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
}

// A sender is the queues of a recorder.
type sender struct{ *recorder }

func (s sender) Create(ctx context.Context, names ...string) error {
	return s.Queues.Create(ctx, names...)
}

func (s sender) Delete(ctx context.Context, name string, r queue.Receipt) error {
	return s.Queues.Delete(ctx, name, r)
}

func (s sender) Send(ctx context.Context, name, text string, delay time.Duration) (queue.Receipt, error) {
	if s.wire == nil {
		s.mu.Lock()
		s.others = append(s.others, observation{what: "send " + text})
		s.mu.Unlock()
	}
	return s.Queues.Send(ctx, name, text, delay)
}

func (r *recorder) record(name string, ops []table.Op) {
	if r.wire != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, op := range ops {
		var o observation
		var values []string
		for _, p := range op.Row.Props {
			switch p.Name {
			case "sealed":
				sealed, err := base64.StdEncoding.DecodeString(p.Value.Str())
				if err != nil || strings.Contains(string(sealed), ballot.Plain(r.keys, op.Row)) {
					o.what += "in the clear: "
				}
				o.noise = p.Value.Str()
				values = append(values, fmt.Sprintf("sealed: %d, %x", len(o.noise), sealed[:4]))
			default:
				values = append(values, p.Name+"="+p.Value.String())
			}
		}
		slices.Sort(values)
		o.what += fmt.Sprint(op.Kind, " ", name, " ", op.Row.Key, ": ", strings.Join(values, " "))
		if name == posts {
			r.posts = append(r.posts, o)
		} else {
			r.others = append(r.others, o)
		}
	}
}

// postOf returns the post, or where there are no classes one for each scope.
func (h history) postOf(scope string) string {
	if h.leak == noClasses {
		return post + scope
	}
	return post
}

// run lets a history happen, and returns all that can be known.
func (h history) run(t *testing.T, positions []ballot.Position) []observation {
	t.Helper()
	rnd := rand.New(rand.NewPCG(h.seed, 1))
	c := repeatable.NewClock(began)
	r := &recorder{rnd: rand.New(rand.NewPCG(h.seed, 2)), keys: keys(t, 1, 2), leak: h.leak, positions: positions}
	switch h.storage {
	case inFile:
		store, err := embedded.Open(filepath.Join(t.TempDir(), "duuble.db"), c.Now)
		require.NoError(t, err)
		defer func() { require.NoError(t, store.Close()) }()
		r.DB, r.Queues, r.together = store.Tables, store.Queues, store.Transact
	case onAzurite:
		r.wire = &wiretap{keys: r.keys}
		store, err := azure.New(azure.Config{ConnectionString: r.wire.tap(t, azurite.Account(t))})
		require.NoError(t, err)
		r.DB, r.Queues = store.Tables, store.Queues
	default:
		r.DB, r.Queues = memory.NewTables(), memory.NewQueues(c.Now)
	}
	shards := []int{1, 2, 4}[rnd.IntN(3)]
	prepare(t, r.DB, r.Queues, int32(shards))
	if h.ends {
		addEnd(t, r.DB, began.Add(forever))
	}
	var s *ballot.Store
	start := func() {
		conf := config(t, r, sender{r}, c.Now, rnd.Uint64())
		conf.VoteMin = h.voteMin
		conf.Keys = keys(t, [][]byte{{1, 2}, {2, 1}}[rnd.IntN(2)]...)
		conf.Store.Log = r.log()
		if h.storage == inFile {
			conf.Transact = r.transact
		}
		s = ballot.New(conf)
	}
	start()
	var answers []observation
	see := func(what ...any) { answers = append(answers, observation{what: fmt.Sprint(what...)}) }
	cast := func(n int) {
		var of []error
		if h.leak == noClasses {
			for _, scope := range append([]string{ballot.Global}, h.hubs[n]...) {
				_, err := s.Cast(t.Context(),
					ballot.Vote{Post: h.postOf(scope), Voter: voter(n), Position: positions[n], Shards: shards})
				of = append(of, err)
			}
		} else {
			receipt, err := s.Cast(t.Context(),
				ballot.Vote{
					Post: post, Voter: voter(n), Position: positions[n], Hubs: h.hubs[n],
					Shards: shards, Ends: h.ends,
				})
			of = append(of, err, errors.New(fmt.Sprint(receipt)))
		}
		if h.leak == logged {
			s.Log.DebugContext(t.Context(), "a vote", slog.Int("bytes", len(ballot.Positions()[positions[n]])))
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.others = append(r.others, observation{what: fmt.Sprint("answer to ", n, ": ", of)})
	}
	for n := 0; n < len(positions); {
		r.wire.next()
		switch rnd.IntN(8) {
		case 0:
			start()
		case 1:
			c.Pass(time.Duration(rnd.IntN(30)) * time.Hour)
			require.NoError(t, s.SettleDue(t.Context()))
		case 2, 3: // some at once: the first waits until the others are there
			burst := min(2+rnd.IntN(6), len(positions)-n)
			if h.leak == noClasses { // they meet in several lanes, in no order
				burst = 1
			}
			s.Rest()
			g := &gate{make(chan struct{}), make(chan struct{})}
			r.mu.Lock()
			r.gate = g
			r.mu.Unlock()
			var voters sync.WaitGroup
			for i := range burst {
				voters.Go(func() { cast(n + i) })
				<-g.reached
				s.AwaitWaiting(post, i)
			}
			close(g.opens)
			voters.Wait()
			n += burst
		default:
			cast(n)
			n++
		}
		r.wire.next()
		for _, scope := range []string{ballot.Global, "hub1", "hub2", "hub3"} {
			hubs := []string{}
			if scope != ballot.Global && h.leak != noClasses {
				hubs = append(hubs, scope)
			}
			results, err := s.Results(t.Context(), h.postOf(scope), hubs...)
			require.NoError(t, err)
			see("result: ", scope, " ", results[len(results)-1])
		}
	}
	c.Pass(49 * time.Hour)
	r.wire.next()
	require.NoError(t, s.SettleDue(t.Context()))
	if h.ends {
		h.holdNothing(t, s)
		c.Pass(forever)
		require.NoError(t, s.EndPost(t.Context(), post))
	}
	if h.leak == noLeak {
		h.holdTotals(t, s)
	}
	r.wire.next()
	for _, name := range []string{posts, due} {
		for _, err := range table.All(t.Context(), r.DB, name, table.Range{}) { // the wire has all rows then
			require.NoError(t, err)
		}
	}
	slices.SortFunc(r.others, func(a, b observation) int { return strings.Compare(a.what, b.what) })
	return slices.Concat(answers, r.posts, r.others, r.wire.observations())
}

// forever is longer than a history lasts.
const forever = 1000 * 24 * time.Hour

// holdNothing: before the end nothing is counted.
func (h history) holdNothing(t *testing.T, s *ballot.Store) {
	t.Helper()
	results, err := s.Results(t.Context(), post, "hub1", "hub2", "hub3")
	require.NoError(t, err)
	for _, r := range results {
		require.Zero(t, r.Counted+r.Withheld)
		require.Equal(t, ballot.Counts{}, r.Counts)
	}
}

// holdTotals: every scope shows all of its votes, and fewer wait than a release needs.
func (h history) holdTotals(t *testing.T, s *ballot.Store) {
	t.Helper()
	results, err := s.Results(t.Context(), post, "hub1", "hub2", "hub3")
	require.NoError(t, err)
	for _, r := range results {
		votes := 0
		for _, hubs := range h.hubs {
			if r.Scope == ballot.Global || slices.Contains(hubs, r.Scope) {
				votes++
			}
		}
		require.EqualValues(t, votes, r.Total, r.Scope)
		require.Less(t, r.Waiting(), int64(3*h.voteMin), "all have %s in common", ballot.Global)
	}
}

// check returns why somebody who sees all observations can learn of fewer than voteMin votes, or
// nil.
//
// It lets the history happen once more for each vote, with another position for this vote
// alone. The observations that differ then are those that the vote has an influence on. Any
// function of observations, such as a sum or a difference, treats votes alike that have an
// influence on the same ones, so each such set of votes must be large enough.
func (h history) check(t *testing.T) error {
	t.Helper()
	rnd := rand.New(rand.NewPCG(h.seed, 3))
	positions := make([]ballot.Position, len(h.hubs))
	for i := range positions {
		positions[i] = ballot.Position(rnd.IntN(5))
	}
	base := h.run(t, positions)
	again := h.run(t, positions)
	if len(again) != len(base) {
		return errNotTheSame
	}
	for i := range base {
		if base[i].what != again[i].what {
			return fmt.Errorf("%w: %s", errNotTheSame, difference(base[i].what, again[i].what))
		}
	}
	if err := h.rises(base); err != nil {
		return err
	}
	alike, first := map[string][]int{}, map[string]string{}
	for n := range positions {
		other := slices.Clone(positions)
		other[n] = (other[n] + ballot.Position(1+rnd.IntN(4))) % 5
		got := h.run(t, other)
		if len(got) != len(base) {
			return fmt.Errorf("how much there is depends on the position of vote %d", n)
		}
		influence, of := "", ""
		for i := range got {
			before := strings.Fields(base[i].noise)
			for _, sealed := range strings.Fields(got[i].noise) {
				if slices.Contains(before, sealed) {
					return fmt.Errorf("a sealed text is the same twice: %s", got[i].what)
				}
			}
			if len(got[i].noise) != len(base[i].noise) {
				return fmt.Errorf("a sealed text has another length: %s", got[i].what)
			}
			if got[i].what != base[i].what {
				influence += fmt.Sprint(i, " ")
				of = cmp.Or(of, difference(base[i].what, got[i].what))
			}
		}
		if influence != "" {
			alike[influence] = append(alike[influence], n)
			first[influence] = of
		}
	}
	for influence, votes := range alike {
		if len(votes) < h.voteMin {
			return fmt.Errorf("votes %v alone have an influence on observations %s, such as: %s",
				votes, influence, first[influence])
		}
	}
	return nil
}

// difference returns two texts where they begin to differ.
func difference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	around := func(text string) string { return text[max(0, i-100):min(len(text), i+60)] }
	return fmt.Sprintf("%q and %q", around(a), around(b))
}

// rises holds that each counted number of an answer rises by nothing or by voteMin votes.
func (h history) rises(all []observation) error {
	before := map[string]int64{}
	for _, o := range all {
		var scope, same string
		var total, counted int64
		text := strings.NewReplacer("{", " ", "}", " ").Replace(o.what)
		if n, _ := fmt.Sscanf(text, "result: %s  %s %d %d", &scope, &same, &total, &counted); n < 4 {
			continue
		}
		if rise := counted - before[scope]; rise < 0 || rise > 0 && rise < int64(h.voteMin) {
			return fmt.Errorf("%s rises by %d", scope, rise)
		}
		before[scope] = counted
	}
	return nil
}

// TestAnonymity: no reader learns of fewer than VoteMin votes, by any answers, rows and
// messages, in random courses of classes, orders, shards, restarts and jobs.
func TestAnonymity(t *testing.T) {
	t.Parallel()
	n := uint64(30)
	if testing.Short() {
		n = 10
	}
	counted := 0
	for seed := range n {
		h := newHistory(seed, noLeak)
		require.NoError(t, h.check(t), "seed %d", seed)
		for _, o := range h.run(t, make([]ballot.Position, len(h.hubs))) {
			if strings.HasPrefix(o.what, "result: hub") && !strings.Contains(o.what, " 0 0 [") {
				counted++
			}
		}
	}
	require.NotZero(t, counted, "hubs have results in some of them")
}

// TestAnonymityOfEnds is TestAnonymity of posts with an end: until it comes nothing that can be
// known depends on a position, and then only sums of MinOfEnd votes or more.
func TestAnonymityOfEnds(t *testing.T) {
	t.Parallel()
	n := uint64(12)
	if testing.Short() {
		n = 4
	}
	for seed := range n {
		h := newHistory(seed, noLeak)
		h.ends = true
		require.NoError(t, h.check(t), "seed %d", seed)
	}
	h := newHistory(1, noLeak)
	h.ends, h.storage = true, inFile
	require.NoError(t, h.check(t))
	h = newHistory(1, notSealed)
	h.ends = true
	h.finds(t)
}

// TestAnonymityOfAFile is TestAnonymity over the store of a file, whose batches have their
// messages in them.
func TestAnonymityOfAFile(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2) {
		h := newHistory(seed, noLeak)
		h.storage = inFile
		require.NoError(t, h.check(t), "seed %d", seed)
	}
}

// TestAnonymityOnAzurite is TestAnonymity over Azure's protocols, where each request to a service
// and each answer of one is an observation.
func TestAnonymityOnAzurite(t *testing.T) {
	t.Parallel()
	h := newHistory(3, noLeak)
	h.storage, h.hubs = onAzurite, h.hubs[:10]
	require.NoError(t, h.check(t))
}

// finds holds that the check finds the mistake of a history.
func (h history) finds(t *testing.T) {
	t.Helper()
	err := h.check(t)
	require.Error(t, err)
	require.NotErrorIs(t, err, errNotTheSame)
	t.Log(err)
}

// TestAnonymityFindsLeaks: the check finds each mistake that it is there for, in most histories.
func TestAnonymityFindsLeaks(t *testing.T) {
	t.Parallel()
	for _, l := range leaks {
		t.Run(string(l), func(t *testing.T) {
			t.Parallel()
			found := 0
			for seed := range uint64(6) {
				err := newHistory(seed, l).check(t)
				require.NotErrorIs(t, err, errNotTheSame)
				if err != nil {
					found++
					t.Log(seed, err)
				}
			}
			require.Greater(t, found, 3, "histories in which the mistake is found")
		})
		t.Run(string(l)+" in a file", func(t *testing.T) {
			t.Parallel()
			h := newHistory(3, l)
			h.storage = inFile
			if l != noClasses {
				h.hubs = h.hubs[:6]
			}
			h.finds(t)
		})
	}
}

// TestAnonymityOnAzuriteFindsLeaks: the check finds each mistake in the requests to Azure's
// services and in their answers.
func TestAnonymityOnAzuriteFindsLeaks(t *testing.T) {
	t.Parallel()
	for _, l := range leaks {
		t.Run(string(l), func(t *testing.T) {
			t.Parallel()
			h := newHistory(3, l)
			h.storage, h.hubs = onAzurite, h.hubs[:6]
			if l == noClasses { // as few as two scopes need for a release each
				h.hubs = [][]string{{"hub1"}, {"hub1"}, {}, {"hub1"}, {"hub1"}, {"hub1"}, {"hub1"}}
			}
			h.finds(t)
		})
	}
}
