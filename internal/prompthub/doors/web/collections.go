package web

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const collectionsPath = Prefix + "/c"

// collectionsAddress returns the page of the collections of an owner.
func collectionsAddress(u library.User) string {
	return collectionsPath + "/" + cmp.Or(u.Handle, u.Key)
}

func collectionAddress(c library.Collection) string { return collectionsAddress(c.By) + "/" + c.Slug }

func (s *web) collections() {
	s.handle("GET "+collectionsPath+"/{handle}", reader, s.listCollections)
	s.handle("POST "+collectionsPath+"/{handle}", user, s.createCollection)
	s.handle("GET "+collectionsPath+"/{handle}/{slug}", reader, s.collection)
	s.handle("POST "+collectionsPath+"/{handle}/{slug}", user, s.changeCollection)
	s.handle("GET "+Prefix+"/prompts/{id}/collect", user, s.collect)
}

// A collector is the owner of collections, as their pages show them at the head.
type collector struct {
	Who   string
	Link  string          // to the page of the owner
	Frame *workspaceFrame // of a workspace, to its members
}

// collectorOf returns the owner of collections.
func (s *web) collectorOf(r *request, u library.User, own bool) (collector, error) {
	c := collector{Who: cmp.Or(u.Name, u.Handle, "an author"), Link: Prefix + "/u/" + cmp.Or(u.Handle, u.Key)}
	if !own || u.Key == s.Service.AuthorKey(library.IDOf(r.who)) {
		return c, nil
	}
	w, err := s.Service.Workspace(r.Context(), r.who, u.Handle)
	if err != nil {
		return c, err
	}
	frame, err := s.frameOf(r, w, "collections")
	c.Frame, c.Link = &frame, workspaceAddress(u.Handle)
	return c, err
}

// A collectionsPage is the collections of an owner, and the form of a new one.
type collectionsPage struct {
	mistakes
	collector
	Address     string
	Own         bool // whether the reader acts for the owner
	May         bool // make one
	Publish     bool // make a public one
	Collections []library.Collection
	Sent        prompt.CollectionDraft // what the form says
	Slug        string
	Add         string // the prompt that the new one will have, "" for none
}

func (collectionsPage) At(c library.Collection) string { return collectionAddress(c) }

func (s *web) listCollections(r *request) error { return s.showCollections(r, nil) }

func (s *web) showCollections(r *request, wrong error) error {
	list, u, err := s.Service.CollectionsOf(r.Context(), r.who, r.PathValue("handle"))
	if err != nil {
		return err
	}
	sent := r.PostForm.Get
	p := collectionsPage{
		mistakes: mistakesOf(wrong), Address: collectionsAddress(u.User), Own: u.Own, May: u.May.Edit,
		Publish: u.May.Publish, Collections: list,
		Sent: sentCollection(r), Slug: sent("slug"), Add: cmp.Or(sent("add"), r.URL.Query().Get("add")),
	}
	if p.collector, err = s.collectorOf(r, u.User, u.Own); err != nil {
		return err
	}
	return s.render(r, statusOf(wrong), "collections", "Collections of "+p.Who, p)
}

// sentCollection returns what a form says of a collection.
func sentCollection(r *request) prompt.CollectionDraft {
	sent := r.PostForm.Get
	return prompt.CollectionDraft{
		Name: sent("name"), About: lf(sent("about")),
		Visibility: prompt.Visibility(cmp.Or(sent("visibility"), string(prompt.Private))),
	}
}

func (s *web) createCollection(r *request) error {
	_, u, err := s.Service.CollectionsOf(r.Context(), r.who, r.PathValue("handle"))
	if err != nil {
		return err
	}
	if !u.Own {
		return fault.New(fault.Forbidden, "these are collections of somebody else; make one on the page of your own")
	}
	d := sentCollection(r)
	if id, ok := prompt.ParseID(r.PostForm.Get("add")); ok {
		d.Prompts = []prompt.ID{id}
	}
	slug := cmp.Or(r.PostForm.Get("slug"), prompt.Slug(d.Name))
	c, err := s.Service.CreateCollection(r.Context(), r.who, u.As, slug, d)
	if correctable(err) {
		return s.showCollections(r, err)
	}
	if err == nil {
		goOn(r, collectionAddress(c)+"?done=collection")
	}
	return err
}

