package infra

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// A workflow is the part of a GitHub workflow that ours use.
type workflow struct {
	Name        string
	On          any
	Permissions map[string]string
	Concurrency any
	Jobs        map[string]job
}

type job struct {
	RunsOn string `yaml:"runs-on"`
	// with reviewers and branches that are set in the repository
	Environment string
	Timeout     int `yaml:"timeout-minutes"`
	Env         map[string]string
	Steps       []step
}

type step struct {
	Name, Uses, Run string
	Env             map[string]string
	Dir             string `yaml:"working-directory"`
	With            map[string]any
}

func workflows(t *testing.T) map[string]workflow {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yml"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	all := make(map[string]workflow)
	for _, path := range paths {
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		var w workflow
		require.NoError(t, yaml.UnmarshalWithOptions(data, &w, yaml.Strict()), path)
		all[filepath.Base(path)] = w
	}
	return all
}

// A tag can be moved to other code after it was looked at; a hash cannot.
var pinned = regexp.MustCompile(`uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

func TestActionsArePinned(t *testing.T) {
	t.Parallel()
	for name := range workflows(t) {
		for line := range strings.Lines(string(content(t, ".github/workflows/"+name))) {
			if line = strings.TrimSpace(line); strings.Contains(line, "uses:") {
				require.Regexp(t, pinned, line, name)
			}
		}
	}
}

func TestWorkflowsMayLittle(t *testing.T) {
	t.Parallel()
	for name, w := range workflows(t) {
		want := map[string]string{"contents": "read"}
		if name == "azure-dev.yml" {
			want["id-token"] = "write" // signs in to Azure without a secret
		}
		require.Equal(t, want, w.Permissions, name)
		for id, j := range w.Jobs {
			require.Positive(t, j.Timeout, "%s %s", name, id)
			require.Equal(t, w.Permissions["id-token"] == "write", j.Environment != "",
				"%s: who signs in to Azure does it from a protected environment", name)
			for _, s := range j.Steps {
				require.NotContains(t, s.Run, "${{", "%s: an expression in a script is an injection waiting for its input", name)
			}
		}
	}
}

func TestContinuousIntegrationRunsWhatDevelopersRun(t *testing.T) {
	t.Parallel()
	steps := workflows(t)["ci.yml"].Jobs["test"].Steps
	require.Equal(t, ".ci/run", steps[len(steps)-1].Run)
	require.FileExists(t, filepath.Join(root, ".ci/run"))
}

// What a deployment by hand can set, one by the workflow can too, under the same names.
func TestDeploymentPassesAllVariables(t *testing.T) {
	t.Parallel()
	env := workflows(t)["azure-dev.yml"].Jobs["deploy"].Env
	var p project
	require.NoError(t, yaml.UnmarshalWithOptions(content(t, "azure.yaml"), &p, yaml.Strict()))
	for _, parameter := range parameters(t) {
		m := variables.FindStringSubmatch(parameter.template)
		name := m[1]
		if strings.HasPrefix(name, "AZURE_PRINCIPAL_") {
			continue // azd knows who deploys
		}
		want := "${{ vars." + name + " }}"
		if parameter.kind == "object" {
			want = "${{ vars." + name + " || '" + parameter.fallback + "' }}" // an empty text is no object
		} else {
			// Every application has the same workflow and defaults of its own.
			value, err := parameter.value(map[string]string{name: ""})
			require.NoError(t, err, "%s: an empty variable must be the default", name)
			require.Equal(t, strings.Trim(parameter.fallback, "'"), fmt.Sprint(value), name)
		}
		require.Equal(t, want, env[name], name)
		if !strings.HasPrefix(name, "AZURE_") { // these azd copies of itself
			require.Contains(t, p.Pipeline.Variables, name)
		}
	}
}

// A pinned version that no one watches grows old.
func TestEveryPinIsWatched(t *testing.T) {
	t.Parallel()
	var config struct {
		Updates []struct {
			Ecosystem   string `yaml:"package-ecosystem"`
			Directories []string
		}
	}
	require.NoError(t, yaml.Unmarshal(content(t, ".github/dependabot.yml"), &config))
	watched := make(map[string][]string)
	for _, u := range config.Updates {
		watched[u.Ecosystem] = append(watched[u.Ecosystem], u.Directories...)
	}
	for ecosystem, pins := range map[string]struct{ file, by string }{"gomod": {"go.mod", "require"}, "npm": {"package.json", `ependencies"`}} {
		var have []string
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" || d.Name() != "." && d.Name() != ".." && strings.HasPrefix(d.Name(), ".")):
				return filepath.SkipDir
			case d.Name() != pins.file:
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil || !bytes.Contains(text, []byte(pins.by)) {
				return err
			}
			dir, err := filepath.Rel(root, filepath.Dir(path))
			have = append(have, filepath.ToSlash(filepath.Join("/", dir)))
			return err
		}))
		require.ElementsMatch(t, have, watched[ecosystem], ecosystem)
	}
}

// The deployed program is built with the toolchain that go.mod names, whose patch release has fixes
// of the standard library, and a program with known faults is not deployed.
func TestWhatIsDeployedHasNoKnownFaults(t *testing.T) {
	t.Parallel()
	require.Regexp(t, `(?m)^toolchain go1\.\d+\.[1-9]\d*$`, string(content(t, "go.mod")))
	for name, w := range workflows(t) {
		for id, j := range w.Jobs {
			for _, s := range j.Steps {
				if strings.HasPrefix(s.Uses, "actions/setup-go@") {
					require.Equal(t, "go.mod", s.With["go-version-file"], "%s %s", name, id)
				}
			}
		}
	}
	var order []string
	for _, s := range workflows(t)["azure-dev.yml"].Jobs["deploy"].Steps {
		for _, what := range []string{"vulnerabilities-built", "azd provision", "azd deploy"} {
			if strings.Contains(s.Run, what) {
				order = append(order, what)
			}
		}
	}
	require.Equal(t, []string{"vulnerabilities-built", "azd provision", "azd deploy"}, order)
}
