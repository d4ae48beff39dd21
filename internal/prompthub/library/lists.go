package library

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/cursor"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A Page is a part of a list. Next is the cursor of the next page, "" at the end of the list. A
// page may be short, even empty, and yet have a Next: one request reads only so much.
//
// Of a search, Understood are words by which prompts of the page were found in another form, or in
// place of which another word was searched for; Searched is the search with these; and it is
// Partial if prompts may be missing, because they are being loaded or there is no room for them.
// SomeLeftOut says that the caller is a member of more workspaces than one search asks.
type Page struct {
	Items      []View
	Next       string
	Understood []Understood
	Searched   prompt.Query
	Partial    bool
	Near       []View // of a search that found nothing: prompts that have some of its words

	SomeLeftOut bool
}

// Absent returns the words of a search that no prompt of the page has, in no form.
func (p Page) Absent() (words []string) {
	for i, v := range p.Items {
		if i == 0 {
			words = slices.Clone(v.Lacks)
		}
		words = slices.DeleteFunc(words, func(word string) bool { return !slices.Contains(v.Lacks, word) })
	}
	return words
}

// An Understood says in what other forms prompts have a word of a search.
type Understood = prompt.Understood

// An Order is an order of public prompts.
type Order = promptdb.Order

// The orders that doors have as their default.
const (
	Newest    = promptdb.Newest
	MostLiked = promptdb.MostLiked
	Relevance = promptdb.Relevance
)

// An OrderInfo is what doors say of an order.
type OrderInfo = promptdb.OrderInfo

// Orders returns the orders of public prompts: first the default of a search for words, then that
// of other lists.
func Orders() []OrderInfo { return promptdb.Orders() }

// IsOrder reports whether a text names an order.
func IsOrder(s string) bool {
	return slices.ContainsFunc(Orders(), func(o OrderInfo) bool { return string(o.Order) == s })
}

// A Scope says whose prompts are searched.
type Scope string

// The scopes. A caller without a sign-in searches public prompts alone.
const (
	ScopePublic Scope = "public"
	ScopeMine   Scope = "mine" // the caller's own, private ones too
	ScopeAll    Scope = "all"  // both, and those of workspaces of which the caller is a member
)

// A Search says which prompts are wanted.
type Search struct {
	Order  Order        // "" is Relevance for words, and else Newest
	Tags   []prompt.Tag // all of them
	Words  prompt.Query // in the title or in the text, and what else it asks for
	Titles bool         // all words in the title
	// Verbatim is whether the words count as they are alone: not in other forms, and without others in
	// their place.
	Verbatim bool
	Scope    Scope // "" is ScopePublic
	Limit    int
	Cursor   string
}

// scope names everything that a cursor of this search depends on.
func (q Search) scope() string {
	tags := slices.Clone(q.Tags)
	slices.Sort(tags)
	where := ""
	if !q.Titles && (!q.Words.Empty() || q.Words.Excludes()) {
		where = " text"
	}
	if q.Verbatim && !q.Words.Empty() {
		where += " verbatim"
	}
	if q.Order == Relevance { // in which the same words in another order are another list
		where += fmt.Sprintf(" %q", q.Words.Typed())
	}
	return fmt.Sprintf("prompts %s %q %q%s", q.Order, slices.Compact(tags), q.Words, where)
}

// Search returns prompts of a scope.
func (s *Service) Search(ctx context.Context, who auth.User, q Search) (Page, error) {
	if q.Scope == "" || q.Scope == ScopeAll && !who.Known() {
		q.Scope = ScopePublic
	}
	switch {
	case q.Scope == ScopePublic:
	case !who.Known():
		return Page{}, fault.New(fault.Unauthenticated, "sign in to search your own prompts")
	case q.Order != "" && q.Order != Newest && q.Order != Relevance:
		return Page{}, &fault.Error{Kind: fault.Invalid, Text: "private prompts have no votes", Fields: []fault.Field{
			{Name: "sort", Message: "must be relevance or newest unless scope is public", Value: string(q.Order)},
		}}
	}
	switch {
	case q.Words.Empty() && (q.Order == "" || q.Order == Relevance):
		q.Order = Newest
	case q.Order == "":
		q.Order = Relevance
	}
	author, err := s.authorOf(ctx, who, q.Words)
	if err != nil {
		return Page{}, err
	}
	scope := q.scope()
	wanted := promptdb.Search{
		Tags: q.Tags, Words: q.Words, Text: !q.Titles, Author: author,
		Order: q.Order, Verbatim: q.Verbatim,
	}
	if q.Scope != ScopePublic {
		scope += fmt.Sprintf(" %s %q", q.Scope, who.ID)
		wanted.Scopes = []promptdb.Scope{{}, {Owner: IDOf(who)}}
		if q.Scope == ScopeMine {
			wanted.By = IDOf(who)
		}
	}
	var workspaces []promptdb.Scope
	someLeftOut := false
	if q.Scope == ScopeAll {
		if workspaces, someLeftOut, err = s.searchedWith(ctx, who); err != nil {
			return Page{}, err
		}
		wanted.Scopes = append(wanted.Scopes, workspaces...)
	}
	found, err := s.page(ctx, who, scope, q.Cursor, func(after string) (promptdb.Page, error) {
		switch {
		case q.Words.Nothing():
			return promptdb.Page{}, nil
		case q.Scope != ScopePublic, len(q.Tags) > 0 || !q.Words.Empty() || q.Words.Qualified():
			return s.db.Find(ctx, wanted, after, q.Limit)
		case q.Order == Newest:
			return s.db.Newest(ctx, after, q.Limit)
		}
		return s.db.Ranked(ctx, q.Order, after, q.Limit)
	})
	found.SomeLeftOut = someLeftOut
	for i, v := range found.Items {
		if slices.Contains(workspaces, promptdb.Scope{Owner: v.AuthorID}) {
			found.Items[i].Viewer = v.AuthorID
		}
	}
	return found, err
}

