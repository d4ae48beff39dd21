package e2e

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/inputs"
)

// A block is commands of a document, as a reader copies them.
type block struct {
	place string // file:line
	text  string
}

var fence = regexp.MustCompile("(?m)^ *```(\\w*)$")

// blocks returns the commands of a document: its fences of sh.
func blocks(t *testing.T, name, text string) []block {
	t.Helper()
	marks := fence.FindAllStringSubmatchIndex(text, -1)
	require.Zero(t, len(marks)%2, "%s: a fence is not closed", name)
	var all []block
	for i := 0; i < len(marks); i += 2 {
		if language := text[marks[i][2]:marks[i][3]]; language == "sh" {
			all = append(all, block{
				place: fmt.Sprintf("%s:%d", name, strings.Count(text[:marks[i][1]], "\n")+2),
				text:  text[marks[i][1]+1 : marks[i+1][0]],
			})
		}
	}
	return all
}

// A comment may say that its command ends with another exit code than 0, or that an answer is an
// error, for which curl has the code 22.
var (
	exitCode = regexp.MustCompile(`(?m)^([^#\n]*\S)\s*(#.*\bexit code ([1-9]).*)$`)
	answered = regexp.MustCompile(`(?m)^([^#\n]*\S)\s*(#.*\banswered [45]\d\d.*)$`)
)

// alone is the command under which a script has a network, processes and a file system of its own.
// It needs no rights where the system lets users have some of their own.
func alone() []string {
	args := []string{"unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"}
	if os.Getuid() != 0 {
		args = append(args, "--map-root-user")
	}
	return append(args, "sh")
}

// A stageOfBlocks is where blocks are run.
type stageOfBlocks struct {
	root, stands string // the repository, and the stand-ins
	env          []string
}

func newStageOfBlocks(t *testing.T) stageOfBlocks {
	t.Helper()
	top, err := inputs.Root()
	require.NoError(t, err)
	s := stageOfBlocks{root: top, stands: filepath.Join(top, "internal/prompthub/e2e/testdata/blocks")}
	tools := map[string]string{}
	for _, name := range []string{"unshare", "ip", "mount", "sh", "make", "curl", "jq", "git", "node"} {
		if tools[name], err = exec.LookPath(name); err != nil {
			missing(t, "blocks of documents are run with "+name+", which is not installed")
		}
	}
	if _, err := os.Stat(filepath.Join(top, "internal/tools/azurite/node_modules/azurite")); err != nil {
		missing(t, "Azurite, which stands in for a storage account, is not installed: run make infra-check")
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		value, err := exec.CommandContext(t.Context(), "go", "env", name).Output()
		require.NoError(t, err)
		s.env = append(s.env, name+"="+strings.TrimSpace(string(value)))
	}
	for _, name := range []string{"LANG", "TMPDIR", "GOROOT", "GOTOOLCHAIN", "CGO_ENABLED"} {
		if value := os.Getenv(name); value != "" {
			s.env = append(s.env, name+"="+value)
		}
	}
	s.env = append(s.env, "ROOT="+top, "REAL_MAKE="+tools["make"], "REAL_CURL="+tools["curl"], "GOPROXY=off",
		"GOFLAGS="+os.Getenv("GOFLAGS")+" -ldflags=-w", // linking for debuggers takes twice as long
		"GIT_AUTHOR_NAME=Ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=Ann",
		"GIT_COMMITTER_EMAIL=ann@example.org",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	if out, err := s.script(t, t.TempDir(), "true"); err != nil {
		missing(t, "this system gives no network and no file system of its own to a process (unshare): "+out)
	}
	return s
}

// missing skips a test that needs what is not there, or fails it where everything must be.
func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// script runs a script of sh, which may write to a directory, and returns what it printed.
func (s stageOfBlocks) script(t *testing.T, dir, text string) (string, error) {
	t.Helper()
	file := filepath.Join(dir, "script")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	args := append(alone(), filepath.Join(s.stands, "enter.sh"))
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append([]string{
		"WORK=" + dir, "SCRIPT=" + file, "HOME=" + dir, "GOBIN=" + filepath.Join(dir, "gobin"), "BLOCK=before",
		"PATH=" + filepath.Join(s.stands, "bin") + ":" + filepath.Join(dir, "gobin") + ":" + os.Getenv("PATH") +
			":/usr/local/bin:/usr/sbin:/sbin",
	}, s.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// run runs blocks one after the other in one shell, as a reader does, after what the reader has
// done before. It returns the commands that others stood in for, by the places of their blocks.
func (s stageOfBlocks) run(t *testing.T, before string, all []block) (used map[string][]string, out string, err error) {
	t.Helper()
	var text strings.Builder
	text.WriteString(before)
	for _, b := range all {
		fmt.Fprintf(&text, "\necho '== %s' >&2\nexport BLOCK=%[1]s\n", b.place)
		commands := exitCode.ReplaceAllString(b.text, "$1 || [ $$? = $3 ] $2")
		text.WriteString(answered.ReplaceAllString(commands, "$1 || [ $$? = 22 ] $2"))
	}
	text.WriteString("\necho '== done' >&2\n")
	dir := t.TempDir()
	out, err = s.script(t, dir, text.String())
	if err == nil && !strings.Contains(out, "== done") {
		err = errors.New("the script ended before its end")
	}
	used = make(map[string][]string)
	notes, readErr := os.ReadFile(filepath.Join(dir, "used"))
	if readErr != nil {
		return used, out, err
	}
	for line := range strings.Lines(string(notes)) {
		place, command, _ := strings.Cut(strings.TrimSpace(line), " ")
		used[place] = append(used[place], command)
	}
	return used, out, err
}

// before is what a reader of a document has done before, such as to start the program.
func (s stageOfBlocks) before(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(s.stands, "before", filepath.Base(name)+".sh"))
	if strings.HasPrefix(name, "apps/") || os.IsNotExist(err) {
		return ""
	}
	require.NoError(t, err)
	return string(text)
}

func documents(t *testing.T, s stageOfBlocks) map[string][]block {
	t.Helper()
	all := make(map[string][]block)
	for _, pattern := range []string{"README.md", "docs/*.md", "apps/*/README.md"} {
		files, err := filepath.Glob(filepath.Join(s.root, pattern))
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, path := range files {
			name, err := filepath.Rel(s.root, path)
			require.NoError(t, err)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			if found := blocks(t, name, string(text)); len(found) > 0 {
				all[name] = found
			}
		}
	}
	return all
}

// TestBlocksOfDocuments runs every command that a document shows, as it stands. Commands that need
// Azure or another machine are stood in for by testdata/blocks/bin.
func TestBlocksOfDocuments(t *testing.T) {
	t.Parallel()
	s := newStageOfBlocks(t)
	inputs.Packages(t, "./handler", "./stage", "./apps/...")
	inputs.Files(t, "README.md", "docs", "apps", "deploy", "functions", "host.json", "infra", "Makefile",
		"internal/prompthub/e2e/testdata/blocks")
	all, count := documents(t, s), 0
	var stoodIn, looked atomic.Int32
	t.Run("documents", func(t *testing.T) {
		for name, found := range all {
			count += len(found)
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				work(t)
				used, out, err := s.run(t, s.before(t, name), found)
				require.NoError(t, err, tail(out))
				for _, b := range found {
					if slices.Contains(used[b.place], "make -n") {
						looked.Add(1)
					} else if len(used[b.place]) > 0 {
						stoodIn.Add(1)
					}
				}
			})
		}
	})
	t.Logf("%d blocks of %d documents were run: %d with stand-ins for other programs, %d with targets of make that were only looked at",
		count, len(all), stoodIn.Load(), looked.Load())
	require.Greater(t, count, 20, "blocks are no longer found")
}

