package meet

import (
	"context"

	"prompthub/internal/storage/table"
)

// A Check compares the rows of a range with the rest of the store. Look returns the rows around one
// of them that are not as they must be.
type Check struct {
	Name  string
	Table string
	Range table.Range
	Look  func(ctx context.Context, row table.Row) ([]Finding, error)
}

// A Finding is a row that is not as the truth says, or is missing.
type Finding struct {
	Table string
	Key   table.Key
	Says  string
	Mend  func(context.Context) error // nil if a person must decide
}

// Refused is a list row that the truth refuses: it goes. Its key is of one thing for ever, so no
// writer can need it.
func (s *Service) Refused(name string, key table.Key) []Finding {
	return []Finding{{Table: name, Key: key, Says: "the truth refuses it", Mend: func(ctx context.Context) error {
		return s.RemoveKey(ctx, name, key)
	}}}
}

// Missing returns a finding unless there is a row.
func (s *Service) Missing(ctx context.Context, name string, key table.Key,
	mend func(context.Context) error,
) ([]Finding, error) {
	row, err := s.GetRow(ctx, name, key)
	if err != nil || row != nil {
		return nil, err
	}
	return []Finding{{Table: name, Key: key, Says: "it is missing", Mend: mend}}, nil
}
