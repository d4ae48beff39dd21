package api_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/prompthub/transfer"
	"prompthub/internal/storage/table"
)

// exported returns all parts of the export of an account, and how many there were.
func (p person) exported() (file string, parts int) {
	p.w.t.Helper()
	next := regexp.MustCompile(`<([^>]*)>; rel="next"`)
	for path := "/api/v1/me/export"; ; {
		a := p.get(path).is(200)
		require.Equal(p.w.t, "application/jsonl", a.header.Get("Content-Type"))
		file, parts = file+a.body, parts+1
		require.True(p.w.t, a.body == "" || strings.HasSuffix(a.body, "\n"))
		link := next.FindStringSubmatch(a.header.Get("Link"))
		if link == nil {
			return file, parts
		}
		path = link[1]
	}
}

// imported sends a file until all of it is through, and returns what became of its entries.
func (p person) imported(file, query string) (all []api.Imported, requests int) {
	p.w.t.Helper()
	for from := 0; ; {
		var r api.ImportReport
		p.do(http.MethodPost, fmt.Sprintf("/api/v1/import?from=%d&%s", from, query), file, "Content-Type",
			"application/octet-stream").is(200).into(&r)
		all, requests = append(all, r.Items...), requests+1
		if r.Next == nil {
			require.Len(p.w.t, all, r.Entries)
			return all, requests
		}
		require.GreaterOrEqual(p.w.t, *r.Next, from)
		from = *r.Next
	}
}

func outcomes(all []api.Imported) map[string]int {
	n := map[string]int{}
	for _, i := range all {
		n[i.Outcome]++
	}
	return n
}

// peopled has others write the same at every service.
func peopled(w *world) {
	bob := w.as("Bob")
	for _, title := range []string{"First of Bob", "Second of Bob"} {
		bob.create(title)
	}
}

// settled gives ann an account with all that an account can have.
func settledAccount(w *world) {
	w.t.Helper()
	ann := w.as("Ann")
	ann.profile(`{"handle":"ann-lee","name":"Ann Lee","about":"a\n<b>"}`)
	post := func(body string) api.Prompt { return ann.do("POST", prompts, body).is(201).prompt() }
	patch := func(p api.Prompt, body string) { ann.do("PATCH", prompts+"/"+p.ID, body, "If-Match", "*").is(200) }
	p := post(`{"name":"z/last","title":"Last","text":"One {{a}}","message":"first","visibility":"private","tags":["text"],"ownTags":["my own"]}`)
	for i := range 44 {
		patch(p, fmt.Sprintf(`{"text":"Version %d","message":"because %d","config":{"n":%d},"labels":["l%d"]}`, i+2,
			i, i, i%3))
		if i == 10 {
			patch(p, `{"visibility":"public"}`)
		}
	}
	for _, n := range []string{"1", "12", "13", "45"} {
		ann.do("DELETE", prompts+"/"+p.ID+"/versions/"+n, "").is(204)
	}
	ann.do("PUT", prompts+"/"+p.ID+"/labels/production", `{"version":20}`).is(200)
	post(`{"name":"a/includer","title":"Includes","text":"@@@langfusePrompt:name=z/last|label=production@@@ and more"}`)
	chat := post(`{"name":"chat","title":"Chat <&> \u2028","kind":"chat","messages":[{"role":"system","content":"S {{x}}"},{"placeholder":"history"}],` +
		`"variables":[{"name":"x","type":"choice","choices":["a","b"],"default":"a"}],"description":"D"}`)
	patch(chat, `{"messages":[{"role":"user","content":"U"}]}`)
	patch(chat, `{"messages":[{"role":"user","content":"V"}]}`)
	ann.do("DELETE", prompts+"/"+chat.ID+"/versions/2", "").is(204)
	ann.do("PUT", prompts+"/"+chat.ID+"/vote", `{"value":"like"}`).is(200)
	ann.do("DELETE", prompts+"/"+post(`{"title":"Deleted","text":"x"}`).ID, "").is(204)
	for i := range 60 {
		post(fmt.Sprintf(`{"title":"Prompt %d","text":"%s"}`, i, strings.Repeat("é", 100)))
	}
	votes := ann.get("/api/v1/prompts?limit=100").list()
	for _, it := range votes.Items {
		switch it.Title {
		case "First of Bob":
			ann.do("PUT", prompts+"/"+it.ID+"/vote", `{"value":"like"}`).is(200)
		case "Second of Bob":
			ann.do("PUT", prompts+"/"+it.ID+"/vote", `{"value":"dislike"}`).is(200)
		}
	}
}

