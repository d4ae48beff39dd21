package api

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// A Prompt is a prompt as one caller sees it.
type Prompt struct {
	ID          string          `json:"id" doc:"ULID, upper case" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	AuthorID    string          `json:"authorId" doc:"Names the author: the same in all prompts of one author, and no id of a directory. GET /me tells one's own" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	AuthorName  string          `json:"authorName" doc:"Display name of the author when the prompt was created" example:"Ann"`
	Name        string          `json:"name,omitempty" doc:"What programs call the prompt: unique among its author's" example:"reviews/code"`
	Slug        string          `json:"slug,omitempty" doc:"The name as a URL and a file can hold it: unique among its author's slugs and names; it stays when the name changes" example:"reviews-code"`
	Title       string          `json:"title" doc:"Trimmed" example:"Act as a code reviewer"`
	Description string          `json:"description" doc:"What the prompt is for; the first sentence of the text where its author wrote nothing" example:"Reviews code for defects."`
	Version     int64           `json:"version" doc:"The number of the content: 1, 2, … without reuse; it grows when the content changes" example:"3"`
	Production  int64           `json:"production,omitempty" doc:"The version with the label production, which programs get; where a prompt is read as it is" example:"2"`
	FormerName  string          `json:"formerName,omitempty" doc:"In the answer to restore alone: the name that it had, which another prompt has taken" example:"reviews/code"`
	Message     string          `json:"message,omitempty" doc:"Why the content was changed; absent in lists" example:"Names the language first"`
	Excerpt     string          `json:"excerpt,omitempty" doc:"How the text begins, in one line; in lists" example:"I want you to act as a code reviewer."`
	FoundIn     string          `json:"foundIn,omitempty" enum:"title,text" doc:"In a search of texts: text where one of the words at least is in the text alone" example:"text"`
	Snippet     string          `json:"snippet,omitempty" doc:"With foundIn text: the part of the text in which a word was found, in one line" example:"…explain what a regex does, piece by piece…"`
	Text        string          `json:"text,omitempty" doc:"The prompt itself, byte for byte as its author sent it; absent in lists" example:"I want you to act as a code reviewer."`
	Kind        string          `json:"kind,omitempty" enum:"text,chat" doc:"Whether it has a text or messages" example:"text"`
	Messages    []Message       `json:"messages,omitempty" doc:"Of a chat; absent in lists" example:"[{\"role\":\"user\",\"content\":\"Review this code.\"}]"`
	Config      json.RawMessage `json:"config,omitempty" doc:"Any JSON for programs; absent in lists" example:"{\"model\":\"small\"}"`
	Variables   []Variable      `json:"variables,omitempty" doc:"Declared variables; absent in lists" example:"[{\"name\":\"language\",\"type\":\"text\"}]"`
	Tags        []string        `json:"tags" nullable:"false" doc:"In the author's order" example:"[\"development\",\"code-review\"]"`
	OwnTags     []string        `json:"ownTags,omitempty" doc:"Tags outside the catalog: the author's own words. Absent in lists of public prompts" example:"[\"kitchen; later\"]"`
	Visibility  string          `json:"visibility" enum:"private,public" doc:"private: only its author sees it; public: everyone who may read" example:"public"`
	CreatedAt   string          `json:"createdAt" format:"date-time" doc:"UTC" example:"2026-03-04T05:06:07.891Z"`
	UpdatedAt   string          `json:"updatedAt" format:"date-time" doc:"Of the last edit; votes leave it alone" example:"2026-03-04T05:06:07.891Z"`
	Likes       int32           `json:"likes" doc:"Exact in a prompt; in lists up to seconds old" example:"12"`
	Dislikes    int32           `json:"dislikes" doc:"Like likes" example:"2"`
	Score       int32           `json:"score" doc:"likes - dislikes" example:"10"`
	Revision    int64           `json:"revision,omitempty" doc:"One more with every edit; absent in lists of other authors' prompts" example:"3"`
	Origin      *Origin         `json:"origin,omitempty" doc:"What a fork comes from; absent in lists"`
	MyVote      string          `json:"myVote" enum:"like,dislike,none" doc:"The caller's vote" example:"like"`
	DeletedAt   string          `json:"deletedAt,omitempty" format:"date-time" doc:"In lists of deleted prompts" example:"2026-03-05T00:00:00.000Z"`
	PurgeAt     string          `json:"purgeAt,omitempty" format:"date-time" doc:"Until when a deleted prompt can be restored" example:"2026-04-04T00:00:00.000Z"`
	Hidden      *Hidden         `json:"hidden,omitempty" doc:"That a moderator has hidden the prompt: for its author and for moderators"`
}

