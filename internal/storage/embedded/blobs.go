package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"prompthub/internal/storage/blob"
)

// Blobs keeps each blob in a file of its own, next to the file of the store: with NAME.db in the
// folder NAME-blobs/CONTAINER. They belong to the process that has the store open. A put writes a
// file under another name, syncs it, renames it and syncs the folder, so that a kill or a loss of
// power leaves the whole file or none. It implements blob.Store.
type Blobs struct {
	dir string
	now func() time.Time

	open     sync.RWMutex // held while a call is at work
	closed   bool
	unsynced bool       // no call waits for the disk
	names    sync.Mutex // held while names of files and folders come and go
	readers  int        // snapshots that are open, for which deleted files are kept
}

var _ blob.Store = (*Blobs)(nil)

// Folders next to the containers: no container has such a name.
const (
	unfinished = ".unfinished" // of files that are being written
	deleted    = ".deleted"    // of files that were deleted while a snapshot reads them
)

// blobsDir returns where the blobs are of the store at path.
func blobsDir(path string) string { return strings.TrimSuffix(path, ".db") + "-blobs" }

// openBlobs removes what a process that was killed has left half-written. It makes no folder.
func openBlobs(path string, now func() time.Time) (*Blobs, error) {
	b := &Blobs{dir: blobsDir(path), now: now}
	left, err := os.ReadDir(filepath.Join(b.dir, unfinished))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, file := range left {
		if err := os.Remove(filepath.Join(b.dir, unfinished, file.Name())); err != nil {
			return nil, err
		}
	}
	return b, os.RemoveAll(filepath.Join(b.dir, deleted))
}

// snapshot has do read blobs as they are now: until it returns, files that are deleted are kept for
// it alone.
func (b *Blobs) snapshot(do func(blob.Store) error) error {
	b.names.Lock()
	b.readers++
	b.names.Unlock()
	err := do(snapshotBlobs{b})
	b.names.Lock()
	defer b.names.Unlock()
	if b.readers--; b.readers == 0 {
		err = errors.Join(err, os.RemoveAll(filepath.Join(b.dir, deleted)))
	}
	return err
}

// snapshotBlobs are the blobs at one moment. A blob that was put later is there, too.
type snapshotBlobs struct{ now *Blobs }

func (s snapshotBlobs) Create(context.Context, ...string) error { return errSnapshot }

func (s snapshotBlobs) Put(context.Context, string, string, []byte) error { return errSnapshot }

func (s snapshotBlobs) Delete(context.Context, string, string) error { return errSnapshot }

// List lists the blobs as they are now.
func (s snapshotBlobs) List(ctx context.Context, container, prefix string, limit int, next string) (blob.Page, error) {
	return s.now.List(ctx, container, prefix, limit, next)
}

func (s snapshotBlobs) Get(ctx context.Context, container, name string) (blob.Blob, error) {
	got, err := s.now.Get(ctx, container, name)
	if errors.Is(err, blob.ErrNotFound) {
		got, err = s.now.get(ctx, container, name,
			filepath.Join(s.now.dir, deleted, container, filepath.FromSlash(name)))
	}
	return got, err
}

// close waits for the calls that have begun. Later ones fail.
func (b *Blobs) close() {
	b.open.Lock()
	defer b.open.Unlock()
	b.closed = true
}

// begin lets a call begin, which ends with the call of what it returns.
func (b *Blobs) begin(ctx context.Context) (end func(), err error) {
	b.open.RLock()
	if err := ctx.Err(); err != nil || b.closed {
		b.open.RUnlock()
		return nil, cmp.Or(err, errClosed)
	}
	return b.open.RUnlock, nil
}

// Create implements blob.Store.
func (b *Blobs) Create(ctx context.Context, containers ...string) error {
	for _, name := range containers {
		if err := blob.CheckContainer(name); err != nil {
			return fmt.Errorf("create containers: %w", err)
		}
	}
	end, err := b.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if len(containers) == 0 {
		return nil
	}
	b.names.Lock()
	defer b.names.Unlock()
	for _, name := range append([]string{"", unfinished}, containers...) {
		if err := makeDir(filepath.Join(b.dir, name)); err != nil {
			return withoutPath("create containers", err)
		}
	}
	return withoutPath("create containers", errors.Join(SyncDir(b.dir), SyncDir(filepath.Dir(b.dir))))
}

