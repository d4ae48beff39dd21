package web

import (
	"context"
	"net/http"
	"net/url"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/cursor"
	"prompthub/internal/storage/rowstore"
)

// A foundBody is what a search has found. Asked is false before there is a query.
type foundBody struct {
	Asked                bool
	People               []people.Person
	Hubs                 []hubs.Hub
	MorePeople, MoreHubs string // where the next ones are, "" if there are none
}

// search shows the people and hubs that a query finds, or the next of either.
func (s *web) search(r *request) error {
	q := r.URL.Query()
	p := page{Name: "search", Title: "Search", Form: url.Values{"q": q["q"]}, Body: foundBody{}}
	query, of := q.Get("q"), q.Get("of")
	if query == "" {
		return s.render(r, http.StatusOK, p)
	}
	body := foundBody{Asked: true}
	some := func(kind string, read func(ctx context.Context, after string) (string, error),
		more *string,
	) func(context.Context) error {
		return func(ctx context.Context) error {
			list, after := kind+" with "+query, ""
			switch {
			case of == kind:
				var err error
				if after, err = cursor.Resume(list, q.Get("after")); err != nil {
					return err
				}
			case of != "":
				return nil
			}
			next, err := read(ctx, after)
			if next != "" {
				*more = r.URL.Path + "?" + url.Values{
					"q": {query}, "of": {kind},
					"after": {cursor.Seal(list, next)},
				}.Encode()
			}
			return err
		}
	}
	err := rowstore.Both(r.Context(), some("people", func(ctx context.Context, after string) (string, error) {
		found, err := s.People.Search(ctx, r.claim, query, after, perPage)
		body.People = found.Items
		return found.Next, err
	}, &body.MorePeople), some("hubs", func(ctx context.Context, after string) (string, error) {
		found, err := s.Hubs.Search(ctx, r.claim, query, after, perPage)
		body.Hubs = found.Items
		return found.Next, err
	}, &body.MoreHubs))
	if err != nil {
		return s.refused(r, p, err)
	}
	p.Body = body
	return s.render(r, http.StatusOK, p)
}
