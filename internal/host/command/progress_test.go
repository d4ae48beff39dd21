package command

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProgressByAnySteps(t *testing.T) {
	var out bytes.Buffer
	p := NewProgress(&out, "rows", 0)
	for _, n := range []int{0, 40, 130, 190, 200, 1130, 1131} {
		p.At(n)
	}
	p.Done(1132)
	require.Equal(t, "130 rows\n200 rows\n1130 rows\n1132 rows\n", out.String())
}
