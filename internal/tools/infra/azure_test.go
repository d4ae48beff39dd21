package infra

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"
)

// root is the root of the repository.
const root = "../../.."

func content(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, path))
	require.NoError(t, err)
	return data
}

// A project is the part of azure.yaml that this application uses. azd passes over an unknown key,
// a misspelled hook among them, without a word; here it is a mistake.
type project struct {
	Name             string
	Metadata         struct{ Template string }
	RequiredVersions struct{ Azd string } `yaml:"requiredVersions"`
	Infra            struct{ Provider, Path, Module string }
	Hooks            struct{ Preprovision, Postprovision, Postdeploy, Postdown hook }
	Pipeline         struct {
		Provider  string
		Variables []string
	}
	Services map[string]service
}

type service struct {
	Project, Host, Language, Dist string
	RemoteBuild                   *bool `yaml:"remoteBuild"`
	Hooks                         struct{ Prepackage hook }
}

type hook struct{ Posix, Windows command }

type command struct {
	Shell, Run string
	Secrets    map[string]string
}

func TestProject(t *testing.T) {
	t.Parallel()
	var p project
	require.NoError(t, yaml.UnmarshalWithOptions(content(t, "azure.yaml"), &p, yaml.Strict()))
	require.Regexp(t, `^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, p.Name)
	require.Equal(t, ">= 1.26.0", p.RequiredVersions.Azd, "older ones lose the execute bit of the handler")
	require.FileExists(t, filepath.Join(root, p.Infra.Path, p.Infra.Module+".bicep"))
	require.FileExists(t, filepath.Join(root, p.Infra.Path, p.Infra.Module+".parameters.json"))

	require.Len(t, p.Services, 1)
	api := p.Services["api"]
	require.Contains(t, string(content(t, "infra/modules/app.bicep")), "'azd-service-name': 'api'",
		"azd finds the function app by this tag")
	require.Equal(t, "function", api.Host)
	require.NotNil(t, api.RemoteBuild)
	require.False(t, *api.RemoteBuild, "a build in Azure would look for Python")
	require.Contains(t, api.Hooks.Prepackage.Posix.Run, "-out "+api.Dist+" ", "what is zipped is what was staged")
}

func TestHooksRunWhatExists(t *testing.T) {
	t.Parallel()
	var p project
	require.NoError(t, yaml.UnmarshalWithOptions(content(t, "azure.yaml"), &p, yaml.Strict()))
	for _, h := range []hook{
		p.Hooks.Preprovision, p.Hooks.Postprovision, p.Hooks.Postdeploy, p.Hooks.Postdown,
		p.Services["api"].Hooks.Prepackage,
	} {
		require.Equal(t, "sh", h.Posix.Shell)
		require.Equal(t, "pwsh", h.Windows.Shell)
		require.Equal(t, h.Posix.Run, h.Windows.Run)
		words := strings.Fields(h.Posix.Run)
		require.Equal(t, []string{"go", "run"}, words[:2])
		require.DirExists(t, filepath.Join(root, words[2]))
	}
}

func TestMisspelledKeysAreFound(t *testing.T) {
	t.Parallel()
	text := string(content(t, "azure.yaml"))
	for _, f := range []struct{ from, to string }{
		{"prepackage:", "prepackge:"},
		{"preprovision:", "preprovison:"},
		{"remoteBuild:", "remotebuild_:"},
		{"posix:", "posx:"},
	} {
		require.Contains(t, text, f.from)
		var p project
		require.Error(t, yaml.UnmarshalWithOptions([]byte(strings.Replace(text, f.from, f.to, 1)), &p, yaml.Strict()),
			f.to)
	}
}

// TestDeploymentsAreExamined: azd up of every application ends with its doctor, whose exit code is
// azd's.
func TestDeploymentsAreExamined(t *testing.T) {
	t.Parallel()
	projects, err := filepath.Glob(filepath.Join(root, "apps", "*", "azure.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, projects)
	// the hook waits
	want := map[string]string{"azure.yaml": "go run ./infra/hook postdeploy && go run ./handler doctor"}
	for _, path := range projects {
		name, err := filepath.Rel(root, path)
		require.NoError(t, err)
		want[name] = "go run ./handler doctor --within 3m"
	}
	for path, run := range want {
		var p project
		require.NoError(t, yaml.UnmarshalWithOptions(content(t, path), &p, yaml.Strict()), path)
		require.Equal(t, hook{Posix: command{Shell: "sh", Run: run}, Windows: command{Shell: "pwsh", Run: run}},
			p.Hooks.Postdeploy, path)
	}
}
