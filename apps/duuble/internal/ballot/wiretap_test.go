package ballot_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/ballot"
)

// A wiretap stands between the program and the services of an account, and writes down each
// request with its answer: all that the services, their logs and listeners on the way can know.
type wiretap struct {
	keys ballot.Keys
	mu   sync.Mutex
	step int
	all  []exchange
}

// An exchange is a request and its answer. Those of one step that have different names may come in
// any order.
type exchange struct {
	step int
	name string
	observation
}

// next begins another step.
func (w *wiretap) next() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step++
}

// observations returns what was written down, in an order that does not depend on the content.
func (w *wiretap) observations() (all []observation) {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.SortStableFunc(w.all, func(a, b exchange) int {
		return cmp.Or(a.step-b.step, strings.Compare(a.name, b.name))
	})
	for _, e := range w.all {
		if e.step > 0 { // the tables are there
			all = append(all, e.observation)
		}
	}
	return all
}

var endpoint = regexp.MustCompile(`(Table|Queue)Endpoint=(http://127\.0\.0\.1:[0-9]+)`)

// tap returns a connection string that leads through the wiretap.
func (w *wiretap) tap(t *testing.T, connection string) string {
	t.Helper()
	return endpoint.ReplaceAllStringFunc(connection, func(one string) string {
		parts := endpoint.FindStringSubmatch(one)
		client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			w.pass(t, client, parts[2], rw, r)
		}))
		t.Cleanup(func() {
			server.Close()
			client.CloseIdleConnections()
		})
		return parts[1] + "Endpoint=" + server.URL
	})
}

// pass hands a request on to a service.
func (w *wiretap) pass(t *testing.T, client *http.Client, service string, rw http.ResponseWriter, r *http.Request) {
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program has gone away
	}
	out, err := http.NewRequestWithContext(r.Context(), r.Method, service+r.URL.RequestURI(), bytes.NewReader(asked))
	if err != nil {
		t.Error(err)
		return
	}
	out.Header = r.Header.Clone()
	res, err := client.Do(out)
	if err != nil {
		t.Error(err)
		return
	}
	defer res.Body.Close()
	answered, err := io.ReadAll(res.Body)
	if err != nil {
		t.Error(err)
		return
	}
	e := exchange{name: blank(r.Method + " " + r.URL.RequestURI())}
	e.what = fmt.Sprintf("%s %s: %d %s", e.name, w.open(&e, string(asked)), res.StatusCode,
		w.open(&e, string(answered)))
	w.mu.Lock()
	e.step = w.step
	w.all = append(w.all, e)
	w.mu.Unlock()
	for name, values := range res.Header {
		rw.Header()[name] = values
	}
	rw.WriteHeader(res.StatusCode)
	_, _ = rw.Write(answered) // or the program has gone away
}

// random are names and times that the services and their clients give. They differ from run to run
// for the same votes, too.
var random = []*regexp.Regexp{
	regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/|devstoreaccount[0-9x]+`),
	regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`),
	regexp.MustCompile(`datetime'[^']+'`),
	regexp.MustCompile(`\\nTime:[^"]+Z`),
	regexp.MustCompile(`"Timestamp":"[^"]+"`),
	regexp.MustCompile(`<(?:InsertionTime|ExpirationTime|TimeNextVisible|PopReceipt)>[^<]+<`),
	regexp.MustCompile(`popreceipt=[^&]+`),
}

// blank takes out what is random; its length stays, but for the names of accounts.
func blank(text string) string {
	for i, r := range random {
		text = r.ReplaceAllStringFunc(text, func(found string) string {
			if i == 0 {
				return ""
			}
			return strings.Repeat("~", len(found))
		})
	}
	return text
}

var sealedText = regexp.MustCompile(`"sealed":"([^"]+)"`)

// open returns a text without what is random. Texts that are sealed go apart.
func (w *wiretap) open(e *exchange, text string) string {
	text = sealedText.ReplaceAllStringFunc(text, func(found string) string {
		text := sealedText.FindStringSubmatch(found)[1]
		e.noise += text + " "
		sealed, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(sealed) < 4 {
			return "in the clear: " + found
		}
		return fmt.Sprintf("sealed: %d, %x", len(text), sealed[:4])
	})
	return blank(text)
}

// TestWiretap: all that is not random is in the observations as it was, also its length.
func TestWiretap(t *testing.T) {
	t.Parallel()
	w := wiretap{}
	var e exchange
	require.Equal(t, `/Posts {"left":"3","pad":"xx",~~~~~~~~~~~~~~~,sealed: 8, 01020304}`,
		w.open(&e, `http://127.0.0.1:7/devstoreaccount1x2/Posts {"left":"3","pad":"xx","Timestamp":"1","sealed":"AQIDBAU="}`))
	require.Equal(t, "AQIDBAU= ", e.noise)
}
