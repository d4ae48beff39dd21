package promptdb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	rows "prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// TestExploreReviews interleaves members of a workspace who save, propose, approve, move back,
// delete and rename. At rest no label with a rule ever stood on what was not approved as it is, and
// each change that was kept has its event, once.
func TestExploreReviews(t *testing.T) { exploreAll(t, 400, false, (*explorer).beginReviewed) }

// reviewed is the prompt of a workspace whose label production asks for an approval.
type reviewed struct {
	*explorer
	id prompt.ID
}

var (
	annAuthors    = prompt.Actor{Key: "a_ann"}
	bobAuthors    = prompt.Actor{Key: "a_bob"}
	catPublishes  = prompt.Actor{Key: "a_cat", Publishes: true}
	danPublishes  = prompt.Actor{Key: "a_dan", Publishes: true}
	oneApproval   = prompt.LabelRules{{Label: prompt.Production, Names: "*", Approvals: 1}}
	anybodyCounts = func(context.Context) (promptdb.Reviewers, error) {
		return promptdb.Reviewers{Rules: oneApproval, May: func(prompt.Review) bool { return true }}, nil
	}
)

// ruled makes the workspace with its rule, and a prompt of three versions in it.
func ruled(r *ring, p *prompt.Prompt) {
	ctx := context.Background()
	require.NoError(r.t, makeWorkspace(ctx, r.truth, r, prompt.Prompt{}))
	_, err := r.truth.EditWorkspace(ctx, shelf, "a_cat", func(w *prompt.Workspace) error {
		w.Rules, w.RulesAt = oneApproval, r.Now()
		return nil
	})
	require.NoError(r.t, err)
	id, err := prompt.NewID(r.Now(), zeros{})
	require.NoError(r.t, err)
	d := draft("Ruled")
	d.Visibility, d.By = prompt.Private, annAuthors
	made, _, err := r.truth.Add(ctx, prompt.Prompt{
		ID: id, AuthorID: shelf, AuthorName: "Billing", Draft: d, CreatedAt: id.Time(),
		UpdatedAt: id.Time(), Revision: 1,
	}, nil)
	require.NoError(r.t, err)
	for _, text := range []string{"two", "three"} {
		require.NoError(r.t, saveText(ctx, r.truth, made.ID, text, bobAuthors))
	}
	*p = made
}

// saveText makes a version by somebody, unless the prompt says so already.
func saveText(ctx context.Context, db *promptdb.DB, id prompt.ID, text string, by prompt.Actor) error {
	_, err := db.Change(ctx, shelf, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Text == text {
			return p, promptdb.ErrUnchanged
		}
		p.Text, p.By = text, by
		p.Revision++
		return p, nil
	})
	return err
}

func about(id prompt.ID, by prompt.Actor) promptdb.Proposing {
	return promptdb.Proposing{Owner: shelf, Prompt: id, By: by}
}

// refused leaves only an error that is none of the rules'.
func refused(err error) error {
	if slices.Contains([]fault.Kind{fault.Conflict, fault.Forbidden, fault.NotFound, fault.Invalid}, fault.Of(err)) {
		return nil
	}
	return err
}

func (e *explorer) beginReviewed() {
	var p prompt.Prompt
	ruled(e.ring, &p)
	require.NoError(e.t, e.drain())
	r := &reviewed{e, p.ID}
	pool := []func(int){
		r.save, r.save, r.propose, r.propose, r.proposeOther, r.approve, r.approve, r.approve, r.sneak,
		r.back, r.close, r.removeAndRestore,
		r.deleteOne, r.comment,
	}
	// one proposal is there, in most schedules with an approved one before it
	ctx := context.Background()
	if e.rnd.IntN(3) > 0 {
		require.NoError(e.t, proposeAndApprove(ctx, e.truth, p.ID, 2))
	}
	_, err := e.truth.Propose(ctx, about(p.ID, annAuthors), prompt.Production, 3, "")
	require.NoError(e.t, err)
	e.start(pool, 2+e.rnd.IntN(4))
	e.rests = append(e.rests, r.wrong)
}

