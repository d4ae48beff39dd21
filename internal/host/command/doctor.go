package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/azure"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	// examineWithin is how long one look may take.
	examineWithin = 10 * time.Second
	// doctorsOwn tries the right to write, and is taken away at once.
	doctorsOwn = "doctor.txt"
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
leaves nothing behind. With an address and neither AzureWebJobsStorage nor --data it examines the service
there, and neither the settings nor a store of this machine. What somebody must mend is told after a "!",
with what to do, and the exit code is 1 then. With a deployment's settings in the environment and its
address in --url it examines that deployment.`,
		Setup: func(flags *flag.FlagSet) Action {
			data := DataFlag(flags)
			app := flags.String("app", ".", "`folder` with host.json and the folders of functions, in it or in functions; passed over where there is no host.json")
			url := flags.String("url", os.Getenv("FUNCTION_APP_URL"), "`address` of a service that runs, such as https://app.example.net; that of FUNCTION_APP_URL, which azd sets, unless it is given")
			within := flags.Duration("within", 0,
				"how long to ask the service at --url again if it is not well, as one that has just been deployed")
			asJSON := flags.Bool("json", false, "print each look as a line of JSON")
			return func(ctx context.Context, std Streams, _ []string) error {
				e := examination{data: *data, app: *app, url: strings.TrimRight(*url, "/"), within: *within}
				named := false
				flags.Visit(func(f *flag.Flag) { named = named || f.Name == "data" })
				e.elsewhere = e.url != "" && !OnAzure() && !named
				return printFacts(std.Out, s.examine(ctx, e), *asJSON)
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

// An examination says what is looked at.
type examination struct {
	data, app, url string
	within         time.Duration
	elsewhere      bool // settings and store are those of the service at url
}

func (s Service) examine(ctx context.Context, e examination) []Fact {
	var facts []Fact
	if !e.elsewhere {
		set, build, err := s.read()
		facts = append(facts, s.examineSettings(ctx, set, err))
		if err == nil {
			facts = append(facts, s.examineStore(ctx, set, build, e.data)...)
		}
	}
	facts = append(facts, s.examineFunctions(e.app)...)
	if e.url == "" {
		return facts
	}
	for until := time.Now().Add(e.within); ; {
		found, passes := s.examineService(ctx, e.url)
		if !passes || !time.Now().Before(until) || Sleep(ctx, askAgain) != nil {
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
	st.Existing = true // so that nothing is made
	a := build(set, st, slog.New(slog.DiscardHandler), nil)
	var facts []Fact
	if a.Refused != nil {
		facts = append(facts, wrong("Application", a.Refused,
			"Set what is missing, as the README of the application says."))
	}
	facts = append(facts, examineClock(ctx, "Clock of the account", st.Endpoint)...)
	facts = append(facts, examineEach(ctx, "Tables", a.Tables, func(ctx context.Context, name string) error {
		_, err := st.Tables.List(ctx, name, table.Range{}, 1, "")
		if err != nil {
			return err
		}
		// There is no such row, as a caller that may write is told.
		_, err = st.Tables.Write(ctx, name,
			table.Op{
				Kind: table.Delete,
				Row:  table.Row{Key: table.Key{Partition: "doctor", Row: "none"}, ETag: table.Any},
			})
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
		if _, err := st.Queues.Len(ctx, name); err != nil ||
			name != queue.Poison(strings.TrimSuffix(name, queue.Poison(""))) {
			return err // a message in a queue of jobs would be taken for one
		}
		sent, err := st.Queues.Send(ctx, name, doctorsOwn, examineWithin)
		if err != nil {
			return err
		}
		return st.Queues.Delete(ctx, name, sent)
	}))
	if containers := a.containers(); len(containers) > 0 {
		facts = append(facts, examineEach(ctx, "Containers", containers, func(ctx context.Context, name string) error {
			if _, err := st.Blobs.List(ctx, name, "", 1, ""); err != nil {
				return err
			}
			if err := st.Blobs.Put(ctx, name, doctorsOwn, nil); err != nil && !errors.Is(err, blob.ErrExists) {
				return err
			}
			return st.Blobs.Delete(ctx, name, doctorsOwn)
		}))
	}
	if slices.ContainsFunc(facts, Fact.ill) {
		return append([]Fact{{Name: "Data is in", Value: st.Where}}, facts...)
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
		if unreachable(err) || errors.As(err, new(*azure.NoTokenError)) {
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
	case errors.As(err, new(*azure.NoTokenError)):
		return "Sign in with az login, or name the identity in AzureWebJobsStorage__credential and __clientId where the program runs as a function app, and look whether the function app has it."
	case azure.Unentered(err):
		return "Look whether the firewall of the account lets this network in, and whether who asks is of its tenant, or has a key that is valid."
	case azure.Forbidden(err):
		return "Give who asks, which is you here and the function app's identity there, the roles Storage Table Data Contributor, Storage Queue Data Contributor and Storage Blob Data Contributor on the account; a new role takes some minutes."
	case errors.Is(err, blob.ErrNoContainer):
		return "The deployment makes it, and some the service when it starts: run azd provision, restart the service, and read in its log why it cannot. Look also whether CONTAINER_PREFIX is that of the service."
	case errors.As(err, new(table.NoTableError)), errors.Is(err, queue.ErrNoQueue):
		return "The service makes it when it starts: restart it, and read in its log why it cannot. Look also whether TABLE_PREFIX and QUEUE_PREFIX are those of the service."
	case unreachable(err):
		return "Look whether the account's name is right, and whether its firewall lets this network in."
	}
	return "Read what the account says; if it goes on, ask the support of the account with the number of the request."
}

// examineClock compares the clock of a service, which every answer has, with that of this machine.
func examineClock(ctx context.Context, name, url string) []Fact {
	answer, err := fetch(ctx, http.MethodGet, url, nil, nil)
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
	side := "behind"
	switch {
	case at.Add(time.Second).Before(a.began):
		apart = a.began.Sub(at)
	case at.After(a.ended):
		apart, side = at.Sub(a.ended), "ahead of"
	}
	if apart > maxSkew {
		f.Value = fmt.Sprintf("is %s %s the clock of this machine", apart.Round(time.Second), side)
		f.Alert = fmt.Sprintf("Set the one that is wrong, most likely that of this machine, by NTP: clocks may differ by %s, and the account refuses requests of one that is a quarter of an hour wrong.", maxSkew)
	}
	return []Fact{f}
}

// examineFunctions compares host.json and the folders of functions with those that the program was
// built with.
func (s Service) examineFunctions(app string) []Fact {
	const name = "Functions"
	text, err := os.ReadFile(filepath.Join(app, "host.json"))
	if s.Release == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	differ, err := differences(s.Release, "host.json", text, err)
	facts := []Fact{{Name: "host.json", Value: "is that of this release"}}
	if err != nil {
		facts[0] = wrong("host.json", err, "Take the host.json of the release that runs.")
	}
	if len(differ) > 0 {
		facts[0].Value = strings.Join(differ, "; ")
		facts[0].Alert = "Take the host.json of the release that runs, and set values of your own in the application's settings, AzureFunctionsJobHost__ and the name in host.json with __ between its parts."
	}
	folders := filepath.Join(app, "functions")
	if _, err := os.Stat(folders); errors.Is(err, fs.ErrNotExist) {
		folders = app // as it is deployed
	}
	files, err := filepath.Glob(filepath.Join(folders, "*", "function.json"))
	if err != nil {
		return append(facts, wrong(name, err, "Name the folder in --app."))
	}
	deployed := map[string]bool{}
	for _, file := range files {
		deployed[filepath.Base(filepath.Dir(file))] = true
	}
	entries, err := fs.ReadDir(s.Release, "functions")
	if err != nil {
		return append(facts, wrong(name, err, "Build the program anew."))
	}
	var missing, changed []string
	for _, e := range entries {
		if !deployed[e.Name()] {
			missing = append(missing, e.Name())
			continue
		}
		delete(deployed, e.Name())
		text, err := os.ReadFile(filepath.Join(folders, e.Name(), "function.json"))
		differ, err := differences(s.Release, "functions/"+e.Name()+"/function.json", text, err)
		if err != nil {
			changed = append(changed, err.Error())
		}
		for _, d := range differ {
			changed = append(changed, e.Name()+": "+d)
		}
	}
	switch unknown := slices.Sorted(maps.Keys(deployed)); {
	case len(missing) > 0:
		facts = append(facts, Fact{
			Name: name, Value: "no folder for " + strings.Join(missing, ", "),
			Alert: "Deploy the folders of this release: what has none is never run by the host.",
		})
	case len(changed) > 0:
		facts = append(facts, Fact{Name: name, Value: strings.Join(changed, "; "), Alert: "Deploy the folders of the release that runs; the host does not load a function that it cannot read, and runs another one than the program expects."})
	case len(unknown) > 0:
		facts = append(facts, Fact{
			Name: name, Value: "the program does not know " + strings.Join(unknown, ", "),
			Alert: "Deploy program and folders of the same release: the host sends what this program refuses, and sets the messages aside.",
		})
	default:
		facts = append(facts, Fact{Name: name, Value: fmt.Sprintf("the %d of this release", len(entries))})
	}
	return facts
}

// differences compares a file of JSON, which was read unless err says why not, with that of a
// release.
func differences(release fs.FS, name string, text []byte, err error) ([]string, error) {
	own, ownErr := fs.ReadFile(release, name)
	if err := errors.Join(err, ownErr); err != nil {
		return nil, err
	}
	var is, want any
	if err := errors.Join(json.Unmarshal(text, &is), json.Unmarshal(own, &want)); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return compare("", is, want), nil
}

// compare tells where a value of JSON differs from the one that is wanted.
func compare(at string, is, want any) (all []string) {
	a, isObject := is.(map[string]any)
	b, wantObject := want.(map[string]any)
	c, isList := is.([]any)
	d, wantList := want.([]any)
	switch {
	case isObject && wantObject:
		names := maps.Clone(a)
		maps.Copy(names, b)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, compare(strings.TrimPrefix(at+"."+name, "."), a[name], b[name])...)
		}
	case isList && wantList && len(c) == len(d):
		for i := range c {
			all = append(all, compare(fmt.Sprintf("%s[%d]", at, i), c[i], d[i])...)
		}
	case !reflect.DeepEqual(is, want):
		all = []string{fmt.Sprintf("%s is %s and not %s", at, asJSON(is), asJSON(want))}
	}
	return all
}

// asJSON writes a value that was read from JSON. One that is missing is null.
func asJSON(v any) string {
	text, _ := json.Marshal(v) // it was read from JSON
	return string(text)
}

// examineService asks a service that runs, and tells whether what is wrong may pass, as when it
// starts.
func (s Service) examineService(ctx context.Context, url string) (facts []Fact, passes bool) {
	const name = "Service"
	answer, err := fetch(ctx, http.MethodGet, url+s.Health, nil, nil)
	if err != nil {
		return []Fact{wrong(name, err, "Look whether the address is right and whether the function app is started.")},
			true
	}
	facts = answer.clock("Clock of the service")
	var health struct {
		Version string `json:"version"`
	}
	if answer.status != http.StatusOK || json.Unmarshal(answer.body, &health) != nil {
		f := Fact{
			Name: name, Value: fmt.Sprintf("GET %s was answered %d", s.Health, answer.status),
			Alert: "The host runs no handler, or another application: read the host's log, and look whether the release is of this machine's kind (linux, amd64).",
		}
		switch {
		case answer.status == http.StatusNotFound && len(answer.body) == 0:
			f.Value = fmt.Sprintf("GET %s was answered a bare 404 by a host that does not know its function", s.Health)
			f.Alert = "Deploy the folders of functions of the release that runs, and read in the host's log why it did not load them."
		case answer.status == http.StatusForbidden:
			f.Alert = "The function app is stopped, or its address rules (ALLOWED_IP_RANGES) keep this machine out: start it, or ask from another network."
		}
		return append(facts, f), true
	}
	own, _ := Built()
	f := Fact{Name: name, Value: "answers, version " + health.Version}
	if health.Version != own {
		f.Value += ", and this program is " + own
	}
	facts = append(facts, f)
	answer, err = fetch(ctx, http.MethodGet, url+s.Ready, nil, nil)
	switch {
	case err != nil:
		return append(facts, wrong("Store of the service", err, askOnce)), true
	case answer.status != http.StatusOK:
		passes = !strings.HasPrefix(answer.problem(), string(httpjson.NotConfigured))
		f := Fact{Name: "Store of the service", Value: answer.problem(), Alert: "Mend what it says: the service answers nothing else until then. Run doctor with its settings to see more."}
		if passes {
			f.Alert = "Look whether the identity of the function app has its roles on the account, and whether the account lets it in; the log of the service has what the account answers. Run doctor with its settings to see more."
		}
		facts = append(facts, f)
	default:
		facts = append(facts, Fact{Name: "Store of the service", Value: "answers"})
	}
	more, err := s.examineHost(ctx, url)
	facts = append(facts, more...)
	if err == nil {
		more, err = s.examineRoutes(ctx, url)
		facts = append(facts, more...)
	}
	return facts, passes || err != nil
}

// filled are the parts of a route that a request fills.
var filled = regexp.MustCompile(`\{[^}]*\}`)

// examineRoutes asks for something at the route of each function of the release that answers
// requests: the host answers by itself for those that it does not know. It asks without an identity
// for things that do not exist, so nothing is changed.
func (s Service) examineRoutes(ctx context.Context, url string) ([]Fact, error) {
	if s.Release == nil {
		return nil, nil
	}
	const name = "Routes"
	files, err := fs.Glob(s.Release, "functions/*/function.json")
	if err != nil {
		return nil, err
	}
	var unknown []string
	asked := 0
	for _, file := range files {
		var f struct {
			Bindings []struct {
				Type    string   `json:"type"`
				Route   string   `json:"route"`
				Methods []string `json:"methods"`
			} `json:"bindings"`
		}
		text, err := fs.ReadFile(s.Release, file)
		if err := errors.Join(err, json.Unmarshal(text, &f)); err != nil {
			return []Fact{wrong(name, err, "Build the program anew.")}, nil
		}
		for _, b := range f.Bindings {
			if b.Type != "httpTrigger" || strings.HasPrefix(b.Route, "{") {
				continue // the host has a page of its own at the root
			}
			method := http.MethodGet
			if !slices.Contains(b.Methods, "get") {
				method = http.MethodPost
			}
			answer, err := fetch(ctx, method, url+"/"+filled.ReplaceAllString(b.Route, "doctor"), nil, nil)
			if err != nil {
				return []Fact{wrong(name, err, askOnce)}, err
			}
			if asked++; answer.status == http.StatusNotFound && len(answer.body) == 0 {
				unknown = append(unknown, path.Base(path.Dir(file)))
			}
		}
	}
	f := Fact{Name: name, Value: fmt.Sprintf("the host knows all %d functions that answer requests", asked)}
	if len(unknown) > 0 {
		f.Value = "the host does not know " + strings.Join(unknown, ", ")
		f.Alert = "Deploy the folders of functions of the release that runs, and read in the host's log why it did not load them."
	}
	return []Fact{f}, nil
}

// askOnce is what to do when an answer is missing among others that came.
const askOnce = "Ask again: the service was there a moment ago."

// examineHost tells what the host that runs the service is, whether requests in chunks come
// through, as C# sends them, and what the address of a caller is there. The error is that of a
// request without an answer.
func (s Service) examineHost(ctx context.Context, url string) ([]Fact, error) {
	f := Fact{Name: "Bodies in chunks", Value: "come through"}
	answer, err := fetch(ctx, http.MethodPost, url+cmp.Or(s.Posts, s.Health), nil,
		io.MultiReader(strings.NewReader("{}")))
	switch {
	case err != nil:
		return []Fact{wrong(f.Name, err, askOnce)}, err
	case answer.status == http.StatusInternalServerError && len(answer.body) == 0:
		// The platform chooses the version of its host, so there is nothing to mend.
		f.Value = "are answered a bare 500 by the host, an old one, which forwards requests: until it is a newer one, clients in C# must send a Content-Length"
	case len(answer.body) == 0:
		f.Value = fmt.Sprintf("are answered a bare %d by the host, which sends the handler no POST %s",
			answer.status, cmp.Or(s.Posts, s.Health))
		f.Alert = "Deploy the folders of functions of the release that runs, and read in the host's log which it did not load."
	}
	var plain, claimed arrived
	for seen, header := range map[*arrived]http.Header{
		&plain: {askArrived: {"yes"}},
		&claimed: {
			askArrived: {"yes"}, "Client-Ip": {notMine}, "X-Forwarded-For": {notMine},
			"X-Azure-Clientip": {notMine},
		},
	} {
		answer, err := fetch(ctx, http.MethodGet, url+s.Health, header, nil)
		if err != nil {
			return []Fact{f, wrong("Host", err, askOnce)}, err
		}
		_ = json.Unmarshal(answer.body, seen) // a service without a host tells nothing
	}
	if plain.Mode == "" {
		return []Fact{f}, nil
	}
	return []Fact{
		f,
		{
			Name:  "Host",
			Value: fmt.Sprintf("version %s, %s requests", cmp.Or(plain.Host, "unknown"), plain.Mode),
		},
		plain.address(claimed, url),
	}, nil
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
func fetch(ctx context.Context, method, url string, header http.Header, body io.Reader) (a fetched, err error) {
	ctx, cancel := context.WithTimeout(ctx, examineWithin)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, url, body)
	if err != nil {
		return a, err
	}
	maps.Copy(req.Header, header)
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
