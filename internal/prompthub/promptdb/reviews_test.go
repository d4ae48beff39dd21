package promptdb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// The commands of proposals in the crash table.

func openProposal(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	_, err := db.Propose(ctx, about(p.ID, annAuthors), prompt.Production, 2, "why")
	if fault.CodeOf(err) == prompt.ProposalIsOpen { // the same request again
		return nil
	}
	return err
}

func proposalIs(state prompt.ProposalState) func(*testing.T, *ring, prompt.Prompt, bool) {
	return func(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
		k, err := readKept(r.store, p.ID)
		require.NoError(t, err)
		require.NoError(t, errors.Join(k.unapproved(), k.untold()))
		if ok {
			require.Len(t, k.proposals, 1)
			require.Equal(t, state, k.proposals[0].State)
		}
	}
}

func withProposal(r *ring, p *prompt.Prompt) {
	ruled(r, p)
	require.NoError(r.t, openProposal(context.Background(), r.truth, r, *p))
}

func approve(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	one, err := db.Proposal(ctx, shelf, p.ID, 1)
	if err == nil {
		_, err = db.Review(ctx, about(p.ID, catPublishes), 1,
			prompt.Review{Verdict: prompt.Approve, Version: 2, Digest: one.Digest}, anybodyCounts)
	}
	if fault.CodeOf(err) == prompt.ProposalClosed {
		return nil
	}
	return err
}

func reject(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	_, err := db.CloseProposal(ctx, about(p.ID, catPublishes), 1, func(prompt.Proposal) (prompt.ProposalState, error) {
		return prompt.Rejected, nil
	})
	if fault.CodeOf(err) == prompt.ProposalClosed {
		return nil
	}
	return err
}

func removeProposed(ctx context.Context, db *promptdb.DB, r *ring, p prompt.Prompt) error {
	return removeRuled(ctx, db, p.ID, r.Now())
}

func removeRuled(ctx context.Context, db *promptdb.DB, id prompt.ID, at time.Time) error {
	_, err := db.Change(ctx, shelf, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Deleted() {
			return p, promptdb.ErrUnchanged
		}
		p.DeletedAt, p.By = at, catPublishes
		return p, nil
	})
	return err
}

func saveRuled(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	return saveText(ctx, db, p.ID, "four", bobAuthors)
}

// hasEvents checks that each change of the prompt has its event.
func hasEvents(t *testing.T, r *ring, p prompt.Prompt, _ bool) {
	k, err := readKept(r.store, p.ID)
	require.NoError(t, err)
	require.NoError(t, errors.Join(k.unapproved(), k.untold()))
}

// aRuled makes the workspace and its prompt in a world.
func (w *world) aRuled() prompt.Prompt {
	w.t.Helper()
	_, err := w.AddWorkspace(w.t.Context(), "ann", aShelf())
	require.NoError(w.t, err)
	w.rules(prompt.LabelRule{Label: prompt.Production, Names: "*", Approvals: 1})
	d := draft("Ruled")
	d.Visibility, d.By = prompt.Private, annAuthors
	p := w.add(shelf, d)
	for _, text := range []string{"two", "three"} {
		require.NoError(w.t, saveText(w.t.Context(), w.DB, p.ID, text, bobAuthors))
	}
	return p
}

func (w *world) rules(rules ...prompt.LabelRule) {
	w.t.Helper()
	_, err := w.EditWorkspace(w.t.Context(), shelf, "a_cat", func(ws *prompt.Workspace) error {
		ws.Rules, ws.RulesAt = rules, w.clock.Now().Truncate(time.Millisecond)
		return nil
	})
	require.NoError(w.t, err)
}

