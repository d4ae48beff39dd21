package azurite

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/table"
)

// asHelper makes this test binary a process that runs a server and waits to be killed.
const asHelper = "AZURITE_TEST_HELPER"

func TestMain(m *testing.M) {
	if os.Getenv(asHelper) == "" {
		os.Exit(m.Run())
	}
	server, err := Run(context.Background(), Options{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(server.Ports.Table, server.Ports.Queue, server.services[1].cmd.Dir)
	select {}
}

func run(t *testing.T, opts Options) *Server {
	t.Helper()
	installed(t)
	server, err := Run(t.Context(), opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server
}

func listening(port int) bool {
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}

func TestRunAndStop(t *testing.T) {
	t.Parallel()
	server := run(t, Options{Blob: true})
	temp := server.services[1].cmd.Dir
	for _, port := range []int{server.Ports.Blob, server.Ports.Queue, server.Ports.Table} {
		require.True(t, listening(port))
		require.Contains(t, server.ConnectionString(), fmt.Sprintf("127.0.0.1:%d/", port))
	}
	require.DirExists(t, temp)

	require.NoError(t, server.Stop())
	for _, port := range []int{server.Ports.Blob, server.Ports.Queue, server.Ports.Table} {
		require.False(t, listening(port))
	}
	require.NoDirExists(t, temp)
}

func TestRunOnFixedPortInUse(t *testing.T) {
	t.Parallel()
	installed(t)
	other, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer other.Close()
	_, err = Run(t.Context(), Options{Ports: Ports{Queue: other.Addr().(*net.TCPAddr).Port}})
	require.ErrorContains(t, err, "EADDRINUSE")
}

func TestRunWithoutTime(t *testing.T) {
	t.Parallel()
	installed(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Run(ctx, Options{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestServerEndsWithItsStarter(t *testing.T) {
	t.Parallel()
	installed(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asHelper+"=1")
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	var tables, queues int
	var temp string
	_, err = fmt.Sscan(line, &tables, &queues, &temp)
	require.NoError(t, err, line)
	require.True(t, listening(tables) && listening(queues))

	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	require.Eventually(t, func() bool {
		_, err := os.Stat(temp)
		return !listening(tables) && !listening(queues) && os.IsNotExist(err)
	}, 30*time.Second, 20*time.Millisecond)
}

func TestStartIsShared(t *testing.T) {
	t.Parallel()
	require.Equal(t, Start(t), Start(t))
	require.True(t, strings.Contains(Start(t), "TableEndpoint=") && strings.Contains(Start(t), "QueueEndpoint="))
	require.NotContains(t, Start(t), "BlobEndpoint=")
}

func TestAccountsDoNotMeet(t *testing.T) {
	t.Parallel()
	var stores []*azure.Store
	connections := []string{Start(t)}
	for range together + 1 { // on two servers
		connections = append(connections, Account(t))
	}
	for _, connection := range connections {
		store, err := azure.New(azure.Config{ConnectionString: connection})
		require.NoError(t, err)
		require.NoError(t, store.Tables.Create(t.Context(), "Shared"))
		require.NoError(t, store.Queues.Create(t.Context(), "shared"))
		stores = append(stores, store)
	}
	key := table.Key{Partition: "p", Row: "r"}
	_, err := stores[1].Tables.Write(t.Context(), "Shared", table.Op{Kind: table.Insert, Row: table.Row{Key: key}})
	require.NoError(t, err)
	_, err = stores[1].Queues.Send(t.Context(), "shared", "text", 0)
	require.NoError(t, err)
	for i := range stores {
		want := 0
		if i == 1 {
			want = 1
		}
		_, err := stores[i].Tables.Get(t.Context(), "Shared", key)
		require.Equal(t, want == 0, errors.Is(err, table.ErrNotFound), err)
		n, err := stores[i].Queues.Len(t.Context(), "shared")
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
}