// Hidden says that a moderator has hidden a prompt.
type Hidden struct {
	At     string `json:"at" format:"date-time" doc:"UTC" example:"2026-03-05T00:00:00.000Z"`
	Reason string `json:"reason" doc:"For the author to read" example:"Contains personal data."`
}

// A PromptList is a page of prompts.
type PromptList struct {
	Items      []Prompt `json:"items" nullable:"false" doc:"May be fewer than limit, even none, though there are more: go on while there is a nextCursor"`
	NextCursor string   `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent at the end" example:"AUYXrYH0bXlzdGVyeQ"`
}

// A NewPrompt is what POST /prompts takes.
type NewPrompt struct {
	Written
	Visibility string `json:"visibility,omitempty" enum:"private,public" default:"private" doc:"Who sees it" example:"public"`
}

// A PromptDraft is what PUT /prompts/{id} takes: all of what an author writes.
type PromptDraft struct {
	Written
	Visibility string `json:"visibility" enum:"private,public" doc:"Who sees it" example:"public"`
}

// Written is what an author writes, but for who may see it, which only a new prompt need not say.
type Written struct {
	Name        string          `json:"name,omitempty" doc:"What programs call the prompt: 1 to 255 UTF-16 code units, trimmed, unique among your names and slugs; / parts it into folders; no |, no HTML tag, no / at an end or twice, not new, metrics or prompt-detail. Without one, a new prompt is called as the slug of its title, and one that is written anew keeps its name. A name that it had goes on leading to it until another one of yours takes it" example:"reviews/code"`
	Description string          `json:"description,omitempty" doc:"What the prompt is for: at most 1,024 UTF-16 code units; without one, the first sentence of the text stands for it" example:"Reviews code for defects."`
	Message     string          `json:"message,omitempty" doc:"Why the content is what it is, for the history of versions: at most 500 UTF-16 code units" example:"Names the language first"`
	Labels      []string        `json:"labels,omitempty" doc:"Labels to put on the version of this content: at most 50, each 1 to 36 of a-z 0-9 _ . -, and not latest" example:"[\"staging\"]"`
	Title       string          `json:"title" doc:"Trimmed; at most 200 UTF-16 code units, no control characters" example:"Act as a code reviewer"`
	Text        string          `json:"text,omitempty" doc:"Required but of a chat. Any character but U+0000; kept byte for byte. Its limit counts UTF-16 code units" example:"I want you to act as a code reviewer."`
	Kind        string          `json:"kind,omitempty" enum:"text,chat" doc:"text, or chat: messages in its place; chat where there are messages" example:"text"`
	Messages    []Message       `json:"messages,omitempty" doc:"Of a chat: 1 to 200, together no longer than a text" example:"[{\"role\":\"user\",\"content\":\"Review this code.\"}]"`
	Config      json.RawMessage `json:"config,omitempty" doc:"Any JSON for programs, such as model and parameters: at most 65,536 UTF-16 code units without white space" example:"{\"model\":\"small\"}"`
	Variables   []Variable      `json:"variables,omitempty" doc:"Declared variables, at most 100; they override what the text says of them" example:"[{\"name\":\"language\",\"type\":\"text\"}]"`
	Tags        []string        `json:"tags,omitempty" doc:"At most 10 tags, each once, in either case: active ones of the catalog, or those that the prompt has. Absent for none" example:"[\"development\",\"code-review\"]"`
	OwnTags     []string        `json:"ownTags,omitempty" doc:"Tags outside the catalog: at most 50, each one line of at most 100 UTF-16 code units. Everyone who may read the prompt sees them; no list of public prompts shows them and no search finds them" example:"[\"kitchen; later\"]"`
	Source      *Source         `json:"source,omitempty" doc:"The file that says all this: it is kept with the version that it makes, and GET /prompts/{id}/export gives it back"`
}

