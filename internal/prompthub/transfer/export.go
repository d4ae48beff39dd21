package transfer

import (
	"bytes"
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// The export of an account is JSON Lines: the profile, each prompt by name, each vote on a prompt
// of somebody else, and each favorite. What a service numbers and dates by itself is not in it, so
// that two services have the same lines of the same account. A long history goes on in further
// lines.

// A line of an account has the members of one of these kinds.
type line struct {
	Profile *profile `json:"profile,omitzero"`
	Voted   *voted   `json:"voted,omitzero"`
	Favored *favored `json:"favored,omitzero"`
	Of      string   `json:"of,omitempty"` // the name of a prompt whose history goes on here
	*Account
	Versions []format.Version `json:"versions,omitempty"`
	Others   []other          `json:"others,omitempty"`
}

// An other is a version of a history that is too long for one request: the line has its number, and
// another request brings what it says. No export has one.
type other struct {
	Version int64       `json:"version"`
	Kind    prompt.Kind `json:"kind,omitempty"`
	Labels  []string    `json:"labels,omitempty"`
	Hash    string      `json:"hash"`
}

type profile struct {
	Handle string `json:"handle,omitempty"`
	Name   string `json:"name,omitempty"`
	About  string `json:"about,omitempty"`
}

// voted is a vote on a prompt of somebody else.
type voted struct {
	// @KEY/SLUG: who wrote it, as this service and those that were restored from its backup call him,
	// and what it is called
	On    string `json:"on"`
	Title string `json:"title"`
	Value string `json:"value"`
}

// favored is a favorite.
type favored struct {
	On    string `json:"on"` // as in voted; @me/SLUG where it is the user's own
	Title string `json:"title"`
}

// An Account is what an account has of a prompt in addition to its contents.
type Account struct {
	format.Document          // without a content, which Versions have
	Slug            string   `json:"slug,omitempty"`       // if it is not what the name gives
	OldNames        []string `json:"oldNames,omitempty"`   // that lead to it too
	PublicFrom      int64    `json:"publicFrom,omitempty"` // the first version that others see
	Vote            string   `json:"vote,omitempty"`       // the author's own
	// the service that it is brought over from and goes on in; no export has one
	From string `json:"from,omitempty"`
}

// Export returns a part of all that the caller has, and the cursor of the next part.
func Export(ctx context.Context, s *library.Service, who auth.User,
	cursor string,
) (file []byte, next string, err error) {
	part, err := s.Account(ctx, who, cursor)
	if err != nil {
		return nil, "", err
	}
	var lines []line
	if p := part.Profile; p != nil {
		if p.Given { // one is made there, too
			p.Handle = ""
		}
		lines = append(lines, line{Profile: &profile{Handle: p.Handle, Name: p.Name, About: p.About}})
	}
	for _, w := range part.Prompts {
		lines = append(lines, lineOf(w))
	}
	for _, v := range part.Votes {
		lines = append(lines, line{Voted: &voted{
			On:    "@" + s.AuthorKey(v.AuthorID) + "/" + v.Slug,
			Title: v.Title, Value: v.MyVote.String(),
		}})
	}
	for _, v := range part.Favorites {
		owner := s.AuthorKey(v.AuthorID)
		if v.IsOwn() {
			owner = library.Me
		}
		lines = append(lines, line{Favored: &favored{On: "@" + owner + "/" + v.Slug, Title: v.Title}})
	}
	var b bytes.Buffer
	if err := writeLines(&b, lines...); err != nil {
		return nil, "", err
	}
	return b.Bytes(), part.Next, nil
}

func writeLines(b *bytes.Buffer, lines ...line) error {
	for _, l := range lines {
		if err := json.MarshalWrite(b, l, jsontext.EscapeForHTML(false)); err != nil {
			return err
		}
		b.WriteByte('\n')
	}
	return nil
}

func lineOf(w promptdb.ExportedPrompt) line {
	var l line
	written := make(map[string]bool) // contents of files
	for _, v := range w.Versions {
		l.Versions = append(l.Versions, versionOf(w, v, written))
	}
	if w.Begin > 1 {
		l.Of = w.Name
		return l
	}
	l.Account = &Account{
		Document: format.Version{}.In(format.Of(w.Draft)),
		OldNames: w.OldNames, PublicFrom: w.PublicFrom,
	}
	if w.Slug != prompt.Slug(w.Name) {
		l.Slug = w.Slug
	}
	if w.MyVote != prompt.None {
		l.Vote = w.MyVote.String()
	}
	return l
}

// versionOf returns a version as it is exported. Contents of files that are written before, or that
// the version before this part has, are not written again.
func versionOf(w promptdb.ExportedPrompt, v prompt.Version, written map[string]bool) format.Version {
	d := format.Of(prompt.Draft{}.With(v.Content))
	made := format.Version{
		Version: v.Number, Kind: d.Kind, Text: d.Text, Messages: d.Messages, Config: d.Config,
		Variables: d.Variables, Message: v.Message,
		MadeBy: v.Made.By, MadeAt: v.Made.At,
	}
	if !v.Undescribed {
		made.Description = &v.Description
	}
	for label, n := range w.Labels {
		if n == v.Number {
			made.Labels = append(made.Labels, label)
		}
	}
	if r := v.Recall; r != nil {
		made.Recall = r.Reason
		// an import recalls it with the label
		if to, had := r.Labels[prompt.Production]; had && to == 0 && w.Withdrawn {
			made.Labels = append(made.Labels, prompt.Production)
		}
	}
	slices.Sort(made.Labels)
	for _, f := range v.Files.Written() {
		file := format.VersionFile{Path: f.Path, SHA256: f.SHA256, Executable: f.Executable}
		if !written[f.SHA256] {
			file.Data, written[f.SHA256] = w.FileBytes[f.SHA256], true
		}
		made.Files = append(made.Files, file)
	}
	if len(made.Files) > 0 {
		return made // without a file that it was made of: SKILL.md is one of the files
	}
	s, ok := w.Sources[v.Number]
	if !ok && v.Source != "" {
		made.Loss = []string{format.FieldSource}
	}
	if ok {
		made.Source = &format.Source{
			Format: format.Format(s.Format), File: s.File, Data: s.Bytes, State: s.State,
			Syntax: format.Syntax(s.Syntax), Extra: s.Extra,
		}
	} else {
		made.FileHash = v.FileHash // an earlier version has the file, or it is lost
	}
	return made
}
