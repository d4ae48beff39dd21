package web

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/web/markdown"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (s *web) prompts() {
	one := Prefix + "/prompts/{id}"
	s.handle("GET "+one, reader, s.prompt)
	s.handleText("POST "+one+"/fill", reader, prompt.FillFactor*s.MaxText, s.prompt)
	s.handle("GET "+one+"/fill", reader, s.unfilled)
	s.handle("POST "+one+"/vote", user, s.vote)
	s.handle("POST "+one+"/favorite", user, s.favorite)
	s.handle("POST "+one+"/visibility", user, s.setVisibility)
	s.handle("POST "+one+"/delete", user, s.delete)
	s.handle("POST "+one+"/restore", user, s.restore)
}

// idOf returns the prompt that an address names.
func idOf(r *request) (prompt.ID, error) { return prompt.FindID(r.PathValue("id")) }

func (s *web) get(r *request) (library.View, error) {
	id, err := idOf(r)
	if err != nil {
		return library.View{}, err
	}
	return s.Service.Get(r.Context(), r.who, id)
}

func addressOf(id prompt.ID) string { return Prefix + "/prompts/" + string(id) }

// A promptPage is a prompt as its page shows it.
type promptPage struct {
	library.View
	Address string
	URL     string // the whole address, to be passed on
	Topics  []choice
	Chips   []chip
	Ballot  ballot
	Fill    fill
	Reading reading
	holding
	By      *byline // the maker of its version, in a workspace; nil for a person's own
	From    *origin // of a fork
	Related related
	MayFork bool
	Favors  bool   // whether it is a favorite of the reader's
	Key     string // of a fork: asked for twice it is one
	Shared  bool   // whether it is there for everyone, without signing in
	Uses    uses
	Skilled bool // whether programs can have it as a skill
	// Programs is the version that programs get in place of the one shown, nil if they get that one.
	Programs  *programs
	Released  bool       // whether the author has released a version; until then each save is live
	Candidate *candidate // to propose the version shown for production, where a rule asks for that
	// whether programs that name no version get none: a rule for production waits for one, or
	// recalls left none
	Unset bool
}

// Releases reports whether the reader may release the version shown.
func (p promptPage) Releases() bool {
	r := p.ruling(prompt.Production)
	return p.Publish && !p.LatestRecalled && (p.Programs != nil || !p.Released) && (r == nil || r.Approvals == 0)
}

// Line returns how many characters the prompt takes in an agent's list of skills, 0 if it is none.
func (p promptPage) Line() int {
	if !p.Skilled {
		return 0
	}
	return skill.List(p.Slug, p.View.Prompt).Characters
}

// Budget returns how many characters an agent gives to that list.
func (promptPage) Budget() int { return skill.BudgetCharacters }

// Warned returns how many scripts readers are told to read before they install it.
func (p promptPage) Warned() int { return warned(p.View.Prompt, p.Files) }

// Live returns the version that programs get.
func (p promptPage) Live() int64 {
	if p.Programs != nil {
		return p.Programs.Version
	}
	return p.Version
}

// What a description may have to stand above the text, which it should not push down.
const (
	shortRunes = 320
	shortLines = 3
)

// Short reports whether there is a description that stands above the text.
func (p promptPage) Short() bool {
	return p.Description != "" && utf8.RuneCountInString(p.Description) <= shortRunes &&
		strings.Count(p.Description, "\n") < shortLines
}

// programs are told of by the version that they get in place of a newer one.
type programs struct {
	chip
	Refused string // variables that the newer one lacks. A request with a value for one is refused
}

// maxRefused is how many variables are named.
const maxRefused = 10