// A FileFormat is the name of a format of files.
type FileFormat string

// Schema lists the formats.
func (FileFormat) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, f := range format.Formats() {
		s.Enum = append(s.Enum, string(f))
	}
	s.PrecomputeMessages()
	return s
}

// A Source is a file with one prompt.
type Source struct {
	Format FileFormat `json:"format" doc:"Which program's" example:"skill"`
	File   string     `json:"file" maxLength:"255" doc:"Its name, with the folders that say what it is" example:"code-review/SKILL.md"`
	Data   []byte     `json:"data" doc:"Its bytes as base64, as far as a body has room; POST /import takes larger files. More than 256 KiB are not kept, nor YAML that has an alias or more than 5,000 parts. It comes back only where it says what the version holds" example:"LS0tCm5hbWU6IGEKLS0tCkhpLgo="`
	Syntax string     `json:"syntax,omitempty" enum:"dollar,mustache" doc:"In which the text was rewritten, as POST /import does with its syntax; absent where the file says it as it is" example:"mustache"`
}

// A PromptPatch is what PATCH /prompts/{id} takes: a JSON merge patch.
type PromptPatch struct {
	Name        optional[string]            `json:"name,omitzero" doc:"As in PUT; absent leaves it" example:"reviews/code"`
	Description optional[string]            `json:"description,omitzero" doc:"As in PUT; absent leaves it, an empty one removes it" example:"Reviews code for defects."`
	Message     optional[string]            `json:"message,omitzero" doc:"As in PUT" example:"Names the language first"`
	Labels      optional[[]string]          `json:"labels,omitzero" nullable:"true" doc:"As in PUT" example:"[\"staging\"]"`
	Title       optional[string]            `json:"title,omitzero" doc:"As in PUT; absent leaves it" example:"Act as a strict code reviewer"`
	Text        optional[string]            `json:"text,omitzero" doc:"As in PUT; absent leaves it" example:"I want you to act as a strict code reviewer."`
	Kind        optional[prompt.Kind]       `json:"kind,omitzero" enum:"text,chat" doc:"As in PUT" example:"text"`
	Messages    optional[[]Message]         `json:"messages,omitzero" nullable:"true" doc:"As in PUT" example:"[{\"role\":\"user\",\"content\":\"Review this code.\"}]"`
	Config      optional[json.RawMessage]   `json:"config,omitzero" doc:"As in PUT, in place of the whole config; null removes it" example:"{\"model\":\"small\"}"`
	Variables   optional[[]Variable]        `json:"variables,omitzero" nullable:"true" doc:"As in PUT, in place of all; null removes them" example:"[{\"name\":\"language\",\"type\":\"text\"}]"`
	Tags        optional[[]string]          `json:"tags,omitzero" nullable:"true" doc:"As in PUT, in place of all tags; absent leaves them, null removes them" example:"[\"development\"]"`
	OwnTags     optional[[]string]          `json:"ownTags,omitzero" nullable:"true" doc:"As in PUT, in place of all; absent leaves them, null removes them" example:"[\"kitchen; later\"]"`
	Visibility  optional[prompt.Visibility] `json:"visibility,omitzero" enum:"private,public" doc:"As in PUT; absent leaves it" example:"private"`
	Source      *Source                     `json:"source,omitempty" doc:"The file that says all this: it is kept with the version that it makes, and GET /prompts/{id}/export gives it back"`
}

