package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// Batch returns the write of a record, for the first time or under its ETag, with others.
func (r Record) Batch(first bool, ops []table.Op, of Alike) ([]table.Op, error) {
	row, err := r.row(of)
	if err != nil {
		return nil, err
	}
	kind := table.Replace
	if first {
		kind = table.Insert
	}
	batch := append([]table.Op{{Kind: kind, Row: row}, {Kind: table.Upsert, Row: r.mineRow(of)}}, ops...)
	if err := table.Check(batch); err != nil {
		return nil, &fault.Error{
			Kind: fault.Invalid,
			Text: "text, messages, config and variables are too large together", Cause: err,
		}
	}
	return batch, nil
}

// RowsVersion says which rows a prompt has. A binary that meets a higher one leaves the prompt
// alone, and one that meets a store of a lower one refuses it.
const RowsVersion = 10

// describedVersions is the first RowsVersion whose versions have descriptions and files of their
// own.
const describedVersions = 9

// A Record is a truth row.
type Record struct {
	prompt.Prompt
	Idem        string    // hash of the Idempotency-Key that created it
	Purging     bool      // on its way out; nothing may change it any more
	RowsVersion int32     // of the binary that projected it last
	ProjectedAt time.Time // when its counts were last brought up to date
	Lease       *Lease    // set while the index rows may differ from it
	Indexed     bool      // just committed, and its index rows with it
	ETag        string

	LoggedAt time.Time // the stamp by which its rows in logs are sorted
	Logs     Logs      // in which it has a row
}

// A Lease marks a truth row whose index rows are being written.
type Lease struct {
	Attempt string    `json:"a"` // the attempt at work: an id that no other attempt has
	Until   time.Time `json:"u"` // when all its writes have landed or never will
	Stale   Entries   `json:"s"` // index rows that the change makes stale
}

// Held reports whether somebody else may be writing index rows now.
func (p *Lease) Held(now time.Time) bool { return p != nil && now.Before(p.Until) }

// AlsoStale returns a mark with further stale entries.
func (p *Lease) AlsoStale(e Entries) *Lease {
	if p == nil {
		return &Lease{Stale: e}
	}
	return &Lease{Attempt: p.Attempt, Until: p.Until, Stale: p.Stale.And(e)}
}

// SharedTexts names properties of index rows, which are alike in all rows of a prompt: a store may
// keep their texts once for all of these.
func SharedTexts() []string { return []string{"Excerpt", "Description", "Outline", "OutlineForOthers"} }

// SummaryProps returns the properties that every index row carries.
func SummaryProps(p prompt.Prompt) table.Props {
	props := table.Props{ // first those that searches decide by: the embedded store reads no further
		{Name: "PromptId", Value: table.String(string(p.ID))},
		{Name: "AuthorId", Value: table.String(string(p.AuthorID))},
		{Name: "AuthorName", Value: table.String(p.AuthorName)},
		{Name: "Title", Value: table.String(p.Title)},
		{Name: "TitleNormalized", Value: table.String(prompt.NormalizeTitle(p.Title))},
		{Name: "Tags", Value: table.String(JoinTags(p.Tags))},
		{Name: "Likes", Value: table.Int32(p.Likes)},
		{Name: "Dislikes", Value: table.Int32(p.Dislikes)},
		{Name: "Excerpt", Value: table.String(p.Content().Excerpt())},
		{Name: "Visibility", Value: table.String(string(p.Visibility))},
		{Name: "IsDeleted", Value: table.Bool(p.Deleted())},
		{Name: "CreatedAt", Value: table.Time(p.CreatedAt)},
		{Name: "UpdatedAt", Value: table.Time(p.UpdatedAt)},
	}
	props = append(props, weightProp(p.Tally)...) // by which searches are sorted
	if p.Kind != prompt.KindText {
		props = append(props, kindProp(p.Kind))
	}
	return append(props,
		table.Prop{Name: "Name", Value: table.String(p.Name)},
		table.Prop{Name: "Slug", Value: table.String(p.Slug)},
		table.Prop{Name: "Description", Value: table.String(prompt.Brief(p.About()))},
		table.Prop{Name: "Version", Value: table.Int64(p.Version)})
}

func kindProp(k prompt.Kind) table.Prop {
	return table.Prop{Name: "Kind", Value: table.String(string(k))}
}

