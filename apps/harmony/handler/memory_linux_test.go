//go:build !race

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/png"
	"os"
	"regexp"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/api"
	"prompthub/internal/testing/apptest"
)

// progressive is a JPEG file of a side, in which every coefficient of three components is kept
// until the last scan, and which has no scan but the first.
func progressive(side int) string {
	var b bytes.Buffer
	segment := func(marker byte, body ...byte) {
		b.Write([]byte{0xff, marker})
		_ = binary.Write(&b, binary.BigEndian, uint16(len(body)+2))
		b.Write(body)
	}
	b.Write([]byte{0xff, 0xd8})
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	segment(0xc2, 8, byte(side>>8), byte(side), byte(side>>8), byte(side), 3, 1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0)
	segment(0xc4, append([]byte{0, 1}, make([]byte, 16)...)...) // one code, of one bit: no difference
	segment(0xda, 3, 1, 0, 2, 0, 3, 0, 0, 0, 0)
	blocks := ((side + 7) / 8) * ((side + 7) / 8)
	b.Write(make([]byte, 3*blocks/8+1))
	b.Write([]byte{0xff, 0xd9})
	return b.String()
}

// TestMemoryOfPictures: the program has less than 700 MB while pictures of every kind are sent at
// once. They are the largest that it takes, so this costs some seconds; the race detector needs
// more memory than that.
func TestMemoryOfPictures(t *testing.T) {
	if testing.Short() {
		t.Skip("decodes the largest pictures")
	}
	t.Parallel()
	k := &killed{t: t, data: t.TempDir(), kept: map[string]bool{}, count: map[string]int{}}
	defer k.start()()
	s := ask[api.Session](t, 201, "POST", k.at+"/auth/register", "", newcomer("anna"))
	var deep bytes.Buffer
	require.NoError(t, (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&deep, image.NewNRGBA64(image.Rect(0, 0, 5000, 5000))))
	var wg sync.WaitGroup
	for _, file := range []string{progressive(5000), deep.String(), progressive(5000)} {
		wg.Go(func() {
			status, answer := apptest.Send(t, "POST", k.at+"/users/"+s.User.UserID+"/images", file, "Content-Type", "image/png", "Authorization", "Bearer "+s.AccessToken)
			if status != 201 {
				t.Error(status, answer)
			}
		})
	}
	wg.Wait()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", k.pid))
	require.NoError(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(text)
	require.NotNil(t, found)
	most, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	t.Logf("%d MB at most", most>>10)
	require.Less(t, most>>10, 700)
}
