package web

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const accountPath = Prefix + "/me"

func (s *web) account() {
	s.handle("GET "+Prefix+"/u/{handle}", reader, s.author)
	s.handle("GET "+accountPath, user, s.profile)
	s.handle("POST "+accountPath, user, s.putProfile)
	if s.SignIn == Password {
		s.handle("POST "+accountPath+"/password", user, s.changePassword)
	}
	s.handle("GET "+accountPath+"/tokens", user, s.tokens)
	s.handle("POST "+accountPath+"/tokens", user, s.createToken)
	s.handle("POST "+accountPath+"/tokens/{token}/revoke", user, s.revokeToken)
}

// authorAddress returns the page of the author of a prompt.
func (s *web) authorAddress(id prompt.UserID) string {
	return Prefix + "/u/" + s.Service.AuthorKey(id)
}

// ownerAddress returns the page of the owner of a prompt: that of its workspace to a member.
func (s *web) ownerAddress(v library.View) string {
	if prompt.IsWorkspace(v.Viewer) {
		return workspaceAddress(s.Service.AuthorKey(v.Viewer))
	}
	return s.authorAddress(v.AuthorID)
}

// An authorPage is a user as everyone may see him, above his public prompts.
type authorPage struct {
	listing
	library.User
	Mine        bool
	TheirTokens string // where admins see his access tokens
	Uses        uses
	Collections []choice
}

// author shows a user and the prompts that he shares.
func (s *web) author(r *request) error {
	handle := r.PathValue("handle")
	if handle == library.Me {
		goOn(r, accountPath)
		return nil
	}
	u, err := s.Service.UserByHandle(r.Context(), r.who, handle)
	if err != nil {
		return err
	}
	v := viewOf(r, "tag", "q", "cursor", before)
	p := authorPage{listing: listing{
		view: v, Query: v.get("q"), Texts: true, Empty: "There is no public prompt here.",
		Feeds: feedsOf(v.path, nil),
	}, User: u}
	p.Kept = url.Values{"tag": v.values["tag"]}
	if p.Query != "" || v.get("tag") != "" {
		p.Empty = "None of these prompts matches. Search for fewer words or take a tag away."
	}
	p.Mine = r.who.Known() && u.Key == s.Service.AuthorKey(library.IDOf(r.who))
	if r.who.Admin() {
		p.TheirTokens = authorTokens(handle)
	}
	p.Uses = s.usesOfAuthor(r, cmp.Or(u.Handle, u.Key))
	var shown []library.Collection
	g, ctx := errgroup.WithContext(r.Context())
	g.Go(func() (err error) {
		shown, err = s.Service.Collections(ctx, r.who, handle)
		return err
	})
	tags, page, err := s.searchAuthor(r, v)
	if err := g.Wait(); err != nil {
		return err
	}
	for _, c := range shown {
		p.Collections = append(p.Collections, choice{Name: c.Name, Link: collectionAddress(c)})
	}
	p.tagged = func(t prompt.Tag) string { return v.with("tag", plus(tags, t)) }
	catalog, err := s.found(r, &p.listing, page, tags, err)
	if err != nil {
		return err
	}
	p.filters(tags, namesIn(catalog))
	if p.Name == "" && len(page.Items) > 0 {
		p.Name = page.Items[0].AuthorName // as he was called when he wrote the newest
	}
	title := p.Name
	if title == "" {
		title = "An author"
	}
	return s.list(r, "author", title, p.Wrong, &p)
}

// searchAuthor reads what the address of an author's page asks for.
func (s *web) searchAuthor(r *request, v view) ([]prompt.Tag, library.Page, error) {
	tags, words, err := wanted(v)
	if err != nil {
		return tags, library.Page{}, err
	}
	p, err := s.Service.ByAuthor(r.Context(), r.who, library.AuthorSearch{
		Handle: r.PathValue("handle"), Tags: tags, Words: words, Limit: perPage, Cursor: v.get("cursor"),
	})
	return tags, p, err
}

// A profilePage is the form of the caller's public profile.
type profilePage struct {
	prompt.Profile
	Address string // of the page that others see, "" while there is none
	Chosen  bool   // whether there is a handle that stays
	EraseAt time.Time
	Storage library.Storage
	Wrong   string
	Errors  map[string]string
}

