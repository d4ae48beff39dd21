package folder_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/cli/folder"
	"prompthub/internal/prompthub/files/format"
)

func sum(s string) string {
	b := sha256.Sum256([]byte(s))
	return hex.EncodeToString(b[:])
}

func TestStates(t *testing.T) {
	t.Parallel()
	const was, other = "---\nname: a\ntitle: A\n---\n\nwas\n", "---\nname: a\ntitle: A\n---\n\nother\n"
	entry := folder.Entry{ID: "1", Revision: 3, SHA256: sum(was)}
	there := func(revision int64, text string) *client.Prompt {
		return &client.Prompt{
			ID: "1", Slug: "a", Revision: revision,
			Document: format.Document{Name: "a", Title: "A", Text: text, Visibility: "private"},
		}
	}
	for name, tt := range map[string]struct {
		file   string
		locked bool
		prompt *client.Prompt
		want   folder.State
	}{
		"nothing changed":          {was, true, there(3, "was"), folder.Same},
		"a vote":                   {was, true, there(3, "was"), folder.Same},
		"here":                     {other, true, there(3, "was"), folder.Here},
		"there":                    {was, true, there(4, "other"), folder.There},
		"both":                     {other, true, there(4, "another"), folder.Conflict},
		"both, to the same":        {other, true, there(4, "other"), folder.Same},
		"there, and back":          {was, true, there(5, "was"), folder.Same},
		"no lock, the same":        {was, false, there(3, "was"), folder.Same},
		"no lock, not the same":    {other, false, there(3, "was"), folder.Conflict},
		"new here":                 {was, false, nil, folder.New},
		"new there":                {"", false, there(1, "was"), folder.NewThere},
		"gone here":                {"", true, there(3, "was"), folder.Gone},
		"deleted there":            {was, true, nil, folder.Deleted},
		"changed, deleted there":   {other, true, nil, folder.Conflict},
		"gone here, changed there": {"", true, there(4, "other"), folder.Gone},
		"broken":                   {"---\na: [\n---\n", true, there(3, "was"), folder.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock := folder.Lock{Prompts: map[string]folder.Entry{}}
			if tt.locked {
				lock.Prompts["a.md"] = entry
			}
			var files []format.File
			if tt.file != "" {
				files = append(files, format.File{Path: "a.md", Bytes: []byte(tt.file)})
			}
			var prompts []client.Prompt
			if tt.prompt != nil {
				prompts = append(prompts, *tt.prompt)
			}
			items := folder.Compare(files, nil, nil, lock, prompts, format.Markdown)
			require.Len(t, items, 1)
			require.Equal(t, "a.md", items[0].Path)
			require.Equal(t, tt.want, items[0].State)
		})
	}
}

// TestLineEndsAreNoChange: git writes those of the system, and the lock may come from another, or
// from an earlier version, which took the sum of the bytes.
func TestLineEndsAreNoChange(t *testing.T) {
	t.Parallel()
	windows := func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }
	const lines, mixed, edited = "---\nname: a\n---\n\nwas\nthis\n", "---\r\nname: a\n---\n\nwas\nthis\n",
		"---\nname: a\n---\n\nis\nthat\n"
	for name, tt := range map[string]struct {
		locked, file, text string
		want               folder.State
	}{
		"a checkout on Windows":         {sum(lines), windows(lines), "was\nthis", folder.Same},
		"a lock of Windows":             {sum(windows(lines)), lines, "was\r\nthis", folder.Same},
		"a lock of before":              {sum(windows(lines)), windows(lines), "was\r\nthis", folder.Same},
		"a lock of before, mixed":       {sum(mixed), mixed, "was\nthis", folder.Same},
		"a change":                      {sum(lines), windows(edited), "was\nthis", folder.Here},
		"no lock, on Windows":           {"", windows(lines), "was\nthis", folder.Same},
		"a change to that of the other": {sum("x"), windows(lines), "was\nthis", folder.Same},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock := folder.Lock{Prompts: map[string]folder.Entry{}}
			if tt.locked != "" {
				lock.Prompts["a.md"] = folder.Entry{ID: "1", Revision: 3, SHA256: tt.locked}
			}
			prompts := []client.Prompt{
				{
					ID: "1", Slug: "a", Revision: 3,
					Document: format.Document{Name: "a", Title: "a", Text: tt.text, Visibility: "private"},
				},
			}
			items := folder.Compare([]format.File{{Path: "a.md", Bytes: []byte(tt.file)}}, nil, nil,
				lock, prompts, format.Markdown)
			require.Len(t, items, 1)
			require.Equal(t, tt.want, items[0].State)
		})
	}
}

