package langfuse

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// wanted returns which version the query of a request names; the label otherwise where it names
// none.
func wanted(r request, otherwise string) (library.WantedVersion, error) {
	n, err := number(r, "version", 0, math.MinInt64, math.MaxInt64)
	label := r.query.Get("label")
	switch {
	case err != nil:
		return library.WantedVersion{}, err
	case n != 0 && label != "":
		return library.WantedVersion{}, fault.New(fault.Invalid, "Cannot specify both version and label")
	case n < 0:
		return library.WantedVersion{}, notFound(r.name, library.WantedVersion{Number: n})
	case n == 0 && label == "":
		label = otherwise
	}
	return library.WantedVersion{Number: n, Label: label}, nil
}

// notFound says what was looked for.
func notFound(name string, want library.WantedVersion) error {
	what := fmt.Sprintf("Prompt not found: '%v'", httpjson.Short(name))
	switch {
	case want.Number != 0:
		what += fmt.Sprintf(" with version %d", want.Number)
	case want.Label != "":
		what += fmt.Sprintf(" with label '%v'", httpjson.Short(want.Label))
	}
	return fault.New(fault.NotFound, what)
}

// find returns the caller's prompt of a name, or of a name that it had, in a version. A slug names
// nothing here. The name is trimmed, as that of a prompt is when it is made.
func (s *server) find(ctx context.Context, r request, want library.WantedVersion) (library.View, error) {
	if r.name = strings.TrimSpace(r.name); r.name == "" {
		return library.View{}, notFound(r.name, want)
	}
	if want != (library.WantedVersion{}) {
		want.Labels = true
	}
	v, err := s.Service.GetByName(ctx, r.User, library.IDOf(r.User), r.name, want)
	if fault.Of(err) == fault.NotFound || err == nil && v.Name != r.name && !slices.Contains(v.OldNames, r.name) {
		return v, notFound(r.name, want)
	}
	return v, err
}

func (s *server) get(ctx context.Context, r request) (int, any, error) {
	want, err := wanted(r, prompt.Production)
	if err != nil {
		return 0, nil, err
	}
	resolve := r.query.Get("resolve")
	if resolve != "" && resolve != "true" && resolve != "false" {
		return 0, nil, wrong("resolve", "must be true or false")
	}
	v, err := s.find(ctx, r, want)
	if err != nil {
		return 0, nil, err
	}
	s.Service.Fetched(ctx, r.User, v)
	if resolve == "false" {
		return http.StatusOK, s.forClients(v, labels(v)), nil
	}
	resolved, err := s.Service.Resolve(ctx, v)
	if err != nil {
		return 0, nil, err
	}
	v.Draft = v.With(resolved.Content)
	p := s.forClients(v, labels(v))
	p.Graph = graphOf(resolved)
	return http.StatusOK, p, nil
}

func (s *server) getOld(ctx context.Context, r request) (int, any, error) {
	if r.name = r.query.Get("name"); r.name == "" {
		return 0, nil, wrong("name", "name the prompt")
	}
	return s.get(ctx, r)
}

func (s *server) create(ctx context.Context, r request) (int, any, error) {
	var p newPrompt
	if err := decode(r.body, &p); err != nil {
		return 0, nil, err
	}
	d, err := p.draft()
	if err != nil {
		return 0, nil, err
	}
	v, err := s.Service.SaveNamed(ctx, r.User, d)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, s.encode(v, append(d.Labels, prompt.Latest)), nil
}

// newLabels is what is sent to label a version.
type newLabels struct {
	Labels []string `json:"newLabels"`
}

// checkLabels returns an error unless a version may be given the labels that a member has.
func checkLabels(member string, labels []string) error {
	switch {
	case labels == nil:
		return wrong(member, "send a list of labels")
	case slices.Contains(labels, prompt.Latest):
		return wrong(member, "the label latest is always that of the latest version")
	case len(labels) > prompt.MaxLabels:
		return wrong(member, fmt.Sprintf("name at most %d labels", prompt.MaxLabels))
	}
	return nil
}

// label adds labels to a version and takes them from others.
func (s *server) label(ctx context.Context, r request) (int, any, error) {
	var in newLabels
	if err := decode(r.body, &in); err != nil {
		return 0, nil, err
	}
	if err := checkLabels("newLabels", in.Labels); err != nil {
		return 0, nil, err
	}
	n, err := strconv.ParseInt(r.version, 10, 64)
	if err != nil {
		return 0, nil, wrong("version", "must be a whole number")
	}
	want := library.WantedVersion{Number: n}
	if n < 1 {
		return 0, nil, notFound(r.name, want)
	}
	v, err := s.find(ctx, r, want)
	if err != nil || len(in.Labels) == 0 {
		return http.StatusOK, s.encode(v, labels(v)), err
	}
	if err := s.Service.SetLabels(ctx, r.User, v.ID, slices.Compact(slices.Sorted(slices.Values(in.Labels))),
		n); err != nil {
		return 0, nil, err
	}
	if v, err = s.find(ctx, r, want); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, s.encode(v, labels(v)), nil
}

