package gitdoor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/git"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// The bounds of repositories of many skills.
const (
	maxSkills    = 500    // the newest prompts
	maxSnapshots = 2_000  // of an epoch
	maxShown     = 10_000 // prompts of an epoch
	maxTries     = 20     // of recording, which others can overtake
	keptPlugins  = 20_000 // that an instance knows
)

// form numbers what is made of a listing. Where the same listing gets other bytes, this is one
// more, and lines begin anew.
const form = "1"

// A shelf is the skills of a repository as they are now.
type shelf struct {
	about
	repository library.Repository
	readers    string // who these are; where others become readers, the line begins anew
	collection *library.Collection
	standings  map[prompt.ID]library.Standing // of the prompts that its line has shown, too
	wanted     []library.Standing             // those that programs get a version of, in order
}

// shelf reads the line of the repository and, at once or after it, the skills.
func (x reader) shelf(ctx context.Context, atOnce bool) (s shelf, l library.Line, err error) {
	if x.collection != "" {
		return x.collectionShelf(ctx)
	}
	s.repository, s.readers = library.Repository{Kind: library.OfPublic, Owner: x.owner}, form
	handle := x.address.handle
	if x.isOwn() {
		s.repository.Kind, handle = library.OfOwn, library.Me
	}
	var owner library.User
	var all []library.Standing
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		owner, err = x.Service.OwnerOf(gctx, x.owner, handle)
		return err
	})
	g.Go(func() (err error) {
		l, err = x.Service.Line(gctx, s.repository)
		return err
	})
	if !atOnce {
		err = g.Wait()
		g, gctx = errgroup.WithContext(ctx)
	}
	g.Go(func() (err error) {
		all, err = x.Service.Standings(gctx, x.as, x.owner)
		return err
	})
	if err = cmp.Or(err, g.Wait()); err != nil {
		return s, l, err
	}
	name, endpoint := cmp.Or(owner.Handle, owner.Key), ""
	switch {
	case !x.isOwn():
		s.About, endpoint = "The public skills of "+name, "/u/"+name
	case prompt.IsWorkspace(x.owner):
		s.About, endpoint = "The skills of the workspace "+name, "/w/"+name
	default:
		name, s.About = library.Me, "All skills of your own"
	}
	s.Name, s.Owner, s.IsOwn = skill.MarketplaceName(name), name, x.isOwn()
	if x.Public != "" {
		s.Library = x.Public + "/mcp" + endpoint
	}
	s.standings = make(map[prompt.ID]library.Standing, len(all))
	for _, one := range slices.Backward(all) {
		if s.standings[one.ID] = one; s.want(one) && len(s.wanted) > maxSkills {
			s.wanted = s.wanted[:maxSkills]
			s.More++
		}
	}
	return s, l, nil
}

// want adds a prompt if programs get a version of it, unless another has its name.
func (s *shelf) want(one library.Standing) bool {
	isNamed := func(other library.Standing) bool { return other.Slug == one.Slug }
	if one.Served() == 0 || !prompt.ValidSlug(one.Slug) || slices.ContainsFunc(s.wanted, isNamed) {
		return false
	}
	s.wanted = append(s.wanted, one)
	return true
}

// collectionShelf is shelf for a collection. A public one has what everybody sees, for its owner
// too.
func (x reader) collectionShelf(ctx context.Context) (s shelf, l library.Line, err error) {
	c, as, err := x.collectionFor(ctx)
	if err != nil {
		return s, l, err
	}
	s.collection, s.repository = &c,
		library.Repository{Kind: library.OfCollection, Owner: c.Collection.Owner, Slug: c.Slug}
	s.readers = fmt.Sprint(form, " ", c.Visibility, " ", c.CreatedAt.UnixMilli())
	s.Owner = cmp.Or(c.By.Handle, c.By.Key)
	s.Name, s.About, s.Bundle = skill.MarketplaceName(s.Owner, c.Slug), cmp.Or(c.About, c.Name), &bundle{Slug: c.Slug}
	if l, err = x.Service.Line(ctx, s.repository); err != nil {
		return s, l, err
	}
	ids := slices.Collect(maps.Keys(l.Shown))
	for _, id := range c.Prompts {
		if _, shown := l.Shown[id]; !shown {
			ids = append(ids, id)
		}
	}
	s.standings, err = x.Service.StandingsOf(ctx, as, ids)
	for _, id := range c.Prompts {
		if one, ok := s.standings[id]; ok {
			s.want(one)
		}
	}
	return s, l, err
}

// collectionFor returns the collection of the address, and the reader that stands for all of its
// readers. For callers who are not signed in a private one is like one that is not there: git asks
// for a password then.
func (x reader) collectionFor(ctx context.Context) (library.Collection, auth.User, error) {
	c, as, err := x.Service.CollectionFor(ctx, x.User, x.address.handle, x.collection)
	if fault.Of(err) == fault.NotFound {
		if err = errNoRepository(); !x.Known() {
			err = fault.New(fault.Unauthenticated,
				"there is no public collection here; send an access token for a private one")
		}
	}
	return c, as, err
}

