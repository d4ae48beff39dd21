package format

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/jsonsize"
	"prompthub/internal/prompthub/prompt"
)

// A Format is a kind of file.
type Format string

// The formats.
const (
	Markdown     Format = "markdown"      // Markdown with front matter, which holds all of a prompt
	Skill        Format = "skill"         // SKILL.md of a folder, as agents read them
	VSCode       Format = "vscode"        // *.prompt.md
	Command      Format = "command"       // a command of Claude Code
	Fabric       Format = "fabric"        // system.md of a folder
	Dotprompt    Format = "dotprompt"     // *.prompt
	Prompty      Format = "prompty"       // *.prompty
	GitHubModels Format = "github-models" // *.prompt.yml
	Langfuse     Format = "langfuse"      // JSON of its API
	LangChain    Format = "langchain"     // JSON of a serialized template
	OpenWebUI    Format = "open-webui"    // JSON that its page exports
	PromptsChat  Format = "prompts.chat"  // JSON of its site
	CSV          Format = "csv"           // prompts.csv of prompts.chat
	JSONLines    Format = "jsonl"         // our own export
)

// A codec reads and writes one prompt in one format. What read leaves of a file's members is the
// extra of the document, which write puts back.
type codec struct {
	path  string // of a file that Write must name, * the name
	read  func(path string, file []byte) (Document, object, error)
	write func(Document, object) ([]byte, error)
	// the members of a document that the format cannot hold; the others come back as they were
	loses []string
}

var codecs = map[Format]codec{
	Markdown: {"*.md", readMarkdown, writeMarkdown, nil},
	Skill: {"*/SKILL.md", readSkill, writeSkill, []string{
		fieldName, // that no folder can have
		fieldTitle, fieldKind, fieldConfig, fieldVariables, fieldTags, fieldOwnTags, fieldVisibility, fieldLabels, fieldMessage,
	}},
	VSCode: {"*.prompt.md", readVSCode, writeVSCode, []string{
		fieldTitle, fieldKind, fieldConfig, fieldVariables, fieldTags, fieldOwnTags, fieldVisibility, fieldLabels, fieldMessage,
	}},
	Command: {"commands/*.md", readCommand, writeCommand, []string{
		fieldTitle, fieldKind, fieldConfig, fieldVariables, fieldTags, fieldOwnTags, fieldVisibility, fieldLabels, fieldMessage,
	}},
	Fabric: {"*/system.md", readFabric, writeFabric, []string{
		fieldName, // that no folder can have
		fieldTitle, fieldDescription, fieldKind, fieldConfig, fieldVariables, fieldTags, fieldOwnTags, fieldVisibility, fieldLabels,
		fieldMessage,
	}},
	Dotprompt: {"*.prompt", readDotprompt, writeDotprompt, []string{
		fieldTitle, "messages.role", "messages.placeholder", "variables.label", "variables.type", fieldTags, fieldOwnTags,
		fieldVisibility, fieldLabels, fieldMessage,
	}},
	Prompty: {"*.prompty", readPrompty, writePrompty, []string{
		"messages.role", "messages.placeholder", "variables.label", "variables.type", fieldTags, fieldOwnTags, fieldVisibility, fieldLabels,
		fieldMessage,
	}},
	GitHubModels: {"*.prompt.yml", readGitHubModels, writeGitHubModels, []string{
		fieldTitle, fieldKind, "messages.placeholder", fieldVariables, fieldTags, fieldOwnTags, fieldVisibility, fieldLabels, fieldMessage,
	}},
	Langfuse: {"*.json", readLangfuse, writeLangfuse, []string{
		fieldTitle, fieldDescription, fieldVariables, fieldOwnTags, fieldVisibility,
	}},
	LangChain: {"*.json", readLangChain, writeLangChain, []string{
		fieldName, fieldTitle, fieldDescription, fieldConfig, fieldVariables, fieldTags, fieldOwnTags, fieldVisibility, fieldLabels,
		fieldMessage,
	}},
	OpenWebUI: {"*.json", readOpenWebUI, writeOpenWebUI, []string{
		fieldDescription, fieldKind, fieldConfig, fieldVariables, fieldTags, fieldOwnTags, fieldVisibility, fieldLabels, fieldMessage,
	}},
	PromptsChat: {"*.json", readPromptsChat, writePromptsChat, []string{
		fieldKind, fieldConfig, fieldVariables, fieldTags, fieldOwnTags, fieldVisibility, fieldLabels, fieldMessage,
	}},
	CSV: {"*.csv", readOneCSV, writeCSV, []string{
		fieldText, // line ends become single line feeds
		fieldDescription, fieldKind, fieldConfig, fieldVariables, fieldTags, fieldOwnTags, fieldVisibility, fieldLabels, fieldMessage,
	}},
	JSONLines: {"*.jsonl", readLine, writeLine, nil},
}

