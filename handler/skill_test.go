package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

// A folderFile is a file of a folder on a disk, as tests compare them.
type folderFile struct {
	bytes      string
	executable bool
}

// folderOf returns the files of a folder by their paths.
func folderOf(t *testing.T, dir string) map[string]folderFile {
	t.Helper()
	all := make(map[string]folderFile)
	require.NoError(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		rel, err := filepath.Rel(dir, name)
		require.NoError(t, err)
		all[filepath.ToSlash(rel)] = folderFile{string(b), info.Mode()&0o100 != 0}
		return nil
	}))
	return all
}

// makeFolder makes a folder of files.
func makeFolder(t *testing.T, dir string, files map[string]folderFile) {
	t.Helper()
	for name, f := range files {
		name = filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		mode := fs.FileMode(0o644)
		if f.executable {
			mode = 0o755
		}
		require.NoError(t, os.WriteFile(name, []byte(f.bytes), mode))
	}
}

const formsSkill = "---\nname: pdf-forms\ndescription: Fills PDF forms\nlicense: MIT\n---\n\nRun scripts/fill.py.\r\n"

func formsFolder() map[string]folderFile {
	binary := make([]byte, 100_000)
	for i := range binary {
		binary[i] = byte(i * i >> 3)
	}
	return map[string]folderFile{
		"SKILL.md":                   {formsSkill, false},
		"scripts/fill.py":            {"#!/usr/bin/env python3\n", true},
		"scripts/read.py":            {"print()\n", false},
		"a/b/c/d/e/f/deep.txt":       {"<deep>\r\n\x01", false},
		"assets/empty":               {"", false},
		"assets/empty.sh":            {"", true},
		"assets/logo.png":            {string(binary), false},
		"references/žluťoučký 漢字.md": {"caf\u00e9", false},
		"#1 50%.txt":                 {"odd", false},
		".hidden":                    {"kept", false},
		"a.txt":                      {"sorts before a/", false},
	}
}

// newShop starts a service, and returns what runs a command on it as ann.
func newShop(t *testing.T) func(code int, want string, args ...string) (stderr string) {
	t.Helper()
	clean(t)
	t.Setenv("PROMPTHUB_CONFIG", file(t, "config.json", "{}"))
	_, url := startLocal(t, t.TempDir())
	t.Setenv("PROMPTHUB_URL", url)
	return func(code int, want string, args ...string) string {
		t.Helper()
		got, out, errs := handler(t, append(args, "--user", "ann")...)
		require.Equal(t, code, got, out+errs)
		require.Regexp(t, want, out)
		return errs
	}
}

