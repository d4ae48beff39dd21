package ballot

import (
	"context"
	"encoding/hex"
	"io"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"prompthub/internal/fault"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// A Config is what a Store needs. Every field is required but Transact.
type Config struct {
	*rowstore.Store
	Posts  string // the table of posts, with its prefix
	Due    string // the table of rows that timers look at, with its prefix
	Queues queue.Queues
	// Transact changes tables and queues together; nil if the storage does not.
	Transact transact.Func
	Keys     Keys
	VoteMin  int // how many votes a release has at least: MinVoteMin to MaxVoteMin
	// SettleAfter is how old the first vote of a box must be before Settle joins it with others.
	SettleAfter time.Duration
	Entropy     io.Reader // random bytes, for ids and shards
	// Follow writes what follows from votes in other partitions, such as the list of a voter.
	// It may be called again for the same votes.
	Follow func(ctx context.Context, votes []Receipt) error
}

// The bounds of Config.VoteMin.
const (
	MinVoteMin = 3
	MaxVoteMin = 50
)

// MaxHubs is in how many hubs a vote can count: its rows must fit into one batch.
const MaxHubs = 90

// MaxShards is how many shards a post can have.
const MaxShards = 16

// Codes of errors.
const (
	AlreadyVoted fault.Code = "ALREADY_VOTED"
	Busy         fault.Code = "VOTE_BUSY"
)

// waitWithin is how long a vote tries to be cast while others change the same rows.
const waitWithin = 5 * time.Second

// A Store casts votes and reads their results. New makes one.
type Store struct {
	Config
	mu    sync.Mutex
	lanes map[string][]*pending // by post; a lane without an entry is not running
	// won has the shard of a post in which this process last cast votes. It stays with it
	// until it loses a race, so that processes end up with shards of their own.
	won *lru.Cache[string, int]
}

// maxWon is of how many posts a process knows the shard.
const maxWon = 10_000

// New returns a store.
func New(c Config) *Store {
	return &Store{Config: c, lanes: map[string][]*pending{}, won: rowstore.NewLRU[string, int](maxWon)}
}

// A Vote is what a person chose on a post. The caller has made sure that the post is there,
// has a slider and may be seen by the voter, and that the voter is an active member of the
// hubs.
type Vote struct {
	Post, Voter string
	Position    Position
	Hubs        []string // in which the post is visible and the voter is a member
	Shards      int      // of the post, as ShardsOf says
	Ends        bool     // whether the post has an end
}

// A Receipt says that somebody voted. It has no position.
type Receipt struct {
	Post, Voter string
	VotedAt     time.Time
	Hubs        []string // in which the vote counts, sorted
}

// A pending vote waits for a batch.
type pending struct {
	Vote
	op     string // the id of this attempt, by which its receipt is known again
	scopes []string
	since  time.Time
	result chan result
}

type result struct {
	receipt Receipt
	err     error
}

func (p *pending) receipt() Receipt {
	return Receipt{Post: p.Post, Voter: p.Voter, VotedAt: table.TimeOf(table.Ticks(p.since)), Hubs: p.scopes[1:]}
}

func (p *pending) notePending(err error) {
	if err != nil {
		p.result <- result{err: err}
		return
	}
	p.result <- result{receipt: p.receipt()}
}

// Cast casts a vote, once for ever. The error is AlreadyVoted if the person has voted on the post
// before, VoteEnded if the post has an end and that has come, Busy if others changed the same rows
// for too long, and Unavailable if the storage did not answer. After the last the vote may be cast:
// the same call again says so by AlreadyVoted.
func (s *Store) Cast(ctx context.Context, v Vote) (Receipt, error) {
	if !v.Position.isValid() {
		return Receipt{}, badPosition()
	}
	p := &pending{Vote: v, op: s.newID(), scopes: scopesOf(v.Hubs), since: s.Now(), result: make(chan result, 1)}
	if len(p.scopes) > 1+MaxHubs {
		return Receipt{}, fault.New(fault.Invalid, "a vote counts in 90 hubs at most")
	}
	s.joinLane(context.WithoutCancel(ctx), p)
	select {
	case <-ctx.Done(): // the vote goes on with the others of its batch
		return Receipt{}, rowstore.Unavailable(ctx.Err())
	case r := <-p.result:
		return r.receipt, r.err
	}
}

// joinLane puts a vote into the lane of its post, and starts the lane unless it runs.
func (s *Store) joinLane(ctx context.Context, p *pending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waiting, running := s.lanes[p.Post]
	s.lanes[p.Post] = append(waiting, p)
	if !running {
		go s.runLane(ctx, p.Post)
	}
}

// runLane casts the votes of a lane, batch after batch, until none waits.
func (s *Store) runLane(ctx context.Context, post string) {
	for {
		batch := s.nextBatch(post)
		if batch == nil {
			return
		}
		s.castAll(ctx, post, batch)
		if len(batch) > 1 {
			_ = s.Sleep(ctx, gather) // votes that wait are cast all the same
		}
	}
}

// gather is for how long a busy lane waits for the votes of its next batch. Without it the first
// voter to come would be alone in every second batch.
const gather = 500 * time.Microsecond

// maxVotes is how many votes go together in one batch.
const maxVotes = 40

// nextBatch takes the votes of the next batch out of a lane, or ends the lane.
func (s *Store) nextBatch(post string) []*pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	var batch, rest []*pending
	rows := map[string]bool{"outbox": true, endRow: true}
	for i, p := range s.lanes[post] {
		if len(batch) == maxVotes {
			rest = append(rest, s.lanes[post][i:]...)
			break
		}
		more := append([]string{"v|" + p.Voter, "b|" + classOf(p.scopes)}, p.scopes...)
		fresh := 0
		for _, row := range more {
			if !rows[row] {
				fresh++
			}
		}
		// A second vote of one person waits for the outcome of the first.
		if len(rows)+fresh > table.MaxBatch || rows["v|"+p.Voter] {
			rest = append(rest, p)
			continue
		}
		batch = append(batch, p)
		for _, row := range more {
			rows[row] = true
		}
	}
	if batch == nil {
		delete(s.lanes, post)
		return nil
	}
	s.lanes[post] = rest
	return batch
}

