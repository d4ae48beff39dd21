package langfuse

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// The routes of skills are those of the client for Python 5.0.4, langfuse.api.unstable.skills. A
// skill there is a prompt with files here, by its slug.

// A wireSkill is a version of a skill.
type wireSkill struct {
	ID            string         `json:"id"`
	CreatedAt     string         `json:"createdAt"`
	UpdatedAt     string         `json:"updatedAt"`
	ProjectID     string         `json:"projectId"`
	CreatedBy     string         `json:"createdBy"`
	Name          string         `json:"name"`
	Description   string         `json:"description"`
	FrontMatter   jsontext.Value `json:"frontmatter"`
	Version       int64          `json:"version"`
	Tags          []string       `json:"tags"`
	Labels        []string       `json:"labels"`
	CommitMessage *string        `json:"commitMessage"`
	Files         []wireFile     `json:"files"`
}

// Known returns what names a version.
func (p wireSkill) Known() any { return wirePrompt{ID: p.ID, Version: p.Version}.Known() }

// A wireFile is a file of a version. Its bytes are asked for by their hash.
type wireFile struct {
	ID            string `json:"id"`
	Path          string `json:"path"`
	BlobID        string `json:"blobId"`
	SHA256        string `json:"sha256Hash"` // in base64
	ContentType   string `json:"contentType"`
	ContentLength int    `json:"contentLength"`
}

// encodeSkill returns the version of a skill that a view shows, with its labels.
func (s *server) encodeSkill(ctx context.Context, v library.View, on []string) (wireSkill, error) {
	p := s.encode(v, on)
	folder, err := s.Service.FolderOf(ctx, v, prompt.SkillFile)
	if err != nil {
		return wireSkill{}, err
	}
	w := wireSkill{
		ID: p.ID, CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt, ProjectID: p.ProjectID, CreatedBy: p.CreatedBy,
		Name: v.Slug, Version: p.Version, Tags: p.Tags, Labels: on, CommitMessage: p.CommitMessage,
	}
	head := skill.Head(v.Prompt, v.About(), p.Version)
	w.Description = head.Description
	// of a history that was brought over
	if w.FrontMatter, err = format.SkillFrontMatter(folder.Contents[0].Bytes); err != nil {
		w.FrontMatter = jsontext.Value("{}")
	}
	for i, f := range v.Files {
		w.Files = append(w.Files, wireFile{
			ID: fmt.Sprintf("%s-f%d", p.ID, i+1), Path: f.Path, BlobID: f.SHA256, SHA256: inBase64(f.SHA256),
			ContentType: contentType(f.Path), ContentLength: f.Size,
		})
		s.seen.Add(seenKey{v.AuthorID, f.SHA256}, library.Numbered{ID: v.ID, Number: p.Version})
	}
	return w, nil
}

// maxSeen is of how many files an instance knows where they are, of those that it named last.
const maxSeen = 20_000

type seenKey struct {
	owner  prompt.UserID
	sha256 string
}

func inBase64(sum string) string {
	b, _ := hex.DecodeString(sum) // of a file that is stored
	return base64.StdEncoding.EncodeToString(b)
}

// inHex returns the SHA-256 that a canonical text in base64 is.
func inHex(sum string) (string, bool) {
	b, err := base64.StdEncoding.Strict().DecodeString(sum)
	return hex.EncodeToString(b), err == nil && len(b) == 32
}

// texts are the ends of files that are text, as far as a name tells.
var texts = strings.Fields("adoc bash c cfg conf cpp cs css csv go h htm html ini java js json jsonl jsx lua md mdx mjs php pl ps1 py r rb rs rst sh sql svg tex toml ts tsv tsx txt xml yaml yml")

