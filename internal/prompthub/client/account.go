package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/format"
	"prompthub/internal/prompthub/prompt"
)

// A Whole is a prompt with its history: a line of the export of an account. What a service numbers
// and dates by itself is not in it, so that two services have the same line of the same prompt.
type Whole struct {
	format.Document
	Versions []Past           `json:"versions"` // the oldest first; a number that is not there was deleted
	Labels   map[string]int64 `json:"labels,omitempty"`
}

// A Past is a content that a prompt has or had.
type Past struct {
	Version   int64             `json:"version"`
	Kind      prompt.Kind       `json:"kind,omitempty"`
	Text      string            `json:"text,omitempty"`
	Messages  []prompt.Message  `json:"messages,omitempty"`
	Config    jsontext.Value    `json:"config,omitempty"`
	Variables []prompt.Variable `json:"variables,omitempty"`
	Message   string            `json:"message,omitempty"`
}

// A Profile is what others see of the caller.
type Profile struct {
	Handle string `json:"handle,omitempty"`
	Name   string `json:"name,omitempty"`
	About  string `json:"about,omitempty"`
}

// Profile returns that of the caller.
func (c *Client) Profile(ctx context.Context) (p Profile, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/me/profile"}, &p)
	return p, err
}

// SetProfile replaces the profile of the caller.
func (c *Client) SetProfile(ctx context.Context, p Profile) error {
	body, err := json.Marshal(p)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, call{method: http.MethodPut, path: "/me/profile", body: body}, nil)
	return err
}

// maxGaps is how many deleted versions of a prompt are made up for.
const maxGaps = 100

// Account returns the caller's prompts with their history, by name.
func (c *Client) Account(ctx context.Context) ([]Whole, error) {
	var all []Whole
	for p, err := range c.Mine(ctx) {
		if err != nil {
			return nil, err
		}
		w, err := c.whole(ctx, p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		all = append(all, w)
	}
	slices.SortFunc(all, func(a, b Whole) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// whole returns a prompt with its history. The content of the latest version stands there alone.
func (c *Client) whole(ctx context.Context, p Prompt) (Whole, error) {
	w := Whole{Document: p.Document, Labels: make(map[string]int64)}
	w.Kind, w.Text, w.Messages, w.Config, w.Variables, w.Message = "", "", nil, nil, nil, ""
	var list []Version
	for v, err := range c.history(ctx, p.ID) {
		if err != nil {
			return w, err
		}
		list = append(list, v)
	}
	slices.Reverse(list)
	w.Versions = make([]Past, len(list))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Parallel)
	for i, v := range list {
		for _, label := range v.Labels {
			if label != prompt.Latest {
				w.Labels[label] = v.Version
			}
		}
		g.Go(func() error {
			_, err := c.do(ctx, call{method: http.MethodGet, path: versionPath(p.ID, v.Version)}, &w.Versions[i])
			if w.Versions[i].Kind == "text" {
				w.Versions[i].Kind = prompt.KindText
			}
			return err
		})
	}
	return w, g.Wait()
}

func versionPath(id string, n int64) string {
	return fmt.Sprintf("/prompts/%s/versions/%d", url.PathEscape(id), n)
}

// history returns the versions of a prompt without their contents, the newest first.
func (c *Client) history(ctx context.Context, id string) iter.Seq2[Version, error] {
	return func(yield func(Version, error) bool) {
		query := url.Values{"limit": {"100"}}
		for {
			var list struct {
				Items      []Version `json:"items"`
				NextCursor string    `json:"nextCursor"`
			}
			path := "/prompts/" + url.PathEscape(id) + "/versions?" + query.Encode()
			if _, err := c.do(ctx, call{method: http.MethodGet, path: path}, &list); err != nil {
				yield(Version{}, err)
				return
			}
			for _, v := range list.Items {
				if !yield(v, nil) {
					return
				}
			}
			if list.NextCursor == "" {
				return
			}
			query.Set("cursor", list.NextCursor)
		}
	}
}

// Restore makes a new prompt of the caller's with a history: the same versions with the same
// numbers and labels. It is published last, so that nobody sees more of it than the latest version.
func (c *Client) Restore(ctx context.Context, w Whole) error {
	past, err := w.gapless()
	if err != nil {
		return err
	}
	first := past[0].document(w.Document)
	first.Visibility = string(prompt.Private)
	now, err := c.Add(ctx, first)
	if err != nil {
		return err
	}
	for _, v := range past[1:] {
		d := v.document(w.Document)
		d.Visibility = string(prompt.Private)
		// A version without a config or variables takes them away, whatever was before.
		before := format.Document{Name: d.Name, Config: jsontext.Value("{}"), Variables: []prompt.Variable{{}}}
		if now, err = c.Change(ctx, Prompt{ID: now.ID, Revision: now.Revision}, d, before); err != nil {
			return fmt.Errorf("version %d: %w", v.Version, err)
		}
		if now.Version != v.Version {
			return fmt.Errorf("version %d became version %d", v.Version, now.Version)
		}
	}
	return c.finish(ctx, now, w)
}

// finish gives a prompt its labels, takes away what stood for deleted versions, and publishes it.
func (c *Client) finish(ctx context.Context, now Found, w Whole) error {
	have := make(map[int64]bool)
	for _, v := range w.Versions {
		have[v.Version] = true
	}
	for n := range now.Version {
		if !have[n+1] {
			if _, err := c.do(ctx, call{method: http.MethodDelete, path: versionPath(now.ID, n+1)}, nil); err != nil {
				return err
			}
		}
	}
	for label, n := range w.Labels {
		if _, err := c.Label(ctx, prompt.Ref{Name: now.ID, Version: n}, label, false); err != nil {
			return err
		}
	}
	if w.Visibility != string(prompt.Public) {
		return nil
	}
	_, err := c.do(ctx, call{
		method: http.MethodPatch, path: "/prompts/" + url.PathEscape(now.ID), body: []byte(`{"visibility":"public"}`), match: "*",
	}, nil)
	return err
}

// gapless returns the versions with others in the place of those that were deleted.
func (w Whole) gapless() ([]Past, error) {
	var all []Past
	for _, v := range w.Versions {
		next := int64(len(all) + 1)
		if v.Version < next || v.Version-next > maxGaps {
			return nil, fmt.Errorf("version %d stands behind version %d", v.Version, next-1)
		}
		for ; next < v.Version; next++ {
			all = append(all, Past{Version: next, Text: fmt.Sprintf("Version %d was deleted.", next)})
		}
		all = append(all, v)
	}
	if len(all) == 0 {
		return nil, errors.New("versions: there are none")
	}
	return all, nil
}

// document returns the prompt as it was in a version.
func (v Past) document(d format.Document) format.Document {
	d.Kind, d.Text, d.Messages, d.Variables, d.Message, d.Labels = v.Kind, v.Text, v.Messages, v.Variables, v.Message, nil
	d.Config = v.Config
	return d
}