// A Filling is what POST /prompts/{id}/render takes.
type Filling struct {
	Values map[string]filled `json:"values,omitempty" doc:"By the names of variables, which the text has as {{name}}, {{name:default}}, {{name:a|b|c}} or with ${}; spaces in a name count as underscores. A text has at most 2,000 UTF-16 code units, of a multiline variable 32,768" example:"{\"name\":\"Ann\",\"count\":3}"`

	Version int64  `json:"version,omitempty" minimum:"1" maximum:"9999999998" doc:"The version to fill in; absent, and without a label, the one with the label production, or else the latest" example:"1"`
	Label   string `json:"label,omitempty" doc:"Fills in the version with this label" example:"latest"`
}

// A Rendered is a prompt with values in the places of its variables.
type Rendered struct {
	Text     *string   `json:"text,omitempty" doc:"The text, at most four times as long as a text may be. Values stand in it as they were sent: a placeholder in a value is text" example:"Write to Ann."`
	Messages []Message `json:"messages,omitempty" doc:"Those of a chat, instead" example:"[{\"role\":\"user\",\"content\":\"Write to Ann.\"}]"`
	Version  int64     `json:"version" doc:"Whose content it is" example:"3"`
}

// A Vote is what PUT /prompts/{id}/vote takes.
type Vote struct {
	Value string `json:"value" enum:"like,dislike,none" doc:"The vote to set, whatever it was before" example:"like"`
}

// A Ballot is the caller's vote on a prompt, and what all votes add up to.
type Ballot struct {
	Value    string `json:"value" enum:"like,dislike,none" doc:"The caller's vote" example:"like"`
	Likes    int32  `json:"likes" doc:"With the caller's" example:"12"`
	Dislikes int32  `json:"dislikes" doc:"With the caller's" example:"2"`
	Score    int32  `json:"score" doc:"likes - dislikes" example:"10"`
}

// A Reason is what PUT /prompts/{id}/hidden takes.
type Reason struct {
	Reason string `json:"reason" doc:"For the author to read: 1 to 500 characters" example:"Contains personal data."`
}

