package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/stream"
	"prompthub/internal/http/openapi"
)

func (a *api) stream() {
	op := operation("notifications", "stream-notifications", http.MethodGet, "/notifications/stream",
		"My new notifications, as events", "Answers with the first notifications that come, each an event whose data is a notification, or after 25 seconds without one: a client asks again, as the EventSource of a browser does. With Last-Event-ID those that are newer than that one, else those that are newer than the request. A session has one stream, and a person five: a new one ends the one before of the session, or the oldest of the person.", http.StatusOK)
	op.Responses = map[string]*huma.Response{
		"200": {
			Description: "Events",
			Content: map[string]*huma.MediaType{
				"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}, Example: "retry: 1000\n\nid: 2516087663999999999-36c92e25aed2a57cacc40610\nevent: notification\ndata: {}\n\n"},
			},
		},
	}
	op.Metadata = map[string]any{openapi.Waits: true}
	route(a, person, Bound{4, 85}, op, func(ctx context.Context, v visit, in *struct {
		Last string `header:"Last-Event-ID" doc:"The last notification that the client has" example:"2516087663999999999-36c92e25aed2a57cacc40610"`
	},
	) (*huma.StreamResponse, error) {
		open, err := a.Streams.Open(ctx, v.Claim, in.Last)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(out huma.Context) {
			stream.SetHeaders(out.SetHeader)
			_ = open.Write(out.BodyWriter(), func(n posts.Notification) (string, error) {
				data, err := json.Marshal(notificationOf(n))
				return string(data), err
			})
		}}, nil
	})
}
