package folder

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/files/format"
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
	InTheWay State = "new on the server, and another file has its place"
	Gone     State = "gone here"
	Deleted  State = "deleted on the server"
	Broken   State = "cannot be read"
)

// An Item is a file, its prompt, or both.
type Item struct {
	Path   string
	State  State
	Format format.Format
	File   []byte         // the local content, with single line feeds if the prompt has those; nil for nothing
	Prompt *client.Prompt // the content on the server, nil for nothing
	Theirs []byte         // the file as it would be with the content of the server
	Loss   []string       // what of the prompt the file cannot hold
	Err    error          // of a file that is broken

	document format.Document // what the file says
	skill    *skill          // the folder of a SKILL.md with other files, nil of any other file
	called   string          // the name of the prompt, where another file says the same name
	before   []byte          // the file as it was, where only it has changed
	was      string          // the path that the lock has the file at, where it was moved
	known    bool            // whether the lock has the file
	changed  bool            // since then
	alone    bool            // whether only the file or folder may have changed
}

// Called returns what the prompt of a file is called that says the name of another, "" for any
// other.
func (i Item) Called() string { return i.called }

// Labels returns those that a push of the file puts on the version.
func (i Item) Labels() []string { return i.document.Labels }

// HoldsMany reports whether the file is one of many prompts, which stands in no folder for one.
func (i Item) HoldsMany() bool { return errors.Is(i.Err, errMany) }

