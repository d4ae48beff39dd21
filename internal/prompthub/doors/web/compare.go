package web

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/prompthub/doors/web/markdown"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

// A comparePage is two versions of a prompt side by side, or as a unified difference.
type comparePage struct {
	Address  string // of the prompt
	Title    string
	From, To prompt.Version
	Views    []choice
	Swap     string // the address of the same the other way round
	Sections []section
}

// A section is a part of two contents and how it differs. It has rows side by side or lines one
// below the other, and neither if they have no room on a page.
type section struct {
	Name  string
	Rows  []diffRow
	Lines []signedLine
	File  *prompt.FileDiff // of a file, whose path is the name
}

// Binary reports whether a file differs in bytes of which no lines are compared.
func (s section) Binary() bool {
	return s.File != nil && !s.File.Lines && s.File.Change != prompt.FileMode
}

// Empty reports whether a file differs, and no line of it.
func (s section) Empty() bool { return s.File != nil && s.File.Before == s.File.After }

// Moded reports whether a file of both versions became executable, or stopped to be.
func (s section) Moded() bool {
	f := s.File
	return f.From.Path != "" && f.To.Path != "" && f.From.Executable != f.To.Executable
}

// Sizes returns how many bytes the two files have.
func (s section) Sizes() (sizes [2]int64) {
	return [2]int64{int64(s.File.From.Size), int64(s.File.To.Size)}
}

func (s *web) compare(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	v := viewOf(r, "from", "to", "view")
	from, to := versionNumber(v.get("from")), versionNumber(v.get("to"))
	if v.get("from") == "" && v.get("to") == "" {
		if from, to, err = s.lastTwo(r, id); err != nil {
			return err
		}
	}
	if from < 0 || to < 0 {
		return errNoVersion()
	}
	a, b, err := s.Service.Compare(r.Context(), r.who, id, from, to)
	if err != nil {
		return err
	}
	p := comparePage{Address: addressOf(id), Title: a.Title, From: a.ShownVersion, To: b.ShownVersion}
	p.Views = v.choices("view", [2]string{"", "Unified"}, [2]string{"split", "Side by side"})
	p.Swap = address(v.path, url.Values{"from": {strconv.FormatInt(to, 10)}, "to": {strconv.FormatInt(from, 10)}})
	kept, err := transfer.CompareFiles(r.Context(), s.Service, a, b)
	if err != nil {
		return err
	}
	if p.Sections, err = s.sections(r, id, p.From, p.To, kept, v.get("view") == "split"); err != nil {
		return err
	}
	return s.render(r, http.StatusOK, "compare", fmt.Sprintf("Version %d and %d of %s", from, to, p.Title), p)
}

// lastTwo returns the latest version of a prompt and the one before it, or the only one twice.
func (s *web) lastTwo(r *request, id prompt.ID) (from, to int64, err error) {
	h, err := s.Service.Versions(r.Context(), r.who, id, 2, "")
	if err != nil || len(h.Items) == 0 {
		return -1, -1, err
	}
	return h.Items[len(h.Items)-1].Number, h.Items[0].Number, nil
}

// sections compares two versions of a prompt, with their files, and those that they were made of.
func (s *web) sections(r *request, id prompt.ID, a, b prompt.Version, kept transfer.Files,
	split bool,
) ([]section, error) {
	files, err := s.Service.CompareFiles(r.Context(), id, a, b)
	return sections(a, b, kept, files, split), err
}

// maxComparedFiles is how many bytes of files make a page of a difference longer.
const maxComparedFiles = 256 << 10

// sections compares two versions: what people read of them, and what else differs. What a SKILL.md
// of the author says of both is shown once, as that file.
func sections(a, b prompt.Version, kept transfer.Files, files []prompt.FileDiff, split bool) []section {
	size := len(kept.From) + len(kept.To)
	for _, f := range files {
		size += len(f.Before) + len(f.After)
	}
	left := room(len(a.Words()) + len(b.Words()) + min(size, maxComparedFiles))
	from, to := prompt.Descriptions(a, b)
	parts := []struct{ name, a, b string }{
		{"Description", from, to},
		{"Text", a.Transcript(), b.Transcript()},
		{"Variables", declared(a.Variables), declared(b.Variables)},
		{"Config", a.Config, b.Config},
		{"File " + kept.Name, kept.From, kept.To},
	}
	if a.Files.WrittenSkill() && b.Files.WrittenSkill() {
		parts = parts[2:]
	}
	var all []section
	for _, part := range parts {
		if part.a != part.b {
			all = append(all, compared(part.name, part.a, part.b, split, &left))
		}
	}
	for _, f := range files {
		shown := section{Name: f.Path}
		if f.Before != f.After {
			shown = compared(f.Path, f.Before, f.After, split, &left).ofFile(f.Change)
		}
		shown.File = &f
		all = append(all, shown)
	}
	return all
}

