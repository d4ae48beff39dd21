package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	webplib "golang.org/x/image/webp"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
)

// A structure is a kind of file that may have any number of something. Each costs the decoder some
// work, which the test knows because it makes the file.
type structure struct {
	name string
	file func(n int) []byte
	work func(n int) int // in the unit of most
	most int
}

func segment(marker byte, body ...byte) []byte {
	b := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(body)+2))
	return append(b, body...)
}

// A frame is what a JPEG file says of its picture.
type frame struct {
	marker  byte
	w, h    int
	factors []byte // of each component
}

// file is a JPEG file with some scans. Its tables have one code each, of one bit: no difference,
// and a run of 16,384 blocks in which nothing changes.
func (f frame) file(scans ...[]byte) []byte {
	head := append([]byte{8}, binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, uint16(f.h)),
		uint16(f.w))...)
	head = append(head, byte(len(f.factors)))
	for i, by := range f.factors {
		head = append(head, byte(i+1), by, 0)
	}
	code := append([]byte{1}, make([]byte, 15)...)
	return slices.Concat([]byte{0xff, 0xd8}, segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...),
		segment(f.marker, head...),
		segment(0xc4, slices.Concat([]byte{0x00}, code, []byte{0x00})...),
		segment(0xc4, slices.Concat([]byte{0x10}, code, []byte{0xe0})...),
		slices.Concat(scans...), []byte{0xff, 0xd9})
}

// blocks are those of a component.
func (f frame) blocks(component int) int {
	x, y := int(f.factors[0]>>4), int(f.factors[0]&0xf)
	if len(f.factors) == 1 {
		x, y = 1, 1
	}
	units := ((f.w + 8*x - 1) / (8 * x)) * ((f.h + 8*y - 1) / (8 * y))
	if len(f.factors) == 1 {
		return units
	}
	return units * int(f.factors[component]>>4) * int(f.factors[component]&0xf)
}

// coefficients is a scan of one component that changes nothing: all blocks are in runs.
func (f frame) coefficients(component int, approximation byte) []byte {
	return append(segment(0xda, 1, byte(component+1), 0, 1, 63, approximation),
		make([]byte, f.blocks(component)/16384*2+4)...)
}

// all is a scan of all components with a bit for each block.
func (f frame) all(last, approximation byte) []byte {
	head, blocks := []byte{byte(len(f.factors))}, 0
	for i := range f.factors {
		head, blocks = append(head, byte(i+1), 0), blocks+f.blocks(i)
	}
	return append(segment(0xda, append(head, 0, last, approximation)...), make([]byte, blocks/8+blocks/4096+8)...)
}

func repeat(n int, scan func(i int) []byte) []byte {
	var b []byte
	for i := range n {
		b = append(b, scan(i)...)
	}
	return b
}

func chunkOf(name string, data ...byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	named := append([]byte(name), data...)
	return binary.BigEndian.AppendUint32(append(b, named...), crc32.ChecksumIEEE(named))
}

func pngOf(m image.Image) []byte {
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func jpegOf(m image.Image) []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, m, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func riff(chunks ...[]byte) []byte {
	body := slices.Concat(chunks...)
	return slices.Concat([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body)+4)),
		[]byte("WEBP"), body)
}

func riffChunk(name string, data []byte) []byte {
	b := append(binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data))), data...)
	return append(b, make([]byte, len(data)%2)...)
}

// bits are written with the lowest first.
type bits struct {
	b []byte
	n int
}

func (b *bits) put(n, value int) {
	for i := range n {
		if b.n%8 == 0 {
			b.b = append(b.b, 0)
		}
		b.b[b.n/8] |= byte(value>>i&1) << (b.n % 8)
		b.n++
	}
}

// constant is a table whose one symbol takes no bits.
func (b *bits) constant(symbol int) {
	b.put(2, 1)
	b.put(1, 1)
	b.put(8, symbol)
}

