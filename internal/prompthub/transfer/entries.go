package transfer

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/jsonsize"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// A spot is the place of an entry in a file, with the members that decide the order of entries. All
// spots of a file are held, but entries are read one at a time.
type spot struct {
	name     string
	oldNames []string
	includes []string
	size     int          // bytes of the file
	yaml     int          // bytes of these that are YAML
	parts    int          // of the YAML or JSON, or fields of a row
	read     func() entry // the entry
}

// An entry is one thing in a file: a prompt as a rule, or what else an account has.
type entry struct {
	place string
	doc   format.Document
	err   error // why it is nothing

	publicFrom int64            // of a prompt with a history
	elsewhere  map[int64]string // hashes of versions that another request brings
	last       int64            // number of the last version that this one brings
	vote       string           // of its author
	from       string           // the service that it goes on in; "" for none
	former     prompt.PreviousNames
	profile    *profile
	voted      *voted
	favored    *favored
}

// spotsOf returns where the entries of a file are, and the names of files in an archive that were
// passed over. An entry that includes others, or would take the name of another for its slug, comes
// after them.
func spotsOf(file, page string, b []byte) (all []spot, skipped []string, err error) {
	if page != "" && !format.IsArchive(b) {
		if b, err = format.InUTF8(b, page); err != nil {
			return nil, nil, unreadable(err)
		}
	}
	switch {
	case format.IsArchive(b):
		var files []format.File
		if files, skipped, err = format.ArchiveOfSkills(b, maxArchive); err != nil {
			return nil, nil, unreadable(err)
		}
		if page != "" {
			files = format.FilesInUTF8(files, page)
		}
		all, err = collect(format.PartsOf(files, ""))
	case isAccount(file, b):
		if jsonsize.Parts(b) > format.MaxParts {
			return nil, nil, errTooManyParts
		}
		all, err = accountSpots(b)
	default:
		all, err = collect(format.Parts(file, b, ""))
	}
	return inOrder(all), skipped, err
}

// Unreadable is the code of a file, or an entry, that cannot be read and has no other code.
const Unreadable fault.Code = "FILE_UNREADABLE"

func unreadable(err error) error {
	return fault.Coded(fault.Invalid, cmp.Or(fault.CodeOf(err), Unreadable), err.Error())
}

func collect(parts iter.Seq2[format.Part, error]) ([]spot, error) {
	var all []spot
	total := 0 // parts of JSON
	for part, err := range parts {
		if err != nil {
			return nil, unreadable(err)
		}
		if len(all) == format.MaxRows {
			return nil, errTooMany
		}
		s := spot{name: part.Name(), includes: part.Includes(), size: part.Size(), read: func() entry {
			if err := part.Check(); err != nil {
				return entry{place: part.Place(), err: err}
			}
			row := part.Row()
			return entry{place: part.Place(), doc: row.Document, err: row.Err}
		}}
		s.yaml, s.parts = part.Weight()
		if part.IsJSON() {
			total += s.parts
		}
		if total > format.MaxParts {
			return nil, errTooManyParts
		}
		all = append(all, s)
	}
	if len(all) == 0 {
		return nil, unreadable(errors.New("there is no prompt in it"))
	}
	return all, nil
}

// errTooMany refuses a file of which each request would read all, to look at a few.
var errTooMany = fault.Coded(fault.Invalid, format.TooManyEntries,
	fmt.Sprintf("there are more than %d entries in the file: take a part of them", format.MaxRows))

// errTooManyParts refuses files of which each request would read over too much.
var errTooManyParts = fault.Coded(fault.Invalid, jsonsize.TooManyParts,
	fmt.Sprintf("there are more than %d elements and members of JSON in the file: take a part of it", format.MaxParts))

// A lineSeen is what tells a line of an account from one of an export, which has a content in
// addition to its versions. Nothing is made of its lists.
type lineSeen struct {
	Profile  *profile       `json:"profile"`
	Voted    *voted         `json:"voted"`
	Favored  *favored       `json:"favored"`
	Of       string         `json:"of"`
	Name     string         `json:"name"`
	Text     string         `json:"text"`
	Versions filled         `json:"versions"`
	Messages filled         `json:"messages"`
	OldNames jsontext.Value `json:"oldNames"`
}

// look looks over a line. Whether a name stands there twice, which takes memory for each, is told
// when the line is read.
func (l *lineSeen) look(text []byte) error {
	return json.Unmarshal(text, l, jsontext.AllowDuplicateNames(true))
}

// A filled tells whether a list has elements.
type filled bool

// UnmarshalJSONFrom reads over a value.
func (f *filled) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	v, err := d.ReadValue()
	*f = err == nil && v.Kind() == '[' && bytes.TrimSpace(v[1:])[0] != ']'
	return err
}

// isAccount reports whether a file is a part of the export of an account.
func isAccount(file string, b []byte) bool {
	if format.Detect(file, b) != format.JSONLines {
		return false
	}
	first, _, _ := bytes.Cut(bytes.TrimSpace(b), []byte("\n"))
	var l lineSeen
	return l.look(first) == nil &&
		(l.Profile != nil || l.Voted != nil || l.Favored != nil || l.Of != "" ||
			bool(l.Versions) && l.Text == "" && !bool(l.Messages))
}