func proposeAndApprove(ctx context.Context, db *promptdb.DB, id prompt.ID, n int64) error {
	p, err := db.Propose(ctx, about(id, annAuthors), prompt.Production, n, "")
	if err != nil {
		return err
	}
	_, err = db.Review(ctx, about(id, catPublishes), p.Number,
		prompt.Review{Verdict: prompt.Approve, Version: n, Digest: p.Digest}, anybodyCounts)
	return err
}

func (r *reviewed) do(name string, i int, do func(context.Context, *promptdb.DB, string) error) {
	name = fmt.Sprintf("%d %s", i, name)
	r.command(name, func(ctx context.Context, db *promptdb.DB) error { return refused(do(ctx, db, name)) }, nil)
}

func (r *reviewed) save(i int) {
	r.do("save", i, func(ctx context.Context, db *promptdb.DB, name string) error {
		return saveText(ctx, db, r.id, name, bobAuthors)
	})
}

func (r *reviewed) propose(i int) {
	r.do("propose", i, func(ctx context.Context, db *promptdb.DB, _ string) error {
		_, latest, err := db.Labels(ctx, shelf, r.id)
		if err == nil {
			_, err = db.Propose(ctx, about(r.id, annAuthors), prompt.Production, latest, "")
		}
		return err
	})
}

// open returns the proposal that is open, as somebody reads it.
func (r *reviewed) open(ctx context.Context, db *promptdb.DB) (prompt.Proposal, error) {
	list, _, err := db.Proposals(ctx, shelf, r.id, "", 9)
	for _, p := range list {
		if p.State == prompt.ProposalOpen {
			return p, err
		}
	}
	return prompt.Proposal{}, errors.Join(err, prompt.ErrNoProposal())
}

func (r *reviewed) proposeOther(i int) {
	r.do("propose another version", i, func(ctx context.Context, db *promptdb.DB, name string) error {
		if err := saveText(ctx, db, r.id, name, danPublishes); err != nil {
			return err
		}
		p, err := r.open(ctx, db)
		if err != nil {
			return err
		}
		_, latest, err := db.Labels(ctx, shelf, r.id)
		if err == nil {
			_, err = db.ProposeVersion(ctx, about(r.id, bobAuthors), p.Number, latest)
		}
		return err
	})
}

func (r *reviewed) approve(i int) {
	by := []prompt.Actor{catPublishes, danPublishes}[r.rnd.IntN(2)]
	r.do("approve", i, func(ctx context.Context, db *promptdb.DB, _ string) error {
		p, err := r.open(ctx, db)
		if err != nil {
			return err
		}
		_, err = db.Review(ctx, about(r.id, by), p.Number,
			prompt.Review{Verdict: prompt.Approve, Version: p.Version, Digest: p.Digest}, anybodyCounts)
		return err
	})
}

func (r *reviewed) comment(i int) {
	r.do("comment", i, func(ctx context.Context, db *promptdb.DB, _ string) error {
		p, err := r.open(ctx, db)
		if err == nil {
			_, err = db.Review(ctx, about(r.id, annAuthors), p.Number,
				prompt.Review{Verdict: prompt.Comment, Text: "so"}, anybodyCounts)
		}
		return err
	})
}

func (r *reviewed) close(i int) {
	r.do("close", i, func(ctx context.Context, db *promptdb.DB, _ string) error {
		p, err := r.open(ctx, db)
		if err == nil {
			_, err = db.CloseProposal(ctx, about(r.id, danPublishes), p.Number,
				func(prompt.Proposal) (prompt.ProposalState, error) { return prompt.Rejected, nil })
		}
		return err
	})
}

