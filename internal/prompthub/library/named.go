package library

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// maxNumbers is how many versions of a prompt a list by name tells of, the newest.
const maxNumbers = 1000

// A NamedQuery says which of the caller's prompts a list by name shows. A zero field does not
// filter.
type NamedQuery struct {
	Name     string
	Tag      string
	Label    string // shows the version that has it alone
	Version  int64  // shows it alone
	From, To time.Time
	Page     int // from 1
	Limit    int
}

// A NamedItem is a prompt of a list by name with the versions of it that were asked for.
type NamedItem struct {
	promptdb.NameRow
	Numbers   []int64 // in order
	Labels    []string
	Config    string    // of the last of them
	UpdatedAt time.Time // when that was made
}

// A NamedPage is a page of a list by name.
type NamedPage struct {
	Items []NamedItem
	Total int // of all pages
}

// Named returns the caller's prompts by name, as programs list what they can ask for.
func (s *Service) Named(ctx context.Context, who auth.User, q NamedQuery) (NamedPage, error) {
	all, err := s.db.NameRows(ctx, IDOf(who), q.Name)
	if err != nil {
		return NamedPage{}, err
	}
	all = slices.DeleteFunc(all, func(n promptdb.NameRow) bool {
		return q.Name != "" && n.Name != q.Name || q.Tag != "" && !slices.Contains(n.Tags, q.Tag) ||
			!q.From.IsZero() && n.UpdatedAt.Before(q.From)
	})
	var made []map[int64]time.Time
	if !q.From.IsZero() || !q.To.IsZero() {
		if made, err = s.db.Times(ctx, IDOf(who), all, q.From); err != nil {
			return NamedPage{}, err
		}
	}
	var items []NamedItem
	for i, n := range all {
		item := NamedItem{NameRow: n, Numbers: q.numbers(n)}
		if made != nil {
			item.Numbers = slices.DeleteFunc(item.Numbers, func(v int64) bool { return !q.within(made[i][v]) })
		}
		if len(item.Numbers) > 0 {
			items = append(items, item)
		}
	}
	page := NamedPage{Total: len(items)}
	first := min((q.Page-1)*q.Limit, len(items))
	page.Items = items[first:min(first+q.Limit, len(items))]
	return page, s.describe(ctx, who, page.Items)
}

func (q NamedQuery) within(at time.Time) bool {
	return !at.IsZero() && !at.Before(q.From) && (q.To.IsZero() || at.Before(q.To))
}

// numbers returns the versions of a prompt that a query asks for, whatever their time.
func (q NamedQuery) numbers(n promptdb.NameRow) []int64 {
	only := q.Version
	if q.Label != "" {
		labelled := n.Labelled(q.Label)
		if only != 0 && only != labelled {
			return nil
		}
		only = labelled
	}
	if q.Label != "" || q.Version != 0 {
		if !n.Has(only) {
			return nil
		}
		return []int64{only}
	}
	var list []int64
	for v := n.Last; v > 0 && len(list) < maxNumbers; v-- {
		if n.Has(v) {
			list = append(list, v)
		}
	}
	slices.Reverse(list)
	return list
}

// describe completes items with what the rows of their versions say.
func (s *Service) describe(ctx context.Context, who auth.User, items []NamedItem) error {
	last := make([]promptdb.Numbered, len(items))
	for i := range items {
		n := &items[i]
		last[i] = promptdb.Numbered{ID: n.ID, Number: n.Numbers[len(n.Numbers)-1]}
		for _, v := range n.Numbers {
			n.Labels = append(n.Labels, n.NameRow.Labels(v)...)
			if v == n.Labelled(prompt.Latest) {
				n.Labels = append(n.Labels, prompt.Latest)
			}
		}
		slices.Sort(n.Labels)
	}
	versions, err := s.db.Configs(ctx, IDOf(who), last)
	for i, v := range versions {
		items[i].Config, items[i].UpdatedAt = v.Config, v.At
	}
	return err
}

// VersionEnds are the version that a prompt holds and, where it is another one, the first that
// somebody may see, without their contents. Either may be missing.
type VersionEnds struct {
	First, Last prompt.Version
	Count       int64 // of the versions from the first to the last, deleted ones among them
}

