package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	strictjson "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"prompthub/internal/legible"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
)

// The limits of answers of another service, which may be anything.
const (
	thereAtOnce   = 4                // requests on their way
	therePatience = 15 * time.Minute // with one that asks to come back later
	maxListThere  = 16 << 20         // bytes of a page of a list
	maxOneThere   = 4 << 20          // bytes of a version, or of a file
	maxPastThere  = 32 << 20         // bytes of all versions of a prompt, with their files
	maxThere      = 100_000          // prompts, and skills
	maxVersions   = 1000             // of a prompt, as the service compares no more
	pageThere     = 100
	maxPages      = maxThere / 10
	rounds        = 5 // how often a list or a prompt is read that changes meanwhile
)

// A Langfuse is a project of Langfuse, of which all that it has of prompts and skills can be read.
// Its key goes to no other service: redirects are not followed.
type Langfuse struct {
	base       string
	user, pass string
	http       *http.Client
	free       chan struct{} // has room for each request that may be on its way
	tell       func(string)
	byID       atomic.Bool // see contentOf
}

// NewLangfuse returns the project of a key, PUBLIC:SECRET, at an address. Tell is told of what
// takes long. It sends nothing.
func NewLangfuse(address, key string, tell func(string)) (*Langfuse, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("--url: name the address of Langfuse, such as https://cloud.langfuse.com")
	}
	user, pass, ok := strings.Cut(strings.TrimSpace(key), ":")
	if !ok || user == "" || pass == "" || strings.ContainsFunc(user+pass, func(r rune) bool { return r <= ' ' }) {
		return nil, errors.New("the key must be the public and the secret key of the project with a colon between them, as in pk-lf-1:sk-lf-2")
	}
	return &Langfuse{
		base: strings.TrimRight(address, "/") + "/api/public", user: user, pass: pass, http: newHTTP(),
		free: make(chan struct{}, thereAtOnce), tell: tell,
	}, nil
}

// An errThere is what keeps one prompt from being read; others may fare better.
type errThere string

func (e errThere) Error() string { return string(e) }

var errGone = errThere("it was deleted there meanwhile")

// get reads an answer into v.
func (l *Langfuse) get(ctx context.Context, path string, most int64, v any) (size int, err error) {
	a, err := l.answer(ctx, path, most)
	switch {
	case err != nil:
		return 0, err
	case a.status >= 300 && a.status < 400:
		return 0, fmt.Errorf("%s sends on to %.200q: name that address as --url if you trust it with the key", l.base,
			a.location)
	case a.status == http.StatusUnauthorized || a.status == http.StatusForbidden:
		return 0, fmt.Errorf("%s refuses the key (status %d): %.200q", l.base, a.status, said(a.body))
	case a.status == http.StatusNotFound:
		return 0, errGone
	case a.status >= 400 && a.status < 500 && a.status != http.StatusTooManyRequests &&
		a.status != http.StatusRequestTimeout:
		return 0, errThere(fmt.Sprintf("Langfuse refuses it (status %d): %.200q", a.status, said(a.body)))
	case a.status != http.StatusOK:
		return 0, fmt.Errorf("%s does not answer (status %d): %.200q", l.base, a.status, said(a.body))
	}
	if err := strictjson.Unmarshal(a.body, v); err != nil {
		return 0, errThere(fmt.Sprintf("the answer is not one of Langfuse: %.300v", err))
	}
	return len(a.body), nil
}

func said(body []byte) string {
	var problem struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body[:min(len(body), 1<<16)], &problem)
	return cmp.Or(problem.Message, strings.TrimSpace(string(body[:min(len(body), 200)])))
}

func (l *Langfuse) answer(ctx context.Context, path string, most int64) (answer, error) {
	select {
	case l.free <- struct{}{}:
	case <-ctx.Done():
		return answer{}, ctx.Err()
	}
	defer func() { <-l.free }()
	large := false
	a, err := patiently(ctx, therePatience, func() (a answer, err error) {
		a, large, err = l.send(ctx, path, most)
		if wait := asked(a.retryAfter, time.Now()); err == nil && busy(a.status) && wait >= 5*time.Second {
			l.tell(fmt.Sprintf("Langfuse asks to wait %s", wait.Round(time.Second)))
		}
		return a, err
	})
	switch {
	case ctx.Err() != nil:
		return a, context.Cause(ctx)
	case err != nil:
		return a, fmt.Errorf("GET %s%s: %w", l.base, path, err)
	case large:
		return a, errThere(fmt.Sprintf("the answer has more than %d MiB", most>>20))
	}
	return a, nil
}

