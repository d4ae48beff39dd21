package api

import (
	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/hubs"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// Role is what a member may do.
type Role string

// Schema returns the values.
func (Role) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(hubs.Roles) }

// Items is a page of a list.
type Items[T any] struct {
	Items      []T    `json:"items" nullable:"false" doc:"In the order of the list"`
	NextCursor string `json:"nextCursor,omitempty" doc:"Where the next page begins; absent at the end" example:"AYm1Wq2kK3xPdWJ8"`
}

// NewHub is what a person says of a hub to make it.
type NewHub struct {
	Name        string `json:"name" doc:"1 to 100 characters" example:"Tea drinkers"`
	Description string `json:"description,omitempty" doc:"Up to 2,000 characters" example:"For all who like tea"`
	CustomLink  string `json:"customLink,omitempty" doc:"3 to 60 of a-z 0-9 -, which no other hub has" example:"tea"`
	Picture     string `json:"profileAssetId,omitempty" doc:"A picture of the purpose hub, which a new hub must have" example:"01KA000000000000000000000C"`
}

// HubChange are changes of a hub; absent members stay as they are.
type HubChange struct {
	Name        *string `json:"name,omitempty" doc:"1 to 100 characters" example:"Tea drinkers"`
	Description *string `json:"description,omitempty" doc:"Up to 2,000 characters" example:"For all who like tea"`
	CustomLink  *string `json:"customLink,omitempty" doc:"3 to 60 of a-z 0-9 -; empty takes the link away" example:"tea"`
	Picture     *string `json:"profileAssetId,omitempty" doc:"Another picture of the purpose hub, of the caller" example:"01KA000000000000000000000C"`
}

// Membership is the caller's part in a hub.
type Membership struct {
	Role     string `json:"role"`
	JoinedAt string `json:"joinedAt"`
}

// Schema returns an object that may be null.
func (Membership) Schema(huma.Registry) *huma.Schema {
	role := openapi.OneOf(hubs.Roles)
	role.Description, role.Examples = "What the caller may do", []any{"member"}
	joined := text("When the caller joined first", "2026-11-01T12:00:00.000Z")
	joined.Format = "date-time"
	return nullable(map[string]*huma.Schema{"role": role, "joinedAt": joined}, "role", "joinedAt")
}

func membershipOf(m *hubs.Membership) *Membership {
	if m == nil {
		return nil
	}
	return &Membership{m.Role, httpjson.FormatTime(m.JoinedAt)}
}

// Hub is a group of people.
type Hub struct {
	HubID       string      `json:"hubId" doc:"The id of the hub" example:"01KA0000000000000000000004"`
	Name        string      `json:"name" doc:"Its name" example:"Tea drinkers"`
	Description string      `json:"description" doc:"What it is for" example:"For all who like tea"`
	Picture     *string     `json:"profileAssetId" doc:"Its picture, or null of a hub of before" example:"01KA000000000000000000000C"`
	CustomLink  *string     `json:"customLink" doc:"By which it is found, or null" example:"tea"`
	MemberCount int64       `json:"memberCount" doc:"How many members it has" example:"12"`
	CreatedAt   string      `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-11-01T12:00:00.000Z"`
	Active      *int64      `json:"activeUsers24h" doc:"How many members read the posts of the hub, posted, voted, commented, shared or wrote there in the last 24 to 25 hours, up to a minute old: for members, of one hub alone; null in lists and for others. Larger numbers are right to about 1 percent" example:"7"`
	Membership  *Membership `json:"membership" doc:"That of the caller, or null"`
}

func hubOf(h hubs.Hub) Hub {
	return Hub{
		h.ID, h.Name, h.Description, httpjson.OptionalText(h.Picture), httpjson.OptionalText(h.Link), h.Members,
		httpjson.FormatTime(h.CreatedAt), h.Active, membershipOf(h.Mine),
	}
}

// HubMember is a member of a hub.
type HubMember struct {
	User     Person `json:"user" doc:"The person"`
	Role     Role   `json:"role" doc:"What they may do" example:"member"`
	JoinedAt string `json:"joinedAt" format:"date-time" doc:"When they joined first" example:"2026-11-01T12:00:00.000Z"`
}

func memberOf(m hubs.Listed) HubMember {
	return HubMember{personOf(m.Person), Role(m.Role), httpjson.FormatTime(m.JoinedAt)}
}

// NewRole is another role of a member.
type NewRole struct {
	Role Role `json:"role" doc:"What the member may do from now on" example:"admin"`
}

