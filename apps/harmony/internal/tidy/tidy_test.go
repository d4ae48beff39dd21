package tidy_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/internal/http/auth/password"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// TestTidy: files that no row names, and rows that count no more, go after their time. All else
// stays, in any number of slices and runs.
func TestTidy(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	var passed atomic.Int64
	now := func() time.Time {
		return time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(passed.Load()))
	}
	blobs, db := memory.NewBlobs(now), memory.NewTables()
	s := meet.New(meet.Config{
		Store: &rowstore.Store{
			DB: db, Now: now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { do() },
			Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			Random: func(time.Duration) time.Duration { return 0 },
		},
		Tables: rowstore.DefaultTables[meet.Tables](),
		Queues: memory.NewQueues(now), Entropy: rand.Reader, Passwords: password.NewHasher(), Blobs: blobs,
		Pictures: picture.NewMaker(), LikesADay: 200, EraseAfter: 30 * 24 * time.Hour,
	})
	require.NoError(t, s.Create(ctx))
	job := tidy.Job{Service: s}

	insert := func(name, partition, row string, props ...table.Prop) {
		require.NoError(t, s.Write(ctx, name,
			[]table.Op{{
				Kind: table.Insert,
				Row:  table.Row{Key: table.Key{Partition: partition, Row: row}, Props: props},
			}}))
	}
	at := func(name string) table.Prop { return table.Prop{Name: name, Value: table.Time(now())} }
	out := func(is bool) table.Prop { return table.Prop{Name: "IsOut", Value: table.Bool(is)} }
	for n := range 450 {
		user, image := fmt.Sprintf("%08d-0000-0000-0000-000000000000", n),
			fmt.Sprintf("%08d-0000-0000-0000-000000000001", n)
		for _, ending := range []string{".jpg", "_320.jpg"} {
			require.NoError(t, blobs.Put(ctx, meet.ContainerProfiles, user+"/"+image+ending, []byte("x")))
		}
		if n%50 > 0 {
			insert("UserImages", user, image, at("UploadedAt"))
		}
		insert("Deck", "female_0", user, out(n%3 == 0), at("UpdatedAt"))
		insert("Messages", user, "~"+image, at("CreatedAt"))
		insert("Messages", user, "!open", at("CreatedAt"))
		insert("Messages", user, "2516000000000000000_"+image, at("SentAt"))
	}
	counts := func() (files, decks, messages int) {
		for next, more := "", true; more; {
			p, err := blobs.List(ctx, meet.ContainerProfiles, "", 100, next)
			require.NoError(t, err)
			files += len(p.Items)
			next, more = p.Next, p.Next != ""
		}
		for name, n := range map[string]*int{"Deck": &decks, "Messages": &messages} {
			for _, err := range table.All(ctx, db, name, table.Range{}) {
				require.NoError(t, err)
				*n++
			}
		}
		return files, decks, messages
	}
	for _, step := range []struct {
		after                  time.Duration
		files, decks, messages int
	}{
		{59 * time.Minute, 900, 450, 1350},
		{time.Minute, 882, 450, 1350},
		{23 * time.Hour, 882, 300, 1350},
		{24 * time.Hour, 882, 300, 900},
		{1000 * time.Hour, 882, 300, 900},
	} {
		passed.Add(int64(step.after))
		require.NoError(t, job.Run(ctx))
		files, decks, messages := counts()
		require.Equal(t, []int{step.files, step.decks, step.messages}, []int{files, decks, messages}, step.after)
	}

	// A place that the storage does not know any more begins anew.
	require.NoError(t, s.Write(ctx, "State",
		[]table.Op{{
			Kind: table.Upsert,
			Row: table.Row{
				Key:   table.Key{Partition: tidy.Name, Row: "decks"},
				Props: table.Props{{Name: "Place", Value: table.String("no place")}},
			},
		}}))
	_ = job.Run(ctx)
	require.NoError(t, job.Run(ctx))
}

