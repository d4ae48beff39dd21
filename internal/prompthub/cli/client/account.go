package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/jsonsize"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// nextPart is how a part of an account names the next one.
var nextPart = regexp.MustCompile(`<[^>]*[?&](cursor=[^>&]*)[^>]*>; rel="next"`)

// Account writes all that the caller has, which ImportAccount takes in here or elsewhere. It tells
// of what the service lost of a version: its export goes on without that.
func (c *Client) Account(ctx context.Context, w io.Writer, tell func(name string, version int64, lost string)) error {
	for query, more := "", true; more; {
		path := "/me/export?" + query
		part, err := c.ask(ctx, call{method: http.MethodGet, path: path, accept: "application/jsonl"})
		if err != nil {
			return err
		}
		if _, err := w.Write(part.body); err != nil {
			return err
		}
		tellLost(part.body, tell)
		link := nextPart.FindStringSubmatch(part.link)
		if more = link != nil; more {
			query = link[1]
		}
	}
	return nil
}

func tellLost(lines []byte, tell func(name string, version int64, lost string)) {
	for line := range bytes.Lines(lines) {
		var said struct {
			Name, Of string
			Versions []struct {
				Version int64
				Loss    []string
			}
		}
		if !bytes.Contains(line, []byte(`"loss":[`)) || json.Unmarshal(line, &said) != nil {
			continue
		}
		for _, v := range said.Versions {
			for _, lost := range v.Loss {
				tell(cmp.Or(said.Of, said.Name), v.Version, lost)
			}
		}
	}
}

