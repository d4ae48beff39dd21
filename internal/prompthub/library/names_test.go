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
	_, _, err = db.Add(t.Context(), prompt.Prompt{ID: id, AuthorID: "ann", Draft: d, CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1}, nil)
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
