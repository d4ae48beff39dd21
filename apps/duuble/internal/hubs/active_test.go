package hubs_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/storage/table"
)

// TestActive: a person counts once, whatever the person does, in whichever process and hour, for 24
// hours and up to an hour more; the number is for members alone. Old sketches are removed.
func TestActive(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	ann := w.enter(1)
	hub, quiet := w.make(ann), w.make(ann)
	bob := w.enrol(ann, hub, 2, hubs.Member)
	processes := []*hubs.Service{w.Service, w.over(w.db)}
	active := func(c people.Claim, hub string) any {
		h, err := w.over(w.db).Get(ctx, c, hub) // which knows no number from before
		require.NoError(t, err)
		if h.Active == nil {
			return nil
		}
		return *h.Active
	}
	require.EqualValues(t, 0, active(ann, hub))
	for hour := range 3 {
		for i := range 100 {
			for range 2 {
				processes[(i+hour)%2].Acted(ctx, fmt.Sprint("person", i), hub)
			}
		}
		w.Pass(time.Hour)
	}
	require.EqualValues(t, 100, active(bob, hub), "exact below 100")
	require.EqualValues(t, 0, active(ann, quiet))
	require.Nil(t, active(people.Claim{}, hub))
	require.Nil(t, active(w.enter(3), hub))
	for i := range 2000 {
		w.Acted(ctx, fmt.Sprint("another", i), hub)
	}
	require.InEpsilon(t, 2100, active(ann, hub), 0.05)
	known, err := w.Get(ctx, ann, hub)
	require.NoError(t, err)
	w.Acted(ctx, "one more", quiet, hub)
	again, err := w.Get(ctx, ann, hub)
	require.NoError(t, err)
	require.Equal(t, *known.Active, *again.Active, "it is read once a minute")

	w.Pass(24 * time.Hour)
	ann = w.enter(1)
	require.InEpsilon(t, 2000, active(ann, hub), 0.05, "up to an hour more")
	require.EqualValues(t, 1, active(ann, quiet))
	w.Pass(time.Hour)
	ann = w.enter(1)
	require.EqualValues(t, 0, active(ann, hub))
	require.NoError(t, w.Purge(ctx))
	for row, err := range table.All(ctx, w.db, "Sessions", table.Range{}) {
		require.NoError(t, err)
		require.NotContains(t, row.Partition, "hll|")
	}
}
