package folder

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"prompthub/internal/prompthub/client"
	"prompthub/internal/prompthub/format"
)

// A State says what has changed since a file and its prompt were last the same.
type State string

// The states.
const (
	Same     State = "same"
	Here     State = "changed here"
	There    State = "changed on the server"
	Conflict State = "changed here and on the server"
	New      State = "new here"
	NewThere State = "new on the server"
	Gone     State = "gone here"
	Deleted  State = "deleted on the server"
	Broken   State = "cannot be read"
)

// An Item is a file, its prompt, or both.
type Item struct {
	Path   string
	State  State
	Format format.Format
	File   []byte         // what is here, nil for nothing
	Prompt *client.Prompt // what is on the server, nil for nothing
	Theirs []byte         // the file as it would be with what is on the server
	Loss   []string       // what of the prompt the file cannot hold
	Err    error          // of a file that is broken

	document format.Document // what the file says
}

// Compare returns all files and prompts, by path. Prompts that have no file get one in a format.
func Compare(files []format.File, lock Lock, prompts []client.Prompt, as format.Format) []Item {
	c := comparison{lock: lock, byID: make(map[string]*client.Prompt), taken: make(map[string]bool)}
	byName := make(map[string]string)
	for i, p := range prompts {
		c.byID[p.ID] = &prompts[i]
		byName[p.Name] = p.ID
	}
	for path, e := range lock.Prompts {
		c.taken[e.ID] = true
		if !slices.ContainsFunc(files, func(f format.File) bool { return f.Path == path }) {
			c.items = append(c.items, Item{Path: path, State: Gone, Prompt: c.byID[e.ID]})
		}
	}
	for _, f := range files {
		c.file(f, byName)
	}
	for i := range prompts {
		if p := &prompts[i]; !c.taken[p.ID] {
			c.items = append(c.items, missing(p, as))
		}
	}
	slices.SortFunc(c.items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return c.items
}

// A comparison is one under way.
type comparison struct {
	lock  Lock
	byID  map[string]*client.Prompt
	taken map[string]bool // ids of prompts that have a file
	items []Item
}

var errMany = errors.New("holds many prompts: import takes such files")

// file adds an item for a file.
func (c *comparison) file(f format.File, byName map[string]string) {
	i := Item{Path: f.Path, File: f.Bytes, Format: format.Detect(f.Path, f.Bytes)}
	if i.Format == format.CSV || i.Format == format.JSONLines {
		i.Err = errMany
	} else {
		i.document, i.Err = format.Read(i.Format, f.Path, f.Bytes)
		i.document.Source = &format.Source{Format: i.Format, File: f.Path, Data: f.Bytes}
	}
	e, known := c.lock.Prompts[f.Path]
	if !known && i.Err == nil {
		e.ID = byName[i.document.Name]
		if c.taken[e.ID] {
			e.ID = ""
		}
		c.taken[e.ID] = true
	}
	i.Prompt = c.byID[e.ID]
	if i.Prompt != nil && i.Err == nil {
		i.Theirs, i.Loss, i.Err = format.Rewrite(i.Format, f.Path, f.Bytes, kept(i.Prompt.Document, i.document))
	}
	i.State = i.state(e, known)
	c.items = append(c.items, i)
}

// kept returns a document of the server as a file says it, with the labels that the file puts on
// the version.
func kept(there, here format.Document) format.Document {
	there.Labels = here.Labels
	if here.Message == "" {
		there.Message = ""
	}
	return there.As(here)
}

func (i Item) state(e Entry, known bool) State {
	changed := known && sum(i.File) != e.SHA256
	switch {
	case i.Err != nil:
		return Broken
	case !known && i.Prompt == nil:
		return New
	case i.Prompt == nil && changed:
		return Conflict
	case i.Prompt == nil:
		return Deleted
	case known && !changed && i.Prompt.Revision == e.Revision, bytes.Equal(i.File, i.Theirs):
		return Same
	case !known, changed && i.Prompt.Revision != e.Revision:
		return Conflict
	case changed:
		return Here
	}
	return There
}

// missing returns the item of a prompt without a file.
func missing(p *client.Prompt, as format.Format) Item {
	named := p.Document
	named.Name = cmp.Or(p.Slug, p.Name)
	i := Item{Path: as.Path(named), State: NewThere, Format: as, Prompt: p}
	if i.Theirs, i.Loss, i.Err = format.Write(as, p.Document); i.Err != nil {
		i.State = Broken
	}
	return i
}
