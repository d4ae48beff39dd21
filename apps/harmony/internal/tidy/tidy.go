// Package tidy removes the remains of accidents and of time: files of pictures without a row, keys
// of messages that were sent days ago, rows of decks that their members have left. Nothing that a
// member sees depends on it.
//
// Files are taken out a few at a time, lie in a container of their own for a week, and come back if
// a row names them: rows that are missing for a while must not take the pictures with them.
//
// A timer runs it. A run walks each kind a slice at a time, keeps its place in the table State, and
// ends early enough; the next one goes on there, and begins anew at the end.
package tidy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/deck"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/host/function"
	"prompthub/internal/storage/belong"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Name is the timer's and its function's.
const Name = "tidy"

const (
	runsFor = 2 * time.Minute // the walks of a run have it together, and begin no slice after it
	slice   = 200             // things of a slice

	// filesAfter is how old a file without a row must be: a row follows its files within seconds.
	filesAfter = time.Hour
)

// What a run takes out of a container is bounded: many files without rows mean that the rows are
// missing, and not that the files are of no use.
const (
	fewFiles   = 20  // that a run may take out, or
	shareFiles = 100 // one in this many of the files that it has seen
	restFor    = 24 * time.Hour
	keepFor    = 7 * 24 * time.Hour
)

// A Job tidies the store of a service. Walks and Containers are those of other rooms.
type Job struct {
	*meet.Service
	Walks      []Walk
	Containers []Container
}

// Trigger returns the timer.
func (j Job) Trigger() function.Trigger {
	return function.Trigger{
		Name: Name, Schedule: "0 */10 * * * *",
		Run: func(ctx context.Context, _ function.Invocation) error { return j.Run(ctx) },
	}
}

// A Walk goes through the things of one kind. Step tidies up to limit of them from a place on, ""
// for the beginning, and returns where the next step begins, "" at the end.
type Walk struct {
	Name  string
	Every time.Duration // how long after its end a walk begins anew
	Step  func(ctx context.Context, place string, limit int) (next string, err error)
}

func (j Job) walks() []Walk {
	decks := deck.Index{Store: j.Store, Table: j.Tables.Deck}
	rooms := chat.Rooms{Store: j.Store, Messages: j.Tables.Messages}
	containers := append([]Container{{meet.ContainerProfiles, j.named}}, j.Containers...)
	all := []Walk{j.removed(containers)} // first: the later walks do not miss the files that come back
	for _, c := range containers {
		all = append(all, j.files(c))
	}
	return append(append(all, Walk{"decks", 0, decks.Sweep}, Walk{"keys", 0, rooms.Sweep}), j.Walks...)
}

// Run tidies for a while. One kind that fails does not stop the others.
func (j Job) Run(ctx context.Context) error {
	var failures rowstore.Failures
	walks := j.walks()
	for _, w := range walks { // each has its share, so that a long one does not keep others from their work
		failures.Record(j.walk(ctx, w, j.Now().Add(runsFor/time.Duration(len(walks)))))
	}
	return failures.Join()
}

// walk goes on where the last run has stopped, up to the end.
func (j Job) walk(ctx context.Context, w Walk, until time.Time) error {
	key := table.Key{Partition: Name, Row: w.Name}
	row, err := j.GetRow(ctx, j.Tables.State, key)
	if err != nil {
		return err
	}
	place := ""
	if row != nil {
		if j.Now().Before(row.Props.Get("RestsUntil").Time()) {
			return nil
		}
		place = row.Props.Get("Place").Str()
		if place == "" && j.Now().Sub(row.Props.Get("UpdatedAt").Time()) < w.Every {
			return nil
		}
	}
	for ended := false; !ended && j.Now().Before(until); {
		next, failed := w.Step(ctx, place, slice)
		if failed != nil {
			next = "" // a place that the storage does not know any more must not stop all runs
		}
		kept := table.Row{Key: key, Props: table.Props{
			{Name: "Place", Value: table.String(next)},
			{Name: "UpdatedAt", Value: table.Time(j.Now())},
		}}
		tooMany := (*tooManyError)(nil)
		if errors.As(failed, &tooMany) {
			kept.Props = append(kept.Props, table.Prop{Name: "RestsUntil", Value: table.Time(j.Now().Add(restFor))})
		}
		err := j.Write(ctx, j.Tables.State, []table.Op{{Kind: table.Upsert, Row: kept}})
		if err == nil && tooMany != nil {
			return tooMany
		}
		if err := errors.Join(failed, err); err != nil {
			return rowstore.Unavailable(err)
		}
		place, ended = next, next == ""
	}
	return nil
}

