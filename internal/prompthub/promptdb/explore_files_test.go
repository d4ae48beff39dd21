package promptdb_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	rows "prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// TestExploreFiles interleaves saves of files, deletions of versions and sweeps over bytes that are
// older than they are kept for. At rest, and after one more sweep, every version has all of its
// files, as they were sent, and the quota knows what is stored.
func TestExploreFiles(t *testing.T) { exploreAll(t, 400, false, (*explorer).beginFiles) }

// TestExplorePurgeFiles does the same with a prompt that was deleted long ago: in the end it is
// gone with its bytes, or it was restored and is whole.
func TestExplorePurgeFiles(t *testing.T) { exploreAll(t, 100, false, (*explorer).beginDeletedFiles) }

// filed is a prompt whose versions have files.
type filed struct {
	*explorer
	*subject
	contents [3]string
	mu       sync.Mutex                   // of sets: commands run at the same time
	sets     map[string]map[string]string // what a save gave the version it made, by its name
	dropped  map[int64]bool               // versions that commands delete
}

// newFiled gives the first prompt three more versions. Mostly those are gone that had the first two
// contents, whose bytes no version names then, and the last one has the third.
func newFiled(e *explorer) *filed {
	f := &filed{
		explorer: e, subject: e.subjects[0], contents: [3]string{"A", "B", "C"},
		sets: map[string]map[string]string{}, dropped: map[int64]bool{},
	}
	if e.rnd.IntN(8) == 0 {
		f.contents[0] = strings.Repeat("a", 400_000) // of two rows
	}
	ctx := context.Background()
	for i, set := range [][]int{{0, 1}, {1, 2}, {2}} {
		name := fmt.Sprintf("old %d", i)
		_, err := e.truth.Change(ctx, f.author, f.id,
			f.gives(name, func(p *prompt.Prompt) error { filesOf(f.set(set)...)(p); return nil }))
		require.NoError(e.t, err)
	}
	for n := range int64(2) {
		if e.rnd.IntN(4) > 0 {
			f.dropped[2+n] = true
			require.NoError(e.t, e.truth.DeleteVersion(ctx, f.author, f.id, 2+n, prompt.Actor{}))
		}
	}
	require.NoError(e.t, e.drain())
	for range 3 {
		e.changes[e.rnd.IntN(60)] = true
	}
	e.rests = append(e.rests, f.wrong)
	e.last = e.sweepAgain
	return f
}

// set returns paths and contents for filesOf.
func (f *filed) set(of []int) (set []string) {
	for i, c := range of {
		set = append(set, string(rune('a'+i)), f.contents[c])
	}
	return set
}

// gives is an edit that makes a version, unless one of the same name was made, and notes what files
// that has.
func (f *filed) gives(name string, give func(*prompt.Prompt) error) promptdb.Edit {
	return func(p prompt.Prompt) (prompt.Prompt, error) {
		switch {
		case p.Deleted():
			return p, prompt.ErrUnknown()
		case savedAs(p.Text, name):
			return p, promptdb.ErrUnchanged
		}
		p.Text += ";" + name
		p.Revision++
		if err := give(&p); err != nil {
			return p, err
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.sets[name] = sumsOf(p.Files)
		return p, nil
	}
}

// savedAs reports whether a text is of a version that a save made, or of a later one.
func savedAs(text, name string) bool { return slices.Contains(strings.Split(text, ";"), name) }

// sumsOf returns the SHA-256 of files by their paths.
func sumsOf(files prompt.Files) map[string]string {
	set := map[string]string{}
	for _, file := range files.Written() {
		set[file.Path] = file.SHA256
	}
	return set
}

// beginFiles starts a sweep or two that have only the files to look at, a save and perhaps others.
func (f *filed) beginFiles() {
	ctx := context.Background()
	f.temper.hostile = f.rnd.IntN(4) > 0 // a sweep, or a save, must stand still between two calls
	f.Advance(22 * time.Hour)
	_, _, err := f.truth.Sweep(ctx)
	require.NoError(f.t, err)
	_, err = f.store.Write(ctx, promptdb.DefaultTables().SystemState, table.Op{
		Kind: table.Delete, Row: table.Row{Key: rows.SweepKey(promptdb.DefaultTables().Files), ETag: table.Any},
	})
	require.NoError(f.t, err)
	f.Advance(3 * time.Hour)
	f.start([]func(int){f.sweep}, 1)
	f.start([]func(int){f.save, f.save, f.save, f.revive}, 1+f.rnd.IntN(2))
	f.start([]func(int){
		f.save, f.keep, f.revive, f.name, f.deleteOne, f.deleteOne, f.sweep, f.sweep,
		f.sweep, f.backup,
	}, f.rnd.IntN(3))
}

func (e *explorer) beginFiles() { newFiled(e).beginFiles() }

func (e *explorer) beginDeletedFiles() {
	f := newFiled(e)
	f.listed, f.stays, f.purges = false, false, true
	with(deleted)(e.ring, &prompt.Prompt{ID: f.id})
	require.NoError(e.t, e.drain())
	e.Advance(32 * 24 * time.Hour)
	e.purge(9)
	e.start([]func(int){e.purge, e.undelete, e.undelete, f.save, f.save, f.deleteOne, e.sweep, e.sweep, e.backup},
		1+e.rnd.IntN(3))
}

// saving is a command that makes a version, or is refused.
func (f *filed) saving(name string, give func(context.Context, *promptdb.DB, *prompt.Prompt) error) {
	told := false
	f.command(name, func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Change(ctx, f.author, f.id,
			f.gives(name, func(p *prompt.Prompt) error { return give(ctx, db, p) }))
		told = err == nil
		return refused(err)
	}, func() error {
		if !told {
			return nil
		}
		for _, v := range f.versions() {
			if savedAs(v.Text, name) {
				return nil
			}
		}
		p, err := f.record(f.subject)
		if f.purges && fault.Of(err) == fault.NotFound || len(f.dropped) > 0 && f.gaps(p) {
			return nil
		}
		return fmt.Errorf("%s was acknowledged and is lost; the text is %q: %w", name, p.Text, err)
	})
}

