package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/testing/apptest"
)

// TestFolderStory keeps a folder and a library the same: pull, edit, push, an edit on the server, a
// conflict without any loss, and both ways out of it.
func TestFolderStory(t *testing.T) {
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	dir := tree(t, map[string]string{"skills/review/SKILL.md": skill, "README.md": "About the folder"})
	does := func(code int, want string, args ...string) {
		t.Helper()
		got, out, errs := handler(t, append(args, "--user", "ann")...)
		require.Equal(t, code, got, out+errs)
		require.Regexp(t, want, out)
	}
	read := func(name string) string {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		return string(b)
	}
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	does(command.OK, "greeting@1 created", "save", file(t, "greeting.md", "Hello {{name}}!"), "--title",
		"A greeting", "--tags", "text")

	does(command.OK, `^would pull greeting.md\n$`, "pull", dir, "--dry-run")
	require.NoFileExists(t, filepath.Join(dir, "prompthub.lock"))
	does(command.OK, `^pulled greeting.md\n$`, "pull", dir)
	greeting := "---\nname: greeting\ntitle: A greeting\ntags:\n  - text\nvisibility: private\n---\n\nHello {{name}}!\n"
	require.Equal(t, greeting, read("greeting.md"))
	does(command.OK, `^created skills/review/SKILL.md\n$`, "push", dir)
	does(command.OK, `^$`, "push", dir)
	does(command.OK, `^$`, "pull", dir)
	does(command.OK, `^$`, "diff", dir)
	require.Equal(t, skill, read("skills/review/SKILL.md"), "its bytes stay")

	// An edit here.
	write("greeting.md", greeting+"\nHow are you?\n")
	does(command.LeftOut, `(?s)^greeting.md: changed here\n--- server/greeting.md\n.*\n\+How are you\?\n$`, "diff", dir)
	does(command.OK, `^$`, "pull", dir)
	does(command.OK, `^pushed greeting.md\n$`, "push", dir)
	does(command.OK, `^Hello \{\{name\}\}!\n\nHow are you\?$`, "get", "greeting")

	// An edit there: what only the file knows, its license, stays.
	does(command.OK, "review@2 updated", "save", file(t, "review.md", "Review {{what}} well."))
	does(command.OK, `^$`, "push", dir)
	does(command.OK, `^pulled skills/review/SKILL.md\n$`, "pull", dir)
	require.Equal(t, "---\nname: review\ndescription: Reviews a change\nlicense: MIT\n---\n\nReview {{what}} well.\n",
		read("skills/review/SKILL.md"))

	// A conflict.
	write("greeting.md", greeting+"\nMine.\n")
	does(command.OK, "greeting@3 updated", "save", file(t, "greeting.md", "Theirs."))
	for _, name := range []string{"pull", "push"} {
		does(command.LeftOut, `^left alone greeting.md: changed here and on the server\n$`, name, dir)
		_, _, errs := handler(t, name, dir, "--user", "ann")
		require.Contains(t, errs, `"push --mine `+dir+`" takes the folder's, "pull --theirs `+dir+`" the server's`)
		require.Equal(t, greeting+"\nMine.\n", read("greeting.md"))
		does(command.OK, `^Theirs\.$`, "get", "greeting")
	}
	does(command.OK, `^pushed greeting.md\n$`, "push", dir, "--mine")
	does(command.OK, `Mine\.$`, "get", "greeting")
	does(command.OK, `^$`, "pull", dir)
	write("greeting.md", "Here")
	does(command.OK, "greeting@5 updated", "save", file(t, "greeting.md", "There"))
	does(command.OK, `^pulled greeting.md\n$`, "pull", dir, "--theirs")
	require.Contains(t, read("greeting.md"), "There\n")

	// A member that a file no longer has is taken away.
	write("greeting.md", "---\nname: greeting\ntitle: A greeting\n---\nThere\n")
	does(command.OK, `^pushed greeting.md\n$`, "push", dir)
	_, out, _ := handler(t, "get", "greeting", "--format", "jsonl", "--user", "ann")
	require.Contains(t, out, `"tags":[]`)

	// Deletions are told, and done where somebody says so.
	require.NoError(t, os.Remove(filepath.Join(dir, "greeting.md")))
	does(command.OK, `^$`, "pull", dir)
	does(command.LeftOut, `^left alone greeting.md: gone here\n$`, "push", dir)
	does(command.OK, `^deleted greeting.md\n$`, "push", dir, "--delete")
	does(command.Failed, "", "get", "greeting")
	write("broken.prompt", "---\na: [\n---\n")
	does(command.LeftOut, `^left alone broken.prompt: line 2: a is not valid YAML`, "push", dir)
	does(command.Failed, "", "push", filepath.Join(dir, "nosuch"))
}

