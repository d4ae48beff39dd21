package promptdb

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
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
}

// Resolve puts what the content of a view includes into its places. The names are those of the
// prompt's author, and what they lead to the viewer must be allowed to read. Whatever was checked
// when it was saved, an include that leads nowhere, or back, or too deep, and a text that becomes
// too long, are a Conflict.
func (db *DB) Resolve(ctx context.Context, viewer string, v View, maxText int) (Resolution, error) {
	root := Node{ID: v.ID, Name: v.Name, Version: max(v.Version, 1)}
	r := resolving{db: db, viewer: viewer, owner: v.AuthorID, maxText: maxText, found: map[prompt.Include]*included{}, graph: map[Node][]Node{}}
	c := v.Content()
	if err := r.readAll(ctx, c.Includes()); err != nil {
		return Resolution{}, err
	}
	depth, err := r.walk([]Node{root}, c.Includes())
	if err != nil {
		return Resolution{}, err
	}
	if depth > prompt.IncludeDepth {
		return Resolution{}, tooDeep()
	}
	c, err = r.splice(root, c)
	return Resolution{Content: c, Root: root, Graph: r.graph}, err
}

// resolving is what is known while the includes of a prompt are put into their places.
type resolving struct {
	db            *DB
	viewer, owner string
	maxText       int
	mu            sync.Mutex
	found         map[prompt.Include]*included
	graph         map[Node][]Node
}

// included is what an include leads to.
type included struct {
	Node
	content  prompt.Content
	includes []prompt.Include
	depth    int // of what it includes
	walked   bool
	spliced  bool
}

// readAll reads what contents include, those of one depth at once.
func (r *resolving) readAll(ctx context.Context, next []prompt.Include) error {
	for range prompt.IncludeDepth {
		g, gctx := errgroup.WithContext(ctx)
		g.SetLimit(maxParallel)
		if len(r.found)+len(next) > maxIncluded {
			return fault.New(fault.Conflict, fmt.Sprintf("the prompt includes more than %d others, theirs counted with its own; include fewer", maxIncluded))
		}
		for _, i := range next {
			g.Go(func() error { return r.read(gctx, i) })
		}
		if err := g.Wait(); err != nil {
			return err
		}
		var deeper []prompt.Include
		for _, i := range next {
			for _, below := range r.found[i].includes {
				if r.found[below] == nil && !slices.Contains(deeper, below) {
					deeper = append(deeper, below)
				}
			}
		}
		next = deeper
	}
	if len(next) > 0 {
		return tooDeep()
	}
	return nil
}

func tooDeep() error {
	return fault.New(fault.Conflict, fmt.Sprintf("the prompt includes others more than %d deep; include what they include yourself", prompt.IncludeDepth))
}

func (r *resolving) read(ctx context.Context, i prompt.Include) error {
	v, err := r.db.named(ctx, r.viewer, r.owner, i)
	switch {
	case fault.Of(err) == fault.NotFound:
		return fault.New(fault.Conflict, fmt.Sprintf("the prompt includes %s, which does not exist, or which you may not read", said(i)))
	case err != nil:
		return err
	case v.Kind == prompt.KindChat:
		return fault.New(fault.Conflict, fmt.Sprintf("the prompt includes %s, which is a chat; only texts can be included", said(i)))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found[i] = &included{Node: Node{ID: v.ID, Name: v.Name, Version: v.Version}, content: v.Content(), includes: v.Content().Includes()}
	return nil
}

// named returns what an include of a prompt of an owner leads to, without votes.
func (db *DB) named(ctx context.Context, viewer, owner string, i prompt.Include) (View, error) {
	id, want, err := db.lead(ctx, owner, i.Name, WantedVersion{Number: i.Version, Label: i.Label})
	if err != nil {
		return View{}, err
	}
	return db.versionView(ctx, viewer, id, want, nil)
}

func said(i prompt.Include) string {
	if i.Version > 0 {
		return fmt.Sprintf("%q in version %d", i.Name, i.Version)
	}
	return fmt.Sprintf("%q with the label %s", i.Name, i.Label)
}

// walk goes down every way from a path, notes who includes whom, and returns how deep it goes. What
// was walked is not walked again.
func (r *resolving) walk(path []Node, includes []prompt.Include) (depth int, err error) {
	node := path[len(path)-1]
	for _, i := range includes {
		below := r.found[i]
		deeper := slices.Concat(path, []Node{below.Node})
		if slices.ContainsFunc(path, func(n Node) bool { return n.ID == below.ID }) {
			return 0, fault.New(fault.Conflict, "the prompt includes itself: "+way(deeper))
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
		return c, fault.New(fault.Conflict, fmt.Sprintf("%q with what it includes is longer than the %d characters that a text may have", node.Name, r.maxText))
	}
	return whole, nil
}
