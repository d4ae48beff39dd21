// Package picture makes the two pictures that are stored of one that is sent. They are turned
// upright, small, on white, and have nothing of the original but its pixels.
package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/webp"
	"golang.org/x/sync/semaphore"

	"prompthub/internal/fault"
)

// Limits of a picture that is sent.
const (
	MaxBytes  = 8 << 20
	maxPixels = 25_000_000
	maxSide   = 10_000
)

// NotAnImage is the code of the error for all other files.
const NotAnImage fault.Code = "NOT_AN_IMAGE"

func notAnImage(why string) error {
	return &fault.Error{
		Kind: fault.Invalid, Code: NotAnImage, Text: "send a JPEG, PNG or WebP picture of up to 25 megapixels and 10,000 pixels a side: " + why,
		Fields: []fault.Field{{Name: "body", Code: NotAnImage, Message: why}},
	}
}

// ThumbSide is the longer side of the small picture.
const ThumbSide = 320

const quality = 85 // of JPEG

// A Picture is what is kept: JPEG files, and the size of the larger one.
type Picture struct {
	Large, Thumb  []byte
	Width, Height int
}

// A Maker makes pictures. Those that it decodes at a time have no more pixels together than one may
// have: the decoder of a progressive JPEG file takes up to 24 bytes for each.
type Maker struct{ pixels *semaphore.Weighted }

// NewMaker returns a Maker for a process.
func NewMaker() *Maker { return &Maker{semaphore.NewWeighted(maxPixels)} }

// Make makes the pictures to keep of a file, the larger one with a longer side of at most side.
func (m *Maker) Make(ctx context.Context, file []byte, side int) (Picture, error) {
	decode, pixels, turn, err := recognize(file)
	if err != nil {
		return Picture{}, err
	}
	if err := m.pixels.Acquire(ctx, int64(pixels)); err != nil {
		return Picture{}, fault.Wrap(fault.Unavailable, "the client has gone away", err)
	}
	defer m.pixels.Release(int64(pixels))
	decoded, err := decode(bytes.NewReader(file))
	if err != nil {
		return Picture{}, notAnImage("it cannot be decoded")
	}
	large := turned(shrunk(decoded, side), turn)
	decoded = nil //nolint:ineffassign,wastedassign // it is large, and not needed any more
	thumb := shrunk(large, ThumbSide)
	p := Picture{Width: large.Rect.Dx(), Height: large.Rect.Dy()}
	if p.Large, err = encoded(large); err == nil {
		p.Thumb, err = encoded(thumb)
	}
	return p, err
}

func encoded(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}

// A decoder decodes a file that was recognized.
type decoder func(*bytes.Reader) (image.Image, error)

// recognize finds out what a file is by its bytes, and how large, without decoding it. turn is the
// EXIF orientation.
func recognize(file []byte) (decode decoder, pixels, turn int, err error) {
	var c image.Config
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xd8\xff")):
		c, err = jpeg.DecodeConfig(bytes.NewReader(file))
		decode = func(r *bytes.Reader) (image.Image, error) { return jpeg.Decode(r) }
		turn = orientation(exifOfJPEG(file))
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		c, err = png.DecodeConfig(bytes.NewReader(file))
		decode = func(r *bytes.Reader) (image.Image, error) { return png.Decode(r) }
		turn = orientation(chunk(file[8:], "eXIf", binary.BigEndian, true))
	case len(file) > 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP":
		c, err = webp.DecodeConfig(bytes.NewReader(file))
		decode = func(r *bytes.Reader) (image.Image, error) { return webp.Decode(r) }
		turn = orientation(chunk(file[12:], "EXIF", binary.LittleEndian, false))
		// The frame has a size of its own, which the decoder goes by.
		if w, h := frameOfWebP(file[12:]); err == nil && (w > c.Width || h > c.Height) {
			c.Width, c.Height = max(w, c.Width), max(h, c.Height)
		}
	default:
		return nil, 0, 0, notAnImage("it is none of these")
	}
	switch {
	case err != nil || c.Width < 1 || c.Height < 1:
		return nil, 0, 0, notAnImage("it cannot be decoded")
	case c.Width > maxSide || c.Height > maxSide || c.Width*c.Height > maxPixels:
		return nil, 0, 0, notAnImage("it is too large")
	}
	return decode, c.Width * c.Height, turn, nil
}

// shrunk returns a picture on white whose longer side is at most side: each pixel is the mean of
// those that it stands for.
func shrunk(src image.Image, side int) *image.RGBA {
	from := src.Bounds()
	w, h := from.Dx(), from.Dy()
	if longer := max(w, h); longer > side {
		w, h = max(w*side/longer, 1), max(h*side/longer, 1)
	}
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	strip := image.NewRGBA(image.Rect(0, 0, from.Dx(), from.Dy()/h+1))
	for y := range h {
		top, bottom := y*from.Dy()/h, (y+1)*from.Dy()/h
		rows := image.Rect(0, 0, from.Dx(), bottom-top)
		draw.Draw(strip, rows, image.NewUniform(color.White), image.Point{}, draw.Src)
		draw.Draw(strip, rows, src, image.Pt(from.Min.X, from.Min.Y+top), draw.Over)
		for x := range w {
			left, right := x*from.Dx()/w, (x+1)*from.Dx()/w
			var sum [3]int
			for sy := range bottom - top {
				for i := strip.PixOffset(left, sy); i < strip.PixOffset(right, sy); i += 4 {
					sum[0] += int(strip.Pix[i])
					sum[1] += int(strip.Pix[i+1])
					sum[2] += int(strip.Pix[i+2])
				}
			}
			n := (bottom - top) * (right - left)
			i := dst.PixOffset(x, y)
			dst.Pix[i], dst.Pix[i+1], dst.Pix[i+2], dst.Pix[i+3] = uint8(sum[0]/n), uint8(sum[1]/n), uint8(sum[2]/n), 0xff
		}
	}
	return dst
}

// turned returns a picture upright that was taken with an EXIF orientation.
func turned(src *image.RGBA, orientation int) *image.RGBA {
	w, h := src.Rect.Dx(), src.Rect.Dy()
	var to func(x, y int) (int, int)
	switch orientation {
	case 2:
		to = func(x, y int) (int, int) { return w - 1 - x, y }
	case 3:
		to = func(x, y int) (int, int) { return w - 1 - x, h - 1 - y }
	case 4:
		to = func(x, y int) (int, int) { return x, h - 1 - y }
	case 5:
		to = func(x, y int) (int, int) { return y, x }
	case 6:
		to = func(x, y int) (int, int) { return h - 1 - y, x }
	case 7:
		to = func(x, y int) (int, int) { return h - 1 - y, w - 1 - x }
	case 8:
		to = func(x, y int) (int, int) { return y, w - 1 - x }
	default:
		return src
	}
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	dst := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			tx, ty := to(x, y)
			copy(dst.Pix[dst.PixOffset(tx, ty):], src.Pix[src.PixOffset(x, y):src.PixOffset(x, y)+4])
		}
	}
	return dst
}