// VersionEnds returns those of prompts of one author that the caller may see. What a view with its
// content says itself is not read again.
func (s *Service) VersionEnds(ctx context.Context, views []View) ([]VersionEnds, error) {
	ends := make([]VersionEnds, len(views))
	var list []promptdb.Numbered
	var into []*prompt.Version
	for i, v := range views {
		e, first, last := &ends[i], int64(1), max(v.Version, 1)
		if !v.IsOwn() {
			first = max(v.From, 1)
		}
		e.Count = last - first + 1
		if v.Text == "" && len(v.Messages) == 0 {
			list, into = append(list, promptdb.Numbered{ID: v.ID, Number: last}), append(into, &e.Last)
		} else {
			if !v.LatestRecalled {
				e.Last = v.Current()
			}
		}
		if first != last {
			list, into = append(list, promptdb.Numbered{ID: v.ID, Number: first}), append(into, &e.First)
		}
	}
	if len(list) == 0 {
		return ends, nil
	}
	heads, err := s.db.VersionHeads(ctx, views[0].AuthorID, list)
	for i, c := range heads {
		*into[i] = c
	}
	return ends, err
}

// A NamedDraft is what a program sends of a prompt that it knows by name.
type NamedDraft struct {
	Name string
	prompt.Content
	Tags    *[]string // of the catalog or not; nil leaves them as they are
	Labels  []string  // for the version that it makes
	Message string
}

// maxNamedTries is how often a name is looked up again that others make or delete meanwhile.
const maxNamedTries = 3

// SaveNamed makes a new version of the caller's prompt of a name, even of the same content, or a
// private prompt where there is none. A prompt keeps its kind.
func (s *Service) SaveNamed(ctx context.Context, who auth.User, d NamedDraft) (View, error) {
	d.Name = strings.TrimSpace(d.Name)
	for try := 1; ; try++ {
		v, err := s.saveNamed(ctx, who, d)
		if kind := fault.Of(err); kind != fault.Conflict && kind != fault.NotFound || try == maxNamedTries {
			return v, err
		}
	}
}

// saveNamed does it once. It fails if a prompt of that name is made or deleted between its two
// steps.
func (s *Service) saveNamed(ctx context.Context, who auth.User, d NamedDraft) (View, error) {
	was, err := s.db.GetByName(ctx, IDOf(who), IDOf(who), d.Name, WantedVersion{})
	isNew := fault.Of(err) == fault.NotFound
	if err != nil && !isNew {
		return View{}, err
	}
	if !isNew && was.Name != d.Name && !slices.Contains(was.OldNames, d.Name) {
		return View{}, fault.New(fault.Conflict,
			fmt.Sprintf("your prompt %q has this name as its slug; choose another name", was.Name))
	}
	var tags []prompt.Tag
	var own []string
	if d.Tags != nil {
		if tags, own, err = s.SplitTags(ctx, *d.Tags, was.Tags); err != nil {
			return View{}, err
		}
	}
	next := func(is prompt.Draft) prompt.Draft {
		d.Variables = is.Variables // a program that knows none leaves those that were declared
		is = is.With(d.Content)
		is.Message, is.Labels, is.Anew = d.Message, d.Labels, true
		if d.Tags != nil {
			is.Tags, is.OwnTags = tags, own
		}
		return is
	}
	if isNew {
		v, _, err := s.Create(ctx, who,
			next(prompt.Draft{Name: d.Name, Title: TitleOf(d.Name), Visibility: prompt.Private}), "")
		return v, err
	}
	return s.edit(ctx, who, was.ID, Match{Any: true}, func(is prompt.Draft) (prompt.Draft, error) {
		if is.Kind != d.Kind {
			return is, fault.New(fault.Invalid,
				"the versions before are of another kind, and a prompt stays text or chat; choose another name")
		}
		return s.rules.CheckEdit(next(is), is)
	})
}

// TitleOf returns a name as a title can be.
func TitleOf(name string) string {
	const most = 100 // characters, of which each may count twice
	r := []rune(name)
	return string(r[:min(len(r), most)])
}
