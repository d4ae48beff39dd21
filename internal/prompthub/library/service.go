package library

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// A View is a prompt as one user sees it.
type View = promptdb.View

// Service is what users may do. Its errors are of package fault. A prompt that the caller may
// not know of answers NotFound with one and the same text in every method.
type Service struct {
	db    *promptdb.DB
	rules prompt.Rules
	now   func() time.Time

	passwords *Passwords // nil where people sign in otherwise

	adminsMake bool // whether admins of the site alone make workspaces
}

// New returns a Service over a database.
func New(db *promptdb.DB, rules prompt.Rules, now func() time.Time) *Service {
	return &Service{db: db, rules: rules, now: now}
}

// Ready reports whether the storage answers.
func (s *Service) Ready(ctx context.Context) error { return s.db.Ready(ctx) }

// A Match is the precondition of a change: the revisions that the caller knows.
type Match struct {
	Any       bool // whatever the revision is
	Revisions []int64
}

func (m Match) holds(revision int64) bool { return m.Any || slices.Contains(m.Revisions, revision) }

// replays reports whether the prompt is one edit further than the caller knows.
func (m Match) replays(revision int64) bool { return slices.Contains(m.Revisions, revision-1) }

// Create stores a new prompt. With a key, the same call again answers the same prompt and false;
// another draft under the same key is Invalid.
func (s *Service) Create(ctx context.Context, who auth.User, d prompt.Draft, key string) (View, bool, error) {
	return s.create(ctx, who, d, prompt.ForkedFrom{}, key)
}

func (s *Service) create(ctx context.Context, who auth.User, d prompt.Draft, origin prompt.ForkedFrom,
	key string,
) (View, bool, error) {
	if err := Needs(who, auth.ScopeWrite); err != nil {
		return View{}, false, err
	}
	if err := publishes(who, d.Visibility == prompt.Public); err != nil {
		return View{}, false, err
	}
	name := d.Name
	d, err := s.withSkillFile(ctx, prompt.Prompt{}, d)
	if err != nil {
		return View{}, false, err
	}
	if origin.ID != "" {
		d.Name = name // the author may have the prompt that it comes from
	}
	if d, err = s.rules.Check(d); err != nil {
		return View{}, false, err
	}
	idem := idempotency(who, key, d, origin)
	p, err := s.newPrompt(ctx, who, d, origin)
	if fault.Of(err) == fault.Invalid {
		// The rules may have changed since the request came first, for example because a tag was retired.
		id, unread := s.madeBefore(ctx, who, idem)
		if unread != nil {
			return View{}, false, unread
		}
		if id != "" {
			v, err := s.db.Get(ctx, IDOf(who), id)
			return v, false, err
		}
	}
	if err != nil {
		return View{}, false, err
	}
	made, isNew, err := s.db.Add(ctx, p, idem)
	if err == nil {
		s.MakeKnown(ctx, who)
	}
	if err != nil || isNew {
		return View{Prompt: made, Viewer: made.AuthorID}, isNew, err
	}
	v, err := s.db.Get(ctx, IDOf(who), made.ID)
	return v, false, err
}

// newPrompt returns the prompt of a draft, or why it cannot be stored.
func (s *Service) newPrompt(ctx context.Context, who auth.User, d prompt.Draft,
	origin prompt.ForkedFrom,
) (prompt.Prompt, error) {
	if err := s.checkTags(ctx, d.Tags, nil); err != nil {
		return prompt.Prompt{}, err
	}
	id, err := prompt.NewID(s.now(), rand.Reader)
	if err != nil {
		return prompt.Prompt{}, err
	}
	d.By = actorOf(who)
	p := prompt.Prompt{
		ID: id, AuthorID: IDOf(who), AuthorName: who.Name, Draft: d, ForkedFrom: origin, CreatedAt: id.Time(),
		UpdatedAt: id.Time(), Revision: 1,
		Slug: d.PreviousNames.Slug, OldNames: d.PreviousNames.OldNames,
	}
	err = s.checkIncludes(ctx, &p)
	return p, err
}

