package prompt_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestCompareFiles: two sets of files are compared as git diff compares them.
func TestCompareFiles(t *testing.T) {
	t.Parallel()
	bytes := map[string][]byte{}
	set := func(list ...prompt.FileBytes) prompt.Files {
		files, err := prompt.NewFiles(list)
		require.NoError(t, err)
		for _, b := range list {
			bytes[prompt.NewFile(b).SHA256] = b.Bytes
		}
		return files
	}
	file := func(path, text string) prompt.FileBytes { return prompt.FileBytes{Path: path, Bytes: []byte(text)} }
	script := file("run.sh", "#!/bin/sh\necho 1\n")
	executable := script
	executable.Executable = true
	long := strings.Repeat("x", prompt.MaxComparedFile+1)
	a := set(file("SKILL.md", "made 1"), file("bin", "\x00a"), file("gone.txt", "old\n"), file("long", "x"), script,
		file("same", "s"), file("a b.md", "1\n2"))
	b := set(file("SKILL.md", "made 2"), file("bin", "\x00b"), file("long", long), file("new.txt", ""), executable,
		file("same", "s"), file("a b.md", "1\n3\n"))
	a[0].Made, b[0].Made = true, true
	diffs := prompt.CompareFiles(a, b)
	var told []string
	for i, d := range diffs {
		diffs[i] = d.WithTexts(bytes)
		told = append(told, d.Path+" "+string(d.Change))
	}
	require.Equal(t, []string{
		"a b.md changed", "bin changed", "gone.txt removed", "long changed",
		"new.txt added", "run.sh mode",
	}, told)
	require.Equal(t, `diff --git a/a b.md b/a b.md
--- a/a b.md`+"\t"+`
+++ b/a b.md`+"\t"+`
@@ -1,2 +1,2 @@
 1
-2
\ No newline at end of file
+3
diff --git a/bin b/bin
Binary files a/bin and b/bin differ
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-old
diff --git a/long b/long
Binary files a/long and b/long differ
diff --git a/new.txt b/new.txt
new file mode 100644
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
`, prompt.GitDiff(diffs))

	require.Empty(t, prompt.CompareFiles(a, a))
	require.Empty(t, prompt.CompareFiles(nil, a[:0]))
	b[0].Made = false
	require.Equal(t, "SKILL.md", prompt.CompareFiles(a[:1], b[:1])[0].Path, "one of them was written")
	require.Len(t, prompt.CompareFiles(nil, b), len(b))
	require.Len(t, prompt.CompareFiles(b, nil), len(b))
}
