package main

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/kelseyhightower/envconfig"

	"prompthub/internal/auth"
	"prompthub/internal/httpjson"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// settings are all that can be set, by environment variables, which a function app calls
// application settings. The storage account is set by AzureWebJobsStorage and its parts, which
// the Functions host needs too and package azure reads.
type settings struct {
	// Port is where the custom handler listens on 127.0.0.1. The Functions host sets it. It
	// is read first: with it the handler can answer what is wrong with the others.
	Port uint16 `envconfig:"FUNCTIONS_CUSTOMHANDLER_PORT"`

	// Config says how callers are identified: AUTH_MODE and what the modes need. Not set: dev in
	// "local", refused elsewhere.
	auth.Config

	// PublicRead lets callers without identity read what is public. False: every route but
	// health, ready, openapi and docs answers them 401.
	PublicRead bool `envconfig:"PUBLIC_READ" default:"false"`

	// MaxText limits the text of a prompt, in characters, 1 to 131,072. Texts that were stored
	// under a higher limit stay readable and must be shortened with their next edit.
	MaxText int `envconfig:"MAX_TEXT" default:"3000"`

	// Tags is what an empty tag catalog is filled with, in this order: "tag" or "tag:Display
	// name", separated by commas. Not set: a built-in list of about thirty. Once the
	// catalog has a row it has no effect.
	Tags tagList `envconfig:"TAGS"`

	// Tables names the tables: TABLE_PREFIX goes before all, TABLE_PROMPTS and the like
	// replace single names. Whoever changes one finds empty tables; the old ones stay as they are.
	promptdb.Tables

	// QueuePrefix goes before the names of the queues, so that several applications can share a
	// storage account. Under the Functions host it must be set: function.json names the queues with
	// it, and the host resolves no empty setting. Elsewhere it may be empty.
	QueuePrefix string `envconfig:"QUEUE_PREFIX"`

	// Limits say how much callers may ask of one instance: LIMIT_WRITES, LIMIT_READS, their bursts and
	// LIMIT_AT_WORK. Beyond them the answer is 429 or 503.
	httpjson.Limits

	// Proxies are those of whom it is believed where a request comes from: FRONT_DOOR_ID and
	// TRUSTED_PROXIES. Not set: only what is on this machine, as the Functions host and a reverse
	// proxy beside the program are.
	httpjson.Proxies

	// Origins are the origins of pages elsewhere that may use the API from a browser, separated by
	// commas, such as https://app.example.com. Not set: none.
	Origins httpjson.Origins `envconfig:"CORS_ORIGINS"`

	// LogLevel is the least that is logged: debug, info, warn or error. At warn there
	// is no line for requests that went well.
	LogLevel slog.Level `envconfig:"LOG_LEVEL" default:"info"`
}

// readSettings reads the environment. The error is an *auth.Refusal.
func readSettings() (settings, error) {
	var s settings
	if err := envconfig.Process("", &s); err != nil {
		var wrong *envconfig.ParseError
		if errors.As(err, &wrong) {
			return s, &auth.Refusal{Setting: wrong.KeyName, Reason: fmt.Sprintf("cannot be %q: %v", wrong.Value, wrong.Err)}
		}
		return s, err
	}
	if s.MaxText < 1 || s.MaxText > prompt.LimitMaxText {
		return s, &auth.Refusal{Setting: "MAX_TEXT", Reason: fmt.Sprintf("is %d, want 1 to %d", s.MaxText, prompt.LimitMaxText)}
	}
	if len(s.QueuePrefix) > maxQueuePrefix || !queuePrefix.MatchString(s.QueuePrefix) {
		return s, &auth.Refusal{Setting: "QUEUE_PREFIX", Reason: fmt.Sprintf("is %q, want at most 30 lower case letters, digits and single hyphens, a letter or digit first", s.QueuePrefix)}
	}
	return s, checkTables(s.All())
}

// maxQueuePrefix leaves room for the names of the queues: Queue Storage takes 63 characters.
const maxQueuePrefix = 30

var queuePrefix = regexp.MustCompile(`^([a-z0-9](-?[a-z0-9])*-?)?$`)

// tableName is what Table Storage takes for the name of a table.
var tableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,62}$`)

func checkTables(names []string) error {
	seen := make(map[string]bool)
	for _, name := range names {
		if !tableName.MatchString(name) {
			return &auth.Refusal{Setting: "TABLE_PREFIX", Reason: fmt.Sprintf("or another TABLE_ setting gives the table name %q: want 3 to 63 letters and digits, a letter first", name)}
		}
		if seen[strings.ToLower(name)] {
			return &auth.Refusal{Setting: "TABLE_*", Reason: fmt.Sprintf("gives two tables the name %q", name)}
		}
		seen[strings.ToLower(name)] = true
	}
	return nil
}

// A tagList is the setting of the tag catalog.
type tagList []prompt.TagInfo

// Decode reads "tag,tag:Display name".
func (l *tagList) Decode(value string) error {
	*l = nil
	for item := range strings.SplitSeq(value, ",") {
		name, display, named := strings.Cut(strings.TrimSpace(item), ":")
		tag, err := prompt.ParseTag(strings.TrimSpace(name))
		if err != nil {
			return fmt.Errorf("tag %q: %w", name, err)
		}
		if display = strings.TrimSpace(display); !named || display == "" {
			display = string(tag)
		}
		for _, t := range *l {
			if t.Tag == tag {
				return fmt.Errorf("tag %q: named twice", tag)
			}
		}
		*l = append(*l, prompt.TagInfo{Tag: tag, DisplayName: display, SortOrder: int32(len(*l)+1) * 10, Active: true})
	}
	return nil
}
