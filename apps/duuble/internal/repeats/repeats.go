// Package repeats knows requests that are sent twice by their Idempotency-Key: the second one is
// about the same thing as the first.
package repeats

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"prompthub/apps/duuble/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Mismatch is the code of a key that was sent with another body before.
const Mismatch fault.Code = "IDEMPOTENCY_MISMATCH"

const (
	// lasts is for how long a repeated Idempotency-Key is known.
	lasts       = 24 * time.Hour
	partitions  = "idem|" // begins the partitions of the rows that say so
	mostLetters = 100
)

// Check holds an Idempotency-Key to its length.
func Check(b *rules.Broken, key string) {
	b.AddTo("header.Idempotency-Key", rules.Len(key) <= mostLetters, "give up to 100 characters")
}

// Keys are the rows that say what a key stands for.
type Keys struct {
	*rowstore.Store
	Table string
}

// IDFor returns the id of what a key of a person stands for: that of an earlier request with the
// same body, or the new one.
func (k Keys) IDFor(ctx context.Context, user, key string, body any, id string) (string, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return "", err
	}
	hash := func(b string) string {
		sum := sha256.Sum256([]byte(b))
		return hex.EncodeToString(sum[:])
	}
	where := table.Key{Partition: partitions + hash(user+"\n"+key), Row: "r"}
	first := id
	err = k.Change(ctx, k.Table, func(ctx context.Context) ([]table.Op, error) {
		row, err := k.GetRow(ctx, k.Table, where)
		if err != nil {
			return nil, err
		}
		op := table.Op{Kind: table.Insert, Row: table.Row{Key: where, Props: table.Props{
			{Name: "id", Value: table.String(id)},
			{Name: "body", Value: table.String(hash(string(text)))},
			{Name: "created_at", Value: table.Time(k.Now().UTC())},
		}}}
		if row != nil {
			if k.Now().Sub(row.Props.Get("created_at").Time()) < lasts {
				if row.Props.Get("body").Str() != hash(string(text)) {
					return nil, fault.Coded(fault.Invalid, Mismatch,
						"this Idempotency-Key was sent with something else; send another key")
				}
				first = row.Props.Get("id").Str()
				return nil, nil
			}
			op.Kind, op.Row.ETag = table.Replace, row.ETag
		}
		return []table.Op{op}, nil
	})
	return first, err
}

// Forget removes the rows of each Idempotency-Key that is not known any more. None is kept
// longer than a day, so that many rows of the range are due.
func (k Keys) Forget(ctx context.Context) error {
	var failed rowstore.Failures
	for row, err := range table.All(ctx, k.DB, k.Table,
		table.Range{FromPartition: partitions, ToPartition: table.After(partitions)}) {
		if err == nil && k.Now().Sub(row.Props.Get("created_at").Time()) >= lasts {
			err = k.RemoveRow(ctx, k.Table, row)
		}
		if !failed.Record(err) {
			break
		}
	}
	return failed.Join()
}
