package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

// TestReadQuestions: a question has the titles below it, all of which are ones of prompts.
func TestReadQuestions(t *testing.T) {
	ds := []prompt.Draft{{Title: "One"}, {Title: "Two"}}
	file := filepath.Join(t.TempDir(), "questions.txt")
	write := func(text string) { require.NoError(t, os.WriteFile(file, []byte(text), 0o600)) }
	write("which one\n\tOne\n\tTwo\nand then\n\tTwo\n")
	all, err := readQuestions(file, ds)
	require.NoError(t, err)
	require.Equal(t, []wanted{{"which one", []string{"One", "Two"}}, {"and then", []string{"Two"}}}, all)
	require.Equal(t, 1, all[0].at([]string{"Zero", "TWO", "One"}))
	require.Equal(t, -1, all[0].at([]string{"Zero"}))
	for _, bad := range []string{"\tOne\n", "which\n\tThree\n"} {
		write(bad)
		_, err := readQuestions(file, ds)
		require.ErrorContains(t, err, file)
	}
}
