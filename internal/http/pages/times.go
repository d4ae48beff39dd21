package pages

import (
	_ "embed"
	"html/template"
	"time"
)

// timesScript is served as timesName on every site. It writes the times of a page in the zone and
// the words of its reader.
//
//go:embed times.js
var timesScript []byte

const timesName = "times.js"

// A TimeForm says how timesScript writes a time.
type TimeForm string

// The forms of times.
const (
	Near TimeForm = ""     // "5 minutes ago", "yesterday, 14:03", or with the day of the month
	Date TimeForm = "date" // with the day of the month
	Hour TimeForm = "time" // without a day
)

// Time writes an instant: as a text that says UTC, for readers without a script, and as a time that
// timesScript knows.
func Time(t time.Time, form TimeForm, text string) template.HTML {
	data := ""
	if form != Near {
		data = ` data-form="` + string(form) + `"`
	}
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `"` + data + `>` + template.HTMLEscapeString(text) + `</time>`) //nolint:gosec // it is made of parts that are escaped
}
