package azure

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

var someKey = table.Key{Partition: "p|1", Row: "r"}

// opOf returns an operation of a kind on a row of someKey's partition.
func opOf(kind table.Kind, row string) table.Op {
	op := table.Op{Kind: kind, Row: table.Row{Key: table.Key{Partition: someKey.Partition, Row: row}}}
	if kind != table.Insert && kind != table.Upsert {
		op.Row.ETag = table.Any
	}
	return op
}

func TestWriteIsSentOnce(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection reset")
	for _, kind := range []table.Kind{table.Insert, table.Replace, table.Merge, table.Upsert, table.Delete} {
		for _, r := range []reply{
			{err: broken},
			refusal(500, "InternalError"), refusal(503, "ServerBusy"),
			refusal(408, ""), refusal(429, ""),
		} {
			for _, ops := range [][]table.Op{{opOf(kind, "a")}, {opOf(kind, "a"), opOf(kind, "b")}} {
				store, stub := stubbed(t, r)
				_, err := store.Tables.Write(t.Context(), "T", ops...)
				require.Error(t, err)
				require.Len(t, stub.sent, 1, "%s in a write of %d, answered %d", kind, len(ops), r.status)
			}
		}
	}
}

func TestWriteHasADeadline(t *testing.T) {
	t.Parallel()
	store, stub := stubbed(t, reply{status: http.StatusNoContent})
	_, err := store.Tables.Write(t.Context(), "T", opOf(table.Upsert, "a"))
	require.NoError(t, err)
	_, err = store.Queues.Hide(t.Context(), "q", someReceipt, 0)
	require.Error(t, err) // the stub gives no receipt
	for _, s := range stub.sent {
		_, limited := s.Context().Deadline()
		require.True(t, limited, s.Method)
	}
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		kind   table.Kind
		reply  reply
		want   error
		failed bool // it is the condition of the operation
	}{
		{table.Insert, refusal(409, "EntityAlreadyExists"), table.ErrExists, true},
		{table.Replace, refusal(412, "UpdateConditionNotSatisfied"), table.ErrConflict, true},
		{table.Merge, refusal(404, "ResourceNotFound"), table.ErrNotFound, true},
		{table.Delete, refusal(404, "EntityNotFound"), table.ErrNotFound, true},
		{table.Upsert, refusal(503, "ServerBusy"), table.ErrBusy, false},
		{table.Upsert, refusal(429, "TooManyRequests"), table.ErrBusy, false},
		{table.Upsert, refusal(413, "RequestBodyTooLarge"), table.ErrInvalid, false},
		{table.Upsert, refusal(400, "PropertyValueTooLarge"), table.ErrInvalid, false},
	}
	for _, test := range tests {
		store, _ := stubbed(t, test.reply)
		_, err := store.Tables.Write(t.Context(), "T", opOf(test.kind, "r"))
		require.ErrorIs(t, err, test.want)
		var failed *table.OpError
		require.Equal(t, test.failed, errors.As(err, &failed))
		if test.failed {
			require.Equal(t, table.OpError{Index: 0, Key: someKey, Err: test.want}, *failed)
		}
	}
}

// What no caller can do anything about must not look like an outcome.
func TestOtherErrors(t *testing.T) {
	t.Parallel()
	sentinels := []error{table.ErrNotFound, table.ErrExists, table.ErrConflict, table.ErrBusy, table.ErrInvalid}
	for _, r := range []reply{
		{err: errors.New("connection reset")},
		refusal(500, "InternalError"),
		refusal(500, "OperationTimedOut"),
		refusal(503, "OperationTimedOut"), // it may have landed, unlike where the service is busy
		refusal(403, "AuthorizationPermissionMismatch"),
		refusal(400, "InvalidAuthenticationInfo"),
		refusal(404, "TableNotFound"),
		refusal(409, "TableBeingDeleted"),
	} {
		store, _ := stubbed(t, r)
		_, err := store.Tables.Write(t.Context(), "Votes", opOf(table.Merge, "r"))
		require.ErrorContains(t, err, "Votes")
		for _, s := range sentinels {
			require.NotErrorIs(t, err, s)
		}
	}
	store, _ := stubbed(t, refusal(404, "TableNotFound"))
	_, err := store.Tables.Write(t.Context(), "Votes", opOf(table.Merge, "r"))
	require.EqualError(t, err,
		"write Votes: table Votes does not exist: storage answered 404 TableNotFound to request rid")
}

