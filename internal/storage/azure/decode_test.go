package azure

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

const samplePage = `{"odata.metadata":"https://a.table.core.windows.net/$metadata#T","value":[` +
	`{"odata.etag":"W/\"datetime'2026-11-20T15%3A31%3A11.6564694Z'\"","PartitionKey":"p|1","RowKey":"","Timestamp":"2026-11-20T15:31:11.6564694Z",` +
	`"Text":"a\n\"q\" \u00e9\ud83d\ude00 日","N":-5,"Ticks@odata.type":"Edm.Int64","Ticks":"9223372036854775807","On":true,"Off":false,"None":null,` +
	`"At@odata.type":"Edm.DateTime","At":"2026-11-20T15:31:11.6564694Z"},` +
	`{"odata.etag":"x","odata.type":"a.T","PartitionKey":"p","RowKey":"r","Late":"7","Late@odata.type":"Edm.Int64","D":1.5,"G@odata.type":"Edm.Guid","G":"c9da","X":{"a":[1,{"b":"]"}]}}]}`

func TestDecodePage(t *testing.T) {
	t.Parallel()
	rows, err := decodePage(samplePage)
	require.NoError(t, err)
	at := time.Date(2026, 11, 20, 15, 31, 11, 656469400, time.UTC)
	require.Equal(t, []table.Row{
		{
			Key: table.Key{Partition: "p|1"}, ETag: `W/"datetime'2026-11-20T15%3A31%3A11.6564694Z'"`,
			Props: table.Props{
				{Name: "Text", Value: table.String("a\n\"q\" é😀 日")},
				{Name: "N", Value: table.Int32(-5)},
				{Name: "Ticks", Value: table.Int64(9223372036854775807)},
				{Name: "On", Value: table.Bool(true)},
				{Name: "Off", Value: table.Bool(false)},
				{Name: "At", Value: table.Time(at)},
			},
		},
		{
			Key: table.Key{Partition: "p", Row: "r"}, ETag: "x",
			Props: table.Props{
				{Name: "Late", Value: table.Int64(7)},
				{Name: "D", Value: table.String("1.5")},
				{Name: "G", Value: table.String("c9da")},
			},
		},
	}, rows)
}

func TestDecodeEmptyPage(t *testing.T) {
	t.Parallel()
	rows, err := decodePage(emptyPage)
	require.NoError(t, err)
	require.Empty(t, rows)
}

// A cut answer must never pass for the whole.
func TestDecodeTruncated(t *testing.T) {
	t.Parallel()
	for i := range samplePage {
		_, err := decodePage(samplePage[:i])
		require.ErrorIs(t, err, errMalformed, "%d bytes", i)
	}
}

func TestDecodeMalformed(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{}`, `[]`, `{"value":{}}`, `{"value":[1]}`, `{"value":[{"PartitionKey":5}]}`, `{"value":[]}x`, `{"value":[],}`,
		`{"value":[{"a" 1}]}`, `{"value":[{"a":}]}`, `{"value":[{"a":tru}]}`, `{"value":[{"a":"\x"}]}`,
		`{"value":[{"a":"\u00g0"}]}`,
		`{"value":[{"N@odata.type":"Edm.Int64","N":"5x"}]}`,
		`{"value":[{"N@odata.type":"Edm.DateTime","N":"yesterday"}]}`,
		`{"value":[{"a":1 2}]}`, `{"value":[{}{}]}`, `{"value":[]}` + "\x00",
		`{"a":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `,"value":[]}`,
	} {
		_, err := decodePage(text)
		require.ErrorIs(t, err, errMalformed, "%s", text)
	}
}

// Halves of surrogate pairs, which the fuzzer's reference refuses.
func TestDecodeHalfPairs(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`"\ud800"`, `"\ud800\u0041"`, `"\ud83d\ud83d\ude00x"`,
		`"\ude00\ud83d"`, `"\ud83dA\n"`,
	} {
		var want string
		require.NoError(t, json.Unmarshal([]byte(text), &want))
		s := scanner{text: text}
		require.Equal(t, want, s.string(), text)
		require.NoError(t, s.err)
	}
}

