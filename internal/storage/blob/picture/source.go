package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"iter"

	"golang.org/x/image/webp"
)

// Limits of what a file is made of.
const (
	// maxParts is how many segments a JPEG file may have, or chunks a PNG or WebP file. Encoders write
	// pixels in chunks of 8 KiB and more, of which 1,024 fill a file.
	maxParts = 4096

	// maxScans is how many scans a progressive JPEG file may have. Encoders write 3 to 18.
	maxScans = 64

	// maxSamples is how many samples all scans of a JPEG file may walk: 20 times those of one
	// component of the largest picture. Encoders walk up to 18 times as many. A scan that changes
	// nothing has some bytes, and costs as much as any other.
	maxSamples = 20 * maxPixels

	// slowSamples is from how many on a JPEG file is slow. One of a camera has up to three for each
	// pixel; a progressive one of four inks and 13 megapixels has 260 million, which take seconds.
	slowSamples = 4 * maxPixels

	// maxLossless is how many bytes of a WebP file may be of its lossless kind, in which a few bytes
	// make a large table, besides the groups of tables.
	maxLossless = 1 << 20
)

// A source is a file of a kind that is known, and decodes within bounds.
type source struct {
	decode func(io.Reader) (image.Image, error)
	pixels int // whose memory it takes
	turn   int // EXIF orientation
	slow   bool
}

// The media types of the kinds of files.
const (
	typeJPEG = "image/jpeg"
	typePNG  = "image/png"
	typeWebP = "image/webp"
	typeGIF  = "image/gif"
)

// Types are the media types of files that are taken.
var Types = []string{typeJPEG, typePNG, typeWebP, typeGIF}

// TypeOf tells by the first bytes of a file which of Types it has, "" if none.
func TypeOf(file []byte) string {
	switch {
	case bytes.HasPrefix(file, []byte("\xff\xd8\xff")):
		return typeJPEG
	case bytes.HasPrefix(file, []byte("\x89PNG\r\n\x1a\n")):
		return typePNG
	case len(file) > 12 && string(file[:4]) == "RIFF" && string(file[8:12]) == "WEBP":
		return typeWebP
	case bytes.HasPrefix(file, []byte("GIF87a")), bytes.HasPrefix(file, []byte("GIF89a")):
		return typeGIF
	}
	return ""
}

// firstFrame decodes the first picture of a GIF file, which is what of a moving one is kept.
func firstFrame(r io.Reader) (image.Image, error) {
	m, err := gif.Decode(r)
	if err == nil && m.Bounds().Empty() {
		err = errors.New("its first frame has no pixels")
	}
	return m, err
}

// recognize tells by the bytes of a file what kind it is, and how much work its decoder would have.
// It does not decode the file. One of more than some pixels is too large.
func recognize(file []byte, most int) (s source, err error) {
	var c image.Config
	var why string
	lossless, slow := false, false
	switch TypeOf(file) {
	case typeJPEG:
		c, err = jpeg.DecodeConfig(bytes.NewReader(file))
		s = source{decode: jpeg.Decode, turn: orientation(exifOfJPEG(file))}
		slow, why = checkScans(file)
	case typePNG:
		c, err = png.DecodeConfig(bytes.NewReader(file))
		s = source{decode: png.Decode, turn: orientation(first(pngChunks(file), "eXIf"))}
		why = checkChunks(pngChunks(file))
	case typeWebP:
		c, err = webp.DecodeConfig(bytes.NewReader(file))
		s = source{decode: webp.Decode, turn: orientation(first(webpChunks(file), "EXIF"))}
		// The frame has a size of its own, which the decoder goes by.
		if w, h := frameOfWebP(file); err == nil && (w > c.Width || h > c.Height) {
			c.Width, c.Height = max(w, c.Width), max(h, c.Height)
		}
		if why = checkChunks(webpChunks(file)); why == "" {
			lossless, why = checkLossless(file)
		}
	case typeGIF: // all before its first frame is read over, and each pixel is made once
		c, err = gif.DecodeConfig(bytes.NewReader(file))
		s = source{decode: firstFrame}
	default:
		return source{}, notAnImage(most, "it is none of these")
	}
	switch {
	case err != nil || c.Width < 1 || c.Height < 1:
		return source{}, notAnImage(most, "it cannot be decoded")
	case c.Width > maxSide || c.Height > maxSide || c.Width*c.Height > most:
		return source{}, notAnImage(most, "it is too large")
	case why != "":
		return source{}, notAnImage(most, why)
	}
	s.slow = slow
	if s.pixels = c.Width * c.Height; lossless {
		s.pixels = most
	}
	return s, nil
}

const tooManyParts = "it is made of too many parts"

// checkChunks refuses a file of too many chunks.
func checkChunks(all iter.Seq2[string, []byte]) (why string) {
	n := 0
	for range all {
		if n++; n > maxParts {
			return tooManyParts
		}
	}
	return ""
}

