package format

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/prompthub/prompt"
)

// Markdown has front matter that can hold all of a prompt.
const Markdown Format = "markdown"

func init() {
	register(codec{
		name: Markdown, path: "*.md", ends: []string{".md", ".markdown", ".txt"}, front: true,
		read: readMarkdown, write: writeMarkdown, keeps: everything,
	})
}

// readMarkdown reads Markdown, which may have front matter with the members of a Document.
func readMarkdown(in *input) (Document, object, error) {
	o, text, err := in.frontMatter(textFields, otherFields...)
	if err != nil {
		return Document{}, nil, err
	}
	var d Document
	o = o.tagged()
	d.take(&o)
	if len(d.Messages) == 0 {
		d.Text = text
	}
	return d, o, nil
}

// nameAndAbout are members that are texts in any front matter.
var nameAndAbout = []string{fieldName, fieldDescription}

// tagsOfLine returns the tags of one line, parted by commas, as note takers and writers of blogs
// have them. A list is how a tag with a comma in it is written.
func tagsOfLine(line string) (tags []string) {
	for tag := range strings.SplitSeq(line, ",") {
		if tag = strings.TrimSpace(tag); tag != "" {
			tags = append(tags, tag)
		}
	}
	return tags
}

func writeMarkdown(d Document, extra object) ([]byte, error) {
	text := d.Text
	d.Text, d.Kind = "", prompt.KindText // messages tell a chat
	o := d.members()
	o.add(extra)
	return joinFrontMatter(o, text)
}

// Skill is the SKILL.md of a folder, as agents read it. A name that no folder can have is lost.
const Skill Format = "skill"

func init() {
	register(codec{
		name: Skill, path: "*/SKILL.md", ends: []string{".md"}, means: isSkill, front: true, unnamed: true,
		read: readSkill, write: writeSkill, keeps: []string{fieldText, fieldDescription},
	})
}

// readSkill reads the SKILL.md of a folder.
func readSkill(in *input) (Document, object, error) {
	o, text, err := in.frontMatter(nameAndAbout)
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{Name: o.text("name"), Description: o.text("description"), Text: text}
	if d.Name == "" {
		d.Name = folder(in.path)
	}
	if n := unitsOf(d.Description); n > prompt.MaxShown {
		in.warnings = append(in.warnings,
			Warning{
				Text: fmt.Sprintf("the description has %d characters, and programs that read skills get the first %d",
					n, prompt.MaxShown), note: true,
			})
	}
	return d.undescribed(), o, nil
}

// A SkillHead is what the head of a SKILL.md says for those who install it; "" for what it does
// not.
type SkillHead struct {
	Name, Description string
	Lenient           bool // it is no YAML, and was read line by line
}

// ReadSkillHead reads the head of a SKILL.md. An error says what is wrong with it.
func ReadSkillHead(b []byte) (SkillHead, error) {
	in := &input{path: "SKILL.md", file: b}
	o, _, err := in.frontMatter(nameAndAbout)
	return SkillHead{Name: o.text("name"), Description: o.text("description"), Lenient: len(in.warnings) > 0}, err
}

// SkillFrontMatter returns all that the head of a SKILL.md says, as its author wrote it.
func SkillFrontMatter(b []byte) (jsontext.Value, error) {
	front, _, err := cutFrontMatter(bytes.TrimPrefix(b, bom), false)
	if err != nil {
		return nil, err
	}
	o, err := (&input{path: "SKILL.md", file: b}).parse(front, 0, nil, nil)
	return o.value(), err
}

// undescribed returns the document without a description that its text gives anyway.
func (d Document) undescribed() Document {
	about := d.Description
	if d.Description = ""; d.draft().About() != about {
		d.Description = about
	}
	return d
}

