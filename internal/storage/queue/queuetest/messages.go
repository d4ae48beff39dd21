package queuetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/storage/queue"
)

func testDelivery(f fixture) {
	require.Empty(f, f.receive(queue.MaxReceive, long))
	sent := f.send("hello", 0)
	m := f.one(long)
	require.Equal(f, "hello", m.Text)
	require.Equal(f, sent.ID, m.ID)
	require.NotEqual(f, sent.Pop, m.Pop)
	require.Equal(f, 1, m.Dequeued)
	require.WithinDuration(f, time.Now(), m.Inserted, 5*time.Minute)
	require.Empty(f, f.receive(queue.MaxReceive, long))
	f.gone(sent)
	f.remove(m.Receipt)
	f.gone(m.Receipt)
	require.Empty(f, f.receive(queue.MaxReceive, long))
}

func testCreate(f fixture) {
	f.send("kept", 0)
	other := newName()
	require.NoError(f, f.Create(f.Context(), f.name, other, f.name))
	require.NoError(f, f.Create(f.Context(), other))
	require.NoError(f, f.Create(f.Context()))
	require.Equal(f, "kept", f.one(long).Text)
}

func testNoQueue(f fixture) {
	name := newName()
	_, err := f.Send(f.Context(), name, "text", 0)
	require.ErrorIs(f, err, queue.ErrNoQueue)
	_, err = f.Receive(f.Context(), name, 1, long)
	require.ErrorIs(f, err, queue.ErrNoQueue)
	_, err = f.Len(f.Context(), name)
	require.ErrorIs(f, err, queue.ErrNoQueue)
}

func testCancelled(f fixture) {
	r := f.send("text", 0)
	ctx, cancel := context.WithCancel(f.Context())
	cancel()
	_, err := f.Send(ctx, f.name, "never", 0)
	require.Error(f, err)
	_, err = f.Receive(ctx, f.name, 1, long)
	require.Error(f, err)
	_, err = f.Hide(ctx, f.name, r, long)
	require.Error(f, err)
	require.Error(f, f.Delete(ctx, f.name, r))
	_, err = f.Len(ctx, f.name)
	require.Error(f, err)
	require.Error(f, f.Create(ctx, newName()))
	require.Equal(f, "text", f.one(long).Text)
}

func testSeparate(f fixture) {
	second := f
	second.name = newName()
	require.NoError(f, f.Create(f.Context(), second.name))
	f.send("first", 0)
	require.Empty(f, second.receive(1, long))
	second.send("second", 0)
	f.remove(f.one(long).Receipt)
	require.Equal(f, "second", second.one(long).Text)
}

func testTexts(f fixture) {
	for _, text := range []string{
		"",
		" ",
		`{"v":1,"author":"x","quote":"\""}`,
		"<a>&amp;&</a>]]>",
		"line\nfeed\r\n\ttab",
		"NUL \x00 and \x01 and \x7f",
		"\ufffe \uffff \ufffd \u2028",
		"日本語 😀 שלום é e\u0301",
		"aGVsbG8=", // is base64 itself
		strings.Repeat("x", queue.MaxText),
		strings.Repeat("語", queue.MaxText/3),
		strings.Repeat("\x00", queue.MaxText),
	} {
		f.send(text, 0)
		m := f.one(long)
		require.Equal(f, text, m.Text)
		f.remove(m.Receipt)
	}
}

