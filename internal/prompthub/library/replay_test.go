package library_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/memory"
)

// TestReplay: a caller who knows the revision before and wants the present content sent the same
// request before. A caller who knows an older one did not.
func TestReplay(t *testing.T) {
	s, _ := newService(t, memory.NewTables(), memory.NewQueues(time.Now))
	who := auth.User{ID: "ann"}
	texts := []string{"one", "two", "three"}
	draft := func(i int) prompt.Draft {
		return prompt.Draft{Title: "Title", Text: texts[i], Visibility: prompt.Private}
	}
	made, _, err := s.Create(t.Context(), who, draft(0), "")
	require.NoError(t, err)
	for i := range 2 {
		_, err = s.Replace(t.Context(), who, made.ID, library.Match{Revisions: []int64{int64(i + 1)}}, draft(i+1))
		require.NoError(t, err)
	}
	_, err = s.Replace(t.Context(), who, made.ID, library.Match{Revisions: []int64{2}}, draft(2))
	require.NoError(t, err, "the last request, once more")
	_, err = s.Replace(t.Context(), who, made.ID, library.Match{Revisions: []int64{1}}, draft(2))
	require.Equal(t, fault.Stale, fault.Of(err), "%v", err)
}
