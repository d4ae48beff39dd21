package folder

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// A skill is the folder of a SKILL.md that is not alone in it, or whose prompt has files. It is one
// item with the path of that SKILL.md.
type skill struct {
	here, there []prompt.FileBytes // there are those of the server, nil if they were not asked for
	entry       Entry              // of the lock
}

// A Pair is a file of an item here and on the server, nil where it is not.
type Pair struct {
	Path         string
	Here, Theirs []byte
}

// dirOrFile returns the path of the item for people: a folder or a file.
func (i Item) dirOrFile() string {
	if i.skill != nil {
		return path.Dir(i.Path)
	}
	return i.Path
}

// files returns the files of an item here.
func (i Item) files() []format.File {
	var files []format.File
	if text, config, err := format.SplitKernel(i.File); err == nil && format.IsKernelText(i.Path) {
		if files = append(files, format.File{Path: i.Path, Bytes: text}); config != nil {
			files = append(files, format.File{Path: path.Join(path.Dir(i.Path), format.KernelConfig), Bytes: config})
		}
		return files
	}
	if i.skill == nil {
		return []format.File{{Path: i.Path, Bytes: i.File}}
	}
	for _, f := range i.skill.here {
		files = append(files, format.File{Path: path.Join(path.Dir(i.Path), f.Path), Bytes: f.Bytes})
	}
	return files
}

// Pairs returns the files of an item that differ.
func (i Item) Pairs() (pairs []Pair) {
	if i.skill == nil {
		return []Pair{{i.Path, i.File, i.Theirs}}
	}
	here, there := byPath(i.skill.here), byPath(i.skill.there)
	all := maps.Clone(here)
	maps.Copy(all, there)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if a, b := here[name], there[name]; !bytes.Equal(a.Bytes, b.Bytes) {
			pairs = append(pairs, Pair{path.Join(path.Dir(i.Path), name), a.Bytes, b.Bytes})
		}
	}
	return pairs
}

func byPath(files []prompt.FileBytes) map[string]prompt.FileBytes {
	all := make(map[string]prompt.FileBytes, len(files))
	for _, f := range files {
		all[f.Path] = f
	}
	return all
}

// isSkill reports whether a path is that of the SKILL.md of a folder that may have other files.
// That of the folder of the library itself is a file alone.
func isSkill(name string) bool {
	return path.Base(name) == prompt.SkillFile && path.Dir(name) != "."
}

// NoSkill returns those of the files that were passed over that no skill among the others has.
func NoSkill(files []format.File, skipped []string) []string {
	here := make(map[string]bool)
	for _, f := range files {
		here[f.Path] = isSkill(f.Path)
	}
	return slices.DeleteFunc(slices.Clone(skipped), func(name string) bool { return within(path.Dir(name), here) })
}

// digest returns the digest of files. Git may write the line ends of a text in another way, so
// each of them counts as a line feed.
func digest(files []prompt.FileBytes) string {
	set := make(prompt.Files, len(files))
	for n, f := range files {
		if prompt.IsText(f.Bytes) {
			f.Bytes = lineFeeds(f.Bytes)
		}
		set[n] = prompt.NewFile(f)
	}
	slices.SortFunc(set, func(a, b prompt.File) int { return strings.Compare(a.Path, b.Path) })
	return set.Digest()
}

// executable returns the paths of executable files.
func executable(files []prompt.FileBytes) (paths []string) {
	for _, f := range files {
		if f.Executable {
			paths = append(paths, f.Path)
		}
	}
	slices.Sort(paths)
	return paths
}

// skillFile returns the bytes of the SKILL.md.
func skillFile(files []prompt.FileBytes) []byte { return byPath(files)[prompt.SkillFile].Bytes }

// A parting has skills with files as items, and all others as they are compared without them.
type parting struct {
	items   []Item
	files   []format.File
	prompts []client.Prompt
	lock    Lock
}

// ownFiles returns the paths of files that are prompts of their own, wherever they are: those that
// the lock names, and those of others that were moved.
func ownFiles(files, others []format.File, prompts []client.Prompt, lock Lock) map[string]bool {
	own := make(map[string]bool)
	for name := range lock.Prompts {
		own[name] = true
	}
	c := newComparison(files, lock, prompts)
	for _, file := range others {
		i := itemOf(file, "")
		said, _ := format.Read(i.Format, "", file.Bytes)
		own[file.Path] = own[file.Path] || c.was(i, said.Name) != ""
	}
	return own
}

