// Package langfusetest is a stand-in for Langfuse in tests, written from the definition of its API:
// prompts and skills with versions and labels, lists in pages, keys, and refusals for a while.
package langfusetest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Key is the one that the service takes.
const Key = "pk-lf-public:sk-lf-secret"

// A Version is one of a prompt, or of a skill if it has files.
type Version struct {
	Number int
	Prompt any // a text, or messages
	Config any
	Labels []string
	Reason string
	Files  map[string]string // of a skill, by their paths
}

// A Message is one of a chat.
type Message struct {
	Type    string `json:"type,omitempty"`
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
	Name    string `json:"name,omitempty"`
}

// A Prompt has versions.
type Prompt struct {
	Tags     []string
	Versions []Version
}

// A Project is what the service has. Its members may be changed in Change, and before Start.
type Project struct {
	Prompts, Skills map[string]*Prompt
	MostOnPage      int  // entries of a page; 0 for as many as a request asks for
	OneLibrary      bool // a prompt and a skill of one name are one, as in the door of PromptHub
	ByID            bool // contents of files are had by their ids and not by their digests

	// Before is asked before a request is answered, if it is not nil: a status that is not 0 is the
	// answer. It may change the project.
	Before func(p *Project, r *http.Request) (status int)
	// Answer writes an answer in place of the service, if it is not nil and reports that it did
	Answer func(w http.ResponseWriter, r *http.Request) bool

	mu            sync.Mutex
	running, most int
	asked         []string
}

// Start serves the project during a test, and returns its address.
func (p *Project) Start(t testing.TB) string {
	t.Helper()
	s := httptest.NewServer(p)
	t.Cleanup(s.Close)
	return s.URL
}

// Change changes the project between requests.
func (p *Project) Change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
}

// Asked returns the requests so far, and forgets them.
func (p *Project) Asked() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	defer func() { p.asked = nil }()
	return p.asked
}

// Most returns how many requests were on their way at once.
func (p *Project) Most() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// ServeHTTP answers a request.
func (p *Project) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.enter(r)
	defer p.leave()
	if p.Answer != nil && p.Answer(w, r) {
		return
	}
	status, body := p.answer(r)
	w.Header().Set("Content-Type", "application/json")
	if status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "0")
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

func (p *Project) enter(r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked = append(p.asked, r.URL.RequestURI())
	p.running++
	p.most = max(p.most, p.running)
}

func (p *Project) leave() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running--
}

type object = map[string]any

func refusal(status int, message string) (int, any) {
	return status, object{"message": message, "error": http.StatusText(status)}
}

func (p *Project) answer(r *http.Request) (int, any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.Before != nil {
		if status := p.Before(p, r); status != 0 {
			return refusal(status, "rate limit exceeded, or something else")
		}
	}
	user, pass, _ := r.BasicAuth()
	if user+":"+pass != Key {
		return refusal(http.StatusUnauthorized, "Invalid credentials. Confirm that you've configured the correct host.")
	}
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), "/api/public/")
	if !ok || r.Method != http.MethodGet {
		return refusal(http.StatusNotFound, "no such route")
	}
	q := r.URL.Query()
	if path == "v2/prompts" {
		return p.list(p.Prompts, q, metaOf)
	}
	if path == "unstable/skills" && p.Skills != nil {
		return p.list(p.Skills, q, skillMetaOf)
	}
	if name, ok := strings.CutPrefix(path, "v2/prompts/"); ok {
		return p.version(p.Prompts, name, q)
	}
	if file, ok := strings.CutPrefix(path, "unstable/skills/files/"); ok && p.Skills != nil {
		return p.content(file, q)
	}
	if name, ok := strings.CutPrefix(path, "unstable/skills/"); ok && p.Skills != nil {
		return p.version(p.Skills, name, q)
	}
	return refusal(http.StatusNotFound, "no such route")
}

