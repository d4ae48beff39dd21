package azure

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
)

// A table or queue that was never made is a defect of the deployment, which must not look
// like a missing row or message.
func TestMissingTable(t *testing.T) {
	t.Parallel()
	store := open(t)
	const want = "table Nowhere does not exist"
	_, err := store.Tables.Get(t.Context(), "Nowhere", someKey)
	require.ErrorContains(t, err, want)
	_, err = store.Tables.List(t.Context(), "Nowhere", table.Range{}, 1, "")
	require.ErrorContains(t, err, want)
	for _, kind := range []table.Kind{table.Insert, table.Upsert, table.Replace, table.Merge, table.Delete} {
		_, err = store.Tables.Write(t.Context(), "Nowhere", opOf(kind, "r"))
		require.ErrorContains(t, err, want, kind)
		require.NotErrorIs(t, err, table.ErrNotFound)
		_, err = store.Tables.Write(t.Context(), "Nowhere", opOf(kind, "r"), opOf(kind, "s"))
		require.ErrorContains(t, err, want, "%s in a batch", kind)
		require.NotErrorIs(t, err, table.ErrNotFound)
	}
}

func TestMissingQueue(t *testing.T) {
	t.Parallel()
	store := open(t)
	const want = "nowhere: the queue does not exist"
	_, err := store.Queues.Send(t.Context(), "nowhere", "x", 0)
	require.ErrorContains(t, err, want)
	_, err = store.Queues.Receive(t.Context(), "nowhere", 1, time.Minute)
	require.ErrorContains(t, err, want)
	_, err = store.Queues.Hide(t.Context(), "nowhere", someReceipt, 0)
	require.ErrorContains(t, err, want)
	require.NotErrorIs(t, err, queue.ErrGone)
	err = store.Queues.Delete(t.Context(), "nowhere", someReceipt)
	require.ErrorContains(t, err, want)
	require.NotErrorIs(t, err, queue.ErrGone)
	_, err = store.Queues.Len(t.Context(), "nowhere")
	require.ErrorContains(t, err, want)
}

// What the SDK and net/http say of a request has its URL, and that the key of the row.
func TestErrorsHoldNoKey(t *testing.T) {
	t.Parallel()
	secret := table.Key{Partition: "u|secret", Row: "secret"}
	for _, r := range []reply{
		refusal(500, "InternalError"), refusal(400, "InvalidInput"),
		{err: errors.New("connection reset")},
	} {
		store, _ := stubbed(t, r)
		_, err := store.Tables.Get(t.Context(), "Prompts", secret)
		errs := []error{err}
		_, err = store.Tables.List(t.Context(), "Prompts", table.Range{Partition: secret.Partition}, 1, "")
		errs = append(errs, err)
		op := table.Op{Kind: table.Delete, Row: table.Row{Key: secret, ETag: table.Any}}
		_, err = store.Tables.Write(t.Context(), "Prompts", op)
		errs = append(errs, err)
		for _, err := range errs {
			require.Error(t, err)
			require.NotContains(t, err.Error(), "secret")
		}
	}
}
