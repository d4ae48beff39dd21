package cursor_test

import (
	"fmt"

	"prompthub/internal/cursor"
)

// The scope holds every detail of the query but the page size, so a token of one list opens no
// other.
func Example() {
	token := cursor.Seal("newest tag=go", "2026|17")

	position, err := cursor.Open("newest tag=go", token)
	fmt.Println(position, err)
	_, err = cursor.Open("newest tag=rust", token)
	fmt.Println(err)
	// Output:
	// 2026|17 <nil>
	// invalid cursor
}
