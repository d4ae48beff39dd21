package promptdb_test

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// overlapped has something done while its next list of a table is on its way back.
type overlapped struct {
	table.DB
	table  string
	during func()
}

func (o *overlapped) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := o.DB.List(ctx, name, r, limit, next)
	if do := o.during; name == o.table && do != nil {
		o.during = nil
		do()
	}
	return page, err
}

// TestOwnTagIsSeen: a read of the catalog that began before a tag was put and ended after it must
// not bring the old catalog back, nor serve those who ask after that.
func TestOwnTagIsSeen(t *testing.T) {
	store := &overlapped{DB: memory.NewTables(), table: promptdb.DefaultTables().TagCatalog}
	w := newWorldOn(t, store)
	_, err := w.Tags(t.Context())
	require.NoError(t, err)
	has := func() bool {
		tags, err := w.Tags(t.Context())
		require.NoError(t, err)
		for _, tag := range tags {
			if tag.Tag == "brand-new" {
				return true
			}
		}
		return false
	}
	w.clock.Advance(time.Minute)
	store.during = func() {
		require.NoError(t, w.PutTag(t.Context(), prompt.TagInfo{Tag: "brand-new", DisplayName: "New", Active: true}))
		require.True(t, has(), "while the older read is under way")
	}
	_, err = w.Tags(t.Context())
	require.NoError(t, err)
	require.True(t, has())
}

// full is a store without room.
type full struct{ table.DB }

func (full) Write(context.Context, string, ...table.Op) ([]string, error) {
	return nil, &fs.PathError{Op: "write", Path: "store.db", Err: syscall.ENOSPC}
}

// TestRestoreSaysWhatIsWrong, and not that the storage is away: to try again is of no use.
func TestRestoreSaysWhatIsWrong(t *testing.T) {
	tag := func(name string) string { return `{"kind":"tag","tag":{"tag":"` + name + `"}}` + "\n" }
	const head = `{"kind":"backup","version":2}` + "\n"
	many := head + tag("first")
	for i := range 200 {
		many += tag(fmt.Sprint("tag", i))
	}
	for _, text := range []string{head + tag("house") + tag("first") + tag("first"), many + tag("first")} {
		text += fmt.Sprintf(`{"kind":"end","rows":%d}`, strings.Count(text, "\n")-1)
		err := restore(t.Context(), newWorld(t).DB, strings.NewReader(text))
		require.ErrorContains(t, err, ": the backup has a row twice: TagCatalog: ")
		require.ErrorContains(t, err, "first")
		require.NotContains(t, err.Error(), "try again")
	}
	w := newWorld(t)
	err := w.over(full{w.store}).PutTag(t.Context(), prompt.TagInfo{Tag: "house"})
	require.ErrorContains(t, err, "the disk of the storage is full: ")
	require.Equal(t, fault.Unavailable, fault.Of(err))
}

// TestRestoreOfNoBackup: a file that is no backup changes nothing.
func TestRestoreOfNoBackup(t *testing.T) {
	for _, text := range []string{
		"", "act,prompt\n", `{"kind":"prompt"}` + "\n",
		`{"kind":"backup","version":99}` + "\n",
	} {
		w := newWorld(t)
		house := prompt.TagInfo{Tag: "house", DisplayName: "House", Active: true}
		require.NoError(t, w.PutTag(t.Context(), house))
		err := restore(t.Context(), w.DB, strings.NewReader(text))
		require.ErrorContains(t, err, "line 1: ", text)
		tags, err := w.another().Tags(t.Context())
		require.NoError(t, err)
		require.Contains(t, tags, house, text)
	}
}
