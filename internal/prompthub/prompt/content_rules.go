package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// MaxMessages is how many messages a chat can have.
	MaxMessages = 200
	// MaxConfig is how long a config can be, as JSON without white space, in UTF-16 code units.
	MaxConfig = 65536
	// MaxConfigDepth is how deep objects and lists of a config can be nested: readers of JSON in other
	// languages stop at a thousand, and a list of configs stands in an answer of its own.
	MaxConfigDepth = 100

	maxStored    = 5 * 32768 // UTF-16 code units of messages as they are stored
	maxVariables = 3 * 32768 // UTF-16 code units of declared variables as they are stored
)

var roles = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)

// content checks what versions keep.
func (c *checker) content(d Draft, limit int) Draft {
	if d.Kind == "" && len(d.Messages) > 0 {
		d.Kind = KindChat
	}
	fits := false // whether the text is one to look into
	switch d.Kind {
	case KindChat:
		fits = c.messages(d.Messages, limit)
		if d.Text != "" {
			c.broken("text", d.Text, "put the text of a chat into its messages")
		}
	case KindText, "text":
		d.Kind = KindText
		fits = c.text(d.Text, limit)
		if len(d.Messages) > 0 {
			c.broken("messages", fmt.Sprintf("%d messages", len(d.Messages)), "messages make a prompt of the kind chat")
		}
		d.Messages = nil
	default:
		c.broken("kind", string(d.Kind), "set the kind to text or chat")
	}
	if fits && len(d.Content().Includes()) > MaxIncludes {
		c.broken(TextsField(d.Content()), fmt.Sprintf("more than %d includes", MaxIncludes),
			"include at most %d other prompts", MaxIncludes)
	}
	d.Config = c.config(d.Config)
	if d.Variables = c.variables(d.Variables); len(d.Variables) == 0 {
		d.Variables = nil
	}
	if b, err := json.Marshal(d.Variables); err != nil || units(string(b)) > maxVariables {
		c.broken("variables", fmt.Sprintf("%d variables", len(d.Variables)),
			"shorten the descriptions and choices: they have more than %d characters together", maxVariables)
	}
	return d
}

// messages checks the messages of a chat, and reports whether they are no longer than they may be.
func (c *checker) messages(list []Message, limit int) bool {
	if len(list) == 0 || len(list) > MaxMessages {
		c.broken("messages", fmt.Sprintf("%d messages", len(list)), "write 1 to %d messages", MaxMessages)
		return false
	}
	sum := 0
	for i, m := range list {
		c.message(fmt.Sprintf("messages[%d]", i), m)
		sum += units(m.Content)
	}
	if sum <= limit {
		if b, err := json.Marshal(list); err == nil && units(string(b)) <= maxStored {
			return true
		}
	}
	c.broken("messages", fmt.Sprintf("%d characters", sum),
		"shorten the messages to at most %d characters together, they have %d", limit, sum)
	return false
}

func (c *checker) message(location string, m Message) {
	if m.Placeholder != "" {
		if m.Role != "" || m.Content != "" {
			c.broken(location, m.Role, "a placeholder has neither role nor content")
		}
		if !isVariableName(m.Placeholder) {
			c.broken(location+".placeholder", m.Placeholder, "name the placeholder with letters, digits and _ . -")
		}
		return
	}
	if !roles.MatchString(m.Role) {
		c.broken(location+".role", m.Role, "give the message a role, such as system, user or assistant")
	}
	switch {
	case !utf8.ValidString(m.Content):
		c.broken(location+".content", m.Content, "send valid UTF-8")
	case strings.TrimSpace(m.Content) == "":
		c.broken(location+".content", m.Content, "write the message")
	case strings.ContainsRune(m.Content, 0):
		c.broken(location+".content", m.Content, "remove the character U+0000 from the message")
	}
}

// config returns a config without white space; null is none.
func (c *checker) config(s string) string {
	v := jsontext.Value(s)
	if s == "" || v.Kind() == 'n' {
		return ""
	}
	if err := v.Compact(); err != nil {
		c.broken("config", s, "send the config as JSON")
		return ""
	}
	if Deeper(v, MaxConfigDepth) {
		c.broken("config", "", "nest objects and lists of the config at most %d deep", MaxConfigDepth)
	}
	if n, ok := tooLarge(v); ok {
		c.broken("config", n, "write numbers of the config of at most 1.79e308")
	}
	if n := units(string(v)); n > MaxConfig {
		c.broken("config", fmt.Sprintf("%d characters", n), "shorten the config to at most %d characters, it has %d",
			MaxConfig, n)
	}
	return string(v)
}

// Deeper reports whether a JSON value is nested deeper than it may be. It reads no further than
// that.
func Deeper(v jsontext.Value, most int) bool {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	for {
		if _, err := d.ReadToken(); err != nil {
			return false // its end, as it is valid
		}
		if d.StackDepth() > most {
			return true
		}
	}
}

// tooLarge returns the first number of a JSON value that no float64 holds, if there is one: many
// readers of JSON refuse it, those of our own API and exports among them.
func tooLarge(v jsontext.Value) (string, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	for {
		t, err := d.ReadToken()
		if err != nil {
			return "", false // its end, as it is valid
		}
		if t.Kind() != '0' {
			continue
		}
		if _, err := strconv.ParseFloat(t.String(), 64); err != nil {
			return t.String(), true
		}
	}
}