func (s *web) profile(r *request) error {
	u, err := s.Service.Profile(r.Context(), r.who)
	if err != nil {
		return err
	}
	return s.showProfile(r, http.StatusOK, u, u.Profile, nil)
}

// showProfile shows the form with what the caller sent. The stored profile of the caller says
// whether the handle can still be chosen.
func (s *web) showProfile(r *request, status int, stored library.User, sent prompt.Profile, wrong error) error {
	p := profilePage{
		Profile: sent, Address: s.authorAddress(library.IDOf(r.who)),
		Chosen: stored.Handle != "" && !stored.Given, Errors: map[string]string{},
	}
	if stored.Handle != "" {
		p.Address = Prefix + "/u/" + stored.Handle
	}
	if p.Chosen || p.Handle == "" {
		p.Handle = stored.Handle
	}
	p.Given = stored.Given
	if wrong != nil {
		text, fields := describe(wrong)
		p.Wrong = pages.Sentence(text)
		for _, f := range fields {
			p.Errors[f.Name] = pages.Sentence(f.Message)
		}
	}
	g, ctx := errgroup.WithContext(r.Context())
	g.Go(func() error {
		_, err := s.Service.OwnerID(ctx, r.who, s.Service.AuthorKey(library.IDOf(r.who)))
		if fault.Of(err) == fault.NotFound { // he has saved nothing yet
			p.Address, err = "", nil
		}
		return err
	})
	g.Go(func() (err error) {
		p.EraseAt, err = s.Service.ErasedAt(ctx, r.who)
		return err
	})
	g.Go(func() (err error) {
		p.Storage, err = s.Service.Storage(ctx, r.who)
		return err
	})
	if err := g.Wait(); err != nil {
		return err
	}
	return s.render(r, status, "profile", "Your profile", p)
}

func (s *web) putProfile(r *request) error {
	sent := prompt.Profile{
		Handle: r.PostForm.Get("handle"), Name: r.PostForm.Get("name"),
		About: lf(r.PostForm.Get("about")),
	}
	stored, err := s.Service.Profile(r.Context(), r.who)
	if err != nil {
		return err
	}
	if !r.PostForm.Has("name") { // the handle is chosen by a form of its own, which has no other field
		sent.Name, sent.About = stored.Name, stored.About
	}
	_, err = s.Service.PutProfile(r.Context(), r.who, sent)
	if fault.Of(err) == fault.Invalid {
		return s.showProfile(r, http.StatusUnprocessableEntity, stored, sent, err)
	}
	if err != nil {
		return err
	}
	goOn(r, accountPath+"?done=profile")
	return nil
}

// A tokensPage is the access tokens of the caller or of a workspace, the form of a new one, and one
// that was just made.
type tokensPage struct {
	Action string // where the form is sent
	Team   string // the name of the workspace, "" for the caller
	Tokens []tokenRow
	New    string // the token that was just made: it is shown once
	NewID  string
	Uses   uses         // with it
	For    *tokenPrompt // what somebody wants it for, nil for nothing that was said
	Name   string
	Scopes []scope
	Days   []lifetime
	mistakes
}

// A tokenPrompt is a prompt that somebody wants an access token for, and how programs use it.
type tokenPrompt struct {
	uses
	ID             prompt.ID
	Address, Title string
}

// tokenPromptOf returns the prompt that an address or a form names, nil where there is none that
// the caller may read.
func (s *web) tokenPromptOf(r *request, k keys) (*tokenPrompt, error) {
	id, ok := prompt.ParseID(r.FormValue("for"))
	if !ok {
		return nil, nil //nolint:nilnil // no prompt was named, and nothing is wrong
	}
	v, err := s.Service.GetVersion(r.Context(), r.who, id, library.WantedVersion{Label: prompt.Latest, History: true})
	if fault.Of(err) == fault.NotFound {
		return nil, nil //nolint:nilnil // it is gone, and a token is made all the same
	}
	if err != nil {
		return nil, err
	}
	_, skilled := skill.Of(v.Prompt)
	u := s.usesOfPrompt(r, v, s.fill(r, v.Content()).Fields, skilled, k)
	return &tokenPrompt{u, id, addressOf(id), v.Title}, nil
}