// accountSpots finds the entries of an account, of which one may have several lines.
func accountSpots(b []byte) ([]spot, error) {
	var all []spot
	begin, end, first, lines := 0, 0, 0, 0 // of the last one, its first line, and how many it has
	n := 0
	for text := range bytes.Lines(b) {
		n++
		at := end
		if end += len(text); len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var l lineSeen
		err := l.look(text)
		if goesOn := err == nil && l.Of != "" && len(all) > 0 && all[len(all)-1].name == l.Of; !goesOn {
			if len(all) == format.MaxRows {
				return nil, errTooMany
			}
			begin, first, lines = at, n, 0
			all = append(all, spot{})
		}
		if lines++; lines > maxHistory {
			return nil, fault.Coded(fault.Invalid, format.TooManyEntries,
				fmt.Sprintf("line %d: the history of a prompt has more than %d lines: leave it out", n, maxHistory))
		}
		s := &all[len(all)-1]
		of, at1 := b[begin:end], first
		s.size, s.read = len(of), func() entry { return accountEntry(of, at1) }
		s.parts += jsonsize.Parts(text)
		if err == nil && l.Of == "" {
			s.name = l.Name
		}
		if err == nil && l.OldNames != nil && s.parts <= jsonsize.Most {
			_ = json.Unmarshal(l.OldNames, &s.oldNames) // reading the entry tells what is wrong with it
		}
		s.includes = append(s.includes, format.IncludesOf(text)...)
	}
	return all, nil
}

// accountEntry reads the lines of one entry, which begin with a line of the file.
func accountEntry(lines []byte, n int) (e entry) {
	e.place = fmt.Sprintf("line %d", n)
	if jsonsize.Parts(lines) > jsonsize.Most {
		e.err = fault.Coded(fault.Invalid, jsonsize.TooManyParts, fmt.Sprintf(
			"it has more than %d elements and members: send the file with import --account of the program, which sends such a history in parts", jsonsize.Most))
		return e
	}
	for text := range bytes.Lines(lines) {
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		var l line
		err := json.Unmarshal(text, &l)
		switch {
		case err != nil:
			e.err = fmt.Errorf("not a line of an account: %w", err)
		case l.Of != "" && e.doc.Name == l.Of:
			e.doc.Versions = append(e.doc.Versions, l.Versions...)
		case l.Of != "":
			e.err = errors.New("the history of a prompt goes on here, which does not stand before it")
		case l.Account != nil:
			e.publicFrom, e.vote, e.from, e.former = l.PublicFrom, l.Vote, l.From,
				prompt.PreviousNames{Slug: l.Slug, OldNames: l.OldNames}
			e.doc = format.Version{}.In(l.Document)
			e.doc.Versions, e.doc.Extra = e.versions(l), format.Extra{Format: format.JSONLines}
		}
		if l.Of == "" {
			e.profile, e.voted, e.favored = l.Profile, l.Voted, l.Favored
		}
	}
	return e
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

// names reports whether a hash is that of a version, wherever it is. If its file is not here, the
// version may have been made without it, or go on with the file of a version before it.
func (e *entry) names(v format.Version, hash string) bool {
	if is, ok := e.elsewhere[v.Version]; ok {
		return hash == is
	}
	if hash == v.Hash() {
		return true
	}
	if v.Source == nil {
		v.FileHash = ""
		for _, before := range e.doc.Versions {
			if before.Source != nil && before.Version < v.Version {
				v.FileHash = before.Source.Hash()
			}
		}
	}
	return hash == v.Hash()
}

// inOrder puts what others include before them, and a prompt before those that would take its name
// for their slug.
func inOrder(all []spot) []spot {
	at := make(map[string]int)
	for i, s := range all {
		for _, name := range s.oldNames {
			at[name] = i
		}
	}
	for i, s := range all {
		if s.name != "" {
			at[s.name] = i
		}
	}
	ordered := make([]spot, 0, len(all))
	seen := make([]bool, len(all))
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		slices.Sort(all[i].includes)
		for _, name := range append(slices.Compact(all[i].includes), prompt.Slug(all[i].name)) {
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

// maxGaps is how many deleted versions of a prompt are made up for.
const maxGaps = 100

// allVersions returns the versions of a prompt from the first number on, with others in the place
// of those that were deleted, and the numbers of these.
func allVersions(d format.Document) (all []format.Version, gaps []int64, err error) {
	for _, v := range d.Versions {
		next := int64(len(all) + 1)
		if v.Version == 0 { // files of before had no numbers
			v.Version = next
		}
		if v.Version < next {
			return nil, nil, fmt.Errorf("version %d stands behind version %d", v.Version, next-1)
		}
		if v.Version-next > maxGaps {
			return nil, nil, errManyGone
		}
		for ; next < v.Version; next++ {
			all, gaps = append(all, gone(next, v.Kind)), append(gaps, next)
		}
		if len(gaps) > maxGaps { // which would take all memory, if each version had some before it
			return nil, nil, errManyGone
		}
		all = append(all, v)
	}
	return all, gaps, nil
}

var errManyGone = fmt.Errorf("more than %d versions were deleted", maxGaps)

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
