package api

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"slices"
)

// The page at /docs. It asks nobody but this API, and runs only its own script: the policy names
// the hash.
var (
	//go:embed docs/page.html
	docsHTML []byte
	//go:embed docs/page.css
	docsCSS []byte
	//go:embed docs/page.js
	docsJS []byte

	docsPage = bytes.Replace(bytes.Replace(docsHTML, []byte("{{css}}"), docsCSS, 1), []byte("{{js}}"), docsJS, 1)

	docsPolicy = "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"script-src " + hashOf(docsJS) + "; style-src " + hashOf(docsCSS)
)

func hashOf(b []byte) string {
	sum := sha256.Sum256(slices.Clone(b))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
