package format

// Files that tell an assistant of an editor how to work: each is Markdown, called as its file is.
const (
	Agent        Format = "agent"        // *.agent.md, a custom agent of VS Code or GitHub
	Instructions Format = "instructions" // *.instructions.md of VS Code or GitHub
	ChatMode     Format = "chatmode"     // *.chatmode.md, what VS Code called agents before
	CursorRule   Format = "cursor-rule"  // *.mdc, a rule of Cursor
)

var (
	_ = register(rules(Agent, ".agent.md"))
	_ = register(rules(Instructions, ".instructions.md"))
	_ = register(rules(ChatMode, ".chatmode.md"))
	_ = register(rules(CursorRule, ".mdc"))
)

// rules is the codec of such files. Their front matter is that of a prompt file of VS Code.
func rules(name Format, end string) codec {
	return codec{
		name: name, path: "*" + end, ends: []string{end}, front: true,
		read: readVSCode, write: writeVSCode, keeps: []string{fieldName, fieldText, fieldDescription},
	}
}
