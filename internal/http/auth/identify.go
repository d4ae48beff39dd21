package auth

import "net/http"

// Identify says who sends a request. It returns the zero User for nobody, and a *fault.Error of
// the kind Unauthenticated where somebody claims to be a user and is not believed.
type Identify func(*http.Request) (User, error)
