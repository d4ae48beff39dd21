package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/cli/folder"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

const folderHelp = `

A file that is a prompt of yours is known by the lock file prompthub.lock in the folder, which belongs under version control,
or else by its name. With --workspace the prompts are those of a workspace. What was changed on one side only is taken over.
What was changed on both is left alone and told, and the exit code is 3. Formats of files are those that import takes and that
hold one prompt; what a file cannot hold stays on the server.` + callerHelp

func pullCommand() command.Command {
	return folderCommand(command.Command{
		Name: "pull", Args: []string{"DIR"}, Short: "make the files of a folder what your prompts are",
		Long: "Makes the files in DIR what your prompts are. A prompt without a file gets one.",
	}, "theirs", "in a conflict, take what is on the server", "remove files whose prompts were deleted",
		(*folder.Folder).Pull)
}

func pushCommand() command.Command {
	return folderCommand(command.Command{
		Name: "push", Args: []string{"DIR"}, Short: "make your prompts what the files of a folder are",
		Long: "Makes your prompts what the files in DIR are. A file without a prompt makes one, which is private unless the file says otherwise.",
	}, "mine", "in a conflict, take what is in the folder", "delete prompts whose files were removed",
		(*folder.Folder).Push)
}

func folderCommand(c command.Command, force, why, remove string,
	do func(*folder.Folder, context.Context) error,
) command.Command {
	c.Long += folderHelp
	c.Setup = func(flags *flag.FlagSet) command.Action {
		who := callerFlags(flags)
		who.workspaceFlag(flags)
		var f folder.Folder
		flags.BoolVar(&f.Force, force, false, why)
		flags.BoolVar(&f.Delete, "delete", false, remove)
		flags.BoolVar(&f.DryRun, "dry-run", false, "tell what would be done, and do nothing")
		var message *string
		if c.Name == "push" {
			message = flags.String("message", "", "why, for the history of the versions that are made (default the subject of the last commit of the file, if that has it as it is)")
		}
		as, asJSON := formatFlag(flags, format.Singles()), jsonFlag(flags)
		return func(ctx context.Context, std command.Streams, args []string) (err error) {
			if as.IsMany() {
				return command.UsageError(
					fmt.Sprintf("%s: a file of %s may hold many prompts, and a folder has one for each: use %s", c.Name,
						as.Format, format.Names(format.Singles())))
			}
			if f.Client, err = who.client(); err != nil {
				return err
			}
			if f.As = as.Format; f.As == "" {
				f.As = format.Markdown
			}
			if f.Root, err = os.OpenRoot(args[0]); err != nil {
				return err
			}
			defer f.Root.Close()
			if message != nil {
				f.Message = func(path string, files []format.File) string {
					return cmp.Or(*message, lastSubject(ctx, args[0], path, files))
				}
				f.Noise = func(files []string) { tellNoise(std, files) }
			}
			conflicts, failed := false, error(nil)
			f.Tell = func(i folder.Item, done string) {
				conflicts = conflicts || done == "" && i.Err == nil && i.State == folder.Conflict
				if *asJSON {
					failed = errors.Join(failed, printJSON(std.Out, lineOf(i, done, f.DryRun)))
					return
				}
				tellItem(std, i, done, f.DryRun)
			}
			err = do(&f, ctx)
			err = errors.Join(err, failed)
			if conflicts {
				fmt.Fprintf(std.Err, "to settle what changed on both sides: \"diff %[1]s\" shows it, \"push --mine %[1]s\" takes the folder's, \"pull --theirs %[1]s\" the server's\n", args[0])
			}
			return err
		}
	}
	return c
}

// tellNoise tells of files of a folder that hold no prompts.
func tellNoise(std command.Streams, files []string) {
	switch len(files) {
	case 0:
	case 1:
		fmt.Fprintf(std.Err, "%s holds no prompt\n", files[0])
	default:
		fmt.Fprintf(std.Err, "%d files hold no prompts, such as %s\n", len(files), files[0])
	}
}

// lastSubject returns the first line of the message of the commit that a file or a folder was last
// changed in, "" if git knows none, or has other contents of its files: that message is about
// those.
func lastSubject(ctx context.Context, dir, name string, files []format.File) string {
	said, err := git(ctx, dir, "", "log", "-1", "--no-show-signature", "--format=%s", "--", name)
	if err != nil || !committed(ctx, dir, files) {
		return "" // no repository, or no git
	}
	subject := []rune(strings.ToValidUTF8(strings.TrimSpace(string(said)), ""))
	return string(subject[:min(len(subject), prompt.MaxMessage/2)]) // a character may count as two
}