// lossless is WebP data of 5 by 5 pixels that all are one, with some groups of tables.
func lossless(groups int) []byte {
	var b bits
	b.put(8, 0x2f)
	b.put(14, 4)
	b.put(14, 4)
	b.put(4, 0)
	b.put(1, 0) // no transform
	b.put(1, 0) // no cache
	b.put(1, 1) // groups by tiles of 4 by 4 pixels
	b.put(3, 0)
	b.put(1, 0)
	for _, symbol := range []int{(groups - 1) & 0xff, (groups - 1) >> 8, 0, 0, 0} {
		b.constant(symbol)
	}
	for range groups {
		for range 5 {
			b.constant(0)
		}
	}
	return b.b
}

// full is a table of 2^n symbols whose codes all have n bits, and whose own lengths take none.
func (b *bits) full(n int) {
	order := []int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11}
	b.put(1, 0)
	b.put(4, len(order)-4)
	for _, length := range order {
		b.put(3, map[bool]int{true: 1}[length == n])
	}
	b.put(1, 1)
	b.put(3, 5)
	b.put(12, 1<<n-2)
}

const side = 64 // of the pictures of heavy

// heavy is WebP data of groups of the largest tables. Some transforms come before them, and
// the tile that names the last group comes after others.
func heavy(groups int, transforms []int, tiles int) []byte {
	var b bits
	b.put(8, 0x2f)
	b.put(14, side-1)
	b.put(14, side-1)
	b.put(4, 0)
	image := func(pixels, red, green int) { // of tiles that are 0 and, from a place on, others
		b.put(1, 0)
		b.full(8)
		b.full(8)
		for range 3 {
			b.constant(0)
		}
		for i := range pixels {
			for _, value := range []int{green, red} {
				for k := range 8 { // codes have the highest bit first
					b.put(1, map[bool]int{true: value >> (7 - k) & 1}[i == pixels-tiles])
				}
			}
		}
	}
	w := side
	for _, kind := range transforms {
		b.put(1, 1)
		b.put(2, kind)
		switch kind {
		case 0, 1:
			b.put(3, 0)
			image(w/4*side/4, 200, 0)
		case 3:
			b.put(8, 15)
			image(16, 0, 3)
			w = side / 2
		}
	}
	b.put(1, 0)
	b.put(1, 1) // a cache of 2,048 colors
	b.put(4, 11)
	b.put(1, 1) // groups by tiles of 4 by 4 pixels
	b.put(3, 0)
	image(w/4*side/4, (groups-1)>>8, (groups-1)&0xff)
	for range groups {
		b.full(11)
		for range 3 {
			b.full(8)
		}
		b.constant(0)
	}
	for range w * side { // each has a green and three others
		b.put(11, 0)
		b.put(24, 0)
	}
	return b.b
}

// big has the pixels of the largest picture.
var (
	big    = frame{progressive, 5000, 5000, []byte{0x11}}
	colors = frame{progressive, 5000, 5000, []byte{0x11, 0x11, 0x11}}
	fewer  = frame{progressive, 5000, 5000, []byte{0x22, 0x11, 0x11}}
	inks   = frame{progressive, 4000, 4000, []byte{0x22, 0x11, 0x11, 0x22}}
	narrow = frame{progressive, 1, 10000, []byte{0x42, 0x11, 0x11}}
	small  = frame{progressive, 64, 64, []byte{0x11}}
	plain  = frame{sequential, 2500, 2500, []byte{0x11}}
	more   = frame{extended, 2500, 2500, []byte{0x21, 0x11, 0x11}}
)

func samples(f frame, components ...int) func(n int) int {
	return func(n int) int {
		sum := 0
		for i := range n {
			sum += 64 * f.blocks(components[i%len(components)])
		}
		return sum
	}
}

func same(n int) int { return n }

func most16Bits(n int) int { return min(n, 1<<16) }

