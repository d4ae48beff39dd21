package command

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestProgress: a pipe has a line every ten seconds, a terminal one line that changes.
func TestProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var piped, shown bytes.Buffer
		p, q := NewProgress(&piped, "rows", 1200), NewProgress(&screen{to: &shown}, "rows", 0)
		for n := range 1200 { // in a minute
			p.At(n + 1)
			q.At(n + 1)
			time.Sleep(50 * time.Millisecond)
		}
		p.Done(1200)
		q.Done(1200)
		require.Equal(t,
			"201 of 1200 rows\n401 of 1200 rows\n601 of 1200 rows\n801 of 1200 rows\n1001 of 1200 rows\n1200 rows\n",
			piped.String())
		require.Equal(t, 1, bytes.Count(shown.Bytes(), []byte("\n")))
		require.Contains(t, shown.String(), "\r\x1b[K1 rows\r\x1b[K3 rows\r")
		require.True(t, bytes.HasSuffix(shown.Bytes(), []byte("\r\x1b[K1200 rows\n")))
	})
}