// state names what a snapshot of the shelf would be made of.
func (s shelf) state() string {
	h := sha256.New()
	h.Write(jsonOf(s.about))
	if s.collection != nil {
		fmt.Fprintf(h, "%d\n", s.collection.Version)
	}
	for _, one := range s.wanted {
		n := one.Served()
		fmt.Fprintf(h, "%s %d %q %q", one.ID, n, one.Slug, one.Title)
		if n != one.Version || one.Undescribed { // a version of before may show the description of now
			fmt.Fprintf(h, " %q", one.Description)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// follows reports whether the line may go on: its readers may see all that it has shown.
func (s shelf) follows(l library.Line) bool {
	if l.Epoch == 0 || l.Readers != s.readers || l.Seq >= maxSnapshots || len(l.Shown) > maxShown {
		return false
	}
	for id, versions := range l.Shown {
		one, ok := s.standings[id]
		for _, n := range versions {
			if !ok || !one.Shows(n) {
				return false
			}
		}
	}
	return true
}

// shelfRepository returns the repository of many skills, and records a snapshot first if they have
// changed. Then the line is read before the skills, and written as it was read: so if others have
// recorded one meanwhile, all is looked at anew.
func (x reader) shelfRepository(ctx context.Context, whole bool) (*repository, error) {
	for try := range maxTries {
		s, l, err := x.shelf(ctx, try == 0)
		if err != nil {
			return nil, err
		}
		recorded := true
		if state, follows := s.state(), s.follows(l); !follows || l.State != state {
			if try == 0 && x.collection == "" {
				continue
			}
			if l, recorded, err = x.record(ctx, s, l, state, follows); err != nil {
				return nil, err
			}
		}
		if recorded {
			return x.lineRepository(ctx, s, l, whole)
		}
	}
	return nil, &fault.Error{
		Kind: fault.Unavailable,
		Text: "others ask for this repository while it changes; try again", RetryAfter: time.Second,
	}
}

// record adds a snapshot of the shelf to its line, or lets it begin anew. It reports false if
// another one came first.
func (x reader) record(ctx context.Context, s shelf, l library.Line, state string,
	follows bool,
) (library.Line, bool, error) {
	was, parent := listing{skills: map[string]listed{}}, git.Commit{}
	if follows {
		snapshots, err := x.Service.Snapshots(ctx, s.repository, l)
		if err == nil {
			was, parent, err = lastOf(snapshots)
		}
		if err != nil {
			x.Log.WarnContext(ctx, "a line of snapshots begins anew", slog.Any("error", err))
			follows = false
		}
	}
	next, err := x.listingOf(ctx, s)
	if err != nil {
		return l, false, err
	}
	tree, err := x.putListing(ctx, newRepository(x.Service), s, next)
	if err != nil {
		return l, false, err
	}
	now := x.Now().UTC().Truncate(time.Millisecond)
	l.State, l.At, l.AskedAt, l.Readers = state, now, now, s.readers
	if follows && tree == parent.Tree {
		recorded, err := x.Service.PutLine(ctx, s.repository, l, nil)
		return l, recorded, err
	}
	c := git.Commit{Tree: tree, Name: "PromptHub", Email: "git@prompthub.invalid", At: now.Truncate(time.Second)}
	if follows {
		c.Parent, _ = parent.Encode()
		c.Message = was.message(next, false)
	} else {
		was = listing{skills: map[string]listed{}}
		c.Message = was.message(next, l.Epoch > 0)
		l.Epoch, l.Seq, l.Shown = l.Epoch+1, 0, nil
	}
	if c.At.Before(parent.At) {
		c.At = parent.At
	}
	l.Seq++
	for _, one := range next.skills {
		l.Shown = l.Shown.With(one.ID, one.Version)
	}
	id, b := c.Encode()
	l.Commit = id.String()
	recorded, err := x.Service.PutLine(ctx, s.repository, l,
		&library.Snapshot{Seq: l.Seq, Commit: b, Change: jsonOf(was.changeTo(next))})
	return l, recorded, err
}

// lastOf returns the last of some snapshots, and what it is made of.
func lastOf(snapshots []library.Snapshot) (listing, git.Commit, error) {
	l := listing{skills: map[string]listed{}}
	for _, s := range snapshots {
		var c change
		if err := json.Unmarshal(s.Change, &c); err != nil {
			return l, git.Commit{}, err
		}
		l.apply(c)
	}
	if len(snapshots) == 0 {
		return l, git.Commit{}, errors.New("the line has no snapshots")
	}
	c, err := git.ParseCommit(snapshots[len(snapshots)-1].Commit)
	return l, c, err
}

// lineRepository returns the repository of a line: all of it, or the last snapshot by its name
// alone.
func (x reader) lineRepository(ctx context.Context, s shelf, l library.Line, whole bool) (*repository, error) {
	r := newRepository(x.Service)
	last, err := git.ParseID(l.Commit)
	if err != nil {
		return nil, err
	}
	r.head, r.refs = heads+mainName, []git.Ref{{Name: heads + mainName, ID: last}}
	if !whole {
		return r, nil
	}
	snapshots, err := x.Service.Snapshots(ctx, s.repository, l)
	if err != nil {
		return nil, err
	}
	for i, one := range snapshots {
		c, err := git.ParseCommit(one.Commit)
		if err != nil {
			return nil, err
		}
		id, _ := c.Encode()
		r.commits[id] = c
		r.folders[c.Tree] = func(ctx context.Context) (git.ID, error) {
			l, _, err := lastOf(snapshots[:i+1])
			if err != nil {
				return git.ID{}, err
			}
			return x.putListing(ctx, r, s, l)
		}
	}
	if _, ok := r.commits[last]; !ok {
		return nil, fmt.Errorf("%w: %s is missing", errDiffers, last)
	}
	r.differs = func(ctx context.Context) error { // so that the next request lets it begin anew
		l.Readers = ""
		_, err := x.Service.PutLine(ctx, s.repository, l, nil)
		return err
	}
	return r, nil
}

// listingOf returns what a snapshot of the shelf is made of: those prompts that are skills.
func (x reader) listingOf(ctx context.Context, s shelf) (listing, error) {
	all := make([]listed, len(s.wanted))
	err := each(ctx, len(s.wanted), func(ctx context.Context, i int) error {
		one := s.wanted[i]
		of := listed{ID: one.ID, Version: one.Served(), Slug: one.Slug, Title: one.Title}
		p, err := x.plugin(ctx, one, of)
		if err == nil && p.undescribed {
			of.About = one.Description
		}
		if !p.tree.IsZero() {
			all[i] = of
		}
		return err
	})
	l := listing{about: s.about, skills: make(map[string]listed)}
	var c library.Collection
	for _, one := range all {
		if one.ID != "" {
			l.skills[one.Slug] = one
			c.Skills = append(c.Skills,
				library.View{Prompt: prompt.Prompt{ID: one.ID}, ShownVersion: prompt.Version{Number: one.Version}})
		}
	}
	if s.collection != nil {
		c.Collection = s.collection.Collection
		l.Bundle = &bundle{Slug: s.Bundle.Slug, Version: c.PluginVersion()}
	}
	return l, err
}

// putListing adds the folder that is made of a listing to a repository.
func (x reader) putListing(ctx context.Context, r *repository, s shelf, l listing) (git.ID, error) {
	slugs := slices.Sorted(maps.Keys(l.skills))
	found := make([]plugin, len(slugs))
	err := each(ctx, len(slugs), func(ctx context.Context, i int) (err error) {
		of := l.skills[slugs[i]]
		found[i], err = x.plugin(ctx, s.standings[of.ID], of)
		return err
	})
	if err != nil {
		return git.ID{}, err
	}
	plugins := make(map[string]plugin)
	var entries, together []git.Entry
	for i, slug := range slugs {
		p, of := found[i], l.skills[slug]
		plugins[slug] = p
		r.folders[p.tree] = func(context.Context) (git.ID, error) { return r.put(p.entries(r)), nil }
		r.folders[p.skill] = func(ctx context.Context) (git.ID, error) {
			f, err := x.skillFolder(ctx, s.standings[of.ID], of)
			return r.putFolder(f), err
		}
		if together = append(together,
			git.Entry{Name: "skills/" + p.name, Mode: git.Folder, ID: p.skill}); l.Bundle == nil ||
			slug != l.Bundle.Slug {
			entries = append(entries, git.Entry{Name: pluginPath(slug), Mode: git.Folder, ID: p.tree})
		}
	}
	if l.Bundle != nil && len(together) > 0 {
		manifest := skill.Manifest(l.Bundle.Slug, l.about.About, l.Bundle.Version, "")
		together = append(together, r.putMade(manifest.Path, func() []byte { return manifest.Bytes }))
		slices.SortFunc(together, byName)
		together = slices.CompactFunc(together, func(a, b git.Entry) bool { return a.Name == b.Name })
		entries = append(entries, git.Entry{Name: pluginPath(l.Bundle.Slug), Mode: git.Folder, ID: r.put(together)})
	}
	if l.hasLibrary() {
		for _, f := range skill.Library(l.Name, l.Library, l.IsOwn) {
			entries = append(entries, r.putMade(pluginPath(skill.LibraryName)+"/"+f.Path,
				func() []byte { return f.Bytes }))
		}
	}
	entries = append(entries,
		r.putMade("README.md", l.readme), r.putMade(".claude-plugin/marketplace.json", func() []byte {
			return l.marketplace(plugins)
		}))
	slices.SortFunc(entries, byName)
	return r.put(entries), nil
}

func byName(a, b git.Entry) int { return strings.Compare(a.Name, b.Name) }