// structures are all that a file of ours may have often.
func structures() []structure {
	spot := image.NewNRGBA(image.Rect(0, 0, 8, 8))
	dot, photo := pngOf(spot), jpegOf(spot)
	head, rest := dot[:33], dot[33:]
	extended := riffChunk("VP8X", append([]byte{0x10, 0, 0, 0, 4, 0, 0, 4, 0, 0}, nil...))
	refined := func(f frame, components ...int) func(n int) []byte {
		return func(n int) []byte {
			return f.file(f.all(0, 0), repeat(n, func(i int) []byte {
				return f.coefficients(components[i%len(components)], 0x10)
			}))
		}
	}
	return []structure{
		{"scans that refine nothing", refined(big, 0), samples(big, 0), maxSamples},
		{"first scans of coefficients", func(n int) []byte {
			return big.file(repeat(n, func(int) []byte { return big.coefficients(0, 0) }))
		}, samples(big, 0), maxSamples},
		{"scans of three components in turn", refined(colors, 0, 1, 2), samples(colors, 0, 1, 2), maxSamples},
		{"scans of components of fewer samples", refined(fewer, 1, 2, 0), samples(fewer, 1, 2, 0), maxSamples},
		{"scans of four components", refined(inks, 3, 0), samples(inks, 3, 0), maxSamples},
		{"scans of a narrow picture", refined(narrow, 0), same, maxScans},
		{"scans of all components", func(n int) []byte {
			return fewer.file(fewer.all(0, 1), repeat(n, func(int) []byte { return fewer.all(0, 0x10) }))
		}, func(n int) int { return n * (samples(fewer, 0)(1) + samples(fewer, 1, 2)(2)) }, maxSamples},
		{"scans of a small picture", refined(small, 0), same, maxScans},
		{"scans of a baseline picture", func(n int) []byte {
			return plain.file(repeat(n, func(int) []byte { return plain.all(63, 0) }))
		}, same, 1},
		{"scans of an extended picture", func(n int) []byte {
			return more.file(repeat(n, func(int) []byte { return more.all(63, 0) }))
		}, same, 3},
		{"comments", func(n int) []byte {
			return slices.Concat(photo[:2], repeat(n, func(int) []byte { return segment(0xfe) }), photo[2:])
		}, same, maxParts},
		{"tables", func(n int) []byte {
			return small.file(repeat(n, func(int) []byte {
				return segment(0xc4, slices.Concat([]byte{0x10, 1}, make([]byte, 15), []byte{0xe0})...)
			}), small.all(0, 0))
		}, same, maxParts},
		{"intervals", func(n int) []byte {
			return small.file(repeat(n, func(int) []byte { return segment(0xdd, 0, 0) }), small.all(0, 0))
		}, same, maxParts},
		{"PNG chunks of text", func(n int) []byte {
			return slices.Concat(head, repeat(n, func(int) []byte { return chunkOf("tEXt") }), rest)
		}, same, maxParts},
		{"PNG chunks of no pixels", func(n int) []byte {
			return slices.Concat(head, repeat(n, func(int) []byte { return chunkOf("IDAT") }), rest)
		}, same, maxParts},
		{"PNG chunks of one byte each", func(n int) []byte {
			data := append(first(pngChunks(dot), "IDAT"), make([]byte, n)...) // the pixels end before it does
			return slices.Concat(head, repeat(len(data), func(i int) []byte { return chunkOf("IDAT", data[i]) }),
				chunkOf("IEND"))
		}, same, maxParts},
		{"PNG chunks after the pixels", func(n int) []byte {
			end := len(dot) - len(chunkOf("IEND"))
			return slices.Concat(dot[:end], repeat(n, func(int) []byte { return chunkOf("IDAT") }), dot[end:])
		}, same, maxParts},
		{"frames of a moving PNG", func(n int) []byte {
			return slices.Concat(head, rest[:len(rest)-12],
				repeat(n, func(int) []byte { return chunkOf("fdAT", make([]byte, 4)...) }), chunkOf("IEND"))
		}, same, maxParts},
		{"PNG pixels", func(n int) []byte { return slices.Concat(ihdr(n, 10_000, 0), rest) }, func(n int) int {
			return n * 10_000
		}, maxPixels},
		{
			"PNG pixels of seven passes", func(n int) []byte { return slices.Concat(ihdr(10_000, n, 1), rest) },
			func(n int) int { return n * 10_000 }, maxPixels,
		},
		{"WebP chunks", func(n int) []byte {
			return riff(extended, repeat(n, func(int) []byte { return riffChunk("XYZ ", nil) }),
				riffChunk("VP8L", lossless(1)))
		}, same, maxParts},
		{"frames of a moving WebP", func(n int) []byte {
			return riff(extended, repeat(n, func(int) []byte { return riffChunk("ANMF", make([]byte, 16)) }),
				riffChunk("VP8L", lossless(1)))
		}, same, maxParts},
		{
			"groups of WebP tables", func(n int) []byte { return riff(riffChunk("VP8L", lossless(min(n, 1<<16)))) },
			most16Bits, maxGroups,
		},
		{"groups of the largest tables", func(n int) []byte {
			return riff(riffChunk("VP8L", heavy(min(n, 1<<16), nil, 256)))
		}, most16Bits, maxGroups},
		{"groups that one tile of many names", func(n int) []byte {
			return riff(riffChunk("VP8L", heavy(min(n, 1<<16), nil, 1)))
		}, most16Bits, maxGroups},
		{"groups after images of transforms", func(n int) []byte {
			return riff(riffChunk("VP8L", heavy(min(n, 1<<16), []int{0, 2, 1}, 7)))
		}, most16Bits, maxGroups},
		{"groups after a palette", func(n int) []byte {
			return riff(riffChunk("VP8L", heavy(min(n, 1<<16), []int{3}, 5)))
		}, most16Bits, maxGroups},
		{"groups of transparency", func(n int) []byte {
			const head = 5
			wide := riffChunk("VP8X", []byte{0x10, 0, 0, 0, side - 1, 0, 0, side - 1, 0, 0})
			vp8 := []byte("\x10\x00\x00\x9d\x01\x2a\x40\x00\x40\x00")
			return riff(wide, riffChunk("ALPH", append([]byte{1}, heavy(min(n, 1<<16), []int{2}, 9)[head:]...)),
				riffChunk("VP8 ", vp8))
		}, most16Bits, maxGroups},
		{"bytes of lossless WebP", func(n int) []byte {
			return riff(riffChunk("VP8L", append(lossless(1), make([]byte, n)...)))
		}, same, maxLossless},
		{"bytes of lossless WebP, cut short", func(n int) []byte {
			file := riff(riffChunk("VP8L", append(lossless(1), make([]byte, n)...)))
			binary.LittleEndian.PutUint32(file[4:], 1<<30)
			binary.LittleEndian.PutUint32(file[16:], 1<<29)
			return file
		}, same, maxLossless},
		{"bytes of lossless transparency", func(n int) []byte {
			vp8 := []byte("\x10\x00\x00\x9d\x01\x2a\x05\x00\x05\x00")
			return riff(extended, riffChunk("ALPH", append([]byte{1}, make([]byte, n)...)), riffChunk("VP8 ", vp8))
		}, same, maxLossless},
	}
}