// sneak tries each way around the rule.
func (r *reviewed) sneak(i int) {
	r.do("sneak", i, func(ctx context.Context, db *promptdb.DB, name string) error {
		_, latest, err := db.Labels(ctx, shelf, r.id)
		if err != nil {
			return err
		}
		_, err = db.SetLabels(ctx, shelf, r.id, []string{prompt.Production}, latest, danPublishes, allow)
		if err := refused(err); err != nil {
			return err
		}
		_, err = db.Change(ctx, shelf, r.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.Text, p.By, p.Labels = name, danPublishes, []string{prompt.Production}
			return p, nil
		})
		if err := refused(err); err != nil {
			return err
		}
		_, err = db.UndoLabel(ctx, shelf, r.id, prompt.Production, danPublishes, "")
		return err
	})
}

func (r *reviewed) back(i int) {
	r.do("back", i, func(ctx context.Context, db *promptdb.DB, _ string) error {
		_, err := db.SetLabels(ctx, shelf, r.id, []string{prompt.Production}, 2, catPublishes, allow)
		return err
	})
}

func (r *reviewed) deleteOne(i int) {
	r.do("delete version", i, func(ctx context.Context, db *promptdb.DB, _ string) error {
		return db.DeleteVersion(ctx, shelf, r.id, 1+int64(i%3), catPublishes)
	})
}

func (r *reviewed) removeAndRestore(i int) {
	r.do("delete and restore", i, func(ctx context.Context, db *promptdb.DB, _ string) error {
		for _, deleted := range []bool{true, false} {
			if _, err := db.Change(ctx, shelf, r.id, func(p prompt.Prompt) (prompt.Prompt, error) {
				if p.Deleted() == deleted {
					return p, promptdb.ErrUnchanged
				}
				p.By, p.DeletedAt = catPublishes, time.Time{}
				if deleted {
					p.DeletedAt = r.Now()
				}
				return p, nil
			}); err != nil {
				return err
			}
		}
		return nil
	})
}

// keptRows are what is stored of the reviewed prompt.
type keptRows struct {
	rec       rows.Record
	labels    rows.LabelsRow
	events    []prompt.Event
	moves     []prompt.Move // the last first
	proposals []prompt.Proposal
	reviews   map[int64][]prompt.Review
	versions  map[int64]prompt.Version
}

func readKept(store table.DB, id prompt.ID) (k keptRows, err error) {
	k.reviews, k.versions = map[int64][]prompt.Review{}, map[int64]prompt.Version{}
	for row, err := range table.All(context.Background(), store, promptdb.DefaultTables().Prompts,
		table.Range{Partition: rows.UserPart(shelf)}) {
		if err != nil {
			return k, err
		}
		if _, e, ok := rows.ParseEvent(row); ok && e.Prompt == id {
			k.events = append(k.events, e)
		}
		if _, ok := rows.ParseMove(row.Row); ok {
			k.moves = append(k.moves, rows.ParseMoveRow(row))
		}
		if p, ok := rows.ParseProposal(row); ok {
			k.proposals = append(k.proposals, p)
		}
		if _, n, review, ok := rows.ParseReview(row); ok {
			k.reviews[n] = append(k.reviews[n], review)
		}
		if _, n, ok := rows.ParseVersion(row.Row); ok {
			k.versions[n] = rows.ParseVersionRow(row)
		}
		switch row.Key {
		case rows.LabelsKey(shelf, id):
			k.labels, err = rows.ParseLabelsRow(row)
		case rows.PromptKey(shelf, id):
			k.rec, err = rows.ParseRecord(row)
		}
		if err != nil {
			return k, err
		}
	}
	return k, nil
}

