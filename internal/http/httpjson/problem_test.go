package httpjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	secret := errors.New("secret")
	tests := []struct {
		name   string
		err    error
		status int
		detail string
		header http.Header
	}{
		{"malformed", fault.New(fault.Malformed, "m"), 400, "m", nil},
		{"invalid", fault.Wrap(fault.Invalid, "i", secret), 422, "i", nil},
		{
			"unauthenticated", fault.New(fault.Unauthenticated, "u"), 401, "u",
			http.Header{"Www-Authenticate": {"Bearer"}},
		},
		{"forbidden", fault.New(fault.Forbidden, "f"), 403, "f", nil},
		{"not found", fault.New(fault.NotFound, "n"), 404, "n", nil},
		{"precondition required", fault.New(fault.PreconditionRequired, "p"), 428, "p", nil},
		{"stale", fault.New(fault.Stale, "s"), 412, "s", nil},
		{"conflict", fault.New(fault.Conflict, "taken"), 409, "taken", nil},
		{"limited", fault.New(fault.Limited, "l"), 429, "l", http.Header{"Retry-After": {"2"}}},
		{"unavailable", &fault.Error{
			Kind: fault.Unavailable, Text: "a", RetryAfter: 2100 * time.Millisecond,
			Cause: secret,
		}, 503, "a", http.Header{"Retry-After": {"3"}}},
		{"internal", fault.Wrap(fault.Internal, "text", secret), 500, "", nil},
		{"unknown kind", fault.New(fault.Kind(99), "x"), 500, "", nil},
		{"no kind", secret, 500, "", nil},
		{"wrapped", fmt.Errorf("secret: %w", fault.New(fault.NotFound, "n")), 404, "n", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := httpjson.Describe(t.Context(), tt.err)
			require.Equal(t, tt.status, p.GetStatus())
			require.Equal(t, http.StatusText(tt.status), p.Title)
			if tt.status == 500 {
				require.Contains(t, p.Detail, "something went wrong")
			} else {
				require.Equal(t, tt.detail, p.Detail)
			}
			w := httptest.NewRecorder()
			httpjson.WriteProblem(w, p)
			require.Equal(t, tt.status, w.Code)
			require.Equal(t, "application/problem+json", w.Header().Get("Content-Type"))
			require.NotContains(t, w.Body.String(), "secret")
			require.True(t, json.Valid(w.Body.Bytes()))
			for name, values := range tt.header {
				require.Equal(t, values, w.Header()[name])
			}
		})
	}
}

func TestEveryKindHasAStatus(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for k := fault.Internal; k <= fault.Unavailable; k++ {
		require.False(t, seen[httpjson.Status(k)], "two kinds have the status %d", httpjson.Status(k))
		seen[httpjson.Status(k)] = true
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	err := &fault.Error{Kind: fault.Invalid, Text: "x", Fields: []fault.Field{
		{Name: "body.title", Message: "m", Value: strings.Repeat("é", 101)},
		{Name: "body.tags", Message: "m", Value: []string{"a"}},
		{Name: "query.limit", Message: "m", Value: 0},
		{Name: "body.active", Message: "m", Value: false},
	}}
	require.Equal(t, []httpjson.Field{
		{Location: "body.title", Message: "m", Value: strings.Repeat("é", 100) + "…"},
		{Location: "body.tags", Message: "m"},
		{Location: "query.limit", Message: "m", Value: 0},
		{Location: "body.active", Message: "m", Value: false},
	}, httpjson.Describe(t.Context(), err).Errors)
}

func TestProblemThatJSONCannotHold(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	httpjson.WriteProblem(w, &httpjson.Problem{Status: 412, Current: func() {}})
	require.Equal(t, 500, w.Code)
	require.True(t, json.Valid(w.Body.Bytes()))
}

// TestCodes holds that every refusal has a code: its own, or that of its kind.
func TestCodes(t *testing.T) {
	for kind := fault.Internal; kind <= fault.Unavailable; kind++ {
		p := httpjson.Describe(t.Context(), fault.New(kind, "no"))
		require.Regexp(t, "^[A-Z][A-Z_]+$", p.Code, kind)
		require.NotEqual(t, httpjson.NoSuchRoute, p.Code)
	}
	p := httpjson.Describe(t.Context(), &fault.Error{
		Kind: fault.Invalid, Code: "TOO_MUCH", Text: "no",
		Fields: []fault.Field{{Name: "a", Code: "A_LOT"}, {Name: "b"}},
	})
	require.Equal(t, fault.Code("TOO_MUCH"), p.Code)
	require.Equal(t, fault.Code("A_LOT"), p.Errors[0].Code)
	require.Empty(t, p.Errors[1].Code)
}
