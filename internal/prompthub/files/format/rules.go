package format

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

// rules is the codec of such files. Their front matter is that of a prompt file of VS Code.
func rules(name Format, end string) codec {
	return codec{
		name: name, path: "*" + end, ends: []string{end}, front: true,
		read: readVSCode, write: writeVSCode, keeps: []string{fieldName, fieldText, fieldDescription},
	}
}