// A desk is a folder and the library of ann.
type desk struct {
	*testing.T
	dir string
}

func newDesk(t *testing.T) desk {
	t.Helper()
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	return desk{t, t.TempDir()}
}

// does runs a command on the folder, and checks what it prints.
func (d desk) does(code int, want, name string, args ...string) {
	d.Helper()
	d.runs(code, want, append([]string{name, d.dir}, args...)...)
}

// runs runs any command.
func (d desk) runs(code int, want string, args ...string) {
	d.Helper()
	got, out, errs := handler(d.T, append(args, "--user", "ann")...)
	require.Equal(d, code, got, out+errs)
	require.Regexp(d, want, out)
}

// saves makes prompts of names.
func (d desk) saves(names ...string) {
	d.Helper()
	for _, name := range names {
		d.runs(command.OK, "created", "save", file(d.T, "text.txt", "The text of "+name), "--name", name)
	}
}

func (d desk) read(name string) string {
	d.Helper()
	b, err := os.ReadFile(filepath.Join(d.dir, name))
	require.NoError(d, err)
	return string(b)
}

func (d desk) write(name, text string) {
	d.Helper()
	require.NoError(d, os.MkdirAll(filepath.Dir(filepath.Join(d.dir, name)), 0o700))
	require.NoError(d, os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o600))
}

func (d desk) moves(from, to string) {
	d.Helper()
	require.NoError(d, os.MkdirAll(filepath.Dir(filepath.Join(d.dir, to)), 0o700))
	require.NoError(d, os.Rename(filepath.Join(d.dir, from), filepath.Join(d.dir, to)))
}

// TestFilesOfTheLockAreNeverGone: prompts that are called as files of other kinds are kept like all
// others, and so are files of them that an earlier version wrote, or next to which somebody put a
// skill.
func TestFilesOfTheLockAreNeverGone(t *testing.T) {
	d := newDesk(t)
	d.saves("skill", "readme", "system", "plain")
	d.does(command.OK, `^pulled plain.md\npulled readme_.md\npulled skill_.md\npulled system_.md\n$`, "pull")
	d.does(command.OK, `^$`, "push", "--delete")
	for _, name := range []string{"readme", "skill", "system"} {
		d.moves(name+"_.md", name+".md")
	}
	d.write("prompthub.lock", strings.ReplaceAll(d.read("prompthub.lock"), "_.md", ".md"))
	d.does(command.OK, `^$`, "push", "--delete")
	d.write("SKILL.md", skill)
	for _, name := range []string{"plain", "readme", "skill", "system"} {
		d.write(name+".md", strings.Replace(d.read(name+".md"), "The text", "Another text", 1))
	}
	d.does(command.OK, `^created SKILL.md\npushed plain.md\npushed readme.md\npushed skill.md\npushed system.md\n$`,
		"push", "--delete")
	d.runs(command.OK, `^Another text of system$`, "get", "system")
	d.does(command.OK, `^$`, "pull")
}

