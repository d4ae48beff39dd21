package functiontest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// An envelope is the body of an invocation.
type envelope struct {
	Data     map[string]any
	Metadata map[string]any
}

// newEnvelope returns the envelope of a function with one input value, which is already as the
// wire wants it.
func newEnvelope(f *function, value any) envelope {
	return envelope{
		Data: map[string]any{f.trigger.Name: value},
		Metadata: map[string]any{"sys": map[string]any{
			"MethodName": f.name, "UtcNow": time.Now().UTC().Format("2006-01-02T15:04:05.9999999Z"),
			"RandGuid": newGUID(),
		}},
	}
}

// encode writes the envelope as the host does, which leaves <, > and & alone.
func (e envelope) encode() ([]byte, error) {
	b, err := marshal(e)
	if err != nil {
		return nil, fmt.Errorf("encode envelope: %w", err)
	}
	return b, nil
}

func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// twice encodes a string or a number as the host does: as JSON that is put into a JSON string.
func twice[T string | int](v T) string {
	b, err := marshal(v)
	if err != nil {
		panic(err) // no string and no number is refused
	}
	return string(b)
}

// date writes a time as the host does, without what is below a second.
func date(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05") + "+00:00" }

// mergeProperties adds the properties of a message that is a JSON object to the metadata of the
// host, some of which they replace: names are compared without regard to case.
func (e envelope) mergeProperties(text string) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") {
		return
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var properties map[string]any
	if err := dec.Decode(&properties); err != nil {
		return
	}
	for name, value := range properties {
		wire, ok := property(value)
		if !ok || strings.HasSuffix(strings.ToLower(name), "trigger") {
			continue
		}
		e.Metadata[e.spelling(name)] = wire
	}
}

// property returns the value of a property on the wire. Arrays are left out.
func property(value any) (any, bool) {
	switch v := value.(type) {
	case []any:
		return nil, false
	case map[string]any:
		return v, true
	case nil:
		return nil, false
	case bool:
		return twice(map[bool]string{true: "True", false: "False"}[v]), true
	case json.Number:
		return twice(number(v)), true
	case string:
		return twice(american(v)), true
	}
	return nil, false
}

// number writes a number as .NET does, with an exponent only if it has more digits than any
// message of a test has.
func number(n json.Number) string {
	if !strings.ContainsAny(string(n), ".eE") {
		return string(n)
	}
	f, err := n.Float64()
	if err != nil {
		return string(n)
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

var dates = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

// american writes a date as .NET does when it takes a text for one.
func american(s string) string {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil || !dates.MatchString(s) {
		return s
	}
	return t.UTC().Format("01/02/2006 15:04:05")
}

// spelling returns the name as the metadata spell it already, if they do.
func (e envelope) spelling(name string) string {
	for known := range e.Metadata {
		if strings.EqualFold(known, name) {
			return known
		}
	}
	return name
}
