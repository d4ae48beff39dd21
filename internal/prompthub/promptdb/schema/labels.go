package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// A LabelsRow is the truth of the labels of a prompt and of the numbers whose versions were
// deleted. A writer of name rows writes it under its ETag, so that their copies agree with it. It
// also holds what a label needs to be moved without a read of the truth row.
type LabelsRow struct {
	Labels     map[string]int64
	Gaps       Gaps
	Recalled   Gaps // the numbers of versions that were recalled
	Name, Slug string
	Last       int64
	Deleted    bool      // the prompt, whose names others may take
	MovedAt    time.Time // when its labels moved last; zero where none did since this is kept
	Bytes      int64     // that its versions take
	// bytes of the files of its versions, each once, as they were counted by the sweep and grew
	// since
	Files     int64
	Moves     int64 // of its labels
	Proposals int64 // the number of the last proposal
	Open      map[string]prompt.OpenProposal
	RenamedAt time.Time // when another rule began to count for a label, as the name changed
	etag      string
}

// ParseLabelsRow reads a labels row, or the copy of it that the row of a name has.
func ParseLabelsRow(row table.Row) (LabelsRow, error) {
	p := row.Props
	c := LabelsRow{
		Labels: map[string]int64{},
		Name:   p.Get("Name").Str(), Slug: p.Get("Slug").Str(), Last: p.Get("LastVersion").Int(),
		Deleted: p.Get("IsDeleted").Bool(),
		Bytes:   p.Get("Bytes").Int(), Files: p.Get("FileBytes").Int(), Moves: p.Get("Moves").Int(), etag: row.ETag,
	}
	if at := p.Get("MovedAt"); at.Type() == table.TypeTime {
		c.MovedAt = at.Time()
	}
	if text := p.Get("Labels").Str(); text != "" {
		if err := json.Unmarshal([]byte(text), &c.Labels); err != nil {
			return c, fmt.Errorf("property Labels of %s: %w", row.Key, err)
		}
	}
	if err := c.parseProposals(p); err != nil {
		return c, fmt.Errorf("property Open of %s: %w", row.Key, err)
	}
	var err error
	if c.Gaps, err = ParseGaps(p.Get("Gaps").Str()); err != nil {
		return c, fmt.Errorf("property Gaps of %s: %w", row.Key, err)
	}
	if c.Recalled, err = ParseGaps(p.Get("Recalled").Str()); err != nil {
		return c, fmt.Errorf("property Recalled of %s: %w", row.Key, err)
	}
	return c, nil
}

// Of returns the row with what the prompt says of itself.
func (c LabelsRow) Of(p prompt.Prompt) LabelsRow {
	c.Name, c.Slug, c.Last, c.Deleted = p.Name, p.Slug, p.Last, p.Deleted()
	return c
}

// Follows reports whether the row says of the prompt what the prompt does.
func (c LabelsRow) Follows(p prompt.Prompt) bool {
	return c.Name == p.Name && c.Slug == p.Slug && c.Last == p.Last && c.Deleted == p.Deleted()
}

// Has reports whether there is a version of a number.
func (c LabelsRow) Has(n int64) bool { return n >= 1 && n <= c.Last && !c.Gaps.Have(n) }

// With returns the row with a label on a version, or without the label for 0.
func (c LabelsRow) With(label string, to int64) LabelsRow {
	c.Labels = maps.Clone(c.Labels)
	if c.Labels == nil {
		c.Labels = map[string]int64{}
	}
	if c.Labels[label] = to; to == 0 {
		delete(c.Labels, label)
	}
	return c
}

// On returns the labels of a version, in order.
func (c LabelsRow) On(n int64) []string {
	var list []string
	for _, label := range slices.Sorted(maps.Keys(c.Labels)) {
		if c.Labels[label] == n {
			list = append(list, label)
		}
	}
	return list
}

// WithoutProduction returns the row with the label production on no version, as a recall leaves it:
// programs get none until it is on one again. Without the label they get the latest.
func (c LabelsRow) WithoutProduction() LabelsRow {
	c = c.With(prompt.Production, 0)
	c.Labels[prompt.Production] = 0
	return c
}

// Served returns the version that programs get who name none, 0 for none.
func (c LabelsRow) Served(p prompt.Prompt) int64 {
	n, isSet := c.Labels[prompt.Production]
	switch {
	case isSet && (n == 0 || c.Recalled.Have(n)):
		return 0
	case !isSet, c.Recalled.Have(p.Version) && !c.Serves(p, n):
		return c.Newest(p)
	}
	return n
}

// Newest returns the highest version that Serves, 0 for none.
func (c LabelsRow) Newest(p prompt.Prompt) int64 {
	if len(c.Recalled) == 0 {
		return p.Version
	}
	for n := p.Version; n > 0; n-- {
		if c.Serves(p, n) {
			return n
		}
	}
	return 0
}

