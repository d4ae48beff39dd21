package pages

import (
	_ "embed"
	"strings"
)

// barTemplate writes a Bar, and icons.
//
//go:embed bar.html
var barTemplate string

// barLooks is how the top of a page and its bar look. It takes the colours of an application by
// their names.
//
//go:embed bar.css
var barLooks []byte

// A Bar leads to the places of an application. On a phone it is at the lower edge of the screen,
// under the thumb, and elsewhere in the row above the page. The template "bar" writes it.
type Bar struct {
	Label  string // its name for a reader who does not see it
	News   string // the address that answers newsScript, "" for a reader without news
	Live   bool   // newsScript asks for changes all the time
	Places []Place
	More   Place // opens Rest
	Rest   []Place
}

// A Place is where a bar leads to.
type Place struct {
	Address, Name string
	Icon          string            // one of those below
	New           string            // which of the numbers of news it has
	Form          map[string]string // what a press sends to the address; nil of a link
	Here          string            // "page" on its page, "true" on one below it
}

// IsForm reports whether a press sends something.
func (p Place) IsForm() bool { return p.Form != nil }

// The icons of places, as what a pen draws on 24 by 24 points.
const (
	IconHome   = "M3 11 12 3l9 8v10h-6v-6H9v6H3z"
	IconPeople = "M9 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM2 21a7 7 0 0 1 14 0M16 3.5a4 4 0 0 1 0 7M18.5 14.5A7 7 0 0 1 22 21"
	IconHeart  = "M12 20S3 14.5 3 8.5A4.5 4.5 0 0 1 12 7a4.5 4.5 0 0 1 9 1.5C21 14.5 12 20 12 20z"
	IconChat   = "M4 4h16v12H9l-5 4z"
	IconDay    = "M4 6h16v15H4zM4 10h16M8 3v5M16 3v5"
	IconSearch = "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5"
	IconWrite  = "M4 4h16v16H4zM12 8v8M8 12h8"
	IconBell   = "M6 16v-5a6 6 0 0 1 12 0v5l2 2H4zM10 21h4"
	IconMe     = "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0"
	IconEnter  = "M14 4h5v16h-5M3 12h11M10 8l4 4-4 4"
	IconShop   = "M5 8h14l1 13H4zM9 8a3 3 0 0 1 6 0"
	IconPaper  = "M5 3h14v18H5zM8 8h8M8 12h8M8 16h5"
	IconMore   = "M4 6h16M4 12h16M4 18h16"
)

// icons has the icons that templates ask for by their names.
var icons = map[string]string{"back": "M15 4l-8 8 8 8", "send": "M4 4l17 8-17 8 3-8zM7 12h8"}

// At says in a bar where the reader is: on the page of a place, or on one below it. All pages are
// below home, which it does not say.
func (b *Bar) At(path, home string) {
	var nearest *Place
	for _, places := range [][]Place{b.Places, b.Rest} {
		for i := range places {
			p := &places[i]
			switch {
			case p.IsForm():
			case p.Address == path:
				p.Here = "page"
				return
			case p.Address != home && strings.HasPrefix(path, p.Address+"/") &&
				(nearest == nil || len(p.Address) > len(nearest.Address)):
				nearest = p
			}
		}
	}
	if nearest != nil {
		nearest.Here = "true"
	}
}
