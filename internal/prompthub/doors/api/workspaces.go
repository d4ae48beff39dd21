package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

func (a *api) workspaces() {
	tags := []string{"workspaces"}
	route(a, user, huma.Operation{
		OperationID: "create-workspace", Method: http.MethodPost, Path: "/workspaces", Tags: tags,
		DefaultStatus: http.StatusCreated,
		Summary:       "Make a workspace, whose first administrator is the caller", Errors: badBody,
		Description: "A workspace owns prompts as a user does, and its members share them. Its handle is one of those that users have too; it is chosen once and never given to another. Needs a caller who signed in, and no access token; where the service is set so (WORKSPACES=admins), an admin of the service.",
	}, a.createWorkspace)
	route(a, user, huma.Operation{
		OperationID: "list-workspaces", Method: http.MethodGet, Path: "/workspaces", Tags: tags,
		Summary:     "The workspaces of which I am a member, by their handles",
		Description: "By name, or by a group or role of the directory. With an access token of a workspace, that one.",
	}, a.listWorkspaces)
	route(a, user, huma.Operation{
		OperationID: "get-workspace", Method: http.MethodGet, Path: "/workspaces/{workspace}", Tags: tags,
		Summary: "A workspace of mine", Errors: []int{404},
		Description: "One of which the caller is no member is answered as one that is not there.",
	}, a.getWorkspace)
	route(a, user, huma.Operation{
		OperationID: "patch-workspace", Method: http.MethodPatch, Path: "/workspaces/{workspace}", Tags: tags,
		Summary: "Change name and note of a workspace; its administrators may", Errors: fails(badBody, 404, 412, 428),
		Description: "Members that are absent stay as they are. The handle stays.",
		RequestBody: &huma.RequestBody{
			Content: map[string]*huma.MediaType{mergeType: {Schema: &huma.Schema{Ref: schemas + "WorkspacePatch"}}},
		},
	}, a.patchWorkspace)
	route(a, user, huma.Operation{
		OperationID: "delete-workspace", Method: http.MethodDelete, Path: "/workspaces/{workspace}", Tags: tags,
		Summary: "Delete a workspace; its administrators may, and can restore it for 30 days", Errors: []int{404, 409},
		Description: "Its members and access tokens have no rights from then on. After 30 days all of it is erased; the handle stays taken. One with public prompts is not deleted.",
	}, a.deleteWorkspace)
	route(a, user, huma.Operation{
		OperationID: "restore-workspace", Method: http.MethodPost, Path: "/workspaces/{workspace}/restore", Tags: tags,
		DefaultStatus: http.StatusOK,
		Summary:       "Undo the deletion of a workspace; its administrators may", Errors: []int{404},
		Description: "It has its members, tokens and prompts again.",
	}, a.restoreWorkspace)
	route(a, user, huma.Operation{
		OperationID: "list-workspace-prompts", Method: http.MethodGet,
		Path: "/workspaces/{workspace}/prompts", Tags: tags,
		Summary: "The prompts of a workspace, private ones too; its members may", Errors: fails(badQuery, 404),
		Description: "As GET /me/prompts lists the caller's own. Each is read and changed under /prompts/{id}, as far as the role of the caller goes; with the role author a private one, with publisher a public one too.",
	}, a.workspacePrompts)
	copied := func(description string) *huma.Response {
		schema := a.huma.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Prompt](), true, "Prompt")
		return &huma.Response{Description: description, Content: map[string]*huma.MediaType{jsonType: {Schema: schema}}}
	}
	route(a, user, huma.Operation{
		OperationID: "copy-into-workspace", Method: http.MethodPost, Path: "/workspaces/{workspace}/copies", Tags: tags,
		DefaultStatus: http.StatusCreated,
		Summary:       "Copy a prompt into a workspace, with its versions, labels and files; its authors may",
		Errors:        fails(badBody, 404, 409),
		Description:   "A prompt of the caller's own, or of a workspace of which they are a member; another one is forked. The copy is private, has the name, and numbers its versions as the prompt does. A label that a rule of the workspace keeps for proposals is left out, and loss says so. What the text includes must be in the workspace before. The prompt itself stays.",
		Responses: map[string]*huma.Response{
			"200": copied("The copy that was made before"), "201": copied("The copy"),
			"202": copied(
				"The copy as far as it was made: one request makes at most 50 changes, and the same again goes on"),
		},
	}, a.copyInto)
	route(a, user, huma.Operation{
		OperationID: "list-members", Method: http.MethodGet, Path: "/workspaces/{workspace}/members", Tags: tags,
		Summary: "The members of a workspace, people first; its members may", Errors: fails(badQuery, 404),
		Description: "A person is named by the authorId, everybody in a group or role of the directory by its name. The groups of a caller are those of the claim that the service reads: for programs as long as their token is valid; in a browser for an hour where the provider gives refresh tokens, else for eight. What somebody did as one of a group (an approval, an invitation) counts as long as the group is a member. Access tokens of persons have the role that the person has by name.",
	}, a.listMembers)
	route(a, user, huma.Operation{
		OperationID: "put-member", Method: http.MethodPut, Path: "/workspaces/{workspace}/members/{kind}/{principal}",
		Tags:        tags,
		Summary:     "Make somebody a member of a workspace, or give a member another role; its administrators may",
		Errors:      fails(badBody, 404, 409),
		Description: "At most 500 people and 50 groups and roles of the directory; a person is a member of at most 100 workspaces. A person named in several ways has the highest role. The last administrator who is named as a person stays one. Within ten seconds every instance knows. An admin of the service may make themselves (me) administrator of a workspace that has none.",
	}, a.putMember)
	route(a, user, huma.Operation{
		OperationID: "remove-member", Method: http.MethodDelete,
		Path: "/workspaces/{workspace}/members/{kind}/{principal}", Tags: tags,
		Summary: "End a membership; administrators may, and everybody their own", Errors: []int{404, 409},
		Description: "It does nothing where there is none. Within ten seconds no instance lets them in.",
	}, a.removeMember)
	route(a, user, huma.Operation{
		OperationID: "list-workspace-tokens", Method: http.MethodGet,
		Path: "/workspaces/{workspace}/tokens", Tags: tags,
		Summary:     "The access tokens of a workspace, the newest first, without their secrets; its administrators may",
		Errors:      []int{404},
		Description: "They belong to the workspace: they outlive the membership of who made them, and end with it.",
	}, a.workspaceTokens)
	route(a, user, huma.Operation{
		OperationID: "create-workspace-token", Method: http.MethodPost, Path: "/workspaces/{workspace}/tokens",
		Tags: tags, DefaultStatus: http.StatusCreated,
		Summary:     "Make an access token of a workspace, which this answer alone shows; its administrators may",
		Errors:      fails(badBody, 404),
		Description: "Every door takes it in the place of one of a person: it acts as the workspace, as far as its scopes go. It manages nothing and has no votes.",
	}, a.createWorkspaceToken)
	route(a, user, huma.Operation{
		OperationID: "revoke-workspace-token", Method: http.MethodDelete,
		Path: "/workspaces/{workspace}/tokens/{token}", Tags: tags,
		Summary: "Revoke an access token of a workspace; its administrators may", Errors: []int{404},
		Description: "Within ten seconds it is refused everywhere.",
	}, a.revokeWorkspaceToken)
}

