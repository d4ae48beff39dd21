package main

import (
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"

	"github.com/kelseyhightower/envconfig"

	"prompthub/internal/auth"
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

	// AuthMode says how callers are identified. "dev" believes the header X-Dev-User and
	// is refused but in "local" and under func start. Not set: dev in "local", refused elsewhere.
	AuthMode string `envconfig:"AUTH_MODE"`

	// PublicRead lets callers without identity read what is public. False: every route but
	// health, ready, openapi and docs answers them 401.
	PublicRead bool `envconfig:"PUBLIC_READ" default:"false"`

	// MaxText limits the text of a prompt, in characters, 1 to 30,000. Texts that were stored
	// under a higher limit stay readable and must be shortened with their next edit.
	MaxText int `envconfig:"MAX_TEXT" default:"3000"`

	// Tags is what an empty tag catalog is filled with, in this order: "tag" or "tag:Display
	// name", separated by commas. Not set: a built-in list of about thirty. Once the
	// catalog has a row it has no effect.
	Tags tagList `envconfig:"TAGS"`

	// Tables names the tables: TABLE_PREFIX goes before all, TABLE_PROMPTS and the like
	// replace single names. Whoever changes one finds empty tables; the old ones stay as they are.
	promptdb.Tables

	// LogLevel is the least that is logged: debug, info, warn or error. At warn there
	// is no line for requests that went well.
	LogLevel slog.Level `envconfig:"LOG_LEVEL" default:"info"`

	// Environment is Development under func start, which sets it, and allows AUTH_MODE dev.
	Environment string `envconfig:"AZURE_FUNCTIONS_ENVIRONMENT"`
}

// A refusal is a configuration that PromptHub does not run with. It never holds a value that
// could be a secret.
type refusal struct {
	setting string
	reason  string
}

func (r *refusal) Error() string { return fmt.Sprintf("setting %s %s", r.setting, r.reason) }

// readSettings reads the environment. The error is a *refusal.
func readSettings() (settings, error) {
	var s settings
	if err := envconfig.Process("", &s); err != nil {
		var wrong *envconfig.ParseError
		if errors.As(err, &wrong) {
			return s, &refusal{wrong.KeyName, fmt.Sprintf("cannot be %q: %v", wrong.Value, wrong.Err)}
		}
		return s, err
	}
	if s.MaxText < 1 || s.MaxText > prompt.LimitMaxText {
		return s, &refusal{"MAX_TEXT", fmt.Sprintf("is %d, want 1 to %d", s.MaxText, prompt.LimitMaxText)}
	}
	return s, checkTables(s.All())
}

// tableName is what Table Storage takes for the name of a table.
var tableName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9]{2,62}$`)

func checkTables(names []string) error {
	seen := make(map[string]bool)
	for _, name := range names {
		if !tableName.MatchString(name) {
			return &refusal{"TABLE_PREFIX", fmt.Sprintf("or another TABLE_ setting gives the table name %q: want 3 to 63 letters and digits, a letter first", name)}
		}
		if seen[strings.ToLower(name)] {
			return &refusal{"TABLE_*", fmt.Sprintf("gives two tables the name %q", name)}
		}
		seen[strings.ToLower(name)] = true
	}
	return nil
}

// identify returns how callers are identified. The error is a *refusal.
func (s settings) identify(local bool) (auth.Identify, error) {
	development := local || strings.EqualFold(s.Environment, "Development")
	switch {
	case s.dev(local) && development:
		return auth.Dev(), nil
	case s.dev(local):
		return nil, &refusal{"AUTH_MODE", `is "dev", which lets callers say who they are: it is for "handler local" and func start only`}
	case s.AuthMode == "":
		return nil, &refusal{"AUTH_MODE", `is not set: it says how callers are identified`}
	}
	return nil, &refusal{"AUTH_MODE", fmt.Sprintf("cannot be %q: want dev", s.AuthMode)}
}

// dev reports whether callers say who they are.
func (s settings) dev(local bool) bool {
	return s.AuthMode == "dev" || s.AuthMode == "" && local
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
