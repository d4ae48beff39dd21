package web

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/doors/web/markdown"
	"prompthub/internal/prompthub/doors/web/theme"
	"prompthub/internal/prompthub/prompt"
)

//go:embed templates static
var files embed.FS

// newStatic returns the files that pages load. The colours go before every style sheet.
func newStatic() *pages.Static {
	return pages.NewStatic(Prefix+"/static/", files, func(name string, body []byte) []byte {
		if path.Ext(name) == ".css" {
			return append([]byte(theme.Colours), body...)
		}
		return body
	})
}

// A page is what the frame around every page shows.
type page struct {
	Name   string // of the template
	Title  string
	User   auth.User
	SignIn string // how: "platform", "dev", "provider" or ""
	Here   string // where signing in leads back to
	Done   string // what the form that led here did
	Undo   *undo  // how to take that back, nil where it cannot be
	Head   head
	Body   any
}

// Admins reports whether the page is one of those for admins.
func (p page) Admins() bool { return strings.HasPrefix(p.Name, "admin") }

// Teams reports whether the page is one of those for workspaces.
func (p page) Teams() bool { return strings.HasPrefix(p.Name, "workspace") }

// A head is what a page says of itself to programs: to readers of feeds, and to those that show
// where a link leads. The zero head says nothing.
type head struct {
	Feeds       []feedLink
	Title       string // of a prompt that everyone may read
	Description string
	URL         string
	Image       string
}

// A feedLink is a feed of the prompts of a page.
type feedLink struct{ Type, Link string }

// A headed is the body of a page that has something to say in its head.
type headed interface {
	// head returns what to say, with URLs of a service at an origin.
	head(origin string) head
}

// parse reads the templates: a set for each page, with the frame and the parts that pages share.
func (s *web) parse() map[string]*template.Template {
	functions := template.FuncMap{
		"asset": s.static.Address, "exact": markdown.Exact,
		"age": func(t time.Time) string { return age(s.Now().Sub(t)) }, "stamp": stamp, "day": day,
		"number": number, "thousands": thousands, "author": s.authorAddress, "owner": s.ownerAddress,
		"prefix":   func() string { return Prefix },
		"sentence": pages.Sentence, "size": size, "join": strings.Join,
		"madelink": func(title, link string) madeLink { return madeLink{title, link} },
	}
	return pages.Templates(files, functions)
}

// done says what a form did that led to a page, by the word in its address.
var done = map[string]string{
	"created": "The prompt is saved.", "saved": "Your changes are saved.", "restored": "The prompt is restored.",
	"renamed": "The prompt is restored under another name: another prompt of yours has taken the one it had.",
	"deleted": "The prompt is deleted. You can restore it here for 30 days.",
	"public":  "The prompt is public now.", "private": "The prompt is private now: only you see it.",
	"still-hidden": "The prompt is public now, but a moderator has hidden it: only you see it until it is shown again.",
	"hidden":       "The prompt is hidden.", "unhidden": "The prompt is shown again.", "tag": "The tag is saved.",
	"tags":            "The tags are saved.",
	"version":         "The prompt has the content of that version now, in a new one.",
	"same":            "The content of the prompt stays as it is: no new version was needed.",
	"released":        "Programs and assistants get this version now.",
	"unreleased":      "Programs and assistants get what they got before.",
	"recalled":        "The version is recalled: programs get another one, or none.",
	"reinstated":      "The recall is taken back.",
	"version-deleted": "The version is deleted.", "label": "The label is changed.",
	"examples":      "You have 30 example prompts now. Open one and fill in its values.",
	"examples-gone": "The example prompts are deleted.",
	"forked":        "This is your copy now. Only you see it.", "merged": "The changes are merged, in a new version.",
	"erase": "Your account will be erased in 30 days. Until then nothing changes.", "keep": "Your account stays.",
	"profile": "Your profile is saved.", "revoked": "The token is revoked. Within ten seconds it lets nobody in.",
	"workspace":          "The workspace is there. Add its members, or write its first prompt.",
	"workspace-saved":    "The workspace is saved.",
	"copied":             "The copy is there, private. The prompt itself stays as it is.",
	"copied-but":         "The copy is there, private, but for the labels that a rule of the workspace keeps for proposals.",
	"copied-part":        "The first versions are copied. Copy the same prompt again to go on.",
	"workspace-deleted":  "The workspace is deleted. You can restore it for 30 days.",
	"workspace-restored": "The workspace is restored.",
	"member":             "The member has this role now.",
	"member-removed":     "They are no member any more. Within ten seconds nothing lets them in.",
	"proposed":           "The version is proposed. Its label moves once enough publishers approve it.",
	"proposed-again":     "The proposal is for this version now, without the reviews before.",
	"review-approve":     "Your approval is kept.", "review-changes": "You asked for changes.",
	"review-comment":     "Your comment is kept.",
	"approved":           "That was the last approval: the label is on this version now.",
	"proposal-withdrawn": "The proposal is withdrawn.",
	"proposal-rejected":  "The proposal is rejected.",
	"rules":              "The rules are saved. They count everywhere within ten seconds.",
	"joined":             "You are in.", "withdrawn": "The invitation is withdrawn. Its link leads nowhere.",
	"password":         "The new password is set. Sign in with it.",
	"password-changed": "You have a new password. You are signed out everywhere else; your access tokens stay.",
	"file-saved":       "The file is saved, in a new version.",
	"file-removed":     "The file is removed, in a new version.",
	"files-saved":      "The files are saved, in a new version.",
	"files-part":       "The files are saved, in a new version, without those that systems and git put into folders.",
	"created-part":     "The prompt is saved, without the files that systems and git put into folders.",
	"collection":       "The collection is there. Add skills to it.", "collection-saved": "The collection is saved.",
	"collection-deleted": "The collection is deleted. Its skills stay.", "collected": "The skill is in the collection.",
	"left": "You are no member of it any more.",
}

