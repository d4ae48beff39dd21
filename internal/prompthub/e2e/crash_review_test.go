package e2e

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/functiontest"
)

// TestKilledUnderReview kills the program (SIGKILL) again and again while three people save and
// propose versions in a workspace and two approve them. Every change that was acknowledged has its
// event, once, and so has every other one that is there. Production is never seen on a version
// that its authors alone approved. E2E_FULL kills it ten times.
func TestKilledUnderReview(t *testing.T) {
	t.Parallel()
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		done := work(t)
		killedUnderReview(t, startLocal(t, "embedded"), whole, done)
	})
	t.Run("host", func(t *testing.T) {
		if !full() {
			t.Skip("make deep kills it under the host, too; make test does so in TestKilledInTheMiddle")
		}
		t.Parallel()
		done := workOnAzurite(t)
		killedUnderReview(t, startHosted(t, functiontest.Faults{}), small, done)
	})
}

func killedUnderReview(t *testing.T, a app, n size, done func()) {
	kills := 2
	if full() {
		kills = 10
	}
	l := &ledger{acked: map[told]int{}, unclear: map[told]int{}, waiting: make(chan struct{}, 100)}
	admin := user{t: t, url: a.url(), name: "admin"}
	admin.do(201, "POST", "/workspaces", map[string]string{"handle": "letters"}, nil)
	writers, approvers := l.staff(admin, 3, "author"), l.staff(admin, 2, "publisher")
	admin.do(200, "PUT", "/workspaces/letters/rules",
		map[string]any{"rules": []any{map[string]any{"label": "production", "approvals": 1}}}, nil, "If-Match", "*")
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for _, m := range writers {
		wg.Go(func() { until(stop, m.write) })
	}
	for _, m := range approvers {
		wg.Go(func() { until(stop, func() { m.approve(stop) }) })
	}
	var seen atomic.Int64
	wg.Go(func() {
		until(stop, func() {
			id := l.recent()
			stands, err := standing(writers[0].user, id)
			if stands {
				seen.Add(1)
			}
			if err != nil && !errors.Is(err, errAway) {
				t.Errorf("production of %s: %v", id, err)
			}
			time.Sleep(10 * time.Millisecond) // looking on takes little of the program's time
		})
	})
	awaitAnswers := func() {
		enough := l.answers() + n.alive + rand.IntN(n.alive)
		require.Eventually(t, func() bool { return l.answers() > enough && seen.Load() > 0 },
			3*time.Minute, time.Millisecond)
	}
	for range kills {
		awaitAnswers()
		a.kill(t)
	}
	awaitAnswers()
	close(stop)
	wg.Wait()
	done()
	if full() && a.what() == "host" { // verify leaves out what is still to be repaired
		require.Eventually(t, func() bool { return depth(t, a) == 0 }, cutShort, time.Second, "the repairs do not end")
	}
	l.check(t, writers[0].user)
	t.Logf("%d changes acknowledged, %d without a clear answer, %d looks found production",
		l.answers(), len(l.unclear), seen.Load())
	finish(t, a)
}

func until(stop <-chan struct{}, step func()) {
	for {
		select {
		case <-stop:
			return
		default:
			step()
		}
	}
}

// A ledger is what the members of a workspace were answered.
type ledger struct {
	mu             sync.Mutex
	prompts        []string
	acked, unclear map[told]int  // changes, by the events that are due to them
	waiting        chan struct{} // wakes an approver for each version that was proposed
}

// A told is what an event tells of a change, but for its time.
type told struct {
	Type, By, Prompt, Verdict string
	Version, Proposal         int64
}

// A proposed is a proposal as the API shows it.
type proposed struct {
	Prompt, State, Digest, OpenedBy, ClosedBy string
	Number, From, Version                     int64
	Reviews                                   []struct {
		Verdict, Digest, By string
		Version             int64
	}
}

