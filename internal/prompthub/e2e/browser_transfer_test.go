package e2e

import (
	"fmt"

	"github.com/stretchr/testify/require"
)

// carry has a user drop a file on the page, look at what would be done, take it in, have it back,
// and leave and stay.
func carry(p *tab) {
	p.T.Helper()
	name := "carried-" + p.V.Name
	file := fmt.Sprintf(
		"name: %s\n# a comment\nmessages:\n  - role: user\n    content: Hello {{who}}\ntestData:\n  - who: Ann\n", name)
	p.goTo("/app/me").click("main a[href='/app/import']").reads("Choose it, or drop it here.")
	if p.V.Script {
		p.drop("two", "a.prompt.yml", file, "b.prompt.yml", file).reads("Drop one file, or a ZIP of many.")
		p.drop("one", name+".prompt.yml", file)
	} else {
		p.choose(name+".prompt.yml", file).click("[value=look]")
	}
	p.reads("What an import would do").reads("1 would be created.").reads(
		"The kept files alone have: testData (1)").shot("import looked at")
	p.click("[value=import]").reads("What was imported").reads("1 created.").shot("imported")
	p.click("main table a").reads("Hello").click("#share summary").click("main a[href$='/export']").reads(
		"What it cannot hold").shot("files to choose")
	got := eval[string](p, `(async () => {
		const a = document.querySelector("a[href$='export?format=github-models']");
		return a ? await (await fetch(a.href)).text() : "no link";
	})()`)
	require.Equal(p.T, file, got)
	// the same again changes nothing
	p.goTo("/app/import").choose(name+".prompt.yml", file).click("[value=look]").reads("1 would be unchanged.")

	p.goTo("/app/me").click("details:has(form[action$='/erase']) summary").reads("Delete my account").shot("account")
	p.click("form[action$='/erase'] button").reads("Your account will be erased in 30 days.").shot(
		"account to be erased")
	p.click("form[action$='/keep'] button").reads("Your account stays.")
}

// given is a DataTransfer with files, as an expression; names and contents alternate.
func given(files ...string) string {
	js := "(d => {"
	for i := 0; i < len(files); i += 2 {
		js += fmt.Sprintf("d.items.add(new File([%q], %q));", files[i+1], files[i])
	}
	return js + "return d})(new DataTransfer())"
}

// drop drops files on the form.
func (p *tab) drop(what string, files ...string) *tab {
	p.T.Helper()
	require.True(p.T, eval[bool](p, fmt.Sprintf(`(dataTransfer => {
		const form = document.querySelector("form[data-drop]");
		for (const type of ["dragover", "drop"]) form.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }));
		return true;
	})(%s)`, given(files...))), what)
	return p
}

// choose chooses a file in the form.
func (p *tab) choose(file ...string) *tab {
	p.T.Helper()
	require.True(p.T, eval[bool](p,
		fmt.Sprintf("document.querySelector('#file').files = %s.files, true", given(file...))))
	return p
}