// doneWith says what a form did that led to the page of a body.
func doneWith(body any, what string) string {
	p, ok := body.(promptPage)
	switch {
	case !ok || p.Team == nil:
	case what == string(prompt.Private):
		return "The prompt is private now: only members of the workspace see it."
	case what == "still-hidden":
		return "The prompt is public now, but a moderator has hidden it: only members of the workspace see it until it is shown again."
	case what == "renamed":
		return "The prompt is restored under another name: another prompt of the workspace has taken the one it had."
	}
	return done[what]
}

// An undo is a form that takes back what led to a page.
type undo struct {
	Address string
	Fields  []value
}

// undoOf returns how to take back what a form did, by the word in the address of the page that it
// led to, nil where it cannot be.
func undoOf(u *url.URL) *undo {
	q := u.Query()
	id, isID := prompt.ParseID(path.Base(u.Path))
	onPrompt := isID && u.Path == addressOf(id)
	switch what := q.Get("done"); {
	case what == "examples":
		return &undo{Address: undoExamples}
	case what == "deleted":
		if id, ok := prompt.ParseID(q.Get("of")); ok {
			return &undo{Address: addressOf(id) + "/restore"}
		}
	case what == "label" && path.Base(u.Path) == "labels":
		return &undo{u.Path + "/undo", []value{{"label", q.Get("label")}}}
	case what == "released" && onPrompt:
		return &undo{u.Path + "/labels/undo", []value{{"label", prompt.Production}, {"back", u.Path}}}
	case what == string(prompt.Public) && onPrompt, what == "still-hidden" && onPrompt:
		return &undo{u.Path + "/visibility", []value{{"to", string(prompt.Private)}}}
	case what == string(prompt.Private) && onPrompt:
		return &undo{u.Path + "/visibility", []value{{"to", string(prompt.Public)}}}
	}
	return nil
}

// mayUndo reports whether the reader of a page may have done something to the prompt that it shows.
// Others were sent its address.
func mayUndo(body any) bool {
	switch b := body.(type) {
	case promptPage:
		return b.Publish
	case labelsPage:
		return b.Publish
	case *workspacePage:
		return b.May(prompt.Public).Publish
	}
	return true
}

