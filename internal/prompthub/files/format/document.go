package format

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"prompthub/internal/jsonsize"
	"prompthub/internal/legible"
	"prompthub/internal/prompthub/prompt"
)

// A Document is what a file says of a prompt. Members that it does not say are empty. The JSON is a
// line of an export, and what the API takes.
type Document struct {
	Name        string            `json:"name,omitempty"` // by which programs call it
	Title       string            `json:"title"`
	Description string            `json:"description,omitempty"`
	Kind        prompt.Kind       `json:"kind,omitempty"`
	Text        string            `json:"text,omitempty"`
	Messages    []prompt.Message  `json:"messages,omitempty"` // of a chat, instead of Text
	Config      jsontext.Value    `json:"config,omitempty"`
	Variables   []prompt.Variable `json:"variables,omitempty"` // those declared
	Tags        []string          `json:"tags"`
	OwnTags     []string          `json:"ownTags,omitempty"` // outside the catalog
	Visibility  string            `json:"visibility,omitempty"`
	Labels      []string          `json:"labels,omitempty"`  // of the version with this content
	Message     string            `json:"message,omitempty"` // why the content is what it is
	// The contents that the prompt had and has, the oldest first. Only our own export has them.
	Versions []Version `json:"versions,omitempty"`
	// the file that says all this, for the library to keep
	Source *Source `json:"source,omitempty"`

	// all files of a skill that has others than SKILL.md, which says the rest
	Files []prompt.FileBytes `json:"-"`

	Extra Extra `json:"-"`
	// what the author of the file should know of how it was read
	Warnings []Warning `json:"-"`

	assumed bool   // the visibility is not the file's
	syntax  string // of the texts, where they were written in one: as LangChain names it
	// the members that characters were removed from, which no reader sees
	readable []string
}

// A Source is a file with one prompt.
type Source struct {
	Format Format `json:"format"`
	File   string `json:"file"` // its name
	Data   []byte `json:"data"`
	// what the prompt was when it was made of the file, as the library wrote it
	State  string `json:"state,omitempty"`
	Syntax Syntax `json:"syntax,omitempty"` // in which the text of the file was rewritten
	// the names of members that only its format knows, as the library keeps them with the file
	Extra []string `json:"extra,omitempty"`
}

// kept returns the source as it is stored; nil where it is none that can be.
func (s *Source) kept() *prompt.Source {
	if s == nil {
		return nil
	}
	k := prompt.Source{Format: string(s.Format), File: s.File, Bytes: s.Data, State: s.State, Syntax: string(s.Syntax)}
	if !Kept(&k) {
		return nil
	}
	return k.WithExtra(s.Extra)
}

// Hash names a file that is kept, "" one that is not.
func (s *Source) Hash() string {
	if k := s.kept(); k != nil {
		return k.Hash()
	}
	return ""
}

// Kept reports whether a file can be kept with the version that was made of it: one that costs
// little to read, because each export in its format reads it again. Its YAML
// has no aliases.
func Kept(s *prompt.Source) bool {
	f := Format(s.Format)
	_, parts := weightOf(f, s.Bytes)
	return s.Kept() && parts <= maxKeptParts && !hasAliases(yamlOf(f, s.Bytes))
}

// weightOf returns how many bytes of a file are YAML, and how many parts its YAML or JSON has.
func weightOf(f Format, file []byte) (yaml, parts int) {
	if f.isJSON() {
		return 0, jsonsize.Parts(file)
	}
	y := yamlOf(f, file)
	return len(y), yamlParts(y)
}

// yamlOf returns the YAML in a file of a format.
func yamlOf(f Format, file []byte) []byte {
	switch {
	case slices.Contains([]string{".yml", ".yaml"}, path.Ext(codecs[f].path)):
		return bytes.TrimPrefix(file, bom)
	case codecs[f].front:
		if y, _, err := cutFrontMatter(bytes.TrimPrefix(file, bom), codecs[f].comments); err == nil {
			return y
		}
	}
	return nil
}

