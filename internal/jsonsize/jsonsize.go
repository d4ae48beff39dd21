// Package jsonsize tells how much a JSON value has before anything is made of it. Two bytes of JSON
// can become some hundred in memory: an empty object in a list becomes a value of a Go type.
package jsonsize

import (
	"fmt"

	"prompthub/internal/fault"
)

// Most is how many parts a JSON value may have that a caller sends. It is more than any prompt has
// that keeps to its limits: its config has 65,536 characters, which are 32,768 parts at most.
const Most = 50_000

// TooManyParts is the code of JSON that has more, and of other lists in files that are too long.
const TooManyParts fault.Code = "TOO_MANY_PARTS"

// Parts returns how many elements and members JSON has. An empty list or object counts as one more.
// Of broken JSON it counts at least those that stand before the first error.
func Parts(b []byte) (n int) {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case ',', '[', '{':
			n++
		case '"':
			for i++; i < len(b) && b[i] != '"'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		}
	}
	return n
}

// Check refuses JSON of more than Most parts.
func Check(b []byte) error {
	if Parts(b) <= Most {
		return nil
	}
	return fault.Coded(fault.Invalid, TooManyParts,
		fmt.Sprintf("the JSON has more than %d elements and members: send fewer at once", Most))
}
