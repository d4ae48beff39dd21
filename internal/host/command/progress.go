package command

import (
	"fmt"
	"io"
	"time"
)

// A Progress tells how far a command has come: in place on a terminal, else by a line every ten
// seconds, so that a pipe or a log has few.
type Progress struct {
	w        io.Writer
	what     string
	total    int // 0: not known
	told     time.Time
	terminal bool
}

const (
	inPlace = 100 * time.Millisecond
	byLine  = 10 * time.Second
)

// NewProgress returns the progress of n things, of an unknown number where total is 0, that
// is told to w.
func NewProgress(w io.Writer, what string, total int) *Progress {
	p := &Progress{w: w, what: what, total: total}
	if s, ok := w.(*screen); ok {
		p.w, p.terminal = s.to, true // what it writes is its own
	} else {
		p.told = time.Now()
	}
	return p
}

// At takes note of how many there are so far, which need not be one more than before.
func (p *Progress) At(n int) {
	every := byLine
	if p.terminal {
		every = inPlace
	}
	if time.Since(p.told) < every {
		return
	}
	p.told = time.Now()
	if p.terminal {
		fmt.Fprintf(p.w, "\r\x1b[K%s", p.text(n))
	} else {
		fmt.Fprintln(p.w, p.text(n))
	}
}

// Clear makes room for another line.
func (p *Progress) Clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// Done tells the number in the end.
func (p *Progress) Done(n int) {
	p.Clear()
	fmt.Fprintf(p.w, "%d %s\n", n, p.what)
}

func (p *Progress) text(n int) string {
	if p.total > 0 {
		return fmt.Sprintf("%d of %d %s", n, p.total, p.what)
	}
	return fmt.Sprintf("%d %s", n, p.what)
}
