package function

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// An envelope is the body of an invocation. Data holds the one input binding under a name
// that only function.json knows.
type envelope struct {
	Data     map[string]json.RawMessage
	Metadata struct {
		// Properties of a JSON message overwrite the host's own metadata of the same
		// name, so this can be anything and nothing may depend on it.
		DequeueCount  json.RawMessage
		InsertionTime json.RawMessage
	}
}

// decode reads the body of an invocation of t. What it returns lacks the id.
func decode(t Trigger, body []byte) (Invocation, error) {
	var e envelope
	if err := json.Unmarshal(body, &e); err != nil {
		// The error of encoding/json may quote the message.
		return Invocation{}, errors.New("decode envelope: not the JSON of an invocation")
	}
	if len(e.Data) != 1 {
		return Invocation{}, fmt.Errorf("decode envelope: %d input bindings, want 1", len(e.Data))
	}
	in := Invocation{Function: t.Name}
	for _, value := range e.Data {
		if t.Queue == "" {
			in.Timer, in.PastDue = true, pastDue(value)
		} else {
			in.Text, in.Dequeued = text(value), count(e.Metadata.DequeueCount)
			in.Inserted = moment(e.Metadata.InsertionTime)
		}
	}
	return in, nil
}

// text returns the text of a message. The host encodes it as JSON and puts that into a JSON
// string; older hosts and its documentation show it encoded once or as an object.
func text(value json.RawMessage) string {
	once, ok := unquote(value)
	if !ok {
		return string(value)
	}
	if twice, ok := unquote([]byte(once)); ok {
		return twice
	}
	return once
}

// count reads a number that may be wrapped in a string; 0 stands for anything else.
func count(value json.RawMessage) int {
	s, ok := unquote(value)
	if !ok {
		s = string(value)
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// moment reads a time, which the host sends to the second; zero stands for anything else.
func moment(value json.RawMessage) time.Time {
	s, _ := unquote(value)
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return time.Time{}
	}
	return t
}

// pastDue reads the timer's remark. A timer runs whatever it says.
func pastDue(value json.RawMessage) bool {
	if s, ok := unquote(value); ok {
		value = json.RawMessage(s)
	}
	var timer struct{ IsPastDue bool }
	return json.Unmarshal(value, &timer) == nil && timer.IsPastDue
}

// unquote returns the string that data is the JSON of, if it is.
func unquote(data []byte) (string, bool) {
	var s *string // so that null is told from a string
	if err := json.Unmarshal(data, &s); err != nil || s == nil {
		return "", false
	}
	return *s, true
}