// MaxSearched is how many workspaces of a member one search asks. Twice as many are looked at, as
// those that were deleted count for none.
const MaxSearched = 10

// searchedWith returns the workspaces of the caller that a search of everything asks: of many,
// those that were made last. It reports whether there may be more.
func (s *Service) searchedWith(ctx context.Context, who auth.User) (scopes []promptdb.Scope, more bool, err error) {
	if prompt.IsWorkspace(IDOf(who)) { // a token of one, which is its own scope
		return nil, false, nil
	}
	ids, err := s.db.LedTo(ctx, IDOf(who), who.Roles, who.Groups.Keys())
	if err != nil {
		return nil, false, err
	}
	looked := ids[:min(len(ids), 2*MaxSearched)]
	isMember := make([]bool, len(looked))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, id := range looked {
		g.Go(func() error {
			m, err := s.db.Workspace(ctx, id)
			isMember[i] = s.role(who, m) != ""
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, false, err
	}
	more = len(ids) > len(looked)
	for i, id := range looked {
		switch {
		case !isMember[i]:
		case len(scopes) == MaxSearched:
			return scopes, true, nil
		default:
			scopes = append(scopes, promptdb.Scope{Owner: id})
		}
	}
	return scopes, more, nil
}

// page opens the cursor, reads, marks the caller's votes, if somebody is calling, and seals the
// next cursor.
func (s *Service) page(ctx context.Context, who auth.User, scope, token string,
	read func(after string) (promptdb.Page, error),
) (Page, error) {
	p, err := seen(who, scope, token, read)
	if err != nil {
		return Page{}, err
	}
	if err := s.db.MarkVotes(ctx, IDOf(who), p.Items); err != nil {
		return Page{}, err
	}
	return sealed(scope, p), nil
}

// seen opens the cursor, and reads as the caller sees it.
func seen(who auth.User, scope, token string, read func(after string) (promptdb.Page, error)) (promptdb.Page, error) {
	p, err := open(scope, token, read)
	for i := range p.Items {
		p.Items[i].Viewer = IDOf(who)
	}
	return p, err
}

func open(scope, token string, read func(after string) (promptdb.Page, error)) (promptdb.Page, error) {
	after := ""
	if token != "" {
		var err error
		if after, err = cursor.Open(scope, token); err != nil {
			return promptdb.Page{}, &fault.Error{
				Kind: fault.Malformed, Cause: err,
				Text: "the cursor is damaged or belongs to another query; start again without it",
				Fields: []fault.Field{{
					Name:    "cursor",
					Message: "must be the cursor that a page of the same query ended with",
				}},
			}
		}
	}
	return read(after)
}

func sealed(scope string, p promptdb.Page) Page {
	return Page{
		Items: p.Items, Understood: p.Understood, Searched: p.Searched, Partial: p.Partial, Near: p.Near,
		Next: cursor.Seal(scope, p.After),
	}
}

// A Filter says which of an author's own prompts are wanted.
type Filter = promptdb.Filter

// A Sort is an order of an author's own prompts.
type Sort = promptdb.Sort

// ByUpdated orders those first that were edited last.
const ByUpdated = promptdb.ByUpdated

// ByNewest is the order of an author's own prompts that costs the same at any number of them.
const ByNewest = promptdb.ByNewest

// A MineQuery says which of the caller's own prompts are wanted.
type MineQuery struct {
	promptdb.Filter
	Sort    promptdb.Sort
	Limit   int
	Cursor  string
	NoVotes bool // leaves the caller's votes out
}

func (q MineQuery) scope(who auth.User) string {
	tags := slices.Clone(q.Tags)
	slices.Sort(tags)
	scope := fmt.Sprintf("mine %q %q %s %t %s %q %q", who.ID, q.Name, q.Sort, q.Deleted, q.Visibility,
		slices.Compact(tags), q.Words)
	return scope + inTexts(q.Filter)
}

// inTexts names in the scope of a cursor that a list is searched by texts too.
func inTexts(f Filter) string {
	if f.Titles || f.Words.Empty() && !f.Words.Excludes() {
		return ""
	}
	return " text"
}

// Mine returns the caller's own prompts.
func (s *Service) Mine(ctx context.Context, who auth.User, q MineQuery) (Page, error) {
	var err error
	if q.Author, err = s.authorOf(ctx, who, q.Words); err != nil {
		return Page{}, err
	}
	if q.Sort == "" {
		q.Sort = promptdb.ByNewest
		if !q.Words.Empty() && !q.Deleted && q.Name == "" {
			q.Sort = promptdb.ByRelevance
		}
	}
	read := func(after string) (promptdb.Page, error) {
		if q.Words.Nothing() {
			return promptdb.Page{}, nil
		}
		return s.db.Mine(ctx, IDOf(who), q.Filter, q.Sort, after, q.Limit)
	}
	if !q.NoVotes {
		return s.page(ctx, who, q.scope(who), q.Cursor, read)
	}
	p, err := seen(who, q.scope(who), q.Cursor, read)
	return sealed(q.scope(who), p), err
}

// A Similar is a public prompt that is like a text.
type Similar = promptdb.Similar

// Similar returns public prompts that are like the caller's draft, the most alike first; itself is
// the prompt that is being edited, "" for a new one. It may be an hour old.
func (s *Service) Similar(ctx context.Context, who auth.User, c prompt.Content, itself prompt.ID) ([]Similar, error) {
	return s.db.Similar(ctx, IDOf(who), c.Words(), itself)
}

// SuggestTags returns at most three tags that what the caller writes could have in addition to
// those that it has, that which fits best first.
func (s *Service) SuggestTags(ctx context.Context, d prompt.Draft) ([]prompt.TagInfo, error) {
	return s.db.SuggestTags(ctx, d.Title, d.Content().Words(), d.Tags)
}

// Suggestions are what who writes may want to know before he saves.
type Suggestions struct {
	Tags    []prompt.TagInfo
	Similar []Similar
}

// Suggest returns what SuggestTags and Similar return, of a title and a text that are not longer
// than they may be.
func (s *Service) Suggest(ctx context.Context, who auth.User, d prompt.Draft,
	itself prompt.ID,
) (found Suggestions, err error) {
	if err := s.rules.CheckUnfinished(d.Title, d.Text); err != nil {
		return found, err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		found.Tags, err = s.SuggestTags(gctx, d)
		return err
	})
	g.Go(func() (err error) {
		found.Similar, err = s.Similar(gctx, who, d.Content(), itself)
		return err
	})
	return found, g.Wait()
}

// Favorite keeps that a prompt is a favorite of the caller's, which no other user sees, or takes
// that back.
func (s *Service) Favorite(ctx context.Context, who auth.User, id prompt.ID, is bool) error {
	if err := isPerson(who); err != nil {
		return err
	}
	if !is {
		return s.db.Unfavorite(ctx, IDOf(who), id)
	}
	return s.db.Favorite(ctx, IDOf(who), id)
}

// IsFavorite reports whether a prompt is a favorite of the caller. An anonymous caller has none.
func (s *Service) IsFavorite(ctx context.Context, who auth.User, id prompt.ID) (bool, error) {
	if !who.Known() {
		return false, nil
	}
	return s.db.IsFavorite(ctx, IDOf(who), id)
}

// A FavoriteQuery says which of the caller's favorites are wanted.
type FavoriteQuery struct {
	Tags   []prompt.Tag
	Words  prompt.Query
	Titles bool // all words in the title
	Limit  int
	Cursor string
}

// Favorites returns the caller's favorites that they still may see, newest prompt first.
func (s *Service) Favorites(ctx context.Context, who auth.User, q FavoriteQuery) (Page, error) {
	f := Filter{Tags: q.Tags, Words: q.Words, Titles: q.Titles}
	var err error
	if f.Author, err = s.authorOf(ctx, who, q.Words); err != nil {
		return Page{}, err
	}
	scope := fmt.Sprintf("favorites %q", who.ID)
	if len(q.Tags) > 0 || !q.Words.Empty() || q.Words.Qualified() {
		scope += " " + Search{Tags: q.Tags, Words: q.Words}.scope() + inTexts(f)
	}
	return s.page(ctx, who, scope, q.Cursor, func(after string) (promptdb.Page, error) {
		if q.Words.Nothing() {
			return promptdb.Page{}, nil
		}
		return s.db.Favorites(ctx, IDOf(who), f, after, q.Limit)
	})
}

// MyVotes returns the prompts that the caller voted on and still may see, newest prompt first; None
// asks for likes and dislikes.
func (s *Service) MyVotes(ctx context.Context, who auth.User, v prompt.Vote, limit int, token string) (Page, error) {
	scope := fmt.Sprintf("votes %q %s", who.ID, v)
	p, err := open(scope, token, func(after string) (promptdb.Page, error) {
		return s.db.MyVotes(ctx, IDOf(who), v, after, limit)
	})
	if err != nil {
		return Page{}, err
	}
	return sealed(scope, p), nil
}
