package session

import (
	"strings"
	"unicode"
	"unicode/utf16"
)

// A mark is what a header User-Agent has in it if the browser or the system has this name.
type mark struct{ in, name string }

// The browsers and the systems that people know. A browser says that it is others too, so those
// that others say they are come last.
var (
	browsers = []mark{
		{"YaBrowser/", "Yandex Browser"},
		{"SamsungBrowser/", "Samsung Internet"},
		{"OPR/", "Opera"},
		{"Edg", "Edge"},
		{"FxiOS/", "Firefox"},
		{"CriOS/", "Chrome"},
		{"Firefox/", "Firefox"},
		{"Chrome/", "Chrome"},
		{"Safari/", "Safari"},
	}
	systems = []mark{
		{"iPhone", "iPhone"},
		{"iPad", "iPad"},
		{"Android", "Android"},
		{"CrOS", "ChromeOS"},
		{"Windows", "Windows"},
		{"Macintosh", "Mac"},
		{"Linux", "Linux"},
	}
)

// On is what a name of Device has between the browser and the system.
const On = " on "

// maxDevice is how much is kept of what a program calls itself, in characters.
const maxDevice = 100

// Device returns what to call a session by a header User-Agent: "Chrome on Android" of a browser,
// and what it calls itself of another program.
func Device(agent string) string {
	if rest, ok := strings.CutPrefix(agent, "Mozilla/5.0 ("); ok {
		browser, system := find(browsers, rest), find(systems, rest)
		if browser != "" && system != "" {
			return browser + On + system
		}
	}
	left := maxDevice
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return -1
		}
		if left -= utf16.RuneLen(r); left < 0 {
			return -1
		}
		return r
	}, strings.ToValidUTF8(agent, ""))
}

func find(all []mark, agent string) string {
	for _, m := range all {
		if strings.Contains(agent, m.in) {
			return m.name
		}
	}
	return ""
}