// An Entry is what became of one thing in a file that the service took in.
type Entry struct {
	Place   string `json:"place"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Outcome string `json:"outcome"`
	Code    string `json:"code"`
	Reason  string `json:"reason"`
	// what of it the service does not have now
	Loss []string `json:"loss"`
	// places of its file that are not as its format wants them
	Warnings []format.Warning `json:"warnings"`
}

const (
	maxSent  = 4 << 20 // bytes that the service takes at once
	maxPiece = 3 << 20 // bytes of the lines that are sent at once

	// elements and members of the versions in a piece of a history; the others of what a line may have
	// are for what it says of all other versions
	maxPieceParts = jsonsize.Most / 2
)

// ImportAccount has the service take in a file that Account wrote, and tells of each entry. It
// sends nothing of a file that cannot be parted.
func (c *Client) ImportAccount(ctx context.Context, file []byte, tell func(Entry)) error {
	all, err := pieces(file)
	if err != nil {
		return err
	}
	for _, list := range all {
		if len(list) > 1 {
			all, err := c.importHistory(ctx, list, "")
			if err != nil {
				return err
			}
			tell(all)
		} else if err := c.importPiece(ctx, list[0], "", tell); err != nil {
			return err
		}
	}
	return nil
}

// importHistory has the service take in the history of one prompt, a part after another.
func (c *Client) importHistory(ctx context.Context, parts []piece, how string) (all Entry, err error) {
	for _, p := range parts {
		err = c.importPiece(ctx, p, how, func(e Entry) { all = all.and(e) })
		if err != nil || all.Outcome == Rejected.String() {
			return all, err
		}
	}
	return all, nil
}

// and returns what became of an entry that comes in parts, of which e were all before.
func (e Entry) and(next Entry) Entry {
	if e.Outcome != "" && next.Outcome != Rejected.String() &&
		(e.Outcome == Created.String() || next.Outcome == Unchanged.String()) {
		next.Outcome = e.Outcome
	}
	for _, lost := range e.Loss {
		if !slices.Contains(next.Loss, lost) {
			next.Loss = append(next.Loss, lost)
		}
	}
	return next
}

// importPiece sends a piece, with what the query says of how it must be taken in.
func (c *Client) importPiece(ctx context.Context, p piece, how string, tell func(Entry)) error {
	for from, more := 0, true; more; {
		var r struct {
			Items []Entry `json:"items"`
			Next  *int    `json:"next"`
		}
		k := call{
			method: http.MethodPost, path: "/import?file=account.jsonl&from=" + strconv.Itoa(from) + how,
			body: p.lines,
		}
		if _, err := c.do(ctx, k, &r); err != nil {
			return err
		}
		for _, e := range r.Items {
			if n, err := strconv.Atoi(strings.TrimPrefix(e.Place, "line ")); err == nil {
				e.Place = fmt.Sprintf("line %d", p.before+n)
			}
			tell(e)
		}
		if more = r.Next != nil; more {
			from = *r.Next
		}
	}
	return nil
}

// A piece is a part of an account that is sent at once.
type piece struct {
	lines  []byte
	before int // how many lines of the file are
}

// pieces parts a file at its lines, but for those with which the history of a prompt goes on. A
// history that is too long alone is several pieces in one list; any other list has one.
func pieces(file []byte) (all [][]piece, err error) {
	begin, end, line, first := 0, 0, 0, 0 // end and line are those after the entries of the piece
	flush := func() {
		if end > begin {
			all = append(all, []piece{{file[begin:end], first}})
		}
		begin, first = end, line
	}
	for entry, lines := range entries(file) {
		if end > begin && end-begin+len(entry) > maxPiece {
			flush()
		}
		if len(entry) <= maxPiece && jsonsize.Parts(entry) <= jsonsize.Most {
			end, line = end+len(entry), line+lines
			continue
		}
		parts, err := parted(entry)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line+1, err)
		}
		list := make([]piece, len(parts))
		for i, part := range parts {
			list[i] = piece{part, line}
		}
		all = append(all, list)
		begin, end = end+len(entry), end+len(entry)
		line += lines
		first = line
	}
	flush()
	return all, nil
}

// entries returns the lines of each entry of an account, and how many they are.
func entries(file []byte) iter.Seq2[[]byte, int] {
	return func(yield func([]byte, int) bool) {
		begin, end, lines := 0, 0, 0
		for line := range bytes.Lines(file) {
			if end > begin && !bytes.HasPrefix(line, []byte(`{"of":`)) {
				if !yield(file[begin:end], lines) {
					return
				}
				begin, lines = end, 0
			}
			end += len(line)
			lines++
		}
		if end > begin {
			yield(file[begin:end], lines)
		}
	}
}

// parted returns the history of a prompt in lines that are sent one after another. Each has some of
// the versions, and of the others their numbers and hashes, so that it says the whole history.
func parted(history []byte) ([][]byte, error) {
	type other struct {
		Version int64       `json:"version"`
		Kind    prompt.Kind `json:"kind,omitempty"`
		Labels  []string    `json:"labels,omitempty"`
		Hash    string      `json:"hash"`
	}
	var account map[string]json.RawMessage // of the first line
	var versions []json.RawMessage
	var others []other
	for line := range bytes.Lines(history) {
		var said map[string]json.RawMessage
		var list []json.RawMessage
		if json.Unmarshal(line, &said) != nil || json.Unmarshal(said["versions"], &list) != nil {
			return nil, fmt.Errorf("it has more than %d MiB, or %d elements and members, and is no history of a prompt that can be parted", maxPiece>>20, jsonsize.Most)
		}
		if account == nil {
			account = said
		}
		for _, b := range list {
			var v format.Version
			if err := json.Unmarshal(b, &v); err != nil {
				return nil, fmt.Errorf("not a version: %w", err)
			}
			versions, others = append(versions, b), append(others, other{v.Version, v.Kind, v.Labels, v.Hash()})
		}
	}
	var lines [][]byte
	for from := 0; from < len(versions); {
		to, size, parts := from, 0, 0
		for ; to < len(versions); to++ {
			size, parts = size+len(versions[to]), parts+jsonsize.Parts(versions[to])
			if to > from && (size > maxPiece || parts > maxPieceParts) {
				break
			}
		}
		line, err := lineOf(account, versions[from:to], slices.Concat(others[:from], others[to:]))
		if err != nil {
			return nil, err
		}
		if len(line) > maxSent {
			return nil, fmt.Errorf("version %d is too long: the service takes %d MiB at once. Leave the prompt out of the file, or shorten the version", others[from].Version, maxSent>>20)
		}
		lines = append(lines, line)
		from = to
	}
	return lines, nil
}

// lineOf returns a line of an account with other versions.
func lineOf(account map[string]json.RawMessage, versions []json.RawMessage, others any) ([]byte, error) {
	line := map[string]any{}
	for name, value := range account {
		line[name] = value
	}
	line["versions"], line["others"] = versions, others
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // which would make it longer
	err := e.Encode(line)
	return b.Bytes(), err
}
