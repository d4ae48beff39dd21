package e2e

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/browsertest"
)

// TestBrowserFiles is the story of a skill: Ann uploads it as a ZIP, looks at its files, releases
// it, changes one and compares. She puts it into a collection, releases the change, recalls it and
// takes that back. Files that mean harm run nothing. On a phone and on a desktop the pages are
// accessible.
func TestBrowserFiles(t *testing.T) {
	t.Parallel()
	work(t)
	b := startBrowser(t)
	a := startLocal(t, "embedded")
	for i, v := range variants {
		if full() || i == 0 || i == 3 {
			t.Run(v.Name, func(t *testing.T) { skillFiles(t, b, a.url(), v, fmt.Sprintf("pdf-forms-%d", i)) })
		}
	}
}

// harmful are files of a skill that would run something if a page took them for more than text.
var harmful = []string{
	"page.html", "<!doctype html><script>alert(1)</script><img src=x onerror=alert(2)>",
	"picture.svg", `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(2)</script></svg>`,
	"notes/a'b&c.md", "# Notes\n\n<img src=x onerror=alert(1)>\n\n[x](javascript:alert(1))\n",
}

func skillFiles(t *testing.T, b browser, base string, v browsertest.Variant, name string) {
	shown := shower(t, v)
	head := "---\nname: " + name +
		"\ndescription: Fills the forms of PDF files. Use it where somebody has a form and values.\n---\n\n"
	files := append([]string{
		name + "/SKILL.md", head + "# Fill in a form\n\nRun `scripts/fill.py` with the form and the values.\n",
		name + "/scripts/fill.py", "#!/usr/bin/env python3\nimport sys\n\n\ndef fill(form, values):\n    return form.format(**values)\n\n\nprint(fill(sys.argv[1], {}))\n",
		name + "/assets/logo.png", "\x89PNG\r\n\x1a\n\x00\x00",
	}, prefixed(name+"/", harmful)...)
	ann := suspicious(b.visit(t, base, v).signIn("Ann", false))
	ann.goTo("/app/prompts/new").click("#upload summary")
	shown(ann, "upload of a skill")
	ann.chooseBytes("skill.zip", zipOf(t, files)).click("#upload [name=public]").click("#upload .primary").reads(
		"The prompt is saved").reads("Files (6)").reads("This skill contains 1 script")
	shown(ann, "prompt with files")
	page := eval[string](ann, "location.pathname")

	ann.click("main a[href$='/files']").reads("6 files,").reads("page.html").reads("This skill contains 1 script")
	shown(ann, "files")
	ann.click("main a[href*='fill.py']").reads("#!/usr/bin/env python3").reads("executable")
	shown(ann, "script")
	for i := 0; i < len(harmful); i += 2 {
		ann.goTo(page + "/files").click(
			fmt.Sprintf("main .tree li:has(a[href*=%q]) a", []string{"page.html", "picture.svg", "notes"}[i/2])).reads(
			"Download")
		require.Empty(t, eval[[]string](ann, "[...(window.fired ?? []), ..."+inert+"(document)]"), harmful[i])
		require.Contains(t, eval[string](ann, "document.querySelector('main').textContent"), "alert(1)")
		got := eval[[]string](ann, `(async () => {
			const answer = await fetch(document.querySelector("a[download]").href);
			return ["content-type", "content-security-policy", "x-content-type-options", "content-disposition"].map((name) => answer.headers.get(name).split(";")[0]);
		})()`)
		require.Equal(t, []string{"application/octet-stream", "sandbox", "nosniff", "attachment"}, got)
	}
	ann.goTo(page + "/files").click("main a[href*='logo.png']").reads("A binary file")
	shown(ann, "binary file")

	ann.goTo(page).click("#release button").reads("Programs and assistants get this version now.")
	ann.goTo(page + "/files?path=scripts%2Ffill.py").click(".manage details summary")
	shown(ann, "script edited")
	ann.write("#text", "#!/usr/bin/env python3\nprint('filled')\n").write("#why", "Simpler").click(
		"[value=save]").reads("The file is saved, in a new version.").reads("print('filled')")
	ann.goTo(page + "/compare?from=1&to=2").reads("scripts/fill.py").reads("print('filled')")
	shown(ann, "one file compared")
	collectAndRecall(ann, shown, page, "Forms, "+v.Name)
	ann.goTo(page+"/files").click(".aside details summary").write("#name", "references/terms.md").write("#text",
		"# Terms\n\n**form**: what has fields\n").click("[value=save]").reads("The file is saved").reads("Terms")
	ann.goTo(page + "/files?path=picture.svg").click(".manage details:last-child summary").click(
		"[value=remove]").reads("The file is removed").reads("references")
	ann.goTo(page + "/compare?from=1&to=4").reads("scripts/fill.py").reads(
		"references/terms.md").reads("added").reads("removed")
	require.Empty(t, eval[[]string](ann, "[...(window.fired ?? []), ..."+inert+"(document)]"))
	shown(ann, "files compared")
	ann.Calm()
}

