package web

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strings"
	"sync"
	"time"
	"unicode"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/web/theme"
)

// Where somebody passes on the address of a public prompt, other sites show a picture with it: the
// title, what it does, and by whom.

// imageWidth and imageHeight are those that sites ask for which show where a link leads.
const (
	imageWidth  = 1200
	imageHeight = 630
	imageMargin = 80
)

func (s *web) images() {
	s.handle("GET "+Prefix+"/prompts/{id}/image.png", reader, s.image)
}

// image answers with the picture of a prompt that everyone may read.
func (s *web) image(r *request) error {
	v, err := s.get(r)
	if err != nil {
		return err
	}
	if !v.Listed() {
		return fault.New(fault.NotFound, "only public prompts have a picture")
	}
	called, err := s.names(r)
	if err != nil {
		return err
	}
	v.Excerpt = v.Content().Excerpt()
	c := cardImage{title: v.Title, about: card{View: v}.About(), foot: v.AuthorName}
	for _, t := range v.Tags[:min(len(v.Tags), 3)] {
		c.foot += "  ·  " + called.of(t)
	}
	h := r.w.Header()
	h.Set("Content-Type", "image/png")
	httpjson.Keep(h, s.PublicRead, 5*time.Minute)
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // other sites show it
	tag := c.etag()
	h.Set("ETag", tag)
	if strings.Contains(r.Header.Get("If-None-Match"), tag) {
		r.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	b, err := s.picture(r, c, tag)
	if err != nil {
		for _, name := range []string{"Content-Type", "Cross-Origin-Resource-Policy", "ETag"} {
			h.Del(name)
		}
		h.Set("Cache-Control", "no-store")
		httpjson.Refuse(r.w, r.Request, err) // a page would be work
		return nil
	}
	_, _ = r.w.Write(b)
	return nil
}

// picture returns a picture that is kept, or paints it. A request that waits for its turn holds no
// place at work, which others need; the one that paints has a place.
func (s *web) picture(r *request, c cardImage, tag string) ([]byte, error) {
	p := s.painter
	if b, ok := p.pictures.Get(tag); ok {
		return b, nil
	}
	leave, err := p.waiting.Enter(r.caller)
	if err != nil {
		return nil, err
	}
	defer leave()
	r.leave()
	select {
	case p.turn <- struct{}{}:
		defer func() { <-p.turn }()
	case <-r.Context().Done():
		return nil, fault.Wrap(fault.Unavailable, "the client has gone away", r.Context().Err())
	}
	if b, ok := p.pictures.Get(tag); ok { // others have waited for the same
		return b, nil
	}
	if r.leave, err = s.Admission.Enter(r.Context(), r.caller); err != nil {
		r.leave = func() {}
		return nil, err
	}
	b, err := p.paint(c)
	if err == nil {
		p.pictures.Add(tag, b)
	}
	return b, err
}

// A cardImage is what a picture says.
type cardImage struct{ title, about, foot string }

// etag changes with what the picture says, and with how it is painted.
func (c cardImage) etag() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "1 %q", []string{c.title, c.about, c.foot}))
	return `"` + hex.EncodeToString(sum[:8]) + `"`
}

const (
	keptPictures    = 64
	waitingPictures = 32
)

// A painter paints one picture at a time: each takes about a megabyte, and faces are not for
// several to use at once. It keeps the last ones.
type painter struct {
	turn    chan struct{}  // holds one element while a picture is painted
	waiting *httpjson.Gate // for those that wait for their turn, too
	bold    *opentype.Font // of the one whose turn it is
	plain   *opentype.Font

	pictures *lru.Cache[string, []byte] // by ETag
}

func newPainter() *painter {
	pictures, _ := lru.New[string, []byte](keptPictures) // whose size is above 0
	return &painter{
		turn: make(chan struct{}, 1), waiting: httpjson.NewGate(waitingPictures, "pictures"),
		pictures: pictures,
	}
}

// shades is how many steps an ink has from the paper to itself.
const shades = 16

