package jsonsize_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/jsonsize"
)

func TestParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		``: 0, `1`: 0, `"a,[{"`: 0, `{}`: 1, `[]`: 1, `[1]`: 1, `[1,2]`: 2, `{"a":1,"b":[]}`: 3, `[{},{}]`: 4,
		`["\"",","]`: 2, `["\\",1]`: 2, `["`: 1, `["\`: 1, `[1,,`: 3, " [ 1 , 2 ] ": 2,
	} {
		require.Equal(t, want, jsonsize.Parts([]byte(text)), text)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()
	list := func(n int) []byte { return []byte("[" + strings.Repeat("0,", n-1) + "0]") }
	require.NoError(t, jsonsize.Check(list(jsonsize.Most)))
	err := jsonsize.Check(list(jsonsize.Most + 1))
	require.Equal(t, jsonsize.TooManyParts, fault.CodeOf(err))
	require.Equal(t, fault.Invalid, fault.Of(err))
}
