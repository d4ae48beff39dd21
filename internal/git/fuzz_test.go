package git_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/git"
)

// FuzzRequest: a body is refused in a sentence, or answered in pkt-lines, and a pack is whole.
func FuzzRequest(f *testing.F) {
	w := newWorld()
	w.grow(4)
	tip, first := w.refs[main].String(), w.id(main, 3).String()
	w.refs["refs/tags/v1"] = w.id(main, 3)
	for _, seed := range []string{
		"", "0000", "0014command=ls-refs\n0000",
		"0014command=ls-refs\n00010009peel\n000csymrefs\n000bunborn\n0014ref-prefix HEAD\n0000",
		request("want " + tip), request("want "+tip, "deepen 2"), request("want "+tip, "have "+first),
		request("want "+first, "deepen-since 1"),
		request("want "+tip, "shallow "+first, "deepen 1", "deepen-relative"), request("want "+tip, "deepen-not v1"),
		strings.Replace(request("want "+tip, "have "+first), "0009done\n", "", 1), packed(request("want " + tip)),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		q, err := git.ReadRequest(strings.NewReader(string(body)))
		if err != nil {
			refusal := new(git.Refusal)
			require.ErrorAs(t, err, &refusal)
			require.Less(t, len(refusal.Packet()), 1_000)
			return
		}
		parts, err := q.Answer(t.Context(), w)
		if refusal := new(git.Refusal); errors.As(err, &refusal) {
			require.Less(t, len(refusal.Packet()), 1_000)
			return
		}
		require.NoError(t, err)
		var answer, data []byte
		for _, part := range parts {
			answer = append(answer, part...)
		}
		list := lines(t, string(answer))
		for i, line := range list {
			if line == "packfile\n" {
				for _, part := range list[i+1 : len(list)-1] {
					data = append(data, part[1:]...)
				}
				unpack(t, data)
			}
		}
	})
}