// A Me is the caller.
type Me struct {
	ID       string   `json:"id" doc:"Opaque; no other user sees it" example:"6d3f1c0e-5a52-4c1e-9d1b-0f7f2a3b4c5d"`
	AuthorID string   `json:"authorId" doc:"Names the caller in prompts, to everybody" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	Name     string   `json:"name" doc:"Display name" example:"Ann"`
	Roles    []string `json:"roles" nullable:"false" doc:"admin keeps the tags and moderates" example:"[\"admin\"]"`

	Scopes []string `json:"scopes,omitempty" enum:"read,write,publish" doc:"What the access token may do that the caller has sent; absent without one" example:"[\"read\"]"`

	Storage Storage `json:"storage" doc:"What the caller takes of what one user may store, as it was counted up to a minute ago"`
}

// Storage is what a user takes of what one user may store.
type Storage struct {
	Bytes        int64  `json:"bytes" doc:"Of all versions, of the files that were kept with them, and of moves of labels" example:"183500"`
	MaxBytes     int64  `json:"maxBytes,omitempty" doc:"What would be beyond is refused with the code QUOTA_BYTES; absent without a limit" example:"1073741824"`
	Prompts      int64  `json:"prompts" doc:"Deleted ones too, until they are gone for good 30 days later" example:"34"`
	MaxPrompts   int64  `json:"maxPrompts,omitempty" doc:"One more is refused with the code QUOTA_PROMPTS; absent without a limit" example:"10000"`
	Favorites    int64  `json:"favorites" example:"12" doc:"Prompts that are favorites"`
	MaxFavorites int64  `json:"maxFavorites" doc:"One more is refused with the code QUOTA_FAVORITES" example:"5000"`
	Warning      string `json:"warning,omitempty" doc:"Says so from nine tenths of a limit on" example:"you use 9500 of the 10000 prompts that a user may have; deleted prompts count until they are gone for good, 30 days later"`
}

// A User is a user as everyone may see him.
type User struct {
	ID     string `json:"id" doc:"Stands for the user on this service, for as long as its data. It is the authorId of their prompts, and no id of a directory" example:"a_3xkzq5m7t2v4w6y2a4c6e2g4ij"`
	Handle string `json:"handle,omitempty" doc:"The user's name in addresses; absent until they choose one" example:"ann-lee"`
	Name   string `json:"name" doc:"The name that others see" example:"Ann Lee"`
	About  string `json:"about" doc:"A text of the user about themselves" example:"I write prompts for the kitchen."`
}

// An OwnUser is a user as he sees himself.
type OwnUser struct {
	User
	EraseAt string `json:"eraseAt,omitempty" format:"date-time" doc:"When the deletion of the caller's account begins; absent if they did not ask for it" example:"2026-12-22T09:30:00.000Z"`
}

// An Erasure says when an account goes.
type Erasure struct {
	EraseAt string `json:"eraseAt" format:"date-time" doc:"From when on all that is stored of the caller goes for good" example:"2026-12-22T09:30:00.000Z"`
}

// A Profile is what PUT /me/profile takes.
type Profile struct {
	Handle string `json:"handle,omitempty" doc:"1 to 64 of a-z, 0-9 and -, no hyphen at an end or twice. Chosen once: absent leaves it, another one is refused, and so is one that somebody has or that addresses need" example:"ann-lee"`
	Name   string `json:"name,omitempty" doc:"At most 100 characters, no @; absent for that of the account" example:"Ann Lee"`
	About  string `json:"about,omitempty" doc:"At most 1,000 characters" example:"I write prompts for the kitchen."`
}

// A Token is an access token, which programs use in the place of its owner.
type Token struct {
	ID        string   `json:"id" doc:"Names it; the first part of the token. Also the name for HTTP Basic" example:"mfrggzdfmztwq2lk"`
	Name      string   `json:"name" doc:"What its owner calls it" example:"CI of the shop"`
	Scopes    []string `json:"scopes" nullable:"false" enum:"read,write,publish" doc:"read: what the owner may read. write: change private prompts, and vote. publish: change what others see, and delete. Roles are never among them" example:"[\"read\"]"`
	CreatedAt string   `json:"createdAt" format:"date-time" doc:"UTC" example:"2026-03-04T05:06:07.891Z"`
	ExpiresAt string   `json:"expiresAt" format:"date-time" doc:"From then on it is refused" example:"2026-06-02T05:06:07.891Z"`
	UsedOn    string   `json:"usedOn,omitempty" format:"date" doc:"The day of its last use, UTC; absent until it is used" example:"2026-03-05"`
}

// A TokenList is the access tokens of a user.
type TokenList struct {
	Items []Token `json:"items" nullable:"false" doc:"Newest first; at most 50"`
}

// A NewToken is what POST /me/tokens takes.
type NewToken struct {
	Name      string    `json:"name" doc:"To know it by: 1 to 100 characters" example:"CI of the shop"`
	Scopes    []string  `json:"scopes" enum:"read,write,publish" doc:"What it may do, as in Token" example:"[\"read\"]"`
	ExpiresAt time.Time `json:"expiresAt,omitzero" format:"date-time" doc:"When it ends, at most 366 days from now; absent: in 90 days" example:"2026-06-02T05:06:07.891Z"`
}

// A ShownToken is a new access token with its secret.
type ShownToken struct {
	Token
	Secret string `json:"token" doc:"The token itself: for Authorization: Bearer or X-Api-Key; for HTTP Basic its id is the name; the token, or the part after its second _, is the password. It is not kept and cannot be shown again" example:"ph_mfrggzdfmztwq2lk_nbswy3dpeb3w64tmmqqho33snrscaylomqqgg33omnqxe5djnzsxg4domuqgc2la"`
}

// A Tag is an entry of the tag catalog.
type Tag struct {
	Tag         string `json:"tag" doc:"1 to 40 of a-z 0-9 - . +" example:"code-review"`
	DisplayName string `json:"displayName" doc:"For people" example:"Code review"`
	SortOrder   int32  `json:"sortOrder" doc:"Tags are listed by it, then by name" example:"120"`
	Active      bool   `json:"active" doc:"An inactive tag stays on the prompts that have it and is offered to no other" example:"true"`
	Prompts     *int   `json:"prompts,omitempty" doc:"How many public prompts have it, as counted within the last minute; in lists" example:"42"`
}

// A TagList is the tag catalog.
type TagList struct {
	Items   []Tag `json:"items" nullable:"false" doc:"By sort order and name"`
	Prompts int   `json:"prompts" doc:"How many public prompts there are, as counted within the last minute" example:"870"`
}

// A TagEntry is what PUT /tags/{tag} takes.
type TagEntry struct {
	DisplayName string `json:"displayName" doc:"For people: 1 to 60 characters" example:"Code review"`
	SortOrder   int32  `json:"sortOrder,omitempty" minimum:"0" maximum:"1000000" default:"0" doc:"Tags are listed by it, then by name" example:"120"`
	Active      *bool  `json:"active,omitempty" default:"true" doc:"Whether prompts may take it" example:"true"`
}

// A State says how the service is.
type State struct {
	Status  string `json:"status" enum:"ok" doc:"ok; anything else is an error" example:"ok"`
	Version string `json:"version" doc:"Of the program" example:"1.4.0"`
}

// A Version is a content that a prompt has or had.
type Version struct {
	Version   int64           `json:"version" doc:"Its number" example:"3"`
	Text      string          `json:"text,omitempty" doc:"Absent in lists" example:"I want you to act as a code reviewer."`
	Kind      string          `json:"kind,omitempty" enum:"text,chat" doc:"Whether it has a text or messages; absent in lists" example:"text"`
	Messages  []Message       `json:"messages,omitempty" doc:"Of a chat; absent in lists" example:"[{\"role\":\"user\",\"content\":\"Review this code.\"}]"`
	Config    json.RawMessage `json:"config,omitempty" doc:"Any JSON for programs; absent in lists" example:"{\"model\":\"small\"}"`
	Variables []Variable      `json:"variables,omitempty" doc:"Declared variables; absent in lists" example:"[{\"name\":\"language\",\"type\":\"text\"}]"`
	Message   string          `json:"message" doc:"Why it was made" example:"Names the language first"`
	CreatedBy string          `json:"createdBy" doc:"Names the user who made it, as authorId of prompts" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	CreatedAt string          `json:"createdAt" format:"date-time" doc:"UTC" example:"2026-03-04T05:06:07.891Z"`
	Hash      string          `json:"hash" doc:"SHA-256 of the content, the same for the same content" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Labels    []string        `json:"labels" nullable:"false" doc:"On this version; latest is on the one that the prompt holds" example:"[\"latest\",\"production\"]"`
}

// A VersionList is a page of the versions of a prompt.
type VersionList struct {
	Items      []Version `json:"items" nullable:"false" doc:"The newest first"`
	NextCursor string    `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent at the end" example:"AUYXrYH0bXlzdGVyeQ"`
}

