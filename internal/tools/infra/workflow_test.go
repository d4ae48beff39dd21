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
		switch name {
		case "azure-dev.yml":
			want["id-token"] = "write" // signs in to Azure without a secret
		case "release.yml":
			want["contents"], want["packages"] = "write", "write" // uploads the release and its image
		}
		require.Equal(t, want, w.Permissions, name)
		for id, j := range w.Jobs {
			require.Positive(t, j.Timeout, "%s %s", name, id)
			require.Equal(t, w.Permissions["id-token"] == "write", j.Environment != "",
				"%s: who signs in to Azure does it from a protected environment", name)
			for _, s := range j.Steps {
				require.NotContains(t, s.Run, "${{",
					"%s: an expression in a script is an injection waiting for its input", name)
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

// Each tag of a version is released with what "make release" made, once it has no known fault. Only
// the steps after that have a secret.
func TestReleaseUploadsWhatMakeMade(t *testing.T) {
	t.Parallel()
	w := workflows(t)["release.yml"]
	require.Equal(t, map[string]any{"push": map[string]any{"tags": []any{"v*"}}}, w.On)
	j := w.Jobs["release"]
	require.Equal(t, map[string]string{"VERSION": "${{ github.ref_name }}"}, j.Env)
	var runs []string
	for _, s := range j.Steps {
		if s.Run == "" {
			continue
		}
		runs = append(runs, s.Run)
		require.NotRegexp(t, `\bgo (build|run|install)\b|docker build\b`, s.Run, "make does that")
		require.Equal(t, len(runs) > 2, s.Env["GH_TOKEN"] != "", s.Run)
	}
	require.Len(t, runs, 4)
	require.Equal(t, []string{"make vulnerabilities", `make release VERSION="$VERSION"`}, runs[:2])
	// The files and images are those that the target makes.
	makefile := string(content(t, "Makefile"))
	_, recipe, ok := strings.Cut(makefile, "\nrelease: ")
	require.True(t, ok)
	recipe, _, _ = strings.Cut(recipe, "\n\n")
	require.Contains(t, recipe, `go run ./stage release -version "$(VERSION)"`)
	require.Contains(t, recipe, "-out dist/release\n")
	require.Contains(t, recipe, "for arch in amd64 arm64;")
	require.Contains(t, recipe, "IMAGE=prompthub:$(VERSION)-$$arch;")
	require.Contains(t, runs[2], `docker push "$image:$VERSION-$arch"`)
	require.Contains(t, runs[2], `docker tag "prompthub:$VERSION-$arch" `)
	require.Contains(t, runs[3], `gh release create "$VERSION" dist/release/* `)
}

// The composition of containers runs our image and one pinned proxy, keeps data and backups, and
// tells the program and the proxy the same name.
func TestComposition(t *testing.T) {
	t.Parallel()
	composition(t, "deploy/compose.yml", "prompthub")
	composition(t, "deploy/compose.application.yml", "application")
}

func composition(t *testing.T, file, service string) {
	t.Helper()
	var c struct {
		Services map[string]struct {
			Image       string
			Command     []string
			EnvFile     string `yaml:"env_file"`
			Environment map[string]string
			Ports       []string
			Volumes     []any
			ReadOnly    bool `yaml:"read_only"`
		}
		Volumes map[string]any
	}
	require.NoError(t, yaml.Unmarshal(content(t, file), &c))
	p, proxy := c.Services[service], c.Services["caddy"]
	require.Regexp(t, `^https://\$\{SITE:\?`, p.Environment["PUBLIC_URL"])
	require.Equal(t, "${SITE}", proxy.Environment["SITE"])
	require.Equal(t, service+":7071", proxy.Environment["UPSTREAM"])
	require.Regexp(t, `^caddy:\d+\.\d+\.\d+(-alpine)?$`, proxy.Image)
	require.Empty(t, p.Ports, "only the proxy is reached from outside")
	require.True(t, p.ReadOnly)
	// The command is that of the image, and backups.
	var own []string
	m := regexp.MustCompile(`(?m)^CMD (.+)$`).FindSubmatch(content(t, "deploy/Containerfile"))
	require.NotNil(t, m)
	require.NoError(t, yaml.Unmarshal(m[1], &own))
	require.Equal(t, append(own, "--backup-dir", "/backups"), p.Command)
	require.Contains(t, p.Volumes, any("data:/data"))
	require.Len(t, p.Volumes, 2)
	require.Equal(t, "/backups", p.Volumes[1].(map[string]any)["target"])
	require.Contains(t, c.Volumes, "data")
	require.Contains(t, proxy.Volumes, any("./Caddyfile:/etc/caddy/Caddyfile:ro"))
	for _, name := range regexp.MustCompile(`\{\$(\w+)`).FindAllSubmatch(content(t, "deploy/Caddyfile"), -1) {
		require.Contains(t, proxy.Environment, string(name[1]), "the Caddyfile asks for it")
	}
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
	for ecosystem, pins := range map[string]struct{ file, by string }{
		"gomod": {"go.mod", "require"},
		"npm":   {"package.json", `ependencies"`}, "docker-compose": {"compose.yml", "image: "},
	} {
		var have []string
		require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "node_modules" || d.Name() == "testdata" ||
				d.Name() != "." && d.Name() != ".." && strings.HasPrefix(d.Name(), ".")):
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