// Put implements blob.Store.
func (b *Blobs) Put(ctx context.Context, container, name string, body []byte) error {
	what := "put into " + container
	if err := blob.CheckPut(container, name, body); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	end, err := b.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := b.exists(container); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	path := b.path(container, name)
	there, err := isThere(path)
	if err == nil && !there {
		there, err = b.write(path, body)
	}
	if err == nil { // also of one that is there: the put that made it may not have synced its name
		err = b.sync(container, path)
	}
	if err == nil && there {
		err = blob.ErrExists
	}
	return withoutPath(what, err)
}

// isThere reports whether there is a file or folder.
func isThere(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// write writes a file that lasts, but for its name, unless there is one.
func (b *Blobs) write(path string, body []byte) (there bool, err error) {
	temp, err := b.temp(body)
	if err == nil {
		there, err = b.place(temp, path)
	}
	if temp != "" && (there || err != nil) {
		_ = os.Remove(temp) // else the next Open does
	}
	return there, err
}

// temp writes a file that lasts, under a name that is none of a blob.
func (b *Blobs) temp(body []byte) (path string, err error) {
	file, err := os.CreateTemp(filepath.Join(b.dir, unfinished), "*")
	if err != nil {
		return "", err
	}
	_, err = file.WriteAt(body, 0)
	if err == nil {
		err = ownerOfDir(file)
	}
	if now := b.now(); err == nil {
		err = os.Chtimes(file.Name(), now, now)
	}
	if err == nil && !b.unsynced {
		err = file.Sync()
	}
	return file.Name(), errors.Join(err, file.Close())
}

// place gives a file its name, in folders that it makes, unless another file has it.
func (b *Blobs) place(temp, path string) (there bool, err error) {
	b.names.Lock()
	defer b.names.Unlock()
	if there, err = isThere(path); err != nil || there {
		return there, err
	}
	if err := makeDirs(filepath.Dir(path)); err != nil {
		return false, err
	}
	return false, os.Rename(temp, path)
}

// sync returns when the disk has the name of a blob, and those of the folders above it. One that
// is gone is a folder that another call has removed with its last blob.
func (b *Blobs) sync(container, path string) error {
	if b.unsynced {
		return nil
	}
	top := filepath.Join(b.dir, container)
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if err := SyncDir(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if dir == top {
			return nil
		}
	}
}

// Get implements blob.Store.
func (b *Blobs) Get(ctx context.Context, container, name string) (blob.Blob, error) {
	return b.get(ctx, container, name, b.path(container, name))
}

// get returns a blob whose file is at a path.
func (b *Blobs) get(ctx context.Context, container, name, path string) (blob.Blob, error) {
	what := "get from " + container
	if err := blob.CheckName(container, name); err != nil {
		return blob.Blob{}, fmt.Errorf("%s: %w", what, err)
	}
	end, err := b.begin(ctx)
	if err != nil {
		return blob.Blob{}, err
	}
	defer end()
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return blob.Blob{}, fmt.Errorf("%s: %w", what, cmp.Or(b.exists(container), blob.ErrNotFound))
	}
	if err == nil && info.Size() > blob.MaxBytes {
		return blob.Blob{}, fmt.Errorf("%s: a file of %d bytes, which is no blob", what, info.Size())
	}
	var body []byte
	if err == nil {
		body, err = os.ReadFile(path)
	}
	if errors.Is(err, fs.ErrNotExist) { // it was deleted meanwhile
		return blob.Blob{}, fmt.Errorf("%s: %w", what, blob.ErrNotFound)
	}
	if err != nil {
		return blob.Blob{}, withoutPath(what, err)
	}
	return blob.Blob{Body: body, Type: blob.Type(name), ETag: blob.ETag(body), Stored: info.ModTime().UTC()}, nil
}

// Delete implements blob.Store. Folders go with their last blob: their names may be of users.
func (b *Blobs) Delete(ctx context.Context, container, name string) error {
	what := "delete from " + container
	if err := blob.CheckName(container, name); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	end, err := b.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	if err := b.exists(container); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	path := b.path(container, name)
	if err := b.remove(container, path); err != nil {
		return withoutPath(what, err)
	}
	return withoutPath(what, b.sync(container, path))
}

