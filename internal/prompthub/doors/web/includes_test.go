package web_test

import "testing"

// TestIncludes: a page says what its prompt includes, and its author's what includes it.
func TestIncludes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	part := ann.write("Part", "Be {{how}}.", "public")
	whole := ann.write("Whole", "Now: @@@langfusePrompt:name=part|label=latest@@@", "public")
	toPart, toWhole := `<a href="`+part+`"><code>part</code></a> version 1`,
		`<a href="`+whole+`"><code>whole</code></a> version 1`
	bob.get(whole).is(200).has("Includes</span> <span>"+toPart, "Now: Be <mark", `name="v0"`).lacks("langfusePrompt")
	bob.get(part).is(200).lacks("Included by", "Includes<")
	ann.get(part).is(200).has("Included by</span> <span>" + toWhole)
	ann.get(whole).lacks("Included by", "they may not read")

	ann.post(part+"/visibility", "to", "private").to(part)
	bob.get(whole).is(200).has("which you may not read. So the text is shown as it was written.",
		"langfusePrompt").lacks(part, "Be <")
	bob.post(whole + "/fill").is(422).has("which you may not read")
	ann.get(whole).is(200).has(toPart, "Now: Be <mark", "they may not read "+toPart)
	ann.post(whole+"/visibility", "to", "private").to(whole)
	ann.get(whole).is(200).has("Now: Be <mark").lacks("they may not read")
	ann.post(whole+"/visibility", "to", "public").to(whole)
	ann.post(part + "/delete").is(409).has("is included by")
	ann.post(part+"/labels", "label", "live", "version", "1").to(part + "/labels?label=live&done=label")
	ann.write("Short", "@@@langfusePrompt:name=part|label=live@@@", "private")
	ann.post(part+"/labels/remove", "label", "live").is(409).has(
		"The label live is included by &#34;short&#34; in version 1")
	slip := ann.write("Slip", "Now: @@@langfusePrompt:name=part@@@", "public")
	ann.get(slip).has("@@@langfusePrompt:name=part@@@ is no include, and so plain text: to include a prompt of yours write @@@langfusePrompt:name=part|label=production@@@.")
	bob.get(slip).lacks("is no include")
	for range 11 {
		ann.write("More", "@@@langfusePrompt:name=part|version=1@@@", "private")
	}
	ann.get(part).has("and others")
}