// TestSkillStory saves a folder and gets it again: the same bytes, names and executable bits.
func TestSkillStory(t *testing.T) {
	does := newShop(t)
	work := t.TempDir()
	dir, out := filepath.Join(work, "forms"), filepath.Join(work, "deep", "out")
	files := formsFolder()
	makeFolder(t, dir, files)
	makeFolder(t, dir, map[string]folderFile{
		".git/HEAD": {"x", false}, "node_modules/a/b.js": {"x", false}, "scripts/__pycache__/x.pyc": {"x", false},
		".venv/bin": {"x", false}, ".DS_Store": {"x", false}, "assets/thumbs.db": {"x", false},
	})

	does(command.OK, `^pdf-forms would be created: 11 files, 3 of them scripts\n`, "save", dir, "--dry-run")
	does(command.Failed, ``, "get", "pdf-forms")
	errs := does(command.OK, `^pdf-forms@1 created \(\w{26}\): 11 files, 3 of them scripts\n(?s:.*)\+ scripts/fill.py \(script\)\n\+ scripts/read.py \(script\)\n$`,
		"save", dir, "--label", "staging", "--message", "first")
	require.Contains(t, errs, "left out: .DS_Store, .git, .venv, assets/thumbs.db, node_modules, scripts/__pycache__\n")
	does(command.OK, `^pdf-forms@1 unchanged \(\w{26}\): 11 files, 3 of them scripts\n$`, "save", dir)
	does(command.OK, `(?m)^1 .*latest,staging +first$|staging,latest`, "versions", "pdf-forms")

	does(command.OK, `^pdf-forms@1 .*out: 11 files, 3 of them scripts\nscript: assets/empty.sh\nscript: scripts/fill.py\nscript: scripts/read.py\n$`, "get", "pdf-forms", "-o", out)
	require.Equal(t, files, folderOf(t, out))
	left, err := os.ReadDir(filepath.Dir(out))
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing else stays")

	// A second version has what was changed; the first one stays as it was.
	require.NoError(t, os.Remove(filepath.Join(dir, "a.txt")))
	makeFolder(t, dir, map[string]folderFile{"SKILL.md": {formsSkill + "More.\n", false}, "new.md": {"new", false}})
	if runtime.GOOS != "windows" {
		require.NoError(t, os.Chmod(filepath.Join(dir, "scripts/read.py"), 0o755))
	}
	does(command.OK, `^pdf-forms@2 updated \(\w{26}\): 11 files, 3 of them scripts\n~ SKILL.md\n- a.txt\n\+ new.md\nx scripts/read.py \(script\)\n$`, "save", dir)
	two := filepath.Join(work, "two")
	does(command.OK, ``, "get", "pdf-forms", "-o", two)
	now := formsFolder()
	delete(now, "a.txt")
	now["SKILL.md"], now["new.md"], now["scripts/read.py"] = folderFile{formsSkill + "More.\n", false},
		folderFile{"new", false}, folderFile{"print()\n", true}
	require.Equal(t, now, folderOf(t, two))
	does(command.OK, ``, "get", "pdf-forms@staging", "-o", filepath.Join(work, "one"))
	require.Equal(t, files, folderOf(t, filepath.Join(work, "one")))

	// A folder that is not empty is left alone, but with --force; then what is not in the version
	// stays.
	require.NoError(t, os.WriteFile(filepath.Join(two, "mine.txt"), []byte("mine"), 0o600))
	errs = does(command.Failed, `^$`, "get", "pdf-forms@1", "-o", two)
	require.Contains(t, errs, "two is not empty: name another, or replace its files with --force\n")
	errs = does(command.OK, `^pdf-forms@1 `, "get", "pdf-forms@1", "-o", two, "--force")
	require.Contains(t, errs, "two has files that are not in this version: mine.txt, new.md\n")
	had := formsFolder()
	had["mine.txt"], had["new.md"] = folderFile{"mine", false}, now["new.md"]
	require.Equal(t, had, folderOf(t, two))

	// A folder that is empty is filled.
	empty := filepath.Join(work, "empty")
	require.NoError(t, os.Mkdir(empty, 0o755))
	does(command.OK, `^pdf-forms@1 `, "get", "pdf-forms@1", "-o", empty)
	require.Equal(t, files, folderOf(t, empty))

	// Text and messages go on as they did.
	does(command.OK, `^Run scripts/fill.py.\r\nMore.$`, "get", "pdf-forms")

	// The archive.
	zip := filepath.Join(work, "forms.zip")
	does(command.OK, `^pdf-forms@2 .*forms.zip: 11 files`, "get", "pdf-forms", "--zip", zip)
	b, err := os.ReadFile(zip)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(b, []byte("PK")))
	require.Contains(t, does(command.Failed, `^$`, "get", "pdf-forms", "--zip", zip), "is there already")
	does(command.OK, ``, "get", "pdf-forms", "--zip", zip, "--force")

	// A prompt of a text alone is a folder of a SKILL.md.
	does(command.OK, `created`, "save", file(t, "greeting.md", "Hello {{name}}!"))
	does(command.OK, `^greeting@1 .*: 1 file\n$`, "get", "greeting", "-o", filepath.Join(work, "greeting"))
	got := folderOf(t, filepath.Join(work, "greeting"))
	require.Len(t, got, 1)
	require.Contains(t, got["SKILL.md"].bytes, "name: \"greeting\"\n")
	does(command.OK, `^greeting@1 unchanged `, "save", filepath.Join(work, "greeting"))

	does(command.Usage, `^$`, "get", "pdf-forms", "-o", out, "--json")
	does(command.Usage, `^$`, "get", "pdf-forms", "--force")
	does(command.Usage, `^$`, "save", zip, "--dry-run")
	var said map[string]any
	_, line, _ := handler(t, "save", dir, "--dry-run", "--json", "--user", "ann")
	require.NoError(t, json.Unmarshal([]byte(line), &said))
	require.Equal(t, "unchanged", said["outcome"])
}

