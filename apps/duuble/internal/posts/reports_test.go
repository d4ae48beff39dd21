package posts_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/testing/calls"
)

// reports returns the targets of reports with a status, page after page.
func (w *world) reports(c people.Claim, status string) (all []string) {
	w.t.Helper()
	after := ""
	for {
		page, err := w.posts.Manage.Reports(w.t.Context(), c, status, after, 2)
		require.NoError(w.t, err)
		for _, r := range page.Items {
			all = append(all, r.Target.Kind+" "+r.Target.ID)
		}
		if after = page.Next; after == "" {
			return all
		}
	}
}

// TestReports: a person reports what the person may see, once; the managers of the service alone
// find it, and one of them decides it.
func TestReports(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	m := w.posts.Manage
	w.people.Admins = []string{duubletest.Number(1)}
	bob, cid := w.enter(2), w.enter(3)
	tea := w.hub(cid)
	locked, open := w.post(cid, posts.Locked, tea), w.post(cid, posts.Public)
	for _, of := range []manage.Target{
		{Kind: manage.APost, ID: locked},
		{Kind: manage.APost, ID: "../x"},
		{Kind: manage.APerson, ID: "x"},
		{Kind: manage.AHub, ID: "x"},
	} {
		_, _, err := m.Report(ctx, bob, of, "spam", "")
		require.Equal(t, fault.NotFound, fault.Of(err), of)
	}
	_, _, err := m.Report(ctx, bob, manage.Target{Kind: manage.APost, ID: open}, "dull", "")
	require.Equal(t, fault.Invalid, fault.Of(err))
	_, _, err = m.Report(ctx, bob, manage.Target{Kind: manage.APost, ID: open}, "spam",
		strings.Repeat("x", manage.MaxDetails+1))
	require.Equal(t, fault.Invalid, fault.Of(err))
	var ids []string
	for _, of := range []manage.Target{
		{Kind: manage.APost, ID: open},
		{Kind: manage.APerson, ID: cid.UserID},
		{Kind: manage.AHub, ID: tea},
	} {
		made, isNew, err := m.Report(ctx, bob, of, "spam", "details")
		require.NoError(t, err)
		require.True(t, isNew)
		again, isNew, err := m.Report(ctx, bob, of, "other", "")
		require.NoError(t, err)
		require.False(t, isNew)
		require.Equal(t, made.ID, again.ID)
		require.Equal(t, "spam", again.Reason)
		ids = append(ids, made.ID)
		w.Pass(time.Second)
	}
	require.Equal(t, []string{"hub " + tea, "user " + cid.UserID, "post " + open}, w.reports(w.ann, manage.Open))
	_, err = m.Reports(ctx, bob, manage.Open, "", 10)
	require.Equal(t, people.Forbidden, fault.CodeOf(err))
	_, err = m.Decide(ctx, bob, ids[0], manage.Resolved)
	require.Equal(t, people.Forbidden, fault.CodeOf(err))
	for _, status := range []string{manage.Open, "x"} {
		_, err = m.Decide(ctx, w.ann, ids[0], status)
		require.Equal(t, fault.Invalid, fault.Of(err))
	}
	for _, id := range []string{"x", "../x", w.post(w.ann, posts.Public)} {
		_, err = m.Decide(ctx, w.ann, id, manage.Resolved)
		require.Equal(t, manage.ReportNotFound, fault.CodeOf(err))
	}
	var mu sync.Mutex
	outcomes := map[fault.Code]int{}
	var wg sync.WaitGroup
	for i := range 8 { // of several at once one decides
		wg.Go(func() {
			_, err := m.Decide(ctx, w.ann, ids[0], manage.States[1+i%2])
			mu.Lock()
			defer mu.Unlock()
			outcomes[fault.CodeOf(err)]++
		})
	}
	wg.Wait()
	require.Equal(t, 7, outcomes[manage.AlreadyDecided], outcomes)
	_, err = m.Decide(ctx, w.ann, ids[1], manage.Dismissed)
	require.NoError(t, err)
	require.Equal(t, []string{"hub " + tea}, w.reports(w.ann, manage.Open))
	require.Len(t, append(w.reports(w.ann, manage.Resolved), w.reports(w.ann, manage.Dismissed)...), 2)
	w.pump(0)
	require.Empty(t, w.differences())

	require.NoError(t, w.posts.Delete(ctx, cid, open))
	w.Pass(keep + time.Second)
	w.purge()
	require.NoError(t, w.people.Expire(ctx))
	require.Empty(t, w.traces(open), "its report goes with it")
	bob = w.again(2)
	for i := range manage.ReportsADay {
		_, _, err = m.Report(ctx, bob, manage.Target{Kind: manage.APerson, ID: w.enter(1000 + i).UserID}, "spam", "")
		require.NoError(t, err)
	}
	_, _, err = m.Report(ctx, bob, manage.Target{Kind: manage.APost, ID: w.post(bob, posts.Public)}, "spam", "")
	require.Equal(t, manage.Limited, fault.CodeOf(err))
}

