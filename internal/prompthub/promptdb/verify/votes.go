package verify

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// PurgeVotes removes the votes of a prompt and reports whether it came to their end before a time.
func (db *Verifier) PurgeVotes(ctx context.Context, id prompt.ID, until time.Time) (done bool, err error) {
	r := table.Range{Partition: schema.LocatorKey(id).Partition, From: schema.VotePrefix}
	for {
		rows, _, err := db.Budget().Rows(ctx, db.T.Votes, r, table.MaxBatch)
		if err != nil {
			return false, err
		}
		if len(rows) == 0 {
			break
		}
		if err := db.purgePage(ctx, id, rows); err != nil || !db.Now().Before(until) {
			return false, err
		}
	}
	header, err := db.Header(ctx, id)
	if err != nil {
		return false, err
	}
	for _, row := range header {
		if err := db.RemoveKey(ctx, db.T.Votes, row.Key); err != nil {
			return false, err
		}
	}
	return true, nil
}

// purgePage removes some votes: first each voter's own row, so that it is found again. A vote that
// is gone already, by another run, makes the batch fail; the rest is listed again.
func (db *Verifier) purgePage(ctx context.Context, id prompt.ID, rows []table.Row) error {
	var g errgroup.Group
	g.SetLimit(rowstore.MaxParallel)
	ops := make([]table.Op, len(rows))
	for i, row := range rows {
		ops[i] = rowstore.Removal(row.Key)
		if voter, ok := schema.ParseVote(row.Row); ok {
			g.Go(func() error { return db.RemoveKey(ctx, db.T.VotesByVoter, schema.VoterKey(voter, id)) })
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if err := db.Write(ctx, db.T.Votes, ops); err != nil && !errors.Is(err, table.ErrNotFound) {
		return rowstore.Unavailable(fmt.Errorf("delete from %s: %w", db.T.Votes, err))
	}
	return nil
}

// A votesWalk compares votes with the tallies of their prompts and with the voters' own rows, page
// after page of the table of votes. A prompt may have more votes than a page, or than one run of
// anti-entropy gets through.
type votesWalk struct {
	db *Verifier
	at VotesAt
}

// VotesAt is how far a votesWalk has come inside one prompt. Anti-entropy keeps it between its
// runs.
type VotesAt struct {
	Partition string                 `json:"partition,omitempty"`
	ID        prompt.ID              `json:"id,omitempty"`
	Author    prompt.UserID          `json:"author,omitempty"`
	Skip      bool                   `json:"skip,omitempty"` // the prompt is not looked at
	Shares    [schema.Shards]shareAt `json:"shares"`
}

// A shareAt is a share of the tally as it was when the walk came to the prompt, before the votes,
// and what the votes of its voters add up to so far.
type shareAt struct {
	ETag  string       `json:"etag,omitempty"`
	Says  prompt.Tally `json:"says"`
	Votes prompt.Tally `json:"votes"`
}

// A votesOfPrompt is the rows of one prompt in a page.
type votesOfPrompt struct {
	rows  []table.Row
	at    VotesAt // before them
	found []Difference
	err   error
}

// page checks the rows of a page, which follow those of the page before. After the last page there
// are no rows.
func (w *votesWalk) page(ctx context.Context, rows []table.Row, last bool) ([]Difference, rowstore.Failures) {
	boxes := w.boxes(ctx, rows)
	var found []Difference
	var failed rowstore.Failures
	ended := func() {
		ds, err := w.end(ctx)
		found = append(found, ds...)
		failed.Record(err)
	}
	byVoter, errs := w.voters(ctx, boxes)
	failed = append(failed, errs...)
	for _, box := range boxes {
		if box.at.Partition != w.at.Partition {
			ended()
			w.at = box.at
		}
		found = append(found, box.found...)
		failed.Record(box.err)
		w.at.count(box.rows)
	}
	if last {
		ended()
	}
	return append(found, byVoter...), failed
}

// boxes parts a page by prompts and looks for these, many at once.
func (w *votesWalk) boxes(ctx context.Context, rows []table.Row) []votesOfPrompt {
	var boxes []votesOfPrompt
	for i, row := range rows {
		if i == 0 || row.Partition != rows[i-1].Partition {
			boxes = append(boxes, votesOfPrompt{at: VotesAt{Partition: row.Partition}})
		}
		box := &boxes[len(boxes)-1]
		box.rows = append(box.rows, row)
	}
	_ = rowstore.Each(ctx, len(boxes), checksAtOnce, func(ctx context.Context, i int) error {
		if boxes[i].at.Partition == w.at.Partition {
			boxes[i].at = w.at
		} else {
			w.db.open(ctx, &boxes[i])
		}
		return nil // each box has its error
	})
	return boxes
}

// open finds out whose votes these are, and whether they must be looked at.
func (db *Verifier) open(ctx context.Context, box *votesOfPrompt) {
	box.at.Skip = true
	partition := table.Key{Partition: box.at.Partition}
	id, ok := schema.ParsePrompt(partition.Partition)
	if !ok {
		box.found = []Difference{{Table: db.T.Votes, Key: box.rows[0].Key, What: "is no row that this version writes"}}
		return
	}
	box.at.ID, box.at.Author = id, truth.AuthorIn(box.rows, id)
	rec, ok, err := db.judge(ctx, box.at.Author, id)
	if err == nil && ok && rec == nil { // once more: it may have been made or purged meanwhile
		var left []table.Row
		if left, _, err = db.Budget().Rows(ctx, db.T.Votes, table.Range{Partition: partition.Partition},
			schema.Shards+1); err == nil && len(left) == 0 {
			return
		}
		box.at.Author = truth.AuthorIn(left, id)
		if err == nil {
			rec, ok, err = db.judge(ctx, box.at.Author, id)
		}
	}
	switch {
	case schema.Unreadable(err): // a finding itself
	case err != nil:
		box.err = err
	case ok && rec == nil:
		what := "votes on a prompt that does not exist"
		if box.at.Author == "" {
			what = "votes on a prompt that nothing leads to"
		}
		box.found = []Difference{{
			Table: db.T.Votes, Key: partition, What: what,
			author: box.at.Author, id: id, orphan: true,
		}}
	default:
		box.at.Skip = !ok || rec.Purging
	}
}

// voters compares the votes of a page with the voters' own rows, many at once.
func (w *votesWalk) voters(ctx context.Context, boxes []votesOfPrompt) ([]Difference, rowstore.Failures) {
	var rows []table.Row
	authors := map[string]prompt.UserID{}
	for _, box := range boxes {
		if authors[box.at.Partition] = box.at.Author; !box.at.Skip {
			rows = append(rows, box.rows...)
		}
	}
	return w.db.checkRows(ctx, w.db.T.Votes, rows, func(ctx context.Context, row table.Row) ([]Difference, error) {
		return w.db.checkVote(ctx, authors[row.Partition], row)
	})
}

// checkVote compares a vote with its voter's own row.
func (db *Verifier) checkVote(ctx context.Context, author prompt.UserID, row table.Row) ([]Difference, error) {
	id, _ := schema.ParsePrompt(row.Partition)
	voter, ok := schema.ParseVote(row.Row)
	if !ok {
		return nil, nil
	}
	var ds []Difference
	v := schema.VoteIn(row)
	if schema.UserIn(row.Props, "VoterId") != voter || row.Props.Get("PromptId").Str() != string(id) ||
		v < prompt.Dislike || v > prompt.Like {
		// a person must tell
		ds = append(ds, Difference{Table: db.T.Votes, Key: row.Key, What: "contradicts its key, or is no vote"})
	}
	index, err := db.GetRow(ctx, db.T.VotesByVoter, schema.VoterKey(voter, id))
	if err != nil {
		return nil, err
	}
	if _, stale := commit.FollowOp(commit.Message{Author: author, Prompt: id, Voter: voter}, index, &row); stale {
		what := fmt.Sprintf("does not say %s, as the vote does", v)
		ds = append(ds, Difference{
			Table: db.T.VotesByVoter, Key: schema.VoterKey(voter, id), What: what,
			author: author, id: id, voter: voter, job: voteJob,
		})
	}
	return ds, nil
}

// count adds up rows of the prompt. Shares of the tally sort before the votes.
func (at *VotesAt) count(rows []table.Row) {
	if at.Skip {
		return
	}
	for _, row := range rows {
		if n, ok := schema.ParseTallyShard(row.Row); ok {
			at.Shares[n].ETag, at.Shares[n].Says = row.ETag, schema.SumTally([]table.Row{row})
		}
		if voter, ok := schema.ParseVote(row.Row); ok {
			share := &at.Shares[schema.Shard(voter)]
			share.Votes = share.Votes.Add(prompt.Cast{}, schema.CastOf(row))
		}
	}
}

// end compares the votes of the prompt that the walk comes from with its tally. A share that was
// written since the walk came to the prompt says nothing: some of its votes may have been seen
// before they changed. Every vote writes its share.
func (w *votesWalk) end(ctx context.Context) ([]Difference, error) {
	at := w.at
	w.at = VotesAt{}
	equal := true
	for _, s := range at.Shares {
		equal = equal && s.Says == s.Votes
	}
	if equal || at.Skip {
		return nil, nil
	}
	rows, err := w.db.Header(ctx, at.ID)
	if schema.Unreadable(err) { // a finding itself
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var now [schema.Shards]string
	for _, row := range rows {
		if n, ok := schema.ParseTallyShard(row.Row); ok {
			now[n] = row.ETag
		}
	}
	var ds []Difference
	for n, s := range at.Shares {
		if s.Says != s.Votes && s.ETag == now[n] {
			d := Difference{Table: w.db.T.Votes, Key: schema.TallyKey(at.ID, n), author: at.Author, id: at.ID}
			if s.Says.Unweighed() == s.Votes.Unweighed() {
				d.What = "has another weight than its votes by their times"
			} else {
				d.What = fmt.Sprintf("counts %d and %d, the votes are %d and %d", s.Says.Likes, s.Says.Dislikes,
					s.Votes.Likes, s.Votes.Dislikes)
			}
			ds = append(ds, d)
		}
	}
	return ds, nil
}
