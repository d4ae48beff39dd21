// Package scopes keeps an index in memory of each scope that is searched, and has it follow the log
// of the scope.
//
// The first search of a scope begins to load it, and waits for a moment. What the log has later is
// read by the searches that come later: once a second what is new at its end, and the rows that may
// have come late, which are few. A commit tells the index of its own instance by itself.
package scopes

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/searchindex"
	"prompthub/internal/storage/rowstore"
)

const (
	// waitWithin is how long a search waits for a scope that is being loaded.
	waitWithin = 2 * time.Second
	// followEvery is how old what a search knows may be.
	followEvery = time.Second
	// lateWithin is by when a row of a log is there after its stamp, or never: the lease of its
	// writer, and what two clocks differ by. Commit has the same sum, and a test compares the two.
	lateWithin = 20*time.Second + rowstore.LandWithin + 2*rowstore.ClockSkew
	// keepFor is how long an index that nothing has followed may go on: as long as logs say that a
	// prompt is gone.
	keepFor = schema.GoneFor / 2
	// idleFor is after what time without a search an index is given up.
	idleFor = 15 * time.Minute
	// loadEighths of the memory are filled by the public scope when it is loaded. It is loaded anew
	// once it has followEighths, and has grown by one.
	loadEighths, followEighths = 6, 7
	// mostTold is how many commits wait for a search. Prompts that are added together cost half of
	// what they cost one by one, since there are no smaller parts to merge.
	mostTold = 32
	// maxOwn is how many bytes of words an owner's scope may have, compressed.
	maxOwn = 8 << 20
)

// LateWithin is lateWithin, for the test that compares it with the times of the protocol.
const LateWithin = lateWithin

// Scopes has the indexes of an instance. Its methods may be called at once from many goroutines.
type Scopes struct {
	*truth.Reader
	memory int64 // bytes that all indexes may take

	mu     sync.Mutex
	scopes map[schema.Scope]*scope
}

// New returns the indexes of what r reads. They take some bytes of memory, or a quarter of what the
// process may use if memory is 0.
func New(r *truth.Reader, memory int64) *Scopes {
	if memory == 0 {
		memory = debug.SetMemoryLimit(-1) / 4
	}
	return &Scopes{Reader: r, memory: memory, scopes: map[schema.Scope]*scope{}}
}

// Index returns the index of a scope. There is none while the scope is being loaded. It is partial
// if the scope is larger than its bound: then the prompts that changed last are in it.
func (s *Scopes) Index(ctx context.Context, of schema.Scope) (index *searchindex.Index, partial bool, err error) {
	c, err := s.loaded(ctx, of, waitWithin)
	if err != nil || c == nil {
		return nil, true, err
	}
	if err := c.upToDate(ctx); err != nil {
		return nil, true, err
	}
	return c.index.Load(), c.isPartial(), nil
}

// loaded returns a scope for a caller that waits so long for it to be loaded, nil if that takes
// longer.
func (s *Scopes) loaded(ctx context.Context, of schema.Scope, within time.Duration) (*scope, error) {
	c, isNew := s.scope(of)
	if isNew {
		s.Background(c.load)
	}
	if loaded, err := c.wait(ctx, within); err != nil || !loaded {
		return nil, err
	}
	c.addTold(1)
	return c, nil
}

// scope returns the scope with this name, and whether it must be loaded.
func (s *Scopes) scope(of schema.Scope) (c *scope, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.Now()
	c = s.scopes[of]
	if isNew = c == nil || c.outdated(now); isNew {
		c = newScope(s, of, now)
		s.scopes[of] = c
	}
	c.used = now
	c.idle.Reset(idleFor)
	return c, isNew
}

// drop forgets a scope, unless another one has taken its place.
func (s *Scopes) drop(c *scope) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scopes[c.of] == c {
		delete(s.scopes, c.of)
	}
	c.idle.Stop()
}

// fits makes room for a scope that has grown: the owners' scopes that were searched least lately
// go. It reports whether the scope is within its bound: eighths of the memory for the public one.
func (s *Scopes) fits(grown *scope, eighths int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		total := int64(0)
		var oldest *scope
		for _, c := range s.scopes {
			total += c.index.Load().Bytes()
			if c != grown && c.of != schema.Public && (oldest == nil || c.used.Before(oldest.used)) {
				oldest = c
			}
		}
		if oldest == nil || total <= s.memory {
			if grown.of == schema.Public {
				return grown.index.Load().Bytes() <= s.memory/8*eighths
			}
			return total <= s.memory
		}
		delete(s.scopes, oldest.of)
		oldest.idle.Stop()
	}
}

// Told has the indexes of this instance follow a commit from the next search on.
func (s *Scopes) Told(rec schema.Record) {
	s.mu.Lock()
	var all []*scope
	for _, of := range []schema.Scope{schema.Public, {Owner: rec.AuthorID}} {
		if c := s.scopes[of]; c != nil {
			all = append(all, c)
		}
	}
	s.mu.Unlock()
	for _, c := range all {
		c.tell(rec)
	}
}