// A saved is a version as the API shows it.
type saved struct {
	Version         int64
	CreatedBy, Hash string
}

func (l *ledger) answers() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, times := range l.acked {
		n += times
	}
	return n
}

// recent returns one of the newest prompts, or none: on Azurite a kill leaves older ones that
// cannot be written for a minute.
func (l *ledger) recent() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.prompts) == 0 {
		return ""
	}
	return l.prompts[max(0, len(l.prompts)-1-rand.IntN(4))]
}

// A member acts in the workspace and writes down which changes were acknowledged.
type member struct {
	user
	key string // the authorId
	*ledger
	texts int
}

// staff adds members to the workspace.
func (l *ledger) staff(admin user, n int, role string) []*member {
	members := make([]*member, n)
	for i := range members {
		m := &member{user: user{t: admin.t, url: admin.url, name: fmt.Sprintf("%s-%d", role, i)}, ledger: l}
		m.do(200, "PUT", "/me/profile", map[string]string{"handle": m.name}, nil)
		var made struct{ Principal string }
		admin.do(200, "PUT", "/workspaces/letters/members/person/"+m.name, map[string]string{"role": role}, &made)
		m.key, members[i] = made.Principal, m
	}
	return members
}

// note keeps how a change ended, and reports whether it was acknowledged.
func (m *member) note(status int, err error, events ...told) bool {
	m.mu.Lock()
	for _, e := range events {
		e.By = m.key
		if err == nil && status < 300 {
			m.acked[e]++
		} else if err != nil {
			m.unclear[e]++
		}
	}
	m.mu.Unlock()
	if err != nil {
		time.Sleep(20 * time.Millisecond) // a client that is refused does not come back at once
	}
	return err == nil && status < 300
}

// write saves a version that says what none has said, and proposes it.
func (m *member) write() {
	m.texts++
	text := fmt.Sprintf("Text %d of %s", m.texts, m.name)
	var p struct {
		ID      string
		Version int64
	}
	id, event := m.recent(), "version.created"
	var status int
	var err error
	if id == "" || rand.IntN(6) == 0 {
		event = "prompt.created"
		status, _, err = m.try("POST", "/prompts",
			map[string]string{"title": text, "text": text, "visibility": "private", "workspace": "letters"}, &p)
	} else {
		status, _, err = m.try("PATCH", "/prompts/"+id, map[string]string{"text": text}, &p, "If-Match", "*")
	}
	if !m.note(status, err, told{Type: event, Prompt: p.ID, Version: p.Version}) {
		return
	}
	if event == "prompt.created" {
		m.mu.Lock()
		m.prompts = append(m.prompts, p.ID)
		m.mu.Unlock()
	}
	if m.propose(p.ID, p.Version) {
		select {
		case m.waiting <- struct{}{}:
		default: // the approvers have enough to do
		}
	}
}

// propose proposes a version, by the proposal that is open if one is.
func (m *member) propose(id string, version int64) bool {
	var made proposed
	status, _, err := m.try("POST", "/prompts/"+id+"/proposals",
		map[string]any{"label": "production", "version": version}, &made)
	if m.note(status, err, told{Type: "proposal.opened", Prompt: id, Proposal: made.Number}) {
		return true
	}
	open, err := items[proposed](m.user, "/workspaces/letters/proposals?limit=25")
	i := slices.IndexFunc(open, func(p proposed) bool { return p.Prompt == id })
	if err != nil || i < 0 {
		return false
	}
	made = open[i]
	status, _, err = m.try("PUT", fmt.Sprintf("/prompts/%s/proposals/%d", id, made.Number),
		map[string]int64{"version": version}, nil)
	return m.note(status, err, told{Type: "proposal.updated", Prompt: id, Proposal: made.Number, Version: version})
}