// Check reports what keeps a draft from being stored, but for what it includes; has are tags that
// its prompt has already.
func (s *Service) Check(ctx context.Context, who auth.User, d prompt.Draft, has []prompt.Tag) error {
	if err := publishes(who, d.Visibility == prompt.Public); err != nil {
		return err
	}
	d, err := s.withSkillFile(ctx, prompt.Prompt{}, d)
	if err != nil {
		return err
	}
	if d, err = s.rules.Check(d); err != nil {
		return err
	}
	return s.checkTags(ctx, d.Tags, has)
}

// MadeBefore returns which prompt Create would return because it made it with this key before, ""
// if it would make one.
func (s *Service) MadeBefore(ctx context.Context, who auth.User, d prompt.Draft, key string) (prompt.ID, error) {
	return s.madeBefore(ctx, who, idempotency(who, key, d, prompt.ForkedFrom{}))
}

func (s *Service) madeBefore(ctx context.Context, who auth.User, idem *promptdb.Idempotency) (prompt.ID, error) {
	if idem == nil {
		return "", nil
	}
	made, err := s.db.ByIdempotencyKey(ctx, IDOf(who), *idem)
	if err != nil || made == nil {
		return "", err
	}
	return made.ID, nil
}

// contentKey begins the keys of imports. Such a key is a hash of all that is sent with it but the
// visibility, so the bodies need not be compared.
const contentKey = "import-"

// idempotency identifies a key and the request that it came with. Two members of a workspace never
// share a key, but for those of imports.
func idempotency(who auth.User, key string, d prompt.Draft, origin prompt.ForkedFrom) *promptdb.Idempotency {
	if key == "" {
		return nil
	}
	if strings.HasPrefix(key, contentKey) {
		return &promptdb.Idempotency{Key: hash(key)}
	}
	body := fmt.Sprint(d.Content().Hash(), d.State(nil), origin, d.Message)
	return &promptdb.Idempotency{Key: hash(string(writer(who)) + key), Body: hash(body)}
}

func hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}

// checkTags reports tags that are neither active in the catalog nor among those that the prompt has
// already.
func (s *Service) checkTags(ctx context.Context, tags, has []prompt.Tag) error {
	if len(tags) == 0 {
		return nil
	}
	all, err := s.db.Tags(ctx)
	if err != nil {
		return err
	}
	var fields []fault.Field
	for i, tag := range tags {
		known := slices.ContainsFunc(all, func(t prompt.TagInfo) bool { return t.Active && t.Tag == tag })
		if !known && !slices.Contains(has, tag) {
			fields = append(fields, fault.Field{
				Name: fmt.Sprintf("tags[%d]", i), Value: string(tag),
				Message: "is not an active tag of the catalog; take one from the list of tags (the page Tags, GET /tags), or make it a tag of your own",
			})
		}
	}
	if fields == nil {
		return nil
	}
	return &fault.Error{
		Kind: fault.Invalid, Text: "the prompt has tags that the catalog does not offer",
		Fields: fields,
	}
}

// SplitTags parts tags that a client wrote without knowing of the catalog: those that it offers, or
// that the prompt has already, and tags of the author's own. A tag that is written otherwise than
// in the catalog is one of the latter, and so are those beyond prompt.MaxTags: the client must
// read what it wrote.
func (s *Service) SplitTags(ctx context.Context, all []string,
	has []prompt.Tag,
) (tags []prompt.Tag, own []string, err error) {
	catalog, err := s.db.Tags(ctx)
	if err != nil {
		return nil, nil, err
	}
	known, seen := make(map[prompt.Tag]bool), make(map[string]bool)
	for _, t := range catalog {
		known[t.Tag] = t.Active
	}
	for _, tag := range has {
		known[tag] = true
	}
	for _, text := range all {
		text = strings.TrimSpace(text)
		tag := prompt.Tag(text)
		switch {
		case seen[text]:
			continue
		case known[tag] && len(tags) < prompt.MaxTags:
			tags = append(tags, tag)
		default:
			own = append(own, text)
		}
		seen[text] = true
	}
	return tags, own, nil
}