// A collectionPage is a collection with its skills and the forms to change it.
type collectionPage struct {
	mistakes
	collector
	library.Collection
	Address string
	Meter   meter
	Skills  []collected
	Uses    uses
	Sent    prompt.CollectionDraft // what the form says
}

// Publish reports whether the reader may make the collection public, or private again.
func (p collectionPage) Publish() bool { return p.May.Publish }

// A meter says what skills take of the list that an agent is shown.
type meter struct {
	Characters, Limit, Cut int
}

func meterOf(b skill.Budget) meter {
	return meter{b.Characters, skill.BudgetCharacters, b.Cut()}
}

// A collected is a skill of a collection in its list.
type collected struct {
	library.View
	skill.Listed
	Address string
	About   string
	Scripts int
	First   bool
	Last    bool
}

func (s *web) collection(r *request) error { return s.showCollection(r, nil) }

func (s *web) showCollection(r *request, wrong error) error {
	c, err := s.Service.Collection(r.Context(), r.who, r.PathValue("handle"), r.PathValue("slug"))
	if err != nil {
		return err
	}
	budget := c.Budget()
	p := collectionPage{
		mistakes: mistakesOf(wrong), Collection: c, Address: collectionAddress(c),
		Meter: meterOf(budget), Sent: c.CollectionDraft,
	}
	if wrong != nil && r.PostForm.Get("do") == "save" {
		p.Sent = sentCollection(r)
	}
	for i, v := range c.Skills {
		p.Skills = append(p.Skills, collected{
			View: v, Listed: budget.Skills[i], Address: addressOf(v.ID),
			About:   skill.Head(v.Prompt, v.About(), v.Version).Description,
			Scripts: v.Files.Scripts(), First: i == 0, Last: i == len(c.Skills)-1,
		})
	}
	if origin := httpjson.Origin(r.Request, s.Public); len(p.Skills) > 0 {
		if c.Visibility != prompt.Public || !s.PublicRead {
			origin = withToken(origin, noKeys)
		}
		at := "c/" + cmp.Or(c.By.Handle, c.By.Key) + "/" + c.Slug
		p.Uses.Items = append(pluginUse(origin, at, c.Slug), gitUse(origin, at, gitHint))
	}
	if p.collector, err = s.collectorOf(r, c.By, c.Own); err != nil {
		return err
	}
	return s.render(r, statusOf(wrong), "collection", c.Name, p)
}

// changeCollection does what a form of the page of a collection asks for.
func (s *web) changeCollection(r *request) error {
	owner, slug, do := r.PathValue("handle"), r.PathValue("slug"), r.PostForm.Get("do")
	at := collectionsPath + "/" + owner
	always := library.Match{Any: true}
	if do == "delete" {
		err := s.Service.DeleteCollection(r.Context(), r.who, owner, slug, always)
		if err == nil {
			goOn(r, at+"?done=collection-deleted")
		}
		return err
	}
	var change func(*prompt.CollectionDraft)
	match, done := always, "collection-saved"
	switch do {
	case "save":
		n, _ := strconv.ParseInt(r.PostForm.Get("version"), 10, 64) // none fits no version
		match = library.Match{Revisions: []int64{n}}
		change = func(d *prompt.CollectionDraft) {
			sent := sentCollection(r)
			d.Name, d.About, d.Visibility = sent.Name, sent.About, sent.Visibility
		}
	case "up", "down":
		seen, err := s.Service.Collection(r.Context(), r.who, owner, slug)
		if err != nil {
			return err
		}
		change = moveSkill(do, prompt.ID(r.PostForm.Get("id")), seen.Skills)
	case "remove":
		change = removeSkills(r.PostForm["id"])
	case "add":
		id, err := s.namedPrompt(r, r.PostForm.Get("prompt"))
		if err != nil {
			return s.collectionWrong(r, err)
		}
		change, done = addSkill(id), "collected"
	default:
		return fault.New(fault.Invalid, "this form asks for nothing that can be done here; open the page again")
	}
	_, err := s.Service.EditCollection(r.Context(), r.who, owner, slug, match, change)
	if err != nil {
		return s.collectionWrong(r, err)
	}
	goOn(r, at+"/"+slug+"?done="+done)
	return nil
}

