package azure

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"strconv"
	"strings"

	"prompthub/internal/storage/table"
)

// batchResult reads the answer to a batch, which is 202 whatever became of it: the ETags of
// its operations in order, or the failure of one, for which the service sends a single part.
func batchResult(name, body string, ops []table.Op) ([]string, error) {
	parts, err := batchParts(body)
	if err != nil {
		return nil, fmt.Errorf("answer to a batch: %w", err)
	}
	etags := make([]string, len(ops))
	for i, part := range parts {
		if part.StatusCode >= http.StatusBadRequest {
			return nil, batchError(name, part, ops)
		}
		if i < len(ops) && ops[i].Kind != table.Delete {
			etags[i] = part.Header.Get("ETag")
		}
	}
	if len(parts) != len(ops) {
		return nil, fmt.Errorf("answer to a batch of %d operations has %d parts", len(ops), len(parts))
	}
	return etags, nil
}

// batchParts returns the answers inside a batch's answer: a multipart text whose only part
// is a multipart text of HTTP responses.
func batchParts(body string) ([]*http.Response, error) {
	first, _, _ := strings.Cut(body, "\n")
	boundary, ok := strings.CutPrefix(strings.TrimRight(first, "\r"), "--")
	if !ok || boundary == "" {
		return nil, errors.New("not multipart")
	}
	outer, err := multipart.NewReader(strings.NewReader(body), boundary).NextPart()
	if err != nil {
		return nil, err
	}
	_, params, err := mime.ParseMediaType(outer.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	var parts []*http.Response
	inner := multipart.NewReader(outer, params["boundary"])
	for {
		part, err := inner.NextPart()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return parts, nil
		}
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(part)
		if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, err
		}
		resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(string(text))), nil)
		if err != nil {
			return nil, err
		}
		parts = append(parts, resp)
	}
}

// batchError returns what a failed part says. The message begins with the index of the
// operation; where it does not, the error names no operation.
func batchError(name string, part *http.Response, ops []table.Op) error {
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message struct {
				Value string `json:"value"`
			} `json:"message"`
		} `json:"odata.error"`
	}
	f := &failure{status: part.StatusCode, request: part.Header.Get("x-ms-request-id")}
	if err := json.NewDecoder(part.Body).Decode(&body); err != nil {
		return tableError(name, f)
	}
	f.code = body.Error.Code
	digits, _, _ := strings.Cut(body.Error.Message.Value, ":")
	index, err := strconv.Atoi(digits)
	if err != nil || index < 0 || index >= len(ops) {
		return tableError(name, f)
	}
	return opError(tableError(name, f), index, ops[index])
}