// committed reports whether the last commit has files as they are, but for line ends.
func committed(ctx context.Context, dir string, files []format.File) bool {
	var names strings.Builder
	for _, f := range files {
		fmt.Fprintf(&names, "HEAD:./%s\n", f.Path)
	}
	said, err := git(ctx, dir, names.String(), "cat-file", "--batch")
	if err != nil {
		return false
	}
	lineFeeds := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")) }
	for _, f := range files {
		var hash string
		var size int
		head, rest, _ := bytes.Cut(said, []byte("\n"))
		if n, _ := fmt.Sscanf(string(head), "%s blob %d", &hash, &size); n != 2 || size >= len(rest) {
			return false
		}
		if !bytes.Equal(lineFeeds(rest[:size]), lineFeeds(f.Bytes)) {
			return false
		}
		said = rest[size+1:]
	}
	return true
}

// git runs a command of git. What a repository of others says must not run programs.
func git(ctx context.Context, dir, in string, args ...string) ([]byte, error) {
	run := exec.CommandContext(ctx, "git", append([]string{"--no-pager", "-c", "core.fsmonitor=false"}, args...)...)
	run.Dir, run.Env, run.Stdin = dir, append(os.Environ(), "GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0"),
		strings.NewReader(in)
	return run.Output()
}

// An itemLine is a file and its prompt, as --json prints them.
type itemLine struct {
	Path   string   `json:"path"`
	State  string   `json:"state"`            // how file and prompt differ
	Done   string   `json:"done,omitempty"`   // pulled, pushed and so on; absent if it was left alone
	DryRun bool     `json:"dryRun,omitempty"` // whether it would be done
	Reason string   `json:"reason,omitempty"` // why it was left alone
	Loss   []string `json:"loss,omitempty"`   // what the file does not hold
	Diff   string   `json:"diff,omitempty"`   // of diff: - is on the server, + is here
}

func lineOf(i folder.Item, done string, dryRun bool) itemLine {
	l := itemLine{Path: i.Path, State: string(i.State), Done: done, DryRun: dryRun}
	if i.Err != nil {
		l.Reason = i.Err.Error()
	}
	if done == "pulled" {
		l.Loss = i.Loss
	}
	return l
}

// would says of what Sync does that it would be done.
var would = map[string]string{
	"pulled": "would pull", "removed": "would remove", "created": "would create",
	"deleted": "would delete", "pushed": "would push",
}

// tellItem tells what was done with an item, or why nothing was.
func tellItem(std command.Streams, i folder.Item, done string, dryRun bool) {
	switch {
	case i.Err != nil:
		fmt.Fprintf(std.Out, "left alone %s: %v\n", i.Path, i.Err)
	case done == "":
		fmt.Fprintf(std.Out, "left alone %s: %s\n", i.Path, i.State)
	default:
		word := done
		if dryRun {
			word = would[done]
		}
		fmt.Fprintf(std.Out, "%s %s", word, i.Path)
		if called := i.Called(); called != "" && done == "created" {
			fmt.Fprintf(std.Out, " as %s", called) // another file says its name
		}
		if labels := i.Labels(); len(labels) > 0 && (done == "created" || done == "pushed") {
			fmt.Fprintf(std.Out, ", labels: %s", strings.Join(labels, ", "))
		}
		fmt.Fprintln(std.Out)
	}
	if done == "pulled" && len(i.Loss) > 0 {
		fmt.Fprintf(std.Err, "%s: the file does not hold %s\n", i.Path, strings.Join(i.Loss, ", "))
	}
}

// isPath reports whether an argument is a path and not the name of a prompt: there is such a file,
// or it begins as no name does.
func isPath(s string) bool {
	_, err := os.Stat(s)
	return err == nil || filepath.IsAbs(s) || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../")
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// diffOf returns what differs in a file. Of one that is no text it is said that it does.
func diffOf(p folder.Pair) string {
	if utf8.Valid(p.Here) && utf8.Valid(p.Theirs) {
		return udiff.Unified("server/"+p.Path, p.Path, string(p.Theirs), string(p.Here))
	}
	return fmt.Sprintf("Binary files server/%[1]s and %[1]s differ\n", p.Path)
}

// diffFolder prints what differs between a folder and the library: - is on the server, + is here.
func diffFolder(ctx context.Context, std command.Streams, remote *client.Client, dir string, asJSON bool) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	f := folder.Folder{Root: root, Client: remote, As: format.Markdown}
	items, _, err := f.Items(ctx)
	if err != nil {
		return err
	}
	for _, i := range items {
		if i.State == folder.Same || i.HoldsMany() {
			continue
		}
		err = errDiffers
		diff := ""
		for _, p := range i.Pairs() {
			diff += diffOf(p)
		}
		if asJSON {
			l := lineOf(i, "", false)
			l.Diff = diff
			if failed := printJSON(std.Out, l); failed != nil {
				return failed
			}
			continue
		}
		if i.Err != nil {
			fmt.Fprintf(std.Out, "%s: %v\n", i.Path, i.Err)
			continue
		}
		fmt.Fprintf(std.Out, "%s: %s\n", i.Path, i.State)
		fmt.Fprint(std.Out, diff)
	}
	return err
}
