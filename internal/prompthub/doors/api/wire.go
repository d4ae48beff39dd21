package api

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/prompthub/files/format"
)

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

// A SearchList is a page of a search.
type SearchList struct {
	PromptList
	Understood []Understood `json:"understood,omitempty" nullable:"false" doc:"Words of q that prompts of this page have in another form; absent if there are none. verbatim=true searches for the words as they are"`
	Partial    bool         `json:"partial,omitempty" doc:"Whether prompts may be missing: the service is still reading them, and titles alone were searched, or it has no room for all of them and searched the newest" example:"true"`
	LeftOut    bool         `json:"workspacesLeftOut,omitempty" doc:"Of scope=all: whether the caller is a member of more workspaces than the ten that were searched, those that were made last" example:"true"`
}

// An Understood is a word of a search with the forms in which prompts have it.
type Understood struct {
	Word    string   `json:"word" doc:"The word, normalized" example:"terminl"`
	As      []string `json:"as" nullable:"false" doc:"Words that prompts of the page have: with another ending or other accents, joined or as two words, longer, or near to a word that nothing has" example:"[\"terminal\"]"`
	Instead bool     `json:"instead,omitempty" doc:"Whether no prompt has the word in any form, so that those were searched for in its place" example:"true"`
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
	Data   []byte     `json:"data" doc:"Its bytes as base64. A file that is not as the one that the prompt was made of is a new version. More than 256 KiB are not kept, nor YAML that has an alias or more than 5,000 parts. It comes back only where it says what the version holds" example:"LS0tCm5hbWU6IGEKLS0tCkhpLgo="`
	Syntax string     `json:"syntax,omitempty" enum:"dollar,mustache" doc:"In which the text was rewritten, as POST /import does with its syntax; absent where the file says it as it is" example:"mustache"`
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

// A Reason is why a prompt is hidden, or a version recalled.
type Reason struct {
	Reason string `json:"reason" doc:"One line of 1 to 500 characters. Of a hidden prompt its author reads it; of a recalled version everybody" example:"Contains personal data."`
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
	Handle string `json:"handle,omitempty" doc:"The user's name in addresses; made of the name until they choose another; absent until there is one" example:"ann-lee"`
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

// A Version is a content that a prompt has or had.
type Version struct {
	Version   int64           `json:"version" doc:"Its number" example:"3"`
	Text      string          `json:"text,omitempty" doc:"Absent in lists" example:"I want you to act as a code reviewer."`
	Kind      string          `json:"kind,omitempty" enum:"text,chat" doc:"Whether it has a text or messages; absent in lists" example:"text"`
	Messages  []Message       `json:"messages,omitempty" doc:"Of a chat; absent in lists" example:"[{\"role\":\"user\",\"content\":\"Review this code.\"}]"`
	Config    json.RawMessage `json:"config,omitempty" doc:"Any JSON for programs; absent in lists" example:"{\"model\":\"small\"}"`
	Variables []Variable      `json:"variables,omitempty" doc:"Declared variables; absent in lists" example:"[{\"name\":\"language\",\"type\":\"text\"}]"`
	// nil in lists, and of one that has none of its own
	Description *string  `json:"description,omitempty" doc:"What it is for, as its author wrote it; absent in lists, and in versions made before versions had any, which show that of the prompt" example:"Reviews code"`
	FileHash    string   `json:"fileHash,omitempty" doc:"SHA-256, in hex, of the newest file that it or a version before it was made of; absent in lists, and if there is none" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Message     string   `json:"message" doc:"Why it was made" example:"Names the language first"`
	CreatedBy   string   `json:"createdBy" doc:"Names the user who made it, as authorId of prompts" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	CreatedAt   string   `json:"createdAt" format:"date-time" doc:"UTC" example:"2026-03-04T05:06:07.891Z"`
	MadeBy      string   `json:"madeBy,omitempty" doc:"Of a version that was brought over: who made it there, as that service says" example:"cm1user"`
	MadeAt      string   `json:"madeAt,omitempty" format:"date-time" doc:"Of a version that was brought over: when it was made there" example:"2025-03-04T05:06:07.891Z"`
	Hash        string   `json:"hash" doc:"SHA-256 of what the version says: content, description, and the newest file that it or a version before it was made of; the same for the same. That of a version made before versions had descriptions names its content alone" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Recall      *Recall  `json:"recall,omitempty" doc:"Absent if it was not recalled"`
	Labels      []string `json:"labels" nullable:"false" doc:"On this version; latest is on the one that the prompt holds" example:"[\"latest\",\"production\"]"`
}

// A Recall says that a version was withdrawn from programs.
type Recall struct {
	Reason string `json:"reason" doc:"Why" example:"Deletes files outside of the folder"`
	By     string `json:"by" doc:"Names the user who did it, as authorId of prompts" example:"a_mfrggzdfmztwq2lknnwg23tpoa"`
	At     string `json:"at" format:"date-time" doc:"UTC" example:"2026-03-04T05:06:07.891Z"`
}

// A FetchList is what programs fetched of a prompt last.
type FetchList struct {
	Items        []Fetch `json:"items" nullable:"false" doc:"One for each access token, lower versions first"`
	WithoutToken int64   `json:"withoutToken" doc:"How often programs without a token fetched it" example:"120"`
	More         bool    `json:"more" doc:"Whether more tokens did" example:"false"`
}

// A Fetch is what an access token fetched of a prompt last.
type Fetch struct {
	Token   string `json:"token,omitempty" doc:"The name of a token of its owner; absent for those of others" example:"CI"`
	Version int64  `json:"version" doc:"Which version" example:"6"`
	On      string `json:"on" format:"date" doc:"The day, in UTC" example:"2026-03-04"`
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

// A DescriptionsDiff is the descriptions of two versions, which differ.
type DescriptionsDiff struct {
	From string `json:"from" doc:"That of the first version" example:"Reviews code"`
	To   string `json:"to" doc:"That of the second version" example:"Reviews code for faults"`
}

// A Diff is what differs between two versions.
type Diff struct {
	From        int64             `json:"from" doc:"The first version" example:"3"`
	To          int64             `json:"to" doc:"The second version" example:"4"`
	Description *DescriptionsDiff `json:"description,omitempty" doc:"Both descriptions; absent if they are the same"`
	File        string            `json:"file,omitempty" doc:"How the files of both differ, as diff -u writes it; absent where description and texts say all" example:"--- version 3, SKILL.md\n+++ version 4, SKILL.md\n@@ -4 +4 @@\n-license: MIT\n+license: Apache-2.0\n"`
	Runs        []Run             `json:"runs" nullable:"false" doc:"The pieces of both texts, in order: those that are not insert make the first, those that are not delete the second"`
	Files       []FileDiff        `json:"files,omitempty" doc:"The files that differ, by path; a SKILL.md that is made of the text is not among them"`
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