// InWorkspace names a workspace.
type InWorkspace struct {
	Workspace string `path:"workspace" doc:"The handle of a workspace, or the authorId of its prompts" example:"billing"`
}

// A NewWorkspace is what POST /workspaces takes.
type NewWorkspace struct {
	Handle string `json:"handle" doc:"Its name in addresses, as users have: 1 to 64 of a-z, 0-9 and -" example:"billing"`
	Name   string `json:"name,omitempty" doc:"For people, at most 100 UTF-16 code units; without one, the handle" example:"Billing"`
	About  string `json:"about,omitempty" doc:"What it is for: at most 1,000 UTF-16 code units" example:"Prompts of the billing team."`
}

// A WorkspacePatch is what PATCH /workspaces/{workspace} takes.
type WorkspacePatch struct {
	Name  *string `json:"name,omitempty" doc:"For people, at most 100 UTF-16 code units" example:"Billing"`
	About *string `json:"about,omitempty" doc:"What it is for: at most 1,000 UTF-16 code units" example:"Prompts of the billing team."`
}

// A Workspace is a workspace as one of its members sees it.
type Workspace struct {
	ID        string         `json:"id" doc:"Its id, which never changes" example:"w:01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	AuthorID  string         `json:"authorId" doc:"That of its prompts" example:"a_3xkzq5m7t2v4w6y2a4c6e2g4ij"`
	Handle    string         `json:"handle" doc:"Its name in addresses" example:"billing"`
	Name      string         `json:"name" doc:"For people" example:"Billing"`
	About     string         `json:"about" doc:"What it is for" example:"Prompts of the billing team."`
	Role      string         `json:"role" enum:"reader,author,publisher,administrator" doc:"What the caller may do. reader: read. author: write private prompts too. publisher: change what others rely on and delete, too. administrator: manage members and tokens, too" example:"administrator"`
	Rights    []string       `json:"rights" nullable:"false" enum:"read,write,publish,administer" doc:"What the role stands for" example:"[\"read\",\"write\",\"publish\",\"administer\"]"`
	Rules     []AnsweredRule `json:"rules" nullable:"false" doc:"What its labels ask for before they move; the first that fits a label and a name counts"`
	CreatedBy string         `json:"createdBy" doc:"The authorId of who made it" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	CreatedAt string         `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-03-04T05:06:07.891Z"`
	Revision  int64          `json:"revision" doc:"One more with every change of it and of its members" example:"3"`
}

