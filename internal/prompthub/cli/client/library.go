package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

func (c *Client) path(r prompt.Ref) string {
	if id, ok := prompt.ParseID(r.Name); ok {
		return "/prompts/" + string(id)
	}
	return "/users/" + url.PathEscape(cmp.Or(r.Owner, c.workspace, "me")) + "/prompts/" + url.PathEscape(r.Name)
}

// ownList returns the path of the list of the caller's own prompts, or of those of the workspace.
func (c *Client) ownList() string {
	if c.workspace == "" {
		return "/me/prompts"
	}
	return "/workspaces/" + url.PathEscape(c.workspace) + "/prompts"
}

// An owned document is one that a workspace will own.
type owned struct {
	format.Document
	Workspace string `json:"workspace,omitempty"`
}

// importPath returns the path of an import with some query.
func (c *Client) importPath(query url.Values) string {
	if c.workspace != "" {
		query.Set("workspace", c.workspace)
	}
	return "/import?" + query.Encode()
}

// which returns the query that names the content.
func which(r prompt.Ref) string {
	switch {
	case r.Version > 0:
		return "?version=" + strconv.FormatInt(r.Version, 10)
	case r.Label != "":
		return "?label=" + url.QueryEscape(r.Label)
	}
	return ""
}

// Said is what a prompt says: a text, or the messages of a chat.
type Said struct {
	Text     string           `json:"text"`
	Messages []prompt.Message `json:"messages"`
}

// Words returns the text, or that of the messages.
func (s Said) Words() string {
	c := prompt.Content{Text: s.Text, Messages: s.Messages}
	if len(s.Messages) > 0 {
		c.Kind = prompt.KindChat
	}
	return c.Words()
}

// A Found is a prompt as a command needs it.
type Found struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	Slug  string `json:"slug"`
	Title string `json:"title"`
	Said
	Config     json.RawMessage `json:"config"`
	AuthorName string          `json:"authorName"`
	Visibility string          `json:"visibility"`
	Version    int64           `json:"version"`
	Production int64           `json:"production"` // in a list, if programs get another version
	Revision   int64           `json:"revision"`
	Score      int             `json:"score"`
	Files      struct {
		Digest string `json:"digest"`
	} `json:"files"` // of a version with files

	Mine    bool   `json:"-"` // that it is known to be the caller's own
	Address string `json:"-"` // by which a command finds it, of those that Like returns

	Raw json.RawMessage `json:"-"` // what the service said
}

// UnmarshalJSON keeps what it reads.
func (f *Found) UnmarshalJSON(b []byte) error {
	type plain Found
	if err := json.Unmarshal(b, (*plain)(f)); err != nil {
		return err
	}
	f.Raw = append(json.RawMessage{}, b...)
	return nil
}

// Get returns the prompt that r names, with the content that it names. Where it names none it is
// that of the label production, if the prompt has one, else the latest, unless a rule keeps that
// label.
func (c *Client) Get(ctx context.Context, r prompt.Ref) (Found, error) {
	if r.Version == 0 && r.Label == "" {
		r.Label = prompt.Production
		f, err := c.found(ctx, r)
		if !isStatus(err, http.StatusNotFound) || isCode(err, prompt.NotReleased) || isCode(err, prompt.Recalled) {
			return f, err
		}
		r.Label = prompt.Latest
	}
	return c.found(ctx, r)
}

func (c *Client) found(ctx context.Context, r prompt.Ref) (f Found, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: c.path(r) + which(r)}, &f)
	return f, err
}

func isStatus(err error, status int) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == status
}

func isCode(err error, code fault.Code) bool {
	var p *Problem
	return errors.As(err, &p) && p.Code == string(code)
}

