// Package picture makes the two pictures that are stored of one that is sent. They are turned
// upright, small, on white, and have nothing of the original but its pixels.
//
// A file is foreign, and its size says little of what it costs to decode. So all that a decoder
// would do more than once is counted before it begins, and it ends with its client.
package picture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"prompthub/internal/fault"
)

// Limits of a picture that is sent.
const (
	MaxBytes  = 8 << 20
	maxPixels = 25_000_000
	maxSide   = 10_000
)

// How long a request waits for the pictures of others, and how long its own may take. The largest
// takes about two seconds of a processor, which may have much else to do.
const (
	maxWait = 10 * time.Second
	maxWork = 30 * time.Second
)

// The codes of errors.
const (
	NotAnImage fault.Code = "NOT_AN_IMAGE" // the file is none of the pictures that are taken
	Busy       fault.Code = "BUSY"         // too many pictures of others come first
)

func notAnImage(most int, why string) error {
	return &fault.Error{
		Kind: fault.Invalid, Code: NotAnImage,
		Text: fmt.Sprintf("send a JPEG, PNG, WebP or GIF picture of up to %d megapixels and 10,000 pixels a side: %s",
			most/1_000_000, why),
		Fields: []fault.Field{{Name: "body", Code: NotAnImage, Message: why}},
	}
}

func busy(text string) error {
	return &fault.Error{Kind: fault.Unavailable, Code: Busy, Text: text, RetryAfter: maxWait / 2}
}

// ThumbSide is the longer side of the small picture.
const ThumbSide = 320

const quality = 85 // of JPEG

// A Picture is what is kept: JPEG files, and the size of the larger one.
type Picture struct {
	Large, Thumb  []byte
	Width, Height int
}

// A Maker makes pictures. The pictures that it decodes at a time have no more pixels together than
// one may have: the decoder of a progressive JPEG file takes up to 24 bytes for each. They also
// leave half of the processors to other requests. Slow pictures have a line of their own. The first
// of them waits with all other pictures for room, so that the pictures of others come in between. A
// long line takes no more.
type Maker struct {
	most   int // pixels of a picture
	pixels *semaphore.Weighted
	least  int // pixels that the smallest picture counts for

	mu    sync.Mutex
	turns map[string]*turn // of callers
	slow  turn             // of slow pictures
}

// maxSlow is how many slow pictures wait or are made.
const maxSlow = 3

// A turn is that of a caller, of whom one picture is made at a time.
type turn struct {
	taken  *semaphore.Weighted
	wanted int // by requests
}

// NewMaker returns a Maker for a process.
func NewMaker() *Maker { return NewMakerOf(maxPixels) }

// NewMakerOf returns a Maker for a process with less memory, which takes pictures of fewer pixels
// than NewMaker does.
func NewMakerOf(pixels int) *Maker {
	return &Maker{
		most: pixels, pixels: semaphore.NewWeighted(int64(pixels)), least: pixels / max(runtime.GOMAXPROCS(0)/2, 1),
		turns: make(map[string]*turn), slow: turn{taken: semaphore.NewWeighted(1)},
	}
}

// Make makes the pictures to keep of a file that a caller has sent, the larger one with a longer
// side of at most side.
func (m *Maker) Make(ctx context.Context, caller string, file []byte, side int) (Picture, error) {
	s, err := recognize(file, m.most)
	if err != nil {
		return Picture{}, err
	}
	leave, err := m.enter(ctx, caller, s.pixels, s.slow)
	if err != nil {
		return Picture{}, err
	}
	defer leave()
	within, cancel := context.WithTimeout(ctx, maxWork)
	defer cancel()
	p, err := s.keep(within, file, side)
	switch {
	case within.Err() != nil:
		err = stopped(ctx, "the picture takes too long to decode; send a smaller one")
	case errors.Is(err, errUndecoded):
		err = notAnImage(m.most, errUndecoded.Error())
	}
	return p, err
}

