// Package rowstore reads and writes rows of a table store for an application: with a deadline on
// each call, with a budget on what one request may read, and with errors of package fault. It knows
// no table by name.
//
// A write whose answer is lost may have landed, or may still land. So a caller never concludes from
// an error that nothing was written: it reads the row again and looks for its own id there. The
// times by which such a write has landed, or never will, are constants of this package.
package rowstore

import (
	"context"
	"log/slog"
	"time"

	"prompthub/internal/storage/table"
)

// A Store reads and writes rows. Every field is required.
type Store struct {
	DB  table.DB
	Now func() time.Time
	Log *slog.Logger
	// Sleep waits, or returns the context's error.
	Sleep func(context.Context, time.Duration) error
	// Random returns a random duration up to the given one.
	Random func(time.Duration) time.Duration
	// Background runs work that may follow the answer. It must run every function that it is given,
	// at once or later.
	Background func(func())
}
