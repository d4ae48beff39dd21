package functiontest

import (
	"errors"
	"net/http"
	"slices"
	"strings"
)

// maxAnswerHead is how many bytes the headers of an answer may have.
const maxAnswerHead = 64 << 10

// passed returns the headers of an answer as the client sees them.
func passed(from http.Header) (http.Header, error) {
	to, size := make(http.Header), 0
	for name, values := range from {
		for _, v := range values {
			size += len(name) + len(": \r\n") + len(v)
			if !ascii(v) {
				return nil, errors.New("a header of the answer is not ASCII")
			}
			switch {
			case v == "" || name == "Transfer-Encoding":
			case name == "Allow":
				for method := range strings.SplitSeq(v, ",") {
					to.Add(name, strings.TrimSpace(method))
				}
			default:
				to.Add(name, v)
			}
		}
	}
	if size > maxAnswerHead {
		return nil, errors.New("the headers of the answer are too long")
	}
	if lines := to.Values("Cache-Control"); len(lines) > 0 {
		to.Set("Cache-Control", cacheControl(lines))
	}
	return to, nil
}

// directives are those of Cache-Control in the order in which the host writes them. Others follow.
var directives = []string{
	"no-store", "no-transform", "only-if-cached", "public", "must-revalidate", "proxy-revalidate",
	"no-cache", "max-age", "s-maxage",
	"max-stale", "min-fresh", "private",
}

func cacheControl(lines []string) string {
	var all []string
	for part := range strings.SplitSeq(strings.Join(lines, ","), ",") {
		if part = strings.TrimSpace(part); part != "" {
			all = append(all, part)
		}
	}
	place := func(directive string) int {
		name, _, _ := strings.Cut(strings.ToLower(directive), "=")
		if i := slices.Index(directives, name); i >= 0 {
			return i
		}
		return len(directives)
	}
	slices.SortStableFunc(all, func(a, b string) int { return place(a) - place(b) })
	return strings.Join(all, ", ")
}
