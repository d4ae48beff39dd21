// Package prompt owns the nouns of the prompt library and their rules: ids, tags, votes, drafts,
// prompts, the words of titles, and when a search finds them. It is pure: no I/O, no clock, no
// randomness of its own.
//
// Each ID, Tag, Vote and Query comes from this package's parsers, and each Draft from Rules.Check,
// so the rest of the program does not check again. Two things are stored and so may not change
// lightly: the output of NormalizeTitle and that of Tokens.
package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"
)

// Visibility says who may see a prompt.
type Visibility string

// The visibilities.
const (
	Private Visibility = "private" // its author alone
	Public  Visibility = "public"  // everyone who may read
)

// RestoreDays is for how many days after deleting a prompt its author can restore it.
const RestoreDays = 30

// A Draft is what an author writes. Rules.Check makes a valid one.
type Draft struct {
	Name      string // by which programs call the prompt; "" asks for the default
	Title     string
	Kind      Kind
	Text      string // of KindText; kept byte for byte
	Messages  []Message
	Config    string // JSON, "" for none
	Variables []Variable
	Tags      []Tag // unique, in the author's order
	// outside the catalog: words of the author's own; no public list and no search knows them
	OwnTags     []string
	Visibility  Visibility
	Description string   // "" stands for the first sentence
	Message     string   // why the content is what it is, for people
	Labels      []string // that the version of this content must get; they are not kept here
	// whether it is a new version even where the content is the one that the prompt has; not kept
	// either
	Anew bool
	// whether that version is one of before descriptions and files belonged to versions, as a history
	// that is brought over may have; not kept either
	AsBefore bool
	// the file that it was made of, which is kept with the version that it becomes
	Source *Source
	// the files of its version; SKILL.md among them says what the text and the description say. In an
	// edit nil stands for those that the prompt has
	Files Files
	// the bytes of those files that the store may lack, by their SHA-256; not kept here
	FileBytes map[string][]byte
	// whether SKILL.md must stay as it is, under the name that it says, as in a history that is
	// brought over; not kept either
	FilesAsBefore bool
	// its writer in a workspace; kept with the version that it becomes, with the moves of its
	// labels and with the event
	By Actor
	// its names elsewhere, which a new prompt gets here if they are free; not kept
	PreviousNames PreviousNames
	// who made its version in another service, and when; kept with the version that it becomes
	Made Made
	// whether its labels get there as another service moved them; not kept here either
	Follows bool
}

// Made says who made a version in the service that it was brought over from, and when, as that
// service says it: the zero value says nothing.
type Made struct {
	By string // at most MaxMadeBy characters; no user of this library
	At time.Time
}

// MaxMadeBy is how long the name may be that another service gives the maker of a version.
const MaxMadeBy = 100

// PreviousNames are the slug and the old names that a prompt had in the library it comes from.
type PreviousNames struct {
	Slug     string   // "" asks for the default
	OldNames []string // the oldest first
}

// Content returns what versions keep of the draft.
func (d Draft) Content() Content {
	return Content{Kind: d.Kind, Text: d.Text, Messages: d.Messages, Config: d.Config, Variables: d.Variables}
}

// With returns the draft with another content.
func (d Draft) With(c Content) Draft {
	d.Kind, d.Text, d.Messages, d.Config, d.Variables = c.Kind, c.Text, c.Messages, c.Config, c.Variables
	return d
}

// As returns the draft with what a version says: its content, and its description if it has one of
// its own.
func (d Draft) As(v Version) Draft {
	if !v.Undescribed {
		d.Description = v.Description
	}
	d.Files, d.FileBytes = v.Files, nil
	if d.Files == nil {
		d.Files = Files{}
	}
	return d.With(v.Content)
}

// Equal reports whether two drafts say the same. Why they do is not compared.
func (d Draft) Equal(e Draft) bool {
	return d.Content().Same(e.Content()) && d.State(nil) == e.State(nil)
}

// State names what a prompt is in addition to the content of a version with some labels: while it
// stays the same, and the content does, the file that the version was made of says what the prompt
// is. It is stored with such files and with the keys of requests, so a new member goes to the end
// and leaves the state of prompts without it as it was.
func (d Draft) State(labels []string) string {
	says := []any{
		d.Name, d.Title, d.Description, append([]Tag{}, d.Tags...), append([]string{}, d.OwnTags...), d.Visibility,
		append([]string{}, slices.Sorted(slices.Values(labels))...),
	}
	if written := d.Files.Written(); len(written) > 0 {
		says = append(says, written.Digest())
	}
	b, _ := json.Marshal(says) // texts cannot fail
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// About returns the description, or the first sentence if there is none, with each placeholder as
// {{name}}.
func (d Draft) About() string {
	if d.Description != "" {
		return d.Description
	}
	bare, _ := d.Content().Bare()
	return sentence(body(bare.Words()))
}

// An Actor is who acts for a workspace. It is zero where persons act on what is theirs.
type Actor struct {
	Key       UserID // the public key of a person, or the key of an access token
	Publishes bool   // whether they may change what others rely on
	Follows   bool   // whether an import moves labels as another service does
}

// A Prompt is a stored prompt with its tally.
type Prompt struct {
	ID         ID
	AuthorID   UserID
	AuthorName string
	Draft
	CreatedAt    time.Time // the time inside ID
	UpdatedAt    time.Time // of the last edit; votes leave it alone
	DeletedAt    time.Time // zero: not deleted
	HiddenAt     time.Time // zero: not hidden
	HiddenBy     UserID    // the moderator's id
	HiddenReason string    // for the author to read
	Tally
	Revision int64 // one more with every edit

	// the name as a URL can hold it
	Slug       string
	OldNames   []string   // that still lead to it, the oldest first
	ForkedFrom ForkedFrom // of a fork
	Versions
	// of its content and of all that it included when it was saved; nil if it includes nothing
	AllArguments []Argument
	// the writer of its version for a workspace, by the key of Draft.By
	MadeBy UserID
	// of the version with the label production, if the prompt holds another
	InProduction *ProgramSummary
}

// OwnNames returns the names that the prompt has now.
func (p Prompt) OwnNames() []string { return slices.Compact([]string{p.Name, p.Slug}) }

// Names returns all names that lead to the prompt, those that it had last.
func (p Prompt) Names() []string { return append(p.OwnNames(), p.OldNames...) }

// A ForkedFrom is the version of another prompt that a fork was made of, or that was merged into it
// last. It is zero for a prompt that is no fork.
type ForkedFrom struct {
	ID      ID
	Version int64
}

// Deleted reports whether the author has deleted the prompt.
func (p Prompt) Deleted() bool { return !p.DeletedAt.IsZero() }

// Hidden reports whether a moderator has hidden the prompt.
func (p Prompt) Hidden() bool { return !p.HiddenAt.IsZero() }

// Listed reports whether the prompt may be in public lists: public, neither deleted nor hidden.
func (p Prompt) Listed() bool { return p.Visibility == Public && !p.Deleted() && !p.Hidden() }
