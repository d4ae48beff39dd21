package format_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/format"
)

func read(t *testing.T, file string) []format.Row {
	t.Helper()
	var rows []format.Row
	for row, err := range format.Rows("", []byte(file), "") {
		require.NoError(t, err)
		row.Extra, row.Source = format.Extra{}, nil
		rows = append(rows, row)
	}
	return rows
}

const header = "act,prompt,for_devs,type,contributor\n"

func TestCSV(t *testing.T) {
	t.Parallel()
	rows := read(t, "\ufeff"+header+
		" Linux Terminal ,\"Act as\n\"\"it\"\", please\",TRUE,TEXT,\" f ,iltekin\"\r\n"+
		"Image,A cat,FALSE,image,bob\n"+
		"Plain,x,no,,\n"+
		"Short,x\n"+
		"Long,x,,,,,\n"+
		"Longer,x,,,,y\n"+
		"Bad,\xff,,,bob\n"+
		"Last, keeps its spaces ,true,Structured,bob")
	require.Len(t, rows, 8)
	require.Equal(t, format.Row{Number: 1, Line: 2, Contributor: "f", Document: format.Document{
		Title: "Linux Terminal", Text: "Act as\n\"it\", please", Tags: []string{"development", "text"},
	}}, rows[0])
	require.Equal(t, format.Row{Number: 2, Line: 4, Contributor: "bob", Document: format.Document{
		Title: "Image", Text: "A cat", Tags: []string{"image"},
	}}, rows[1])
	require.Empty(t, rows[2].Tags)
	require.Empty(t, rows[2].Contributor)
	require.Equal(t, []string{"x", "x"}, []string{rows[3].Text, rows[4].Text},
		"empty fields at the end count for nothing")
	require.EqualError(t, rows[5].Err,
		"has 6 fields, the first line has 5: put quotes around a text that has the separator in it")
	require.EqualError(t, rows[6].Err, "prompt: is not valid UTF-8")
	require.Equal(t, 9, rows[6].Line)
	require.Equal(t, " keeps its spaces ", rows[7].Text)
	require.Equal(t, []string{"development", "structured"}, rows[7].Tags)
}

func TestCSVColumnsInAnyOrder(t *testing.T) {
	t.Parallel()
	rows := read(t, "type,extra,prompt,for_devs,act\nTEXT,y,x,TRUE,t\n")
	require.Equal(t, format.Document{Title: "t", Text: "x", Tags: []string{"development", "text"}}, rows[0].Document)
}

// TestDescribedRows: people describe and tag the prompts that they collect in a table.
func TestDescribedRows(t *testing.T) {
	t.Parallel()
	rows := read(t,
		"Title,Description,Text,Tags,Type\nStandup, Sums it up ,Sum up.,\"writing, work\",WORK\nBare,,x,,\n")
	want := format.Document{
		Title: "Standup", Description: "Sums it up", Text: "Sum up.",
		Tags: []string{"writing", "work"},
	}
	require.ElementsMatch(t, want.Tags, rows[0].Tags)
	rows[0].Tags = want.Tags
	require.Equal(t, want, rows[0].Document)
	require.Equal(t, format.Document{Title: "Bare", Text: "x"}, rows[1].Document)
	file, lost, err := format.Write(format.CSV, want)
	require.NoError(t, err)
	require.Empty(t, lost)
	back, err := format.Read(format.CSV, "a.csv", file)
	require.NoError(t, err)
	require.Equal(t, want.Description, back.Description)
	require.ElementsMatch(t, want.Tags, back.Tags)
}

// TestColumnsOtherwise: title and text are what other programs call the columns.
func TestColumnsOtherwise(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"title;text\nA;B\n", "Title,Text\nA,B\n", "act\ttext\nA\tB\n"} {
		row := read(t, file)[0]
		require.NoError(t, row.Err)
		require.Equal(t, []string{"A", "B"}, []string{row.Title, row.Text}, file)
	}
	row := read(t, "act,prompt,title\nA,B,C\n")[0]
	require.Equal(t, []string{"A", "B"}, []string{row.Title, row.Text}, "the usual names come first")
}

