package api

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
)

// streamID is the operation of the stream. It waits, so it takes no place of those that work.
const streamID = "stream-notifications"

// mostStreams is how many streams one process has open at once.
const mostStreams = 1000

// Streams are those that are open, one of each session.
type streams struct {
	mu   sync.Mutex
	open map[string]*stream
}

type stream struct{ end context.CancelFunc }

// enter opens the stream of a session, and ends the one that it has. It reports whether there is
// room.
func (s *streams) enter(ctx context.Context, session string) (of context.Context, leave func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.open[session]
	if before == nil && len(s.open) >= mostStreams {
		return nil, nil, false
	}
	if before != nil {
		before.end()
	}
	of, end := context.WithCancel(ctx)
	mine := &stream{end}
	if s.open == nil {
		s.open = map[string]*stream{}
	}
	s.open[session] = mine
	return of, func() {
		end()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.open[session] == mine {
			delete(s.open, session)
		}
	}, true
}

func (a *api) stream() {
	op := operation("notifications", streamID, http.MethodGet, "/notifications/stream", "My new notifications, as events", "Answers with the first notifications that come, each an event whose data is a notification, or after 25 seconds without one: a client asks again, as the EventSource of a browser does. With Last-Event-ID those that are newer than that one, else those that are newer than the request. A session has one stream: a new one ends the one before.", http.StatusOK)
	op.Responses = map[string]*huma.Response{"200": {Description: "Events", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}, Example: "retry: 1000\n\nid: 2516087663999999999-36c92e25aed2a57cacc40610\nevent: notification\ndata: {}\n\n"}}}}
	route(a, person, Bound{4, 120}, op, func(ctx context.Context, v visit, in *struct {
		Last string `header:"Last-Event-ID" doc:"The last notification that the client has" example:"2516087663999999999-36c92e25aed2a57cacc40610"`
	},
	) (*huma.StreamResponse, error) {
		of, leave, ok := a.open.enter(ctx, v.SessionID)
		if !ok {
			return nil, fault.New(fault.Unavailable, "too many clients wait for notifications; ask for the number of unread ones instead")
		}
		since := a.Now()
		news, err := a.Posts.NewNotifications(of, v.Claim, in.Last, since)
		if err != nil {
			leave()
			return nil, err
		}
		return &huma.StreamResponse{Body: func(out huma.Context) {
			defer leave()
			out.SetHeader("Content-Type", "text/event-stream")
			out.SetHeader("Cache-Control", "no-store")
			w := out.BodyWriter()
			_, _ = io.WriteString(w, "retry: 1000\n\n")
			for len(news) == 0 && err == nil && a.Now().Sub(since) < a.StreamFor {
				if a.Posts.Sleep(of, a.NotifyPoll) != nil {
					return
				}
				news, err = a.Posts.NewNotifications(of, v.Claim, in.Last, since) // an error ends it, and the next one tells of it
			}
			for _, n := range slices.Backward(news) {
				data, err := json.Marshal(notificationOf(n))
				if err != nil {
					return
				}
				_, _ = fmt.Fprintf(w, "id: %s\nevent: notification\ndata: %s\n\n", n.ID(), data)
			}
		}}, nil
	})
}
