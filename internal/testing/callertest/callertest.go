// Package callertest holds the limits of an application to the right caller, for every kind of
// caller and every limit: a request counts for a person only after the application has looked at
// the session that it names, whichever of the sessions of the person that is, and else for its
// address.
package callertest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Kind is one way to send requests.
type Kind struct {
	Name     string
	IsMember bool                              // whether they count for the member, not for their address
	Renews   bool                              // whether they renew a session: for their address, but as the member
	Sign     func(r *http.Request, number int) // gives the request with a number what it says of itself
}

// A Door is what takes requests in.
type Door struct {
	// Handler is the application with limits of Burst reads and Burst writes, one a second for long,
	// and with a clock that stands still for them.
	Handler http.Handler
	// Enter takes a place at work in Handler, for a person with a number.
	Enter func(person int) (leave func(), err error)
	// Kinds are all ways to send requests. The first one is a guest and the last one the member.
	Kinds []Kind
	// Read and Write are requests that a member may send. Nil if the door has none.
	Read, Write func(body io.Reader) *http.Request
	// Entry are requests that count for the address whatever they say of themselves: to sign in, for
	// a code, to renew a session.
	Entry []func(body io.Reader) *http.Request
	// Body is how many bytes a body of Write, and of all of Entry, may have at most.
	Body, EntryBody int
}

// Burst is how many requests each caller may send: no rate refuses anything, and the number that is
// left says which caller was counted.
const Burst = 100_000

const each = 3 // requests from each address

// Check sends requests of all kinds from one address and from sixteen.
func Check(t *testing.T, d Door) {
	t.Helper()
	guest, member := d.Kinds[0], d.Kinds[len(d.Kinds)-1]
	addresses := 0
	address := func() string {
		addresses++
		return fmt.Sprintf("198.51.%d.%d:1", addresses/200, addresses%200)
	}
	n := 0
	send := func(k Kind, address string, request func(io.Reader) *http.Request,
		body io.Reader,
	) *httptest.ResponseRecorder {
		r := request(body)
		r.RemoteAddr = address
		n++
		k.Sign(r, n)
		w := httptest.NewRecorder()
		d.Handler.ServeHTTP(w, r)
		return w
	}
	left := func(k Kind, address string, request func(io.Reader) *http.Request) int {
		w := send(k, address, request, strings.NewReader("{}"))
		n, err := strconv.Atoi(w.Header().Get("RateLimit-Remaining"))
		require.NoError(t, err, "%s: %s", k.Name, w.Body)
		return n
	}
	rates := func(what string, request func(io.Reader) *http.Request, isEntry bool) {
		for _, k := range d.Kinds {
			for _, from := range []int{1, 16} {
				isMember := k.IsMember && !isEntry
				of := fmt.Sprintf("%s, %s from %d addresses", what, k.Name, from)
				elsewhere := address()
				probe := request
				if isEntry {
					probe = d.Read
				}
				before := 0
				if probe != nil {
					before = left(member, elsewhere, probe)
				}
				for range from {
					at := address()
					for range each {
						send(k, at, request, strings.NewReader("{}"))
					}
					spent := each
					if isMember {
						spent = 0
					}
					require.Equal(t, Burst-spent-1, left(guest, at, request), of+": what its address has left")
				}
				if probe != nil && member.IsMember {
					spent := 0
					if isMember {
						spent = from * each
					}
					require.Equal(t, before-spent-1, left(member, elsewhere, probe), of+": what the member has left")
				}
			}
		}
	}
	if d.Read != nil {
		rates("a read", d.Read, false)
	}
	if d.Write != nil {
		rates("a write", d.Write, false)
	}
	for i, request := range d.Entry {
		rates(fmt.Sprint("entry ", i), request, true)
	}

	// Bodies that do not end, as many as one caller may have.
	const share = 128 << 20 / 8
	bodies := func(what string, request func(io.Reader) *http.Request, size int, isEntry bool) {
		for _, k := range d.Kinds {
			of := fmt.Sprintf("bodies of %s, %s", what, k.Name)
			at, end := address(), make(chan struct{})
			var sent sync.WaitGroup
			held := 0
			for range share/size + 1 {
				read, over := make(chan struct{}), make(chan struct{})
				sent.Go(func() {
					defer close(over)
					send(k, at, request, &stalled{
						Reader: strings.NewReader(strings.Repeat("x", size-1)),
						read:   read, end: end,
					})
				})
				select {
				case <-read:
					held++
				case <-over:
				}
			}
			// a caller with as many bodies as may be gets no more
			full := func(k Kind, at string, request func(io.Reader) *http.Request, size int) bool {
				return send(k, at, request,
					strings.NewReader(strings.Repeat("x", size))).Code == http.StatusTooManyRequests
			}
			isMember := k.IsMember && !isEntry
			if isEntry {
				require.True(t, full(guest, at, request, size), of+": whether its address has no more room")
			}
			if member.IsMember {
				require.Equal(t, held > 0 && isMember, full(member, address(), d.Write, d.Body),
					of+": whether the member has no more room")
				require.Equal(t, isMember || isEntry || k.Renews, held > 0, of+": no body is read of who may not write")
			}
			close(end)
			sent.Wait()
		}
	}
	if d.Write != nil && d.Body > 0 {
		bodies("a write", d.Write, d.Body, false)
	}
	if d.EntryBody > 0 {
		bodies("entry 0", d.Entry[0], d.EntryBody, true)
	}

	// Others have taken all there is.
	busy := func(what string, w *httptest.ResponseRecorder) {
		t.Helper()
		require.Equal(t, http.StatusServiceUnavailable, w.Code, "%s: %.300s", what, w.Body)
		require.Regexp(t, "^[1-9][0-9]?$", w.Header().Get("Retry-After"), what)
	}
	var places []func()
	for person := 0; ; person++ {
		leave, err := d.Enter(person)
		if err != nil {
			break
		}
		places = append(places, leave)
	}
	busy("no place is left", send(member, address(), d.Read, strings.NewReader("{}")))
	for _, leave := range places {
		leave()
	}
	require.NotEqual(t, http.StatusServiceUnavailable, send(member, address(), d.Read, strings.NewReader("{}")).Code)
	if d.EntryBody > 0 {
		end := make(chan struct{})
		var sent sync.WaitGroup
		holds := func(at string) bool {
			read, over := make(chan struct{}), make(chan struct{})
			body := &stalled{Reader: strings.NewReader(strings.Repeat("x", d.EntryBody-1)), read: read, end: end}
			sent.Go(func() {
				defer close(over)
				send(guest, at, d.Entry[0], body)
			})
			select {
			case <-read:
				return true
			case <-over:
				return false
			}
		}
		for more := true; more; { // each address as much as it may, until the next one may have none
			at := address()
			for more = holds(at); holds(at); {
			}
		}
		busy("no memory is left", send(guest, address(), d.Entry[0],
			strings.NewReader(strings.Repeat("x", d.EntryBody))))
		close(end)
		sent.Wait()
	}
}

// A stalled body says that all of it but its end was read, and ends when it is told to.
type stalled struct {
	io.Reader
	read chan struct{}
	end  chan struct{}
}

func (s *stalled) Read(b []byte) (int, error) {
	n, err := s.Reader.Read(b)
	if err != nil {
		close(s.read)
		<-s.end
	}
	return n, err
}
