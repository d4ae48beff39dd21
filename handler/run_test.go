package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

func TestHelp(t *testing.T) {
	for _, args := range [][]string{{"help"}, {"-h"}, {"--help"}} {
		code, out, err := handler(t, args...)
		require.Equal(t, command.OK, code)
		require.Empty(t, err)
		for _, c := range program().Commands {
			require.Contains(t, out, "  "+c.Name+" ")
		}
		require.Contains(t, out, "Exit codes:")
	}
}

func TestHelpOfEachCommand(t *testing.T) {
	for _, c := range program().Commands {
		code, out, err := handler(t, c.Name, "-h")
		require.Equal(t, command.OK, code)
		require.Empty(t, err)
		require.Contains(t, out, "Usage: handler "+c.Name+" [flags]")
		require.Contains(t, out, "-h\tthis help")
		_, same, _ := handler(t, "help", c.Name)
		require.Equal(t, out, same)
	}
	_, out, _ := handler(t, "import", "--help")
	for _, flag := range []string{"-url address", "-user name", "-token token", "-as-contributor", "-dry-run"} {
		require.Contains(t, out, flag)
	}
}

func TestUsageErrors(t *testing.T) {
	clean(t)
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"by hand without a command", nil, `By hand, run "handler local"`},
		{"unknown command", []string{"serve"}, `there is no command "serve"`},
		{
			"a flag before the command",
			[]string{"--user", "bob", "get", "x"},
			`--user: flags follow the command, as in "handler COMMAND --user"`,
		},
		{"help for an unknown command", []string{"help", "serve"}, `there is no command "serve"`},
		{"unknown flag", []string{"local", "--port", "1"}, "local: flag provided but not defined: -port"},
		{"no file", []string{"import"}, "import: name one FILE, or a service with --from"},
		{"two files", []string{"import", "a", "b"}, "import: name one FILE, or a service with --from"},
		{"an argument too many", []string{"verify", "x"}, "want handler verify [flags]"},
		{"address without port", []string{"local", "--addr", "localhost"}, "missing port"},
		{
			"url without scheme",
			[]string{"export", "--url", "localhost:1"},
			`--url or PROMPTHUB_URL: "localhost:1" is not an http or https address`,
		},
		{"user and token", []string{"export", "--user", "a", "--token", "b"}, "exclude each other"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			code, out, err := handler(t, tt.args...)
			require.Equal(t, command.Usage, code)
			require.Empty(t, out)
			require.Contains(t, err, tt.want)
			require.Contains(t, err, `Run "handler help"`)
		})
	}
}

func TestFlagsStandAnywhere(t *testing.T) {
	clean(t)
	path := file(t, "p.jsonl", `{"title":"t","text":"x"}`)
	for _, args := range [][]string{{"import", path, "--dry-run"}, {"import", "--dry-run", path}} {
		code, out, _ := handler(t, args...)
		require.Equal(t, command.OK, code)
		require.Equal(t, "would create 1, unchanged 0, rejected 0\n", out)
	}
}

func TestVersion(t *testing.T) {
	code, out, _ := handler(t, "version")
	require.Equal(t, command.OK, code)
	require.Regexp(t, `^prompthub \S+, commit .+, go1\.\S+ \w+/\w+\n$`, out)
}
