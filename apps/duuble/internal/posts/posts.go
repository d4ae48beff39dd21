// Package posts keeps what people post, the lists in which posts are found, and joins the votes of
// package ballot with the people who cast them.
//
// # How a post is made
//
// The row `!post` is the truth. Before it is written, a message is sent that names it and is seen
// a minute later; after it, the rows of the lists, the row `po|{post}` of its author and the count
// of the author's posts follow. The job of the message writes what a request that stopped has left
// out. Each row has a name that follows from the post, so that to write it again changes nothing.
//
// A list only suggests: a read looks at the row of each post, and at the memberships of the
// reader. seenBy alone decides who sees a post.
package posts

import (
	"context"
	"io"
	"time"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/feed"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/lists"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/notices"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/repeats"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/outbox"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
)

// QueuePosts is the queue, and the function of the same name, that finishes what follows from a
// new post.
const QueuePosts = "post-changes"

// A Service is what people may do with posts. New makes one.
type Service struct {
	Config
	Manage  *manage.Service
	Around  Around
	MaxFans int // how many followers get an activity in their homes: feed.MaxFans
	feed    *feed.Service
	notices *notices.Service
}

// A Config is what a Service needs. Every field is required.
type Config struct {
	*rowstore.Store
	Tables  schema.Tables // prefixed
	Queues  queue.Queues
	Entropy io.Reader
	People  *people.Service
	Hubs    *hubs.Service
	Ballot  *ballot.Store // whose Follow is that of FollowVotes

	PostsADay    int // of one person; -1: no limit
	CommentsADay int // likewise
	MessagesADay int // likewise, of discussions
	VotesAnHour  int // likewise
}

// keepActivities is how long what people did is in feeds, at most.
const keepActivities = 30 * 24 * time.Hour

// Around is what another room keeps around posts and people, nothing if no room does.
type Around struct {
	// of a post that goes for good, and the hubs in which it is
	Forget func(ctx context.Context, post string, hubs []string) error
	Disown func(ctx context.Context, user string) error // of a person whose account goes

	// at a message that is reported
	Look   func(ctx context.Context, c people.Claim, t manage.Target) (manage.Copy, error)
	Remove func(ctx context.Context, t manage.Target) error // of a message

	// of a message, by the name of a target without its kind
	Picture func(ctx context.Context, of string) (string, error)
}

// New returns the service.
func New(c Config) *Service {
	s := &Service{Config: c, MaxFans: feed.MaxFans, Around: Around{
		Forget: func(context.Context, string, []string) error { return nil },
		Disown: func(context.Context, string) error { return nil },
	}}
	// No longer than Keep, so that feeds have nothing of an account that goes for good.
	s.Manage = manage.New(manage.Config{
		Store: c.Store, Tables: c.Tables, Entropy: c.Entropy, People: c.People,
		Look: s.lookAt, Remove: s.removeReported,
	})
	s.notices = notices.New(notices.Config{Store: c.Store, Tables: c.Tables})
	s.feed = feed.New(feed.Config{
		Store: c.Store, Tables: c.Tables, Queues: c.Queues,
		Keep: min(keepActivities, c.People.Keep), Look: s.findAudience, Follows: c.People.Follows,
		Notices: s.notices, OfHub: c.Hubs.Deliver,
	})
	c.People.Followed = s.feed.Bring
	c.Hubs.Events = hubs.Events{
		Begin: s.feed.Begin, Prepare: s.feed.PrepareHub,
		Forward: s.feed.Forward, Tell: s.notices.Tell,
	}
	c.Hubs.Acts.Posts = func(hub string) lists.List { return lists.List{Table: c.Tables.Lists, Partition: inHub(hub)} }
	return s
}

// The codes of errors.
const (
	PostNotFound        fault.Code = "POST_NOT_FOUND"
	NoSlider            fault.Code = "NO_SLIDER"
	IdempotencyMismatch            = repeats.Mismatch
	Limited             fault.Code = "LIMITED"
	HubTooSmall         fault.Code = "HUB_TOO_SMALL"
)

func (s *Service) postLimit(user string) people.Limit {
	return people.Limit{
		Bucket: "post" + user, Size: 24 * time.Hour, Most: s.PostsADay, Code: Limited,
		Text: "you have posted as often as a person may in a day; wait and try again",
	}
}

func (s *Service) commentLimit(user string) people.Limit {
	return people.Limit{
		Bucket: "comment" + user, Size: 24 * time.Hour, Most: s.CommentsADay, Code: Limited,
		Text: "you have commented as often as a person may in a day; wait and try again",
	}
}

func (s *Service) voteLimit(user string) people.Limit {
	return people.Limit{
		Bucket: "vote" + user, Size: time.Hour, Most: s.VotesAnHour, Code: Limited,
		Text: "you have voted as often as a person may in an hour; wait and try again",
	}
}

// readWindow reads the window of a limit.
func (s *Service) readWindow(l people.Limit, w *people.Window) func(context.Context) error {
	return func(ctx context.Context) (err error) {
		*w, err = s.People.Window(ctx, l)
		return err
	}
}

func noPost() error { return fault.Coded(fault.NotFound, PostNotFound, "there is no such post") }

// Queues are the queues whose messages Triggers work on.
func Queues() []string { return []string{QueuePosts, ballot.QueueOutbox, feed.Queue} }

// Triggers returns the functions that no request starts. Each may run twice, late and in any
// order.
func (s *Service) Triggers() []function.Trigger {
	return []function.Trigger{
		{Name: QueuePosts, Queue: QueuePosts, Run: func(ctx context.Context, in function.Invocation) error {
			return s.followMessage(ctx, in.Text)
		}},
		{
			Name: ballot.QueueOutbox, Queue: ballot.QueueOutbox,
			Run: func(ctx context.Context, in function.Invocation) error {
				return s.Ballot.Deliver(ctx, in.Text)
			},
		},
		{Name: feed.Queue, Queue: feed.Queue, Run: func(ctx context.Context, in function.Invocation) error {
			return s.feed.Deliver(ctx, in.Text)
		}},
		{Name: "purge", Schedule: "0 45 * * * *", Run: func(ctx context.Context, _ function.Invocation) error {
			return s.Purge(ctx)
		}},
		{Name: "end", Schedule: "0 */5 * * * *", Run: func(ctx context.Context, _ function.Invocation) error {
			ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
			defer cancel()
			return s.Ballot.EndDue(ctx)
		}},
		{Name: "settle", Schedule: "0 15 * * * *", Run: func(ctx context.Context, _ function.Invocation) error {
			ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
			defer cancel()
			return s.Ballot.SettleDue(ctx)
		}},
	}
}

// Repeats knows requests that are sent twice.
func (s *Service) Repeats() repeats.Keys { return repeats.Keys{Store: s.Store, Table: s.Tables.Names} }

// postOutbox are the messages of posts and of comments that are deleted.
func (s *Service) postOutbox() outbox.Outbox {
	return outbox.Outbox{Store: s.Store, Queues: s.Queues, Queue: QueuePosts, After: schema.MessageAfter}
}