// Formats returns all formats, by name.
func Formats() []Format { return slices.Sorted(maps.Keys(codecs)) }

// Names returns the names of formats, for people.
func Names(of []Format) string {
	names := make([]string, len(of))
	for i, f := range of {
		names[i] = string(f)
	}
	return strings.Join(names, ", ")
}

// Singles returns the formats whose files hold one prompt, by name.
func Singles() []Format { return slices.DeleteFunc(Formats(), Format.IsMany) }

// IsMany reports whether a file of the format is one of many prompts, be it with one in it.
func (f Format) IsMany() bool {
	return slices.Contains([]Format{CSV, JSONLines, OpenWebUI, PromptsChat}, f)
}

// Parse returns the format of a name.
func Parse(s string) (Format, error) {
	if _, ok := codecs[Format(s)]; !ok {
		return "", fmt.Errorf("%.40q is no format: use %s", s, Names(Formats()))
	}
	return Format(s), nil
}

// MediaType returns the type of files of the format.
func (f Format) MediaType() string {
	switch path.Ext(codecs[f].path) {
	case ".md":
		return "text/markdown; charset=utf-8"
	case ".json":
		return "application/json"
	case ".yml":
		return "application/yaml"
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".jsonl":
		return "application/jsonl"
	}
	return "text/plain; charset=utf-8"
}

// isJSON reports whether files of the format are JSON, or have JSON on each line.
func (f Format) isJSON() bool {
	return slices.Contains([]string{".json", ".jsonl"}, path.Ext(codecs[f].path))
}

// Loses returns the members of a document that a format cannot hold.
func (f Format) Loses() []string { return slices.Clone(codecs[f].loses) }

// Path returns what to call the file of a document, so that a reader takes it for what it is.
func (f Format) Path(d Document) string {
	name := cmp.Or(prompt.Slug(d.Titled().Name), prompt.Slug(d.Titled().Title), "prompt")
	if strings.HasSuffix(codecs[f].path, "*.md") && isTaken(name) {
		name += mark
	}
	return strings.Replace(codecs[f].path, "*", name, 1)
}

// mark ends the name of a Markdown file that would be something else without it. No slug has it, so
// no other prompt has such a file.
const mark = "_"

// isTaken reports whether a Markdown file of the name is no prompt, or one of another format.
func isTaken(name string) bool {
	return slices.Contains(aboutFolders, name) || name == "skill" || name == "system"
}

// unmarked returns the name of a prompt whose Markdown file has a name.
func unmarked(name string) string {
	if rest, ok := strings.CutSuffix(name, mark); ok && isTaken(path.Base(rest)) {
		return rest
	}
	return name
}

// Read reads a file with one prompt. A prompt without a name has that of the file.
func Read(f Format, file string, b []byte) (Document, error) {
	if len(b) > MaxOne {
		return Document{}, fault.Coded(fault.Invalid, FileTooLarge, fmt.Sprintf("the file has more than %d bytes, which is the most for one prompt: shorten it", MaxOne))
	}
	if !utf8.Valid(b) {
		return Document{}, errors.New("the file is not valid UTF-8")
	}
	if one, err := single(b); f.listed() && err != nil {
		return Document{}, err
	} else if f.listed() {
		b = one
	}
	d, extra, err := codecs[f].read(file, b)
	if err != nil {
		return Document{}, mistyped(err)
	}
	if d.Name == "" && f != CSV && f != JSONLines {
		d.Name = nameOf(file)
	}
	if d.Extra = (Extra{Format: f}); len(extra) > 0 {
		d.Extra.Members = extra
	}
	d.Source = nil
	return d.normal(), nil
}

// listed reports whether files of the format hold a list.
func (f Format) listed() bool { return f == OpenWebUI || f == PromptsChat || f == Langfuse }

// single returns the only value of a list, or what is no list.
func single(b []byte) ([]byte, error) {
	list := listIn(bytes.TrimPrefix(b, bom))
	switch {
	case list == nil:
		return bytes.TrimPrefix(b, bom), nil
	case len(list) != 1:
		return nil, fmt.Errorf("the file has %d prompts: want 1", len(list))
	}
	return list[0].json, nil
}

