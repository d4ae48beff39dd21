package functiontest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/memory"
)

// withQueues returns queues with those of the usual application.
func withQueues(t *testing.T) *memory.Queues {
	t.Helper()
	q := memory.NewQueues(time.Now)
	require.NoError(t, q.Create(t.Context(), "jobs", "guarded"))
	return q
}

// enqueue sends texts as they are on the wire.
func enqueue(t *testing.T, q *memory.Queues, name string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		_, err := q.Send(t.Context(), name, base64.StdEncoding.EncodeToString([]byte(text)), 0)
		require.NoError(t, err)
	}
}

func (h *Host) done() []Invocation {
	return slices.DeleteFunc(h.Invocations(), func(in Invocation) bool { return !in.Done })
}

func TestEnvelopeOnTheWire(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	h := up(t, application(nil), Options{Queues: q})
	const text = `{"job":"solve","n":7,"e":1e3,"f":1.10,"z":-0.0,"at":"2026-01-02T03:04:05+01:00","yes":true,"list":[1],"sub":{"a":1},"none":null,"dequeueCount":99,"myTrigger":"x"}`
	enqueue(t, q, "jobs", text)
	eventually(t, func() bool { return len(h.done()) == 1 && size(q, "jobs") == 0 })
	in := h.done()[0]
	require.Equal(t, Invocation{Function: "jobs", ID: in.ID, Text: text, Dequeued: 1, Status: 200, Done: true}, in)

	var e envelope
	for _, line := range h.Logs() {
		if strings.HasPrefix(line.Text, `{"Data"`) {
			require.NoError(t, json.Unmarshal([]byte(line.Text), &e))
		}
	}
	var got string
	require.NoError(t, json.Unmarshal([]byte(e.Data["msg"].(string)), &got), "encoded twice")
	require.Equal(t, text, got)
	require.Equal(t, `"solve"`, e.Metadata["job"])
	require.Equal(t, `"7"`, e.Metadata["n"])
	require.Equal(t, `"True"`, e.Metadata["yes"])
	require.Equal(t, `"1000"`, e.Metadata["e"])
	require.Equal(t, `"1.1"`, e.Metadata["f"])
	require.Equal(t, `"-0"`, e.Metadata["z"])
	require.Equal(t, `"01/02/2026 02:04:05"`, e.Metadata["at"])
	require.NotContains(t, e.Metadata, "none")
	require.Equal(t, map[string]any{"a": 1.0}, e.Metadata["sub"])
	require.NotContains(t, e.Metadata, "list")
	require.NotContains(t, e.Metadata, "myTrigger")
	require.Equal(t, `"99"`, e.Metadata["DequeueCount"], "a property overwrites the host's own in its spelling")
	require.Equal(t, "jobs", e.Metadata["sys"].(map[string]any)["MethodName"])
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$`, e.Metadata["InsertionTime"])
	require.Regexp(t, `^".+"$`, e.Metadata["PopReceipt"])
}

func TestPoisonAfterFiveTries(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	h := up(t, application(nil), Options{Queues: q},
		"AzureFunctionsJobHost__extensions__queues__visibilityTimeout=00:00:00")
	enqueue(t, q, "jobs", "please fail")
	eventually(t, func() bool { return size(q, "jobs-poison") == 1 && size(q, "jobs") == 0 })
	require.Len(t, h.done(), 5)
	for i, in := range h.done() {
		require.Equal(t, i+1, in.Dequeued)
		require.Equal(t, 500, in.Status)
		require.Error(t, in.Err)
	}
	poison, err := q.Receive(t.Context(), "jobs-poison", 1, time.Minute)
	require.NoError(t, err)
	require.Equal(t, base64.StdEncoding.EncodeToString([]byte("please fail")), poison[0].Text)
}

func TestNotBase64IsPoison(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	h := up(t, application(nil), Options{Queues: q})
	_, err := q.Send(t.Context(), "jobs", "plain text!", 0)
	require.NoError(t, err)
	eventually(t, func() bool { return size(q, "jobs-poison") == 1 && size(q, "jobs") == 0 })
	require.Empty(t, h.Invocations())
}

func TestEncodingNone(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	h := up(t, application(nil), Options{Queues: q}, "AzureFunctionsJobHost__extensions__queues__messageEncoding=none")
	_, err := q.Send(t.Context(), "jobs", "plain text!", 0)
	require.NoError(t, err)
	eventually(t, func() bool { return size(q, "jobs") == 0 && len(h.done()) == 1 })
	require.Equal(t, "plain text!", h.done()[0].Text)
}

func TestAnswersThatFail(t *testing.T) {
	t.Parallel()
	tests := []struct {
		asks string
		hang bool
	}{
		{"null", true},
		{"be empty", true},
		{"be blank", true},
		{"send text", false},
		{"send wrong logs", false},
		{"send an array", false},
		{"redirect", false},
	}
	for _, tt := range tests {
		t.Run(tt.asks, func(t *testing.T) {
			t.Parallel()
			q := withQueues(t)
			h, complaints, err := boot(t, application(nil), "", Options{Queues: q},
				"AzureFunctionsJobHost__extensions__queues__maxDequeueCount=1")
			require.NoError(t, err)
			enqueue(t, q, "jobs", "please "+tt.asks)
			eventually(t, func() bool { return size(q, "jobs-poison") == 1 })
			require.Len(t, h.done(), 1)
			require.Error(t, h.done()[0].Err)
			require.Equal(t, tt.hang, h.done()[0].Hang)
			require.Equal(t, tt.hang, len(complaints.list()) > 0, "a hang fails the test")
		})
	}
}

// The host takes some answers that are not quite as it asks for them.
func TestAnswersThatPass(t *testing.T) {
	t.Parallel()
	for _, asks := range []string{"send a mark and more", "send numbers"} {
		q := withQueues(t)
		h := up(t, application(nil), Options{Queues: q})
		enqueue(t, q, "jobs", "please "+asks)
		eventually(t, func() bool { return len(h.done()) == 1 && size(q, "jobs") == 0 })
		require.NoError(t, h.done()[0].Err)
	}
}

// A message that is no UTF-8 never reaches the handler, unless the binding asks for bytes.
func TestNotUTF8(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	h := up(t, application(nil), Options{Queues: q},
		"AzureFunctionsJobHost__extensions__queues__visibilityTimeout=00:00:00")
	enqueue(t, q, "jobs", "a\xffb")
	eventually(t, func() bool { return size(q, "jobs-poison") == 1 && size(q, "jobs") == 0 })
	require.Empty(t, h.Invocations())
}

func TestBinary(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	h := up(t,
		application(files{"jobs/function.json": strings.Replace(jobs, `"queueName"`,
			`"dataType":"binary","queueName"`, 1)}), Options{Queues: q})
	enqueue(t, q, "jobs", "{\"id\":\"\xff\"}")
	eventually(t, func() bool { return len(h.done()) == 1 && size(q, "jobs") == 0 })
	printed(t, h, 1, `{"Data":{"msg":"`+base64.StdEncoding.EncodeToString([]byte("{\"id\":\"\xff\"}"))+
		`"},"Metadata":{"DequeueCount":"1"`)
}

