package forum_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/forum"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// found returns the titles that a search finds, read two at a time.
func (w *world) found(query string) (titles []string) {
	w.T.Helper()
	for after, more := "", true; more; more = after != "" {
		p, err := w.forum.Search(w.T.Context(), w.Members["carol"], query, after, 2)
		require.NoError(w.T, err)
		for _, v := range p.Topics {
			titles = append(titles, v.Title)
		}
		after = p.Next
	}
	return titles
}

// TestSearch: topics are found by the beginnings of all words of a query in their titles and texts,
// the newest first, in any case and without accents, as they are now. Topics of events are not
// found.
func TestSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, anna := t.Context(), w.Members["anna"]
	ids := map[string]string{}
	for title, text := range map[string]string{
		"Семь ламп": "Чёрный винил и Café у моря",
		"Лампочка":  "Просто много слов о свете", "Ничего такого": "Здесь нет того, что ищут",
	} {
		w.Clock.Pass(time.Second)
		v, err := w.forum.NewTopic(ctx, anna, "music", title, text, "")
		require.NoError(t, err)
		ids[title] = v.ID
	}
	w.event(draft(events.Public))
	for query, want := range map[string][]string{
		"ЛАМП": {"Семь ламп", "Лампочка"}, "ламп сем": {"Семь ламп"}, "черный cafe": {"Семь ламп"}, "амп": nil,
		"ламп ищут": nil, "concert": nil, "свет, слов!": {"Лампочка"},
	} {
		require.ElementsMatch(t, want, w.found(query), query)
	}
	for _, wrong := range []string{"", "л", "!?", strings.Repeat("л", 101)} {
		_, err := w.forum.Search(ctx, anna, wrong, "", 2)
		require.Equal(t, fault.Invalid, fault.Of(err), wrong)
	}
	_, err := w.forum.Search(ctx, meet.Claim{}, "ламп", "", 2)
	meettest.RequireCode(t, meet.Unauthenticated, err)

	text := "Теперь о другом, без света"
	_, err = w.forum.Edit(ctx, anna, ids["Лампочка"], forum.Edit{Content: &text})
	require.NoError(t, err)
	require.Empty(t, w.found("слов"))
	require.Equal(t, []string{"Лампочка"}, w.found("другом"))
	require.NoError(t, w.forum.Delete(ctx, anna, ids["Лампочка"]))
	require.Equal(t, []string{"Семь ламп"}, w.found("ламп"))
	require.Len(t, w.Rows("ForumTopics"), 2*2+2, "no row of before is left")
	p, err := w.forum.Sections(ctx, anna, "", 9)
	require.NoError(t, err)
	require.Equal(t, 2, p.Sections[0].Topics)

	long := ""
	for n := range 900 {
		long += fmt.Sprintf("w%d ", n)
	}
	_, err = w.forum.NewTopic(ctx, anna, "music", "A long text", long, "")
	require.NoError(t, err)
	require.Equal(t, []string{"A long text"}, w.found("w899 w1 long"))
}

// TestCrashesOfSearch: after any accident to any call of a change of a text the topic is found by
// the words that it has, and not by others.
func TestCrashesOfSearch(t *testing.T) {
	t.Parallel()
	calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
		w := newWorld(t)
		id := w.topic("A topic")
		text := "Words that were never there"
		_, err := talkOver(w.Over(c.Over(w.DB, w.Queues))).Edit(t.Context(), w.Members["anna"],
			id, forum.Edit{Content: &text})
		c.Land(w.Pump, w.Clock.Pass)
		w.Settle()
		v, unread := w.forum.Topic(t.Context(), w.Members["anna"], id)
		require.NoError(t, unread)
		require.True(t, err != nil || v.Content == text)
		require.Equal(t, v.Content == text, len(w.found("never")) == 1)
		require.Equal(t, []string{"A topic"}, w.found("topic"))
		require.Len(t, w.Rows("ForumTopics"), 2)
	})
}
