package archive

import (
	"encoding/binary"
	"hash/crc32"
	"slices"
	"strings"

	"prompthub/internal/prompthub/prompt"
)

// The parts of an archive, as APPNOTE.TXT of PKWARE has them: numbers are little endian.
const (
	localSign     = "PK\x03\x04"
	directorySign = "PK\x01\x02"
	endSign       = "PK\x05\x06"
	largeEndSign  = "PK\x06\x06" // of ZIP64, with its locator

	localSize     = 30
	directorySize = 46
	endSize       = 22
	largeEndSize  = 56 + 20

	onUnix  = 3 // made on
	onMacOS = 19

	typeBits   = 0o170000 // of a mode of Unix
	folderType = 0o040000
	fileType   = 0o100000
	execBits   = 0o111
)

// Write returns an archive of files with paths that CheckPath takes. The same files give the same
// bytes in every release, as digests of archives are stored: so it uses no package that might pack
// otherwise some day, and packs nothing.
func Write(files []prompt.FileBytes) []byte {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b prompt.FileBytes) int { return strings.Compare(a.Path, b.Path) })
	size := endSize
	for _, f := range files {
		size += localSize + directorySize + 2*len(f.Path) + len(f.Bytes)
	}
	b := make([]byte, 0, size)
	var directory []byte
	put2, put4 := binary.LittleEndian.AppendUint16, binary.LittleEndian.AppendUint32
	for _, f := range files {
		const (
			version = 20       // of the format that a reader must know
			utf8    = 1 << 11  // the flag
			day     = 1<<5 | 1 // 1 January 1980
		)
		var head []byte // what both places say
		head = put2(put2(put2(head, version), utf8), 0)
		head = put2(put2(head, 0), day)
		head = put4(head, crc32.ChecksumIEEE(f.Bytes))
		head = put4(put4(head, uint32(len(f.Bytes))), uint32(len(f.Bytes)))
		head = put2(put2(head, uint16(len(f.Path))), 0)

		mode := uint32(fileType | 0o644)
		if f.Executable {
			mode = fileType | 0o755
		}
		directory = put2(append(directory, directorySign...), onUnix<<8|version)
		directory = put2(put2(put2(append(directory, head...), 0), 0), 0)
		directory = put4(put4(directory, mode<<16), uint32(len(b)))
		directory = append(directory, f.Path...)

		b = append(append(b, localSign...), head...)
		b = append(append(b, f.Path...), f.Bytes...)
	}
	at := len(b)
	b = append(append(b, directory...), endSign...)
	b = put2(put2(b, 0), 0)
	b = put2(put2(b, uint16(len(files))), uint16(len(files)))
	return put2(put4(put4(b, uint32(len(directory))), uint32(at)), 0)
}
