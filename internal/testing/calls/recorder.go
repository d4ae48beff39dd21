package calls

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
)

// A Recorder is a hook that makes every call and, between Start and Stop, takes it down. Inside a
// testing/synctest bubble it also tells steps: calls that are sent at once are one.
type Recorder struct {
	mu    sync.Mutex
	on    bool
	delay time.Duration
	made  map[time.Time][]string // labels, by when the calls were sent
	n     int
	bytes int
}

// Start forgets what was taken down. From now on each call takes delay, which costs nothing in a
// bubble.
func (r *Recorder) Start(delay time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on, r.delay, r.made, r.n, r.bytes = true, delay, map[time.Time][]string{}, 0, 0
}

// Stop lets calls pass as they come.
func (r *Recorder) Stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.on, r.delay = false, 0
}

// Make is the hook.
func (r *Recorder) Make(ctx context.Context, c Call) error {
	delay := r.note(c.Label)
	if delay > 0 {
		time.Sleep(delay)
	}
	bytes, err := c.Do(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.on {
		r.bytes += bytes
	}
	return err
}

// note takes a call down and returns how long it takes.
func (r *Recorder) note(label string) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.on {
		now := time.Now()
		r.made[now] = append(r.made[now], label)
		r.n++
	}
	return r.delay
}

// Count returns how many calls were made.
func (r *Recorder) Count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.n
}

// Bytes returns how many bytes of rows they carried: keys, names and values.
func (r *Recorder) Bytes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes
}

// Lines returns the calls in order, each after the number of its step. Hidden finds what differs
// from run to run.
func (r *Recorder) Lines(hidden *regexp.Regexp) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	for i, at := range slices.SortedFunc(maps.Keys(r.made), time.Time.Compare) {
		labels := slices.Clone(r.made[at])
		for i, l := range labels {
			labels[i] = hidden.ReplaceAllString(l, "{id}")
		}
		slices.Sort(labels)
		for _, l := range labels {
			fmt.Fprintf(&b, "%d %s\n", i+1, l)
		}
	}
	return b.String()
}
