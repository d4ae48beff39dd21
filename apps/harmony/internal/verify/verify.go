// Package verify compares rows with one another: lists, counts and files with the truths that they
// follow. The command names each row that is not as it must be, and changes nothing. The timer of
// package tidy walks the same checks and mends those rows for which the truth says how.
package verify

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/internal/storage/rowstore"
)

const slice = 200 // rows of a slice

// A Store is a service whose rows are compared. Checks are those of other rooms.
type Store struct {
	*meet.Service
	Checks []meet.Check
}

// all returns every check.
func (s Store) all() []meet.Check { return append(s.members(), s.Checks...) }

// Walks are the checks as walks of tidy, which mend the rows that they find, once a day each.
func (s Store) Walks() (all []tidy.Walk) {
	for _, c := range s.all() {
		all = append(all, tidy.Walk{
			Name: c.Name, Every: 24 * time.Hour,
			Step: func(ctx context.Context, place string, limit int) (string, error) {
				page, found, _, err := s.look(ctx, c, place, limit)
				var failures rowstore.Failures
				failures.Record(err)
				for _, f := range found {
					if f.Mend == nil {
						s.Log.WarnContext(ctx, "a row is not as the truth says, and a person must decide: run verify",
							slog.String("table", f.Table), slog.String("says", f.Says))
					} else if !failures.Record(f.Mend(ctx)) {
						break
					}
				}
				return page, failures.Join()
			},
		})
	}
	return all
}

// look makes a check of a slice of rows, and returns the place where the next slice begins, and how
// many rows there were.
func (s Store) look(ctx context.Context, c meet.Check, place string,
	limit int,
) (next string, found []meet.Finding, rows int, err error) {
	page, err := s.DB.List(ctx, c.Table, c.Range, limit, place)
	if err != nil {
		return "", nil, 0, rowstore.Unavailable(err)
	}
	each := make([][]meet.Finding, len(page.Rows))
	err = rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		each[i], err = c.Look(ctx, page.Rows[i])
		return err
	})
	for _, some := range each {
		found = append(found, some...)
	}
	return page.Next, found, len(page.Rows), err
}

// Verify calls tell for each row that is not as it must be. It returns how many rows it has
// compared. While others work on the store, a row may differ for as long as their changes are under
// way.
func (s Store) Verify(ctx context.Context, tell func(meet.Finding)) (rows int, err error) {
	for _, c := range s.all() {
		for next, more := "", true; more; more = next != "" {
			page, found, n, err := s.look(ctx, c, next, slice)
			if err != nil {
				return rows, fmt.Errorf("compare %s: %w", c.Table, err)
			}
			for _, f := range found {
				tell(f)
			}
			next, rows = page, rows+n
		}
	}
	return rows, nil
}