// TestNoWayAroundARule tries every command that moves a label, by the one with most rights.
func TestNoWayAroundARule(t *testing.T) {
	t.Parallel()
	move := func(p *prompt.Prompt, to string) {
		p.By, p.Revision = catPublishes, p.Revision+1
		if to != "" {
			p.Name = to
		}
	}
	edit := func(w *world, id prompt.ID, change func(*prompt.Prompt)) error {
		_, err := w.Change(t.Context(), shelf, id, func(p prompt.Prompt) (prompt.Prompt, error) {
			change(&p)
			return p, nil
		})
		return err
	}
	for name, try := range map[string]func(w *world, id prompt.ID) error{
		"moved": func(w *world, id prompt.ID) error {
			_, err := w.SetLabels(t.Context(), shelf, id, []string{"staging", prompt.Production}, 3,
				catPublishes, allow)
			return err
		},
		"saved with it": func(w *world, id prompt.ID) error {
			return edit(w, id, func(p *prompt.Prompt) {
				move(p, "")
				p.Text, p.Labels = "four", []string{prompt.Production}
			})
		},
		"created with it": func(w *world, _ prompt.ID) error {
			d := draft("Another")
			d.Visibility, d.By, d.Labels = prompt.Private, catPublishes, []string{prompt.Production}
			_, _, err := w.Add(t.Context(), w.made(shelf, d), nil)
			return err
		},
		"renamed into the rule": func(w *world, id prompt.ID) error {
			w.rules(prompt.LabelRule{Label: prompt.Production, Names: "billing/*", Approvals: 1})
			require.NoError(t, edit(w, id, func(p *prompt.Prompt) { move(p, "free") }))
			_, err := w.SetLabels(t.Context(), shelf, id, []string{prompt.Production}, 3, catPublishes, allow)
			require.NoError(t, err)
			return edit(w, id, func(p *prompt.Prompt) { move(p, "billing/greeting") })
		},
		"back to where it was under another name": func(w *world, id prompt.ID) error {
			w.rules(prompt.LabelRule{Label: prompt.Production, Names: "billing/*", Approvals: 1})
			require.NoError(t, edit(w, id, func(p *prompt.Prompt) { move(p, "free") }))
			for _, n := range []int64{3, 0} {
				_, err := w.SetLabels(t.Context(), shelf, id, []string{prompt.Production}, n, catPublishes, allow)
				require.NoError(t, err)
			}
			w.clock.Advance(time.Second)
			require.NoError(t, edit(w, id, func(p *prompt.Prompt) { move(p, "billing/greeting") }))
			_, err := w.SetLabels(t.Context(), shelf, id, []string{prompt.Production}, 3, catPublishes, allow)
			return err
		},
		"undone to it": func(w *world, id prompt.ID) error {
			w.rules(prompt.LabelRule{Label: prompt.Production, Names: "billing/*", Approvals: 1})
			for _, n := range []int64{3, 0} {
				_, err := w.SetLabels(t.Context(), shelf, id, []string{prompt.Production}, n, catPublishes, allow)
				require.NoError(t, err)
			}
			w.clock.Advance(time.Second)
			require.NoError(t, edit(w, id, func(p *prompt.Prompt) { move(p, "billing/greeting") }))
			_, err := w.UndoLabel(t.Context(), shelf, id, prompt.Production, catPublishes, "")
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.aRuled()
			err := try(w, p.ID)
			require.Contains(t, []fault.Code{prompt.NeedsProposal, prompt.LabelRuled}, fault.CodeOf(err), err)
			w.check()
			k, err := readKept(w.store, p.ID)
			require.NoError(t, err)
			require.NoError(t, k.untold())
		})
	}
}

// TestRestoredUnderARule: a prompt that comes back under a name for which a rule counts loses its
// label.
func TestRestoredUnderARule(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	w.rules(prompt.LabelRule{Label: prompt.Production, Names: "ruled-*", Approvals: 1})
	_, err := w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, 3, catPublishes, allow)
	require.NoError(t, err)
	require.NoError(t, removeRuled(t.Context(), w.DB, p.ID, w.clock.Now()))
	d := draft("Ruled")
	d.Name, d.Visibility, d.By = "ruled", prompt.Private, annAuthors
	w.add(shelf, d)
	back, err := w.Change(t.Context(), shelf, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.DeletedAt, p.By = time.Time{}, catPublishes
		return p, nil
	})
	require.NoError(t, err)
	require.NotEqual(t, "ruled", back.Name)
	labels, _, err := w.Labels(t.Context(), shelf, p.ID)
	require.NoError(t, err)
	require.Empty(t, labels)
	w.check()
}