// The inks of a picture, each of which has shades in the palette: those of the pages in the light.
const (
	inkBlack = iota
	inkSoft
	inkAccent
	inkWhite // on the accent
)

var palette = sync.OnceValue(func() color.Palette {
	var p color.Palette
	paper, accent := theme.Light("page"), theme.Light("accent")
	for _, ink := range [][2]color.RGBA{
		inkBlack: {paper, theme.Light("ink")}, inkSoft: {paper, theme.Light("soft")}, inkAccent: {paper, accent},
		inkWhite: {accent, theme.Light("accent-ink")},
	} {
		for i := range shades {
			mix := func(a, b uint8) uint8 { return uint8((int(a)*(shades-1-i) + int(b)*i) / (shades - 1)) }
			p = append(p, color.RGBA{mix(ink[0].R, ink[1].R), mix(ink[0].G, ink[1].G), mix(ink[0].B, ink[1].B), 0xff})
		}
	}
	return p
})

// paint returns a picture as PNG. The caller has its turn.
func (p *painter) paint(c cardImage) ([]byte, error) {
	if p.bold == nil {
		var err error
		if p.bold, err = opentype.Parse(gobold.TTF); err != nil {
			return nil, err
		}
		if p.plain, err = opentype.Parse(goregular.TTF); err != nil {
			return nil, err
		}
	}
	s := &sheet{Paletted: image.NewPaletted(image.Rect(0, 0, imageWidth, imageHeight), palette())}
	s.box(image.Rect(0, 0, 16, imageHeight), 0)
	s.box(image.Rect(imageMargin, 64, imageMargin+60, 124), 13)
	for _, l := range []struct {
		text string
		font *opentype.Font
		size float64
		at   image.Point
		ink  int
	}{
		{">_", p.bold, 30, image.Pt(imageMargin+12, 105), inkWhite},
		{"PromptHub", p.bold, 34, image.Pt(imageMargin+80, 106), inkAccent},
	} {
		if err := s.line(l.text, l.font, l.size, l.at, l.ink); err != nil {
			return nil, err
		}
	}
	y, err := s.text(c.title, p.bold, []float64{68, 56}, 3, 240, inkBlack)
	if err != nil {
		return nil, err
	}
	if _, err := s.text(c.about, p.plain, []float64{32}, max(1, (500-y)/46), y+10, inkSoft); err != nil {
		return nil, err
	}
	if _, err := s.text(c.foot, p.plain, []float64{28}, 1, 570, inkAccent); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = png.Encode(&b, s.Paletted)
	return b.Bytes(), err
}

// A sheet is a picture being painted.
type sheet struct{ *image.Paletted }

// put covers the sheet with an ink, as far as a mask at a point says.
func (s *sheet) put(mask *image.Alpha, at image.Point, ink int) {
	for y := range mask.Rect.Dy() {
		for x := range mask.Rect.Dx() {
			to := at.Add(image.Pt(x, y))
			if a := mask.Pix[y*mask.Stride+x] / (256 / shades); a > 0 && to.In(s.Rect) {
				s.Pix[s.PixOffset(to.X, to.Y)] = uint8(ink*shades) + a
			}
		}
	}
}

// box fills a rectangle with the accent, its corners round.
func (s *sheet) box(r image.Rectangle, corner float32) {
	w, h := float32(r.Dx()), float32(r.Dy())
	z := vector.NewRasterizer(r.Dx(), r.Dy())
	z.MoveTo(corner, 0)
	z.LineTo(w-corner, 0)
	z.QuadTo(w, 0, w, corner)
	z.LineTo(w, h-corner)
	z.QuadTo(w, h, w-corner, h)
	z.LineTo(corner, h)
	z.QuadTo(0, h, 0, h-corner)
	z.LineTo(0, corner)
	z.QuadTo(0, 0, corner, 0)
	z.ClosePath()
	mask := image.NewAlpha(image.Rect(0, 0, r.Dx(), r.Dy()))
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	s.put(mask, r.Min, inkAccent)
}

