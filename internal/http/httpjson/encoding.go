package httpjson

import (
	"strconv"
	"strings"
)

// TakesGzip reports whether a client that sent these values of Accept-Encoding takes gzip.
func TakesGzip(accepted []string) bool {
	for part := range strings.SplitSeq(strings.Join(accepted, ","), ",") {
		name, quality, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), ";")
		if strings.EqualFold(name, "gzip") {
			q, err := strconv.ParseFloat(strings.TrimPrefix(quality, "q="), 64)
			return quality == "" || err == nil && q > 0
		}
	}
	return false
}