// segments walks the segments of a JPEG file as the decoder does, over all that stands between
// them. The last one has the rest of the file after it.
func segments(file []byte) iter.Seq2[byte, []byte] {
	return func(yield func(byte, []byte) bool) {
		const restart, endOfRestarts, end = 0xd0, 0xd7, 0xd9
		for rest := file[2:]; ; {
			at := bytes.IndexByte(rest, 0xff)
			if at < 0 {
				return
			}
			for rest = rest[at:]; len(rest) > 0 && rest[0] == 0xff; rest = rest[1:] { // any number of them
			}
			if len(rest) < 3 {
				return
			}
			marker := rest[0]
			rest = rest[1:]
			switch {
			case marker == 0 || marker >= restart && marker <= endOfRestarts:
				continue // pixels
			case marker == end:
				return
			}
			n := int(binary.BigEndian.Uint16(rest))
			if n < 2 || n > len(rest) || !yield(marker, rest[2:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// The markers of segments.
const (
	sequential, extended, progressive = 0xc0, 0xc1, 0xc2
	scan                              = 0xda
	application1                      = 0xe1
)

// checkScans refuses a JPEG file of too many segments or scans, or whose scans walk too many
// samples, and says whether it takes seconds to walk them.
func checkScans(file []byte) (slow bool, why string) {
	var components map[byte]int // the samples of each
	most, parts, scans, samples := 0, 0, 0, 0
	for marker, body := range segments(file) {
		if parts++; parts > maxParts {
			return false, tooManyParts
		}
		switch marker {
		case sequential, extended, progressive:
			components = samplesOf(body)
			most = len(components)
			if marker == progressive {
				most = maxScans
			}
		case scan:
			scans++
			for i := 1; i+1 < len(body) && i < 2*int(body[0]); i += 2 {
				samples += components[body[i]]
			}
			if scans > most || samples > maxSamples {
				return false, "it has too many scans; save it anew, or as a baseline JPEG"
			}
		}
	}
	return samples > slowSamples, ""
}

// samplesOf returns how many samples each component of a frame has that a scan of it walks: those
// of whole blocks, for all components together.
func samplesOf(frame []byte) map[byte]int {
	const head, each, block = 6, 3, 8
	if len(frame) < head+each {
		return nil
	}
	h, w := int(binary.BigEndian.Uint16(frame[1:])), int(binary.BigEndian.Uint16(frame[3:]))
	of := frame[head:]
	alone := len(of) < 2*each // its factors count for nothing
	factors := func(b byte) (across, down int) {
		if alone {
			return 1, 1
		}
		return int(b >> 4), int(b & 0xf)
	}
	across, down := factors(of[1])
	if across == 0 || down == 0 {
		return nil
	}
	units := ((w + block*across - 1) / (block * across)) * ((h + block*down - 1) / (block * down))
	all := make(map[byte]int)
	for ; len(of) >= each; of = of[each:] {
		x, y := factors(of[1])
		all[of[0]] = units * x * y * block * block
	}
	return all
}

// checkLossless refuses a WebP file with too much of the lossless kind, of which it says whether
// there is any.
func checkLossless(file []byte) (any bool, why string) {
	n := 0
	for name, data := range webpChunks(file) {
		const compression, none = 3, 0
		var made int
		switch {
		case name == "VP8L":
			made = groups(data, 0, 0, true)
		case name == "ALPH" && len(data) > 0 && data[0]&compression != none:
			w, h := canvasOfWebP(file)
			made = groups(data[1:], w, h, false)
		default:
			continue
		}
		any = true
		switch n += len(data); {
		case made == 0:
			return any, "it cannot be decoded"
		case made > maxGroups:
			return any, "it is a lossless WebP file of too many tables; save it as JPEG or PNG"
		case n > maxLossless:
			return any, "it is a lossless WebP file of more than 1 MiB; save it as JPEG or PNG"
		}
	}
	return any, ""
}

// frameOfWebP returns the largest size that a frame of a WebP file says it has.
func frameOfWebP(file []byte) (w, h int) {
	if b := first(webpChunks(file), "VP8 "); len(b) >= 10 {
		w, h = int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff)
	}
	if b := first(webpChunks(file), "VP8L"); len(b) >= 5 {
		bits := binary.LittleEndian.Uint32(b[1:])
		w, h = max(w, int(bits&0x3fff)+1), max(h, int(bits>>14&0x3fff)+1)
	}
	return w, h
}

// canvasOfWebP returns the size that an extended WebP file says it has.
func canvasOfWebP(file []byte) (w, h int) {
	b := first(webpChunks(file), "VP8X")
	if len(b) < 10 {
		return 0, 0
	}
	return int(b[4]) | int(b[5])<<8 | int(b[6])<<16 + 1, int(b[7]) | int(b[8])<<8 | int(b[9])<<16 + 1
}

// pngChunks walks the chunks of a PNG file.
func pngChunks(file []byte) iter.Seq2[string, []byte] {
	return chunks(file[8:], func(head []byte) (name string, size uint32, more int) {
		return string(head[4:]), binary.BigEndian.Uint32(head), 4 // of a checksum
	})
}

// webpChunks walks the chunks of a WebP file, which have an even length.
func webpChunks(file []byte) iter.Seq2[string, []byte] {
	return chunks(file[12:], func(head []byte) (name string, size uint32, more int) {
		size = binary.LittleEndian.Uint32(head[4:])
		return string(head[:4]), size, int(size & 1)
	})
}

// chunks walks chunks by their heads, which parse reads. more bytes follow the data of each.
func chunks(rest []byte, parse func(head []byte) (name string, size uint32, more int)) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for rest := rest; len(rest) >= 8; {
			name, size, more := parse(rest[:8])
			rest = rest[8:]
			data := rest[:min(uint64(size), uint64(len(rest)))] // the file may be cut short
			if !yield(name, data) {
				return
			}
			rest = rest[min(len(data)+more, len(rest)):]
		}
	}
}

// first returns the data of the first chunk with a name.
func first(all iter.Seq2[string, []byte], name string) []byte {
	for is, data := range all {
		if is == name {
			return data
		}
	}
	return nil
}
