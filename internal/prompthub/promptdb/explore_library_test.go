package promptdb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

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
		_, err := db.SetLabels(ctx, s.author, s.id, []string{label}, 1, prompt.Actor{Key: prompt.UserID(name)}, allow)
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
			if _, err := db.SetLabels(ctx, s.author, s.id, []string{label}, 1,
				prompt.Actor{Key: prompt.UserID(name)}, allow); err != nil {
				return err
			}
			put = true
		}
		_, err := db.UndoLabel(ctx, s.author, s.id, label, prompt.Actor{Key: prompt.UserID(name)}, "")
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

// saveSecond saves a second version of a prompt, unless there is one.
func (s *subject) saveSecond(ctx context.Context, db *promptdb.DB, name string) error {
	_, err := db.Change(ctx, s.author, s.id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Version > 1 {
			return p, promptdb.ErrUnchanged
		}
		p.Text += name + ";"
		p.Revision++
		return p, nil
	})
	return err
}

// deleteVersion saves a text and deletes version 1.
func (e *explorer) deleteVersion(i int) {
	s, name := e.any(), fmt.Sprintf("%d delete version", i)
	without := false // the prompt, which may come back with all its versions
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		if err := s.saveSecond(ctx, db, name); err != nil {
			return err
		}
		err := db.DeleteVersion(ctx, s.author, s.id, 1, prompt.Actor{})
		if fault.Of(err) == fault.NotFound { // with the prompt, or once already
			without = !s.stays
			return nil
		}
		return err
	}, func() error {
		p, err := e.record(s)
		if err != nil || p.Deleted() || without {
			return err
		}
		if _, gone := e.version(s, 1); !gone {
			return errors.New(name + " was acknowledged, and the version is there")
		}
		return nil
	})
}

// recall saves a text, puts a label on version 2 and recalls that.
func (e *explorer) recall(i int) {
	s, name, label := e.any(), fmt.Sprintf("%d recall", i), fmt.Sprintf("recalled-%d", i)
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		if err := s.saveSecond(ctx, db, name); err != nil {
			return err
		}
		_, err := db.SetLabels(ctx, s.author, s.id, []string{label}, 2, prompt.Actor{Key: prompt.UserID(name)}, allow)
		if err == nil {
			err = db.Recall(ctx, s.author, s.id, 2, name, prompt.Actor{Key: prompt.UserID(name)})
		}
		if fault.CodeOf(err) == prompt.Recalled { // once already
			return nil
		}
		return err
	}, func() error {
		p, err := e.record(s)
		if err != nil || p.Deleted() {
			return err
		}
		n, err := e.labelled(s, label)
		if err != nil || n == 2 {
			return fmt.Errorf("%s was acknowledged, and the label is on %d: %w", name, n, err)
		}
		if v, err := e.truth.GetVersion(context.Background(), s.author, s.id, promptdb.ForPrograms); err == nil &&
			v.Version == 2 {
			return errors.New(name + " was acknowledged, and programs get the version")
		}
		return nil
	})
}

// include has a prompt include a new one of its author's; where removed says so, that is deleted
// meanwhile. Whichever of the two is first keeps the other from it. Where both look before either
// writes, the include leads nowhere, and resolving says so.
func (e *explorer) include(i int)        { e.including(i, false) }
func (e *explorer) includeRemoved(i int) { e.including(i, true) }

func (e *explorer) including(i int, removed bool) {
	s, name := e.any(), fmt.Sprintf("%d include", i)
	part := e.made(s.author, "Part", 200+i)
	part.Name, part.Text = fmt.Sprintf("part-%d", i), "part"
	ref := include(part.Name + "|version=1")
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		if _, _, err := db.Add(ctx, part, nil); err != nil {
			return err
		}
		_, err := db.Change(ctx, s.author, s.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			if strings.Contains(p.Text, ref) {
				return p, promptdb.ErrUnchanged
			}
			p.Text += ref
			p.Revision++
			return p, nil
		})
		return err
	}, func() error { return e.includes(s, part, ref, removed) })
	if removed {
		e.command(name+": remove it", func(ctx context.Context, db *promptdb.DB) error {
			return removeUnused(ctx, db, part, e.Now())
		}, nil)
	}
}

