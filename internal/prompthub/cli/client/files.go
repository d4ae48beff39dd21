package client

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/prompt"
)

// A ListedFile is a file of a version, as the service lists it.
type ListedFile struct {
	Path       string `json:"path"`
	SHA256     string `json:"sha256"`
	Executable bool   `json:"executable"`
	Script     bool   `json:"script"`
	Made       bool   `json:"made"` // of the text, by the service
}

// A FileList is the files of a version.
type FileList struct {
	Version int64        `json:"version"`
	Digest  string       `json:"digest"`
	Items   []ListedFile `json:"items"`
}

// find returns the file of a path.
func (l FileList) find(path string) (ListedFile, bool) {
	if i := slices.IndexFunc(l.Items, func(f ListedFile) bool { return f.Path == path }); i >= 0 {
		return l.Items[i], true
	}
	return ListedFile{}, false
}

// has reports whether the version has bytes that a request may name by their SHA-256.
func (l FileList) has(sum string) bool {
	return slices.ContainsFunc(l.Items, func(f ListedFile) bool { return f.SHA256 == sum && !f.Made })
}

// Files returns the list of the files of a prompt, none of one that is no skill.
func (c *Client) Files(ctx context.Context, id string) (list FileList, err error) {
	_, err = c.do(ctx, call{method: http.MethodGet, path: "/prompts/" + url.PathEscape(id) + "/files"}, &list)
	if isStatus(err, http.StatusNotFound) {
		return FileList{}, nil
	}
	return list, err
}

// Folder returns the files of a version that was found, the latest of a prompt that is known by its
// id alone, and the archive that they came in.
func (c *Client) Folder(ctx context.Context, f Found) (files []prompt.FileBytes, zip []byte, err error) {
	path := "/prompts/" + url.PathEscape(f.ID) + "/archive" + which(prompt.Ref{Version: f.Version})
	a, err := c.ask(ctx, call{method: http.MethodGet, path: path, accept: "*/*"})
	if err != nil {
		return nil, nil, err
	}
	files, err = archive.ReadAll(a.body)
	var set prompt.Files
	if err == nil {
		set, err = prompt.NewFiles(files)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("what the service sent is no folder of a skill: %w", err)
	}
	if digest := f.Files.Digest; digest != "" && set.Digest() != digest {
		return nil, nil, fmt.Errorf("the files that the service sent have the digest %s, and the version has %s",
			set.Digest(), digest)
	}
	return files, a.body, nil
}

// A FolderDraft is the files of a folder that become a version, and what else is said of it.
type FolderDraft struct {
	Name          string // by which the prompt is found
	Slug          string // as the SKILL.md has it
	Files         []prompt.FileBytes
	Title         string
	Message       string
	Labels        []string
	Tags, OwnTags []string
	Public        bool
	KeepBits      bool // files that are there keep their executable bits, as the system here has none
	NewOnly       bool // a prompt that is there is not changed
	DryRun        bool // nothing is sent
}

// said returns the members that go with the files.
func (d FolderDraft) said() map[string]any {
	m := make(map[string]any)
	for name, value := range map[string]string{"title": d.Title, "message": d.Message} {
		if value != "" {
			m[name] = value
		}
	}
	for name, list := range map[string][]string{"labels": d.Labels, "tags": d.Tags, "ownTags": d.OwnTags} {
		if len(list) > 0 {
			m[name] = list
		}
	}
	if d.Public {
		m["visibility"] = prompt.Public
	}
	return m
}

// A FileChange is a file that differs between the latest version and a folder.
type FileChange struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, changed, mode or removed
	Script bool   `json:"script,omitempty"`
}

// A SavedFolder is a prompt as SaveFolder leaves it, and what became different.
type SavedFolder struct {
	Saved
	Files   prompt.Files
	Changes []FileChange
}

// SaveFolder makes the caller's prompt of a name have the files of a folder, as Save does with a
// text. Of the files it sends those alone that the latest version lacks.
func (c *Client) SaveFolder(ctx context.Context, d FolderDraft) (s SavedFolder, err error) {
	for range saveTries {
		s, err = c.saveFolderOnce(ctx, d)
		if !isStatus(err, http.StatusPreconditionFailed) && !NameTaken(err) {
			break
		}
	}
	return s, err
}

// MakeFolder does that for the row of an import: an error with Rejected is about this row.
func (c *Client) MakeFolder(ctx context.Context, d FolderDraft) (Outcome, error) {
	s, err := c.SaveFolder(ctx, d)
	if isStatus(err, http.StatusNotFound) || refused(err, false) {
		return Rejected, err
	}
	return s.Outcome, err
}

// refusal returns what the service would say too.
func refusal(status int, message string, args ...any) error {
	return &Problem{Status: status, Errors: []Rule{{Message: fmt.Sprintf(message, args...)}}}
}

// NameDiffers refuses a SKILL.md with the name of another skill than that of its prompt.
func NameDiffers(says, name, slug string) error {
	return refusal(http.StatusUnprocessableEntity, "the SKILL.md is named %q and your prompt %q is the skill %q: change the name in the file, or make another prompt of it", says, name, slug)
}