// ofFile leaves out of a section what is no line of a file: the end of the last line, and the empty
// text that a version without the file has.
func (s section) ofFile(change prompt.FileChange) section {
	for i := range s.Rows {
		switch change {
		case prompt.FileAdded:
			s.Rows[i].Left = diffLine{}
		case prompt.FileRemoved:
			s.Rows[i].Right = diffLine{}
		case prompt.FileChanged, prompt.FileMode:
		}
	}
	s.Lines = slices.DeleteFunc(s.Lines, func(l signedLine) bool {
		return change == prompt.FileAdded && l.Op != prompt.Insert ||
			change == prompt.FileRemoved && l.Op != prompt.Delete
	})
	if n := len(s.Rows) - 1; n >= 0 && s.Rows[n].Same == 0 && len(s.Rows[n].Left.Runs)+len(s.Rows[n].Right.Runs) == 0 &&
		(change != prompt.FileChanged || !s.Rows[n].Changed()) {
		s.Rows = s.Rows[:n]
	}
	if n := len(s.Lines) - 1; n >= 0 && change == prompt.FileChanged && s.Lines[n].Op == prompt.Equal &&
		s.Lines[n].Same == 0 && len(s.Lines[n].Runs) == 0 {
		s.Lines = s.Lines[:n]
	}
	return s
}

// phrases joins words that follow one another in a line and were all replaced: readers take in two
// phrases sooner than words of both in turn.
func phrases(runs []prompt.Run) []prompt.Run {
	replaced := func(i int) bool {
		return i >= 0 && i+1 < len(runs) && runs[i].Op != prompt.Equal &&
			runs[i+1].Op != prompt.Equal && runs[i].Op != runs[i+1].Op
	}
	var all []prompt.Run
	var gone, come strings.Builder
	flush := func() {
		if gone.Len() > 0 {
			all = append(all, prompt.Run{Op: prompt.Delete, Text: gone.String()})
		}
		if come.Len() > 0 {
			all = append(all, prompt.Run{Op: prompt.Insert, Text: come.String()})
		}
		gone.Reset()
		come.Reset()
	}
	for i, r := range runs {
		switch {
		case r.Op == prompt.Delete:
			gone.WriteString(r.Text)
		case r.Op == prompt.Insert:
			come.WriteString(r.Text)
		case strings.Trim(r.Text, " ") == "" && replaced(i-2) && replaced(i+1):
			gone.WriteString(r.Text)
			come.WriteString(r.Text)
		default:
			flush()
			all = append(all, r)
		}
	}
	flush()
	return all
}

// compared returns a section as it fits into what is left of a page.
func compared(name, a, b string, split bool, left *budget) section {
	runs, few := prompt.WordsInLines(a, b, left.rows())
	if !few {
		return section{Name: name}
	}
	rows := rowsOf(phrases(runs))
	if split && left.take(sizeOfRows(rows)) {
		return section{Name: name, Rows: rows}
	}
	if lines := unified(rows); left.take(sizeOfLines(lines)) {
		return section{Name: name, Lines: lines}
	}
	return section{Name: name}
}

// A signedLine is a line of a unified difference, or stands for lines that are the same.
type signedLine struct {
	Op   prompt.RunOp
	Runs []prompt.Run
	Same int // how many lines are left out here, 0 for none
}

// unified puts rows below one another. Of rows in sequence that differ, the removed lines come
// before the added ones.
func unified(rows []diffRow) []signedLine {
	var all, added []signedLine
	flush := func() {
		all = append(all, added...)
		added = nil
	}
	for _, r := range rows {
		switch {
		case r.Same > 0:
			flush()
			all = append(all, signedLine{Op: prompt.Equal, Same: r.Same})
		case !r.Changed():
			flush()
			all = append(all, signedLine{Op: prompt.Equal, Runs: r.Left.Runs})
		default:
			if r.Left.Number > 0 {
				all = append(all, signedLine{Op: prompt.Delete, Runs: r.Left.Runs})
			}
			if r.Right.Number > 0 {
				added = append(added, signedLine{Op: prompt.Insert, Runs: r.Right.Runs})
			}
		}
	}
	flush()
	return all
}

func sizeOfLines(lines []signedLine) int {
	n := 0
	for _, l := range lines {
		n += aroundRow + sizeOf(l.Runs)
	}
	return n
}