func testLimits(f fixture) {
	for _, text := range []string{strings.Repeat("x", queue.MaxText+1), strings.Repeat("語", queue.MaxText/3+1)} {
		_, err := f.Send(f.Context(), f.name, text, 0)
		require.ErrorIs(f, err, queue.ErrInvalid)
	}
	r := f.send("text", 0)
	for _, delay := range []time.Duration{-time.Second, queue.MaxDelay + time.Second} {
		_, err := f.Send(f.Context(), f.name, "text", delay)
		require.ErrorIs(f, err, queue.ErrInvalid, "send delayed by %s", delay)
		_, err = f.Hide(f.Context(), f.name, r, delay)
		require.ErrorIs(f, err, queue.ErrInvalid, "hide for %s", delay)
	}
	for _, lock := range []time.Duration{-time.Second, 0, queue.MaxDelay + time.Second} {
		_, err := f.Receive(f.Context(), f.name, 1, lock)
		require.ErrorIs(f, err, queue.ErrInvalid, "lock of %s", lock)
	}
	for _, limit := range []int{-1, 0, queue.MaxReceive + 1} {
		_, err := f.Receive(f.Context(), f.name, limit, long)
		require.ErrorIs(f, err, queue.ErrInvalid, "limit %d", limit)
	}
	f.length(1)
	f.hide(r, queue.MaxDelay)
	f.send("late", queue.MaxDelay)
	require.Empty(f, f.receive(1, queue.MaxDelay))
}

func testReceiveLimit(f fixture) {
	var want, got []string
	for i := range queue.MaxReceive + 8 {
		text := fmt.Sprintf("%02d", i)
		f.send(text, 0)
		want = append(want, text)
	}
	for _, limit := range []int{1, 3, queue.MaxReceive} {
		for _, m := range f.receive(limit, long) {
			got = append(got, m.Text)
		}
	}
	for m := f.receive(1, long); len(m) > 0; m = f.receive(1, long) {
		got = append(got, m[0].Text)
	}
	require.ElementsMatch(f, want, got)
}

func testLen(f fixture) {
	f.length(0)
	for range 3 {
		f.send("text", 0)
	}
	f.send("later", long)
	f.length(4)
	m := f.receive(1, long)
	f.length(4)
	f.remove(m[0].Receipt)
	f.length(3)
}

// testPeek: messages that are visible are seen, and those that are not at least by the other
// storages.
func testPeek(f fixture) {
	peek := func() []string {
		texts, err := f.Peek(f.Context(), f.name)
		require.NoError(f, err)
		return texts
	}
	require.Empty(f, peek())
	f.send("a", 0)
	f.send("ä & <b>", 0)
	f.send("later", long)
	for range 10 {
		require.ElementsMatch(f, []string{"a", "ä & <b>"},
			slices.DeleteFunc(peek(), func(s string) bool { return s == "later" }))
	}
	f.length(3)
	for _, m := range f.receive(queue.MaxReceive, long) {
		require.Equal(f, 1, m.Dequeued)
		f.remove(m.Receipt)
	}
	require.Empty(f, slices.DeleteFunc(peek(), func(s string) bool { return s == "later" }))
	for i := range queue.MaxReceive + 8 {
		f.send(fmt.Sprint(i), 0)
	}
	require.GreaterOrEqual(f, len(peek()), queue.MaxReceive)
	_, err := f.Peek(f.Context(), newName())
	require.ErrorIs(f, err, queue.ErrNoQueue)
}

func testReceivers(f fixture) {
	const n = 60
	for i := range n {
		f.send(fmt.Sprint(i), 0)
	}
	var mu sync.Mutex
	var got []queue.Message
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for {
				ms, err := f.Receive(f.Context(), f.name, 3, long)
				if !assert.NoError(f, err) || len(ms) == 0 {
					return
				}
				mu.Lock()
				got = append(got, ms...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	ids, texts := map[string]bool{}, map[string]bool{}
	for _, m := range got {
		ids[m.ID], texts[m.Text] = true, true
		require.Equal(f, 1, m.Dequeued)
	}
	require.Len(f, got, n)
	require.Len(f, ids, n)
	require.Len(f, texts, n)
	require.False(f, slices.ContainsFunc(got, func(m queue.Message) bool { return m.Pop == "" }))
	for _, m := range got {
		f.remove(m.Receipt)
	}
	f.length(0)
}
