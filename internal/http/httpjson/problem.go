package httpjson

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"net/http"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"prompthub/internal/fault"
)

// statuses says which status each kind of error has.
var statuses = map[fault.Kind]int{
	fault.Internal:             http.StatusInternalServerError,
	fault.Malformed:            http.StatusBadRequest,
	fault.Invalid:              http.StatusUnprocessableEntity,
	fault.Unauthenticated:      http.StatusUnauthorized,
	fault.Forbidden:            http.StatusForbidden,
	fault.NotFound:             http.StatusNotFound,
	fault.PreconditionRequired: http.StatusPreconditionRequired,
	fault.Stale:                http.StatusPreconditionFailed,
	fault.Conflict:             http.StatusConflict,
	fault.Gone:                 http.StatusGone,
	fault.Limited:              http.StatusTooManyRequests,
	fault.Unavailable:          http.StatusServiceUnavailable,
}

// Status returns the status of a kind of error.
func Status(k fault.Kind) int {
	if s, ok := statuses[k]; ok {
		return s
	}
	return http.StatusInternalServerError
}

// codes are those of a status alone, for refusals that name no code of their own.
var codes = map[int]fault.Code{
	http.StatusBadRequest:            "MALFORMED",
	http.StatusUnauthorized:          "UNAUTHENTICATED",
	http.StatusForbidden:             "FORBIDDEN",
	http.StatusNotFound:              "NOT_FOUND",
	http.StatusMethodNotAllowed:      "METHOD_NOT_ALLOWED",
	http.StatusRequestTimeout:        "BODY_TOO_SLOW",
	http.StatusConflict:              "CONFLICT",
	http.StatusGone:                  "GONE",
	http.StatusPreconditionFailed:    "STALE",
	http.StatusRequestEntityTooLarge: "BODY_TOO_LARGE",
	http.StatusUnsupportedMediaType:  "UNSUPPORTED_MEDIA_TYPE",
	http.StatusUnprocessableEntity:   "VALIDATION_ERROR",
	http.StatusPreconditionRequired:  "PRECONDITION_REQUIRED",
	http.StatusTooManyRequests:       "RATE_LIMITED",
	http.StatusInternalServerError:   "INTERNAL",
	http.StatusServiceUnavailable:    "UNAVAILABLE",
}

// Codes returns those of a status alone, in order.
func Codes() []fault.Code { return slices.Sorted(maps.Values(codes)) }

// NoSuchRoute is the code of a 404 for an address that the service does not have: it tells a client
// that it asked at the wrong place, and not for a thing that is missing.
const NoSuchRoute fault.Code = "NO_SUCH_ROUTE"

// Codes that any request may be answered with.
const (
	Busy           fault.Code = "BUSY"             // the service has no place for the request
	TooManyAtOnce  fault.Code = "TOO_MANY_AT_ONCE" // the caller has no place for another request
	BodyIncomplete fault.Code = "BODY_INCOMPLETE"  // the connection ended before the body did
	NotConfigured  fault.Code = "NOT_CONFIGURED"   // the service refuses a setting
	Unfinished     fault.Code = "UNFINISHED"       // the answer was cut off, and a change may have been made
)

// ProblemType is the media type of a Problem.
const ProblemType = "application/problem+json"

// A Problem is the body of every answer that reports an error, as RFC 9457 describes it.
type Problem struct {
	Title     string     `json:"title" doc:"What the status means" example:"Unprocessable Entity"`
	Status    int        `json:"status" doc:"The HTTP status" example:"422"`
	Code      fault.Code `json:"code" doc:"What is wrong, for programs: stable, where sentences may change" example:"VALIDATION_ERROR"`
	Detail    string     `json:"detail,omitempty" doc:"What is wrong with this request, and what to do" example:"the prompt breaks the rules named here"`
	Errors    []Field    `json:"errors,omitempty" nullable:"false" doc:"The rules that the request breaks"`
	RequestID string     `json:"requestId,omitempty" doc:"Names the request in the log of the server" example:"8b1f6a52-6c5a-4d0e-9f2c-3a1b7c9d0e4f"`
	Current   any        `json:"current,omitempty" doc:"With the status 412: the thing as it is now"`

	header http.Header
}