func contentType(file string) string {
	switch end := strings.ToLower(file[strings.LastIndexByte(file, '.')+1:]); {
	case end == "md":
		return "text/markdown; charset=utf-8"
	case slices.Contains(texts, end):
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// noSkill says which skill was looked for, of an error that says that there is none.
func noSkill(name string, want library.WantedVersion, err error) error {
	if fault.Of(err) != fault.NotFound || fault.CodeOf(err) == prompt.Recalled {
		return err
	}
	what := fmt.Sprintf("Skill not found: '%v'", httpjson.Short(name))
	switch {
	case want.Number != 0:
		what += fmt.Sprintf(" with version %d", want.Number)
	case want.Label != "":
		what += fmt.Sprintf(" with label '%v'", httpjson.Short(want.Label))
	}
	return fault.New(fault.NotFound, what)
}

func (s *server) findSkill(ctx context.Context, r request, want library.WantedVersion) (library.View, error) {
	if r.name == "" {
		return library.View{}, noSkill(r.name, want, fault.New(fault.NotFound, ""))
	}
	v, err := s.Service.OwnSkill(ctx, r.User, r.name, want)
	return v, noSkill(r.name, want, err)
}

func (s *server) getSkill(ctx context.Context, r request) (int, any, error) {
	want, err := wanted(r, prompt.Production)
	if err != nil {
		return 0, nil, err
	}
	v, err := s.findSkill(ctx, r, want)
	if err != nil {
		return 0, nil, err
	}
	s.Service.Fetched(ctx, r.User, v)
	w, err := s.encodeSkill(ctx, v, labels(v))
	return http.StatusOK, w, err
}

// A newSkill is what is sent to make a version of a skill.
type newSkill struct {
	Files         []newFile `json:"files"`
	CommitMessage *string   `json:"commitMessage"`
}

type newFile struct {
	Path    string  `json:"path"`
	Content *string `json:"content"`
	SHA256  *string `json:"sha256Hash"`
}

func (s *server) createSkill(ctx context.Context, r request) (int, any, error) {
	var in newSkill
	if err := decode(r.body, &in); err != nil {
		return 0, nil, err
	}
	var files []library.SentFile
	named := ""
	for i, f := range in.Files {
		sent := library.SentFile{Path: f.Path, KeepsMode: true}
		switch at := fmt.Sprintf("files[%d]", i); {
		case (f.Content == nil) == (f.SHA256 == nil):
			return 0, nil, wrong(at, "send either content or sha256Hash")
		case f.Content != nil:
			sent.Bytes = []byte(*f.Content)
		default:
			var ok bool
			if sent.SHA256, ok = inHex(*f.SHA256); !ok {
				return 0, nil, wrong(at+".sha256Hash", "must be a SHA-256 in base64, as a skill names it")
			}
		}
		if sent.Path == prompt.SkillFile && sent.SHA256 != "" {
			c, err := s.content(ctx, r, sent.SHA256)
			if err != nil && fault.Of(err) != fault.NotFound {
				return 0, nil, err
			}
			named = c.Slug
		}
		files = append(files, sent)
	}
	message := ""
	if in.CommitMessage != nil {
		message = *in.CommitMessage
	}
	v, err := s.Service.SaveSkill(ctx, r.User, files, named, message)
	if err != nil {
		return 0, nil, err
	}
	w, err := s.encodeSkill(ctx, v, []string{prompt.Latest})
	return http.StatusCreated, w, err
}

// newTags is what is sent to tag a skill.
type newTags struct {
	Tags *[]string `json:"tags"`
}

func (s *server) tagSkill(ctx context.Context, r request) (int, any, error) {
	var in newTags
	if err := decode(r.body, &in); err != nil {
		return 0, nil, err
	}
	if in.Tags == nil {
		return 0, nil, wrong("tags", "send a list of tags")
	}
	v, err := s.findSkill(ctx, r, library.WantedVersion{})
	if err != nil {
		return 0, nil, err
	}
	tags, own, err := s.Service.SplitTags(ctx, *in.Tags, v.Tags)
	if err != nil {
		return 0, nil, err
	}
	message := v.Message // no version is made
	if _, err = s.Service.Patch(ctx, r.User, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Tags, d.OwnTags, d.Message = tags, own, message
	}); err != nil {
		return 0, nil, err
	}
	return s.shownSkill(ctx, r, library.WantedVersion{Label: prompt.Latest})
}

// shownSkill answers with a version of a skill that was changed.
func (s *server) shownSkill(ctx context.Context, r request, want library.WantedVersion) (int, any, error) {
	v, err := s.findSkill(ctx, r, want)
	if err != nil {
		return 0, nil, err
	}
	w, err := s.encodeSkill(ctx, v, labels(v))
	return http.StatusOK, w, err
}

// versionLabels is what is sent to label a version of a skill.
type versionLabels struct {
	Labels []string `json:"labels"`
}

// labelSkill gives a version just the labels that were sent, and takes them from others.
func (s *server) labelSkill(ctx context.Context, r request) (int, any, error) {
	var in versionLabels
	if err := decode(r.body, &in); err != nil {
		return 0, nil, err
	}
	if err := checkLabels("labels", in.Labels); err != nil {
		return 0, nil, err
	}
	v, want, err := s.numberedSkill(ctx, r)
	if err != nil {
		return 0, nil, err
	}
	var put, off []string
	has := labels(v)
	for _, label := range slices.Compact(slices.Sorted(slices.Values(in.Labels))) {
		if !slices.Contains(has, label) {
			put = append(put, label)
		}
	}
	for _, label := range has {
		if label != prompt.Latest && !slices.Contains(in.Labels, label) {
			off = append(off, label)
		}
	}
	if len(put) > 0 {
		err = s.Service.SetLabels(ctx, r.User, v.ID, put, want.Number)
	}
	if len(off) > 0 && err == nil {
		err = s.Service.SetLabels(ctx, r.User, v.ID, off, 0)
	}
	if err != nil {
		return 0, nil, err
	}
	return s.shownSkill(ctx, r, want)
}

// numberedSkill returns the version of a skill that a path names.
func (s *server) numberedSkill(ctx context.Context, r request) (v library.View, want library.WantedVersion, err error) {
	if want.Number, err = numberIn(r); err != nil {
		return v, want, err
	}
	v, err = s.findSkill(ctx, r, want)
	return v, want, err
}

// numberIn returns the number of the version that a path names.
func numberIn(r request) (int64, error) {
	n, err := strconv.ParseInt(r.version, 10, 64)
	if err != nil || n < 1 {
		return 0, wrong("version", "must be a whole number of at least 1")
	}
	return n, nil
}

type deleted struct {
	Deleted bool `json:"deleted"`
}

// deleteSkill deletes a version; the skill with its only one, which its author can restore.
func (s *server) deleteSkill(ctx context.Context, r request) (int, any, error) {
	n, err := numberIn(r)
	if err != nil {
		return 0, nil, err
	}
	v, err := s.findSkill(ctx, r, library.WantedVersion{Number: n, History: true}) // one that was recalled too
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, deleted{true}, s.deleteOne(ctx, r, v)
}

// A skillMeta is a skill in a list.
type skillMeta struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	Latest      int64    `json:"latestVersion"`
	CreatedAt   string   `json:"latestVersionCreatedAt"`
	UpdatedAt   string   `json:"latestVersionLastUpdatedAt"`
	Production  *int64   `json:"productionVersion"`
}

