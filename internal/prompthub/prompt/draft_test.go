package prompt_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestEveryMemberCounts: two drafts that differ in one member are not equal, and the state of a
// prompt has each member that its content has not.
func TestEveryMemberCounts(t *testing.T) {
	t.Parallel()
	// with a draft, and not kept in it
	said := []string{
		"Message", "Labels", "Anew", "AsBefore", "Source", "PreviousNames", "By", "FileBytes",
		"FilesAsBefore", "Made", "Follows",
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[prompt.Draft]()) {
		var d prompt.Draft
		switch v := reflect.ValueOf(&d).Elem().FieldByIndex(field.Index); v.Kind() {
		case reflect.String:
			v.SetString("x")
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		require.Equal(t, slices.Contains(said, field.Name), d.Equal(prompt.Draft{}), field.Name)
		isContent := !d.Content().Same(prompt.Content{})
		require.Equal(t, isContent || slices.Contains(said, field.Name),
			d.State(nil) == prompt.Draft{}.State(nil), field.Name)
	}
}
