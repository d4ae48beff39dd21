package learn

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An authorTally is an author while prompts are counted, with the month of the name.
type authorTally struct {
	accounts.AuthorCount
	month string
}

// mostProlific returns the authors with the most public prompts.
func mostProlific(all map[prompt.UserID]authorTally) []accounts.AuthorCount {
	var list []accounts.AuthorCount
	for _, a := range all {
		list = append(list, a.AuthorCount)
	}
	slices.SortFunc(list, func(a, b accounts.AuthorCount) int {
		return cmp.Or(cmp.Compare(b.Prompts, a.Prompts), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID))
	})
	return list[:min(len(list), accounts.MaxAuthorsKept)]
}

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
	authors := map[prompt.UserID]authorTally{}
	r := table.Range{
		FromPartition: schema.NewestPrefix, ToPartition: table.After(schema.NewestPrefix),
		Select: []string{"Tags", "AuthorId", "AuthorName"},
	}
	for row, err := range table.All(ctx, db.DB, db.T.Newest, r) {
		if err != nil {
			return 0, rowstore.Unavailable(err)
		}
		prompts++
		for tag := range strings.SplitSeq(row.Props.Get("Tags").Str(), ";") {
			tags[tag]++
		}
		author := schema.UserIn(row.Props, "AuthorId")
		a := authors[author]
		a.ID = author
		a.Prompts++
		if a.month != row.Partition { // months come in order, and each begins with its newest
			a.month, a.Name = row.Partition, row.Props.Get("AuthorName").Str()
		}
		authors[author] = a
	}
	delete(tags, "") // of those that have none
	err = db.Write(ctx, db.T.SystemState,
		[]table.Op{{Kind: table.Upsert, Row: table.Row{Key: accounts.CountsKey(), Props: table.Props{
			{Name: "Prompts", Value: table.Int64(int64(prompts))},
			{Name: "Tags", Value: table.String(schema.JSONOf(tags))},
			{Name: "Authors", Value: table.Int64(int64(len(authors)))},
			{Name: "Prolific", Value: table.String(schema.JSONOf(mostProlific(authors)))},
			{Name: "CountedAt", Value: table.Time(db.Now())},
			{Name: "TookMs", Value: table.Int64(db.Now().Sub(began).Milliseconds())},
		}}}})
	if err != nil {
		return 0, rowstore.Unavailable(err)
	}
	return prompts, nil
}
