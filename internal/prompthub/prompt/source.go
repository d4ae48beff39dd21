package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"unicode/utf8"
)

const (
	// MaxSource is how many bytes of a file are kept with the version that was made of it.
	MaxSource = 256 << 10

	maxSourceName = 1000 // bytes

	maxExtra     = 100 // names of Extra
	maxExtraName = 100 // bytes
)

// A Source is the file that a version was made of.
type Source struct {
	Format string // as package format names it
	File   string // its name
	Bytes  []byte
	Syntax string // in which its text was rewritten, "" for as it was
	// names of members that only its format knows, so that an export in another format can tell that
	// they are lost, and need not read the file
	Extra []string
	// what the prompt was in addition to its content when it was made of the file: see Draft.State
	State string
}

// Hash returns the SHA-256 of the file, in hex.
func (s *Source) Hash() string {
	sum := sha256.Sum256(s.Bytes)
	return hex.EncodeToString(sum[:])
}

// Kept reports whether the file is one that can be kept.
func (s *Source) Kept() bool {
	return len(s.Bytes) <= MaxSource && len(s.File) <= maxSourceName && utf8.ValidString(s.File) &&
		!strings.ContainsRune(s.File, 0)
}

// WithExtra returns the source with the names of what only its format knows: those of one line that
// are short enough, and the first ones where they are many.
func (s Source) WithExtra(names []string) *Source {
	s.Extra = nil
	for _, name := range names {
		if len(name) <= maxExtraName && name != "" && !strings.Contains(name, "\n") && len(s.Extra) < maxExtra {
			s.Extra = append(s.Extra, name)
		}
	}
	return &s
}