// Voted returns the receipt of a person on a post, nil if there is none.
func (s *Store) Voted(ctx context.Context, post, voter string) (*Receipt, error) {
	row, err := s.GetRow(ctx, s.Posts, receiptKey(post, voter))
	if err != nil || row == nil {
		return nil, err
	}
	r := receiptOf(*row)
	return &r, nil
}

// newID returns a random id.
func (s *Store) newID() string { return hex.EncodeToString(s.randomBytes(16)) }

func (s *Store) randomBytes(n int) []byte {
	b := make([]byte, n)
	if _, err := io.ReadFull(s.Entropy, b); err != nil {
		panic(err) // the system has no random numbers, and keys would have none either
	}
	return b
}

// luck returns random numbers that no one can foresee.
func (s *Store) luck() *rand.Rand {
	return rand.New(rand.NewChaCha8([32]byte(s.randomBytes(32))))
}

// pickShard returns a random shard of as many, and another one than the last if there is one. It
// must not follow from the voter, the position or the time.
func (s *Store) pickShard(shards, last int) int {
	if last >= 0 && shards > 1 {
		return (last + 1 + int(s.randomBytes(1)[0])%(shards-1)) % shards
	}
	return int(s.randomBytes(1)[0]) % shards
}

// shardsFrom returns a number of shards that a post can have.
func shardsFrom(n int) int {
	for _, shards := range []int{16, 8, 4, 2} {
		if n >= shards {
			return shards
		}
	}
	return 1
}

// A Position is one of five on a slider.
type Position int

// The positions, in their order on the slider.
const (
	StrongLeft Position = iota
	Left
	Neutral
	Right
	StrongRight
)

var positions = []string{"strong_left", "left", "neutral", "right", "strong_right"}

// Positions returns the names of the positions, in order.
func Positions() []string { return slices.Clone(positions) }

func (p Position) isValid() bool { return p >= StrongLeft && p <= StrongRight }

// ParsePosition returns the position of a name. The error does not repeat the name, so that no
// log holds it.
func ParsePosition(name string) (Position, error) {
	if i := slices.Index(positions, name); i >= 0 {
		return Position(i), nil
	}
	return 0, badPosition()
}

func badPosition() error {
	return &fault.Error{Kind: fault.Invalid, Text: "the position is none of the slider's", Fields: []fault.Field{
		{Name: "position", Message: "must be strong_left, left, neutral, right or strong_right"},
	}}
}