func (p *Project) list(of map[string]*Prompt, q url.Values, meta func(string, *Prompt) object) (int, any) {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		if is := q.Get("name"); (is == "" || is == name) && len(of[name].Versions) > 0 {
			names = append(names, name)
		}
	}
	page, _ := strconv.Atoi(cmp.Or(q.Get("page"), "1"))
	limit, _ := strconv.Atoi(cmp.Or(q.Get("limit"), "10"))
	if page < 1 || limit < 1 || limit > 100 {
		return refusal(http.StatusBadRequest, "Invalid request data")
	}
	if p.MostOnPage > 0 {
		limit = min(limit, p.MostOnPage)
	}
	from := min((page-1)*limit, len(names))
	data := []object{}
	for _, name := range names[from:min(from+limit, len(names))] {
		data = append(data, meta(name, of[name]))
	}
	of2 := object{
		"page": page, "limit": limit, "totalItems": len(names),
		"totalPages": (len(names) + limit - 1) / limit,
	}
	return http.StatusOK, object{"data": data, "meta": of2, "pagination": of2}
}

func (p *Prompt) latest() (v Version) {
	for _, each := range p.Versions {
		if each.Number > v.Number {
			v = each
		}
	}
	return v
}

func metaOf(name string, p *Prompt) object {
	var numbers []int
	labels := []string{"latest"}
	for _, v := range p.Versions {
		numbers, labels = append(numbers, v.Number), append(labels, v.Labels...)
	}
	return object{
		"name": name, "type": typeOf(p.latest()), "versions": numbers, "labels": labels,
		"tags":          append([]string{}, p.Tags...),
		"lastUpdatedAt": madeAt(p.latest().Number), "lastConfig": p.latest().Config,
	}
}

func skillMetaOf(name string, p *Prompt) object {
	meta := object{
		"name": name, "description": "", "tags": append([]string{}, p.Tags...), "latestVersion": p.latest().Number,
		"latestVersionCreatedAt": madeAt(1), "latestVersionLastUpdatedAt": madeAt(1), "productionVersion": nil,
	}
	for _, v := range p.Versions {
		if slices.Contains(v.Labels, "production") {
			meta["productionVersion"] = v.Number
		}
	}
	return meta
}

func typeOf(v Version) string {
	if _, isText := v.Prompt.(string); isText {
		return "text"
	}
	return "chat"
}

// madeAt returns when a version was made.
func madeAt(n int) string {
	return time.Date(2025, 1, 1, 0, 0, 0, 5_000_000, time.UTC).AddDate(0, 0, n).Format("2006-01-02T15:04:05.000Z")
}

func (p *Project) version(of map[string]*Prompt, escaped string, q url.Values) (int, any) {
	name, err := url.PathUnescape(escaped)
	is := of[name]
	if err != nil || is == nil || strings.Contains(escaped, "/") {
		return refusal(http.StatusNotFound, fmt.Sprintf("Prompt not found: '%s'", name))
	}
	for _, v := range is.Versions {
		if strconv.Itoa(v.Number) != q.Get("version") {
			continue
		}
		labels := append([]string{}, v.Labels...)
		if v.Number == is.latest().Number {
			labels = append(labels, "latest")
		}
		o := object{
			"id": fmt.Sprint(name, "-", v.Number), "createdAt": madeAt(v.Number), "updatedAt": madeAt(v.Number + 1),
			"projectId": "p1", "createdBy": "user-" + name,
			"name": name, "version": v.Number, "labels": labels, "tags": append([]string{}, is.Tags...),
			"commitMessage": nil,
		}
		if v.Reason != "" {
			o["commitMessage"] = v.Reason
		}
		if v.Files != nil {
			var files []object
			for _, path := range slices.Sorted(maps.Keys(v.Files)) {
				files = append(files, object{
					"id": fileID(v.Files[path]), "path": path, "blobId": "b", "sha256Hash": digest(v.Files[path]),
					"contentType": "text/plain", "contentLength": len(v.Files[path]),
				})
			}
			if !p.OneLibrary {
				o["id"] = fmt.Sprint("skill-", o["id"])
			}
			o["files"], o["frontmatter"], o["description"] = files, object{}, ""
			return http.StatusOK, o
		}
		if q.Get("resolve") != "false" {
			return refusal(http.StatusConflict, "this stand-in resolves nothing")
		}
		o["type"], o["prompt"], o["config"], o["isActive"], o["resolutionGraph"] = typeOf(v), v.Prompt, v.Config,
			slices.Contains(v.Labels, "production"), nil
		if v.Config == nil {
			o["config"] = object{}
		}
		return http.StatusOK, o
	}
	return refusal(http.StatusNotFound, fmt.Sprintf("Prompt not found: '%s' with version %s", name, q.Get("version")))
}