// collectAndRecall puts a skill of two versions, of which the first is released, into a new
// collection, releases the second, recalls it, and takes the recall back.
func collectAndRecall(ann *tab, shown func(*tab, string), page, name string) {
	ann.goTo(page).click("#share summary").click("#share a[href$='/collect']").reads(
		"Into a collection").reads("of the 8,000 characters")
	ann.click("main a.button").write("#name", name).write("#about", "What an office fills in")
	shown(ann, "new collection")
	ann.click("main form.stack .primary").reads("The collection is there.").reads("Fills the forms of PDF files").reads(
		"version 1").reads("of 8,000 characters")
	shown(ann, "collection")
	collection := eval[string](ann, "location.pathname")
	ann.goTo(page + "/collect").reads(name).reads("is in it")
	shown(ann, "collections of a skill")

	live := func(n int) string { // its word "version" is left out on a phone
		return fmt.Sprintf("document.querySelector('.state.live').textContent === 'live: version %d'", n)
	}
	ann.goTo(page).sees(live(1)).sees("document.querySelector('.state.draft')").click("#release button").reads(
		"Programs and assistants get this version now.").sees(live(2))
	shown(ann, "skill released")
	ann.goTo(collection).reads("version 2")
	const recall = ".manage details:has(form[action$='/recall'])"
	ann.goTo(page + "/versions/2").click(recall + " summary")
	shown(ann, "before a recall")
	ann.write("#reason", "It fills in <b>wrong</b> fields").click(recall + " button").reads(
		"The version is recalled").reads("It fills in <b>wrong</b> fields")
	shown(ann, "version recalled")
	ann.goTo(page + "/versions").sees(
		"document.querySelector('.editions li .badge + .badge')?.textContent === 'recalled'").reads(
		"It fills in <b>wrong</b> fields")
	ann.sees("document.querySelector('.editions li:last-child .label')?.textContent === 'production'") // on version 1
	shown(ann, "versions, one recalled")
	ann.goTo(page).reads("Version 2 was recalled: programs and assistants get version 1.").sees(live(1)).sees(
		"!document.querySelector('#release, .state.draft')")
	shown(ann, "skill recalled")
	ann.goTo(collection).sees(
		"[...document.querySelectorAll('.collected .meta span')].some(e => e.textContent === 'version 1')")
	ann.goTo(page).click("main a[href$='/versions/2']").click("form[action$='/reinstate'] button").reads(
		"The recall is taken back.").sees("!document.querySelector('form[action$=\"/reinstate\"]')")
	shown(ann, "recall taken back")
	ann.goTo(page).sees(live(2))
}

// prefixed returns files with paths that begin with something; paths and contents alternate.
func prefixed(with string, files []string) []string {
	var all []string
	for i, s := range files {
		if i%2 == 0 {
			s = with + s
		}
		all = append(all, s)
	}
	return all
}

// zipOf returns a ZIP of files; paths and contents alternate.
func zipOf(t testing.TB, files []string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(files); i += 2 {
		h := &zip.FileHeader{Name: files[i], Method: zip.Deflate}
		h.SetMode(0o644)
		if len(files[i+1]) > 1 && files[i+1][:2] == "#!" {
			h.SetMode(0o755)
		}
		w, err := z.CreateHeader(h)
		require.NoError(t, err)
		_, err = io.WriteString(w, files[i+1])
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	return b.Bytes()
}

// chooseBytes chooses a file of any bytes in the form.
func (p *tab) chooseBytes(name string, b []byte) *tab {
	p.T.Helper()
	require.True(p.T, eval[bool](p, fmt.Sprintf(`(() => {
		const given = new DataTransfer();
		given.items.add(new File([Uint8Array.from(atob(%q), (c) => c.charCodeAt(0))], %q));
		document.querySelector("#file").files = given.files;
		return true;
	})()`, base64.StdEncoding.EncodeToString(b), name)))
	return p
}