// A Version is a content of a prompt.
type Version struct {
	Version   int64             `json:"version"`
	Kind      prompt.Kind       `json:"kind,omitempty"`
	Text      string            `json:"text,omitempty"`
	Messages  []prompt.Message  `json:"messages,omitempty"`
	Config    jsontext.Value    `json:"config,omitempty"`
	Variables []prompt.Variable `json:"variables,omitempty"`
	Labels    []string          `json:"labels,omitempty"`
	Message   string            `json:"message,omitempty"`
	CreatedAt string            `json:"createdAt,omitempty"`
	MadeBy    string            `json:"madeBy,omitempty"` // in the service that it was brought over from
	MadeAt    time.Time         `json:"madeAt,omitzero"`
	Recall    string            `json:"recall,omitempty"` // why it was recalled; "" if it was not
	Source    *Source           `json:"source,omitempty"` // the file that it was made of

	// nil of one that has none of its own: see prompt.Version.Undescribed
	Description *string `json:"description,omitzero"`
	FileHash    string  `json:"fileHash,omitempty"` // of the file, also if Source is not here
	// what could not be read where it was exported: Source
	Loss []string `json:"loss,omitempty"`
	// without a SKILL.md that the library made: it makes another
	Files []VersionFile `json:"files,omitempty"`
}

// A VersionFile is a file of a version. Its bytes are here where they come first in a history.
type VersionFile struct {
	Path       string `json:"path"`
	SHA256     string `json:"sha256"` // in hex
	Executable bool   `json:"executable,omitempty"`
	Data       []byte `json:"data,omitempty"`
}

// In returns a document with the content of the version.
func (v Version) In(d Document) Document {
	d.Kind, d.Text, d.Messages, d.Config, d.Variables = v.Kind, v.Text, v.Messages, v.Config, v.Variables
	d.Labels, d.Message, d.Source = v.Labels, v.Message, v.Source
	if v.Description != nil {
		d.Description = *v.Description
	}
	return d.normal()
}

// Hash names what the version says, as the library that it comes from does.
func (v Version) Hash() string {
	d := v.In(Document{}).draft()
	is := prompt.Version{
		Content: d.Content(), Description: d.Description, FileHash: v.FileHash,
		Undescribed: v.Description == nil,
	}
	if kept := v.Source.kept(); kept != nil {
		is.FileHash = kept.Hash()
	}
	for _, f := range v.Files {
		is.Files = append(is.Files, prompt.File{Path: f.Path, SHA256: f.SHA256, Executable: f.Executable})
	}
	if len(is.Files) > 0 {
		is.FileHash = "" // SKILL.md is one of the files
		slices.SortFunc(is.Files, func(a, b prompt.File) int { return strings.Compare(a.Path, b.Path) })
	}
	return is.Digest()
}

// HashIn names what a new version says that is made of this one in a document.
func (v Version) HashIn(d Document) string {
	if v.FileHash = ""; v.Description == nil {
		v.Description = &d.Description
	}
	return v.Hash()
}

// Unheld returns what a file says that the library does not hold, and keeps in the file at most:
// members that only its format knows, and the file itself where it cannot be kept.
func (d Document) Unheld() (loss []string) {
	if loss = d.Extra.names(); d.Source.kept() == nil {
		loss = append(loss, FieldSource)
	}
	for _, member := range d.readable {
		loss = append(loss, member+FieldInvisible)
	}
	return loss
}

// FieldInvisible is what Unheld puts after the name of a member that invisible characters were
// removed from.
const FieldInvisible = ".invisible"

// Readable returns the document with a title and a name that say what their readers see, as
// prompt.Rules want them. Unheld tells of which of them something was removed.
func (d Document) Readable() Document {
	for _, of := range []struct {
		member string
		line   *string
	}{{fieldTitle, &d.Title}, {fieldName, &d.Name}} {
		if line := legible.Clean(*of.line); strings.TrimSpace(line) != strings.TrimSpace(*of.line) {
			*of.line, d.readable = line, append(slices.Clone(d.readable), of.member)
		}
	}
	return d
}

