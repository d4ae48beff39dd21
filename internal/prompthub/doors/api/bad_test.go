package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// A bad is a request that must be refused.
type bad struct {
	name, body string
	header     []string
	status     int
	location   string
}

func draftWith(member string) string {
	return `{"title":"T","text":"X","visibility":"public",` + member + `}`
}

// badJSON is refused wherever a body is taken.
var badJSON = []bad{
	{name: "no body", body: "", status: 400},
	{name: "white space", body: " \n", status: 400},
	{name: "broken", body: `{"title":`, status: 400, location: "body.title"},
	{name: "two values", body: `{} {}`, status: 400, location: "body"},
	{name: "name twice", body: `{"title":"a","title":"b"}`, status: 400, location: "body.title"},
	{name: "invalid UTF-8", body: "{\"title\":\"\xff\"}", status: 400, location: "body.title"},
	{name: "lone surrogate", body: `{"tags":["\ud800"]}`, status: 400, location: "body.tags[0]"},
	{name: "swapped surrogates", body: `{"title":"\udc00\ud800"}`, status: 400, location: "body.title"},
	{
		name: "broken deep down", body: strings.Repeat(`{"é":`, 8000) + "\xff", status: 400,
		location: "body" + strings.Repeat(".é", 65) + ".…",
	},
	{
		name: "broken under a long name", body: `{"` + strings.Repeat("x", 100_000) + `":`, status: 400,
		location: "body." + strings.Repeat("x", 195) + "…",
	},
	{name: "too large", body: `{"title":"` + strings.Repeat("x", 13<<20) + `"}`, status: 413},
	{name: "too large of nothing", body: strings.Repeat(" ", largestBody+1), status: 413},
	{name: "too many elements, which are counted first", body: `{"tags":[` + strings.Repeat("0,", 50_001), status: 422},
	{name: "wrong type of body", body: `{}`, header: []string{"Content-Type", "text/plain"}, status: 415},
	{
		name: "other charset", body: `{}`, header: []string{"Content-Type", "application/json; charset=utf-16"},
		status: 415,
	},
	{name: "unreadable content type", body: `{}`, header: []string{"Content-Type", "json;;"}, status: 415},
	{name: "an array", body: `[]`, status: 422, location: "body"},
	{name: "null", body: `null`, status: 422, location: "body"},
	{name: "unknown field", body: `{"colour":"red"}`, status: 422, location: "body.colour"},
	{
		name: "field in another case", body: `{"TITLE":"T","Value":"like","Reason":"x","DisplayName":"x"}`,
		status: 422, location: "body.TITLE",
	},
}

// badDraft is refused wherever a whole prompt is taken.
var badDraft = []bad{
	{
		name: "wrong type of title", body: `{"title":1,"text":"X","visibility":"public"}`,
		status: 422, location: "body.title",
	},
	{name: "null title", body: `{"title":null,"text":"X","visibility":"public"}`, status: 422, location: "body.title"},
	{name: "no title", body: `{"text":"X","visibility":"public"}`, status: 422, location: "body.title"},
	{name: "blank title", body: `{"title":" ","text":"X","visibility":"public"}`, status: 422, location: "body.title"},
	{
		name: "title of 201", body: `{"title":"` + strings.Repeat("é", 201) + `","text":"X","visibility":"public"}`,
		status: 422, location: "body.title",
	},
	{
		name: "title of 101 pairs", body: `{"title":"` + strings.Repeat("🚀", 101) + `","text":"X","visibility":"public"}`,
		status: 422, location: "body.title",
	},
	{
		name: "line break in title", body: `{"title":"a\nb","text":"X","visibility":"public"}`,
		status: 422, location: "body.title",
	},
	{name: "no text", body: `{"title":"T","visibility":"public"}`, status: 422, location: "body.text"},
	{
		name: "text of 3001", body: `{"title":"T","text":"` + strings.Repeat("x", 3001) + `","visibility":"public"}`,
		status: 422, location: "body.text",
	},
	{
		name: "U+0000 in text", body: `{"title":"T","text":"a\u0000","visibility":"public"}`,
		status: 422, location: "body.text",
	},
	{
		name: "unknown visibility", body: `{"title":"T","text":"X","visibility":"secret"}`, status: 422,
		location: "body.visibility",
	},
	{name: "unknown tag", body: draftWith(`"tags":["development","nosuch"]`), status: 422, location: "body.tags[1]"},
	{name: "ill-formed tag", body: draftWith(`"tags":["-x"]`), status: 422, location: "body.tags[0]"},
	{name: "duplicate tag", body: draftWith(`"tags":["text","Text"]`), status: 422, location: "body.tags[1]"},
	{
		name: "11 tags", body: draftWith(`"tags":["a","b","c","d","e","f","g","h","i","j","k"]`),
		status: 422, location: "body.tags",
	},
	{name: "tags of another type", body: draftWith(`"tags":"text"`), status: 422, location: "body.tags"},
	{name: "tag of another type", body: draftWith(`"tags":["text",7]`), status: 422, location: "body.tags[1]"},
}

