package git

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Types of bodies.
const (
	AdvertisementType = "application/x-git-upload-pack-advertisement"
	RequestType       = "application/x-git-upload-pack-request"
	ResultType        = "application/x-git-upload-pack-result"
)

// Bounds of a request.
const (
	MaxRequest = 1 << 20 // bytes, packed or not

	maxIDs      = 20_000
	maxPrefixes = 1_000 // with more of them all refs are listed, as the protocol allows
)

// onlyVersion2 refuses a client of another version. Git speaks version 2 unless told otherwise. The
// sentence does not say "version 2", by which isomorphic-git would know a server of that version.
var onlyVersion2 = &Refusal{
	"older versions of the protocol are not served: use git 2.26 or later, or git -c protocol.version=2",
}

// Advertise returns the body that tells a client what is served. Its protocol is what it sent as
// Git-Protocol.
func Advertise(protocol string) []byte {
	if !slices.Contains(strings.Split(protocol, ":"), "version=2") {
		return onlyVersion2.Packet()
	}
	var b []byte
	for _, line := range []string{
		"version 2", "agent=prompthub", "ls-refs=unborn",
		"fetch=shallow", "object-format=sha1",
	} {
		b = appendLine(b, "%s\n", line)
	}
	return append(b, flush...)
}

// A Request is what a client asks.
type Request struct {
	command string // or "", if it only tries whether it is let in

	// Of ls-refs.
	symrefs, unborn bool
	prefixes        []string

	// Of fetch.
	wants, haves []ID
	shallows     map[ID]bool // commits whose parents the client lacks, as it fetched no deeper
	done         bool        // it has no more to say of what it has
	depth        int         // 0: as deep as it goes
	relative     bool        // depth counts from shallows
	since        time.Time
	not          []string // refs
}

// ReadRequest reads what a client sent. An error is a *Refusal, or of the reader.
func ReadRequest(body io.Reader) (*Request, error) {
	b, err := readBody(body)
	if err != nil {
		return nil, err
	}
	// Git packs longer requests, and hosts may drop the header that tells it. No pkt-line begins so.
	if bytes.HasPrefix(b, []byte{0x1f, 0x8b}) {
		unzip, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, refuse("the request is no gzip: %v", err)
		}
		if b, err = readBody(unzip); err != nil {
			if refusal := new(Refusal); errors.As(err, &refusal) {
				return nil, err
			}
			return nil, refuse("the request is no whole gzip: %v", err)
		}
	}
	q := &Request{shallows: make(map[ID]bool)}
	if err := q.read(&lines{string(b)}); err != nil {
		return nil, err
	}
	return q, nil
}

func readBody(r io.Reader) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, MaxRequest+1))
	if err == nil && len(b) > MaxRequest {
		return nil, refuse("the request is larger than 1 MiB: clone into a new folder")
	}
	return b, err
}

// IsFetch reports whether it asks for objects, which costs more than a list of refs.
func (q *Request) IsFetch() bool { return q.command == "fetch" }

// Answer returns the body of the answer in parts. An error is a *Refusal, or of the repository.
//
// Memory: the answer, whose pack has at most MaxPack; one content; the folders on one path; and ids
// of objects, at most maxObjects, which take 40 MiB.
func (q *Request) Answer(ctx context.Context, r Repository) ([][]byte, error) {
	switch q.command {
	case "fetch":
		return q.fetch(ctx, r)
	case "ls-refs":
		return [][]byte{q.listRefs(r)}, nil
	}
	return nil, nil
}

// read reads capabilities, and the arguments of the command after a delimiter.
func (q *Request) read(l *lines) error {
	read := q.readCapability
	for {
		text, digits, err := l.next()
		switch {
		case err != nil:
			return err
		case digits == delimiter && q.command == "fetch":
			read = q.readFetch
		case digits == delimiter && q.command == "ls-refs":
			read = q.readListRefs
		case digits == flush:
			return q.check()
		default:
			err = read(text)
		}
		if err != nil {
			return err
		}
	}
}

