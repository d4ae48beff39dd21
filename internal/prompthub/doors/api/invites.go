package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/auth/attempts"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

func (a *api) invites() {
	tags := []string{"invitations"}
	route(a, user, huma.Operation{
		OperationID: "create-invite", Method: http.MethodPost, Path: "/invites", Tags: tags,
		DefaultStatus: http.StatusCreated,
		Summary:       "Make an invitation, whose secret this answer alone shows; administrators of each workspace that it names may", Errors: fails(badBody, 404, 409),
		Description: "Whoever has the link gets the roles, until it is used up, expires or is withdrawn. Where people sign in with passwords, somebody without an account makes one by it if an admin made the invitation; admins invite to an account alone by naming no workspace. Needs a caller who signed in, and no access token.",
	}, a.createInvite)
	route(a, user, huma.Operation{
		OperationID: "list-invites", Method: http.MethodGet, Path: "/invites", Tags: tags,
		Summary: "My invitations, the newest first, without their secrets; or those to a workspace of which I am an administrator", Errors: []int{404},
		Description: "To an admin, where people have passwords, also those of everybody that are open, the 200 newest. One that has ended is listed for seven days more.",
	}, a.listInvites)
	route(a, user, huma.Operation{
		OperationID: "remove-invite", Method: http.MethodDelete, Path: "/invites/{invite}", Tags: tags,
		Summary:     "Withdraw an invitation; its maker may, the administrators of a workspace that it names, and admins",
		Errors:      []int{404},
		Description: "Its link leads nowhere from then on. What it gave before stays.",
	}, a.removeInvite)
	route(a, visitor, huma.Operation{
		OperationID: "accept-invite", Method: http.MethodPost, Path: "/invites/accept", Tags: tags,
		DefaultStatus: http.StatusOK,
		Summary:       "Accept an invitation, as the caller or with a new account", Errors: fails(badBody, 404, 409),
		Description: "A use is taken once, also where the request is interrupted: the same request again goes on with it. A role that the caller has stays. Without a caller, and where people sign in with passwords, handle, name and password make an account, by an invitation that an admin made and no other; the answer has a session for it.",
	}, a.acceptInvite)
	route(a, visitor, huma.Operation{
		OperationID: "sign-in", Method: http.MethodPost, Path: "/session", Tags: tags,
		DefaultStatus: http.StatusCreated,
		Summary:       "Sign in with a password, where people have some", Errors: fails(badBody, 409),
		Description: "The session is sent as a bearer token. It lasts 30 days, and acts as its user in person: for programs make an access token. Another name and another password have the same answer.",
	}, a.signIn)
	route(a, user, huma.Operation{
		OperationID: "sign-out", Method: http.MethodDelete, Path: "/session", Tags: tags,
		Summary:     "End the session that the request brings",
		Description: "Within ten seconds it is refused everywhere. A caller without one is signed out already.",
	}, a.signOut)
	route(a, user, huma.Operation{
		OperationID: "create-reset", Method: http.MethodPost, Path: "/resets", Tags: tags,
		DefaultStatus: http.StatusCreated,
		Summary:       "Make a link by which a person sets a new password; admins may",
		Errors:        fails(badBody, 404, 409),
		Description:   "It is good once, for an hour. When it is used, all sessions and access tokens of the person end.",
	}, a.createReset)
	route(a, visitor, huma.Operation{
		OperationID: "accept-reset", Method: http.MethodPost, Path: "/resets/accept", Tags: tags,
		DefaultStatus: http.StatusNoContent,
		Summary:       "Set a new password by such a link",
		Description:   "All sessions and access tokens of the person end, within ten seconds everywhere. A token that an ended session makes in that time stays: it is in the list of tokens.", Errors: fails(badBody, 404, 409),
	}, a.acceptReset)
	route(a, user, huma.Operation{
		OperationID: "change-password", Method: http.MethodPut, Path: "/me/password", Tags: tags,
		Summary: "Change one's own password", Errors: fails(badBody, 409),
		Description: "Needs the present password, and a caller in person. All other sessions of the caller end, within ten seconds everywhere; the answer has a new one. Access tokens stay.",
	}, a.changePassword)
	route(a, visitor, huma.Operation{
		OperationID: "take-login", Method: http.MethodPost, Path: "/logins", Tags: tags,
		DefaultStatus: http.StatusCreated,
		Summary:       "Sign a command line in, with the code of its page", Errors: fails(badBody, 404),
		Description: "The page /app/login brings a code to the machine of the browser. With the secret whose SHA-256 was the challenge of the page it gives an access token, once and within two minutes.",
	}, a.takeLogin)
}

