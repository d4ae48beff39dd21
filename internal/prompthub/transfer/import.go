package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// The limits of an import.
const (
	MaxFile    = 4 << 20     // bytes of a file
	maxArchive = 4 * MaxFile // of the files in an archive
	maxWrites  = 50          // changes that one request makes
	maxHistory = 1000        // versions of a prompt that is compared

	// of the entries that one request reads, and at least one; the rest comes with the next request
	maxLooks = 200
	maxLook  = 1 << 20   // bytes of the file
	maxYAML  = 256 << 10 // bytes of YAML
	maxParts = 25_000    // parts of YAML and JSON, and fields of CSV
)

// Options say how a file must be taken in.
type Options struct {
	File   string // its name, which says what it is
	DryRun bool   // says what would be done, and does nothing
	Update bool   // gives prompts that there are by their names new versions
	From   int    // how many entries an earlier request was through with
	Syntax string // in which texts must be, "" for as they are
	// of files that are neither UTF-8 nor UTF-16, as format.CodePage takes it; "" is what they
	// seem to be
	CodePage string
	// of prompts whose file does not say one; "" is private
	Visibility prompt.Visibility
}

// An Outcome is what became of an entry.
type Outcome string

// The outcomes.
const (
	Created   Outcome = "created"
	Updated   Outcome = "updated"
	Unchanged Outcome = "unchanged"
	Rejected  Outcome = "rejected"
)

// An Item is an entry of a file, and what became of it.
type Item struct {
	Place   string // in the file
	Name    string
	Title   string
	ID      prompt.ID // "" where nothing was made
	Outcome Outcome
	Code    fault.Code // names for programs why it was rejected
	Reason  string     // why it was rejected
	// what of it the library does not hold: members that only its file has, and comes back with; the
	// file itself where it is too large to be kept
	Loss []string
	// places of the file that are not as its format wants them, and how to write them well
	Warnings []format.Warning
}

// A Report says what became of the entries of a file. Where there is More the same file must be
// sent again, from the entry on with which the import is not through.
type Report struct {
	Items   []Item
	Skipped []string // files of an archive that hold no prompts
	Entries int      // of the file
	Through int
	More    bool
	Changes int // that were made, or tried
	Made    []Change
	Warning string // that the user has little room left
}

// Import takes a file into the library, as prompts of the caller's. It goes on past entries that
// are rejected. The same again finds what is there unchanged.
func Import(ctx context.Context, s *library.Service, who auth.User, file []byte, o Options) (r Report, err error) {
	all, skipped, err := spotsOf(o.File, o.CodePage, file)
	if err != nil {
		return Report{}, err
	}
	catalog, err := s.Tags(ctx, who, false)
	if err != nil {
		return Report{}, err
	}
	syntax, err := syntaxOf(o.Syntax)
	if err != nil {
		return Report{}, err
	}
	im := &importer{Service: s, who: who, Options: o, syntax: syntax}
	for _, t := range catalog {
		im.catalog = append(im.catalog, string(t.Tag))
	}
	from := min(max(o.From, 0), len(all))
	r = Report{Skipped: skipped, Entries: len(all), Through: from}
	defer func() { r.Changes, r.Made = min(im.writes, maxWrites), Merge(nil, im.made) }()
	var looked spot // how much was read
	for i, at := range all[from:] {
		looked.size, looked.yaml, looked.parts = looked.size+at.size+im.kept, looked.yaml+at.yaml, looked.parts+at.parts
		if i >= maxLooks || i > 0 && (looked.size > maxLook || looked.yaml > maxYAML || looked.parts > maxParts) {
			r.More = true
			break
		}
		im.kept = 0
		e := at.read()
		if e.err == nil {
			e.doc = e.doc.Prepared(im.catalog, o.Visibility)
		}
		if told := e.doc.Draft().Content().MistypedInclude(); told != "" {
			e.doc.Warnings = append(slices.Clip(e.doc.Warnings), format.Warning{Text: told})
		}
		item := Item{
			Place: e.place, Name: cmp.Or(e.doc.Name, at.name),
			Title: e.doc.Titled().Title, Warnings: e.doc.Warnings,
		}
		err := im.entry(ctx, e, &item)
		if errors.Is(err, errFull) {
			r.More = true
			break
		}
		if err := item.rejected(library.Told(who, err)); err != nil {
			return r, err
		}
		if units := (format.Row{Document: e.doc}).Units(); units > 0 && item.Code == prompt.TextTooLong {
			item.Reason += longer(units)
		}
		if !who.May(auth.ScopeRead) && (o.DryRun || item.Outcome != Created && item.Outcome != Updated) {
			item.ID = "" // which prompt has a name is for readers
		}
		r.Items = append(r.Items, item)
		r.Through++
	}
	storage, err := s.Storage(ctx, who)
	r.Warning = storage.Warning()
	return r, err
}

