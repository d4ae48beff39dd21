package langfuse

import (
	"cmp"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
)

// statuses are those of Langfuse where they are not ours, with what it calls such errors.
var statuses = map[int]struct {
	status int
	name   string
}{
	http.StatusBadRequest:          {http.StatusBadRequest, "InvalidRequestError"},
	http.StatusUnprocessableEntity: {http.StatusBadRequest, "InvalidRequestError"},
	http.StatusUnauthorized:        {http.StatusUnauthorized, "UnauthorizedError"},
	http.StatusForbidden:           {http.StatusForbidden, "ForbiddenError"},
	http.StatusNotFound:            {http.StatusNotFound, "LangfuseNotFoundError"},
	http.StatusMethodNotAllowed:    {http.StatusMethodNotAllowed, "MethodNotAllowedError"},
	http.StatusConflict:            {http.StatusConflict, "LangfuseConflictError"},
	http.StatusTooManyRequests:     {http.StatusTooManyRequests, "RateLimitError"},
	http.StatusServiceUnavailable:  {http.StatusServiceUnavailable, "ServiceUnavailableError"},
}

// broken is the message of an error that names rules.
const broken = "Invalid request data"

// An issue is a rule that a request breaks.
type issue struct {
	Code    string `json:"code"`
	Path    []any  `json:"path"`
	Message string `json:"message"`
}

// A failure is the body of every answer that reports an error.
type failure struct {
	Message string     `json:"message"`
	Error   any        `json:"error"` // the name of the error, or issues
	Code    fault.Code `json:"code"`  // as in PromptHub's own API; Langfuse has none
}

// fail answers with a problem.
func fail(w http.ResponseWriter, p *httpjson.Problem) {
	status, f := p.Status, failure{Message: p.Detail, Error: http.StatusText(p.Status), Code: p.Code}
	if known, ok := statuses[p.Status]; ok {
		status, f.Error = known.status, known.name
	}
	if len(p.Errors) > 0 {
		f.Message, f.Error = broken, issues(p.Errors)
	}
	write(w, status, f)
}

func issues(fields []httpjson.Field) []issue {
	list := make([]issue, len(fields))
	for i, f := range fields {
		list[i] = issue{Code: "custom", Path: path(f.Location), Message: f.Message}
		if file, ok := f.Value.(string); ok && f.Location == "files" && file != "" {
			list[i].Path = append(list[i].Path, file)
		}
	}
	return list
}

// members are those of ours that have another name here.
var members = map[string]string{
	"text": "prompt", "messages": "prompt", "message": "commitMessage",
	"label": "newLabels", "placeholder": "name", "ownTags": "tags",
}

// path returns the name of a field of ours, such as messages[1].content, as Langfuse writes it.
func path(name string) []any {
	separates := func(r rune) bool { return r == '.' || r == '[' || r == ']' }
	list := []any{}
	for part := range strings.FieldsFuncSeq(name, separates) {
		if n, err := strconv.Atoi(part); err == nil {
			list = append(list, n)
			continue
		}
		list = append(list, cmp.Or(members[part], part))
	}
	return list
}

// wrong reports one broken rule.
func wrong(name, message string) error {
	return &fault.Error{Kind: fault.Invalid, Text: broken, Fields: []fault.Field{{Name: name, Message: message}}}
}

// write answers with JSON, or with nothing but a status.
func write(w http.ResponseWriter, status int, body any) {
	if body == nil {
		w.WriteHeader(status)
		return
	}
	b, err := json.Marshal(body)
	if err != nil {
		panic(err) // of texts, numbers and JSON that was checked
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(b) // the client has gone away
}
