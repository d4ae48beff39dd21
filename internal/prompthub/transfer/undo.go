package transfer

import (
	"cmp"
	"context"
	"slices"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A Change is what an import did to a prompt, and what Undo needs to take it back.
type Change struct {
	ID  prompt.ID `json:"id"`
	Now int64     `json:"now"`           // the version that the import left
	Is  int64     `json:"is,omitempty"`  // the revision that it left
	Was int64     `json:"was,omitempty"` // the version before, 0 where the import made the prompt
	// what no version says, as it was where the import changed it
	Title      string            `json:"title,omitempty"`
	Visibility prompt.Visibility `json:"visibility,omitempty"`
	Tags       *tagged           `json:"tags,omitempty"`
	Labels     map[string]int64  `json:"labels,omitempty"` // versions, 0 for none
}

// A tagged has the tags of a prompt.
type tagged struct {
	Tags []prompt.Tag `json:"catalog,omitempty"`
	Own  []string     `json:"own,omitempty"`
}

// changeOf returns the change of a prompt between two views of it. The labels are those that the
// import has set, with their versions before.
func changeOf(was, is library.View, labels map[string]int64) Change {
	c := Change{ID: is.ID, Now: is.Version, Is: is.Revision, Was: was.Version, Labels: labels}
	if was.Title != is.Title {
		c.Title = was.Title
	}
	if was.Visibility != is.Visibility {
		c.Visibility = was.Visibility
	}
	if !slices.Equal(was.Tags, is.Tags) || !slices.Equal(was.OwnTags, is.OwnTags) {
		c.Tags = &tagged{was.Tags, was.OwnTags}
	}
	return c
}

// Merge returns the changes of an import with those of its next part. Several changes of a prompt
// are one, from what it was before the first.
func Merge(before, next []Change) []Change {
	all := slices.Clone(before)
	at := make(map[prompt.ID]int, len(all))
	for i, c := range all {
		at[c.ID] = i
	}
	for _, c := range next {
		i, ok := at[c.ID]
		if !ok || all[i].Now != c.Was {
			at[c.ID] = len(all)
			all = append(all, c)
			continue
		}
		first := &all[i]
		first.Now, first.Is = c.Now, c.Is
		if first.Was == 0 { // it goes as a whole
			continue
		}
		first.Title, first.Visibility = cmp.Or(first.Title, c.Title), cmp.Or(first.Visibility, c.Visibility)
		first.Tags = cmp.Or(first.Tags, c.Tags)
		for label, n := range first.Labels {
			if c.Labels == nil {
				c.Labels = make(map[string]int64)
			}
			c.Labels[label] = n
		}
		first.Labels = c.Labels
	}
	return all
}

// An Undone says what became of the changes of an import that were taken back.
type Undone struct {
	Deleted, Restored int // prompts
	Left              []Left
	// The changes that the next request must take back, and how many of them, the first, could not
	// be while others were there that include their prompts.
	Rest    []Change
	Blocked int
}

// A Left is a prompt that stays as it is, and why.
type Left struct {
	ID            prompt.ID
	Title, Reason string
}

// Undo takes back changes of an import, the last one first: it deletes the prompts that were made,
// and the others get what they said before in a new version. A prompt that was changed since stays
// as it is. One request takes back as many as an import makes; the Rest, with the Blocked of them,
// needs another.
func Undo(ctx context.Context, s *library.Service, who auth.User, changes []Change, blocked int) (u Undone, err error) {
	rest := slices.Clone(changes)
	blocked = min(max(blocked, 0), len(rest))
	for tries := 0; tries < maxWrites && len(rest) > blocked; tries++ {
		last := len(rest) - 1
		c := rest[last]
		tries += len(c.Labels)
		left, err := takeBack(ctx, s, who, c)
		if c.Was == 0 && fault.Of(err) == fault.Conflict { // another includes it, which may go yet
			rest = slices.Insert(rest[:last], 0, c)
			blocked++
			continue
		}
		var item Item
		if err := item.rejected(library.Told(who, err)); err != nil {
			if u.Deleted+u.Restored+len(u.Left) == 0 {
				return u, err
			}
			break // the next request is told
		}
		rest = rest[:last]
		left.Reason = cmp.Or(left.Reason, item.Reason)
		switch {
		case left.Reason != "":
			left.ID = c.ID
			u.Left = append(u.Left, left)
			continue
		case c.Was == 0:
			u.Deleted++
		default:
			u.Restored++
		}
		blocked = 0
	}
	if len(rest) > blocked {
		u.Rest, u.Blocked = rest, blocked
		return u, nil
	}
	for i, c := range rest {
		left := Left{ID: c.ID, Reason: "another prompt includes it"}
		if i < maxWrites {
			if v, err := s.Get(ctx, who, c.ID); err == nil {
				left.Title = v.Title
			}
		}
		u.Left = append(u.Left, left)
	}
	return u, nil
}

// takeBack takes one change back, or says why the prompt stays as it is.
func takeBack(ctx context.Context, s *library.Service, who auth.User, c Change) (Left, error) {
	v, err := s.Get(ctx, who, c.ID)
	switch {
	case err != nil:
		return Left{}, err
	case v.Version != c.Now || c.Is != 0 && v.Revision != c.Is:
		return Left{Title: v.Title, Reason: "it was changed since"}, nil
	case c.Was == 0:
		return Left{Title: v.Title}, s.Delete(ctx, who, c.ID, library.Match{Revisions: []int64{v.Revision}})
	}
	left := Left{Title: v.Title}
	if c.Now != c.Was {
		if _, _, err := s.RestoreVersion(ctx, who, c.ID, c.Was); err != nil {
			return left, err
		}
	}
	if c.Title != "" || c.Visibility != "" || c.Tags != nil {
		_, err := s.Patch(ctx, who, c.ID, library.Match{Any: true}, func(d *prompt.Draft) {
			d.Title, d.Visibility = cmp.Or(c.Title, d.Title), cmp.Or(c.Visibility, d.Visibility)
			if c.Tags != nil {
				d.Tags, d.OwnTags = c.Tags.Tags, c.Tags.Own
			}
		})
		if err != nil {
			return left, err
		}
	}
	for label, n := range c.Labels {
		if err := s.SetLabel(ctx, who, c.ID, label, n); err != nil {
			return left, err
		}
	}
	return left, nil
}
