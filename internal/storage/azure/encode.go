package azure

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/storage/table"
)

// dateTime is the form of Edm.DateTime, exact to the tick. The value must be in UTC.
const dateTime = "2006-01-02T15:04:05.0000000Z"

// encode returns a row as an entity.
func encode(row table.Row) ([]byte, error) {
	b := append(make([]byte, 0, 256), `{"PartitionKey":`...)
	b, err := jsontext.AppendQuote(b, row.Partition)
	if err != nil {
		return nil, err
	}
	b = append(b, `,"RowKey":`...)
	if b, err = jsontext.AppendQuote(b, row.Row); err != nil {
		return nil, err
	}
	for _, p := range row.Props {
		if b, err = appendProp(b, p); err != nil {
			return nil, fmt.Errorf("property %s: %w", p.Name, err)
		}
	}
	return append(b, '}'), nil
}

// appendProp appends a property, with the annotation that its type needs. Names are
// identifiers and stand as they are.
func appendProp(b []byte, p table.Prop) ([]byte, error) {
	b = append(b, `,"`...)
	b = append(b, p.Name...)
	switch v := p.Value; v.Type() {
	case table.TypeString:
		return jsontext.AppendQuote(append(b, `":`...), v.Str())
	case table.TypeInt32:
		return strconv.AppendInt(append(b, `":`...), v.Int(), 10), nil
	case table.TypeBool:
		return strconv.AppendBool(append(b, `":`...), v.Bool()), nil
	case table.TypeInt64:
		b = strconv.AppendInt(append(b, `":"`...), v.Int(), 10)
		return appendType(b, p.Name, "Edm.Int64"), nil
	case table.TypeTime:
		b = v.Time().AppendFormat(append(b, `":"`...), dateTime)
		return appendType(b, p.Name, "Edm.DateTime"), nil
	}
	return nil, fmt.Errorf("%w: no value", table.ErrInvalid)
}

// appendType closes the string before it and appends the annotation of name.
func appendType(b []byte, name, edm string) []byte {
	b = append(b, `","`...)
	b = append(b, name...)
	b = append(b, `@odata.type":"`...)
	b = append(b, edm...)
	return append(b, '"')
}
