package prompt

import "time"

// An EventType says what happened in a workspace.
type EventType string

// The types of events.
const (
	WorkspaceCreated  EventType = "workspace.created"
	WorkspaceChanged  EventType = "workspace.changed"
	WorkspaceDeleted  EventType = "workspace.deleted"
	WorkspaceRestored EventType = "workspace.restored"
	MemberAdded       EventType = "member.added"
	MemberChanged     EventType = "member.changed"
	MemberRemoved     EventType = "member.removed"
	RulesChanged      EventType = "rule.changed"
	TokenMade         EventType = "token.made"
	TokenRevoked      EventType = "token.revoked"

	PromptCreated     EventType = "prompt.created"
	PromptChanged     EventType = "prompt.changed" // without a new version
	PromptPublished   EventType = "prompt.published"
	PromptUnpublished EventType = "prompt.unpublished"
	PromptHidden      EventType = "prompt.hidden" // by a moderator, whom it does not name
	PromptUnhidden    EventType = "prompt.unhidden"
	PromptDeleted     EventType = "prompt.deleted"
	PromptRestored    EventType = "prompt.restored"
	VersionCreated    EventType = "version.created"
	VersionDeleted    EventType = "version.deleted"
	VersionRecalled   EventType = "version.recalled"
	VersionReinstated EventType = "version.reinstated" // its recall was taken back
	LabelMoved        EventType = "label.moved"

	CollectionCreated EventType = "collection.created"
	CollectionChanged EventType = "collection.changed"
	CollectionDeleted EventType = "collection.deleted"

	ProposalOpened    EventType = "proposal.opened"
	ProposalUpdated   EventType = "proposal.updated"
	ProposalReviewed  EventType = "proposal.reviewed"
	ProposalMerged    EventType = "proposal.merged"
	ProposalRejected  EventType = "proposal.rejected"
	ProposalWithdrawn EventType = "proposal.withdrawn"
)

// EventTypes returns all types.
func EventTypes() []EventType {
	return []EventType{
		WorkspaceCreated, WorkspaceChanged, WorkspaceDeleted, WorkspaceRestored, MemberAdded,
		MemberChanged, MemberRemoved, RulesChanged,
		TokenMade, TokenRevoked, PromptCreated, PromptChanged, PromptPublished, PromptUnpublished, PromptHidden,
		PromptUnhidden, PromptDeleted,
		PromptRestored, VersionCreated, VersionDeleted, VersionRecalled, VersionReinstated, LabelMoved,
		CollectionCreated, CollectionChanged, CollectionDeleted,
		ProposalOpened, ProposalUpdated, ProposalReviewed, ProposalMerged, ProposalRejected, ProposalWithdrawn,
	}
}

// An Event is one thing that happened in a workspace. Fields of other types are zero.
type Event struct {
	ID       string // a ULID
	At       time.Time
	Type     EventType
	By       UserID // the public key of a person, or the key of an access token
	Prompt   ID
	Name     string // of the prompt, then; or the slug of a collection
	Version  int64
	Digest   string // of the version
	Labels   []LabelMove
	Proposal int64
	Verdict  Verdict
	Member   string // kind and name
	Role     Role   // of the member, then
	Token    string // the id of an access token
}

// A LabelMove says which version a label left, and which it went to; 0 is none.
type LabelMove struct {
	Label string `json:"label"`
	From  int64  `json:"from,omitempty"`
	To    int64  `json:"to,omitempty"`
}