// TestMovedFilesKeepTheirHistory: a file that is elsewhere makes a new version of its prompt, and
// nothing is deleted while it is not known what became of its file.
func TestMovedFilesKeepTheirHistory(t *testing.T) {
	d := newDesk(t)
	d.saves("same", "edited", "lost")
	d.does(command.OK, "pulled", "pull")
	d.moves("same.md", "aaa/same.md")
	d.moves("edited.md", "aaa/edited.md")
	d.write("aaa/edited.md", d.read("aaa/edited.md")+"\nMore.\n")
	d.does(command.LeftOut, `^aaa/edited.md: changed here\n`, "diff")
	d.does(command.OK, `^pushed aaa/edited.md\n$`, "push", "--delete")
	d.runs(command.OK, `(?s)^VERSION[^\n]*\n2 .*\n1 `, "versions", "edited")
	d.does(command.OK, `^$`, "push", "--delete")
	require.NotContains(d, d.read("prompthub.lock"), `"edited.md"`)

	d.moves("aaa/same.md", "zzz/same.md")
	d.does(command.OK, `^$`, "pull")
	require.Contains(d, d.read("prompthub.lock"), `"zzz/same.md"`)

	d.moves("lost.md", "found.md")
	d.write("found.md", "---\nname: edited\n---\nIts name is that of another.\n")
	d.does(command.LeftOut,
		`^left alone found.md: .*\nleft alone lost.md: gone here, but not deleted while found.md is left alone`, "push",
		"--delete")
	d.runs(command.OK, "The text of lost", "get", "lost")
}

// TestPullKeepsFilesOfNoPrompt: a file in the place of a new prompt's is told and kept.
func TestPullKeepsFilesOfNoPrompt(t *testing.T) {
	d := newDesk(t)
	d.saves("rr", "linked", "folder", "free")
	d.write("rr.md", "---\nname: mine\n---\nMine.\n")
	d.write("folder.md/notes.txt", "x")
	d.write("notes.txt", "x")
	require.NoError(t, os.Symlink("notes.txt", filepath.Join(d.dir, "linked.md")))
	const told = `left alone %s: new on the server, and another file has its place\n`
	for _, args := range [][]string{nil, {"--theirs"}} {
		d.does(command.LeftOut, fmt.Sprintf(told+"(pulled free.md\n)?"+told+told, "folder.md", "linked.md", "rr.md"),
			"pull", args...)
		require.Equal(t, "---\nname: mine\n---\nMine.\n", d.read("rr.md"))
		require.Equal(t, "x", d.read("linked.md"))
	}
	d.does(command.OK, `^created rr.md\n$`, "push")
	d.moves("rr.md", "mine.md")
	require.NoError(t, os.Remove(filepath.Join(d.dir, "linked.md")))
	d.moves("folder.md", "folder")
	d.does(command.OK, `^pulled folder.md\npulled linked.md\npulled rr.md\n$`, "pull")
	require.NoError(t, os.Remove(filepath.Join(d.dir, "prompthub.lock")))
	d.does(command.OK, `^$`, "pull")
}

// TestPushKeepsTheKind: a file whose format cannot say which kind a prompt is does not change that.
func TestPushKeepsTheKind(t *testing.T) {
	d := newDesk(t)
	d.saves("words")
	d.runs(command.OK, "created 1", "import", file(t, "chat.json", chat))
	d.does(command.OK, `^pulled chats-critic.prompt.md\npulled words.prompt.md\n$`, "pull", "--format", "vscode")
	d.write("chats-critic.prompt.md", d.read("chats-critic.prompt.md")+"More.\n")
	d.write("words.prompt.md", d.read("words.prompt.md")+"More.\n")
	const refused = `left alone chats-critic.prompt.md: the prompt is a chat, and a text would take the place of its messages`
	d.does(command.LeftOut, `^would push words.prompt.md\n`+refused, "push", "--dry-run")
	d.does(command.LeftOut, `^pushed words.prompt.md\n`+refused, "push")
	d.runs(command.OK, `"placeholder":"history"`, "get", "chats/critic", "--json")

	d.dir = t.TempDir()
	d.does(command.OK, `pulled words.prompt.yml\n$`, "pull", "--format", "github-models")
	d.write("words.prompt.yml", strings.Replace(d.read("words.prompt.yml"), "text", "words", 1))
	d.does(command.LeftOut, `^left alone words.prompt.yml: the prompt is a text, and messages would take its place`,
		"push")
	d.runs(command.LeftOut, `the prompt is a text, and messages would take its place`, "import", "--update",
		filepath.Join(d.dir, "words.prompt.yml"))
	d.runs(command.OK, `^The text of words\nMore.$`, "get", "words")

	// A format that has both kinds says which one it must be.
	d.dir = t.TempDir()
	d.does(command.OK, `pulled words.md\n$`, "pull")
	d.write("words.md", "---\nname: words\nmessages: [{role: user, content: Hello}]\n---\n")
	d.does(command.OK, `^pushed words.md\n$`, "push")
}

