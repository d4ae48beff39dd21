package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/files/format"
)

// A Folder is a folder and the library of a user or of a workspace.
type Folder struct {
	Root   *os.Root
	Client *client.Client
	As     format.Format             // of files that Pull makes
	Force  bool                      // in a conflict, Pull takes what is there and Push what is here
	Delete bool                      // a file deleted on the one side is deleted on the other
	DryRun bool                      // nothing is written, here or there
	Tell   func(i Item, done string) // of steps taken, or "" of files left alone
	Noise  func(files []string)      // tells of files that hold no prompts
	// why Push makes a version of a file that does not say it
	Message func(path string, files []format.File) string
}

// ErrConflicts ends a run that went through and left something alone.
var ErrConflicts = errors.New("some prompts were left alone")

// Items compares the folder with the library.
func (f *Folder) Items(ctx context.Context) ([]Item, Lock, error) {
	owner, err := f.Client.Owner(ctx)
	if err != nil {
		return nil, Lock{}, err
	}
	lock, err := ReadLock(f.Root, f.Client.URL(), owner, f.Client.Workspace())
	if err != nil {
		return nil, lock, err
	}
	files, others, err := f.files(lock)
	if err != nil {
		return nil, lock, err
	}
	var prompts []client.Prompt
	for p, err := range f.Client.Mine(ctx) {
		if err != nil {
			return nil, lock, err
		}
		prompts = append(prompts, p)
	}
	s := f.skills(files, others, prompts, lock)
	if err := f.fetch(ctx, s.items); err != nil {
		return nil, lock, err
	}
	var skills []format.File
	for _, i := range s.items {
		skills = append(skills, format.File{Path: i.Path, Bytes: i.File})
	}
	items := Compare(s.files, others, skills, s.lock, s.prompts, f.As)
	if err := f.serve(ctx, items); err != nil {
		return nil, lock, err
	}
	for n := range items {
		if i := &items[n]; i.State == NewThere && i.Format == format.SemanticKernel {
			if folder := format.KernelFolder(i.Prompt.Name, i.Theirs); folder != "" {
				i.Path = path.Join(folder, format.KernelText)
			}
		}
		f.look(&items[n])
	}
	items = append(items, s.items...)
	slices.SortStableFunc(items, func(a, b Item) int { return strings.Compare(a.Path, b.Path) })
	return items, lock, nil
}

// serve asks the service for the files of prompts that may have changed.
func (f *Folder) serve(ctx context.Context, items []Item) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(client.Parallel)
	for n := range items {
		i := &items[n]
		if i.Prompt == nil || i.Err != nil || i.untouched() || i.State == Gone {
			continue
		}
		g.Go(func() error {
			file, loss, err := f.Client.File(ctx, i.Prompt.ID, 0, i.Format, format.Library)
			var refused *client.Problem
			switch {
			case errors.As(err, &refused) && refused.Status == http.StatusNotFound: // it was deleted meanwhile
			// a format that it does not write
			case errors.As(err, &refused) && refused.Status == http.StatusUnprocessableEntity:
			case err != nil:
				return fmt.Errorf("%s: %w", i.Path, err)
			default:
				i.serve(file, losses(loss))
			}
			return nil
		})
	}
	return g.Wait()
}

// losses returns the names of what a file does not hold, as the service lists them.
func losses(list string) []string {
	if list == "" {
		return nil
	}
	return strings.Split(list, ", ")
}