// Invocations come in chunks and are not repeated, even if the connection breaks.
func TestInvocationsComeOnce(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	h := up(t, application(nil), Options{Queues: q}, "AzureFunctionsJobHost__extensions__queues__maxDequeueCount=1")
	enqueue(t, q, "jobs", "please hang up")
	eventually(t, func() bool { return size(q, "jobs-poison") == 1 })
	printed(t, h, 1, "hung up on POST /jobs of -1 bytes")
}

// A run that somebody starts by hand has no id and was never delivered.
func TestTestRun(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	require.NoError(t, h.TestRun(t.Context(), "jobs", "hello"))
	require.NoError(t, h.TestRun(t.Context(), "guarded", "by hand"))
	require.NoError(t, h.TestRun(t.Context(), "tick", "hello"))
	require.Error(t, h.TestRun(t.Context(), "zz_rest", "hello"))
	printed(t, h, 1, "guarded ran: by hand")
	printed(t, h, 1, `{"Data":{"msg":"\"hello\""},"Metadata":{"DequeueCount":"0","ExpirationTime":"9999-`)
	printed(t, h, 1, `{"Data":{"timer":{"IsPastDue":false,`)
	for _, line := range h.Logs() {
		require.NotContains(t, line.Text, `"PopReceipt"`)
	}
}

