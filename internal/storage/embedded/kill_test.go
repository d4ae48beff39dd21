package embedded

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.etcd.io/bbolt"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/storage/transact"
)

const (
	killFile    = "EMBEDDED_KILL_FILE"   // makes the test binary the process to be killed
	killRounds  = "EMBEDDED_KILL_ROUNDS" // how often, 10 unless set
	killWriters = 4
)

func TestMain(m *testing.M) {
	if path := os.Getenv(killFile); path != "" {
		fmt.Fprintln(os.Stderr, writeUntilKilled(path))
		os.Exit(1)
	}
	if path := os.Getenv(killBlobs); path != "" {
		fmt.Fprintln(os.Stderr, putUntilKilled(path))
		os.Exit(1)
	}
	if path := os.Getenv(diskFile); path != "" {
		if err := onDisk(path, os.Getenv(diskWork)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// TestKill has a process write until it is killed at a random moment, opens what it left,
// and requires that everything it said to be done is there, whole, and that nothing it said to be
// removed is. The next round goes on with the same file. What a kill cannot prove is that
// the disk has what the kernel has: that rests on bbolt's sync in each commit.
func TestKill(t *testing.T) {
	t.Parallel()
	rounds := 10
	if s := os.Getenv(killRounds); s != "" {
		var err error
		rounds, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	path := filepath.Join(t.TempDir(), "data.db")
	told := newTold()
	for round := range rounds {
		runAndKill(t, killFile+"="+path, told.note, round%3 == 2)
		s, err := Open(path, time.Now)
		require.NoError(t, err)
		told.verify(t, s)
		require.NoError(t, s.Close())
	}
	t.Logf("%d rounds: heads %v, %d messages left, %d deleted", rounds, told.heads, len(told.sent), len(told.deleted))
	require.NotEmpty(t, told.deleted)
}

// runAndKill runs the writing process that a setting asks for, kills it, and notes what it had
// told. Early, it may hit the opening of the file, else it waits until the first thing is done.
func runAndKill(t *testing.T, setting string, note func(t *testing.T, words []string), early bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), setting)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	killed := make(chan struct{})
	kill := sync.OnceFunc(func() {
		time.AfterFunc(rand.N(150*time.Millisecond), func() {
			_ = cmd.Process.Kill()
			close(killed)
		})
	})
	if early {
		kill()
	}
	for lines := bufio.NewReader(out); ; {
		line, err := lines.ReadString('\n')
		if err != nil { // a line cut off tells nothing
			require.ErrorIs(t, err, io.EOF)
			break
		}
		kill()
		note(t, strings.Fields(line))
	}
	_ = cmd.Wait() // reports the kill
	select {
	case <-killed:
	case <-time.After(time.Minute):
		require.Fail(t, "the process ended by itself")
	}
}

// writeUntilKilled writes and tells each step, most after it was done.
func writeUntilKilled(path string) error {
	s, err := Open(path, time.Now)
	if err != nil {
		return err
	}
	ctx := context.Background()
	if err := s.Tables.Create(ctx, "Rows", "Others"); err != nil {
		return err
	}
	if err := s.Queues.Create(ctx, "jobs"); err != nil {
		return err
	}
	errs := make(chan error)
	for w := range killWriters {
		go func() {
			for {
				if err := writeOnce(s, strconv.Itoa(w)); err != nil {
					errs <- err
					return
				}
			}
		}()
	}
	return <-errs
}

// writeOnce adds a batch that is whole only with its head, sends a message and, every
// third time, receives and deletes some.
func writeOnce(s *Store, w string) error {
	ctx := context.Background()
	head, err := s.Tables.Get(ctx, "Rows", table.Key{Partition: w, Row: "!head"})
	n := head.Props.Get("N").Int() + 1
	ops := []table.Op{insert(w, fmt.Sprintf("a%06d", n)), insert(w, fmt.Sprintf("b%06d", n))}
	next := table.Row{
		Key: table.Key{Partition: w, Row: "!head"}, ETag: head.ETag,
		Props: table.Props{{Name: "N", Value: table.Int64(n)}},
	}
	if err != nil {
		ops = append(ops, table.Op{Kind: table.Insert, Row: next})
	} else {
		ops = append(ops, table.Op{Kind: table.Replace, Row: next})
	}
	text := fmt.Sprintf("%s-%d", w, n)
	if n%2 == 0 { // with the message, and one of the rows in another table
		_, err = s.Transact(ctx, transact.Transaction{
			Table: "Rows", Ops: slices.Delete(slices.Clone(ops), 1, 2),
			Put:      []transact.Row{{Table: "Others", Row: ops[1].Row}},
			Messages: []transact.Message{{Queue: "jobs", Text: text}},
		})
	} else {
		_, err = s.Tables.Write(ctx, "Rows", ops...)
	}
	if err != nil {
		return err
	}
	fmt.Println("head", w, n)
	if n%2 == 1 {
		if _, err := s.Queues.Send(ctx, "jobs", text, 0); err != nil {
			return err
		}
	}
	fmt.Println("sent", text)
	if n%3 != 0 {
		return nil
	}
	got, err := s.Queues.Receive(ctx, "jobs", 4, time.Hour)
	if err != nil {
		return err
	}
	for _, m := range got[:len(got)/2] {
		fmt.Println("deleting", m.Text)
		if err := s.Queues.Delete(ctx, "jobs", m.Receipt); err != nil {
			return err
		}
		fmt.Println("deleted", m.Text)
	}
	return nil
}

// told is what the killed processes said.
type told struct {
	heads                   map[string]int
	sent, deleting, deleted map[string]bool
}

func newTold() *told {
	return &told{
		heads: map[string]int{}, sent: map[string]bool{},
		deleting: map[string]bool{}, deleted: map[string]bool{},
	}
}

func (d *told) note(t *testing.T, words []string) {
	t.Helper()
	switch words[0] {
	case "head":
		n, err := strconv.Atoi(words[2])
		require.NoError(t, err)
		d.heads[words[1]] = n
	case "sent":
		if !d.deleting[words[1]] { // another writer may have been faster than this line
			d.sent[words[1]] = true
		}
	case "deleting":
		d.deleting[words[1]] = true
		delete(d.sent, words[1])
	case "deleted":
		d.deleted[words[1]] = true
	default:
		require.Fail(t, "unknown line", "%q", words)
	}
}

func (d *told) verify(t *testing.T, s *Store) {
	t.Helper()
	require.NoError(t, s.db.View(func(tx *bbolt.Tx) error {
		for err := range tx.Check() {
			return err
		}
		return nil
	}))
	for w := range killWriters {
		d.verifyRows(t, s, strconv.Itoa(w))
	}
	d.verifyMessages(t, s)
}

// verifyRows requires that the head is not older than confirmed, and that the rows are exactly
// those of the batches up to it, in any table.
func (d *told) verifyRows(t *testing.T, s *Store, w string) {
	t.Helper()
	head := 0
	as, bs := map[string]bool{}, map[string]bool{}
	for _, name := range []string{"Rows", "Others"} {
		for r, err := range table.All(t.Context(), s.Tables, name, table.Range{Partition: w}) {
			require.NoError(t, err)
			switch r.Row[0] {
			case '!':
				head = int(r.Props.Get("N").Int())
			case 'a':
				as[r.Row[1:]] = true
			case 'b':
				bs[r.Row[1:]] = true
			}
		}
	}
	require.GreaterOrEqual(t, head, d.heads[w], "writer %s", w)
	require.Len(t, as, head)
	require.Equal(t, as, bs)
	for n := range head {
		require.True(t, as[fmt.Sprintf("%06d", n+1)])
	}
}

// verifyMessages receives all messages, which takes locks that the next Open frees.
func (d *told) verifyMessages(t *testing.T, s *Store) {
	t.Helper()
	found := map[string]bool{}
	for {
		got, err := s.Queues.Receive(t.Context(), "jobs", queue.MaxReceive, time.Hour)
		require.NoError(t, err)
		if len(got) == 0 {
			break
		}
		for _, m := range got {
			require.False(t, found[m.Text], "message %s twice", m.Text)
			found[m.Text] = true
		}
	}
	for text := range d.sent {
		require.True(t, found[text], "message %s is lost", text)
	}
	for text := range d.deleted {
		require.False(t, found[text], "message %s was deleted", text)
	}
}
