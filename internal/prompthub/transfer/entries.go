package transfer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-json-experiment/json"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/format"
	"prompthub/internal/prompthub/prompt"
)

// An entry is one thing in a file: a prompt as a rule, or what else an account has.
type entry struct {
	row   int
	place string
	doc   format.Document
	err   error // why it is nothing

	publicFrom int64            // of a prompt with a history
	elsewhere  map[int64]string // hashes of versions that another request brings
	last       int64            // number of the last version that this one brings
	vote       string           // of its author
	former     prompt.Former
	profile    *profile
	voted      *voted
	favored    *favored
}

// entriesOf returns what is in a file, and the names of files in an archive that were passed over.
// What includes others, or would take the name of another for its slug, stands behind them.
func entriesOf(file string, b []byte) (all []entry, skipped []string, err error) {
	if format.IsArchive(b) {
		files, skipped, err := format.Archive(b, maxArchive)
		if err != nil {
			return nil, nil, invalid(err)
		}
		all, err := collect(format.RowsOf(files, ""))
		return inOrder(all), skipped, err
	}
	if isAccount(file, b) {
		all, err := accountEntries(b)
		return inOrder(all), nil, err
	}
	all, err = collect(format.Rows(file, b, ""))
	return inOrder(all), nil, err
}

func invalid(err error) error {
	return fault.New(fault.Invalid, err.Error())
}

func collect(rows iter.Seq2[format.Row, error]) ([]entry, error) {
	var all []entry
	for row, err := range rows {
		if err != nil {
			return nil, invalid(err)
		}
		if len(all) == format.MaxRows {
			return nil, invalid(errTooMany)
		}
		all = append(all, entry{row: row.Number, place: row.Place(), doc: row.Document, err: row.Err})
	}
	if len(all) == 0 {
		return nil, invalid(errors.New("there is no prompt in it"))
	}
	return all, nil
}

// errTooMany refuses a file of which each request would read all, to look at a few.
var errTooMany = fmt.Errorf("there are more than %d entries in the file: take a part of them", format.MaxRows)

// A lineSeen is a line of an account, or of an export, which has a content beside its versions.
type lineSeen struct {
	line
	Text     string           `json:"text"`
	Messages []prompt.Message `json:"messages"`
}