// TestAccountMoves: what GET /me/export gives here, POST /import takes there, and the export there
// has the same bytes, where authors have the same keys, as after a restore. Elsewhere they have
// others, so each vote on a prompt of somebody else is told, and all else is the same.
func TestAccountMoves(t *testing.T) {
	t.Parallel()
	here, there, elsewhere := newWorld(t), newWorld(t), newWorld(t)
	secret, err := here.store.Get(t.Context(), promptdb.DefaultTables().SystemState,
		table.Key{Partition: "author-keys", Row: "secret"})
	require.NoError(t, err)
	secret.ETag = ""
	_, err = there.store.Write(t.Context(), promptdb.DefaultTables().SystemState,
		table.Op{Kind: table.Upsert, Row: secret})
	require.NoError(t, err)
	there = there.instance() // which has not read the one that was there
	peopled(here)
	peopled(there)
	settledAccount(here)
	file, parts := here.as("Ann").exported()
	require.Greater(t, parts, 2)
	require.Equal(t, 1, strings.Count(file, `{"profile":`))
	require.Equal(t, 2, strings.Count(file, `{"of":"z/last","versions":[`))
	require.Equal(t, 2, strings.Count(file, `{"voted":{"on":"@`+here.db.AuthorKey("Bob")+`/`))
	require.NotContains(t, file, "Deleted")

	ann := there.as("Ann")
	report, requests := ann.imported(file, "")
	require.Greater(t, requests, 1)
	// one prompt in two requests
	require.Equal(t, map[string]int{"updated": 4, "created": 62}, outcomes(report))
	again, _ := ann.exported()
	require.Equal(t, file, again)

	peopled(elsewhere)
	report, _ = elsewhere.as("Ann").imported(file, "")
	require.Equal(t, map[string]int{"updated": 2, "created": 62, "rejected": 2}, outcomes(report))
	for _, line := range report {
		if line.Outcome == "rejected" {
			require.Regexp(t, "^Your vote on (First|Second) of Bob$", line.Title)
			require.Equal(t,
				"there is no such user: name one by the handle of their profile, or by the key of an author (a_…)",
				line.Reason)
		}
	}

	// twice is once
	report, _ = ann.imported(file, "")
	require.Equal(t, map[string]int{"unchanged": 66}, outcomes(report))
	again, _ = ann.exported()
	require.Equal(t, file, again)

	// others see there what they saw here
	for _, w := range []*world{here, there} {
		var of api.Prompt
		w.as("Bob").get("/api/v1/users/ann-lee/prompts/z-last").is(200).into(&of)
		require.Equal(t, "Version 44", of.Text)
		for n, want := range map[int]int{11: 404, 14: 200, 44: 200} {
			w.as("Bob").get(fmt.Sprintf("%s/%s/versions/%d", prompts, of.ID, n)).is(want)
		}
		w.as("Bob").get("/api/v1/users/ann-lee/prompts").is(200)
	}
	var of api.Prompt
	ann.get("/api/v1/users/me/prompts/chat").is(200).into(&of)
	require.EqualValues(t, 1, of.Likes)

	// another history under the same name is told and left alone
	ann.do("PATCH", prompts+"/"+of.ID, `{"messages":[{"role":"user","content":"else"}]}`, "If-Match", "*").is(200)
	report, _ = ann.imported(file, "")
	require.Equal(t, map[string]int{"unchanged": 65, "rejected": 1}, outcomes(report))
	require.NotEqual(t, file, first(ann.exported()))
}

