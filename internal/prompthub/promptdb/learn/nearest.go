package learn

import (
	"cmp"
	"context"
	"slices"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/searchindex"
	"prompthub/internal/storage/rowstore"
)

// An author is shown public prompts that are like theirs, and the tags that such prompts have. Both
// ask the index of searches which public prompts are nearest to some words, and read these as the
// caller reads any prompt: so only public ones are shown.

// maxNearest is how many prompts are read for an author.
const maxNearest = 10

// A near is a public prompt that the index finds by words, and how well.
type near struct {
	truth.View
	score int64
}

// nearest returns the public prompts that are nearest to the words that tell most of a title and a
// text.
func (db *Learner) nearest(ctx context.Context, viewer prompt.UserID, title, text string) ([]near, error) {
	words, err := prompt.ParseQuery(prompt.Telling(title, text))
	if err != nil || words.Empty() {
		return nil, err
	}
	index, _, err := db.scopes.Index(ctx, schema.Public)
	if err != nil || index == nil { // the index is being loaded: authors who write miss nothing
		return nil, err
	}
	hits := searchindex.Ask(searchindex.Query{Words: words, Verbatim: true, Loose: true}, index).Next(maxNearest)
	found := make([]near, len(hits))
	g, gctx := errgroup.WithContext(ctx)
	for i, hit := range hits {
		g.Go(func() error {
			v, err := db.query.Get(gctx, viewer, hit.ID)
			if fault.Of(err) == fault.NotFound || err == nil && !v.Listed() {
				return nil // taken back since
			}
			found[i] = near{v, hit.Score}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(found, func(n near) bool { return n.ID == "" }), nil
}

// A Similar is a public prompt that is like a text.
type Similar struct {
	truth.View
	Like float64 // how much they have in common, from prompt.Alike to 1
}

// mostSimilar is how many similar prompts are shown.
const mostSimilar = 5

// Similar returns public prompts whose texts are like one, the most alike first. The prompt that is
// being written itself is none of them.
func (db *Learner) Similar(ctx context.Context, viewer prompt.UserID, text string,
	itself prompt.ID,
) ([]Similar, error) {
	all, err := db.nearest(ctx, viewer, "", text)
	if err != nil {
		return nil, err
	}
	runs := prompt.RunsOf(text)
	var found []Similar
	for _, n := range all {
		if like := runs.Like(prompt.RunsOf(n.Content().Words())); n.ID != itself && like >= prompt.Alike {
			found = append(found, Similar{n.View, like})
		}
	}
	slices.SortStableFunc(found, func(a, b Similar) int { return cmp.Compare(b.Like, a.Like) })
	return found[:min(len(found), mostSimilar)], nil
}

// SuggestTags returns at most three tags of the catalog that a prompt could have in addition to
// those that it has, that which fits best first: those that title and text name, and those of the
// prompts that are nearest.
func (db *Learner) SuggestTags(ctx context.Context, title, text string,
	has []prompt.Tag,
) (tags []prompt.TagInfo, err error) {
	var catalog []prompt.TagInfo
	var nearest []near
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		catalog, err = db.accounts.Tags(ctx)
		return err
	}, func(ctx context.Context) (err error) {
		nearest, err = db.nearest(ctx, "", title, text)
		return err
	})
	if err != nil {
		return nil, err
	}
	examples := make([]prompt.Example, len(nearest))
	for i, n := range nearest {
		examples[i] = prompt.Example{Tags: n.Tags, Weight: n.score}
	}
	return prompt.SuggestTags(catalog, examples, title, text, has), nil
}
