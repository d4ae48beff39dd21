package promptdb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// The commands of names, versions and labels that the explorer interleaves with all others.

// rename gives a prompt a name that leads to it from then on, also once it has another.
func (e *explorer) rename(i int) {
	s, name, to := e.any(), fmt.Sprintf("%d rename", i), fmt.Sprintf("name-%d", i)
	has := func(p prompt.Prompt) bool { return p.Name == to || slices.Contains(p.OldNames, to) }
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Change(ctx, s.author, s.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			if has(p) {
				return p, promptdb.ErrUnchanged
			}
			p.Name = to
			p.Revision++
			return p, nil
		})
		return err
	}, func() error {
		p, err := e.record(s)
		if err != nil || !has(p) {
			return fmt.Errorf("%s was acknowledged and is lost; the name is %q: %w", name, p.Name, err)
		}
		v, err := e.truth.GetByName(context.Background(), s.author, s.author, to, promptdb.WantedVersion{})
		if p.Deleted() && fault.Of(err) == fault.NotFound {
			return nil
		}
		if err == nil && v.ID != s.id {
			return fmt.Errorf("%s: the name leads to %s", name, v.ID)
		}
		return err
	})
}

// label puts a label on version 1.
func (e *explorer) label(i int) {
	s, name, label := e.any(), fmt.Sprintf("%d label", i), fmt.Sprintf("label-%d", i)
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.SetLabels(ctx, s.author, s.id, []string{label}, 1, name, allow)
		return err
	}, func() error {
		n, err := e.labelled(s, label)
		if _, gone := e.version(s, 1); err == nil && n != 1 && !gone {
			return fmt.Errorf("%s was acknowledged, and the label is on %d", name, n)
		}
		return err
	})
}

// labelAndUndo puts a label on and takes that back. An undo of unknown outcome may be sent again,
// and then finds nothing to do.
func (e *explorer) labelAndUndo(i int) {
	s, name, label := e.any(), fmt.Sprintf("%d undo", i), fmt.Sprintf("label-%d", i)
	put := false
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		if !put {
			if _, err := db.SetLabels(ctx, s.author, s.id, []string{label}, 1, name, allow); err != nil {
				return err
			}
			put = true
		}
		_, err := db.UndoLabel(ctx, s.author, s.id, label, name, allow)
		if fault.Of(err) == fault.Conflict {
			return nil
		}
		return err
	}, func() error {
		n, err := e.labelled(s, label)
		if err == nil && n != 0 {
			return fmt.Errorf("%s was acknowledged, and the label is on %d", name, n)
		}
		return err
	})
}

// deleteVersion saves a text and deletes version 1.
func (e *explorer) deleteVersion(i int) {
	s, name := e.any(), fmt.Sprintf("%d delete version", i)
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		if _, err := db.Change(ctx, s.author, s.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			if p.Version > 1 {
				return p, promptdb.ErrUnchanged
			}
			p.Text += name + ";"
			p.Revision++
			return p, nil
		}); err != nil {
			return err
		}
		err := db.DeleteVersion(ctx, s.author, s.id, 1, e.Now())
		if fault.Of(err) == fault.NotFound { // with the prompt, or once already
			return nil
		}
		return err
	}, func() error {
		p, err := e.record(s)
		if err != nil || p.Deleted() {
			return err
		}
		if _, gone := e.version(s, 1); !gone {
			return errors.New(name + " was acknowledged, and the version is there")
		}
		return nil
	})
}

// labelled returns which version of a prompt at rest has a label.
func (e *explorer) labelled(s *subject, label string) (int64, error) {
	labels, _, err := e.truth.Labels(context.Background(), s.author, s.id)
	if fault.Of(err) == fault.NotFound { // deleted
		return 0, nil
	}
	return labels[label], err
}

// version reads a version of a prompt at rest, and says whether it is gone.
func (e *explorer) version(s *subject, n int64) (v promptdb.View, gone bool) {
	v, err := e.truth.GetVersion(context.Background(), s.author, s.id, promptdb.WantedVersion{Number: n})
	return v, fault.Of(err) == fault.NotFound
}