func first(s string, _ int) string { return s }

// TestExportOfNothing: a user without anything has an empty profile.
func TestExportOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file, _ := w.as("Ann").exported()
	require.Equal(t, `{"profile":{}}`+"\n", file)
	report, _ := w.as("Bob").imported(file, "")
	require.Equal(t, map[string]int{"unchanged": 1}, outcomes(report))
	w.as("Ann").get("/api/v1/me/export?cursor=x").problem(400)
	w.as("").get("/api/v1/me/export").problem(401)
	w.as("").do("POST", "/api/v1/import", file).problem(401)
}

// TestImportStory: a file is looked at, taken in, taken in again, and taken in with a change.
func TestImportStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	skill := "---\nname: code-review\ndescription: Reviews.\nmetadata:\n  tags: x\n---\nRead {{diff}}.\n"
	query := "file=code-review/SKILL.md"
	report, _ := ann.imported(skill, query+"&dryRun=true")
	require.Equal(t, []api.Imported{
		{
			Place: "line 1", Name: "code-review", Title: "code-review", Outcome: "created",
			Loss: []string{"extra.metadata"},
		},
	}, report)
	ann.get("/api/v1/users/me/prompts/code-review").problem(404)
	report, _ = ann.imported(skill, query)
	require.Equal(t, "created", report[0].Outcome)
	require.Equal(t, "Read {{diff}}.", ann.get(prompts+"/"+report[0].ID).is(200).prompt().Text)
	report, _ = ann.imported(skill, query)
	require.Equal(t, "unchanged", report[0].Outcome)
	changed := strings.Replace(skill, "Read", "Look at", 1)
	report, _ = ann.imported(changed, query)
	require.Equal(t, "rejected", report[0].Outcome)
	require.Contains(t, report[0].Reason, `a prompt of yours is called "code-review" and says something else`)
	report, _ = ann.imported(changed, query+"&update=true&dryRun=true")
	require.Equal(t, "updated", report[0].Outcome)
	report, _ = ann.imported(changed, query+"&update=true")
	require.Equal(t, "updated", report[0].Outcome)
	got := ann.get(prompts + "/" + report[0].ID).is(200).prompt()
	require.Equal(t, "Look at {{diff}}.", got.Text)
	require.EqualValues(t, 2, got.Version)
}

// TestImportOfMany takes in a CSV file and an archive; each row has its line of the report.
func TestImportOfMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	csv := "act,prompt,for_devs\n" + "Good,Text,TRUE\n" + "No text,,FALSE\n" + "Long," +
		strings.Repeat("x", 3001) + ",FALSE\n"
	for i := range 70 {
		csv += fmt.Sprintf("Row %d,Text %d,FALSE\n", i, i)
	}
	dry, _ := ann.imported(csv, "file=prompts.csv&dryRun=1")
	require.Equal(t, map[string]int{"created": 71, "rejected": 2}, outcomes(dry))
	report, requests := ann.imported(csv, "file=prompts.csv")
	require.Equal(t, map[string]int{"created": 71, "rejected": 2}, outcomes(report))
	require.Equal(t, 2, requests)
	require.Contains(t, report[2].Reason, "text: ")
	dry, _ = ann.imported(csv, "file=prompts.csv&dryRun=1")
	require.Equal(t, map[string]int{"unchanged": 71, "rejected": 2}, outcomes(dry))
	again, _ := ann.imported(csv, "file=prompts.csv")
	require.Equal(t, again, dry)
	require.Equal(t, map[string]int{"unchanged": 71, "rejected": 2}, outcomes(again))

	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{
		"dot/greet.prompt": "---\nmodel: x\n---\nHello {{name}}", "patterns/sum/system.md": "Sum up.",
		"LICENSE": "MIT", "bad.prompt.yml": "a: [",
	} {
		f, err := z.Create(name)
		require.NoError(t, err)
		_, err = f.Write([]byte(text))
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	var r api.ImportReport
	ann.do("POST", "/api/v1/import?file=all.zip", b.String(), "Content-Type", "application/zip").is(200).into(&r)
	require.Equal(t, []string{"LICENSE"}, r.Skipped)
	require.Equal(t, map[string]int{"created": 2, "rejected": 1}, outcomes(r.Items))
}

