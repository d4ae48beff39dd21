package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

const workspacesPath = Prefix + "/w"

func workspaceAddress(handle string) string { return workspacesPath + "/" + handle }

func (s *web) workspaces() {
	one := workspaceAddress("{workspace}")
	s.handle("GET "+workspacesPath, user, s.myWorkspaces)
	s.handle("POST "+workspacesPath, user, s.createWorkspace)
	s.handle("GET "+one, user, s.workspace)
	s.handle("POST "+one+"/copies", user, s.copyInto)
	s.handle("GET "+one+"/members", user, s.members)
	s.handle("POST "+one+"/members", user, s.putMember)
	s.handle("POST "+one+"/members/remove", user, s.removeMember)
	s.handle("GET "+one+"/settings", user, s.workspaceSettings)
	s.handle("POST "+one+"/settings", user, s.editWorkspace)
	s.handle("POST "+one+"/delete", user, s.deleteWorkspace)
	s.handle("POST "+one+"/restore", user, s.restoreWorkspace)
	s.handle("POST "+one+"/rules", user, s.setRules)
	s.handle("POST "+one+"/tokens", user, s.createWorkspaceToken)
	s.handle("POST "+one+"/tokens/{token}/revoke", user, s.revokeWorkspaceToken)
}

// mistakes is what is wrong with a form.
type mistakes struct {
	Wrong  string
	Errors map[string]string // by field
}

func mistakesOf(err error) (m mistakes) {
	m.Errors = map[string]string{}
	if err == nil {
		return m
	}
	text, fields := describe(err)
	m.Wrong = pages.Sentence(text)
	for _, f := range fields {
		name, _, _ := item(f.Name)
		m.Errors[name] = pages.Sentence(f.Message)
	}
	return m
}

// statusOf returns the status of a form that is shown again, or was not sent yet.
func statusOf(wrong error) int {
	switch {
	case wrong == nil:
		return http.StatusOK
	case fault.Of(wrong) == fault.Conflict:
		return http.StatusConflict
	}
	return http.StatusUnprocessableEntity
}

// A workspacesPage is the workspaces of which the caller is a member, and the form of a new one.
type workspacesPage struct {
	mistakes
	Workspaces, Deleted []library.Workspace
	Handle              string         // of the caller, which administrators name them by
	May                 bool           // make one
	Sent                prompt.Profile // what the form says
}

// Address returns the page of a workspace.
func (workspacesPage) Address(handle string) string { return workspaceAddress(handle) }

func (s *web) myWorkspaces(r *request) error { return s.showWorkspaces(r, nil) }

func (s *web) showWorkspaces(r *request, wrong error) error {
	p := workspacesPage{mistakes: mistakesOf(wrong), Sent: sentProfile(r), May: s.Service.MayMake(r.who) == nil}
	var err error
	if p.Workspaces, p.Deleted, err = s.Service.MemberOf(r.Context(), r.who); err != nil {
		return err
	}
	s.Service.MakeKnown(r.Context(), r.who) // else administrators have no handle to add them by
	me, err := s.Service.Profile(r.Context(), r.who)
	if err != nil {
		return err
	}
	p.Handle = me.Handle
	return s.render(r, statusOf(wrong), "workspaces", "Workspaces", p)
}

// sentProfile returns what a form says of a workspace.
func sentProfile(r *request) prompt.Profile {
	return prompt.Profile{
		Handle: r.PostForm.Get("handle"), Name: r.PostForm.Get("name"),
		About: lf(r.PostForm.Get("about")),
	}
}

func (s *web) createWorkspace(r *request) error {
	w, err := s.Service.CreateWorkspace(r.Context(), r.who, sentProfile(r))
	if correctable(err) {
		return s.showWorkspaces(r, err)
	}
	if err == nil {
		goOn(r, workspaceAddress(w.Handle)+"?done=workspace")
	}
	return err
}

// A workspaceFrame is what all pages of a workspace have at their head.
type workspaceFrame struct {
	library.Workspace
	Address string
	Tab     string // which page it is
	Waiting string // how many proposals wait for a review, "" for none
}

// maxWaiting is how many proposals that wait are counted.
const maxWaiting = 20

