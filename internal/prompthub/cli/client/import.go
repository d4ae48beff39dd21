package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"unicode"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// An Outcome is what became of a row.
type Outcome int

// The outcomes.
const (
	Created   Outcome = iota // a new prompt
	Unchanged                // it is there, as it is in the file
	Updated                  // one that was there has this content now
	Rejected                 // it breaks a rule
)

// String returns the word for an outcome.
func (o Outcome) String() string {
	return [...]string{"created", "unchanged", "updated", "rejected"}[o]
}

// A Result is a row and what became of it.
type Result struct {
	Row     format.Row
	Outcome Outcome
	Err     error // why, where it was rejected
}

// A Maker makes a prompt of a row. An error with Rejected is about this row; any other is the end
// of the import.
type Maker func(context.Context, format.Row) (Outcome, error)

// Maker returns the one that asks the service, as the caller or, in dev mode, as the first
// contributor of each row.
func (c *Client) Maker(asContributor bool) Maker {
	return func(ctx context.Context, row format.Row) (Outcome, error) {
		user := c.user
		if asContributor {
			user = row.Contributor
		}
		if row.Name != "" && len(row.Versions) > 0 {
			outcome, err := c.Recreate(ctx, user, row.Document)
			if errors.Is(err, errOther) || refused(err, asContributor) {
				return Rejected, err
			}
			return outcome, err
		}
		isNew, err := c.Create(ctx, user, row.Document)
		switch {
		case isStatus(err, http.StatusConflict) && user == c.user:
			return c.taken(ctx, row, err)
		case refused(err, asContributor):
			return Rejected, err
		case isNew:
			return Created, err
		}
		return Unchanged, err
	}
}

// taken returns what becomes of a row whose name a prompt of the caller's has: nothing, where that
// is what the row says.
func (c *Client) taken(ctx context.Context, row format.Row, refusal error) (Outcome, error) {
	f, err := c.found(ctx, prompt.Ref{Name: row.Name})
	switch {
	case isStatus(err, http.StatusNotFound) || refused(err, false): // its prompt got another name meanwhile, say
		return Rejected, refusal
	case err != nil:
		return Unchanged, err
	}
	was, err := f.Document()
	if err == nil && row.Within(was) {
		return Unchanged, nil
	}
	return Rejected, refusal
}

// Updater returns a Maker that gives each row's prompt of the caller's, which is named as the row
// says, the content of the row: as a new version, or as a new prompt where there is none.
func (c *Client) Updater() Maker {
	return func(ctx context.Context, row format.Row) (Outcome, error) {
		row.Name = cmp.Or(row.Name, prompt.Slug(row.Title))
		if row.Name == "" {
			return Rejected, errNameless
		}
		if len(row.Versions) > 0 {
			switch outcome, err := c.Recreate(ctx, c.user, row.Document); {
			case refused(err, false):
				return Rejected, err
			case !errors.Is(err, errOther):
				return outcome, err
			}
		}
		saved, err := c.save(ctx, row.Document, true)
		if refused(err, false) {
			return Rejected, err
		}
		return saved.Outcome, err
	}
}

// errNameless is the trouble of a row that must be found again by a name.
var errNameless = errors.New("name: there is none, and none can be made of the title")

// refused reports whether err is the service's answer to this one row, so that others may
// fare better. Where each row has a user of its own, one that is no name of a user is.
func refused(err error, ownUser bool) bool {
	var p *Problem
	if !errors.As(err, &p) {
		return false
	}
	switch p.Status {
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return true
	case http.StatusUnauthorized:
		return ownUser
	}
	return false
}

// DryRun returns a Maker that holds rows against the rules and makes nothing.
func DryRun(rules prompt.Rules) Maker {
	return func(_ context.Context, row format.Row) (Outcome, error) {
		_, err := rules.Check(row.Draft())
		var broken *fault.Error
		if !errors.As(err, &broken) {
			return Created, err
		}
		refusal := &Problem{Status: http.StatusUnprocessableEntity, Title: broken.Text}
		for _, f := range broken.Fields {
			refusal.Errors = append(refusal.Errors, Rule{"body." + f.Name, f.Message, string(f.Code), f.Value})
		}
		return Rejected, refusal
	}
}

