// Package stream has clients wait for notifications: programs by the API, and open pages.
//
// The host of a deployment sends an answer when it is complete, so a stream is one that ends: with
// the first notifications that come, or after a time without any. A client then asks again.
package stream

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/http/httpjson"
)

// How many streams are open at once, in one process.
const (
	most         = 1000
	mostOfPerson = 5
)

// How long a browser waits before it asks again.
const (
	againAfter = time.Second
	restFor    = time.Minute
)

// Config is what a Service needs.
type Config struct {
	Posts *posts.Service
	Poll  time.Duration // how often a stream looks for notifications
	For   time.Duration // how long a stream without any is open; 0: it looks once
}

// A Service has the streams that are open, one of each session. New makes one.
type Service struct {
	Config
	mu   sync.Mutex
	open []*place // the oldest first
}

// A place is that of a stream that is open.
type place struct {
	user, session string
	end           context.CancelFunc
}

// New returns the service.
func New(c Config) *Service { return &Service{Config: c} }

// enterSession opens the stream of a session, and ends the one that it has. For the sixth of a
// person the oldest of the person ends, and if there is no room, the oldest of the person who has
// most.
func (s *Service) enterSession(ctx context.Context, user, session string) (of context.Context, leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endFirst(func(p *place) bool { return p.session == session })
	by := map[string]int{}
	for _, p := range s.open {
		by[p.user]++
	}
	if by[user] >= mostOfPerson {
		s.endFirst(func(p *place) bool { return p.user == user })
	} else if len(s.open) >= most {
		largest := slices.Max(slices.Collect(maps.Values(by)))
		s.endFirst(func(p *place) bool { return by[p.user] == largest })
	}
	of, end := context.WithCancel(ctx)
	forget := context.AfterFunc(httpjson.Ending(ctx), end) // the end of the server must not wait for it
	mine := &place{user, session, end}
	s.open = append(s.open, mine)
	return of, func() {
		forget()
		end()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.endFirst(func(p *place) bool { return p == mine })
	}
}

// endFirst ends the oldest stream of which something is true, if there is one.
func (s *Service) endFirst(is func(*place) bool) {
	if i := slices.IndexFunc(s.open, is); i >= 0 {
		s.open[i].end()
		s.open = slices.Delete(s.open, i, i+1)
	}
}

// A Stream is one that is open. Its caller must call Write, which ends it.
type Stream struct {
	*Service
	// Rests says that it looks once, and that a browser asks again after restFor: so a page without a
	// reader keeps no instance up.
	Rests  bool
	ctx    context.Context
	leave  func()
	caller people.Claim
	last   string
	since  time.Time
	news   []posts.Notification
}

// Open begins a stream of notifications newer than the one with an id, or than now if there is
// no such id.
func (s *Service) Open(ctx context.Context, c people.Claim, last string) (*Stream, error) {
	of, leave := s.enterSession(ctx, c.UserID, c.SessionID)
	st := &Stream{Service: s, ctx: of, leave: leave, caller: c, last: last, since: s.Posts.Now()}
	if err := st.lookForNews(); err != nil {
		leave()
		return nil, err
	}
	return st, nil
}

func (st *Stream) lookForNews() (err error) {
	st.news, err = st.Posts.NewNotifications(st.ctx, st.caller, st.last, st.since)
	return err
}

// Write waits for the first notifications and writes them as events, the oldest first, with the
// data that a client gets of each.
func (st *Stream) Write(w io.Writer, data func(posts.Notification) (string, error)) error {
	defer st.leave()
	again := againAfter
	if st.Rests {
		again = restFor
	}
	_, _ = fmt.Fprintf(w, "retry: %d\n\n", again.Milliseconds()) // the client has gone away
	for !st.Rests && len(st.news) == 0 && st.Posts.Now().Sub(st.since) < st.For {
		if st.Posts.Sleep(st.ctx, st.Poll) != nil || st.lookForNews() != nil {
			return nil // the next stream tells of an error
		}
	}
	for _, n := range slices.Backward(st.news) {
		text, err := data(n)
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(w, "id: %s\nevent: notification\ndata: %s\n\n", n.ID(),
			strings.ReplaceAll(text, "\n", "\ndata: "))
	}
	return nil
}

// SetHeaders sets the headers of an answer that is a stream.
func SetHeaders(set func(name, value string)) {
	set("Content-Type", "text/event-stream")
	set("Cache-Control", "no-store")
}
