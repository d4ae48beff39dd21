package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Content is what versions keep: what a program needs of a prompt.
type Content struct {
	Text string // kept byte for byte
}

// Hash names the content: equal contents have equal hashes, now and later.
func (c Content) Hash() string {
	b, _ := json.Marshal([]any{"text", c.Text}) // strings cannot fail
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Same reports whether two contents are equal.
func (c Content) Same(d Content) bool { return c.Text == d.Text }

// Versions says which contents a prompt has had.
type Versions struct {
	Version int64 // of the content that the prompt has now
	Last    int64 // the highest number that was ever used; the next content has the number behind it
	From    int64 // the oldest that others may see while the prompt is public
}

// A Version is a content that a prompt has or had.
type Version struct {
	Number int64
	Content
	Hash    string // of the content, also where that was not read
	Message string // why it was made, for people
	Change
}

// Current returns the version that the prompt itself holds.
func (p Prompt) Current() Version {
	return Version{
		Number: p.Version, Content: p.Content(), Hash: p.Content().Hash(), Message: p.Message, Change: Change{By: p.AuthorID, At: p.UpdatedAt},
	}
}

// First numbers the content of a new prompt.
func First(p Prompt) Prompt {
	p.Versions = Versions{Version: 1, Last: 1, From: 1}
	return p
}

// Next numbers what becomes of a prompt: another content is a new version, and publishing makes the
// version of that moment the first that others see.
func Next(was, now Prompt) Prompt {
	now.Versions = was.Versions
	if now.Content().Same(was.Content()) {
		now.Message = was.Message
	} else {
		now.Last++
		now.Version = now.Last
	}
	if now.Visibility == Public && was.Visibility != Public {
		now.From = now.Version
	}
	return now
}

// A Change says who did something, and when.
type Change struct {
	By string // the id of a user
	At time.Time
}