// errNobody is the trouble of a row that will be created as its contributor.
var errNobody = errors.New("contributor: names nobody")

// ByContributor marks the rows that cannot be created as their contributor.
func ByContributor(rows iter.Seq2[format.Row, error]) iter.Seq2[format.Row, error] {
	return func(yield func(format.Row, error) bool) {
		for row, err := range rows {
			if row.Err == nil && (row.Contributor == "" || strings.ContainsFunc(row.Contributor, unicode.IsControl)) {
				row.Err = errNobody
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// Prepared prepares rows as imports do; see format.Document.Prepared.
func Prepared(rows iter.Seq2[format.Row, error], catalog []string,
	visibility prompt.Visibility,
) iter.Seq2[format.Row, error] {
	return func(yield func(format.Row, error) bool) {
		for row, err := range rows {
			if row.Err == nil {
				row.Document = row.Document.Prepared(catalog, visibility)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// In gives rows texts whose placeholders are in a syntax; see format.Document.In. Their files stay
// as they are, and say so.
func In(rows iter.Seq2[format.Row, error], to format.Syntax) iter.Seq2[format.Row, error] {
	if to == "" {
		return rows
	}
	return func(yield func(format.Row, error) bool) {
		for row, err := range rows {
			if row.Err == nil {
				row.Document, row.Err = row.Taken(to)
			}
			if !yield(row, err) {
				return
			}
		}
	}
}

// round makes prompts of rows, several at once, and tells of each in the order of the file. It goes
// on past rows that are rejected and ends with the first other error.
func round(ctx context.Context, rows iter.Seq2[format.Row, error], do Maker, tell func(Result)) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	// Results to come, in the order of the file: one is waited for, the others wait here.
	order := make(chan chan Result, Parallel-1)
	var told sync.WaitGroup
	told.Go(func() {
		for result := range order {
			if r, ok := <-result; ok {
				tell(r)
			}
		}
	})
	for row, err := range rows {
		if err != nil {
			cancel(err)
		}
		if ctx.Err() != nil {
			break
		}
		result := make(chan Result, 1)
		order <- result
		go func() {
			defer close(result)
			r, err := one(ctx, row, do)
			if err != nil {
				cancel(fmt.Errorf("row %d: %w", row.Number, err))
				return
			}
			result <- r
		}()
	}
	close(order)
	told.Wait()
	return context.Cause(ctx)
}

// Import makes prompts of rows, several at once, and tells of each in the order of the file. It
// goes on past rows that are rejected and ends with the first other error. Those that include what
// is not there go again while others are made, and are told of last.
func Import(ctx context.Context, rows iter.Seq2[format.Row, error], do Maker, tell func(Result)) error {
	for {
		var early []Result
		through := false
		err := round(ctx, rows, do, func(r Result) {
			if MissesInclude(r.Err) {
				early = append(early, r)
				return
			}
			through = through || r.Outcome == Created || r.Outcome == Updated
			tell(r)
		})
		if err != nil || !through || len(early) == 0 {
			for _, r := range early {
				tell(r)
			}
			return err
		}
		rows = rowsOf(early)
	}
}

// rowsOf returns the rows of results.
func rowsOf(results []Result) iter.Seq2[format.Row, error] {
	return func(yield func(format.Row, error) bool) {
		for _, r := range results {
			if !yield(r.Row, nil) {
				return
			}
		}
	}
}

// one makes a prompt of one row. Its error is the end of the import.
func one(ctx context.Context, row format.Row, do Maker) (Result, error) {
	if row.Err != nil {
		return Result{row, Rejected, row.Err}, nil //nolint:nilerr // the result carries it
	}
	outcome, err := do(ctx, row)
	if outcome == Rejected {
		return Result{row, Rejected, err}, nil
	}
	return Result{row, outcome, nil}, err
}