// FieldSource is what Unheld calls the file itself.
const FieldSource = "source"

// SameLines reports whether files are the same but for their line ends, which git changes.
func SameLines(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	lf := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), newline) }
	return bytes.Equal(lf(a), lf(b))
}

// SameExtra reports whether two files say the same of what only their format knows. One that cannot
// be read says nothing of it.
func SameExtra(f Format, name string, a, b []byte) bool {
	d, _ := Read(f, name, a)
	e, _ := Read(f, name, b)
	return d.Extra.Same(e.Extra)
}

// Same reports whether two formats know the same of a prompt.
func (e Extra) Same(f Extra) bool {
	isNull := func(m member) bool { return m.value.Kind() == 'n' } // which says nothing
	a, b := slices.DeleteFunc(slices.Clone(e.Members), isNull), slices.DeleteFunc(slices.Clone(f.Members), isNull)
	return sameJSON(a.value(), b.value())
}

// names returns the members as reports name them.
func (e Extra) names() []string {
	var list []string
	for _, name := range e.members() {
		list = append(list, "extra."+name)
	}
	return list
}

// Extra is what only one format knows: members of its files in their order.
type Extra struct {
	Format  Format
	Members object
}

// members returns their names.
func (e Extra) members() (names []string) {
	for _, m := range e.Members {
		if m.value.Kind() != 'n' { // which says nothing
			names = append(names, m.name)
		}
	}
	return names
}

// Named returns an Extra of which the names are known and nothing else: enough to tell what another
// format loses.
func Named(f Format, names []string) Extra {
	e := Extra{Format: f}
	for _, name := range names {
		e.Members = append(e.Members, member{name, jsontext.Value("true")})
	}
	return e
}

// Made fills in the names of what only the format of a file knows, which it reads for them.
func Made(s *prompt.Source) *prompt.Source {
	if d, err := Read(Format(s.Format), s.File, s.Bytes); err == nil {
		return s.WithExtra(d.Extra.members())
	}
	return s
}

// draft returns the document as the library's rules see it.
func (d Document) draft() prompt.Draft {
	return prompt.Draft{
		Name: d.Name, Title: d.Title, Description: d.Description, Kind: d.Kind, Text: d.Text, Messages: d.Messages,
		Config: string(d.Config), Variables: d.Variables, Visibility: prompt.Visibility(d.Visibility),
		Message: d.Message, Labels: d.Labels, OwnTags: d.OwnTags,
	}
}

// Of returns a stored draft as a document.
func Of(d prompt.Draft) Document {
	made := Document{
		Name: d.Name, Title: d.Title, Description: d.Description, Kind: d.Kind, Text: d.Text, Messages: d.Messages,
		Config: jsontext.Value(d.Config), Variables: d.Variables, OwnTags: d.OwnTags, Visibility: string(d.Visibility),
		Labels: d.Labels, Message: d.Message,
	}
	for _, tag := range d.Tags {
		made.Tags = append(made.Tags, string(tag))
	}
	return made.normal()
}

// Draft returns the document as rules check it: with a title, and private where it does not say.
func (d Document) Draft() prompt.Draft {
	draft := d.Titled().draft()
	draft.Visibility = cmp.Or(draft.Visibility, prompt.Private)
	if draft.Source = d.Source.kept(); draft.Source != nil && d.Extra.Format == d.Source.Format &&
		len(d.Extra.Members) > 0 {
		draft.Source = draft.Source.WithExtra(d.Extra.members())
	}
	for _, tag := range d.Tags {
		draft.Tags = append(draft.Tags, prompt.Tag(tag))
	}
	draft.Files, draft.FileBytes = d.files()
	return draft
}

// files returns the files as a version lists them, with their bytes by their SHA-256; nil for none.
func (d Document) files() (files prompt.Files, all map[string][]byte) {
	if len(d.Files) == 0 {
		return nil, nil
	}
	all = make(map[string][]byte)
	for _, b := range d.Files {
		f := prompt.NewFile(b)
		files, all[f.SHA256] = append(files, f), b.Bytes
	}
	slices.SortFunc(files, func(a, b prompt.File) int { return strings.Compare(a.Path, b.Path) })
	return files, all
}

