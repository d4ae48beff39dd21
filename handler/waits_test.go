package main

import (
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/queue"
)

// TestVerifySaysWhatWaits: a vote whose job has not run yet is no defect: verify exits with 0 and
// says that a row waits. Once the message is lost, it is one.
func TestVerifySaysWhatWaits(t *testing.T) {
	clean(t, "QUEUE_PREFIX", "some-")
	data := t.TempDir()
	s, err := readSettings()
	require.NoError(t, err)
	st, err := service().OpenStore(data, s.QueuePrefix)
	require.NoError(t, err)
	a := newApp(s, st, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, a.db.Create(t.Context()))
	id, err := prompt.NewID(time.Now(), rand.Reader)
	require.NoError(t, err)
	_, _, err = a.db.Add(t.Context(), prompt.Prompt{
		ID: id, AuthorID: "ann", AuthorName: "Ann", CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1,
		Draft: prompt.Draft{Title: "Soup", Text: "Cook it", Visibility: prompt.Public},
	}, nil)
	require.NoError(t, err)
	_, err = a.db.Vote(t.Context(), "bob", id, prompt.Like)
	require.NoError(t, err)
	a.behind.Wait()
	var found []string // as a process finds it that a command asks
	require.NoError(t, st.Snapshot(func(v command.View) error {
		_, err := a.verify(t.Context(), v, func(d any) {
			text, err := json.Marshal(d)
			require.NoError(t, err)
			found = append(found, string(text))
		}, func(int) {})
		return err
	}))
	require.Len(t, found, 1)
	require.Contains(t, found[0], `"waits":true`)
	require.NoError(t, st.Close())

	code, out, errs := handler(t, "verify", "--data", data, "--json")
	require.Equal(t, command.OK, code, out+errs)
	require.Empty(t, out, "it is no difference")
	require.Contains(t, errs, "rows that wait for the job of a message on a queue: 1\nno difference\n")

	st, err = service().OpenStore(data, s.QueuePrefix)
	require.NoError(t, err)
	for _, name := range []string{promptdb.QueueMoves, promptdb.QueueRepairs} { // both follow votes
		require.Eventually(t, func() bool { // each message is delayed
			ms, err := st.Queues.Receive(t.Context(), name, queue.MaxReceive, time.Minute)
			require.NoError(t, err)
			for _, m := range ms {
				require.NoError(t, st.Queues.Delete(t.Context(), name, m.Receipt))
			}
			n, err := st.Queues.Len(t.Context(), name)
			require.NoError(t, err)
			return n == 0
		}, time.Minute, 10*time.Millisecond)
	}
	require.NoError(t, st.Close())
	code, out, errs = handler(t, "verify", "--data", data, "--json")
	require.Equal(t, command.Failed, code, out+errs)
	require.Contains(t, out, `"what":"counts are 0 and 0, the tally says 1 and 0"}`)
	require.NotContains(t, errs, "wait for the job")
}
