package auth

import "net/http"

// Identify says who sends a request. It returns the zero User for an anonymous caller, and a
// *fault.Error of the kind Unauthenticated for a caller whose claim is not believed.
type Identify func(*http.Request) (User, error)
