package command

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	// examineWithin is how long one look may take.
	examineWithin = 10 * time.Second
	// askAgain is the pause before a service that is not well is asked again.
	askAgain = time.Second
	// maxSkew is how far two clocks may differ; the protocols of all applications count on it.
	maxSkew = rowstore.ClockSkew
)

// Doctor looks at all that a service needs, one thing after the other, so that one fault hides no
// other.
func (s Service) Doctor() Command {
	return Command{
		Name: "doctor", Short: "look at settings, store, queues, clock, functions and a deployment, and say what is wrong and what to do",
		Long: `Looks at the settings of the environment, at the store that they or --data name, its tables, queues,
containers and clock, at host.json and the folders of functions in --app, and at the service at --url. It
changes nothing. Without AzureWebJobsStorage and a store in --data, the service at --url is examined, and
not these settings. What somebody must mend is told after a "!", with what to do, and the exit code is 1
then. With a deployment's settings in the environment and its address in --url it examines that deployment.`,
		Setup: func(flags *flag.FlagSet) Action {
			data := DataFlag(flags)
			app := flags.String("app", ".", "`folder` with host.json and the folders of functions, in it or in functions; passed over where there is no host.json")
			url := flags.String("url", os.Getenv("FUNCTION_APP_URL"), "`address` of a service that runs, such as https://app.example.net; that of FUNCTION_APP_URL, which azd sets, unless it is given")
			within := flags.Duration("within", 0, "how long to ask the service at --url again if it is not well, as one that has just been deployed")
			asJSON := flags.Bool("json", false, "print each look as a line of JSON")
			return func(ctx context.Context, std Streams, _ []string) error {
				return printFacts(std.Out, s.examine(ctx, *data, *app, strings.TrimRight(*url, "/"), *within), *asJSON)
			}
		},
	}
}

// errIll ends a look that found something.
var errIll = errors.New("doctor: somebody must mend what is marked")

func printFacts(w io.Writer, facts []Fact, asJSON bool) error {
	var err error
	if asJSON {
		lines := json.NewEncoder(w)
		for _, f := range facts {
			err = errors.Join(err, lines.Encode(f))
		}
	} else {
		err = writeFacts(w, facts)
	}
	if err == nil && slices.ContainsFunc(facts, Fact.ill) {
		return errIll
	}
	return err
}

// wrong returns the fact that something is wrong.
func wrong(name string, err error, alert string) Fact {
	return Fact{Name: name, Value: err.Error(), Alert: alert}
}

func (s Service) examine(ctx context.Context, data, app, url string, within time.Duration) []Fact {
	set, build, err := s.read()
	_, missing := os.Stat(s.storeFile(data))
	elsewhere := url != "" && !OnAzure() && missing != nil // settings and store are those of the service at url
	var facts []Fact
	if !elsewhere {
		facts = append(facts, s.examineSettings(ctx, set, err))
	}
	if !elsewhere && err == nil {
		facts = append(facts, s.examineStore(ctx, set, build, data)...)
	}
	if err != nil {
		build = nil
	}
	facts = append(facts, s.examineFunctions(set, build, app)...)
	if url == "" {
		return facts
	}
	for until := time.Now().Add(within); ; {
		found := s.examineService(ctx, url)
		if !slices.ContainsFunc(found, Fact.ill) || !time.Now().Before(until) || Sleep(ctx, askAgain) != nil {
			return append(facts, found...)
		}
	}
}

func (s Service) examineSettings(ctx context.Context, set Settings, err error) Fact {
	if set.Local = !OnAzure(); err == nil && !set.Local {
		err = set.namesQueues()
	}
	if err == nil {
		_, _, err = s.signing(ctx, set)
	}
	if err != nil {
		return wrong("Settings", err, "Set what is missing or wrong, in the environment or in the application's settings, and start the service anew.")
	}
	return Fact{Name: "Settings", Value: "taken"}
}