// A ChangedPassword is what PUT /me/password takes.
type ChangedPassword struct {
	Current  string `json:"current" maxLength:"1000" doc:"The present password" example:"correct horse battery"`
	Password string `json:"password" maxLength:"1000" doc:"The new one, 10 to 128 characters" example:"another horse battery"`
}

// A LoginCode is what POST /logins takes.
type LoginCode struct {
	Code   string `json:"code" maxLength:"200" doc:"That the browser brought" example:"phc_…"`
	Secret string `json:"secret" maxLength:"200" doc:"Of the challenge" example:"…"`
}

type loginCodeInput struct {
	Body LoginCode
}

func (a *api) takeLogin(ctx context.Context, _ call, in *loginCodeInput) (*newTokenOutput, error) {
	t, text, err := a.Service.TakeLogin(ctx, in.Body.Code, in.Body.Secret, a.Claimed)
	return shown(t, text, err)
}

// A NewInvite is what POST /invites takes.
type NewInvite struct {
	Workspaces []OfferedRole `json:"workspaces,omitempty" maxItems:"10" doc:"What whoever accepts gets; absent or empty for an account alone"`
	Admin      bool          `json:"admin,omitempty" doc:"Whether who makes an account by it is an admin of the service; admins may" example:"false"`
	Uses       int           `json:"uses,omitempty" minimum:"1" maximum:"10" default:"1" doc:"How many people may use it" example:"1"`
	Days       int           `json:"days,omitempty" minimum:"1" maximum:"30" default:"7" doc:"How long it is good" example:"7"`
}

// An OfferedRole is a role in a workspace.
type OfferedRole struct {
	Handle string `json:"handle" doc:"Of the workspace" example:"billing"`
	Role   string `json:"role" enum:"reader,author,publisher,administrator" doc:"As in Workspace" example:"author"`
}

// An Offer is a role in a workspace that an invitation gives.
type Offer struct {
	Handle string `json:"handle" doc:"Of the workspace" example:"billing"`
	Role   string `json:"role" enum:"reader,author,publisher,administrator" doc:"As in Workspace" example:"author"`
}

// An Invite is an invitation without its secret.
type Invite struct {
	ID         string  `json:"id" doc:"Its id, by which it is withdrawn" example:"mfrggzdfmztwq2lk"`
	Workspaces []Offer `json:"workspaces" nullable:"false" doc:"What whoever accepts gets; empty for an account alone"`
	Admin      bool    `json:"admin" doc:"Whether who makes an account by it is an admin of the service" example:"false"`
	Uses       int     `json:"uses" doc:"How many people may use it" example:"1"`
	Left       int     `json:"left" doc:"How many may still" example:"1"`
	By         string  `json:"by,omitempty" doc:"The authorId of who made it; absent where an operator did" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	CreatedAt  string  `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-03-04T05:06:07.891Z"`
	ExpiresAt  string  `json:"expiresAt" format:"date-time" doc:"Until when it is good" example:"2026-03-11T05:06:07.891Z"`
}

// A ShownInvite is a new invitation with its secret.
type ShownInvite struct {
	Invite
	Secret string `json:"secret" doc:"What opens it; it is not shown again" example:"phi_mfrggzdfmztwq2lk_…"`
	URL    string `json:"url" doc:"A link for people; the secret stands after the sign #, which browsers do not send" example:"https://prompts.example.org/app/join#phi_…"`
}