// FuzzDecode holds the decoder against encoding/json.
func FuzzDecode(f *testing.F) {
	f.Add(samplePage)
	f.Add(emptyPage)
	f.Add(`{"value":[{"a":"\ud800\ud83d\ude00\/\b\f\t","b":1e3,"c":-0,"d":2147483648,"e":[],"e@odata.type":"Edm.Int64"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		rows, err := decodePage(text)
		want, ok := reference(text)
		if !ok {
			return // anything but a panic will do
		}
		require.NoError(t, err)
		require.Len(t, rows, len(want))
		for i, row := range rows {
			require.Equal(t, want[i].Key, row.Key)
			require.Equal(t, want[i].ETag, row.ETag)
			require.True(t, want[i].Props.Equal(row.Props), "got %v, want %v", row.Props, want[i].Props)
		}
	})
}

// reference decodes a page the slow way. It reports false for a text that is no page of
// rows: where names repeat, keys are not text, or values do not fit their type.
func reference(text string) ([]table.Row, bool) {
	var page map[string]any
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if !jsontext.Value(text).IsValid() || d.Decode(&page) != nil || deep(page, 0) {
		return nil, false
	}
	list, ok := page["value"].([]any)
	if !ok {
		return nil, false
	}
	rows := make([]table.Row, 0, len(list))
	for _, item := range list {
		entity, ok := item.(map[string]any)
		if !ok {
			return nil, false
		}
		row, err := referenceRow(entity)
		if err != nil {
			return nil, false
		}
		rows = append(rows, row)
	}
	return rows, true
}

func deep(v any, depth int) bool {
	switch v := v.(type) {
	case map[string]any:
		for _, e := range v {
			if deep(e, depth+1) {
				return true
			}
		}
	case []any:
		for _, e := range v {
			if deep(e, depth+1) {
				return true
			}
		}
	}
	return depth > maxDepth
}

func referenceRow(entity map[string]any) (table.Row, error) {
	var row table.Row
	for name, to := range map[string]*string{
		"PartitionKey": &row.Partition,
		"RowKey":       &row.Row, "odata.etag": &row.ETag,
	} {
		v, present := entity[name]
		s, ok := v.(string)
		if present && !ok {
			return row, fmt.Errorf("%s is no text", name)
		}
		*to = s
	}
	for name, v := range entity {
		if target, ok := strings.CutSuffix(name, "@odata.type"); ok {
			if _, ok := v.(string); !ok {
				return row, fmt.Errorf("type of %s is no text", target)
			}
		}
		if name == "PartitionKey" || name == "RowKey" || name == "Timestamp" || strings.HasPrefix(name, "odata.") ||
			strings.Contains(name, "@") {
			continue
		}
		value, err := referenceValue(v, entity[name+"@odata.type"])
		if err != nil {
			return row, err
		}
		if value != (table.Value{}) {
			row.Props = append(row.Props, table.Prop{Name: name, Value: value})
		}
	}
	return row, nil
}

func referenceValue(v, edm any) (table.Value, error) {
	switch v := v.(type) {
	case string:
		return referenceText(v, edm)
	case bool:
		if edm == "Edm.DateTime" {
			return table.Value{}, fmt.Errorf("no time")
		}
		return table.Bool(v), nil
	case json.Number:
		if edm == "Edm.DateTime" {
			return table.Value{}, fmt.Errorf("no time")
		}
		n, err := strconv.ParseInt(v.String(), 10, 64)
		if err != nil {
			return referenceText(v.String(), edm)
		}
		if edm == "Edm.Int64" || int64(int32(n)) != n {
			return table.Int64(n), nil
		}
		return table.Int32(int32(n)), nil
	}
	return table.Value{}, nil
}

func referenceText(s string, edm any) (table.Value, error) {
	switch edm {
	case "Edm.Int64":
		n, err := strconv.ParseInt(s, 10, 64)
		return table.Int64(n), err
	case "Edm.DateTime":
		t, err := time.Parse(time.RFC3339Nano, s)
		return table.Time(t), err
	}
	return table.String(s), nil
}

func FuzzEncode(f *testing.F) {
	f.Add("p|1", "r", "a\"\\\n日😀\u2028", int64(-1))
	f.Fuzz(func(t *testing.T, partition, rowKey, text string, n int64) {
		row := table.Row{Key: table.Key{Partition: partition, Row: rowKey}, Props: table.Props{
			{Name: "S", Value: table.String(text)},
			{Name: "L", Value: table.Int64(n)},
			{Name: "I", Value: table.Int32(int32(n))},
			{Name: "B", Value: table.Bool(n%2 == 0)},
			{Name: "T", Value: table.FromTicks(3155378975999999999 - n&0xffffffffffff)},
		}}
		if table.Check([]table.Op{{Kind: table.Upsert, Row: row}}) != nil {
			return
		}
		entity, err := encode(row)
		require.NoError(t, err)
		got, err := decodeRow(string(ascii(entity)))
		require.NoError(t, err)
		require.Equal(t, row, got)
	})
}

func BenchmarkDecodePage(b *testing.B) {
	page := `{"value":[` + strings.TrimSuffix(strings.Repeat(cardRow+",", 20), ",") + `]}`
	b.SetBytes(int64(len(page)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := decodePage(page); err != nil {
			b.Fatal(err)
		}
	}
}

// cardRow is an entity of 1.2 KB with the properties of a prompt's summary.
var cardRow = `{"odata.etag":"W/\"datetime'2026-11-20T15%3A31%3A11.6564694Z'\"","PartitionKey":"pub|newest|202611","RowKey":"0000000000000000000|01ARZ3NDEKTSV4RRFFQ69G5FAV",` +
	`"Timestamp":"2026-11-20T15:31:11.6564694Z","PromptId":"01ARZ3NDEKTSV4RRFFQ69G5FAV","AuthorId":"8f9d7a54-1111-2222-3333-444455556666","AuthorName":"Ann Example",` +
	`"Title":"` + strings.Repeat("Explain this code ", 9) + `","TitleNormalized":"` +
	strings.Repeat("explain this code ", 9) + `","Tags":"go;azure;review","Visibility":"public","IsDeleted":false,` +
	`"CreatedAt@odata.type":"Edm.DateTime","CreatedAt":"2026-11-20T15:31:11.6564694Z","UpdatedAt@odata.type":"Edm.DateTime","UpdatedAt":"2026-11-20T15:31:11.6564694Z",` +
	`"Likes":12,"Dislikes":3,"Revision@odata.type":"Edm.Int64","Revision":"7"}`