// examineStore looks at a storage account by itself, and at an embedded store with the process that
// has it open.
func (s Service) examineStore(ctx context.Context, set Settings, build Build, data string) []Fact {
	if !OnAzure() {
		st, err := s.statusOf(ctx, data, false)
		if err != nil {
			return []Fact{wrong("Store", err, "Name the directory of the store with --data; start the service once if there is none yet, or restore a backup if the file is damaged.")}
		}
		return st.Facts(time.Now())
	}
	st, err := s.openAzureFor(data, set.QueuePrefix)
	if err != nil {
		return []Fact{wrong("Store", err, "Name the storage account in AzureWebJobsStorage, or by AzureWebJobsStorage__accountName and an identity.")}
	}
	a := build(set, st, slog.New(slog.DiscardHandler), nil)
	if a.Refused != nil {
		return []Fact{wrong("Application", a.Refused, "Set what is missing, as the README of the application says.")}
	}
	facts := append([]Fact{{Name: "Data is in", Value: st.Where}}, examineClock(ctx, "Clock of the account", st.Endpoint)...)
	facts = append(facts, examineEach(ctx, "Tables", a.Tables, func(ctx context.Context, name string) error {
		_, err := st.Tables.List(ctx, name, table.Range{}, 1, "")
		if err != nil {
			return err
		}
		// There is no such row, as a caller that may write is told.
		_, err = st.Tables.Write(ctx, name, table.Op{Kind: table.Delete, Row: table.Row{Key: table.Key{Partition: "doctor", Row: "none"}, ETag: table.Any}})
		if errors.Is(err, table.ErrNotFound) {
			return nil
		}
		return err
	}))
	var queues []string
	for _, name := range a.queues() {
		queues = append(queues, name, queue.Poison(name))
	}
	facts = append(facts, examineEach(ctx, "Queues", queues, func(ctx context.Context, name string) error {
		_, err := st.Queues.Len(ctx, name)
		return err
	}))
	if a.Contents != nil && st.Blobs != nil {
		blobs := blob.Prefixed(st.Blobs, a.Contents.Prefix)
		facts = append(facts, examineEach(ctx, "Containers", a.Contents.Containers, func(ctx context.Context, name string) error {
			_, err := blobs.List(ctx, name, "", 1, "")
			return err
		}))
	}
	if slices.ContainsFunc(facts, Fact.ill) {
		return facts
	}
	r := running{service: s, app: a, store: st}
	status, err := r.status(ctx, false)
	if err != nil {
		return append(facts, wrong("State", err, advice(err)))
	}
	return append(facts, status.Facts(time.Now())...)
}

// examineEach looks at some things of a kind, and tells of the first that is not well and how many
// are not.
func examineEach(ctx context.Context, kind string, names []string, look func(context.Context, string) error) Fact {
	f := Fact{Name: kind, Value: fmt.Sprintf("%d answer", len(names))}
	var bad []string
	var first error
	for _, name := range names {
		err := func() error {
			ctx, cancel := context.WithTimeout(ctx, examineWithin)
			defer cancel()
			return look(ctx, name)
		}()
		if err == nil {
			continue
		}
		if bad = append(bad, name); first == nil {
			first = err
		}
		if unreachable(err) {
			break // nor are the others to be had
		}
	}
	if first != nil {
		f.Value = fmt.Sprintf("%s: %v", strings.Join(bad, ", "), first)
		f.Alert = advice(first)
	}
	return f
}

func unreachable(err error) bool {
	var n net.Error
	return errors.As(err, &n) || errors.Is(err, context.DeadlineExceeded)
}

// advice returns what to do about an error of a storage account.
func advice(err error) string {
	switch {
	case azure.Forbidden(err):
		return "Give the identity of the service the roles Storage Table Data Contributor, Storage Queue Data Contributor and Storage Blob Data Contributor on the account; a new role takes some minutes. With a connection string: take a key that is valid."
	case errors.As(err, new(table.NoTableError)), errors.Is(err, queue.ErrNoQueue), errors.Is(err, blob.ErrNoContainer):
		return "The service makes it when it starts: restart it, and read in its log why it cannot. Look also whether TABLE_PREFIX and QUEUE_PREFIX are those of the service."
	case unreachable(err):
		return "Look whether the account's name is right, and whether its firewall lets this network in."
	}
	return "Read what the account says; if it goes on, ask the support of the account with the number of the request."
}