// TestCrashesOfReports: after any accident to any call of a report and of its decision, each sent
// again, it is there once and in one list.
func TestCrashesOfReports(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		w := newWorld(t)
		ctx := t.Context()
		w.people.Admins = []string{duubletest.Number(1)}
		bob := w.enter(2)
		h := duubletest.NewHub(t, w.posts.Hubs, bob, hubs.Draft{Name: "Tea"})
		of := manage.Target{Kind: manage.AHub, ID: h.ID}
		c := &calls.Crash{Left: n, Accident: calls.Accident{Lands: n%2 == 0, GoesOn: n%4 < 2}}
		over := w.over(c.Over(w.db, w.queues))
		over.People.Admins = w.people.Admins
		what := fmt.Sprintf("call %d", n)
		_, _, _ = over.Manage.Report(ctx, bob, of, "spam", "")
		made, _, err := w.posts.Manage.Report(ctx, bob, of, "spam", "")
		require.NoError(t, err, what)
		if _, err = over.Manage.Decide(ctx, w.ann, made.ID, manage.Resolved); err != nil {
			_, err = w.posts.Manage.Decide(ctx, w.ann, made.ID, manage.Resolved)
			if fault.CodeOf(err) != manage.AlreadyDecided { // the first one has landed
				require.NoError(t, err, what)
			}
		}
		require.Empty(t, w.reports(w.ann, manage.Open), what)
		require.Equal(t, []string{"hub " + h.ID}, w.reports(w.ann, manage.Resolved), what)
		require.Empty(t, w.differences(), what)
		if c.Left > 0 {
			require.Greater(t, n, 15, "accidents never happened")
			break // there is no such call
		}
	}
}