// removeUnused deletes a prompt that is perhaps not there yet, unless others include it.
func removeUnused(ctx context.Context, db *promptdb.DB, p prompt.Prompt, at time.Time) error {
	_, err := db.Change(ctx, p.AuthorID, p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Deleted() {
			return p, promptdb.ErrUnchanged
		}
		if err := db.Unused(ctx, p); err != nil {
			return p, err
		}
		p.DeletedAt = at
		return p, nil
	})
	if kind := fault.Of(err); kind == fault.NotFound || kind == fault.Conflict {
		return nil
	}
	return err
}

// includes looks at rest whether a prompt includes another, and both know of it.
func (e *explorer) includes(s *subject, part prompt.Prompt, ref string, removed bool) error {
	p, err := e.record(s)
	if err != nil || !strings.Contains(p.Text, ref) {
		return fmt.Errorf("%s was acknowledged and is lost; the text is %q: %w", ref, p.Text, err)
	}
	there, err := e.truth.Record(context.Background(), part.AuthorID, part.ID)
	if err != nil || there.Deleted() && !removed {
		return fmt.Errorf("%s is gone, and nobody removed it: %w", part.Name, err)
	}
	uses, _, err := e.truth.UsedBy(context.Background(), there)
	if err != nil || p.Deleted() == slices.ContainsFunc(uses, func(u promptdb.Use) bool { return u.ID == s.id }) {
		return fmt.Errorf("%s is said to be used by %v: %w", part.Name, uses, err)
	}
	p.Text = ref // others may include what is gone
	r, err := e.truth.Resolve(context.Background(), s.author, promptdb.View{Prompt: p}, 1<<20)
	if there.Deleted() && fault.Of(err) == fault.Conflict {
		return nil
	}
	if err == nil && r.Text != part.Text {
		return fmt.Errorf("%s is resolved to %q", ref, r.Text)
	}
	return err
}

// fork copies a version of a prompt, and later takes what the prompt became. At rest it is what
// the version is that it names.
func (e *explorer) fork(i int) {
	s, name := e.any(), fmt.Sprintf("%d fork", i)
	fork := e.made("carl", "Fork", 300+i)
	upstream := func(ctx context.Context, db *promptdb.DB, p *prompt.Prompt) error {
		v, err := db.GetVersion(ctx, s.author, s.id, promptdb.WantedVersion{Label: prompt.Latest})
		if err == nil {
			p.Text, p.ForkedFrom = v.Text, prompt.ForkedFrom{ID: v.ID, Version: v.Version}
		}
		return err
	}
	made := false
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		if fork.ForkedFrom.ID == "" { // a prompt that is sent again is the same
			if err := upstream(ctx, db, &fork); err != nil {
				return unlessGone(err)
			}
		}
		if _, _, err := db.Add(ctx, fork, nil); err != nil {
			return err
		}
		made = true
		_, err := db.Change(ctx, "carl", fork.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.Revision++
			return p, upstream(ctx, db, &p)
		})
		return unlessGone(err)
	}, func() error {
		p, err := e.truth.Record(context.Background(), "carl", fork.ID)
		if err != nil || !made {
			return unlessGone(err)
		}
		v, gone := e.version(s, p.ForkedFrom.Version)
		if !gone && v.Text != p.Text {
			return fmt.Errorf("%s is %q, and version %d of what it comes from is %q", name, p.Text,
				p.ForkedFrom.Version, v.Text)
		}
		return nil
	})
}

// unlessGone returns an error, unless it says that a prompt is not there.
func unlessGone(err error) error {
	if fault.Of(err) == fault.NotFound {
		return nil
	}
	return err
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
	v, err := e.truth.GetVersion(context.Background(), s.author, s.id, promptdb.WantedVersion{Number: n, History: true})
	return v, fault.Of(err) == fault.NotFound
}