// TestApprovalsOfOthers: an approval counts for one version, one digest and one round, of one who
// did not write it, and as long as their membership does.
func TestApprovalsOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	two := prompt.LabelRules{{Label: prompt.Production, Names: "*", Approvals: 2}}
	w.rules(two...)
	members := map[string]bool{"a_cat": true, "a_dan": true, "a_bob": true, "a_eve": true}
	ask := func(by prompt.UserID, verdict prompt.Verdict, version int64, digest string) (prompt.Proposal, error) {
		return w.Review(t.Context(), about(p.ID, prompt.Actor{Key: by, Publishes: true}), 1, prompt.Review{
			Verdict: verdict, Version: version, Digest: digest, Kind: prompt.Person, Name: string(by),
		}, func(context.Context) (promptdb.Reviewers, error) {
			return promptdb.Reviewers{Rules: two, May: func(r prompt.Review) bool { return members[r.Name] }}, nil
		})
	}
	open, err := w.Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, 3, "")
	require.NoError(t, err)
	require.Equal(t, []prompt.UserID{"a_ann", "a_bob"}, open.Authors, "all who wrote what would go live")
	refused := func(code fault.Code, by prompt.UserID, version int64, digest string) {
		t.Helper()
		_, err := ask(by, prompt.Approve, version, digest)
		require.Equal(t, code, fault.CodeOf(err), err)
	}
	refused(prompt.OwnVersion, "a_bob", 3, open.Digest)
	refused(prompt.OtherVersion, "a_cat", 2, open.Digest)
	refused(prompt.OtherVersion, "a_cat", 3, "another")
	still := func(by prompt.UserID, verdict prompt.Verdict) {
		t.Helper()
		now, err := ask(by, verdict, 3, open.Digest)
		require.NoError(t, err)
		require.Equal(t, prompt.ProposalOpen, now.State)
	}
	still("a_cat", prompt.Approve)
	still("a_cat", prompt.Approve) // twice is as once
	still("a_dan", prompt.Changes)
	still("a_cat", prompt.Changes) // takes it back
	still("a_dan", prompt.Approve)
	members["a_dan"] = false // and leaves
	still("a_cat", prompt.Approve)
	_, err = w.ProposeVersion(t.Context(), about(p.ID, annAuthors), 1, 3) // begins anew
	require.NoError(t, err)
	members["a_dan"] = true
	still("a_dan", prompt.Approve)
	now, err := ask("a_eve", prompt.Approve, 3, open.Digest)
	require.NoError(t, err)
	require.Equal(t, prompt.Merged, now.State)
	labels, _, err := w.Labels(t.Context(), shelf, p.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{prompt.Production: 3}, labels)
	refused(prompt.ProposalClosed, "a_cat", 3, open.Digest)
	w.run()
	w.check()

	// there and back
	_, err = w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, 0, bobAuthors, allow)
	require.Equal(t, prompt.NeedsRole, fault.CodeOf(err))
	_, err = w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, 0, catPublishes, allow)
	require.NoError(t, err)
	_, err = w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, 3, bobAuthors, allow)
	require.Equal(t, prompt.NeedsProposal, fault.CodeOf(err))
	_, err = w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, 3, catPublishes, allow)
	require.NoError(t, err)
	w.check()
}

// TestStaleProposals: a proposal is not approved once its label or its version is elsewhere.
func TestStaleProposals(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world, p prompt.Prompt) error{
		"moved back": func(w *world, p prompt.Prompt) error {
			_, err := w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, 0, catPublishes, allow)
			return err
		},
		"version gone": func(w *world, p prompt.Prompt) error {
			return w.DeleteVersion(t.Context(), shelf, p.ID, 3, catPublishes)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.aRuled()
			require.NoError(t, proposeAndApprove(t.Context(), w.DB, p.ID, 2))
			open, err := w.Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, 3, "")
			require.NoError(t, err)
			_, err = w.Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, 1, "")
			require.Equal(t, prompt.ProposalIsOpen, fault.CodeOf(err))
			require.NoError(t, change(w, p))
			_, err = w.Review(t.Context(), about(p.ID, catPublishes), open.Number,
				prompt.Review{Verdict: prompt.Approve, Version: 3, Digest: open.Digest}, anybodyCounts)
			require.Equal(t, prompt.ProposalIsStale, fault.CodeOf(err), err)
			w.check()
		})
	}
}

