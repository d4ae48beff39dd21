package functiontest

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHandlerDiesWithTheTest(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(must(os.Executable()))
	cmd.Env = append(os.Environ(), asHost+"="+application(nil).write(t))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	addr, err := bufio.NewReader(out).ReadString('\n')
	listens := func() bool {
		conn, err := net.Dial("tcp", strings.TrimSpace(addr))
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}
	alive := err == nil && listens()
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
	require.True(t, alive)
	eventually(t, func() bool { return !listens() })
}