// TestSaveRefusesFolders holds that nothing is sent of a folder that no version can have.
func TestSaveRefusesFolders(t *testing.T) {
	does := newShop(t)
	for name, c := range map[string]struct {
		files map[string]folderFile
		args  []string
		want  string
	}{
		"no SKILL.md": {map[string]folderFile{"SKILL.md": {}, "a": {}}, nil, "says no name"},
		"none": {
			map[string]folderFile{"a": {}},
			nil,
			"there is no SKILL.md, which makes a folder a skill: write one, and begin it with\n---\nname: NAME\n",
		},
		"small letters": {map[string]folderFile{"skill.md": {formsSkill, false}}, nil, "call it SKILL.md"},
		"no head":       {map[string]folderFile{"SKILL.md": {"Text", false}}, nil, "says no name"},
		"broken head":   {map[string]folderFile{"SKILL.md": {"---\nname: [\n---\n", false}}, nil, "says no name"},
		"no description": {
			map[string]folderFile{"SKILL.md": {"---\nname: a\n---\nText", false}},
			nil,
			"says no description",
		},
		"name of no slug": {
			map[string]folderFile{"SKILL.md": {"---\nname: A B\ndescription: x\n---\nText", false}},
			nil, "says no name",
		},
		"another name": {
			map[string]folderFile{"SKILL.md": {formsSkill, false}},
			[]string{"--name", "other"},
			`you have no prompt "other"`,
		},
		"a large file": {
			map[string]folderFile{
				"SKILL.md": {formsSkill, false},
				"large":    {strings.Repeat("x", 4<<20+1), false},
			},
			nil,
			`file "large": shorten it to at most 4194304 bytes, it has 4194305`,
		},
		"a device": {
			map[string]folderFile{"SKILL.md": {formsSkill, false}, "docs/aux.md": {}},
			nil,
			"Windows takes it for a device",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			makeFolder(t, dir, c.files)
			got, out, errs := handler(t, append([]string{"save", dir, "--user", "ann"}, c.args...)...)
			require.Equal(t, command.Failed, got, out+errs)
			require.Empty(t, out)
			require.Contains(t, errs, c.want)
		})
	}
	many := formsFolder()
	for n := len(many); n < 257; n++ {
		many[fmt.Sprintf("more/%d", n)] = folderFile{}
	}
	dir := t.TempDir()
	makeFolder(t, dir, many)
	require.Contains(t, does(command.Failed, `^$`, "save", dir), "a version has at most 256 files, these are 257")
	require.NoError(t, os.Remove(filepath.Join(dir, "more", "256")))
	does(command.OK, `^pdf-forms@1 created`, "save", dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "SKILL.md"),
		[]byte(strings.Replace(formsSkill, "pdf-forms", "other", 1)), 0o600))
	require.Contains(t, does(command.Failed, `^$`, "save", dir, "--name", "pdf-forms"),
		`the SKILL.md is named "other" and your prompt "pdf-forms" is the skill "pdf-forms"`)
	does(command.Failed, `^$`, "get", "other")
}

