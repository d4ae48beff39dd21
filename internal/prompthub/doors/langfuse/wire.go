package langfuse

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A wirePrompt is a version of a prompt.
type wirePrompt struct {
	ID            string         `json:"id"`
	CreatedAt     string         `json:"createdAt"`
	UpdatedAt     string         `json:"updatedAt"`
	ProjectID     string         `json:"projectId"`
	CreatedBy     string         `json:"createdBy"`
	Name          string         `json:"name"`
	Version       int64          `json:"version"`
	Type          string         `json:"type"`
	Prompt        any            `json:"prompt"` // a text, or messages
	Config        jsontext.Value `json:"config"`
	Labels        []string       `json:"labels"`
	Tags          []string       `json:"tags"`
	CommitMessage *string        `json:"commitMessage"`
	IsActive      bool           `json:"isActive"`
	Graph         *graph         `json:"resolutionGraph"`

	loss string // what the text no longer says, for a header
}

// forClients returns a version whose placeholders the clients of Langfuse fill in: {{name}} alone.
func (s *server) forClients(v library.View, on []string) wirePrompt {
	content, lost := v.Content().Bare()
	v.Draft = v.With(content)
	p := s.encode(v, on)
	p.loss = strings.Join(prompt.Told(lost), ", ")
	return p
}

// A graph says what was put into the places of includes.
type graph struct {
	Root         node              `json:"root"`
	Dependencies map[string][]node `json:"dependencies"` // by the id of the including prompt
}

type node struct {
	Name    string `json:"name"`
	Version int64  `json:"version"`
	ID      string `json:"id"`
}

// graphOf returns nil where nothing is included.
func graphOf(r library.Resolution) *graph {
	if len(r.Graph) == 0 {
		return nil
	}
	named := func(n library.Node) node { return node{n.Name, n.Version, versionID(n.ID, n.Version)} }
	g := &graph{Root: named(r.Root), Dependencies: map[string][]node{}}
	for parent, children := range r.Graph {
		for _, child := range children {
			id := versionID(parent.ID, parent.Version)
			g.Dependencies[id] = append(g.Dependencies[id], named(child))
		}
	}
	return g
}

// A wireMessage is one of a chat, or a place for others.
type wireMessage struct {
	Type    string  `json:"type,omitzero"` // placeholder, or anything
	Role    *string `json:"role,omitzero"`
	Content *string `json:"content,omitzero"`
	Name    string  `json:"name,omitzero"` // of a placeholder
}

const (
	text        = "text"
	chat        = "chat"
	placeholder = "placeholder"
)

// encode returns the version of a prompt that a view shows, with its labels.
func (s *server) encode(v library.View, on []string) wirePrompt {
	number, made := v.Version, prompt.Change{By: cmp.Or(v.MadeBy, v.AuthorID), At: v.UpdatedAt}
	if v.ShownVersion.Number > 0 {
		number, made = v.ShownVersion.Number, v.ShownVersion.Change
	}
	p := wirePrompt{
		ID: versionID(v.ID, number), CreatedAt: httpjson.FormatTime(made.At), UpdatedAt: httpjson.FormatTime(made.At),
		ProjectID: s.Service.AuthorKey(v.AuthorID), CreatedBy: s.Service.KeyOf(v.AuthorID, made.By),
		Name: v.Name, Version: number, Type: kind(v.Kind), Prompt: v.Text, Config: config(v.Config),
		Labels: on, Tags: tags(v.Draft),
		IsActive: slices.Contains(on, prompt.Production),
	}
	if v.Message != "" {
		p.CommitMessage = &v.Message
	}
	if v.Kind == prompt.KindChat {
		p.Prompt = encodeMessages(v.Messages)
	}
	return p
}

// Known returns what names a version.
func (p wirePrompt) Known() any {
	return struct {
		ID      string `json:"id"`
		Version int64  `json:"version"`
	}{p.ID, p.Version}
}

// labels returns those of the version that a view shows, latest at the end.
func labels(v library.View) []string {
	list := []string{}
	for label, n := range v.Labels {
		if n == v.ShownVersion.Number {
			list = append(list, label)
		}
	}
	slices.Sort(list)
	if v.Latest == v.ShownVersion.Number {
		list = append(list, prompt.Latest)
	}
	return list
}

// versionID names a version: here each has an id of its own.
func versionID(id prompt.ID, n int64) string { return fmt.Sprintf("%s-v%d", id, n) }

func kind(k prompt.Kind) string {
	if k == prompt.KindChat {
		return chat
	}
	return text
}

func config(s string) jsontext.Value {
	if s == "" {
		return jsontext.Value("{}")
	}
	return jsontext.Value(s)
}

// tags returns those of the catalog, then others.
func tags(d prompt.Draft) []string {
	all := []string{}
	for _, t := range d.Tags {
		all = append(all, string(t))
	}
	return append(all, d.OwnTags...)
}

