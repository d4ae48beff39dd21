package blob

import (
	"fmt"
	"regexp"
	"strings"
)

// The checks return an error that wraps ErrInvalid where a call breaks a limit of the contract.
// Implementations make them before anything else, so that none is more lenient than the others. The
// errors repeat no name: names hold user ids, and errors reach logs.

// types are the endings of names, and what they mean.
var types = []struct{ ending, media string }{
	{".jpg", "image/jpeg"},
	{".png", "image/png"},
	{".webp", "image/webp"},
	{".gif", "image/gif"},
	{".json", "application/json"},
	{".txt", "text/plain; charset=utf-8"},
	{".jsonl.gz", "application/gzip"},
}

// Type returns the media type of a blob, by its name.
func Type(name string) string {
	for _, t := range types {
		if strings.HasSuffix(name, t.ending) {
			return t.media
		}
	}
	return ""
}

var (
	containerName = regexp.MustCompile(`^[a-z0-9](-?[a-z0-9])*$`)
	partOfName    = regexp.MustCompile(`^[a-z0-9._-]*[a-z0-9_-]$`)
	startOfName   = regexp.MustCompile(`^[a-z0-9._/-]*$`)
)

// CheckContainer checks the name of a container: 3 to 63 of a to z, 0 to 9 and single hyphens
// between them.
func CheckContainer(name string) error {
	if len(name) < 3 || len(name) > 63 || !containerName.MatchString(name) {
		return fmt.Errorf("%w: the name of a container", ErrInvalid)
	}
	return nil
}

// CheckName checks the name of a container and that of a blob in it: parts of a to z, 0 to 9, ".",
// "_" and "-", joined by slashes. No part ends with a dot. The last part, and no other, has one of
// the endings of Type, so that in a file system no file has the name of a folder.
func CheckName(container, name string) error {
	if err := CheckContainer(container); err != nil {
		return err
	}
	parts := strings.Split(name, "/")
	if len(name) > MaxName || len(parts) > MaxParts {
		return fmt.Errorf("%w: the name of a blob is too long", ErrInvalid)
	}
	for i, part := range parts {
		if last := i == len(parts)-1; len(part) > MaxPart || !partOfName.MatchString(part) ||
			last != (Type(part) != "") {
			return fmt.Errorf("%w: the name of a blob", ErrInvalid)
		}
	}
	return nil
}

// CheckPut checks the arguments of Put.
func CheckPut(container, name string, body []byte) error {
	if len(body) > MaxBytes {
		return fmt.Errorf("%w: a blob of %d bytes, want at most %d", ErrInvalid, len(body), MaxBytes)
	}
	return CheckName(container, name)
}

// CheckList checks the arguments of List.
func CheckList(container, prefix string, limit int) error {
	if err := CheckContainer(container); err != nil {
		return err
	}
	if len(prefix) > MaxName || !startOfName.MatchString(prefix) {
		return fmt.Errorf("%w: the beginning of the names of blobs", ErrInvalid)
	}
	if limit < 1 || limit > MaxPage {
		return fmt.Errorf("%w: %d blobs, want 1 to %d", ErrInvalid, limit, MaxPage)
	}
	return nil
}