// TestFolderOfSkills keeps a skill with files in a folder of prompts: changes in it make one
// version, and come back as they are.
func TestFolderOfSkills(t *testing.T) {
	d := newDesk(t)
	work := t.TempDir()
	files := formsFolder()
	makeFolder(t, work, files)
	forms := filepath.Join(d.dir, "pdf-forms")
	d.runs(command.OK, `created`, "save", work)
	d.does(command.OK, `^would pull pdf-forms/SKILL.md\n$`, "pull", "--dry-run")
	d.does(command.OK, `^pulled pdf-forms/SKILL.md\n$`, "pull")
	require.Equal(t, files, folderOf(t, forms))
	for _, name := range []string{"pull", "push", "diff"} {
		d.does(command.OK, `^$`, name)
	}

	// Changed here: one version of all of it.
	makeFolder(t, forms, map[string]folderFile{"scripts/fill.py": {"#!/bin/sh\n", true}, "new/a.md": {"new", false}})
	require.NoError(t, os.Remove(filepath.Join(forms, "a.txt")))
	d.does(command.LeftOut, `(?s)^pdf-forms/SKILL.md: changed here\n.*\+\+\+ pdf-forms/new/a.md\n.*\+#!/bin/sh\n`,
		"diff")
	d.does(command.OK, `^$`, "pull")
	d.does(command.OK, `^would push pdf-forms/SKILL.md\n$`, "push", "--dry-run")
	d.does(command.OK, `^pushed pdf-forms/SKILL.md\n$`, "push", "--message", "Faster")
	d.runs(command.OK, `2 .*Faster\n1 `, "versions", "pdf-forms")
	d.does(command.OK, `^$`, "push")
	d.runs(command.OK, ``, "get", "pdf-forms", "-o", filepath.Join(work, "two"))
	require.Equal(t, folderOf(t, forms), folderOf(t, filepath.Join(work, "two")))

	// Changed there: a folder where a file was, a bit, a file gone.
	now := folderOf(t, forms)
	delete(now, "assets/logo.png")
	delete(now, ".hidden")
	now["assets/logo.png/a"], now["scripts/read.py"] = folderFile{"x", false}, folderFile{"print(1)\n", true}
	there := filepath.Join(work, "there")
	makeFolder(t, there, now)
	d.runs(command.OK, `^pdf-forms@3 updated`, "save", there)
	d.does(command.OK, `^$`, "push")
	d.does(command.OK, `^pulled pdf-forms/SKILL.md\n$`, "pull")
	require.Equal(t, now, folderOf(t, forms))

	// A title there changes no file: a change here goes through.
	d.runs(command.OK, `has another title now`, "save", there, "--title", "Forms")
	makeFolder(t, forms, map[string]folderFile{"b.txt": {"b", false}})
	d.does(command.OK, `^pushed pdf-forms/SKILL.md\n$`, "push")

	// Changed on both sides.
	makeFolder(t, forms, map[string]folderFile{"b.txt": {"mine", false}})
	d.runs(command.OK, `^pdf-forms@5 updated`, "save", there)
	for _, name := range []string{"pull", "push"} {
		d.does(command.LeftOut, `^left alone pdf-forms/SKILL.md: changed here and on the server\n$`, name)
	}
	d.does(command.OK, `^pulled pdf-forms/SKILL.md\n$`, "pull", "--theirs")
	require.Equal(t, now, folderOf(t, forms))

	// Line ends that git writes are no change.
	for name, f := range now {
		if strings.HasSuffix(name, ".py") {
			makeFolder(t, forms, map[string]folderFile{name: {strings.ReplaceAll(f.bytes, "\n", "\r\n"), f.executable}})
		}
	}
	d.does(command.OK, `^$`, "push")
	makeFolder(t, forms, map[string]folderFile{"b.txt": {"b", false}})
	d.does(command.OK, `^pushed pdf-forms/SKILL.md\n$`, "push")
	d.runs(command.OK, ``, "get", "pdf-forms", "-o", filepath.Join(work, "six"))
	now["b.txt"] = folderFile{"b", false}
	require.Equal(t, now, folderOf(t, filepath.Join(work, "six")))

	// A new one, one that was a file alone, and one that was moved.
	d.saves("greeting")
	makeFolder(t, d.dir, map[string]folderFile{
		"skills/review/SKILL.md":        {skill, false},
		"skills/review/references/a.md": {"a", false},
		"one/SKILL.md":                  {strings.Replace(skill, "review", "one", 1), false},
	})
	d.does(command.OK, `^created one/SKILL.md\ncreated skills/review/SKILL.md\n$`, "push")
	makeFolder(t, d.dir, map[string]folderFile{"one/run.sh": {"#!/bin/sh\n", true}})
	require.NoError(t, os.Rename(forms, filepath.Join(d.dir, "skills", "forms")))
	d.does(command.OK, `^pushed one/SKILL.md\n$`, "push")
	d.does(command.OK, `^pulled greeting.md\n$`, "pull")
	d.does(command.OK, `^$`, "push")
	d.runs(command.OK, `2 files, 1 of them a script`, "get", "one", "-o", filepath.Join(work, "one"))
	require.Equal(t, folderOf(t, filepath.Join(d.dir, "one")), folderOf(t, filepath.Join(work, "one")))

	// A folder that no version can have is left alone.
	require.NoError(t, os.Symlink("SKILL.md", filepath.Join(d.dir, "one", "link")))
	d.does(command.LeftOut, `^left alone one/SKILL.md: "link" is a link`, "push")
	require.NoError(t, os.Remove(filepath.Join(d.dir, "one", "link")))

	// Deleted there, and here.
	d.does(command.OK, `^$`, "pull")
	require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "one")))
	d.does(command.LeftOut, `^left alone one/SKILL.md: gone here\n$`, "push")
	d.does(command.OK, `^deleted one/SKILL.md\n$`, "push", "--delete")
	other := newDeskOf(d)
	other.does(command.OK, `(?s)pulled review/SKILL.md\n`, "pull")
	require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "skills", "review")))
	d.does(command.OK, `^deleted skills/review/SKILL.md\n$`, "push", "--delete")
	makeFolder(t, other.dir, map[string]folderFile{"review/.DS_Store": {"", false}})
	other.does(command.OK, `^removed review/SKILL.md\n$`, "pull", "--delete")
	require.Equal(t, map[string]folderFile{".DS_Store": {}}, folderOf(t, filepath.Join(other.dir, "review")))
}

