// Package tidy removes the remains of accidents and of time: files of pictures without a row, keys
// of messages that were sent days ago, rows of decks that their members have left. Nothing that a
// member sees depends on it.
//
// A timer runs it. A run walks each kind a slice at a time, keeps its place in the table State, and
// ends early enough; the next one goes on there, and begins anew at the end.
package tidy

import (
	"context"
	"errors"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/chat"
	"prompthub/apps/harmony/internal/deck"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/host/function"
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

// A Job tidies the store of a service. Walks are those of other rooms.
type Job struct {
	*meet.Service
	Walks []Walk
}

// Trigger returns the timer.
func (j Job) Trigger() function.Trigger {
	return function.Trigger{Name: Name, Schedule: "0 */10 * * * *", Run: func(ctx context.Context, _ function.Invocation) error { return j.Run(ctx) }}
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
	return append([]Walk{Files(j.Service, meet.ContainerProfiles, j.named), {"decks", 0, decks.Sweep}, {"keys", 0, rooms.Sweep}}, j.Walks...)
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
		kept := table.Row{Key: key, Props: table.Props{{Name: "Place", Value: table.String(next)}, {Name: "UpdatedAt", Value: table.Time(j.Now())}}}
		if err := errors.Join(failed, j.Write(ctx, j.Tables.State, []table.Op{{Kind: table.Upsert, Row: kept}})); err != nil {
			return rowstore.Unavailable(err)
		}
		place, ended = next, next == ""
	}
	return nil
}

// Files returns the walk that removes files of a container that no row names, once no row of theirs
// can land.
func Files(s *meet.Service, container string, named func(ctx context.Context, file string) (bool, error)) Walk {
	return Walk{Name: "files " + container, Step: func(ctx context.Context, place string, limit int) (string, error) {
		page, err := s.Blobs.List(ctx, container, "", limit, place)
		if err != nil {
			return "", err
		}
		err = rowstore.Each(ctx, len(page.Items), rowstore.MaxParallel, func(ctx context.Context, i int) error {
			item := page.Items[i]
			if s.Now().Sub(item.Stored) < filesAfter {
				return nil
			}
			if is, err := named(ctx, item.Name); err != nil || is {
				return err
			}
			return s.Blobs.Delete(ctx, container, item.Name)
		})
		return page.Next, err
	}}
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
