package library_test

import (
	"crypto/rand"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/memory"
)

// TestStoredNamesStay: a prompt that has a name which no new one gets can be read, changed and
// given versions, in every way.
func TestStoredNamesStay(t *testing.T) {
	s, db := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	ann := auth.User{ID: "ann"}
	const name = "a/../b"
	id, err := prompt.NewID(time.Now(), rand.Reader)
	require.NoError(t, err)
	d := prompt.Draft{Name: name, Title: "T", Text: "one", Visibility: prompt.Private}
	_, _, err = db.Add(t.Context(),
		prompt.Prompt{ID: id, AuthorID: "ann", Draft: d, CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1}, nil)
	require.NoError(t, err)

	two := "two"
	v, err := s.Patch(t.Context(), ann, id, library.Match{Any: true}, func(d *prompt.Draft) { d.Text = two })
	require.NoError(t, err)
	require.Equal(t, name, v.Name)
	_, err = s.SaveNamed(t.Context(), ann, library.NamedDraft{Name: name, Content: prompt.Content{Text: "three"}})
	require.NoError(t, err)
	d.Name, d.Text = "", "four"
	_, err = s.Replace(t.Context(), ann, id, library.Match{Any: true}, d)
	require.NoError(t, err)
	v, err = s.GetByName(t.Context(), ann, "ann", name, library.WantedVersion{})
	require.NoError(t, err)
	require.Equal(t, "four", v.Text)

	other := ".."
	_, err = s.Patch(t.Context(), ann, id, library.Match{Any: true}, func(d *prompt.Draft) { d.Name = other })
	require.Equal(t, fault.Invalid, fault.Of(err))
}

// TestNumbersAsLabelsOfBefore: a label of digits alone that a prompt has already can be read and
// taken away, and no other one is set. Undo does not put it back.
func TestNumbersAsLabelsOfBefore(t *testing.T) {
	s, db := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	ann := auth.User{ID: "ann"}
	v, _, err := s.Create(t.Context(), ann, prompt.Draft{Title: "T", Text: "one", Visibility: prompt.Private}, "")
	require.NoError(t, err)
	_, err = db.SetLabels(t.Context(), "ann", v.ID, []string{"3"}, 1, prompt.Actor{},
		func(prompt.Prompt) error { return nil })
	require.NoError(t, err)

	labels, _, err := s.Labels(t.Context(), ann, v.ID)
	require.NoError(t, err)
	require.Equal(t, map[string]int64{"3": 1}, labels)
	require.Equal(t, prompt.LabelIsNumber, fault.CodeOf(s.SetLabel(t.Context(), ann, v.ID, "4", 1)))
	require.NoError(t, s.SetLabel(t.Context(), ann, v.ID, "3", 0))
	require.Equal(t, prompt.LabelIsNumber, fault.CodeOf(s.UndoLabel(t.Context(), ann, v.ID, "3", "")),
		"undo puts none back that a save refuses")
	require.Equal(t, fault.Invalid, fault.Of(s.SetLabel(t.Context(), ann, v.ID, prompt.Latest, 0)))
	labels, _, err = s.Labels(t.Context(), ann, v.ID)
	require.NoError(t, err)
	require.Empty(t, labels)
}