// refused returns the variables of a version that are not among some fields.
func refused(p *prompt.ProgramSummary, fields []field) string {
	if p == nil {
		return ""
	}
	var names []string
	for _, a := range p.Arguments {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.Name == a.Name }) {
			names = append(names, a.Name)
		}
	}
	if more := len(names) - maxRefused; more > 0 {
		names = append(names[:maxRefused], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

func (p promptPage) head(string) head {
	if !p.Shared {
		return head{}
	}
	return head{Title: p.Title, Description: markdown.Words(p.About()), URL: p.URL, Image: p.URL + "/image.png"}
}

// A page of a prompt has at most perByte bytes for each of its text and maxFrame for all else; what
// of it does not fit is left out.
const (
	perByte  = 8
	maxFrame = 64 << 10
	reserved = 24 << 10 // of them are for the page without the text
)

// budget is what may still go onto a page.
type budget int

// take reports whether n bytes fit, and takes them.
func (b *budget) take(n int) bool {
	if n > int(*b) {
		return false
	}
	*b -= budget(n)
	return true
}

// prompt shows a prompt, with the values that a form sent for its variables. Nothing is kept of
// them.
func (s *web) prompt(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	var v library.View
	var favors bool
	g, ctx := errgroup.WithContext(r.Context())
	g.Go(func() (err error) {
		v, err = s.Service.GetVersion(ctx, r.who, id, library.WantedVersion{Label: prompt.Latest, History: true})
		return err
	})
	g.Go(func() (err error) {
		favors, err = s.Service.IsFavorite(ctx, r.who, id)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	_, skilled := skill.Of(v.Prompt)
	rel, err := s.relatedTo(r, &v)
	if err != nil {
		return err
	}
	p := promptPage{
		View: v, Address: addressOf(v.ID), Fill: s.fill(r, v.Content()), Related: rel,
		Favors: favors, Skilled: skilled,
	}
	p.Ballot, p.Chips = ballotOf(r.who, v, p.Address), chipsOf(p.Address, v.Labels)
	if p.holding, err = s.holdingOf(r, owned{v.AuthorID, v.Names(), v.Visibility, v.IsOwn(), v.Open}); err != nil {
		return err
	}
	made := v.ShownVersion.By
	people, err := s.people(r, p.holding, made)
	if err != nil {
		return err
	}
	p.By = people[made]
	called, err := s.names(r)
	if err != nil {
		return err
	}
	for _, t := range v.Tags {
		p.Topics = append(p.Topics, choice{Name: called.of(t), Link: byTag(t)})
	}
	if p.From, err = s.originOf(r, v); err != nil {
		return err
	}
	p.URL = httpjson.Origin(r.Request, s.Public) + p.Address
	p.Shared = s.PublicRead && v.Listed()
	p.MayFork, p.Key = r.who.Known() && !v.Deleted(), rand.Text()
	p.Uses = s.usesOfPrompt(r, v, p.Fill.Fields, skilled, noKeys)
	status := http.StatusOK
	if (p.Fill.Wrong != "" || rel.Broken != "") && r.Method == http.MethodPost {
		status = http.StatusUnprocessableEntity
	}
	p.Released = v.Labels[prompt.Production] > 0
	p.Unset = !p.Released && (p.ruling(prompt.Production) != nil || v.InProduction != nil && v.InProduction.IsNone())
	live := v.Labels[prompt.Production]
	if !v.LatestRecalled {
		p.Candidate = p.candidateOf(prompt.Production, p.Address, v.Version, v.Labels)
	} else if v.InProduction != nil {
		live = v.InProduction.Version
	}
	if n := live; n > 0 && n != v.Version {
		p.Programs = &programs{chip: chip{prompt.Production, n, labelAddress(p.Address, prompt.Production)}}
		if released := v.InProduction; released != nil && released.Version == n {
			p.Programs.Refused = refused(released, p.Fill.Fields)
		}
	}
	s.fit(&p)
	p.Reading.show(p.Address, r)
	return s.render(r, status, "prompt", v.Title, p)
}

// unfilled leads who comes to the address of a form that was filled in to where that stands.
func (s *web) unfilled(r *request) error {
	id, err := idOf(r)
	if err == nil {
		goOn(r, addressOf(id))
	}
	return err
}

// room returns how many bytes a page has for contents of n bytes.
func room(n int) budget { return budget(perByte*n + maxFrame - reserved) }

// fit leaves out of a page what it has no room for. The text as it was written always has a place.
func (s *web) fit(p *promptPage) {
	c := p.Content()
	left := room(len(c.Words()))
	p.Reading = readingOf(c, p.Fill.Texts)
	// The values of a form were sent by its reader, and the answer goes to that reader.
	if !left.take(p.Reading.size()) && !p.Fill.given() {
		p.Reading = readingOf(c, nil)
		left.take(p.Reading.size())
		p.Fill.Wrong = "The defaults stand at too many places to show them here: give the variables values."
	}
	p.Reading.render(s.markdown, &left)
}

// A ballot is the votes on a prompt, and the form to cast one.
type ballot struct {
	Address  string // of the form
	Back     string
	MayVote  bool
	Value    string
	Likes    int32
	Dislikes int32
	Score    int32
}

func ballotOf(who auth.User, v library.View, back string) ballot {
	return ballot{
		Address: addressOf(v.ID) + "/vote", Back: back, MayVote: who.Known() && !v.Deleted() &&
			v.Visibility == prompt.Public,
		Value: v.MyVote.String(), Likes: v.Likes, Dislikes: v.Dislikes, Score: v.Score(),
	}
}

// Votes returns how many there are.
func (b ballot) Votes() int32 { return b.Likes + b.Dislikes }

// Shown reports whether there is something to see or to do.
func (b ballot) Shown() bool { return b.MayVote || b.Votes() > 0 }

// vote sets the caller's vote. A script is answered with the votes that there are now.
func (s *web) vote(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	value, ok := prompt.ParseVote(r.PostForm.Get("value"))
	if !ok {
		return fault.New(fault.Invalid, "vote like, dislike or none")
	}
	b, err := s.Service.Vote(r.Context(), r.who, id, value)
	if err != nil {
		return err
	}
	if !wantsJSON(r) {
		goOn(r, back(r.PostForm.Get("back")))
		return nil
	}
	r.w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(r.w).Encode(struct {
		Value    string `json:"value"`
		Likes    int32  `json:"likes"`
		Dislikes int32  `json:"dislikes"`
	}{b.Value.String(), b.Likes, b.Dislikes})
}

// favorite makes a prompt a favorite of the caller's, or takes that back.
func (s *web) favorite(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	is := r.PostForm.Get("favorite") != "no"
	if err := s.Service.Favorite(r.Context(), r.who, id, is); err != nil {
		return err
	}
	if wantsJSON(r) {
		r.w.WriteHeader(http.StatusNoContent)
		return nil
	}
	goOn(r, addressOf(id))
	return nil
}

// setVisibility publishes a prompt or takes it back, whatever else was edited meanwhile.
func (s *web) setVisibility(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	to := prompt.Visibility(r.PostForm.Get("to"))
	v, err := s.Service.Patch(r.Context(), r.who, id, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Visibility = to
	})
	if err != nil {
		return err
	}
	done := string(to)
	if to == prompt.Public && v.Hidden() {
		done = "still-hidden"
	}
	goOn(r, addressOf(id)+"?done="+done)
	return nil
}

func (s *web) delete(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	if err := s.Service.Delete(r.Context(), r.who, id, library.Match{Any: true}); err != nil {
		return err
	}
	list := Prefix + "/mine"
	w, err := s.Service.OwnerKnown(r.Context(), r.who, id)
	if err != nil {
		return err
	}
	if w != nil {
		list = workspaceAddress(w.Handle)
	}
	goOn(r, list+"?show=deleted&done=deleted&of="+string(id))
	return nil
}

func (s *web) restore(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	_, former, err := s.Service.Restore(r.Context(), r.who, id)
	if err != nil {
		return err
	}
	what := "restored"
	if former != "" {
		what = "renamed"
	}
	goOn(r, addressOf(id)+"?done="+what)
	return nil
}

// describe returns what an error tells a user.
func describe(err error) (text string, fields []fault.Field) {
	var f *fault.Error
	if !errors.As(err, &f) {
		return "", nil
	}
	return f.Text, f.Fields
}