// readCapability reads a line before the arguments.
func (q *Request) readCapability(text string) error {
	key, value, _ := strings.Cut(text, "=")
	switch {
	case key == "command" && (value == "ls-refs" || value == "fetch") && q.command == "":
		q.command = value
	case key == "command":
		return refuse("command %.50q is not served: ls-refs and fetch are, one in a request", value)
	case key == "object-format" && value != "sha1":
		return refuse("object format %.50q is not served: sha1 is", value)
	case key == "object-format" || key == "agent" || key == "session-id":
	case strings.HasPrefix(text, "want "):
		return onlyVersion2
	default:
		return refuse("capability %.50q is not served", text)
	}
	return nil
}

func (q *Request) readListRefs(text string) error {
	switch key, value, _ := strings.Cut(text, " "); key {
	case "symrefs":
		q.symrefs = true
	case "unborn":
		q.unborn = true
	case "ref-prefix":
		q.prefixes = append(q.prefixes, value)
	case "peel": // no tag has an object of its own
	default:
		return refuse("argument %.50q of ls-refs is not served", text)
	}
	return nil
}

func (q *Request) readFetch(text string) error {
	key, value, _ := strings.Cut(text, " ")
	var id ID
	var err error
	switch key {
	case "want", "have", "shallow":
		if id, err = ParseID(value); err != nil {
			return refuse("%s: %v", key, err)
		}
	}
	switch key {
	case "want":
		q.wants = append(q.wants, id)
	case "have":
		q.haves = append(q.haves, id)
	case "shallow":
		q.shallows[id] = true
	case "done":
		q.done = true
	case "deepen":
		if q.depth, err = strconv.Atoi(value); err != nil || q.depth < 1 || q.depth > math.MaxInt32 {
			return refuse("%.50q is no depth: it is a number of 1 or more", value)
		}
	case "deepen-relative":
		q.relative = true
	case "deepen-since":
		seconds, err := strconv.ParseInt(value, 10, 64)
		if err != nil || seconds < 1 {
			return refuse("%.50q is no time: it is in seconds since 1970", value)
		}
		q.since = time.Unix(seconds, 0)
	case "deepen-not":
		q.not = append(q.not, value)
	case "thin-pack", "ofs-delta", "no-progress", "include-tag": // a pack has whole objects, no tags, no progress
	case "filter":
		return refuse("filters are not served: clone without --filter")
	default:
		return refuse("argument %.50q of fetch is not served", text)
	}
	return nil
}

// check reports what is wrong with the request as a whole.
func (q *Request) check() error {
	switch {
	case len(q.wants)+len(q.haves)+len(q.shallows)+len(q.not) > maxIDs:
		return refuse("the request has more than %d wants, haves and shallow commits: clone into a new folder", maxIDs)
	case q.depth > 0 && (!q.since.IsZero() || len(q.not) > 0):
		return refuse("deepen cannot be used together with deepen-since or deepen-not")
	}
	if len(q.prefixes) > maxPrefixes {
		q.prefixes = nil
	}
	return nil
}

func (q *Request) listRefs(r Repository) []byte {
	refs, head := r.Refs(), r.Head()
	line := "unborn HEAD"
	if i := slices.IndexFunc(refs, func(ref Ref) bool { return ref.Name == head }); i >= 0 {
		line = refs[i].ID.String() + " HEAD"
	}
	if q.symrefs {
		line += " symref-target:" + head
	}
	var b []byte
	if q.asksFor("HEAD") && (q.unborn || !strings.HasPrefix(line, "unborn")) {
		b = appendLine(b, "%s\n", line)
	}
	for _, ref := range refs {
		if q.asksFor(ref.Name) {
			b = appendLine(b, "%s %s\n", ref.ID, ref.Name)
		}
	}
	return append(b, flush...)
}

func (q *Request) asksFor(ref string) bool {
	return len(q.prefixes) == 0 || slices.ContainsFunc(q.prefixes, func(p string) bool {
		return strings.HasPrefix(ref, p)
	})
}