// TestMovedFiles: a file that is elsewhere is still that of its prompt, whether it was edited on
// the way or says no name.
func TestMovedFiles(t *testing.T) {
	t.Parallel()
	const named, bare = "---\nname: a\n---\n\nwas\n", "was\n"
	prompts := []client.Prompt{{
		ID: "1", Slug: "a", Revision: 3,
		Document: format.Document{Name: "a", Title: "a", Text: "was", Visibility: "private"},
	}}
	for name, tt := range map[string]struct {
		was, file, path string
		want            folder.State
	}{
		"as it was":                    {named, named, "h/a.md", folder.Same},
		"edited":                       {named, named + "more\n", "h/b.md", folder.Here},
		"without a name":               {bare, bare, "b.md", folder.Same},
		"edited, named by its path":    {bare, "more\n", "h/a.md", folder.Here},
		"as it was, in another format": {bare, bare, "b/system.md", folder.Same},
		"broken as it was":             {"---\na: b\n", "---\na: b\n", "b.md", folder.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lock := folder.Lock{Prompts: map[string]folder.Entry{"a.md": {ID: "1", Revision: 3, SHA256: sum(tt.was)}}}
			items := folder.Compare([]format.File{{Path: tt.path, Bytes: []byte(tt.file)}}, nil, nil,
				lock, prompts, format.Markdown)
			require.Len(t, items, 1)
			require.Equal(t, tt.path, items[0].Path)
			require.Equal(t, tt.want, items[0].State)
			require.Equal(t, "1", items[0].Prompt.ID)
		})
	}
}

// TestCopyIsNotMoved: a second file of a name does not take the prompt of the first, and an entry
// of the lock that another file stands for does not delete it.
func TestCopyIsNotMoved(t *testing.T) {
	t.Parallel()
	const file = "---\nname: a\n---\n\nwas\n"
	prompts := []client.Prompt{{
		ID: "1", Slug: "a", Revision: 3,
		Document: format.Document{Name: "a", Title: "a", Text: "was", Visibility: "private"},
	}}
	entry := folder.Entry{ID: "1", Revision: 3, SHA256: sum(file)}
	files := []format.File{{Path: "a.md", Bytes: []byte(file)}, {Path: "b.md", Bytes: []byte(file)}}
	items := folder.Compare(files, nil, nil, folder.Lock{Prompts: map[string]folder.Entry{"b.md": entry}}, prompts,
		format.Markdown)
	require.Len(t, items, 2)
	require.Equal(t, folder.New, items[0].State)
	require.Equal(t, folder.Same, items[1].State)

	items = folder.Compare(files[:1], nil, nil,
		folder.Lock{Prompts: map[string]folder.Entry{"a.md": entry, "b.md": entry}}, prompts, format.Markdown)
	require.Len(t, items, 2)
	require.Equal(t, folder.Same, items[0].State)
	require.Equal(t, folder.Gone, items[1].State)
	require.Nil(t, items[1].Prompt)
}

// TestNewPromptWhereAFileIs: a file of no prompt, or of another one, is not replaced by that which
// would have its place; one that says the same is its file.
func TestNewPromptWhereAFileIs(t *testing.T) {
	t.Parallel()
	there := client.Prompt{
		ID: "1", Slug: "a-b", Revision: 3,
		Document: format.Document{Name: "A b", Title: "A b", Text: "was", Visibility: "private"},
	}
	other := client.Prompt{
		ID: "2", Slug: "other", Revision: 3,
		Document: format.Document{Name: "other", Title: "Other", Text: "was", Visibility: "private"},
	}
	const path = "a-b/system.md"
	states := func(text string, lock map[string]folder.Entry) (list []folder.State) {
		files := []format.File{{Path: path, Bytes: []byte(text)}}
		for _, i := range folder.Compare(files, nil, nil, folder.Lock{Prompts: lock},
			[]client.Prompt{there, other}, format.Fabric) {
			if i.Path == path {
				list = append(list, i.State)
			}
		}
		return list
	}
	require.Equal(t, []folder.State{folder.New, folder.InTheWay}, states("other\n", nil))
	require.Equal(t, []folder.State{folder.Same}, states("was\n", nil))
	require.Equal(t, []folder.State{folder.Same, folder.InTheWay},
		states("was\n", map[string]folder.Entry{path: {ID: "2", Revision: 3, SHA256: sum("was\n")}}))
}

func TestLockOfAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	lock, err := folder.ReadLock(root, "http://one.example", "ann", "")
	require.NoError(t, err)
	require.Empty(t, lock.Prompts)
	require.NoError(t, root.WriteFile(folder.LockName,
		[]byte(`{"url":"http://one.example","prompts":{"a.md":{"id":"1"}}}`), 0o600))
	lock, err = folder.ReadLock(root, "http://one.example", "ann", "")
	require.NoError(t, err)
	require.Equal(t, "1", lock.Prompts["a.md"].ID)
	_, err = folder.ReadLock(root, "http://two.example", "ann", "")
	require.ErrorContains(t, err, "is of http://one.example, not of http://two.example")
	require.NoError(t, root.WriteFile(folder.LockName, []byte(`{"url":"http://one.example","user":"bob"}`), 0o600))
	_, err = folder.ReadLock(root, "http://one.example", "ann", "")
	require.ErrorContains(t, err, "is of the prompts of bob, and you are ann")
	_, err = folder.ReadLock(root, "http://one.example", "w:1", "billing")
	require.ErrorContains(t, err, "is of the prompts of bob, and not of the workspace billing: leave out --workspace")
	require.NoError(t, root.WriteFile(folder.LockName,
		[]byte(`{"url":"http://one.example","user":"w:1","workspace":"billing"}`), 0o600))
	_, err = folder.ReadLock(root, "http://one.example", "ann", "")
	require.ErrorContains(t, err, "use --workspace billing")
	require.NoError(t, root.WriteFile(folder.LockName, []byte(`{`), 0o600))
	_, err = folder.ReadLock(root, "http://one.example", "ann", "")
	require.ErrorContains(t, err, folder.LockName)
}