// File returns a version of a prompt as a file of another program, and what such a file cannot
// hold, "" for nothing. Version 0 is the latest, and without a syntax the text is as it is.
func (c *Client) File(ctx context.Context, id string, version int64, as format.Format,
	syntax format.Syntax,
) (file []byte, loss string, err error) {
	query := url.Values{"format": {string(as)}}
	if version > 0 {
		query.Set("version", strconv.FormatInt(version, 10))
	}
	if syntax != "" {
		query.Set("syntax", string(syntax))
	}
	a, err := c.ask(ctx, call{method: http.MethodGet, path: "/prompts/" + url.PathEscape(id) + "/export?" +
		query.Encode(), accept: "*/*"})
	return a.body, a.loss, err
}

// Render returns what Get found, with values in the places of its variables.
func (c *Client) Render(ctx context.Context, f Found, values map[string]string) (rendered Said, err error) {
	body, err := encode(map[string]any{"values": values, "version": f.Version})
	if err != nil {
		return rendered, err
	}
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/prompts/" + url.PathEscape(f.ID) + "/render", body: body},
		&rendered)
	return rendered, err
}

// A Search says which prompts are wanted: public ones and the caller's own, those of an author, or
// the caller's own alone.
type Search struct {
	Words  string
	Tags   []string
	In     string // "text", "title", or "" for the default of the service
	Sort   string // an order, or "" for the default of the service
	Author string // a handle or the key of an author, "" for all
	Mine   bool
	All    bool // public prompts, the caller's own and those of their workspaces
	Limit  int
	// Verbatim is whether the words count as they are alone; of public prompts only
	Verbatim bool
}

// An Understood is a word of a search with the forms in which prompts have it.
type Understood struct {
	Word    string
	As      []string
	Instead bool // no prompt has the word in any form
}

// A Results is a page of a search.
type Results struct {
	Items      []Found      `json:"items"`
	Understood []Understood `json:"understood"`
	Partial    bool         `json:"partial"`
	LeftOut    bool         `json:"workspacesLeftOut"`
	NextCursor string       `json:"nextCursor"`
}

// Search returns prompts.
func (c *Client) Search(ctx context.Context, s Search) (list Results, err error) {
	path := "/prompts"
	switch {
	case s.Mine:
		path = c.ownList()
	case s.Author != "":
		path = "/users/" + url.PathEscape(s.Author) + "/prompts"
	}
	query := url.Values{"limit": {strconv.Itoa(s.Limit)}}
	for name, value := range map[string]string{"q": s.Words, "in": s.In, "sort": s.Sort} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(s.Tags) > 0 {
		query["tag"] = s.Tags
	}
	if s.Verbatim {
		query.Set("verbatim", "true")
	}
	if s.All {
		query.Set("scope", "all")
	}
	for {
		var page Results
		if _, err := c.do(ctx, call{method: http.MethodGet, path: path + "?" + query.Encode()}, &page); err != nil {
			return list, err
		}
		for _, f := range page.Items {
			// titles that were found while the texts were being read are found once more
			if !list.Partial || !slices.ContainsFunc(list.Items, func(known Found) bool { return known.ID == f.ID }) {
				list.Items = append(list.Items, f)
			}
		}
		for _, u := range page.Understood {
			if !slices.ContainsFunc(list.Understood, func(known Understood) bool { return known.Word == u.Word }) {
				list.Understood = append(list.Understood, u)
			}
		}
		list.Partial, list.LeftOut, list.NextCursor = list.Partial || page.Partial, page.LeftOut, page.NextCursor
		left := s.Limit - len(list.Items)
		if left <= 0 || page.NextCursor == "" {
			return list, nil
		}
		query.Set("cursor", page.NextCursor)
		query.Set("limit", strconv.Itoa(left))
	}
}

// IsUnknown reports whether an error says that a prompt, one of its versions or its author does not
// exist, or that the caller may not know of it.
func IsUnknown(err error) bool { return isStatus(err, http.StatusNotFound) }