// A tokenRow is a token in the list of all.
type tokenRow struct {
	library.Token
	Expired bool
	Revoke  string // where the form goes that revokes it
}

// A scope is something that a token may do.
type scope struct {
	Name, Says string
	Checked    bool
}

// A lifetime is for how many days a token counts.
type lifetime struct {
	Days    int
	Checked bool
}

func (s *web) tokens(r *request) error {
	return s.showTokens(r, http.StatusOK, tokensPage{}, nil)
}

// showTokens shows the tokens, with the form of a new one and its mistakes.
func (s *web) showTokens(r *request, status int, p tokensPage, wrong error) error {
	list, err := s.Service.Tokens(r.Context(), r.who, "")
	if err != nil {
		return err
	}
	p.Tokens = s.tokenRows(list, accountPath+"/tokens")
	k := noKeys
	if p.New != "" {
		k = keys{p.NewID, p.New}
	}
	if p.For, err = s.tokenPromptOf(r, k); err != nil {
		return err
	}
	if p.New != "" {
		p.Uses = s.usesOfToken(r, k, p.For == nil)
	}
	p.Action = accountPath + "/tokens"
	p.fillIn(r, wrong)
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, status, "tokens", "Access tokens", p)
}

// fillIn readies the form of a new token. A form that was sent and is wrong shows its own values.
func (p *tokensPage) fillIn(r *request, wrong error) {
	chosen, days := []string{auth.ScopeRead}, "90"
	if p.mistakes = mistakesOf(wrong); wrong != nil {
		p.Name, chosen, days = r.PostForm.Get("name"), r.PostForm["scope"], r.PostForm.Get("days")
	}
	scopes := []scope{
		{Name: auth.ScopeRead, Says: "read what you may read"},
		{Name: auth.ScopeWrite, Says: "write your private prompts, and vote"},
		{Name: auth.ScopePublish, Says: "change what others see, and delete"},
	}
	if p.Team != "" {
		scopes[0].Says, scopes[1].Says = "read all prompts of the workspace", "write its private prompts"
	}
	for _, sc := range scopes {
		sc.Checked = slices.Contains(chosen, sc.Name)
		p.Scopes = append(p.Scopes, sc)
	}
	for _, n := range []int{7, 30, 90, 365} {
		p.Days = append(p.Days, lifetime{n, strconv.Itoa(n) == days})
	}
}

// tokenRows returns tokens as pages below a path list them.
func (s *web) tokenRows(list []library.Token, path string) []tokenRow {
	var rows []tokenRow
	for _, t := range list {
		rows = append(rows, tokenRow{t, !s.Now().Before(t.ExpiresAt), path + "/" + t.ID + "/revoke"})
	}
	return rows
}

// sentToken returns the token that a form asks for.
func (s *web) sentToken(r *request) library.TokenDraft {
	days, err := strconv.Atoi(r.PostForm.Get("days"))
	if err != nil {
		days = 0 // which the rules refuse
	}
	return library.TokenDraft{
		Name: r.PostForm.Get("name"), Scopes: r.PostForm["scope"],
		ExpiresAt: s.Now().Add(time.Duration(days) * 24 * time.Hour),
		Claimed:   s.SignIn == Dev,
	}
}

// createToken makes a token and shows it: it is nowhere to be seen again.
func (s *web) createToken(r *request) error {
	made, text, err := s.Service.CreateToken(r.Context(), r.who, s.sentToken(r))
	if correctable(err) {
		return s.showTokens(r, http.StatusUnprocessableEntity, tokensPage{}, err)
	}
	if err != nil {
		return err
	}
	return s.showTokens(r, http.StatusOK, tokensPage{New: text, NewID: made.ID}, nil)
}

func (s *web) revokeToken(r *request) error {
	if err := s.Service.RevokeToken(r.Context(), r.who, r.PathValue("token")); err != nil {
		return err
	}
	goOn(r, accountPath+"/tokens?done=revoked")
	return nil
}
