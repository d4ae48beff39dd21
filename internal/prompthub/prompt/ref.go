package prompt

import (
	"fmt"
	"strconv"
	"strings"
)

// A Ref names a prompt, and which content of it, as people and scripts write it: NAME, NAME@LABEL,
// NAME@VERSION, each also with @HANDLE/ before it for a prompt of another user.
type Ref struct {
	Owner   string // a handle; "" where none is named
	Name    string // name, slug or id
	Version int64  // 0: none is named
	Label   string // "": none is named
}

// ParseRef reads a Ref.
func ParseRef(s string) (Ref, error) {
	r := Ref{Name: s}
	if rest, ok := strings.CutPrefix(s, "@"); ok {
		owner, name, both := strings.Cut(rest, "/")
		if !both || owner == "" {
			return r, fmt.Errorf("%q names nobody's prompt: write @HANDLE/NAME", s)
		}
		r.Owner, r.Name = owner, name
	}
	if i := strings.LastIndexByte(r.Name, '@'); i >= 0 {
		which := r.Name[i+1:]
		r.Name = r.Name[:i]
		if n, err := strconv.ParseInt(which, 10, 64); err == nil && n > 0 {
			r.Version = n
		} else {
			r.Label = which
		}
		if which == "" {
			return r, fmt.Errorf("%q ends with @: write a label or a version behind it", s)
		}
	}
	if r.Name == "" {
		return r, fmt.Errorf("%q names no prompt", s)
	}
	return r, nil
}