// Get returns a prompt with its labels. The caller may be anonymous.
func (s *Service) Get(ctx context.Context, who auth.User, id prompt.ID) (v View, err error) {
	err = s.acting(ctx, who, id, func(as auth.User) (err error) {
		v, err = s.withVote(ctx, who, as, id, func(ctx context.Context) (View, error) {
			return s.db.GetWithLabels(ctx, IDOf(as), id)
		})
		return err
	})
	return v, err
}

// look is Get without the labels, and without the vote of a member of a workspace.
func (s *Service) look(ctx context.Context, who auth.User, id prompt.ID) (v View, err error) {
	err = s.acting(ctx, who, id, func(as auth.User) (err error) {
		v, err = s.db.Get(ctx, IDOf(as), id)
		return err
	})
	return v, err
}

// withVote returns what read returns for a caller who acts as an owner, with the caller's own
// vote: a member of a workspace has one, and the workspace has none.
func (s *Service) withVote(ctx context.Context, who, as auth.User, id prompt.ID,
	read func(context.Context) (View, error),
) (View, error) {
	if IDOf(who) == IDOf(as) {
		return read(ctx)
	}
	voted := []View{{Prompt: prompt.Prompt{ID: id}}}
	var g errgroup.Group
	g.Go(func() error { return s.db.MarkVotes(ctx, IDOf(who), voted) })
	v, err := read(ctx)
	err = cmp.Or(err, g.Wait())
	v.MyVote = voted[0].MyVote
	return v, err
}

// SourceOf returns the file that the version of a view was made of, or one before it; nil for none
// that the caller may see, and for a version with files, of which SKILL.md says what it is.
func (s *Service) SourceOf(ctx context.Context, v View) (*promptdb.SourceOf, error) {
	if len(v.Files) > 0 {
		return nil, nil //nolint:nilnil // as documented
	}
	return s.db.Source(ctx, v.Viewer, v.Prompt, v.Version)
}

// GetByName returns the prompt that a name, an old name or a slug of an owner leads to, as it is or
// in a version. The caller may be anonymous.
func (s *Service) GetByName(ctx context.Context, who auth.User, owner prompt.UserID, name string,
	want WantedVersion,
) (View, error) {
	as, _, err := s.actor(ctx, who, owner)
	if err != nil {
		return View{}, err
	}
	v, err := s.db.GetByName(ctx, IDOf(as), owner, name, want)
	if err != nil {
		return View{}, err
	}
	return s.withVote(ctx, who, as, v.ID, func(context.Context) (View, error) { return v, nil })
}

// Replace puts a draft in place of what the author wrote before.
func (s *Service) Replace(ctx context.Context, who auth.User, id prompt.ID, m Match, d prompt.Draft) (View, error) {
	d, err := s.rules.Check(d)
	if err != nil {
		// Whose prompt it is decides first: rules are told to its author only.
		return View{}, s.insteadOf(ctx, who, id, err)
	}
	return s.edit(ctx, who, id, m, func(was prompt.Draft) (prompt.Draft, error) {
		d := d
		d.Name = cmp.Or(d.Name, was.Name) // others know the prompt by it
		return d, nil
	})
}

// Set puts a value into a field of a draft; nil leaves the field as it is.
func Set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// Patch changes some of what the author wrote: change gets the draft that is stored, without the
// message, labels and file of its last change, and may run again. A name that it empties stays.
func (s *Service) Patch(ctx context.Context, who auth.User, id prompt.ID, m Match,
	change func(*prompt.Draft),
) (View, error) {
	return s.PatchWithFiles(ctx, who, id, m, nil, change)
}

// PatchWithFiles is Patch, and puts files in place of those that the prompt has: all of them in one
// version. Without a list these stay, and an empty one takes them away.
func (s *Service) PatchWithFiles(
	ctx context.Context, who auth.User, id prompt.ID, m Match, sent []SentFile, change func(*prompt.Draft),
) (View, error) {
	return s.patch(ctx, who, id, m, func(prompt.Files) ([]SentFile, error) { return sent, nil }, change)
}