// A WorkspaceList is all workspaces of a member.
type WorkspaceList struct {
	Items []Workspace `json:"items" nullable:"false" doc:"By their handles"`
}

// A GivenRole is what PUT of a member takes.
type GivenRole struct {
	Role string `json:"role" enum:"reader,author,publisher,administrator" doc:"As in Workspace" example:"author"`
}

// A Member is a member of a workspace.
type Member struct {
	Kind      string `json:"kind" enum:"person,group,role" doc:"How the member is named" example:"person"`
	Principal string `json:"principal" doc:"The authorId of a person, or the group or role of the directory" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	Handle    string `json:"handle,omitempty" doc:"Of a person who has one" example:"ann-lee"`
	Name      string `json:"name,omitempty" doc:"That a person goes by; absent until they write a profile" example:"Ann Lee"`
	Role      string `json:"role" enum:"reader,author,publisher,administrator" doc:"As in Workspace" example:"author"`
	AddedBy   string `json:"addedBy" doc:"The authorId of who gave the role" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	AddedAt   string `json:"addedAt" format:"date-time" doc:"When" example:"2026-03-04T05:06:07.891Z"`
}

// A MemberList is a page of members.
type MemberList struct {
	Items      []Member `json:"items" nullable:"false" doc:"People first, then groups and roles of the directory"`
	NextCursor string   `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent at the end" example:"AUYXrYH0bXlzdGVyeQ"`
}

// ownerIn returns the owner of what a caller makes: a workspace for which they act, or, where none
// is named, the caller.
func (a *api) ownerIn(ctx context.Context, c call, workspace string) (auth.User, error) {
	if workspace == "" {
		return c.User, nil
	}
	return a.Service.In(ctx, c.User, workspace)
}

type workspaceOutput struct {
	ETag string `header:"ETag" doc:"The revision" example:"\"3\""`
	Body Workspace
}

func (a *api) workspace(w library.Workspace, err error) (*workspaceOutput, error) {
	if err != nil {
		return nil, err
	}
	return &workspaceOutput{ETag: fmt.Sprintf("%q", fmt.Sprint(w.Revision)), Body: a.encodeWorkspace(w)}, nil
}

