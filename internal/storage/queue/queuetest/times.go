package queuetest

import (
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/queue"
)

// brief is the shortest delay that can be told from none where stores count whole seconds.
const brief = 2 * time.Second

// hiddenSince requires that no message is visible, given that one was hidden for brief no
// earlier than start. It skips the test where the machine was too slow to tell.
func (f fixture) hiddenSince(start time.Time) {
	f.Helper()
	got := f.receive(1, long)
	if time.Since(start) >= brief-time.Second {
		f.Skip("the delay may have ended")
	}
	require.Empty(f, got)
}

func testDelay(f fixture) {
	start := time.Now()
	sent := f.send("later", brief)
	f.hiddenSince(start)
	m := f.await()
	require.Equal(f, sent.ID, m.ID)
	require.Equal(f, "later", m.Text)
	require.Equal(f, 1, m.Dequeued)
	require.GreaterOrEqual(f, time.Since(start), brief-time.Second)
}

func testLockEnds(f fixture) {
	f.send("again", 0)
	first := f.one(brief)
	second := f.await()
	require.Equal(f, first.ID, second.ID)
	require.Equal(f, first.Text, second.Text)
	require.True(f, first.Inserted.Equal(second.Inserted))
	require.NotEqual(f, first.Pop, second.Pop)
	require.Equal(f, 2, second.Dequeued)
	f.gone(first.Receipt)
	f.length(1)
	f.remove(second.Receipt)
	f.length(0)
}

// testReceiptOutlivesLock deletes a message whose lock has ended and that no one has
// received since. Another queue tells when that is.
func testReceiptOutlivesLock(f fixture) {
	clock := f
	clock.name = newName()
	require.NoError(f, f.Create(f.Context(), clock.name))
	f.send("slow work", 0)
	m := f.one(time.Second)
	clock.send("the lock has ended", brief)
	clock.await()
	f.remove(m.Receipt)
	require.Empty(f, f.receive(1, long))
}

func testBringForward(f fixture) {
	f.send("text", 0)
	locked := f.one(long)
	f.hide(locked.Receipt, 0)
	now := f.await()
	require.Equal(f, locked.ID, now.ID)
	require.Equal(f, 2, now.Dequeued)
	soon := f.hide(now.Receipt, time.Second)
	last := f.await()
	require.Equal(f, 3, last.Dequeued, "hiding is no delivery")
	f.gone(soon)
	f.remove(last.Receipt)
}

func testPutBack(f fixture) {
	f.send("text", 0)
	m := f.one(time.Second)
	later := f.hide(m.Receipt, long)
	clock := f
	clock.name = newName()
	require.NoError(f, f.Create(f.Context(), clock.name))
	clock.send("the lock has ended", brief)
	clock.await()
	require.Empty(f, f.receive(1, long))
	f.remove(later)
	f.length(0)
}

func testHideVoids(f fixture) {
	f.send("text", 0)
	m := f.one(long)
	second := f.hide(m.Receipt, long)
	require.Equal(f, m.ID, second.ID)
	require.NotEqual(f, m.Pop, second.Pop)
	f.gone(m.Receipt)
	third := f.hide(second, long)
	f.gone(second)
	f.remove(third)
	f.gone(third)
	require.Empty(f, f.receive(queue.MaxReceive, long))
}

// testReceiptOfSend uses the receipt of a message that was never received.
func testReceiptOfSend(f fixture) {
	f.remove(f.send("deleted unseen", long))
	f.length(0)
	early := f.hide(f.send("brought forward", long), 0)
	m := f.await()
	require.Equal(f, "brought forward", m.Text)
	require.Equal(f, 1, m.Dequeued)
	f.gone(early)
	f.remove(m.Receipt)
	f.remove(f.hide(f.send("put back", 0), long))
	f.length(0)
}

func testDeleteTwice(f fixture) {
	f.send("one", 0)
	f.send("two", 0)
	first, second := f.receive(1, long), f.receive(1, long)
	require.Len(f, first, 1)
	require.Len(f, second, 1)
	f.gone(queue.Receipt{ID: first[0].ID, Pop: second[0].Pop})
	f.remove(first[0].Receipt)
	f.gone(first[0].Receipt)
	f.gone(queue.Receipt{ID: second[0].ID, Pop: first[0].Pop})
	f.length(1)
	f.remove(second[0].Receipt)
	f.length(0)
}
