package promptdb

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

// The queues, whose names function.json repeats.
const (
	QueueMoves   = "score-bucket-moves" // projection after votes
	QueueRepairs = "index-repairs"      // projection after an interrupted write
)

var queues = []string{QueueMoves, QueueRepairs}

// Tables names the tables. Prefix goes before every name.
type Tables struct {
	Prefix       string `envconfig:"TABLE_PREFIX"`
	Prompts      string `envconfig:"TABLE_PROMPTS" default:"Prompts"`
	Votes        string `envconfig:"TABLE_VOTES" default:"PromptVotes"`
	VotesByVoter string `envconfig:"TABLE_VOTES_BY_VOTER" default:"PromptVotesByVoter"`
	TagIndex     string `envconfig:"TABLE_TAG_INDEX" default:"TagIndex"`
	TitleIndex   string `envconfig:"TABLE_TITLE_INDEX" default:"TitleSearchIndex"`
	TextIndex    string `envconfig:"TABLE_TEXT_INDEX" default:"TextSearchIndex"`
	Newest       string `envconfig:"TABLE_NEWEST" default:"PublicPromptsNewestIndex"`
	MostLiked    string `envconfig:"TABLE_MOST_LIKED" default:"PublicPromptsMostLikedIndex"`
	Hot          string `envconfig:"TABLE_HOT" default:"PublicPromptsHotIndex"`
	Best         string `envconfig:"TABLE_BEST" default:"PublicPromptsBestIndex"`
	Trending     string `envconfig:"TABLE_TRENDING" default:"PublicPromptsTrendingIndex"`
	DeletedIndex string `envconfig:"TABLE_DELETED" default:"DeletedPromptsIndex"`
	HiddenIndex  string `envconfig:"TABLE_HIDDEN" default:"HiddenPromptsIndex"`
	TagCatalog   string `envconfig:"TABLE_TAG_CATALOG" default:"TagCatalog"`
	SystemState  string `envconfig:"TABLE_SYSTEM_STATE" default:"SystemState"`
	AccessTokens string `envconfig:"TABLE_ACCESS_TOKENS" default:"AccessTokens"`
	Users        string `envconfig:"TABLE_USERS" default:"Users"`
	Favorites    string `envconfig:"TABLE_FAVORITES" default:"PromptFavorites"`
}

// DefaultTables returns the tables under their usual names.
func DefaultTables() Tables {
	var t Tables
	for field, name := range t.names() {
		*name = field.Tag.Get("default")
	}
	return t
}

// names returns every field of t but Prefix, and the name in it.
func (t *Tables) names() iter.Seq2[reflect.StructField, *string] {
	return func(yield func(reflect.StructField, *string) bool) {
		v := reflect.ValueOf(t).Elem()
		for i := range v.NumField() {
			name := v.Field(i).Addr().Interface().(*string)
			if name != &t.Prefix && !yield(v.Type().Field(i), name) {
				return
			}
		}
	}
}

// All returns every table's full name.
func (t Tables) All() []string {
	var all []string
	for _, name := range t.names() {
		all = append(all, t.Prefix+*name)
	}
	return all
}

// prefixed returns the names with the prefix before each.
func (t Tables) prefixed() Tables {
	for _, name := range t.names() {
		*name = t.Prefix + *name
	}
	t.Prefix = ""
	return t
}

// Config is what a DB needs. Every field but Transact, Quota, Tags, Jitter and Count is required.
type Config struct {
	Store  table.DB
	Queues queue.Queues
	Tables Tables
	// Transact changes Store and Queues together; nil where they cannot.
	Transact transact.Func
	Quota    Quota // of each user; the zero one limits nobody
	Now      func() time.Time
	Log      *slog.Logger
	Tags     []prompt.TagInfo // what an empty catalog is filled with; nil means prompt.DefaultTags
	// Behind runs work that may follow the answer. It must run every function it is given, at once
	// or later; one that never runs costs a message that finds nothing to do.
	Background func(func())
	Sleep      func(context.Context, time.Duration) error // waits, or returns the context's error
	// a random duration up to the given one; nil means random
	Jitter func(time.Duration) time.Duration

	// Count is told of projections, repairs (of what another writer left) and differences (that
	// anti-entropy found); nil means nobody is.
	Count func(ctx context.Context, kind string, n int)
}

// DB holds the prompts. Its methods may be called at once from many goroutines and return
// errors of package fault.
type DB struct {
	store        table.DB
	queues       queue.Queues
	transact     transact.Func // nil where the storage has none: then the protocol of project.go does
	t            Tables        // with the prefix before each name
	now          func() time.Time
	log          *slog.Logger
	tags         []prompt.TagInfo
	background   func(func())
	sleep        func(context.Context, time.Duration) error
	random       func(time.Duration) time.Duration
	count        func(ctx context.Context, kind string, n int)
	times        times
	authors      authors
	requeued     requeued
	catalog      catalog
	partitions   partitionCache
	pages        pageCache
	turns        keyedMutex
	texts        chan struct{} // has a place for each job that writes rows of a text
	tokens       tokens
	sketches     cached[[]sketched]
	tagWords     cached[*prompt.TagWords]
	known        users
	authorSecret atomic.Pointer[prompt.AuthorSecret] // nil until it is read
	quota        Quota
	usages       usages
	// projectedHook is told of each prompt whose index rows may have changed.
	onProjected func(prompt.Prompt)
}