func encodeMessages(list []prompt.Message) []wireMessage {
	all := make([]wireMessage, len(list))
	for i, m := range list {
		if m.Placeholder != "" {
			all[i] = wireMessage{Type: placeholder, Name: m.Placeholder}
		} else {
			all[i] = wireMessage{Role: &m.Role, Content: &m.Content}
		}
	}
	return all
}

// A newPrompt is what is sent to make a version. What else is sent is not looked at.
type newPrompt struct {
	Name          string         `json:"name"`
	Type          string         `json:"type"`
	Prompt        jsontext.Value `json:"prompt"`
	Config        jsontext.Value `json:"config"`
	Labels        []string       `json:"labels"`
	Tags          *[]string      `json:"tags"`
	CommitMessage string         `json:"commitMessage"`
}

// decode reads a body.
func decode(body []byte, v any) error {
	err := json.Unmarshal(body, v)
	var typed *json.SemanticError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &typed):
		return wrong(strings.ReplaceAll(string(typed.JSONPointer), "/", "."), "has another type than is wanted here")
	}
	return fault.Wrap(fault.Malformed, "the body is not valid JSON", err)
}

// draft returns what must be saved.
func (p newPrompt) draft() (library.NamedDraft, error) {
	d := library.NamedDraft{Name: p.Name, Tags: p.Tags, Message: p.CommitMessage}
	if strings.TrimSpace(p.Name) == "" {
		return d, wrong("name", "give the prompt a name")
	}
	given := map[string]bool{prompt.Latest: true} // each new version is the latest anyway
	for _, label := range p.Labels {
		if !given[label] {
			given[label] = true
			d.Labels = append(d.Labels, label)
		}
	}
	if c := string(p.Config); c != "null" && c != "{}" {
		d.Config = c
	}
	var err error
	switch p.Type {
	case "", text:
		d.Text, err = decodeText(p.Prompt)
	case chat:
		d.Kind = prompt.KindChat
		d.Messages, err = decodeMessages(p.Prompt)
	default:
		err = wrong("type", "must be text or chat")
	}
	if err != nil {
		return d, err
	}
	return d, unique(d.Content)
}

func decodeText(v jsontext.Value) (s string, err error) {
	if v.Kind() != '"' {
		return "", wrong("prompt", "must be a text, as the type of the prompt is text")
	}
	return s, json.Unmarshal(v, &s)
}

func decodeMessages(v jsontext.Value) ([]prompt.Message, error) {
	if v.Kind() != '[' {
		return nil, wrong("prompt", "must be a list of messages, as the type of the prompt is chat")
	}
	var all []wireMessage
	if err := json.Unmarshal(v, &all); err != nil {
		return nil, wrong("prompt", "must be a list of messages with a role and a content, both texts, or of the type placeholder with a name")
	}
	list := make([]prompt.Message, len(all))
	for i, m := range all {
		switch {
		case m.Type == placeholder:
			if m.Name == "" {
				return nil, wrong(fmt.Sprintf("prompt[%d].name", i), "name the placeholder")
			}
			list[i] = prompt.Message{Placeholder: m.Name}
		case m.Role == nil || m.Content == nil:
			return nil, wrong(fmt.Sprintf("prompt[%d]", i), "give the message a role and a content")
		default:
			list[i] = prompt.Message{Role: *m.Role, Content: *m.Content}
		}
	}
	return list, nil
}

// unique refuses a chat in which a variable has the name of a placeholder.
func unique(c prompt.Content) error {
	var both []string
	for _, v := range c.Template().Variables {
		if slices.ContainsFunc(c.Messages, func(m prompt.Message) bool { return m.Placeholder == v.Name }) {
			both = append(both, v.Name)
		}
	}
	if both == nil {
		return nil
	}
	return fault.New(fault.Invalid, "variables and placeholders must be unique, the following are not: "+
		strings.Join(both, ", "))
}

// number reads a whole number of a query; absent or empty it is otherwise.
func number(r request, name string, otherwise, least, most int64) (int64, error) {
	s := r.query.Get(name)
	if s == "" {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < least || n > most {
		rule := fmt.Sprintf("must be a whole number from %d to %d", least, most)
		if most == math.MaxInt64 {
			rule = "must be a whole number"
		}
		return 0, wrong(""+name, rule)
	}
	return n, nil
}

// moment reads a time of a query; absent it is zero.
func moment(r request, name string) (time.Time, error) {
	s := r.query.Get(name)
	if s == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339, strings.Replace(s, " ", "+", 1)) // a + that was not encoded
	if err != nil {
		return t, wrong(""+name, "must be a time such as 2026-01-31T12:00:00Z")
	}
	return t, nil
}