func (a *api) encodeWorkspace(w library.Workspace) Workspace {
	rules := make([]AnsweredRule, len(w.Rules))
	for i, r := range w.Rules {
		rules[i] = AnsweredRule{Label: r.Label, Names: r.Names, Approvals: r.Approvals, Authors: r.Authors}
	}
	return Workspace{
		Rules: rules, ID: string(w.ID), AuthorID: a.Service.AuthorKey(w.ID), Handle: w.Handle, Name: w.Name,
		About: w.About, Role: string(w.Role),
		Rights: library.Rights(w.Role), CreatedBy: string(w.CreatedBy),
		CreatedAt: httpjson.FormatTime(w.CreatedAt), Revision: w.Revision,
	}
}

type newWorkspaceInput struct {
	Body NewWorkspace
}

func (a *api) createWorkspace(ctx context.Context, c call, in *newWorkspaceInput) (*workspaceOutput, error) {
	return a.workspace(a.Service.CreateWorkspace(ctx, c.User,
		prompt.Profile{Handle: in.Body.Handle, Name: in.Body.Name, About: in.Body.About}))
}

type workspacesOutput struct {
	Body WorkspaceList
}

func (a *api) listWorkspaces(ctx context.Context, c call, _ *struct{}) (*workspacesOutput, error) {
	all, err := a.Service.Workspaces(ctx, c.User)
	out := &workspacesOutput{WorkspaceList{Items: make([]Workspace, len(all))}}
	for i, w := range all {
		out.Body.Items[i] = a.encodeWorkspace(w)
	}
	return out, err
}

func (a *api) getWorkspace(ctx context.Context, c call, in *InWorkspace) (*workspaceOutput, error) {
	return a.workspace(a.Service.Workspace(ctx, c.User, in.Workspace))
}

type workspacePatchInput struct {
	InWorkspace
	IfMatch string `header:"If-Match" doc:"The ETag of the workspace that the change is based on, or *. Required: without it the answer is 428" example:"\"3\""`
	Body    WorkspacePatch
}

func (a *api) patchWorkspace(ctx context.Context, c call, in *workspacePatchInput) (*workspaceOutput, error) {
	if in.IfMatch == "" {
		if _, err := a.Service.Workspace(ctx, c.User, in.Workspace); err != nil {
			return nil, err
		}
		return nil, errNoWorkspaceMatch()
	}
	return a.workspace(a.Service.EditWorkspace(ctx, c.User, in.Workspace, match(in.IfMatch),
		in.Body.Name, in.Body.About))
}

func (a *api) deleteWorkspace(ctx context.Context, c call, in *InWorkspace) (*struct{}, error) {
	return nil, a.Service.DeleteWorkspace(ctx, c.User, in.Workspace)
}

func (a *api) restoreWorkspace(ctx context.Context, c call, in *InWorkspace) (*workspaceOutput, error) {
	return a.workspace(a.Service.RestoreWorkspace(ctx, c.User, in.Workspace))
}

type workspacePromptsInput struct {
	InWorkspace
	OwnQuery
}

func (a *api) workspacePrompts(ctx context.Context, c call, in *workspacePromptsInput) (*foundOutput, error) {
	w, err := a.Service.Workspace(ctx, c.User, in.Workspace)
	if err != nil {
		return nil, err
	}
	return a.listOwn(ctx, c, &in.OwnQuery, func(q library.MineQuery) (library.Page, error) {
		return a.Service.ListWorkspace(ctx, c.User, w, q)
	})
}

// A NewCopy names the prompt that is copied.
type NewCopy struct {
	Prompt string `json:"prompt" doc:"Its id" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
}

type copyInput struct {
	InWorkspace
	Body NewCopy
}

type copyOutput struct {
	Status   int
	Location string `header:"Location" doc:"Where the copy is" example:"/api/v1/prompts/01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	ETag     string `header:"ETag" doc:"Revision, likes, dislikes and the caller's vote" example:"\"1-0-0-n\""`
	Body     Prompt
}

