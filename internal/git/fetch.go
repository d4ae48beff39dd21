package git

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// fetch answers what of its wants the client lacks.
func (q *Request) fetch(ctx context.Context, r Repository) ([][]byte, error) {
	if len(q.wants) == 0 {
		return nil, nil
	}
	for _, id := range q.wants {
		if _, ok := r.Commit(id); !ok {
			return nil, refuse("upload-pack: not our ref %s", id)
		}
	}
	for _, name := range q.not {
		if _, ok := findRef(r, name); !ok {
			return nil, refuse("deepen-not: there is no ref %.200q", name)
		}
	}
	f := &fetch{Request: q, repository: r}
	common := slices.DeleteFunc(slices.Clone(q.haves), func(id ID) bool { _, ok := r.Commit(id); return !ok })
	f.had = f.closure(common, q.shallows)

	var head []byte
	if len(q.haves) > 0 && !q.done {
		head = appendLine(head, "acknowledgments\n")
		for _, id := range common {
			head = appendLine(head, "ACK %s\n", id)
		}
		if len(common) == 0 {
			head = appendLine(head, "NAK\n")
		}
		if !f.knowsEnough() {
			return [][]byte{append(head, flush...)}, nil
		}
		head = append(appendLine(head, "ready\n"), delimiter...)
	}

	f.look()
	if len(q.shallows) > 0 || f.deepens() {
		head = f.appendShallows(head)
	}
	packets, err := f.makePack(ctx)
	if err != nil {
		return nil, err
	}
	head = appendLine(head, "packfile\n")
	return slices.Concat([][]byte{head}, packets, [][]byte{[]byte(flush)}), nil
}

// findRef returns the commit of a ref that a client names, in full or not.
func findRef(r Repository, name string) (ID, bool) {
	refs := r.Refs()
	for _, full := range []string{name, "refs/heads/" + name, "refs/tags/" + name} {
		if i := slices.IndexFunc(refs, func(ref Ref) bool { return ref.Name == full }); i >= 0 {
			return refs[i].ID, true
		}
	}
	return ID{}, false
}

// A fetch is a request at work.
type fetch struct {
	*Request
	repository Repository

	had  map[ID]bool // commits that the client has, with all that is in them
	view map[ID]bool // commits that it has afterwards, of the lines of its wants
	list []ID        // those of the view as they were found

	pack    *pack
	objects map[ID]bool // trees and blobs that were met; true: a content yet to be sent
	blobs   []ID        // to be sent
}

func (f *fetch) commit(id ID) Commit {
	c, _ := f.repository.Commit(id)
	return c
}

// closure returns commits and all before them, but for those before the ends.
func (f *fetch) closure(of []ID, ends map[ID]bool) map[ID]bool {
	all := make(map[ID]bool)
	for _, id := range of {
		for ; !id.IsZero() && !all[id]; id = f.commit(id).Parent {
			all[id] = true
			if ends[id] {
				break
			}
		}
	}
	return all
}

// knowsEnough reports whether the line of each want meets what the client has, so that it need not
// tell more.
func (f *fetch) knowsEnough() bool {
	met := make(map[ID]bool)
	for _, id := range f.wants {
		for ; !f.had[id] && !met[id]; id = f.commit(id).Parent {
			if id.IsZero() {
				return false
			}
			met[id] = true
		}
	}
	return true
}

func (f *fetch) deepens() bool { return f.depth > 0 || !f.since.IsZero() || len(f.not) > 0 }

// look finds the view.
func (f *fetch) look() {
	f.view = make(map[ID]bool)
	switch {
	case f.depth > 0 && !f.relative:
		f.lookAlong(func(ID) bool { return true })
		f.lookBefore(slices.Clone(f.list), f.depth-1)
	case f.depth == 0 && f.deepens():
		var not []ID
		for _, name := range f.not {
			id, _ := findRef(f.repository, name)
			not = append(not, id)
		}
		out := f.closure(not, nil)
		f.lookAlong(func(id ID) bool {
			parent := f.commit(id).Parent
			return out[parent] || f.commit(parent).At.Before(f.since)
		})
	default:
		f.lookAlong(func(id ID) bool { return f.shallows[id] })
		f.lookBefore(slices.DeleteFunc(slices.Clone(f.list), func(id ID) bool { return !f.shallows[id] }), f.depth)
	}
}

// lookAlong sees each want and the commits before it, up to the last.
func (f *fetch) lookAlong(isLast func(ID) bool) {
	for _, id := range f.wants {
		for !id.IsZero() && f.see(id) && !isLast(id) {
			id = f.commit(id).Parent
		}
	}
}

// lookBefore sees as many commits before each of some. All lines advance together, so that each
// commit is met once, from the nearest.
func (f *fetch) lookBefore(some []ID, steps int) {
	for ; steps > 0 && len(some) > 0; steps-- {
		var next []ID
		for _, id := range some {
			if parent := f.commit(id).Parent; !parent.IsZero() && f.see(parent) {
				next = append(next, parent)
			}
		}
		some = next
	}
}

