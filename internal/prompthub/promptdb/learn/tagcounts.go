package learn

import (
	"context"
	"strings"
	"time"

	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// CountTags is that job. It returns how many prompts it counted, 0 where it was not time yet.
func (db *Learner) CountTags(ctx context.Context) (prompts int, err error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	began := db.Now()
	last, err := db.GetRow(ctx, db.T.SystemState, accounts.CountsKey())
	if err != nil {
		return 0, err
	}
	if last != nil {
		took := time.Duration(last.Props.Get("TookMs").Int()) * time.Millisecond
		if since := began.Sub(last.Props.Get("CountedAt").Time()); since >= 0 && since < accounts.CountsRest*took {
			return 0, nil
		}
	}
	tags := map[string]int{}
	r := table.Range{FromPartition: schema.NewestPrefix, ToPartition: table.After(schema.NewestPrefix), Select: []string{"Tags"}}
	for row, err := range table.All(ctx, db.DB, db.T.Newest, r) {
		if err != nil {
			return 0, rowstore.Unavailable(err)
		}
		prompts++
		for tag := range strings.SplitSeq(row.Props.Get("Tags").Str(), ";") {
			tags[tag]++
		}
	}
	delete(tags, "") // of those that have none
	err = db.Write(ctx, db.T.SystemState, []table.Op{{Kind: table.Upsert, Row: table.Row{Key: accounts.CountsKey(), Props: table.Props{
		{Name: "Prompts", Value: table.Int64(int64(prompts))},
		{Name: "Tags", Value: table.String(schema.JSONOf(tags))},
		{Name: "CountedAt", Value: table.Time(db.Now())},
		{Name: "TookMs", Value: table.Int64(db.Now().Sub(began).Milliseconds())},
	}}}})
	if err != nil {
		return 0, rowstore.Unavailable(err)
	}
	return prompts, nil
}
