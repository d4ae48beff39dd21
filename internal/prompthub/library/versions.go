package library

import (
	"context"
	"fmt"
	"strconv"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A WantedVersion is one of a number, or one that has a label.
type WantedVersion = promptdb.WantedVersion

// GetVersion returns a prompt as it was in a version. Versions before the first public one are for
// the author alone. The caller may be anonymous.
func (s *Service) GetVersion(ctx context.Context, who auth.User, id prompt.ID, want WantedVersion) (v View, err error) {
	err = s.acting(ctx, who, id, func(as auth.User) (err error) {
		v, err = s.withVote(ctx, who, as, id, func(ctx context.Context) (View, error) {
			return s.db.GetVersion(ctx, IDOf(as), id, want)
		})
		return err
	})
	return v, err
}

// A History is a part of the versions of a prompt, the newest first, without their contents.
type History struct {
	Title      string   // of the prompt
	Name       string   // for programs
	Names      []string // all that lead to it
	Author     string   // the name of its author
	AuthorID   prompt.UserID
	Mine       bool // whether the caller may change the prompt
	Visibility prompt.Visibility
	Items      []prompt.Version
	Labels     map[string]int64 // those of the prompt
	Open       map[string]prompt.OpenProposal
	Latest     int64
	Served     int64   // the version that programs get who name none, 0 for none
	Recalled   []int64 // the numbers of all versions that were recalled, in order
	Before     int64   // the version before the last of Items, 0 for none
	Next       string
}

// Versions returns the versions of a prompt that the caller may see.
func (s *Service) Versions(ctx context.Context, who auth.User, id prompt.ID, limit int, token string) (History, error) {
	scope := "versions " + string(id)
	var below int64
	var page promptdb.VersionPage
	_, err := open(scope, token, func(after string) (promptdb.Page, error) {
		below, _ = strconv.ParseInt(after, 10, 64) // of a cursor that was sealed here
		return promptdb.Page{}, s.acting(ctx, who, id, func(as auth.User) (err error) {
			page, err = s.db.Versions(ctx, IDOf(as), id, below, limit)
			return err
		})
	})
	if err != nil {
		return History{}, err
	}
	h := History{
		Title: page.Title, Name: page.Name, Names: page.Names, Author: page.Author, AuthorID: page.AuthorID,
		Mine: page.Mine, Visibility: page.Visibility, Items: page.Items,
		Labels: page.Labels, Open: page.Open, Latest: page.Latest, Served: page.Served,
		Recalled: page.Recalled, Before: page.Before,
	}
	if page.After > 0 {
		h.Next = sealed(scope, promptdb.Page{After: strconv.FormatInt(page.After, 10)}).Next
	}
	return h, nil
}

// Compare returns a prompt at two of its versions.
func (s *Service) Compare(ctx context.Context, who auth.User, id prompt.ID, a, b int64) (one, other View, err error) {
	err = s.acting(ctx, who, id, func(as auth.User) (err error) {
		one, other, err = s.db.Contents(ctx, IDOf(as), id, a, b)
		return err
	})
	return one, other, err
}

// RestoreVersion makes a new version that says what an old one says, and keeps its file, unless the
// prompt says that now. Where the file is damaged the message of the new version tells so.
func (s *Service) RestoreVersion(ctx context.Context, who auth.User, id prompt.ID,
	n int64,
) (v View, made bool, err error) {
	err = s.acting(ctx, who, id, func(as auth.User) (err error) {
		v, made, err = s.restoreVersionAs(ctx, as, id, n)
		return err
	})
	return v, made, err
}

func (s *Service) restoreVersionAs(ctx context.Context, who auth.User, id prompt.ID,
	n int64,
) (v View, made bool, err error) {
	var old View
	var file *promptdb.SourceOf
	var bytes map[string][]byte
	g, reading := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		if old, err = s.db.GetVersion(reading, IDOf(who), id, WantedVersion{Number: n, History: true}); err == nil {
			bytes, err = s.db.FileBytes(reading, id, old.Files.Written())
		}
		return err
	})
	g.Go(func() (err error) { // its author alone can restore it
		file, err = s.db.Source(reading, IDOf(who), prompt.Prompt{ID: id, AuthorID: IDOf(who)}, n)
		return err
	})
	if err := g.Wait(); err != nil {
		return View{}, false, err
	}
	return s.makeVersion(ctx, who, id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Current().Hash == old.ShownVersion.Hash {
			return p, nil
		}
		p.Draft = p.As(old.ShownVersion)
		p.FileBytes, p.FilesAsBefore = bytes, true
		p.Message = fmt.Sprintf("Restores version %d", n)
		switch {
		case file == nil:
		case file.Damaged && (file.Version == n || old.ShownVersion.FileHash != ""):
			p.Message += ", but not its file, which is damaged"
		case file.Version == n || file.Hash() == old.ShownVersion.FileHash:
			p.Source, p.Anew = &file.Source, true
		}
		return p, nil
	})
}

