package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"

	"prompthub/internal/prompthub/files/skill"
)

// maxListed is how many prompts of an owner are looked at, the newest.
const maxListed = 500

// Skills returns what an agent lists that installs the skills of an owner: of the caller or the
// workspace without a handle, else the public ones of a user; or those of a collection of theirs.
func (c *Client) Skills(ctx context.Context, handle, collection string) (skill.Budget, error) {
	path, plugin := c.ownList(), ""
	switch {
	case collection != "":
		owner := cmp.Or(handle, c.workspace, "me")
		path, plugin = "/collections/"+url.PathEscape(owner)+"/"+url.PathEscape(collection), collection
	case handle != "":
		path = "/users/" + url.PathEscape(handle) + "/prompts"
	}
	var list []skill.Listed
	query := url.Values{"fields": {"skill"}, "limit": {"100"}}
	if collection != "" {
		query = nil
	}
	for looked := 0; looked < maxListed; {
		var page struct {
			Items []struct {
				Slug       string
				Characters int // 0 where it is no skill
			}
			NextCursor string
		}
		if _, err := c.do(ctx, call{method: http.MethodGet, path: path + "?" + query.Encode()}, &page); err != nil {
			return skill.Budget{}, err
		}
		for _, s := range page.Items {
			if s.Characters > 0 {
				list = append(list, skill.Listed{Name: cmp.Or(plugin, s.Slug) + ":" + s.Slug, Characters: s.Characters})
			}
		}
		if looked += len(page.Items); page.NextCursor == "" {
			break
		}
		query.Set("cursor", page.NextCursor)
	}
	return skill.Measure(list), nil
}
