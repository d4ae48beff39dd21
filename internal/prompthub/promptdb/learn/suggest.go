package learn

import (
	"context"
	"encoding/json"
	"fmt"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// tagWordsKey is where it is kept what the words of public prompts say of their tags.
func tagWordsKey() table.Key { return table.Key{Partition: "tag-words", Row: "public"} }

// keepTagWords learns from prompts and replaces the counts of the run before.
func (db *Learner) keepTagWords(ctx context.Context, examples []prompt.Example) (prompt.Trial, error) {
	words, trial := prompt.LearnTags(examples)
	row := table.Row{Key: tagWordsKey(), Props: append(schema.TextParts("Words", schema.JSONOf(words)), table.Prop{Name: "LearnedAt", Value: table.Time(db.Now())})}
	if err := db.Write(ctx, db.T.SystemState, []table.Op{{Kind: table.Upsert, Row: row}}); err != nil {
		return trial, rowstore.Unavailable(fmt.Errorf("write tag words: %w", err))
	}
	return trial, nil
}

func (db *Learner) readTagWords(ctx context.Context) (words *prompt.TagWords, err error) {
	row, err := db.GetRow(ctx, db.T.SystemState, tagWordsKey())
	if err != nil {
		return nil, err
	}
	words = &prompt.TagWords{}
	if row != nil && json.Unmarshal([]byte(schema.JoinedText(*row, "Words")), words) != nil {
		return &prompt.TagWords{}, nil //nolint:nilerr // as if nothing had been learned: the next run writes it anew
	}
	return words, nil
}

// SuggestTags returns at most three tags of the catalog that a prompt could have in addition to
// those that it has, that which fits best first.
func (db *Learner) SuggestTags(ctx context.Context, title, text string, has []prompt.Tag) (tags []prompt.TagInfo, err error) {
	var catalog []prompt.TagInfo
	var words *prompt.TagWords
	err = rowstore.Both(ctx, func(ctx context.Context) (err error) {
		catalog, err = db.accounts.Tags(ctx)
		return err
	}, func(ctx context.Context) (err error) {
		words, err = db.tagWords.Now(ctx, db.Now, sketchesFor, db.readTagWords)
		return err
	})
	if err != nil {
		return nil, err
	}
	return words.Suggest(catalog, title, text, has), nil
}
