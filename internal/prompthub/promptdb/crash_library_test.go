package promptdb_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// The commands of names, versions, labels and includes in the crash table.

func saveIncluding(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	_, err := db.Change(ctx, "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		text := include("other|label=latest") + include("another|version=2")
		if p.Text == text {
			return p, promptdb.ErrUnchanged
		}
		p.Text, p.Labels = text, []string{"production"}
		p.Source = &prompt.Source{Format: "markdown", File: "a.md", Bytes: []byte(text)}
		p.Revision++
		return p, nil
	})
	return err
}

func includingSaved(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
	v, err := r.truth.GetVersion(context.Background(), "ann", p.ID, promptdb.WantedVersion{Label: "production"})
	if ok {
		require.NoError(t, err)
		require.EqualValues(t, 2, v.Version, "one version, however often it was sent")
		require.Len(t, v.Content().Includes(), 2)
		s, err := r.truth.Source(context.Background(), "ann", v.Prompt, 2)
		require.NoError(t, err)
		require.NotNil(t, s, "with the file that it was made of")
	}
}

// twoIncluding makes version 2 include others, and version 3 none.
func twoIncluding(r *ring, p *prompt.Prompt) {
	require.NoError(r.t, saveIncluding(context.Background(), r.truth, r, *p))
	_, err := r.truth.Change(context.Background(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		p.Text = "none"
		return p, nil
	})
	require.NoError(r.t, err)
}

func oldWithIncludes(r *ring, p *prompt.Prompt) {
	twoIncluding(r, p)
	old(r, p)
}

func deleteVersion(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	err := db.DeleteVersion(ctx, "ann", p.ID, 2, prompt.Actor{})
	if fault.Of(err) == fault.NotFound { // it is gone already
		return nil
	}
	return err
}

func versionDeleted(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
	_, err := r.truth.GetVersion(context.Background(), "ann", p.ID, promptdb.WantedVersion{Number: 2})
	if ok {
		require.Equal(t, fault.NotFound, fault.Of(err))
		labels, latest, err := r.truth.Labels(context.Background(), "ann", p.ID)
		require.NoError(t, err)
		require.Empty(t, labels)
		require.EqualValues(t, 3, latest)
	}
}

func rename(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	_, err := db.Change(ctx, "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Name == "folder/new" {
			return p, promptdb.ErrUnchanged
		}
		p.Name = "folder/new"
		p.Revision++
		return p, nil
	})
	return err
}

func renamed(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
	names := []string{"old-title"}
	if ok {
		names = append(names, "folder/new")
	}
	for _, name := range names {
		v, err := r.truth.GetByName(context.Background(), "ann", "ann", name, promptdb.WantedVersion{})
		require.NoError(t, err, name)
		require.Equal(t, p.ID, v.ID)
	}
}

func putLabel(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	_, err := db.SetLabels(ctx, "ann", p.ID, []string{"production"}, 1, prompt.Actor{}, allow)
	return err
}

func labelled(n int64) func(*testing.T, *ring, prompt.Prompt, bool) {
	return func(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
		labels, _, err := r.truth.Labels(context.Background(), "ann", p.ID)
		require.NoError(t, err)
		if ok {
			require.Equal(t, map[string]int64{"production": n}, labels)
		}
	}
}

// labelOnTwo makes version 3 that of production, which was version 2.
func labelOnTwo(r *ring, p *prompt.Prompt) {
	twoIncluding(r, p)
	r.Advance(1e6)
	_, err := r.truth.SetLabels(context.Background(), "ann", p.ID, []string{"production"}, 3, prompt.Actor{}, allow)
	require.NoError(r.t, err)
}

func recallVersion(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	err := db.Recall(ctx, "ann", p.ID, 3, "because", prompt.Actor{})
	if fault.CodeOf(err) == prompt.Recalled { // it was before
		return nil
	}
	return err
}

func recalled(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
	_, err := r.truth.GetVersion(context.Background(), "ann", p.ID, promptdb.WantedVersion{Number: 3})
	if ok {
		require.ErrorContains(t, err, "version 3 was recalled: because")
		v, err := r.truth.GetVersion(context.Background(), "ann", p.ID, promptdb.ForPrograms)
		require.NoError(t, err)
		require.EqualValues(t, 2, v.Version)
	}
	labelled(2)(t, r, p, ok)
}

func recallThree(r *ring, p *prompt.Prompt) {
	labelOnTwo(r, p)
	require.NoError(r.t, recallVersion(context.Background(), r.truth, r, *p))
}

func reinstateVersion(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	return db.Reinstate(ctx, "ann", p.ID, 3, prompt.Actor{})
}

func undoLabel(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
	_, err := db.UndoLabel(ctx, "ann", p.ID, "production", prompt.Actor{}, "")
	return err
}

// undone: the label is where it was before, or, where the command was sent again, nowhere.
func undone(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
	labels, _, err := r.truth.Labels(context.Background(), "ann", p.ID)
	require.NoError(t, err)
	h, err := r.truth.LabelHistory(context.Background(), "ann", p.ID, "production", "", 9)
	require.NoError(t, err)
	require.Len(t, h.Moves, 2)
	left := int64(0)
	for _, m := range h.Moves {
		if m.Undone.By == "" {
			left = max(left, m.To)
		}
	}
	require.Equal(t, left, labels["production"], "history and label say the same")
	if ok {
		require.NotEmpty(t, h.Moves[0].Undone.By)
	}
}

// filesAt gives a prompt the files of a version that no attempt before has given it.
func filesAt(n int64, contents ...string) func(context.Context, *promptdb.DB, *ring, prompt.Prompt) error {
	return func(ctx context.Context, db *promptdb.DB, _ *ring, p prompt.Prompt) error {
		_, err := db.Change(ctx, "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			if p.Version >= n {
				return p, promptdb.ErrUnchanged
			}
			filesOf(contents...)(&p)
			return p, nil
		})
		return err
	}
}

// hasFiles reads every version that there is, with its files.
func hasFiles(t *testing.T, r *ring, p prompt.Prompt, ok bool) {
	v, err := r.truth.Get(context.Background(), "ann", p.ID)
	require.NoError(t, err)
	require.True(t, !ok || len(v.Files) > 0)
	for n := int64(1); n <= v.Last; n++ {
		at, err := r.truth.GetVersion(context.Background(), "ann", p.ID, promptdb.WantedVersion{Number: n})
		if fault.Of(err) == fault.NotFound {
			continue
		}
		require.NoError(t, err)
		_, err = r.truth.FileBytes(context.Background(), p.ID, at.Files)
		require.NoError(t, err, "version %d is whole", n)
	}
}

// twoWithFiles makes versions 2 and 3 with files.
func twoWithFiles(r *ring, p *prompt.Prompt) {
	require.NoError(r.t, filesAt(2, "a", "one", "b", "both")(context.Background(), r.truth, r, *p))
	require.NoError(r.t, filesAt(3, "a", "two", "b", "both")(context.Background(), r.truth, r, *p))
}

func oldWithFiles(r *ring, p *prompt.Prompt) {
	twoWithFiles(r, p)
	old(r, p)
}

// unnamedFiles has bytes that no version names any more, for longer than they are kept.
func unnamedFiles(r *ring, p *prompt.Prompt) {
	twoWithFiles(r, p)
	require.NoError(r.t, r.truth.DeleteVersion(context.Background(), "ann", p.ID, 2, prompt.Actor{}))
	require.NoError(r.t, r.drain())
	r.Advance(25 * 60 * 60 * 1e9)
}
