package main

import (
	"archive/zip"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"prompthub/internal/testing/doubling"
)

// A hostile is what an attacker stores: motifs in turn, up to a size, in one of the shapes.
type hostile struct {
	Shape  string `json:"shape"`
	Motifs []int  `json:"motifs"` // places in doubling.Motifs
	Size   int    `json:"size"`   // bytes
}

const (
	longestText = 131072 // MAX_TEXT at its most
	longestBody = 6 * longestText
	longestFile = 4 << 20 // of an import
)

// shapes are the ways in which a text is stored. After "import", "raw" and "list" stands the end of
// a file's name.
var shapes = []string{
	"text", "title", "variables", "chat", "config", "includes",
	"import .md", "import .txt", "import .json", "import .jsonl", "import .csv", "import .yaml", "import .prompty",
	"import .prompt", "import .zip",
	"raw .md", "raw .json", "raw .jsonl", "raw .csv", "raw .yaml", "raw .prompty", "raw .prompt", "raw .zip",
	"list", "list .md", "list .json", "list .jsonl", "list .csv", "list .yaml", "list .zip",
}

// What a list holds that has more elements than any prompt, and the member that it is. The motif of
// a try says which.
var (
	listElements = []string{"{}", "[]", `""`, "0"}
	listMembers  = []string{
		"variables", "messages", "versions", "tags", "ownTags", "labels", "config",
		"prompt", "choices", "others",
	}
)

// list returns a list of n bytes as JSON, and the member that it is. That of choices and of a
// config stands deeper.
func (h hostile) list() (member string, list json.RawMessage) {
	element := listElements[h.Motifs[0]%len(listElements)]
	member = listMembers[h.Motifs[0]/len(listElements)%len(listMembers)]
	text := "[" + strings.Repeat(element+",", h.Size/(len(element)+1)) + element + "]"
	if member == "choices" {
		return "variables", json.RawMessage(`[{"name":"a","choices":` + text + "}]")
	}
	return member, json.RawMessage(text)
}

// listed puts the list into an object, if the shape has one.
func (h hostile) listed(o map[string]any) map[string]any {
	if strings.HasPrefix(h.Shape, "list") {
		member, list := h.list()
		o[member] = list
	}
	return o
}

func (h hostile) text() string {
	all := doubling.Motifs(true)
	var b strings.Builder
	for _, i := range h.Motifs {
		b.WriteString(all[i].Text(h.Size / len(h.Motifs)))
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// file returns the end of the name of the file that is imported; "" for other shapes.
func (h hostile) file() string {
	how, ext, _ := strings.Cut(h.Shape, " ")
	if how != "import" && how != "raw" && how != "list" {
		return ""
	}
	return ext
}

// first cuts a text to n bytes at most.
func first(text string, n int) string {
	return strings.ToValidUTF8(text[:min(n, len(text))], "")
}

func jsonOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: maps, lists and strings only
	}
	return string(b)
}

// draft returns the body that makes a prompt.
func (h hostile) draft(name string) string {
	text := h.text()
	d := map[string]any{
		"title": "Hostile", "text": text, "visibility": "public", "name": name,
		"labels": []string{"production"},
	}
	switch h.Shape {
	case "title":
		d["title"], d["description"], d["message"] = cmp.Or(strings.TrimSpace(first(text, 200)), "x"),
			first(text, 1000), first(text, 500)
	case "variables":
		var all []any
		for i := range 100 {
			part := first(text[min(len(text), i*len(text)/100):], 2000)
			all = append(all, map[string]any{
				"name": fmt.Sprintf("v%d", i), "default": part,
				"description": first(part, 1000), "label": first(part, 100),
			})
		}
		d["text"], d["variables"] = strings.Repeat("{{v1}}{{v99}}", len(text)/13+1), all
	case "chat":
		var all []any
		for i := range min(200, len(text)) {
			all = append(all, map[string]any{
				"role":    []string{"user", "assistant"}[i%2],
				"content": strings.ToValidUTF8(text[i*len(text)/200:(i+1)*len(text)/200], "") + ".",
			})
		}
		d["kind"], d["messages"] = "chat", all
		delete(d, "text")
	case "config":
		var deep any = first(text, 60000)
		for range 90 {
			deep = []any{deep}
		}
		d["config"], d["text"] = map[string]any{"a": deep}, first(text, 1000)
	case "includes":
		var b strings.Builder
		for i := range included20 {
			fmt.Fprintf(&b, "@@@langfusePrompt:name=%s|version=1@@@\n", includedName(name, i))
		}
		d["text"] = b.String()
	case "list":
		d["text"] = "x"
	}
	return jsonOf(h.listed(d))
}