func (a *api) copyInto(ctx context.Context, c call, in *copyInput) (*copyOutput, error) {
	leave, err := a.Admission.EnterFile(c.Key)
	if err != nil {
		return nil, err
	}
	defer leave()
	owner, err := a.Service.In(ctx, c.User, in.Workspace)
	if err != nil {
		return nil, err
	}
	id, ok := prompt.ParseID(in.Body.Prompt)
	if !ok {
		return nil, prompt.ErrUnknown()
	}
	made, err := transfer.Copy(ctx, a.Service, c.User, owner, id)
	a.Admission.Spend(c.Key, made.Changes)
	if err != nil {
		return nil, err
	}
	out := &copyOutput{
		Status: http.StatusOK, Location: Prefix + "/prompts/" + string(made.ID),
		ETag: etag(made.View), Body: a.encode(made.View),
	}
	out.Body.Loss = made.Loss
	switch {
	case made.More:
		out.Status = http.StatusAccepted
	case made.Outcome != transfer.Unchanged:
		out.Status = http.StatusCreated
	}
	return out, nil
}

type membersInput struct {
	InWorkspace
	Limit  int    `query:"limit" minimum:"1" maximum:"50" default:"50" doc:"Most members in a page"`
	Cursor string `query:"cursor" doc:"The nextCursor of the page before"`
}

type membersOutput struct {
	Link string `header:"Link" doc:"The next page, as a relative reference with rel=next; absent at the end"`
	Body MemberList
}

func (a *api) listMembers(ctx context.Context, c call, in *membersInput) (*membersOutput, error) {
	members, next, err := a.Service.Members(ctx, c.User, in.Workspace, in.Limit, in.Cursor)
	if err != nil {
		return nil, err
	}
	out := &membersOutput{
		Link: nextLink(c, next),
		Body: MemberList{Items: make([]Member, len(members)), NextCursor: next},
	}
	for i, m := range members {
		out.Body.Items[i] = encodeMember(m)
	}
	return out, nil
}

func encodeMember(m library.Member) Member {
	return Member{
		Kind: string(m.Kind), Principal: m.Name, Handle: m.Profile.Handle, Name: m.Profile.Name, Role: string(m.Role),
		AddedBy: string(m.AddedBy), AddedAt: httpjson.FormatTime(m.AddedAt),
	}
}

// ByMember names a member of a workspace.
type ByMember struct {
	InWorkspace
	Kind      string `path:"kind" enum:"person,group,role" doc:"How the member is named" example:"person"`
	Principal string `path:"principal" doc:"A person by handle or authorId, me for the caller; or a group or role of the directory" example:"ann-lee"`
}

type putMemberInput struct {
	ByMember
	Body GivenRole
}

type memberOutput struct {
	Body Member
}

func (a *api) putMember(ctx context.Context, c call, in *putMemberInput) (*memberOutput, error) {
	m, err := a.Service.PutMember(ctx, c.User, in.Workspace, prompt.MemberKind(in.Kind),
		in.Principal, prompt.Role(in.Body.Role))
	if err != nil {
		return nil, err
	}
	return &memberOutput{encodeMember(m)}, nil
}

func (a *api) removeMember(ctx context.Context, c call, in *ByMember) (*struct{}, error) {
	return nil, a.Service.RemoveMember(ctx, c.User, in.Workspace, prompt.MemberKind(in.Kind), in.Principal)
}

func (a *api) workspaceTokens(ctx context.Context, c call, in *InWorkspace) (*tokensOutput, error) {
	all, err := a.Service.WorkspaceTokens(ctx, c.User, in.Workspace)
	return encodeTokens(all), err
}

type newWorkspaceTokenInput struct {
	InWorkspace
	Body NewToken
}

func (a *api) createWorkspaceToken(ctx context.Context, c call, in *newWorkspaceTokenInput) (*newTokenOutput, error) {
	t, text, err := a.Service.CreateWorkspaceToken(ctx, c.User, in.Workspace, a.tokenDraft(in.Body))
	return shown(t, text, err)
}

type byWorkspaceToken struct {
	InWorkspace
	ByToken
}

func (a *api) revokeWorkspaceToken(ctx context.Context, c call, in *byWorkspaceToken) (*struct{}, error) {
	return nil, a.Service.RevokeWorkspaceToken(ctx, c.User, in.Workspace, in.Token)
}