// PatchFiles is Patch, and changes some of the files, in one version.
func (s *Service) PatchFiles(
	ctx context.Context, who auth.User, id prompt.ID, m Match, files FilesChange, change func(*prompt.Draft),
) (View, error) {
	return s.patch(ctx, who, id, m, files.over, change)
}

// patch changes a prompt. Files returns those of the new version, of those before.
func (s *Service) patch(
	ctx context.Context, who auth.User, id prompt.ID, m Match, files func(prompt.Files) ([]SentFile, error),
	change func(*prompt.Draft),
) (View, error) {
	return s.edit(ctx, who, id, m, func(was prompt.Draft) (prompt.Draft, error) {
		d := was
		d.Message, d.Labels, d.Source = "", nil, nil
		change(&d)
		sent, err := files(was.Files)
		if err != nil {
			return d, err
		}
		d, err = WithFiles(d, sent, was.Files)
		if err != nil {
			return d, err
		}
		d.Name = cmp.Or(d.Name, was.Name)
		return s.rules.CheckEdit(d, was)
	})
}

// edit makes a new revision out of the current draft.
func (s *Service) edit(ctx context.Context, who auth.User, id prompt.ID, m Match,
	next func(prompt.Draft) (prompt.Draft, error),
) (View, error) {
	return s.revise(ctx, who, id, m, func(p prompt.Prompt) (_ prompt.Prompt, err error) {
		p.Draft, err = next(p.Draft)
		return p, err
	})
}

// revise makes a new revision of a prompt. A caller who knows the revision before, and wants what
// is there now, sent the same request before and is answered as then.
func (s *Service) revise(ctx context.Context, who auth.User, id prompt.ID, m Match,
	next func(prompt.Prompt) (prompt.Prompt, error),
) (v View, err error) {
	err = s.acting(ctx, who, id, func(as auth.User) (err error) {
		v, err = s.withVote(ctx, who, as, id, func(ctx context.Context) (View, error) {
			return s.reviseAs(ctx, as, id, m, next)
		})
		return err
	})
	return v, err
}

func (s *Service) reviseAs(ctx context.Context, who auth.User, id prompt.ID, m Match,
	next func(prompt.Prompt) (prompt.Prompt, error),
) (View, error) {
	v, err := s.db.ChangeAndGet(ctx, IDOf(who), id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Deleted() {
			return p, prompt.ErrUnknown()
		}
		if err := Needs(who, auth.ScopeWrite); err != nil {
			return p, err
		}
		if !m.holds(p.Revision) && !m.replays(p.Revision) {
			return p, stale()
		}
		now, err := next(p)
		if err != nil {
			return p, err
		}
		if now.Draft, err = s.withSkillFile(ctx, p, now.Draft); err != nil {
			return p, err
		}
		if now.Equal(p.Draft) && now.ForkedFrom == p.ForkedFrom && len(now.Labels) == 0 && !now.Anew {
			return p, promptdb.ErrUnchanged
		}
		if err := publishes(who, p.Visibility == prompt.Public || now.Visibility == prompt.Public); err != nil {
			return p, err
		}
		if !m.holds(p.Revision) {
			return p, stale()
		}
		if err := s.checkTags(ctx, now.Tags, p.Tags); err != nil {
			return p, err
		}
		if err := s.recheckIncludes(ctx, p, &now); err != nil {
			return p, err
		}
		now.Revision++
		now.By = actorOf(who)
		now.UpdatedAt = s.now().UTC().Truncate(time.Millisecond)
		return now, nil
	})
	if err != nil {
		return View{}, s.explain(ctx, who, id, err)
	}
	return v, nil
}

func stale() error {
	return fault.New(fault.Stale, "the prompt was changed since you read it; merge your change into the current one and send its ETag in If-Match")
}

// explain completes the error of a change: whose prompt it is, or what it is now.
func (s *Service) explain(ctx context.Context, who auth.User, id prompt.ID, err error) error {
	var f *fault.Error
	switch {
	case fault.Of(err) == fault.NotFound:
		return s.insteadOf(ctx, who, id, err)
	case fault.Of(err) == fault.Stale && errors.As(err, &f):
		if v, getErr := s.db.Get(ctx, IDOf(who), id); getErr == nil {
			f.Current = v
		}
	}
	return err
}