func (s *web) frameOf(r *request, w library.Workspace, tab string) (workspaceFrame, error) {
	f := workspaceFrame{Workspace: w, Address: workspaceAddress(w.Handle), Tab: tab}
	n, more, err := s.Service.CountOpen(r.Context(), w, maxWaiting)
	switch {
	case more:
		f.Waiting = fmt.Sprintf("%d+", n)
	case n > 0:
		f.Waiting = strconv.Itoa(n)
	}
	return f, err
}

// Manages reports whether the reader is an administrator.
func (f workspaceFrame) Manages() bool { return f.Role == prompt.RoleAdministrator }

// A workspacePage is the prompts of a workspace.
type workspacePage struct {
	listing
	workspaceFrame
}

// workspace shows the prompts of a workspace, as mine does those of the caller.
func (s *web) workspace(r *request) error {
	v := viewOf(r, "show", "sort", "q", "cursor", before)
	p := &workspacePage{listing: ownListing(v)}
	w, err := s.Service.Workspace(r.Context(), r.who, r.PathValue("workspace"))
	if err != nil {
		return err
	}
	page, err := listOwn(v, func(q library.MineQuery) (library.Page, error) {
		return s.Service.ListWorkspace(r.Context(), r.who, w, q)
	})
	p.of = &w
	var failed error
	if p.workspaceFrame, failed = s.frameOf(r, w, "prompts"); failed != nil {
		return failed
	}
	p.Empty = map[string]string{
		"": "This workspace has no prompt yet.", "public": "It shows no prompt to others yet.",
		"private": "It has no private prompts.",
		"deleted": "Nothing is deleted. What is deleted can be restored here for 30 days.",
	}[v.get("show")]
	switch {
	case p.Query != "":
		p.Empty, p.Instead = "None of its prompts matches.",
			choice{Name: "All prompts of the workspace", Link: v.with("q", "")}
	case v.get("show") != "deleted" && w.May(prompt.Private).Edit:
		p.Instead = choice{Name: "New prompt", Link: p.New()}
	}
	if _, err := s.found(r, &p.listing, page, nil, err); err != nil {
		return err
	}
	return s.list(r, "workspace", w.Name, p.Wrong, p)
}

// New returns where a member writes a prompt of the workspace, "" for one who may not.
func (p *workspacePage) New() string {
	if !p.Workspace.May(prompt.Private).Edit {
		return ""
	}
	return newPrompt.Link + "?" + url.Values{"owner": {p.Handle}}.Encode()
}

// copyInto copies a prompt of the reader's into a workspace: its name, or the address of its page,
// says which.
func (s *web) copyInto(r *request) error {
	leave, err := s.Admission.EnterFile(r.caller)
	if err != nil {
		return err
	}
	defer leave()
	handle := r.PathValue("workspace")
	owner, err := s.Service.In(r.Context(), r.who, handle)
	if err != nil {
		return err
	}
	id, err := s.namedPrompt(r, r.PostForm.Get("prompt"))
	if err != nil {
		return err
	}
	made, err := transfer.Copy(r.Context(), s.Service, r.who, owner, id)
	s.Admission.Spend(r.caller, made.Changes)
	switch {
	case err != nil:
		return err
	case made.More:
		goOn(r, workspaceAddress(handle)+"?done=copied-part")
	case len(made.Loss) > 0:
		goOn(r, addressOf(made.ID)+"?done=copied-but")
	default:
		goOn(r, addressOf(made.ID)+"?done=copied")
	}
	return nil
}

// namedPrompt returns the prompt that a name of the reader's, an id, or the address of a page
// names.
func (s *web) namedPrompt(r *request, name string) (prompt.ID, error) {
	name = strings.TrimSpace(name)
	if id, ok := prompt.ParseID(name[strings.LastIndexByte(name, '/')+1:]); ok {
		return id, nil
	}
	v, err := s.Service.GetByName(r.Context(), r.who, library.IDOf(r.who), name, library.WantedVersion{})
	return v.ID, err
}

// A membersPage is the members of a workspace, and the forms to change them.
type membersPage struct {
	workspaceFrame
	mistakes
	Members []memberRow
	Roles   []roleChoice
	Sent    prompt.Member // what the form of a new one says
	Invites invitesPart   // for administrators
	More    string
	Start   string
}

// A memberRow is a member in the list of all.
type memberRow struct {
	library.Member
	Who   string // as people call them
	Link  string // "" where there is no page of them
	Me    bool
	Roles []roleChoice
}

