package folder_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/client"
	"prompthub/internal/prompthub/folder"
	"prompthub/internal/prompthub/format"
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
		return &client.Prompt{ID: "1", Slug: "a", Revision: revision, Document: format.Document{Name: "a", Title: "A", Text: text, Visibility: "private"}}
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
			items := folder.Compare(files, lock, prompts, format.Markdown)
			require.Len(t, items, 1)
			require.Equal(t, "a.md", items[0].Path)
			require.Equal(t, tt.want, items[0].State)
		})
	}
}

func TestLockOfAnotherService(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer root.Close()
	lock, err := folder.ReadLock(root, "http://one.example")
	require.NoError(t, err)
	require.Empty(t, lock.Prompts)
	require.NoError(t, root.WriteFile(folder.LockName, []byte(`{"url":"http://one.example","prompts":{"a.md":{"id":"1"}}}`), 0o600))
	lock, err = folder.ReadLock(root, "http://one.example")
	require.NoError(t, err)
	require.Equal(t, "1", lock.Prompts["a.md"].ID)
	_, err = folder.ReadLock(root, "http://two.example")
	require.ErrorContains(t, err, "is of http://one.example, not of http://two.example")
	require.NoError(t, root.WriteFile(folder.LockName, []byte(`{`), 0o600))
	_, err = folder.ReadLock(root, "http://one.example")
	require.ErrorContains(t, err, folder.LockName)
}
