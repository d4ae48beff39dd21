package promptdb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/blob"
	blobparts "prompthub/internal/storage/blob/parts"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A breaker counts the calls of a backup, and stops it at one of them, before or after it landed.
type breaker struct {
	calls  int
	broken int // the number of the first call that fails; 0: none
	landed bool
}

var errBroken = errors.New("the process was stopped")

func (b *breaker) call(do func() error) error {
	b.calls++
	if b.broken == 0 || b.calls < b.broken {
		return do()
	}
	if b.landed && b.calls == b.broken {
		if err := do(); err != nil {
			return err
		}
	}
	return errBroken
}

type brokenBlobs struct {
	blob.Store
	*breaker
}

func (b brokenBlobs) Create(ctx context.Context, containers ...string) error {
	return b.call(func() error { return b.Store.Create(ctx, containers...) })
}

func (b brokenBlobs) Put(ctx context.Context, container, name string, body []byte) error {
	return b.call(func() error { return b.Store.Put(ctx, container, name, body) })
}

func (b brokenBlobs) Delete(ctx context.Context, container, name string) error {
	return b.call(func() error { return b.Store.Delete(ctx, container, name) })
}

func (b brokenBlobs) Get(ctx context.Context, container, name string) (got blob.Blob, err error) {
	err = b.call(func() (err error) {
		got, err = b.Store.Get(ctx, container, name)
		return err
	})
	return got, err
}

func (b brokenBlobs) List(ctx context.Context, container, prefix string, limit int,
	next string,
) (page blob.Page, err error) {
	err = b.call(func() (err error) {
		page, err = b.Store.List(ctx, container, prefix, limit, next)
		return err
	})
	return page, err
}

type brokenTables struct {
	table.DB
	*breaker
}

func (b brokenTables) List(ctx context.Context, name string, r table.Range, limit int,
	next string,
) (page table.Page, err error) {
	err = b.call(func() (err error) {
		page, err = b.DB.List(ctx, name, r, limit, next)
		return err
	})
	return page, err
}

// keepable fills a world with rows of each kind, and returns its backup.
func keepable(t *testing.T) (*world, string) {
	w := newWorldOn(t, memory.NewTables()) // whose pages always have the same rows
	mixed(w)
	w.live(leaver)
	versions := w.add("dora", draft("Many versions"))
	for i := range 9 {
		w.edit("dora", versions.ID, func(p *prompt.Prompt) { p.Text = strings.Repeat(fmt.Sprint("line ", i), 60) })
	}
	w.run()
	var whole bytes.Buffer
	_, err := w.Backup(t.Context(), &whole, func(d promptdb.Difference) { t.Error(d) }, func(int) {})
	require.NoError(t, err)
	return w, whole.String()
}

func newBlobs(t *testing.T, w *world) blob.Store {
	blobs := memory.NewBlobs(w.clock.Now)
	// so that a run stopped at once can be looked at
	require.NoError(t, blobs.Create(t.Context(), promptdb.BackupContainer))
	return blobs
}

// keeping returns an instance that keeps backups.
func (w *world) keeping(tables table.DB, blobs blob.Store) *promptdb.DB {
	return promptdb.New(promptdb.Config{
		Store: tables, Blobs: blobs, Tables: promptdb.DefaultTables(), Now: w.clock.Now,
		Log: slog.New(slog.DiscardHandler),
	})
}

// keep runs Keep once over the tables of a world.
func (w *world) keep(blobs blob.Store, b *breaker) (promptdb.Kept, error) {
	db := w.keeping(brokenTables{w.store, b}, brokenBlobs{blobs, b})
	db.MaxPart = 2000
	return db.Keep(w.t.Context(), func(d promptdb.Difference) { w.t.Error(d) })
}

// kept returns the lines of a kept backup.
func kept(t *testing.T, blobs blob.Store, folder string) (string, error) {
	lines, err := blobparts.Open(func(name string) ([]byte, error) {
		got, err := blobs.Get(t.Context(), promptdb.BackupContainer, folder+"/"+name)
		return got.Body, err
	})
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(lines)
	return string(text), err
}