// send makes one request. One that is too large is an answer too: it would be so again.
func (l *Langfuse) send(ctx context.Context, path string, most int64) (a answer, large bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.base+path, nil)
	if err != nil {
		return a, false, err
	}
	req.SetBasicAuth(l.user, l.pass)
	req.Header.Set("Accept", "application/json")
	res, err := l.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err
		}
		return a, false, err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, most+1))
	if err != nil {
		return a, false, fmt.Errorf("read the answer: %w", err)
	}
	h := res.Header
	return answer{status: res.StatusCode, retryAfter: h.Get("Retry-After"), location: h.Get("Location"), body: body},
		int64(len(body)) > most, nil
}

// A Listed is a prompt or a skill as a list has it.
type Listed struct {
	Name  string
	Skill bool

	versions []int64 // of a prompt; of a skill all up to the last
	labels   []string
	tags     []string
}

// Kind is prompt or skill.
func (i Listed) Kind() string {
	if i.Skill {
		return "skill"
	}
	return "prompt"
}

// A listPage is a page of prompts or of skills.
type listPage struct {
	Data []struct {
		Name          string   `json:"name"`
		Versions      []int64  `json:"versions"`
		LatestVersion int64    `json:"latestVersion"`
		Labels        []string `json:"labels"`
		Tags          []string `json:"tags"`
	} `json:"data"`
	Meta struct {
		TotalItems int `json:"totalItems"`
		TotalPages int `json:"totalPages"`
	} `json:"meta"`
}

func (p listPage) items(skills bool) (list []Listed) {
	for _, d := range p.Data {
		i := Listed{Name: d.Name, Skill: skills, versions: d.Versions, labels: d.Labels, tags: d.Tags}
		if skills {
			i.versions, i.labels = nil, nil
			for n := range min(max(d.LatestVersion, 0), maxVersions+1) {
				i.versions = append(i.versions, n+1)
			}
		}
		list = append(list, i)
	}
	return list
}

func listPath(skills bool) string {
	if skills {
		return "/unstable/skills"
	}
	return "/v2/prompts"
}

// List returns all prompts by their names, then all skills, where the service has any.
func (l *Langfuse) List(ctx context.Context) (all []Listed, err error) {
	for _, skills := range []bool{false, true} {
		list, err := l.list(ctx, skills)
		if skills && errors.Is(err, errGone) { // an older Langfuse
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the list of %ss: %w", Listed{Skill: skills}.Kind(), err)
		}
		prompts := len(all)
		all = append(all, list...)
		for _, i := range list {
			if !skills {
				break
			}
			at := slices.IndexFunc(all[:prompts], func(p Listed) bool { return p.Name == i.Name })
			if at < 0 {
				continue
			}
			same, err := l.same(ctx, all[at], i)
			if err != nil {
				return nil, err
			}
			if same {
				all, prompts = slices.Delete(all, at, at+1), prompts-1
			}
		}
	}
	return all, nil
}

// same reports whether a prompt and a skill of one name are one thing, of which a version has one
// id: the door of another PromptHub gives a prompt with files as both.
func (l *Langfuse) same(ctx context.Context, p, s Listed) (bool, error) {
	if len(p.versions) == 0 {
		return false, nil
	}
	last := slices.Max(p.versions)
	var ids []string
	for _, i := range []Listed{p, s} {
		there, _, err := l.version(ctx, i, last)
		var refused errThere
		if errors.As(err, &refused) { // reading it will tell
			return false, nil
		}
		if err != nil {
			return false, err
		}
		ids = append(ids, there.ID)
	}
	return ids[0] != "" && ids[0] == ids[1], nil
}

// list reads the pages of a list, and once more where prompts came or went meanwhile: pages move
// with them.
func (l *Langfuse) list(ctx context.Context, skills bool) ([]Listed, error) {
	var told string
	for range rounds {
		list, whole, err := l.pages(ctx, skills)
		if err != nil || whole == "" {
			return list, err
		}
		told = whole
	}
	return nil, fmt.Errorf("%s, %d times", told, rounds)
}

