package truth

import (
	"context"
	"fmt"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Busy refuses a write that meets another one; the caller may try again after a time.
func Busy(after time.Duration) error {
	return &fault.Error{
		Kind: fault.Unavailable, RetryAfter: max(after.Round(time.Second), time.Second),
		Text: "another change of this prompt is being finished; try again",
	}
}

// Record reads a truth row for a caller who may write it, or only some of its properties; a missing
// one is nil.
func (db *Reader) Record(ctx context.Context, author prompt.UserID, id prompt.ID,
	only ...string,
) (*schema.Record, error) {
	rec, err := db.Read(ctx, author, id, only...)
	if err != nil || rec == nil || rec.RowsVersion <= schema.RowsVersion {
		return rec, err
	}
	return nil, &fault.Error{
		Kind: fault.Unavailable, Text: "a newer version of the application is at work on this prompt; try again",
		RetryAfter: rowstore.RetryAfter,
		Cause: fmt.Errorf("prompt %s %w: it has RowsVersion %d, this binary knows %d", id, schema.ErrNewer,
			rec.RowsVersion, schema.RowsVersion),
	}
}

// Read reads a truth row of any version, or only some of its properties; a missing one is nil.
func (db *Reader) Read(ctx context.Context, author prompt.UserID, id prompt.ID,
	only ...string,
) (*schema.Record, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	row, err := db.GetRow(ctx, db.T.Prompts, schema.PromptKey(author, id), only...)
	if err != nil || row == nil {
		return nil, err
	}
	rec, err := schema.ParseRecord(*row)
	if err != nil {
		return nil, err
	}
	return &rec, nil
}

// MaxAuthors is how many pairs each cache of this kind keeps in memory.
const MaxAuthors = 100_000

// A View is a prompt as one user sees it.
type View struct {
	prompt.Prompt
	Viewer  prompt.UserID // that sees it so: a user, or the workspace that one acts for; "" for a stranger
	Excerpt string        // how the text begins, in lists, where the text itself is absent
	Found   prompt.Where  // where a search in texts found it
	Snippet string        // around what it found in the text
	Lacks   []string      // words of the search that it has not, in no form
	MyVote  prompt.Vote
	// the version whose content the prompt shows here, if one version was asked for
	ShownVersion prompt.Version
	Labels       map[string]int64 // that the viewer may see, where they were asked for
	// with labels, of one's own: the open proposals by label
	Open   map[string]prompt.OpenProposal
	Latest int64 // where one version was asked for: the one that the prompt holds
	// with labels: whether that one was recalled
	LatestRecalled bool
	Production     int64 // in public lists: the version with that label if it is another one

	SummaryText, SummaryForOthers string // in lists, as rows have them; the latter where it is another one
}

// IsOwn reports whether the viewer owns the prompt.
func (v View) IsOwn() bool { return v.Viewer != "" && v.Viewer == v.AuthorID }

// A TallyAndVote is what voters say of a prompt, and the viewer among them.
type TallyAndVote struct {
	Tally prompt.Tally
	Mine  prompt.Vote
}

// TallyAndVote reads tally and vote, and says who the author is if the locator does.
func (db *Reader) TallyAndVote(ctx context.Context, viewer prompt.UserID,
	id prompt.ID,
) (o TallyAndVote, author prompt.UserID, err error) {
	if viewer == "" {
		rows, err := db.Header(ctx, id)
		return TallyAndVote{Tally: schema.SumTally(rows)}, AuthorIn(rows, id), err
	}
	b, err := db.VoteRows(ctx, viewer, id)
	if b.Locator != nil {
		author = schema.ParseLocator(*b.Locator).Author
	}
	return TallyAndVote{Tally: b.Tally, Mine: b.Value()}, author, err
}

// AuthorIn returns the author that the header rows of a prompt name, or none.
func AuthorIn(rows []table.Row, id prompt.ID) prompt.UserID {
	for _, row := range rows {
		if row.Key == schema.LocatorKey(id) {
			return schema.ParseLocator(row).Author
		}
	}
	return ""
}

// Of makes the view of the rows that were read, or answers that the viewer must not know of the
// prompt.
func (o TallyAndVote) Of(viewer prompt.UserID, db *Reader, rec *schema.Record, c *schema.LabelsRow) (View, error) {
	if rec == nil || rec.Purging {
		return View{}, prompt.ErrUnknown()
	}
	db.Authors.Add(rec.ID, rec.AuthorID)
	p := rec.Prompt
	if !schema.LocatorOf(p).VisibleTo(viewer) {
		return View{}, prompt.ErrUnknown()
	}
	p.Tally = o.Tally
	v := View{Prompt: p, Viewer: viewer, MyVote: o.Mine}
	if c != nil {
		v.Labels, v.LatestRecalled = ShownLabels(viewer, p, c), c.Recalled.Have(p.Version)
	}
	return v, nil
}
