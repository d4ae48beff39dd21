package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"regexp"
	"strconv"
)

// nextPart is how a part of an account names the next one.
var nextPart = regexp.MustCompile(`<[^>]*[?&](cursor=[^>&]*)[^>]*>; rel="next"`)

// Account writes all that the caller has, which ImportAccount takes in here or elsewhere.
func (c *Client) Account(ctx context.Context, w io.Writer) error {
	for query, more := "", true; more; {
		path := "/me/export?" + query
		part, err := c.patiently(ctx, call{method: http.MethodGet, path: path, accept: "application/jsonl"})
		if err != nil {
			return fmt.Errorf("GET %s: %w", c.base+path, err)
		}
		if part.status != http.StatusOK {
			return part.problem()
		}
		if _, err := w.Write(part.body); err != nil {
			return err
		}
		link := nextPart.FindStringSubmatch(part.link)
		if more = link != nil; more {
			query = link[1]
		}
	}
	return nil
}

// An Entry is what became of one thing in a file that the service took in.
type Entry struct {
	Place   string `json:"place"`
	Name    string `json:"name"`
	Title   string `json:"title"`
	Outcome string `json:"outcome"`
	Reason  string `json:"reason"`
}

// maxPiece is how much of an account is sent at once: the service takes 4 MiB.
const maxPiece = 3 << 20

// ImportAccount has the service take in a file that Account wrote, and tells of each entry.
func (c *Client) ImportAccount(ctx context.Context, file []byte, tell func(Entry)) error {
	for piece := range pieces(file) {
		for from, more := 0, true; more; {
			var r struct {
				Items []Entry `json:"items"`
				Next  *int    `json:"next"`
			}
			k := call{method: http.MethodPost, path: "/import?file=account.jsonl&from=" + strconv.Itoa(from), body: piece}
			if _, err := c.do(ctx, k, &r); err != nil {
				return err
			}
			for _, e := range r.Items {
				tell(e)
			}
			if more = r.Next != nil; more {
				from = *r.Next
			}
		}
	}
	return nil
}

// pieces parts a file at its lines, but for those with which the history of a prompt goes on.
func pieces(file []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		begin, end := 0, 0
		for line := range bytes.Lines(file) {
			if end > begin && end-begin+len(line) > maxPiece && !bytes.HasPrefix(line, []byte(`{"of":`)) {
				if !yield(file[begin:end]) {
					return
				}
				begin = end
			}
			end += len(line)
		}
		if end > begin {
			yield(file[begin:end])
		}
	}
}