const included20 = 20 // as many as one prompt may include

func includedName(name string, i int) string { return fmt.Sprintf("%s-part%d", name, i) }

// upload returns a file to import, or to say so of, with the text.
func (h hostile) upload(ext string) string {
	text := h.text()
	if strings.HasPrefix(h.Shape, "raw ") {
		if ext != ".zip" {
			return text
		}
		return zipped(func(add func(string, string)) { add("a.md", text); add("b.yaml", text); add("c.json", text) })
	}
	if strings.HasPrefix(h.Shape, "list ") {
		return h.listFile(ext)
	}
	entry := func(i int) map[string]any {
		return map[string]any{
			"title": fmt.Sprint("Entry ", i), "name": fmt.Sprint("entry-", i),
			"text": first(text, 4000),
		}
	}
	n := max(1, len(text)/4000)
	switch ext {
	case ".json":
		var all []any
		for i := range n {
			all = append(all, entry(i))
		}
		return jsonOf(all)
	case ".jsonl":
		var b strings.Builder
		for i := range n {
			b.WriteString(jsonOf(entry(i)) + "\n")
		}
		return b.String()
	case ".csv":
		var b strings.Builder
		b.WriteString("act,prompt\n")
		for i := range n {
			fmt.Fprintf(&b, "Entry %d,\"%s\"\n", i, strings.ReplaceAll(first(text, 4000), `"`, `""`))
		}
		return b.String()
	case ".yaml":
		return "name: hostile\ndescription: x\nmessages:\n  - role: user\n    content: " + jsonOf(text) + "\n"
	case ".zip":
		return zipped(func(add func(string, string)) {
			for i := range n {
				add(fmt.Sprintf("e%d.md", i), "---\nname: e"+fmt.Sprint(i)+"\n---\n"+first(text, 4000))
			}
		})
	}
	return "---\nname: hostile\ndescription: x\n---\n" + text
}

// listFile returns a file with the list: a prompt, or part of one.
func (h hostile) listFile(ext string) string {
	_, list := h.list()
	one := jsonOf(h.listed(map[string]any{"title": "List", "name": "list", "text": "x"}))
	switch ext {
	case ".csv":
		separators := strings.Repeat(",", h.Size)
		if h.Motifs[0]%2 == 0 {
			return "act,prompt" + separators + "\n"
		}
		return "act,prompt\na,b" + separators + "\n"
	case ".json":
		if h.Motifs[0]%2 == 0 {
			return string(list)
		}
	case ".yaml":
		return "name: list\nlist: " + string(list) + "\n"
	case ".zip":
		return zipped(func(add func(string, string)) {
			for i := range 4 {
				add(fmt.Sprintf("l%d.json", i), one)
			}
			pad := make([]byte, 4*len(one)/40)           // an archive may unpack to 50 times its size
			_, _ = rand.NewChaCha8([32]byte{}).Read(pad) // cannot fail
			add("pad.bin", string(pad))
		})
	case ".jsonl":
	default:
		return "---\nlist: " + string(list) + "\n---\nx"
	}
	return one + "\n"
}

func zipped(fill func(add func(name, text string))) string {
	var b strings.Builder
	z := zip.NewWriter(&b)
	fill(func(name, text string) {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, text)
		}
		if err != nil {
			panic(err) // unreachable: a builder takes everything
		}
	})
	if err := z.Close(); err != nil {
		panic(err) // likewise
	}
	return b.String()
}

