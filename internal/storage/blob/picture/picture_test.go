package picture_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/storage/blob/picture"
)

// side is the longer side of the larger picture.
const side = 1200

// quarters is a picture with a color in each quarter: red and green above, blue and white below.
func quarters(w, h int) *image.RGBA {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, [...]color.RGBA{
				{255, 0, 0, 255},
				{0, 255, 0, 255},
				{0, 0, 255, 255},
				{255, 255, 255, 255},
			}[min(x/(w/2), 1)+2*min(y/(h/2), 1)])
		}
	}
	return m
}

// read returns the letters of the colors in the quarters of a file, row by row, and its size.
func read(t *testing.T, file []byte) (corners string, w, h int) {
	t.Helper()
	m, err := jpeg.Decode(bytes.NewReader(file))
	require.NoError(t, err)
	w, h = m.Bounds().Dx(), m.Bounds().Dy()
	for _, at := range [][2]int{{1, 1}, {3, 1}, {1, 3}, {3, 3}} {
		r, g, b, _ := m.At(at[0]*w/4, at[1]*h/4).RGBA()
		letter := "?"
		switch high := [3]bool{r > 0xc000, g > 0xc000, b > 0xc000}; high {
		case [3]bool{true, false, false}:
			letter = "r"
		case [3]bool{false, true, false}:
			letter = "g"
		case [3]bool{false, false, true}:
			letter = "b"
		case [3]bool{true, true, true}:
			letter = "w"
		}
		corners += letter
	}
	return corners, w, h
}

func jpegOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m, nil))
	return b.Bytes()
}

func pngOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, m))
	return b.Bytes()
}

// exif is data that say an orientation, and where the picture was taken.
func exif(order binary.AppendByteOrder, orientation int) []byte {
	b := append([]byte{}, map[bool]string{true: "II", false: "MM"}[order.String() == "LittleEndian"]...)
	b = order.AppendUint32(order.AppendUint16(b, 42), 8)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, 0x010e), 2), 4)
	b = append(b, "GPS\x00"...)
	b = order.AppendUint32(order.AppendUint16(order.AppendUint16(b, 0x0112), 3), 1)
	b = order.AppendUint16(order.AppendUint16(b, uint16(orientation)), 0)
	return order.AppendUint32(b, 0)
}

// withEXIF puts EXIF data into a JPEG file.
func withEXIF(file, exif []byte) []byte {
	data := append([]byte("Exif\x00\x00"), exif...)
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xe1}, uint16(len(data)+2))
	return bytes.Join([][]byte{file[:2], segment, data, file[2:]}, nil)
}

func make1(t *testing.T, file []byte) picture.Picture {
	t.Helper()
	p, err := picture.NewMaker().Make(t.Context(), "anna", file, side)
	require.NoError(t, err)
	return p
}

// TestOrientations: each of the eight is turned upright, and nothing else of EXIF stays.
func TestOrientations(t *testing.T) {
	t.Parallel()
	for orientation, want := range []string{
		"rgbw", "rgbw", "grwb", "wbgr", "bwrg", "rbgw",
		"brwg", "wgbr", "gwrb", "rgbw",
	} {
		for _, order := range []binary.AppendByteOrder{binary.BigEndian, binary.LittleEndian} {
			p := make1(t, withEXIF(jpegOf(t, quarters(64, 32)), exif(order, orientation)))
			got, w, h := read(t, p.Large)
			require.Equal(t, want, got, orientation)
			if orientation >= 5 && orientation <= 8 {
				w, h = h, w
			}
			require.Equal(t, [2]int{64, 32}, [2]int{w, h}, orientation)
			for _, file := range [][]byte{p.Large, p.Thumb} {
				require.NotContains(t, string(file), "Exif")
				require.NotContains(t, string(file), "GPS")
			}
		}
	}
	var chunked bytes.Buffer // a PNG file may say so too
	file, data := pngOf(t, quarters(64, 32)), append([]byte("eXIf"), exif(binary.BigEndian, 6)...)
	chunked.Write(file[:33])
	chunked.Write(binary.BigEndian.AppendUint32(nil, uint32(len(data)-4)))
	chunked.Write(data)
	chunked.Write(binary.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(data)))
	chunked.Write(file[33:])
	got, _, _ := read(t, make1(t, chunked.Bytes()).Large)
	require.Equal(t, "brwg", got)
}

