package git_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prompthub/internal/git"
)

// A commit holds the id of its folder, and that the ids of its files, so what a commit names never
// changes. Paths are sorted by their bytes.
func Example() {
	text := []byte("---\nname: greet\n---\nSay hello.\n")
	tree := git.MakeTrees([]git.Entry{
		{Name: "SKILL.md", Mode: git.File, ID: git.BlobID(text)},
		{Name: "scripts/run.sh", Mode: git.Executable, ID: git.BlobID([]byte("#!/bin/sh\n"))},
	}, func(id git.ID, entries []git.Entry) {
		fmt.Println("folder", id, "of", len(entries))
	})
	id, _ := git.Commit{
		Tree: tree, Name: "ann", Email: "ann@users.prompthub.invalid",
		At: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Message: "Version 1",
	}.Encode()
	fmt.Println("commit", id)

	// Output:
	// folder 4d30b2ddd4dbd82d6ad7ee4d2a4ea360f5d65b61 of 1
	// folder e308bd8aef48fe070f7a41e413e92832642f6bef of 2
	// commit f1fe26a65e4184fe4e54b853e3fa27dc2f98cbc1
}

// A client asks for the list of refs. A request that is refused gets the reason as its answer,
// which git shows to its user.
func ExampleRequest_Answer() {
	repository := newWorld() // a git.Repository
	repository.commit("refs/heads/main", map[string]file{"SKILL.md": {content: "Say hello.\n"}})
	for _, body := range []string{
		"0014command=ls-refs\n0001000csymrefs\n0000",
		"0012command=fetch\n00010016filter blob:none\n0000",
	} {
		q, err := git.ReadRequest(strings.NewReader(body))
		if refusal := new(git.Refusal); errors.As(err, &refusal) {
			fmt.Printf("%s\n", refusal.Packet())
			continue
		}
		parts, err := q.Answer(context.Background(), repository)
		fmt.Printf("%s\n%v\n", bytes.Join(parts, nil), err)
	}
	// Output:
	// 00501e45918f7f5ad2bee11b99f5eaa5081a94a07008 HEAD symref-target:refs/heads/main
	// 003d1e45918f7f5ad2bee11b99f5eaa5081a94a07008 refs/heads/main
	// 0000
	// <nil>
	// 0037ERR filters are not served: clone without --filter
}
