package promptdb_test

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain lets the heap grow further between collections: thousands of small stores come and go
// here, and with the usual setting collecting them is nearly half of the work.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