// TestRowsThatAreMissing: a sweep takes few files out, and says that there are more. None is gone
// for good within a week: once rows name them again, all come back. A file that no row names goes
// then.
func TestRowsThatAreMissing(t *testing.T) {
	t.Parallel()
	ctx, w := t.Context(), meettest.New(t)
	job, users := tidy.Job{Service: w.Service},
		[]string{"00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"}
	image := func(n int) string { return fmt.Sprintf("%08d-0000-0000-0000-000000000001", n) }
	row := func(kind table.Kind, n int) {
		op := table.Op{Kind: kind, Row: table.Row{Key: table.Key{Partition: users[n%2], Row: image(n)}}}
		if kind == table.Delete {
			op.Row.ETag = table.Any
		}
		require.NoError(t, w.Service.Write(ctx, "UserImages", []table.Op{op}))
	}
	for n := range 100 {
		for _, ending := range []string{".jpg", "_320.jpg"} {
			require.NoError(t, w.Blobs.Put(ctx, meet.ContainerProfiles,
				users[n%2]+"/"+image(n)+ending, []byte(image(n)+ending)))
		}
	}
	count := func(container string) int {
		page, err := w.Blobs.List(ctx, container, "", 1000, "")
		require.NoError(t, err)
		return len(page.Items)
	}
	for range 6 * 24 { // a day
		w.Clock.Pass(10 * time.Minute)
		if err := job.Run(ctx); err != nil {
			require.ErrorContains(t, err, "no row names 20 files in profile-images and more")
		}
	}
	require.Equal(t, 180, count(meet.ContainerProfiles), "one sweep has taken some out, and the next one waits")
	require.Equal(t, 20, count(meet.ContainerRemoved))
	for n := range 100 {
		row(table.Insert, n)
	}
	require.NoError(t, job.Run(ctx))
	require.Equal(t, 200, count(meet.ContainerProfiles))
	require.Zero(t, count(meet.ContainerRemoved))
	for n := range 100 {
		for _, ending := range []string{".jpg", "_320.jpg"} {
			got, err := w.Blobs.Get(ctx, meet.ContainerProfiles, users[n%2]+"/"+image(n)+ending)
			require.NoError(t, err)
			require.Equal(t, image(n)+ending, string(got.Body))
		}
	}

	row(table.Delete, 0)
	row(table.Delete, 1)
	w.Clock.Pass(25 * time.Hour)
	require.NoError(t, job.Run(ctx))
	require.Equal(t, []int{196, 4}, []int{count(meet.ContainerProfiles), count(meet.ContainerRemoved)})
	w.Clock.Pass(7*24*time.Hour - time.Minute)
	require.NoError(t, job.Run(ctx))
	require.Equal(t, 4, count(meet.ContainerRemoved))
	w.Clock.Pass(2 * time.Minute)
	require.NoError(t, job.Run(ctx))
	require.Equal(t, []int{196, 0}, []int{count(meet.ContainerProfiles), count(meet.ContainerRemoved)})
}

// during is a store of files in which something happens while a file is put.
type during struct {
	blob.Store
	put func(container string)
}

func (d during) Put(ctx context.Context, container, name string, body []byte) error {
	d.put(container)
	return d.Store.Put(ctx, container, name, body)
}

// TestDeletedWhileTakenOut: files that a member deletes are gone at once, also if a sweep has taken
// them out, takes them out at that moment, or puts them back.
func TestDeletedWhileTakenOut(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	const user, image = "00000000-0000-0000-0000-00000000000a", "00000000-0000-0000-0000-00000000000b"
	name := user + "/" + image + ".jpg"
	row := table.Row{Key: table.Key{Partition: user, Row: image}, ETag: table.Any}
	for what, moved := range map[string]struct {
		inserted bool   // the row is there when the sweep begins, and the file lies in removed
		to       string // where the file is put when the member deletes the picture; "" for afterwards
		late     bool   // the copy in removed goes after the sweep
	}{
		"taken out before":    {false, "", false},
		"taken out then":      {false, meet.ContainerRemoved, false},
		"put back before":     {true, "", false},
		"put back then":       {true, meet.ContainerProfiles, false},
		"put back in between": {true, meet.ContainerProfiles, true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			w := meettest.New(t)
			drop := func() {
				if moved.inserted {
					require.NoError(t, w.Service.Write(ctx, "UserImages", []table.Op{{Kind: table.Delete, Row: row}}))
				}
				if !moved.late {
					w.DropFiles(ctx, meet.ContainerProfiles, []string{name})
				}
			}
			at := func(container string) string {
				if container == meet.ContainerRemoved {
					return meet.ContainerProfiles + "/" + name
				}
				return name
			}
			begin := meet.ContainerProfiles
			if moved.inserted {
				begin = meet.ContainerRemoved
				require.NoError(t, w.Service.Write(ctx, "UserImages",
					[]table.Op{{Kind: table.Insert, Row: table.Row{Key: row.Key}}}))
			}
			require.NoError(t, w.Blobs.Put(ctx, begin, at(begin), []byte("x")))
			w.Clock.Pass(2 * time.Hour)
			files, dropped := w.Blobs, false
			w.Service.Blobs = during{files, func(container string) {
				if container == moved.to && !dropped {
					dropped = true
					drop()
				}
			}}
			require.NoError(t, tidy.Job{Service: w.Service}.Run(ctx))
			require.Equal(t, moved.to != "", dropped)
			if moved.to == "" {
				drop()
			}
			if moved.late {
				require.NoError(t, files.Delete(ctx, meet.ContainerRemoved, at(meet.ContainerRemoved)))
			}
			for _, container := range []string{meet.ContainerProfiles, meet.ContainerRemoved} {
				page, err := files.List(ctx, container, "", 10, "")
				require.NoError(t, err)
				require.Empty(t, page.Items, container)
			}
		})
	}
}
