package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

// An edited file is one of a format with a change of what only that format knows.
type editedFile struct{ format, path, file, from, to string }

var editedFiles = []editedFile{
	{
		"skill", "skills/one/SKILL.md",
		"---\nname: one\ndescription: d\nlicense: MIT # ours\nallowed-tools: Read\n---\n\nDo one.\n",
		"MIT # ours", "Apache-2.0 # theirs",
	},
	{
		"skill", "skills/two/SKILL.md", "---\nname: two\ndescription: d\n---\n\nDo two.\n", "description: d",
		"description: d\nargument-hint: [from] [to]",
	},
	{
		"command", ".claude/commands/three.md", "---\ndescription: d\nallowed-tools: Bash(git add:*)\n---\nDo three.\n",
		"git add:*", "git rm:*",
	},
	{
		"cursor-rule", "four.mdc", "---\ndescription: d\nglobs: *.go\nalwaysApply: false\n---\nDo four.\n",
		"globs: *.go", "globs: *.go,**/*.mod",
	},
	{
		"cursor-rule", ".cursor/rules/five.mdc", "---\ndescription: d\nalwaysApply: false\n---\nDo five.\n",
		"false", "true",
	},
	{"agent", "six.agent.md", "---\ndescription: d\ntools: *\n---\nDo six.\n", "tools: *", "tools: ['read']"},
	{"instructions", "seven.instructions.md", "---\napplyTo: '**/*.go'\n---\nDo seven.\n", "*.go", "*.mod"},
	{
		"github-models", "eight.prompt.yml",
		"name: eight\nmessages:\n  - role: user\n    content: Do eight.\ntestData:\n  - q: a\n", "q: a", "q: b",
	},
	{"dotprompt", "nine.prompt", "# ours\n---\nname: nine\ntools: [a]\n---\nDo nine.\n", "tools: [a]", "tools: [a, b]"},
	{
		"prompty", "ten.prompty", "---\nname: ten\nmetadata: {authors: [a]}\n---\nDo ten.\n",
		"authors: [a]", "authors: [b]",
	},
	{"vscode", "eleven.prompt.md", "---\nname: eleven\nmode: ask\n---\nDo eleven.\n", "ask", "agent"},
	{
		"semantic-kernel", "twelve.yaml",
		"name: twelve\ntemplate: Do {{$it}}.\nexecution_settings: {default: {temperature: 0.2}}\n", "0.2", "0.3",
	},
	{
		"agent-framework", "thirteen.yaml",
		"kind: Prompt\nname: thirteen\ninstructions: Do it.\ntools: [{kind: webSearch}]\n", "webSearch", "fileSearch",
	},
	{
		"markdown", "fourteen.md", "---\nname: fourteen\nmood: dry # as wine\n---\n\nDo fourteen.\n",
		"dry # as wine", "dry # as sand",
	},
	{
		"langfuse", "fifteen.json", `{"name": "fifteen", "prompt": "Do it.", "type": "text", "resolutionGraph": 1}`,
		"1}", "2}",
	},
	{
		"langchain", "sixteen.json",
		`{"_type": "prompt", "template": "Do {q}", "input_variables": ["q"], "output_parser": 1}`, "1}", "2}",
	},
}

// TestEditsOfWhatOnlyTheFormatKnows: push takes each as a version, diff shows it, and a second push
// does nothing; a colleague who pulls into an empty folder gets the same bytes.
func TestEditsOfWhatOnlyTheFormatKnows(t *testing.T) {
	d := newDesk(t)
	for _, e := range editedFiles {
		d.write(e.path, e.file)
	}
	d.does(command.OK, "created", "push")
	d.does(command.OK, `^$`, "push")
	d.does(command.OK, `^$`, "diff")
	for _, e := range editedFiles {
		edited := strings.Replace(e.file, e.from, e.to, 1)
		require.NotEqual(t, e.file, edited, e.path)
		d.write(e.path, edited)
		code, out, errs := handler(t, "diff", d.dir, "--user", "ann")
		require.Equal(t, command.LeftOut, code, errs)
		require.Contains(t, out, e.path+": changed here\n")
		require.Contains(t, out, "\n-", "%s", e.path)
		d.does(command.OK, `^pushed `+e.path+`\n$`, "push")
		d.does(command.OK, `^$`, "push")
		name := strings.SplitN(filepath.Base(strings.TrimSuffix(e.path, "/SKILL.md")), ".", 2)[0]
		d.runs(command.OK, `(?s)\n2 .*\n1 `, "versions", name)
		code, out, errs = handler(t, "get", name, "--format", e.format, "--user", "ann")
		require.Equal(t, command.OK, code, errs)
		require.Equal(t, edited, out)

		colleague := t.TempDir()
		_, _, errs = handler(t, "pull", colleague, "--format", e.format, "--user", "ann")
		found := ""
		require.NoError(t, filepath.WalkDir(colleague, func(path string, _ os.DirEntry, err error) error {
			if b, _ := os.ReadFile(path); string(b) == edited {
				found = path
			}
			return err
		}))
		require.NotEmpty(t, found, "%s: %s", e.path, errs)
	}
	// taken back, by import and not by push
	for _, e := range editedFiles {
		d.write(e.path, e.file)
	}
	_, out, errs := handler(t, "import", "--update", d.dir, "--user", "ann")
	require.Contains(t, out, "updated 16", errs)
	_, out, errs = handler(t, "import", "--update", d.dir, "--user", "ann")
	require.Contains(t, out, "unchanged 16", errs)
}