// TestCommandsKeepWhatTheyCannotSay: an edit of a command leaves tags and variables alone, also
// where an earlier version wrote it to a place at which it is read as Markdown.
func TestCommandsKeepWhatTheyCannotSay(t *testing.T) {
	d := newDesk(t)
	d.runs(command.OK, "created 1", "import", file(t, "review.md", "---\nname: review\ntitle: A review\ntags: [text, mine]\nvariables: [{name: what, default: it}]\n---\nReview {{what}}.\n"))
	d.does(command.OK, `^pulled commands/review.md\n$`, "pull", "--format", "command")
	d.write("commands/review.md", d.read("commands/review.md")+"Now.\n")
	d.does(command.OK, `^pushed commands/review.md\n$`, "push")
	d.moves("commands/review.md", "review.md")
	d.write("prompthub.lock", strings.Replace(d.read("prompthub.lock"), "commands/", "", 1))
	d.write("review.md", d.read("review.md")+"Here.\n")
	d.does(command.OK, `^pushed review.md\n$`, "push")
	d.runs(command.OK, `"title":"A review","text":"Review \{\{what\}\}.\\nNow.\\nHere.".*"default":"it".*"tags":\["text"\],"ownTags":\["mine"\]`, "get", "review", "--format", "jsonl")
}

// TestPushFromWindows: a checkout with the line ends of Windows makes no versions, and an edit of
// it keeps those that the text has.
func TestPushFromWindows(t *testing.T) {
	d := newDesk(t)
	d.runs(command.OK, "created", "save", file(t, "lines.md", "One\nTwo"))
	d.does(command.OK, "pulled lines.md", "pull")
	windows := strings.ReplaceAll(d.read("lines.md"), "\n", "\r\n")
	d.write("lines.md", windows)
	d.does(command.OK, `^$`, "push")
	d.does(command.OK, `^$`, "diff")
	d.write("lines.md", windows+"Three\r\n")
	d.does(command.LeftOut, `\n One\n Two\n\+Three\n$`, "diff")
	d.does(command.OK, `^pushed lines.md\n$`, "push")
	d.runs(command.OK, `^One\nTwo\nThree$`, "get", "lines")
	require.Equal(t, windows+"Three\r\n", d.read("lines.md"), "the file stays")
	d.does(command.OK, `^$`, "push")
	d.does(command.OK, `^$`, "pull")
	d.runs(command.OK, `(?s)^VERSION[^\n]*\n2 .*\n1 [^\n]*\n$`, "versions", "lines")
}

// TestPushOfFilesThatIncludeEachOther: files come in the order that they need, not in that of their
// names, and so do the rows of an import.
func TestPushOfFilesThatIncludeEachOther(t *testing.T) {
	d := newDesk(t)
	include := func(name string) string { return "Before. @@@langfusePrompt:name=" + name + "|label=latest@@@\n" }
	d.write("a.md", include("b"))
	d.write("b.md", include("c"))
	d.write("c.md", "The end.\n")
	d.write("d.md", include("nosuch"))
	d.does(command.LeftOut, `^created c.md\ncreated b.md\ncreated a.md\nleft alone d.md: .*there is no such prompt`,
		"push")
	d.does(command.LeftOut, `^left alone d.md: .*there is no such prompt[^\n]*\n$`, "push")

	lines := file(t, "lines.jsonl", `{"name":"x","title":"X","text":"@@@langfusePrompt:name=y|label=latest@@@"}
{"name":"y","title":"Y","text":"@@@langfusePrompt:name=z|label=latest@@@"}
{"name":"z","title":"Z","text":"The end."}
{"name":"w","title":"W","text":"@@@langfusePrompt:name=nosuch|label=latest@@@"}
`)
	d.runs(command.LeftOut, `(?s)^row 4 .*there is no such prompt.*created 3, unchanged 0, rejected 1\n$`,
		"import", lines)
	d.runs(command.LeftOut, `created 0, unchanged 3, rejected 1\n$`, "import", lines)
}

