package client

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// A Following says how the prompts of another service are brought over.
type Following struct {
	DryRun bool // says what would be done, and does nothing
	Public bool // prompts that are made may be seen by everybody
}

// A Followed is what became of a prompt of another service.
type Followed struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"`    // prompt or skill
	Outcome string `json:"outcome"` // made, extended, unchanged, differs or refused
	// how many the other service has; 0 where they were not read
	Versions int      `json:"versions"`
	Reason   string   `json:"reason,omitempty"`
	Lost     []string `json:"lost,omitempty"`
	// parts that were written otherwise, as the library holds them
	Warnings []string `json:"warnings,omitempty"`
}

// The outcomes for prompts of another service.
const (
	Made     = "made"
	Extended = "extended" // has more versions, or labels on others
	Same     = "unchanged"
	Differs  = "differs" // there is another history of that name, which stays
	Refused  = "refused"
)

// Bare reports whether all that the other service says of the prompt is here now.
func (f Followed) Bare() bool {
	return f.Outcome != Differs && f.Outcome != Refused && len(f.Lost) == 0
}

// otherHistory is the code of a prompt whose name one of another past has.
const otherHistory = "OTHER_HISTORY"

// Follow brings over the prompts of a list, and tells of each. A name that another would take for
// its slug comes first. Prompts that include what is not here yet come again while others are made,
// and are told of last.
func (c *Client) Follow(ctx context.Context, from *Langfuse, list []Listed, o Following, tell func(Followed)) error {
	isSlug := func(i Listed) bool { return prompt.Slug(i.Name) == i.Name }
	list = slices.Concat(slices.DeleteFunc(slices.Clone(list), func(i Listed) bool { return !isSlug(i) }),
		slices.DeleteFunc(slices.Clone(list), isSlug))
	for {
		var early []Listed
		var refusals []Followed
		through := false
		err := c.follow(ctx, from, list, o, func(i Listed, f Followed, misses bool) {
			if misses {
				early, refusals = append(early, i), append(refusals, f)
				return
			}
			through = through || f.Outcome == Made || f.Outcome == Extended
			tell(f)
		})
		if err != nil || !through || len(early) == 0 {
			for _, f := range refusals {
				tell(f)
			}
			return err
		}
		list = early
	}
}

// follow reads several prompts at once and makes one after another, in the order of the list.
func (c *Client) follow(ctx context.Context, from *Langfuse, list []Listed, o Following,
	tell func(i Listed, f Followed, misses bool),
) error {
	ctx, cancel := context.WithCancel(ctx)
	type read struct {
		Listed
		history History
		err     error
	}
	order := make(chan chan read, thereAtOnce-1)
	defer func() {
		cancel()
		for result := range order {
			<-result
		}
	}()
	go func() {
		defer close(order)
		for _, i := range list {
			result := make(chan read, 1)
			select {
			case order <- result:
			case <-ctx.Done():
				return
			}
			go func() {
				h, err := from.Read(ctx, i)
				result <- read{i, h, err}
			}()
		}
	}()
	for result := range order {
		r := <-result
		f := Followed{
			Name: r.Name, Kind: r.Kind(), Outcome: Refused, Versions: len(r.history.Document.Versions),
			Lost: r.history.Lost,
		}
		var refused errThere
		if errors.As(r.err, &refused) {
			f.Reason = refused.Error()
			tell(r.Listed, f, false)
			continue
		}
		if r.err != nil {
			return r.err
		}
		e, err := c.followOne(ctx, r.history.Document, o)
		if err != nil {
			return err
		}
		for _, w := range e.Warnings {
			f.Warnings = append(f.Warnings, w.Text)
		}
		switch f.Reason, f.Lost = e.Reason, append(f.Lost, e.Loss...); {
		case e.Outcome == Created.String():
			f.Outcome = Made
		case e.Outcome == Updated.String():
			f.Outcome = Extended
		case e.Outcome == Unchanged.String():
			f.Outcome = Same
		case e.Code == otherHistory:
			f.Outcome = Differs
		}
		tell(r.Listed, f, e.Code == includeUnresolved)
	}
	return ctx.Err()
}

// A followedLine is the line of an account for a prompt that goes on in another service.
type followedLine struct {
	format.Document
	PublicFrom int64  `json:"publicFrom,omitempty"`
	From       string `json:"from"`
}

// followOne has the service take in the history of a prompt. What it refuses of one is no error.
func (c *Client) followOne(ctx context.Context, d format.Document, o Following) (Entry, error) {
	l := followedLine{Document: d, From: "langfuse"}
	if l.Visibility = string(prompt.Private); o.Public {
		l.Visibility, l.PublicFrom = string(prompt.Public), servedFrom(d.Versions)
	}
	line, err := encode(l)
	var all [][]piece
	if err == nil {
		all, err = pieces(append(line, '\n'))
	}
	if err != nil { // of this prompt alone
		return Entry{Outcome: Rejected.String(), Reason: strings.TrimPrefix(err.Error(), "line 1: ")}, nil
	}
	how := url.Values{}
	if o.DryRun {
		how.Set("dryRun", "true")
	}
	if c.workspace != "" {
		how.Set("workspace", c.workspace)
	}
	isNew := false
	if d.Versions[len(d.Versions)-1].Version > maxAtOnce { // the last of several answers would say that it was updated
		if isNew, err = c.lacks(ctx, d.Name); err != nil {
			return Entry{}, err
		}
	}
	e, err := c.importHistory(ctx, slices.Concat(all...), "&"+how.Encode())
	if isNew && e.Outcome == Updated.String() {
		e.Outcome = Created.String()
	}
	if refused(err, false) {
		return Entry{Outcome: Rejected.String(), Reason: err.Error()}, nil
	}
	return e, err
}

// maxAtOnce is the last number of versions that surely come with one request, which makes 50
// changes at most: two for each version that was deleted.
const maxAtOnce = 15

// lacks reports whether there is no prompt of a name.
func (c *Client) lacks(ctx context.Context, name string) (bool, error) {
	_, err := c.do(ctx, call{method: http.MethodGet, path: c.path(prompt.Ref{Name: name})}, nil)
	switch {
	case isStatus(err, http.StatusNotFound):
		return true, nil
	case refused(err, false): // as the import of it will be
		return false, nil
	}
	return false, err
}

// servedFrom returns the lowest version that programs get which ask for none or for the latest.
func servedFrom(versions []format.Version) int64 {
	from := versions[len(versions)-1].Version
	for _, v := range versions {
		if slices.Contains(v.Labels, prompt.Production) {
			from = min(from, v.Version)
		}
	}
	return from
}
