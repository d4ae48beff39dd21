package git

import (
	"compress/zlib"
	"crypto/sha1" //nolint:gosec // git ends packs so
	"encoding/binary"
	"fmt"
)

// MaxPack is how many bytes a pack may have.
const MaxPack = 32 << 20

const (
	maxUnpacked = 4 * MaxPack // bytes of the objects of a pack, so that packing takes bounded time
	maxObjects  = 500_000     // ids that are kept while a pack is made
)

// Refusals of a fetch whose pack would be over a bound.
var (
	tooLarge = refuse("this is larger than %d MiB%s", MaxPack>>20, askForLess)
	tooLong  = refuse("this is larger than %d MiB unpacked%s", maxUnpacked>>20, askForLess)
	tooMany  = refuse("this has more than %d files and folders%s", maxObjects, askForLess)
)

const askForLess = ": clone with --depth 1, or a smaller repository"

// kinds of objects in a pack.
const (
	commitKind = 1
	treeKind   = 2
	blobKind   = 3
)

const (
	sideBand   = 5  // bytes before the data of a packet: its size and the number of its band
	packHeader = 12 // bytes
)

// A pack is a pack of whole objects, in the packets of the band for data.
type pack struct {
	packets        [][]byte
	size, unpacked int
	objects        uint32
	zip            *zlib.Writer
}

func newPack() *pack {
	p := &pack{packets: [][]byte{make([]byte, sideBand, 4<<10)}}
	_, _ = p.Write(make([]byte, packHeader))          // end fills it
	p.zip, _ = zlib.NewWriterLevel(p, zlib.BestSpeed) // a third of the time, for a few bytes in a hundred
	return p
}

// Write adds bytes to the pack.
func (p *pack) Write(b []byte) (int, error) {
	n := len(b)
	if p.size += n; p.size > MaxPack {
		return 0, tooLarge
	}
	for len(b) > 0 {
		last := &p.packets[len(p.packets)-1]
		fits := min(len(b), maxLine-len(*last))
		if fits == 0 {
			p.packets = append(p.packets, make([]byte, sideBand, maxLine))
			continue
		}
		*last, b = append(*last, b[:fits]...), b[fits:]
	}
	return n, nil
}

// add adds an object.
func (p *pack) add(kind byte, b []byte) error {
	p.objects++
	if p.unpacked += len(b); p.unpacked > maxUnpacked {
		return tooLong
	}
	// Four bits of the size and the kind, then seven bits each; the highest tells that more follow.
	size := len(b)
	head := []byte{kind<<4 | byte(size&0xf)}
	for size >>= 4; size > 0; size >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(size&0x7f))
	}
	if _, err := p.Write(head); err != nil {
		return err
	}
	p.zip.Reset(p)
	if _, err := p.zip.Write(b); err != nil {
		return err
	}
	return p.zip.Close()
}

// end returns the packets of the whole pack.
func (p *pack) end() ([][]byte, error) {
	header := append(p.packets[0][:sideBand], "PACK\x00\x00\x00\x02"...)
	binary.BigEndian.AppendUint32(header, p.objects)
	sum := sha1.New() //nolint:gosec // as above
	for _, b := range p.packets {
		sum.Write(b[sideBand:])
	}
	if _, err := p.Write(sum.Sum(nil)); err != nil {
		return nil, err
	}
	for _, b := range p.packets {
		copy(b, fmt.Appendf(nil, "%04x\x01", len(b)))
	}
	return p.packets, nil
}
