package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"iter"
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// A Prompt is one of the caller's prompts, and a line of an export.
type Prompt struct {
	ID   string `json:"id"`
	Slug string `json:"slug,omitempty"`
	format.Document
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
	Likes     int    `json:"likes"`
	Dislikes  int    `json:"dislikes"`
	Revision  int64  `json:"revision,omitempty"`
	// HasFiles is whether it is a skill with files: then its text is not all that it says
	HasFiles bool `json:"-"`
}

// Me returns the id that the service knows the caller by, or why it knows none.
func (c *Client) Me(ctx context.Context) (string, error) {
	var me struct {
		ID string `json:"id"`
	}
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/me"}, &me)
	return me.ID, err
}

// Owner returns the id of whose prompts the caller acts on: the workspace, or the caller.
func (c *Client) Owner(ctx context.Context) (string, error) {
	if c.workspace == "" {
		return c.Me(ctx)
	}
	var w struct {
		ID string `json:"id"`
	}
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/workspaces/" + url.PathEscape(c.workspace)}, &w)
	return w.ID, err
}

// Workspace returns the handle of the workspace on whose prompts the caller acts, "" for none.
func (c *Client) Workspace() string { return c.workspace }

// Create makes a prompt of the caller's, or of user where that is not empty and the service is
// in dev mode. It reports false where the same call made it before.
func (c *Client) Create(ctx context.Context, user string, d format.Document) (bool, error) {
	d = d.Titled()
	d.Versions = nil // which one request cannot make
	d = sendable(d)
	if d.Tags == nil {
		d.Tags = []string{}
	}
	body, err := encode(owned{d, c.workspace})
	if err != nil {
		return false, err
	}
	var made Prompt
	status, err := c.do(ctx, call{
		method: http.MethodPost, path: "/prompts", user: user,
		key: d.Key(), body: body,
	}, &made)
	return status == http.StatusCreated, err
}

const maxSourceName = 255 // bytes

// sendable returns a document without the file that it was made of, where that is too large to be
// kept, or empty: the API reads no empty base64, and must say what the document lacks.
func sendable(d format.Document) format.Document {
	if s := d.Source; s != nil && (len(s.Data) == 0 || len(s.Data) > prompt.MaxSource || len(s.File) > maxSourceName) {
		d.Source = nil
	} else if s != nil && s.Extra != nil { // which the service finds out by itself
		sent := *s
		sent.Extra, d.Source = nil, &sent
	}
	return d
}

// Unheld returns what a document says that the library does not get to hold. Of one with its
// history each version has a file of its own.
func Unheld(d format.Document) []string {
	if len(d.Versions) > 0 {
		return nil
	}
	return sendable(d).Unheld()
}

func keyOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Mine returns the caller's own prompts with their texts, newest first. It ends with the first
// error.
func (c *Client) Mine(ctx context.Context) iter.Seq2[Prompt, error] {
	return func(yield func(Prompt, error) bool) {
		for cursor, more := "", true; more; more = cursor != "" {
			page, next, err := c.page(ctx, cursor)
			if err != nil {
				yield(Prompt{}, err)
				return
			}
			for _, p := range page {
				if p.ID != "" && !yield(p, nil) {
					return
				}
			}
			cursor = next
		}
	}
}

// page returns a page of the caller's prompts; one that was deleted meanwhile is zero.
func (c *Client) page(ctx context.Context, cursor string) ([]Prompt, string, error) {
	query := url.Values{"limit": {"100"}}
	if cursor != "" {
		query.Set("cursor", cursor)
	}
	var list struct {
		Items      []Prompt `json:"items"`
		NextCursor string   `json:"nextCursor"`
	}
	if _, err := c.do(ctx, call{method: http.MethodGet, path: c.ownList() + "?" + query.Encode()}, &list); err != nil {
		return nil, "", err
	}
	// A list leaves the texts out.
	full := make([]Prompt, len(list.Items))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(Parallel)
	for i, item := range list.Items {
		g.Go(func() (err error) {
			full[i], err = c.get(ctx, item.ID)
			return err
		})
	}
	return full, list.NextCursor, g.Wait()
}

func (c *Client) get(ctx context.Context, id string) (Prompt, error) {
	var got struct {
		Prompt
		Files *struct{} `json:"files"`
	}
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/prompts/" + url.PathEscape(id)}, &got)
	p := got.Prompt
	p.HasFiles = got.Files != nil
	var refused *Problem
	if errors.As(err, &refused) && refused.Status == http.StatusNotFound {
		return Prompt{}, nil
	}
	p.Document = p.Authored()
	return p, err
}

// Catalog returns the tags that prompts may have in public lists.
func (c *Client) Catalog(ctx context.Context) ([]string, error) {
	var list struct {
		Items []struct {
			Tag string `json:"tag"`
		} `json:"items"`
	}
	_, err := c.do(ctx, call{method: http.MethodGet, path: "/tags"}, &list)
	var tags []string
	for _, t := range list.Items {
		tags = append(tags, t.Tag)
	}
	return tags, err
}