type skillPlace struct {
	place
	HasNext bool `json:"hasNextPage"`
}

type skillPage struct {
	Data []skillMeta `json:"data"`
	Meta skillPlace  `json:"meta"`
}

func (s *server) listSkills(ctx context.Context, r request) (int, any, error) {
	q := library.SkillQuery{Name: r.query.Get("name"), Search: r.query.Get("search"), Tag: r.query.Get("tag")}
	page, err := number(r, "page", 1, 1, math.MaxInt32)
	if err != nil {
		return 0, nil, err
	}
	limit, err := number(r, "limit", defaultLimit, 1, maxLimit)
	if err != nil {
		return 0, nil, err
	}
	q.Page, q.Limit = int(page), int(limit)
	if q.From, err = moment(r, "fromUpdatedAt"); err != nil {
		return 0, nil, err
	}
	if q.To, err = moment(r, "toUpdatedAt"); err != nil {
		return 0, nil, err
	}
	found, err := s.Service.OwnSkills(ctx, r.User, q)
	if err != nil {
		return 0, nil, err
	}
	pages := (found.Total + q.Limit - 1) / q.Limit
	p := skillPage{
		Data: make([]skillMeta, len(found.Items)),
		Meta: skillPlace{place{q.Page, q.Limit, pages, found.Total}, q.Page < pages},
	}
	for i, x := range found.Items {
		m := skillMeta{
			Name: x.Slug, Description: skill.Head(x.Prompt, x.About(), x.Version).Description, Tags: tags(x.Draft),
			Latest: x.Newest.Number, CreatedAt: httpjson.FormatTime(x.Newest.At),
			UpdatedAt: httpjson.FormatTime(x.UpdatedAt),
		}
		if x.Production > 0 {
			m.Production = &x.Production
		}
		p.Data[i] = m
	}
	return http.StatusOK, p, nil
}

const (
	maxHashes   = 50
	maxContents = prompt.MaxFile // bytes of all contents of an answer
)