// makeVersion is revise for whatever the prompt is now, and reports whether it made a version.
func (s *Service) makeVersion(ctx context.Context, who auth.User, id prompt.ID,
	next func(prompt.Prompt) (prompt.Prompt, error),
) (v View, made bool, err error) {
	var before int64
	v, err = s.revise(ctx, who, id, Match{Any: true}, func(p prompt.Prompt) (prompt.Prompt, error) {
		before = p.Version
		return next(p)
	})
	return v, v.Version != before, err
}

// DeleteVersion removes a version and takes its labels away. Its number is used for good.
func (s *Service) DeleteVersion(ctx context.Context, who auth.User, id prompt.ID, n int64) error {
	return s.acting(ctx, who, id, func(as auth.User) error { return s.deleteVersionAs(ctx, as, id, n) })
}

// Recall withdraws a version from programs, with the reason that they are told. Its labels go back
// to versions that they were on before.
func (s *Service) Recall(ctx context.Context, who auth.User, id prompt.ID, n int64, reason string) error {
	return s.acting(ctx, who, id, func(as auth.User) error {
		return s.releasing(ctx, as, id, func() error {
			reason, err := prompt.CheckReason(reason)
			if err != nil {
				return s.unlessForbidden(ctx, as, id, err)
			}
			return s.db.Recall(ctx, IDOf(as), id, n, reason, actorOf(as))
		})
	})
}

// Reinstate takes a recall back. Labels that are still where it put them go back to the version.
func (s *Service) Reinstate(ctx context.Context, who auth.User, id prompt.ID, n int64) error {
	return s.acting(ctx, who, id, func(as auth.User) error {
		return s.releasing(ctx, as, id, func() error { return s.db.Reinstate(ctx, IDOf(as), id, n, actorOf(as)) })
	})
}

func (s *Service) deleteVersionAs(ctx context.Context, who auth.User, id prompt.ID, n int64) error {
	return s.releasing(ctx, who, id, func() error { return s.db.DeleteVersion(ctx, IDOf(who), id, n, actorOf(who)) })
}

// releasing makes a change of a version on which programs may rely. A caller who may not know of
// the prompt is told of none.
func (s *Service) releasing(ctx context.Context, who auth.User, id prompt.ID, change func() error) error {
	if err := Needs(who, auth.ScopePublish); err != nil {
		return err
	}
	err := change()
	if fault.Of(err) == fault.NotFound {
		if v, getErr := s.db.GetVersion(ctx, IDOf(who), id,
			WantedVersion{Label: prompt.Latest, History: true}); getErr == nil && v.AuthorID == IDOf(who) {
			return err
		}
		return s.explain(ctx, who, id, err)
	}
	return err
}

// Labels returns the labels of a prompt with their versions, and the version that it holds.
func (s *Service) Labels(ctx context.Context, who auth.User,
	id prompt.ID,
) (labels map[string]int64, latest int64, err error) {
	err = s.acting(ctx, who, id, func(as auth.User) (err error) {
		labels, latest, err = s.db.Labels(ctx, IDOf(as), id)
		return err
	})
	return labels, latest, err
}