// JoinRequest is a request of a person to join a hub.
type JoinRequest struct {
	JoinRequestID string  `json:"joinRequestId" doc:"The id of the request" example:"01KA0000000000000000000006"`
	Requester     Person  `json:"requester" doc:"Who asks"`
	Source        string  `json:"source" enum:"member_invitation,invite_link" doc:"How they came" example:"invite_link"`
	Status        string  `json:"status" enum:"pending_admin_approval,approved,rejected,cancelled" doc:"What became of it" example:"pending_admin_approval"`
	CreatedAt     string  `json:"createdAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
	DecidedBy     *string `json:"decidedBy" doc:"The id of the admin, or null" example:"01KA0000000000000000000001"`
	DecidedAt     *string `json:"decidedAt" format:"date-time" doc:"When it was decided, or null" example:"2026-11-01T12:00:00.000Z"`
}

func requestOf(r hubs.Request) JoinRequest {
	return JoinRequest{
		r.ID, personOf(r.Person), r.Source, r.Status, httpjson.FormatTime(r.CreatedAt),
		httpjson.OptionalText(r.DecidedBy), httpjson.OptionalTime(r.DecidedAt),
	}
}

// MyRequest is a request of the caller.
type MyRequest struct {
	JoinRequestID string `json:"joinRequestId" doc:"The id of the request" example:"01KA0000000000000000000006"`
	Hub           Hub    `json:"hub" doc:"Which hub"`
	Status        string `json:"status" enum:"pending_admin_approval,approved,rejected,cancelled" doc:"What became of it" example:"pending_admin_approval"`
	CreatedAt     string `json:"createdAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
}

func myRequestOf(r hubs.Request) MyRequest {
	return MyRequest{r.ID, hubOf(*r.Hub), r.Status, httpjson.FormatTime(r.CreatedAt)}
}

// Invite names the people to invite.
type Invite struct {
	Phones      []string `json:"phones" nullable:"false" doc:"1 to 20 numbers as E.164 writes them" example:"[\"+34600000001\"]"`
	ExpiresInMs *int64   `json:"expiresInMs,omitempty" doc:"1,000 to 2,592,000,000, which are 30 days; 7 days if it is absent" example:"604800000"`
}

// Invitation is one as those who manage it see it.
type Invitation struct {
	InvitationID  string `json:"invitationId" doc:"The id of the invitation" example:"01KA0000000000000000000005"`
	Phone         string `json:"phone" doc:"The number in part" example:"+34•••••01"`
	Inviter       Person `json:"inviter" doc:"Who invites"`
	Status        string `json:"status" enum:"invited,accepted_active,pending_admin_approval,declined,expired,cancelled" doc:"What became of it" example:"invited"`
	CreatedAt     string `json:"createdAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
	ExpiresAt     string `json:"expiresAt" format:"date-time" doc:"Until when it is good" example:"2026-11-08T12:00:00.000Z"`
	NeedsApproval bool   `json:"requiresAdminApprovalAfterAccept" doc:"Whether an admin decides after it is accepted" example:"false"`
}

func invitationOf(v hubs.Invitation) Invitation {
	return Invitation{
		v.ID, v.Phone, personOf(v.Inviter), v.Status, httpjson.FormatTime(v.CreatedAt),
		httpjson.FormatTime(v.ExpiresAt), v.NeedsApproval,
	}
}

// NewInvitation is an invitation with its token, which is shown once.
type NewInvitation struct {
	InvitationID  string `json:"invitationId" doc:"The id of the invitation" example:"01KA0000000000000000000005"`
	Phone         string `json:"phone" doc:"The number in part" example:"+34•••••01"`
	Status        string `json:"status" enum:"invited" doc:"It is open" example:"invited"`
	Token         string `json:"token" doc:"Send it to the person; it is not shown again" example:"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
	InviteURL     string `json:"inviteUrl" doc:"The page of the invitation: an address, or a path if the service does not know its own" example:"https://duuble.example/app/invitations/aaaa"`
	ShareText     string `json:"shareText" doc:"What to send" example:"Ann invites you to Tea drinkers: https://duuble.example/app/invitations/aaaa"`
	ExpiresAt     string `json:"expiresAt" format:"date-time" doc:"Until when it is good" example:"2026-11-08T12:00:00.000Z"`
	NeedsApproval bool   `json:"requiresAdminApprovalAfterAccept" doc:"Whether an admin decides after it is accepted" example:"false"`
}

func (a *api) newInvitationOf(v hubs.Invitation) NewInvitation {
	url := a.Site + InvitationPage + v.Token
	return NewInvitation{
		v.ID, v.Phone, hubs.Invited, v.Token, url,
		v.Inviter.FullName + " invites you to " + v.Hub.Name + ": " + url,
		httpjson.FormatTime(v.ExpiresAt), v.NeedsApproval,
	}
}