func (c *Client) saveFolderOnce(ctx context.Context, d FolderDraft) (s SavedFolder, err error) {
	was, err := c.found(ctx, prompt.Ref{Name: d.Name})
	isNew := isStatus(err, http.StatusNotFound)
	if err != nil && !isNew {
		return s, err
	}
	if !isNew && was.Slug != d.Slug {
		return s, NameDiffers(d.Slug, was.Name, was.Slug)
	}
	if isNew && d.Name != d.Slug {
		return s, refusal(http.StatusNotFound, "you have no prompt %q, and a new one is called as its SKILL.md says, %q: leave out the name, or change the one in the file", d.Name, d.Slug)
	}
	var list FileList
	if !isNew {
		if list, err = c.Files(ctx, was.ID); err != nil {
			return s, err
		}
	}
	if d.KeepBits {
		d.Files = slices.Clone(d.Files)
		for i, f := range d.Files {
			there, _ := list.find(f.Path)
			d.Files[i].Executable = there.Executable
		}
	}
	if s.Files, err = prompt.NewFiles(d.Files); err != nil {
		return s, err
	}
	m := d.said()
	latest, same := list, list.Digest == s.Files.Digest()
	if list.Version != was.Version { // that was recalled, and its files are not listed
		latest, same = FileList{}, was.Files.Digest == s.Files.Digest()
	}
	if !same {
		m["files"], s.Changes = toSend(d.Files, latest), changes(s.Files, list)
	}
	switch {
	case isNew && d.DryRun:
		s.Saved = Saved{Found: Found{Name: d.Name, Version: 1}, Outcome: Created}
		return s, nil
	case isNew:
		s.Outcome = Created
		s.Found, err = c.addFolder(ctx, m)
		return s, err
	case same && len(m) == 0:
		s.Saved = Saved{Found: was, Outcome: Unchanged}
		return s, nil
	case d.NewOnly && same:
		s.Saved = Saved{Found: was, Outcome: Unchanged}
		return s, nil
	case d.NewOnly:
		return s, refusal(http.StatusConflict, "name: your prompt %q has it, with other files", was.Name)
	case d.DryRun:
		s.Saved = Saved{Found: was, Outcome: Updated, NewVersion: !same}
		return s, nil
	}
	s.Saved, err = c.patch(ctx, was, m)
	return s, err
}

func (c *Client) addFolder(ctx context.Context, members map[string]any) (made Found, err error) {
	if c.workspace != "" {
		members["workspace"] = c.workspace
	}
	body, err := encode(members)
	if err != nil {
		return made, err
	}
	_, err = c.do(ctx, call{method: http.MethodPost, path: "/prompts", key: rand.Text(), body: body}, &made)
	return made, err
}

// AddFolder makes a prompt of the files of a folder.
func (c *Client) AddFolder(ctx context.Context, files []prompt.FileBytes, message string) (Found, error) {
	m := FolderDraft{Message: message}.said()
	m["files"] = toSend(files, FileList{})
	return c.addFolder(ctx, m)
}

// ChangeFolder makes a prompt have the files of a folder, if it still has the revision that is
// known of it.
func (c *Client) ChangeFolder(ctx context.Context, was Prompt, files []prompt.FileBytes,
	message string,
) (Found, error) {
	list, err := c.Files(ctx, was.ID)
	if err != nil {
		return Found{}, err
	}
	m := FolderDraft{Message: message}.said()
	m["files"] = toSend(files, list)
	body, err := encode(m)
	if err != nil {
		return Found{}, err
	}
	var now Found
	_, err = c.do(ctx, call{
		method: http.MethodPatch, path: "/prompts/" + url.PathEscape(was.ID), body: body,
		match: fmt.Sprintf(`"%d"`, was.Revision),
	}, &now)
	return now, err
}

// A sentFile is a file in a request. Base64 has the same size for all bytes: so 8 MiB of them are
// within the limit of a body.
type sentFile struct {
	Path       string  `json:"path"`
	Content    *string `json:"content,omitempty"`
	Base64     []byte  `json:"base64,omitempty"`
	SHA256     string  `json:"sha256,omitempty"`
	Executable bool    `json:"executable,omitempty"`
}

func toSend(files []prompt.FileBytes, list FileList) []sentFile {
	var send []sentFile
	for _, f := range files {
		s := sentFile{Path: f.Path, Executable: f.Executable}
		switch sum := keyOf(f.Bytes); {
		case list.has(sum):
			s.SHA256 = sum
		case len(f.Bytes) == 0:
			s.Content = new(string)
		default:
			s.Base64 = f.Bytes
		}
		send = append(send, s)
	}
	return send
}

// changes returns what differs between files and those of the latest version, by path.
func changes(files prompt.Files, list FileList) (all []FileChange) {
	for _, f := range files {
		there, ok := list.find(f.Path)
		switch {
		case !ok:
			all = append(all, FileChange{f.Path, "added", f.Script})
		case there.SHA256 != f.SHA256:
			all = append(all, FileChange{f.Path, "changed", f.Script})
		case there.Executable != f.Executable:
			all = append(all, FileChange{f.Path, "mode", f.Script})
		}
	}
	for _, there := range list.Items {
		if _, ok := files.Find(there.Path); !ok {
			all = append(all, FileChange{there.Path, "removed", there.Script})
		}
	}
	slices.SortFunc(all, func(a, b FileChange) int { return strings.Compare(a.Path, b.Path) })
	return all
}