// A roleChoice is a role that a member may have.
type roleChoice struct {
	Role   prompt.Role
	Says   string
	Chosen bool
}

func roleChoices(chosen prompt.Role) []roleChoice {
	says := map[prompt.Role]string{
		prompt.RoleReader: "reads everything", prompt.RoleAuthor: "also writes private prompts",
		prompt.RolePublisher:     "also publishes, releases and deletes",
		prompt.RoleAdministrator: "also manages members, tokens and the workspace",
	}
	var all []roleChoice
	for _, role := range prompt.Roles() {
		all = append(all, roleChoice{role, says[role], role == chosen})
	}
	return all
}

// membersPerPage is how many members a page shows; each is looked up by two reads.
const membersPerPage = 50

func (s *web) members(r *request) error { return s.showMembers(r, nil) }

func (s *web) showMembers(r *request, wrong error) error {
	return s.showMembersWith(r, invitesPart{}, wrong)
}

// showMembersWith shows the members with what became of the form of an invitation.
func (s *web) showMembersWith(r *request, invites invitesPart, wrong error) error {
	v := viewOf(r, "cursor")
	v.path = workspaceAddress(r.PathValue("workspace")) + "/members"
	w, err := s.Service.Workspace(r.Context(), r.who, r.PathValue("workspace"))
	if err != nil {
		return err
	}
	list, next, err := s.Service.Members(r.Context(), r.who, w.Handle, membersPerPage, v.get("cursor"))
	if err != nil {
		return err
	}
	p := membersPage{mistakes: mistakesOf(wrong)}
	if p.workspaceFrame, err = s.frameOf(r, w, "members"); err != nil {
		return err
	}
	sent := r.PostForm.Get
	role := cmp.Or(sent("role"), string(prompt.RoleAuthor))
	p.Sent = prompt.Member{Kind: sentKind(r), Name: sent("principal"), Role: prompt.Role(role)}
	p.Roles = roleChoices(p.Sent.Role)
	if fault.Of(wrong) == fault.NotFound { // the person
		p.Errors["principal"], p.Wrong = p.Wrong, "This is not saved yet. What has to change stands at its field."
	}
	me := s.Service.AuthorKey(library.IDOf(r.who))
	for _, m := range list {
		row := memberRow{
			Member: m, Who: m.Name, Me: m.Kind == prompt.Person && m.Name == me,
			Roles: roleChoices(m.Role),
		}
		if m.Kind == prompt.Person {
			row.Who, row.Link = cmp.Or(m.Profile.Name, m.Profile.Handle, "a person"),
				Prefix+"/u/"+cmp.Or(m.Profile.Handle, m.Name)
		}
		p.Members = append(p.Members, row)
	}
	if p.Manages() {
		if p.Invites, err = s.invitesOf(r, w, invites); err != nil {
			return err
		}
	}
	p.More, p.Start = v.onward(next)
	status := statusOf(wrong)
	if invites.Wrong != "" {
		status = http.StatusUnprocessableEntity
	}
	return s.render(r, status, "workspace-members", "Members of "+w.Name, p)
}

// sentKind returns how a form names a member.
func sentKind(r *request) prompt.MemberKind {
	return prompt.MemberKind(cmp.Or(r.PostForm.Get("kind"), string(prompt.Person)))
}

func (s *web) putMember(r *request) error {
	handle, sent := r.PathValue("workspace"), r.PostForm.Get
	_, err := s.Service.PutMember(r.Context(), r.who, handle, sentKind(r), sent("principal"), prompt.Role(sent("role")))
	return s.memberChanged(r, err, "member")
}

// memberChanged answers a change of a member: with the page again where there is something wrong,
// which tells those who are no member no more than that.
func (s *web) memberChanged(r *request, err error, done string) error {
	if correctable(err) || fault.Of(err) == fault.NotFound {
		return s.showMembers(r, err)
	}
	if err == nil {
		goOn(r, workspaceAddress(r.PathValue("workspace"))+"/members?done="+done)
	}
	return err
}

func (s *web) removeMember(r *request) error {
	name := r.PostForm.Get("principal")
	err := s.Service.RemoveMember(r.Context(), r.who, r.PathValue("workspace"), sentKind(r), name)
	if err == nil && name == library.Me {
		goOn(r, workspacesPath+"?done=left")
		return nil
	}
	return s.memberChanged(r, err, "member-removed")
}

