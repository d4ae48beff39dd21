// Package blob is the contract of a store of small files that never change, such as pictures: what
// Azure Blob Storage gives, and no more. A blob is addressed by a container and a name; it is
// written once, whole, and read whole.
//
// The implementations are azure (Blob Storage and Azurite), embedded (files in a folder) and memory
// (for tests). blobtest holds the suite that all pass.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"
)

// The limits that every implementation enforces.
const (
	MaxBytes = 16 << 20 // bytes of a blob
	MaxName  = 512      // characters of a name
	MaxPart  = 200      // characters of a part of a name, between slashes
	MaxParts = 8        // parts of a name
	MaxPage  = 1000     // blobs of one page
)

// The errors a caller branches on. Any other error means that the outcome of a Put or Delete is
// unknown: it may have landed, may land within the minute, or never. A caller of Put sends it again
// then, and ErrExists means that it landed.
var (
	ErrNotFound = errors.New("blob not found") // Get of a missing blob
	ErrExists   = errors.New("blob exists")    // Put of an existing blob
	// the request was refused before it did anything: back off, then send it again
	ErrBusy = errors.New("storage is throttling")
	// a limit above is broken, or the request makes no sense: a defect of the caller
	ErrInvalid = errors.New("invalid blob or request")
	// it was never created: a defect of the caller or of the settings
	ErrNoContainer = errors.New("the container does not exist")
)

// A Blob is a file.
type Blob struct {
	Body   []byte
	Type   string    // media type, which follows from the name
	ETag   string    // of the body, with its quotes: the same for the same bytes, in every store
	Stored time.Time // when it was put, to the second
}

// An Item is a blob in a list.
type Item struct {
	Name   string
	Size   int64
	Stored time.Time
}

// A Page is a part of a list.
type Page struct {
	Items []Item
	Next  string // where the next page begins; empty on the last one
}

// A Store is a set of named containers. All methods may be called at once from many goroutines.
type Store interface {
	// Put makes a blob, or returns ErrExists and leaves the one that is there as it is.
	Put(ctx context.Context, container, name string, body []byte) error

	// Get returns a blob, or ErrNotFound.
	Get(ctx context.Context, container, name string) (Blob, error)

	// Delete removes a blob. It succeeds where there is none.
	Delete(ctx context.Context, container, name string) error

	// List returns blobs whose names begin with prefix in the order of their names, bytes compared,
	// up to limit (1 to MaxPage) of them. next is "" or the Next of the page before. A page may have
	// fewer, also none, before the last one.
	List(ctx context.Context, container, prefix string, limit int, next string) (Page, error)

	// Create makes the containers that do not exist yet.
	Create(ctx context.Context, containers ...string) error
}

// ETag returns the ETag of a body.
func ETag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}