// delete deletes a version, or the prompt, which its author can restore in the API or on its page.
func (s *server) delete(ctx context.Context, r request) (int, any, error) {
	want, err := wanted(r, "")
	if err != nil {
		return 0, nil, err
	}
	want.History = want.Number != 0 // a version that was recalled too
	v, err := s.find(ctx, r, want)
	if err != nil {
		return 0, nil, err
	}
	if want == (library.WantedVersion{}) {
		return http.StatusNoContent, nil, needed(s.Service.Delete(ctx, r.User, v.ID, library.Match{Any: true}))
	}
	return http.StatusNoContent, nil, s.deleteOne(ctx, r, v)
}

// deleteOne deletes the version that a view shows; the prompt with its only one.
func (s *server) deleteOne(ctx context.Context, r request, v library.View) error {
	page, err := s.Service.Named(ctx, r.User, library.NamedQuery{Name: v.Name, Page: 1, Limit: 1})
	if err == nil && len(page.Items) == 1 && slices.Equal(page.Items[0].Numbers, []int64{v.ShownVersion.Number}) {
		return needed(s.Service.Delete(ctx, r.User, v.ID, library.Match{Any: true})) // the only version
	}
	return needed(s.Service.DeleteVersion(ctx, r.User, v.ID, v.ShownVersion.Number))
}

// needed makes of a conflict, which says what others need of a prompt, an invalid request: so it is
// there.
func needed(err error) error {
	if f := (*fault.Error)(nil); errors.As(err, &f) && f.Kind == fault.Conflict {
		return fault.New(fault.Invalid, f.Text)
	}
	return err
}

// A meta is a prompt in a list.
type meta struct {
	Name          string         `json:"name"`
	Type          string         `json:"type"`
	Versions      []int64        `json:"versions"`
	Labels        []string       `json:"labels"`
	Tags          []string       `json:"tags"`
	LastUpdatedAt string         `json:"lastUpdatedAt"`
	LastConfig    jsontext.Value `json:"lastConfig"`
}

// A place says where in a list a page is.
type place struct {
	Page       int `json:"page"`
	Limit      int `json:"limit"`
	TotalPages int `json:"totalPages"`
	TotalItems int `json:"totalItems"`
}

type page struct {
	Data []meta `json:"data"`
	Meta place  `json:"meta"`
	Old  place  `json:"pagination"` // the same, for old clients
}

const (
	defaultLimit = 10
	maxLimit     = 100
)

func (s *server) list(ctx context.Context, r request) (int, any, error) {
	q, err := query(r)
	if err != nil {
		return 0, nil, err
	}
	found, err := s.Service.Named(ctx, r.User, q)
	if err != nil {
		return 0, nil, err
	}
	at := place{
		Page: q.Page, Limit: q.Limit, TotalItems: found.Total,
		TotalPages: (found.Total + q.Limit - 1) / q.Limit,
	}
	p := page{Data: make([]meta, len(found.Items)), Meta: at, Old: at}
	for i, n := range found.Items {
		p.Data[i] = meta{
			Name: n.Name, Type: kind(n.Kind), Versions: n.Numbers, Labels: slices.Concat([]string{}, n.Labels),
			Tags:          n.Tags,
			LastUpdatedAt: httpjson.FormatTime(n.UpdatedAt), LastConfig: config(n.Config),
		}
	}
	return http.StatusOK, p, nil
}

func query(r request) (library.NamedQuery, error) {
	q := library.NamedQuery{
		Name: strings.TrimSpace(r.query.Get("name")),
		Tag:  r.query.Get("tag"), Label: r.query.Get("label"),
	}
	var err error
	if q.Version, err = number(r, "version", 0, 0, math.MaxInt64); err != nil {
		return q, err
	}
	page, err := number(r, "page", 1, 1, math.MaxInt32)
	if err != nil {
		return q, err
	}
	limit, err := number(r, "limit", defaultLimit, 1, maxLimit)
	if err != nil {
		return q, err
	}
	q.Page, q.Limit = int(page), int(limit)
	if q.From, err = moment(r, "fromUpdatedAt"); err != nil {
		return q, err
	}
	q.To, err = moment(r, "toUpdatedAt")
	return q, err
}