// TestDryRunTellsWhatPushDoes: what a push would refuse a dry run tells, as that is what a pull
// request is held against.
func TestDryRunTellsWhatPushDoes(t *testing.T) {
	d := newDesk(t)
	d.saves("there", "edited")
	d.does(command.OK, "", "pull")
	d.write("edited.md", "---\nname: edited\ntitle: Edited\n---\nText\n")
	d.write("good.md", "Text\n")
	d.does(command.OK, `^would push edited.md\nwould create good.md\n$`, "push", "--dry-run")
	d.write("edited.md", "---\nname: edited\ntitle: Edited\nlabels: [BAD LABEL]\n---\nText\n")
	d.write("long.md", strings.Repeat("word ", 7000))
	d.write("title.md", "---\ntitle: "+strings.Repeat("t", 201)+"\n---\nText\n")
	d.write("twice.md", "---\nname: good\n---\nText\n")
	refused := func(created, twice string) string {
		return `^left alone edited.md: labels.*\n` + created +
			`\nleft alone long.md: text: shorten.*\nleft alone title.md: .*title.*\nleft alone twice.md: ` +
			twice + `.*\n$`
	}
	d.does(command.LeftOut, refused(`would create good.md`, `good.md makes a prompt called "good" too`), "push",
		"--dry-run")
	d.does(command.LeftOut, refused(`created good.md`, `another prompt of yours has this name|name: choose`), "push")
}

// TestFolderOfSomebodyElse: to another user all prompts of a folder would seem to be deleted.
func TestFolderOfSomebodyElse(t *testing.T) {
	d := newDesk(t)
	d.saves("a")
	d.does(command.OK, "^pulled a.md\n$", "pull")
	for _, args := range [][]string{{"pull", d.dir, "--delete"}, {"push", d.dir}, {"diff", d.dir}} {
		code, out, errs := handler(t, append(args, "--user", "bob")...)
		require.Equal(t, command.Failed, code, out)
		require.Contains(t, errs, "prompthub.lock is of the prompts of ")
	}
	require.FileExists(t, filepath.Join(d.dir, "a.md"))
}

// TestPullOfFormatsThatHoldMany: push would leave all of their files alone.
func TestPullOfFormatsThatHoldMany(t *testing.T) {
	clean(t)
	for _, name := range []string{"csv", "jsonl", "open-webui", "prompts.chat"} {
		code, _, errs := handler(t, "pull", t.TempDir(), "--format", name)
		require.Equal(t, command.Usage, code)
		require.Contains(t, errs, name+
			" may hold many prompts, and a folder has one for each: use agent, agent-framework, chatmode, command, ")
	}
	_, out, _ := handler(t, "help", "pull")
	require.Contains(t, out, "name of a format: agent, agent-framework, chatmode, command, cursor-rule, dotprompt, fabric, github-models, instructions, langchain, langfuse, markdown, messages, prompty, semantic-kernel, skill, vscode\n")
}

// TestMovedBesideASkill: a file that was moved to where no prompts are looked for is found by its
// bytes or the name in it, and not by how it is called.
func TestMovedBesideASkill(t *testing.T) {
	d := newDesk(t)
	d.saves("same", "edited", "readme")
	d.write("review/SKILL.md", skill)
	d.does(command.OK, "pulled", "pull")
	d.does(command.OK, `^created review/SKILL.md\n$`, "push")
	d.moves("same.md", "review/references/other.md")
	d.moves("edited.md", "review/edited.md")
	d.write("review/edited.md", d.read("review/edited.md")+"More.\n")
	require.NoError(t, os.Remove(filepath.Join(d.dir, "readme_.md")))
	d.write("readme.md", "About the folder.\n")
	d.does(command.OK, `^pushed review/edited.md\ndeleted readme_.md\n$`, "push", "--delete")
	d.does(command.OK, `^$`, "push", "--delete")
	d.does(command.OK, `^$`, "pull")
}

// TestWhatPullWritesIsThere: in every format that a folder may have, push finds each file as the
// prompt that it was written for, with the lock and without.
func TestWhatPullWritesIsThere(t *testing.T) {
	d := newDesk(t)
	d.saves("readme", "claude", "user", "system", "skill", "commands", "a/b", "Some Words", "plain")
	d.runs(command.OK, "created 1", "import", file(t, "chat.json", chat))
	for _, f := range format.Singles() {
		d.dir = t.TempDir()
		d.does(command.OK, `^(pulled .*\n){10}$`, "pull", "--format", string(f))
		d.does(command.OK, `^$`, "push", "--delete")
		require.NoError(t, os.Remove(filepath.Join(d.dir, "prompthub.lock")))
		d.does(command.OK, `^$`, "pull", "--format", string(f))
		d.does(command.OK, `^$`, "push", "--delete")
	}
}