// TestProgramsWaitForProduction: where production has a rule, a program that names no version gets
// none until the label stands somewhere, neither the prompt nor what includes it.
func TestProgramsWaitForProduction(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	get := func() error {
		_, err := w.GetVersion(t.Context(), shelf, p.ID, promptdb.ForPrograms)
		return err
	}
	require.Equal(t, fault.NotFound, fault.Of(get()))
	d := draft("Whole")
	d.Text, d.Visibility = include("ruled|label=production"), prompt.Private
	whole := w.add(shelf, d)
	resolve := func() error {
		_, err := w.Resolve(t.Context(), shelf, promptdb.View{Prompt: whole}, 1<<20)
		return err
	}
	require.Equal(t, fault.Conflict, fault.Of(resolve()))
	require.NoError(t, proposeAndApprove(t.Context(), w.DB, p.ID, 2))
	require.NoError(t, get())
	require.NoError(t, resolve())
	require.NoError(t, removeRuled(t.Context(), w.DB, whole.ID, w.clock.Now()))
	require.NoError(t, w.DeleteVersion(t.Context(), shelf, p.ID, 2, catPublishes))
	require.Equal(t, fault.NotFound, fault.Of(get()), "nor once it stands nowhere any more")
}

// TestReviewsInABackup: rules, proposals, reviews and events come back as they were, and open ones
// are open.
func TestReviewsInABackup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	require.NoError(t, proposeAndApprove(t.Context(), w.DB, p.ID, 2))
	open, err := w.Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, 3, "why")
	require.NoError(t, err)
	for _, verdict := range []prompt.Verdict{prompt.Changes, prompt.Comment} {
		_, err := w.Review(t.Context(), about(p.ID, catPublishes), open.Number,
			prompt.Review{Verdict: verdict, Version: 3, Digest: open.Digest, Text: "so"}, anybodyCounts)
		require.NoError(t, err)
	}
	w.run()
	w.check()
	first, left := w.backedUp()
	require.Empty(t, left)
	other := restoredFrom(t, bytes.NewBuffer(bytes.Clone(first.Bytes())))
	want, err := readKept(w.store, p.ID)
	require.NoError(t, err)
	got, err := readKept(other.store, p.ID)
	require.NoError(t, err)
	require.Equal(t, want.events, got.events)
	require.Equal(t, want.proposals, got.proposals)
	require.Equal(t, want.reviews, got.reviews)
	require.Equal(t, want.labels.Open, got.labels.Open)
	require.Equal(t, want.labels.Proposals, got.labels.Proposals)
	require.NoError(t, errors.Join(got.unapproved(), got.untold()))
	second, _ := other.backedUp()
	require.Equal(t, first.String(), second.String())
	list, _, err := other.OpenProposals(t.Context(), shelf, "", 9)
	require.NoError(t, err)
	require.Equal(t, []promptdb.OpenProposal{{Prompt: p.ID, Number: 2}}, list)
}

// TestVerifyReviews: each row of a proposal, of an open one and of an event that is gone, doubled
// or spoiled is a finding, and so is a label that nothing allowed.
func TestVerifyReviews(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(w *world, p prompt.Prompt, open prompt.Proposal){
		"the row of an open one is gone": func(w *world, _ prompt.Prompt, _ prompt.Proposal) {
			w.damageRow("!open|", table.Delete, nil)
		},
		"a proposal is gone": func(w *world, _ prompt.Prompt, _ prompt.Proposal) {
			w.damageRow("!prop|", table.Delete, nil)
		},
		"it is said to be closed": func(w *world, _ prompt.Prompt, _ prompt.Proposal) {
			w.damageRow("!prop|", table.Merge, table.Props{{Name: "State", Value: table.String("rejected")}})
		},
		"an event of no type": func(w *world, _ prompt.Prompt, _ prompt.Proposal) {
			w.damageRow("!ev|", table.Merge, table.Props{{Name: "Type", Value: table.String("so")}})
		},
		"a label that nothing allowed": func(w *world, p prompt.Prompt, _ prompt.Proposal) {
			w.clock.Advance(time.Minute)
			w.rules()
			w.clock.Advance(time.Minute)
			_, err := w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, 3, catPublishes, allow)
			require.NoError(t, err)
			w.damageRow("!ws", table.Merge, table.Props{
				{Name: "Rules", Value: table.String(`[{"label":"production","names":"*","approvals":1}]`)},
				{Name: "RulesAt", Value: table.Time(w.clock.Now().Add(-90 * time.Second))},
			})
			w.clock.Advance(time.Minute)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.aRuled()
			open, err := w.Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, 3, "why")
			require.NoError(t, err)
			w.check()
			spoil(w, p, open)
			require.NotEmpty(t, w.found())
		})
	}
}