// see puts a commit into the view, and reports whether it was not there.
func (f *fetch) see(id ID) bool {
	if f.view[id] {
		return false
	}
	f.view[id] = true
	f.list = append(f.list, id)
	return true
}

// appendShallows adds the section that tells which commits have no parents at the client any more,
// and which get theirs.
func (f *fetch) appendShallows(b []byte) []byte {
	b = appendLine(b, "shallow-info\n")
	if f.deepens() {
		for _, id := range f.list {
			parent := f.commit(id).Parent
			switch cut := !parent.IsZero() && !f.view[parent]; {
			case cut && !f.shallows[id]:
				b = appendLine(b, "shallow %s\n", id)
			case !cut && f.shallows[id]:
				b = appendLine(b, "unshallow %s\n", id)
			}
		}
	}
	return append(b, delimiter...)
}

// A sent commit is one to be sent, and one whose objects the client has or gets before, zero if
// there is none.
type sent struct{ id, base ID }

// choose returns the commits to be sent: those of the view that the client lacks.
func (f *fetch) choose() []sent {
	var list []sent
	met := make(map[ID]bool)
	for _, id := range f.wants {
		var base ID
		for ; f.view[id] && !met[id]; id = f.commit(id).Parent {
			met[id] = true
			if !f.had[id] {
				if base.IsZero() {
					for base = f.commit(id).Parent; !base.IsZero() && !f.had[base] && !met[base]; {
						base = f.commit(base).Parent
					}
				}
				list = append(list, sent{id, base})
			}
			base = id
		}
	}
	return list
}

// makePack returns the pack, in packets. Objects are in the order commits, trees, contents. Those
// that do not differ from a commit nearby that the client has are left out.
func (f *fetch) makePack(ctx context.Context) ([][]byte, error) {
	f.pack, f.objects = newPack(), make(map[ID]bool)
	list := f.choose()
	for _, c := range list {
		id, b := f.commit(c.id).Encode()
		if id != c.id {
			return nil, fmt.Errorf("the commit %s is stored as %s", id, c.id)
		}
		if err := f.pack.add(commitKind, b); err != nil {
			return nil, err
		}
	}
	for _, c := range list {
		var base ID
		if !c.base.IsZero() {
			base = f.commit(c.base).Tree
		}
		if err := f.addTree(ctx, f.commit(c.id).Tree, base); err != nil {
			return nil, err
		}
	}
	if err := f.addBlobs(ctx); err != nil {
		return nil, err
	}
	return f.pack.end()
}

// addTree adds a folder and those in it, but for what the base has: the folder of that path in a
// commit that the client has or gets, or zero.
func (f *fetch) addTree(ctx context.Context, id, base ID) error {
	if !f.meet(id) {
		return nil
	}
	var old []Entry
	if !base.IsZero() {
		var err error
		if old, err = f.repository.Tree(ctx, base); err != nil {
			return err
		}
		for _, e := range old {
			f.meet(e.ID)
		}
	}
	entries, err := f.repository.Tree(ctx, id)
	if err != nil {
		return err
	}
	as, b := EncodeTree(entries)
	if as != id {
		return fmt.Errorf("the folder %s is stored as %s", as, id)
	}
	if err := f.pack.add(treeKind, b); err != nil {
		return err
	}
	for _, e := range entries {
		if e.Mode == Folder {
			var inBase ID
			if i, ok := slices.BinarySearchFunc(old, e, compareEntries); ok {
				inBase = old[i].ID
			}
			if err := f.addTree(ctx, e.ID, inBase); err != nil {
				return err
			}
			continue
		}
		if f.meet(e.ID) {
			f.objects[e.ID] = true
			f.blobs = append(f.blobs, e.ID)
		}
	}
	if len(f.objects) > maxObjects {
		return tooMany
	}
	return ctx.Err()
}

// meet notes that an object need not be looked at again, and reports whether it was not met before.
func (f *fetch) meet(id ID) bool {
	if _, ok := f.objects[id]; ok {
		return false
	}
	f.objects[id] = false
	return true
}

// addBlobs adds the contents of files.
func (f *fetch) addBlobs(ctx context.Context) error {
	left := len(f.blobs)
	for content, err := range f.repository.Blobs(ctx, f.blobs) {
		if err != nil {
			return err
		}
		id := BlobID(content)
		if !f.objects[id] {
			return fmt.Errorf("the content %s was not asked for, or came twice", id)
		}
		f.objects[id] = false
		left--
		if err := cmp.Or(ctx.Err(), f.pack.add(blobKind, content)); err != nil {
			return err
		}
	}
	if left > 0 {
		return fmt.Errorf("%d contents of %d are missing", left, len(f.blobs))
	}
	return nil
}
