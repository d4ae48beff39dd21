package people

import (
	"context"
	"errors"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	phoneWindow   = 15 * time.Minute
	addressWindow = time.Hour
	// ResendAfter is how long a number waits for another code.
	ResendAfter = 30 * time.Second
)

// A window counts requests for codes of one number or address: those of the present stretch of
// time, and those of the one before, which count for less the longer the present one goes on.
type window struct {
	size          time.Duration
	at            time.Time // when the present stretch began
	count, before int64
	last          time.Time
	challenge     string // the newest one
	etag          string
}

func windowKey(bucket string) table.Key { return table.Key{Partition: "rl|" + bucket, Row: "w"} }

// load reads a window as it is now.
func (s *Service) window(ctx context.Context, bucket string, size time.Duration) (window, error) {
	now := s.Now().UTC()
	w := window{size: size, at: now.Truncate(size)}
	row, err := s.GetRow(ctx, s.Tables.Sessions, windowKey(bucket))
	if err != nil || row == nil {
		return w, err
	}
	p := row.Props
	w.last, w.challenge, w.etag = p.Get("last_at").Time(), p.Get("challenge").Str(), row.ETag
	switch was := p.Get("window_at").Time(); w.at.Sub(was) {
	case 0:
		w.count, w.before = p.Get("count").Int(), p.Get("before").Int()
	case size:
		w.before = p.Get("count").Int()
	}
	return w, nil
}

// wait returns how long to wait until another request is within the limit; zero if it is now.
func (w window) wait(now time.Time, most int) time.Duration {
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

// A limit says how many codes a bucket may ask for.
type limit struct {
	bucket string
	size   time.Duration
	gap    time.Duration // between two requests
	most   int           // in a window; -1: no limit and no gap
}

// check refuses another request that a window has no place for.
func (l limit) check(w window, now time.Time) error {
	if l.most < 0 {
		return nil
	}
	if wait := max(w.wait(now, l.most), w.last.Add(l.gap).Sub(now)); wait > 0 {
		return &fault.Error{Kind: fault.Limited, Code: OTPLimited, Text: "too many codes were asked for; wait and try again", RetryAfter: wait}
	}
	return nil
}

// take counts a request for a code in both limits, or in none if one of them refuses it. The older
// challenge of the first, which is dead from now on, is returned.
func (s *Service) take(ctx context.Context, limits [2]limit, challenge string) (older string, err error) {
	var windows [2]window
	err = rowstore.Each(ctx, 2, 2, func(ctx context.Context, i int) (err error) {
		windows[i], err = s.window(ctx, limits[i].bucket, limits[i].size)
		return err
	})
	for i := range limits {
		if err == nil {
			err = limits[i].check(windows[i], s.Now().UTC())
		}
	}
	if err != nil {
		return "", err
	}
	var replaced [2]string
	err = rowstore.Each(ctx, 2, 2, func(ctx context.Context, i int) (err error) {
		replaced[i], err = s.count(ctx, limits[i], windows[i], challenge)
		return err
	})
	return replaced[0], err
}

// count counts a request in a window, and in a newer one if others change it too.
func (s *Service) count(ctx context.Context, l limit, w window, challenge string) (older string, err error) {
	for try := 0; ; try++ {
		if w.challenge == challenge {
			return older, nil // an earlier try has landed
		}
		now := s.Now().UTC()
		if err := l.check(w, now); err != nil {
			return "", err
		}
		older = w.challenge
		kind := table.Replace
		if w.etag == "" {
			kind = table.Insert
		}
		err = s.Write(ctx, s.Tables.Sessions, []table.Op{{Kind: kind, Row: table.Row{Key: windowKey(l.bucket), ETag: w.etag, Props: table.Props{
			{Name: "window_at", Value: table.Time(w.at)},
			{Name: "count", Value: table.Int64(w.count + 1)},
			{Name: "before", Value: table.Int64(w.before)},
			{Name: "last_at", Value: table.Time(now)},
			{Name: "challenge", Value: table.String(challenge)},
		}}}})
		if err == nil {
			return older, nil
		}
		if try == rowstore.MaxTries || errors.Is(err, table.ErrInvalid) {
			return "", rowstore.Unavailable(err)
		}
		if err := s.pause(ctx); err != nil {
			return "", err
		}
		if w, err = s.window(ctx, l.bucket, l.size); err != nil {
			return "", err
		}
	}
}