// nameOf returns the name of a file without what it ends in.
func nameOf(file string) string {
	name := path.Base(file)
	for _, end := range []string{".prompt.md", ".prompt.yml", ".prompt.yaml"} {
		if rest, ok := strings.CutSuffix(name, end); ok {
			return rest
		}
	}
	if name == "." || name == "/" {
		return ""
	}
	if rest, ok := strings.CutSuffix(name, ".md"); ok {
		return unmarked(rest)
	}
	return strings.TrimSuffix(name, path.Ext(name))
}

// Write returns a document as a file, and what the format could not hold of it: members of the
// document, and members that only the format that it was read from knows.
func Write(f Format, d Document) (file []byte, loss []string, err error) {
	file, _, loss, err = write(f, f.Path(d), d)
	return file, loss, err
}

// write returns the document too that the file says, as it is read back.
func write(f Format, name string, d Document) (file []byte, back Document, loss []string, err error) {
	d = d.normal()
	var extra object
	if d.Extra.Format == f {
		extra = d.Extra.Members
	}
	file, err = codecs[f].write(d, extra)
	if err != nil {
		return nil, back, nil, err
	}
	back, err = Read(f, name, file)
	if err != nil {
		return nil, back, nil, fmt.Errorf("%s cannot hold this prompt: %w", f, err)
	}
	loss = Differences(d.Titled(), back.Titled())
	if d.Extra.Format != f {
		loss = append(loss, d.Extra.names()...)
	}
	return file, back, loss, nil
}

// Rewrite returns a file with another document in it. While that says what the file says, as far as
// its format can, the bytes stay the same; else members that only the format knows are kept.
func Rewrite(f Format, name string, file []byte, d Document) (rewritten []byte, loss []string, err error) {
	was, err := Read(f, name, file)
	if err != nil {
		return nil, nil, err
	}
	return was.Rewrite(name, file, d)
}

// Rewrite is the same for a file that the document was read from.
func (was Document) Rewrite(name string, file []byte, d Document) (rewritten []byte, loss []string, err error) {
	d.Extra = was.Extra
	if len(Differences(was.Titled(), d.Titled())) == 0 && was.Stays(file) {
		return file, nil, nil
	}
	rewritten, now, loss, err := write(was.Extra.Format, name, d)
	if err == nil && len(Differences(was.Titled(), now.Titled())) == 0 && was.Stays(file) {
		return file, loss, nil
	}
	return rewritten, loss, err
}

// Stays reports whether the file that the document was read from may be given away as it is: not a
// CSV file in which a program for tables finds something to compute.
func (was Document) Stays(file []byte) bool { return was.Extra.Format != CSV || !computes(file) }

// Detect returns the format of a file by its name, or else by what is in it.
func Detect(file string, b []byte) Format {
	name := strings.ToLower(path.Base(file))
	for _, of := range []struct {
		end string
		Format
	}{
		{".prompt.md", VSCode},
		{".prompt.yml", GitHubModels},
		{".prompt.yaml", GitHubModels},
		{".prompt", Dotprompt},
		{".prompty", Prompty},
		{".csv", CSV},
		{".tsv", CSV},
		{".jsonl", JSONLines},
		{".ndjson", JSONLines},
		{".yml", GitHubModels},
		{".yaml", GitHubModels},
	} {
		if strings.HasSuffix(name, of.end) {
			return of.Format
		}
	}
	switch {
	case isSkill(file):
		return Skill
	case name == "system.md" && path.Dir(file) != ".": // a pattern has the name of its folder
		return Fabric
	case strings.HasSuffix(name, ".md") && strings.Contains("/"+file, "/commands/"):
		return Command
	case strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".markdown"), strings.HasSuffix(name, ".txt"):
		return Markdown
	}
	return detectContent(b)
}

// detectContent returns the format of what is in a file.
func detectContent(b []byte) Format {
	b = bytes.TrimPrefix(b, bom)
	switch kind := jsontext.Value(b).Kind(); {
	case (kind == '{' || kind == '[') && jsonsize.Parts(b) > jsonsize.Most: // too much for one prompt
		return JSONLines
	case kind == '{':
		if o, err := parseObject(b); err == nil && listIn(b) == nil {
			return formatOf(o)
		}
		return JSONLines
	case kind == '[' && listIn(b) != nil:
		return JSONLines
	case frontMatterAt(b) >= 0:
		return Markdown
	}
	return CSV
}
