package httpjson

import (
	"fmt"
	"net/http"
	"strings"

	"prompthub/internal/fault"
)

// RepeatedHeader is the code of a refusal of a header that may be there once and is there twice.
const RepeatedHeader fault.Code = "REPEATED_HEADER"

// singles are the headers that have one value, with what a second one makes of the request: the
// first say who calls. X-MS-CLIENT-PRINCIPAL-NAME is none of them: nothing reads it, and a name may
// have a comma.
var singles = []struct {
	name string
	kind fault.Kind
}{
	{"Authorization", fault.Unauthenticated},
	{"X-Api-Key", fault.Unauthenticated},
	{"X-Dev-User", fault.Unauthenticated},
	{"X-Ms-Client-Principal", fault.Unauthenticated},
	{"X-Ms-Client-Principal-Id", fault.Unauthenticated},
	{"X-Ms-Client-Principal-Idp", fault.Unauthenticated},
	{"Idempotency-Key", fault.Malformed},
	{"Origin", fault.Malformed},
	{"X-Azure-Fdid", fault.Malformed},
}

// Single refuses requests that have one of singles twice. The Functions host joins such lines by a
// comma and a space, so a value with these is refused too: a caller must not be a mixture of two.
func Single(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, s := range singles {
			if all := r.Header.Values(s.name); len(all) > 1 || len(all) == 1 && strings.Contains(all[0], ", ") {
				Refuse(w, r, fault.Coded(s.kind, RepeatedHeader,
					fmt.Sprintf("the header %s has more than one value, or one with a comma and a space; send it once, with one value", s.name)))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