// enter waits until the caller has a turn and there is room for some pixels.
func (m *Maker) enter(ctx context.Context, caller string, pixels int, slow bool) (leave func(), err error) {
	within, cancel := context.WithTimeout(ctx, maxWait)
	defer cancel()
	own := m.want(caller)
	weight := int64(max(pixels, m.least))
	leaveLine := func() {}
	if err = own.Acquire(within, 1); err == nil {
		if slow {
			leaveLine, err = m.enterLine(within)
		}
		if err == nil {
			if err = m.pixels.Acquire(within, weight); err != nil {
				leaveLine()
			}
		}
		if err != nil {
			own.Release(1)
		}
	}
	if err != nil {
		m.unwant(caller)
		return nil, stopped(ctx, "too many pictures are here at once; send it again in some seconds")
	}
	return func() {
		m.pixels.Release(weight)
		leaveLine()
		own.Release(1)
		m.unwant(caller)
	}, nil
}

var errLong = errors.New("the line is long")

// enterLine waits in the line of slow pictures, unless it is long.
func (m *Maker) enterLine(ctx context.Context) (leave func(), err error) {
	m.mu.Lock()
	full := m.slow.wanted == maxSlow
	if !full {
		m.slow.wanted++
	}
	m.mu.Unlock()
	if full {
		return nil, errLong
	}
	out := func() {
		m.mu.Lock()
		m.slow.wanted--
		m.mu.Unlock()
	}
	if err := m.slow.taken.Acquire(ctx, 1); err != nil {
		out()
		return nil, err
	}
	return func() { m.slow.taken.Release(1); out() }, nil
}

func (m *Maker) want(caller string) *semaphore.Weighted {
	m.mu.Lock()
	defer m.mu.Unlock()
	t := m.turns[caller]
	if t == nil {
		t = &turn{taken: semaphore.NewWeighted(1)}
		m.turns[caller] = t
	}
	t.wanted++
	return t.taken
}

func (m *Maker) unwant(caller string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.turns[caller].wanted--; m.turns[caller].wanted == 0 {
		delete(m.turns, caller)
	}
}

// stopped says why a picture is not made: the client has gone, or it took too long.
func stopped(ctx context.Context, otherwise string) error {
	if err := ctx.Err(); err != nil {
		return fault.Wrap(fault.Unavailable, "the client has gone away", err)
	}
	return busy(otherwise)
}

var errUndecoded = errors.New("it cannot be decoded")

// keep decodes a file and makes the pictures to keep.
func (s source) keep(ctx context.Context, file []byte, side int) (Picture, error) {
	decoded, err := s.decode(&reader{ctx, file})
	if err != nil {
		return Picture{}, errUndecoded
	}
	large, err := shrunk(ctx, decoded, side)
	if err != nil {
		return Picture{}, err
	}
	decoded = nil //nolint:ineffassign,wastedassign // it is large, and not needed any more
	large = turned(large, s.turn)
	thumb, err := shrunk(ctx, large, ThumbSide)
	if err != nil {
		return Picture{}, err
	}
	p := Picture{Width: large.Rect.Dx(), Height: large.Rect.Dy()}
	if p.Large, err = encoded(large); err == nil {
		p.Thumb, err = encoded(thumb)
	}
	return p, err
}

// A reader reads a file until its context ends. A decoder does much for each byte: it inflates a
// thousand from one, or walks all pixels for thirty. So it gets few at a time.
type reader struct {
	ctx  context.Context //nolint:containedctx // a reader has no other way to know of it
	rest []byte
}

const step = 64 // bytes

// Read reads some bytes.
func (r *reader) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), step)], r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

func encoded(m image.Image) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, m, &jpeg.Options{Quality: quality})
	return b.Bytes(), err
}

// shrunk returns a picture on white whose longer side is at most side: each pixel is the mean of
// those that it stands for.
func shrunk(ctx context.Context, src image.Image, side int) (*image.RGBA, error) {
	from := src.Bounds()
	w, h := from.Dx(), from.Dy()
	if longer := max(w, h); longer > side {
		w, h = max(w*side/longer, 1), max(h*side/longer, 1)
	}
	dst := image.NewRGBA(image.Rect(0, 0, w, h))
	strip := image.NewRGBA(image.Rect(0, 0, from.Dx(), from.Dy()/h+1))
	for y := range h {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
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
			dst.Pix[i], dst.Pix[i+1], dst.Pix[i+2], dst.Pix[i+3] = uint8(sum[0]/n),
				uint8(sum[1]/n), uint8(sum[2]/n), 0xff
		}
	}
	return dst, nil
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