// An InviteList is all invitations that a caller may withdraw.
type InviteList struct {
	Items []Invite `json:"items" nullable:"false" doc:"The newest first"`
}

// An Acceptance is what POST /invites/accept takes.
type Acceptance struct {
	Secret   string `json:"secret" maxLength:"200" doc:"That of the invitation" example:"phi_mfrggzdfmztwq2lk_…"`
	Handle   string `json:"handle,omitempty" maxLength:"200" doc:"Of a new account, by which its owner signs in and others find them; without one it is made of the name" example:"ann-lee"`
	Name     string `json:"name,omitempty" maxLength:"200" doc:"Of a new account, for people" example:"Ann Lee"`
	Password string `json:"password,omitempty" maxLength:"1000" doc:"Of a new account: 10 to 128 characters" example:"correct horse battery"`
}

// An Accepted is what an invitation gave.
type Accepted struct {
	Workspaces []Offer `json:"workspaces" nullable:"false" doc:"What the invitation offers; a role that one had before stays"`
	Handle     string  `json:"handle,omitempty" doc:"Of the new account" example:"ann-lee"`
	Session    string  `json:"session,omitempty" doc:"Of the new account: a bearer token for 30 days" example:"phs_…"`
}

// A Credentials is what POST /session takes.
type Credentials struct {
	Name     string `json:"name" maxLength:"200" doc:"The handle" example:"ann-lee"`
	Password string `json:"password" maxLength:"1000" doc:"The password" example:"correct horse battery"`
}

// A Session is a session that was opened.
type Session struct {
	Session string `json:"session" doc:"A bearer token for 30 days" example:"phs_…"`
}

// A ForWhom is what POST /resets takes.
type ForWhom struct {
	Name string `json:"name" maxLength:"200" doc:"The handle of a person with a password" example:"ann-lee"`
}

// A Reset is a link to set a new password.
type Reset struct {
	Secret    string `json:"secret" doc:"What opens it; it is not shown again" example:"phr_…"`
	URL       string `json:"url" doc:"A link for the person" example:"https://prompts.example.org/app/reset#phr_…"`
	ExpiresAt string `json:"expiresAt" format:"date-time" doc:"Until when it is good" example:"2026-03-04T06:06:07.891Z"`
}

// A NewPassword is what POST /resets/accept takes.
type NewPassword struct {
	Secret   string `json:"secret" maxLength:"300" doc:"That of the link" example:"phr_…"`
	Password string `json:"password" maxLength:"1000" doc:"10 to 128 characters" example:"correct horse battery"`
}

// asked returns who asks to be signed in.
func (c call) asked() library.Asker {
	return library.Asker{From: attempts.From{Site: c.site, Network: c.network}, Agent: c.header.Get("User-Agent")}
}

func encodeInvite(i library.Invite) Invite {
	return Invite{
		ID: i.ID, Workspaces: encodeOffers(i.Workspaces), Admin: i.Admin, Uses: i.Uses, Left: i.Left(), By: i.By,
		CreatedAt: httpjson.FormatTime(i.CreatedAt), ExpiresAt: httpjson.FormatTime(i.ExpiresAt),
	}
}

func encodeOffers(all []library.InvitedTo) []Offer {
	list := make([]Offer, len(all))
	for i, w := range all {
		list[i] = Offer{w.Handle, string(w.Role)}
	}
	return list
}

type newInviteInput struct {
	Body NewInvite
}

type newInviteOutput struct {
	CacheControl string `header:"Cache-Control" doc:"no-store"`
	Body         ShownInvite
}

func (a *api) createInvite(ctx context.Context, c call, in *newInviteInput) (*newInviteOutput, error) {
	want := library.WantedInvite{Admin: in.Body.Admin, Uses: in.Body.Uses, Days: in.Body.Days}
	for _, w := range in.Body.Workspaces {
		want.Offers = append(want.Offers, library.WantedOffer{Workspace: w.Handle, Role: prompt.Role(w.Role)})
	}
	i, secret, err := a.Service.CreateInvite(ctx, c.User, want)
	if err != nil {
		return nil, err
	}
	return &newInviteOutput{
		"no-store",
		ShownInvite{encodeInvite(i), secret, c.origin + library.JoinPath + "#" + secret},
	}, nil
}

