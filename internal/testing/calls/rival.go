package calls

import (
	"context"
	"slices"
	"strings"

	"prompthub/internal/storage/table"
)

// A Rival is a store in which something happens once, right before a write that has a certain
// operation: between the reads of a request and its commit.
type Rival struct {
	table.DB
	Before func(name string, op table.Op) bool
	Do     func() // nil once it has happened
}

// Write implements table.DB.
func (r *Rival) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if do := r.Do; do != nil && slices.ContainsFunc(ops, func(op table.Op) bool { return r.Before(name, op) }) {
		r.Do = nil
		do()
	}
	return r.DB.Write(ctx, name, ops...)
}

// Writes returns a condition for a Rival: an operation of a kind on a row whose key begins so.
func Writes(kind table.Kind, prefix string) func(string, table.Op) bool {
	return func(_ string, op table.Op) bool { return op.Kind == kind && strings.HasPrefix(op.Row.Key.Row, prefix) }
}

// WritesTo returns a condition for a Rival: any operation of a table.
func WritesTo(name string) func(string, table.Op) bool {
	return func(n string, _ table.Op) bool { return n == name }
}