// writeSkill writes what agents need: a name that a folder can have, and a description. It is a
// file that is read again as it was; that which agents get from the service itself, with its
// variables and where it comes from, is of package skill.
func writeSkill(d Document, extra object) ([]byte, error) {
	var o object
	name := d.Name
	if !prompt.ValidSlug(name) {
		name = prompt.Slug(d.Name)
	}
	o.put("name", name)
	o.put("description", d.draft().About())
	o.add(extra)
	return joinFrontMatter(o, d.words())
}

// VSCode is a prompt file of VS Code.
const VSCode Format = "vscode"

func init() {
	register(codec{
		name: VSCode, path: "*.prompt.md", ends: []string{".prompt.md"}, front: true,
		read: readVSCode, write: writeVSCode, keeps: []string{fieldName, fieldText, fieldDescription},
	})
}

// readVSCode reads a prompt file of VS Code.
func readVSCode(in *input) (Document, object, error) {
	o, text, err := in.frontMatter(nameAndAbout, "model")
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{Name: o.text("name"), Description: o.text("description"), Text: text}
	return d.withModel(&o), o, nil
}

// withModel takes the model of a file into the config.
func (d Document) withModel(o *object) Document {
	if model := o.text("model"); model != "" {
		var config object
		config.put("model", model)
		d.Config = config.value()
	}
	return d
}

func writeVSCode(d Document, extra object) ([]byte, error) {
	var o object
	o.put("name", d.Name)
	o.put("description", d.Description)
	model, _ := modelOf(d.Config)
	o.put("model", model)
	o.add(extra)
	if len(o) == 0 && !HasFrontMatter([]byte(d.words())) {
		return []byte(ended(d.words())), nil
	}
	return joinFrontMatter(o, d.words())
}

// modelOf returns the model that a config names, and what else it says.
func modelOf(config []byte) (model string, rest object) {
	rest, err := parseObject(config)
	if err != nil {
		return "", nil
	}
	return rest.text("model"), rest
}

// Command is a command of Claude Code.
const Command Format = "command"

func init() {
	register(codec{
		name: Command, path: "commands/*.md", ends: []string{".md"}, front: true,
		means: func(file string) bool {
			return strings.Contains("/"+file, "/commands/") && !isSkill(file) && !isPattern(file)
		},
		read: readCommand, write: writeCommand, keeps: []string{fieldName, fieldText, fieldDescription},
	})
}

// readCommand reads a command of Claude Code. Its name is its path below the folder of commands.
func readCommand(in *input) (Document, object, error) {
	d, o, err := readVSCode(in)
	if err != nil {
		return d, o, err
	}
	if d.Name == "" {
		d.Name = commandOf(in.path)
	}
	return d, o, nil
}

// commandOf returns the path of a file below the folder of commands, "" where it is in none.
func commandOf(file string) string {
	_, below, _ := strings.Cut("/"+file, "/commands/")
	return unmarked(strings.TrimSuffix(below, ".md"), true)
}

func writeCommand(d Document, extra object) ([]byte, error) {
	return writeVSCode(d, extra)
}

// Fabric is the system.md of a folder, which is called as that. A name that no folder can have is
// lost.
const Fabric Format = "fabric"

func init() {
	register(codec{
		name: Fabric, path: "*/system.md", ends: []string{".md"},
		means: isPattern, read: readFabric, write: writeFabric, keeps: []string{fieldText},
	})
}

func isPattern(file string) bool {
	return strings.ToLower(path.Base(file)) == "system.md" && path.Dir(file) != "."
}

// readFabric reads the system.md of a pattern, which is all text.
func readFabric(in *input) (Document, object, error) {
	return Document{Name: folder(in.path), Text: trimLineEnd(strings.TrimPrefix(string(in.file), "\ufeff"))}, nil, nil
}

func writeFabric(d Document, _ object) ([]byte, error) { return []byte(ended(d.words())), nil }

// folder returns the name of the folder that a file is in, "" for none.
func folder(file string) string {
	if dir := path.Base(path.Dir(file)); dir != "." && dir != "/" {
		return unmarked(dir, false)
	}
	return ""
}