func faceOf(f *opentype.Font, size float64) (font.Face, error) {
	return opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
}

// line writes one line, whose letters stand at a point.
func (s *sheet) line(text string, f *opentype.Font, size float64, at image.Point, ink int) error {
	face, err := faceOf(f, size)
	if err != nil {
		return err
	}
	defer face.Close()
	m := face.Metrics()
	mask := image.NewAlpha(image.Rect(0, 0, imageWidth-at.X, (m.Ascent + m.Descent).Ceil()))
	d := font.Drawer{Dst: mask, Src: image.Opaque, Face: face, Dot: fixed.Point26_6{Y: m.Ascent}}
	d.DrawString(text)
	s.put(mask, at.Sub(image.Pt(0, m.Ascent.Round())), ink)
	return nil
}

// text writes a text into lines from a height on, in the first size in which they are few enough,
// and returns where it ends.
func (s *sheet) text(text string, f *opentype.Font, sizes []float64, most, y int, ink int) (int, error) {
	text = drawable(f, text)
	for i, size := range sizes {
		face, err := faceOf(f, size)
		if err != nil {
			return y, err
		}
		lines := breakLines(face, text, imageWidth-2*imageMargin, most)
		if i+1 < len(sizes) && len(lines) > 2 {
			continue
		}
		for _, line := range lines {
			if err := s.line(line, f, size, image.Pt(imageMargin, y), ink); err != nil {
				return y, err
			}
			y += int(size * 1.3)
		}
		break
	}
	return y, nil
}

// drawable returns what a font can show of a text, and nothing of one that it mostly cannot.
func drawable(f *opentype.Font, text string) string {
	var b strings.Builder
	var buf sfnt.Buffer
	missing := 0
	for _, r := range text {
		i, err := f.GlyphIndex(&buf, r)
		switch {
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case err == nil && i != 0:
			b.WriteRune(r)
		case unicode.IsLetter(r) || unicode.IsNumber(r):
			missing += len(string(r))
		}
	}
	if missing > b.Len() {
		return ""
	}
	return b.String()
}

// breakLines breaks a text into up to n lines of a width. The rest is left out.
func breakLines(face font.Face, text string, width, most int) []string {
	var lines []string
	line := measured{face: face}
	for word := range strings.FieldsSeq(text) {
		for word != "" {
			begin, next := len(line.text), word
			if begin > 0 {
				next = " " + word
			}
			n := line.add(next, width)
			if n == len(next) {
				break
			}
			if begin > 0 {
				line.cut(begin)
			} else { // a word that is longer than a line
				word = word[n:]
			}
			if len(lines) == most-1 {
				for len(line.text) > 0 && line.with('…').Ceil() > width {
					line.cut(len(line.text) - 1)
				}
				return append(lines, strings.TrimSpace(string(line.text))+"…")
			}
			lines = append(lines, string(line.text))
			line.cut(0)
		}
	}
	if len(line.text) > 0 {
		lines = append(lines, string(line.text))
	}
	return lines
}

// A measured is a line that grows. It knows how wide it is up to each of its characters, so that
// none is measured twice.
type measured struct {
	face   font.Face
	text   []rune
	widths []fixed.Int26_6
}

// with returns how wide the line is with one more character, as font.MeasureString says.
func (m *measured) with(r rune) fixed.Int26_6 {
	width, _ := m.face.GlyphAdvance(r)
	if n := len(m.text); n > 0 {
		width += m.widths[n-1] + m.face.Kern(m.text[n-1], r)
	}
	return width
}

// add adds as much of a text as a width has room for, and returns how many bytes that is.
func (m *measured) add(text string, width int) int {
	for i, r := range text {
		w := m.with(r)
		if w.Ceil() > width {
			return i
		}
		m.text, m.widths = append(m.text, r), append(m.widths, w)
	}
	return len(text)
}

func (m *measured) cut(n int) { m.text, m.widths = m.text[:n], m.widths[:n] }