// library returns what a truth row holds of names and versions beyond a summary.
func library(p prompt.Prompt) table.Props {
	props := table.Props{
		{Name: "OldNames", Value: table.String(strings.Join(p.OldNames, "|"))}, // no name has a |
		{Name: "LastVersion", Value: table.Int64(p.Last)},
		{Name: "PublicFrom", Value: table.Int64(p.From)},
		{Name: "Message", Value: table.String(p.Message)},
	}
	if p.FileHash != "" {
		props = append(props, table.Prop{Name: "FileHash", Value: table.String(p.FileHash)})
	}
	props = append(props, filesProps(p.Files, p.Bundle)...)
	if p.Undescribed {
		props = append(props, table.Prop{Name: "Undescribed", Value: table.Bool(true)})
	}
	if p.MadeBy != "" {
		props = append(props, table.Prop{Name: "MadeBy", Value: table.String(string(p.MadeBy))})
	}
	if p.ForkedFrom.ID != "" {
		props = append(props,
			table.Prop{Name: "OriginId", Value: table.String(string(p.ForkedFrom.ID))},
			table.Prop{Name: "OriginVersion", Value: table.Int64(p.ForkedFrom.Version)})
	}
	if p.AllArguments != nil {
		props = append(props, table.Prop{Name: "Included", Value: table.String(JSONOf(p.AllArguments))})
	}
	if p.InProduction != nil {
		props = append(props, programSummaryProp("Released", *p.InProduction))
	}
	return props
}

// authorSummary is the summary that the author's own list shows.
func authorSummary(p prompt.Prompt, summary table.Props) table.Props {
	return slices.Concat(summary, table.Props{{Name: "Revision", Value: table.Int64(p.Revision)}}, ownTags(p), marks(p))
}

// marks returns what deletion and hiding left on a prompt. Unset times are left out: Table
// Storage has none, and a Merge never has to clear them because edits replace the row.
func marks(p prompt.Prompt) table.Props {
	var props table.Props
	if p.Deleted() {
		props = append(props, table.Prop{Name: "DeletedAt", Value: table.Time(p.DeletedAt)})
	}
	if p.Hidden() {
		props = append(props,
			table.Prop{Name: "HiddenAt", Value: table.Time(p.HiddenAt)},
			table.Prop{Name: "HiddenBy", Value: table.String(string(p.HiddenBy))},
			table.Prop{Name: "HiddenReason", Value: table.String(p.HiddenReason)})
	}
	return props
}

// Row returns the truth row.
func (r Record) Row() (table.Row, error) { return r.row(Alike{summary: SummaryProps(r.Prompt)}) }

func (r Record) row(of Alike) (table.Row, error) {
	// the content has it
	own := slices.DeleteFunc(authorSummary(r.Prompt, of.summary), func(p table.Prop) bool { return p.Name == "Kind" })
	props := slices.Concat(own, library(r.Prompt), contentProps(r.Content()), table.Props{
		{Name: "RowsVersion", Value: table.Int32(r.RowsVersion)},
	})
	for i, p := range props {
		if p.Name == "Description" { // only what its author wrote: the rest follows from the text
			props[i].Value = table.String(r.Description)
		}
	}
	if r.Idem != "" {
		props = append(props, table.Prop{Name: "IdempotencyHash", Value: table.String(r.Idem)})
	}
	if r.Purging {
		props = append(props, table.Prop{Name: "IsPurging", Value: table.Bool(true)})
	}
	if !r.ProjectedAt.IsZero() {
		props = append(props, table.Prop{Name: "ProjectedAt", Value: table.Time(r.ProjectedAt)})
	}
	text := ""
	if r.Lease != nil {
		b, err := json.Marshal(r.Lease)
		if err != nil {
			return table.Row{}, err
		}
		text = string(b)
	}
	if !r.LoggedAt.IsZero() {
		props = append(props,
			table.Prop{Name: "LoggedAt", Value: table.Time(r.LoggedAt)},
			table.Prop{Name: "Logs", Value: table.Int32(int32(r.Logs))})
	}
	props = append(props, table.Prop{Name: "Pending", Value: table.String(text)})
	return table.Row{Key: PromptKey(r.AuthorID, r.ID), ETag: r.ETag, Props: props}, nil
}

// MineRow returns the author's summary row, which is written in the same batch.
func (r Record) MineRow() table.Row { return r.mineRow(r.Alike()) }

func (r Record) mineRow(of Alike) table.Row {
	return table.Row{
		Key:   MineKey(r.AuthorID, r.ID),
		Props: append(authorSummary(r.Prompt, of.summary), ownSummaryProps(r.Prompt, of.programs)...),
	}
}

// ErrUnreadable means that a truth row is damaged, and ErrNewer that a later version of the
// application wrote it. Checks report both, and go on.
var (
	ErrUnreadable = errors.New("cannot be read")
	ErrNewer      = errors.New("was written by a newer version of the application")
)

// Unreadable reports whether an error is that a row cannot be read, so that others can.
func Unreadable(err error) bool {
	return errors.Is(err, ErrUnreadable) || errors.Is(err, table.ErrDamaged)
}

