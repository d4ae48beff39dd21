package azure

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/table"
	"prompthub/internal/testing/azurite"
)

// TestEmulatorKeepsData stops an emulator with its data on disk and starts it again on the
// same ports, as a developer does, while the store stays open.
func TestEmulatorKeepsData(t *testing.T) {
	t.Parallel()
	azurite.Start(t) // skips where there is none
	opts := azurite.Options{Dir: t.TempDir()}
	server, err := azurite.Run(t.Context(), opts)
	require.NoError(t, err)
	defer func() { require.NoError(t, server.Stop()) }()
	store, err := New(Config{ConnectionString: server.ConnectionString()})
	require.NoError(t, err)
	require.NoError(t, store.Tables.Create(t.Context(), "Kept"))
	require.NoError(t, store.Queues.Create(t.Context(), "kept"))
	op := opOf(table.Insert, "r")
	op.Row.Props = table.Props{{Name: "S", Value: table.String("日本")}}
	etags, err := store.Tables.Write(t.Context(), "Kept", op)
	require.NoError(t, err)
	_, err = store.Queues.Send(t.Context(), "kept", "message", 0)
	require.NoError(t, err)

	require.NoError(t, server.Stop())
	_, err = store.Tables.Get(t.Context(), "Kept", op.Row.Key)
	require.Error(t, err)
	opts.Ports = server.Ports
	server, err = azurite.Run(t.Context(), opts)
	require.NoError(t, err)

	row, err := store.Tables.Get(t.Context(), "Kept", op.Row.Key)
	require.NoError(t, err)
	require.Equal(t, table.Row{Key: op.Row.Key, ETag: etags[0], Props: op.Row.Props}, row)
	n, err := store.Queues.Len(t.Context(), "kept")
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
