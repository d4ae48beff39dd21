package azure

import (
	"errors"
	"net/http"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/blob"
)

// stubbedBlobs returns the blobs of an account that is a stub.
func stubbedBlobs(t *testing.T, replies ...reply) (*Blobs, *stub) {
	t.Helper()
	store, stub := stubbedAt(t, Config{ConnectionString: "AccountName=acct;AccountKey=a2V5", Blobs: true}, replies...)
	return store.Blobs, stub
}

// refusedBlob is the blob service's answer of an error.
func refusedBlob(status int, code string) reply {
	return reply{status: status, header: map[string]string{"x-ms-error-code": code, "x-ms-request-id": "rid"}}
}

func TestBlobWritesAreSentOnce(t *testing.T) {
	t.Parallel()
	for _, r := range []reply{
		{err: errors.New("connection reset")},
		refusedBlob(500, "InternalError"),
		refusedBlob(503, "ServerBusy"), refusedBlob(408, ""), refusedBlob(429, ""),
	} {
		blobs, stub := stubbedBlobs(t, r)
		require.Error(t, blobs.Put(t.Context(), "pictures", "user/a.jpg", []byte("body")))
		require.Len(t, stub.sent, 1, "put answered %d", r.status)
		put := stub.sent[0]
		require.Equal(t, "PUT acct.blob.core.windows.net /pictures/user/a.jpg",
			put.Method+" "+put.URL.Host+" "+put.URL.Path)
		require.Equal(t, "*", put.Header.Get("If-None-Match"))
		require.Equal(t, []string{"image/jpeg"}, put.Header["x-ms-blob-content-type"]) //nolint:staticcheck // as the SDK writes it
		require.Equal(t, "body", put.body)
		_, limited := put.Context().Deadline()
		require.True(t, limited)
		require.Error(t, blobs.Delete(t.Context(), "pictures", "user/a.jpg"))
		require.Len(t, stub.sent, 2, "delete answered %d", r.status)
	}
}

func TestBlobErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		reply reply
		want  error
	}{
		{refusedBlob(409, "BlobAlreadyExists"), blob.ErrExists},
		{refusedBlob(412, "ConditionNotMet"), blob.ErrExists},
		{refusedBlob(404, "ContainerNotFound"), blob.ErrNoContainer},
		{refusedBlob(503, "ServerBusy"), blob.ErrBusy},
		{refusedBlob(429, "TooManyRequests"), blob.ErrBusy},
		{refusedBlob(400, "InvalidHeaderValue"), blob.ErrInvalid},
		{refusedBlob(413, "RequestBodyTooLarge"), blob.ErrInvalid},
		{refusedBlob(500, "InternalError"), nil},
		{refusedBlob(503, "OperationTimedOut"), nil},
		{refusedBlob(403, "AuthorizationFailure"), nil},
		{refusedBlob(409, "ContainerBeingDeleted"), nil},
		{refusedBlob(400, "InvalidAuthenticationInfo"), nil},
	} {
		blobs, _ := stubbedBlobs(t, tt.reply)
		err := blobs.Put(t.Context(), "pictures", "user/a.jpg", nil)
		require.ErrorContains(t, err, "put into pictures: ")
		require.NotContains(t, err.Error(), "user", "names hold ids")
		for _, known := range []error{
			blob.ErrExists, blob.ErrNoContainer, blob.ErrBusy,
			blob.ErrInvalid, blob.ErrNotFound,
		} {
			require.Equal(t, errors.Is(tt.want, known), errors.Is(err, known), "%v is %v", err, known)
		}
	}
}

// A read is repeated, also where its answer breaks off, and one of too many bytes is none.
func TestBlobReads(t *testing.T) {
	t.Parallel()
	const modified = "Wed, 25 Nov 2026 12:00:00 GMT"
	whole := reply{
		status: http.StatusOK, body: "body",
		header: map[string]string{"Last-Modified": modified, "Content-Length": "4", "ETag": `"1"`},
	}
	blobs, stub := stubbedBlobs(t, refusedBlob(500, "InternalError"), reply{err: errors.New("connection reset")}, whole)
	got, err := blobs.Get(t.Context(), "pictures", "user/a.jpg")
	require.NoError(t, err)
	require.Equal(t, "body", string(got.Body))
	require.Equal(t, blob.ETag([]byte("body")), got.ETag)
	require.Len(t, stub.sent, 3)

	big := reply{
		status: http.StatusOK,
		header: map[string]string{
			"Last-Modified": modified, "Content-Length": strconv.Itoa(blob.MaxBytes + 1),
			"ETag": `"1"`,
		},
	}
	blobs, _ = stubbedBlobs(t, big)
	_, err = blobs.Get(t.Context(), "pictures", "user/a.jpg")
	require.ErrorContains(t, err, "which are no blob")
}