// skills parts the skills with files off.
func (f *Folder) skills(files, others []format.File, prompts []client.Prompt, lock Lock) parting {
	p := parting{lock: lock}
	p.lock.Prompts = maps.Clone(lock.Prompts)
	byID, bySlug := make(map[string]*client.Prompt), make(map[string]*client.Prompt)
	for n := range prompts {
		byID[prompts[n].ID], bySlug[prompts[n].Slug] = &prompts[n], &prompts[n]
	}
	at := make(map[string]string) // paths in the lock by ids
	for name, e := range lock.Prompts {
		at[e.ID] = name
	}
	here := make(map[string]bool)
	for _, file := range files {
		here[file.Path] = true
	}
	taken := make(map[string]bool) // ids
	own := ownFiles(files, others, prompts, lock)
	for _, file := range files {
		e, known := lock.Prompts[file.Path]
		if !isSkill(file.Path) {
			p.files = append(p.files, file)
			continue
		}
		if !known && within(path.Dir(path.Dir(file.Path)), here) {
			continue // a file of another skill
		}
		i := Item{Path: file.Path, Format: format.Skill, File: file.Bytes, known: known, skill: &skill{}}
		i.skill.here, i.Err = f.readSkill(file.Path, own)
		head, err := format.ReadSkillHead(file.Bytes)
		if err == nil {
			i.document.Name = head.Name
		}
		if there := bySlug[head.Name]; !known && err == nil && there != nil && !taken[there.ID] {
			switch was := at[there.ID]; {
			case was == "":
				e.ID = there.ID
			case !here[was]:
				i.was, e, i.known = was, lock.Prompts[was], true
			}
		}
		i.Prompt = byID[e.ID]
		if i.Err == nil && e.Files == "" && len(i.skill.here) == 1 && (i.Prompt == nil || !i.Prompt.HasFiles) {
			p.files = append(p.files, file) // it is alone
			continue
		}
		taken[e.ID] = true
		if i.Err == nil {
			_, i.Err = SkillName(i.skill.here)
		}
		delete(p.lock.Prompts, file.Path)
		delete(p.lock.Prompts, i.was)
		if runtime.GOOS == "windows" {
			for n := range i.skill.here {
				i.skill.here[n].Executable = slices.Contains(e.Executable, i.skill.here[n].Path)
			}
		}
		i.skill.entry = e
		i.changed = !i.known || e.changed(i.skill.here)
		i.alone = i.Prompt != nil && i.Prompt.Revision == e.Revision
		p.items = append(p.items, i)
	}
	for name, e := range lock.Prompts {
		if e.Files != "" && !taken[e.ID] && !here[name] {
			taken[e.ID] = true
			delete(p.lock.Prompts, name)
			p.items = append(p.items, Item{Path: name, State: Gone, Prompt: byID[e.ID], skill: &skill{entry: e}})
		}
	}
	for n := range prompts {
		there := &prompts[n]
		switch {
		case taken[there.ID]:
		case there.HasFiles && at[there.ID] == "":
			p.items = append(p.items, Item{
				Path: there.Slug + "/" + prompt.SkillFile, State: NewThere,
				Format: format.Skill, Prompt: there, skill: &skill{},
			})
		default:
			p.prompts = append(p.prompts, *there)
		}
	}
	return p
}

// within reports whether a folder has a SKILL.md, or is in one that has, below the root.
func within(dir string, here map[string]bool) bool {
	for ; dir != "."; dir = path.Dir(dir) {
		if here[dir+"/"+prompt.SkillFile] {
			return true
		}
	}
	return false
}

// readSkill returns the files of the folder of a SKILL.md, without those that are prompts of their
// own.
func (f *Folder) readSkill(name string, own map[string]bool) ([]prompt.FileBytes, error) {
	dir := path.Dir(name)
	if err := mayEnter(f.Root, dir); err != nil {
		return nil, err
	}
	root, err := f.Root.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files, _, err := ReadFiles(root)
	return slices.DeleteFunc(files, func(x prompt.FileBytes) bool {
		return own[dir+"/"+x.Path] && x.Path != prompt.SkillFile
	}), err
}