// Compare returns all files and prompts, by path. Prompts that have no file get one in a format. A
// file that was moved is still that of its prompt; others are of no prompt but for that. No file
// takes the name of one of the skills with other files, which are compared elsewhere.
func Compare(files, others, skills []format.File, lock Lock, prompts []client.Prompt, as format.Format) []Item {
	c := newComparison(files, lock, prompts)
	isSkill := make(map[string]bool)
	for _, f := range skills {
		isSkill[f.Path] = true
	}
	c.called = format.Called(slices.Concat(skills, files), func(path string) bool {
		_, known := lock.Prompts[path]
		return known || isSkill[path]
	})
	for _, f := range files {
		c.file(f)
	}
	for _, f := range others {
		c.other(f)
	}
	c.left()
	for i := range prompts {
		if p := &prompts[i]; !c.taken[p.ID] {
			c.missing(p, as)
		}
	}
	slices.SortStableFunc(c.items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return c.items
}

// A comparison is one under way. A file is gone that the lock has and the folder has not,
// and is known by the id of its prompt.
type comparison struct {
	lock   Lock
	byID   map[string]*client.Prompt
	byName map[string]string   // ids
	bySlug map[string]string   // ids; some formats have no other name
	bySum  map[string][]string // ids of files that are gone
	gone   map[string]string   // the paths that they had
	here   map[string]bool     // paths of files
	moved  map[string]bool     // paths that were gone, of files found elsewhere
	taken  map[string]bool     // ids of prompts that have a file
	called map[string]string   // names of prompts whose files say that of another, by paths
	items  []Item
}

func newComparison(files []format.File, lock Lock, prompts []client.Prompt) *comparison {
	c := &comparison{
		lock: lock, byID: make(map[string]*client.Prompt), byName: make(map[string]string),
		bySlug: make(map[string]string),
		bySum:  make(map[string][]string), gone: make(map[string]string),
		here: make(map[string]bool), moved: make(map[string]bool), taken: make(map[string]bool),
	}
	for i, p := range prompts {
		c.byID[p.ID] = &prompts[i]
		c.byName[p.Name] = p.ID
		c.bySlug[p.Slug] = p.ID
	}
	for _, f := range files {
		c.here[f.Path] = true
		c.taken[lock.Prompts[f.Path].ID] = true
	}
	for _, path := range slices.Sorted(maps.Keys(lock.Prompts)) {
		if e := lock.Prompts[path]; !c.taken[e.ID] {
			c.gone[e.ID] = path
			c.bySum[e.SHA256] = append(c.bySum[e.SHA256], e.ID)
		}
	}
	return c
}

// was returns where a file was that the lock does not have at its path, "" for nowhere: it is known
// by the name that it says, or else by its bytes.
func (c *comparison) was(i Item, name string) string {
	var ids []string
	if i.Err == nil {
		id := c.byName[name]
		if path := c.gone[id]; path == "" && id != "" {
			return "" // another prompt has that name
		}
		ids = append(ids, id, c.bySlug[name])
	}
	for _, id := range slices.Concat(ids, c.bySum[sum(i.File)], c.bySum[rawSum(i.File)]) {
		if path := c.gone[id]; path != "" && !c.taken[id] {
			return path
		}
	}
	return ""
}

var errMany = errors.New("holds many prompts: import takes such files")

// left adds items for files that are gone, without a prompt where another file is that.
func (c *comparison) left() {
	for path, e := range c.lock.Prompts {
		if c.here[path] || c.moved[path] {
			continue
		}
		i := Item{Path: path, State: Gone}
		if !c.taken[e.ID] {
			i.Prompt = c.byID[e.ID]
		}
		c.items = append(c.items, i)
	}
	for _, e := range c.lock.Prompts {
		c.taken[e.ID] = true
	}
}

// file adds an item for a file.
func (c *comparison) file(f format.File) {
	i := itemOf(f, c.called[f.Path])
	if _, known := c.lock.Prompts[f.Path]; !known {
		i.was = c.was(i, i.document.Name)
	}
	c.add(i)
}

// other adds an item for a file that is no prompt, where it is one that was moved. That it is
// called like one says nothing.
func (c *comparison) other(f format.File) {
	i := itemOf(f, "")
	said, _ := format.Read(i.Format, "", f.Bytes)
	if i.was = c.was(i, said.Name); i.was != "" {
		c.add(i)
	}
}

func itemOf(f format.File, called string) Item {
	i := Item{Path: f.Path, File: f.Bytes, Format: format.Detect(f.Path, f.Bytes), called: called}
	i.read()
	return i
}

// add adds the item of a file.
func (c *comparison) add(i Item) {
	raw := i.File
	e, known := c.lock.Prompts[cmp.Or(i.was, i.Path)]
	c.moved[i.was] = true
	if !known && i.Err == nil {
		if e.ID = c.byName[i.document.Name]; c.taken[e.ID] {
			e.ID = ""
		}
	}
	c.taken[e.ID] = true
	if i.Prompt = c.byID[e.ID]; i.Prompt != nil && !i.Prompt.HasCRLF() {
		i.File = lineFeeds(i.File)
		i.read()
	}
	if i.Prompt != nil && i.Err == nil {
		i.Theirs, i.Loss, i.Err = format.Rewrite(i.Format, i.Path, i.File, i.kept())
	}
	i.known, i.changed = known, !e.is(raw)
	i.alone = i.Prompt != nil && i.Prompt.Revision == e.Revision
	i.State = i.state()
	i.strict()
	if i.State == Here {
		i.before = i.locked(e)
	}
	c.items = append(c.items, i)
}

// read reads what the file says.
func (i *Item) read() {
	if i.Format == format.CSV || i.Format == format.JSONLines {
		i.Err = errMany
		return
	}
	i.document, i.Err = format.Read(i.Format, i.Path, i.File)
	i.document.Name = cmp.Or(i.called, i.document.Name)
	i.document.Source = &format.Source{Format: i.Format, File: i.Path, Data: i.File}
}

// locked returns the file as it was when both were last the same, where only it has changed since.
// Pull once wrote commands where they are Markdown: what they do not say was never said.
func (i Item) locked(e Entry) []byte {
	if i.Format == format.Markdown && !e.is(i.Theirs) {
		b, _, err := format.Write(format.Command, i.Prompt.Document)
		if err == nil && e.is(b) {
			return b
		}
	}
	return i.Theirs
}

// strict leaves a file alone that is new, or was edited, and is not as its format wants it: an
// import reads it all the same, but here its author may be in the middle of writing it.
func (i *Item) strict() {
	w := slices.DeleteFunc(slices.Clone(i.document.Warnings), format.Warning.IsNote)
	if len(w) > 0 && (i.State == New || i.State == Here) {
		i.State, i.Err = Broken, fmt.Errorf("line %d: %s", w[0].Line, w[0].Text)
	}
}

// kept returns the prompt as the file says it, with the labels that the file puts on the version,
// and the name that it says.
func (i Item) kept() format.Document {
	there := i.Prompt.Document
	there.Labels = i.document.Labels
	if i.document.Message == "" {
		there.Message = ""
	}
	if i.called != "" && there.Name == i.called {
		said, _ := format.Read(i.Format, i.Path, i.File) // which was read before
		there.Name = said.Name
	}
	return there.As(i.document)
}

func (i Item) state() State {
	switch {
	case i.Err != nil:
		return Broken
	case !i.known && i.Prompt == nil:
		return New
	case i.Prompt == nil && i.changed:
		return Conflict
	case i.Prompt == nil:
		return Deleted
	case i.untouched(), i.same():
		return Same
	case !i.known, i.changed && !i.alone:
		return Conflict
	case i.changed:
		return Here
	}
	return There
}

// same reports whether a file or a folder is what the server has.
func (i Item) same() bool {
	if i.skill != nil {
		return digest(i.skill.here) == digest(i.skill.there)
	}
	return bytes.Equal(i.File, i.Theirs)
}

// untouched reports whether nothing changed, here or there.
func (i Item) untouched() bool { return i.known && !i.changed && i.alone }

// serve takes the file as the service gives it away, which knows what no other member of a prompt
// says, and decides once more by that. The service may have kept no file: then it knows nothing of
// it, and the file here stays.
func (i *Item) serve(file []byte, loss []string) {
	there, err := format.Read(i.Format, i.Path, file)
	if err != nil {
		return // the service writes a format that this program does not read
	}
	same := there.Extra.Same(i.document.Extra)
	edited := i.known && i.changed && i.alone
	if !same && !edited && i.keepsMore(there, file) {
		if i.State == Same && (!i.known || i.changed) {
			i.State = Here
			i.strict()
		}
		return
	}
	if i.before == nil {
		i.before = i.Theirs
	}
	i.Theirs, i.Loss = file, loss
	switch {
	case sameLines(i.File, file):
		i.State = Same
	case i.State != Same:
	case edited:
		i.State = Here
		i.strict()
	case same:
	case i.known && !i.changed:
		i.State = There
	default:
		i.State = Conflict
	}
}

// keepsMore reports whether the file here may say what the service does not know, as that gives
// away what it would write of any prompt.
func (i *Item) keepsMore(there format.Document, file []byte) bool {
	written, _, err := format.Write(i.Format, there)
	return err == nil && i.File != nil && len(there.Extra.Members) == 0 && sameLines(written, file)
}

// missing adds the item of a prompt without a file, or finds that a new file is what it would be.
func (c *comparison) missing(p *client.Prompt, as format.Format) {
	named := p.Document
	named.Name = cmp.Or(p.Slug, p.Name)
	i := Item{Path: as.Path(named), State: NewThere, Format: as, Prompt: p}
	if i.Theirs, i.Loss, i.Err = format.Write(as, p.Document); i.Err != nil {
		i.State = Broken
	} else if c.here[i.Path] {
		at := slices.IndexFunc(c.items, func(o Item) bool { return o.Path == i.Path })
		if other := &c.items[at]; other.State == New && sameLines(other.File, i.Theirs) {
			other.State, other.Prompt, other.Theirs = Same, p, i.Theirs
			return
		}
		i.State = InTheWay
	}
	c.items = append(c.items, i)
}