// TestManagersDelete: those who manage the service delete a post of anybody, also a locked one, and
// bring it back; its author does neither with one that they have deleted, also if the author has
// deleted it first, and they bring back none that its author has deleted. Such a post goes for good
// after 30 days.
func TestManagersDelete(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	w.people.Admins = []string{duubletest.Number(1)}
	bob := w.enter(2)
	hub := w.hub(bob)
	id := w.post(bob, posts.Locked, hub)
	own := w.post(bob, posts.Public)
	require.Equal(t, people.Forbidden, fault.CodeOf(w.posts.RemoveAny(ctx, bob, id)))
	require.Equal(t, people.Forbidden, fault.CodeOf(w.posts.RestoreAny(ctx, bob, id)))
	there := func() bool {
		_, err := w.posts.Card(ctx, bob, id)
		require.Contains(t, []any{fault.Code(""), posts.PostNotFound}, fault.CodeOf(err))
		return err == nil
	}
	for range 2 {
		require.NoError(t, w.posts.RemoveAny(ctx, w.ann, id))
		require.NoError(t, w.posts.RemoveAny(ctx, w.ann, id), "again")
		require.False(t, there())
		_, err := w.posts.Restore(ctx, bob, id)
		require.Equal(t, people.Forbidden, fault.CodeOf(err))
		require.NoError(t, w.posts.Delete(ctx, bob, id), "it is deleted already")
		_, err = w.posts.Restore(ctx, bob, id)
		require.Equal(t, people.Forbidden, fault.CodeOf(err))
		w.pump(2 * time.Minute)
		require.Empty(t, w.differences())
		require.NoError(t, w.posts.RestoreAny(ctx, w.ann, id))
		require.NoError(t, w.posts.RestoreAny(ctx, w.ann, id), "again")
		require.True(t, there())
	}
	require.NoError(t, w.posts.Delete(ctx, bob, id))
	_, err := w.posts.Restore(ctx, bob, id)
	require.NoError(t, err, "its author has deleted it this time")
	require.NoError(t, w.posts.Delete(ctx, bob, own))
	require.Equal(t, posts.PostNotFound, fault.CodeOf(w.posts.RestoreAny(ctx, w.ann, own)))
	require.Equal(t, []string{own}, w.deleted(bob))
	require.NoError(t, w.posts.RemoveAny(ctx, w.ann, own))
	require.NoError(t, w.posts.RemoveAny(ctx, w.ann, own), "again")
	require.Empty(t, w.deleted(bob))
	_, err = w.posts.Restore(ctx, bob, own)
	require.Equal(t, people.Forbidden, fault.CodeOf(err))
	w.pump(2 * time.Minute)
	require.Empty(t, w.differences())
	require.NoError(t, w.posts.RestoreAny(ctx, w.ann, own))
	_, err = w.posts.Card(ctx, bob, own)
	require.Equal(t, posts.PostNotFound, fault.CodeOf(err), "its author had deleted it")
	require.Equal(t, []string{own}, w.deleted(bob))
	require.Equal(t, posts.PostNotFound, fault.CodeOf(w.posts.RestoreAny(ctx, w.ann, own)))
	w.pump(2 * time.Minute)
	require.Empty(t, w.differences())
	_, err = w.posts.Restore(ctx, bob, own)
	require.NoError(t, err)
	require.NoError(t, w.posts.Delete(ctx, bob, own))
	require.NoError(t, w.posts.RemoveAny(ctx, w.ann, own))
	require.NoError(t, w.posts.RemoveAny(ctx, w.ann, id))
	w.pump(keep + time.Hour)
	w.purge()
	require.Empty(t, w.traces(id))
	require.Empty(t, w.traces(own))
	w.ann = w.again(1)
	require.Equal(t, posts.PostNotFound, fault.CodeOf(w.posts.RestoreAny(ctx, w.ann, id)))
	require.Empty(t, w.differences())
}

// TestCrashesOfManagersDeletion: after any accident to any call of a deletion by managers, of a
// post that its author has deleted, sent again, its author neither finds it nor brings it back, and
// nothing of it stays.
func TestCrashesOfManagersDeletion(t *testing.T) {
	t.Parallel()
	calls.Crashes(t, func(t *testing.T, c *calls.Crash) {
		w := newWorld(t)
		ctx := t.Context()
		w.people.Admins = []string{duubletest.Number(1)}
		bob := w.enter(2)
		id := w.post(bob, posts.Public)
		require.NoError(t, w.posts.Delete(ctx, bob, id))
		w.pump(2 * time.Minute)
		_ = w.over(c.Over(w.db, w.queues)).RemoveAny(ctx, w.ann, id)
		c.Land(w.pump, w.Pass)
		require.NoError(t, w.posts.RemoveAny(ctx, w.ann, id))
		w.pump(2 * time.Minute)
		require.Empty(t, w.deleted(bob))
		_, err := w.posts.Restore(ctx, bob, id)
		require.Equal(t, people.Forbidden, fault.CodeOf(err))
		require.Empty(t, w.differences())
		w.pump(keep + time.Hour)
		w.purge()
		require.Empty(t, w.traces(id))
	})
}
