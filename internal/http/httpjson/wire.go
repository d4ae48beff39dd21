package httpjson

import "time"

// FormatTime writes an instant as all answers do: RFC 3339 in UTC, with milliseconds.
func FormatTime(t time.Time) string {
	b := t.UTC().AppendFormat(make([]byte, 0, 24), time.RFC3339)
	ms := t.Nanosecond() / int(time.Millisecond)
	return string(append(b[:len(b)-1], '.', byte('0'+ms/100), byte('0'+ms/10%10), byte('0'+ms%10), 'Z'))
}

// OptionalTime returns an instant that is null if it is zero.
func OptionalTime(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return OptionalText(FormatTime(t))
}

// OptionalText returns a text that is null if it is empty.
func OptionalText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