// TestKinds: PNG of every color type is on white.
func TestKinds(t *testing.T) {
	t.Parallel()
	const w, h = 64, 32
	clear := image.NewNRGBA(image.Rect(0, 0, w, h)) // transparent, and black below
	got, _, _ := read(t, make1(t, pngOf(t, clear)).Large)
	require.Equal(t, "wwww", got)
	paletted := image.NewPaletted(image.Rect(0, 0, w, h),
		color.Palette{
			color.RGBA{255, 0, 0, 255},
			color.RGBA{0, 255, 0, 255},
			color.RGBA{0, 0, 255, 255},
			color.Transparent,
		})
	deep, deepClear, half := image.NewRGBA64(image.Rect(0, 0, w, h)), image.NewNRGBA64(image.Rect(0, 0, w, h)),
		image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := quarters(w, h).At(x, y)
			paletted.SetColorIndex(x, y, uint8(x/(w/2)+2*(y/(h/2))))
			deep.Set(x, y, c)
			half.Set(x, y, c)
			if x < w/2 || y < h/2 {
				deepClear.Set(x, y, c)
			}
		}
	}
	for name, m := range map[string]image.Image{
		"RGBA": quarters(w, h), "paletted": paletted, "deep": deep,
		"deep, with alpha": deepClear, "NRGBA": half,
	} {
		got, _, _ := read(t, make1(t, pngOf(t, m)).Large)
		require.Equal(t, "rgbw", got, name)
	}
	for _, m := range []image.Image{image.NewGray(image.Rect(0, 0, w, h)), image.NewGray16(image.Rect(0, 0, w, h))} {
		got, _, _ := read(t, make1(t, pngOf(t, m)).Large)
		require.Equal(t, "????", got, "black")
	}
	for _, name := range []string{
		"video-001.progressive.jpeg", "video-001.cmyk.jpeg",
		"video-001.q50.411.progressive.jpeg", "video-001.interlaced.png",
	} {
		file, err := os.ReadFile(filepath.Join(runtime.GOROOT(), "src/image/testdata", name)) //nolint:staticcheck // the tests run where Go is
		if err != nil {
			continue // this Go has no sources, or no such file
		}
		require.Equal(t, 150, make1(t, file).Width, name)
	}
}

// TestSizes: pictures get smaller, and never larger.
func TestSizes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ w, h, large, largeH, thumb, thumbH int }{
		{2400, 1200, 1200, 600, 320, 160},
		{1200, 2400, 600, 1200, 160, 320},
		{100, 50, 100, 50, 100, 50},
		{1201, 1200, 1200, 1199, 320, 319},
		{5000, 2, 1200, 1, 320, 1},
	} {
		p := make1(t, jpegOf(t, quarters(tt.w, tt.h)))
		corners, w, h := read(t, p.Large)
		require.Equal(t, []int{tt.large, tt.largeH, tt.large, tt.largeH}, []int{w, h, p.Width, p.Height})
		_, w, h = read(t, p.Thumb)
		require.Equal(t, []int{tt.thumb, tt.thumbH}, []int{w, h})
		if tt.h > 2 {
			require.Equal(t, "rgbw", corners)
		}
	}
}

// webp is a lossless file of one pixel.
const webp = "UklGRhwAAABXRUJQVlA4TA8AAAAvAAAAAAcQ/Y/+ByKi/wEA"