type fileContent struct {
	SHA256  string `json:"sha256Hash"`
	Content string `json:"content"`
}

type fileContents struct {
	Data []fileContent `json:"data"`
}

// getContents answers with the text of files by their hashes.
func (s *server) getContents(ctx context.Context, r request) (int, any, error) {
	hashes := strings.Split(r.query.Get("sha256Hashes"), ",")
	if len(hashes) > maxHashes {
		return 0, nil, wrong("sha256Hashes", fmt.Sprintf("name at most %d hashes", maxHashes))
	}
	sums := make([]string, len(hashes))
	for i, h := range hashes {
		var ok bool
		if sums[i], ok = inHex(strings.ReplaceAll(h, " ", "+")); !ok { // a + that was not encoded
			return 0, nil, wrong("sha256Hashes",
				"must be SHA-256 hashes in base64, as skills name them, with commas between")
		}
	}
	contents, err := s.contents(ctx, r, slices.Compact(slices.Sorted(slices.Values(sums))))
	if err != nil {
		return 0, nil, err
	}
	size := 0
	answer := fileContents{Data: []fileContent{}}
	for _, c := range contents {
		if size += c.File.Size; size > maxContents {
			return 0, nil, fault.New(fault.Invalid,
				fmt.Sprintf("these files have more than %d bytes together; ask for fewer at a time", maxContents))
		}
	}
	encoded := 0
	for i, sum := range sums {
		if slices.Contains(sums[:i], sum) {
			continue
		}
		c := contents[sum]
		folder, err := s.Service.FolderOf(ctx, c.View, c.File.Path)
		if err != nil {
			return 0, nil, err
		}
		b := folder.Contents[0].Bytes
		archive := fmt.Sprintf("GET /api/v1/prompts/%s/archive?version=%d has all files of the version as a ZIP",
			strings.ToLower(string(c.ID)), c.ShownVersion.Number)
		if !prompt.IsText(b) {
			return 0, nil, fault.New(fault.Invalid,
				fmt.Sprintf("the file %.100q is binary, and there are texts alone here: %s", c.File.Path, archive))
		}
		if encoded += prompt.Quoted(b); encoded > doors.MaxFilesAnswer {
			return 0, nil, fault.New(fault.Invalid,
				fmt.Sprintf("these files have more than %d bytes as JSON: ask for fewer at a time, or %s",
					doors.MaxFilesAnswer, archive))
		}
		answer.Data = append(answer.Data, fileContent{inBase64(sum), string(b)})
	}
	return http.StatusOK, answer, nil
}

// content returns where bytes are.
func (s *server) content(ctx context.Context, r request, sum string) (library.Content, error) {
	all, err := s.contents(ctx, r, []string{sum})
	return all[sum], err
}

// contents returns where bytes are: in the versions whose files this instance has named, or else in
// those that are found.
func (s *server) contents(ctx context.Context, r request, sums []string) (map[string]library.Content, error) {
	all := make(map[string]library.Content)
	read := func(sum string, at library.Numbered) error {
		for _, c := range all { // most are of one version
			i := slices.IndexFunc(c.Files, func(f prompt.File) bool { return f.SHA256 == sum })
			if i >= 0 && c.ID == at.ID && c.ShownVersion.Number == at.Number {
				all[sum] = library.Content{View: c.View, File: c.Files[i]}
				return nil
			}
		}
		c, err := s.Service.FindContent(ctx, r.User, at.ID, at.Number, sum)
		if err == nil {
			all[sum] = c
		}
		return err
	}
	owner := library.IDOf(r.User)
	var missing []string
	for _, sum := range sums {
		at, ok := s.seen.Get(seenKey{owner, sum})
		if ok {
			err := read(sum, at)
			if kind := fault.Of(err); err != nil && kind != fault.NotFound && kind != fault.Gone {
				return nil, err
			}
			ok = err == nil
		}
		if !ok {
			missing = append(missing, sum)
		}
	}
	if missing == nil {
		return all, nil
	}
	found, err := s.Service.FindContents(ctx, r.User, missing)
	if err != nil {
		return nil, err
	}
	for _, sum := range missing {
		at, ok := found[sum]
		if !ok {
			return nil, fault.New(fault.NotFound, "Skill file not found: '"+inBase64(sum)+
				"'; get the skill again, and ask for the files that it names")
		}
		if err := read(sum, at); err != nil {
			return nil, err
		}
	}
	return all, nil
}
