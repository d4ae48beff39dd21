package function

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	queued = Trigger{Name: "moves", Queue: "moves"}
	timed  = Trigger{Name: "purge", Schedule: "0 0 3 * * *"}
)

func TestDecodeMessage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		text       string
		dequeued   int
	}{
		{
			"json text as the host sends it",
			`{"Data":{"msg":"\"{\\\"job\\\":7}\""},"Metadata":{"DequeueCount":"3","sys":{}}}`, `{"job":7}`, 3,
		},
		{"plain text as the host sends it", `{"Data":{"msg":"\"hello\""},"Metadata":{"DequeueCount":"1"}}`, "hello", 1},
		{"text with quotes", `{"Data":{"msg":"\"\\\"quoted\\\"\""}}`, `"quoted"`, 0},
		{"empty text", `{"Data":{"msg":"\"\""}}`, "", 0},
		{"encoded once, not JSON", `{"Data":{"msg":"hello"},"Metadata":{"DequeueCount":2}}`, "hello", 2},
		{"encoded once, an object", `{"Data":{"msg":"{\"job\":7}"}}`, `{"job":7}`, 0},
		{"encoded once, a number", `{"Data":{"msg":"42"}}`, "42", 0},
		{"encoded once, null", `{"Data":{"msg":"null"}}`, "null", 0},
		{"an object", `{"Data":{"msg":{"job":7}}}`, `{"job":7}`, 0},
		{"keys in another case", `{"data":{"msg":"\"x\""},"metadata":{"dequeuecount":"4"}}`, "x", 4},
		{
			"count overwritten by a message property",
			`{"Data":{"msg":"\"x\""},"Metadata":{"DequeueCount":"\"many\""}}`, "x", 0,
		},
		{"count overwritten by an object", `{"Data":{"msg":"\"x\""},"Metadata":{"DequeueCount":{"a":1}}}`, "x", 0},
		{"negative count", `{"Data":{"msg":"\"x\""},"Metadata":{"DequeueCount":"-1"}}`, "x", 0},
		{"not ASCII", `{"Data":{"msg":"\"gr\u00fc\u00df \\ud83d\\ude00\""}}`, "grüß 😀", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := decode(queued, []byte(tt.body))
			require.NoError(t, err)
			require.Equal(t, Invocation{Function: "moves", Text: tt.text, Dequeued: tt.dequeued}, got)
		})
	}
}

func TestDecodeTimer(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, body string
		past       bool
	}{
		{"in time", `{"Data":{"timer":{"Schedule":{"AdjustForDST":true},"ScheduleStatus":null,"IsPastDue":false}},"Metadata":{"sys":{}}}`, false},
		{"late", `{"Data":{"timer":{"IsPastDue":true}}}`, true},
		{"in a string", `{"Data":{"timer":"{\"IsPastDue\":true}"}}`, true},
		{"unknown shape", `{"Data":{"timer":7}}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := decode(timed, []byte(tt.body))
			require.NoError(t, err)
			require.Equal(t, Invocation{Function: "purge", Timer: true, PastDue: tt.past}, got)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		``, `null`, `{}`, `[]`, `"secret"`, `{"Data":"secret"}`, `{"Data":{}}`,
		`{"Data":{"a":1,"secret":2}}`, `{"Data":{"a":"secret`,
	} {
		_, err := decode(queued, []byte(body))
		require.Error(t, err, body)
		require.NotContains(t, err.Error(), "secret", "errors are logged and must not hold contents")
	}
}

// FuzzDecode holds that a text comes back from the host's encoding as it was, and that
// nothing that can be posted breaks the decoder.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"", "hello", `"x"`, `{"job":7}`, "null", "\\", "\u2028<&>", `{"Data":{"msg":"\"x\""}}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		_, _ = decode(queued, []byte(s))
		_, _ = decode(timed, []byte(s))

		once, err := json.Marshal(s)
		require.NoError(t, err)
		body, err := json.Marshal(map[string]any{"Data": map[string]string{"m": string(once)}})
		require.NoError(t, err)
		got, err := decode(queued, body)
		require.NoError(t, err)
		var want string // as JSON carries it: bytes that are not UTF-8 are replaced
		require.NoError(t, json.Unmarshal(once, &want))
		require.Equal(t, want, got.Text)
	})
}