// gaps reports whether a version is gone that a save of the schedule may have made.
func (f *filed) gaps(p prompt.Prompt) bool {
	for n := int64(5); n <= p.Last; n++ {
		if _, gone := f.version(f.subject, n); gone {
			return true
		}
	}
	return false
}

// save sends the bytes of all its files.
func (f *filed) save(i int) {
	some := f.rnd.Perm(3)[:1+f.rnd.IntN(3)]
	f.saving(fmt.Sprintf("%d save", i), func(_ context.Context, _ *promptdb.DB, p *prompt.Prompt) error {
		filesOf(f.set(some)...)(p)
		return nil
	})
}

// keep changes the text alone.
func (f *filed) keep(i int) {
	f.saving(fmt.Sprintf("%d keep", i), func(context.Context, *promptdb.DB, *prompt.Prompt) error { return nil })
}

// revive gives the prompt the files of an older version, whose bytes it reads and sends.
func (f *filed) revive(i int) {
	n := int64(2 + f.rnd.IntN(3))
	f.saving(fmt.Sprintf("%d revive", i), func(ctx context.Context, db *promptdb.DB, p *prompt.Prompt) error {
		v, err := db.GetVersion(ctx, f.author, f.id, promptdb.WantedVersion{Number: n})
		if err != nil {
			return err
		}
		p.Files = v.Files
		p.FileBytes, err = db.FileBytes(ctx, f.id, v.Files.Written())
		return err
	})
}

// name names bytes that it does not send: it is refused unless the latest version has them.
func (f *filed) name(i int) {
	some := f.rnd.Perm(3)[:1]
	f.saving(fmt.Sprintf("%d name", i), func(_ context.Context, _ *promptdb.DB, p *prompt.Prompt) error {
		filesOf(f.set(some)...)(p)
		p.FileBytes = nil
		return nil
	})
}

func (f *filed) deleteOne(i int) {
	n := int64(2 + f.rnd.IntN(5))
	f.dropped[n] = true
	f.command(fmt.Sprintf("%d delete version %d", i, n), func(ctx context.Context, db *promptdb.DB) error {
		return refused(db.DeleteVersion(ctx, f.author, f.id, n, prompt.Actor{}))
	}, nil)
}

// versions returns those that there are, at rest.
func (f *filed) versions() (all []promptdb.View) {
	p, err := f.record(f.subject)
	for n := int64(1); err == nil && n <= p.Last; n++ {
		if v, gone := f.version(f.subject, n); !gone {
			all = append(all, v)
		}
	}
	return all
}

// wrong says which promise the files at rest break, "" for none.
func (f *filed) wrong() string {
	ctx := context.Background()
	stored := int64(0)
	for row, err := range table.All(ctx, f.store, promptdb.DefaultTables().Files, table.Range{}) {
		if err != nil {
			return err.Error()
		}
		if _, n, _ := rows.ParseFileRow(row.Row); n == 0 {
			stored += row.Props.Get("Size").Int()
		}
	}
	p, err := f.record(f.subject)
	switch {
	case fault.Of(err) == fault.NotFound && f.purges:
		if stored > 0 {
			return fmt.Sprintf("%d bytes of the purged prompt are left", stored)
		}
		return ""
	case err != nil:
		return err.Error()
	}
	if c, err := f.truth.LabelsRow(ctx, f.author, f.id); err != nil || c.Files != stored {
		return fmt.Sprintf("%d bytes of files are stored, and counted are %d: %v", stored, c.Files, err)
	}
	for n := int64(1); n <= p.Last; n++ {
		if _, gone := f.version(f.subject, n); gone && !f.dropped[n] {
			return fmt.Sprintf("version %d is gone, and no command deleted it", n)
		}
	}
	for _, v := range f.versions() {
		if _, err := f.truth.FileBytes(ctx, f.id, v.Files); err != nil {
			return fmt.Sprintf("version %d is not whole: %v", v.Version, err)
		}
		name := v.Text[strings.LastIndex(v.Text, ";")+1:]
		f.mu.Lock()
		set, is := f.sets[name], sumsOf(v.Files)
		f.mu.Unlock()
		if v.Version > 1 && !maps.Equal(set, is) {
			return fmt.Sprintf("version %d, of %q, has the files %v and not %v", v.Version, name, is, set)
		}
	}
	return ""
}