// ihdr is the head of a PNG file of gray pixels.
func ihdr(w, h int, interlace byte) []byte {
	size := binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, uint32(w)), uint32(h))
	return append([]byte("\x89PNG\r\n\x1a\n"), chunkOf("IHDR", append(size, 8, 0, 0, 0, interlace)...)...)
}

// TestStructures: twice as much of anything that a file may have often is refused, before it is
// decoded, once it makes the decoder do more than the bound. Files with little of it are pictures.
func TestStructures(t *testing.T) {
	t.Parallel()
	for _, s := range structures() {
		t.Run(s.name, func(t *testing.T) {
			refused := 0
			for n := 1; refused < 3; n *= 2 {
				file := s.file(n)
				if len(file) > MaxBytes || n > 1<<20 {
					break
				}
				_, err := recognize(file, maxPixels)
				if err == nil {
					require.Zero(t, refused, "%d are taken, and half as many are refused", n)
					require.LessOrEqual(t, s.work(n), s.most, "%d are taken", n)
				} else {
					require.Greater(t, 2*s.work(n)+s.most/4, s.most, "%d are refused: %v", n, err)
					refused++
				}
			}
			require.True(t, refused > 0 || s.work(1<<20) <= s.most, "the largest file is taken")
		})
	}
}

// TestStructuresAreDecoded: what the files of TestStructures say of themselves is so.
func TestStructuresAreDecoded(t *testing.T) {
	t.Parallel()
	for _, f := range []frame{
		{progressive, 100, 50, []byte{0x11}},
		{progressive, 100, 50, []byte{0x22, 0x11, 0x11}},
		{progressive, 100, 50, []byte{0x41, 0x11, 0x11}},
	} {
		for _, n := range []int{0, 1, 40} {
			m, err := NewMaker().Make(t.Context(), "anna",
				f.file(f.all(0, 1), f.all(0, 0x10),
					repeat(n, func(i int) []byte { return f.coefficients(i%len(f.factors), 0x10) })), 1200)
			require.NoError(t, err)
			require.Equal(t, 100, m.Width)
		}
	}
	for _, f := range []frame{{sequential, 100, 50, []byte{0x22}}, {extended, 100, 50, []byte{0x21, 0x11, 0x11}}} {
		_, err := NewMaker().Make(t.Context(), "anna", f.file(f.all(63, 0)), 1200)
		require.NoError(t, err)
	}
	for _, transforms := range [][]int{nil, {0}, {1, 2}, {2, 1, 0}, {3}, {3, 0}} {
		for _, groups := range []int{1, 2, maxGroups} {
			m, err := NewMaker().Make(t.Context(), "anna", riff(riffChunk("VP8L", heavy(groups, transforms, 3))), 1200)
			require.NoError(t, err, transforms)
			require.Equal(t, side, m.Width)
		}
	}
	for _, groups := range []int{1, 2, 300} {
		m, err := NewMaker().Make(t.Context(), "anna", riff(riffChunk("VP8L", lossless(groups))), 1200)
		require.NoError(t, err)
		require.Equal(t, 5, m.Width)
	}
}

