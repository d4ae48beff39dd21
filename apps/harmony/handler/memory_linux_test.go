//go:build !race

package main

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/testing/apptest"
)

// progressive is a JPEG file of a side, in which every coefficient of some components is kept until
// the last scan, and which has no scan but the first.
func progressive(side, components int) []byte {
	var b bytes.Buffer
	segment := func(marker byte, body ...byte) {
		b.Write([]byte{0xff, marker})
		_ = binary.Write(&b, binary.BigEndian, uint16(len(body)+2))
		b.Write(body)
	}
	b.Write([]byte{0xff, 0xd8})
	segment(0xee, append([]byte("Adobe"), make([]byte, 7)...)...)
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	frame := []byte{8, byte(side >> 8), byte(side), byte(side >> 8), byte(side), byte(components)}
	scan := []byte{byte(components)}
	for i := range components {
		frame, scan = append(frame, byte(i+1), 0x11, 0), append(scan, byte(i+1), 0)
	}
	segment(0xc2, frame...)
	segment(0xc4, append([]byte{0, 1}, make([]byte, 16)...)...) // one code, of one bit: no difference
	segment(0xda, append(scan, 0, 0, 0)...)
	blocks := ((side + 7) / 8) * ((side + 7) / 8)
	b.Write(make([]byte, components*blocks/8+1))
	b.Write([]byte{0xff, 0xd9})
	return b.Bytes()
}

// interlaced is a PNG file of 5,000 by 5,000 pixels of 8 bytes each, which come in seven passes.
func interlaced() []byte {
	var b, pixels bytes.Buffer
	chunk := func(name string, data []byte) {
		_ = binary.Write(&b, binary.BigEndian, uint32(len(data)))
		named := append([]byte(name), data...)
		b.Write(named)
		_ = binary.Write(&b, binary.BigEndian, crc32.ChecksumIEEE(named))
	}
	z := zlib.NewWriter(&pixels)
	for _, p := range [][2]int{
		{625, 625},
		{625, 625},
		{1250, 625},
		{1250, 1250},
		{2500, 1250},
		{2500, 2500},
		{5000, 2500},
	} {
		for range p[1] {
			_, _ = z.Write(make([]byte, 1+8*p[0]))
		}
	}
	_ = z.Close()
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk("IHDR", []byte{0, 0, 0x13, 0x88, 0, 0, 0x13, 0x88, 16, 6, 0, 0, 1})
	chunk("IDAT", pixels.Bytes())
	chunk("IEND", nil)
	return b.Bytes()
}

// lossless is a WebP file of 1 MiB, all of it tables: as many symbols as there can be for each bit.
// It says to have 65,536 groups of them, which the decoder makes room for first.
func lossless() []byte {
	var b []byte
	n := 0
	put := func(bits, value int) {
		for i := range bits {
			if n%8 == 0 {
				b = append(b, 0)
			}
			b[n/8] |= byte(value>>i&1) << (n % 8)
			n++
		}
	}
	put(8, 0x2f)
	put(14, 4)
	put(14, 4)
	put(4, 0)
	put(1, 0)       // no transform
	put(5, 1|11<<1) // a cache of 2,048 colors
	put(4, 1)       // groups by tiles of 4 by 4 pixels
	put(1, 0)       // no cache of the tiles
	for range 2 {   // a tile is of the last group
		put(3, 1|1<<2)
		put(8, 0xff)
	}
	for range 3 {
		put(4, 1)
	}
	table := func(at, repeated, more int) { // of symbols whose codes have one length
		put(5, (at-3)<<1)
		for i := range at + 1 {
			one := 0
			if i == 8 || i == at { // the code for repetitions, and that for the length
				one = 1
			}
			put(3, one)
		}
		put(4, 1|4<<1)
		put(10, 1+repeated+more-2)
		put(1, 0)
		for range repeated {
			put(1, 1)
			put(2, 3)
		}
		for range more {
			put(1, 0)
		}
	}
	for len(b) < 1<<20-300 {
		table(14, 341, 1)
		for range 3 {
			table(11, 42, 3)
		}
		put(4, 1)
	}
	file := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(b)+12+len(b)%2))
	file = binary.LittleEndian.AppendUint32(append(file, "WEBPVP8L"...), uint32(len(b)))
	return append(append(file, b...), make([]byte, len(b)%2)...)
}

// TestMemoryOfPictures: the program has less than 700 MB while pictures of every kind are sent at
// once. They are the largest that it takes, so this costs some seconds; the race detector needs
// more memory than that.
func TestMemoryOfPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes the largest pictures")
	}
	t.Parallel()
	p := process(t)
	defer p.Start()()
	files := [][]byte{progressive(5000, 3), progressive(5000, 4), interlaced(), lossless()}
	var wg sync.WaitGroup
	for i, file := range files {
		s := ask[api.Session](t, 201, "POST", p.URL+"/auth/register", "", newcomer(fmt.Sprint("member", i)))
		wg.Go(func() {
			for { // until it is the turn of this one
				status, answer := apptest.Send(t, "POST", p.URL+"/users/"+s.User.UserID+"/images", string(file),
					"Content-Type", "image/png", "Authorization", "Bearer "+s.AccessToken)
				if status == 503 {
					continue
				}
				if want := map[bool]int{true: 422, false: 201}[bytes.HasPrefix(file, []byte("RIFF"))]; status != want {
					t.Error(i, status, answer)
				}
				return
			}
		})
	}
	wg.Wait()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.PID))
	require.NoError(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	require.NotNil(t, found)
	most, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	t.Logf("%d MB at most", most>>10)
	require.Less(t, most>>10, 700)
}
