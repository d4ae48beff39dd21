package prompt

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Kind says what the content of a prompt is.
type Kind string

// The kinds.
const (
	KindText Kind = "" // "text" for people and programs
	KindChat Kind = "chat"
)

// A Message is one of a chat, or a place for others. The JSON is that of stored prompts.
type Message struct {
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
	// the name of the messages to put here, instead of the others
	Placeholder string `json:"placeholder,omitempty"`
}

// Content is what versions keep: what a program needs of a prompt.
type Content struct {
	Kind      Kind
	Text      string // of KindText; kept byte for byte
	Messages  []Message
	Config    string // JSON, "" for none
	Variables []Variable
}

// Hash names the content: equal contents have equal hashes, now and later.
func (c Content) Hash() string { return c.hashWith("", "", nil) }

// hashWith names the content, a description, the SHA-256 of a kept file, and files. An empty one of
// these three has no part in the hash.
func (c Content) hashWith(description, file string, files Files) string {
	parts := []any{"text", c.Text}
	if c.Kind == KindChat {
		parts = []any{"chat", c.Messages}
	}
	if c.Config != "" {
		parts = append(parts, map[string]string{"config": c.Config})
	}
	if len(c.Variables) > 0 {
		parts = append(parts, c.Variables)
	}
	if description != "" {
		parts = append(parts, map[string]string{"description": description})
	}
	if file != "" {
		parts = append(parts, map[string]string{"file": file})
	}
	if written := files.Written(); len(written) > 0 {
		parts = append(parts, map[string]string{"files": written.Digest()})
	}
	b, _ := json.Marshal(parts) // nothing in it can fail
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Same reports whether two contents are equal.
func (c Content) Same(d Content) bool {
	return c.Kind == d.Kind && c.Text == d.Text && slices.Equal(c.Messages, d.Messages) &&
		c.Config == d.Config && slices.EqualFunc(c.Variables, d.Variables, Variable.same)
}

// Size returns about how many bytes a content has, counting its long parts.
func (c Content) Size() int {
	n := len(c.Text) + len(c.Config)
	for _, m := range c.Messages {
		n += len(m.Role) + len(m.Content) + len(m.Placeholder)
	}
	for _, v := range c.Variables {
		n += len(v.Name) + len(v.Label) + len(v.Description)
		if v.Default != nil {
			n += len(*v.Default)
		}
		for _, choice := range v.Choices {
			n += len(choice)
		}
	}
	return n
}

// Words returns what people read of the content.
func (c Content) Words() string {
	if c.Kind != KindChat {
		return c.Text
	}
	var b strings.Builder
	for _, m := range c.Messages {
		if m.Content != "" {
			b.WriteString(m.Content + "\n\n")
		}
	}
	return strings.TrimSuffix(b.String(), "\n\n")
}

// Transcript returns the content for people, with the roles of a chat.
func (c Content) Transcript() string {
	if c.Kind != KindChat {
		return c.Text
	}
	parts := make([]string, len(c.Messages))
	for i, m := range c.Messages {
		if parts[i] = m.Role + ":\n" + m.Content; m.Placeholder != "" {
			parts[i] = "[" + m.Placeholder + "]"
		}
	}
	return strings.Join(parts, "\n\n")
}

// Versions says which versions a prompt has had.
type Versions struct {
	Version int64 // of the content that the prompt has now
	Last    int64 // the highest number that was ever used; the next version has the next number
	From    int64 // the oldest that others may see while the prompt is public

	FileHash    string // of Version, as Version.FileHash
	Undescribed bool   // of Version, as Version.Undescribed
	Bundle      Bundle // of Version, as Version.Bundle
}

// A Version is what a prompt says or said: a content, its description, and the file that it was
// made of.
type Version struct {
	Number int64
	Content
	Description string // "" stands for the first sentence
	// the SHA-256, in hex, of the newest file that it or a version before it was made of: what
	// only the format of that file knows comes back with an export; "" for none
	FileHash string
	// whether it was made before descriptions and files belonged to versions: it shows the description
	// that the prompt has, and its hash names the content alone
	Undescribed bool
	Files       Files  // none for a version of a text or messages alone
	Bundle      Bundle // of Files; zero without any

	Hash    string  // as Digest returns it, also where the content was not read
	Message string  // why it was made, for people
	Source  string  // the format of the file that it was made of, "" for none
	Recall  *Recall // nil: it was not recalled
	Made    Made    // of one that was brought over
	Change
}

// Digest names all that the version says: versions that say the same have the same digest, now and
// later.
func (v Version) Digest() string {
	if v.Undescribed {
		return v.Content.Hash()
	}
	return v.hashWith(v.Description, v.FileHash, v.Files)
}

// Says reports whether two versions say the same to people and programs: the same content, with the
// same description as far as both have one, and the same files.
func (v Version) Says(w Version) bool {
	from, to := Descriptions(v, w)
	return v.Same(w.Content) && from == to && v.Files.Same(w.Files)
}

// Current returns the version that the prompt itself holds.
func (p Prompt) Current() Version {
	v := Version{
		Number: p.Version, Content: p.Content(), Description: p.Description,
		FileHash: p.FileHash, Undescribed: p.Undescribed,
		Files: p.Files, Bundle: p.Bundle, Message: p.Message, Made: p.Made,
		Change: Change{By: cmp.Or(p.MadeBy, p.AuthorID), At: p.UpdatedAt},
	}
	v.Hash = v.Digest()
	return v
}

// At returns the prompt with what one of its versions says.
func (p Prompt) At(v Version) Prompt {
	p.Draft = p.As(v)
	p.Message, p.Version, p.FileHash, p.Undescribed, p.Bundle = v.Message, v.Number, v.FileHash, v.Undescribed, v.Bundle
	if IsWorkspace(p.AuthorID) {
		p.MadeBy = v.By
	}
	return p
}

// First numbers the version of a new prompt.
func First(p Prompt) Prompt {
	p.Versions = Versions{Last: 0, From: 1}
	return p.numbered()
}

// numbered makes a new version of what the prompt says. Without a file of its own it keeps that of
// the version before, as an export of it does.
func (p Prompt) numbered() Prompt {
	p.Last++
	p.Version, p.Undescribed, p.MadeBy = p.Last, p.AsBefore, p.By.Key
	switch {
	case p.AsBefore, len(p.Files) > 0: // SKILL.md is one of the files
		p.FileHash = ""
	case p.Source != nil:
		p.FileHash = p.Source.Hash()
	}
	p.Anew, p.AsBefore = false, false
	return p
}

// Next numbers what becomes of a prompt: another content or description, one that must count anew,
// or one with a file that must be kept with it, is a new version, and publishing makes the version
// of that moment the first that others see.
func Next(was, now Prompt) Prompt {
	now.Versions = was.Versions
	if now.Content().Same(was.Content()) && now.Description == was.Description && now.Files.Same(was.Files) &&
		!now.Anew && now.Source == nil {
		now.Message, now.Files = was.Message, was.Files // with a SKILL.md that was made
	} else {
		now = now.numbered()
	}
	if now.Visibility == Public && was.Visibility != Public {
		now.From = now.Version
	}
	return now
}

// A Change says who did something, and when.
type Change struct {
	By UserID
	At time.Time
}
