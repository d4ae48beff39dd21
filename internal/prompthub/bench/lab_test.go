package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/auth"
	"prompthub/internal/fault"
	"prompthub/internal/memory"
	"prompthub/internal/prompthub"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/table"
)

// callTime is how long each call to the storage takes where steps are counted.
const callTime = 5 * time.Millisecond

// The users of a lab.
var (
	ann  = auth.User{ID: "7e1c3c5e-2d4f-4d39-9d57-0f3a3b2c1d0e", Name: "Ann"}
	vera = auth.User{ID: "0b9a7d6c-5e4f-4a3b-8c2d-1e0f9a8b7c6d", Name: "Vera"}
	mod  = auth.User{ID: "5d4c3b2a-1f0e-4d9c-8b7a-6f5e4d3c2b1a", Name: "Mod", Roles: []string{auth.RoleAdmin}}
)

// A lab is a library in memory, where every call to the storage is counted and takes its time. It is meant for a
// synctest bubble, where time passes only while everybody waits: there it tells how many calls were made one after another.
type lab struct {
	t      testing.TB
	meter  *meter
	db     *promptdb.DB
	hub    *prompthub.Service
	prompt prompt.Prompt // of ann: three tags, a title of five words
	behind atomic.Int64  // calls that were left to follow the answer
	cursor string        // of a page that was read before
}

const (
	typicalTitle = "Write better short mystery novels" // no two words share a token
	filled       = 60                                  // prompts beside the typical one
)

var typicalTags = []prompt.Tag{"text", "writing", "education"}

func newLab(t testing.TB) *lab {
	l := &lab{t: t, meter: &meter{rows: memory.NewTables(), messages: memory.NewQueues(time.Now)}}
	l.restart()
	require.NoError(t, l.db.Create(t.Context()))
	for i := range filled {
		title, tags := fmt.Sprintf("Common words of number %d", i), []prompt.Tag{"text"}
		if i%20 == 0 {
			title, tags = fmt.Sprintf("Common and scarce number %d", i), []prompt.Tag{"text", "legal", "data"}
		}
		l.prompt = l.create(title, tags...)
		l.vote(vera, prompt.Like)
	}
	l.prompt = l.create(typicalTitle, typicalTags...)
	l.settle()
	return l
}

// restart puts a new instance of the program in place of the old one. It remembers nothing.
func (l *lab) restart() {
	l.db = promptdb.New(promptdb.Config{
		Store: l.meter, Queues: meteredQueues{l.meter}, Tables: promptdb.DefaultTables(), Now: time.Now, Log: slog.New(slog.DiscardHandler),
		Behind: func(f func()) {
			l.behind.Add(1)
			go f()
		},
		Sleep: func(_ context.Context, d time.Duration) error {
			time.Sleep(d)
			return nil
		},
	})
	l.hub = prompthub.New(l.db, prompt.Rules{}, time.Now)
}

// must fails the test unless a request was answered as it should.
func (l *lab) must(err error) {
	l.t.Helper()
	require.NoError(l.t, err)
}

func (l *lab) draft(title string, tags ...prompt.Tag) prompt.Draft {
	text := "You are an editor. Read what follows and answer with the three things that most need work, and why."
	return prompt.Draft{Title: title, Text: text, Tags: tags, Visibility: prompt.Public}
}

func (l *lab) create(title string, tags ...prompt.Tag) prompt.Prompt {
	l.t.Helper()
	time.Sleep(time.Millisecond) // so that each has a time of its own
	v, _, err := l.hub.Create(l.t.Context(), ann, l.draft(title, tags...), "")
	l.must(err)
	return v.Prompt
}

// warm makes the instance remember what it remembers after its first requests.
func (l *lab) warm() {
	l.t.Helper()
	_, err := l.hub.Tags(l.t.Context(), ann, false)
	l.must(err)
	_, err = l.db.Author(l.t.Context(), l.prompt.ID, ann.ID)
	l.must(err)
}

func (l *lab) vote(who auth.User, v prompt.Vote) {
	l.t.Helper()
	_, err := l.hub.Vote(l.t.Context(), who, l.prompt.ID, v)
	l.must(err)
}

func (l *lab) patch(p prompthub.Patch) error {
	_, err := l.hub.Patch(l.t.Context(), ann, l.prompt.ID, prompthub.Match{Any: true}, p)
	return err
}

// likes makes so many strangers like the prompt, and leaves the jobs of that undone.
func (l *lab) likes(n int) {
	l.t.Helper()
	for i := range n {
		l.vote(auth.User{ID: fmt.Sprint("stranger ", i)}, prompt.Like)
	}
	l.forget()
}

// forget empties the queues without doing what they hold.
func (l *lab) forget() {
	l.t.Helper()
	l.each(func(context.Context, string) error { return nil })
}

// settle does what the queues hold.
func (l *lab) settle() {
	l.t.Helper()
	l.each(nil)
}

// each gives every message to do, or to its job, until both queues are empty.
func (l *lab) each(do func(context.Context, string) error) {
	l.t.Helper()
	ctx := l.t.Context()
	for left := 1; left > 0; {
		left = 0
		time.Sleep(2 * time.Second)
		for name, job := range map[string]func(context.Context, string) error{promptdb.QueueMoves: l.db.Move, promptdb.QueueRepairs: l.db.Repair} {
			ms, err := l.meter.messages.Receive(ctx, name, 32, 10*time.Minute)
			l.must(err)
			for _, m := range ms {
				if do != nil {
					job = do
				}
				l.must(job(ctx, m.Text))
				l.must(l.meter.messages.Delete(ctx, name, m.Receipt))
			}
			n, err := l.meter.messages.Len(ctx, name)
			l.must(err)
			left += n
		}
	}
}

// rows counts the index rows of the prompt.
func (l *lab) rows() int64 {
	l.t.Helper()
	n := int64(0)
	t := promptdb.DefaultTables()
	for _, name := range []string{t.Newest, t.MostLiked, t.TagIndex, t.TitleIndex, t.DeletedIndex, t.HiddenIndex, t.Votes} {
		l.must(table.All(l.t.Context(), l.meter.rows, name, table.Range{}, func(row table.Row) (bool, error) {
			if row.Props.Get("PromptId").Str() == string(l.prompt.ID) && row.Props.Get("VoterId").Str() == "" {
				n++
			}
			return true, nil
		}))
	}
	return n
}

// message is what a vote or a change leaves on a queue.
func (l *lab) message(voter string) string {
	return fmt.Sprintf(`{"v":1,"author":%q,"prompt":%q,"voter":%q}`, ann.ID, l.prompt.ID, voter)
}

// A spent is what one request made.
type spent struct {
	steps  int   // calls one after another until the answer
	calls  count // all, with those that need not end before the answer
	behind int64 // the latter
}

// measure does one request, which ends in an error of the kind refused unless that is zero, and counts.
func (l *lab) measure(do func(context.Context, *lab) error, refused fault.Kind) spent {
	l.t.Helper()
	synctest.Wait()
	l.meter.delay = callTime
	defer func() { l.meter.delay = 0 }()
	calls, behind, began := l.meter.count(), l.behind.Load(), time.Now()
	err := do(l.t.Context(), l)
	took := time.Since(began)
	if refused == 0 {
		l.must(err)
	} else {
		require.Equal(l.t, refused, fault.Of(err))
	}
	time.Sleep(10 * callTime)
	synctest.Wait()
	require.Zero(l.t, took%callTime, "something else than calls took time")
	return spent{int(took / callTime), l.meter.count().minus(calls), l.behind.Load() - behind}
}