// TestEditsKeepWhatAFileCannotHold: a push of another text leaves all else on the server as it was,
// in every format that says which kind a prompt is, or has texts alone.
func TestEditsKeepWhatAFileCannotHold(t *testing.T) {
	d := newDesk(t)
	for _, f := range format.Singles() {
		if f == format.GitHubModels || f == format.Messages { // which make a chat of a text
			continue
		}
		name := "p-" + string(f)
		d.runs(command.OK, "created 1", "import", file(t, "p.md", "---\nname: "+name+`
title: The title
description: What it is for
tags: [text, mine]
config: {model: m, temperature: 0.5}
variables: [{name: what, label: What, default: it, required: true, description: It}]
---
Review {{what}}.
`))
		_, was, _ := handler(t, "get", name, "--format", "jsonl", "--user", "ann")
		d.dir = t.TempDir()
		d.does(command.OK, "pulled .*"+name, "pull", "--format", string(f))
		path := filepath.FromSlash(f.Path(format.Document{Name: name}))
		d.write(path, strings.Replace(d.read(path), "Review", "Read", 1))
		d.does(command.OK, "^pushed .*"+name+`[^\n]*\n$`, "push")
		_, now, _ := handler(t, "get", name, "--format", "jsonl", "--user", "ann")
		require.Equal(t, strings.Replace(was, "Review", "Read", 1), now)
	}
}

// TestPullWritesThroughNoLink: links and the lock file come with a repository, which may be a
// stranger's, and git runs what its configuration says. A file of one's own may have any name.
func TestPullWritesThroughNoLink(t *testing.T) {
	const config = "[core]\n"
	for name, tt := range map[string]struct {
		plant func(d desk)
		code  int
		want  string
	}{
		"a link next to a file": {
			func(d desk) { d.links("../.git/config", "a/system.md.new") },
			command.OK, `^pulled a/system.md\n`,
		},
		"a link next to the lock": {
			func(d desk) { d.links(".git/config", "prompthub.lock.new") },
			command.OK, `^pulled a/system.md\n`,
		},
		"one's own files": {func(d desk) {
			d.write("a/system.md.new", "mine")
			d.write("prompthub.lock.new", "mine")
		}, command.OK, `^pulled a/system.md\n`},
		"a link in the place of a folder": {
			func(d desk) { d.links(".git", "b") }, command.LeftOut,
			`(?m)^left alone b/system.md: .*goes through the symbolic link b: `,
		},
		"a lock that names what git reads": {
			func(d desk) { d.locks("a/system.md", ".git/config") }, command.Failed,
			`names ".git/config", which is in .git, a hidden folder: `,
		},
		"another spelling of that": {
			func(d desk) { d.locks("a/system.md", "GIT~1/config") }, command.Failed,
			`which is in GIT~1, a hidden folder: `,
		},
		"a lock that names a file of git": {
			func(d desk) { d.locks("a/system.md", "sub/.git") }, command.Failed,
			`which is no path of a prompt below the folder: `,
		},
		"a lock that names a way out": {
			func(d desk) { d.locks("a/system.md", "../x.md") }, command.Failed,
			`which is no path of a prompt below the folder: `,
		},
		"a lock that names a linked folder": {func(d desk) {
			d.links(".git", "c")
			d.locks("a/system.md", "c/config")
		}, command.Failed, `goes through the symbolic link c: take it out`},
		"a lock that names a link": {func(d desk) {
			d.links(".git/config", "c.md")
			d.locks("a/system.md", "c.md")
		}, command.Failed, `goes through the symbolic link c.md: take it out`},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.saves("a")
			d.does(command.OK, `^pulled a/system.md\n$`, "pull", "--format", "fabric")
			d.saves("b")
			d.runs(command.OK, "updated", "save", file(t, "text.txt", "Evil"), "--name", "a")
			d.write(".git/config", config)
			tt.plant(d)
			before := d.all()
			code, out, errs := handler(t, "pull", d.dir, "--format", "fabric", "--user", "ann")
			require.Equal(t, tt.code, code, out+errs)
			require.Regexp(t, tt.want, out+errs)
			require.Equal(t, config, d.read(".git/config"))
			if code == command.Failed {
				require.Equal(t, before, d.all(), "nothing is written")
				return
			}
			require.Equal(t, "Evil", strings.TrimSpace(d.read("a/system.md")))
			after := d.all()
			for path, text := range before {
				if path != "a/system.md" && path != "prompthub.lock" {
					require.Equal(t, text, after[path], path)
				}
			}
			require.LessOrEqual(t, len(after), len(before)+1, "nothing is left but b/system.md: %v", after)
		})
	}
}

