// Package theme owns the colours of the pages, which the reader of the API and the pictures of
// prompts have too.
package theme

import (
	_ "embed"
	"encoding/hex"
	"fmt"
	"image/color"
	"regexp"
)

// Colours is the beginning of every style sheet: the colours as properties, in light and dark.
//
//go:embed colours.css
var Colours string

// Light returns the colour that a property has where it is light, such as ink.
func Light(property string) color.RGBA {
	found := regexp.MustCompile(`--` + regexp.QuoteMeta(property) + `: #([0-9a-f]+);`).FindStringSubmatch(Colours)
	if found == nil {
		panic(fmt.Sprintf("there is no colour %q", property)) // tests paint a picture
	}
	digits := found[1]
	if len(digits) == 3 {
		digits = digits[:1] + digits[:1] + digits[1:2] + digits[1:2] + digits[2:] + digits[2:]
	}
	b, err := hex.DecodeString(digits)
	if err != nil || len(b) != 3 {
		panic(fmt.Sprintf("%q is no colour", found[0]))
	}
	return color.RGBA{b[0], b[1], b[2], 0xff}
}
