package azure

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/storage/table"
)

// decodePage reads the answer to a query. The strings of the rows share its memory.
func decodePage(text string) ([]table.Row, error) {
	s := scanner{text: text}
	var rows []table.Row
	found := false
	s.object(func(name string) {
		if name != "value" {
			s.skip(0)
			return
		}
		found = true
		s.array(func() {
			hint := 8
			if len(rows) > 0 {
				hint = len(rows[len(rows)-1].Props)
			}
			rows = append(rows, s.row(hint))
		})
	})
	s.end()
	if s.err == nil && !found {
		s.fail()
	}
	if s.err != nil {
		return nil, s.err
	}
	return rows, nil
}

// decodeRow reads the answer to a get.
func decodeRow(text string) (table.Row, error) {
	s := scanner{text: text}
	row := s.row(8)
	s.end()
	if s.err != nil {
		return table.Row{}, s.err
	}
	return row, nil
}

// A note is the annotation of a property's type. It may stand before or after it.
type note struct{ name, edm string }

// row reads an entity. Properties that are null, or neither text, number nor truth value,
// are left out; types that table lacks arrive as text.
func (s *scanner) row(hint int) table.Row {
	row := table.Row{Props: make(table.Props, 0, hint)}
	var buf [8]note
	notes := buf[:0]
	s.object(func(name string) {
		switch {
		case name == "PartitionKey":
			row.Partition = s.string()
		case name == "RowKey":
			row.Row = s.string()
		case name == "odata.etag":
			row.ETag = s.string()
		case strings.HasSuffix(name, "@odata.type"):
			notes = append(notes, note{strings.TrimSuffix(name, "@odata.type"), s.string()})
		case name == "Timestamp" || strings.HasPrefix(name, "odata.") || strings.Contains(name, "@"):
			s.skip(0)
		default:
			if v := s.value(); v != (table.Value{}) {
				row.Props = append(row.Props, table.Prop{Name: name, Value: v})
			}
		}
	})
	for _, n := range notes {
		s.retype(row.Props, n)
	}
	return row
}

// value reads a property from its JSON; the zero Value stands for none.
func (s *scanner) value() table.Value {
	switch s.peek() {
	case '"':
		return table.String(s.string())
	case '{', '[':
		s.skip(0)
		return table.Value{}
	}
	switch word := s.word(); word {
	case "true":
		return table.Bool(true)
	case "false":
		return table.Bool(false)
	case "null":
		return table.Value{}
	default:
		return s.number(word)
	}
}

// number returns an integer, or the text of a number that is none.
func (s *scanner) number(word string) table.Value {
	n, err := strconv.ParseInt(word, 10, 64)
	switch {
	case err != nil:
		if _, err := strconv.ParseFloat(word, 64); errors.Is(err, strconv.ErrSyntax) {
			s.fail()
		}
		return table.String(word)
	case n < math.MinInt32 || n > math.MaxInt32:
		return table.Int64(n)
	}
	return table.Int32(int32(n))
}

// retype gives the property that n names the type that n says.
func (s *scanner) retype(props table.Props, n note) {
	for i := range props {
		if props[i].Name != n.name {
			continue
		}
		v, err := convert(props[i].Value, n.edm)
		if err != nil {
			s.err = fmt.Errorf("%w: property %s: %w", errMalformed, n.name, err)
			return
		}
		props[i].Value = v
	}
}

func convert(v table.Value, edm string) (table.Value, error) {
	switch {
	case edm == "Edm.Int64" && v.Type() == table.TypeString:
		n, err := strconv.ParseInt(v.Str(), 10, 64)
		return table.Int64(n), err
	case edm == "Edm.Int64" && v.Type() == table.TypeInt32:
		return table.Int64(v.Int()), nil
	case edm == "Edm.DateTime":
		t, err := time.Parse(time.RFC3339Nano, v.Str())
		return table.Time(t), err
	}
	return v, nil
}