// newDeskOf returns another folder for the library of a desk.
func newDeskOf(d desk) desk { return desk{d.T, d.TempDir()} }

// TestImportOfSkills holds that an import of a folder takes skills with all that is in their
// folders.
func TestImportOfSkills(t *testing.T) {
	does := newShop(t)
	dir := t.TempDir()
	makeFolder(t, filepath.Join(dir, "skills", "pdf-forms"), formsFolder())
	makeFolder(t, dir, map[string]folderFile{
		"review/SKILL.md": {skill, false},
		"greeting.md":     {"---\nname: greeting\n---\nHello", false}, "x.png": {"x", false},
	})
	errs := does(command.OK, `created 3`, "import", dir, "--public")
	require.Contains(t, errs, "x.png holds no prompt\n")
	out := filepath.Join(t.TempDir(), "out")
	does(command.OK, ``, "get", "pdf-forms", "-o", out)
	require.Equal(t, formsFolder(), folderOf(t, out))
	does(command.OK, `"visibility":"public"`, "save", out, "--json")
	does(command.OK, `unchanged 3`, "import", dir)

	// Another content is told, and taken with --update.
	makeFolder(t, filepath.Join(dir, "skills", "pdf-forms"), map[string]folderFile{"more.md": {"more", false}})
	does(command.LeftOut, `your prompt "pdf-forms" has it, with other files\n(?s:.*)rejected 1`, "import", dir)
	does(command.OK, `updated 1`, "import", dir, "--update")
	does(command.OK, `^pdf-forms@2 .*: 12 files`, "get", "pdf-forms", "-o", filepath.Join(t.TempDir(), "out"))

	// A folder that no version can have is told, and the others go in.
	require.NoError(t, os.Symlink("SKILL.md", filepath.Join(dir, "review", "link")))
	does(command.LeftOut, `"link" is a link(?s:.*)rejected 1`, "import", dir)
}