// A settingsPage is what an administrator changes of a workspace, and its access tokens.
type settingsPage struct {
	workspaceFrame
	mistakes
	Tokens   tokensPage
	Rules    rulesForm
	Sent     prompt.Profile
	PurgedAt time.Time // of a deleted one
}

func (s *web) workspaceSettings(r *request) error { return s.showSettings(r, settingsPage{}, nil) }

// showSettings shows the settings, with the mistakes of one of the forms.
func (s *web) showSettings(r *request, p settingsPage, wrong error) error {
	w, err := s.Service.WorkspaceOrDeleted(r.Context(), r.who, r.PathValue("workspace"))
	if err != nil {
		return err
	}
	p.Sent = w.Profile
	if w.Deleted() {
		p.workspaceFrame = workspaceFrame{Workspace: w, Address: workspaceAddress(w.Handle)}
		p.PurgedAt = w.DeletedAt.AddDate(0, 0, prompt.RestoreDays)
		return s.render(r, http.StatusOK, "workspace-settings", "Settings of "+w.Name, p)
	}
	if p.workspaceFrame, err = s.frameOf(r, w, "settings"); err != nil {
		return err
	}
	list, err := s.Service.WorkspaceTokens(r.Context(), r.who, w.Handle)
	if err != nil {
		return err
	}
	if p.Rules.Rows == nil {
		p.Rules = rulesFormOf(w, w.Rules)
	}
	p.Rules.Revision = w.Revision
	t := &p.Tokens
	t.Action, t.Team = p.Address+"/tokens", w.Name
	t.Tokens = s.tokenRows(list, t.Action)
	if t.New != "" {
		t.Uses = s.usesOfToken(r, keys{t.NewID, t.New}, true)
	}
	ofToken, none := r.PostForm.Has("days"), error(nil)
	if ofToken {
		t.fillIn(r, wrong)
		p.mistakes = mistakesOf(none)
	} else {
		t.fillIn(r, none)
		p.mistakes = mistakesOf(wrong)
		if r.PostForm.Has("about") {
			p.Sent = sentProfile(r)
		}
	}
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, statusOf(wrong), "workspace-settings", "Settings of "+w.Name, p)
}

func (s *web) editWorkspace(r *request) error {
	sent := sentProfile(r)
	handle, always := r.PathValue("workspace"), library.Match{Any: true}
	w, err := s.Service.EditWorkspace(r.Context(), r.who, handle, always, &sent.Name, &sent.About)
	if correctable(err) {
		return s.showSettings(r, settingsPage{}, err)
	}
	if err == nil {
		goOn(r, workspaceAddress(w.Handle)+"/settings?done=workspace-saved")
	}
	return err
}

func (s *web) deleteWorkspace(r *request) error {
	err := s.Service.DeleteWorkspace(r.Context(), r.who, r.PathValue("workspace"))
	if correctable(err) {
		return s.showSettings(r, settingsPage{}, err)
	}
	if err == nil {
		goOn(r, workspacesPath+"?done=workspace-deleted")
	}
	return err
}

func (s *web) restoreWorkspace(r *request) error {
	w, err := s.Service.RestoreWorkspace(r.Context(), r.who, r.PathValue("workspace"))
	if err == nil {
		goOn(r, workspaceAddress(w.Handle)+"?done=workspace-restored")
	}
	return err
}

func (s *web) createWorkspaceToken(r *request) error {
	made, text, err := s.Service.CreateWorkspaceToken(r.Context(), r.who, r.PathValue("workspace"), s.sentToken(r))
	if correctable(err) {
		return s.showSettings(r, settingsPage{}, err)
	}
	if err != nil {
		return err
	}
	return s.showSettings(r, settingsPage{Tokens: tokensPage{New: text, NewID: made.ID}}, nil)
}

func (s *web) revokeWorkspaceToken(r *request) error {
	handle := r.PathValue("workspace")
	err := s.Service.RevokeWorkspaceToken(r.Context(), r.who, handle, r.PathValue("token"))
	if err == nil {
		goOn(r, workspaceAddress(handle)+"/settings?done=revoked")
	}
	return err
}
