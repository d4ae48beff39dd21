package transact_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

func TestPrefixed(t *testing.T) {
	t.Parallel()
	require.Nil(t, transact.Prefixed(nil, "app-"))
	var got []string
	f := transact.Prefixed(func(_ context.Context, c transact.Transaction) ([]string, error) {
		for _, m := range c.Messages {
			got = append(got, m.Queue+" "+m.Text)
		}
		return []string{"etag"}, nil
	}, "app-")
	c := transact.Transaction{Messages: []transact.Message{{Queue: "jobs", Text: "one"}, {Queue: "mails", Text: "two"}}}
	etags, err := f(t.Context(), c)
	require.NoError(t, err)
	require.Equal(t, []string{"etag"}, etags)
	require.Equal(t, []string{"app-jobs one", "app-mails two"}, got)
	require.Equal(t, "jobs", c.Messages[0].Queue, "the caller's is as it was")
}

func TestRowTwice(t *testing.T) {
	t.Parallel()
	row := table.Row{Key: table.Key{Partition: "p", Row: "r"}}
	ops := []table.Op{{Kind: table.Upsert, Row: row}}
	put, drop := []transact.Row{{Table: "Rows", Row: row}}, []transact.Key{{Table: "Rows", Key: row.Key}}
	for _, c := range []transact.Transaction{
		{Table: "Rows", Ops: ops, Put: put},
		{Table: "Rows", Ops: ops, Drop: drop},
		{Table: "Others", Ops: ops, Put: put, Drop: drop},
	} {
		require.ErrorIs(t, transact.Check(c), table.ErrInvalid)
	}
	require.NoError(t, transact.Check(transact.Transaction{Table: "Others", Ops: ops, Put: put}), "another table")
}