// examineClock compares the clock of a service, which every answer has, with that of this machine.
func examineClock(ctx context.Context, name, url string) []Fact {
	answer, err := fetch(ctx, http.MethodGet, url, nil)
	if err != nil {
		return []Fact{wrong(name, err, advice(err))}
	}
	return answer.clock(name)
}

// clock compares the clock in an answer with that of this machine. The answer was made between two
// times, and says its second.
func (a fetched) clock(name string) []Fact {
	at, err := http.ParseTime(a.date)
	if err != nil {
		return nil
	}
	f := Fact{Name: name, Value: "agrees with the clock of this machine"}
	var apart time.Duration
	switch {
	case at.Add(time.Second).Before(a.began):
		apart = a.began.Sub(at)
	case at.After(a.ended):
		apart = at.Sub(a.ended)
	}
	if apart > maxSkew {
		f.Value = fmt.Sprintf("is %s from the clock of this machine", apart.Round(time.Second))
		f.Alert = fmt.Sprintf("Set the clock of this machine by NTP: clocks may differ by %s, and the account refuses requests of one that is a quarter of an hour wrong.", maxSkew)
	}
	return []Fact{f}
}

// hostFile is what matters of host.json.
type hostFile struct {
	CustomHandler struct {
		Forwards bool `json:"enableForwardingHttpRequest"`
		Proxies  bool `json:"enableProxyingHttpRequest"`
	} `json:"customHandler"`
}

// functionFile is what matters of function.json.
type functionFile struct {
	Bindings []struct {
		Type  string `json:"type"`
		Queue string `json:"queueName"`
	} `json:"bindings"`
}

