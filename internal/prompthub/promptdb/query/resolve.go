package query

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
)

// maxIncluded is how many different contents may stand in one, at all depths together: each is
// read.
const maxIncluded = 50

// A Node is a version of a prompt that includes others, or that others include.
type Node struct {
	ID      prompt.ID
	Name    string
	Version int64
}

// A Resolution is a content with what it includes in its places.
type Resolution struct {
	prompt.Content
	Root  Node
	Graph map[Node][]Node // what each includes itself; empty where nothing is included

	Closed []Node // what of it not everyone may read, by name
}

// Resolve puts the texts that the content of a view includes into their places. The names are those
// of the prompt's author, and the viewer must be allowed to read each of them. An include that
// leads nowhere, or back, or too deep, and a text that becomes too long, are a Conflict.
func (db *Queries) Resolve(ctx context.Context, viewer prompt.UserID, v truth.View, maxText int) (Resolution, error) {
	found, err := db.readIncludes(ctx, viewer, []truth.View{v})
	if err != nil {
		return Resolution{}, err
	}
	return found.resolve(v, maxText)
}

// A place is an include in a text of an owner's.
type place struct {
	owner prompt.UserID
	prompt.Include
}

// includes are what was read of places.
type includes map[place]*included

// included is what an include leads to.
type included struct {
	Node
	err      error // why it cannot be included: a Conflict
	public   bool
	content  prompt.Content
	includes []prompt.Include
	depth    int // of what it includes
	walked   bool
	spliced  bool
}