// A Use is a prompt that includes another.
type Use struct {
	ID       string     `json:"id" doc:"Of the prompt that includes the other" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	Name     string     `json:"name" doc:"Its name" example:"reviews/code"`
	Title    string     `json:"title" doc:"Its title" example:"Act as a code reviewer"`
	Version  int64      `json:"version" doc:"The highest of its versions that includes the other" example:"3"`
	Includes []Included `json:"includes" nullable:"false" doc:"What that version includes of the other"`
}

// An Included says what of a prompt another one includes.
type Included struct {
	Version int64  `json:"version,omitempty" doc:"A version of it" example:"2"`
	Label   string `json:"label,omitempty" doc:"The version of it with this label" example:"production"`
}

// A UseList is the prompts that include another.
type UseList struct {
	Items []Use `json:"items" nullable:"false" doc:"The newest prompt first, at most 100; deleted ones are not among them"`
	More  bool  `json:"more,omitempty" doc:"There are more than were looked through" example:"false"`
}

// A Diff is what differs between two versions.
type Diff struct {
	From int64 `json:"from" doc:"The first version" example:"3"`
	To   int64 `json:"to" doc:"The second version" example:"4"`
	Runs []Run `json:"runs" nullable:"false" doc:"The pieces of both texts, in order: those that are not insert make the first, those that are not delete the second"`
}

// An Origin is the version of another prompt that a fork was made of, or that was merged into it.
type Origin struct {
	ID      string `json:"id" doc:"Of the other prompt" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	Version int64  `json:"version" doc:"The version of it" example:"3"`
}

