package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"prompthub/internal/prompthub/client"
	"prompthub/internal/prompthub/prompt"
)

// A progress tells how far a command has come: in place on a terminal, else now and then by a line.
type progress struct {
	w        io.Writer
	what     string
	total    int // 0: not known
	terminal bool
}

const everyLine = 100 // on a terminal every tenth of it

func newProgress(w io.Writer, what string, total int) *progress {
	return &progress{w: w, what: what, total: total, terminal: isTerminal(w)}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// at takes note of how many there are so far.
func (p *progress) at(n int) {
	switch {
	case p.terminal && n%(everyLine/10) == 0:
		fmt.Fprintf(p.w, "\r\x1b[K%s", p.text(n))
	case !p.terminal && n%everyLine == 0:
		fmt.Fprintln(p.w, p.text(n))
	}
}

// clear makes room for another line.
func (p *progress) clear() {
	if p.terminal {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}

// done tells the number in the end.
func (p *progress) done(n int) {
	p.clear()
	fmt.Fprintf(p.w, "%d %s\n", n, p.what)
}

func (p *progress) text(n int) string {
	if p.total > 0 {
		return fmt.Sprintf("%d of %d %s", n, p.total, p.what)
	}
	return fmt.Sprintf("%d %s", n, p.what)
}

// A report tells what becomes of the rows of an import.
type report struct {
	out      io.Writer
	progress *progress
	seen     int
	counts   map[client.Outcome]int
	reasons  map[string]int // how many rows were rejected for each reason
	long     []int          // how long the texts are that were rejected for their length
}

// shownRows is how many rows are told of each reason to reject them.
const shownRows = 10

func newReport(std streams, total int) *report {
	return &report{out: std.out, progress: newProgress(std.err, "rows", total), counts: make(map[client.Outcome]int), reasons: make(map[string]int)}
}

func (r *report) add(res client.Result) {
	r.seen++
	r.counts[res.Outcome]++
	if res.Outcome == client.Rejected {
		r.rejected(res)
	}
	r.progress.at(r.seen)
}

func (r *report) rejected(res client.Result) {
	reason := client.Reason(res.Err)
	r.reasons[reason]++
	if client.TooLong(res.Err) {
		r.long = append(r.long, res.Row.Units())
	}
	if r.reasons[reason] <= shownRows {
		r.progress.clear()
		fmt.Fprintf(r.out, "row %d (%s) %.60q rejected: %v\n", res.Row.Number, res.Row.Place(), res.Row.Title, res.Err)
	}
}

func (r *report) end(dryRun bool) {
	r.progress.clear()
	for _, reason := range slices.Sorted(maps.Keys(r.reasons)) {
		if more := r.reasons[reason] - shownRows; more > 0 {
			fmt.Fprintf(r.out, "and %d more rejected: %s\n", more, reason)
		}
	}
	r.tellLong()
	word := "created"
	if dryRun {
		word = "would create"
	}
	fmt.Fprintf(r.out, "%s %d, ", word, r.counts[client.Created])
	if n := r.counts[client.Updated]; n > 0 {
		fmt.Fprintf(r.out, "updated %d, ", n)
	}
	fmt.Fprintf(r.out, "unchanged %d, rejected %d\n", r.counts[client.Unchanged], r.counts[client.Rejected])
}

// tellLong says how many of the texts that are too long a higher limit would take.
func (r *report) tellLong() {
	if len(r.long) == 0 {
		return
	}
	slices.Sort(r.long)
	limit := min(r.long[len(r.long)-1], prompt.LimitMaxText)
	n, _ := slices.BinarySearch(r.long, limit+1)
	fmt.Fprintf(r.out, "%d rows have texts that are too long; a service with MAX_TEXT=%d would take %d of them\n", len(r.long), limit, n)
}