// TestLosslessAsDecoded: data with changed bits that the decoder takes all the same is counted, and
// refused where it has too many groups.
func TestLosslessAsDecoded(t *testing.T) {
	t.Parallel()
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		transforms := rapid.SampledFrom([][]int{nil, {0}, {1, 2}, {2, 1, 0}, {3}, {3, 0}}).Draw(t, "transforms")
		data := heavy(rapid.IntRange(1, 3).Draw(t, "groups"), transforms, rapid.IntRange(1, 100).Draw(t, "tiles"))
		for range rapid.IntRange(0, 3).Draw(t, "changes") {
			data[rapid.IntRange(5, min(len(data)-1, 1000)).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		}
		file := riff(riffChunk("VP8L", data))
		_, err := recognize(file, maxPixels)
		if n := groups(data, 0, 0, true); n > maxGroups {
			require.Error(t, err)
			return
		}
		if _, failed := webplib.Decode(bytes.NewReader(file)); failed == nil {
			taken++
			require.NoError(t, err)
		}
	})
	require.Positive(t, taken)
}

// ending is a context that ends after it was asked some times, and counts how often it is asked
// then.
type ending struct {
	context.Context //nolint:containedctx // it is one
	left, late      int
}

func (e *ending) Err() error {
	if e.left > 0 {
		e.left--
		return nil
	}
	e.late++
	return context.Canceled
}