func (b *Blobs) remove(container, path string) error {
	b.names.Lock()
	defer b.names.Unlock()
	if err := b.away(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for dir := filepath.Dir(path); dir != filepath.Join(b.dir, container) && emptied(dir); {
		dir = filepath.Dir(dir)
	}
	return nil
}

// away removes a file, or keeps it for the snapshots that are open.
func (b *Blobs) away(path string) error {
	if b.readers == 0 {
		return os.Remove(path)
	}
	name, err := filepath.Rel(b.dir, path)
	if err != nil {
		return err
	}
	kept := filepath.Join(b.dir, deleted, name)
	if there, err := isThere(kept); err != nil || there { // by this name a snapshot knows that one
		return errors.Join(err, os.Remove(path))
	}
	if there, err := isThere(path); err != nil || !there {
		return err
	}
	return errors.Join(makeDirs(filepath.Dir(kept)), os.Rename(path, kept))
}

// emptied removes a folder that is empty, and reports whether it is gone.
func emptied(dir string) bool {
	err := os.Remove(dir)
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// List implements blob.Store. Next is the name of the last blob of a page. A page reads the names
// in each folder on the way to its blobs.
func (b *Blobs) List(ctx context.Context, container, prefix string, limit int, next string) (blob.Page, error) {
	what := "list " + container
	if err := blob.CheckList(container, prefix, limit); err != nil {
		return blob.Page{}, fmt.Errorf("%s: %w", what, err)
	}
	end, err := b.begin(ctx)
	if err != nil {
		return blob.Page{}, err
	}
	defer end()
	if err := b.exists(container); err != nil {
		return blob.Page{}, fmt.Errorf("%s: %w", what, err)
	}
	l := lister{container: container, top: filepath.Join(b.dir, container), prefix: prefix, after: next, limit: limit}
	if err := l.folder(""); err != nil {
		return blob.Page{}, withoutPath(what, err)
	}
	return l.page, nil
}

// A lister fills a page.
type lister struct {
	container, top, prefix, after string
	limit                         int
	page                          blob.Page
}

// folder takes the blobs of a folder, whose name ends with a slash unless it is the container.
func (l *lister) folder(name string) error {
	entries, err := os.ReadDir(filepath.Join(l.top, filepath.FromSlash(name)))
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // it was removed meanwhile
		return err
	}
	full := func(e fs.DirEntry) string {
		if e.IsDir() {
			return name + e.Name() + "/"
		}
		return name + e.Name()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(full(a), full(b)) })
	for _, e := range entries {
		at := full(e)
		if !strings.HasPrefix(at, l.prefix[:min(len(l.prefix), len(at))]) ||
			at <= l.after && !strings.HasPrefix(l.after, at) {
			continue
		}
		if err := l.entry(e, at); err != nil || l.page.Next != "" {
			return err
		}
	}
	return nil
}

// entry takes the blobs of a folder, or a blob. Files of other programs are left alone.
func (l *lister) entry(e fs.DirEntry, name string) error {
	if e.IsDir() {
		return l.folder(name)
	}
	wanted := name > l.after && strings.HasPrefix(name, l.prefix) && blob.CheckName(l.container, name) == nil
	if !wanted {
		return nil
	}
	if n := len(l.page.Items); n == l.limit {
		l.page.Next = l.page.Items[n-1].Name
		return nil
	}
	info, err := e.Info()
	if err == nil {
		l.page.Items = append(l.page.Items, blob.Item{Name: name, Size: info.Size(), Stored: info.ModTime().UTC()})
	}
	if errors.Is(err, fs.ErrNotExist) { // it was deleted meanwhile
		err = nil
	}
	return err
}

func (b *Blobs) path(container, name string) string {
	return filepath.Join(b.dir, container, filepath.FromSlash(name))
}

// exists returns blob.ErrNoContainer if there is no such container.
func (b *Blobs) exists(container string) error {
	there, err := isThere(filepath.Join(b.dir, container))
	if err == nil && !there {
		return blob.ErrNoContainer
	}
	return withoutPath("container", err)
}

// makeDirs makes a folder and those above it.
func makeDirs(path string) error {
	if there, err := isThere(path); err != nil || there {
		return err
	}
	if err := makeDirs(filepath.Dir(path)); err != nil {
		return err
	}
	return makeDir(path)
}

// makeDir makes a folder that may be there, of the owner of the folder above it.
func makeDir(path string) error {
	err := os.Mkdir(path, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(ownerOfDir(dir), dir.Close())
}

// withoutPath returns an error of the file system without the path, which may name a user.
func withoutPath(what string, err error) error {
	if err == nil {
		return nil
	}
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return fmt.Errorf("%s: %s: %w", what, p.Op, p.Err)
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return fmt.Errorf("%s: %s: %w", what, l.Op, l.Err)
	}
	return fmt.Errorf("%s: %w", what, err)
}
