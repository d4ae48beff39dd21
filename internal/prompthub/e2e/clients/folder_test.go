package clients

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// TestFolder has the command line push a folder, and pull it elsewhere, with an access token of a
// person and of a workspace. It moves no label past a rule.
func TestFolder(t *testing.T) {
	t.Parallel()
	inputs.Packages(t, "./handler")
	p := start(t)
	for as, of := range accounts {
		t.Run("folder"+as, func(t *testing.T) {
			t.Parallel()
			tried(t, tools, "push, pull and label"+as, "prompthub")
			c := commandLine{t, of(t, p, "folder")}
			here, there := t.TempDir(), t.TempDir()
			write := func(name, text string) {
				require.NoError(t, os.WriteFile(filepath.Join(here, name), []byte(text), 0o600))
			}
			write("greeting.md",
				"---\nname: greeting\ntitle: A greeting\nvisibility: private\n---\n\nHello {{name}}!\n")
			write("bye.md", "---\nname: bye\ntitle: A farewell\nvisibility: public\n---\n\nFarewell.\n")
			c.says("created bye.md\ncreated greeting.md\n", "push", here)
			c.says("pulled bye.md\npulled greeting.md\n", "pull", there)
			write("greeting.md",
				"---\nname: greeting\ntitle: A greeting\nvisibility: private\n---\n\nGood day {{name}}!\n")
			c.says("pushed greeting.md\n", "push", here)
			c.says("pulled greeting.md\n", "pull", there)
			for _, name := range []string{"bye.md", "greeting.md"} {
				want, err := os.ReadFile(filepath.Join(here, name))
				require.NoError(t, err)
				got, err := os.ReadFile(filepath.Join(there, name))
				require.NoError(t, err)
				require.Equal(t, string(want), string(got))
			}
			c.says("", "push", here)
			c.says("", "pull", here)
			c.says("greeting: production is version 1\n", "label", "greeting@1", "production")
			c.says("Hello {{name}}!", "get", "greeting")

			labeled := "---\nname: labeled\ntitle: New\nlabels:\n  - ruled\n---\n\nNew.\n"
			if as == "" {
				c.says("greeting: ruled is version 1\n", "label", "greeting@1", "ruled")
				write("labeled.md", labeled)
				c.says("created labeled.md, labels: ruled\n", "push", here)
				c.says("New.", "get", "labeled@ruled")
				return
			}
			const why = "a rule of the workspace lets the label ruled move only by a proposal"
			c.refuses(why, "label", "greeting@1", "ruled")
			write("labeled.md", labeled)
			c.refuses(why, "push", here)
			c.refuses("", "get", "labeled")
			require.NoError(t, os.Remove(filepath.Join(here, "labeled.md")))
			write("greeting.md", "---\nname: greeting\ntitle: A greeting\nvisibility: private\nlabels:\n  - ruled\n---\n\nHi {{name}}!\n")
			c.refuses(why, "push", here)
			c.says("Good day {{name}}!", "get", "greeting@latest")
			c.refuses("", "get", "greeting@ruled")
		})
	}
}

// A commandLine is the program as a command, with what it reads of where it is and who.
type commandLine struct {
	t   *testing.T
	env []string
}

func (c commandLine) run(args ...string) (string, string, error) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary(c.t), args...)
	cmd.Env = append(c.env, "HOME="+c.t.TempDir())
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return string(out), string(failed.Stderr), err
	}
	return string(out), "", err
}

// says requires a command to end well with some output.
func (c commandLine) says(want string, args ...string) {
	c.t.Helper()
	out, errs, err := c.run(args...)
	require.NoError(c.t, err, "%v: %s", args, errs)
	require.Equal(c.t, want, out, "%v", args)
}

// refuses requires a command to fail and to say why.
func (c commandLine) refuses(why string, args ...string) {
	c.t.Helper()
	out, errs, err := c.run(args...)
	require.Error(c.t, err, "%v: %s", args, out)
	require.Contains(c.t, out+errs, why, "%v", args)
}
