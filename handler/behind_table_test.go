package main

import (
	"bufio"
	crand "crypto/rand"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/functiontest"
)

// A pair is one request as it is sent to the handler and through the host, and the rows of the
// table in docs/design.md that say how the answers differ.
type pair struct {
	// the first line without the protocol, then headers; CHANGE stands for a prompt of its own for
	// each way
	request string
	body    string
	rows    string // the row of other differences: "-" after it means an older host alone, "+" a newer one alone
}

// everywhere are the rows of differences that any answer may have, by kind.
var everywhere = map[string]string{
	"Server": "H1", "Content-Length": "H1", "Transfer-Encoding": "H1", "Connection": "H1",
	"Cache-Control": "H2", "Allow": "H3",
}

const me = "\nX-Dev-User: ann"

// pairs are the requests of the table. Each is answered alike both ways, but for its rows.
func pairs(id, other, recalled, collection, token string) []pair {
	p := promptsPath + "/" + id
	get := func(rows string, targets ...string) (all []pair) {
		for _, t := range targets {
			all = append(all, pair{"GET " + t + me, "", rows})
		}
		return all
	}
	json := "\nContent-Type: application/json"
	return slices.Concat(
		// an existing thing
		get("", "/", promptsPath, p, p+"/text", p+"/versions", p+"/versions/1", p+"/versions/1/diff/2", p+"/labels",
			p+"/labels/new/history", p+"/rank", p+"/vote",
			p+"/used-by", p+"/upstream", p+"/export", p+"/export?format=md", promptsPath+"/"+other, "/api/v1/tags",
			"/api/v1/me", "/api/v1/me/prompts", "/api/v1/me/favorites",
			"/api/v1/me/votes", "/api/v1/me/tokens", "/api/v1/me/profile", "/api/v1/me/export", "/api/v1/health",
			"/api/v1/ready", "/api/v1/docs", "/api/v1/openapi.json",
			"/app", "/app/prompts/"+id, "/app/prompts/new", "/app/tags", "/app/about", "/robots.txt",
			"/lf/api/public/v2/prompts", "/lf/api/public/v2/prompts/a%2Fnamed",
			"/lf/api/public/v2/prompts/nothing", "/ls/settings", "/ls/repos", "/.well-known/oauth-protected-resource",
			"/.well-known/nothing", "/api/v1/users/ann", "/api/v1/users/nobody-here"),
		[]pair{
			{"GET /marketplace/u/ann/marketplace.json" + token, "", ""},
			{"GET /marketplace/u/nobody-here/marketplace.json" + token, "", ""},
			{"GET /marketplace/me/marketplace.json" + token, "", ""},
			{"GET /marketplace/me/marketplace.json", "", ""},
			{"GET /marketplace/c/ann/" + collection + "/marketplace.json" + token, "", ""},
			{"GET /marketplace/c/ann/nothing/marketplace.json" + token, "", ""},
			{"GET /marketplace/packages/" + recalled + "/2/" + strings.Repeat("0", 64) + ".zip" + token, "", ""},
			{"GET /marketplace/packages/" + id + "/1/" + strings.Repeat("0", 64) + ".zip" + token, "", ""},
			{"GET /marketplace/packages/" + id + "/1/" + strings.Repeat("0", 64) + ".zip", "", ""},
			{"GET /git/u/ann.git/info/refs?service=git-upload-pack" + token + "\nGit-Protocol: version=2", "", ""},
			{"GET /git/u/nobody-here/info/refs?service=git-upload-pack" + token, "", ""},
			{"GET /git/me.git/info/refs?service=git-upload-pack", "", ""},
			{"GET /git/u/ann.git/info/refs?service=git-receive-pack" + token, "", ""},
			{
				"POST /git/u/ann.git/git-upload-pack" + token + "\nContent-Type: application/x-git-upload-pack-request",
				"0014command=ls-refs\n00010009peel\n0000", "",
			},
			{
				"POST /git/u/ann.git/git-upload-pack" + token + "\nContent-Type: application/x-git-upload-pack-request",
				"zzzz", "",
			},
			{"POST /git/u/ann.git/git-receive-pack" + token, "x", ""},
			{"GET " + promptsPath + "/" + recalled + "/text?version=2" + me, "", ""},
			{"GET " + promptsPath + "/" + recalled + "/text" + me, "", ""},
		},
		get("", "/api/v1/collections", "/api/v1/collections/ann/"+collection, "/api/v1/collections/ann/nothing",
			"/app/c/ann", "/app/c/ann/"+collection),
		// queries
		get("", promptsPath+"?q=text", promptsPath+"?q=%zz", promptsPath+"?q=100%", promptsPath+"?q=%FF",
			promptsPath+"?%FF=1", promptsPath+"?q=a+b%2Bc", promptsPath+"?q=gr%C3%BC%C3%9F",
			promptsPath+"?sort=&sort=newest", promptsPath+"?sort=newest&sort=newest", promptsPath+"?LIMIT=1&limit=2",
			promptsPath+"?LIMIT=1", promptsPath+"?limit=2&LIMIT=",
			promptsPath+"?tag=text&tag=text", promptsPath+"?tag=text,&tag=", promptsPath+"?limit=1;sort=best",
			promptsPath+"?limit", promptsPath+"?", promptsPath+"?&&limit=1",
			promptsPath+"?q=%00", promptsPath+"?q='%22()*!~", promptsPath+"?q=a%26b%3Dc%23d",
			promptsPath+"?cursor=damaged", promptsPath+"?unknown=1", promptsPath+"?q=[x]{y}|z",
			promptsPath+"?q=%C3%28", "/app?q=%zz&q=", "/app?%zz", "/lf/api/public/v2/prompts?name=%FF",
			"/lf/api/public/v2/prompts?limit=1&limit=2", "/ls/repos?limit=1&LIMIT=1"),
		// paths
		get("", promptsPath+"/nothing", promptsPath+"/%20a", promptsPath+"/a%2Fb", promptsPath+"/gr%C3%BC%C3%9F",
			promptsPath+"/"+strings.ToLower(id), "/app/nothing", "/app/x//y", "/app/x//", promptsPath+"/a/b/c/d"),
		get("", promptsPath+"/", promptsPath+"/"+id+"/", "/API/V1/PROMPTS/"+id, "/robots.txt/", "/App",
			promptsPath+"/a%3Fb", promptsPath+"/a%23b", promptsPath+"/%2541", promptsPath+"/%FF"),
		get("H4", "/nothing", "/api/v1/nothing", "/api/v1/prompts//x", "/app//x", "//", "/administrators"),
		get("H5", "/app/../api/v1/health", "/app/./about"),
		get("H5-", promptsPath+"/"+id+"%3Fb", "/app/prompts/"+id+"%20", promptsPath+"/"+id+`\text`,
			promptsPath+"/"+id+"%5Ctext"),
		get("H6", promptsPath+"/%00", promptsPath+"/gr\u00fc\u00df"),
		get("H7", promptsPath+"/%zz"),
		get("H7+", "/lf/api/public/v2/prompts/%E4"),
		// methods
		[]pair{
			{"HEAD " + p + me, "", ""},
			{"HEAD /app" + me, "", ""},
			{"OPTIONS " + p + me, "", "H4"},
			{"POST " + p + me + json, "{}", "H3-"},
			{"PUT /app" + me, "x", "H4"},
			{"POST /robots.txt" + me, "x", "H4"},
			{"POST /" + me, "x", "H8"},
			{"TRACE " + p + me, "", "H4"},
			{"POST /index-repairs" + me + json, `{"Data":{"m":"\"x\""}}`, "H4"},
			{"POST /app/..%5Cindex-repairs" + me + json, `{"Data":{"m":"\"x\""}}`, "H5-"},
		},
		// conditions, formats and other headers
		[]pair{
			{"GET " + p + me + "\nIf-None-Match: *", "", ""},
			{"GET " + p + me + "\nIf-None-Match: \"a\"\nIf-None-Match: *", "", ""},
			{"GET " + p + me + "\nAccept: application/json\nAccept: text/html", "", ""},
			{"GET " + p + me + "\nAccept-Encoding: gzip", "", ""},
			{"GET " + p + me + "\nRange: bytes=0-1", "", ""},
			{"GET " + p + me + "\nCookie: a=1\nCookie: b=2", "", ""},
			{"GET " + p + me + "\nUser-Agent: a\nUser-Agent: b", "", ""},
			{"GET " + p + me + "\nX-Azure-ClientIP: 203.0.113.7", "", ""},
			{"GET " + p + me + "\nTrue-Client-Ip: 203.0.113.7", "", ""},
			{"GET " + p + me + "\nX-Cluster-Client-Ip: 203.0.113.7", "", ""},
			{"GET " + p + me + "\nX-Forwarded-Port: 443", "", ""},
			{"GET " + p + me + "\nX-Forwarded-For: 203.0.113.7", "", "H10+"},
			{"GET " + p + me + "\nForwarded: for=203.0.113.7", "", "H10+"},
			{"GET " + p + me + "\nX-Forwarded-Host: elsewhere.example", "", "H10+"},
			{"GET " + p + "\nAuthorization: Bearer nonsense", "", ""},
			{"GET " + p, "", ""},
			{"GET " + promptsPath, "", ""},
			{"GET /api/v1/me", "", ""},
			{"GET " + p + me + "\nX-Azure-Functions-InvocationId: evil", "", ""},
			{"GET " + p + me + "\nOrigin: https://elsewhere.example", "", ""},
			// two of a header that must be there once, and the form in which the host sends them
			{"GET /api/v1/me\nX-Dev-User: ann\nX-Dev-User: bob", "", ""},
			{"GET /api/v1/me\nX-Dev-User: ann, bob", "", ""},
			{"GET /api/v1/me\nAuthorization: Bearer a\nAuthorization: Bearer b", "", ""},
			{"GET /api/v1/me\nX-Api-Key: a\nX-Api-Key: b", "", ""},
			{"GET " + p + me + "\nOrigin: https://a.example\nOrigin: https://b.example", "", ""},
			{
				"POST " + promptsPath + me + json + "\nIdempotency-Key: a\nIdempotency-Key: b",
				`{"title":"Made","text":"x","tags":["text"],"visibility":"public"}`, "",
			},
			{"GET /api/v1/me\nX-Dev-User: gr\u00fc\u00df", "", "H6"},
			{"GET /api/v1/me\nX-Dev-User: gr\xfc", "", "H6"},
			{"GET " + p + "\nX-Long: " + strings.Repeat("x", 40<<10), "", "H6"},
			{"GET " + promptsPath + "?q=" + strings.Repeat("x", 9000) + me, "", "H6"},
		},
		// changes
		[]pair{
			{
				"POST " + promptsPath + me + json,
				`{"title":"Made","text":"x","tags":["text"],"visibility":"public"}`, "",
			},
			{"POST " + promptsPath + me + json, `{"title":""}`, ""},
			{"POST " + promptsPath + me + json, `not JSON`, ""},
			{"POST " + promptsPath + me + "\nContent-Type: text/plain", `{}`, ""},
			{"POST " + promptsPath + me, `{"title":"Made","text":"x","tags":["text"],"visibility":"public"}`, ""},
			{"POST " + promptsPath + me + "\nContent-Type: nonsense", `{}`, "H6-"},
			{"POST " + promptsPath + me + json + json, `{}`, "H6"},
			{"POST " + promptsPath + me + json, "", ""},
			{
				"POST " + promptsPath + me + json + "\nTransfer-Encoding: chunked",
				`{"title":"Made","text":"x","tags":["text"],"visibility":"public"}`, "H9-",
			},
			{"POST " + promptsPath + me + json + "\nContent-Encoding: gzip", `{}`, ""},
			{
				"PUT CHANGE" + me + json + "\nIf-Match: *",
				`{"title":"Two","text":"y","tags":["text"],"visibility":"public"}`, "",
			},
			{
				"PUT CHANGE" + me + json + "\nIf-Match: \"1\"\nIf-Match: \"9\"",
				`{"title":"Two","text":"y","tags":["text"],"visibility":"public"}`, "",
			},
			{
				"PUT CHANGE" + me + json + "\nIf-Match: \"9\"",
				`{"title":"Two","text":"y","tags":["text"],"visibility":"public"}`, "",
			},
			{"PUT CHANGE" + me + json, `{"title":"Two","text":"y","tags":["text"],"visibility":"public"}`, ""},
			{"PUT CHANGE/vote" + me + json, `{"value":"like"}`, ""},
			{"PUT CHANGE/favorite" + me, "", ""},
			{"PUT CHANGE/labels/new" + me + json, `{"version":1}`, ""},
			{"POST CHANGE/fork" + me, "", ""},
			{"POST CHANGE/render" + me + json, `{}`, ""},
			{"POST CHANGE/versions/1/restore" + me + "\nIf-Match: *", "", ""},
			{"DELETE CHANGE" + me + "\nIf-Match: *", "", ""},
			{
				"POST /mcp" + me + json + "\nAccept: application/json, text/event-stream",
				`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "",
			},
			{"POST /mcp" + me + json, `{"jsonrpc":"2.0"}`, ""},
			{"POST /app/prompts/new" + me + "\nContent-Type: application/x-www-form-urlencoded", "title=x", ""},
		},
	)
}

// Every answer under the host is the one without it, and each difference stands in the table of
// docs/design.md.
func TestSameBehindTheHost(t *testing.T) {
	if testing.Short() {
		t.Skip("needs Azurite")
	}
	t.Setenv("OLDER_HOST", "") // it asks both
	documented := rowsOf(t)
	shown := map[string]bool{}
	for _, older := range []bool{true, false} {
		t.Run(map[bool]string{true: "older host", false: "host"}[older], func(t *testing.T) {
			for _, row := range differencesBehind(t, older, documented) {
				shown[row] = true
			}
		})
	}
	for _, row := range documented {
		require.True(t, shown[row], "row %s is in the table and no request shows it", row)
	}
}

// differencesBehind compares the answers through a host with the answers of the handler itself, and
// returns the rows of the differences.
func differencesBehind(t *testing.T, older bool, documented []string) []string {
	t.Helper()
	h := onAzurite(t, functiontest.Options{Older: older})
	ann := as(t, h, "ann")
	at := ann.made(2)
	ann.did("PUT", at+"/labels/new", `{"version":1}`)
	named := ann.did("POST", promptsPath,
		`{"title":"Named","name":"a/named","text":"x","tags":["text"],"visibility":"private"}`)["id"].(string)
	ann.did("PUT", "/api/v1/me/profile", `{"handle":"ann"}`)
	recalled := strings.TrimPrefix(ann.made(2), promptsPath+"/")
	ann.did("POST", promptsPath+"/"+recalled+"/versions/2/recall", `{"reason":"because"}`)
	collection := strings.ToLower(crand.Text()) // the store is that of other tests too
	ann.did("POST", "/api/v1/collections",
		fmt.Sprintf(`{"slug":%q,"visibility":"public","items":[%q]}`, collection, recalled))
	token := "\nAuthorization: Bearer " + ann.did("POST", "/api/v1/me/tokens",
		`{"name":"t","scopes":["read"]}`)["token"].(string)
	all := pairs(strings.TrimPrefix(at, promptsPath+"/"), named, recalled, collection, token)
	require.GreaterOrEqual(t, len(all), 100)
	seen := map[string]int{}
	for _, p := range all {
		p.rows = p.behind(older)
		direct, behind := p.asked(ann, h.Handler()), p.asked(ann, h.URL())
		var rows []string
		for _, what := range direct.differences(behind) {
			row, ok := everywhere[what]
			if !ok {
				row = p.rows
				if row == "" {
					t.Errorf("%.150q differs in %s:\n%s", p.request, what, direct.apart(behind))
					continue
				}
			}
			require.Contains(t, documented, row, "%.150q differs in %s", p.request, what)
			rows = append(rows, row)
		}
		for _, row := range slices.Compact(slices.Sorted(slices.Values(rows))) {
			seen[row]++
		}
		if p.rows != "" {
			assert.Contains(t, rows, p.rows, "%.150q does not differ: %d %.300s", p.request, behind.status, behind.body)
		}
	}
	t.Logf("older host: %t; %d requests; answers by row of a difference: %v", older, len(all), seen)
	return slices.Collect(maps.Keys(seen))
}

// The result is the row of the pair with an older host, or with a newer one.
func (p pair) behind(older bool) string {
	if row, ok := strings.CutSuffix(p.rows, "-"); ok {
		p.rows = map[bool]string{true: row}[older]
	}
	if row, ok := strings.CutSuffix(p.rows, "+"); ok {
		p.rows = map[bool]string{false: row}[older]
	}
	return p.rows
}

var row = regexp.MustCompile(`(?m)^\| (H\d+) \|`)

// rowsOf returns the rows of the table in docs/design.md.
func rowsOf(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../docs/design.md")
	require.NoError(t, err)
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		all = append(all, m[1])
	}
	return all
}

// An answered is the answer of one way, without the parts that differ for any two requests.
type answered struct {
	status int
	header http.Header
	body   string
}

// changing are ids and names of prompts that were made for a request, ids of requests, times, and
// keys of forms.
var changing = regexp.MustCompile(`0[0-9A-HJKMNP-TV-Z]{25}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|"requestId":"[^"]*"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z|nonce-[^']*|nonce="[^"]*"|name="key" value="[^"]*"|"(made|a-prompt)(-[0-9a-z]{6})?"`)

// asked sends the request as it stands.
func (p pair) asked(ann person, url string) answered {
	ann.Helper()
	request := p.request
	if before, after, ok := strings.Cut(request, "CHANGE"); ok {
		request = before + ann.made(1) + after
	}
	first, headers, _ := strings.Cut(request, "\n")
	method, target, _ := strings.Cut(first, " ")
	text := method + " " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\n"
	for line := range strings.SplitSeq(headers, "\n") {
		if line != "" {
			text += line + "\r\n"
		}
	}
	switch {
	case strings.Contains(headers, "chunked"):
		text += fmt.Sprintf("\r\n%x\r\n%s\r\n0\r\n\r\n", len(p.body), p.body)
	case p.body != "" || method == "POST":
		text += fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(p.body), p.body)
	default:
		text += "\r\n"
	}
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(ann, err)
	defer conn.Close()
	require.NoError(ann, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, text)
	require.NoError(ann, err)
	res, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	require.NoError(ann, err, "%.150q", p.request)
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	require.NoError(ann, err)
	if res.TransferEncoding != nil {
		res.Header["Transfer-Encoding"] = res.TransferEncoding
	}
	for _, name := range []string{"Date", "X-Request-Id"} {
		res.Header.Del(name)
	}
	if strings.Contains(p.request, "CHANGE") || method == "POST" {
		res.Header.Del("Etag") // of another prompt
	}
	for _, values := range res.Header {
		for i := range values {
			values[i] = changing.ReplaceAllString(values[i], "…")
		}
	}
	return answered{res.StatusCode, res.Header, changing.ReplaceAllString(string(body), "…")}
}

// apart returns where two answers begin to differ.
func (a answered) apart(b answered) string {
	n := 0
	for n < min(len(a.body), len(b.body)) && a.body[n] == b.body[n] {
		n++
	}
	around := func(s string) string { return s[max(0, n-80):min(len(s), n+80)] }
	return fmt.Sprintf("%d %v\n…%s…\n%d %v\n…%s…", a.status, a.header, around(a.body),
		b.status, b.header, around(b.body))
}

// differences returns what is different: "status", "body" or a header.
func (a answered) differences(b answered) (all []string) {
	if a.status != b.status {
		all = append(all, "status")
	}
	if a.body != b.body {
		all = append(all, "body")
	}
	for name := range a.header {
		if _, ok := b.header[name]; !ok {
			all = append(all, name)
		}
	}
	for name, values := range b.header {
		if !slices.Equal(values, a.header[name]) {
			all = append(all, name)
		}
	}
	return all
}
