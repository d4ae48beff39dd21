package gitdoor_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/git"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/doors/gitdoor"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/heap"
)

// noise returns bytes that cannot be compressed.
func noise(seed uint64, n int) []byte {
	r := rand.NewChaCha8([32]byte{byte(seed), 1})
	b := make([]byte, n)
	_, _ = r.Read(b)
	return b
}

// large makes a skill of versions with as many bytes as one may have.
func (w *world) large(versions int) {
	w.t.Helper()
	w.handle()
	var id prompt.ID
	for n := range versions {
		d := w.folder("large", library.SentFile{Path: "a", Bytes: noise(uint64(2*n), prompt.MaxFile)},
			library.SentFile{Path: "b", Bytes: noise(uint64(2*n+1), prompt.MaxFile-1000)})
		if n == 0 {
			id = w.write(user("ann"), d).ID
			continue
		}
		w.edit(id, func(was *prompt.Draft) { was.Files, was.FileBytes = d.Files, d.FileBytes })
	}
}

// TestLargePack: a pack has a bound, and git shows the way around it.
func TestLargePack(t *testing.T) {
	if testing.Short() {
		t.Skip("makes 40 MB of files")
	}
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	w.large(5)
	require.Contains(t, w.refused(w.url+"/u/ann/large.git"), "32 MiB")
	c := w.clone(w.url+"/u/ann/large.git", "--depth", "1")
	c.git("fetch", "-q", "--depth", "3")
	c.git("fsck", "--strict")
	require.Len(t, c.read("a"), prompt.MaxFile)
}

// A sink takes an answer, and keeps its status alone.
type sink struct {
	header http.Header
	status int
	bytes  int
}

func (s *sink) Header() http.Header { return s.header }

func (s *sink) WriteHeader(status int) { s.status = status }

func (s *sink) Write(b []byte) (int, error) {
	s.bytes += len(b)
	return len(b), nil
}

// ask sends a command of the protocol.
func (w *world) ask(path, token, body string) *sink {
	w.t.Helper()
	s := &sink{header: http.Header{}, status: http.StatusOK}
	w.door.ServeHTTP(s, w.asked(path, token, body))
	return s
}

// asked returns the request of ask.
func (w *world) asked(path, token, body string) *http.Request {
	r := httptest.NewRequestWithContext(w.t.Context(), http.MethodPost,
		"http://localhost"+gitdoor.Prefix+path+"/git-upload-pack", strings.NewReader(body))
	r.Header.Set("Content-Type", git.RequestType)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	return r
}

func line(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }

// TestMemory: sixteen callers of the largest pack hold no more memory than they may.
func TestMemory(t *testing.T) { // alone: others would be measured, too
	if testing.Short() {
		t.Skip("makes the largest packs")
	}
	w := newWorld(t, prompt.Rules{}, true)
	w.large(3)
	want := w.clone(w.url+"/u/ann/large.git", "--depth", "1").git("rev-parse", "HEAD")
	tokens := make([]string, 16)
	for i := range tokens {
		_, tokens[i] = w.token(fmt.Sprint("caller ", i), auth.ScopeRead)
	}
	heap.Check(t, "clone", func(caller int) {
		s := w.ask("/u/ann/large.git", tokens[caller],
			line("command=fetch\n")+"0001"+line("want "+want+"\n")+line("done\n")+"0000")
		switch s.status {
		case http.StatusOK:
			require.Greater(t, s.bytes, 20<<20)
		case http.StatusServiceUnavailable, http.StatusTooManyRequests:
			require.NotEmpty(t, s.header.Get("Retry-After"))
		default:
			require.Fail(t, "refused", "%d", s.status)
		}
	})
}

// A slow is a sink that takes nothing until it may.
type slow struct {
	sink
	begun, may chan struct{}
}

func (s *slow) Write(b []byte) (int, error) {
	if s.begun != nil {
		close(s.begun)
		s.begun = nil
		<-s.may
	}
	return s.sink.Write(b)
}

// TestSlowReaders: clients that take their time for large packs do not keep others from a clone.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	w := newWorld(t, prompt.Rules{}, true)
	w.handle()
	w.public("greet", "Hello.")
	w.write(user("ann"), w.folder("large", library.SentFile{Path: "a", Bytes: noise(1, 2<<20)}))
	fetch := func(path string) string {
		want := w.clone(w.url+path, "--depth", "1").git("rev-parse", "HEAD")
		return line("command=fetch\n") + "0001" + line("want "+want+"\n") + line("done\n") + "0000"
	}
	large, small := fetch("/u/ann/large.git"), fetch("/u/ann/greet.git")
	may := make(chan struct{})
	var sent sync.WaitGroup
	defer sent.Wait()
	defer close(may)
	for i := range 4 {
		_, token := w.token(fmt.Sprint("slow ", i), auth.ScopeRead)
		s := &slow{sink: sink{header: http.Header{}, status: http.StatusOK}, begun: make(chan struct{}), may: may}
		begun := s.begun
		sent.Go(func() { w.door.ServeHTTP(s, w.asked("/u/ann/large.git", token, large)) })
		<-begun
	}
	_, token := w.token("another", auth.ScopeRead)
	require.Greater(t, w.ask("/u/ann/large.git", token, large).bytes, 2<<20)
	require.Equal(t, http.StatusOK, w.ask("/u/ann/greet.git", token, small).status)
}

// FuzzRequest: any request is answered, and never with an error of ours.
func FuzzRequest(f *testing.F) {
	w := newWorld(f, prompt.Rules{}, true)
	w.public("greet", "Hello.")
	const id = "0123456789abcdef0123456789abcdef01234567"
	for _, body := range []string{
		"", "0000", "zzzz", line("command=ls-refs\n") + "00010000",
		line("command=fetch\n") + "0001" + line("want "+id+"\n") + line("done\n") + "0000",
		line("command=fetch\n") + "0001" + line("deepen 1\n") + "0000", "\x1f\x8b\x08",
		line("want "+id+"\n") + "0000", "0001", "fff0",
	} {
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		here := *w
		here.t = t
		for _, path := range []string{"/u/ann.git", "/u/ann/greet"} {
			s := here.ask(path, "", body)
			require.Less(t, s.status, http.StatusInternalServerError, "%q", body)
		}
	})
}