// TestRefused: other files, and pictures that are too large, are refused.
func TestRefused(t *testing.T) {
	t.Parallel()
	one, err := base64.StdEncoding.DecodeString(webp)
	require.NoError(t, err)
	require.Equal(t, 1, make1(t, one).Width)
	huge := pngOf(t, quarters(8, 8))
	binary.BigEndian.PutUint32(huge[16:], 30_000)
	binary.BigEndian.PutUint32(huge[20:], 30_000)
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	// The head says 8 by 8, and the frame 16,383 by 16,383.
	hiding := []byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x07\x00\x00\x07\x00\x00VP8 \x0a\x00\x00\x00\x10\x00\x00\x9d\x01\x2a\xff\x3f\xff\x3f")
	binary.LittleEndian.PutUint32(hiding[4:], uint32(len(hiding)-8))
	good := jpegOf(t, quarters(640, 480))
	for name, file := range map[string][]byte{
		"nothing": nil, "HTML": []byte("<html>"), "SVG": []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`),
		"GIF without a frame": []byte("GIF89a\x08\x00\x08\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff;"),
		"GIF of no pixels":    []byte("GIF89a\x08\x00\x08\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x02\x4c\x01\x00;"),
		"wide GIF":            []byte("GIF89a\x20\x4e\x20\x4e\x00\x00\x00"), "huge": huge, "hiding": hiding,
		"cut head": good[:20], "cut": good[:len(good)/2],
		"text behind a signature": append([]byte("\x89PNG\r\n\x1a\n"), strings.Repeat("x", 100)...),
		"wide":                    pngOf(t, image.NewGray(image.Rect(0, 0, 10_001, 1))),
		"many": pngOf(t,
			image.NewPaletted(image.Rect(0, 0, 5001, 5000), color.Palette{color.White})),
	} {
		_, err := picture.NewMaker().Make(t.Context(), "anna", file, side)
		require.Equal(t, picture.NotAnImage, fault.CodeOf(err), "%s: %v", name, err)
		tooLarge := slices.Contains([]string{"huge", "hiding", "wide", "wide GIF", "many"}, name)
		require.Equal(t, tooLarge, strings.HasSuffix(err.Error(), "too large"), "%s: %v", name, err)
	}
	tail := fmt.Appendf(bytes.Clone(good), "<script>%s", "a second file")
	require.NotContains(t, string(make1(t, tail).Large), "script")
}

// TestMoving: of a GIF file that moves the first frame is kept.
func TestMoving(t *testing.T) {
	t.Parallel()
	still := func(c color.Color) *image.Paletted {
		m := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.White, c})
		for i := range m.Pix {
			m.Pix[i] = 1
		}
		return m
	}
	var file bytes.Buffer
	red, blue := color.RGBA{R: 0xff, A: 0xff}, color.RGBA{B: 0xff, A: 0xff}
	require.NoError(t, gif.EncodeAll(&file,
		&gif.GIF{Image: []*image.Paletted{still(red), still(blue)}, Delay: []int{1, 1}}))
	require.Equal(t, "image/gif", picture.TypeOf(file.Bytes()))
	p := make1(t, file.Bytes())
	require.Equal(t, [2]int{20, 10}, [2]int{p.Width, p.Height})
	m, err := jpeg.Decode(bytes.NewReader(p.Large))
	require.NoError(t, err)
	r, _, b, _ := m.At(10, 5).RGBA()
	require.Greater(t, r, 5*b)
	require.Equal(t, "image/jpeg", picture.TypeOf(p.Large))
}

// TestFewerPixels: a Maker for less memory takes pictures of fewer pixels, and says how many.
func TestFewerPixels(t *testing.T) {
	t.Parallel()
	small := picture.NewMakerOf(2_000_000)
	_, err := small.Make(t.Context(), "anna", pngOf(t, image.NewGray(image.Rect(0, 0, 2000, 1000))), side)
	require.NoError(t, err)
	_, err = small.Make(t.Context(), "anna", pngOf(t, image.NewGray(image.Rect(0, 0, 2000, 1001))), side)
	require.ErrorContains(t, err, "up to 2 megapixels")
}
