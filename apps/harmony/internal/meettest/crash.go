package meettest

import (
	"context"

	"prompthub/internal/storage/table"
)

// A Rival does something right before the first write to a table: between the reads of a request
// and its commit.
type Rival struct {
	table.DB
	Table string
	Do    func()
}

// Write applies operations, after the rival's.
func (r *Rival) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	if do := r.Do; name == r.Table && do != nil {
		r.Do = nil
		do()
	}
	return r.DB.Write(ctx, name, ops...)
}