// readIncludes reads what prompts include at all depths, those of one depth at once, up to
// maxIncluded.
func (db *Queries) readIncludes(ctx context.Context, viewer prompt.UserID, list []truth.View) (includes, error) {
	found := includes{}
	var next []place
	want := func(owner prompt.UserID, of []prompt.Include) {
		for _, i := range of {
			if p := (place{owner, i}); found[p] == nil && !slices.Contains(next, p) {
				next = append(next, p)
			}
		}
	}
	for _, v := range list {
		want(v.AuthorID, v.Content().Includes())
	}
	for range prompt.IncludeDepth {
		next = next[:min(len(next), maxIncluded-len(found))]
		read := make([]*included, len(next))
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(rowstore.MaxParallel)
		for n, p := range next {
			g.Go(func() (err error) {
				read[n], err = db.readInclude(gctx, viewer, p)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			return nil, err
		}
		places := next
		next = nil
		for n, p := range places {
			found[p] = read[n]
		}
		for n, p := range places {
			want(p.owner, read[n].includes)
		}
	}
	return found, nil
}

func (db *Queries) readInclude(ctx context.Context, viewer prompt.UserID, p place) (*included, error) {
	v, err := db.included(ctx, viewer, p.owner, p.Include)
	conflict := func(why string) (*included, error) {
		return &included{err: fault.Coded(fault.Conflict, prompt.IncludeUnresolved,
			fmt.Sprintf("the prompt includes %s, %s", p.Include.Which(), why))}, nil
	}
	switch {
	case fault.CodeOf(err) == prompt.Recalled:
		return conflict("but " + err.Error())
	case fault.Of(err) == fault.NotFound && viewer == p.owner:
		return conflict("but " + err.Error() +
			"; a text includes its author's own prompts alone: fork that of another first")
	case fault.Of(err) == fault.NotFound:
		return conflict("which does not exist, or which you may not read")
	case err != nil:
		return nil, err
	case v.Kind == prompt.KindChat:
		return conflict("which is a chat; only texts can be included")
	}
	c := v.Content()
	return &included{
		Node: Node{ID: v.ID, Name: v.Name, Version: v.Version}, content: c, includes: c.Includes(),
		public: v.Listed() && truth.Shows("", v.Prompt, v.Version),
	}, nil
}

// resolve puts what was read into its places in a content.
func (found includes) resolve(v truth.View, maxText int) (Resolution, error) {
	root := Node{ID: v.ID, Name: v.Name, Version: max(v.Version, 1)}
	r := resolving{maxText: maxText, found: map[prompt.Include]*included{}, graph: map[Node][]Node{}}
	for p, i := range found {
		if p.owner == v.AuthorID {
			own := *i
			r.found[p.Include] = &own
		}
	}
	c := v.Content()
	depth, err := r.walk([]Node{root}, c.Includes())
	if err != nil {
		return Resolution{}, err
	}
	if depth > prompt.IncludeDepth {
		return Resolution{}, tooDeep()
	}
	c, err = r.splice(root, c)
	var closed []Node
	for _, i := range r.found {
		if !i.public && !slices.Contains(closed, i.Node) {
			closed = append(closed, i.Node)
		}
	}
	slices.SortFunc(closed, func(a, b Node) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return Resolution{Content: c, Root: root, Graph: r.graph, Closed: closed}, err
}

// resolving is what is known while the includes of a prompt are put into their places.
type resolving struct {
	maxText int
	found   map[prompt.Include]*included
	graph   map[Node][]Node
}

func tooDeep() error {
	return fault.Coded(fault.Conflict, prompt.IncludeUnresolved,
		fmt.Sprintf("the prompt includes others more than %d deep; include what they include yourself",
			prompt.IncludeDepth))
}

func tooMany() error {
	return fault.Coded(fault.Conflict, prompt.IncludeUnresolved,
		fmt.Sprintf("the prompt includes more than %d others, theirs counted with its own; include fewer", maxIncluded))
}

// included returns what an include of a prompt of an owner leads to, without votes. The label
// production asks for the version that programs get: until there is one, the latest.
func (db *Queries) included(ctx context.Context, viewer, owner prompt.UserID, i prompt.Include) (truth.View, error) {
	want := WantedVersion{Number: i.Version, Label: i.Label, orLatest: i.Label == prompt.Production}
	id, want, err := db.lookupName(ctx, viewer, owner, i.Name, want)
	if err != nil {
		return truth.View{}, err
	}
	want.toInclude = true
	return db.versionView(ctx, viewer, id, want, nil)
}

// walk goes down every way from a path, notes which prompt includes which, and returns how deep it
// goes. A prompt is walked once.
func (r *resolving) walk(path []Node, includes []prompt.Include) (depth int, err error) {
	node := path[len(path)-1]
	for _, i := range includes {
		switch below := r.found[i]; {
		case below == nil && len(path) > prompt.IncludeDepth:
			return 0, tooDeep()
		case below == nil:
			return 0, tooMany()
		case below.err != nil:
			return 0, below.err
		}
	}
	for _, i := range includes {
		below := r.found[i]
		deeper := slices.Concat(path, []Node{below.Node})
		if slices.ContainsFunc(path, func(n Node) bool { return n.ID == below.ID }) {
			return 0, fault.Coded(fault.Conflict, prompt.IncludeUnresolved, "the prompt includes itself: "+way(deeper))
		}
		if !slices.Contains(r.graph[node], below.Node) {
			r.graph[node] = append(r.graph[node], below.Node)
		}
		if !below.walked {
			if below.depth, err = r.walk(deeper, below.includes); err != nil {
				return 0, err
			}
			below.walked = true
		}
		depth = max(depth, below.depth+1)
	}
	return depth, nil
}

func way(path []Node) string {
	names := make([]string, len(path))
	for i, n := range path {
		names[i] = fmt.Sprintf("%q", n.Name)
	}
	return strings.Join(names, " > ")
}

// splice puts texts into a content, the deepest first. No way down leads back: walk has seen to
// that.
func (r *resolving) splice(node Node, c prompt.Content) (prompt.Content, error) {
	texts := map[prompt.Include]string{}
	for _, i := range c.Includes() {
		below := r.found[i]
		if !below.spliced {
			var err error
			if below.content, err = r.splice(below.Node, below.content); err != nil {
				return c, err
			}
			below.spliced = true
		}
		texts[i] = below.content.Text
	}
	whole, ok := c.Splice(texts, r.maxText)
	if !ok {
		return c, fault.New(fault.Conflict,
			fmt.Sprintf("%q with what it includes is longer than the %d characters that a text may have", node.Name,
				r.maxText))
	}
	return whole, nil
}