// TestColleaguesKeepEachOthersMembers: one edits the text, the other a member, each in a folder of
// their own, and both are there in the end.
func TestColleaguesKeepEachOthersMembers(t *testing.T) {
	const path, file = "sweep/SKILL.md",
		"---\nname: sweep\ndescription: Sweeps\nlicense: MIT # ours\n---\nSweep the floor.\n"
	ann := newDesk(t)
	bob := desk{t, t.TempDir()}
	ann.write(path, file)
	ann.does(command.OK, "created", "push")
	bob.does(command.OK, "pulled", "pull", "--format", "skill")
	require.Equal(t, file, bob.read(path))
	bob.write(path, strings.Replace(file, "floor", "roof", 1))
	bob.does(command.OK, "^pushed sweep/SKILL.md\n$", "push")
	ann.does(command.OK, "^pulled sweep/SKILL.md\n$", "pull")
	require.Equal(t, strings.Replace(file, "floor", "roof", 1), ann.read(path))
	ann.write(path, strings.Replace(ann.read(path), "MIT # ours", "ISC", 1))
	ann.does(command.OK, "^pushed sweep/SKILL.md\n$", "push")
	bob.does(command.OK, "^pulled sweep/SKILL.md\n$", "pull")
	require.Contains(t, bob.read(path), "license: ISC\n---\nSweep the roof.\n")

	ann.write(path, strings.Replace(ann.read(path), "ISC", "BSD", 1))
	ann.does(command.OK, "pushed", "push")
	bob.write(path, strings.Replace(bob.read(path), "ISC", "GPL", 1))
	bob.does(command.LeftOut, `^left alone sweep/SKILL.md: changed here and on the server\n$`, "push")
	bob.does(command.OK, `^pulled sweep/SKILL.md\n$`, "pull", "--theirs")
	require.Equal(t, ann.read(path), bob.read(path))
}

// TestSkillsKeepTheirNames: a skill with files is called as its SKILL.md says, and a file that says
// the same name is called with its folder, by push and by import, wherever the two stand.
func TestSkillsKeepTheirNames(t *testing.T) {
	for _, path := range []string{"p/agents/scan.md", "z/agents/scan.md"} {
		d := newDesk(t)
		d.write(path, "---\nname: scan\n---\nYou scan.\n")
		d.write("p/skills/scan/SKILL.md", "---\nname: scan\ndescription: Scans\n---\n\nScan.\n")
		d.write("p/skills/scan/references/how.md", "Slowly.\n")
		code, out, errs := handler(t, "import", d.dir, "--user", "bob")
		require.Equal(t, command.OK, code, out+errs)
		d.does(command.OK, `(?m)^created `+path+` as agents/scan$`, "push")
		d.does(command.OK, `^$`, "push")
		for _, user := range []string{"ann", "bob"} {
			code, out, _ = handler(t, "get", "agents/scan", "--user", user)
			require.Equal(t, command.OK, code)
			require.Equal(t, "You scan.", strings.TrimSpace(out))
			code, out, _ = handler(t, "get", "scan", "--user", user)
			require.Equal(t, command.OK, code)
			require.Equal(t, "Scan.", strings.TrimSpace(out))
		}
	}
}

