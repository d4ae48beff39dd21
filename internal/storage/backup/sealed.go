package backup

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// A file of a backup is lines of any application, in parts: after the lines of a part comes a line
// with its name and SHA-256, and after all parts one with that of the whole. The lines between are
// the application's.
const (
	partBytes = 1 << 20  // of the lines of a part, unless a single line is longer
	maxLine   = 24 << 20 // bytes: a blob as long as one may be, in base64
)

// A sum is the line after a part, and the last line.
type sum struct {
	Part   string `json:"part,omitempty"`
	Parts  int    `json:"parts,omitempty"` // how many there are, in the last line
	SHA256 string `json:"sha256"`
}

// SumBegins is how each such line begins, and no line of an application.
const SumBegins = `{"part`

func partName(n int) string { return fmt.Sprintf("%04d", n) }

// A Sealer adds the sums to the lines that are written to it.
type Sealer struct {
	to    io.Writer
	part  hash.Hash
	whole hash.Hash
	begun []byte // of a line whose end is still to come
	size  int    // of the lines of the part
	most  int    // of a part
	parts int
}

// NewSealer returns a Sealer that writes to w.
func NewSealer(w io.Writer) *Sealer {
	s := &Sealer{part: sha256.New(), whole: sha256.New(), most: partBytes}
	s.to = io.MultiWriter(w, s.whole)
	return s
}

// Write takes lines, in pieces of any length.
func (s *Sealer) Write(lines []byte) (n int, err error) {
	for n < len(lines) {
		end := bytes.IndexByte(lines[n:], '\n') + 1
		if end == 0 {
			s.begun = append(s.begun, lines[n:]...)
			return len(lines), nil
		}
		line := lines[n : n+end]
		if len(s.begun) > 0 {
			line = append(s.begun, line...)
			s.begun = s.begun[:0]
		}
		if err := s.add(line); err != nil {
			return n, err
		}
		n += end
	}
	return n, nil
}

func (s *Sealer) add(line []byte) error {
	if s.size > 0 && s.size+len(line) > s.most {
		if err := s.endPart(); err != nil {
			return err
		}
	}
	s.part.Write(line) // which never fails
	s.size += len(line)
	_, err := s.to.Write(line)
	return err
}

func (s *Sealer) endPart() error {
	s.parts++
	err := s.line(sum{Part: partName(s.parts), SHA256: hex.EncodeToString(s.part.Sum(nil))})
	s.part.Reset()
	s.size = 0
	return err
}

func (s *Sealer) line(l sum) error {
	text, err := json.Marshal(l)
	if err == nil {
		_, err = s.to.Write(append(text, '\n'))
	}
	return err
}

// Close ends the last part and writes the sum of the whole. It does not close the writer below.
func (s *Sealer) Close() error {
	if len(s.begun) > 0 {
		return errors.New("the last line of the backup has no end")
	}
	if s.size > 0 {
		if err := s.endPart(); err != nil {
			return err
		}
	}
	return s.line(sum{Parts: s.parts, SHA256: hex.EncodeToString(s.whole.Sum(nil))})
}

// Unseal returns the lines of a file that a Sealer wrote. None of a part is read before that has
// been found to be as its sum says; the error names a part that is not.
func Unseal(r io.Reader) io.Reader {
	return &unsealing{in: bufio.NewReaderSize(r, 1<<16), whole: sha256.New()}
}

type unsealing struct {
	in    *bufio.Reader
	whole hash.Hash
	lines bytes.Buffer // of the part that is read
	parts int
	err   error // after those lines
}

// Read reads lines.
func (u *unsealing) Read(p []byte) (int, error) {
	for u.lines.Len() == 0 {
		if u.err != nil {
			return 0, u.err
		}
		u.err = u.next()
	}
	return u.lines.Read(p)
}

// next takes the next part in. It returns io.EOF after the last one.
func (u *unsealing) next() error {
	u.lines.Reset()
	part := sha256.New()
	for {
		line, err := u.line()
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(line, []byte(SumBegins)) {
			if u.lines.Len() > 0 && u.lines.Len()+len(line) > partBytes {
				return u.damaged()
			}
			u.lines.Write(line)
			part.Write(line)
			u.whole.Write(line)
			continue
		}
		whole := hex.EncodeToString(u.whole.Sum(nil))
		if u.lines.Len() == 0 && string(line) == lineOf(sum{Parts: u.parts, SHA256: whole}) {
			return u.end()
		}
		if string(line) != lineOf(sum{Part: partName(u.parts + 1), SHA256: hex.EncodeToString(part.Sum(nil))}) {
			return u.damaged()
		}
		u.parts++
		u.whole.Write(line)
		return nil
	}
}

func lineOf(l sum) string {
	text, _ := json.Marshal(l) // of texts and a number
	return string(text) + "\n"
}

// line reads a line with its end.
func (u *unsealing) line() ([]byte, error) {
	var line []byte
	for {
		some, err := u.in.ReadSlice('\n')
		line = append(line, some...)
		switch {
		case err == nil:
			return line, nil
		case errors.Is(err, io.EOF):
			u.lines.Reset()
			return nil, fmt.Errorf("the backup is cut short: it ends in part %s", partName(u.parts+1))
		case !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		case len(line) > maxLine:
			return nil, u.damaged()
		}
	}
}

// end looks that nothing follows the last line.
func (u *unsealing) end() error {
	if _, err := u.in.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the last line of the backup")
	}
	return io.EOF
}

func (u *unsealing) damaged() error {
	u.lines.Reset()
	return fmt.Errorf(
		"part %s of the backup is damaged: it is not as its SHA-256 says; take another copy of the backup",
		partName(u.parts+1))
}
