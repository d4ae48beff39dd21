package httpjson

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"
)

// ETags gives every successful answer to a GET or HEAD an entity tag, a hash of its body unless the
// handler has set one, and answers 304 to a client that has it already. Answers that may not be
// stored have none. It is Buffered.
func ETags(next http.Handler) http.Handler { return holdBack(next, true) }

// Buffered holds every answer back until it is complete, so it is not for streams: the places that
// a handler has while it works are free before a client that reads slowly begins to. The answer
// counts for the caller until it is sent. If there is no room for it, the handler writes to no one,
// and the caller is told so.
func Buffered(next http.Handler) http.Handler { return holdBack(next, false) }

func holdBack(next http.Handler, tagged bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &buffer{
			ResponseWriter: w, head: head{header: w.Header(), status: http.StatusOK},
			body: bodies.Get().(*bytes.Buffer),
		}
		b.size.of = recordOf(r.Context())
		next.ServeHTTP(b, r)
		if b.full != nil {
			b.drop(r)
		}
		if !tagged || r.Method != http.MethodGet && r.Method != http.MethodHead || !b.notModified(w, r) {
			b.send(w, r)
		}
		if b.body.Cap() <= maxKept {
			b.body.Reset()
			bodies.Put(b.body)
		}
	})
}

// maxKept is how large a body may have been whose memory is kept for others, in bytes.
const maxKept = 64 << 10

var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// A buffer keeps an answer.
type buffer struct {
	http.ResponseWriter // to which it goes
	head
	body *bytes.Buffer
	size held
	full error // why there is no room for the answer
}

// Header returns the header.
func (b *buffer) Header() http.Header { return b.header }

// WriteHeader keeps the status.
func (b *buffer) WriteHeader(status int) { b.status = status }

// Unwrap returns the writer below, for http.ResponseController.
func (b *buffer) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// Write keeps a part of the body, while there is room. A handler takes an error of it for one of
// its own, or panics.
func (b *buffer) Write(p []byte) (int, error) {
	if b.full == nil {
		b.full = b.size.grow(b.body.Len() + len(p))
	}
	if b.full != nil {
		return len(p), nil //nolint:nilerr // drop tells the client
	}
	return b.body.Write(p)
}

// drop puts what keeps the answer from being sent in its place.
func (b *buffer) drop(r *http.Request) {
	b.body.Reset()
	for _, of := range []string{
		"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Length",
		"ETag", "Link", "Location",
	} {
		b.header.Del(of)
	}
	err := b.full
	b.full = nil
	answer(b, r, Describe(r.Context(), err))
}

// notModified answers a client that has the answer already, and gives all others its tag.
func (b *buffer) notModified(w http.ResponseWriter, r *http.Request) bool {
	if b.status != http.StatusOK || strings.Contains(b.header.Get("Cache-Control"), "no-store") {
		return false
	}
	if b.header.Get("ETag") == "" {
		b.header.Set("ETag", `"`+strconv.FormatUint(xxhash.Sum64(b.body.Bytes()), 36)+`"`)
	}
	if known := ParseETags(r.Header.Values("If-None-Match")); !known.Match(b.header.Get("ETag")) {
		return false
	}
	b.header.Del("Content-Type")
	b.header.Del("Content-Length")
	w.WriteHeader(http.StatusNotModified)
	return true
}

func (b *buffer) send(w http.ResponseWriter, r *http.Request) {
	if b.body.Len() > 0 {
		b.header.Set("Content-Length", strconv.Itoa(b.body.Len()))
	}
	w.WriteHeader(b.status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.body.Bytes()) // the client has gone away
	}
}

// ETagList is what a client sends in If-Match or If-None-Match.
type ETagList struct {
	Any  bool     // "*"
	Tags []string // without quotes, weak ones like strong ones
}

// ParseETags reads the values of the header If-Match or If-None-Match. A value that is no list of
// entity tags names none.
func ParseETags(values []string) ETagList {
	rest := strings.Trim(strings.Join(values, ","), " \t")
	if rest == "*" {
		return ETagList{Any: true}
	}
	var l ETagList
	for rest != "" {
		rest = strings.TrimPrefix(rest, "W/")
		opaque, ok := strings.CutPrefix(rest, `"`)
		tag, after, closed := strings.Cut(opaque, `"`)
		after = strings.TrimLeft(after, " \t")
		if !ok || !closed || after != "" && after[0] != ',' {
			return ETagList{}
		}
		l.Tags = append(l.Tags, tag)
		rest = strings.TrimLeft(after, ", \t")
	}
	return l
}

// Match reports whether an entity tag, as it stands in a header, is in the list.
func (l ETagList) Match(etag string) bool {
	return l.Any || slices.Contains(l.Tags, strings.Trim(strings.TrimPrefix(etag, "W/"), `"`))
}
