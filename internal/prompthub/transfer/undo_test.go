package transfer_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

// changes imports a file, in as many requests as it takes, and returns what that changed, as forms
// pass it on.
func changes(t *testing.T, s *library.Service, file, name string) (all []transfer.Change) {
	t.Helper()
	for o := (transfer.Options{File: name, Update: true}); ; {
		r, err := transfer.Import(t.Context(), s, ann, []byte(file), o)
		require.NoError(t, err)
		b, err := json.Marshal(transfer.Merge(all, r.Made))
		require.NoError(t, err)
		all = nil
		require.NoError(t, json.Unmarshal(b, &all))
		if !r.More {
			return all
		}
		o.From = r.Through
	}
}

// undo takes changes back, in as many requests as it takes.
func undo(t *testing.T, s *library.Service, all []transfer.Change) (sum transfer.Undone) {
	t.Helper()
	for blocked, requests := 0, 0; ; requests++ {
		require.Less(t, requests, 20)
		u, err := transfer.Undo(t.Context(), s, ann, all, blocked)
		require.NoError(t, err)
		require.LessOrEqual(t, u.Deleted+u.Restored+len(u.Left), 50+len(all)-len(u.Rest))
		sum.Deleted, sum.Restored, sum.Left = sum.Deleted+u.Deleted,
			sum.Restored+u.Restored, append(sum.Left, u.Left...)
		if all, blocked = u.Rest, u.Blocked; len(all) == 0 {
			return sum
		}
	}
}

// state is what the prompt of a name says, with its labels.
func state(t *testing.T, s *library.Service, name string) string {
	t.Helper()
	v, err := s.GetByName(t.Context(), ann, library.IDOf(ann), name, library.WantedVersion{})
	require.NoError(t, err)
	labels, _, err := s.Labels(t.Context(), ann, v.ID)
	require.NoError(t, err)
	return fmt.Sprintf("%q %q %q %v %v %v %v", v.Title, v.Description, v.Text, v.Tags, v.OwnTags, v.Visibility, labels)
}

// TestUndo: an import is taken back as one: what it made is deleted, also where one of it includes
// another, and what it changed says all that it said before.
func TestUndo(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	take(t, s, `{"name":"one","title":"One","text":"first","tags":["mine"]}`+"\n"+
		`{"name":"two","title":"Two","text":"first"}`, transfer.Options{File: "a.jsonl"})
	take(t, s, "---\nname: two\nlabels: [production]\n---\nsecond", transfer.Options{File: "two.md", Update: true})
	before := []string{state(t, s, "one"), state(t, s, "two")}
	file := `{"name":"whole","title":"Whole","text":"@@@langfusePrompt:name=part|label=latest@@@"}` + "\n" +
		`{"name":"one","title":"Other","description":"New","text":"second","tags":["yours"],"visibility":"public"}` +
		"\n" +
		`{"name":"two","title":"Two","text":"third","labels":["production","beta"]}` + "\n"
	for i := range 70 {
		file += fmt.Sprintf(`{"name":"n%d","title":"N","text":"x"}`, i) + "\n"
	}
	file += `{"name":"one","title":"Other","text":"third"}` + "\n" + `{"name":"part","title":"Part","text":"y"}`
	all := changes(t, s, file, "b.jsonl")
	require.Len(t, all, 74, "two changes of a prompt are one")
	require.NotEqual(t, before, []string{state(t, s, "one"), state(t, s, "two")})
	require.Equal(t, transfer.Undone{Deleted: 72, Restored: 2}, undo(t, s, all))
	require.Equal(t, before, []string{state(t, s, "one"), state(t, s, "two")})
	_, err := s.GetByName(t.Context(), ann, library.IDOf(ann), "part", library.WantedVersion{})
	require.Error(t, err)

	again := undo(t, s, all)
	require.Len(t, again.Left, 74)
	for _, l := range again.Left {
		require.Contains(t, []string{"there is no such prompt", "it was changed since"}, l.Reason)
	}
}