// rejected notes why an entry was rejected. Any other error is the end of the import.
func (item *Item) rejected(err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &f):
		item.Reason = err.Error()
	case !slices.Contains([]fault.Kind{fault.Malformed, fault.Invalid, fault.NotFound, fault.Forbidden, fault.Conflict},
		f.Kind):
		return err
	case len(f.Fields) == 0:
		item.Code, item.Reason = f.Code, f.Text
	default: // which say what the text says that there is
		var rules []string
		item.Code = f.Code
		for _, field := range f.Fields {
			item.Code = cmp.Or(item.Code, field.Code)
			rules = append(rules, field.Name+": "+field.Message)
		}
		item.Reason = strings.Join(rules, "; ")
	}
	item.Code = cmp.Or(item.Code, EntryRefused)
	item.Outcome = Rejected
	return nil
}

// longer says which setting would take a text of some UTF-16 code units.
func longer(units int) string {
	if units > prompt.LimitMaxText {
		return fmt.Sprintf("; no service takes more than %d", prompt.LimitMaxText)
	}
	return fmt.Sprintf("; a service with MAX_TEXT=%d would take it", units)
}

// EntryRefused is the code of an entry that was rejected for a reason that has no code of its own.
const EntryRefused fault.Code = "ENTRY_REFUSED"

// errFull ends an import that has made as many changes as one request may.
var errFull = errors.New("the rest comes with the next request")

type importer struct {
	*library.Service
	Options
	who     auth.User
	syntax  format.Syntax
	catalog []string
	writes  int
	made    []Change
	kept    int // bytes of kept files that the last entry was compared with
}

// write notes that a change is about to be made.
func (im *importer) write() error {
	if im.writes++; im.writes > maxWrites {
		return errFull
	}
	return nil
}

func (im *importer) entry(ctx context.Context, e entry, item *Item) error {
	switch {
	case e.err != nil:
		return unreadable(e.err)
	case e.profile != nil:
		return im.profile(ctx, *e.profile, item)
	case e.voted != nil:
		return im.vote(ctx, *e.voted, item)
	case e.favored != nil:
		return im.favorite(ctx, *e.favored, item)
	case len(e.doc.Versions) > 0 && e.doc.Name != "":
		return im.history(ctx, e, item)
	}
	if im.syntax != "" {
		var err error
		if e.doc, err = e.doc.Taken(im.syntax); err != nil {
			return err
		}
		item.Warnings = e.doc.Warnings
	}
	if len(e.doc.Files) > 0 {
		e.doc = asSkill(e.doc, im.syntax != "")
		item.Name, item.Warnings = e.doc.Name, e.doc.Warnings
	}
	item.Loss = e.doc.Unheld()
	return im.prompt(ctx, e.doc, item)
}

