package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// A numbered is a version as a list has it.
type numbered struct {
	Version int64    `json:"version"`
	Hash    string   `json:"hash"`
	Labels  []string `json:"labels"`
}

// numbers returns all versions of a prompt, the oldest first.
func (c *Client) numbers(ctx context.Context, user, id string) ([]numbered, error) {
	var all []numbered
	for cursor, more := "", true; more; more = cursor != "" {
		var list struct {
			Items      []numbered `json:"items"`
			NextCursor string     `json:"nextCursor"`
		}
		path := "/prompts/" + url.PathEscape(id) + "/versions?limit=100&cursor=" + url.QueryEscape(cursor)
		if _, err := c.do(ctx, call{method: http.MethodGet, path: path, user: user}, &list); err != nil {
			return nil, err
		}
		all, cursor = append(all, list.Items...), list.NextCursor
	}
	slices.Reverse(all)
	return all, nil
}

// WithVersions returns a prompt with all its versions and their labels.
func (c *Client) WithVersions(ctx context.Context, p Prompt) (Prompt, error) {
	list, err := c.numbers(ctx, "", p.ID)
	if err != nil {
		return p, err
	}
	p.Versions = make([]format.Version, len(list))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Parallel)
	for i, n := range list {
		g.Go(func() error {
			path := fmt.Sprintf("/prompts/%s/versions/%d", url.PathEscape(p.ID), n.Version)
			_, err := c.do(ctx, call{method: http.MethodGet, path: path}, &p.Versions[i])
			p.Versions[i].Labels = slices.DeleteFunc(n.Labels, func(l string) bool { return l == prompt.Latest })
			return err
		})
	}
	return p, g.Wait()
}

// errOther is the trouble of a row whose name a prompt of another past has.
var errOther = errors.New(
	"name: a prompt of yours has this name and other versions; rename it, or import with --update")

// Recreate makes a prompt with all its versions, or goes on where an import was cut short. Until it
// has the last one it is private, and so are the others in the end. Rejected comes with errOther
// alone; callers tell other errors about the row from troubles.
func (c *Client) Recreate(ctx context.Context, user string, d format.Document) (Outcome, error) {
	versions := d.Versions
	d.Versions, d.Labels, d.Source = nil, nil, nil
	visibility := d.Visibility
	outcome := Unchanged
	have, id, err := c.past(ctx, user, d.Name)
	if err != nil {
		return outcome, err
	}
	want, past := hashes(versions, format.Version.Hash) // of the library that the file comes from
	if len(have) == 0 || !begins(past, have) {
		// of one that was made of it
		want, past = hashes(versions, func(v format.Version) string { return v.HashIn(d) })
	}
	switch {
	case slices.Equal(have, past):
		return Unchanged, nil
	case !begins(past, have):
		return Rejected, errOther
	case len(have) > 0:
		outcome = Updated
	}
	i := 0
	for n := range versions {
		if n == 0 || want[n] != want[n-1] {
			i++ // of those that differ from the one before
		}
		if i <= len(have) {
			continue
		}
		d = versions[n].In(d)
		d.Visibility = string(prompt.Private)
		if n == len(versions)-1 {
			d.Visibility = visibility
		}
		if id == "" {
			if id, err = c.first(ctx, user, d); err != nil {
				return outcome, err
			}
			outcome = Created
			continue
		}
		if err := c.next(ctx, user, id, d); err != nil {
			return outcome, err
		}
	}
	return outcome, nil
}

// past returns the hashes of the versions that a prompt of a name has, and its id; none where there
// is no such prompt.
func (c *Client) past(ctx context.Context, user, name string) (list []string, id string, err error) {
	var f Found
	_, err = c.do(ctx, call{method: http.MethodGet, path: c.path(prompt.Ref{Name: name}), user: user}, &f)
	if isStatus(err, http.StatusNotFound) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", err
	}
	numbers, err := c.numbers(ctx, user, f.ID)
	for _, n := range numbers {
		list = append(list, n.Hash)
	}
	return slices.Compact(list), f.ID, err
}

// hashes returns the hash of each version, and the past that a library has of them: without those
// that say the same as the one before.
func hashes(versions []format.Version, hash func(format.Version) string) (list, past []string) {
	for _, v := range versions {
		list = append(list, hash(v))
	}
	return list, slices.Compact(slices.Clone(list))
}

// begins reports whether a past is the beginning of another.
func begins(past, have []string) bool {
	return len(have) <= len(past) && slices.Equal(have, past[:len(have)])
}

func (c *Client) first(ctx context.Context, user string, d format.Document) (string, error) {
	d = d.Titled()
	if d.Tags == nil {
		d.Tags = []string{}
	}
	body, err := encode(owned{d, c.workspace})
	if err != nil {
		return "", err
	}
	var made Found
	_, err = c.do(ctx, call{
		method: http.MethodPost, path: "/prompts", user: user,
		key: keyOf(append([]byte(user), body...)), body: body,
	}, &made)
	return made.ID, err
}

func (c *Client) next(ctx context.Context, user, id string, d format.Document) error {
	m := map[string]any{"config": nil, "variables": nil, "description": ""}
	for name, value := range change(d) {
		m[name] = value
	}
	body, err := encode(m)
	if err != nil {
		return err
	}
	_, err = c.do(ctx, call{
		method: http.MethodPatch, path: "/prompts/" + url.PathEscape(id), user: user,
		body: body, match: "*",
	}, nil)
	return err
}