// damageRow changes the first row of the workspace whose key begins so.
func (w *world) damageRow(prefix string, kind table.Kind, props table.Props) {
	w.t.Helper()
	for row, err := range table.All(w.t.Context(), w.store, promptdb.DefaultTables().Prompts,
		table.Prefix("u|"+string(shelf), prefix)) {
		require.NoError(w.t, err)
		_, err = w.store.Write(w.t.Context(), promptdb.DefaultTables().Prompts,
			table.Op{Kind: kind, Row: table.Row{Key: row.Key, ETag: table.Any, Props: props}})
		require.NoError(w.t, err)
		return
	}
	require.Fail(w.t, "no row "+prefix)
}

// TestEventsInPages: a walk along the pages sees each event once, whatever they are filtered by,
// and a page of many that do not fit ends.
func TestEventsInPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	for i := range 120 {
		w.clock.Advance(time.Millisecond)
		require.NoError(t, saveText(t.Context(), w.DB, p.ID, fmt.Sprint(i), bobAuthors))
	}
	for want, q := range map[int]promptdb.EventQuery{
		122: {Type: prompt.VersionCreated}, 123: {Prompt: p.ID}, 124: {By: "a_bob"}, 0: {By: "a_eve"},
	} {
		seen := map[string]bool{}
		var last time.Time
		for after := ""; ; {
			events, next, err := w.Events(t.Context(), shelf, q, after, 7)
			require.NoError(t, err)
			for _, e := range events {
				require.False(t, seen[e.ID], "twice")
				seen[e.ID] = true
				require.False(t, !last.IsZero() && e.At.After(last), "the newest first")
				last = e.At
			}
			if after = next; next == "" {
				break
			}
		}
		if q.By == "a_bob" {
			want-- // two versions of the setup are bob's
			want--
		}
		require.Len(t, seen, want, "%+v", q)
	}
}

// TestNamesThatLeadThere: a rule counts for every name by which a prompt is reached, so a new name
// leads past none, and the one that asks for most counts.
func TestNamesThatLeadThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	w.rules(prompt.LabelRule{Label: prompt.Production, Names: "scratch", Approvals: 0},
		prompt.LabelRule{Label: prompt.Production, Names: "ruled", Approvals: 1})
	p, err := w.rename(p, "scratch")
	require.NoError(t, err)
	_, err = w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, 3, catPublishes, allow)
	require.Equal(t, prompt.NeedsProposal, fault.CodeOf(err), err)
	for _, name := range []string{"ruled", "scratch"} {
		_, err := w.GetByName(t.Context(), shelf, shelf, name, promptdb.ForPrograms)
		require.Equal(t, fault.NotFound, fault.Of(err), name)
	}
}

// TestWayBackAfterARename: a name under the same rule, and many moves of another label, leave the
// way back open.
func TestWayBackAfterARename(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	for _, n := range []int64{2, 3} {
		require.NoError(t, proposeAndApprove(t.Context(), w.DB, p.ID, n))
		w.clock.Advance(time.Second)
	}
	p, err := w.rename(p, "other")
	require.NoError(t, err)
	for i := range 250 {
		_, err := w.SetLabels(t.Context(), shelf, p.ID, []string{"staging"}, int64(1+i%2), catPublishes, allow)
		require.NoError(t, err)
	}
	_, err = w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, 2, catPublishes, allow)
	require.NoError(t, err)
}

// TestLabelThatCameBack: a label that left and came back makes a proposal stale all the same, until
// its version is proposed anew.
func TestLabelThatCameBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	require.NoError(t, proposeAndApprove(t.Context(), w.DB, p.ID, 2))
	open, err := w.Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, 3, "")
	require.NoError(t, err)
	for _, n := range []int64{0, 2} {
		_, err := w.SetLabels(t.Context(), shelf, p.ID, []string{prompt.Production}, n, catPublishes, allow)
		require.NoError(t, err)
	}
	approve := func() error {
		_, err := w.Review(t.Context(), about(p.ID, catPublishes), open.Number,
			prompt.Review{Verdict: prompt.Approve, Version: 3, Digest: open.Digest}, anybodyCounts)
		return err
	}
	require.Equal(t, prompt.ProposalIsStale, fault.CodeOf(approve()))
	_, err = w.ProposeVersion(t.Context(), about(p.ID, annAuthors), open.Number, 3)
	require.NoError(t, err)
	require.NoError(t, approve())
}

