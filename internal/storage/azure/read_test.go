package azure

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
)

func TestReadIsRepeated(t *testing.T) {
	t.Parallel()
	for _, bad := range []reply{
		{err: errors.New("connection reset")},
		refusal(500, "InternalError"),
		refusal(503, "ServerBusy"),
	} {
		store, stub := stubbed(t, bad, bad,
			reply{status: http.StatusOK, body: `{"PartitionKey":"p|1","RowKey":"r","odata.etag":"e","N":1}`})
		row, err := store.Tables.Get(t.Context(), "T", someKey)
		require.NoError(t, err)
		require.Equal(t, table.Row{Key: someKey, ETag: "e", Props: table.Props{{Name: "N", Value: table.Int32(1)}}},
			row)
		require.Len(t, stub.sent, 3)

		store, stub = stubbed(t, bad, reply{status: http.StatusOK, body: emptyPage})
		_, err = store.Tables.List(t.Context(), "T", table.Range{}, 10, "")
		require.NoError(t, err)
		require.Len(t, stub.sent, 2)

		store, stub = stubbed(t, bad)
		_, err = store.Tables.Get(t.Context(), "T", someKey)
		require.Error(t, err)
		require.Len(t, stub.sent, 3)
	}
}

func TestGetErrors(t *testing.T) {
	t.Parallel()
	store, _ := stubbed(t, refusal(404, "ResourceNotFound"))
	_, err := store.Tables.Get(t.Context(), "T", someKey)
	require.ErrorIs(t, err, table.ErrNotFound)

	store, _ = stubbed(t, refusal(404, "TableNotFound"))
	_, err = store.Tables.Get(t.Context(), "Votes", someKey)
	require.NotErrorIs(t, err, table.ErrNotFound)
	require.ErrorContains(t, err, "table Votes does not exist")

	store, _ = stubbed(t, reply{status: http.StatusOK, body: `{"PartitionKey":"p`})
	_, err = store.Tables.Get(t.Context(), "T", someKey)
	require.ErrorIs(t, err, errMalformed)
}

func TestGetTakesETagOfHeader(t *testing.T) {
	t.Parallel()
	store, _ := stubbed(t, reply{
		status: http.StatusOK, header: map[string]string{"ETag": "h"},
		body: `{"PartitionKey":"p|1","RowKey":"r"}`,
	})
	row, err := store.Tables.Get(t.Context(), "T", someKey)
	require.NoError(t, err)
	require.Equal(t, "h", row.ETag)
}

func TestListGoesOn(t *testing.T) {
	t.Parallel()
	const partition, row = "x-ms-continuation-NextPartitionKey", "x-ms-continuation-NextRowKey"
	store, stub := stubbed(t,
		reply{
			status: http.StatusOK, body: emptyPage,
			header: map[string]string{partition: "1!8!U21pdGg-", row: "1!4!YQ--"},
		},
		reply{status: http.StatusOK, body: emptyPage, header: map[string]string{partition: "1!8!U21pdGg-"}},
		reply{status: http.StatusOK, body: emptyPage},
	)
	r := table.Range{Partition: "O'Neil", From: "a", To: "b"}
	var next string
	for i := range 3 {
		page, err := store.Tables.List(t.Context(), "T", r, 7, next)
		require.NoError(t, err)
		require.Empty(t, page.Rows)
		require.Equal(t, i == 2, page.Next == "")
		next = page.Next
	}
	for _, s := range stub.sent {
		q := s.URL.Query()
		require.Equal(t, "PartitionKey eq 'O''Neil' and RowKey ge 'a' and RowKey lt 'b'", q.Get("$filter"))
		require.Equal(t, "7", q.Get("$top"))
	}
	require.Equal(t, "1!8!U21pdGg-", stub.sent[1].URL.Query().Get("NextPartitionKey"))
	require.Equal(t, "1!4!YQ--", stub.sent[1].URL.Query().Get("NextRowKey"))
	require.Equal(t, "1!8!U21pdGg-", stub.sent[2].URL.Query().Get("NextPartitionKey"))
	require.False(t, stub.sent[2].URL.Query().Has("NextRowKey"))
}

func TestListRefusesForeignToken(t *testing.T) {
	t.Parallel()
	store, stub := stubbed(t, reply{status: http.StatusOK, body: emptyPage})
	for _, token := range []string{"%", "bm8"} {
		_, err := store.Tables.List(t.Context(), "T", table.Range{}, 7, token)
		require.ErrorIs(t, err, table.ErrInvalid)
	}
	require.Empty(t, stub.sent)
}

func TestFilter(t *testing.T) {
	t.Parallel()
	require.Empty(t, filter(table.Range{}))
	require.Equal(t, "PartitionKey ge 'a' and PartitionKey lt 'b' and RowKey gt 'it''s'",
		filter(table.Range{FromPartition: "a", ToPartition: "b", After: "it's"}))
}

func TestCreateTables(t *testing.T) {
	t.Parallel()
	store, stub := stubbed(t, refusal(409, "TableAlreadyExists"))
	require.NoError(t, store.Tables.Create(t.Context(), "A", "B"))
	require.Len(t, stub.sent, 2)

	store, _ = stubbed(t, refusal(403, "AuthorizationPermissionMismatch"))
	require.ErrorContains(t, store.Tables.Create(t.Context(), "A"),
		"create table A: storage answered 403 AuthorizationPermissionMismatch")
	store, _ = stubbed(t, refusal(409, "TableBeingDeleted"))
	require.Error(t, store.Tables.Create(t.Context(), "A"))
}

// Only the emulator needs bodies in ASCII.
func TestBodiesInASCII(t *testing.T) {
	t.Parallel()
	op := opOf(table.Upsert, "r")
	op.Row.Props = table.Props{{Name: "S", Value: table.String("é😀")}}
	for _, test := range []struct {
		connection, want string
	}{
		{"UseDevelopmentStorage=true", `"S":"\u00e9\ud83d\ude00"`},
		{"AccountName=acct;AccountKey=a2V5", `"S":"é😀"`},
	} {
		store, stub := stubbedAt(t, Config{ConnectionString: test.connection}, reply{status: http.StatusNoContent})
		_, err := store.Tables.Write(t.Context(), "T", op)
		require.NoError(t, err)
		require.True(t, strings.Contains(stub.sent[0].body, test.want), stub.sent[0].body)
		require.EqualValues(t, len(stub.sent[0].body), stub.sent[0].ContentLength)
	}
}
