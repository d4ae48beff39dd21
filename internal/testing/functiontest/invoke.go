package functiontest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"strings"
)

var errHang = errors.New("the answer has no JSON object: the host would wait for it until functionTimeout")

// A reply is what the handler answers in JSON mode. encoding/json matches the keys without
// regard to case, as the host does.
type reply struct {
	Outputs map[string]any
	Logs    []any
}

// invoke posts an envelope to the handler and judges the answer.
func (h *Host) invoke(ctx context.Context, f *function, in Invocation, e envelope) error {
	body, err := e.encode()
	if err != nil {
		return err
	}
	in.Function = f.name
	record := h.records.begin(in)
	a, err := h.send(ctx, func(ctx context.Context) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost,
			"http://"+h.worker.addr+"/"+f.name, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		// In chunks, which are not sent again.
		req.ContentLength, req.GetBody = -1, nil
		req.Header.Set("Content-Type", "application/json; charset=utf-8")
		mark(req, record.ID)
		return req, nil
	})
	var out reply
	if err == nil {
		out, err = a.judge()
	}
	hang := errors.Is(err, errHang)
	if hang {
		h.fail("functiontest: %s: %v", f.name, err)
	}
	for _, line := range out.Logs {
		h.logs.add(slog.LevelInfo, fmt.Sprint(line))
	}
	h.records.end(record, a.status, hang, err)
	return err
}

// judge reads an answer as strictly as the host does.
func (a answer) judge() (reply, error) {
	var out *reply
	if a.status < 200 || a.status > 299 {
		return reply{}, fmt.Errorf("the handler answered %d", a.status)
	}
	if len(a.body) == 0 {
		return reply{}, errHang
	}
	switch kind, _, _ := mime.ParseMediaType(a.header.Get("Content-Type")); strings.ToLower(kind) {
	case "application/json", "text/json":
	default:
		return reply{}, fmt.Errorf("the handler answered %q, want application/json", kind)
	}
	body := bytes.TrimPrefix(a.body, []byte("\uFEFF"))
	if len(bytes.TrimSpace(body)) == 0 {
		return reply{}, errHang
	}
	// Text after the object does no harm.
	if err := json.NewDecoder(bytes.NewReader(body)).Decode(&out); err != nil {
		return reply{}, fmt.Errorf("read the answer: %w", err)
	}
	if out == nil {
		return reply{}, errHang
	}
	return *out, nil
}
