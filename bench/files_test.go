package main

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"slices"
	"strings"
	"sync"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/prompt"
)

// hostileFiles make much of little when they are taken in.
var hostileFiles = sync.OnceValue(func() []string {
	lines := func(n int, line func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(line(i) + "\n")
		}
		return b.String()
	}
	archive := func(n int, name, text string) string {
		var b strings.Builder
		z := zip.NewWriter(&b)
		for i := range n {
			w, err := z.Create(fmt.Sprintf(name, i))
			if err == nil {
				_, err = io.WriteString(w, text)
			}
			if err != nil {
				panic(err) // unreachable: it is written to memory
			}
		}
		if err := z.Close(); err != nil {
			panic(err)
		}
		return b.String()
	}
	text := strings.Repeat("入", prompt.DefaultMaxText)
	versions := make([]string, 500)
	for i := range versions {
		versions[i] = fmt.Sprintf(`{"version":%d,"text":"text %d"}`, i+1, i)
	}
	return []string{
		lines(1, func(int) string { return `{"title":"One","text":"of {{a}}","visibility":"private"}` }),
		lines(201, func(i int) string {
			return fmt.Sprintf(`{"title":%q,"text":%q}`, hostileTitles[i%len(hostileTitles)], text)
		}),
		lines(60, func(i int) string {
			return fmt.Sprintf(`{"title":%q,"text":"text %d"}`, hostileTitles[i%len(hostileTitles)], i)
		}),
		lines(3, func(i int) string {
			return fmt.Sprintf(`{"title":"Past","name":"past/%d","text":"text 499","versions":[%s]}`,
				i, strings.Join(versions, ","))
		}),
		lines(10_000, func(i int) string { return fmt.Sprintf(`{"vote":{"prompt":"%026d","value":"like"}}`, i) }),
		"act,prompt\n" + lines(5000, func(i int) string { return fmt.Sprintf(`Row %d,"a ""quoted"" text"`, i) }),
		"act,prompt\n" + strings.Repeat("a,b\n", 1<<20-8),
		"act,prompt" + strings.Repeat(",x", 1<<20) + "\n" + strings.Repeat("a,b\n", 1<<18),
		"[" + strings.Repeat("1,", 2<<20-8) + "1]", strings.Repeat("{}", 2<<20-8),
		lines(1<<18, func(int) string { return `{"voted":{}}` }),
		"{" + lines(300_000, func(i int) string { return fmt.Sprintf(`"%d":1,`, i) }) + `"title":"a","text":"b"}`,
		"act,prompt\n\"" + strings.Repeat(`""`, 1<<20),
		archive(1, "%d/SKILL.md", "---\nname: a\ndescription: b\n---\ntext"),
		archive(300, "%d/SKILL.md", "---\nname: a\ndescription: b\n---\ntext"),
		archive(1, "%d.md", strings.Repeat("\x00", 64<<20)),
		archive(20_000, "../%d", ""),
		"---\na: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b, *b, *b, *b, *b]\nd: &d [*c, *c, *c, *c, *c, *c, *c]\ne: [*d, *d, *d, *d, *d, *d, *d, *d]\n---\ntext",
		"---\nname: " + strings.Repeat("[", 100_000) + "\n---\ntext",
		strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 200_000),
		`{"messages":[` + strings.Repeat(`{"role":"user","content":"x"},`, 100_000) + `{"role":"user","content":"x"}]}`,
	}
})

// sendFile draws a file to take in, as a form sends it or alone.
func sendFile(t *rapid.T, form bool) (io.Reader, string) {
	file := rapid.SampledFrom(hostileFiles()).Draw(t, "hostile file")
	if !form {
		return strings.NewReader(file), "application/octet-stream"
	}
	var b strings.Builder
	w := multipart.NewWriter(&b)
	part, err := w.CreateFormFile("file",
		rapid.SampledFrom([]string{
			"prompts.jsonl", "prompts.csv", "a.zip", "SKILL.md", "a.prompt.yml",
			some(t, "file name"),
		}).Draw(t, "called"))
	require.NoError(t, err)
	_, err = io.WriteString(part, file)
	require.NoError(t, err)
	for _, name := range []string{"update", "do"} {
		require.NoError(t, w.WriteField(name, rapid.SampledFrom([]string{"", "import"}).Draw(t, name)))
	}
	require.NoError(t, w.Close())
	return strings.NewReader(b.String()), w.FormDataContentType()
}

// sendFolder returns the form of a page with a skill as an archive.
func sendFolder(t *rapid.T, now known) (body io.Reader, kind string) {
	name := fmt.Sprint("skill-", rapid.IntRange(0, 1<<30).Draw(t, "skill"))
	files := []prompt.FileBytes{
		{
			Path:  "SKILL.md",
			Bytes: []byte("---\nname: " + name + "\ndescription: x\n---\n" + some(t, "text")),
		},
		{Path: "a.txt", Bytes: []byte(some(t, "file"))},
	}
	fields := map[string]string{"do": "replace", "revision": fmt.Sprint(now.Revision)}
	if rapid.Bool().Draw(t, "added") { // to the files that are there
		files, fields["do"] = files[1:], ""
	}
	var b strings.Builder
	form := multipart.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		require.NoError(t, form.WriteField(name, fields[name]))
	}
	part, err := form.CreateFormFile("file", "skill.zip")
	require.NoError(t, err)
	_, err = part.Write(archive.Write(files))
	require.NoError(t, errors.Join(err, form.Close()))
	return strings.NewReader(b.String()), form.FormDataContentType()
}
