package learn

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cespare/xxhash/v2"

	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/vocabulary"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// linesPerRow is how many words a row of the vocabulary has: some fifty kilobytes.
const linesPerRow = 3000

// keepVocabulary writes the words of public titles in place of those that are there, unless these
// are the same by the counts of the run before. It returns what tells them apart.
func (db *Learner) keepVocabulary(ctx context.Context, v *vocabulary.Vocabulary, last *table.Row) (kept string, err error) {
	text := v.Text()
	kept = strconv.FormatUint(xxhash.Sum64String(text), 16)
	if last != nil && last.Props.Get("Vocabulary").Str() == kept {
		return kept, nil
	}
	n := 0
	for lines := range slices.Chunk(strings.SplitAfter(text, "\n"), linesPerRow) {
		row := table.Row{Key: schema.VocabularyKey(n), Props: schema.TextParts("Words", strings.Join(lines, ""))}
		if err := db.Write(ctx, db.T.SystemState, []table.Op{{Kind: table.Upsert, Row: row}}); err != nil {
			return "", rowstore.Unavailable(fmt.Errorf("write the vocabulary: %w", err))
		}
		n++
	}
	defer db.query.ForgetVocabulary() // other instances find it within minutes
	return kept, db.removeFrom(ctx, schema.VocabularyKey(n))
}

// removeFrom removes the rows of a partition of the state from a key on.
func (db *Learner) removeFrom(ctx context.Context, first table.Key) error {
	for row, err := range table.All(ctx, db.DB, db.T.SystemState, table.Range{Partition: first.Partition, From: first.Row}) {
		if err == nil {
			err = db.RemoveKey(ctx, db.T.SystemState, row.Key)
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}
