package meettest

import (
	"bytes"
	"image"
	"image/png"
	"strings"

	"github.com/stretchr/testify/require"
)

// PNG is a file with a small picture.
var PNG = func() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

// Stored returns how many files a container has.
func (w *World) Stored(container string) int {
	w.T.Helper()
	page, err := w.Blobs.List(w.T.Context(), container, "", 100, "")
	require.NoError(w.T, err)
	return len(page.Items)
}

// FileOf returns the file that the address of a picture names.
func FileOf(url string) string { return url[strings.LastIndexByte(url, '/')+1:] }
