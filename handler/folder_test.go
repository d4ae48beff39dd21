package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/command"
)

// TestFolderStory keeps a folder and a library the same: pull, edit, push, an edit on the server, a
// conflict that nobody loses anything in, and both ways out of it.
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
	does(command.OK, "greeting@1 created", "save", file(t, "greeting.md", "Hello {{name}}!"), "--title", "A greeting", "--tags", "text")

	does(command.OK, `^pulled greeting.md \(not done\)\n$`, "pull", dir, "--dry-run")
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
	require.Equal(t, "---\nname: review\ndescription: Reviews a change\nlicense: MIT\n---\n\nReview {{what}} well.\n", read("skills/review/SKILL.md"))

	// A conflict.
	write("greeting.md", greeting+"\nMine.\n")
	does(command.OK, "greeting@3 updated", "save", file(t, "greeting.md", "Theirs."))
	for _, name := range []string{"pull", "push"} {
		does(command.LeftOut, `^left alone greeting.md: changed here and on the server\n$`, name, dir)
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
	does(command.LeftOut, `^left alone broken.prompt: the front matter: `, "push", dir)
	does(command.Failed, "", "push", filepath.Join(dir, "nosuch"))
}