// collectionWrong shows the page again where a form has mistakes.
func (s *web) collectionWrong(r *request, err error) error {
	if correctable(err) || fault.Of(err) == fault.NotFound {
		return s.showCollection(r, err)
	}
	return err
}

// addSkill puts a prompt at the end of a collection.
func addSkill(id prompt.ID) func(*prompt.CollectionDraft) {
	return func(d *prompt.CollectionDraft) {
		if !slices.Contains(d.Prompts, id) {
			d.Prompts = append(slices.Clone(d.Prompts), id)
		}
	}
}

// removeSkills takes prompts out of a collection.
func removeSkills(ids []string) func(*prompt.CollectionDraft) {
	return func(d *prompt.CollectionDraft) {
		d.Prompts = slices.DeleteFunc(slices.Clone(d.Prompts), func(id prompt.ID) bool {
			return slices.Contains(ids, string(id))
		})
	}
}

// moveSkill returns how a skill changes places with the one next to it among those that the reader
// sees.
func moveSkill(do string, id prompt.ID, seen []library.View) func(*prompt.CollectionDraft) {
	at := slices.IndexFunc(seen, func(v library.View) bool { return v.ID == id })
	other := at + map[string]int{"up": -1, "down": 1}[do]
	return func(d *prompt.CollectionDraft) {
		d.Prompts = slices.Clone(d.Prompts)
		i := slices.Index(d.Prompts, id)
		if i >= 0 && at >= 0 && other >= 0 && other < len(seen) {
			if to := slices.Index(d.Prompts, seen[other].ID); to >= 0 {
				d.Prompts[i], d.Prompts[to] = d.Prompts[to], d.Prompts[i]
			}
		}
	}
}

// A collectPage is the collections of the reader into which a prompt can go.
type collectPage struct {
	Address string // of the prompt
	Title   string
	ID      prompt.ID
	Line    int // what it takes of the list of an agent
	Limit   int
	Owners  []collecting
}

// A collecting is an owner for whom the reader acts, with their collections.
type collecting struct {
	Name        string
	Address     string
	Collections []library.Collection
}

// In returns where a collection is.
func (collectPage) In(c library.Collection) string { return collectionAddress(c) }

// Has reports whether a collection has the prompt.
func (p collectPage) Has(c library.Collection) bool { return slices.Contains(c.Prompts, p.ID) }

// maxCollectors is how many workspaces of the reader are offered besides their own collections.
const maxCollectors = 10

// collect shows the collections into which the reader may put a prompt.
func (s *web) collect(r *request) error {
	v, err := s.get(r)
	if err != nil {
		return err
	}
	workspaces, err := s.Service.Workspaces(r.Context(), r.who)
	if err != nil {
		return err
	}
	handles := []string{library.Me}
	for _, w := range workspaces {
		if len(handles) <= maxCollectors && w.May(prompt.Private).Edit &&
			(v.AuthorID == w.ID || v.Visibility == prompt.Public) {
			handles = append(handles, w.Handle)
		}
	}
	p := collectPage{
		Address: addressOf(v.ID), Title: v.Title, ID: v.ID, Line: skill.List(v.Slug, v.Prompt).Characters,
		Limit: skill.BudgetCharacters, Owners: make([]collecting, len(handles)),
	}
	g, ctx := errgroup.WithContext(r.Context())
	g.SetLimit(maxCollectors)
	for i, handle := range handles {
		g.Go(func() error {
			list, u, err := s.Service.CollectionsOf(ctx, r.who, handle)
			list = slices.DeleteFunc(list, func(c library.Collection) bool { return !c.May.Edit })
			p.Owners[i] = collecting{cmp.Or(u.Name, u.Handle), collectionsAddress(u.User), list}
			if handle == library.Me {
				p.Owners[i].Name = "My collections"
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return s.render(r, http.StatusOK, "collect", "Collect "+v.Title, p)
}