// TestMistakesInBlocksAreFound plants mistakes in docs/deploy.md.
func TestMistakesInBlocksAreFound(t *testing.T) {
	t.Parallel()
	s := newStageOfBlocks(t)
	inputs.Packages(t, "./handler", "./stage")
	inputs.Files(t, "docs/deploy.md", "internal/prompthub/e2e/testdata/blocks")
	work(t)
	text, err := os.ReadFile(filepath.Join(s.root, "docs/deploy.md"))
	require.NoError(t, err)
	for _, f := range []struct{ from, to, want string }{
		{`--from-package "`, `--from-packages "`, "ERROR: unknown flag: --from-packages"},
		{"-zip dist/", "-zipp dist/", "flag provided but not defined: -zipp"},
		{"bin/handler backup ", "bin/handler backup --all ", "flag provided but not defined: -all"},
		// What it was once: azd prints an error where the value belongs.
		{
			`"$(azd env get-value QUEUE_PREFIX)"`, `"$(azd env get-value QUEUES 2>/dev/null || echo prompthub-)"`,
			"setting QUEUE_PREFIX is ",
		},
	} {
		require.Equal(t, 1, strings.Count(string(text), f.from), f.from)
		var planted []block
		for _, b := range blocks(t, "docs/deploy.md", strings.Replace(string(text), f.from, f.to, 1)) {
			if strings.Contains(b.text, f.to) {
				planted = append(planted, b)
			}
		}
		require.Len(t, planted, 1)
		_, out, err := s.run(t, "azd env new planted\nazd provision\nOLD=v1\ntouch prompthub-v1.zip\n", planted)
		require.Error(t, err, f.to)
		require.Contains(t, out, f.want)
	}
}

// Commands are fenced as sh, so that they are run.
func TestCommandsAreFencedAsSh(t *testing.T) {
	t.Parallel()
	command := regexp.MustCompile(
		`(?m)^\s*(\$ )?(sudo|az|azd|curl|docker|export|git|go|make|npx|claude|prompthub|bin/handler|handler)\s`)
	top, err := inputs.Root()
	require.NoError(t, err)
	for _, pattern := range []string{"README.md", "docs/*.md", "apps/*/README.md"} {
		files, err := filepath.Glob(filepath.Join(top, pattern))
		require.NoError(t, err)
		for _, path := range files {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			marks := fence.FindAllStringSubmatchIndex(string(text), -1)
			for i := 0; i+1 < len(marks); i += 2 {
				language, body := string(text[marks[i][2]:marks[i][3]]), text[marks[i][1]:marks[i+1][0]]
				require.NotContains(t, []string{"bash", "shell", "console", "shell-session"}, language, path)
				if language == "" {
					require.False(t, command.Match(body), "%s: commands that are not fenced as sh: %s", path, body)
				}
			}
		}
	}
}

// tail returns the end of what a script printed, which says where it stopped.
func tail(out string) string {
	const most = 4000
	return out[max(0, len(out)-most):]
}
