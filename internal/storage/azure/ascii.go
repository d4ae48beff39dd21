package azure

import (
	"bytes"
	"encoding/hex"
	"io"
	"net/http"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
)

// asciiBody is a policy that escapes every character of a JSON body which is not ASCII. It
// is for Azurite only, which decodes each chunk of a body on its own and so breaks the
// characters that straddle two (Azure/Azurite issue 2670). Batches are not affected.
type asciiBody struct{}

func (asciiBody) Do(req *policy.Request) (*http.Response, error) {
	contentType := req.Raw().Header.Get("Content-Type")
	if req.Body() == nil || !strings.HasPrefix(contentType, "application/json") {
		return req.Next()
	}
	body, err := io.ReadAll(req.Body())
	if err != nil {
		return nil, err
	}
	if err := req.SetBody(streaming.NopCloser(bytes.NewReader(ascii(body))), contentType); err != nil {
		return nil, err
	}
	return req.Next()
}

// ascii returns JSON text with the same meaning, all of it ASCII.
func ascii(text []byte) []byte {
	out := make([]byte, 0, len(text)+len(text)/2)
	for len(text) > 0 {
		r, n := utf8.DecodeRune(text)
		text = text[n:]
		if r < utf8.RuneSelf {
			out = append(out, byte(r))
			continue
		}
		var buf [2]uint16
		for _, unit := range utf16.AppendRune(buf[:0], r) {
			out = append(out, '\\', 'u')
			out = hex.AppendEncode(out, []byte{byte(unit >> 8), byte(unit)})
		}
	}
	return out
}
