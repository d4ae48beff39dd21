package deck

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Walk is where a reader is: it began at a place, goes to the last one, and then from the first
// one to where it began.
type Walk struct {
	Start string // a row key, or the Shuffle that begins it
	Lap   int    // 0 from Start on, 1 up to it, 2 at the end
	At    string // the last row key that was looked at; "" if none of the lap was
}

// Ended reports whether the walk has seen everyone.
func (w Walk) Ended() bool { return w.Lap > 1 }

// String writes a walk for a cursor.
func (w Walk) String() string { return w.Start + " " + string(rune('0'+w.Lap)) + " " + w.At }

// ParseWalk reads what String has written.
func ParseWalk(s string) (w Walk, ok bool) {
	parts := strings.Split(s, " ")
	if len(parts) != 3 || len(parts[0]) < 16 || parts[1] != "0" && parts[1] != "1" ||
		parts[2] != "" && len(parts[2]) < 16 {
		return w, false
	}
	w = Walk{parts[0], int(parts[1][0] - '0'), parts[2]}
	for _, key := range []string{w.Start, w.At} {
		if strings.ContainsFunc(key, func(r rune) bool {
			return (r < '0' || r > '9') && (r < 'a' || r > 'f') && r != '-' && r != '_'
		}) {
			return w, false
		}
	}
	return w, true
}

// A Candidate is a member whom a row offers.
type Candidate struct {
	Entry
	Row       string // its place in the walk
	partition string
}

// Holds reports whether the row that offered the candidate is one that the member has now.
func (c Candidate) Holds(now Entry) bool {
	return slices.Contains(now.Keys(), table.Key{Partition: c.partition, Row: c.Row})
}

// MaxRows is how many rows a round reads at most. Three rounds stay within rowstore.MaxScan.
const MaxRows = rowstore.MaxScan / 3

// Round looks further on a walk for up to most members who fit the reader, in the order of the
// walk. It returns where the walk is then. It may find fewer, or none, before the walk has ended.
func (x Index) Round(ctx context.Context, reader Entry, w Walk, most int) ([]Candidate, Walk, error) {
	now := x.Now()
	ranges := w.rangesOf(reader)
	readings := make([]*rowstore.Reading, len(ranges))
	for i, r := range ranges {
		r.Filter = func(p table.Props) bool {
			e := parseEntry(p)
			return !e.Out && Fit(reader, e, now)
		}
		r.MaxMatches = most // more are cut off below
		readings[i] = &rowstore.Reading{Table: x.Table, Range: r, Limit: min(max(x.Rows/len(ranges), 1), table.MaxPage)}
	}
	if err := x.Budget().ReadAll(ctx, readings); err != nil {
		return nil, w, err
	}
	// A range that goes on says nothing about rows after its last one.
	end := ""
	for _, rd := range readings {
		if rd.More && len(rd.Rows) > 0 {
			if last := rd.Rows[len(rd.Rows)-1].Key.Row; end == "" || last < end {
				end = last
			}
		}
	}
	var all []Candidate
	for _, rd := range readings {
		for _, row := range rd.Rows {
			_, id := userOf(row.Key.Row)
			if !rowstore.IsMatch(row) || end != "" && row.Key.Row > end || id == reader.UserID {
				continue
			}
			e := parseEntry(row.Props)
			e.Shuffle, e.UserID = userOf(row.Key.Row)
			all = append(all, Candidate{Entry: e, Row: row.Key.Row, partition: row.Partition})
		}
	}
	slices.SortFunc(all, func(a, b Candidate) int { return cmp.Compare(a.Row, b.Row) })
	if len(all) > most {
		cut := most
		for cut < len(all) && all[cut].Row == all[most-1].Row { // another row of the same member
			cut++
		}
		return all[:cut], w.walkAfter(all[most-1].Row), nil
	}
	if end != "" {
		return all, w.walkAfter(end), nil
	}
	return all, Walk{Start: w.Start, Lap: w.Lap + 1}, nil
}

// walkAfter returns the walk when it has come to a row key.
func (w Walk) walkAfter(key string) Walk { return Walk{w.Start, w.Lap, key} }

// After returns the walk when its reader has seen a candidate and none that comes later.
func (w Walk) After(c Candidate) Walk { return w.walkAfter(c.Row) }

// rangesOf returns what is left of a lap, in squares if few of them hold all whom the reader looks
// for, else in genders.
func (w Walk) rangesOf(reader Entry) (all []table.Range) {
	r := table.Range{}
	switch {
	case w.At != "":
		r.After = w.At
	case w.Lap == 0:
		r.From = w.Start
	}
	if w.Lap == 1 {
		r.To = w.Start
	}
	if reader.Position != nil && reader.Preferences.MaxDistance > 0 {
		if names, ok := cellsAround(*reader.Position, reader.Preferences.MaxDistance); ok {
			for _, name := range names {
				r.Partition = name
				all = append(all, r)
			}
			return all
		}
	}
	first, last := "0", "f"
	if from := cmp.Or(r.After, r.From); from != "" {
		first = from[:1]
	}
	if r.To != "" {
		last = r.To[:1]
	}
	for _, gender := range shown[reader.Preferences.ShowMe] {
		r.FromPartition, r.ToPartition = gender+"_"+first, gender+"_"+last+"~"
		all = append(all, r)
	}
	return all
}