// wrong says which promise the rows of the prompt at rest break, "" for none.
func (r *reviewed) wrong() string {
	k, err := readKept(r.store, r.id)
	if err == nil {
		err = errors.Join(k.unapproved(), k.untold())
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// unapproved says which move of the label no approval allowed.
func (k keptRows) unapproved() error {
	for i, m := range k.moves {
		if m.Label != prompt.Production || m.To == 0 {
			continue
		}
		if m.Proposal == 0 {
			if !slices.ContainsFunc(k.moves[i+1:], func(before prompt.Move) bool {
				return before.Label == m.Label && before.To == m.To
			}) {
				return fmt.Errorf("production moved to %d by no proposal", m.To)
			}
			continue
		}
		at := slices.IndexFunc(k.proposals, func(p prompt.Proposal) bool { return p.Number == m.Proposal })
		if at < 0 || k.proposals[at].State != prompt.Merged || k.proposals[at].Version != m.To ||
			k.proposals[at].From != m.From {
			return fmt.Errorf("production moved from %d to %d by proposal %d, which is another one: %v", m.From,
				m.To, m.Proposal, k.proposals)
		}
		p := k.proposals[at]
		if v, ok := k.versions[p.Version]; ok && v.Digest() != p.Digest {
			return fmt.Errorf("proposal %d was merged for another digest", p.Number)
		}
		if len(p.Approvals(p.Rule, k.reviews[p.Number], func(prompt.Review) bool { return true })) == 0 {
			return fmt.Errorf("proposal %d of %v was merged without an approval: %v", p.Number,
				p.Authors, k.reviews[p.Number])
		}
		for n := p.Version; n > p.From; n-- {
			if v, ok := k.versions[n]; ok && !slices.Contains(p.Authors, v.By) {
				return fmt.Errorf("proposal %d does not name %s, who wrote version %d", p.Number, v.By, n)
			}
		}
	}
	return nil
}

// untold says which change has no event, or more than one.
func (k keptRows) untold() error {
	count := map[string]int{}
	for _, e := range k.events {
		if e.By == "" {
			return fmt.Errorf("nobody did %s", e.Type)
		}
		switch e.Type {
		case prompt.VersionCreated, prompt.PromptCreated:
			count[fmt.Sprintf("version %d made", e.Version)]++
		case prompt.VersionDeleted:
			count[fmt.Sprintf("version %d gone", e.Version)]++
		case prompt.LabelMoved:
			for _, l := range e.Labels {
				count[fmt.Sprintf("%s from %d to %d", l.Label, l.From, l.To)]++
			}
		case prompt.ProposalOpened, prompt.ProposalMerged, prompt.ProposalRejected, prompt.ProposalWithdrawn:
			count[fmt.Sprintf("proposal %d %s", e.Proposal, e.Type)]++
		case prompt.PromptDeleted:
			count["deleted"]++
		case prompt.PromptRestored:
			count["deleted"]--
		}
	}
	for n := int64(1); n <= k.rec.Last; n++ {
		count[fmt.Sprintf("version %d made", n)]--
		if k.labels.Gaps.Have(n) {
			count[fmt.Sprintf("version %d gone", n)]--
		}
	}
	for _, m := range k.moves {
		count[fmt.Sprintf("%s from %d to %d", m.Label, m.From, m.To)]--
		if !m.Undone.At.IsZero() {
			count[fmt.Sprintf("%s from %d to %d", m.Label, m.To, m.From)]--
		}
	}
	if n := int64(len(k.proposals)); n != k.labels.Proposals {
		return fmt.Errorf("there are %d proposals, and the last one is %d", n, k.labels.Proposals)
	}
	for _, p := range k.proposals {
		count[fmt.Sprintf("proposal %d %s", p.Number, prompt.ProposalOpened)]--
		switch p.State {
		case prompt.Merged:
			count[fmt.Sprintf("proposal %d %s", p.Number, prompt.ProposalMerged)]--
		case prompt.Rejected:
			count[fmt.Sprintf("proposal %d %s", p.Number, prompt.ProposalRejected)]--
		}
	}
	if k.rec.Deleted() {
		count["deleted"]--
	}
	for what, n := range count {
		if n != 0 {
			return fmt.Errorf("%s: %d events too many", what, n)
		}
	}
	return nil
}
