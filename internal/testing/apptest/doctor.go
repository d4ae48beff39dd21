package apptest

import (
	"context"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/azurite"
)

var (
	lists = regexp.MustCompile(`(?s)\nvar (table|queue|container)Names = \[\n(.*?)\n\]`)
	named = regexp.MustCompile(`'([\w-]+)'`)
)

// Examined runs the doctor of a sibling application on a storage account that has nothing in it. It
// must name every table, queue and container that main.bicep has, and say what to do.
func Examined(t *testing.T, run func(ctx context.Context, args []string, in io.Reader, out io.Writer) int,
	settings ...string,
) {
	t.Helper()
	t.Setenv("AzureWebJobsStorage", azurite.WithBlobs(t, azurite.Account(t)))
	for _, setting := range append([]string{"TABLE_PREFIX=None", "QUEUE_PREFIX=none-", "CONTAINER_PREFIX=none-"},
		settings...) {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
	text, err := os.ReadFile("../infra/main.bicep")
	require.NoError(t, err)
	var out Output
	require.Equal(t, 1, run(t.Context(), []string{"doctor", "--app", t.TempDir()}, strings.NewReader(""), &out),
		"%s", &out)
	for _, list := range lists.FindAllStringSubmatch(string(text), -1) {
		prefix := map[string]string{"table": "None", "queue": "", "container": "none-"}[list[1]]
		for _, name := range named.FindAllStringSubmatch(list[2], -1) {
			require.Regexp(t, `[ ,]`+prefix+name[1]+`[,:]`, out.String(), "a %s that is not there", list[1])
		}
	}
	require.Contains(t, out.String(), "The service makes it when it starts")
}