func sizeOf(runs []prompt.Run) int {
	n := 0
	for _, r := range runs {
		n += len(markdown.Exact(r.Text)) + aroundPart
	}
	return n
}

// A diffRow is a line of one text next to that of another, or stands for lines that are the same.
type diffRow struct {
	Left, Right diffLine
	Same        int // how many lines are left out here, 0 for none
}

// A diffLine is a line of one of two texts. Number is 0 where the text has none next to that of the
// other.
type diffLine struct {
	Number int
	Runs   []prompt.Run
}

// Changed reports whether the two lines differ.
func (r diffRow) Changed() bool {
	return r.Left.changed() || r.Right.changed() || (r.Left.Number == 0) != (r.Right.Number == 0)
}

func (l diffLine) changed() bool {
	for _, r := range l.Runs {
		if r.Op != prompt.Equal {
			return true
		}
	}
	return false
}

// aroundRow is about what stands around a row in HTML, in bytes.
const aroundRow = 128

// rows returns how many rows have room at most.
func (b *budget) rows() int { return int(*b) / aroundRow }

func sizeOfRows(rows []diffRow) int {
	n := 0
	for _, r := range rows {
		n += aroundRow + sizeOf(r.Left.Runs) + sizeOf(r.Right.Runs)
	}
	return n
}

// rowsOf puts the lines of two texts next to one another. Where both have the same end of a line, a
// row ends.
func rowsOf(runs []prompt.Run) []diffRow {
	var l lines
	for _, run := range runs {
		rest := run.Text
		for {
			text, after, ends := strings.Cut(rest, "\n")
			if text != "" {
				l.add(prompt.Run{Op: run.Op, Text: text})
			}
			if !ends {
				break
			}
			rest = after
			l.end(run.Op)
		}
	}
	l.end(prompt.Equal)
	return folded(l.rows)
}

// lines are those of two texts while they are read.
type lines struct {
	sides [2]struct {
		line    diffLine   // that is read now
		waiting []diffLine // for an end that both have
		count   int
	}
	rows []diffRow
}

// of returns which texts have a run.
func of(op prompt.RunOp) []int {
	switch op {
	case prompt.Delete:
		return []int{0}
	case prompt.Insert:
		return []int{1}
	case prompt.Equal:
	}
	return []int{0, 1}
}

func (l *lines) add(run prompt.Run) {
	for _, i := range of(run.Op) {
		l.sides[i].line.Runs = append(l.sides[i].line.Runs, run)
	}
}

// end ends a line. Where both texts do, the lines before it are put next to one another: the first
// next to the first if they begin alike, else the last next to the last, as these end alike.
func (l *lines) end(op prompt.RunOp) {
	for _, i := range of(op) {
		side := &l.sides[i]
		side.count++
		side.line.Number = side.count
		side.waiting = append(side.waiting, side.line)
		side.line = diffLine{}
	}
	if op != prompt.Equal {
		return
	}
	left, right := l.sides[0].waiting, l.sides[1].waiting
	n := max(len(left), len(right))
	if len(left) > 0 && len(right) > 0 && left[0].begins() && right[0].begins() {
		left, right = padded(left, n), padded(right, n)
	}
	for i := range n {
		var row diffRow
		if at := i - n + len(left); at >= 0 {
			row.Left = left[at]
		}
		if at := i - n + len(right); at >= 0 {
			row.Right = right[at]
		}
		l.rows = append(l.rows, row)
	}
	l.sides[0].waiting, l.sides[1].waiting = nil, nil
}

// begins reports whether a line begins as the one next to it.
func (l diffLine) begins() bool { return len(l.Runs) > 0 && l.Runs[0].Op == prompt.Equal }

// padded returns n lines: those that there are, and none.
func padded(list []diffLine, n int) []diffLine { return append(list, make([]diffLine, n-len(list))...) }

// around is how many lines that are the same are shown before and after one that is not.
const around = 3

// folded leaves out lines that are the same, far from all that differ.
func folded(rows []diffRow) []diffRow {
	near := make([]bool, len(rows))
	for i, r := range rows {
		if r.Changed() {
			for j := max(i-around, 0); j < min(i+around+1, len(rows)); j++ {
				near[j] = true
			}
		}
	}
	var kept []diffRow
	for i, r := range rows {
		switch {
		case near[i]:
			kept = append(kept, r)
		case len(kept) > 0 && kept[len(kept)-1].Same > 0:
			kept[len(kept)-1].Same++
		default:
			kept = append(kept, diffRow{Same: 1})
		}
	}
	return kept
}
