package people_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/duubletest"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/repeatable"
)

var began = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// phone keeps the last text to each number.
type phone struct {
	mu    sync.Mutex
	texts map[string]string
	fail  error
}

func (p *phone) Send(_ context.Context, to, text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail == nil {
		p.texts[to] = text
	}
	return p.fail
}

func (p *phone) code(to string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	code, _, _ := strings.Cut(p.texts[to], " ")
	return code
}

// A world is a service over a store in memory.
type world struct {
	*people.Service
	t      *testing.T
	clock  *repeatable.Clock
	db     *memory.Tables
	queues *memory.Queues
	blobs  blob.Store
	phone  *phone
	luck   *repeatable.Luck
}

func newWorld(t *testing.T, change ...func(*people.Config)) *world {
	t.Helper()
	w := &world{
		t: t, clock: repeatable.NewClock(began), db: memory.NewTables(),
		phone: &phone{texts: map[string]string{}}, luck: repeatable.Seeded(1), blobs: duubletest.Blobs(time.Now),
	}
	require.NoError(t, w.db.Create(t.Context(), duubletest.Tables.All()...))
	w.queues = memory.NewQueues(w.clock.Now)
	require.NoError(t, w.queues.Create(t.Context(), people.Queues()...))
	w.Service = w.over(w.db, change...)
	return w
}

// over returns a service over another store, as another process.
func (w *world) over(db table.DB, change ...func(*people.Config)) *people.Service {
	rows := duubletest.Rows(db, w.clock.Now)
	c := people.Config{
		Store: rows, Assets: duubletest.Assets(rows, w.blobs, w.luck),
		Tables: duubletest.Tables, Queues: w.queues, Entropy: w.luck, Keys: keyring.Ring{make([]byte, 32)},
		SMS: w.phone, Keep: 30 * 24 * time.Hour, CodeLasts: 5 * time.Minute, PerPhone: 5, PerAddress: 30,
		PerNetwork: 60, PerCountry: 500, PerHour: 1000,
	}
	for _, f := range change {
		f(&c)
	}
	return people.New(c)
}

// unlimited lets any number of codes be asked for.
func unlimited(c *people.Config) { c.PerPhone, c.PerAddress, c.PerCountry, c.PerHour = -1, -1, -1, -1 }

func number(i int) string { return fmt.Sprintf("+346%08d", i) }

// request asks for a code.
func (w *world) request(to string) (people.Challenge, error) {
	return w.requestFrom(to, "192.0.2.1")
}

// requestFrom asks for a code at an address.
func (w *world) requestFrom(to, address string) (people.Challenge, error) {
	return w.RequestCode(w.t.Context(), "sms", to, "sign_in", people.Asker{Site: address})
}

// phoneOf returns the number of a user.
func (w *world) phoneOf(user string) string {
	w.t.Helper()
	row, err := w.db.Get(w.t.Context(), "Users", table.Key{Partition: "u|" + user, Row: "id|phone"})
	require.NoError(w.t, err)
	phone, err := w.Keys.Open("phone", user, row.Props.Get("provider_id").Str())
	require.NoError(w.t, err)
	return phone
}

// enter signs in by a code, and fails the test if that does not work.
func (w *world) enter(to string) people.SignedIn {
	w.t.Helper()
	c, err := w.request(to)
	require.NoError(w.t, err)
	in, err := w.Verify(w.t.Context(), c.ID, w.phone.code(to), "test")
	require.NoError(w.t, err)
	return in
}

// claim returns what an access token says.
func (w *world) claim(in people.SignedIn) people.Claim {
	w.t.Helper()
	c, err := w.ParseAccess(in.Tokens.Access)
	require.NoError(w.t, err)
	return c
}

// keys returns the keys of the rows of a table that begin with a prefix, in order.
func (w *world) keys(name, prefix string) []string {
	w.t.Helper()
	var all []string
	for row, err := range table.All(w.t.Context(), w.db, name, table.Range{}) {
		require.NoError(w.t, err)
		if strings.HasPrefix(row.Partition, prefix) {
			all = append(all, row.Key.String())
		}
	}
	slices.Sort(all)
	return all
}

func requireCode(t *testing.T, code fault.Code, err error, why ...any) {
	t.Helper()
	require.Error(t, err, why...)
	require.Equal(t, code, fault.CodeOf(err), err, why)
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

func count(errs []error, is func(error) bool) (n int) {
	for _, err := range errs {
		if is(err) {
			n++
		}
	}
	return n
}

func isNil(err error) bool { return err == nil }

func hasCode(code fault.Code) func(error) bool {
	return func(err error) bool { return fault.CodeOf(err) == code }
}