// SetLabel puts a label on a version, or takes it away for 0.
func (s *Service) SetLabel(ctx context.Context, who auth.User, id prompt.ID, label string, n int64) error {
	return s.SetLabels(ctx, who, id, []string{label}, n)
}

// SetLabels is SetLabel for several labels at once.
func (s *Service) SetLabels(ctx context.Context, who auth.User, id prompt.ID, labels []string, n int64) error {
	return s.acting(ctx, who, id, func(as auth.User) error {
		return s.setLabelsAs(ctx, as, id, labels, n, actorOf(as))
	})
}

// FollowLabels is SetLabels by an import, which moves labels as another service did: their history
// tells so.
func (s *Service) FollowLabels(ctx context.Context, who auth.User, id prompt.ID, labels []string, n int64) error {
	return s.acting(ctx, who, id, func(as auth.User) error {
		by := actorOf(as)
		by.Follows = true
		return s.setLabelsAs(ctx, as, id, labels, n, by)
	})
}

func (s *Service) setLabelsAs(ctx context.Context, who auth.User, id prompt.ID, labels []string,
	n int64, by prompt.Actor,
) error {
	if err := Needs(who, auth.ScopeWrite); err != nil {
		return err
	}
	if err := publishes(who, n == 0); err != nil { // taking one away may break who relies on it
		return err
	}
	for _, label := range labels {
		if n == 0 && prompt.ValidLabel(label) {
			continue
		}
		if err := prompt.CheckLabel(label); err != nil {
			return s.unlessForbidden(ctx, who, id, err)
		}
	}
	_, err := s.db.SetLabels(ctx, IDOf(who), id, labels, n, by, func(p prompt.Prompt) error {
		return publishes(who, p.Visibility == prompt.Public)
	})
	return s.unlessForbidden(ctx, who, id, err)
}

// UndoLabel takes back what was done last with a label and was not undone yet.
func (s *Service) UndoLabel(ctx context.Context, who auth.User, id prompt.ID, label, key string) error {
	return s.acting(ctx, who, id, func(as auth.User) error { return s.undoLabelAs(ctx, as, id, label, key) })
}

func (s *Service) undoLabelAs(ctx context.Context, who auth.User, id prompt.ID, label, key string) error {
	if err := Needs(who, auth.ScopePublish); err != nil {
		return err
	}
	idem := ""
	if key != "" {
		idem = hash(key)
	}
	_, err := s.db.UndoLabel(ctx, IDOf(who), id, label, actorOf(who), idem)
	return s.unlessForbidden(ctx, who, id, err)
}

// unlessForbidden returns err to the author of a prompt; others are told that they may not change
// it, or that there is none.
func (s *Service) unlessForbidden(ctx context.Context, who auth.User, id prompt.ID, err error) error {
	if err == nil || fault.Of(err) != fault.NotFound && fault.Of(err) != fault.Invalid {
		return err
	}
	return s.insteadOf(ctx, who, id, err)
}

// A Moves is a part of what became of a label, the last move first.
type Moves struct {
	Owner prompt.UserID // of the prompt
	Items []prompt.Move
	Next  string
}

// LabelHistory returns what became of a label.
func (s *Service) LabelHistory(ctx context.Context, who auth.User, id prompt.ID, label string, limit int,
	token string,
) (Moves, error) {
	scope := fmt.Sprintf("moves %s %q", id, label)
	var h promptdb.History
	_, err := open(scope, token, func(after string) (promptdb.Page, error) {
		return promptdb.Page{}, s.acting(ctx, who, id, func(as auth.User) (err error) {
			h, err = s.db.LabelHistory(ctx, IDOf(as), id, label, after, limit)
			return err
		})
	})
	if err != nil {
		return Moves{}, err
	}
	return Moves{Owner: h.AuthorID, Items: h.Moves, Next: sealed(scope, promptdb.Page{After: h.After}).Next}, nil
}
