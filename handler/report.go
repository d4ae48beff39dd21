package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// A report tells what becomes of the rows of an import.
type report struct {
	out, err io.Writer
	progress *command.Progress
	seen     int
	counts   map[client.Outcome]int
	reasons  map[string]int // how many rows were rejected for each reason
	unheld   map[string]int // how many rows say something that the library does not hold, by its name
	authors  bool           // whether the contributor of a row is its author, and so is held
	taken    int            // how many were rejected as a prompt of their name is there and says something else
	updates  bool           // whether such a prompt can be given a new version instead, which was not asked for
	long     []int          // how long the texts are that were rejected for their length
}

// shownRows is how many rows are told of each reason to reject them.
const shownRows = 10

func newReport(std command.Streams, total int) *report {
	return &report{
		out: std.Out, err: std.Err, progress: command.NewProgress(std.Err, "rows", total),
		counts: make(map[client.Outcome]int), reasons: make(map[string]int), unheld: make(map[string]int),
	}
}

func (r *report) add(res client.Result) {
	r.seen++
	r.counts[res.Outcome]++
	if res.Outcome == client.Rejected {
		r.rejected(res)
	} else {
		for _, name := range client.Unheld(res.Row.Document) {
			if name != "extra.contributor" || !r.authors {
				r.unheld[name]++
			}
		}
	}
	r.progress.At(r.seen)
}

func (r *report) rejected(res client.Result) {
	reason := client.Reason(res.Err)
	r.reasons[reason]++
	if client.NameTaken(res.Err) {
		r.taken++
	}
	if client.TooLong(res.Err) {
		r.long = append(r.long, res.Row.Units())
	}
	if r.reasons[reason] <= shownRows {
		r.progress.Clear()
		fmt.Fprintf(r.out, "row %d (%s) %.60q rejected: %v\n", res.Row.Number, res.Row.Place(), res.Row.Title, res.Err)
	}
}

func (r *report) end(dryRun bool) {
	r.progress.Clear()
	for _, reason := range slices.Sorted(maps.Keys(r.reasons)) {
		if more := r.reasons[reason] - shownRows; more > 0 {
			fmt.Fprintf(r.out, "and %d more rejected: %s\n", more, reason)
		}
	}
	r.tellLong(dryRun)
	if r.taken > 0 && r.updates {
		fmt.Fprintf(r.out, "%d rows have names of prompts that are there and say something else; with --update each becomes a new version of that\n", r.taken)
	}
	r.tellUnheld()
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
func (r *report) tellLong(dryRun bool) {
	if len(r.long) == 0 {
		return
	}
	slices.Sort(r.long)
	limit := min(r.long[len(r.long)-1], prompt.LimitMaxText)
	n, _ := slices.BinarySearch(r.long, limit+1)
	fmt.Fprintf(r.out, "%d rows have texts that are too long; a service with MAX_TEXT=%d would take %d of them\n", len(r.long), limit, n)
	if dryRun {
		fmt.Fprintln(r.out, "a dry run asks no service how long a text may be: set MAX_TEXT to what yours allows")
	}
}

// tellUnheld says what files say and the library does not hold, that of most files first.
func (r *report) tellUnheld() {
	names := slices.SortedFunc(maps.Keys(r.unheld), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.unheld[b], r.unheld[a]), cmp.Compare(a, b))
	})
	for _, name := range names[:min(len(names), shownRows)] {
		count, why := r.unheld[name], "the library does not hold it, and leaves it to the file"
		member, invisible := strings.CutSuffix(name, format.FieldInvisible)
		switch {
		case name == format.FieldSource:
			why = "the file is too large to be kept with the prompt"
		case invisible:
			name, why = member, "characters that no reader sees were removed"
		}
		fmt.Fprintf(r.err, "%.60q in %d of %d rows: %s\n", name, count, r.seen, why)
	}
	if more := len(names) - shownRows; more > 0 {
		fmt.Fprintf(r.err, "and %d more that are left to the file\n", more)
	}
}
