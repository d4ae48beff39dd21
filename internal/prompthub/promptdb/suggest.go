package promptdb

import (
	"context"
	"encoding/json"
	"fmt"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// tagWordsKey is where it is kept what the words of public prompts say of their tags.
func tagWordsKey() table.Key { return table.Key{Partition: "tag-words", Row: "public"} }

// keepTagWords learns from prompts and keeps that in place of what was learned before.
func (db *DB) keepTagWords(ctx context.Context, examples []prompt.Example) (prompt.Trial, error) {
	words, trial := prompt.LearnTags(examples)
	row := table.Row{Key: tagWordsKey(), Props: append(parts("Words", jsonOf(words)), table.Prop{Name: "LearnedAt", Value: table.Time(db.now())})}
	if err := db.write(ctx, db.t.SystemState, []table.Op{{Kind: table.Upsert, Row: row}}); err != nil {
		return trial, unavailable(fmt.Errorf("write tag words: %w", err))
	}
	return trial, nil
}

func (db *DB) readTagWords(ctx context.Context) (words *prompt.TagWords, err error) {
	row, err := db.get(ctx, db.t.SystemState, tagWordsKey())
	if err != nil {
		return nil, err
	}
	words = &prompt.TagWords{}
	if row != nil && json.Unmarshal([]byte(joinedText(*row, "Words")), words) != nil {
		return &prompt.TagWords{}, nil //nolint:nilerr // as if nothing had been learned: the next run writes it anew
	}
	return words, nil
}

// SuggestTags returns at most three tags of the catalog that a prompt could have in addition to
// those that it has, that which fits best first.
func (db *DB) SuggestTags(ctx context.Context, title, text string, has []prompt.Tag) (tags []prompt.TagInfo, err error) {
	var catalog []prompt.TagInfo
	var words *prompt.TagWords
	err = both(ctx, func(ctx context.Context) (err error) {
		catalog, err = db.Tags(ctx)
		return err
	}, func(ctx context.Context) (err error) {
		words, err = db.tagWords.now(ctx, db.now, sketchesFor, db.readTagWords)
		return err
	})
	if err != nil {
		return nil, err
	}
	return words.Suggest(catalog, title, text, has), nil
}
