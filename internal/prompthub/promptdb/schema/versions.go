package schema

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// The file that a version was made of stands in a row of its own, which is written with that of the
// version and goes with it. The row of the version says whether there is one.

func sourceProp(format string) table.Props {
	if format == "" {
		return nil
	}
	return table.Props{{Name: "Source", Value: table.String(format)}}
}

// SourceRow returns the row of the file that a version was made of.
func SourceRow(author prompt.UserID, id prompt.ID, n int64, s prompt.Source) table.Row {
	props := table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "Format", Value: table.String(s.Format)},
		{Name: "File", Value: table.String(s.File)},
		{Name: "State", Value: table.String(s.State)},
	}
	if s.Syntax != "" {
		props = append(props, table.Prop{Name: "Syntax", Value: table.String(s.Syntax)})
	}
	if len(s.Extra) > 0 {
		props = append(props, table.Prop{Name: "Extra", Value: table.String(strings.Join(s.Extra, "\n"))})
	}
	return table.Row{Key: SourceKey(author, id, n), Props: append(props, TextParts("Packed", pack(s.Bytes))...)}
}

// ParseSourceRow is the opposite of SourceRow.
func ParseSourceRow(row table.Row) (prompt.Source, error) {
	b, err := unpack(JoinedText(row, "Packed"))
	if err != nil {
		err = fmt.Errorf("the file at %s: %w", row.Key, err)
	}
	var extra []string
	if names := row.Props.Get("Extra").Str(); names != "" {
		extra = strings.Split(names, "\n")
	}
	return prompt.Source{
		Format: row.Props.Get("Format").Str(), File: row.Props.Get("File").Str(),
		State: row.Props.Get("State").Str(), Bytes: b,
		Syntax: row.Props.Get("Syntax").Str(), Extra: extra,
	}, err
}

// compressors are kept because a new one takes 800 KB, most of which must be cleared.
var compressors = sync.Pool{New: func() any {
	w, err := flate.NewWriter(nil, flate.DefaultCompression)
	if err != nil {
		panic(err) // unreachable: the level is one
	}
	return w
}}

// pack returns bytes compressed, as a text.
func pack(b []byte) string {
	var packed bytes.Buffer
	text := base64.NewEncoder(base64.StdEncoding, &packed)
	w := compressors.Get().(*flate.Writer)
	defer compressors.Put(w)
	w.Reset(text)
	_, err := w.Write(b)
	if err := errors.Join(err, w.Close(), text.Close()); err != nil {
		panic(err) // unreachable: a buffer takes all
	}
	return packed.String()
}

func unpack(text string) ([]byte, error) { return unpackWithin(text, prompt.MaxSource) }

// unpackWithin reads what pack wrote, up to a number of bytes.
func unpackWithin(text string, most int64) ([]byte, error) {
	r := flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text)))
	return io.ReadAll(io.LimitReader(r, most))
}

// What a version includes stands in its own row, in a property that is read without the texts, and
// in a row for each name that it includes, under that name: so a prompt knows who includes it.

// IncludesProps returns what the row of a version says of what it includes.
func IncludesProps(includes []prompt.Include) table.Props {
	if len(includes) == 0 {
		return nil
	}
	texts := make([]string, 0, prompt.MaxIncludes)
	// one stored before there was a limit may have more
	for _, i := range includes[:min(len(includes), prompt.MaxIncludes)] {
		texts = append(texts, i.String())
	}
	// no name has a line break
	return table.Props{{Name: "Includes", Value: table.String(strings.Join(texts, "\n"))}}
}

// IncludesIn reads it, and the same of a row of UsesRows.
func IncludesIn(row table.Row) []prompt.Include {
	var all []prompt.Include
	for text := range strings.SplitSeq(row.Props.Get("Includes").Str(), "\n") {
		if i, ok := prompt.ParseInclude(text); ok {
			all = append(all, i)
		}
	}
	return all
}

// UsesRows returns the rows of a version by which those whom it includes know of it: one for each
// name.
func UsesRows(author prompt.UserID, id prompt.ID, n int64, includes []prompt.Include) []table.Row {
	var rows []table.Row
	var names []string
	includes = includes[:min(len(includes), prompt.MaxIncludes)]
	for _, i := range includes {
		if slices.Contains(names, i.Name) {
			continue
		}
		names = append(names, i.Name)
		ofName := slices.DeleteFunc(slices.Clone(includes), func(other prompt.Include) bool {
			return other.Name != i.Name
		})
		rows = append(rows, table.Row{Key: usesKey(author, i.Name, id, n), Props: append(table.Props{
			{Name: "PromptId", Value: table.String(string(id))},
			{Name: "Version", Value: table.Int64(n)},
		}, IncludesProps(ofName)...)})
	}
	return rows
}

// SideProps is what the row of a version says of other rows that stand next to it.
var SideProps = []string{"Version", "Includes", "Source", "Size"}

// SideKeys returns the rows that go with that of a version, without what is in them.
func SideKeys(author prompt.UserID, id prompt.ID, row table.Row) (keys []table.Key) {
	n := row.Props.Get("Version").Int()
	for _, row := range UsesRows(author, id, n, IncludesIn(row)) {
		keys = append(keys, row.Key)
	}
	if row.Props.Get("Source").Str() != "" {
		keys = append(keys, SourceKey(author, id, n))
	}
	return keys
}