// body is what an operation of the API takes, by the schema that the document names, and another
// door by a name of its own.
func (h hostile) body(schema, name string) string {
	text := h.text()
	switch schema {
	case "NewPrompt", "PromptDraft":
		return h.draft(name)
	case "PromptPatch":
		return jsonOf(h.listed(map[string]any{"text": doubling.Turned(text)}))
	case "Filling":
		values := map[string]any{"a": first(text, 2000)}
		for i := range 100 {
			values[fmt.Sprint("v", i)] = first(text, 2000)
		}
		return jsonOf(map[string]any{"values": h.listed(values)})
	case "Unfinished":
		return jsonOf(h.listed(map[string]any{"title": first(text, 200), "text": text}))
	case "LabelTarget":
		return `{"version":1}`
	case "Vote":
		return `{"value":"like"}`
	case "NewToken":
		return jsonOf(map[string]any{
			"name":   cmp.Or(strings.TrimSpace(first(text, 40)), "x"),
			"scopes": []string{"read"},
		})
	case "Profile":
		return jsonOf(map[string]any{"handle": attackerHandle, "about": first(text, 900)})
	case "TagEntry":
		return jsonOf(map[string]any{"displayName": first(text, 40)})
	case "Reason":
		return jsonOf(map[string]any{"reason": first(text, 400)})
	case "source": // a file that is kept, of one prompt
		source := map[string]any{
			"format": "dotprompt", "file": "a.prompt",
			"data": base64.StdEncoding.EncodeToString([]byte(text)),
		}
		if strings.HasPrefix(h.Shape, "list") {
			source = map[string]any{
				"format": "jsonl", "file": "a.jsonl",
				"data": base64.StdEncoding.EncodeToString([]byte(h.listFile(".jsonl"))),
			}
			text = "x"
		}
		return jsonOf(map[string]any{"title": "Kept", "text": text, "source": source})
	case "langfuse":
		return jsonOf(h.listed(map[string]any{"name": "lf-" + name, "prompt": text, "labels": []string{"production"}}))
	case "manifest":
		return jsonOf(map[string]any{"manifest": map[string]any{
			"lc": 1, "type": "constructor", "id": []string{"langchain_core", "prompts", "prompt", "PromptTemplate"},
			"kwargs": h.listed(map[string]any{
				"template": text, "template_format": "f-string",
				"input_variables": []string{},
			}),
		}})
	}
	if does, ok := strings.CutPrefix(schema, "form"); ok {
		return url.Values{
			"title": {cmp.Or(first(text, 200), "x")}, "text": {text}, "visibility": {"public"},
			"config":   {`"` + first(text, 100) + `"`},
			"revision": {"1"}, "do": {strings.TrimSpace(does)},
		}.Encode()
	}
	if tool, ok := strings.CutPrefix(schema, "mcp "); ok {
		return h.message(tool, name)
	}
	return ""
}

