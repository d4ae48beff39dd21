package main

import (
	"errors"
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
	out, err io.Writer // out has what people read; with --json that is standard error, too
	lines    io.Writer // with --json, the outcome of each row
	progress *command.Progress
	seen     int
	counts   map[client.Outcome]int
	reasons  map[string]int // how many rows were rejected for each reason
	unheld   map[string]int // how many rows say something that the library does not hold, by its name
	authors  bool           // whether the contributor of a row is its author, and so is held
	taken    int            // how many were rejected as a prompt of their name is there and says something else
	updates  bool           // whether such a prompt can be given a new version instead, which was not asked for
	warned   int            // how many rows have warnings
	again    string         // the command that takes a mended file in anew
	asked    bool           // whether the caller said who may see prompts
	unsaid   int            // how many prompts became private as their file does not say otherwise
	failed   error          // of the writing of lines
	long     []int          // how long the texts are that were rejected for their length
}

// shownRows is how many rows are told of each reason to reject them.
const shownRows = 10

func newReport(std command.Streams, total int, asJSON bool) *report {
	r := &report{
		out: std.Out, err: std.Err, progress: command.NewProgress(std.Err, "rows", total),
		counts: make(map[client.Outcome]int), reasons: make(map[string]int), unheld: make(map[string]int),
	}
	if asJSON {
		r.out, r.lines = std.Err, std.Out
	}
	return r
}

// A rowLine is what becomes of a row, as --json prints it.
type rowLine struct {
	Row      int      `json:"row"`
	Place    string   `json:"place"`
	Title    string   `json:"title"`
	Outcome  string   `json:"outcome"` // created, updated, unchanged or rejected
	Reason   string   `json:"reason,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

func (r *report) line(res client.Result) {
	l := rowLine{
		Row: res.Row.Number, Place: res.Row.Place(), Title: res.Row.Titled().Title,
		Outcome: res.Outcome.String(),
	}
	if res.Err != nil {
		l.Reason = res.Err.Error()
	}
	for _, w := range res.Row.Warnings {
		l.Warnings = append(l.Warnings, w.Text)
	}
	r.failed = errors.Join(r.failed, printJSON(r.lines, l))
}

func (r *report) add(res client.Result) {
	r.seen++
	r.counts[res.Outcome]++
	if r.lines != nil {
		r.line(res)
	}
	if res.Outcome == client.Rejected {
		r.rejected(res)
	} else {
		for _, name := range client.Unheld(res.Row.Document) {
			if name != "extra.contributor" || !r.authors {
				r.unheld[name]++
			}
		}
		r.warnings(res)
		if res.Outcome == client.Created && res.Row.Said().Visibility == "" &&
			res.Row.Visibility == string(prompt.Private) {
			r.unsaid++
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
	if r.reasons[reason] <= shownRows && r.lines == nil {
		r.progress.Clear()
		fmt.Fprintf(r.out, "row %d (%s) %.60q rejected: %v\n", res.Row.Number, res.Row.Place(),
			res.Row.Titled().Title, res.Err)
	}
}

// warnings prints what is not in the file as its format wants it.
func (r *report) warnings(res client.Result) {
	if len(res.Row.Warnings) == 0 {
		return
	}
	if r.warned++; r.warned > shownRows || r.lines != nil {
		return
	}
	r.progress.Clear()
	for _, w := range res.Row.Warnings {
		place := res.Row.Place()
		if w.Line > 0 {
			place = fmt.Sprintf("line %d", w.Line)
			if res.Row.Path != "" {
				place = res.Row.Path + ", " + place
			}
		}
		fmt.Fprintf(r.out, "row %d (%s) %.60q warning: %s\n", res.Row.Number, place, res.Row.Titled().Title, w.Text)
	}
}

func (r *report) end(dryRun bool) {
	r.progress.Clear()
	for _, reason := range slices.Sorted(maps.Keys(r.reasons)) {
		if more := r.reasons[reason] - shownRows; more > 0 && r.lines == nil {
			fmt.Fprintf(r.out, "and %d more rejected: %s\n", more, reason)
		}
	}
	r.tellLong(dryRun)
	if r.taken > 0 && r.updates {
		fmt.Fprintf(r.out, "%d rows have names of prompts that are there and say something else; with --update each becomes a new version of that\n", r.taken)
	}
	if r.warned > 0 {
		if more := r.warned - shownRows; more > 0 && r.lines == nil {
			fmt.Fprintf(r.out, "and %d more with warnings\n", more)
		}
		fmt.Fprintf(r.out, "rows with warnings: %d; mend the file and import it again: %s\n", r.warned, r.again)
	}
	r.tellUnheld()
	if r.unsaid > 0 && !r.asked && !dryRun {
		told := fmt.Sprintf("%d prompts are private, as their file does not say who may see them; --public makes such prompts public", r.unsaid)
		if r.unsaid == 1 {
			told = "1 prompt is private, as its file does not say who may see it; --public makes such prompts public"
		}
		fmt.Fprintln(r.err, told)
	}
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
	if n == 0 {
		fmt.Fprintf(r.out, "%d rows have texts that are too long for any service: the most is %d\n", len(r.long), limit)
		return
	}
	fmt.Fprintf(r.out, "%d rows have texts that are too long; a service with MAX_TEXT=%d would take %d of them\n",
		len(r.long), limit, n)
	if dryRun {
		fmt.Fprintln(r.out, "a dry run asks no service how long a text may be: set MAX_TEXT to what yours allows")
	}
}

// tellUnheld says what files say and the library does not hold.
func (r *report) tellUnheld() {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(r.unheld)) {
		count := r.unheld[name]
		member, invisible := strings.CutSuffix(name, format.FieldInvisible)
		switch {
		case name == format.FieldSource:
			fmt.Fprintf(r.err, "%d of %d files are too large to be kept with their prompts\n", count, r.seen)
		case invisible:
			fmt.Fprintf(r.err, "characters that no reader sees were removed from the %s of %d of %d rows\n", member,
				count, r.seen)
		default:
			members = append(members, fmt.Sprintf("%.60s (%d)", strings.TrimPrefix(name, "extra."), count))
		}
	}
	if len(members) > 0 {
		more := ""
		if n := len(members) - shownRows; n > 0 {
			members, more = members[:shownRows], fmt.Sprintf(" and %d more", n)
		}
		fmt.Fprintf(r.err, "kept in the files alone: %s%s\n", strings.Join(members, ", "), more)
	}
}