// look finds what stands in the place of a file that must be made, and was not read: it is no
// prompt by its name, or no file, or a link to another place.
func (f *Folder) look(i *Item) {
	if i.State != NewThere {
		return
	}
	if err := mayEnter(f.Root, path.Dir(i.Path)); err != nil {
		i.State, i.Err = InTheWay, fmt.Errorf("new on the server, but its file %w: move that away first", err)
		return
	}
	if _, err := f.Root.Lstat(i.Path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	i.State = InTheWay
	if b, err := f.Root.ReadFile(i.Path); err == nil {
		i.File = b
	}
	if sameLines(i.File, i.Theirs) {
		i.State = Same
	}
}

// files returns those that hold prompts, and all that the lock names: one that is there is never
// gone, even if it stands next to a SKILL.md by now or has the name of one that is no prompt. Where
// one is gone it returns others too, which may be that one.
func (f *Folder) files(lock Lock) (files, others []format.File, err error) {
	files, skipped, err := format.Folder(f.Root.FS())
	if err != nil {
		return nil, nil, err
	}
	if f.Noise != nil {
		f.Noise(slices.DeleteFunc(NoSkill(files, skipped), func(name string) bool { return name == LockName }))
	}
	read := make(map[string]bool)
	for _, file := range files {
		read[file.Path] = true
	}
	gone := make(map[string]bool) // what the names of those end in
	for name := range lock.Prompts {
		if read[name] {
			continue
		}
		b, err := f.Root.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.EISDIR) {
			gone[path.Ext(name)] = true
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		files = append(files, format.File{Path: name, Bytes: b})
	}
	return files, f.others(skipped, lock, gone), nil
}

// others returns those of the files that were passed over whose names end like one that is gone. A
// file that cannot be read is none.
func (f *Folder) others(skipped []string, lock Lock, ends map[string]bool) (others []format.File) {
	for _, name := range skipped {
		if _, known := lock.Prompts[name]; known || !ends[path.Ext(name)] {
			continue
		}
		if info, err := f.Root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > format.MaxOne {
			continue
		}
		if b, err := f.Root.ReadFile(name); err == nil {
			others = append(others, format.File{Path: name, Bytes: b})
		}
	}
	return others
}

// Pull changes files as their prompts have changed.
func (f *Folder) Pull(ctx context.Context) error {
	return f.each(ctx, func(_ context.Context, i Item, lock Lock) (string, error) {
		switch {
		case i.State == Same:
			lock.note(i, i.Prompt.ID, i.Prompt.Revision, i.File)
		case i.State == There, i.State == NewThere, i.State == Conflict && f.Force && i.Prompt != nil:
			return "pulled", f.save(i, lock)
		case i.State == Deleted && f.Delete, i.State == Conflict && f.Force:
			return "removed", f.remove(i, lock)
		case i.State == Gone && i.Prompt == nil:
			delete(lock.Prompts, i.Path)
		case i.HoldsMany():
			return "", errMany
		case slices.Contains([]State{Conflict, Deleted, Broken, InTheWay}, i.State):
			return "", ErrConflicts
		}
		return "", nil
	})
}

// Push changes prompts as their files have changed.
func (f *Folder) Push(ctx context.Context) error {
	catalog, err := f.Client.Catalog(ctx)
	if err != nil {
		return err
	}
	made := make(map[string]string) // the files of a dry run, by the names that their prompts would have
	return f.each(ctx, func(ctx context.Context, i Item, lock Lock) (string, error) {
		i.document = i.document.Sorted(catalog)
		if f.Message != nil && i.document.Message == "" && (i.State == New || i.State == Here || f.Force) {
			i.document.Message = f.Message(i.dirOrFile(), i.files())
		}
		switch {
		case i.State == Same:
			lock.note(i, i.Prompt.ID, i.Prompt.Revision, i.File)
		case i.State == New, i.State == Conflict && f.Force && i.Prompt == nil:
			if f.DryRun {
				return "created", f.wouldCreate(ctx, i, made)
			}
			return "created", f.create(ctx, i, lock)
		case i.State == Here, i.State == Conflict && f.Force:
			return f.change(ctx, i, lock)
		case i.State == Gone && i.Prompt == nil:
			delete(lock.Prompts, i.Path)
		case i.State == Gone && f.Delete && i.Err == nil:
			return "deleted", f.deletePrompt(ctx, i, lock)
		case i.HoldsMany():
			return "", errMany
		case slices.Contains([]State{Conflict, Gone, Deleted, Broken}, i.State):
			return "", ErrConflicts
		}
		return "", nil
	})
}

// A step does something with an item and says what.
type step func(context.Context, Item, Lock) (done string, err error)

// A run is one of Pull or Push.
type run struct {
	*Folder
	lock  Lock
	do    step
	left  error  // ErrConflicts where something was left alone
	stuck string // the path of a file that was, and may be one that is gone from elsewhere
}

// each takes a step with every item and then writes the lock, also of a run that failed: its steps
// stay done. Deletions come last, and a file is not deleted while another file is left alone that
// may be the same prompt under another name.
func (f *Folder) each(ctx context.Context, do step) (err error) {
	items, lock, err := f.Items(ctx)
	if err != nil {
		return err
	}
	if !f.DryRun {
		defer func() { err = errors.Join(err, lock.write(f.Root)) }()
	}
	var here, gone []Item
	for _, i := range items {
		if i.State == Gone {
			gone = append(gone, i)
		} else {
			here = append(here, i)
		}
	}
	r := run{Folder: f, lock: lock, do: do}
	if err := r.rounds(ctx, here); err != nil {
		return err
	}
	if f.Delete && r.stuck != "" {
		for n := range gone {
			gone[n].Err = fmt.Errorf("gone here, but not deleted while %s is left alone, which may be the same",
				r.stuck)
		}
	}
	if err := r.rounds(ctx, gone); err != nil {
		return err
	}
	return r.left
}

// rounds takes a step with every item. What the service refuses goes again while others get
// through: one of them may be what it includes, or may have had its name.
func (r *run) rounds(ctx context.Context, items []Item) error {
	for {
		refused, through, err := r.round(ctx, items)
		if err != nil {
			return err
		}
		if !through || len(refused) == 0 {
			for _, i := range refused {
				r.leave(i)
			}
			return nil
		}
		items = refused
	}
}

// round takes a step with every item. It returns those that the service may take another time, and
// whether anything was done.
func (r *run) round(ctx context.Context, items []Item) (refused []Item, through bool, err error) {
	for _, i := range items {
		done, err := r.do(ctx, i, r.lock)
		var why *client.Problem
		switch {
		case errors.As(err, &why) && (why.Status == http.StatusConflict || client.MissesInclude(err)):
			i.Err = why
			refused = append(refused, i)
		case errors.As(err, &why):
			i.Err = why
			r.leave(i)
		case errors.Is(err, errMany): // which is told, and keeps nothing from going on
			r.Tell(i, "")
		case errors.Is(err, ErrConflicts):
			r.leave(i)
		case err != nil:
			return nil, false, fmt.Errorf("%s: %w", i.Path, err)
		case done != "":
			i.Err = nil // of a round before
			through = true
			r.Tell(i, done)
		}
	}
	return refused, through, nil
}

func (r *run) leave(i Item) {
	r.left = ErrConflicts
	r.stuck = cmp.Or(r.stuck, i.mayBeMoved())
	r.Tell(i, "")
}

// mayBeMoved returns the path of a file that was left alone, if it may be one that is gone from
// elsewhere.
func (i Item) mayBeMoved() string {
	if i.File == nil || i.State == Gone || i.State == Deleted || errors.Is(i.Err, errMany) {
		return ""
	}
	return i.Path
}

// save makes a file what its prompt is.
func (f *Folder) save(i Item, lock Lock) error {
	if f.DryRun {
		return nil
	}
	if i.skill != nil {
		return f.saveSkill(i, lock)
	}
	if err := f.Root.MkdirAll(path.Dir(i.Path), 0o777); err != nil {
		return err
	}
	if format.IsKernelText(i.Path) {
		return f.saveKernel(i, lock)
	}
	if err := replace(f.Root, i.Path, i.Theirs); err != nil {
		return err
	}
	lock.note(i, i.Prompt.ID, i.Prompt.Revision, i.Theirs)
	return nil
}

// saveKernel does that of a prompt that is two files.
func (f *Folder) saveKernel(i Item, lock Lock) error {
	text, config, err := format.SplitKernel(i.Theirs)
	if err != nil {
		return err
	}
	next := path.Join(path.Dir(i.Path), format.KernelConfig)
	if err := errors.Join(isNoLink(f.Root, next), isNoLink(f.Root, i.Path)); err != nil {
		return err
	}
	if config != nil {
		err = replace(f.Root, next, config)
	}
	if err := errors.Join(err, replace(f.Root, i.Path, text)); err != nil {
		return err
	}
	lock.note(i, i.Prompt.ID, i.Prompt.Revision, format.JoinKernel(i.Path, text, config))
	return nil
}

func (f *Folder) remove(i Item, lock Lock) error {
	if f.DryRun {
		return nil
	}
	delete(lock.Prompts, i.Path)
	delete(lock.Prompts, i.was)
	if i.skill != nil {
		return f.removeFiles(path.Dir(i.Path), i.skill.here, nil)
	}
	return f.Root.Remove(i.Path)
}

// wouldCreate reports what would keep a file from making a prompt, as far as that can be told
// before others are made.
func (f *Folder) wouldCreate(ctx context.Context, i Item, made map[string]string) error {
	name := i.document.Name
	if other := made[name]; other != "" && other != i.Path {
		return &client.Problem{
			Status: http.StatusConflict,
			Errors: []client.Rule{{Message: fmt.Sprintf("%s makes a prompt called %q too", other, name)}},
		}
	}
	if name != "" {
		made[name] = i.Path
	}
	if i.skill != nil {
		return nil
	}
	return f.Client.Check(ctx, i.document, false)
}

func (f *Folder) create(ctx context.Context, i Item, lock Lock) error {
	var made client.Found
	var err error
	if i.skill != nil {
		made, err = f.Client.AddFolder(ctx, i.skill.here, i.document.Message)
	} else {
		made, err = f.Client.Add(ctx, i.document)
	}
	if err == nil {
		lock.note(i, made.ID, made.Revision, i.File)
	}
	return err
}

// change makes a prompt what its file is, if it is still as it was compared, and says so if the
// service had not taken the file in before.
func (f *Folder) change(ctx context.Context, i Item, lock Lock) (done string, err error) {
	if i.skill != nil {
		return f.changeSkill(ctx, i, lock)
	}
	if err := client.KeepsKind(i.Prompt.Document, i.document); err != nil {
		return "", err
	}
	if f.DryRun {
		d := i.document
		d.Name = i.Prompt.Name // by which it is found
		return "pushed", f.Client.Check(ctx, d, true)
	}
	before := i.before
	if before == nil {
		before = i.Theirs
	}
	there, err := format.Read(i.Format, i.Path, before)
	if err != nil {
		return "", err
	}
	now, err := f.Client.Change(ctx, *i.Prompt, i.document, there)
	if err != nil {
		return "", err
	}
	lock.note(i, now.ID, now.Revision, i.File)
	if now.Revision == i.Prompt.Revision {
		return "", nil
	}
	return "pushed", nil
}

func (f *Folder) deletePrompt(ctx context.Context, i Item, lock Lock) error {
	if f.DryRun {
		return nil
	}
	err := f.Client.Delete(ctx, i.Prompt.ID, i.Prompt.Revision)
	if err == nil {
		delete(lock.Prompts, i.Path)
	}
	return err
}
