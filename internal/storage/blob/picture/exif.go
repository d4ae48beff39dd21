package picture

import (
	"bytes"
	"encoding/binary"
)

// exifOfJPEG returns the EXIF data of a JPEG file, nil if there is none.
func exifOfJPEG(file []byte) []byte {
	for marker, body := range segments(file) {
		if exif, ok := bytes.CutPrefix(body, []byte("Exif\x00\x00")); ok && marker == application1 {
			return exif
		}
		if marker == scan {
			break // from here on there are pixels
		}
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