// TestDecodingEnds: with its context decoding ends, wherever it is.
func TestDecodingEnds(t *testing.T) {
	t.Parallel()
	gray := image.NewGray(image.Rect(0, 0, 2000, 2000))
	files := map[string][]byte{
		"JPEG": jpegOf(gray), "PNG": pngOf(gray), "WebP": riff(riffChunk("VP8L", lossless(300))),
		"progressive JPEG": (frame{progressive, 1000, 1000, []byte{0x11}}).file(
			repeat(60, func(int) []byte { return frame{progressive, 1000, 1000, []byte{0x11}}.coefficients(0, 0) })),
	}
	for name, file := range files {
		s, err := recognize(file, maxPixels)
		require.NoError(t, err)
		whole := &ending{Context: t.Context(), left: 1 << 30}
		_, err = s.keep(whole, file, 1200)
		require.NoError(t, err, name)
		asked := 1<<30 - whole.left
		require.Greater(t, asked, len(file)/step, name)
		for _, after := range []int{0, 1, asked / 4, asked / 2, asked - 1} {
			e := &ending{Context: t.Context(), left: after}
			_, err := s.keep(e, file, 1200)
			require.Error(t, err, "%s, ended after %d of %d", name, after, asked)
			require.LessOrEqual(t, e.late, 2, "%s goes on", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := NewMaker().Make(ctx, "anna", files["PNG"], 1200)
	require.Equal(t, fault.Unavailable, fault.Of(err))
	require.ErrorIs(t, err, context.Canceled)
}

// TestSlowPictures: of slow pictures of many callers one is made at a time, two wait, and others
// are refused at once; a picture that is not slow comes before the waiting ones.
func TestSlowPictures(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMaker()
		began := time.Now()
		var order []string
		var mu sync.Mutex
		enter := func(caller string, slow bool) error {
			leave, err := m.enter(t.Context(), caller, maxPixels, slow)
			if err != nil {
				return err
			}
			mu.Lock()
			order = append(order, caller)
			mu.Unlock()
			time.Sleep(2 * time.Second)
			leave()
			return nil
		}
		var all sync.WaitGroup
		for i := range maxSlow {
			all.Go(func() { require.NoError(t, enter(fmt.Sprint("slow", i), true)) })
			synctest.Wait()
		}
		for i := range 5 {
			require.Error(t, enter(fmt.Sprint("more", i), true))
		}
		require.Zero(t, time.Since(began), "at once")
		require.NoError(t, enter("other", false))
		require.Equal(t, []string{"slow0", "other"}, order[:2])
		all.Wait()
		require.Len(t, order, maxSlow+1)
		require.NoError(t, enter("later", true))
		require.Zero(t, m.slow.wanted)
	})
}

// TestTurns: one picture of a caller is made at a time, and all together have no more pixels than
// the largest has. A request that waits longer than ten seconds is told when to come again.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := NewMaker()
		m.least = 1
		began := time.Now()
		leave, err := m.enter(t.Context(), "anna", 10, false)
		require.NoError(t, err)
		other, err := m.enter(t.Context(), "bob", maxPixels-10, false)
		require.NoError(t, err)
		require.Zero(t, time.Since(began))
		for _, caller := range []string{"anna", "carol"} { // her first is being made; there is no room
			began := time.Now()
			_, err = m.Make(t.Context(), caller,
				pngOf(image.NewPaletted(image.Rect(0, 0, 40, 40), color.Palette{color.White})), 1200)
			var busy *fault.Error
			require.ErrorAs(t, err, &busy)
			require.Equal(t, Busy, busy.Code)
			require.Equal(t, fault.Unavailable, busy.Kind)
			require.Positive(t, busy.RetryAfter)
			require.Equal(t, maxWait, time.Since(began))
		}
		go func() { time.Sleep(time.Second); leave() }()
		leave, err = m.enter(t.Context(), "anna", 10, false) // once the first has left
		require.NoError(t, err)
		leave()
		other()
		require.Empty(t, m.turns)
		gone, cancel := context.WithCancel(t.Context())
		leave, err = m.enter(t.Context(), "anna", 10, false)
		require.NoError(t, err)
		go func() { time.Sleep(time.Second); cancel() }()
		_, err = m.enter(gone, "anna", 10, false)
		require.ErrorIs(t, err, context.Canceled)
		leave()
		require.Empty(t, m.turns)
	})
	require.LessOrEqual(t, NewMaker().least, maxPixels)
	require.True(t, strings.HasSuffix(fmt.Sprint(notAnImage(maxPixels, "x")), "x"))
}