func TestLines(t *testing.T) {
	t.Parallel()
	rows := read(t,
		"\ufeff\n"+`{"id":"1","title":" t ","text":"a\r\n<b>","tags":["text"],"visibility":"public","likes":3}`+"\n\n"+
			`{"title":"u","text":"x"}`+"\r\n"+
			`{"title":"u","text":`+"\n"+
			"{\"title\":\"\xff\"}\n"+
			`{"title":[7]}`+"\n"+
			`[]`)
	require.Len(t, rows, 6)
	require.Equal(t, format.Row{
		Number: 1, Line: 2,
		Document: format.Document{Title: " t ", Text: "a\r\n<b>", Tags: []string{"text"}, Visibility: "public"},
	},
		rows[0])
	require.Equal(t, format.Row{Number: 2, Line: 4, Document: format.Document{Title: "u", Text: "x"}}, rows[1])
	for _, row := range rows[2:] {
		require.ErrorContains(t, row.Err, "not the JSON of a prompt")
		require.Equal(t, row.Number+2, row.Line)
	}
}

func TestExportedLineReadsBack(t *testing.T) {
	t.Parallel()
	d := format.Document{Title: "t", Text: "a\r\nb\u2028\x01 <>&", Tags: []string{"text"}, Visibility: "private"}
	line, err := json.Marshal(d)
	require.NoError(t, err)
	require.Equal(t, d, read(t, string(line))[0].Document)
}

// A file that is not read is told by its name, and one that can be read is, whatever it is
// called.
func TestFilesThatNothingReads(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, want string }{
		{"a.zip", "garbage\xad\n", "the file is no ZIP archive"},
		{
			"a.exe", "MZ\x90\"\x00",
			`no format has files that end in ".exe": take a ZIP archive, or a file that ends in .md,`,
		},
		{"a.EXE", "", "the file is empty"},
		{"a.json", "garbage", "the file is no JSON: line 1, column 1: invalid character 'g' at start of value"},
		{"a.json", "// mine\n{\"title\":\"a\"}", "the file is no JSON: line 1, column 1: invalid character '/'"},
		{"a.json", "7", "the file holds no prompts: want an object"},
		{"a.csv", "garbage", `the first line is "garbage"`},
		{"a", "garbage", `the first line is "garbage"`},
		{"a.dat", "act,prompt\na,b\n", ""},
		{"a.dat", `{"title":"a","text":"b"}`, ""},
	} {
		n := 0
		for row, err := range format.Rows(tt.name, []byte(tt.file), "") {
			n++
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want, tt.name)
				continue
			}
			require.NoError(t, err, tt.name)
			require.Equal(t, "b", row.Text, tt.name)
		}
		require.Equal(t, 1, n, tt.name)
	}
	require.True(t, format.IsArchive(archive(t, nil)))
}

func TestFilesThatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, file string
		rows       int // that come before
		want       string
	}{
		{"empty", "", 0, "the file is empty"},
		{"only a mark", "\ufeff", 0, "the file is empty"},
		{"no header", "Linux Terminal,Act as it\n", 0, `the first line is "Linux Terminal,Act as it": want the columns act and prompt (or title and text, or name and content), and optionally description, tags, for_devs, type, contributor`},
		{"half a header", "act,words\n", 0, "want the columns act and prompt"},
		{"UTF-16", "\xff\xfea\x00c\x00t\x00", 0, "the first line is \"act\""},
		{"half of UTF-16", "\xff\xfea\x00c", 0, "the file is in UTF-16 and is cut off"},
		{"binary", "act,prompt\na,\x00\n", 0, "the file is binary"},
		{
			"quote never closed", header + "a,b,,,\nc,\"d,,,\ne,f,,,\n", 1,
			`line 4, column 8: extraneous or missing " in quoted-field, in the row that begins on line 3`,
		},
		{
			"quote in a bare field of a short row", header + "a,b\"c\nd,e,,,\n", 0,
			`line 2, column 4: bare " in non-quoted-field, in the row that begins on line 2`,
		},
		{"text after a quote", header + "a,\"b\" c,,,\n", 0, "line 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			n := 0
			var last error
			for _, err := range format.Rows("", []byte(tt.file), "") {
				require.NoError(t, last, "nothing follows an error")
				if last = err; err == nil {
					n++
				}
			}
			require.ErrorContains(t, last, tt.want)
			require.Equal(t, tt.rows, n)
		})
	}
}