// examineFunctions compares host.json and the folders of functions with what the program does.
func (s Service) examineFunctions(set Settings, build Build, app string) []Fact {
	const name = "Functions"
	text, err := os.ReadFile(filepath.Join(app, "host.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var host hostFile
	if err == nil {
		err = json.Unmarshal(text, &host)
	}
	if err != nil {
		return []Fact{wrong("host.json", err, "Take the host.json of the release that runs.")}
	}
	facts := []Fact{{Name: "host.json", Value: "hosts forward or proxy requests"}}
	if !host.CustomHandler.Forwards || !host.CustomHandler.Proxies {
		facts[0].Value = "enableForwardingHttpRequest or enableProxyingHttpRequest is not true"
		facts[0].Alert = "Set both to true: newer hosts proxy then, older ones forward, and without either the host sends no request as it came."
	}
	folders := filepath.Join(app, "functions")
	if _, err := os.Stat(folders); errors.Is(err, fs.ErrNotExist) {
		folders = app // as it is deployed
	}
	jobs, err := jobsIn(folders)
	if err != nil {
		return append(facts, wrong(name, err, "Take the folders of functions of the release that runs; the host does not load one that it cannot read."))
	}
	if build == nil {
		return facts
	}
	st := Store{Tables: memory.NewTables(), Queues: memory.NewQueues(time.Now)} // which are not asked
	if s.Blobs {
		st.Blobs = memory.NewBlobs(time.Now)
	}
	a := build(set, st, slog.New(slog.DiscardHandler), nil)
	if a.Refused != nil {
		return append(facts, Fact{Name: name, Value: "not compared, as the program is not built with these settings: " + a.Refused.Error()})
	}
	var missing []string
	has := map[string]bool{}
	for _, t := range a.Triggers {
		if has[t.Name] = true; !slices.Contains(jobs, t.Name) {
			missing = append(missing, t.Name)
		}
	}
	unknown := slices.DeleteFunc(jobs, func(name string) bool { return has[name] })
	switch {
	case len(missing) > 0:
		return append(facts, Fact{Name: name, Value: "no folder for " + strings.Join(missing, ", "), Alert: "Deploy the folders of this release: what has none is never run by the host."})
	case len(unknown) > 0 && OnAzure(): // elsewhere a program has fewer jobs
		return append(facts, Fact{Name: name, Value: "the program does not know " + strings.Join(unknown, ", "), Alert: "Deploy program and folders of the same release: the host sends what this program refuses, and sets the messages aside."})
	}
	return append(facts, Fact{Name: name, Value: fmt.Sprintf("a folder for each of %d jobs", len(has))})
}

// jobsIn returns the functions in a folder that no request starts.
func jobsIn(dir string) (jobs []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*", "function.json"))
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var f functionFile
		if err := json.Unmarshal(text, &f); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		for _, b := range f.Bindings {
			if b.Type == "queueTrigger" || b.Type == "timerTrigger" {
				jobs = append(jobs, filepath.Base(filepath.Dir(file)))
			}
		}
	}
	return jobs, nil
}

// examineService asks a service that runs.
func (s Service) examineService(ctx context.Context, url string) []Fact {
	const name = "Service"
	answer, err := fetch(ctx, http.MethodGet, url+s.Health, nil)
	if err != nil {
		return []Fact{wrong(name, err, "Look whether the address is right and whether the function app is started.")}
	}
	facts := answer.clock("Clock of the service")
	var health struct {
		Version string `json:"version"`
	}
	if answer.status != http.StatusOK || json.Unmarshal(answer.body, &health) != nil {
		return append(facts, Fact{
			Name: name, Value: fmt.Sprintf("GET %s was answered %d", s.Health, answer.status),
			Alert: "The host runs no handler, or another application: read the host's log, and look whether the release is of this machine's kind (linux, amd64).",
		})
	}
	own, _ := Built()
	f := Fact{Name: name, Value: "answers, version " + health.Version}
	if health.Version != own {
		f.Value += ", and this program is " + own
	}
	facts = append(facts, f)
	answer, err = fetch(ctx, http.MethodGet, url+s.Ready, nil)
	switch {
	case err != nil:
		return append(facts, wrong("Store of the service", err, "Ask again: the service was there a moment ago."))
	case answer.status != http.StatusOK:
		facts = append(facts, Fact{Name: "Store of the service", Value: answer.problem(), Alert: "Mend what it says: the service answers nothing else until then. Run doctor with its settings to see more."})
	default:
		facts = append(facts, Fact{Name: "Store of the service", Value: "answers"})
	}
	return append(facts, s.examineHost(ctx, url))
}

// examineHost tells whether requests in chunks come through, as C# sends them. A host that forwards
// answers them itself, with a bare 500.
func (s Service) examineHost(ctx context.Context, url string) Fact {
	f := Fact{Name: "Bodies in chunks", Value: "come through"}
	answer, err := fetch(ctx, http.MethodPost, url+s.Health, io.MultiReader(strings.NewReader("{}")))
	switch {
	case err != nil:
		f.Value, f.Alert = err.Error(), "Ask again: the service was there a moment ago."
	case answer.status == http.StatusInternalServerError && len(answer.body) == 0:
		f.Value = "are answered a bare 500 by the host: it is an old one, which forwards requests"
		f.Alert = "Take a newer version of the Functions host and see that host.json has enableProxyingHttpRequest; until then clients in C# must send a Content-Length."
	}
	return f
}

// A fetched is an answer, of which the beginning of the body was read.
type fetched struct {
	status       int
	date         string
	body         []byte
	began, ended time.Time // the request and its answer
}

// problem returns what an answer complains of.
func (a fetched) problem() string {
	var p struct {
		Detail string `json:"detail"`
		Code   string `json:"code"`
	}
	if json.Unmarshal(a.body, &p) != nil || p.Detail == "" {
		return fmt.Sprintf("was answered %d", a.status)
	}
	return strings.TrimSpace(p.Code + " " + p.Detail)
}

// fetch makes a request, whose body it sends in chunks.
func fetch(ctx context.Context, method, url string, body io.Reader) (a fetched, err error) {
	ctx, cancel := context.WithTimeout(ctx, examineWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return a, err
	}
	a.began = time.Now()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return a, err
	}
	defer resp.Body.Close()
	a.ended, a.status, a.date = time.Now(), resp.StatusCode, resp.Header.Get("Date")
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return a, err
}