// A Field is one rule that a request breaks.
type Field struct {
	Location string     `json:"location,omitempty" doc:"Where in the request" example:"body.title"`
	Message  string     `json:"message,omitempty" doc:"What the rule asks for" example:"give the prompt a title"`
	Code     fault.Code `json:"code,omitempty" doc:"Which rule, for programs; absent if the code of the problem says enough" example:"TEXT_TOO_LONG"`
	Value    any        `json:"value,omitempty" doc:"What was sent, cut where it is long"`
}

// Error returns the detail.
func (p *Problem) Error() string { return p.Detail }

// GetStatus returns the status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders returns the headers that go with the problem.
func (p *Problem) GetHeaders() http.Header { return p.header }

// ContentType returns the media type of a problem in place of another.
func (p *Problem) ContentType(string) string { return ProblemType }

// SetHeader adds a header that goes with the problem.
func (p *Problem) SetHeader(name, value string) {
	if p.header == nil {
		p.header = http.Header{}
	}
	p.header.Set(name, value)
}

// NewProblem returns the problem that a status alone describes.
func NewProblem(ctx context.Context, status int, detail string) *Problem {
	return &Problem{
		Title: http.StatusText(status), Status: status, Code: codes[status],
		Detail: detail, RequestID: RequestID(ctx),
	}
}

const internalText = "something went wrong here; if it happens again, tell the operator the request id"

// Describe returns the problem that an error is; a *Problem is one already. Its cause is for the
// operator: it goes into the log line of the request and nowhere else.
func Describe(ctx context.Context, err error) *Problem {
	var p *Problem
	if errors.As(err, &p) {
		return p
	}
	var f *fault.Error
	if !errors.As(err, &f) {
		f = fault.Wrap(fault.Internal, "", err)
	}
	p = NewProblem(ctx, Status(f.Kind), f.Text)
	p.Code = cmp.Or(f.Code, p.Code)
	if p.Status == http.StatusInternalServerError {
		p.Detail = internalText
		note(ctx, err)
		return p
	}
	if f.Cause != nil {
		note(ctx, err)
	}
	for _, field := range f.Fields {
		p.Errors = append(p.Errors, Field{
			Location: field.Name, Message: field.Message,
			Code: field.Code, Value: Short(field.Value),
		})
	}
	switch f.Kind {
	case fault.Unauthenticated:
		p.SetHeader("WWW-Authenticate", "Bearer")
	case fault.Limited, fault.Unavailable:
		p.SetHeader("Retry-After", seconds(f.RetryAfter))
	}
	return p
}

const (
	defaultRetry = 2 * time.Second
	shortLen     = 100 // characters of a value that an error shows
)

// seconds returns a duration in whole seconds, never too early.
func seconds(d time.Duration) string {
	if d <= 0 {
		d = defaultRetry
	}
	return strconv.Itoa(int(math.Ceil(d.Seconds())))
}

// Short returns a value as an error may show it: a long text is cut, and a value that is neither a
// text, a number nor a boolean is left out.
func Short(v any) any {
	switch v := v.(type) {
	case string:
		if utf8.RuneCountInString(v) > shortLen {
			return string([]rune(v)[:shortLen]) + "…"
		}
		return v
	case bool, int, int64, float64:
		return v
	}
	return nil
}

// answer answers a request with a problem, in the form that its Observer says.
func answer(w http.ResponseWriter, r *http.Request, p *Problem) {
	write := recordOf(r.Context()).problem
	if write == nil {
		WriteProblem(w, p)
		return
	}
	maps.Copy(w.Header(), p.header)
	write(w, p)
}

// WriteProblem answers with a problem.
func WriteProblem(w http.ResponseWriter, p *Problem) {
	body, err := json.Marshal(p)
	if err != nil { // a current thing or a value that JSON cannot hold
		body = []byte(`{"title":"Internal Server Error","status":500,"code":"INTERNAL"}`)
		p = &Problem{Status: http.StatusInternalServerError}
	}
	body = append(body, '\n')
	h := w.Header()
	maps.Copy(h, p.header)
	h.Set("Content-Type", ProblemType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(p.Status)
	_, _ = w.Write(body) // the client has gone away
}