// insteadOf returns err to the author, Forbidden to others who may see the prompt, and NotFound to
// everybody else.
func (s *Service) insteadOf(ctx context.Context, who auth.User, id prompt.ID, err error) error {
	v, getErr := s.look(ctx, who, id)
	switch {
	case getErr != nil:
		return getErr
	case !v.IsOwn():
		return errAuthorAlone()
	}
	return err
}

func errAuthorAlone() error {
	return fault.New(fault.Forbidden, "only its author may change a prompt")
}

// Delete takes a prompt away from everybody. Its author can restore it for prompt.RestoreDays. One
// that others include is a Conflict. Deleting it again does nothing.
func (s *Service) Delete(ctx context.Context, who auth.User, id prompt.ID, m Match) error {
	return s.acting(ctx, who, id, func(as auth.User) error { return s.deleteAs(ctx, as, id, m) })
}

func (s *Service) deleteAs(ctx context.Context, who auth.User, id prompt.ID, m Match) error {
	if err := Needs(who, auth.ScopePublish); err != nil {
		return err
	}
	_, err := s.db.Change(ctx, IDOf(who), id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if p.Deleted() {
			return p, promptdb.ErrUnchanged
		}
		if !m.holds(p.Revision) {
			return p, stale()
		}
		if err := s.db.Unused(ctx, p); err != nil {
			return p, err
		}
		p.DeletedAt, p.By = s.now().UTC().Truncate(time.Millisecond), actorOf(who)
		return p, nil
	})
	if err != nil {
		return s.explain(ctx, who, id, err)
	}
	return nil
}

// Restore undoes Delete. A prompt whose name another one has taken meanwhile gets a free one: then
// its former name is returned too.
func (s *Service) Restore(ctx context.Context, who auth.User, id prompt.ID) (v View, former string, err error) {
	err = s.acting(ctx, who, id, func(as auth.User) (err error) {
		v, former, err = s.restoreAs(ctx, as, id)
		return err
	})
	return v, former, err
}

func (s *Service) restoreAs(ctx context.Context, who auth.User, id prompt.ID) (v View, former string, err error) {
	if err := Needs(who, auth.ScopePublish); err != nil {
		return View{}, "", err
	}
	v, err = s.db.ChangeAndGet(ctx, IDOf(who), id, func(p prompt.Prompt) (prompt.Prompt, error) {
		if !p.Deleted() {
			return p, promptdb.ErrUnchanged
		}
		if !s.now().Before(PurgeAt(p)) {
			return p, prompt.ErrUnknown()
		}
		former = p.Name
		p.DeletedAt, p.By = time.Time{}, actorOf(who)
		return p, nil
	})
	if err != nil {
		return View{}, "", s.explain(ctx, who, id, err)
	}
	if v.Name == former {
		former = ""
	}
	return v, former, nil
}

// PurgeAt returns from when on a deleted prompt cannot be restored.
func PurgeAt(p prompt.Prompt) time.Time { return p.DeletedAt.AddDate(0, 0, prompt.RestoreDays) }

// A Ballot is a vote and what all votes on the prompt add up to.
type Ballot struct {
	Value prompt.Vote
	prompt.Tally
}

// Vote sets the caller's vote on a prompt.
func (s *Service) Vote(ctx context.Context, who auth.User, id prompt.ID, v prompt.Vote) (Ballot, error) {
	if err := isPerson(who); err != nil {
		return Ballot{}, err
	}
	t, err := s.db.Vote(ctx, IDOf(who), id, v)
	return Ballot{Value: v, Tally: t}, err
}

// VoteOf returns the caller's vote on a prompt.
func (s *Service) VoteOf(ctx context.Context, who auth.User, id prompt.ID) (Ballot, error) {
	v, t, err := s.db.VoteOf(ctx, IDOf(who), id)
	return Ballot{Value: v, Tally: t}, err
}