// Titled returns the document with a title: its own, or else the last part of its name.
func (d Document) Titled() Document {
	if strings.TrimSpace(d.Title) == "" {
		d.Title = d.Name[strings.LastIndexByte(d.Name, '/')+1:]
	}
	return d
}

// Key returns the Idempotency-Key with which an import makes a prompt of the document: equal
// documents have the same, in any file, by page, API or command, and with any visibility. So the
// same file taken in twice creates nothing the second time.
func (d Document) Key() string {
	d = d.Titled()
	d.Visibility = ""
	d.Source, d.Versions = nil, nil                            // another file may say the same
	b, _ := json.Marshal(d.normal(), json.Deterministic(true)) // which was read from JSON, or could have been
	if files, _ := d.files(); len(files) > 0 {
		b = append(b, files.Digest()...)
	}
	return fmt.Sprintf("import-%x", sha256.Sum256(b))
}

// normal returns the document as equal ones look: without empty lists, with its config as compact
// JSON, and with variables that say their type.
func (d Document) normal() Document {
	if d.Kind == "text" {
		d.Kind = prompt.KindText
	}
	if len(d.Messages) == 0 {
		d.Messages = nil
	} else {
		d.Kind = prompt.KindChat
	}
	if config := slices.Clone(d.Config); config.Compact() == nil && config.Kind() != 'n' {
		d.Config = config
	} else {
		d.Config = nil
	}
	variables := d.Variables
	d.Variables = nil
	for _, v := range variables {
		v.Type = cmp.Or(v.Type, prompt.Line)
		if len(v.Choices) == 0 {
			v.Choices = nil
		}
		d.Variables = append(d.Variables, v)
	}
	for _, list := range []*[]string{&d.Tags, &d.OwnTags, &d.Labels} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	return d
}

// The members of a document, as reports name them.
const (
	fieldName        = "name"
	fieldTitle       = "title"
	fieldDescription = "description"
	fieldKind        = "kind"
	fieldText        = "text"
	fieldMessages    = "messages"
	fieldConfig      = "config"
	fieldVariables   = "variables"
	fieldTags        = "tags"
	fieldOwnTags     = "ownTags"
	fieldVisibility  = "visibility"
	fieldLabels      = "labels"
	fieldMessage     = "message"
)

// A field is a member of a document as files have it.
type field struct {
	name  string
	of    func(*Document) any // a pointer to it
	parts []string            // what a format may lose of it
	most  int                 // UTF-16 code units, after which an import cuts it; 0 for never
	stays bool                // a text that an import leaves as it is if the file does not say it
}

// documentFields are the members that a format can keep, in the order of files.
var documentFields = []field{
	{name: fieldName, of: func(d *Document) any { return &d.Name }, stays: true},
	{name: fieldTitle, of: func(d *Document) any { return &d.Title }, most: prompt.MaxTitle, stays: true},
	{name: fieldText, of: func(d *Document) any { return &d.Text }},
	{
		name: fieldDescription, of: func(d *Document) any { return &d.Description },
		most: prompt.MaxDescription, stays: true,
	},
	{name: fieldKind, of: func(d *Document) any { return &d.Kind }},
	{name: fieldMessages, of: func(d *Document) any { return &d.Messages }, parts: []string{"role", "placeholder"}},
	{name: fieldConfig, of: func(d *Document) any { return &d.Config }},
	{
		name: fieldVariables, of: func(d *Document) any { return &d.Variables },
		parts: []string{"label", "description", "type", "required", "default", "choices"},
	},
	{name: fieldTags, of: func(d *Document) any { return &d.Tags }},
	{name: fieldOwnTags, of: func(d *Document) any { return &d.OwnTags }},
	{name: fieldVisibility, of: func(d *Document) any { return &d.Visibility }, stays: true},
	{name: fieldLabels, of: func(d *Document) any { return &d.Labels }},
	{name: fieldMessage, of: func(d *Document) any { return &d.Message }, most: prompt.MaxMessage},
}