// asSkill returns a document with files whose SKILL.md says its name, as a folder can have it, and
// its text if that was written anew.
func asSkill(d format.Document, anew bool) format.Document {
	d.Files = slices.Clone(d.Files)
	file := &d.Files[0]
	if anew {
		file.Bytes = skill.WithText(file.Bytes, d.Text)
	}
	slug := d.Name
	if !prompt.ValidSlug(slug) {
		slug = prompt.Slug(d.Name)
	}
	if slug == "" || skill.NameIn(file.Bytes) == slug {
		return d
	}
	d.Name, file.Bytes = slug, skill.WithName(file.Bytes, slug)
	d.Warnings = append(slices.Clip(d.Warnings), format.Warning{
		Text: fmt.Sprintf("SKILL.md must say the name of its folder, so the line of its name is changed to %q", slug),
	})
	return d
}

// over returns what becomes of a prompt with a document. A SKILL.md alone takes the place of that
// among files of the prompt.
func over(d format.Document, was prompt.Draft, slug string) prompt.Draft {
	made := d.Over(format.Of(was)).Draft()
	if s := made.Source; s == nil || len(made.Files) > 0 || len(was.Files) == 0 ||
		format.Format(s.Format) != format.Skill {
		return made
	}
	b := skill.WithName(made.Source.Bytes, slug)
	old, _ := was.Files.SkillFile()
	file := prompt.NewFile(prompt.FileBytes{Path: prompt.SkillFile, Bytes: b, Executable: old.Executable})
	made.Files, made.FileBytes = slices.Clone(was.Files), map[string][]byte{file.SHA256: b}
	made.Files[slices.Index(was.Files, old)] = file
	return made
}

// prompt makes a prompt of a document, or a version of the prompt that has its name.
func (im *importer) prompt(ctx context.Context, d format.Document, item *Item) error {
	d.Versions = nil
	was, err := im.named(ctx, d.Name)
	switch {
	case err != nil:
		return err
	case was == nil:
		return im.create(ctx, d, item)
	}
	item.ID = was.ID
	item.Outcome = Unchanged
	takes := false // a file that says the same, but for what only its format knows
	made, same := over(d, was.Draft, was.Slug), true
	if made.Files != nil {
		if same = made.Files.Same(was.Files); same { // then SKILL.md says the same, too
			d.Text, d.Description = was.Text, was.Description
		}
	}
	if same && d.Within(format.Of(was.Draft)) {
		if made := d.Draft().Source; made != nil {
			var read int
			takes, read, err = Takes(ctx, im.Service, *was, *made)
			im.kept += read
		}
		if err != nil || !takes {
			return err
		}
	}
	if !im.Update {
		return fmt.Errorf(
			"name: a prompt of yours is called %q and says something else; update it, or rename one of the two",
			was.Name)
	}
	if err := d.KeepsKind(format.Of(was.Draft)); err != nil {
		return err
	}
	item.Outcome = Updated
	if im.DryRun {
		return im.Check(ctx, im.who, made, was.Tags)
	}
	if err := im.write(); err != nil {
		return err
	}
	labels, err := im.labelsBefore(ctx, was.ID, made.Labels)
	if err != nil {
		return err
	}
	is, err := im.Patch(ctx, im.who, was.ID, library.Match{Any: true}, func(is *prompt.Draft) {
		*is = over(d, *is, was.Slug)
		is.Anew = takes
	})
	if err == nil {
		im.made = append(im.made, changeOf(*was, is, labels))
	}
	return err
}

// labelsBefore returns the versions that labels are on, which an import is about to move: 0 for
// none.
func (im *importer) labelsBefore(ctx context.Context, id prompt.ID, labels []string) (map[string]int64, error) {
	if len(labels) == 0 {
		return nil, nil //nolint:nilnil // there are none
	}
	has, _, err := im.Labels(ctx, im.who, id)
	before := make(map[string]int64, len(labels))
	for _, label := range labels {
		if label != prompt.Latest {
			before[label] = has[label]
		}
	}
	return before, err
}