// TestKeepStoppedAnywhere stops a backup in parts at each of its calls, before it and after it
// landed. It is none then, the next run goes on with it, and in the end it is what backup writes.
func TestKeepStoppedAnywhere(t *testing.T) {
	t.Parallel()
	w, whole := keepable(t)
	var all breaker
	blobs := newBlobs(t, w)
	k, err := w.keep(blobs, &all)
	require.NoError(t, err)
	require.True(t, k.Done)
	text, err := kept(t, blobs, k.Name)
	require.NoError(t, err)
	require.Equal(t, whole, text)
	page, err := blobs.List(t.Context(), promptdb.BackupContainer, k.Name+"/", blob.MaxPage, "")
	require.NoError(t, err)
	require.Greater(t, len(page.Items), 10, "parts")
	wentOn := 0
	for n := 1; n <= all.calls; n++ {
		for _, landed := range []bool{false, true} {
			blobs := newBlobs(t, w)
			_, err := w.keep(blobs, &breaker{broken: n, landed: landed})
			require.Error(t, err, "call %d of %d, landed %v", n, all.calls, landed)
			before, err := blobs.List(t.Context(), promptdb.BackupContainer, "", blob.MaxPage, "")
			require.NoError(t, err)
			if landed && n == all.calls {
				require.Len(t, before.Items, len(page.Items), "the manifest landed")
				continue
			}
			_, err = kept(t, blobs, k.Name)
			require.ErrorIs(t, err, blob.ErrNotFound, "it is no backup yet")
			var again breaker
			k, err := w.keep(blobs, &again)
			require.NoError(t, err)
			require.True(t, k.Done)
			text, err := kept(t, blobs, k.Name)
			require.NoError(t, err)
			require.Equal(t, whole, text, "stopped at call %d", n)
			if len(before.Items) > 0 && again.calls < all.calls {
				wentOn++
			}
		}
	}
	require.Greater(t, wentOn, all.calls/2, "runs that did not begin anew")
}

// TestKeepTakesItsTime: a run ends when its time is up, and the next ones go on. A day later there
// is another backup.
func TestKeepTakesItsTime(t *testing.T) {
	t.Parallel()
	w, whole := keepable(t)
	blobs := newBlobs(t, w)
	slow := w.keeping(slowTables{w.store, w.clock}, blobs)
	keep := func() promptdb.Kept {
		k, err := slow.Keep(t.Context(), func(d promptdb.Difference) { t.Error(d) })
		require.NoError(t, err)
		return k
	}
	first := keep()
	runs := 1
	for k := first; !k.Done; runs++ {
		rows := k.Rows
		k = keep()
		require.Equal(t, first.Name, k.Name)
		require.GreaterOrEqual(t, k.Rows, rows)
	}
	require.Greater(t, runs, 3)
	text, err := kept(t, blobs, first.Name)
	require.NoError(t, err)
	require.Equal(t, whole, text)
	require.Equal(t, promptdb.Kept{}, keep(), "one a day")
	w.clock.Advance(24 * time.Hour)
	require.NotEqual(t, first.Name, keep().Name)

	// A part that is another one than the manifest says is found.
	name := first.Name + "/0002.jsonl.gz"
	require.NoError(t, blobs.Delete(t.Context(), promptdb.BackupContainer, name))
	require.NoError(t, blobs.Put(t.Context(), promptdb.BackupContainer, name, []byte("x")))
	_, err = kept(t, blobs, first.Name)
	require.ErrorContains(t, err, "part 0002.jsonl.gz of the backup is damaged")
}

// slowTables take twenty seconds for each page.
type slowTables struct {
	table.DB
	clock *clock
}

func (s slowTables) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	s.clock.Advance(20 * time.Second)
	return s.DB.List(ctx, name, r, limit, next)
}
