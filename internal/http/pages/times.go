package pages

import (
	_ "embed"
	"encoding/json"
	"html/template"
	"net/http"
	"strconv"
	"time"
)

// timesScript is served as timesName on every site. It writes the times of a page in the zone and
// the words of its reader.
//
//go:embed times.js
var timesScript []byte

const timesName = "times.js"

// newsScript is served as newsName on every site. It writes the numbers of news into the bar.
//
//go:embed news.js
var newsScript []byte

const newsName = "news.js"

// shareScript sends and copies the links that buttons name.
//
//go:embed share.js
var shareScript []byte

// talkScript opens and follows chats, and keeps what is written until it was sent.
//
//go:embed talk.js
var talkScript []byte

// talkLooks is how chats look. It takes the colours of an application by their names.
//
//go:embed talk.css
var talkLooks []byte

// A TimeForm says how timesScript writes a time.
type TimeForm string

// The forms of times.
const (
	Near TimeForm = ""     // "5 minutes ago", "yesterday, 14:03", or with the day of the month
	Date TimeForm = "date" // with the day and the year
	Hour TimeForm = "time" // without a day
)

// Time writes an instant: as a text that says UTC, for readers without a script, and as a time that
// timesScript knows.
func Time(t time.Time, form TimeForm, text string) template.HTML { return TimeIn(t, form, "", text) }

// TimeIn is Time for an instant that all readers read in one zone, by its name.
func TimeIn(t time.Time, form TimeForm, zone, text string) template.HTML {
	data := ""
	if form != Near {
		data = ` data-form="` + string(form) + `"`
	}
	if zone != "" {
		data += ` data-zone="` + template.HTMLEscapeString(zone) + `"`
	}
	return template.HTML(`<time datetime="` + t.UTC().Format(time.RFC3339) + `"` + data + `>` + template.HTMLEscapeString(text) + `</time>`) //nolint:gosec // it is made of parts that are escaped
}

// Numbers answers newsScript with numbers of news, by the names that links have for them.
func Numbers(w http.ResponseWriter, numbers map[string]string) error {
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(numbers)
}

// Number writes a number for Numbers: nothing for none, and a plus after as many as are counted.
func Number(n, most int) string {
	switch {
	case n == 0:
		return ""
	case n >= most:
		return strconv.Itoa(most) + "+"
	}
	return strconv.Itoa(n)
}
