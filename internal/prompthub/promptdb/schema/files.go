package schema

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// The files of versions stand in a table of their own: a partition for each prompt, in which the
// bytes of a file are named by their SHA-256. So a file that does not change from one version to
// the next is stored once. The rows of versions, and the truth row, name the files.

const (
	filesPrefix = "f|"

	// fileRowBytes is how many bytes of a file a row has: compressed and as a text they fit into 14
	// properties, even if compression saves nothing.
	fileRowBytes = 328 << 10
)

// filesProps returns what a row says of the files of a version.
func filesProps(files prompt.Files, b prompt.Bundle) table.Props {
	if len(files) == 0 {
		return nil
	}
	return append(TextParts("Files", listOf(files)), table.Prop{Name: "Bundle", Value: table.String(JSONOf(b))})
}

// listOf writes files as JSON in which no character of a path takes more than it must: paths of 32
// KiB take some 46 KiB more for what else is said of 256 files.
func listOf(files prompt.Files) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(files); err != nil {
		panic(err) // unreachable: texts, numbers and truth values cannot fail
	}
	return b.String()
}

// parseFiles is the opposite of filesProps.
func parseFiles(row table.Row) (files prompt.Files, b prompt.Bundle, err error) {
	text := JoinedText(row, "Files")
	if text == "" {
		return nil, b, nil
	}
	if err = json.Unmarshal([]byte(text), &files); err == nil {
		err = json.Unmarshal([]byte(row.Props.Get("Bundle").Str()), &b)
	}
	if err != nil {
		return nil, b, fmt.Errorf("%w: the files of %s: %w", ErrUnreadable, row.Key, err)
	}
	return files, b, nil
}

// FilesIn returns the files that the row of a version names.
func FilesIn(row table.Row) (prompt.Files, error) {
	files, _, err := parseFiles(row)
	return files, err
}

// FilesProps are the properties of the row of a version that FilesIn reads: 256 files take at most
// four, where each character of their paths takes six in JSON.
var FilesProps = []string{"Version", "Files", "Files1", "Files2", "Files3", "Files4", "Bundle"}

// FilesPartition is where the bytes of all files of a prompt stand.
func FilesPartition(id prompt.ID) string { return filesPrefix + string(id) }

// ParseFilesPartition is the opposite of FilesPartition.
func ParseFilesPartition(partition string) (prompt.ID, bool) {
	rest, ok := strings.CutPrefix(partition, filesPrefix)
	if !ok {
		return "", false
	}
	return ParseID(rest)
}

// FileRows returns the rows of the bytes of a file, whose SHA-256 has a name in hex. An empty file
// has one.
func FileRows(author prompt.UserID, id prompt.ID, sha string, b []byte, at time.Time) []table.Row {
	size := len(b)
	var rows []table.Row
	for n := 0; n == 0 || len(b) > 0; n++ {
		part := b[:min(len(b), fileRowBytes)]
		b = b[len(part):]
		rows = append(rows, table.Row{Key: fileKey(id, sha, n), Props: append(table.Props{
			{Name: "PromptId", Value: table.String(string(id))},
			{Name: "AuthorId", Value: table.String(string(author))}, // leads to the truth row
			{Name: "Size", Value: table.Int64(int64(size))},
			PutAt(at),
		}, TextParts("Data", pack(part))...)})
	}
	return rows
}

// PutAt says when somebody last sent, or asked for, the bytes of a file.
func PutAt(at time.Time) table.Prop { return table.Prop{Name: "PutAt", Value: table.Time(at)} }

// FileKeys returns the keys of the rows of a file of some bytes.
func FileKeys(id prompt.ID, sha string, size int) (keys []table.Key) {
	for n := 0; n == 0 || n*fileRowBytes < size; n++ {
		keys = append(keys, fileKey(id, sha, n))
	}
	return keys
}

func fileKey(id prompt.ID, sha string, n int) table.Key {
	return table.Key{Partition: FilesPartition(id), Row: sha + "|" + fmt.Sprintf("%02d", n)}
}

// ParseFileRow returns the name of the file in a row key of FileRows, and which row of it that is.
func ParseFileRow(row string) (sha string, n int, ok bool) {
	sha, digits, ok := strings.Cut(row, "|")
	n, err := strconv.Atoi(digits)
	return sha, n, ok && err == nil && len(sha) == 64 && fileKey("", sha, n).Row == row
}

// FileBytesIn returns the bytes that a row of a file holds.
func FileBytesIn(row table.Row) ([]byte, error) {
	b, err := unpackWithin(JoinedText(row, "Data"), fileRowBytes)
	if err != nil {
		return nil, fmt.Errorf("%w: the bytes at %s: %w", ErrUnreadable, row.Key, err)
	}
	return b, nil
}
