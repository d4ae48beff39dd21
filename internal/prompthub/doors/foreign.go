package doors

import (
	"log/slog"
	"net/http"
	"time"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/jsonsize"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/telemetry"
)

// A Foreign is what a door needs that stands in for another service, whose clients come with access
// tokens of ours. Every field is required but those that say what their zero means.
type Foreign struct {
	Door
	MaxText   int // UTF-16 code units of a text; zero means prompt.DefaultMaxText
	Origins   httpjson.Origins
	Log       *slog.Logger
	Now       func() time.Time
	Telemetry *telemetry.Telemetry // nil collects nothing
}

// Handler returns the routes of a door as they are served. Problems are told as it tells them,
// those too that arise before a route is found.
func (f Foreign) Handler(problem func(http.ResponseWriter, *httpjson.Problem), routes http.Handler) http.Handler {
	watch := httpjson.Observer{Log: f.Log, Now: f.Now, Telemetry: f.Telemetry, WriteProblem: problem}
	return watch.Observe(httpjson.Secure(
		httpjson.CORS(f.Origins, httpjson.Single(httpjson.JoinQuery(httpjson.Buffered(routes))))))
}

// MaxFilesBody is how large the body of a request with files may be, in bytes: those of a version,
// as base64, and the rest of the prompt.
const MaxFilesBody = 12 << 20

// MaxFilesAnswer is how many bytes files have as JSON in one answer: more would not be let out.
const MaxFilesAnswer = 7 << 20

// Take lets a request in, reads the body of a POST or PATCH, of at most limit bytes, and has act
// answer while there is a place for it. It answers with an error of the steps before, or of act.
func (f Foreign) Take(w http.ResponseWriter, r *http.Request, limit int64, act func(c Caller, body []byte) error) {
	if err := f.take(w, r, limit, act); err != nil {
		httpjson.Refuse(w, r, err)
	}
}

func (f Foreign) take(w http.ResponseWriter, r *http.Request, limit int64, act func(Caller, []byte) error) error {
	c, err := f.Door.Admit(w, r, Need{Users: true, Write: httpjson.IsWrite(r), Scope: Scope(r)})
	if err != nil {
		return err
	}
	var body []byte
	if r.Method == http.MethodPost || r.Method == http.MethodPatch {
		if body, err = f.Door.Admission.ReadBody(w, r, limit); err != nil {
			return err
		}
		if err := jsonsize.Check(body); err != nil {
			return err
		}
	}
	leave, err := f.Door.Admission.Enter(r.Context(), c.Key)
	if err != nil {
		return err
	}
	defer leave()
	return library.Told(c.User, act(c, body))
}