var badPatch = []bad{
	{name: "null title", body: `{"title":null}`, status: 422, location: "body.title"},
	{name: "null text", body: `{"text":null}`, status: 422, location: "body.text"},
	{name: "null visibility", body: `{"visibility":null}`, status: 422, location: "body.visibility"},
	{name: "blank title", body: `{"title":""}`, status: 422, location: "body.title"},
	{name: "text of 3001", body: `{"text":"` + strings.Repeat("x", 3001) + `"}`, status: 422, location: "body.text"},
	{name: "unknown tag", body: `{"tags":["nosuch"]}`, status: 422, location: "body.tags[0]"},
	{name: "tags of another type", body: `{"tags":{}}`, status: 422, location: "body.tags"},
	{name: "unknown visibility", body: `{"visibility":"secret"}`, status: 422, location: "body.visibility"},
}

var badVote = []bad{
	{name: "no value", body: `{}`, status: 422, location: "body.value"},
	{name: "null", body: `{"value":null}`, status: 422, location: "body.value"},
	{name: "number", body: `{"value":1}`, status: 422, location: "body.value"},
	{name: "unknown", body: `{"value":"love"}`, status: 422, location: "body.value"},
}

var badReason = []bad{
	{name: "no reason", body: `{}`, status: 422, location: "body.reason"},
	{name: "blank", body: `{"reason":" "}`, status: 422, location: "body.reason"},
	{name: "long", body: `{"reason":"` + strings.Repeat("x", 501) + `"}`, status: 422, location: "body.reason"},
	{name: "control character", body: `{"reason":"a\u0007"}`, status: 422, location: "body.reason"},
}

var badTag = []bad{
	{name: "no name", body: `{}`, status: 422, location: "body.displayName"},
	{name: "blank name", body: `{"displayName":""}`, status: 422, location: "body.displayName"},
	{
		name: "long name", body: `{"displayName":"` + strings.Repeat("x", 61) + `"}`, status: 422,
		location: "body.displayName",
	},
	{name: "order too large", body: `{"displayName":"X","sortOrder":1000001}`, status: 422, location: "body.sortOrder"},
	{name: "fraction", body: `{"displayName":"X","sortOrder":1.5}`, status: 422, location: "body.sortOrder"},
	{name: "exponent", body: `{"displayName":"X","sortOrder":1e2}`, status: 422, location: "body"},
	{name: "active of another type", body: `{"displayName":"X","active":"yes"}`, status: 422, location: "body.active"},
}

func TestBadBodies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := w.admin().create("Victim")
	key := bad{name: "Idempotency-Key", body: draft("T"), status: 422, location: "header.Idempotency-Key"}
	routes := []struct {
		method, path string
		bad          [][]bad
	}{
		{http.MethodPost, "/prompts", [][]bad{badJSON, badDraft, {
			{
				key.name + " too long", key.body,
				[]string{"Idempotency-Key", strings.Repeat("k", 129)},
				key.status,
				key.location,
			},
			{key.name + " with a space", key.body, []string{"Idempotency-Key", "a b"}, key.status, key.location},
			{key.name + " not ASCII", key.body, []string{"Idempotency-Key", "é"}, key.status, key.location},
			{"merge patch", key.body, []string{"Content-Type", "application/merge-patch+json"}, 415, ""},
		}}},
		{http.MethodPut, "/prompts/" + p.ID, [][]bad{badJSON, badDraft, {
			{name: "no visibility", body: `{"title":"T","text":"X"}`, status: 422, location: "body.visibility"},
			{name: "If-Match of nothing", body: draft("T"), header: []string{"If-Match", "garbage"}, status: 412},
		}}},
		{http.MethodPatch, "/prompts/" + p.ID, [][]bad{badJSON, badPatch}},
		{http.MethodPut, "/prompts/" + p.ID + "/vote", [][]bad{badJSON, badVote}},
		{http.MethodPut, "/prompts/" + p.ID + "/hidden", [][]bad{badJSON, badReason}},
		{http.MethodPut, "/tags/newtag", [][]bad{badJSON, badTag}},
		{
			http.MethodPut, "/tags/-bad",
			[][]bad{{{name: "tag", body: `{"displayName":"X"}`, status: 422, location: "path.tag"}}},
		},
	}
	for _, route := range routes {
		for _, tests := range route.bad {
			for _, tt := range tests {
				t.Run(fmt.Sprintf("%s %s %s", route.method, strings.Replace(route.path, p.ID, "ID", 1), tt.name),
					func(t *testing.T) {
						t.Parallel()
						header := tt.header
						if !strings.Contains(strings.Join(header, " "), "If-Match") {
							header = append([]string{"If-Match", `"1-0-0-n"`}, header...)
						}
						got := w.on(t).admin().do(route.method, "/api/v1"+route.path, tt.body,
							header...).problem(tt.status)
						if tt.location != "" {
							require.Contains(t, got.locations(), tt.location)
						}
						if tt.status == 400 && tt.location != "" {
							require.Equal(t, "the body is not valid JSON", got.Detail)
						}
						require.Less(t, len(fmt.Sprint(got)), 4000)
					})
			}
		}
	}
	t.Cleanup(func() {
		require.Equal(t, p, w.admin().get("/api/v1/prompts/"+p.ID).is(200).prompt(), "nothing has changed")
	})
}

