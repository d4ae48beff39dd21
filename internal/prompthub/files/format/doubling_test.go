package format_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/fstest"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/doubling"
)

// readParts does with parts what an import does.
func readParts(parts iter.Seq2[format.Part, error]) {
	for p, err := range parts {
		if err != nil {
			return
		}
		p.Weight()
		_ = p.Check()
		p.Name()
		p.Includes()
		p.Row()
	}
}

// TestDoubling: what a function takes grows in proportion to the text or file that it is given.
func TestDoubling(t *testing.T) {
	lines := func(s string) (list []string) {
		for line := range strings.Lines(s) {
			list = append(list, line)
		}
		return list
	}
	document := func(s string) format.Document {
		def := s
		return format.Document{
			Name: "n", Title: s, Description: s, Text: s, Tags: strings.Fields(s), OwnTags: lines(s),
			Labels: lines(s), Message: s,
			Variables: []prompt.Variable{{Name: "a", Description: s, Default: &def}},
		}
	}
	chat := func(s string) format.Document {
		d := document(s)
		d.Kind, d.Text = prompt.KindChat, ""
		for _, line := range lines(s) {
			d.Messages = append(d.Messages, prompt.Message{Role: "user", Content: line})
		}
		b, _ := json.Marshal(map[string]any{"a": lines(s), "b": s})
		d.Config = b
		return d
	}
	declaring := func(s string) format.Document {
		d := format.Document{Title: "t", Text: "x"}
		for i, f := range strings.Fields(s) {
			d.Variables = append(d.Variables, prompt.Variable{Name: fmt.Sprint("a", i), Description: f})
		}
		return d
	}
	doc := func(do func(d format.Document)) func(s string) func() {
		return func(s string) func() { d := document(s); return func() { do(d) } }
	}
	two := func(do func(a, b format.Document)) func(s string) func() {
		return func(s string) func() { a, b := chat(s), chat(doubling.Turned(s)); return func() { do(a, b) } }
	}
	file := func(do func(b []byte)) func(s string) func() {
		return func(s string) func() { b := []byte(s); return func() { do(b) } }
	}
	zipped := func(s string) []byte {
		var b bytes.Buffer
		w := zip.NewWriter(&b)
		for i, line := range lines(s) {
			f, _ := w.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("p%d.md", i), Method: zip.Store})
			_, _ = f.Write([]byte(line))
		}
		_ = w.Close()
		return b.Bytes()
	}
	funcs := []doubling.Func{
		{Name: "IsArchive", With: file(func(b []byte) { format.IsArchive(b) })},
		{Name: "HasFrontMatter", With: file(func(b []byte) { format.HasFrontMatter(b) })},
		{Name: "CodePage", With: file(func(b []byte) { _, _ = format.CodePage(string(b)) })},
		{Name: "InUTF8", With: file(func(b []byte) { _, _ = format.InUTF8(append(b, 0xe4), "windows-1252") })},
		{Name: "FilesInUTF8", With: file(func(b []byte) {
			format.FilesInUTF8([]format.File{{Path: "p.csv", Bytes: append(b, 0xe4)}}, "shift_jis")
		})},
		{Name: "Hidden", With: file(func(b []byte) { format.Hidden(string(b)) })},
		{Name: "Parse", With: file(func(b []byte) { _, _ = format.Parse(string(b)) })},
		{Name: "Format.MediaTypeOf", With: file(func(b []byte) { format.LangChain.MediaTypeOf(b) })},
		{Name: "SameLines", With: file(func(b []byte) { format.SameLines(b, append(b, 'x')) })},
		{Name: "SameExtra", With: func(s string) func() {
			b := []byte("---\n" + s + "\n---\nx")
			return func() { format.SameExtra(format.Markdown, "a.md", b, b) }
		}},
		{Name: "Extra.Same", With: func(s string) func() {
			d, _ := format.Read(format.Markdown, "a.md", []byte("---\n"+s+"\n---\nx"))
			return func() { d.Extra.Same(d.Extra) }
		}},
		{Name: "Detect", With: file(func(b []byte) { format.Detect("a.json", b) })},
		{Name: "Archive", With: func(s string) func() {
			b := zipped(s)
			return func() { _, _, _ = format.Archive(b, 1<<30) }
		}},
		{Name: "ArchiveOfSkills", With: func(s string) func() {
			b := zipped(s)
			return func() { _, _, _ = format.ArchiveOfSkills(b, 1<<30) }
		}},
		{Name: "Folder", With: func(s string) func() {
			folder := fstest.MapFS{}
			for i, line := range lines(s) {
				folder[fmt.Sprintf("p%d.md", i)] = &fstest.MapFile{Data: []byte(line)}
			}
			return func() { _, _, _ = format.Folder(folder) }
		}},
		{Name: "RowsOf", With: func(s string) func() {
			var files []format.File
			for i, line := range lines(s) {
				files = append(files, format.File{Path: fmt.Sprintf("p%d.md", i), Bytes: []byte(line)})
			}
			return func() {
				for row := range format.RowsOf(files, "k") {
					row.Units()
				}
			}
		}},
		{Name: "PartsOf", With: func(s string) func() {
			var files []format.File
			for i, line := range lines(s) {
				files = append(files, format.File{Path: fmt.Sprintf("p%d.md", i), Bytes: []byte(line)})
			}
			return func() { readParts(format.PartsOf(files, "k")) }
		}},
		{Name: "Made", With: func(s string) func() {
			source := &prompt.Source{
				Format: string(format.Markdown), File: "p.md",
				Bytes: []byte("---\n" + s + "\n---\nx"),
			}
			return func() { format.Made(source) }
		}},
		{Name: "JoinKernel", With: func(s string) func() {
			config := []byte(`{"input": {"parameters": [` + strings.Repeat(`{"name": "a"},`, len(s)/100) + `{}]}}`)
			return func() { format.JoinKernel("a/skprompt.txt", []byte(s), config) }
		}},
		{Name: "KernelFolder", With: func(s string) func() {
			b := format.JoinKernel("a/skprompt.txt", []byte(s), []byte(`{"a": 1}`))
			return func() { format.KernelFolder("a", b) }
		}},
		{Name: "Called", With: func(s string) func() {
			var files []format.File
			for i, line := range lines(s) {
				files = append(files, format.File{Path: fmt.Sprintf("d%d/a.md", i), Bytes: []byte(line)})
			}
			return func() { format.Called(files, nil) }
		}},
		{Name: "SplitKernel", With: func(s string) func() {
			b := []byte("template: |\n  " + strings.Join(lines(s), "\n  ") + "\n" + "input_variables: [" +
				strings.Repeat("{name: a}, ", len(s)/100) + "]\n")
			return func() { _, _, _ = format.SplitKernel(b) }
		}},
		{Name: "Named", With: func(s string) func() {
			names := strings.Fields(s)
			return func() { format.Named(format.Markdown, names) }
		}},
		{Name: "Document.Stays", With: func(s string) func() {
			b := []byte(s)
			d, _ := format.Read(format.CSV, "p.csv", b)
			return func() { d.Stays(b) }
		}},
		{Name: "Document.Readable", With: doc(func(d format.Document) { d.Readable() })},
		{Name: "Document.Fitted", With: doc(func(d format.Document) { d.Fitted() })},
		{Name: "Document.Prepared", With: doc(func(d format.Document) { d.Prepared([]string{"a"}, prompt.Public) })},
		{Name: "Row.Units", With: doc(func(d format.Document) { format.Row{Document: d}.Units() })},
		{Name: "Version.In", With: doc(func(d format.Document) {
			format.Version{Text: d.Text, Messages: d.Messages}.In(d)
		})},
		{Name: "Version.Hash", With: doc(func(d format.Document) {
			format.Version{Text: d.Text, Messages: d.Messages}.Hash()
		})},
		{Name: "Version.HashIn", With: doc(func(d format.Document) {
			format.Version{Text: d.Text, Messages: d.Messages}.HashIn(format.Document{})
		})},
		{Name: "Document.Unheld", With: func(s string) func() {
			d, _ := format.Read(format.Markdown, "p.md", []byte("---\n"+s+"\n---\nx"))
			return func() { d.Unheld() }
		}},
		{Name: "Of", With: doc(func(d format.Document) { format.Of(d.Draft()) })},
		{Name: "Document.Draft", With: doc(func(d format.Document) { d.Draft() })},
		{Name: "Document.Titled", With: doc(func(d format.Document) { d.Title = ""; d.Titled() })},
		{Name: "Document.Key", With: doc(func(d format.Document) { d.Key() })},
		{Name: "Document.Sorted", With: doc(func(d format.Document) { d.Sorted([]string{"a", "b"}) })},
		{Name: "Document.Authored", With: doc(func(d format.Document) { d.Authored() })},
		{Name: "Document.Says", With: doc(func(d format.Document) { d.Says() })},
		{Name: "Document.HasCRLF", With: doc(func(d format.Document) { d.HasCRLF() })},
		{Name: "Document.Taken", With: doc(func(d format.Document) { _, _ = d.Taken(format.Mustache) })},
		{Name: "Source.Hash", With: doc(func(d format.Document) { (&format.Source{Data: []byte(d.Text)}).Hash() })},
		{Name: "Document.Mustache", With: doc(func(d format.Document) { _, _ = d.Mustache() })},
		{Name: "Differences", With: two(func(a, b format.Document) { format.Differences(a, b) })},
		{Name: "Document.Within", With: two(func(a, b format.Document) { a.Within(b) })},
		{Name: "Document.Over", With: two(func(a, b format.Document) { a.Over(b) })},
		{Name: "Document.KeepsKind", With: two(func(a, b format.Document) { _ = a.KeepsKind(b) })},
		{Name: "Document.SameContent", With: two(func(a, b format.Document) { a.SameContent(b) })},
		{Name: "Document.As", With: two(func(a, b format.Document) { a.As(b) })},
		{Name: "Format.Path", With: doc(func(d format.Document) { format.Markdown.Path(d) })},
	}
	for _, to := range format.Syntaxes() {
		funcs = append(funcs, doubling.Func{
			Name: fmt.Sprintf("Document.In (%s)", to),
			With: doc(func(d format.Document) { _, _ = d.In(to) }),
		})
	}
	names := map[format.Format]string{
		format.Skill: "a/SKILL.md", format.VSCode: "a.prompt.md",
		format.Command: "commands/a.md", format.Fabric: "a/system.md",
	}
	for _, f := range format.Formats() {
		name := names[f]
		if name == "" {
			name = strings.Replace(f.Path(format.Document{Name: "a"}), "*", "a", 1)
		}
		// a file that says the text in each member that the format has, and in none that it has not
		said := func(d format.Document) []byte { b, _, _ := format.Write(f, d); return b }
		funcs = append(funcs,
			doubling.Func{
				Name: fmt.Sprintf("Read (%s, the file)", f),
				With: file(func(b []byte) { _, _ = format.Read(f, name, b) }),
			},
			doubling.Func{
				Name: fmt.Sprintf("Read (%s, front matter)", f),
				With: file(func(b []byte) { _, _ = format.Read(f, name, fmt.Appendf(nil, "---\n%s\n---\nx", b)) }),
			},
			doubling.Func{Name: fmt.Sprintf("Read (%s, a text)", f), With: func(s string) func() {
				b := said(format.Document{Title: "t", Text: s})
				return func() { _, _ = format.Read(f, name, b) }
			}},
			doubling.Func{Name: fmt.Sprintf("Read (%s, all members)", f), With: func(s string) func() {
				b := said(chat(s))
				return func() { _, _ = format.Read(f, name, b) }
			}},
			doubling.Func{Name: fmt.Sprintf("Read (%s, variables)", f), With: func(s string) func() {
				b := said(declaring(s))
				return func() { _, _ = format.Read(f, name, b) }
			}},
			doubling.Func{Name: fmt.Sprintf("Write (%s, variables)", f), With: func(s string) func() {
				d := declaring(s)
				return func() { _, _, _ = format.Write(f, d) }
			}},
			doubling.Func{Name: fmt.Sprintf("Rows (%s)", f), With: func(s string) func() {
				b := said(document(s))
				return func() {
					for row := range format.Rows(name, append(b, b...), "k") {
						row.Units()
					}
				}
			}},
			doubling.Func{Name: fmt.Sprintf("Parts (%s)", f), With: func(s string) func() {
				b := said(document(s))
				return func() { readParts(format.Parts(name, append(b, b...), "k")) }
			}},
			doubling.Func{
				Name: fmt.Sprintf("Format.ForProgram (%s)", f),
				With: doc(func(d format.Document) { d.Text += "${a:1}"; f.ForProgram(d) }),
			},
			doubling.Func{
				Name: fmt.Sprintf("Write (%s)", f),
				With: doc(func(d format.Document) { _, _, _ = format.Write(f, d) }),
			},
			doubling.Func{Name: fmt.Sprintf("Write (%s, chat)", f), With: func(s string) func() {
				d := chat(s)
				return func() { _, _, _ = format.Write(f, d) }
			}},
			doubling.Func{Name: fmt.Sprintf("Rewrite (%s)", f), With: func(s string) func() {
				b, d := said(document(s)), document(doubling.Turned(s))
				return func() { _, _, _ = format.Rewrite(f, name, b, d) }
			}},
		)
	}
	funcs = append(funcs, doubling.Func{Name: "ReadSkillHead", With: func(s string) func() {
		b := []byte("---\nname: a\ndescription: b\nx: " + s + "\n---\n" + s)
		return func() { _, _ = format.ReadSkillHead(b) }
	}}, doubling.Func{Name: "SkillFrontMatter", With: func(s string) func() {
		b := []byte("---\nname: a\ndescription: b\nx: " + s + "\n---\n" + s)
		return func() { _, _ = format.SkillFrontMatter(b) }
	}})
	doubling.Listed(t, funcs, map[string][]string{
		"compares or returns what it is given": {
			"Kept", "Document.Said", "IsKernelText",
			"Warning.IsNote", "Row.Place", "Part.Place", "Format.IsMany", "Format.Loses", "Format.MediaType", "Names",
		},
		"is called for a line of a file, see Parts": {"IncludesOf"},
		"is called for what Parts yields": {
			"Part.Row", "Part.Weight", "Part.Size",
			"Part.Check", "Part.IsJSON", "Part.Name", "Part.Includes",
		},
		"is Rewrite of a document that was read already, see there": {"Document.Rewrite"},
	})
	doubling.Check(t, funcs)
}