// message is one of the Model Context Protocol.
func (h hostile) message(tool, name string) string {
	text := h.text()
	method := "tools/call"
	var params any
	call := func(arguments map[string]any) any {
		return map[string]any{"name": tool, "arguments": h.listed(arguments)}
	}
	switch tool {
	case "search_prompts":
		params = call(map[string]any{"query": first(text, 200)})
	case "get_prompt", "render_prompt":
		params = call(map[string]any{"prompt": name, "id": name, "name": name})
	case "suggest":
		params = call(map[string]any{"title": first(text, 200), "text": text})
	case "save_prompt":
		params = call(map[string]any{"title": "Saved", "text": text})
	case "prompts/get":
		method, params = tool, map[string]any{"name": name}
	default:
		method, params = tool, map[string]any{}
	}
	return jsonOf(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

// A route is one way to ask. Its path holds {id} and the like, and what the body is made of.
type route struct {
	method, path string
	schema       string // of body
	ext          string // of an import
}

func (r route) String() string {
	return strings.TrimSpace(r.method + " " + r.path + " " + r.schema + r.ext)
}

func (r route) last() bool { return r.method == http.MethodDelete }

// otherRoutes are those that the OpenAPI document does not have.
func otherRoutes() []route {
	var all []route
	for _, path := range strings.Fields(`
/app /app?q={q} /app?q={q}&sort=most-liked&tag={tag} /app/tags /app/mine /app/mine?q={q} /app/votes /app/favorites /app/u/{handle} /app/me /app/me/tokens /app/import
/app/prompts/new /app/prompts/{id} /app/prompts/{id}/fill?a={q} /app/prompts/{id}?var.a={q} /app/prompts/{id}/edit /app/prompts/{id}/image.png /app/prompts/{id}/versions
/app/prompts/{id}/versions/1 /app/prompts/{id}/compare?from=1&to=2 /app/prompts/{id}/labels /app/prompts/{id}/upstream /app/prompts/{id}/export?format=skill /app/feed.atom
/app/u/{handle}/feed.atom /app/sitemap.xml /robots.txt /app/signin /app/admin/tags /app/admin/hidden /app/admin /app/admin/users /app/admin/tokens
/.well-known/agent-skills/index.json /u/{handle}/.well-known/agent-skills/index.json /.well-known/agent-skills/{id}/SKILL.md /marketplace/u/{handle}/marketplace.json
/lf/api/public/v2/prompts /lf/api/public/v2/prompts?name={name} /lf/api/public/v2/prompts/{name} /lf/api/public/v2/prompts/{name}?version=1 /lf/api/public/prompts?name={name}
/ls/settings /ls/repos?limit=100&query={q} /ls/repos/-/{name} /ls/commits/-/{name} /ls/commits/-/{name}/latest /ls/commits/-/{name}/00000001`) {
		all = append(all, route{method: http.MethodGet, path: path})
	}
	post := func(path, schema string) {
		all = append(all, route{method: http.MethodPost, path: path, schema: schema})
	}
	for _, tool := range []string{
		"search_prompts", "get_prompt", "render_prompt", "suggest", "save_prompt",
		"prompts/get", "prompts/list", "skills/list", "resources/list",
	} {
		post("/mcp", "mcp "+tool)
	}
	for _, form := range []string{"form", "form similar", "form suggest"} {
		post("/app/prompts/new", form)
		post("/app/prompts/{id}/edit", form)
	}
	post("/lf/api/public/v2/prompts", "langfuse")
	post("/ls/commits/-/{name}", "manifest")
	post("/prompts", "source")
	for _, ext := range []string{".md", ".txt", ".json", ".jsonl", ".csv", ".yaml", ".prompty", ".prompt", ".zip"} {
		all = append(all, route{http.MethodPost, "/import?dryRun=true&file=x" + ext, "", ext},
			route{http.MethodPost, "/import?update=true&file=x" + ext, "", ext})
	}
	return all
}

// documented returns the routes of an OpenAPI document, each as it is and with each query
// parameter. An account is not erased: nothing could be asked afterwards.
func documented(document []byte) ([]route, error) {
	var d struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name, In string
				Required bool
				Schema   struct{ Enum []any }
			}
			RequestBody struct {
				Content map[string]struct {
					Schema struct {
						Ref string `json:"$ref"`
					}
				}
			}
		}
	}
	if err := json.Unmarshal(document, &d); err != nil {
		return nil, err
	}
	var all []route
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range slices.Sorted(maps.Keys(d.Paths[path])) {
			o := d.Paths[path][method]
			if path == "/import" || path == "/me" && method == "delete" {
				continue
			}
			r := route{method: strings.ToUpper(method), path: path}
			for _, c := range o.RequestBody.Content {
				r.schema = c.Schema.Ref[strings.LastIndex(c.Schema.Ref, "/")+1:]
			}
			needed := "?"
			for _, p := range o.Parameters {
				if p.In == "query" && p.Required && p.Schema.Enum != nil {
					needed += fmt.Sprintf("%s=%v&", p.Name, p.Schema.Enum[0])
				}
			}
			r.path = path + strings.TrimRight(needed, "?&")
			all = append(all, r)
			for _, p := range o.Parameters {
				if p.In != "query" {
					continue
				}
				values := p.Schema.Enum
				if values == nil {
					values = []any{cmp.Or(map[string]string{
						"limit": "100", "version": "1", "label": "latest",
						"fields": "text", "tag": "{tag}", "cursor": "{q}", "name": "{name}",
					}[p.Name], "{q}")}
				}
				for _, v := range values {
					q := needed
					if p.Required {
						q = "?"
					}
					r.path = fmt.Sprintf("%s%s%s=%v", path, q, strings.Replace(p.Name, "NAME", "a", 1), v)
					all = append(all, r)
				}
			}
		}
	}
	return all, nil
}