// pages reads the pages of a list. Told says why they are not the whole list.
func (l *Langfuse) pages(ctx context.Context, skills bool) (list []Listed, told string, err error) {
	seen, total := make(map[string]bool), -1
	for page := 1; ; page++ {
		var p listPage
		if _, err := l.get(ctx, fmt.Sprintf("%s?page=%d&limit=%d", listPath(skills), page, pageThere),
			maxListThere, &p); err != nil {
			return nil, "", err
		}
		fresh := 0
		for _, i := range p.items(skills) {
			if i.Name == "" {
				return nil, "", errThere("it has an entry without a name")
			}
			if !seen[i.Name] {
				seen[i.Name], fresh = true, fresh+1
				list = append(list, i)
			}
		}
		switch {
		case len(list) > maxThere || p.Meta.TotalItems > maxThere || page > maxPages:
			return nil, "", fmt.Errorf("it has more than %d entries: take a part of them with --names", maxThere)
		case total >= 0 && p.Meta.TotalItems != total:
			return nil, "it changes while it is read", nil
		case fresh == 0 || len(list) > p.Meta.TotalItems || len(list) == p.Meta.TotalItems && page >= p.Meta.TotalPages:
			if len(list) != p.Meta.TotalItems {
				return nil, fmt.Sprintf("it says that it has %d entries, and its pages have %d",
					p.Meta.TotalItems, len(list)), nil
			}
			slices.SortFunc(list, func(a, b Listed) int { return strings.Compare(a.Name, b.Name) })
			return list, "", nil
		}
		total = p.Meta.TotalItems
	}
}

// A History is all that another service says of a prompt.
type History struct {
	Document format.Document // with its versions
	Lost     []string        // what no version here can say
}

// Read reads all versions of a prompt or a skill, and again where it changes meanwhile.
func (l *Langfuse) Read(ctx context.Context, i Listed) (History, error) {
	for round := range rounds {
		if round > 0 {
			fresh, err := l.again(ctx, i)
			if err != nil {
				return History{}, err
			}
			i = fresh
		}
		if n := len(i.versions); n > maxVersions {
			return History{}, errThere(
				fmt.Sprintf("it has more than %d versions, which is the most that one prompt brings over", maxVersions))
		}
		h, whole, err := l.read(ctx, i)
		if err != nil || whole {
			return h, err
		}
	}
	return History{}, errThere("it changes all the time; import it again later")
}

// again reads the entry of a list anew.
func (l *Langfuse) again(ctx context.Context, i Listed) (Listed, error) {
	var p listPage
	if _, err := l.get(ctx, listPath(i.Skill)+"?page=1&limit=1&name="+url.QueryEscape(i.Name),
		maxListThere, &p); err != nil {
		return i, err
	}
	for _, fresh := range p.items(i.Skill) {
		if fresh.Name == i.Name {
			return fresh, nil
		}
	}
	return i, errGone
}