// New returns a DB over a store. It reads and writes nothing.
func New(c Config) *DB {
	if c.Tags == nil {
		c.Tags = prompt.DefaultTags()
	}
	if c.Jitter == nil {
		c.Jitter = rand.N[time.Duration]
	}
	if c.Count == nil {
		c.Count = func(context.Context, string, int) {}
	}
	jobs := textJobs
	if c.Transact != nil {
		jobs = textJobsWhole
	}
	db := &DB{
		store: c.Store, queues: c.Queues, transact: c.Transact, t: c.Tables.prefixed(), now: c.Now, log: c.Log, tags: c.Tags,
		background: c.Background, sleep: c.Sleep, random: c.Jitter, count: c.Count, times: ofProtocol,
		texts: make(chan struct{}, jobs), quota: c.Quota,
	}
	db.onProjected = db.projected
	return db
}

// Create makes the queues and tables that do not exist yet. A store may make several tables at
// once, in any order; so the one that Ready asks for comes when all others are there.
func (db *DB) Create(ctx context.Context) error {
	if err := db.queues.Create(ctx, withPoison()...); err != nil {
		return unavailable(err)
	}
	others := slices.DeleteFunc(db.t.All(), func(name string) bool { return name == db.t.SystemState })
	if err := db.store.Create(ctx, others...); err != nil {
		return unavailable(err)
	}
	if err := db.store.Create(ctx, db.t.SystemState); err != nil {
		return unavailable(err)
	}
	if err := db.CheckVersion(ctx); err != nil {
		return err
	}
	if err := db.noteVersion(ctx); err != nil {
		return err
	}
	if err := db.LearnAuthorKeys(ctx); err != nil { // so that no request has to
		return err
	}
	return db.Ready(ctx)
}

// Missing returns those tables that do not exist. It makes none and writes nothing.
func (db *DB) Missing(ctx context.Context) ([]string, error) {
	var missing []string
	for _, name := range db.t.All() {
		_, err := db.get(ctx, name, sweepKey("ready"))
		if errors.Is(err, table.NoTableError(name)) {
			missing = append(missing, name)
		} else if err != nil {
			return nil, err
		}
	}
	return missing, nil
}

// MissingQueues is Missing for queues.
func (db *DB) MissingQueues(ctx context.Context) ([]string, error) {
	var missing []string
	for _, name := range withPoison() {
		_, err := db.queues.Len(ctx, name)
		if errors.Is(err, queue.ErrNoQueue) {
			missing = append(missing, name)
		} else if err != nil {
			return nil, unavailable(err)
		}
	}
	return missing, nil
}

// withPoison returns the queues, and where their messages go that fail too often.
func withPoison() []string {
	all := slices.Clone(queues)
	for _, name := range queues {
		all = append(all, queue.Poison(name))
	}
	return all
}

func sweepKey(name string) table.Key { return table.Key{Partition: sweepPartition, Row: name} }

// unavailable classifies an error of the storage: the caller may try again, unless it is a
// request that can never succeed, or of a damaged row.
func unavailable(err error) error {
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return err
	}
	if errors.Is(err, table.ErrInvalid) || errors.Is(err, queue.ErrInvalid) {
		return fault.Wrap(fault.Internal, "something went wrong here", err)
	}
	if errors.Is(err, table.ErrDamaged) {
		return fault.Wrap(fault.Internal, "something that is stored is damaged; an operator sees with verify what", err)
	}
	text := "the storage does not answer at the moment; try again"
	if errors.Is(err, syscall.ENOSPC) {
		text = "the disk of the storage is full"
	}
	return &fault.Error{Kind: fault.Unavailable, Text: text, RetryAfter: retryAfter, Cause: err}
}

const retryAfter = 2 * time.Second

// get reads a row, or only some of its properties; a missing one is nil. Like every error of this
// package that a log may hold, its error names the table and no key: keys hold user ids and words
// of titles.
func (db *DB) get(ctx context.Context, name string, key table.Key, only ...string) (*table.Row, error) {
	if only != nil {
		r := table.Range{Partition: key.Partition, From: key.Row, To: key.Row + "\x00", Select: only}
		rows, _, err := db.budget().rows(ctx, name, r, 1)
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return &rows[0], nil
	}
	row, err := db.store.Get(ctx, name, key)
	if errors.Is(err, table.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(fmt.Errorf("get from %s: %w", name, err))
	}
	return &row, nil
}

// jitter returns a duration between d and 2d.
func (db *DB) jitter(d time.Duration) time.Duration { return d + db.random(d) }

// authors remembers who wrote which prompt: the pair never changes.
type authors struct {
	mu sync.Mutex
	m  map[prompt.ID]prompt.UserID
}

const maxAuthors = 100_000

func (a *authors) get(id prompt.ID) (prompt.UserID, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	author, ok := a.m[id]
	return author, ok
}

func (a *authors) put(id prompt.ID, author prompt.UserID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.m == nil || len(a.m) >= maxAuthors {
		a.m = make(map[prompt.ID]prompt.UserID)
	}
	a.m[id] = author
}
