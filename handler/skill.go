package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/cli/folder"
	"prompthub/internal/prompthub/prompt"
)

// saveFolder makes the prompt that the SKILL.md of a folder names have its files.
func saveFolder(ctx context.Context, std command.Streams, remote *client.Client, dir string,
	d client.FolderDraft, asJSON bool,
) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	files, leftOut, err := folder.ReadFiles(root)
	if err != nil {
		return fmt.Errorf("save: %s: %w", dir, err)
	}
	if d.Slug, err = folder.SkillName(files); err != nil {
		return fmt.Errorf("save: %s: %w", dir, err)
	}
	if len(leftOut) > 0 {
		fmt.Fprintf(std.Err, "left out: %s\n", strings.Join(leftOut, ", "))
	}
	d.Name, d.Files, d.KeepBits = cmp.Or(d.Name, d.Slug), files, runtime.GOOS == "windows"
	saved, err := remote.SaveFolder(ctx, d)
	if err != nil {
		return err
	}
	if asJSON && d.DryRun {
		return printJSON(std.Out, map[string]any{
			"name": saved.Found.Name, "version": saved.Found.Version,
			"outcome": saved.Outcome.String(), "dryRun": true, "files": saved.Changes,
		})
	}
	if asJSON {
		return printJSON(std.Out, saved.Found.Raw)
	}
	if err := printSaved(std, saved, d.DryRun); err != nil {
		return err
	}
	if !d.DryRun {
		tellSaved(ctx, std, remote, saved.Saved)
	}
	return nil
}

// printSaved prints what became of a folder, and each file that differs.
func printSaved(std command.Streams, s client.SavedFolder, dryRun bool) error {
	scripts := s.Files.Scripts()
	var b bytes.Buffer
	f := s.Found
	if dryRun {
		what := map[client.Outcome]string{
			client.Created: "would be created", client.Updated: "would be updated",
			client.Unchanged: "unchanged",
		}[s.Outcome]
		fmt.Fprintf(&b, "%s %s", f.Name, what)
	} else {
		fmt.Fprintf(&b, "%s@%d %s (%s)", f.Name, f.Version, told(s.Saved), f.ID)
	}
	fmt.Fprintf(&b, ": %s\n", counted(len(s.Files), scripts))
	signs := map[string]string{"added": "+", "removed": "-", "changed": "~", "mode": "x"}
	for _, c := range s.Changes {
		mark := ""
		if c.Script && c.Change != "removed" {
			mark = " (script)"
		}
		fmt.Fprintf(&b, "%s %s%s\n", signs[c.Change], c.Path, mark)
	}
	_, err := std.Out.Write(b.Bytes())
	return err
}

// counted says how many files there are, and how many of them are scripts.
func counted(files, scripts int) string {
	text := fmt.Sprintf("%d files", files)
	if files == 1 {
		text = "1 file"
	}
	switch scripts {
	case 0:
		return text
	case 1:
		return text + ", 1 of them a script"
	}
	return fmt.Sprintf("%s, %d of them scripts", text, scripts)
}

// getFolder writes the files of a version into a folder, or as an archive.
func getFolder(ctx context.Context, std command.Streams, remote *client.Client, f client.Found,
	dir, zip string, force bool,
) error {
	files, archive, err := remote.Folder(ctx, f)
	if err != nil {
		return err
	}
	to := dir
	if zip != "" {
		to = zip
		err = writeArchive(zip, archive, force)
	} else {
		var others []string
		others, err = folder.WriteFiles(dir, files, force)
		if len(others) > 0 {
			fmt.Fprintf(std.Err, "%s has files that are not in this version: %s\n", dir, strings.Join(others, ", "))
		}
	}
	if errors.Is(err, folder.ErrNotEmpty) || errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("get: %w: name another, or replace its files with --force", err)
	}
	if err != nil {
		return fmt.Errorf("get: %w", err)
	}
	set, err := prompt.NewFiles(files)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s@%d %s: %s\n", f.Name, f.Version, to, counted(len(set), set.Scripts()))
	for _, x := range set {
		if x.Script {
			fmt.Fprintf(&b, "script: %s\n", x.Path)
		}
	}
	_, err = std.Out.Write(b.Bytes())
	return err
}

// writeArchive writes a file whole or not at all. One that is there stays, but with force.
func writeArchive(name string, b []byte, force bool) (err error) {
	if _, err := os.Lstat(name); err == nil && !force {
		return fmt.Errorf("%s is there already: %w", name, fs.ErrExist)
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".prompthub-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(b)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