// named returns the caller's prompt of exactly this name, nil for none.
func (im *importer) named(ctx context.Context, name string) (*library.View, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // as documented
	}
	v, err := im.GetByName(ctx, im.who, library.IDOf(im.who), name, library.WantedVersion{})
	switch {
	case fault.Of(err) == fault.NotFound, err == nil && v.Name != name:
		return nil, nil //nolint:nilnil // as documented
	case err != nil:
		return nil, err
	}
	return &v, nil
}

func (im *importer) create(ctx context.Context, d format.Document, item *Item) error {
	item.Outcome = Created
	if im.DryRun {
		if err := im.Check(ctx, im.who, d.Draft(), nil); err != nil {
			return err
		}
		made, err := im.MadeBefore(ctx, im.who, d.Draft(), d.Key())
		if made != "" {
			item.ID, item.Outcome = made, Unchanged
		}
		return err
	}
	if err := im.write(); err != nil {
		return err
	}
	v, isNew, err := im.Create(ctx, im.who, d.Draft(), d.Key())
	if err == nil && !isNew {
		item.Outcome = Unchanged
		im.writes--
	}
	if err == nil && isNew {
		im.made = append(im.made, Change{ID: v.ID, Now: v.Version, Is: v.Revision})
	}
	item.ID = v.ID
	return err
}

func (im *importer) profile(ctx context.Context, p profile, item *Item) error {
	item.Title, item.Outcome = "Your profile", Unchanged
	was, err := im.Profile(ctx, im.who)
	if err != nil {
		return err
	}
	want := was.Profile
	want.Handle, want.Name, want.About = cmp.Or(p.Handle, was.Handle), p.Name, p.About
	if p == (profile{}) || want == was.Profile {
		return nil
	}
	if item.Outcome = Updated; im.DryRun {
		_, err := want.Check()
		return err
	}
	if err := im.write(); err != nil {
		return err
	}
	_, err = im.PutProfile(ctx, im.who, want)
	return err
}

// vote votes on a prompt of another author, known here by the same key.
func (im *importer) vote(ctx context.Context, v voted, item *Item) error {
	item.Name, item.Title, item.Outcome = v.On, "Your vote on "+v.Title, Unchanged
	on, err := im.there(ctx, v.On)
	if err != nil {
		return err
	}
	return im.voteOn(ctx, on, v.Value, item)
}

// there returns the prompt that a line is about.
func (im *importer) there(ctx context.Context, name string) (library.View, error) {
	ref, err := prompt.ParseRef(name)
	if err != nil || ref.Owner == "" {
		return library.View{}, fmt.Errorf("%.100q names no prompt of a user", name)
	}
	owner, err := im.OwnerID(ctx, im.who, ref.Owner)
	if err != nil {
		return library.View{}, err
	}
	return im.GetByName(ctx, im.who, owner, ref.Name, library.WantedVersion{})
}

func (im *importer) favorite(ctx context.Context, f favored, item *Item) error {
	item.Name, item.Title, item.Outcome = f.On, "Your favorite "+f.Title, Unchanged
	on, err := im.there(ctx, f.On)
	if err != nil {
		return err
	}
	is, err := im.IsFavorite(ctx, im.who, on.ID)
	if err != nil || is {
		return err
	}
	item.Outcome = Updated
	if im.DryRun {
		return nil
	}
	if err := im.write(); err != nil {
		return err
	}
	return im.Favorite(ctx, im.who, on.ID, true)
}

func (im *importer) voteOn(ctx context.Context, on library.View, value string, item *Item) error {
	vote, ok := prompt.ParseVote(value)
	if !ok {
		return fmt.Errorf("%.40q is no vote", value)
	}
	if on.MyVote == vote {
		return nil
	}
	if item.Outcome == Unchanged {
		item.Outcome = Updated
	}
	if im.DryRun {
		return nil
	}
	if err := im.write(); err != nil {
		return err
	}
	_, err := im.Vote(ctx, im.who, on.ID, vote)
	return err
}