// contentProps returns what truth rows and version rows keep of a content.
func contentProps(c prompt.Content) table.Props {
	props := TextParts("PromptText", c.Text)
	if c.Kind == prompt.KindChat {
		props = append(props, kindProp(c.Kind))
		props = append(props, TextParts("Messages", JSONOf(c.Messages))...)
	}
	if c.Config != "" {
		props = append(props, TextParts("Config", c.Config)...)
	}
	if len(c.Variables) > 0 {
		props = append(props, TextParts("Variables", JSONOf(c.Variables))...)
	}
	return props
}

// JSONOf writes what the domain has checked: texts, numbers and truth values, which cannot fail.
func JSONOf(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func parseContent(row table.Row) (prompt.Content, error) {
	c := prompt.Content{
		Kind: prompt.Kind(row.Props.Get("Kind").Str()), Text: JoinedText(row, "PromptText"),
		Config: JoinedText(row, "Config"),
	}
	var errs [2]error
	if text := JoinedText(row, "Messages"); text != "" {
		errs[0] = json.Unmarshal([]byte(text), &c.Messages)
	}
	if text := JoinedText(row, "Variables"); text != "" {
		errs[1] = json.Unmarshal([]byte(text), &c.Variables)
	}
	if err := errors.Join(errs[:]...); err != nil {
		return c, fmt.Errorf("content of %s: %w", row.Key, err)
	}
	return c, nil
}

// VersionRow returns the row of a version, next to which a file takes some bytes. Inserting it
// takes its number.
func VersionRow(author prompt.UserID, id prompt.ID, v prompt.Version, kept int) table.Row {
	content := append(contentProps(v.Content), describedProps(v)...)
	return table.Row{
		Key: VersionKey(author, id, v.Number),
		Props: slices.Concat(IncludesProps(v.Includes()), sourceProp(v.Source), table.Props{
			{Name: "PromptId", Value: table.String(string(id))},
			{Name: "Version", Value: table.Int64(v.Number)},
			{Name: "Message", Value: table.String(v.Message)},
			{Name: "CreatedBy", Value: table.String(string(v.By))},
			{Name: "CreatedAt", Value: table.Time(v.At)},
			{Name: "ContentHash", Value: table.String(v.Digest())},
			sizeProp(v, content, kept),
		}, RecallProps(v.Recall), MadeProps(v.Made), content),
	}
}

// RecallProps returns what the row of a version says of its recall.
func RecallProps(r *prompt.Recall) table.Props {
	if r == nil {
		return nil
	}
	return table.Props{{Name: "Recall", Value: table.String(JSONOf(r))}}
}

// MadeProps returns what the row of a version says of who made it in another service, and when.
func MadeProps(m prompt.Made) (props table.Props) {
	if m.By != "" {
		props = append(props, table.Prop{Name: "MadeThereBy", Value: table.String(m.By)})
	}
	if !m.At.IsZero() {
		props = append(props, table.Prop{Name: "MadeThereAt", Value: table.Time(m.At)})
	}
	return props
}

// MadeIn is the opposite of MadeProps.
func MadeIn(row table.Row) (m prompt.Made) {
	m.By = row.Props.Get("MadeThereBy").Str()
	if at := row.Props.Get("MadeThereAt"); at.Type() == table.TypeTime {
		m.At = at.Time()
	}
	return m
}

// NotRecalled says that a recall was taken back.
var NotRecalled = table.Props{{Name: "Recall", Value: table.String("")}}

// RecallIn returns the recall of a version, nil for none.
func RecallIn(row table.Row) *prompt.Recall {
	text := row.Props.Get("Recall").Str()
	if text == "" {
		return nil
	}
	r := new(prompt.Recall)
	_ = json.Unmarshal([]byte(text), r) // verify reports what cannot be read; it stays recalled
	return r
}

// describedProps returns what the row of a version says beyond its content. The row of a version of
// before descriptions belonged to versions says nothing.
func describedProps(v prompt.Version) table.Props {
	if v.Undescribed {
		return nil
	}
	props := table.Props{{Name: "Described", Value: table.Bool(true)}}
	if v.Description != "" {
		props = append(props, table.Prop{Name: "Description", Value: table.String(v.Description)})
	}
	if v.FileHash != "" {
		props = append(props, table.Prop{Name: "FileHash", Value: table.String(v.FileHash)})
	}
	return append(props, filesProps(v.Files, v.Bundle)...)
}

// ParseVersionRow reads the row of a version. One whose content cannot be read, which verify
// reports, has none of it.
func ParseVersionRow(row table.Row) prompt.Version {
	content, _ := parseContent(row)
	files, bundle, _ := parseFiles(row)
	return prompt.Version{
		Files: files, Bundle: bundle,
		Number: row.Props.Get("Version").Int(), Content: content, Message: row.Props.Get("Message").Str(),
		Description: row.Props.Get("Description").Str(), FileHash: row.Props.Get("FileHash").Str(),
		Undescribed: !row.Props.Get("Described").Bool(),
		Hash:        row.Props.Get("ContentHash").Str(), Source: row.Props.Get("Source").Str(),
		Recall: RecallIn(row), Made: MadeIn(row),
		Change: prompt.Change{By: UserIn(row.Props, "CreatedBy"), At: row.Props.Get("CreatedAt").Time()},
	}
}

// Highest returns the highest version there is, 0 for none.
func (c LabelsRow) Highest(last int64) int64 {
	for n := last; n > 0; n-- {
		if !c.Gaps.Have(n) {
			return n
		}
	}
	return 0
}
