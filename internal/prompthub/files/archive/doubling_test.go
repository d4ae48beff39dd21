package archive_test

import (
	"testing"

	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/doubling"
)

// TestDoubling: what a function takes grows in proportion to the text that it is given.
func TestDoubling(t *testing.T) {
	files := func(s string) []prompt.FileBytes {
		return []prompt.FileBytes{{Path: "a", Bytes: []byte(s)}, {Path: "b/c", Bytes: []byte(s)}}
	}
	funcs := []doubling.Func{
		{Name: "Write", With: func(s string) func() { f := files(s); return func() { archive.Write(f) } }},
		{Name: "Read", With: func(s string) func() {
			b := archive.Write(files(s))
			return func() { _, _ = archive.Read(b) }
		}},
		{Name: "ReadAll", With: func(s string) func() {
			b := archive.Write(files(s))
			return func() { _, _ = archive.ReadAll(b) }
		}},
		{Name: "LeavesOut", With: func(s string) func() { return func() { archive.LeavesOut(s) } }},
		{Name: "Read (no archive)", With: func(s string) func() {
			b := []byte(s)
			return func() { _, _ = archive.Read(b) }
		}},
	}
	doubling.Listed(t, funcs, nil)
	doubling.Check(t, funcs)
}
