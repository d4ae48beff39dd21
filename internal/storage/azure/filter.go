package azure

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"prompthub/internal/storage/table"
)

// filter returns the query for a range: comparisons of keys only, which the service answers
// by seeking and never by scanning. It is empty for the whole table.
func filter(r table.Range) string {
	var terms []string
	add := func(name, op, value string) {
		if value != "" {
			terms = append(terms, name+" "+op+" '"+strings.ReplaceAll(value, "'", "''")+"'")
		}
	}
	add("PartitionKey", "eq", r.Partition)
	add("PartitionKey", "ge", r.FromPartition)
	add("PartitionKey", "lt", r.ToPartition)
	add("RowKey", "ge", r.From)
	add("RowKey", "gt", r.After)
	add("RowKey", "lt", r.To)
	return strings.Join(terms, " and ")
}

// A position is where the service goes on with a query. The keys are in a form of its own,
// and one of them may be absent.
type position struct {
	Partition *string `json:"p,omitempty"`
	Row       *string `json:"r,omitempty"`
}

// token returns p as opaque text, "" for the end of a query.
func (p position) token() (string, error) {
	if p.Partition == nil && p.Row == nil {
		return "", nil
	}
	b, err := json.Marshal(p)
	return base64.RawURLEncoding.EncodeToString(b), err
}

func parsePosition(token string) (position, error) {
	var p position
	if token == "" {
		return p, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		return position{}, fmt.Errorf("%w: continuation token: %w", table.ErrInvalid, err)
	}
	return p, nil
}