// read reads the versions that a list names. Whole is false where they are not those of one moment.
func (l *Langfuse) read(ctx context.Context, i Listed) (h History, whole bool, err error) {
	numbers := slices.Compact(slices.Sorted(slices.Values(i.versions)))
	if len(numbers) > 0 && numbers[0] < 1 {
		return h, false, errThere(fmt.Sprintf("it says that it has a version %d", numbers[0]))
	}
	all := make([]*versionThere, len(numbers))
	var size atomic.Int64
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(thereAtOnce)
	for at, number := range numbers {
		g.Go(func() error {
			there, n, err := l.version(reading, i, number)
			switch {
			case errors.Is(err, errGone):
				return nil
			case err != nil:
				return inThere(err, "version %d: %s", number)
			case size.Add(int64(n)) > maxPastThere:
				return errThere(fmt.Sprintf("its versions have more than %d MiB together", maxPastThere>>20))
			}
			all[at] = there
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return h, false, err
	}
	on, twice, files := make(map[string]bool), false, make(map[int64][]fileThere)
	for _, there := range all {
		if there == nil {
			if i.Skill { // of which lists have the last number alone
				continue
			}
			return h, false, nil
		}
		v, lost, err := there.version(i)
		if err != nil {
			return h, false, inThere(err, "version %d: %s", there.Version)
		}
		for _, label := range v.Labels {
			twice, on[label] = twice || on[label], true
		}
		h.Document.Versions, files[v.Version] = append(h.Document.Versions, v), there.Files
		for _, what := range lost {
			if !slices.Contains(h.Lost, what) {
				h.Lost = append(h.Lost, what)
			}
		}
	}
	listed := slices.Sorted(slices.Values(slices.DeleteFunc(slices.Clone(i.labels), func(s string) bool {
		return s == prompt.Latest
	})))
	switch {
	case len(h.Document.Versions) == 0:
		return h, false, errGone
	case twice, i.labels != nil && !slices.Equal(slices.Compact(listed), slices.Sorted(maps.Keys(on))):
		return h, false, nil // a label moved meanwhile
	}
	h.Document.Name, h.Document.Tags = i.Name, i.tags
	for at := range h.Document.Versions {
		v := &h.Document.Versions[at]
		v.Labels = slices.DeleteFunc(v.Labels, func(label string) bool {
			bad := prompt.CheckLabel(label) != nil
			if bad {
				h.Lost = append(h.Lost, fmt.Sprintf("the label %.40q of version %d, which can be none here", label,
					v.Version))
			}
			return bad
		})
	}
	if i.Skill {
		return h, true, l.withContents(ctx, h.Document.Versions, files)
	}
	return h, true, nil
}

// A versionThere is a version of a prompt or of a skill.
type versionThere struct {
	ID            string         `json:"id"`
	Name          string         `json:"name"`
	Version       int64          `json:"version"`
	CreatedAt     time.Time      `json:"createdAt"`
	CreatedBy     string         `json:"createdBy"`
	Prompt        jsontext.Value `json:"prompt"`
	Config        jsontext.Value `json:"config"`
	Labels        []string       `json:"labels"`
	CommitMessage string         `json:"commitMessage"`
	Resolved      jsontext.Value `json:"resolutionGraph"` // of includes whose texts are put in
	Files         []fileThere    `json:"files"`
}

type fileThere struct {
	ID         string `json:"id"`
	Path       string `json:"path"`
	SHA256Hash string `json:"sha256Hash"` // in base64
}

// version reads a version, which has n bytes there.
func (l *Langfuse) version(ctx context.Context, i Listed, number int64) (there *versionThere, n int, err error) {
	path := fmt.Sprintf("%s/%s?version=%d", listPath(i.Skill), url.PathEscape(i.Name), number)
	if !i.Skill {
		path += "&resolve=false"
	}
	there = new(versionThere)
	if n, err = l.get(ctx, path, maxOneThere, there); err != nil {
		return nil, 0, err
	}
	if there.Version != number || there.Name != i.Name {
		return nil, 0, errThere(fmt.Sprintf("the answer is version %d of %.100q", there.Version, there.Name))
	}
	return there, n, nil
}

func (there versionThere) version(i Listed) (v format.Version, lost []string, err error) {
	v = format.Version{
		Version: there.Version, Message: there.CommitMessage, MadeAt: there.CreatedAt, Description: new(string),
	}
	if by := cut(legible.Clean(there.CreatedBy), prompt.MaxMadeBy); legible.Visible(by) {
		v.MadeBy = by
	}
	for _, label := range there.Labels {
		if label != prompt.Latest && !slices.Contains(v.Labels, label) {
			v.Labels = append(v.Labels, label)
		}
	}
	if i.Skill {
		for _, f := range there.Files {
			sum, err := base64.StdEncoding.DecodeString(f.SHA256Hash)
			if err != nil || len(sum) != sha256.Size {
				return v, nil, errThere(fmt.Sprintf("the file %.100q has no digest", f.Path))
			}
			v.Files = append(v.Files, format.VersionFile{Path: f.Path, SHA256: hex.EncodeToString(sum)})
		}
		if len(v.Files) == 0 || len(v.Files) > prompt.MaxFiles {
			return v, nil, errThere(fmt.Sprintf("it has %d files, and a skill has 1 to %d",
				len(v.Files), prompt.MaxFiles))
		}
		return v, nil, nil
	}
	if r := there.Resolved; len(r) > 0 && r.Kind() != 'n' {
		return v, nil, errThere("Langfuse gives it with the texts that it includes in the place of the includes: one that knows resolve=false does not, update it")
	}
	if c := there.Config; len(c) > 0 && c.Kind() != 'n' && string(c) != "{}" {
		v.Config = c
	}
	switch there.Prompt.Kind() {
	case '"':
		return v, nil, strictjson.Unmarshal(there.Prompt, &v.Text)
	case '[':
		v.Kind = prompt.KindChat
		v.Messages, lost, err = messagesThere(there.Prompt)
		return v, lost, err
	}
	return v, nil, errThere("it has neither a text nor messages")
}

// cut returns the beginning of a text, of at most a number of UTF-16 code units.
func cut(s string, most int) string {
	n := 0
	for at, r := range s {
		if n++; r > 0xffff {
			n++
		}
		if n > most {
			return s[:at]
		}
	}
	return s
}

// messagesThere reads the messages of a chat, and tells which of their members no message here has.
func messagesThere(list jsontext.Value) (all []prompt.Message, lost []string, err error) {
	var there []struct {
		Type    string                    `json:"type"`
		Role    *string                   `json:"role"`
		Content *string                   `json:"content"`
		Name    string                    `json:"name"`
		Others  map[string]jsontext.Value `json:",inline"`
	}
	if err := strictjson.Unmarshal(list, &there); err != nil {
		return nil, nil, errThere(fmt.Sprintf("its messages are not ones of Langfuse: %.200v", err))
	}
	for at, m := range there {
		for _, member := range slices.Sorted(maps.Keys(m.Others)) {
			lost = append(lost, fmt.Sprintf("the member %.40q of messages", member))
		}
		switch {
		case m.Type == "placeholder" && m.Name != "":
			all = append(all, prompt.Message{Placeholder: m.Name})
		case m.Type == "placeholder" || m.Role == nil || m.Content == nil:
			return nil, nil, errThere(fmt.Sprintf("message %d has no role, content or name", at+1))
		default:
			all = append(all, prompt.Message{Role: *m.Role, Content: *m.Content})
		}
	}
	return all, lost, nil
}

// withContents puts bytes into the files of a skill that the version before does not have, and what
// SKILL.md says into the versions. The lists of files have the ids of their bytes.
func (l *Langfuse) withContents(ctx context.Context, versions []format.Version, lists map[int64][]fileThere) error {
	var mu sync.Mutex
	all, size := make(map[string][]byte), 0
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(thereAtOnce)
	asked := make(map[string]bool)
	for _, v := range versions {
		for at, f := range v.Files {
			if asked[f.SHA256] {
				continue
			}
			asked[f.SHA256] = true
			g.Go(func() error {
				b, err := l.contentOf(reading, lists[v.Version][at].ID, f.SHA256)
				if err != nil {
					return inThere(err, "version %d: the file %.100q: %s", v.Version, f.Path)
				}
				mu.Lock()
				defer mu.Unlock()
				if all[f.SHA256], size = b, size+len(b); size > maxPastThere {
					return errThere(fmt.Sprintf("its files have more than %d MiB together", maxPastThere>>20))
				}
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return err
	}
	before := make(map[string]bool)
	for at := range versions {
		v, has := &versions[at], make(map[string]bool)
		for f := range v.Files {
			file := &v.Files[f]
			if !before[file.SHA256] && !has[file.SHA256] {
				file.Data = all[file.SHA256]
			}
			if has[file.SHA256] = true; file.Path == prompt.SkillFile {
				head, err := format.ReadSkillHead(all[file.SHA256])
				if err != nil {
					return errThere(fmt.Sprintf("version %d: SKILL.md: %.200v", v.Version, err))
				}
				v.Text, v.Description = skill.TextOf(all[file.SHA256]), &head.Description
			}
		}
		before = has
	}
	return nil
}

// inThere says of an error of one prompt where in it it is.
func inThere(err error, where string, of ...any) error {
	var refused errThere
	if !errors.As(err, &refused) {
		return err
	}
	return errThere(fmt.Sprintf(where, append(of, refused)...))
}

// contentOf reads the bytes of a file, which must have the digest that the list of files says.
// Langfuse gives them by the digest; when skills were new there it gave them by the id of the file.
func (l *Langfuse) contentOf(ctx context.Context, id, sum string) ([]byte, error) {
	digest, err := hex.DecodeString(sum)
	if err != nil {
		return nil, err
	}
	byID := "/unstable/skills/files/" + url.PathEscape(id) + "/content"
	bySum := "/unstable/skills/files/content?sha256Hashes=" + url.QueryEscape(base64.StdEncoding.EncodeToString(digest))
	ways := []string{bySum, byID}
	if l.byID.Load() {
		ways = ways[1:]
	}
	for _, path := range ways {
		var answer jsontext.Value
		if _, err = l.get(ctx, path, maxOneThere, &answer); errors.Is(err, errGone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		for text := range textsIn(answer) {
			if is := sha256.Sum256([]byte(text)); bytes.Equal(is[:], digest) {
				l.byID.Store(path == byID)
				return []byte(text), nil
			}
		}
		return nil, errThere("what Langfuse gives is not what its digest names")
	}
	return nil, err
}

// textsIn returns the texts in a JSON value, wherever they stand.
func textsIn(v jsontext.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		d := jsontext.NewDecoder(bytes.NewReader(v))
		for {
			t, err := d.ReadToken()
			if err != nil || t.Kind() == '"' && !yield(t.String()) {
				return
			}
		}
	}
}
