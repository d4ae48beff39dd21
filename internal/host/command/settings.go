package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kelseyhightower/envconfig"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/blob"
)

// Settings are what can be set of every application, by environment variables, which a function app
// calls application settings. The storage account is set by AzureWebJobsStorage and its parts,
// which the Functions host needs too and package azure reads. An application embeds them first
// among its own.
type Settings struct {
	// Port is where the custom handler listens on 127.0.0.1. The Functions host sets it. It
	// is read first: with it the handler can answer what is wrong with the others.
	Port uint16 `envconfig:"FUNCTIONS_CUSTOMHANDLER_PORT"`

	// Site is the name of the function app. The platform sets it, whose front end is then between
	// clients and the host.
	Site string `envconfig:"WEBSITE_SITE_NAME"`

	// Config says how callers are identified: AUTH_MODE and what the modes need. Not set: dev in
	// "local", refused elsewhere.
	auth.Config

	// QueuePrefix goes before the names of the queues, so that several applications can share a
	// storage account. Under the Functions host it must be set: function.json names the queues with
	// it, and the host resolves no empty setting. Elsewhere it may be empty.
	QueuePrefix string `envconfig:"QUEUE_PREFIX"`

	// Limits say how much callers may ask of one instance: LIMIT_WRITES, LIMIT_READS, their bursts and
	// LIMIT_AT_WORK. Beyond them the answer is 429 or 503.
	httpjson.Limits

	// Proxies are those of whom it is believed where a request comes from: FRONT_DOOR_ID and
	// TRUSTED_PROXIES. Not set: only programs on this machine, such as the Functions host and a
	// reverse proxy.
	httpjson.Proxies

	// Origins are the origins of pages elsewhere that may use the API from a browser, separated by
	// commas, such as https://app.example.com. Not set: none.
	Origins httpjson.Origins `envconfig:"CORS_ORIGINS"`

	// LogLevel is the least that is logged: debug, info, warn or error. At warn there
	// is no line for requests that went well.
	LogLevel slog.Level `envconfig:"LOG_LEVEL" default:"info"`

	// LogFormat is how "local" writes its log: text, also where it is not set, or json with a
	// document a line, as the custom handler always does.
	LogFormat LogFormat `envconfig:"LOG_FORMAT"`

	// Metrics is where "local" serves metrics to Prometheus, such as 127.0.0.1:9464. Without a host,
	// as :9464, it is the loopback address. Not set: nowhere.
	Metrics MetricsAddr `envconfig:"METRICS_ADDR"`

	// ForThisMachine is the name of a setting that an application sets by itself, with which "local"
	// listens on a loopback address alone.
	ForThisMachine string `ignored:"true"`
}

// A LogFormat is how a log is written.
type LogFormat string

// Decode reads a format.
func (f *LogFormat) Decode(s string) error {
	if s != "text" && s != "json" {
		return errors.New("want text or json")
	}
	*f = LogFormat(s)
	return nil
}

// handler returns what writes a log of a format.
func (f LogFormat) handler(w io.Writer, level slog.Leveler) slog.Handler {
	if f == "json" {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level})
	}
	return slog.NewTextHandler(w, &slog.HandlerOptions{Level: level})
}

// A MetricsAddr is an address on which metrics are served.
type MetricsAddr string

// Decode reads an address. One without a host is that of this machine alone.
func (a *MetricsAddr) Decode(s string) error {
	host, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return errors.New("want HOST:PORT, such as 127.0.0.1:9464")
	}
	*a = MetricsAddr(net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	return nil
}

// ReadSettings reads the environment into a pointer to a struct that embeds Settings. The error is
// an *auth.Refusal.
func ReadSettings(into interface{ checkQueues() error }) error {
	if err := envconfig.Process("", into); err != nil {
		var wrong *envconfig.ParseError
		if errors.As(err, &wrong) {
			why := wrong.Err.Error()
			if n := (*strconv.NumError)(nil); errors.As(wrong.Err, &n) {
				why = map[bool]string{true: "want true or false", false: "want a whole number"}[n.Func == "ParseBool"]
			}
			if wrong.Value == "" {
				why += ", or leave it out"
			}
			return &auth.Refusal{Setting: wrong.KeyName, Reason: fmt.Sprintf("cannot be %q: %s", wrong.Value, why)}
		}
		return err
	}
	return into.checkQueues()
}

// maxQueuePrefix leaves room for the names of the queues: Queue Storage takes 63 characters.
const maxQueuePrefix = 30

var queuePrefix = regexp.MustCompile(`^([a-z0-9](-?[a-z0-9])*-?)?$`)

func (s *Settings) checkQueues() error {
	if len(s.QueuePrefix) > maxQueuePrefix || !queuePrefix.MatchString(s.QueuePrefix) {
		return &auth.Refusal{
			Setting: "QUEUE_PREFIX",
			Reason: fmt.Sprintf(
				"is %q, want at most 30 lower case letters, digits and single hyphens, a letter or digit first",
				s.QueuePrefix),
		}
	}
	return nil
}

// namesQueues refuses settings with which the Functions host would not find the queues. The error
// is an *auth.Refusal.
func (s *Settings) namesQueues() error {
	if s.QueuePrefix == "" {
		return &auth.Refusal{
			Setting: "QUEUE_PREFIX",
			Reason:  "is not set: the Functions host needs it to find the queues",
		}
	}
	return nil
}

// tableName is what Table Storage takes for the name of a table.
var tableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,62}$`)

// CheckTables reports names of tables, prefix included, that the storage does not take, or that are
// the same to it. The error is an *auth.Refusal.
func CheckTables(names ...string) error {
	seen := make(map[string]bool)
	for _, name := range names {
		if !tableName.MatchString(name) {
			return &auth.Refusal{
				Setting: "TABLE_PREFIX",
				Reason:  fmt.Sprintf("or another TABLE_ setting gives the table name %q: want 3 to 63 letters and digits, a letter first", name),
			}
		}
		if seen[strings.ToLower(name)] {
			return &auth.Refusal{Setting: "TABLE_*", Reason: fmt.Sprintf("gives two tables the name %q", name)}
		}
		seen[strings.ToLower(name)] = true
	}
	return nil
}

// CheckContainers reports names of containers, prefix included, that the storage does not take, or
// that are the same. CONTAINER_PREFIX is a setting of the applications that keep blobs, as
// TABLE_PREFIX is: blob.Prefixed puts it before the names. The error is an *auth.Refusal.
func CheckContainers(names ...string) error {
	for i, name := range names {
		if blob.CheckContainer(name) != nil {
			return &auth.Refusal{Setting: "CONTAINER_PREFIX", Reason: fmt.Sprintf("gives the container name %q: want 3 to 63 lower case letters, digits and single hyphens, a letter or digit first and last", name)}
		}
		if slices.Contains(names[:i], name) {
			return &auth.Refusal{
				Setting: "CONTAINER_PREFIX",
				Reason:  fmt.Sprintf("gives two containers the name %q", name),
			}
		}
	}
	return nil
}