// Invitations are new ones.
type Invitations struct {
	Items []NewInvitation `json:"items" nullable:"false" doc:"In the order of the numbers"`
}

// MyInvitation is an invitation as the one who is invited sees it.
type MyInvitation struct {
	InvitationID  string `json:"invitationId" doc:"The id of the invitation" example:"01KA0000000000000000000005"`
	Hub           Hub    `json:"hub" doc:"Where to"`
	Inviter       Person `json:"inviter" doc:"Who invites"`
	Status        string `json:"status" enum:"invited" doc:"It is open" example:"invited"`
	ExpiresAt     string `json:"expiresAt" format:"date-time" doc:"Until when it is good" example:"2026-11-08T12:00:00.000Z"`
	NeedsApproval bool   `json:"requiresAdminApprovalAfterAccept" doc:"Whether an admin decides after it is accepted" example:"false"`
}

func myInvitationOf(v hubs.Invitation) MyInvitation {
	m := MyInvitation{
		InvitationID: v.ID, Inviter: personOf(v.Inviter), Status: v.Status,
		ExpiresAt: httpjson.FormatTime(v.ExpiresAt), NeedsApproval: v.NeedsApproval,
	}
	if v.Hub != nil {
		m.Hub = hubOf(*v.Hub)
	}
	return m
}

// Outcome is what became of an invitation that was accepted.
type Outcome struct {
	Status        string      `json:"status" enum:"accepted_active,pending_admin_approval" doc:"Whether the caller is a member, or an admin decides" example:"accepted_active"`
	Membership    *Membership `json:"membership" doc:"Null while an admin decides"`
	JoinRequestID *string     `json:"joinRequestId" doc:"What the admins decide, or null" example:"01KA0000000000000000000006"`
}

func outcomeOf(o hubs.Outcome) Outcome {
	return Outcome{o.Status, membershipOf(o.Membership), httpjson.OptionalText(o.RequestID)}
}

// NewLink says how long a link is good.
type NewLink struct {
	ExpiresInMs *int64 `json:"expiresInMs,omitempty" doc:"1,000 to 2,592,000,000, which are 30 days; 7 days if it is absent" example:"604800000"`
}

// LinkMade is a link with its token, which is shown once.
type LinkMade struct {
	InviteLinkID string `json:"inviteLinkId" doc:"The id of the link" example:"01KA0000000000000000000007"`
	Token        string `json:"token" doc:"It is not shown again" example:"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
	URL          string `json:"url" doc:"The page to join by: an address, or a path if the service does not know its own" example:"https://duuble.example/app/join/aaaa"`
	ExpiresAt    string `json:"expiresAt" format:"date-time" doc:"Until when it is good" example:"2026-11-08T12:00:00.000Z"`
}

// Link is a link as those who manage it see it.
type Link struct {
	InviteLinkID string  `json:"inviteLinkId" doc:"The id of the link" example:"01KA0000000000000000000007"`
	CreatorID    *string `json:"creatorId" doc:"The id of the member who made it; null of one who has left Duuble" example:"01KA0000000000000000000001"`
	CreatedAt    string  `json:"createdAt" format:"date-time" doc:"When" example:"2026-11-01T12:00:00.000Z"`
	ExpiresAt    string  `json:"expiresAt" format:"date-time" doc:"Until when it is good" example:"2026-11-08T12:00:00.000Z"`
}

// Links are the links of a hub.
type Links struct {
	Items []Link `json:"items" nullable:"false" doc:"In the order in which they were made"`
}

// Joined is what became of a link that was followed.
type Joined struct {
	Status        string `json:"status" enum:"pending_admin_approval,member" doc:"Whether an admin decides, or the caller is a member" example:"pending_admin_approval"`
	JoinRequestID string `json:"joinRequestId,omitempty" doc:"What the admins decide" example:"01KA0000000000000000000006"`
}

// NewBan says who is banned.
type NewBan struct {
	UserID string `json:"userId" doc:"The id of the person" example:"01KA0000000000000000000001"`
}

// A Ban keeps a phone number out of a hub.
type Ban struct {
	BanID     string `json:"banId" doc:"The id of the ban" example:"01KA0000000000000000000012"`
	Person    Person `json:"person" doc:"Who is banned"`
	CreatedAt string `json:"createdAt" format:"date-time" doc:"Since when" example:"2026-11-01T12:00:00.000Z"`
}

func banOf(b hubs.Ban) Ban { return Ban{b.ID, personOf(b.Person), httpjson.FormatTime(b.CreatedAt)} }