// TestImportRefuses what is too large or no file of prompts, before it makes anything.
func TestImportRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	for name, file := range map[string]string{
		"x.csv": "a,b\n1,2", "x.zip": "PK\x03\x04broken",
		"x.jsonl": " ", "y.csv": "\n",
	} {
		require.Equal(t, 422, ann.do("POST", "/api/v1/import?file="+url.QueryEscape(name), file, "Content-Type",
			"application/octet-stream").status, name)
	}
	ann.do("POST", "/api/v1/import?file=x.md", "", "Content-Type", "application/octet-stream").problem(400)
	ann.do("POST", "/api/v1/import?file=x.md", strings.Repeat("x", 4<<20+1), "Content-Type",
		"application/octet-stream").problem(413)
	report, _ := ann.imported(`{"profile":{"handle":"A B"}}`+"\n"+`{"voted":{"on":"@a_x/y","value":"like"}}`+"\n"+
		`{"voted":{"on":"x","value":"like"}}`+"\n"+
		`{"of":"x","versions":[]}`+"\n"+
		`{"name":"n","title":"T","tags":[],"visibility":"private","versions":[{"version":500,"text":"x"}]}`+"\n{",
		"file=a.jsonl")
	require.Equal(t, map[string]int{"rejected": 6}, outcomes(report), report)
}

// TestLargestImport: a file may have as many bytes as is said, and no more.
func TestLargestImport(t *testing.T) {
	t.Parallel()
	ann := newWorld(t).as("Ann")
	line := `{"title":"One","text":"Text"}`
	file := line + strings.Repeat("\n", transfer.MaxFile-len(line))
	ann.do(http.MethodPost, "/api/v1/import?file=a.jsonl", file, "Content-Type", "application/octet-stream").is(200)
	refusal := ann.do(http.MethodPost, "/api/v1/import?file=a.jsonl", file+"\n", "Content-Type",
		"application/octet-stream").problem(413)
	require.Equal(t, "the body is larger than 4096 KiB", refusal.Detail)
}

// TestImportOfTooMany: of a file with more entries than anybody takes in at once no request reads
// all.
func TestImportOfTooMany(t *testing.T) {
	t.Parallel()
	ann := newWorld(t).as("Ann")
	ann.profile(`{"handle":"ann-lee"}`)
	for name, file := range map[string]string{
		"a.csv": "act,prompt\n" + strings.Repeat("a,b\n", 10_001), "a.jsonl": strings.Repeat("{}\n", 10_001),
		"account.jsonl": strings.Repeat(`{"profile":{}}`+"\n", 10_001),
	} {
		refusal := ann.do(http.MethodPost, "/api/v1/import?file="+name, file, "Content-Type",
			"application/octet-stream").problem(422)
		require.Equal(t, "there are more than 10000 entries in the file: take a part of them", refusal.Detail, name)
		_, rest, _ := strings.Cut(file, "\n")
		if name != "a.csv" {
			ann.do(http.MethodPost, "/api/v1/import?dryRun=true&from=9999&file="+name, rest, "Content-Type",
				"application/octet-stream").is(200)
		}
	}
}

// TestImportTellsMistypedIncludes: an entry whose text looks like an include and has none says so.
func TestImportTellsMistypedIncludes(t *testing.T) {
	t.Parallel()
	ann := newWorld(t).as("Ann")
	all, _ := ann.imported(`{"name":"a","title":"A","text":"Now @@@prompt:rules@@@"}`, "file=x.jsonl")
	require.Len(t, all, 1)
	require.Equal(t, []api.ImportWarning{{Text: "@@@prompt:rules@@@ is no include, and so plain text: to include a prompt of yours write @@@langfusePrompt:name=rules|label=production@@@"}}, all[0].Warnings)
}