// TestExportStaysInItsFolder: a link does not lead it out.
func TestExportStaysInItsFolder(t *testing.T) {
	d := newDesk(t)
	d.saves("a")
	out := t.TempDir()
	d.links(out, "a")
	code, _, errs := handler(t, "export", "--format", "skill", "--to", d.dir, "--user", "ann")
	require.Equal(t, command.Failed, code)
	require.Contains(t, errs, "a/SKILL.md")
	left, err := os.ReadDir(out)
	require.NoError(t, err)
	require.Empty(t, left)
	d.runs(command.OK, "", "export", "--format", "skill", "--to", filepath.Join(d.dir, "new", "folder"))
	require.Contains(t, d.read("new/folder/a/SKILL.md"), "The text of a")
}

func (d desk) links(to, name string) {
	d.Helper()
	require.NoError(d, os.MkdirAll(filepath.Dir(filepath.Join(d.dir, name)), 0o700))
	require.NoError(d, os.Symlink(to, filepath.Join(d.dir, name)))
}

// locks has the lock say that the file of a prompt is another.
func (d desk) locks(from, to string) {
	d.Helper()
	lock := d.read("prompthub.lock")
	require.Contains(d, lock, strconv.Quote(from))
	d.write("prompthub.lock", strings.ReplaceAll(lock, strconv.Quote(from), strconv.Quote(to)))
}

// all returns what is in the folder: texts of files, and where links lead.
func (d desk) all() map[string]string {
	d.Helper()
	all := make(map[string]string)
	require.NoError(d, filepath.WalkDir(d.dir, func(path string, e fs.DirEntry, err error) error {
		name, _ := filepath.Rel(d.dir, path)
		switch {
		case err != nil || e.IsDir():
		case e.Type()&fs.ModeSymlink != 0:
			all[filepath.ToSlash(name)], err = os.Readlink(path)
		default:
			all[filepath.ToSlash(name)] = d.read(name)
		}
		return err
	}))
	return all
}