func digest(content string) string {
	sum := sha256.Sum256([]byte(content))
	return base64.StdEncoding.EncodeToString(sum[:])
}

func fileID(content string) string {
	return "file-" + strings.NewReplacer("/", "_", "+", "-", "=", "").Replace(digest(content))
}

func (p *Project) content(file string, q url.Values) (int, any) {
	for _, s := range p.Skills {
		for _, v := range s.Versions {
			for _, content := range v.Files {
				if p.ByID && file == fileID(content)+"/content" {
					return http.StatusOK, object{"content": content}
				}
				if !p.ByID && file == "content" && q.Get("sha256Hashes") == digest(content) {
					return http.StatusOK, object{"data": []object{{"sha256Hash": digest(content), "content": content}}}
				}
			}
		}
	}
	return refusal(http.StatusNotFound, "no such file")
}

// Sample returns a project with a prompt of every kind.
func Sample() *Project {
	skillFile := func(text string) string {
		return "---\nname: fill-forms\ndescription: Fills forms. Use for PDF.\nlicense: MIT\n---\n\n" + text + "\n"
	}
	return &Project{
		Prompts: map[string]*Prompt{
			// includes one that comes later in the list
			"a/parent": {Tags: []string{"billing", "Own tag"}, Versions: []Version{
				{Number: 1, Prompt: "Be brief.\n@@@langfusePrompt:name=z child|label=production@@@", Reason: "first"},
				{
					Number: 2, Prompt: "Be very brief.\n@@@langfusePrompt:name=z child|version=2@@@",
					Labels: []string{"production"},
				},
			}},
			"z child": {Versions: []Version{
				{Number: 1, Prompt: "Say {{what}}.", Labels: []string{"old"}},
				{
					Number: 2, Prompt: "Say {{what}}!", Labels: []string{"production", "staging"},
					Config: map[string]any{"model": "small", "temperature": 0.5}, Reason: "louder",
				},
			}},
			// numbers with gaps, a first one too; the same twice
			"gaps": {Versions: []Version{
				{Number: 3, Prompt: "three"},
				{Number: 4, Prompt: "three"},
				{Number: 7, Prompt: "seven", Labels: []string{"production"}, Reason: "why\nin two lines"},
				{Number: 8, Prompt: "eight"},
			}},
			"chat/überall": {Tags: []string{"chat"}, Versions: []Version{
				{Number: 1, Prompt: []Message{
					{Role: "system", Content: "You are {{who}}."},
					{Type: "placeholder", Name: "history"},
					{Type: "chatmessage", Role: "user", Content: "<b>Hi</b> \u2028 & so on"},
				}, Config: []any{1, "two"}},
				{Number: 2, Prompt: []Message{{Role: "user", Content: "Hello"}}, Labels: []string{"production"}},
			}},
		},
		Skills: map[string]*Prompt{
			"fill-forms": {Tags: []string{"pdf"}, Versions: []Version{
				{
					Number: 1, Labels: []string{"first"},
					Files: map[string]string{
						"SKILL.md":        skillFile("Run scripts/fill.py."),
						"scripts/fill.py": "#!/usr/bin/env python3\n", "empty": "",
					},
				},
				{
					Number: 3, Labels: []string{"production"}, Reason: "more",
					Files: map[string]string{
						"SKILL.md":        skillFile("Run it."),
						"scripts/fill.py": "#!/usr/bin/env python3\n", "docs/ä/b.md": "# B\n",
					},
				},
			}},
		},
	}
}