// TestPushOfARepository: push tells of the files without prompts in one line, and of each file of
// many prompts in a line of its own. Neither keeps a job in CI from ending well. Two files of one
// name both go in and stay.
func TestPushOfARepository(t *testing.T) {
	d := newDesk(t)
	for name, text := range map[string]string{
		"package.json": `{"name": "x", "version": "1.0.0"}`, "hooks/hooks.json": `{"hooks": {}}`, "README.md": "x",
		"tsconfig.json": "{\n// a\n}", "main.go": "package main\n",
		"prompts.csv": "act,prompt\na,b\nc,d\n", "a.md": "Do a.\n",
		"p/agents/reviewer.md":      "---\nname: reviewer\n---\nReview p.\n",
		"q/agents/reviewer.md":      "---\nname: reviewer\n---\nReview q.\n",
		"Writer/Short/skprompt.txt": "Shorten {{$input}}.\n",
		"Writer/Short/config.json":  `{"schema": 1, "description": "Shortens"}`,
	} {
		d.write(name, text)
	}
	code, out, errs := handler(t, "push", d.dir, "--user", "ann")
	require.Equal(t, command.OK, code, out+errs)
	require.Equal(t, "5 files hold no prompts, such as README.md\n", errs)
	require.Equal(t, "created Writer/Short/skprompt.txt\ncreated a.md\ncreated p/agents/reviewer.md\nleft alone prompts.csv: holds many prompts: import takes such files\n"+
		"created q/agents/reviewer.md as q/reviewer\n", out)
	d.does(command.OK, `^left alone prompts.csv: [^\n]*\n$`, "push")
	d.runs(command.OK, "^Review q.$", "get", "q/reviewer")
	d.runs(command.OK, "^Shorten it.$", "get", "short", "--var", "input=it")
	d.write("q/agents/reviewer.md", "---\nname: reviewer\n---\nReview q well.\n")
	d.does(command.OK, `pushed q/agents/reviewer.md\n$`, "push")
	d.runs(command.OK, "^Review p.$", "get", "reviewer")
	d.runs(command.OK, "updated", "save", file(t, "short.md", "Shorten {{$input}} well."), "--name", "Short")
	d.does(command.OK, `pulled Writer/Short/skprompt.txt\n`, "pull")
	require.Equal(t, "Shorten {{$input}} well.\n", d.read("Writer/Short/skprompt.txt"))

	// Others get the folder as it was written.
	d.write("Writer/Long/skprompt.txt", "\ufeffLengthen {{$input}}.\r\n")
	d.write("Writer/Long/config.json", "{\n\t\"schema\": 1\n}\n")
	d.write("Teller/Long/skprompt.txt", "Lengthen {{$input}} twice.\n")
	d.does(command.OK, `created Teller/Long/skprompt.txt\ncreated Writer/Long/skprompt.txt as Writer/Long\n`, "push")
	for _, args := range [][]string{
		{"pull", "--format", "semantic-kernel"},
		{"export", "--format", "semantic-kernel", "--to"},
	} {
		to := t.TempDir()
		code, out, errs := handler(t, append(args, to, "--user", "ann")...)
		require.Equal(t, command.OK, code, out+errs)
		for _, name := range []string{"skprompt.txt", "config.json"} {
			b, err := os.ReadFile(filepath.Join(to, "Writer", "Long", name)) // of two folders of one name
			require.NoError(t, err)
			require.Equal(t, d.read("Writer/Long/"+name), string(b))
		}
		b, err := os.ReadFile(filepath.Join(to, "Long", "skprompt.txt"))
		require.NoError(t, err)
		require.Equal(t, d.read("Teller/Long/skprompt.txt"), string(b))
	}
	require.Contains(t, d.read("Writer/Short/config.json"), "Shortens")
	d.does(command.OK, `^left alone prompts.csv: [^\n]*\n$`, "push")
}

// TestPushSaysWhy: as it is told, or as the last commit of the file says.
func TestPushSaysWhy(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	d := newDesk(t)
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git",
			append([]string{
				"-C", d.dir, "-c", "user.name=a", "-c", "user.email=a@example.com", "-c",
				"commit.gpgsign=false",
			}, args...)...)
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	git("init", "-q")
	d.write("a.md", "One.\n")
	git("add", ".")
	git("commit", "-q", "-m", "Say one\n\nAnd more.")
	d.does(command.OK, "created", "push")
	d.write("a.md", "Two.\n")
	d.does(command.OK, "pushed", "push", "--message", "Two it is")
	d.runs(command.OK, `(?s)\n2 .*Two it is.*\n1 .*Say one\n`, "versions", "a")

	// of a text that is in no commit yet, the last one says nothing
	d.write("a.md", "Three.\n")
	d.does(command.OK, "pushed", "push")
	d.write("a.md", "Four.\r\nFive.\r\n")
	d.write("b/SKILL.md", skill)
	d.write("b/more/x.md", "x\n")
	d.write("W/S/skprompt.txt", "Shorten {{$input}}.\n")
	d.write("W/S/config.json", `{"description": "Shortens"}`)
	git("add", ".")
	git("commit", "-q", "-m", "All of them")
	d.does(command.OK, "(?s)created.*pushed|pushed.*created", "push")
	d.runs(command.OK, `(?s)\n4 [^\n]*All of them\n3 [^\n]*[^m]\n2 `, "versions", "a")
	d.runs(command.OK, `\n1 .*All of them\n`, "versions", "S")
	d.runs(command.OK, `\n1 .*All of them\n`, "versions", "review")
	d.write("b/more/x.md", "y\n")
	d.does(command.OK, "pushed", "push")
	d.runs(command.OK, `\n2 +\S+ +latest *\n1 `, "versions", "review")

	// a file that moves a label says so
	d.write("l.md", "---\nlabels: [production, staging]\n---\nL\n")
	d.does(command.OK, `^would create l.md, labels: production, staging\n$`, "push", "--dry-run")
	d.does(command.OK, `^created l.md, labels: production, staging\n$`, "push")
}