// ParseRecord reads a truth row.
func ParseRecord(row table.Row) (Record, error) {
	p := ParseSummary(row)
	content, err := parseContent(row)
	if err != nil {
		return Record{}, err
	}
	p.Draft = p.With(content)
	p.Message = row.Props.Get("Message").Str()
	files, bundle, err := parseFiles(row)
	if err != nil {
		return Record{}, err
	}
	p.Files = files
	p.Versions = prompt.Versions{
		Version: row.Props.Get("Version").Int(), Last: row.Props.Get("LastVersion").Int(),
		From:        row.Props.Get("PublicFrom").Int(),
		FileHash:    row.Props.Get("FileHash").Str(),
		Bundle:      bundle,
		Undescribed: row.Props.Get("Undescribed").Bool() || row.Props.Get("RowsVersion").Int() < describedVersions,
	}
	if names := row.Props.Get("OldNames").Str(); names != "" {
		p.OldNames = strings.Split(names, "|")
	}
	p.MadeBy = UserIn(row.Props, "MadeBy")
	p.InProduction = ParseProgramSummary(row.Props.Get("Released").Str())
	if text := row.Props.Get("Included").Str(); text != "" && json.Unmarshal([]byte(text), &p.AllArguments) != nil {
		p.AllArguments = nil // an unreadable row is shown to no caller
	}
	p.ForkedFrom = prompt.ForkedFrom{
		ID: prompt.ID(row.Props.Get("OriginId").Str()), Version: row.Props.Get("OriginVersion").Int(),
	}
	r := Record{
		Prompt:      p,
		Idem:        row.Props.Get("IdempotencyHash").Str(),
		Purging:     row.Props.Get("IsPurging").Bool(),
		RowsVersion: int32(row.Props.Get("RowsVersion").Int()),
		ProjectedAt: row.Props.Get("ProjectedAt").Time(),
		ETag:        row.ETag,
		LoggedAt:    row.Props.Get("LoggedAt").Time(),
		Logs:        Logs(row.Props.Get("Logs").Int()) & (inPublic | inOwn),
	}
	if text := row.Props.Get("Pending").Str(); text != "" {
		r.Lease = new(Lease)
		if err := json.Unmarshal([]byte(text), r.Lease); err != nil {
			return Record{}, fmt.Errorf("%w: property Pending: %w", ErrUnreadable, err)
		}
	}
	if PromptKey(p.AuthorID, p.ID) != row.Key {
		return Record{}, fmt.Errorf("%w: the truth row holds prompt %q, or an author, that its key does not name",
			ErrUnreadable, p.ID)
	}
	return r, nil
}

// ParseSummary reads the part of a prompt that a row carries: all of it but the text from a truth
// row or an author's summary, and no deletion or hiding from the others.
func ParseSummary(row table.Row) prompt.Prompt {
	var p prompt.Prompt
	for _, x := range row.Props {
		v := x.Value
		switch x.Name {
		case "PromptId":
			p.ID = prompt.ID(v.Str())
		case "AuthorId":
			p.AuthorID = prompt.UserID(v.Str())
		case "AuthorName":
			p.AuthorName = v.Str()
		case "Title":
			p.Title = v.Str()
		case "Name":
			p.Name = v.Str()
		case "Slug":
			p.Slug = v.Str()
		case "Description":
			p.Description = v.Str()
		case "Version":
			p.Version = v.Int()
		case "Kind":
			p.Kind = prompt.Kind(v.Str())
		case "Tags":
			p.Tags = SplitTags(v.Str())
		case "OwnTags":
			p.OwnTags = strings.Split(v.Str(), "\n")
		case "Visibility":
			p.Visibility = prompt.Visibility(v.Str())
		case "CreatedAt":
			p.CreatedAt = v.Time()
		case "UpdatedAt":
			p.UpdatedAt = v.Time()
		case "Likes":
			p.Likes = int32(v.Int())
		case "Dislikes":
			p.Dislikes = int32(v.Int())
		case "Weight":
			p.Weight = prompt.Weight(v.Str())
		case "Revision":
			p.Revision = v.Int()
		case "DeletedAt":
			p.DeletedAt = v.Time()
		case "HiddenAt":
			p.HiddenAt = v.Time()
		case "HiddenBy":
			p.HiddenBy = prompt.UserID(v.Str())
		case "HiddenReason":
			p.HiddenReason = v.Str()
		}
	}
	return p
}

// ownTags returns what the rows of the author's own lists hold of tags outside the catalog.
func ownTags(p prompt.Prompt) table.Props {
	if len(p.OwnTags) == 0 {
		return nil
	}
	// none has a line break
	return table.Props{{Name: "OwnTags", Value: table.String(strings.Join(p.OwnTags, "\n"))}}
}

// JoinTags writes tags as a row has them.
func JoinTags(tags []prompt.Tag) string {
	var b strings.Builder
	for i, t := range tags {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(string(t))
	}
	return b.String()
}

// SplitTags is the opposite of JoinTags.
func SplitTags(s string) []prompt.Tag {
	if s == "" {
		return nil
	}
	parts := strings.Split(s, ";")
	tags := make([]prompt.Tag, len(parts))
	for i, part := range parts {
		tags[i] = prompt.Tag(part)
	}
	return tags
}

// AllTags returns the tags of a row, those of the catalog and then the prompt's own.
func AllTags(p table.Props) []string {
	list := []string{}
	for _, tag := range SplitTags(p.Get("Tags").Str()) {
		list = append(list, string(tag))
	}
	if own := p.Get("OwnTags").Str(); own != "" {
		list = append(list, strings.Split(own, "\n")...)
	}
	return list
}
