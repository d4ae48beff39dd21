package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// newFTS5 makes a database with an index of words. The words of a search are joined by an operator.
func newFTS5(ctx context.Context, dir, operator string) (*engine, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "search.db")+"?_pragma=journal_mode(WAL)")
	if err != nil {
		return nil, err
	}
	if _, err := db.ExecContext(ctx,
		`CREATE VIRTUAL TABLE prompts USING fts5(title, text, tokenize = 'porter unicode61 remove_diacritics 2')`); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	find, err := db.PrepareContext(ctx, `SELECT title, snippet(prompts, 1, '', '', '…', 20) FROM prompts WHERE prompts MATCH ? ORDER BY bm25(prompts, 10, 1) LIMIT ?`)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &engine{
		add: func(ps []prompt) error { return insert(ctx, db, ps) },
		find: func(ctx context.Context, q string, limit int) (hits []hit, err error) {
			rows, err := find.QueryContext(ctx, matching(q, operator), limit)
			if err != nil {
				return nil, err
			}
			defer rows.Close()
			for rows.Next() {
				var h hit
				if err := rows.Scan(&h.Title, &h.Excerpt); err != nil {
					return nil, err
				}
				hits = append(hits, h)
			}
			return hits, rows.Err()
		},
		stop: db.Close,
	}, nil
}

func insert(ctx context.Context, db *sql.DB, ps []prompt) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, p := range ps {
		if _, err := tx.ExecContext(ctx, `INSERT INTO prompts (title, text) VALUES (?, ?)`,
			p.Title, p.Text); err != nil {
			return errors.Join(err, tx.Rollback())
		}
	}
	return tx.Commit()
}

// matching makes a query of FTS5 of words, of which the last may be a beginning.
func matching(q, operator string) string {
	words := strings.FieldsFunc(q, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsMark(r) && !unicode.IsDigit(r)
	})
	var all []string
	for _, word := range words {
		all = append(all, fmt.Sprintf("%q", word))
	}
	if len(all) == 0 {
		return `""`
	}
	return strings.Join(all, operator) + "*"
}