func TestMembersOfTheWrongType(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		`{"title":{"a":1},"text":"x"}`:          "/title is an object: want a string",
		`[{"title":"t","text":["x"]}]`:          "/text is an array: want a string",
		`{"title":"t","tags":[{"a":1}]}`:        "/tags/0 is an object: want a string",
		`{"title":"t","messages":[{"role":2}]}`: "/messages/0/role is a number: want a string",
	} {
		rows := read(t, file)
		require.Len(t, rows, 1, file)
		require.EqualError(t, rows[0].Err, "not the JSON of a prompt: "+want, file)
	}
}

// TestPartsOfFiles: each row has the part of its file that says it, and an only one all of it.
func TestPartsOfFiles(t *testing.T) {
	t.Parallel()
	for file, want := range map[string][]string{
		"\ufeffact,prompt\r\n\"a\",b\r\nc,\"d\ne\"\n": {"act,prompt\r\n\"a\",b\r\n", "act,prompt\r\nc,\"d\ne\"\n"},
		"\ufeffact,prompt\r\n\"a\",b\r\n":             {"\ufeffact,prompt\r\n\"a\",b\r\n"},
		`[{"name": "a", "prompt": "x"} ]`:             {`[{"name": "a", "prompt": "x"} ]`},
		`[{"name": "a", "prompt": "x"},{"text":"b"}]`: {`{"name": "a", "prompt": "x"}`, `{"text":"b"}`},
		`[{"title":"a"}]`:                             {`{"title":"a"}`}, // such lines stand in no list
		"{\"title\":\"a\"}\n\n{\"title\" :\"b\"}\r\n": {"{\"title\":\"a\"}\n", "{\"title\" :\"b\"}\r\n"},
		"\n{\"title\":\"a\"}\n":                       {"\n{\"title\":\"a\"}\n"},
	} {
		var got []string
		rows := format.Rows("a/x", []byte(file), "")
		for row := range rows {
			require.LessOrEqual(t, row.Number, len(want))
		}
		for row, err := range rows { // again, which tells the same
			require.Equal(t, len(got)+1, row.Number)
			require.NoError(t, err)
			require.NoError(t, row.Err)
			require.Equal(t, "a/x", row.Source.File)
			got = append(got, string(row.Source.Data))
		}
		require.Equal(t, want, got)
	}
	for row := range format.Rows("x.csv", []byte("act,prompt,"+strings.Repeat("x", 5000)+"\na,b,\nc,d,\n"), "") {
		require.Nil(t, row.Source, "a first line that is so long would be kept again and again")
	}
}

func FuzzRows(f *testing.F) {
	f.Add([]byte(header + "a,\"b\nc\",TRUE,TEXT,d\ne,f\n"))
	f.Add([]byte("\ufeff{\"title\":\"t\",\"text\":\"x\"}\n{}\nnull"))
	f.Add([]byte(header + "\"\xff\",,,,\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		n, line, failed := 0, 0, false
		for row, err := range format.Rows("", file, "") {
			require.False(t, failed, "nothing follows an error")
			if failed = err != nil; failed {
				continue
			}
			n++
			require.Equal(t, n, row.Number)
			require.GreaterOrEqual(t, row.Line, line)
			line = row.Line
			if s := row.Source; row.Err == nil && s != nil && utf8.Valid(s.Data) {
				d, err := format.Read(s.Format, s.File, s.Data)
				require.NoError(t, err, "%q", s.Data)
				require.True(t, d.SameContent(row.Document), "its part of the file says what the row does: %q", s.Data)
			}
			if row.Err == nil {
				// The read document is sent unchanged.
				b, err := json.Marshal(row.Document)
				require.NoError(t, err)
				var back format.Document
				require.NoError(t, json.Unmarshal(b, &back))
				require.Equal(t, row.Title, back.Title)
				require.Equal(t, row.Text, back.Text)
			}
		}
		require.LessOrEqual(t, line, strings.Count(string(file), "\n")+1)
	})
}

