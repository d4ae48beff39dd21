package schema

import (
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// FetchesKept is for how long it is known what an access token fetched of a prompt last.
const FetchesKept = 30 * 24 * time.Hour

// A Fetch is what an access token fetched of a prompt last, or how often programs without one did
// on a day.
type Fetch struct {
	Token   string // its id; "" for programs without one
	Version int64
	At      time.Time // in UTC
	Count   int64     // without a token
}

// noToken is how the rows of fetches without a token begin, of which there is one for each day. No
// id of a token begins so.
const noToken = "!"

// FetchesPartition is where the fetches of a prompt stand.
func FetchesPartition(id prompt.ID) string { return LocatorKey(id).Partition }

// FetchKey is where a fetch of a prompt stands.
func FetchKey(id prompt.ID, f Fetch) table.Key {
	row := f.Token
	if row == "" {
		row = noToken + Day(f.At)
	}
	return table.Key{Partition: FetchesPartition(id), Row: row}
}

// FetchProps returns what the row of a fetch holds.
func FetchProps(f Fetch) table.Props {
	return table.Props{
		{Name: "Version", Value: table.Int64(f.Version)},
		{Name: "FetchedAt", Value: table.Time(f.At)},
		{Name: "Count", Value: table.Int64(f.Count)},
	}
}

// ParseFetch reads the row of a fetch, and reports whether it is one.
func ParseFetch(row table.Row) (prompt.ID, Fetch, bool) {
	f := Fetch{
		Version: row.Props.Get("Version").Int(), At: row.Props.Get("FetchedAt").Time(),
		Count: row.Props.Get("Count").Int(),
	}
	if !strings.HasPrefix(row.Row, noToken) {
		f.Token = row.Row
	}
	id, ok := ParsePrompt(row.Partition)
	return id, f, ok && FetchKey(id, f) == row.Key
}
