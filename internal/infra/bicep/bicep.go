// Package bicep reads Bicep files and finds in them what the Bicep compiler would refuse, as far as that can be
// known without it: broken syntax, names that nobody declared, resources that do not fit the
// types of the Azure API, modules and parameters that do not fit each other. The grammar is
// tree-sitter's, run by node; the types were taken from Microsoft's type data, see types/README.md.
//
// It knows the part of the language that infra/ uses. What is beyond is reported, not passed over.
package bicep

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"unicode"
)

// tools is where npm puts the grammar, below the root of the repository.
const tools = "internal/tools/infra"

// ErrNotInstalled is returned where node or the grammar is missing.
var ErrNotInstalled = errors.New(`node or the Bicep grammar is not installed: install Node 22, then run "make infra-check"`)

// A Problem is something wrong at a place.
type Problem struct {
	File string
	Line int
	Text string
}

func (p Problem) String() string { return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text) }

// Parse parses files, given as texts by their paths. root is the repository.
func Parse(ctx context.Context, root string, texts map[string]string) (map[string]*File, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, ErrNotInstalled
	}
	if _, err := os.Stat(filepath.Join(root, tools, "node_modules", "tree-sitter-bicep")); err != nil {
		return nil, ErrNotInstalled
	}
	for name, text := range texts {
		// Places in the tree are counted in UTF-16: in ASCII they are bytes.
		if i := bytes.IndexFunc([]byte(text), func(r rune) bool { return r > unicode.MaxASCII }); i >= 0 {
			return nil, fmt.Errorf("%s: not ASCII at byte %d", name, i)
		}
	}
	in, err := json.Marshal(texts)
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, node, filepath.Join(root, tools, "parse.mjs"))
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	var trees map[string]*Node
	if err := json.Unmarshal(out, &trees); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	files := make(map[string]*File, len(trees))
	for name, tree := range trees {
		tree.adopt(texts[name])
		files[name] = newFile(name, tree)
	}
	return files, nil
}

// Read returns the texts of the Bicep files below dir, by their paths from dir.
func Read(dir string) (map[string]string, error) {
	texts := make(map[string]string)
	tree := os.DirFS(dir)
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || path.Ext(name) != ".bicep" {
			return err
		}
		text, err := fs.ReadFile(tree, name)
		texts[name] = string(text)
		return err
	})
	return texts, err
}

// Check returns all problems of files that belong together, in the order of files and lines.
func Check(files map[string]*File, types Types) []Problem {
	var all []Problem
	for _, f := range files {
		all = append(all, f.syntax()...)
		all = append(all, f.symbols()...)
		all = append(all, f.resources(types)...)
		all = append(all, f.modules(files)...)
	}
	slices.SortFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Text, b.Text))
	})
	return slices.Compact(all)
}