// everything is what a format keeps that holds all of a document.
var everything = func() (names []string) {
	for _, f := range documentFields {
		names = append(names, f.name)
		for _, part := range f.parts {
			names = append(names, f.name+"."+part)
		}
	}
	return names
}()

// textFields are those that are texts, and otherFields the others.
var textFields, otherFields = func() (texts, others []string) {
	for _, f := range documentFields {
		if _, isText := f.of(new(Document)).(*string); isText {
			texts = append(texts, f.name)
		} else {
			others = append(others, f.name)
		}
	}
	return texts, others
}()

// take takes the members of a document from an object.
func (d *Document) take(o *object) {
	for _, f := range documentFields {
		o.take(f.name, f.of(d))
	}
}

// Says returns the members that the document says, as JSON.
func (d Document) Says() map[string]jsontext.Value {
	says := make(map[string]jsontext.Value)
	for _, m := range d.members() {
		says[m.name] = m.value
	}
	return says
}

// members returns what a document says.
func (d Document) members() (o object) {
	for _, f := range documentFields {
		if f.name != fieldConfig {
			o.put(f.name, f.of(&d))
		} else if d.Config != nil { // which says something even if it is empty
			o = append(o, member{f.name, d.Config})
		}
	}
	return o
}

// Differences returns the members that two documents do not have in common, "variables.type" where
// only types of variables differ. What only a format knows is not compared.
func Differences(a, b Document) []string {
	a, b = a.normal(), b.normal()
	var fields []string
	add := func(differs bool, field string) {
		if differs {
			fields = append(fields, field)
		}
	}
	add(a.Name != b.Name, fieldName)
	add(a.Title != b.Title, fieldTitle)
	// One that is the first sentence of the text says as much as none.
	add(a.Description != b.Description && a.draft().About() != b.draft().About(), fieldDescription)
	add(a.Kind != b.Kind, fieldKind)
	if a.Kind == b.Kind {
		add(a.Text != b.Text, fieldText)
		fields = append(fields, messageDifferences(a.Messages, b.Messages)...)
	} else {
		add(a.words() != b.words(), fieldText)
	}
	add(!sameJSON(a.Config, b.Config), fieldConfig)
	fields = append(fields, variableDifferences(a.Variables, b.Variables)...)
	add(!slices.Equal(slices.Concat(a.Tags, a.OwnTags), slices.Concat(b.Tags, b.OwnTags)), fieldTags)
	add(!slices.Equal(a.OwnTags, b.OwnTags), fieldOwnTags)
	add(a.Visibility != b.Visibility, fieldVisibility)
	add(!slices.Equal(a.Labels, b.Labels), fieldLabels)
	add(a.Message != b.Message, fieldMessage)
	return fields
}

// Within reports whether a prompt is what a document says of it. What that does not say may be
// anything, and why and under which labels is not compared.
func (d Document) Within(was Document) bool {
	d = d.Titled().Over(was)
	d.Labels, d.Message, was.Labels, was.Message = nil, "", nil, ""
	return len(Differences(was, d)) == 0
}

// Over returns what a prompt is after an import of the document into it: members that the document
// does not say are those of the prompt.
func (d Document) Over(was Document) Document {
	d = d.Said()
	for _, f := range documentFields {
		if text, isText := f.of(&d).(*string); isText && f.stays && *text == "" {
			*text = *f.of(&was).(*string)
		}
	}
	if len(d.Tags)+len(d.OwnTags) == 0 {
		d.Tags, d.OwnTags = was.Tags, was.OwnTags
	}
	if d.Config == nil {
		d.Config = was.Config
	}
	if len(d.Variables) == 0 {
		d.Variables = was.Variables
	}
	return d
}

