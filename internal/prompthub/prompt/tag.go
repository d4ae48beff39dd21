package prompt

import "prompthub/internal/fault"

// A Tag is a topic: 1 to 40 of a-z 0-9 - . +, beginning with a letter or digit.
type Tag string

const maxTagLen = 40

const tagRule = "a tag has 1 to 40 of the characters a-z 0-9 - . + and begins with a letter or a digit"

// ParseTag reads a tag in either case. It trims nothing. The error is a
// *fault.Error of the kind Invalid.
func ParseTag(s string) (Tag, error) {
	if s == "" || len(s) > maxTagLen {
		return "", fault.New(fault.Invalid, tagRule)
	}
	tag := []byte(s)
	for i, c := range tag {
		if c >= 'A' && c <= 'Z' {
			// By hand: Unicode would also make a k of the Kelvin sign.
			c += 'a' - 'A'
			tag[i] = c
		}
		if !tagByte(c, i == 0) {
			return "", fault.New(fault.Invalid, tagRule)
		}
	}
	return Tag(tag), nil
}

func tagByte(c byte, first bool) bool {
	if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
		return true
	}
	return !first && (c == '-' || c == '.' || c == '+')
}