// TestManyRows: a list is not read as a whole where it is long, nor an object or a row that has
// more than any prompt.
func TestManyRows(t *testing.T) {
	t.Parallel()
	for _, file := range []string{
		"[" + strings.Repeat("1,", format.MaxRows) + "1]", strings.Repeat("{}", format.MaxRows+1),
		`{"prompts":[` + strings.Repeat("{},", format.MaxRows) + "{}]}",
	} {
		n := 0
		for _, err := range format.Rows("", []byte(file), "") {
			require.EqualError(t, err, "there are more than 10000 prompts in the list: take a part of them")
			n++
		}
		require.Equal(t, 1, n)
	}
	rows := read(t, "["+strings.Repeat(`{"title":"t","text":"x"},`, format.MaxRows-1)+`{"title":"t","text":"x"}]`)
	require.Len(t, rows, format.MaxRows)
	var wide strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&wide, `,"%d":0`, i)
	}
	require.ErrorContains(t, read(t, `{"text":"x"`+wide.String()+"}")[0].Err, "an object has more than 1000 members")
	for _, err := range format.Rows("wide.csv", []byte("act,prompt"+strings.Repeat(",x", 1000)), "") {
		require.EqualError(t, err, "a row has more than 1000 fields: put quotes around texts with separators")
	}
}

// TestFormulas: a program for tables computes no cell of a written file, and a text comes back as
// it was, with any beginning.
func TestFormulas(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"=1+1", "+1", "-1", "@A1", "\tx", "\rx", "'=1", "''=1",
		"'", "'x", "x=1", "''", "'''-",
	} {
		d := format.Document{Name: text, Title: "T" + text, Text: text, Tags: []string{"image"}}
		d.Name = strings.TrimSpace(text)
		file, _, err := format.Write(format.CSV, d)
		require.NoError(t, err)
		cells, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
		require.NoError(t, err)
		for _, cell := range slices.Concat(cells...) {
			require.NotRegexp(t, `^[=+\-@\t\r]`, cell)
		}
		back, err := format.Read(format.CSV, "a.csv", file)
		require.NoError(t, err)
		require.Equal(t, []string{d.Name, d.Title, text}, []string{back.Name, back.Title, back.Text})
	}
}

// TestFormulasOfOthers: a CSV file in which a program for tables finds something to compute does
// not come back as it was, but without that; what only the file knows is put back.
func TestFormulasOfOthers(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"act,prompt,name,=x\n a ,b,c,d\n":           "act,prompt,for_devs,type,name,'=x\na,b,FALSE,,c,d\n",
		"act,prompt,name,x\n a ,b,c,\"=y\"\n":       "act,prompt,for_devs,type,name,x\na,b,FALSE,,c,'=y\n",
		"act,prompt,name,x\n a ,'=b,c,d\n":          "act,prompt,name,x\n a ,'=b,c,d\n",
		"act;prompt;name;x\n a ;---;c;d\n":          "act,prompt,for_devs,type,name,x\na,'---,FALSE,,c,d\n",
		"act,prompt,name,x\n a ,\"b\n=c\",c,d=\n":   "act,prompt,name,x\n a ,\"b\n=c\",c,d=\n",
		"\ufeffact,prompt,name,x\r\n a ,b,c,+d\r\n": "act,prompt,for_devs,type,name,x\na,b,FALSE,,c,'+d\n",
	} {
		d, err := format.Read(format.CSV, "a.csv", []byte(file))
		require.NoError(t, err)
		got, _, err := format.Rewrite(format.CSV, "a.csv", []byte(file), d)
		require.NoError(t, err)
		require.Equal(t, want, string(got), file)
		back, err := format.Read(format.CSV, "a.csv", got)
		require.NoError(t, err)
		require.Equal(t, d.Extra, back.Extra)
	}
}
