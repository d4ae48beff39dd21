package command

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/storage/embedded"
)

// noAccount takes the storage account out of the environment.
func noAccount(t *testing.T) {
	t.Helper()
	for _, part := range []string{
		"", "__accountName", "__tableServiceUri", "__queueServiceUri", "__blobServiceUri",
		"__credential", "__clientId",
	} {
		t.Setenv("AzureWebJobsStorage"+part, "")
	}
}

// Only an application with blobs has them, and needs the blob service of an account.
func TestBlobs(t *testing.T) {
	noAccount(t)
	dir := filepath.Join(t.TempDir(), "a", "b")
	st, err := Service{Name: "pictured", Blobs: true}.OpenStore(dir, "")
	require.NoError(t, err)
	require.NoError(t, st.Blobs.Create(t.Context(), "pictures"))
	require.NoError(t, st.Blobs.Put(t.Context(), "pictures", "a.jpg", nil))
	require.FileExists(t, filepath.Join(dir, "pictured-blobs", "pictures", "a.jpg"))
	require.NoError(t, st.Close())

	st, err = Service{Name: "pictured"}.OpenExisting(dir, "")
	require.NoError(t, err)
	require.Nil(t, st.Blobs)
	require.NoError(t, st.Close())

	for _, service := range []string{"table", "queue"} {
		t.Setenv("AzureWebJobsStorage__"+service+"ServiceUri", "https://a."+service+".core.windows.net")
	}
	st, err = Service{Name: "pictured"}.OpenStore(dir, "")
	require.NoError(t, err)
	require.Nil(t, st.Blobs)
	_, err = Service{Name: "pictured", Blobs: true}.OpenStore(dir, "")
	var refused *auth.Refusal
	require.ErrorAs(t, err, &refused)
	require.Contains(t, refused.Reason, "AzureWebJobsStorage__blobServiceUri")
	t.Setenv("AzureWebJobsStorage__blobServiceUri", "https://a.blob.core.windows.net")
	st, err = Service{Name: "pictured", Blobs: true}.OpenStore(dir, "")
	require.NoError(t, err)
	require.NotNil(t, st.Blobs)
}

// A file in the place of the directory is left alone.
func TestNoDirectory(t *testing.T) {
	noAccount(t)
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("kept"), 0o600))
	for _, dir := range []string{file, filepath.Join(file, "a")} {
		_, err := Service{Name: "x"}.OpenStore(dir, "")
		require.ErrorContains(t, err, "not a directory")
		require.NotErrorIs(t, err, embedded.ErrForeign)
	}
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "kept", string(text))
}