// render answers with a page.
func (s *web) render(r *request, status int, name, title string, body any) error {
	p := page{
		Name: name, Title: title, User: r.who, Here: here(r), Done: doneWith(body, r.URL.Query().Get("done")),
		Body: body,
	}
	if p.Done != "" && mayUndo(body) {
		p.Undo = undoOf(r.URL)
	}
	if h, ok := body.(headed); ok && status == http.StatusOK {
		p.Head = h.head(httpjson.Origin(r.Request, s.Public))
	}
	switch s.SignIn {
	case Platform:
		p.SignIn = "platform"
	case Dev:
		p.SignIn = "dev"
	case Provider:
		p.SignIn = "provider"
	case Password:
		p.SignIn = "password"
	case Nowhere:
	}
	return s.write(r, status, name, "frame", p)
}

// write answers with one template of a page. It is rendered before the answer begins, so that a
// failure is an error page.
func (s *web) write(r *request, status int, name, part string, data any) error {
	var b bytes.Buffer
	if err := s.templates()[name].ExecuteTemplate(&b, part, data); err != nil {
		return fmt.Errorf("render %s: %w", name, err)
	}
	r.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	pages.Send(r.w, r.Request, status, b.Bytes(), func() []byte {
		return pages.Compress(b.Bytes(), gzip.DefaultCompression)
	})
	return nil
}

// here returns the address of a page, to come back to; that of a form is the page it stands on. A
// form from an unknown origin was not read: then the browser names the page.
func here(r *request) string {
	if r.Method == http.MethodPost {
		if address := r.PostForm.Get("back"); address != "" {
			return back(address)
		}
		if page, err := url.Parse(r.Referer()); err == nil && page.Host == r.Host {
			return back(page.RequestURI())
		}
		return Prefix
	}
	u := *r.URL
	q := u.Query()
	q.Del("done")
	q.Del("of")
	q.Del("part")
	u.RawQuery = q.Encode()
	return back(u.RequestURI())
}

// A failure is what an error page shows.
type failure struct {
	Status  int
	Text    string
	Fields  []httpjson.Field
	Request string
	Again   bool // whether trying again may help
	Sent    bool // whether a form was refused, whose page the browser keeps as it was left
}

// fail answers with an error: to a script as a problem document, to a reader as a page. An
// anonymous reader is asked to sign in.
func (s *web) fail(r *request, err error) {
	p := httpjson.Describe(r.Context(), err)
	httpjson.HangUp(r.w, r.Request)
	for name, values := range p.GetHeaders() {
		r.w.Header()[name] = values
	}
	if wantsJSON(r) {
		httpjson.WriteProblem(r.w, p)
		return
	}
	if fault.Of(err) == fault.Unauthenticated {
		r.w.Header().Del("WWW-Authenticate") // a browser has no bearer token to ask its user for
		err = s.render(r, p.Status, "signin", "Sign in",
			signInForm{Back: here(r), Reason: pages.Sentence(p.Detail), Name: s.User})
	} else {
		f := failure{
			Status: p.Status, Text: pages.Sentence(p.Detail), Fields: p.Errors, Request: p.RequestID,
			Again: p.GetHeaders().Get("Retry-After") != "",
		}
		f.Sent = r.Method == http.MethodPost && p.Status != http.StatusForbidden
		err = s.render(r, p.Status, "error", p.Title, f)
	}
	if err != nil {
		httpjson.WriteProblem(r.w, httpjson.Describe(r.Context(), err))
	}
}

func wantsJSON(r *request) bool { return r.Header.Get("Accept") == "application/json" }

// age returns how long ago something was, roughly.
func age(d time.Duration) string {
	const day = 24 * time.Hour
	for _, unit := range [...]struct {
		size time.Duration
		name string
	}{{365 * day, "year"}, {30 * day, "month"}, {day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		switch n := int(d / unit.size); {
		case n == 1:
			return "1 " + unit.name + " ago"
		case n > 1:
			return fmt.Sprintf("%d %ss ago", n, unit.name)
		}
	}
	return "just now"
}

// size returns how much bytes are, in the unit that people would take.
func size(n int64) string {
	for _, unit := range [...]struct {
		size int64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/float64(unit.size)), ".0") + " " + unit.name
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }

// thousands writes a number below a million as people read it.
func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// number returns a score with a minus sign that does not look like a hyphen.
func number(n int32) string { return strings.Replace(fmt.Sprint(n), "-", "−", 1) }
