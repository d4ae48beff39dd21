//go:build !unix

package embedded

import "os"

// sameOwner does nothing where files have no owner of this kind.
func sameOwner(_, _ string) error { return nil }

// ownerOfDir does nothing either.
func ownerOfDir(*os.File) error { return nil }
