package format

import "strings"

// Files that tell an assistant of an editor how to work: each is Markdown, called as its file is.
const (
	Agent        Format = "agent"        // *.agent.md, a custom agent of VS Code or GitHub
	Instructions Format = "instructions" // *.instructions.md of VS Code or GitHub
	ChatMode     Format = "chatmode"     // *.chatmode.md, the earlier name of agents in VS Code
	CursorRule   Format = "cursor-rule"  // *.mdc, a rule of Cursor
)

func init() {
	register(rules(Agent, ".agent.md"))
	register(rules(Instructions, ".instructions.md"))
	register(rules(ChatMode, ".chatmode.md"))
	register(rules(CursorRule, ".mdc"))
}

// rules is the codec of such files. The file names the prompt, so a name that no file can have is
// lost; a name in its front matter, which is otherwise that of a prompt file of VS Code, is a
// title.
func rules(name Format, end string) codec {
	return codec{
		name: name, path: "*" + end, ends: []string{end}, front: true,
		read: readRules, write: writeRules, keeps: []string{fieldTitle, fieldText, fieldDescription},
	}
}

func readRules(in *input) (Document, object, error) {
	d, o, err := readVSCode(in)
	d.Title, d.Name = d.Name, ""
	return d, o, err
}

func writeRules(d Document, extra object) ([]byte, error) {
	name := d.Name
	if d.Name = d.Title; d.Title == name[strings.LastIndexByte(name, '/')+1:] {
		d.Name = ""
	}
	return writeVSCode(d, extra)
}
