// Package release holds the files that the host reads, as the program was built with them.
package release

import "embed"

// Files are host.json and the folders of functions.
//
//go:embed host.json functions
var Files embed.FS