// isAccount reports whether a file is a part of the export of an account.
func isAccount(file string, b []byte) bool {
	if format.Detect(file, b) != format.JSONLines {
		return false
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	var l lineSeen
	return json.Unmarshal(first, &l) == nil &&
		(l.Profile != nil || l.Voted != nil || l.Favored != nil || l.Of != "" || len(l.Versions) > 0 && l.Text == "" && len(l.Messages) == 0)
}

func accountEntries(b []byte) ([]entry, error) {
	var all []entry
	n := 0
	for text := range bytes.Lines(b) {
		if n++; len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var l line
		e := entry{row: n, place: fmt.Sprintf("line %d", n)}
		if e.err = json.Unmarshal(text, &l); e.err != nil {
			e.err = fmt.Errorf("not a line of an account: %w", e.err)
		}
		switch last := len(all) - 1; {
		case e.err == nil && l.Of != "" && last >= 0 && all[last].doc.Name == l.Of:
			all[last].doc.Versions = append(all[last].doc.Versions, l.Versions...)
			continue
		case e.err == nil && l.Of != "":
			e.err = errors.New("the history of a prompt goes on here, which does not stand before it")
		case l.Account != nil:
			e.publicFrom, e.vote, e.former = l.PublicFrom, l.Vote, prompt.Former{Slug: l.Slug, OldNames: l.OldNames}
			e.doc = format.Document{
				Name: l.Name, Title: l.Title, Description: l.Description, Tags: l.Tags, OwnTags: l.OwnTags, Visibility: l.Visibility,
				Versions: e.versions(l), Extra: format.Extra{Format: format.JSONLines},
			}
		}
		if len(all) == format.MaxRows {
			return nil, invalid(errTooMany)
		}
		e.profile, e.voted, e.favored = l.Profile, l.Voted, l.Favored
		all = append(all, e)
	}
	return all, nil
}

// versions returns the versions of a history, with others in their places, which have no content.
func (e *entry) versions(l line) []format.Version {
	if len(l.Others) == 0 {
		return l.Versions
	}
	all := slices.Clone(l.Versions)
	for _, v := range all {
		e.last = max(e.last, v.Version)
	}
	e.elsewhere = make(map[int64]string)
	for _, o := range l.Others {
		e.elsewhere[o.Version] = o.Hash
		all = append(all, format.Version{Version: o.Version, Kind: o.Kind, Labels: o.Labels})
	}
	slices.SortStableFunc(all, func(a, b format.Version) int { return cmp.Compare(a.Version, b.Version) })
	return all
}

// hash names the content of a version, wherever it is.
func (e *entry) hash(v format.Version) string {
	if hash, ok := e.elsewhere[v.Version]; ok {
		return hash
	}
	return v.Hash()
}

// inOrder puts what others include before them, and a prompt before those that would take its name
// for their slug.
func inOrder(all []entry) []entry {
	at := make(map[string]int)
	for i, e := range all {
		for _, name := range e.former.OldNames {
			at[name] = i
		}
	}
	for i, e := range all {
		if e.doc.Name != "" {
			at[e.doc.Name] = i
		}
	}
	ordered := make([]entry, 0, len(all))
	seen := make([]bool, len(all))
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		for _, name := range append(all[i].includes(), prompt.Slug(all[i].doc.Name)) {
			if before, ok := at[name]; ok {
				visit(before)
			}
		}
		ordered = append(ordered, all[i])
	}
	for i := range all {
		visit(i)
	}
	return ordered
}

// includes returns the names of what any version includes.
func (e entry) includes() []string {
	var names []string
	contents := []prompt.Content{e.doc.Draft().Content()}
	for _, v := range e.doc.Versions {
		contents = append(contents, v.In(e.doc).Draft().Content())
	}
	for _, c := range contents {
		for _, i := range c.Includes() {
			names = append(names, i.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// maxGaps is how many deleted versions of a prompt are made up for.
const maxGaps = 100

// whole returns the versions of a prompt from the first number on, with others in the place of
// those that were deleted, and the numbers of these.
func whole(d format.Document) (all []format.Version, gaps []int64, err error) {
	for _, v := range d.Versions {
		next := int64(len(all) + 1)
		if v.Version == 0 { // files of before had no numbers
			v.Version = next
		}
		if v.Version < next || v.Version-next > maxGaps {
			return nil, nil, fmt.Errorf("version %d stands behind version %d", v.Version, next-1)
		}
		for ; next < v.Version; next++ {
			all, gaps = append(all, gone(next, v.Kind)), append(gaps, next)
		}
		if len(gaps) > maxGaps { // which would take all memory, if each version had some before it
			return nil, nil, fmt.Errorf("more than %d versions were deleted", maxGaps)
		}
		all = append(all, v)
	}
	return all, gaps, nil
}

// gone stands for a deleted version until it is deleted here too.
func gone(n int64, kind prompt.Kind) format.Version {
	text := fmt.Sprintf("Version %d was deleted.", n)
	if kind == prompt.KindChat {
		return format.Version{Version: n, Kind: kind, Messages: []prompt.Message{{Role: "user", Content: text}}}
	}
	return format.Version{Version: n, Text: text}
}

// publishedAt returns the version with which a prompt becomes public; 0 for none.
func (e entry) publishedAt() int64 {
	if e.doc.Visibility != string(prompt.Public) || len(e.doc.Versions) == 0 {
		return 0
	}
	return cmp.Or(e.publicFrom, e.doc.Versions[len(e.doc.Versions)-1].Version)
}
