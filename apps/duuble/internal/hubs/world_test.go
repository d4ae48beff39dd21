package hubs_test

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/repeatable"
)

// A world is hubs over a store in memory.
type world struct {
	t *testing.T
	*hubs.Service
	*repeatable.Clock
	db    *memory.Tables
	luck  *repeatable.Luck
	blobs blob.Store
	phone duubletest.Phone
	keys  keyring.Ring
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, Clock: repeatable.NewClock(time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)), db: memory.NewTables(),
		luck: repeatable.Seeded(1), blobs: duubletest.Blobs(time.Now), keys: keyring.Ring{make([]byte, 32)},
	}
	require.NoError(t, w.db.Create(t.Context(), duubletest.Tables.All()...))
	w.Service = w.over(w.db)
	return w
}

// over returns a service over another store, as another process.
func (w *world) over(db table.DB) *hubs.Service {
	rows := duubletest.Rows(db, w.Now)
	queues := memory.NewQueues(w.Now)
	require.NoError(w.t, queues.Create(w.t.Context(), people.Queues()...))
	accounts := duubletest.People(rows, w.blobs, queues, w.luck, w.keys, &w.phone)
	return hubs.New(hubs.Config{Store: rows, Tables: duubletest.Tables, Entropy: w.luck, People: accounts})
}

// enter makes an account that is complete, for the person i.
func (w *world) enter(i int) people.Claim {
	w.t.Helper()
	return duubletest.Enter(w.t, w.People, &w.phone, i)
}

// make makes a hub of a person.
func (w *world) make(c people.Claim) string {
	w.t.Helper()
	h := duubletest.NewHub(w.t, w.Service, c, hubs.Draft{Name: "Tea"})
	return h.ID
}

// invite invites a number, and returns the token.
func (w *world) invite(c people.Claim, hub string, i int) string {
	w.t.Helper()
	all, err := w.Invite(w.t.Context(), c, hub, []string{duubletest.Number(i)}, hubs.Lasts)
	require.NoError(w.t, err)
	return all[0].Token
}

// enrol makes the person with a number a member with a role.
func (w *world) enrol(manager people.Claim, hub string, i int, role string) people.Claim {
	w.t.Helper()
	c := w.enter(i)
	_, err := w.Accept(w.t.Context(), c, hubs.Key{Token: w.invite(manager, hub, i)})
	require.NoError(w.t, err)
	if role != hubs.Member {
		_, err = w.SetRole(w.t.Context(), manager, hub, c.UserID, role)
		require.NoError(w.t, err)
	}
	return c
}

// link makes a link, and returns its token.
func (w *world) link(c people.Claim, hub string) string {
	w.t.Helper()
	l, err := w.NewLink(w.t.Context(), c, hub, hubs.Lasts)
	require.NoError(w.t, err)
	return l.Token
}

// role returns the role of a person in a hub, "" if they are not in it.
func (w *world) role(c people.Claim, hub string) string {
	w.t.Helper()
	h, err := w.Get(w.t.Context(), c, hub)
	require.NoError(w.t, err)
	if h.Mine == nil {
		return ""
	}
	return h.Mine.Role
}

// differences returns what verify reports.
func (w *world) differences() (all []string) {
	w.t.Helper()
	_, err := w.VerifyRows(w.t.Context(), func(what string) { all = append(all, what) })
	require.NoError(w.t, err)
	return all
}

func (w *world) members(hub string) int64 {
	w.t.Helper()
	h, err := w.Get(w.t.Context(), people.Claim{}, hub)
	require.NoError(w.t, err)
	return h.Members
}

func requireCode(t *testing.T, code fault.Code, err error, what ...any) {
	t.Helper()
	require.Error(t, err, what...)
	require.Equal(t, code, fault.CodeOf(err), what...)
}

// atOnce calls do n times at once, and returns the errors.
func atOnce(n int, do func(i int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() { <-start; errs[i] = do(i) })
	}
	close(start)
	wg.Wait()
	return errs
}

// codes counts errors by their codes.
func codes(errs []error) map[fault.Code]int {
	all := map[fault.Code]int{}
	for _, err := range errs {
		all[fault.CodeOf(err)]++
	}
	return all
}
