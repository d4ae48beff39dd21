package promptdb_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// TestLongContents: texts longer than one property holds come back to the byte, in prompts,
// versions and backups.
func TestLongContents(t *testing.T) {
	w := newWorld(t)
	rules := prompt.Rules{MaxText: prompt.LimitMaxText}
	for name, text := range map[string]string{
		"ascii":      strings.Repeat("x", prompt.LimitMaxText),
		"one part":   strings.Repeat("x", 32_000),
		"one more":   strings.Repeat("x", 32_001),
		"one before": strings.Repeat("x", table.MaxString), // was one part in a release before
		"surrogates": "x" + strings.Repeat("𝄞", prompt.LimitMaxText/2-1),
		"three":      strings.Repeat("語", prompt.LimitMaxText),
	} {
		d := draft(name)
		d.Text = text
		d, err := rules.Check(d)
		require.NoError(t, err, name)
		p := w.add("ann", d)
		w.write(p, "short")
		v, err := w.GetVersion(t.Context(), "ann", p.ID, promptdb.WantedVersion{Number: 1})
		require.NoError(t, err)
		require.True(t, v.Text == text, name)
		for row, err := range table.All(t.Context(), w.store, "Prompts", table.Range{}) {
			require.NoError(t, err)
			for _, prop := range row.Props {
				require.LessOrEqual(t, table.Units(prop.Value.Str()), 32_000, prop.Name)
			}
		}
		v, err = w.Get(t.Context(), "ann", p.ID)
		require.NoError(t, err)
		require.Equal(t, "short", v.Text, "nothing is left of a longer text")
		w.write(p, text)
	}
	w.run()
	w.check()
	other := newWorld(t)
	err := restore(t.Context(), other.DB, strings.NewReader(w.backup()))
	require.NoError(t, err)
	require.Equal(t, w.backup(), other.backup())
}

func TestChats(t *testing.T) {
	w := newWorld(t)
	d := draft("A chat")
	d.Text, d.Messages = "", []prompt.Message{
		{Role: "system", Content: "You review code. Be brief."},
		{Placeholder: "history"},
		{Role: "user", Content: "{{code}}"},
	}
	d.Config, d.Variables = ` {"model" : "small"} `, []prompt.Variable{{Name: "code", Required: true}}
	d, err := prompt.Rules{}.Check(d)
	require.NoError(t, err)
	p := w.add("ann", d)
	v, err := w.Get(t.Context(), "ann", p.ID)
	require.NoError(t, err)
	require.Equal(t, prompt.KindChat, v.Kind)
	require.Equal(t, d.Messages, v.Messages)
	require.Equal(t, `{"model":"small"}`, v.Config)
	require.Equal(t, prompt.Line, v.Variables[0].Type)
	require.Equal(t, "You review code.", v.About())
	require.Equal(t, "You review code. Be brief. {{code}}", w.mineExcerpt("ann"))
	change := func(edit func(*prompt.Prompt)) int64 {
		p, err := w.Change(t.Context(), "ann", p.ID, func(p prompt.Prompt) (prompt.Prompt, error) {
			edit(&p)
			return p, nil
		})
		require.NoError(t, err)
		return p.Version
	}
	require.EqualValues(t, 1, change(func(p *prompt.Prompt) { p.Config = `{"model":"small"}` }))
	require.EqualValues(t, 2, change(func(p *prompt.Prompt) { p.Config = "" }))
	require.EqualValues(t, 3, change(func(p *prompt.Prompt) { p.Variables = nil }))
	require.EqualValues(t, 4, change(func(p *prompt.Prompt) {
		p.Kind, p.Messages, p.Text = prompt.KindText, nil, "text"
	}))
	v, err = w.GetVersion(t.Context(), "ann", p.ID, promptdb.WantedVersion{Number: 1})
	require.NoError(t, err)
	require.Equal(t, d.Content(), v.Content())
	w.run()
	w.check()
	other := newWorld(t)
	err = restore(t.Context(), other.DB, strings.NewReader(w.backup()))
	require.NoError(t, err)
	require.Equal(t, w.backup(), other.backup())
}

func (w *world) mineExcerpt(author prompt.UserID) string {
	w.t.Helper()
	page, err := w.Mine(w.t.Context(), author, promptdb.Filter{}, promptdb.ByNewest, "", 1)
	require.NoError(w.t, err)
	return page.Items[0].Excerpt
}

// TestTooLargeTogether: parts that fit alone and not into one batch are refused, not tried for
// ever.
func TestTooLargeTogether(t *testing.T) {
	w := newWorld(t)
	d := draft("T")
	d.Text = strings.Repeat("語", prompt.LimitMaxText)
	d.Config = `"` + strings.Repeat("語", prompt.MaxConfig-2) + `"`
	long := strings.Repeat("語", prompt.MaxValue)
	for i := range 45 {
		d.Variables = append(d.Variables, prompt.Variable{Name: "v" + strings.Repeat("x", i), Default: &long})
	}
	d, err := prompt.Rules{MaxText: prompt.LimitMaxText}.Check(d)
	require.NoError(t, err)
	_, _, err = w.Add(t.Context(), w.made("ann", d), nil)
	require.Equal(t, fault.Invalid, fault.Of(err), "%v", err)
}