// changed reports whether files are others than they were.
func (e Entry) changed(files []prompt.FileBytes) bool {
	if e.Files == "" {
		return len(files) != 1 || !e.is(skillFile(files))
	}
	return digest(files) != e.Files
}

// fetch asks the service for the files of skills that may differ, and decides about them.
func (f *Folder) fetch(ctx context.Context, items []Item) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(client.Parallel)
	for n := range items {
		i := &items[n]
		if i.Prompt == nil || i.Err != nil || i.State == Gone || i.untouched() {
			continue
		}
		g.Go(func() (err error) {
			if i.skill.there, _, err = f.Client.Folder(ctx, client.Found{ID: i.Prompt.ID}); err != nil {
				return fmt.Errorf("%s: %w", i.Path, err)
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for n := range items {
		i := &items[n]
		if i.skill.there != nil {
			i.skill.takeEnds()
			// what else changed there is not in the files
			i.alone = i.alone || digest(i.skill.there) == i.skill.entry.Files
		}
		switch i.State {
		case Gone:
		case NewThere:
			i.Theirs = skillFile(i.skill.there)
			if err := mayEnter(f.Root, path.Dir(i.Path)); err != nil {
				i.State, i.Err = InTheWay, fmt.Errorf("new on the server, but its folder %w: move that away first", err)
			} else if _, err := f.Root.Lstat(path.Dir(i.Path)); !errors.Is(err, fs.ErrNotExist) {
				i.State = InTheWay
			}
		default:
			i.State = i.state()
		}
	}
	return nil
}

// takeEnds gives text files here the line ends of those there, if these are single line feeds: git
// writes others on Windows.
func (s *skill) takeEnds() {
	there := byPath(s.there)
	for n, f := range s.here {
		if t, ok := there[f.Path]; ok && prompt.IsText(f.Bytes) && !bytes.Contains(t.Bytes, crlf) {
			s.here[n].Bytes = lineFeeds(f.Bytes)
		}
	}
}

// saveSkill makes a folder have the files of its prompt.
func (f *Folder) saveSkill(i Item, lock Lock) error {
	dir, s := path.Dir(i.Path), i.skill
	if i.State == NewThere {
		err := staged(f.Root, s.there, func(stage string) error {
			return errors.Join(f.Root.MkdirAll(path.Dir(dir), 0o777), f.Root.Rename(stage, dir))
		})
		if err != nil {
			return err
		}
	} else if err := f.replaceFiles(dir, s); err != nil {
		return err
	}
	s.here = s.there
	lock.note(i, i.Prompt.ID, i.Prompt.Revision, skillFile(s.here))
	return nil
}

// replaceFiles removes first what is no file any more: its name may be that of a folder now, or one
// in another case.
func (f *Folder) replaceFiles(dir string, s *skill) error {
	if err := f.removeFiles(dir, s.here, s.there); err != nil {
		return err
	}
	if err := f.Root.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	root, err := f.Root.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(fill(root, s.there), root.Close())
}

// removeFiles removes files of a folder that are not among those that stay, and the folders that
// are empty then.
func (f *Folder) removeFiles(dir string, files, stay []prompt.FileBytes) error {
	kept := byPath(stay)
	for _, x := range files {
		if _, ok := kept[x.Path]; ok {
			continue
		}
		name := dir + "/" + x.Path
		if err := f.Root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		// one that is not empty stays
		for above := path.Dir(name); above != path.Dir(dir) && f.Root.Remove(above) == nil; {
			above = path.Dir(above)
		}
	}
	return nil
}

// changeSkill makes a prompt have the files of its folder.
func (f *Folder) changeSkill(ctx context.Context, i Item, lock Lock) (done string, err error) {
	if name, err := SkillName(i.skill.here); err != nil || name != i.Prompt.Slug {
		return "", cmp.Or(err, client.NameDiffers(name, i.Prompt.Name, i.Prompt.Slug))
	}
	if f.DryRun {
		return "pushed", nil
	}
	now, err := f.Client.ChangeFolder(ctx, *i.Prompt, i.skill.here, i.document.Message)
	if err != nil {
		return "", err
	}
	lock.note(i, cmp.Or(now.ID, i.Prompt.ID), now.Revision, i.File)
	if now.Revision == i.Prompt.Revision {
		return "", nil
	}
	return "pushed", nil
}