// KeepsKind refuses to take the place of a document with a text where that has messages, and with
// messages where that has a text and the file has them only because its format has nothing else.
func (d Document) KeepsKind(was Document) error {
	switch {
	case len(was.Messages) > 0 && len(d.Messages) == 0:
		return errors.New("the prompt is a chat, and a text would take the place of its messages: take another name, or a file that has messages")
	case len(was.Messages) == 0 && len(d.Messages) > 0 && slices.Contains(d.Extra.Format.Loses(), fieldKind):
		return errors.New(
			"the prompt is a text, and messages would take its place: take another name, or a file that has a text")
	}
	return nil
}

// Sorted returns the document with its tags where they belong: those of the catalog, and its own.
func (d Document) Sorted(catalog []string) Document {
	tags := d.Tags
	d.Tags, d.OwnTags = nil, slices.Clone(d.OwnTags)
	own := make(map[string]bool) // a file may have as many tags as fit into it
	for _, tag := range d.OwnTags {
		own[tag] = true
	}
	for _, tag := range tags {
		if known := strings.ToLower(strings.TrimSpace(tag)); slices.Contains(catalog, known) {
			if !slices.Contains(d.Tags, known) {
				d.Tags = append(d.Tags, known)
			}
		} else if !own[tag] {
			own[tag] = true
			d.OwnTags = append(d.OwnTags, tag)
		}
	}
	return d.fewTags()
}

// sameJSON reports whether two values are equal, whatever the order of their members.
func sameJSON(a, b jsontext.Value) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	return bytes.Equal(a, b) || a.Canonicalize() == nil && b.Canonicalize() == nil && bytes.Equal(a, b)
}

// Authored returns the document as its author wrote it, where it is what a service answered:
// without a description that follows from the text.
func (d Document) Authored() Document { return d.undescribed().normal() }

// SameContent reports whether two documents have the same content, as versions keep it.
func (d Document) SameContent(e Document) bool {
	return len(Differences(d.content(), e.content())) == 0
}

func (d Document) content() Document {
	return Document{Kind: d.Kind, Text: d.Text, Messages: d.Messages, Config: d.Config, Variables: d.Variables}
}

// As returns a document that the library holds as its file says it: without what follows from the
// name and from defaults, and with all tags in one list where the file has them so.
func (d Document) As(file Document) Document {
	if file.Title == "" && d.Title == file.Titled().Title {
		d.Title = ""
	}
	if file.Visibility == "" && d.Visibility == string(prompt.Private) {
		d.Visibility = ""
	}
	all := func(d Document) []string { return slices.Sorted(slices.Values(slices.Concat(d.Tags, d.OwnTags))) }
	if slices.Equal(all(d), all(file)) {
		d.Tags, d.OwnTags = file.Tags, file.OwnTags
	}
	return d
}

// words returns what people read of a document.
func (d Document) words() string { return d.draft().Content().Words() }

// HasCRLF reports whether what people read of a document has the line ends of Windows.
func (d Document) HasCRLF() bool { return strings.Contains(d.words(), "\r\n") }

// messageDifferences tells contents from roles, and from the places for other messages.
func messageDifferences(a, b []prompt.Message) (fields []string) {
	said, other := spoken(a), spoken(b)
	if !slices.EqualFunc(said, other, func(m, n prompt.Message) bool { return m.Content == n.Content }) {
		return []string{fieldMessages}
	}
	if !slices.Equal(said, other) {
		fields = append(fields, fieldMessages+".role")
	}
	same := func(m, n prompt.Message) bool { return m.Placeholder == n.Placeholder }
	if !slices.EqualFunc(a, b, same) {
		fields = append(fields, fieldMessages+".placeholder")
	}
	return fields
}

// spoken returns the messages without places for others.
func spoken(list []prompt.Message) []prompt.Message {
	return slices.DeleteFunc(slices.Clone(list), func(m prompt.Message) bool { return m.Placeholder != "" })
}