// A Container has files that rows name. Named reports whether a row names one.
type Container struct {
	Name  string
	Named func(ctx context.Context, file string) (bool, error)
}

// files returns the walk that takes files out of a container that no row names, once no row of
// theirs can land. They lie in meet.ContainerRemoved for a week.
func (j Job) files(c Container) Walk {
	seen, taken := 0, 0 // in this run
	return Walk{Name: "files " + c.Name, Step: func(ctx context.Context, place string, limit int) (string, error) {
		page, err := j.Blobs.List(ctx, c.Name, "", limit, place)
		if err != nil {
			return "", err
		}
		seen += len(page.Items)
		without := make([]bool, len(page.Items))
		err = rowstore.Each(ctx, len(page.Items), rowstore.MaxParallel, func(ctx context.Context, i int) error {
			item := page.Items[i]
			if item.Name == belong.Mark || j.Now().Sub(item.Stored) < filesAfter {
				return nil
			}
			is, err := c.Named(ctx, item.Name)
			without[i] = !is
			return err
		})
		if err != nil {
			return "", err
		}
		for i, item := range page.Items {
			if !without[i] {
				continue
			}
			if taken >= max(fewFiles, seen/shareFiles) {
				return "", &tooManyError{c.Name, taken}
			}
			if err := j.move(ctx, blobAt{c.Name, item.Name},
				blobAt{meet.ContainerRemoved, c.Name + "/" + item.Name}); err != nil {
				return "", err
			}
			taken++
		}
		return page.Next, nil
	}}
}

// A tooManyError ends a walk that has taken out as many files as it may, and found more.
type tooManyError struct {
	container string
	taken     int
}

func (e *tooManyError) Error() string {
	return fmt.Sprintf("no row names %d files in %s and more, which is more than a sweep may take out: are the rows those of these files? They lie in %s for a week, and come back if a row names them; the next sweep begins in a day",
		e.taken, e.container, meet.ContainerRemoved)
}

type blobAt struct{ container, name string }

// move moves a file. It may be stopped at any point, and done again.
func (j Job) move(ctx context.Context, from, to blobAt) error {
	got, err := j.Blobs.Get(ctx, from.container, from.name)
	if errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := j.PutFile(ctx, to.container, to.name, got.Body); err != nil {
		return err
	}
	_, err = j.Blobs.Get(ctx, from.container, from.name)
	if errors.Is(err, blob.ErrNotFound) { // its owner has deleted it meanwhile, and it must be gone at once
		return j.Blobs.Delete(ctx, to.container, to.name)
	}
	if err != nil {
		return err
	}
	return j.Blobs.Delete(ctx, from.container, from.name)
}

// removed returns the walk through the files that were taken out: those that a row names are put
// back, and those that have lain for a week go for good.
func (j Job) removed(all []Container) Walk {
	return Walk{
		Name: "files " + meet.ContainerRemoved,
		Step: func(ctx context.Context, place string, limit int) (string, error) {
			page, err := j.Blobs.List(ctx, meet.ContainerRemoved, "", limit, place)
			if err != nil {
				return "", err
			}
			for _, item := range page.Items {
				container, name, _ := strings.Cut(item.Name, "/")
				at := slices.IndexFunc(all, func(c Container) bool { return c.Name == container })
				if at < 0 {
					continue // it is of another program
				}
				is, err := all[at].Named(ctx, name)
				switch {
				case err != nil:
				case is:
					if err = j.move(ctx, blobAt{meet.ContainerRemoved, item.Name},
						blobAt{container, name}); err != nil {
						return "", err
					}
					if is, err = all[at].Named(ctx, name); err == nil && !is { // it was deleted meanwhile
						err = j.Blobs.Delete(ctx, container, name)
					}
				case j.Now().Sub(item.Stored) >= keepFor:
					err = j.Blobs.Delete(ctx, meet.ContainerRemoved, item.Name)
				}
				if err != nil {
					return "", err
				}
			}
			return page.Next, nil
		},
	}
}

// named reports whether a member has the picture of a file.
func (j Job) named(ctx context.Context, name string) (bool, error) {
	user, file, _ := strings.Cut(name, "/")
	image, _ := account.CutImage(file)
	if image == "" {
		return false, nil
	}
	row, err := j.GetRow(ctx, j.Tables.UserImages, table.Key{Partition: user, Row: image})
	return row != nil, err
}
