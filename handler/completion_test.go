package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

// TestCompletion: bash completes commands and flags by the script, and finds no fault with it. Of
// zsh, which runs the same by bashcompinit, and of fish only the text is looked at.
func TestCompletion(t *testing.T) {
	code, script, stderr := handler(t, "completion", "bash")
	require.Equal(t, command.OK, code, stderr)
	completes := func(words ...string) []string {
		t.Helper()
		line := "COMP_WORDS=(handler"
		for _, w := range words {
			line += " '" + w + "'"
		}
		bash := exec.CommandContext(t.Context(), "bash", "-u", "-c",
			script+line+"); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _handler; echo \"${COMPREPLY[@]-}\"")
		out, err := bash.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.Fields(string(out))
	}
	require.ElementsMatch(t, []string{"verify", "versions", "version"}, completes("ver"))
	require.Equal(t, []string{"--tag", "--token"}, completes("search", "--t"))
	require.Empty(t, completes("search", "lin"), "bash completes files then")
	require.Equal(t, []string{"zsh"}, completes("completion", "z"))
	require.Contains(t, completes("help", ""), "import")
	require.Contains(t, completes("get", "-"), "-h")

	_, zsh, _ := handler(t, "completion", "zsh")
	require.Contains(t, zsh, "bashcompinit\n"+script)
	_, fish, _ := handler(t, "completion", "fish")
	require.Contains(t, fish, "complete -c handler -n '__fish_seen_subcommand_from search' -l tag -r -d 'only prompts with this tag; once for each'\n")
	require.Contains(t, fish, "complete -c handler -n '__fish_seen_subcommand_from search' -l json -d 'print JSON'\n")
	code, _, stderr = handler(t, "completion", "tcsh")
	require.Equal(t, command.Usage, code)
	require.Contains(t, stderr, `"tcsh" is none of bash, zsh and fish`)
}
