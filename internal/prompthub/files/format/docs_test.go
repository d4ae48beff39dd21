package format_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/golden"
)

const (
	begin = "<!-- the test of internal/prompthub/files/format writes this table: -update -->\n"
	end   = "<!-- end -->\n"
)

// letters stand for lost members, in the table.
var letters = []struct{ letter, field string }{
	{"n", "name"},
	{"t", "title"},
	{"d", "description"},
	{"x", "text"},
	{"k", "kind"},
	{"r", "messages.role"},
	{"p", "messages.placeholder"},
	{"c", "config"},
	{"V", "variables"},
	{"L", "variables.label"},
	{"T", "variables.type"},
	{"g", "tags"},
	{"o", "ownTags"},
	{"v", "visibility"},
	{"l", "labels"},
	{"m", "message"},
}

// full is a prompt that has everything, as text or as chat.
func full(chat bool) format.Document {
	value := "12"
	d := format.Document{
		Name: "Full of it", Title: "A title", Description: "About it", Text: "Hello {{a}}\r\nand {{b}}",
		Config: jsontext.Value(`{"model":"m","x":[1]}`),
		Variables: []prompt.Variable{
			{Name: "a", Label: "A", Type: prompt.Multiline, Required: true},
			{Name: "b", Type: prompt.Number, Default: &value},
		},
		Tags: []string{"text", "image", "development"}, OwnTags: []string{"mine"}, Visibility: "private",
		Labels: []string{"production"}, Message: "why",
	}
	if chat {
		d.Text, d.Kind = "", prompt.KindChat
		d.Messages = []prompt.Message{
			{Role: "tool_1", Content: "Say {{a}}\r\nand {{b}}"},
			{Placeholder: "more"},
			{Role: "assistant", Content: "Yes"},
		}
	}
	return d
}

// TestFullIsFull: full has every member that a file of one prompt can have, so the table tells of
// each.
func TestFullIsFull(t *testing.T) {
	t.Parallel()
	text, chat := full(false).Says(), full(true).Says()
	maps.Copy(text, chat)
	said := reflect.TypeFor[format.Document]()
	for _, f := range reflect.VisibleFields(said) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !slices.Contains([]string{"", "-", "versions", "source"}, name) { // only our own export has those two
			require.Contains(t, text, name)
		}
	}
}

// losses returns what full prompts lose on the way from one format to another.
func losses(t *testing.T, from, to format.Format) string {
	t.Helper()
	var all []string
	for _, chat := range []bool{false, true} {
		file, _, err := format.Write(from, full(chat))
		require.NoError(t, err)
		d, err := format.Read(from, from.Path(full(chat)), file)
		require.NoError(t, err)
		d.Extra = format.Extra{}
		_, loss, err := format.Write(to, d)
		require.NoError(t, err)
		all = append(all, loss...)
	}
	cell := ""
	for _, l := range letters {
		if slices.Contains(all, l.field) {
			cell += l.letter
		}
		all = slices.DeleteFunc(all, func(field string) bool { return field == l.field })
	}
	require.Empty(t, all, "%s to %s: a loss without a letter", from, to)
	return cell
}

// TestTableOfLosses holds the table against the losses, and the losses against what formats
// declare: nothing more, and all of it.
func TestTableOfLosses(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(begin + "| from \\ to |")
	for _, f := range format.Formats() {
		fmt.Fprintf(&b, " %s |", f)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(format.Formats())) + "\n")
	for _, from := range format.Formats() {
		fmt.Fprintf(&b, "| **%s** |", from)
		for _, to := range format.Formats() {
			fmt.Fprintf(&b, " %s |", losses(t, from, to))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
	for i, l := range letters {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%s %s", l.letter, l.field)
	}
	b.WriteString(".\n" + end)
	for _, f := range format.Formats() {
		var declared string
		for _, l := range letters {
			if slices.Contains(f.Loses(), l.field) {
				declared += l.letter
			}
		}
		require.Equal(t, declared, losses(t, format.JSONLines, f), "%s", f)
	}
	name := filepath.Join("..", "..", "..", "..", "docs", "formats.md")
	doc, err := os.ReadFile(name)
	require.NoError(t, err)
	before, rest, _ := strings.Cut(string(doc), begin)
	_, after, _ := strings.Cut(rest, end)
	want := before + b.String() + after
	golden.Check(t, name, want)
}