// Serves reports whether programs may get a version: it is there, was not recalled, and others see
// it if the prompt is public.
func (c LabelsRow) Serves(p prompt.Prompt, n int64) bool {
	isThere := n == p.Version || c.Has(n) // a version that is being made is not in the row yet
	return n > 0 && isThere && !c.Recalled.Have(n) && (p.Visibility != prompt.Public || n >= p.From)
}

func (c LabelsRow) recalledProps() table.Props {
	if len(c.Recalled) == 0 {
		return nil
	}
	return table.Props{{Name: "Recalled", Value: table.String(c.Recalled.String())}}
}

// LabelsText is what rows hold of the labels.
func (c LabelsRow) LabelsText() string {
	if len(c.Labels) == 0 {
		return ""
	}
	b, _ := json.Marshal(c.Labels) // in order; texts and numbers cannot fail
	return string(b)
}

// Row returns the labels row of a prompt.
func (c LabelsRow) Row(author prompt.UserID, id prompt.ID) table.Row {
	row := table.Row{Key: LabelsKey(author, id), ETag: c.etag, Props: table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Labels", Value: table.String(c.LabelsText())},
		{Name: "Gaps", Value: table.String(c.Gaps.String())},
		{Name: "Name", Value: table.String(c.Name)},
		{Name: "Slug", Value: table.String(c.Slug)},
		{Name: "LastVersion", Value: table.Int64(c.Last)},
		{Name: "IsDeleted", Value: table.Bool(c.Deleted)},
		{Name: "Bytes", Value: table.Int64(c.Bytes)},
		{Name: "Moves", Value: table.Int64(c.Moves)},
	}}
	row.Props = append(row.Props, c.recalledProps()...)
	if c.Files > 0 {
		row.Props = append(row.Props, table.Prop{Name: "FileBytes", Value: table.Int64(c.Files)})
	}
	if !c.MovedAt.IsZero() {
		row.Props = append(row.Props, table.Prop{Name: "MovedAt", Value: table.Time(c.MovedAt)})
	}
	row.Props = append(row.Props, c.proposalProps()...)
	return row
}

// Op returns the write of the labels row: under its ETag, or for the first time.
func (c LabelsRow) Op(author prompt.UserID, id prompt.ID) table.Op {
	if c.etag == "" {
		return table.Op{Kind: table.Insert, Row: c.Row(author, id)}
	}
	return table.Op{Kind: table.Replace, Row: c.Row(author, id)}
}

// Gaps are the numbers of deleted versions, in order.
type Gaps []int64

// MaxGaps is how long their text may be: it has to fit into one property.
const MaxGaps = 30_000

// Have reports whether a number is among the gaps.
func (g Gaps) Have(n int64) bool {
	_, found := slices.BinarySearch(g, n)
	return found
}

// And returns the gaps with one more.
func (g Gaps) And(n int64) Gaps {
	i, _ := slices.BinarySearch(g, n)
	return slices.Insert(slices.Clone(g), i, n)
}

// String writes runs of numbers as 2-5.
func (g Gaps) String() string {
	var b strings.Builder
	for i := 0; i < len(g); i++ {
		first := i
		for i+1 < len(g) && g[i+1] == g[i]+1 {
			i++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(g[first], 10))
		if i > first {
			b.WriteString("-" + strconv.FormatInt(g[i], 10))
		}
	}
	return b.String()
}

// Without returns the gaps with one less.
func (g Gaps) Without(n int64) Gaps {
	return slices.DeleteFunc(slices.Clone(g), func(other int64) bool { return other == n })
}

// ParseGaps reads gaps as a labels row has them.
func ParseGaps(s string) (Gaps, error) {
	var g Gaps
	if s == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(s, ",") {
		from, to, run := strings.Cut(part, "-")
		if !run {
			to = from
		}
		first, err := strconv.ParseInt(from, 10, 64)
		last, err2 := strconv.ParseInt(to, 10, 64)
		if err := errors.Join(err, err2); err != nil || first < 1 || last < first || last > MaxVersion ||
			len(g) > 0 && first <= g[len(g)-1] {
			return nil, fmt.Errorf("%q is no list of numbers: %w", part, err)
		}
		for n := first; n <= last; n++ {
			g = append(g, n)
		}
	}
	return g, nil
}

// MoveRow returns the row that tells what became of a label.
func MoveRow(author prompt.UserID, id prompt.ID, m prompt.Move) table.Row {
	row := table.Row{Key: moveKey(author, id, m.At, m.Label), Props: table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Label", Value: table.String(m.Label)},
		{Name: "From", Value: table.Int64(m.From)},
		{Name: "To", Value: table.Int64(m.To)},
		{Name: "MovedBy", Value: table.String(string(m.By))},
		{Name: "MovedAt", Value: table.Time(m.At)},
	}}
	if m.Proposal > 0 {
		row.Props = append(row.Props, table.Prop{Name: "Proposal", Value: table.Int64(m.Proposal)})
	}
	if m.Followed {
		row.Props = append(row.Props, table.Prop{Name: "Followed", Value: table.Bool(true)})
	}
	if !m.Undone.At.IsZero() {
		row.Props = append(row.Props, UndoneProps(m.Undone)...)
	}
	return row
}