func TestDuplicates(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	chosen := func(_, text string) bool { return text == "chosen" }
	h := up(t, application(nil), Options{
		Queues: q, Faults: Faults{Seed: 1, Duplicates: 0.5, Duplicate: chosen, Hold: 50 * time.Millisecond},
	})
	var texts []string
	for i := range 40 {
		texts = append(texts, string(rune('A'+i)))
	}
	enqueue(t, q, "jobs", append(texts, "chosen")...)
	eventually(t, func() bool { return size(q, "jobs") == 0 })
	count := map[string]int{}
	var order []string
	for _, in := range h.done() {
		require.NoError(t, in.Err)
		if count[in.Text]++; count[in.Text] == 1 {
			order = append(order, in.Text)
		}
	}
	require.Equal(t, 2, count["chosen"])
	duplicates := len(h.done()) - 41
	require.Greater(t, duplicates, 5)
	require.Less(t, duplicates, 35)
	require.NotEqual(t, append(texts, "chosen"), order, "messages overtake one another")
}

func TestKillInMidJob(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	h := up(t, application(nil), Options{Queues: q})
	enqueue(t, q, "jobs", "please sleep")
	for n := range 2 {
		eventually(t, func() bool { return len(h.Invocations()) == n+1 })
		printed(t, h, n+1, "the job sleeps") // else the next process may get a message that was not yet sent
		require.False(t, h.Invocations()[n].Done)
		h.Kill()
		eventually(t, func() bool { return h.Invocations()[n].Done })
		require.Error(t, h.Invocations()[n].Err)
		require.Zero(t, h.Invocations()[n].Status)
		require.Equal(t, n+1, h.Invocations()[n].Dequeued)
	}
	h.Stop()
	require.Equal(t, 1, size(q, "jobs"), "never deleted")
}

func TestGuardedTriggerRuns(t *testing.T) {
	t.Parallel()
	q := withQueues(t)
	h := up(t, application(nil), Options{Queues: q})
	enqueue(t, q, "guarded", "hello", `"quoted"`, `{"id":"x","dequeueCount":"y"}`)
	eventually(t, func() bool { return size(q, "guarded") == 0 })
	for _, text := range []string{"hello", `"quoted"`, `{"id":"x","dequeueCount":"y"}`} {
		printed(t, h, 1, "guarded ran: "+text)
	}
}

func TestTimer(t *testing.T) {
	t.Parallel()
	h := up(t, application(nil), Options{})
	require.NoError(t, h.Timer(t.Context(), "tick"))
	printed(t, h, 1, `{"Data":{"timer":{"IsPastDue":false,"Schedule":{"AdjustForDST":true},"ScheduleStatus":{"Last":"0001-01-01T00:00:00+00:00",`)
	before := time.Now().UTC().Format("2006-01-02T")
	require.NoError(t, h.Timer(t.Context(), "tick"))
	printed(t, h, 1, `{"Data":{"timer":{"IsPastDue":false,"Schedule":{"AdjustForDST":true},"ScheduleStatus":{"Last":"`+
		before)
	require.Equal(t, "tick", h.Invocations()[0].Function)
	require.Error(t, h.Timer(t.Context(), "jobs"))
	require.Error(t, h.Timer(t.Context(), "nothing"))
	h.Stop()
	require.ErrorIs(t, h.Timer(context.Background(), "tick"), errStopped)
}