func TestCancelledWrite(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	store, _ := stubbed(t, reply{err: context.Canceled})
	_, err := store.Tables.Write(ctx, "T", opOf(table.Upsert, "r"))
	require.ErrorIs(t, err, context.Canceled)
}

func TestInsertWantsNoEcho(t *testing.T) {
	t.Parallel()
	store, stub := stubbed(t, reply{status: http.StatusNoContent, header: map[string]string{"ETag": "e"}})
	etags, err := store.Tables.Write(t.Context(), "T", opOf(table.Insert, "r"))
	require.NoError(t, err)
	require.Equal(t, []string{"e"}, etags)
	require.Equal(t, "return-no-content", stub.sent[0].Header.Get("Prefer"))
}

func TestBatchETags(t *testing.T) {
	t.Parallel()
	store, stub := stubbed(t, batchReply(done(`W/"1"`), done(`W/"2"`), done(`W/"gone"`), done(`W/"3"`), done(`W/"4"`)))
	ops := []table.Op{
		opOf(table.Insert, "a"), opOf(table.Replace, "b"), opOf(table.Delete, "c"),
		opOf(table.Upsert, "d"), opOf(table.Merge, "e"),
	}
	etags, err := store.Tables.Write(t.Context(), "T", ops...)
	require.NoError(t, err)
	require.Equal(t, []string{`W/"1"`, `W/"2"`, "", `W/"3"`, `W/"4"`}, etags)
	require.Len(t, stub.sent, 1)
	require.Equal(t, 3, strings.Count(stub.sent[0].body, "If-Match: *"))
}

func TestBatchErrors(t *testing.T) {
	t.Parallel()
	ops := []table.Op{opOf(table.Insert, "a"), opOf(table.Merge, "b"), opOf(table.Delete, "c")}
	tests := []struct {
		name  string
		part  string
		want  error
		index int // negative if the error is of no operation
	}{
		{"exists", failed("409 Conflict", "EntityAlreadyExists", "0:There."), table.ErrExists, 0},
		{
			"conflict", failed("412 Precondition Failed", "UpdateConditionNotSatisfied", "1:Changed."),
			table.ErrConflict, 1,
		},
		{"missing", failed("404 Not Found", "ResourceNotFound", "2:Missing."), table.ErrNotFound, 2},
		{"busy", failed("503 Service Unavailable", "ServerBusy", "0:Busy."), table.ErrBusy, -1},
		{"too large", failed("400 Bad Request", "EntityTooLarge", "1:Large."), table.ErrInvalid, -1},
		{
			"without index", failed("412 Precondition Failed", "UpdateConditionNotSatisfied", "Changed."),
			table.ErrConflict, -1,
		},
		{
			"index out of range", failed("412 Precondition Failed", "UpdateConditionNotSatisfied", "3:Changed."),
			table.ErrConflict, -1,
		},
		{"without body", "HTTP/1.1 412 Precondition Failed\r\n\r\n", table.ErrConflict, -1},
	}
	for _, test := range tests {
		store, _ := stubbed(t, batchReply(test.part))
		_, err := store.Tables.Write(t.Context(), "T", ops...)
		require.ErrorIs(t, err, test.want, test.name)
		var failed *table.OpError
		require.Equal(t, test.index >= 0, errors.As(err, &failed), test.name)
		if test.index >= 0 {
			require.Equal(t, table.OpError{Index: test.index, Key: ops[test.index].Row.Key, Err: test.want},
				*failed, test.name)
		}
	}
	store, _ := stubbed(t, batchReply(failed("404 Not Found", "TableNotFound", "0:No.")))
	_, err := store.Tables.Write(t.Context(), "Votes", ops...)
	require.ErrorContains(t, err, "table Votes does not exist")
	require.NotErrorIs(t, err, table.ErrNotFound)
}

// An answer that cannot be read leaves the outcome unknown; it must not pass for success.
func TestBatchAnswerUnreadable(t *testing.T) {
	t.Parallel()
	whole := batchReply(done(`W/"1"`), done(`W/"2"`)).body
	for _, body := range []string{
		"", "--", "\r\n", "not multipart", "--b\r\n\r\n--b--", whole[:len(whole)/3],
		whole[:strings.LastIndex(whole, "HTTP/1.1")], batchReply(done("")).body,
	} {
		store, _ := stubbed(t, reply{status: http.StatusAccepted, body: body})
		_, err := store.Tables.Write(t.Context(), "T", opOf(table.Insert, "a"), opOf(table.Insert, "b"))
		require.Error(t, err, "%q", body)
	}
}