func variableDifferences(a, b []prompt.Variable) []string {
	if !slices.EqualFunc(a, b, func(v, w prompt.Variable) bool { return v.Name == w.Name }) {
		return []string{fieldVariables}
	}
	var fields []string
	for _, of := range []struct {
		member string
		same   func(v, w prompt.Variable) bool
	}{
		{"label", func(v, w prompt.Variable) bool { return v.Label == w.Label }},
		{"description", func(v, w prompt.Variable) bool { return v.Description == w.Description }},
		{"type", func(v, w prompt.Variable) bool { return v.Type == w.Type }},
		{"required", func(v, w prompt.Variable) bool { return v.Required == w.Required }},
		{"default", func(v, w prompt.Variable) bool {
			return (v.Default == nil) == (w.Default == nil) && (v.Default == nil || *v.Default == *w.Default)
		}},
		{"choices", func(v, w prompt.Variable) bool { return slices.Equal(v.Choices, w.Choices) }},
	} {
		if !slices.EqualFunc(a, b, of.same) {
			fields = append(fields, fieldVariables+"."+of.member)
		}
	}
	return fields
}

// An object is a JSON object in the order of its file.
type object []member

type member struct {
	name  string
	value jsontext.Value
}

var (
	errNoObject = errors.New("does not have members, such as name: value")
	errMore     = errors.New("goes on behind its end")
)

// parseObject reads an object. A name that stands in it twice is an error.
func parseObject(v []byte) (object, error) {
	var o object
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, cmp.Or(err, errNoObject)
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		m.value = slices.Clone(value)
		if err := m.value.Compact(); err != nil {
			return nil, err
		}
		if o = append(o, m); len(o) > maxMembers {
			return nil, fmt.Errorf("an object has more than %d members", maxMembers)
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, errMore
	}
	return o, nil
}

// has reports whether the object has a member.
func (o object) has(name string) bool {
	return slices.ContainsFunc(o, func(m member) bool { return m.name == name })
}

// take moves the value of a member into v, if it is of that type. One that is null says nothing,
// and goes.
func (o *object) take(name string, v any) bool {
	i := slices.IndexFunc(*o, func(m member) bool { return m.name == name })
	if i < 0 {
		return false
	}
	says := (*o)[i].value.Kind() != 'n'
	if says && json.Unmarshal((*o)[i].value, v) != nil {
		return false
	}
	*o = slices.Delete(slices.Clone(*o), i, i+1)
	return says
}

// raw returns the value of a member.
func (o object) raw(name string) (jsontext.Value, bool) {
	for _, m := range o {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

// text takes a member that is a text.
func (o *object) text(name string) (s string) {
	o.take(name, &s)
	return s
}

// drop takes members away whose value is known otherwise.
func (o *object) drop(names ...string) {
	*o = slices.DeleteFunc(slices.Clone(*o), func(m member) bool { return slices.Contains(names, m.name) })
}

// marshal writes JSON as encoding/json does: a default that is an empty text is not left out.
func marshal(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsonv1.OmitEmptyWithLegacySemantics(true))
}

// put adds a member, unless it says nothing.
func (o *object) put(name string, v any) {
	b, err := marshal(v)
	if err != nil || slices.Contains([]string{`""`, `null`, `[]`, `{}`}, string(b)) {
		return
	}
	*o = append(*o, member{name, b})
}

// add appends the members that the object does not have yet.
func (o *object) add(more object) {
	for _, m := range more {
		if !o.has(m.name) {
			*o = append(*o, m)
		}
	}
}

// value returns the object as JSON.
func (o object) value() jsontext.Value {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, m.name) // bytes that are not UTF-8 were never read
		b = append(b, ':')
		b = append(b, m.value...)
	}
	return append(b, '}')
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) { return o.value(), nil }

// UnmarshalJSON reads an object.
func (o *object) UnmarshalJSON(b []byte) (err error) {
	*o, err = parseObject(b)
	return err
}

// indented returns a value as a JSON file.
func indented(v any) ([]byte, error) {
	b, err := marshal(v)
	if err != nil {
		return nil, err
	}
	if prompt.Deeper(b, maxDepth) {
		return nil, errDeep
	}
	file := jsontext.Value(b)
	err = file.Indent(jsontext.WithIndent("  "))
	return append(file, '\n'), err
}

var errDeep = fmt.Errorf("is nested more than %d deep", maxDepth)