// TestWorkspaceStory uses the library of a workspace from a shell, with the access token of a
// member: a folder, single prompts, an import and an export. The caller's own library stays as it
// is, and an outsider is told nothing.
func TestWorkspaceStory(t *testing.T) {
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	did := func(method, path, body string) map[string]any {
		t.Helper()
		status, answer := sendAs(t, "ann", method, url+"/api/v1"+path, body)
		require.Less(t, status, 300, answer)
		var v map[string]any
		require.NoError(t, json.Unmarshal([]byte(answer), &v))
		return v
	}
	did("POST", "/workspaces", `{"handle":"billing","name":"Billing"}`)
	t.Setenv("PROMPTHUB_TOKEN", did("POST", "/me/tokens",
		`{"name":"CI","scopes":["read","write","publish"]}`)["token"].(string))
	does := func(code int, want string, args ...string) (errs string) {
		t.Helper()
		got, out, errs := handler(t, args...)
		require.Equal(t, code, got, out+errs)
		require.Regexp(t, want, out)
		return errs
	}
	const in = "--workspace=billing"
	does(command.OK, "greeting@1 created", "save", file(t, "greeting.md", "Hello!"))
	does(command.OK, "reminder@1 created", "save", file(t, "reminder.md", "Dear {{name}}, pay."), in)
	does(command.OK, "reminder@2 updated", "save", file(t, "reminder.md", "Dear {{name}}, do pay."), in)
	does(command.OK, "^Dear Ann, do pay.$", "get", "reminder", in, "--var", "name=Ann")
	does(command.OK, "^Dear", "get", "@billing/reminder")
	does(command.Failed, "^$", "get", "reminder")
	does(command.OK, "reminder: production is version 1", "label", "reminder@1", "production", in)
	does(command.OK, `(?s)VERSION.*\n2 .*\n1 .*production`, "versions", "reminder", in)
	does(command.OK, "reminder +v2 .* Billing +reminder\n$", "search", "pay")
	does(command.OK, "reminder +v2.* Billing +reminder\n$", "search", "--sort", "updated", in)
	require.Contains(t, does(command.OK, "^$", "search", "hello", in),
		"nothing found among the prompts of the workspace")
	does(command.Usage, "^$", "search", "--mine", "pay", in)

	dir := tree(t, map[string]string{"farewell.md": "Goodbye!"})
	does(command.OK, `^created farewell.md\n$`, "push", dir, in)
	does(command.OK, `^pulled reminder.md\n$`, "pull", dir, in)
	lock, err := os.ReadFile(filepath.Join(dir, "prompthub.lock"))
	require.NoError(t, err)
	require.Regexp(t, `"user": "w:\w{26}",`, string(lock))
	require.Contains(t, string(lock), `"workspace": "billing"`)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "farewell.md"), []byte("Goodbye, {{name}}!"), 0o600))
	does(command.LeftOut, `\+Goodbye, \{\{name\}\}!`, "diff", dir, in)
	does(command.OK, `^would push farewell.md\n$`, "push", dir, in, "--dry-run")
	does(command.OK, `^pushed farewell.md\n$`, "push", dir, in)
	require.Contains(t, does(command.Failed, "^$", "push", dir), "use --workspace billing")

	_, lines, _ := handler(t, "export", in)
	require.Equal(t, 2, strings.Count(lines, "\n"))
	require.Contains(t, lines, "Goodbye, {{name}}!")
	does(command.OK, "created 0, unchanged 2, rejected 0", "import", file(t, "lines.jsonl", lines), in)
	did("POST", "/workspaces", `{"handle":"writers"}`)
	does(command.OK, "created 2, unchanged 0, rejected 0", "import",
		file(t, "lines.jsonl", lines), "--workspace", "writers")
	does(command.OK, `(?s)VERSION.*\n2 .*\n1 .*production`, "versions", "reminder", "--workspace", "@writers")
	_, lines, _ = handler(t, "export")
	require.Equal(t, 1, strings.Count(lines, "\n"), "the member's own library stays as it is")

	status, answer := apptest.Send(t, "PUT", url+"/api/v1/workspaces/writers/rules",
		`{"rules":[{"label":"production","names":"farewell","approvals":1}]}`, "X-Dev-User", "ann", "Content-Type",
		"application/json", "If-Match", "*")
	require.Equal(t, 200, status, answer)
	require.Contains(t, does(command.Failed, "^$", "get", "farewell", "--workspace", "writers"),
		"has a rule for the label production")
	does(command.OK, "^Goodbye", "get", "farewell@2", "--workspace", "writers")
	does(command.OK, "^Dear", "get", "reminder", "--workspace", "writers")
	does(command.OK, `^@billing/greeting@1 copied \(\w{26}\)\n$`, "copy", "greeting", "billing")
	does(command.OK, `^@billing/greeting@1 unchanged`, "copy", "greeting", "@billing")
	does(command.OK, `^@writers/greeting@1 copied`, "copy", "greeting", "writers", in)
	does(command.Failed, "^$", "copy", "nosuch", "writers")

	t.Setenv("PROMPTHUB_TOKEN", "")
	for _, args := range [][]string{
		{"push", dir},
		{"export"},
		{"import", file(t, "a.md", "A")},
		{"save", file(t, "b.md", "B")},
		{"search", "pay"},
	} {
		require.Contains(t, does(command.Failed, "^$", append(args, in, "--user", "eve")...),
			"there is no such workspace", args)
	}
	for _, args := range [][]string{
		{"export", "--account"},
		{"import", "--account", dir},
		{"import", "--as-contributor", file(t, "a.md", "A")},
	} {
		does(command.Usage, "^$", append(args, in, "--user", "ann")...)
	}
}