func TestBadQueries(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	page := []bad{
		{name: "limit=0", status: 422, location: "query.limit"},
		{name: "limit=101", status: 422, location: "query.limit"},
		{name: "limit=-1", status: 422, location: "query.limit"},
		{name: "limit=ten", status: 422, location: "query.limit"},
		{name: "limit=5&limit=6", status: 422, location: "query.limit"},
		{name: "limit=%zz", status: 422, location: "query.limit"},
		{name: "cursor=x", status: 400, location: "query.cursor"},
		{name: "cursor=AAAA", status: 400, location: "query.cursor"},
		{name: "cursor=" + strings.Repeat("A", 4000), status: 400, location: "query.cursor"},
	}
	filter := []bad{
		{name: "tag=-x", status: 422, location: "query.tag"},
		{name: "tag=text&tag=a%20b", status: 422, location: "query.tag"},
		{name: "tag=text,\xff", status: 422, location: "query.tag"},
		{name: "tag=text,%ff", status: 422, location: "query.tag"},
		{name: "tag=a,b,c,d,e,f,g,h,i,j,k", status: 422, location: "query.tag"},
		{name: "sort=sideways", status: 422, location: "query.sort"},
		{name: "q=\xff", status: 400, location: "query.q"},
		{name: "q=" + strings.Repeat("x", 201), status: 400, location: "query.q"},
	}
	routes := []struct {
		path string
		bad  [][]bad
	}{
		{"/prompts", [][]bad{page, filter, {{name: "sort=newest&sort=newest", status: 422, location: "query.sort"}}}},
		{"/me/prompts", [][]bad{page, filter, {
			{name: "visibility=secret", status: 422, location: "query.visibility"},
			{name: "deleted=maybe", status: 422, location: "query.deleted"},
		}}},
		{"/me/votes", [][]bad{page, {{name: "value=none", status: 422, location: "query.value"}}}},
		{"/moderation/hidden", [][]bad{page}},
		{"/tags", [][]bad{{{name: "all=maybe", status: 422, location: "query.all"}}}},
	}
	for _, route := range routes {
		for _, tests := range route.bad {
			for _, tt := range tests {
				t.Run(route.path+"?"+tt.name[:min(len(tt.name), 40)], func(t *testing.T) {
					t.Parallel()
					got := w.on(t).admin().get("/api/v1" + route.path + "?" + tt.name).problem(tt.status)
					if tt.location != "" {
						require.Contains(t, got.locations(), tt.location)
					}
				})
			}
		}
	}
}

// A number that no float64 holds is told from one that is no integer.
func TestNumbersThatAreTooLarge(t *testing.T) {
	t.Parallel()
	ann := newWorld(t).as("Ann")
	problem := ann.do(http.MethodPost, "/api/v1/prompts",
		`{"title":"T","text":"x","config":{"e":[1,1e400]}}`).problem(400)
	require.Equal(t, "write a number of at most 1.79e308 at body.config.e[1]", problem.Errors[0].Message)
	ann.do(http.MethodPost, "/api/v1/prompts", `{"title":"T","text":"x","config":{"e":[1,1e307]}}`).is(
		http.StatusCreated)
}

func TestHugeErrorsAreCut(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(`{"title":"T","text":"X"`)
	for i := range 9000 {
		fmt.Fprintf(&b, `,"member number %d":1`, i)
	}
	b.WriteString("}")
	a := newWorld(t).as("Ann").do(http.MethodPost, "/api/v1/prompts", b.String())
	require.Len(t, a.problem(422).Errors, 20)
	require.Less(t, len(a.body), 4000)
}

// largestBody is how many bytes a prompt with its files may take.
const largestBody = 12 << 20

func TestLargestBody(t *testing.T) {
	t.Parallel()
	body := draft("T")
	body += strings.Repeat(" ", largestBody-len(body))
	newWorld(t).as("Ann").do(http.MethodPost, "/api/v1/prompts", body).is(201)
}

// TestLongestNames: a user's id is a part of keys, where some characters take many.
func TestLongestNames(t *testing.T) {
	w := newWorld(t)
	var runes []rune
	for _, from := range []rune{0x20, 0x7f, 0x2000, 0xd7f0, 0xe000, 0xfdd0, 0xfff0} {
		for i := range rune(0x70) {
			runes = append(runes, from+i)
		}
	}
	created := 0
	for _, r := range runes {
		if r >= 0x10000 || !utf8.ValidRune(r) || r == 0x7f {
			continue
		}
		name := "a" + strings.Repeat(string(r), 98) + "b"
		a := w.as(name).do("POST", "/api/v1/prompts", `{"title":"t","text":"x","visibility":"private"}`)
		require.Contains(t, []int{201, 401}, a.status, "%+q: %s", r, a.body)
		if a.status == 201 {
			created++
		}
	}
	require.Greater(t, created, 500)
}
