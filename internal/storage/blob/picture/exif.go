package picture

import (
	"bytes"
	"encoding/binary"
)

// exifOfJPEG returns the EXIF data of a JPEG file, nil if there is none.
func exifOfJPEG(file []byte) []byte {
	for rest := file[2:]; len(rest) >= 4 && rest[0] == 0xff; {
		marker, n := rest[1], int(binary.BigEndian.Uint16(rest[2:]))
		if marker == 0xda || n < 2 || len(rest) < 2+n { // from here on there are pixels
			return nil
		}
		if exif, ok := bytes.CutPrefix(rest[4:2+n], []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return exif
		}
		rest = rest[2+n:]
	}
	return nil
}

// chunk returns the data of the first chunk with a name, of a PNG file (whose chunks have their
// length first, and a checksum) or of a WebP file.
func chunk(rest []byte, name string, order binary.ByteOrder, isPNG bool) []byte {
	for len(rest) >= 8 {
		size, kind, more := order.Uint32(rest[4:]), string(rest[:4]), uint32(0)
		if isPNG {
			size, kind, more = order.Uint32(rest), string(rest[4:8]), 4
		} else if size%2 == 1 {
			more = 1 // chunks have an even length
		}
		if uint64(size) > uint64(len(rest)-8) {
			return nil
		}
		if kind == name {
			return rest[8 : 8+size]
		}
		rest = rest[8+size:]
		rest = rest[min(int(more), len(rest)):]
	}
	return nil
}

// orientation returns the orientation that EXIF data say, 1 for upright.
func orientation(exif []byte) int {
	exif = bytes.TrimPrefix(exif, []byte("Exif\x00\x00"))
	if len(exif) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.BigEndian
	if exif[0] == 'I' {
		order = binary.LittleEndian
	}
	at := uint64(order.Uint32(exif[4:]))
	if at+2 > uint64(len(exif)) {
		return 1
	}
	const tag, entry = 0x0112, 12
	for i := range uint64(order.Uint16(exif[at:])) {
		from := at + 2 + i*entry
		if from+entry > uint64(len(exif)) {
			return 1
		}
		if order.Uint16(exif[from:]) == tag {
			return int(order.Uint16(exif[from+8:]))
		}
	}
	return 1
}

// frameOfWebP returns the largest size that a frame of a WebP file says it has.
func frameOfWebP(rest []byte) (w, h int) {
	if b := chunk(rest, "VP8 ", binary.LittleEndian, false); len(b) >= 10 {
		w, h = int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff)
	}
	if b := chunk(rest, "VP8L", binary.LittleEndian, false); len(b) >= 5 {
		bits := binary.LittleEndian.Uint32(b[1:])
		w, h = max(w, int(bits&0x3fff)+1), max(h, int(bits>>14&0x3fff)+1)
	}
	return w, h
}
