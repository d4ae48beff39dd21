package git_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestClone(t *testing.T) {
	t.Parallel()
	w := newWorld()
	c := newClient(t, w)
	w.commit(main, map[string]file{"SKILL.md": {content: "one\n"}})
	files := map[string]file{
		"SKILL.md":          {content: "two\n"},
		"scripts/run.sh":    {"#!/bin/sh\necho hallo\n", true},
		"a/b/c/d/e/f/g.txt": {content: "deep"},
		"a.txt":             {content: "before the folder a/"},
		"a/x":               {content: ""},
		"Größe/日本語 🙂.md":    {content: "\x00\xff binary"},
		"50% #1 and 'more'": {content: "two\n"},
	}
	w.commit(main, files)

	c.clone("whole")
	require.Equal(t, files, c.files("whole"))
	require.Equal(t, w.line(main), c.log("whole"))

	c.clone("shallow", "--depth", "1")
	require.Equal(t, files, c.files("shallow"))
	require.Equal(t, w.line(main)[:1], c.log("shallow"))
}

const main = "refs/heads/main"