// approve waits for a proposal and mostly approves one of those that are open, be it of its own.
// Now and then it asks for changes, or writes.
func (m *member) approve(stop <-chan struct{}) {
	select {
	case <-stop:
		return
	case <-m.waiting:
	}
	if rand.IntN(4) == 0 {
		m.write()
	}
	open, err := items[proposed](m.user, "/workspaces/letters/proposals?limit=25")
	if err != nil || len(open) == 0 {
		return
	}
	p := open[rand.IntN(len(open))]
	verdict := "approve"
	if rand.IntN(6) == 0 {
		verdict = "changes"
	}
	var now proposed
	status, _, err := m.try("POST", fmt.Sprintf("/prompts/%s/proposals/%d/reviews", p.Prompt, p.Number),
		map[string]any{"verdict": verdict, "version": p.Version, "digest": p.Digest}, &now)
	events := []told{{
		Type: "proposal.reviewed", Prompt: p.Prompt, Proposal: p.Number,
		Version: p.Version, Verdict: verdict,
	}}
	if now.State == "merged" {
		events = append(events, told{Type: "proposal.merged", Prompt: p.Prompt, Proposal: p.Number, Version: p.Version},
			told{Type: "label.moved", Prompt: p.Prompt, Version: p.Version})
	}
	m.note(status, err, events...)
}

// errAway says that the program did not answer.
var errAway = errors.New("the program is away")

// items reads a list to its end while the program may be away.
func items[T any](u user, path string) ([]T, error) {
	var all []T
	for cursor := ""; ; {
		var page struct {
			Items      []T
			NextCursor string
		}
		status, _, err := u.try("GET", path+cursor, nil, &page)
		if err != nil || status != 200 {
			return nil, fmt.Errorf("%w: GET %s: %d, %w", errAway, path, status, cmp.Or(err, errors.New("refused")))
		}
		if all = append(all, page.Items...); page.NextCursor == "" {
			return all, nil
		}
		cursor = "&cursor=" + page.NextCursor
	}
}

// standing reports whether programs get a version of a prompt, and refuses one that its authors
// alone approved.
func standing(u user, id string) (bool, error) {
	var got struct{ Version int64 }
	status, _, err := u.try("POST", "/prompts/"+id+"/render", map[string]any{}, &got)
	if err != nil {
		return false, errAway
	}
	if status == 404 { // and where there is no prompt yet
		return false, nil
	}
	versions, err := items[saved](u, "/prompts/"+id+"/versions?limit=100")
	if err != nil {
		return false, err
	}
	proposals, err := items[proposed](u, "/prompts/"+id+"/proposals?limit=25")
	if err != nil {
		return false, err
	}
	for _, p := range proposals {
		if p.Version != got.Version || p.State != "merged" {
			continue
		}
		if status, _, err := u.try("GET", fmt.Sprintf("/prompts/%s/proposals/%d", id, p.Number), nil, &p); err != nil ||
			status != 200 {
			return false, errAway
		}
		if isApproved(p, versions) {
			return true, nil
		}
	}
	return false, fmt.Errorf("stands on version %d, which no one else approved: %+v of %+v",
		got.Version, proposals, versions)
}

// isApproved reports whether somebody approved what a proposal puts live, by version and digest,
// having written none of it.
func isApproved(p proposed, versions []saved) bool {
	var digest string
	wrote := map[string]bool{}
	for _, v := range versions {
		if v.Version == p.Version {
			digest = v.Hash
		}
		if v.Version == p.Version || min(p.From, p.Version) < v.Version && v.Version < max(p.From, p.Version) {
			wrote[v.CreatedBy] = true
		}
	}
	for _, r := range p.Reviews {
		if r.Verdict == "approve" && r.Version == p.Version && r.Digest == digest && digest != "" && !wrote[r.By] {
			return true
		}
	}
	return false
}