// Like returns up to three prompts that a caller may have meant who named r, and found nothing: the
// caller's own, then public ones, which a name alone never means. A slip of up to two letters is
// forgiven after the first three of each word.
func (c *Client) Like(ctx context.Context, r prompt.Ref) (like []Found, err error) {
	words := strings.FieldsFunc(r.Name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i, w := range words {
		words[i] = string([]rune(w)[:min(3, utf8.RuneCountInString(w))])
	}
	if len(words) == 0 {
		return nil, nil
	}
	far := func(f Found) int {
		return min(levenshtein.ComputeDistance(f.Name, r.Name), levenshtein.ComputeDistance(f.Slug, r.Name))
	}
	for _, mine := range []bool{true, false} {
		if mine && r.Owner != "" {
			continue
		}
		s := Search{Words: strings.Join(words, " "), Mine: mine, In: "title", Limit: 50, Verbatim: !mine}
		found, err := c.Search(ctx, s)
		if err != nil {
			return nil, err
		}
		for _, f := range found.Items {
			if far(f) <= 2 && !slices.ContainsFunc(like, func(g Found) bool { return g.ID == f.ID }) {
				f.Mine = mine
				like = append(like, f)
			}
		}
	}
	slices.SortStableFunc(like, func(a, b Found) int { return cmp.Compare(far(a), far(b)) })
	like = like[:min(3, len(like))]
	for i := range like {
		like[i].Address = c.address(ctx, like[i])
	}
	return like, nil
}

// address returns what a command takes for a prompt: the name of one's own, the handle and the slug
// where the author is called as their handle is, or else the id.
func (c *Client) address(ctx context.Context, f Found) string {
	if f.Mine {
		return f.Name
	}
	of := prompt.Ref{Owner: f.AuthorName, Name: f.Slug}
	if there, err := c.found(ctx, of); err == nil && there.ID == f.ID {
		return "@" + of.Owner + "/" + of.Name
	}
	return f.ID
}

// WhyRecalled returns why a version was recalled, "" if it was not.
func (c *Client) WhyRecalled(ctx context.Context, id string, version int64) (reason string, err error) {
	var v struct {
		Recall Recall `json:"recall"`
	}
	_, err = c.do(ctx, call{
		method: http.MethodGet,
		path:   fmt.Sprintf("/prompts/%s/versions/%d", url.PathEscape(id), version),
	}, &v)
	return v.Recall.Reason, err
}

// Document returns what was found as a document.
func (f Found) Document() (d format.Document, err error) {
	if err := json.Unmarshal(f.Raw, &d); err != nil {
		return d, fmt.Errorf("the answer is not PromptHub's: %w", err)
	}
	return d.Authored(), nil
}

// saveTries is how often Save looks again at a prompt that others save meanwhile.
const saveTries = 10

// A Saved is a prompt as Save leaves it, and what became different.
type Saved struct {
	Found
	Outcome    Outcome
	NewVersion bool     // of an updated one
	Changed    []string // of an updated one: title, visibility, tags
}

// Save makes the caller's prompt of a name be what a document says, but for what that does not say:
// a new prompt, a new version of the one that there is, or neither where it has that content. What
// others save at the same time becomes a version before or after it.
func (c *Client) Save(ctx context.Context, d format.Document) (Saved, error) {
	return c.save(ctx, d, false)
}

// save does that, with orSlug also where the document has the slug of the prompt for its name, as
// files of skills do.
func (c *Client) save(ctx context.Context, d format.Document, orSlug bool) (s Saved, err error) {
	for range saveTries {
		s, err = c.saveOnce(ctx, d, orSlug)
		if !isStatus(err, http.StatusPreconditionFailed) && !NameTaken(err) {
			break
		}
	}
	return s, err
}

// NameTaken reports whether a prompt could not be made, as one of the caller's has its name or that
// for its slug.
func NameTaken(err error) bool {
	var p *Problem
	return errors.As(err, &p) && p.Status == http.StatusConflict &&
		slices.ContainsFunc(p.Errors, func(r Rule) bool { return r.Location == "body.name" })
}

func (c *Client) saveOnce(ctx context.Context, d format.Document, orSlug bool) (Saved, error) {
	d.Name = strings.TrimSpace(d.Name) // as the service does
	was, err := c.found(ctx, prompt.Ref{Name: d.Name})
	if isStatus(err, http.StatusNotFound) {
		made, err := c.Add(ctx, d)
		return Saved{Found: made, Outcome: Created}, err
	}
	if err != nil {
		return Saved{Found: was, Outcome: Rejected}, err
	}
	if was.Name != d.Name && !orSlug {
		return Saved{Found: was, Outcome: Rejected}, &Problem{
			Status: http.StatusConflict, Title: fmt.Sprintf("%q is another way to name your prompt %q: save to that name, or take one that none of your prompts has", d.Name, was.Name),
		}
	}
	is, err := was.Document()
	if err == nil {
		err = KeepsKind(is, d)
	}
	if err != nil {
		return Saved{Found: was, Outcome: Rejected}, err
	}
	return c.patch(ctx, was, change(d.Said()))
}

// patch changes members of a prompt that is still as it was found.
func (c *Client) patch(ctx context.Context, was Found, members map[string]any) (Saved, error) {
	body, err := encode(members)
	if err != nil {
		return Saved{Found: was, Outcome: Rejected}, err
	}
	k := call{
		method: http.MethodPatch, path: "/prompts/" + was.ID, body: body,
		match: fmt.Sprintf(`"%d"`, was.Revision),
	}
	var now Found
	if _, err := c.do(ctx, k, &now); err != nil {
		return Saved{Found: was, Outcome: Rejected}, err
	}
	if now.Revision == was.Revision {
		return Saved{Found: now, Outcome: Unchanged}, nil
	}
	is, err := was.Document()
	if err != nil {
		return Saved{Found: now, Outcome: Updated}, err
	}
	made, err := now.Document()
	if err != nil {
		return Saved{Found: now, Outcome: Updated}, err
	}
	s := Saved{Found: now, Outcome: Updated, NewVersion: now.Version != was.Version}
	for _, member := range format.Differences(is, made) {
		if slices.Contains([]string{"title", "visibility", "tags"}, member) {
			s.Changed = append(s.Changed, member)
		}
	}
	return s, nil
}

// KeepsKind refuses what would make a text of a chat, or a chat of a text, as the service does.
func KeepsKind(was, d format.Document) error {
	if err := d.KeepsKind(was); err != nil {
		return &Problem{Status: http.StatusConflict, Title: err.Error()}
	}
	return nil
}

// change is a merge patch of all that a document says.
func change(d format.Document) map[string]any {
	m := map[string]any{"kind": "text", "text": d.Text, "messages": nil}
	if len(d.Messages) > 0 {
		m = map[string]any{"kind": "chat", "text": "", "messages": d.Messages}
	}
	for name, value := range d.Says() {
		if _, ok := m[name]; !ok && name != "name" {
			m[name] = value
		}
	}
	if d = sendable(d); d.Source != nil {
		m["source"] = d.Source
	}
	return m
}

// Change makes a prompt be what a document says, if it still has the revision that is known of it.
// What the document does not say stays, but for members that it had said before; and so do members
// that it says as before, of which its file may not hold all.
func (c *Client) Change(ctx context.Context, was Prompt, d, before format.Document) (now Found, err error) {
	m, says, said := change(d), d.Says(), before.Says()
	for name, value := range said {
		switch {
		case slices.Contains([]string{"kind", "text", "messages", "message", "labels", "name"}, name):
		case bytes.Equal(says[name], value):
			delete(m, name)
		case says[name] != nil || name == "title" || name == "visibility": // none is without these
		case value.Kind() == '"':
			m[name] = ""
		default:
			m[name] = nil
		}
	}
	if says["ownTags"] == nil && said["tags"] != nil { // of which some were not in the catalog
		m["ownTags"] = nil
	}
	if d.Name != "" && before.Name != d.Name {
		m["name"] = d.Name
	}
	body, err := encode(m)
	if err != nil {
		return now, err
	}
	_, err = c.do(ctx, call{
		method: http.MethodPatch, path: "/prompts/" + url.PathEscape(was.ID), body: body,
		match: fmt.Sprintf(`"%d"`, was.Revision),
	}, &now)
	return now, err
}

// Delete deletes a prompt that is still as it was in a revision.
func (c *Client) Delete(ctx context.Context, id string, revision int64) error {
	_, err := c.do(ctx, call{
		method: http.MethodDelete, path: "/prompts/" + url.PathEscape(id),
		match: fmt.Sprintf(`"%d"`, revision),
	}, nil)
	return err
}

// Check reports what keeps a document from becoming a prompt, or where update is true a version of
// the caller's prompt of that name, but for what it includes. It makes nothing. The error is a
// *Problem where the service would refuse.
func (c *Client) Check(ctx context.Context, d format.Document, update bool) error {
	d.Versions, d.Source = nil, nil
	line, err := encode(d)
	if err != nil {
		return err
	}
	var report struct{ Items []Entry }
	path := c.importPath(url.Values{
		"dryRun": {"true"}, "file": {"prompt.jsonl"},
		"update": {strconv.FormatBool(update)},
	})
	if _, err := c.do(ctx, call{method: http.MethodPost, path: path, body: line}, &report); err != nil {
		return err
	}
	for _, e := range report.Items {
		if e.Outcome == Rejected.String() {
			return &Problem{Status: http.StatusUnprocessableEntity, Errors: []Rule{{Code: e.Code, Message: e.Reason}}}
		}
		for _, w := range e.Warnings { // an import would go on, and leave something out
			return &Problem{Status: http.StatusUnprocessableEntity, Errors: []Rule{{Message: w.Text}}}
		}
	}
	return nil
}

// Add makes a prompt of a document. Unlike Create it does so again where the same was made before:
// only the tries of one call have one key.
func (c *Client) Add(ctx context.Context, d format.Document) (made Found, err error) {
	d.Versions = nil // which one request cannot make
	body, err := encode(owned{sendable(d).Titled(), c.workspace})
	if err != nil {
		return made, err
	}
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/prompts", key: rand.Text(), body: body}, &made)
	return made, err
}

// Fork makes a private copy of what r names, which knows where it comes from. The same version is
// forked once.
func (c *Client) Fork(ctx context.Context, r prompt.Ref) (made Found, err error) {
	f, err := c.found(ctx, r)
	if err != nil {
		return f, err
	}
	which := fmt.Sprintf("/prompts/%s/fork?version=%d", f.ID, f.Version)
	k := call{method: http.MethodPost, path: which, key: keyOf([]byte(which))}
	_, err = c.do(ctx, k, &made)
	return made, err
}

// Copy copies what r names into a workspace, with its versions and labels, by as many requests as
// it takes. It reports whether the copy is new or has new versions, and what it lacks.
func (c *Client) Copy(ctx context.Context, r prompt.Ref,
	workspace string,
) (made Found, isNew bool, loss []string, err error) {
	f, err := c.found(ctx, r)
	if err != nil {
		return f, false, nil, err
	}
	body, err := encode(map[string]string{"prompt": f.ID})
	if err != nil {
		return f, false, nil, err
	}
	k := call{method: http.MethodPost, path: "/workspaces/" + url.PathEscape(workspace) + "/copies", body: body}
	for status := http.StatusAccepted; status == http.StatusAccepted; {
		if status, err = c.do(ctx, k, &made); err != nil {
			return made, isNew, nil, err
		}
		isNew = isNew || status != http.StatusOK
	}
	var told struct{ Loss []string }
	err = json.Unmarshal(made.Raw, &told)
	return made, isNew, told.Loss, err
}

// Upstream returns what was changed in the prompt that a fork comes from, as diff -u writes it.
func (c *Client) Upstream(ctx context.Context, r prompt.Ref) (string, error) {
	f, err := c.found(ctx, r)
	if err != nil {
		return "", err
	}
	return c.text(ctx, "/prompts/"+f.ID+"/upstream")
}

// MergeUpstream makes a new version of a fork with the changes of its source, or with the content
// of one side: "mine" or "theirs".
func (c *Client) MergeUpstream(ctx context.Context, r prompt.Ref, take string) (now Found, err error) {
	f, err := c.found(ctx, r)
	if err != nil {
		return f, err
	}
	path := "/prompts/" + f.ID + "/upstream/merge"
	if take != "" {
		path += "?take=" + url.QueryEscape(take)
	}
	_, err = c.do(ctx, call{method: http.MethodPost, path: path}, &now)
	return now, err
}

// A Version is one of a prompt's contents.
type Version struct {
	Version   int64    `json:"version"`
	Message   string   `json:"message"`
	CreatedAt string   `json:"createdAt"`
	Labels    []string `json:"labels"`
	Recall    *Recall  `json:"recall"` // nil of one that was not recalled
}

// A Recall is why a version is not given to programs.
type Recall struct {
	Reason string `json:"reason"`
}

// Versions returns the versions of a prompt, the newest first, up to limit.
func (c *Client) Versions(ctx context.Context, r prompt.Ref, limit int) ([]Version, error) {
	f, err := c.found(ctx, r)
	if err != nil {
		return nil, err
	}
	var list struct {
		Items []Version `json:"items"`
	}
	_, err = c.do(ctx, call{method: http.MethodGet, path: fmt.Sprintf("/prompts/%s/versions?limit=%d", f.ID, limit)},
		&list)
	return list.Items, err
}

// Diff returns what differs between two contents of a prompt, as diff -u writes it.
func (c *Client) Diff(ctx context.Context, a, b prompt.Ref) (string, error) {
	was, err := c.found(ctx, a)
	if err != nil {
		return "", err
	}
	now, err := c.found(ctx, b)
	if err != nil {
		return "", err
	}
	return c.text(ctx, fmt.Sprintf("/prompts/%s/versions/%d/diff/%d", was.ID, was.Version, now.Version))
}

// text returns what a path answers as plain text.
func (c *Client) text(ctx context.Context, path string) (string, error) {
	answered, err := c.patiently(ctx, call{method: http.MethodGet, path: path, accept: "text/plain"})
	if err != nil {
		return "", fmt.Errorf("GET %s: %w", c.base+path, err)
	}
	if answered.status != http.StatusOK {
		return "", answered.problem()
	}
	return string(answered.body), nil
}

// Label puts a label on the content that r names, or takes it from the prompt.
func (c *Client) Label(ctx context.Context, r prompt.Ref, label string, remove bool) (Found, error) {
	f, err := c.found(ctx, r)
	if err != nil {
		return f, err
	}
	k := call{
		method: http.MethodPut, path: "/prompts/" + f.ID + "/labels/" + url.PathEscape(label),
		body: fmt.Appendf(nil, `{"version":%d}`, f.Version),
	}
	if remove {
		k.method, k.body = http.MethodDelete, nil
	}
	_, err = c.do(ctx, k, nil)
	return f, err
}

// Recall takes the version that r names from programs, for a reason.
func (c *Client) Recall(ctx context.Context, r prompt.Ref, reason string) (Found, error) {
	body, err := encode(Recall{reason})
	if err != nil {
		return Found{}, err
	}
	return c.atRecall(ctx, r, call{method: http.MethodPost, body: body})
}

// Reinstate gives the version that r names to programs again.
func (c *Client) Reinstate(ctx context.Context, r prompt.Ref) (Found, error) {
	return c.atRecall(ctx, r, call{method: http.MethodDelete})
}

// atRecall sends a call about the recall of the version that r names.
func (c *Client) atRecall(ctx context.Context, r prompt.Ref, k call) (Found, error) {
	version := r.Version
	r.Version, r.Label = 0, prompt.Latest
	f, err := c.found(ctx, r)
	if err != nil {
		return f, err
	}
	f.Version = version
	k.path = fmt.Sprintf("/prompts/%s/versions/%d/recall", url.PathEscape(f.ID), version)
	_, err = c.do(ctx, k, nil)
	return f, err
}
