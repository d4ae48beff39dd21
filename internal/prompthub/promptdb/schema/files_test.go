package schema_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// TestFilesOfAnyPaths: the row of a version names all files that it may have, with any characters
// in their paths, and FilesIn reads them of the properties that FilesProps lists.
func TestFilesOfAnyPaths(t *testing.T) {
	t.Parallel()
	for _, char := range []string{"a", "&", "\u2028", "ä", "\U0001f600"} {
		var list []prompt.FileBytes
		for i := range prompt.MaxFiles {
			list = append(list, prompt.FileBytes{
				Path:       strings.Repeat(char, 115/len(char)) + string(rune('a'+i/16)) + string(rune('a'+i%16)),
				Executable: true,
			})
		}
		files, err := prompt.NewFiles(list)
		require.NoError(t, err)
		v := prompt.Version{
			Number: 1, Content: prompt.Content{Text: "x"}, Files: files,
			Bundle: prompt.Bundle{Archive: "a", Package: "b"},
		}
		row := schema.VersionRow("ann", "01ARZ3NDEKTSV4RRFFQ69G5FAV", v, 0)
		only := table.Row{Key: row.Key}
		for _, name := range schema.FilesProps {
			only.Props = append(only.Props, table.Prop{Name: name, Value: row.Props.Get(name)})
		}
		got, err := schema.FilesIn(only)
		require.NoError(t, err, "%q", char)
		require.Equal(t, files, got)
	}
}