// check compares the events with the acknowledged changes and with all that is there.
func (l *ledger) check(t *testing.T, u user) {
	t.Helper()
	type event struct {
		told
		Digest string
	}
	events, err := items[event](u, "/workspaces/letters/events?limit=100")
	require.NoError(t, err)
	all, of, digests := map[told]int{}, map[string]bool{}, map[told]string{}
	for _, e := range events {
		if e.Prompt == "" { // of the workspace
			continue
		}
		key := e.told
		if e.Type == "proposal.opened" {
			key.Version = 0 // a proposal tells that of now
		}
		all[key]++
		of[e.Prompt] = true
		if strings.HasSuffix(e.Type, ".created") {
			digests[key] = e.Digest
		}
	}
	for e, n := range l.acked {
		require.GreaterOrEqual(t, all[e], n, "no event tells of %+v, which was acknowledged", e)
	}
	there := map[told]int{}
	for id := range of {
		status, _, err := u.try("GET", "/prompts/"+id, nil, nil)
		require.NoError(t, err)
		if status == 404 && !full() && !slices.Contains(l.prompts, id) { // until it is repaired, after a minute
			maps.DeleteFunc(all, func(e told, _ int) bool { return e.Prompt == id })
			continue
		}
		l.addWhatIsThere(t, u, id, there, digests)
	}
	prompts, err := items[shown](u, "/workspaces/letters/prompts?limit=100")
	require.NoError(t, err)
	for _, p := range prompts {
		require.True(t, of[p.ID], "no event tells of prompt %s", p.ID)
	}
	merged := 0
	for e, n := range all {
		if e.Type == "proposal.updated" || e.Verdict == "changes" { // may be overwritten
			require.LessOrEqual(t, n, l.acked[e]+l.unclear[e], "%+v has too many events", e)
			continue
		}
		require.Equal(t, there[e], n, "events of %+v", e)
		if e.Type == "proposal.merged" {
			merged++
		}
	}
	for e, n := range there {
		require.Equal(t, n, all[e], "events of %+v", e)
	}
	require.Positive(t, merged)
	texts := slices.Sorted(maps.Values(digests))
	require.Len(t, slices.Compact(slices.Clone(texts)), len(texts), "a text was saved twice")
}

// addWhatIsThere adds the events that are due to what there is of a prompt, and holds that what
// stands in production, or stood there, was approved.
func (l *ledger) addWhatIsThere(t *testing.T, u user, id string, there map[told]int, digests map[told]string) {
	t.Helper()
	_, err := standing(u, id)
	require.NoError(t, err, "production of %s", id)
	versions, err := items[saved](u, "/prompts/"+id+"/versions?limit=100")
	require.NoError(t, err)
	for _, v := range versions {
		e := told{Type: "version.created", Prompt: id, By: v.CreatedBy, Version: v.Version}
		if v.Version == 1 {
			e.Type = "prompt.created"
		}
		there[e]++
		require.Equal(t, v.Hash, digests[e], "%+v", e)
	}
	proposals, err := items[proposed](u, "/prompts/"+id+"/proposals?limit=25")
	require.NoError(t, err)
	for _, p := range proposals {
		there[told{Type: "proposal.opened", Prompt: id, By: p.OpenedBy, Proposal: p.Number}]++
		if p.State == "open" {
			continue
		}
		there[told{
			Type: "proposal.reviewed", Prompt: id, By: p.ClosedBy, Proposal: p.Number,
			Version: p.Version, Verdict: "approve",
		}]++
		there[told{Type: "proposal.merged", Prompt: id, By: p.ClosedBy, Proposal: p.Number, Version: p.Version}]++
		u.do(200, "GET", fmt.Sprintf("/prompts/%s/proposals/%d", id, p.Number), nil, &p)
		require.True(t, isApproved(p, versions), "%+v was approved by no one else: %+v", p, versions)
	}
	moves, err := items[struct {
		By string
		To int64
	}](u, "/prompts/"+id+"/labels/production/history?limit=100")
	require.NoError(t, err)
	for _, m := range moves {
		there[told{Type: "label.moved", Prompt: id, By: m.By, Version: m.To}]++
	}
}
