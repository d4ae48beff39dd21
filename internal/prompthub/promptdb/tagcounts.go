package promptdb

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// A job counts the public prompts, and those of each tag, once a minute: it goes through the list
// of the newest, which has each of them once, and keeps what it counted in one row. It counts less
// often where that takes long, so that it is at work for a fifth of the time at most.
const countsRest = 4

// countsKey is where the counts are.
func countsKey() table.Key { return table.Key{Partition: "counts", Row: "public"} }

// CountTags is that job. It returns how many prompts it counted, 0 where it was not time yet.
func (db *DB) CountTags(ctx context.Context) (prompts int, err error) {
	ctx, cancel := context.WithTimeout(ctx, JobEnds)
	defer cancel()
	began := db.now()
	last, err := db.get(ctx, db.t.SystemState, countsKey())
	if err != nil {
		return 0, err
	}
	if last != nil {
		took := time.Duration(last.Props.Get("TookMs").Int()) * time.Millisecond
		if since := began.Sub(last.Props.Get("CountedAt").Time()); since >= 0 && since < countsRest*took {
			return 0, nil
		}
	}
	tags := map[string]int{}
	r := table.Range{FromPartition: newestPrefix, ToPartition: table.After(newestPrefix), Select: []string{"Tags"}}
	for row, err := range table.All(ctx, db.store, db.t.Newest, r) {
		if err != nil {
			return 0, unavailable(err)
		}
		prompts++
		for tag := range strings.SplitSeq(row.Props.Get("Tags").Str(), ";") {
			tags[tag]++
		}
	}
	delete(tags, "") // of those that have none
	err = db.write(ctx, db.t.SystemState, []table.Op{{Kind: table.Upsert, Row: table.Row{Key: countsKey(), Props: table.Props{
		{Name: "Prompts", Value: table.Int64(int64(prompts))},
		{Name: "Tags", Value: table.String(jsonOf(tags))},
		{Name: "CountedAt", Value: table.Time(db.now())},
		{Name: "TookMs", Value: table.Int64(db.now().Sub(began).Milliseconds())},
	}}}})
	if err != nil {
		return 0, unavailable(err)
	}
	return prompts, nil
}

// counted reads what was counted last.
func (db *DB) counted(ctx context.Context) (prompts int, tags map[prompt.Tag]int, err error) {
	row, err := db.get(ctx, db.t.SystemState, countsKey())
	if err != nil || row == nil {
		return 0, nil, err
	}
	if json.Unmarshal([]byte(row.Props.Get("Tags").Str()), &tags) != nil {
		return 0, nil, nil //nolint:nilerr // as if nothing had been counted: the next run writes it anew
	}
	return int(row.Props.Get("Prompts").Int()), tags, nil
}
