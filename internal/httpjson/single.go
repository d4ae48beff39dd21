package httpjson

import (
	"fmt"
	"net/http"
	"strings"

	"prompthub/internal/fault"
)

// RepeatedHeader is the code of a refusal of a header that may be there once and is there twice.
const RepeatedHeader fault.Code = "REPEATED_HEADER"

// singles are the headers that have one value. X-MS-CLIENT-PRINCIPAL-NAME is none of them: nothing
// reads it, and a name may have a comma.
var singles = []string{
	"Authorization", "Idempotency-Key", "Origin", "X-Api-Key", "X-Azure-Fdid", "X-Dev-User",
	"X-Ms-Client-Principal", "X-Ms-Client-Principal-Id", "X-Ms-Client-Principal-Idp",
}

// Single refuses requests that have one of singles twice. The Functions host joins such lines by a
// comma and a space, so a value with these is refused too: who calls must not be a mixture of two.
func Single(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, name := range singles {
			if all := r.Header.Values(name); len(all) > 1 || len(all) == 1 && strings.Contains(all[0], ", ") {
				Refuse(w, r, fault.Coded(fault.Malformed, RepeatedHeader,
					fmt.Sprintf("the header %s has more than one value, or one with a comma and a space; send it once, with one value", name)))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