type invitesInput struct {
	Workspace string `query:"workspace" doc:"The handle of a workspace whose invitations to list" example:"billing"`
}

type invitesOutput struct {
	Body InviteList
}

func (a *api) listInvites(ctx context.Context, c call, in *invitesInput) (*invitesOutput, error) {
	all, err := a.Service.ListInvites(ctx, c.User, in.Workspace)
	out := &invitesOutput{InviteList{Items: make([]Invite, len(all))}}
	for i, one := range all {
		out.Body.Items[i] = encodeInvite(one)
	}
	return out, err
}

type byInvite struct {
	Invite string `path:"invite" doc:"The id of an invitation" example:"mfrggzdfmztwq2lk"`
}

func (a *api) removeInvite(ctx context.Context, c call, in *byInvite) (*struct{}, error) {
	return nil, a.Service.RemoveInvite(ctx, c.User, in.Invite)
}

type acceptInput struct {
	Body Acceptance
}

type acceptedOutput struct {
	CacheControl string `header:"Cache-Control" doc:"no-store"`
	Body         Accepted
}

func (a *api) acceptInvite(ctx context.Context, c call, in *acceptInput) (*acceptedOutput, error) {
	p := library.NewPerson{Handle: in.Body.Handle, Name: in.Body.Name, Password: in.Body.Password}
	got, err := a.Service.AcceptInvite(ctx, c.User, in.Body.Secret, p, c.asked())
	if err != nil {
		return nil, err
	}
	return &acceptedOutput{"no-store", Accepted{encodeOffers(got.Workspaces), got.Handle, got.Session}}, nil
}

type credentialsInput struct {
	Body Credentials
}

type sessionOutput struct {
	CacheControl string `header:"Cache-Control" doc:"no-store"`
	Body         Session
}

func (a *api) signIn(ctx context.Context, c call, in *credentialsInput) (*sessionOutput, error) {
	token, err := a.Service.SignIn(ctx, in.Body.Name, in.Body.Password, c.asked())
	if err != nil {
		return nil, err
	}
	return &sessionOutput{"no-store", Session{token}}, nil
}

func (a *api) signOut(ctx context.Context, c call, _ *struct{}) (*struct{}, error) {
	return nil, a.Service.SignOut(ctx, auth.BearerOf(c.header))
}

type forWhomInput struct {
	Body ForWhom
}

type resetOutput struct {
	CacheControl string `header:"Cache-Control" doc:"no-store"`
	Body         Reset
}

func (a *api) createReset(ctx context.Context, c call, in *forWhomInput) (*resetOutput, error) {
	secret, ends, err := a.Service.ResetPassword(ctx, c.User, in.Body.Name)
	if err != nil {
		return nil, err
	}
	return &resetOutput{
		"no-store",
		Reset{secret, c.origin + library.ResetPath + "#" + secret, httpjson.FormatTime(ends)},
	}, nil
}

type newPasswordInput struct {
	Body NewPassword
}

func (a *api) acceptReset(ctx context.Context, c call, in *newPasswordInput) (*struct{}, error) {
	_, err := a.Service.AcceptReset(ctx, in.Body.Secret, in.Body.Password, c.asked())
	return nil, err
}

type changedPasswordInput struct {
	Body ChangedPassword
}

func (a *api) changePassword(ctx context.Context, c call, in *changedPasswordInput) (*sessionOutput, error) {
	token, err := a.Service.ChangePassword(ctx, c.User, in.Body.Current, in.Body.Password, c.asked())
	if err != nil {
		return nil, err
	}
	return &sessionOutput{"no-store", Session{token}}, nil
}

// note keeps what asked and page need of a request.
func (c *call) note(ctx huma.Context, public string) {
	r, _ := humago.Unwrap(ctx)
	c.header, c.origin = r.Header, httpjson.Origin(r, public)
	c.site, c.network = httpjson.AddressClass(r)
}
