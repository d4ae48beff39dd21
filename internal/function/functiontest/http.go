package functiontest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// invokeHTTP runs an HTTP function that is not forwarded: the request goes into an envelope, and
// the response comes out of one.
func (h *Host) invokeHTTP(w http.ResponseWriter, r *http.Request, f *function, path string, params map[string]string, body []byte) error {
	e := newEnvelope(f, request(r, path, params, body))
	for name, value := range params {
		e.Metadata[name] = twice(value)
	}
	out, err := h.invoke(context.WithoutCancel(r.Context()), f, Invocation{}, e)
	if err != nil {
		return err
	}
	return respond(w, f, out)
}

// request returns a request as the envelope has it.
func request(r *http.Request, path string, params map[string]string, body []byte) map[string]any {
	query := make(map[string]string)
	for name, values := range r.URL.Query() {
		query[name] = strings.Join(values, ",")
	}
	headers := maps.Clone(r.Header)
	headers["Host"] = []string{r.Host}
	req := map[string]any{
		"Url": "https://" + r.Host + forwarded(path), "Method": r.Method, "Query": query, "Headers": headers,
		"Params": params, "Identities": []any{},
	}
	if r.URL.RawQuery != "" {
		req["Url"] = req["Url"].(string) + "?" + r.URL.RawQuery
	}
	if len(body) > 0 {
		req["Body"] = bodyText(r.Header.Get("Content-Type"), body)
	}
	return req
}

func bodyText(contentType string, body []byte) string {
	if strings.Contains(contentType, "octet-stream") || strings.HasPrefix(contentType, "multipart/") {
		return base64.StdEncoding.EncodeToString(body)
	}
	return string(body)
}

// respond writes the response that a reply describes.
func respond(w http.ResponseWriter, f *function, out reply) error {
	raw, ok := out.Outputs[f.output]
	switch {
	case f.output == "" || out.Outputs == nil:
		w.WriteHeader(http.StatusNoContent)
		return nil
	case !ok:
		_, _ = io.WriteString(w, "{}")
		return nil
	}
	var res struct {
		StatusCode json.RawMessage
		Headers    map[string]string
		Body       json.RawMessage
	}
	if err := json.Unmarshal(raw, &res); err != nil {
		return fmt.Errorf("output %s: %w", f.output, err)
	}
	status, err := statusCode(res.StatusCode)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(res.Headers)) {
		w.Header().Set(name, res.Headers[name])
	}
	text := string(res.Body)
	if s := new(string); json.Unmarshal(res.Body, s) == nil {
		text = *s
	}
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // a client that is gone changes nothing
	return nil
}

// statusCode reads a number or a string with a number; a missing one is 200.
func statusCode(raw json.RawMessage) (int, error) {
	if raw == nil {
		return http.StatusOK, nil
	}
	n, err := strconv.Atoi(strings.Trim(string(raw), `"`))
	if err != nil || n < 200 || n > 599 {
		return 0, errors.New("statusCode is no status")
	}
	return n, nil
}
