package azure

import (
	"encoding/base64"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/queue"
)

var someReceipt = queue.Receipt{ID: "id", Pop: "pop"}

func queueRefusal(status int, code string) reply {
	return reply{
		status: status, header: map[string]string{"x-ms-error-code": code, "Content-Type": "application/xml"},
		body: `<?xml version="1.0"?><Error><Code>` + code + `</Code></Error>`,
	}
}

// delivery is the answer to a receive: one message with the text as it is on the wire.
func delivery(text string) reply {
	return reply{
		status: http.StatusOK, header: map[string]string{"Content-Type": "application/xml"},
		body: `<?xml version="1.0"?><QueueMessagesList><QueueMessage>` +
			`<MessageId>id</MessageId><InsertionTime>Fri, 20 Nov 2026 15:31:11 GMT</InsertionTime><ExpirationTime>Fri, 31 Dec 9999 23:59:59 GMT</ExpirationTime>` +
			`<PopReceipt>pop</PopReceipt><TimeNextVisible>Fri, 20 Nov 2026 15:32:11 GMT</TimeNextVisible><DequeueCount>2</DequeueCount>` +
			`<MessageText>` + text + `</MessageText></QueueMessage></QueueMessagesList>`,
	}
}

var accepted = reply{status: http.StatusCreated, body: delivery("").body}

func TestSendEncodes(t *testing.T) {
	t.Parallel()
	store, stub := stubbed(t, accepted)
	receipt, err := store.Queues.Send(t.Context(), "q", "héllo", 1500*time.Millisecond)
	require.NoError(t, err)
	require.Equal(t, someReceipt, receipt)
	require.Contains(t, stub.sent[0].body,
		"<MessageText>"+base64.StdEncoding.EncodeToString([]byte("héllo"))+"</MessageText>")
	require.Equal(t, "-1", stub.sent[0].URL.Query().Get("messagettl"))
	require.Equal(t, "2", stub.sent[0].URL.Query().Get("visibilitytimeout"))

	store, stub = stubbedAt(t, Config{
		ConnectionString: "AccountName=acct;AccountKey=a2V5",
		RawMessages:      true,
	}, accepted)
	_, err = store.Queues.Send(t.Context(), "q", "héllo", 0)
	require.NoError(t, err)
	require.Contains(t, stub.sent[0].body, "<MessageText>héllo</MessageText>")
}

func TestReceiveDecodes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, wire, want string
		raw              bool
	}{
		{"base64", "aMOpbGxv", "héllo", false},
		{"not base64", "h&lt;llo", "h<llo", false},
		{"empty", "", "", false},
		{"raw", "aMOpbGxv", "aMOpbGxv", true},
	} {
		store, _ := stubbedAt(t, Config{ConnectionString: "AccountName=acct;AccountKey=a2V5", RawMessages: test.raw},
			delivery(test.wire))
		msgs, err := store.Queues.Receive(t.Context(), "q", 1, time.Minute)
		require.NoError(t, err)
		want := queue.Message{
			Receipt: someReceipt, Text: test.want, Dequeued: 2,
			Inserted: time.Date(2026, 11, 20, 15, 31, 11, 0, time.UTC),
		}
		require.Len(t, msgs, 1)
		require.True(t, want.Inserted.Equal(msgs[0].Inserted))
		want.Inserted = msgs[0].Inserted
		require.Equal(t, want, msgs[0], test.name)
	}
}

func TestHideSendsNoText(t *testing.T) {
	t.Parallel()
	store, stub := stubbed(t, reply{status: http.StatusNoContent, header: map[string]string{"x-ms-popreceipt": "new"}})
	receipt, err := store.Queues.Hide(t.Context(), "q", someReceipt, time.Minute)
	require.NoError(t, err)
	require.Equal(t, queue.Receipt{ID: "id", Pop: "new"}, receipt)
	require.Empty(t, stub.sent[0].body)
	require.Equal(t, "60", stub.sent[0].URL.Query().Get("visibilitytimeout"))
}

func TestQueueRequestsAreSentOnce(t *testing.T) {
	t.Parallel()
	for _, r := range []reply{
		{err: errors.New("connection reset")},
		queueRefusal(500, "InternalError"),
		queueRefusal(503, "ServerBusy"),
	} {
		store, stub := stubbed(t, r)
		_, err := store.Queues.Send(t.Context(), "q", "x", 0)
		require.Error(t, err)
		_, err = store.Queues.Hide(t.Context(), "q", someReceipt, 0)
		require.Error(t, err)
		require.Error(t, store.Queues.Delete(t.Context(), "q", someReceipt))
		_, err = store.Queues.Receive(t.Context(), "q", 1, time.Minute)
		require.Error(t, err)
		require.Len(t, stub.sent, 4)
	}
}

func TestQueueErrors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		code   string
		want   error
	}{
		{404, "MessageNotFound", queue.ErrGone},
		{400, "PopReceiptMismatch", queue.ErrGone},
		{413, "RequestBodyTooLarge", queue.ErrInvalid},
		{400, "OutOfRangeQueryParameterValue", queue.ErrInvalid},
	} {
		store, _ := stubbed(t, queueRefusal(test.status, test.code))
		require.ErrorIs(t, store.Queues.Delete(t.Context(), "q", someReceipt), test.want, test.code)
		_, err := store.Queues.Hide(t.Context(), "q", someReceipt, 0)
		require.ErrorIs(t, err, test.want, test.code)
	}
	for _, r := range []reply{
		queueRefusal(403, "AuthorizationPermissionMismatch"), queueRefusal(404, "QueueNotFound"),
		queueRefusal(503, "ServerBusy"),
		{err: errors.New("reset")},
	} {
		store, _ := stubbed(t, r)
		_, err := store.Queues.Receive(t.Context(), "jobs", 1, time.Minute)
		require.ErrorContains(t, err, "jobs")
		require.NotErrorIs(t, err, queue.ErrGone)
		require.NotErrorIs(t, err, queue.ErrInvalid)
	}
}

func TestCreateQueues(t *testing.T) {
	t.Parallel()
	store, _ := stubbed(t, queueRefusal(409, "QueueAlreadyExists"))
	require.NoError(t, store.Queues.Create(t.Context(), "a", "b"))
	store, _ = stubbed(t, queueRefusal(403, "AuthorizationPermissionMismatch"))
	require.ErrorContains(t, store.Queues.Create(t.Context(), "a"), "create queue a: storage answered 403")
}
