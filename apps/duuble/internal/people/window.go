package people

import (
	"context"
	"slices"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A Limit says how often something may be done under a name.
type Limit struct {
	Bucket string // the name
	Size   time.Duration
	Gap    time.Duration // between two times
	Most   int           // in a window of Size; -1: no limit and no gap
	Code   fault.Code    // of the error beyond it
	Text   string        // of that error

	// Keep returns what else the row of the window has after another time, from what it has; nil
	// stands for nothing.
	Keep func(was table.Props) table.Props
}

// A Window counts what was done under the name of a Limit: that of the present stretch of time,
// and that of the one before, which counts for less the longer the present one goes on.
type Window struct {
	size          time.Duration
	at            time.Time // when the present stretch began
	count, before int64
	last          time.Time
	lastID        string // of the newest thing that was counted
	props         table.Props
	etag          string
}

// windowRows begins the partitions of windows.
const windowRows = "rl|"

func windowKey(bucket string) table.Key {
	return table.Key{Partition: windowRows + bucket, Row: "w"}
}

// Window reads the window of a limit as it is now.
func (s *Service) Window(ctx context.Context, l Limit) (Window, error) {
	now := s.Now().UTC()
	w := Window{size: l.Size, at: now.Truncate(l.Size)}
	row, err := s.GetRow(ctx, s.Tables.Sessions, windowKey(l.Bucket))
	if err != nil || row == nil {
		return w, err
	}
	p := row.Props
	w.last, w.lastID, w.etag, w.props = p.Get("last_at").Time(), p.Get("last_id").Str(), row.ETag, p
	switch was := p.Get("window_at").Time(); w.at.Sub(was) {
	case 0:
		w.count, w.before = p.Get("count").Int(), p.Get("before").Int()
	case l.Size:
		w.before = p.Get("count").Int()
	}
	return w, nil
}

// waitTime returns how long to wait until another time is within the limit; zero if it is now.
func (w Window) waitTime(now time.Time, most int) time.Duration {
	over := func(count, before int64, gone float64) bool {
		return float64(count)+float64(before)*(1-gone) > float64(most-1)
	}
	for step := time.Duration(0); step <= 2*w.size; step += time.Second {
		gone := float64(now.Add(step).Sub(w.at)) / float64(w.size)
		count, before := w.count, w.before
		if gone >= 1 {
			gone, count, before = gone-1, 0, w.count
		}
		if gone >= 1 || !over(count, before, gone) {
			return step
		}
	}
	return 2 * w.size
}

// ForgetWindows removes the windows of a person: the names of those end with the id.
func (s *Service) ForgetWindows(ctx context.Context, user string) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Sessions,
		table.Range{FromPartition: windowRows, ToPartition: table.After(windowRows), Select: []string{"none"}}) {
		if err == nil && strings.HasSuffix(row.Partition, user) {
			err = s.RemoveKey(ctx, s.Tables.Sessions, row.Key)
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// Check refuses another time that a window has no place for.
func (l Limit) Check(w Window, now time.Time) error {
	if l.Most < 0 {
		return nil
	}
	if wait := max(w.waitTime(now, l.Most), w.last.Add(l.Gap).Sub(now)); wait > 0 {
		return &fault.Error{Kind: fault.Limited, Code: l.Code, Text: l.Text, RetryAfter: wait}
	}
	return nil
}

// takeLimits counts something with an id in all of some limits, or in none if one of them refuses
// it.
func (s *Service) takeLimits(ctx context.Context, limits []Limit, id string) error {
	// nothing is counted
	limits = slices.DeleteFunc(slices.Clone(limits), func(l Limit) bool { return l.Most < 0 && l.Keep == nil })
	windows := make([]Window, len(limits))
	err := rowstore.Each(ctx, len(limits), len(limits), func(ctx context.Context, i int) (err error) {
		windows[i], err = s.Window(ctx, limits[i])
		return err
	})
	for i := range limits {
		if err == nil {
			err = limits[i].Check(windows[i], s.Now().UTC())
		}
	}
	if err != nil {
		return err
	}
	return rowstore.Each(ctx, len(limits), len(limits), func(ctx context.Context, i int) error {
		return s.Count(ctx, limits[i], windows[i], id)
	})
}

// Count counts something with an id in a window, or in a newer one if others change it too, unless
// that is beyond the limit.
func (s *Service) Count(ctx context.Context, l Limit, w Window, id string) (err error) {
	for try := 0; ; try++ {
		if w.lastID == id {
			return nil // an earlier try has landed
		}
		now := s.Now().UTC()
		if err := l.Check(w, now); err != nil {
			return err
		}
		kind := table.Replace
		if w.etag == "" {
			kind = table.Insert
		}
		props := table.Props{
			{Name: "window_at", Value: table.Time(w.at)},
			{Name: "count", Value: table.Int64(w.count + 1)},
			{Name: "before", Value: table.Int64(w.before)},
			{Name: "last_at", Value: table.Time(now)},
			{Name: "last_id", Value: table.String(id)},
			{Name: "expires_at", Value: table.Time(w.at.Add(2 * l.Size))},
		}
		if l.Keep != nil {
			props = append(props, l.Keep(w.props)...)
		}
		err = s.Write(ctx, s.Tables.Sessions,
			[]table.Op{{Kind: kind, Row: table.Row{Key: windowKey(l.Bucket), ETag: w.etag, Props: props}}})
		if err == nil {
			return nil
		}
		if err := s.Retry(ctx, try, err); err != nil {
			return err
		}
		if w, err = s.Window(ctx, l); err != nil {
			return err
		}
	}
}