// An Upstream is what became of what a fork comes from.
type Upstream struct {
	ID         string `json:"id" doc:"Of the prompt that it was forked from" example:"01JZ8Q4N2R6V0T3X5Y7B9D1F2G"`
	Version    int64  `json:"version" doc:"The version of it that was forked, or merged last" example:"3"`
	Latest     int64  `json:"latest,omitempty" doc:"The version that it holds now; absent where it does not exist any more, or the caller may not read it" example:"4"`
	Title      string `json:"title,omitempty" doc:"Its title now" example:"Act as a code reviewer"`
	AuthorID   string `json:"authorId,omitempty" doc:"Names its author" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	AuthorName string `json:"authorName,omitempty" doc:"Display name of its author" example:"Ann"`
	Changed    bool   `json:"changed" doc:"Whether there is something to merge" example:"true"`
	Runs       []Run  `json:"runs" nullable:"false" doc:"What was changed since, as in a Diff; none where nothing was, or where the version before cannot be read any more"`
}

// A Run is a piece of text.
type Run struct {
	Op   string `json:"op" enum:"equal,delete,insert" doc:"Which version has it: both, the first, the second" example:"insert"`
	Text string `json:"text" doc:"The piece" example:"strict "`
}

// A Label is on one version of a prompt.
type Label struct {
	Label   string `json:"label" doc:"1 to 36 of a-z 0-9 _ . -; latest is on the version that the prompt holds" example:"production"`
	Version int64  `json:"version" doc:"The version it is on" example:"3"`
}

// A LabelList is the labels of a prompt.
type LabelList struct {
	Items []Label `json:"items" nullable:"false" doc:"latest, then the others by name"`
}

// A LabelTarget is what PUT /prompts/{id}/labels/{label} takes.
type LabelTarget struct {
	Version int64 `json:"version" minimum:"1" doc:"The version to put the label on" example:"1"`
}

// A Move is what once became of a label.
type Move struct {
	From     int64  `json:"from,omitempty" doc:"The version it was on; absent for none" example:"2"`
	To       int64  `json:"to,omitempty" doc:"The version it was put on; absent where it was taken away" example:"3"`
	By       string `json:"by" doc:"Names the user who did it, as authorId of prompts" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	At       string `json:"at" format:"date-time" doc:"UTC" example:"2026-03-04T05:06:07.891Z"`
	UndoneBy string `json:"undoneBy,omitempty" doc:"Names the user who took it back, as authorId of prompts" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	UndoneAt string `json:"undoneAt,omitempty" format:"date-time" doc:"When it was taken back" example:"2026-03-05T00:00:00Z"`
}

// A MoveList is a page of the history of a label.
type MoveList struct {
	Items      []Move `json:"items" nullable:"false" doc:"The last move first"`
	NextCursor string `json:"nextCursor,omitempty" doc:"The cursor of the next page; absent at the end" example:"AUYXrYH0bXlzdGVyeQ"`
}

// A Message is one of a chat, or a place for others.
type Message struct {
	Role        string `json:"role,omitempty" doc:"Who says it: 1 to 32 letters, digits, _ and -" example:"system"`
	Content     string `json:"content,omitempty" doc:"What is said" example:"You review code."`
	Placeholder string `json:"placeholder,omitempty" doc:"Instead of the others: the name of messages to be put here" example:"history"`
}

// A Variable is a part of a text that the user of the prompt fills in.
type Variable struct {
	Name        string   `json:"name" doc:"As the text has it" example:"language"`
	Label       string   `json:"label,omitempty" doc:"For people" example:"Programming language"`
	Description string   `json:"description,omitempty" doc:"For people" example:"That of the code to review"`
	Type        string   `json:"type,omitempty" enum:"text,multiline,number,boolean,choice,date" default:"text" doc:"Which values it takes" example:"text"`
	Required    bool     `json:"required,omitempty" doc:"Whether it must be given where it has no default" example:"true"`
	Default     *string  `json:"default,omitempty" doc:"Its value where none is given" example:"Go"`
	Choices     []string `json:"choices,omitempty" doc:"Of the type choice" example:"[\"Go\",\"Rust\"]"`
}

// An ImportReport says what became of the entries of a file.
type ImportReport struct {
	Items   []Imported `json:"items" nullable:"false" doc:"Those that this request was through with, in the order in which they were taken in: a prompt comes before those that include it"`
	Entries int        `json:"entries" doc:"How many the file has" example:"859"`
	Next    *int       `json:"next,omitempty" doc:"From where to send the file again; absent where all is done" example:"50"`
	Warning string     `json:"warning,omitempty" doc:"Says so if the caller has used nine tenths of what a user may store" example:"you use 9500 of the 10000 prompts that a user may have; deleted prompts count until they are gone for good, 30 days later"`
	Skipped []string   `json:"skipped,omitempty" doc:"Files of an archive that hold no prompts" example:"[\"LICENSE\"]"`
}

// An ImportWarning is a place of a file that is not as its format wants it.
type ImportWarning struct {
	Line int    `json:"line,omitempty" doc:"Of the file that holds the entry; absent where it concerns all of it" example:"3"`
	Text string `json:"text" doc:"How it was read, and how to write it well" example:"description is not valid YAML and was read as the text up to the end of its line: write description: \"Collects tables: progress, rows\""`
}

// An Imported is an entry of a file, and what became of it.
type Imported struct {
	Place    string          `json:"place" doc:"Where it is in the file" example:"line 12"`
	Name     string          `json:"name,omitempty" doc:"That the file gives it" example:"letters/thanks"`
	Title    string          `json:"title,omitempty" doc:"That the file gives it" example:"Write a letter of thanks"`
	ID       string          `json:"id,omitempty" doc:"Of the prompt" example:"01HZX3V9K2M4Q6R8T0W2Y4A6C8"`
	Outcome  string          `json:"outcome" enum:"created,updated,unchanged,rejected" doc:"What became of it, or would" example:"created"`
	Loss     []string        `json:"loss,omitempty" doc:"What of it the library does not hold: extra.NAME is a member that its file alone has and comes back with, source the file itself, which is too large to be kept, title.invisible and name.invisible characters that no reader sees, which were removed" example:"[\"extra.testData\"]"`
	Warnings []ImportWarning `json:"warnings,omitempty" doc:"Places of the file that are not as its format wants them"`
	Code     string          `json:"code,omitempty" doc:"Why it was rejected, for programs; absent if only the reason says it" example:"TEXT_TOO_LONG"`
	Reason   string          `json:"reason,omitempty" doc:"Why it was rejected, and what to do" example:"the prompt breaks the rules named here; title: must not be empty"`
}