// TestUndoLeaves: prompts that were changed since, that another one includes, or that are of others
// stay, and are named.
func TestUndoLeaves(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	all := changes(t, s, `{"name":"a","title":"A","text":"x"}`+"\n"+`{"name":"b","title":"B","text":"x"}`+"\n"+
		`{"name":"c","title":"C","text":"x"}`, "a.jsonl")
	take(t, s, `{"name":"a","title":"A","text":"mine"}`+"\n"+
		`{"name":"user","title":"U","text":"@@@langfusePrompt:name=b|label=latest@@@"}`,
		transfer.Options{File: "b.jsonl", Update: true})
	u, err := transfer.Undo(t.Context(), s, auth.User{ID: "bob", Name: "Bob"}, all, 0)
	require.NoError(t, err)
	require.Len(t, u.Left, 3)
	require.Empty(t, u.Left[0].Title)

	u = undo(t, s, all)
	require.Equal(t, 1, u.Deleted)
	require.Equal(t, []transfer.Left{
		{ID: all[0].ID, Title: "A", Reason: "it was changed since"},
		{ID: all[1].ID, Title: "B", Reason: "another prompt includes it"},
	}, u.Left)
}

// TestUndoLeavesWhatIsNoVersion: who gave a prompt of the import another title, tags or visibility
// since keeps it.
func TestUndoLeavesWhatIsNoVersion(t *testing.T) {
	t.Parallel()
	s, _ := newService(t)
	take(t, s, `{"name":"old","title":"Old","text":"x"}`, transfer.Options{File: "a.jsonl"})
	all := changes(t, s, `{"name":"a","title":"A","text":"x"}`+"\n"+`{"name":"b","title":"B","text":"x"}`+"\n"+
		`{"name":"c","title":"C","text":"x"}`+"\n"+`{"name":"old","title":"Old","text":"y"}`, "b.jsonl")
	require.Len(t, all, 4)
	for i, change := range []func(*prompt.Draft){
		func(d *prompt.Draft) { d.Title = "Mine" },
		func(d *prompt.Draft) { d.Visibility = prompt.Public },
		func(d *prompt.Draft) { d.OwnTags = []string{"mine"} },
		func(d *prompt.Draft) { d.Title = "Older" },
	} {
		v, err := s.Patch(t.Context(), ann, all[i].ID, library.Match{Any: true}, change)
		require.NoError(t, err)
		require.Equal(t, all[i].Now, v.Version)
	}
	u := undo(t, s, all)
	require.Zero(t, u.Deleted+u.Restored)
	require.Len(t, u.Left, 4)
}

// TestUndoOfAnAccount: a prompt whose versions came in several requests goes as a whole.
func TestUndoOfAnAccount(t *testing.T) {
	t.Parallel()
	here, _ := newService(t)
	for i := range 60 {
		take(t, here, fmt.Sprintf(`{"name":"long","title":"Long","text":"%d"}`, i),
			transfer.Options{File: "a.jsonl", Update: true})
	}
	there, _ := newService(t)
	all := changes(t, there, give(t, here), "account.jsonl")
	require.Len(t, all, 1)
	require.Equal(t, int64(60), all[0].Now)
	require.Equal(t, transfer.Undone{Deleted: 1}, undo(t, there, all))

	made := transfer.Change{ID: "x", Now: 1}
	update := transfer.Change{ID: "y", Now: 3, Was: 2, Visibility: prompt.Private}
	more := transfer.Change{ID: "y", Now: 4, Was: 3, Title: strings.ToUpper("t"), Labels: map[string]int64{"l": 3}}
	require.Equal(t, []transfer.Change{
		made, {ID: "y", Now: 4, Was: 2, Visibility: prompt.Private, Title: "T", Labels: map[string]int64{"l": 3}},
	},
		transfer.Merge([]transfer.Change{made, update}, []transfer.Change{more}))
}

// TestUndoOfALongerHistory: labels that new versions of an account took go back with the text.
func TestUndoOfALongerHistory(t *testing.T) {
	t.Parallel()
	here, _ := newService(t)
	there, _ := newService(t)
	take(t, here, "---\nname: one\nlabels: [production]\n---\nfirst", transfer.Options{File: "one.md"})
	take(t, there, give(t, here), transfer.Options{File: "account.jsonl"})
	before := state(t, there, "one")
	take(t, here, "---\nname: one\nlabels: [production, beta]\n---\nsecond",
		transfer.Options{File: "one.md", Update: true})
	all := changes(t, there, give(t, here), "account.jsonl")
	require.NotEqual(t, before, state(t, there, "one"))
	require.Equal(t, transfer.Undone{Restored: 1}, undo(t, there, all))
	require.Equal(t, before, state(t, there, "one"))
}