// TestProposedInTheSameMoment: of two who propose for one label in the same millisecond, one is
// told that the other did.
func TestProposedInTheSameMoment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	store := &beforeWrite{DB: w.store, table: promptdb.DefaultTables().Prompts, do: func() {
		_, err := w.Propose(t.Context(), about(p.ID, bobAuthors), prompt.Production, 2, "")
		require.NoError(t, err)
	}}
	_, err := w.over(store).Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, 3, "")
	require.Equal(t, prompt.ProposalIsOpen, fault.CodeOf(err), "%v", err)
}

// A lostAnswer store loses the answer of one write. Others do something before it is looked for.
type lostAnswer struct {
	table.DB
	then func()
}

func (l *lostAnswer) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	tags, err := l.DB.Write(ctx, name, ops...)
	if then := l.then; then != nil {
		l.then = nil
		then()
		return nil, errors.New("no answer came")
	}
	return tags, err
}

// TestProposalsWhoseAnswerIsLost: a proposal or a review that landed is not kept once more, and
// tells of itself once, though others came before it was looked for.
func TestProposalsWhoseAnswerIsLost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	store := &lostAnswer{DB: w.store}
	store.then = func() { require.NoError(t, reject(t.Context(), w.DB, nil, p)) }
	_, err := w.over(store).Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, 3, "")
	require.NoError(t, err)
	open, err := w.Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, 3, "")
	require.NoError(t, err)
	require.EqualValues(t, 2, open.Number)

	changes := prompt.Review{Verdict: prompt.Changes, Version: 3, Digest: open.Digest}
	store.then = func() {
		for _, by := range []prompt.Actor{catPublishes, annAuthors} {
			_, err := w.Review(t.Context(), about(p.ID, by), open.Number, changes, anybodyCounts)
			require.NoError(t, err)
		}
	}
	_, err = w.over(store).Review(t.Context(), about(p.ID, danPublishes), open.Number, changes, anybodyCounts)
	require.NoError(t, err)
	events, _, err := w.Events(t.Context(), shelf, promptdb.EventQuery{Type: prompt.ProposalReviewed}, "", 9)
	require.NoError(t, err)
	require.Len(t, events, 3)
}

// TestUnknownAuthors: what an access token wrote, and what a version that is gone may have said,
// costs an approval more.
func TestUnknownAuthors(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(w *world, p prompt.Prompt) error{
		"token": func(w *world, p prompt.Prompt) error {
			return saveText(t.Context(), w.DB, p.ID, "four", prompt.Actor{Key: prompt.TokenKey("ci")})
		},
		"version that is gone": func(w *world, p prompt.Prompt) error {
			if err := saveText(t.Context(), w.DB, p.ID, "catty", catPublishes); err != nil {
				return err
			}
			if err := saveText(t.Context(), w.DB, p.ID, "catty and more", bobAuthors); err != nil {
				return err
			}
			return w.DeleteVersion(t.Context(), shelf, p.ID, 4, catPublishes)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.aRuled()
			require.NoError(t, write(w, p))
			_, latest, err := w.Labels(t.Context(), shelf, p.ID)
			require.NoError(t, err)
			open, err := w.Propose(t.Context(), about(p.ID, annAuthors), prompt.Production, latest, "")
			require.NoError(t, err)
			require.True(t, open.Unsure)
			for _, by := range []prompt.Actor{catPublishes, danPublishes} {
				now, err := w.Review(t.Context(), about(p.ID, by), 1,
					prompt.Review{Verdict: prompt.Approve, Version: latest, Digest: open.Digest}, anybodyCounts)
				require.NoError(t, err)
				require.Equal(t, by == danPublishes, now.State == prompt.Merged)
			}
		})
	}
}

// TestTitlesOfReleases: programs get the title of a prompt as it is now, so publishers alone change
// that of one whose label has a rule and stands.
func TestTitlesOfReleases(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.aRuled()
	title := func(by prompt.Actor, text string) error {
		_, err := w.Change(t.Context(), shelf, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.Title, p.By = text, by
			p.Revision++
			return p, nil
		})
		return err
	}
	require.NoError(t, title(bobAuthors, "Before"))
	require.NoError(t, proposeAndApprove(t.Context(), w.DB, p.ID, 2))
	require.Equal(t, prompt.NeedsRole, fault.CodeOf(title(bobAuthors, "After")))
	require.NoError(t, title(catPublishes, "After"))
}