// UndoneProps say that a move of a label was undone.
func UndoneProps(c prompt.Change) table.Props {
	return table.Props{
		{Name: "UndoneBy", Value: table.String(string(c.By))},
		{Name: "UndoneAt", Value: table.Time(c.At)},
	}
}

// UndoneIdem is the property with the hash of the Idempotency-Key by which a move was undone.
const UndoneIdem = "UndoneIdem"

// ParseMoveRow reads the row of a move of a label.
func ParseMoveRow(row table.Row) prompt.Move {
	p := row.Props
	return prompt.Move{
		Label: p.Get("Label").Str(), From: p.Get("From").Int(), To: p.Get("To").Int(),
		Proposal: p.Get("Proposal").Int(),
		Followed: p.Get("Followed").Bool(),
		Change:   prompt.Change{By: UserIn(p, "MovedBy"), At: p.Get("MovedAt").Time()},
		Undone:   prompt.Change{By: UserIn(p, "UndoneBy"), At: p.Get("UndoneAt").Time()},
	}
}

// Tick is the smallest step of the times that keys hold.
const Tick = 100 * time.Nanosecond

// TooMany reports that a prompt would have more labels than it can.
func (c LabelsRow) TooMany() error {
	if len(c.Labels) <= prompt.MaxLabels {
		return nil
	}
	return fault.New(fault.Invalid, fmt.Sprintf("a prompt can have %d labels; remove one first", prompt.MaxLabels))
}

// IsLibraryKey reports whether a row key of the table of truth rows is one of a name, of labels or
// of a version.
func IsLibraryKey(row string) bool {
	return strings.HasPrefix(row, "!") && !strings.HasPrefix(row, MinePrefix) && !strings.HasPrefix(row, IdemPrefix)
}

// LibraryKey reports whether a row key is one of those that stand next to a prompt.
func LibraryKey(row string, id prompt.ID) bool {
	if strings.HasPrefix(row, NamePrefix) {
		return true
	}
	labels, okLabels := parseLabels(row)
	version, _, okVersion := ParseVersion(row)
	move, okMove := ParseMove(row)
	user, _, okUses := ParseUses(row)
	made, _, okSource := ParseSource(row)
	return okLabels && labels == id || okVersion && version == id || okMove && move == id ||
		okUses && user == id || okSource && made == id ||
		strings.HasPrefix(row, ProposalsOf(id)) || strings.HasPrefix(row, ReviewsOf(id)) || isOpenOf(row, id)
}

// HasLibraryRow reports whether a prompt may have such a row.
func HasLibraryRow(rec Record, key table.Key) bool {
	if _, n, ok := ParseVersion(key.Row); ok {
		return n <= rec.Last
	}
	if _, _, ok := ParseSource(key.Row); ok {
		return false // as its version says
	}
	if _, ok := ParseMove(key.Row); ok || strings.HasPrefix(key.Row, ProposalsOf(rec.ID)) ||
		strings.HasPrefix(key.Row, ReviewsOf(rec.ID)) {
		return true
	}
	is := func(name string) bool { return NameKey(rec.AuthorID, name) == key }
	return key == LabelsKey(rec.AuthorID, rec.ID) || slices.ContainsFunc(rec.Names(), is)
}

// NameProps returns what the rows of a prompt's name and slug hold: where it is, whether everyone
// may see it, and copies for lists.
func NameProps(p prompt.Prompt, c LabelsRow) table.Props {
	return append(table.Props{
		{Name: "PromptId", Value: table.String(string(p.ID))},
		{Name: "Name", Value: table.String(p.Name)},
		{Name: "Slug", Value: table.String(p.Slug)},
		{Name: "Version", Value: table.Int64(p.Version)},
		{Name: "LastVersion", Value: table.Int64(p.Last)},
		{Name: "Labels", Value: table.String(c.LabelsText())},
		{Name: "Gaps", Value: table.String(c.Gaps.String())},
		{Name: "Kind", Value: table.String(string(p.Kind))},
		{Name: "Tags", Value: table.String(JoinTags(p.Tags))},
		{Name: "UpdatedAt", Value: table.Time(p.UpdatedAt)},
		{Name: "IsDeleted", Value: table.Bool(p.Deleted())},
		{Name: "Listed", Value: table.Bool(p.Listed())},
	}, append(c.recalledProps(), ownTags(p)...)...)
}

// Redirect returns what the row of an old name holds.
func Redirect(id prompt.ID) table.Props {
	return table.Props{{Name: "PromptId", Value: table.String(string(id))}}
}

// IsRedirect reports whether a row of a name is that of an old one, which another prompt may take.
func IsRedirect(row table.Row) bool { return row.Props.Get("Name").Str() == "" }
