// Package verify compares rows with one another: lists, counts and files with the truths that they
// follow. The command names each row that is not as it must be, and changes nothing. The timer of
// package tidy walks the same checks and mends those rows for which the truth says how.
package verify

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/tidy"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const slice = 200 // rows of a slice

// settles is how long rows may differ while a change is under way, or its message waits.
const settles = 2 * time.Minute

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
		all = append(all, tidy.Walk{Name: c.Name, Every: 24 * time.Hour, Step: func(ctx context.Context, place string, limit int) (string, error) {
			page, found, err := s.look(ctx, c, place, limit)
			var failures rowstore.Failures
			failures.Record(err)
			for _, f := range found {
				if f.Mend == nil {
					s.Log.WarnContext(ctx, "a row is not as the truth says, and a person must decide: run verify", slog.String("table", f.Table), slog.String("says", f.Says))
				} else if !failures.Record(f.Mend(ctx)) {
					break
				}
			}
			return page, failures.Join()
		}})
	}
	return all
}

// look makes a check of a slice of rows, and returns the place where the next slice begins.
func (s Store) look(ctx context.Context, c meet.Check, place string, limit int) (next string, found []meet.Finding, err error) {
	page, err := s.DB.List(ctx, c.Table, c.Range, limit, place)
	if err != nil {
		return "", nil, rowstore.Unavailable(err)
	}
	each := make([][]meet.Finding, len(page.Rows))
	err = rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
		each[i], err = c.Look(ctx, page.Rows[i])
		return err
	})
	for _, some := range each {
		found = append(found, some...)
	}
	return page.Next, found, err
}

// Verify calls tell for each row that is not as it must be. A row that differs is looked at again
// once all changes of then have settled, unless nothing else works on the store. It returns how
// many rows it has compared.
func (s Store) Verify(ctx context.Context, alone bool, tell func(meet.Finding)) (rows int, err error) {
	type suspect struct {
		check meet.Check
		row   table.Row
	}
	var again []suspect
	for _, c := range s.all() {
		for next, more := "", true; more; more = next != "" {
			page, err := s.DB.List(ctx, c.Table, c.Range, slice, next)
			if err != nil {
				return rows, fmt.Errorf("read %s: %w", c.Table, err)
			}
			rows += len(page.Rows)
			each := make([][]meet.Finding, len(page.Rows))
			err = rowstore.Each(ctx, len(page.Rows), rowstore.MaxParallel, func(ctx context.Context, i int) (err error) {
				each[i], err = c.Look(ctx, page.Rows[i])
				return err
			})
			if err != nil {
				return rows, err
			}
			for i, some := range each {
				if len(some) > 0 && !alone {
					again = append(again, suspect{c, page.Rows[i]})
					continue
				}
				for _, f := range some {
					tell(f)
				}
			}
			next = page.Next
		}
	}
	if len(again) == 0 {
		return rows, nil
	}
	if err := s.Sleep(ctx, settles); err != nil {
		return rows, err
	}
	for _, one := range again {
		row, err := s.DB.Get(ctx, one.check.Table, one.row.Key)
		if errors.Is(err, table.ErrNotFound) {
			continue
		}
		if err != nil {
			return rows, err
		}
		found, err := one.check.Look(ctx, row)
		if err != nil {
			return rows, err
		}
		for _, f := range found {
			tell(f)
		}
	}
	return rows, nil
}
