package main

import (
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/cursor"
	"prompthub/internal/git"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/doors/gitdoor"
	"prompthub/internal/prompthub/doors/langfuse"
	"prompthub/internal/prompthub/doors/langsmith"
	"prompthub/internal/prompthub/doors/marketplace"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/prompthub/transfer"
)

// A bound is the most that any request may cost: operations of the storage, queues among
// them and the work after the answer, rows that they read, KiB of the answer and KiB that are
// allocated on the way, the store in memory included.
type bound struct{ operations, rows, answer, allocated int64 }

// The costs that routes share. A text has at most 3,000 characters here.
var (
	nothing = bound{0, 0, 512, 8 << 10}
	// the instance looks whether a user whom it meets was moved to another sign-in id
	aCaller = bound{1, 1, 512, 8 << 10}
	// the texts of twenty, and what twenty votes of a moment ago became
	aList = bound{12 + 20 + 20, 5500, 1 << 10, 64 << 10}
	// Two hundred prompts that are looked at, or the index of an order that is walked and a page of
	// it. The first search of a scope loads it, and later ones read what its log has since then. The
	// qualifier author: must be looked up, too. A member is led to workspaces by name, by twenty
	// roles and by groups; twenty are looked at, each with all its members, and ten searched.
	aSearch = bound{
		200 + 40 + 12*60 + 8 + 20 + 22 + 20*2, 5500 + 300 + 12*4000 + 21*100 + 3000 + 20*752,
		1 << 10, 64 << 10,
	}
	// two hundred texts, as no index in memory has them
	anOwnSearch = bound{aList.operations + 200 + 3, aList.rows + 200, 1 << 10, 64 << 10}
	// and each of two hundred favorites by itself
	favoriteSearch = bound{anOwnSearch.operations + 200, anOwnSearch.rows + 200, 1 << 10, 64 << 10}
	looked         = bound{12 + 101 + 20, 5500, 1 << 10, 64 << 10} // each prompt of a page by itself
	aPrompt        = bound{8 + 2*2, 100 + 2, 128, 4 << 10}         // and two fetches that are noted after the answer
	// eight times a text of three bytes a character, and 64 KiB
	aPage = bound{8 + 4*50, 1600, 8*9 + 64, 16 << 10}
	// a prompt, and the prompts that include it: the rows of ten names, and a hundred prompts
	aPromptPage = bound{aPage.operations + 10 + 100, aPage.rows + 4200, aPage.answer, aPage.allocated}
	aForm       = bound{8, 1200, 256, 8 << 10}
	// The form of a prompt, with two hundred messages and thirty variables.
	aDraft = bound{8, 1200, 384, 16 << 10}
	// The same with all that a form can send, each character of which may be five in HTML.
	aSaved = bound{2*prompt.MaxTokens + 60 + 4*50, 1500, 800, 32 << 10}
	aVote  = bound{10, 60, 32, 4 << 10}
	// the rows of the old title, and of the new
	aChange = bound{2*prompt.MaxTokens + 60, 1300, 256, 32 << 10}
	aDelete = bound{aChange.operations + 120, 5300, 256, 32 << 10}  // and the prompts that include it
	aSave   = bound{aChange.operations + 4*50, 1500, 256, 32 << 10} // and what it includes: 50 at most
	// and what both versions there include
	// and its files: up to 256 rows of bytes that stay, 24 more of long files, and as many that are
	// written; twice 8 MiB of them as text, as bytes, and in two archives
	aFiled = bound{aSave.operations + 2*280, aSave.rows + 280, 256, 256 << 10}
	aMerge = bound{aSave.operations + 2*4*50, 1500, 256, 32 << 10}
	// a version with 8 MiB of files, as rows, as bytes, as an archive and as the answer
	aFolder = bound{aPrompt.operations + 280, aPrompt.rows + 280, 9 << 10, 128 << 10}
	// the same of two versions, of whose texts 4 MiB are compared
	aFileDiff = bound{2 * aFolder.operations, 2 * aFolder.rows, 16 << 10, 256 << 10}
	aWhole    = bound{aPrompt.operations + 4*50, 300, 128, 16 << 10} // a prompt with what it includes
	aLabel    = bound{20, 200, 64, 4 << 10}
	// and the prompts that include it by that name: the rows of ten names, and a hundred prompts
	aRemoval = bound{aLabel.operations + 10 + 100, aLabel.rows + 4200, 64, 32 << 10}
	aTag     = bound{6, 1200, 64, 8 << 10}
	aToken   = bound{4, 60, 64, 4 << 10}           // a user has at most 50
	aNamed   = bound{8 + 4*50, 300, 512, 16 << 10} // its config next to it, and what it includes
	// The lists of files of twenty versions of a hundred skills, fifty versions, and fifty files of 4
	// MiB together, of which none shares a row with another.
	someContents = bound{
		14 + 100 + 50*aPrompt.operations + 50 + 13,
		5200 + 100*20 + 50*aPrompt.rows + 50 + 13, 8 << 10, 256 << 10,
	}
	// A file has at most 1 MiB. Before it is too large it may be a config of 32,768 lines, each
	// after a hundred spaces, and as many nodes of YAML.
	aFile = bound{8, 100, 1 << 10, 64 << 10}
	// A hundred looks at prompts with twenty versions of each, until a MiB is full, which the last
	// may be beyond; or a page of votes.
	aPart = bound{8 + 100*5 + 101, 5500 + 100*43, 12 << 10, 128 << 10}
	// Fifty changes, and a look at each of two hundred entries, of which any may be compared with a
	// thousand versions. A line of the report holds what a text may hold.
	anImport = bound{50*aSave.operations + 200*14, 50*aSave.rows + 200*1003, 1 << 10, 512 << 10}
	// An import of one prompt, of whose history 4 MiB are read first, twenty versions with their files
	// at a time.
	aCopy = bound{anImport.operations + 8 + 50*45, anImport.rows + 600 + 50*63, 1 << 10, 512 << 10}
	// What a user takes: the rows of 10,000 prompts and of 5,000 favorites. Once a minute it comes on
	// top of the bound of a write or a form of that user. TestCounts counts it; TestBounds has it
	// counted before each request.
	aCount = bound{15, 15_000, 4, 16 << 10}
	// The handle, and the workspace with 550 members, twice where it changes; the memberships of a
	// person, and the two names that lead to each of a page of fifty members.
	aWorkspace = bound{10, 1300, 64, 8 << 10}
	members    = bound{4 + 50*2, 660, 64, 8 << 10}
	// the rows that lead there by name and by twenty roles, and of a hundred workspaces the rows
	// of roles and of the person
	workspaces = bound{21 + 100*2, 21*100 + 100*52, 128, 16 << 10}
	// A proposal of a prompt, at two of its versions, with what one of them includes: its reviews, the
	// workspace, and the two names that lead to each of seventy people. A form changes it before.
	aProposal  = bound{40 + 4*50 + 2*72, 1600 + 3*600, 8*2*9 + 64, 16 << 10}
	aProposing = bound{aProposal.operations + 30, aProposal.rows + 4000, aProposal.answer, aProposal.allocated}
	// twenty proposals with their reviews, and the two names of twenty people
	proposals = bound{20*12 + 2*20, 20 * 1800, 128, 16 << 10}
	// the rows that a request reads of events, and the two names of two people for each of thirty
	events = bound{30 + 2*2*30, 5500 + 600, 256, 16 << 10}
	// Two hundred invitations of a list and fifty of the caller's own, each with its maker, and a
	// hundred workspaces that they name.
	invites = bound{20 + 250*2 + 100, 1000 + 100*552, 256, 32 << 10}
	// ten workspaces and their lists; those of the caller's own are looked at, and each may be removed
	anInvite = bound{50 + 50*14 + 10*3, 200 + 10*(552+200), 64, 16 << 10}
	// ten workspaces, each read three times, with a row that leads there and its member
	anAcceptance = bound{30 + 10*9, 200 + 10*(3*552+100), 64, 16 << 10}
	// The owner and a workspace, a hundred collections, and twenty prompts, each with its labels and a
	// version, looked at twice where they are chosen.
	someCollections = bound{12, 900, 512, 16 << 10}
	aCollection     = bound{12 + 20*8, 900 + 20*40, 128, 32 << 10}
	aCollecting     = bound{24 + 2*20*8, 1800 + 2*20*40, 128, 64 << 10}
	// with the files of one version, as they have no more bytes together
	aCollected = bound{
		aCollection.operations + 20*4 + aFolder.operations, aCollection.rows + 20*4 + aFolder.rows,
		aFolder.answer, 2 * aFolder.allocated,
	}
	aTeam = bound{members.operations + invites.operations, members.rows + invites.rows, 320, 32 << 10}
	// with two names that lead to him, each looked for and then written
	aUser = bound{8, 8, 32, 4 << 10}

	// What the tools of a message do: one of them changes a prompt that was looked up by name.
	aMessage = bound{aSave.operations + 20, 5600, 2 << 10, 64 << 10}
	// Of 50 prompts, 1 KiB of description, 2 KiB of hints and 100 names of 64 characters each: what
	// lists hold and nothing else.
	aMenu = bound{12, 5500, 2 << 10, 64 << 10}
	// with the names of the files of fifty prompts and their SKILL.md, twice where front matters are
	// long; and of a collection in place of a list
	someSkills = bound{
		2 * (aMenu.operations + aCollection.operations + 2*50),
		2 * (aMenu.rows + aCollection.rows + 2*50), 0, 256 << 10,
	}
	anIndex = bound{12, 5500, 512, 64 << 10}
	// five pages of prompts
	aCatalogue = bound{5 * anIndex.operations, 5 * anIndex.rows, 5 * anIndex.answer, 5 * anIndex.allocated}
	// The rows of 2,000 versions, 100 at a time, and each by itself if it is a text alone.
	aLineage = bound{20 + 20 + 2000, 4100, 128, 64 << 10}
	// and the files of those that are sent, of which a pack has 32 MiB
	aClone = bound{2*aLineage.operations + 20_000, 2*aLineage.rows + 20_000, 33 << 10, 256 << 10}
	// The rows of 20,000 prompts and of their labels, 2,000 snapshots, and of the newest 500 a version
	// and a file. A member is looked up twice.
	aShelf       = bound{60 + 2*20 + 2*500, 2*20_000 + 2000 + 2*500 + 1300, 128, 128 << 10}
	aShelfCloned = bound{aShelf.operations + 20_000, aShelf.rows + 20_000, 33 << 10, 256 << 10}
	// by a message of 256 KiB, decoded more than once
	aRead = bound{aPrompt.operations, aPrompt.rows, aPrompt.answer, 8 << 10}
)

// messages are the bounds of those messages of the Model Context Protocol that cost less than their
// route may.
var messages = map[string]bound{
	"prompts/list": {
		aMenu.operations + aCollection.operations, aMenu.rows + aCollection.rows,
		aMenu.answer, aMenu.allocated,
	},
	"skills/list":    {someSkills.operations, someSkills.rows, 8 << 10, someSkills.allocated},
	"resources/list": {someSkills.operations, someSkills.rows, 16 << 10, someSkills.allocated},
	// and what it includes
	"prompts/get": {12 + 4*50, 300, 256, 16 << 10}, "completion/complete": {12 + 4*50, 300, 256, 16 << 10},
	"skills/get": aRead, "resources/directory/read": aRead,
	// a file of 4 MiB, as base64
	"resources/read": {aRead.operations + 13, aRead.rows + 13, 6 << 10, 64 << 10},
	"tools/list":     aCaller, "initialize": aCaller, "subscriptions/listen": aCaller,
}

// bounds are those of all routes: of the API as its OpenAPI document names them, and of the pages
// as their mux does. A new route is one line here; without it TestBounds fails. Take a cost that
// others share, or write one: what the route reads and writes in the worst case, counted by hand,
// not what a run printed. TestBounds -v prints the most that it found.
var bounds = map[string]bound{
	// Swagger UI, which is unpacked for the first client that does not take gzip
	"GET /docs": nothing, "GET /docs/{file}": {0, 0, 2 << 10, 16 << 10},
	"GET /health": nothing, "GET /openapi.json": {0, 0, 1 << 10, 8 << 10}, "GET /ready": {1, 1, 4, 512},
	"GET /me": aCount, "DELETE /me": {4, 2, 4, 512}, "POST /me/restore": {3, 1, 4, 512},
	"GET /me/export": aPart, "POST /import": anImport,
	"GET /tags": aTag, "PUT /tags/{tag}": aTag, "DELETE /tags/{tag}": aTag,

	// the catalog with its counts, the new rows in the log of searches, and ten prompts for each of
	// two questions; the first one loads the index, as a search does
	"POST /suggestions": {8 + 20*aPrompt.operations, 4000 + 20*aPrompt.rows, 32, aSearch.allocated},

	"GET /prompts": aSearch, "GET /me/prompts": anOwnSearch, "GET /moderation/hidden": aList, "GET /me/votes": looked,
	"GET /me/favorites": favoriteSearch,

	"GET /prompts/{id}": aPrompt, "GET /prompts/{id}/rank": aPrompt, "GET /prompts/{id}/text": aWhole,
	"POST /prompts/{id}/render":         aWhole,
	"GET /prompts/{id}/used-by":         {124, 4200, 512, 32 << 10},
	"GET /prompts/{id}/upstream":        {24, 300, 256, 16 << 10},
	"POST /prompts/{id}/fork":           aFiled,
	"POST /prompts/{id}/upstream/merge": {aMerge.operations + 3*280, aMerge.rows + 2*280, 256, 256 << 10},
	"GET /me/tokens":                    aToken, "POST /me/tokens": aToken, "DELETE /me/tokens/{token}": aToken,
	"GET /invites": invites, "POST /invites": anInvite,
	"DELETE /invites/{invite}": {20 + 10*2, 20 + 10*552, 64, 8 << 10}, "POST /invites/accept": anAcceptance,
	// an account, with the sessions that it has; and the access token of a command line
	"POST /session": aToken, "DELETE /session": aToken, "POST /resets": aToken,
	"PUT /me/password":    {aToken.operations + 8 + 20, aToken.rows + 40, 64, 16 << 10},
	"POST /resets/accept": {aToken.operations + 4 + 50*4, aToken.rows + 50*4, 64, 16 << 10},
	"POST /logins":        {aToken.operations + 4, 60, 64, 4 << 10},
	"GET /collections":    someCollections, "POST /collections": aCollecting,
	"GET /collections/{handle}/{slug}":   aCollection,
	"PATCH /collections/{handle}/{slug}": aCollecting, "DELETE /collections/{handle}/{slug}": someCollections,
	"GET /workspaces": workspaces, "POST /workspaces": {16, 700, 64, 8 << 10},
	"GET /workspaces/{workspace}": aWorkspace, "PATCH /workspaces/{workspace}": aWorkspace,
	"GET /workspaces/{workspace}/prompts": {
		anOwnSearch.operations + 2, anOwnSearch.rows + 600,
		anOwnSearch.answer, anOwnSearch.allocated,
	},
	"POST /workspaces/{workspace}/copies": aCopy,
	// with a look whether there are public prompts
	"DELETE /workspaces/{workspace}": {
		anOwnSearch.operations + 12,
		anOwnSearch.rows + 1300, 64, anOwnSearch.allocated,
	},
	"POST /workspaces/{workspace}/restore": aWorkspace,
	"GET /workspaces/{workspace}/members":  members,
	"PUT /workspaces/{workspace}/members/{kind}/{principal}": {
		aWorkspace.operations + 4,
		aWorkspace.rows + 700, 64, 8 << 10,
	},
	"DELETE /workspaces/{workspace}/members/{kind}/{principal}": aWorkspace,
	"GET /workspaces/{workspace}/tokens": {
		aToken.operations + 2, aToken.rows + 600, 64, 8 << 10,
	},
	"POST /workspaces/{workspace}/tokens": {
		aToken.operations + 2, aToken.rows + 600, 64, 8 << 10,
	},
	"DELETE /workspaces/{workspace}/tokens/{token}": {
		aToken.operations + 2, aToken.rows + 600, 64, 8 << 10,
	},
	"PUT /workspaces/{workspace}/rules":     aWorkspace,
	"GET /workspaces/{workspace}/proposals": proposals, "GET /workspaces/{workspace}/events": events,
	"GET /prompts/{id}/proposals":                   aList,
	"POST /prompts/{id}/proposals":                  {aPrompt.operations + 30, aPrompt.rows + 4000, 64, 16 << 10},
	"GET /prompts/{id}/proposals/{number}":          {aPrompt.operations + 12, aPrompt.rows + 1800, 1 << 10, 16 << 10},
	"PUT /prompts/{id}/proposals/{number}":          {aPrompt.operations + 40, aPrompt.rows + 5800, 1 << 10, 16 << 10},
	"DELETE /prompts/{id}/proposals/{number}":       {aPrompt.operations + 40, aPrompt.rows + 5800, 1 << 10, 16 << 10},
	"POST /prompts/{id}/proposals/{number}/reviews": {aPrompt.operations + 40, aPrompt.rows + 5800, 1 << 10, 16 << 10},
	// its SKILL.md
	"GET /prompts/{id}/export": {aFile.operations + 1, aFile.rows + 1, aFile.answer, aFile.allocated},
	"GET /prompts/{id}/files":  aPrompt, "PUT /prompts/{id}/files": aFiled,
	"GET /prompts/{id}/files/content": {aPrompt.operations + 13, aPrompt.rows + 13, 5 << 10, 64 << 10},
	"GET /prompts/{id}/archive":       aFolder,
	"GET /me/profile":                 aUser, "PUT /me/profile": aUser, "GET /users/{handle}": aUser,
	"GET /users/{handle}/prompts":        anOwnSearch,
	"GET /users/{handle}/prompts/{slug}": {16, 300, 128, 4 << 10},

	"GET /prompts/{id}/versions": aList, "GET /prompts/{id}/versions/{version}": aPrompt,
	"GET /prompts/{id}/versions/{version}/diff/{other}": aFileDiff,
	"DELETE /prompts/{id}/versions/{version}":           aDelete,
	"POST /prompts/{id}/versions/{version}/restore":     aFiled,
	// and the moves of its labels
	"POST /prompts/{id}/versions/{version}/recall":   {aDelete.operations + 10, aDelete.rows + 4000, 64, 32 << 10},
	"DELETE /prompts/{id}/versions/{version}/recall": aDelete,
	// the rows of the prompt, fifty tokens, and a hundred of others
	"GET /prompts/{id}/fetches": {aPrompt.operations + 110, aPrompt.rows + 1200, 256, 16 << 10},
	"GET /prompts/{id}/labels":  aPrompt, "GET /prompts/{id}/labels/{label}/history": aList,
	"PUT /prompts/{id}/labels/{label}": aLabel, "DELETE /prompts/{id}/labels/{label}": aRemoval,
	"POST /prompts/{id}/labels/{label}/undo": aRemoval,

	"POST /prompts": aFiled, "PUT /prompts/{id}": aFiled, "PATCH /prompts/{id}": aFiled,
	"DELETE /prompts/{id}":       aDelete,
	"POST /prompts/{id}/restore": aChange, "PUT /prompts/{id}/hidden": aChange, "DELETE /prompts/{id}/hidden": aChange,

	"GET /prompts/{id}/vote": aVote, "PUT /prompts/{id}/vote": aVote, "DELETE /prompts/{id}/vote": aVote,
	"PUT /prompts/{id}/favorite":    {aCount.operations + 4, aCount.rows + 20, 4, aCount.allocated},
	"DELETE /prompts/{id}/favorite": {2, 1, 4, 512},

	"GET /app": aSearch, "GET /app/mine": anOwnSearch, "GET /app/votes": looked, "GET /app/favorites": favoriteSearch,
	"POST /app/prompts/{id}/favorite": {aCount.operations + 4, aCount.rows + 20, 64, aCount.allocated},
	"GET /app/admin/hidden":           aList,
	// the address stands in the link of each tag
	"GET /app/tags": {8, 1200, 512, 16 << 10},
	// fifty changed tags
	"GET /app/admin/tags": aForm, "POST /app/admin/tags": {6 + 50*4, 1300, 512, 16 << 10},
	"GET /app/prompts/{id}": aPromptPage, "GET /app/prompts/{id}/fill": aCaller,
	// with the values again, each character of which may be five in HTML
	"POST /app/prompts/{id}/fill": {aPromptPage.operations, aPromptPage.rows, 1 << 10, 32 << 10},
	// and the fetches of the prompt
	"GET /app/prompts/{id}/versions": {
		aList.operations + 110, aList.rows + 1200,
		aList.answer, aList.allocated,
	},
	"GET /app/prompts/{id}/versions/{version}": aPage,
	// as aPage, of two texts
	"GET /app/prompts/{id}/compare":                     aFileDiff,
	"POST /app/prompts/{id}/versions/{version}/restore": aSave,
	"POST /app/prompts/{id}/versions/{version}/delete":  aDelete,
	"POST /app/prompts/{id}/versions/{version}/recall": {
		aDelete.operations + 10,
		aDelete.rows + 4000, 256, 32 << 10,
	},
	"POST /app/prompts/{id}/versions/{version}/reinstate": aDelete,
	// the page again, where it is wrong
	"GET /app/prompts/{id}/labels": aList, "POST /app/prompts/{id}/labels": {20 + 8, 300, 64, 8 << 10},
	"POST /app/prompts/{id}/labels/remove": aRemoval, "POST /app/prompts/{id}/labels/undo": aRemoval,
	"POST /app/prompts/{id}/fork":    aSave,
	"GET /app/prompts/{id}/upstream": {24, 400, 8*2*9 + 64, 16 << 10}, "POST /app/prompts/{id}/upstream": aMerge,
	"GET /app/prompts/{id}/upstream/edit": {aDraft.operations + 24, aDraft.rows + 400, aSaved.answer, aSaved.allocated},
	// and the workspaces that one may write in
	"GET /app/prompts/new": {
		aForm.operations + workspaces.operations,
		aForm.rows + workspaces.rows, 512, 32 << 10,
	},
	"GET /app/prompts/{id}/edit": aDraft,
	"POST /app/prompts/new":      aSaved, "POST /app/prompts/{id}/edit": aSaved,
	"POST /app/prompts/{id}/visibility": aChange,
	"POST /app/prompts/{id}/delete":     aDelete, "POST /app/prompts/{id}/restore": aChange,
	"POST /app/prompts/{id}/hide": aChange, "POST /app/prompts/{id}/unhide": aChange,
	"POST /app/prompts/{id}/vote": aVote,
	"GET /app/sitemap.xml":        {10 * 12, 10 * 5200, 1 << 10, 64 << 10}, // ten pages of a list
	"GET /robots.txt":             nothing, "GET /app/feed.atom": aList, "GET /app/feed.json": aList,
	"GET /app/u/{handle}/feed.atom": aList, "GET /app/u/{handle}/feed.json": aList,
	"GET /app/u/{handle}": {
		anOwnSearch.operations + 8 + someCollections.operations,
		anOwnSearch.rows + someCollections.rows, 1 << 10, 64 << 10,
	},
	// with the frame of a workspace
	"GET /app/c/{handle}": {someCollections.operations + 10, someCollections.rows + 700, 512, 32 << 10},
	"POST /app/c/{handle}": {
		aCollecting.operations + someCollections.operations + 10,
		aCollecting.rows + someCollections.rows + 700, 512, 64 << 10,
	},
	"GET /app/c/{handle}/{slug}": {aCollection.operations + 10, aCollection.rows + 700, 256, 32 << 10},
	// the collection as it was, as it is, and the page again where there is something wrong
	"POST /app/c/{handle}/{slug}": {
		aCollecting.operations + 2*aCollection.operations + 10,
		aCollecting.rows + 2*aCollection.rows + 700, 256, 96 << 10,
	},
	// of the reader, and of ten workspaces
	"GET /app/prompts/{id}/collect": {
		aPrompt.operations + workspaces.operations + 11*someCollections.operations,
		aPrompt.rows + workspaces.rows + 11*someCollections.rows, 4 << 10, 64 << 10,
	},
	// with what the user takes, and with all that was sent if it is wrong
	"GET /app/me":        {aUser.operations + aCount.operations, aUser.rows + aCount.rows, 32, aCount.allocated},
	"POST /app/me":       {8 + aCount.operations, 8 + aCount.rows, 512, aCount.allocated},
	"GET /app/me/export": aPart, "POST /app/me/erase": {4, 2, 64, 4 << 10}, "POST /app/me/keep": {3, 1, 64, 4 << 10},
	"GET /app/prompts/{id}/export": {aFile.operations + 1, aFile.rows + 1, aFile.answer, aFile.allocated},
	// a file of 256 KiB with its lines, each with its markup
	"GET /app/prompts/{id}/files":         {aPrompt.operations + 13, aPrompt.rows + 13, 8 << 10, 64 << 10},
	"GET /app/prompts/{id}/files/content": {aPrompt.operations + 13, aPrompt.rows + 13, 5 << 10, 64 << 10},
	"GET /app/prompts/{id}/archive":       aFolder,
	// and the page again where there is something wrong
	"POST /app/prompts/{id}/files": {
		aFiled.operations + aFolder.operations,
		aFiled.rows + aFolder.rows, 8 << 10, 256 << 10,
	},
	"POST /app/prompts/{id}/files/upload": {
		aFiled.operations + aFolder.operations,
		aFiled.rows + aFolder.rows, 8 << 10, 256 << 10,
	},
	"POST /app/prompts/new/files": aFiled,
	// a picture of 1200 by 630 pixels, and two fonts for the first one
	"GET /app/prompts/{id}/image.png": {aPrompt.operations, aPrompt.rows, 128, 16 << 10},
	// The file stands in the answer once more, and each line of the report with its markup.
	// the names of all prompts, and three rounds over thirty examples
	"POST /app/import/undo-examples": {200 + 3*30*aDelete.operations, 14_200 + 3*30*aDelete.rows, 64, 64 << 10},
	// each of fifty with a version of files and a second change, or the labels of one; and the form
	// again
	"POST /app/import/undo": {
		50 * (aPrompt.operations + aFiled.operations + aSave.operations),
		50 * (aPrompt.rows + aFiled.rows + aSave.rows), 3 << 10, 512 << 10,
	},
	"GET /app/import": aForm, "POST /app/import": {anImport.operations, anImport.rows, 10 << 10, 768 << 10},
	// with the handle of the caller, which may be made then
	"GET /app/w":  {workspaces.operations + 12, workspaces.rows + 12, 256, 32 << 10},
	"POST /app/w": {workspaces.operations + 28, workspaces.rows + 712, 256, 32 << 10},
	"GET /app/w/{workspace}": {
		anOwnSearch.operations + 3, anOwnSearch.rows + 620,
		anOwnSearch.answer, anOwnSearch.allocated,
	},
	"GET /app/w/{workspace}/members": {aTeam.operations + 1, aTeam.rows + 20, aTeam.answer, aTeam.allocated},
	"GET /app/w/{workspace}/review":  proposals, "GET /app/w/{workspace}/events": events,
	"GET /app/w/{workspace}/events.atom": events,
	"POST /app/w/{workspace}/copies":     aCopy,
	"POST /app/w/{workspace}/rules": {
		aWorkspace.operations + aToken.operations,
		aWorkspace.rows + 700, 512, 16 << 10,
	},
	"GET /app/prompts/{id}/proposals":                   {aList.operations, aList.rows, 256, 16 << 10},
	"POST /app/prompts/{id}/proposals":                  {aList.operations + 30, aList.rows + 4000, 256, 16 << 10},
	"GET /app/prompts/{id}/proposals/{number}":          aProposal,
	"POST /app/prompts/{id}/proposals/{number}/reviews": aProposing,
	"POST /app/prompts/{id}/proposals/{number}/version": aProposing,
	"POST /app/prompts/{id}/proposals/{number}/close":   aProposing,
	// and the page again where there is something wrong
	"POST /app/w/{workspace}/members":        {aTeam.operations + 14, aTeam.rows + 2000, 320, 48 << 10},
	"POST /app/w/{workspace}/members/remove": {aTeam.operations + 14, aTeam.rows + 2000, 320, 48 << 10},
	"POST /app/w/{workspace}/invites": {
		aTeam.operations + anInvite.operations,
		aTeam.rows + anInvite.rows, 320, 48 << 10,
	},
	"POST /app/w/{workspace}/invites/withdraw": {20 + 10*2, 20 + 10*552, 64, 8 << 10},
	"GET /app/join":  aForm,
	"POST /app/join": {anAcceptance.operations + 20, anAcceptance.rows + 5600, 256, 16 << 10},
	"GET /app/login": aForm, "POST /app/login": aForm,
	"GET /app/admin/invites": invites,
	"POST /app/admin/invites": {
		invites.operations + anInvite.operations,
		invites.rows + anInvite.rows, 256, 32 << 10,
	},
	"POST /app/admin/invites/withdraw": {20 + 10*2, 20 + 10*552, 64, 8 << 10},
	"GET /app/w/{workspace}/settings":  {aToken.operations + 2, aToken.rows + 600, 64, 8 << 10},
	"POST /app/w/{workspace}/settings": {
		aWorkspace.operations + aToken.operations,
		aWorkspace.rows + 700, 512, 16 << 10,
	},
	// with a look whether there are public prompts
	"POST /app/w/{workspace}/delete": {
		anOwnSearch.operations + 20,
		anOwnSearch.rows + 2000, 128, anOwnSearch.allocated,
	},
	"POST /app/w/{workspace}/restore":               aWorkspace,
	"POST /app/w/{workspace}/tokens":                {12, 1300, 512, 16 << 10},
	"POST /app/w/{workspace}/tokens/{token}/revoke": {aToken.operations + 2, aToken.rows + 600, 64, 8 << 10},
	"GET /app/me/tokens":                            aToken, "POST /app/me/tokens": {8, 120, 512, 8 << 10},
	"POST /app/me/tokens/{token}/revoke":         aToken,
	"GET /app/u/{handle}/tokens":                 {aToken.operations + 4, 60, 64, 4 << 10},
	"POST /app/u/{handle}/tokens/{token}/revoke": aToken,
	// the counts, the profiles of twenty users and a row of the newest prompt of each, twenty tokens
	"GET /app/admin": {aTag.operations, aTag.rows, 64, 8 << 10}, "GET /app/admin/status": aCaller,
	"GET /app/admin/users":  {2 + 20*2, 21 + 20*2, 64, 4 << 10},
	"GET /app/admin/tokens": {2, 22, 64, 4 << 10}, "POST /app/admin/tokens/{token}/revoke": aToken,
	"GET /app/signin": nothing, "POST /app/signin": nothing, "POST /app/signout": nothing,
	"POST /mcp": aMessage, "POST /mcp/t/{tag}": aMessage, "POST /mcp/u/{handle}": aMessage,
	"POST /mcp/w/{workspace}": {
		aMessage.operations + 2, aMessage.rows + 600,
		aMessage.answer, aMessage.allocated,
	},
	"POST /mcp/c/{handle}/{collection}": aMessage,
	// Lists read all of a user's prompts, at most 2,000, and two versions of each of a page, or a
	// thousand versions of one.
	"GET /ls/info": aUser, "GET /ls/settings": aUser, "GET /ls/repos": {14 + 2*100, 5200, 2 << 10, 64 << 10},
	"POST /ls/repos":               aChange,
	"GET /ls/repos/{owner}/{repo}": aNamed, "PATCH /ls/repos/{owner}/{repo}": aChange,
	"DELETE /ls/repos/{owner}/{repo}":         aDelete,
	"POST /ls/repos/{owner}/{repo}/tags":      {20 + 8, 300, 64, 8 << 10},
	"POST /ls/likes/{owner}/{repo}":           {10 + 8, 160, 64, 8 << 10},
	"GET /ls/commits/{owner}/{repo}":          aList,
	"GET /ls/commits/{owner}/{repo}/{commit}": {8 + 8 + 4*50, 400, 1 << 10, 32 << 10},
	"POST /ls/commits/{owner}/{repo}":         aSave,
	// all files as texts, and those of a version before
	"GET /ls/v1/platform/hub/repos/{owner}/{repo}/directories": {
		aNamed.operations + aFolder.operations,
		aNamed.rows + aFolder.rows, 8 << 10, 128 << 10,
	},
	"DELETE /ls/v1/platform/hub/repos/{owner}/{repo}/directories": aDelete,
	"POST /ls/v1/platform/hub/repos/{owner}/{repo}/directories/commits": {
		aFiled.operations + aNamed.operations,
		aFiled.rows + aNamed.rows, aFiled.answer, aFiled.allocated,
	},
	// A list reads 4,000 rows of names, 100 versions of each of 100 prompts for their times, and
	// 100 configs, of 1 MiB together; each item may have 1,000 numbers more.
	"GET /lf/api/public/v2/prompts":        {5 + 100 + 100, 14_200, 2 << 10, 64 << 10},
	"POST /lf/api/public/v2/prompts":       aSave,
	"GET /lf/api/public/v2/prompts/{name}": aNamed, "GET /lf/api/public/prompts": aNamed,
	"DELETE /lf/api/public/v2/prompts/{name}": aDelete,
	"GET /lf/api/public/projects":             aUser,
	// A list reads all of a user's prompts, at most 2,000, and of each of a page the row of its name
	// and of a version.
	"GET /lf/api/public/unstable/skills": {14 + 2*100, 5200 + 2*100, 512, 64 << 10},
	// and SKILL.md; where its bytes are named alone they are looked for, as below
	"POST /lf/api/public/unstable/skills": {
		aFiled.operations + aNamed.operations + someContents.operations,
		aFiled.rows + aNamed.rows + someContents.rows, 512, 2 * aFiled.allocated,
	},
	"GET /lf/api/public/unstable/skills/{name}": {
		aNamed.operations + 1, aNamed.rows + 1, 512, 32 << 10,
	},
	"PATCH /lf/api/public/unstable/skills/{name}": {
		aChange.operations + 2*aNamed.operations,
		aChange.rows + 2*aNamed.rows, 512, 64 << 10,
	},
	"GET /lf/api/public/unstable/skills/files/content": someContents,
	"PATCH /lf/api/public/unstable/skills/{name}/versions/{version}": {
		2*aRemoval.operations + 2*aNamed.operations,
		2*aRemoval.rows + 2*aNamed.rows, 512, 64 << 10,
	},
	"DELETE /lf/api/public/unstable/skills/{name}/versions/{version}": aDelete,
	"PATCH /lf/api/public/v2/prompts/{name}/versions/{version}":       {20 + 2*8, 300, 256, 8 << 10},
	"GET /.well-known/agent-skills/index.json":                        anIndex,
	"GET /t/{tag}/.well-known/agent-skills/index.json":                anIndex,
	"GET /u/{handle}/.well-known/agent-skills/index.json":             anIndex,
	"GET /c/{handle}/{collection}/.well-known/agent-skills/index.json": {
		aCollection.operations, aCollection.rows, 512, 64 << 10,
	},
	"GET /c/{handle}/{collection}/.well-known/agent-skills/{skill}/archive.zip": {
		aCollection.operations + aFolder.operations, aCollection.rows + aFolder.rows, aFolder.answer,
		aCollection.allocated + aFolder.allocated,
	},
	"GET /c/{handle}/{collection}/.well-known/agent-skills/{skill}/SKILL.md": {
		aCollection.operations + aPrompt.operations, aCollection.rows + aPrompt.rows, 256, 64 << 10,
	},
	"GET /.well-known/agent-skills/{skill}/archive.zip":            aFolder,
	"GET /t/{tag}/.well-known/agent-skills/{skill}/archive.zip":    aFolder,
	"GET /u/{handle}/.well-known/agent-skills/{skill}/archive.zip": aFolder,
	"GET /.well-known/agent-skills/{skill}/SKILL.md":               aPrompt,
	"GET /t/{tag}/.well-known/agent-skills/{skill}/SKILL.md":       aPrompt,
	"GET /u/{handle}/.well-known/agent-skills/{skill}/SKILL.md":    aPrompt,
	"GET /marketplace/u/{handle}/marketplace.json":                 aCatalogue,
	"GET /marketplace/me/marketplace.json":                         aCatalogue,
	"GET /marketplace/w/{workspace}/marketplace.json": {
		aCatalogue.operations + 4, aCatalogue.rows + 600,
		aCatalogue.answer, aCatalogue.allocated,
	},
	"GET /marketplace/u/{handle}/library.zip": nothing, "GET /marketplace/me/library.zip": nothing,
	"GET /marketplace/w/{workspace}/library.zip":                nothing,
	"GET /marketplace/c/{handle}/{collection}/marketplace.json": aCollected,
	"GET /marketplace/c/{handle}/{collection}/{package}":        aCollected,
	"GET /marketplace/packages/{id}/{version}/{package}": {
		aFolder.operations + 2, aFolder.rows + 2,
		aFolder.answer, aFolder.allocated,
	},
	"GET /.well-known/oauth-protected-resource":               nothing,
	"GET /.well-known/oauth-protected-resource/mcp":           nothing,
	"GET /.well-known/oauth-protected-resource/mcp/{rest...}": nothing,

	"GET /app/{rest...}": nothing, "GET /app/static/{file}": nothing,

	// whether there is one; a member is looked up
	"GET /git/me/info/refs": aCaller, "GET /git/me.git/info/refs": aCaller,
	"GET /git/u/{handle}/info/refs":              {aUser.operations + 4, aUser.rows + 700, 32, 8 << 10},
	"GET /git/w/{workspace}/info/refs":           {aWorkspace.operations, aWorkspace.rows, 32, 8 << 10},
	"GET /git/c/{handle}/{collection}/info/refs": {aUser.operations + 8, aUser.rows + 1300, 32, 8 << 10},
	"GET /git/me/{prompt}/info/refs":             aPrompt,
	"GET /git/u/{handle}/{prompt}/info/refs":     {aPrompt.operations + 4, aPrompt.rows + 700, 128, 8 << 10},
	"GET /git/w/{workspace}/{prompt}/info/refs": {
		aPrompt.operations + aWorkspace.operations,
		aPrompt.rows + aWorkspace.rows, 128, 8 << 10,
	},
	"POST /git/me/git-upload-pack": aShelfCloned, "POST /git/me.git/git-upload-pack": aShelfCloned,
	"POST /git/u/{handle}/git-upload-pack":              aShelfCloned,
	"POST /git/w/{workspace}/git-upload-pack":           aShelfCloned,
	"POST /git/c/{handle}/{collection}/git-upload-pack": aShelfCloned,
	"POST /git/me/{prompt}/git-upload-pack":             aClone,
	"POST /git/u/{handle}/{prompt}/git-upload-pack":     aClone,
	"POST /git/w/{workspace}/{prompt}/git-upload-pack": {
		aClone.operations + aWorkspace.operations,
		aClone.rows + aWorkspace.rows, aClone.answer, aClone.allocated,
	},
}

// work is how much processor time a request may take, in jobs: that of some requests that mean
// nothing, and of what it may allocate.
func (b bound) work() float64 { return 20 + float64(b.allocated>>10) }

// within reports what of a cost is beyond a bound.
func (b bound) within(cost bound, work float64) error {
	if cost.operations > b.operations || cost.rows > b.rows || cost.answer > b.answer ||
		cost.allocated > b.allocated || work > b.work() {
		return fmt.Errorf("cost %+v and %.1f jobs, bound %+v and %.1f", cost, work, b, b.work())
	}
	return nil
}

func (b bound) most(c bound) bound {
	return bound{
		max(b.operations, c.operations), max(b.rows, c.rows), max(b.answer, c.answer),
		max(b.allocated, c.allocated),
	}
}

// A search looks for requests that cost more than their route may.
type search struct {
	*lab
	routes    []string
	messages  []string            // those of them that take messages, for assistants
	query     map[string][]string // parameters by route
	ids       []prompt.ID
	forks     []prompt.ID
	shared    prompt.ID // of the workspace
	listed    string    // the ids of a collection, as JSON
	imported  string    // changes of prompts, as the form says them that undoes an import
	files     []string  // that pages load
	bounds    map[string]bound
	tried     map[string]int
	found     map[string]bound   // the most
	method    string             // of a message, in the request that was drawn last
	reader    api.ShownToken     // an access token of ann's
	job       time.Duration      // what processor time is measured by
	work      map[string]float64 // the most, in jobs
	ok        map[string]int     // requests that were answered with success
	positions map[string]int     // those with a cursor, by route
	collected uint64             // bytes that were allocated before garbage was collected last
}

// newSearch fills a library with the costliest content, and finds all routes.
func newSearch(t *testing.T) *search {
	s := &search{
		lab: newLab(t), query: map[string][]string{}, bounds: bounds, tried: map[string]int{},
		positions: map[string]int{}, found: map[string]bound{}, work: map[string]float64{}, ok: map[string]int{},
	}
	for _, title := range hostileTitles {
		s.make(prompt.Draft{Title: title, Text: "text", Tags: []prompt.Tag{"text"}, Visibility: prompt.Public})
	}
	for i, text := range hostileTexts() {
		s.make(prompt.Draft{
			Title: fmt.Sprint("Text ", i), Text: text,
			Tags: []prompt.Tag{"text", "data"}, Visibility: prompt.Public,
		})
		time.Sleep(time.Duration(i*i) * 30 * 24 * time.Hour) // and months without prompts
	}
	s.make(prompt.Draft{Title: "Private", Text: "text", Visibility: prompt.Private})
	listed, err := json.Marshal(s.ids[len(s.ids)-min(len(s.ids), prompt.MaxInCollection):])
	require.NoError(t, err)
	s.listed = string(listed)
	var imported []transfer.Change
	for i, id := range s.ids {
		imported = append(imported, transfer.Change{ID: id, Now: int64(1 + i%2), Was: int64(i % 2)})
	}
	changes, err := json.Marshal(imported)
	require.NoError(t, err)
	s.imported = string(changes)
	s.including()
	s.ask(put("/me/profile", ann, `{"handle":"anna"}`), nil)
	s.shelf()
	var fork struct{ ID prompt.ID }
	s.ask(call{method: http.MethodPost, path: "/prompts/" + string(s.ids[0]) + "/fork", user: ann}, &fork)
	s.ids, s.forks = append(s.ids, fork.ID), append(s.forks, fork.ID)
	slices.Reverse(s.ids) // rapid draws the first more often: the odd ones
	for range 30 {        // votes on what is gone
		s.create("Gone", `"text"`)
		s.lab.vote("Vera", prompt.Like)
		s.ask(call{method: http.MethodDelete, path: s.path("/prompts/{id}"), user: ann}, nil)
	}
	s.settle()
	s.findRoutes(t)
	s.job = measureJob(t)
	return s
}

// shelf makes a workspace of ann's with many members and a prompt.
func (s *search) shelf() {
	s.ask(call{method: http.MethodPost, path: "/workspaces", user: ann, body: `{"handle":"shelf"}`}, nil)
	for i := range prompt.MaxDirectory {
		s.ask(put(fmt.Sprintf("/workspaces/shelf/members/role/role%d", i), ann, `{"role":"reader"}`), nil)
	}
	for i := range 60 {
		user := fmt.Sprint("Member ", i)
		s.ask(put("/me/profile", user, fmt.Sprintf(`{"handle":"member-%d"}`, i)), nil)
		s.ask(put(fmt.Sprintf("/workspaces/shelf/members/person/member-%d", i), ann, `{"role":"reader"}`), nil)
	}
	s.ask(put("/me/profile", "Vera", `{"handle":"vera"}`), nil)
	var shared struct{ ID string }
	s.ask(call{
		method: http.MethodPost, path: "/prompts", user: ann,
		body: `{"title":"Shared","text":"text","workspace":"shelf"}`,
	}, &shared)
	s.shared = prompt.ID(shared.ID)
	s.rule()
	s.ask(call{
		method: http.MethodPost, path: "/prompts/" + shared.ID + "/proposals", user: ann,
		body: `{"label":"production","version":1}`,
	}, nil)
}

// including makes prompts that include as many others as they may, as deep as they may, one that
// all of a hundred include, and forks of the former.
func (s *search) including() {
	include := func(names ...string) string {
		var b strings.Builder
		for _, name := range names {
			fmt.Fprintf(&b, "@@@langfusePrompt:name=%s|label=latest@@@\n", name)
		}
		return b.String()
	}
	public := func(title, text string) {
		s.make(prompt.Draft{Title: title, Text: text, Visibility: prompt.Public})
	}
	known := s.ids
	public("part", "Of all.")
	part := s.prompt
	var leaves, rows []string
	for i := range 40 {
		leaves = append(leaves, fmt.Sprint("leaf ", i))
		public(leaves[i], strings.Repeat("入", 10))
	}
	below := ""
	for depth := range 4 { // the deepest first
		rows = append(rows, fmt.Sprint("row ", depth))
		of := slugs(leaves[10*depth : 10*depth+10])
		if below != "" {
			of = append(of, below)
		}
		public(rows[depth], include(of...))
		below = slugs(rows[depth:])[0]
	}
	public("Whole", include(append(slugs(leaves[:5]), below)...))
	whole := s.prompt
	for range 100 {
		public("User of a part", include("part"))
	}
	s.ids = append(known, part, whole) // all others are there for these
	for _, user := range []string{"Vera", ann} {
		var made struct{ ID prompt.ID }
		s.ask(call{method: http.MethodPost, path: "/prompts/" + string(whole) + "/fork", user: user}, &made)
		s.ids, s.forks = append(s.ids, made.ID), append(s.forks, made.ID)
	}
	s.ask(edit("/prompts/"+string(whole), ann, "*",
		`{"text":"Changed.\n`+strings.ReplaceAll(include(below), "\n", `\n`)+`"}`), nil)
}

func slugs(titles []string) []string {
	var all []string
	for _, title := range titles {
		all = append(all, strings.ReplaceAll(title, " ", "-"))
	}
	return all
}

func (s *search) make(d prompt.Draft) {
	body, err := json.Marshal(map[string]any{
		"title": d.Title, "text": d.Text,
		"tags": d.Tags, "visibility": d.Visibility,
	})
	require.NoError(s.t, err)
	time.Sleep(time.Millisecond)
	var made struct{ ID prompt.ID }
	s.ask(call{method: http.MethodPost, path: "/prompts", user: ann, body: string(body)}, &made)
	if s.prompt = made.ID; d.Visibility == prompt.Public {
		s.lab.vote("Vera", prompt.Like)
	}
	s.ids = append(s.ids, made.ID)
}

func (s *search) findRoutes(t *testing.T) {
	w := httptest.NewRecorder()
	s.doors.ServeHTTP(w, httptest.NewRequest(http.MethodGet, api.Prefix+"/openapi.json", nil))
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct{ Name, In string }
		}
	}
	require.NoError(t, json.Unmarshal(w.Body.Bytes(), &doc))
	for path, methods := range doc.Paths {
		for method, op := range methods {
			route := strings.ToUpper(method) + " " + path
			s.routes = append(s.routes, route)
			for _, p := range op.Parameters {
				if p.In == "query" {
					s.query[route] = append(s.query[route], p.Name)
				}
			}
		}
	}
	page := serve(t, s.doors, call{method: http.MethodGet, path: web.Prefix}).Body.String()
	for _, found := range regexp.MustCompile(`/static/([^"]+)"`).FindAllStringSubmatch(page, -1) {
		s.files = append(s.files, found[1])
	}
	require.NotEmpty(t, s.files)
	for _, pattern := range web.Patterns() {
		s.routes = append(s.routes, pattern)
		s.query[pattern] = []string{
			"sort", "tag", "q", "cursor", "show", "value", "view", "part", "back", "done",
			"from", "to", "label", "format", "path",
		}
	}
	s.query["GET /app/login"] = slices.Collect(maps.Keys(asked["GET /app/login"]))
	for _, pattern := range marketplace.Patterns() {
		s.routes = append(s.routes, pattern)
		s.query[pattern] = []string{"token", "until", "signature"}
	}
	for _, pattern := range gitdoor.Patterns() {
		s.routes = append(s.routes, pattern)
		s.query[pattern], asked[pattern] = []string{"service"}, map[string][]string{"service": {"git-upload-pack"}}
	}
	s.messages = mcp.Patterns()
	s.routes = append(s.routes, s.messages...)
	for _, pattern := range langsmith.Patterns() {
		s.routes = append(s.routes, pattern)
		s.query[pattern] = []string{
			"limit", "offset", "query", "is_public", "is_archived",
			"repo_type", "repo_types", "commit",
		}
	}
	for _, pattern := range langfuse.Patterns() {
		s.routes = append(s.routes, pattern)
		s.query[pattern] = []string{
			"name", "version", "label", "page", "limit", "fromUpdatedAt", "toUpdatedAt",
			"resolve", "search", "sha256Hashes",
		}
	}
	slices.Sort(s.routes)
}

// hostileTitles have as many rows as can be: no two parts of them alike.
var hostileTitles = []string{
	scattered('a', 26, 100, "."), scattered('a', 26, 99, "."), scattered('一', 5000, 199, ""),
	scattered('a', 26, 66, ".b"), strings.Repeat("ﷺ", 200),
	scattered('k', 11, 50, "yz "), strings.Repeat("<&\">'", 40), strings.Repeat("x", 200),
}

// scattered returns n characters from first on in no order, each followed by the same. Parts that
// repeat would have the same rows.
func scattered(first rune, of int32, n int, by string) string {
	var b strings.Builder
	r := mathrand.New(mathrand.NewPCG(uint64(first), uint64(n)))
	for range n {
		b.WriteRune(first + r.Int32N(of))
		b.WriteString(by)
	}
	return strings.TrimRight(b.String(), ". ")
}

// hostileTexts make much of little.
func hostileTexts() []string {
	const size = prompt.DefaultMaxText
	fill := func(s string) string { return strings.Repeat(s, size/len([]rune(s))) }
	half := size / 2
	return []string{
		fill("&"), fill(">"), fill("- "), fill("["), fill("🚀")[:4*size/2], fill("\x01"),
		fill("*a**b*"), fill("${a}"), fill("入"),
		"${a:" + strings.Repeat("x", half) + "}" + strings.Repeat("${a}", half/4-10),
		"[a]: http://" + strings.Repeat("x", half) + "\n\n" + strings.Repeat("[a]", half/3-10),
		strings.Repeat("|", half/2) + "\n" + strings.Repeat("|-", half/4) + "\n" + strings.Repeat("|\n", half/2-10),
	}
}

// head is how many bytes of a path with its query are tried at most: the server reads a head of 32
// KiB and 4 KiB more, and answers a longer one by itself.
const head = 36 << 10

// some draws a text of a size at a limit, or beyond it, or none.
func some(t *rapid.T, name string) string {
	switch rapid.IntRange(0, 6).Draw(t, name+" is") {
	case 0:
		return ""
	case 1:
		return rapid.SampledFrom(hostileTitles).Draw(t, name)
	case 2:
		return rapid.SampledFrom(hostileTexts()).Draw(t, name)
	case 3:
		unit := rapid.SampledFrom([]string{
			"a", "é", "[", "{\"a\":", "../", "%2e", "a,", "a ", "-", "9", "\x00", "&",
			"{{a}}",
		}).Draw(t, name+" unit")
		return strings.Repeat(unit, rapid.SampledFrom(
			[]int{1, 9, 10, 20, 21, 200, 201, 2000, 2001, 3000, 3001, 30_000}).Draw(t, name+" times"))
	case 4:
		return rapid.SampledFrom([]string{
			"newest", "most-liked", "updated", "title", "public", "private", "like",
			"text", "text,data", "true", "source", "split", "results", "chat", "add-variable", "1", "2", "100",
			"common", "提示",
		}).Draw(t, name)
	}
	return rapid.String().Draw(t, name)
}

// forge draws a query with a cursor that no page gave out, at a position in a list of the route.
func (s *search) forge(t *rapid.T, route string) url.Values {
	at := rapid.SampledFrom([]time.Time{
		time.UnixMilli(0), time.Date(1970, 2, 1, 0, 0, 0, 0, time.UTC), time.Now(), time.Now().AddDate(0, -7, 0),
		time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}).Draw(t, "position")
	id, err := prompt.NewID(at, strings.NewReader("0123456789"))
	require.NoError(t, err)
	age := promptdb.Position(id)
	own := "!mine|" + age // the key of a row in the author's own list
	score := fmt.Sprintf("%010d", rapid.SampledFrom([]int64{0, 2147483647, 2147483640, 4294967294}).Draw(t, "score"))
	title := strings.Repeat(rapid.SampledFrom([]string{"", "a", "一", "\xff"}).Draw(t, "title"), 40)
	type list struct {
		sort, scope, at string // scope is what Service calls the list
	}
	mine := func(sort promptdb.Sort) string { return fmt.Sprintf(`mine %q "" %s false  [] ""`, ann, sort) }
	prompts := []list{
		{"newest", `prompts newest [] ""`, age},
		{"most-liked", `prompts most-liked [] ""`, score + "|" + age},
	}
	lists := map[string][]list{
		"GET /prompts": prompts, "GET /app": prompts,
		"GET /me/prompts": {
			{"newest", mine(promptdb.ByNewest), own},
			{"title", mine(promptdb.ByTitle), title + "\x00" + own},
		},
		"GET /app/mine":          {{"", mine(promptdb.ByNewest), own}},
		"GET /me/votes":          {{"", fmt.Sprintf("votes %q none", ann), age}},
		"GET /app/votes":         {{"", fmt.Sprintf("votes %q none", ann), age}},
		"GET /moderation/hidden": {{"", "hidden", age}},
	}[route]
	if lists == nil {
		lists = []list{{"", "mine", age}}
	}
	l := rapid.SampledFrom(lists).Draw(t, "list")
	query := url.Values{"cursor": {cursor.Seal(l.scope, l.at)}}
	if l.sort != "" {
		query.Set("sort", l.sort)
	}
	return query
}

// request draws a request of a route.
func (s *search) request(t *rapid.T, route string) *http.Request {
	method, path, _ := strings.Cut(route, " ")
	isPage, isMessage := strings.HasPrefix(path, web.Prefix) || path == web.Robots, slices.Contains(s.messages, route)
	isNamed := strings.HasPrefix(path, langfuse.Prefix) || strings.HasPrefix(path, langsmith.Prefix+"/")
	isMarket, isGit := strings.HasPrefix(path, marketplace.Prefix), strings.HasPrefix(path, gitdoor.Prefix+"/")
	// Half of the requests mean something in all their parts, and have hostile values only where
	// any will do; in the others each part is drawn by itself.
	whole := rapid.Bool().Draw(t, "whole")
	ids := s.ids
	switch {
	case whole && strings.Contains(path, "/upstream"):
		ids = s.forks
	case whole && strings.Contains(path, "/proposals"):
		ids = []prompt.ID{s.shared}
	}
	id := string(rapid.SampledFrom(ids).Draw(t, "id"))
	var now known
	if whole {
		now = s.ready(route, id)
	}
	part := some(t, "path")
	part = url.PathEscape(part[:min(len(part), head/6)]) // three times as long, and twice in a path
	either := func(name string, known ...string) string {
		if !whole {
			known = append(known, part)
		}
		return rapid.SampledFrom(known).Draw(t, name)
	}
	skill := either("skill", id)
	if isMessage {
		path = strings.NewReplacer("{tag}", either("tag", "text"), "{handle}", either("handle", "anna"), "{workspace}",
			either("workspace", "shelf"), "{collection}", either("collection", "support")).Replace(path)
	}
	numbers := []string{"1", "2", "0", "-1", "9223372036854775807"}
	if whole {
		numbers = []string{"1", "2", fmt.Sprint(max(now.Version-1, 1)), fmt.Sprint(max(now.Version, 1))}
	}
	if now.Proposal > 0 {
		numbers = []string{fmt.Sprint(now.Proposal)}
	}
	number := either("number", numbers...)
	labels := []string{"production", "latest"}
	if whole {
		labels = labels[:1]
	}
	handles := []string{"anna", "me"}
	if isMarket && whole {
		handles = handles[:1]
		switch {
		case strings.Contains(path, "{version}/{package}"):
			path = strings.Replace(path, "{id}/{version}/{package}", s.aPackage(t, "/me", "/packages/"), 1)
		case strings.Contains(path, "{package}"):
			path = strings.Replace(path, "{collection}/{package}", s.aPackage(t, "/c/anna/support", "/c/anna/"), 1)
		default:
			s.aPackage(t, "/me", "/packages/") // so that there is a token
			path = strings.Replace(path, "{collection}", "support", 1)
		}
	}
	if isGit && whole {
		handles = handles[:1]
		named := "text-1"
		if strings.Contains(path, "{workspace}") {
			named = "shared"
		}
		path = strings.NewReplacer("{collection}", "support", "{prompt}", named).Replace(path)
	}
	files := []string{"page.css", "swagger-ui-bundle.js"}
	if isPage {
		files = s.files
	}
	name := url.PathEscape(nameOf(t, whole))
	if whole && isOfSkills(route) {
		name = "a-skill"
	}
	path = strings.NewReplacer("{id}", id, "{tag}", either("tag", "text", "data"), "{handle}",
		either("handle", handles...), "{token}", either("token", s.token.ID), "{invite}", either("invite", s.invite),
		"{workspace}", either("workspace", "shelf"), "{kind}", either("kind", "person", "role"), "{principal}",
		either("principal", "vera", "cooks"),
		"{slug}", either("slug", slugsOf(route)...), "{rest...}", part, "{skill}", skill, "{version}", number,
		"{number}", number, "{other}", either("other number", numbers...),
		"{label}", either("label", labels...), "{file}", either("file", files...), "{name}", name,
		"{owner}", either("owner", "-"), "{repo}", name, "{commit}", either("commit", "latest", "00000001"),
		"{package}", part+".zip", "{collection}", part, "{prompt}", part, "{$}", "").Replace(path)
	if !isPage && !isMessage && !isNamed && !isMarket && !isGit {
		path = api.Prefix + path
	}
	query := url.Values{}
	for _, name := range s.query[route] {
		if meant := asked[route][name]; whole {
			if len(meant) > 0 {
				query.Set(name, rapid.SampledFrom(meant).Draw(t, name))
			}
			continue
		}
		if rapid.IntRange(0, 2).Draw(t, name+" given") > 0 {
			continue
		}
		switch name {
		case "limit":
			query.Set(name, rapid.SampledFrom([]string{"1", "20", "100", "101", "-1", "9999999999"}).Draw(t, name))
			continue
		case "from", "to", "version":
			query.Set(name, rapid.SampledFrom([]string{"1", "2", "0", "x"}).Draw(t, name))
			continue
		case "name":
			query.Set(name, nameOf(t, false))
			continue
		case "format":
			query.Set(name, string(rapid.SampledFrom(format.Formats()).Draw(t, name)))
			continue
		case "fromUpdatedAt", "toUpdatedAt":
			query.Set(name, rapid.SampledFrom(
				[]string{"1999-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "x"}).Draw(t, name))
			continue
		}
		query.Set(name, some(t, name))
	}
	if !whole && rapid.IntRange(0, 11).Draw(t, "of others") == 0 {
		query.Set("utm_"+some(t, "of others is"), some(t, "value of others"))
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if len(path)+len(query.Encode()) > head {
			query.Del(name)
		}
	}
	if slices.Contains(s.query[route], "cursor") && rapid.Bool().Draw(t, "forged") {
		query = s.forge(t, route)
	}
	body, kind := s.body(t, method, isPage, whole)
	s.method = ""
	values := maps.Clone(fitting[route])
	for name, v := range values {
		values[name] = strings.NewReplacer("{secret}", s.secret, "{shared}", string(s.shared), "{public}", s.listed,
			"{imported}", s.imported).Replace(v)
	}
	switch may := whole || rapid.Bool().Draw(t, "fits"); {
	case isGit && body != nil:
		if kind = git.RequestType; may {
			body = strings.NewReader(s.wants(t, path))
		}
	case isMessage && method == http.MethodPost:
		body = strings.NewReader(s.message(t))
	case body == nil || !may:
	case values != nil:
		body = fits(t, values, now, isPage)
	case strings.HasSuffix(route, "/import"):
		body, kind = sendFile(t, isPage)
	case strings.HasSuffix(route, "/files/upload"), strings.HasSuffix(route, "/prompts/new/files"):
		body, kind = sendFolder(t, now)
	case isNamed:
		body = strings.NewReader(version(t))
	}
	if body != nil && !whole {
		switch rapid.IntRange(0, 7).Draw(t, "sent") {
		case 0:
			body = iotest.TimeoutReader(iotest.HalfReader(body)) // cut
		case 1:
			body = slowly{body}
		}
	}
	r := httptest.NewRequest(method, "http://localhost/", body)
	r.URL.Path, _ = url.PathUnescape(path)
	r.URL.RawPath = path
	r.URL.RawQuery = query.Encode()
	r.RequestURI = r.URL.RequestURI()
	r.Header.Set("Content-Type", kind)
	r.Header.Set("If-Match", "*")
	r.Header.Set("Accept", "application/json, text/event-stream")
	// small, but made of all
	r.Header.Set("Accept-Encoding", rapid.SampledFrom([]string{"", "gzip"}).Draw(t, "encoding"))
	who, role := now.AuthorName, "admin"
	if !whole {
		who = rapid.SampledFrom([]string{ann, ann, "Vera", ""}).Draw(t, "who")
		role = rapid.SampledFrom([]string{"", "admin"}).Draw(t, "role")
	}
	if who != "" {
		r.Header.Set("X-Dev-User", who)
		r.Header.Set("X-Dev-Roles", role)
	}
	if isMarket && whole {
		r.Header.Set("Authorization", "Bearer "+s.reader.Secret)
	}
	return r
}

// wants draws what a git client asks of the repository whose address it posts to: its refs, or all
// that they lead to.
func (s *search) wants(t *rapid.T, path string) string {
	line := func(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
	refs := line("command=ls-refs\n") + "0001" + line("peel\n") + line("symrefs\n") + "0000"
	if rapid.Bool().Draw(t, "refs alone") {
		return refs
	}
	unescaped, err := url.PathUnescape(path)
	if err != nil || !utf8.ValidString(unescaped) || strings.ContainsAny(unescaped, "?# ") {
		return refs
	}
	answer := serve(s.t, s.doors,
		call{
			method: http.MethodPost, path: path, user: ann, body: refs,
			header: http.Header{"Content-Type": {git.RequestType}},
		}).Body.String()
	asked := line("command=fetch\n") + "0001"
	for _, found := range regexp.MustCompile(`(?m)^[0-9a-f]{4}([0-9a-f]{40}) `).FindAllStringSubmatch(answer, -1) {
		asked += line("want " + found[1] + "\n")
	}
	if rapid.Bool().Draw(t, "shallow") {
		asked += line("deepen 1\n")
	}
	return asked + line("done\n") + "0000"
}

// aPackage draws the address of a package that a shelf lists below a path, for ann, for whom there
// is an access token that reads.
func (s *search) aPackage(t *rapid.T, shelf, below string) string {
	var list struct {
		Plugins []struct{ Source struct{ URL string } }
	}
	read := func() *httptest.ResponseRecorder {
		return serve(s.t, s.doors, call{
			method: http.MethodGet, path: marketplace.Prefix + shelf + "/marketplace.json",
			header: http.Header{"Authorization": {"Bearer " + s.reader.Secret}},
		})
	}
	answer := read()
	if answer.Code != http.StatusOK { // it was revoked, or ann's account was erased
		s.ask(call{
			method: http.MethodPost, path: "/me/tokens", user: ann,
			body: `{"name":"Installer","scopes":["read"]}`,
		}, &s.reader)
		answer = read()
	}
	require.NoError(s.t, json.Unmarshal(answer.Body.Bytes(), &list))
	var all []string
	for _, p := range list.Plugins {
		if _, path, ok := strings.Cut(p.Source.URL, below); ok {
			path, _, _ = strings.Cut(path, "?")
			all = append(all, path)
		}
	}
	return rapid.SampledFrom(all).Draw(t, "package")
}

// known is what a request of a prompt has to know to mean something.
type known struct {
	AuthorName        string
	Version, Revision int64
	Origin            struct{ ID string }
	Proposal          int64 // of the workspace, the one that is open
}

// proposed has the shared prompt have a proposal that is open, or none for a route that opens one,
// and returns what is known of it.
func (s *search) proposed(open bool) known {
	path := "/prompts/" + string(s.shared)
	do := func(c call) {
		c.user = ann
		require.Less(s.t, serve(s.t, s.doors, c).Code, http.StatusInternalServerError, c.path)
	}
	do(call{method: http.MethodPost, path: "/workspaces/shelf/restore"})
	do(put("/workspaces/shelf/members/person/me", ann, `{"role":"administrator"}`))
	s.rule()
	do(call{method: http.MethodPost, path: path + "/restore"})
	do(edit(path, ann, "*", fmt.Sprintf(`{"text":%q,"visibility":"private"}`, rand.Text())))
	k := known{AuthorName: ann}
	s.ask(call{method: http.MethodGet, path: path, user: ann}, &k)
	k.AuthorName = ann
	do(call{
		method: http.MethodPost, path: path + "/proposals",
		body: fmt.Sprintf(`{"label":"production","version":%d}`, k.Version),
	})
	var list struct{ Items []struct{ Number int64 } }
	s.ask(call{method: http.MethodGet, path: path + "/proposals", user: ann}, &list)
	k.Proposal = list.Items[0].Number
	if !open {
		do(call{method: http.MethodDelete, path: fmt.Sprintf("%s/proposals/%d", path, k.Proposal)})
	}
	return k
}

// rule has production of the shelf ask for approvals.
func (s *search) rule() {
	c := put("/workspaces/shelf/rules", ann,
		`{"rules":[{"label":"production","names":"*","approvals":3,"authors":true}]}`)
	c.header = http.Header{"If-Match": {"*"}}
	s.ask(c, nil)
}

// ready has the library hold all that the next request of a route needs, or that the one before
// used up, and returns what the requests must know of a prompt.
func (s *search) ready(route, id string) known {
	do := func(c call) {
		if c.user == "" {
			c.user = ann
		}
		require.Less(s.t, serve(s.t, s.doors, c).Code, http.StatusInternalServerError, c.path)
	}
	read := func() (k known) {
		k = known{AuthorName: ann, Version: 1, Revision: 1}
		for _, user := range []string{ann, "Vera"} {
			if w := serve(s.t, s.doors, get("/prompts/"+id, user)); w.Code == http.StatusOK {
				require.NoError(s.t, json.Unmarshal(w.Body.Bytes(), &k))
				break
			}
		}
		return k
	}
	change := func(id, author string) {
		do(edit("/prompts/"+id, author, "*", fmt.Sprintf(`{"text":%q}`, "Changed.\n"+rand.Text())))
	}
	now := read()
	switch {
	case strings.Contains(route, "/prompts/{id}/proposals"):
		return s.proposed(!strings.HasPrefix(route, "POST") || !strings.HasSuffix(route, "/proposals"))
	case route == "DELETE /me", route == "POST /app/me/erase":
		do(call{method: http.MethodPost, path: "/me/restore"})
	case route == "POST /me/restore", route == "POST /app/me/keep":
		do(call{method: http.MethodDelete, path: "/me"})
	case route == "POST /session":
		time.Sleep(16 * time.Minute) // wrong passwords count no more
		s.makeAccount()
	case route == "PUT /me/password":
		time.Sleep(16 * time.Minute)
		s.makeAccount()
		id, err := s.db.UserID(s.t.Context(), "chief")
		require.NoError(s.t, err)
		now.AuthorName = string(id) // a whole request is of this person
		return now
	case route == "POST /resets/accept":
		s.makeReset()
	case route == "POST /logins":
		s.allowLogin()
	case route == "POST /invites/accept":
		do(call{method: http.MethodDelete, path: "/workspaces/shelf/members/person/vera"})
		s.again()
	case strings.Contains(route, "/invites"), strings.HasSuffix(route, "/join"):
		s.again()
		if strings.HasSuffix(route, "withdraw") {
			s.secret = s.invite
		}
	case strings.Contains(route, "collection"), strings.Contains(route, " /app/c/"):
		listed := s.listed
		if strings.HasPrefix(route, "POST /app/c/") { // there is room for one more
			listed = "[" + listed[strings.IndexByte(listed, ',')+1:]
		}
		for i := range 9 {
			do(call{method: http.MethodDelete, path: fmt.Sprint("/collections/me/tag", i)})
		}
		do(call{method: http.MethodDelete, path: "/collections/me/support"})
		do(call{
			method: http.MethodPost, path: "/collections",
			body: `{"slug":"support","visibility":"public","items":` + listed + `}`,
		})
	case strings.Contains(route, "{workspace}/tokens/{token}"):
		s.ask(call{
			method: http.MethodPost, path: "/workspaces/shelf/tokens", user: ann,
			body: `{"name":"CI","scopes":["read"]}`,
		}, &s.token)
	case strings.Contains(route, "tokens/{token}"):
		do(call{method: http.MethodDelete, path: s.path("/me/tokens/{token}")})
		s.makeToken()
	case strings.Contains(route, "/labels") && !strings.HasPrefix(route, "GET"):
		for _, n := range []int64{max(now.Version-1, 1), now.Version} { // so that there is a move to undo
			do(put("/prompts/"+id+"/labels/production", now.AuthorName, fmt.Sprintf(`{"version":%d}`, n)))
		}
	case strings.Contains(route, " /lf/"), strings.HasPrefix(route, "DELETE /ls/"), isOfSkills(route):
		do(call{
			method: http.MethodPost, path: langfuse.Prefix + "/api/public/v2/prompts",
			body: `{"name":"private","prompt":"text","labels":["production"]}`,
		})
		if isOfSkills(route) {
			const skills = langfuse.Prefix + "/api/public/unstable/skills"
			do(call{
				method: http.MethodPost, path: skills,
				body: `{"files":[` + skillFile + `,{"path":"a.txt","content":"a"}]}`,
			})
			for _, n := range []string{"1", "2"} {
				do(call{
					method: http.MethodPatch, path: skills + "/a-skill/versions/" + n,
					body: `{"labels":["production"]}`,
				})
			}
		}
	case strings.Contains(route, "/versions/{version}") && !strings.HasPrefix(route, "GET"),
		strings.HasSuffix(route, "/compare"):
		change(id, now.AuthorName)
	case strings.Contains(route, "/upstream"):
		change(now.Origin.ID, ann)
	}
	return read()
}

// asked are parameters that mean something, by route.
var asked = map[string]map[string][]string{
	"GET /prompts": {
		"sort": {"newest", "most-liked", "hot", "best", "trending"},
		"tag":  {"text"}, "q": {"common", "text 1", "common -absent", "author:ann", "author:nobody"},
		"scope": {"public", "all"}, "limit": {"20"}, "fields": {"text"},
	},
	"GET /me/prompts": {
		"sort": {"newest", "updated", "title"},
		"q":    {"common", "absent"}, "limit": {"100"},
	},
	"GET /app": {
		"sort": {"newest", "most-liked", "hot", "best", "trending"},
		"tag":  {"text", "data"}, "q": {"", "common"},
	},
	"GET /app/login": {
		"port": {"2000"}, "state": {"ABCDEFGHIJKLMNOPQR"},
		"challenge": {strings.Repeat("a", 64)},
	},
	"GET /app/prompts/{id}/files":         {"path": {"SKILL.md"}},
	"GET /app/prompts/{id}/files/content": {"path": {"SKILL.md"}},
	"GET /prompts/{id}/files/content":     {"path": {"SKILL.md"}},
	"GET /app/prompts/{id}/compare":       {"from": {"1"}, "to": {"1", "2"}, "view": {"", "split"}},
	"GET /app/prompts/{id}/export":        {"format": formats()}, // and none, for the page to choose
	"GET /prompts/{id}/export":            {"format": formats()},
	"POST /prompts/{id}/upstream/merge":   {"take": {"theirs"}},
	"POST /import":                        {"dryRun": {"true", "false"}, "update": {"true", "false"}},
	"GET " + langfuse.Prefix + "/api/public/unstable/skills/files/content": {
		"sha256Hashes": {"ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs="},
	},
	"GET /lf/api/public/prompts": {"name": {"private"}},
}

// slugsOf returns what a route finds by its slug.
func slugsOf(route string) []string {
	if strings.Contains(route, " /collections") || strings.Contains(route, " /app/c/") {
		return []string{"support"}
	}
	return []string{"text-1", "private"}
}

func formats() []string {
	var all []string
	for _, f := range format.Formats() {
		all = append(all, string(f))
	}
	return all
}

// nameOf draws what programs may call a prompt.
// isOfSkills reports whether a route for clients of others is one of skills.
func isOfSkills(route string) bool {
	return strings.Contains(route, "/unstable/skills") || strings.Contains(route, "/directories")
}

func nameOf(t *rapid.T, known bool) string {
	if known {
		return rapid.SampledFrom([]string{"private", "text-1"}).Draw(t, "known name")
	}
	if rapid.IntRange(0, 3).Draw(t, "any name") == 0 {
		return some(t, "name")
	}
	return rapid.SampledFrom([]string{"private", "text-1", "made/here", "made there"}).Draw(t, "name")
}

// Placeholders for a text that is drawn, for the revision that a prompt has, and for a tag that may
// be new.
const (
	drawn   = "\x00"
	current = "\x01"
	newTag  = "\x02"
)

// fitting are the bodies of routes that take no prompt: what they mean something with.
var fitting = map[string]map[string]string{
	"PUT /me/profile":  {"handle": "anna", "name": drawn, "about": drawn},
	"POST /app/me":     {"handle": "anna", "name": drawn},
	"POST /workspaces": {"handle": newTag}, "PATCH /workspaces/{workspace}": {"about": drawn},
	"POST /workspaces/{workspace}/tokens":                    {"name": drawn, "scopes": `["read"]`},
	"PUT /workspaces/{workspace}/members/{kind}/{principal}": {"role": "reader"},
	"POST /invites/accept":                                   {"secret": "{secret}"},
	"POST /app/join":                                         {"secret": "{secret}"},
	"POST /session":                                          {"name": "chief", "password": aPassword},
	"POST /resets":                                           {"name": "chief"},
	"PUT /me/password":                                       {"current": aPassword, "password": aPassword},
	"POST /resets/accept":                                    {"secret": "{secret}", "password": drawn},
	"POST /logins":                                           {"code": "{secret}", "secret": "x"},
	"POST /app/login": {
		"port": "2000", "state": "ABCDEFGHIJKLMNOPQR",
		"challenge": strings.Repeat("a", 64),
	},
	"POST /app/admin/invites":                  {"uses": "1", "days": "1"},
	"POST /app/admin/invites/withdraw":         {"id": "{secret}"},
	"POST /app/w/{workspace}/invites/withdraw": {"id": "{secret}"},
	"POST /invites":                            {"workspaces": `[{"handle":"shelf","role":"reader"}]`},
	"POST /app/w/{workspace}/invites":          {"role": "reader", "uses": "1", "days": "7"},
	"POST /app/w":                              {"handle": newTag},
	"POST /app/w/{workspace}/settings":         {"name": drawn, "about": drawn},
	"POST /app/w/{workspace}/tokens":           {"name": drawn, "scope": "read", "days": "7"},
	"POST /collections":                        {"slug": newTag, "items": "{public}"},
	"PATCH /collections/{handle}/{slug}":       {"name": drawn, "items": "{public}"},
	"POST /app/c/{handle}":                     {"name": drawn, "slug": newTag},
	"POST /app/c/{handle}/{slug}":              {"do": "add", "prompt": "private"},
	"POST /workspaces/{workspace}/copies":      {"prompt": "{shared}"},
	"POST /app/w/{workspace}/copies":           {"prompt": "{shared}"},
	"POST /app/w/{workspace}/rules": {
		"revision": "1", "label1": "production",
		"names1": drawn, "approvals1": "1",
	},
	"POST /app/prompts/{id}/proposals":                  {"label": "production", "version": "1", "message": drawn},
	"POST /app/prompts/{id}/proposals/{number}/reviews": {"verdict": "comment", "text": drawn},
	"POST /app/prompts/{id}/proposals/{number}/version": {"version": "1"},
	"POST /prompts/{id}/proposals":                      {"label": "production", "version": "1"},
	"PUT /prompts/{id}/proposals/{number}":              {"version": "1"},
	"POST /prompts/{id}/proposals/{number}/reviews":     {"verdict": "comment", "text": drawn},
	"PUT /workspaces/{workspace}/rules":                 {"rules": "[]"},
	"POST /app/w/{workspace}/members":                   {"principal": "vera", "role": "reader"},
	"POST /app/w/{workspace}/members/remove":            {"principal": "vera"},
	"POST /me/tokens":                                   {"name": drawn, "scopes": `["read"]`},
	"POST /app/me/tokens":                               {"name": drawn, "scope": "read", "days": "7"},
	"PUT /prompts/{id}/files": {
		"files": `[{"path":"a.txt","content":"one"},{"path":"b/c.txt","content":"two"}]`,
	},
	"POST /app/prompts/{id}/files": {
		"name": "a.txt", "text": drawn,
		"do": "add", "revision": current,
	},
	"PUT /prompts/{id}/hidden":                          {"reason": drawn},
	"POST /app/prompts/{id}/hide":                       {"reason": drawn},
	"PUT /prompts/{id}/labels/{label}":                  {"version": "1"},
	"POST /app/prompts/{id}/labels":                     {"label": "production", "version": "1"},
	"POST /app/prompts/{id}/labels/remove":              {"label": "production"},
	"POST /app/prompts/{id}/labels/undo":                {"label": "production"},
	"POST /app/import/undo":                             {"made": "{imported}"},
	"POST /prompts/{id}/versions/{version}/recall":      {"reason": drawn},
	"POST /app/prompts/{id}/versions/{version}/recall":  {"reason": drawn},
	"POST /suggestions":                                 {"title": drawn, "text": drawn},
	"POST /prompts/{id}/render":                         {"values": "{}"},
	"POST /app/prompts/{id}/fill":                       {"v0": drawn},
	"PUT /prompts/{id}/vote":                            {"value": "like"},
	"POST /app/prompts/{id}/vote":                       {"value": "like"},
	"PUT /tags/{tag}":                                   {"displayName": drawn, "active": "true"},
	"POST /app/prompts/{id}/visibility":                 {"to": "public", "revision": current},
	"POST /app/admin/tags":                              {"tag": newTag, "name": drawn, "order": "1"},
	"POST /app/signin":                                  {"name": "Ann"},
	"POST /app/prompts/{id}/versions/{version}/restore": {"revision": current},
	"POST /app/prompts/{id}/edit": {
		"title": drawn, "text": drawn,
		"visibility": "public", "revision": current,
	},
	"POST /app/prompts/{id}/upstream":                           {"take": "theirs"},
	"PATCH /lf/api/public/v2/prompts/{name}/versions/{version}": {"newLabels": `["production","b"]`},
	"POST /ls/likes/{owner}/{repo}":                             {"like": "true"},
	"POST /ls/repos":                                            {"repo_handle": drawn},
	"POST /lf/api/public/unstable/skills": {
		"files": `[` + skillFile + `,{"path":"a.txt","content":"a"}]`,
	},
	"PATCH /lf/api/public/unstable/skills/{name}":                    {"tags": `["text","b"]`},
	"PATCH /lf/api/public/unstable/skills/{name}/versions/{version}": {"labels": `["production","b"]`},
	"POST /ls/v1/platform/hub/repos/{owner}/{repo}/directories/commits": {
		"files": `{"a.txt":{"type":"file","content":"b"}}`,
	},
}

// skillFile is the SKILL.md of a skill of ann's, as Langfuse takes it.
const skillFile = `{"path":"SKILL.md","content":"---\nname: a-skill\ndescription: About.\n---\nText.\n"}`

// fits returns such a body, as a form or as JSON.
func fits(t *rapid.T, values map[string]string, now known, form bool) io.Reader {
	fields, members := url.Values{}, map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		v := values[name]
		if v == drawn {
			v = rapid.SampledFrom([]string{"Some words", some(t, name)}).Draw(t, name+" fits")
		}
		if v == current {
			v = fmt.Sprint(now.Revision)
		}
		if v == newTag {
			v = fmt.Sprint("tag", rapid.IntRange(0, 9).Draw(t, name+" is new"))
		}
		fields.Set(name, v)
		members[name] = v
		if v != "" && strings.Contains("[{t1", v[:1]) && json.Valid([]byte(v)) {
			members[name] = json.RawMessage(v)
		}
	}
	if form {
		return strings.NewReader(fields.Encode())
	}
	b, err := json.Marshal(members)
	require.NoError(t, err)
	return strings.NewReader(string(b))
}

// version draws what makes a version of a prompt of a name, or labels it.
func version(t *rapid.T) string {
	labels := rapid.SliceOfN(rapid.SampledFrom([]string{"production", "a", "b"}), 0, 60).Draw(t, "labels")
	if rapid.IntRange(0, 3).Draw(t, "the latest") == 0 {
		labels = append(labels, prompt.Latest)
	}
	b, err := json.Marshal(map[string]any{
		"name": nameOf(t, false), "prompt": rapid.SampledFrom(hostileTexts()).Draw(t, "prompt"),
		"labels": labels, "newLabels": labels,
		"config": some(t, "config"), "like": true, "tag_name": "production", "commit_id": "latest",
		"repo_handle": nameOf(t, false), "is_public": true,
		"manifest": map[string]any{
			"lc": 1, "type": "constructor",
			"id": []string{"langchain_core", "prompts", "prompt", "PromptTemplate"}, "kwargs": map[string]any{
				"template_format": rapid.SampledFrom([]string{"f-string", "mustache"}).Draw(t, "syntax"),
				"template":        rapid.SampledFrom(hostileTexts()).Draw(t, "template"),
			},
		},
		"tags": []string{"text", some(t, "tag")},
	})
	require.NoError(t, err)
	return string(b)
}

// body draws a body: fields that mean something with values of all sizes, or a body that is no form
// and no JSON, cut or too long.
func (s *search) body(t *rapid.T, method string, form, whole bool) (io.Reader, string) {
	if method == http.MethodGet || method == http.MethodDelete {
		return nil, ""
	}
	if !whole && rapid.IntRange(0, 9).Draw(t, "no body") == 0 {
		return strings.NewReader(strings.Repeat(some(t, "raw"), 20)), "application/json"
	}
	values := map[string]any{}
	fields := url.Values{}
	for _, name := range []string{
		"title", "text", "value", "reason", "visibility", "displayName", "v0", "v1", "name", "back", "to", "revision",
		"key", "tag", "order", "label", "version",
		"kind", "role", "content", "handle", "about", "scope", "days", "vname", "vtype", "vchoices",
		"description", "message", "do",
	} {
		if rapid.Bool().Draw(t, name+" sent") {
			v := some(t, name)
			if name == "v0" || name == "v1" { // of variables
				v = strings.Repeat("入", rapid.SampledFrom([]int{0, 1, 1999, 2000, 2001}).Draw(t, "characters"))
			}
			values[name] = v
			fields.Set(name, v)
		}
	}
	if whole || rapid.Bool().Draw(t, "valid") {
		values = map[string]any{
			"title":      rapid.SampledFrom(hostileTitles).Draw(t, "good title"),
			"text":       rapid.SampledFrom(hostileTexts()).Draw(t, "good text"),
			"visibility": "public", "tags": []string{"text", "data"},
		}
		fields = url.Values{
			"title": {values["title"].(string)}, "text": {values["text"].(string)},
			"visibility": {"public"}, "to": {"public"}, "value": {"like"}, "revision": {"1"}, "reason": {"r"},
		}
	}
	if form {
		return strings.NewReader(fields.Encode()), "application/x-www-form-urlencoded"
	}
	b, err := json.Marshal(values)
	require.NoError(t, err)
	return strings.NewReader(string(b)), "application/json"
}

// message draws a message of the Model Context Protocol: one that means something with values of
// all sizes, or one that means nothing.
func (s *search) message(t *rapid.T) string {
	name := rapid.SampledFrom([]string{string(s.ids[0]), "@" + some(t, "owner") + "/x", some(t, "a name")}).Draw(t,
		"named")
	params := map[string]any{
		"name": name, "cursor": some(t, "cursor"), "uri": some(t, "uri"),
		"arguments": map[string]any{some(t, "argument"): some(t, "argument value")},
	}
	switch rapid.IntRange(0, 7).Draw(t, "params are") {
	case 4, 5:
		params["name"] = rapid.SampledFrom(
			[]string{
				"search_prompts", "get_prompt", "render_prompt", "list_tags", "save_prompt", "suggest",
				"update_prompt", "vote_prompt", "read_file",
			}).Draw(t, "tool")
		params["arguments"] = map[string]any{
			"id": name, "title": some(t, "title"), "content": some(t, "content"), "query": some(t, "query"),
			"values": map[string]any{"a": some(t, "value")}, "path": some(t, "file"),
			"files": map[string]any{"set": []any{
				map[string]any{"path": some(t, "set file"), "content": some(t, "set content")},
			}, "remove": []string{}},
		}
		// a tool takes no others than its own
		for _, other := range []string{"title", "content", "query", "values", "path", "files"} {
			if rapid.Bool().Draw(t, other+" left out") {
				delete(params["arguments"].(map[string]any), other)
			}
		}
	case 6:
		params["uri"] = "skill://" + strings.ToLower(name) + "/" + some(t, "slug") +
			rapid.SampledFrom([]string{"", "/SKILL.md"}).Draw(t, "below")
	case 0:
		delete(params, "cursor")
		delete(params, "arguments")
	case 1:
		params["arguments"] = some(t, "no arguments")
	case 2:
		params["ref"] = map[string]any{"type": "ref/prompt", "name": name}
		params["argument"] = map[string]any{"name": some(t, "completed"), "value": some(t, "typed")}
	case 3:
		return rapid.SampledFrom([]string{"[", "{\"id\":", "[[", "{}", "\"", "\x00"}).Draw(t, "no JSON") +
			strings.Repeat(some(t, "junk"), 20)
	}
	s.method = rapid.SampledFrom([]string{
		"prompts/list", "prompts/get", "completion/complete", "initialize",
		"resources/read", "subscriptions/listen", "tools/call", "tools/call", "tools/list", "skills/list", "skills/get",
		"resources/list", "resources/directory/read", some(t, "method"),
	}).Draw(t, "method")
	b, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0",
		"id":      rapid.SampledFrom([]any{1, "x", some(t, "id")}).Draw(t, "id is"),
		"method":  s.method, "params": params,
	})
	require.NoError(t, err)
	return string(b)
}

// slowly sends a body that takes its time.
type slowly struct{ io.Reader }

func (s slowly) Read(p []byte) (int, error) {
	time.Sleep(time.Second)
	return s.Reader.Read(p[:min(len(p), 256)])
}

// try makes a request, and reports what it cost beyond its bound.
func (s *search) try(route string, r *http.Request) error {
	b, ok := s.bounds[route]
	if !ok {
		return fmt.Errorf("%s has no bound: give it a line in bounds", route)
	}
	if of, ok := messages[s.method]; ok {
		b, route = of, route+", "+s.method
		if strings.Contains(route, "{workspace}") { // which is read, with its members
			b.operations, b.rows = b.operations+2, b.rows+600
		}
	}
	// What a user takes is counted once a minute, by the request that comes then: see aCount.
	if _, err := s.db.Usage(s.t.Context(), ann); err != nil {
		return err
	}
	before, scanned := s.meter.count(), s.meter.scanned.Load()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	allocated := m.TotalAlloc
	if allocated-s.collected > garbage {
		runtime.GC()
		s.collected = allocated
	}
	began, at := cpu(s.t), time.Now()
	w := httptest.NewRecorder()
	s.doors.ServeHTTP(w, r)
	synctest.Wait() // work after the answer is counted too
	took := cpu(s.t) - began
	runtime.ReadMemStats(&m)
	spent := s.meter.count().minus(before)
	if time.Since(at) > 0 { // a slow body: the minute of that count may end before it does
		b.operations, b.rows = b.operations+aCount.operations, b.rows+aCount.rows
	}
	const kib = 1 << 10
	cost := bound{
		spent.tables + spent.queues, s.meter.scanned.Load() - scanned,
		int64(w.Body.Len()+kib-1) / kib, int64(m.TotalAlloc-allocated) / kib,
	}
	s.tried[route]++
	s.found[route] = s.found[route].most(cost)
	work := float64(took) / float64(s.job)
	if work > b.work() {
		work = float64(took) / float64(max(s.job, measureJob(s.t))) // it may be slower just now
	}
	s.work[route] = max(s.work[route], work)
	if w.Code >= http.StatusInternalServerError {
		return fmt.Errorf("%s: status %d, and nothing is wrong here: %.300s: %s", route, w.Code, r.RequestURI, w.Body)
	}
	if w.Code < http.StatusBadRequest {
		s.ok[route]++
		if r.URL.Query().Has("cursor") {
			s.positions[route]++
		}
	}
	// once a minute, and for a user whom it meets, an instance reads whether sign-in ids were moved
	b.operations, b.rows = b.operations+1, b.rows+1
	if err := b.within(cost, work); err != nil {
		// a shrunk request finds another state of the library
		s.t.Logf("%s: status %d: %v", route, w.Code, err)
		return fmt.Errorf("%s: status %d: %w: %.300s", route, w.Code, err, r.RequestURI)
	}
	return nil
}

// garbage is how many bytes are allocated before garbage is collected: between requests, as it
// would be counted for one of them.
const garbage = 256 << 20

// measureJob returns what processor time a job takes that is the same everywhere: to write and read
// JSON of some 40 KB.
func measureJob(t testing.TB) time.Duration {
	v := map[string]any{}
	for i := range 1000 {
		v[fmt.Sprint("name ", i)] = []any{"value", i, nil, map[string]any{"a": "b"}}
	}
	all := make([]time.Duration, rounds)
	for i := range all {
		began := cpu(t)
		b, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, new(any)))
		all[i] = cpu(t) - began
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// run tries a request of a route.
func (s *search) run(t *rapid.T, route string) error {
	r := s.request(t, route)
	time.Sleep(2 * time.Second) // nothing is remembered of lists
	return s.try(route, r)
}

// asMade reads every prompt as it was made, by a route that needs nothing but its id: the worst
// case of a text is not left to chance.
func (s *search) asMade(route string) error {
	path, reads := strings.CutPrefix(route, http.MethodGet+" ")
	if !reads || !strings.Contains(path, "/prompts/{id}") || strings.Count(path, "{") != 1 {
		return nil
	}
	if !strings.HasPrefix(path, web.Prefix) {
		path = api.Prefix + path
	}
	for _, id := range s.ids {
		time.Sleep(2 * time.Second)
		r := httptest.NewRequest(http.MethodGet, "http://localhost"+strings.ReplaceAll(path, "{id}", string(id)), nil)
		r.Header.Set("X-Dev-User", ann)
		if err := s.try(route, r); err != nil {
			return err
		}
	}
	return nil
}

// served reports whether a request of a route, or one of its messages, was answered with success.
func (s *search) served(route string) bool {
	for r, n := range s.ok {
		if n > 0 && (r == route || strings.HasPrefix(r, route+", ")) {
			return true
		}
	}
	return false
}

// paged are routes whose positions are forged.
var paged = []string{
	"GET /prompts", "GET /app", "GET /me/prompts", "GET /app/mine", "GET /me/votes",
	"GET /app/votes", "GET /moderation/hidden",
}

// revealing reports whether what was tried of a route says what it may cost.
func (s *search) revealing(route string) bool {
	return s.served(route) && (s.positions[route] > 0 || !slices.Contains(paged, route))
}

// bringBack undoes deletions, hiding and the retirement of tags, and gives prompts versions and
// labels, so that later requests find them.
func (s *search) bringBack() {
	calls := []call{
		by("admin", put("/tags/text", ann, `{"displayName":"Text","active":true}`)),
		by("admin", put("/tags/data", ann, `{"displayName":"Data","active":true}`)),
		{
			method: http.MethodPost, path: langfuse.Prefix + "/api/public/v2/prompts", user: ann,
			body: `{"name":"made/here","prompt":"text"}`,
		},
		{method: http.MethodDelete, path: s.path("/me/tokens/{token}"), user: ann},
		{method: http.MethodDelete, path: s.path("/workspaces/shelf/tokens/{token}"), user: ann},
		{method: http.MethodPost, path: "/workspaces/shelf/restore", user: ann},
	}
	for i, id := range s.ids {
		path := "/prompts/" + string(id)
		calls = append(calls, call{method: http.MethodPost, path: path + "/restore", user: ann},
			by("admin", call{method: http.MethodDelete, path: path + "/hidden", user: ann}))
		if i%2 == 0 { // the others stay as they were made
			calls = append(calls, edit(path, ann, "*", fmt.Sprintf(`{"description":%q}`, rand.Text())),
				put(path+"/labels/production", ann, `{"version":1}`))
		}
	}
	for _, c := range calls {
		require.Less(s.t, serve(s.t, s.doors, c).Code, http.StatusInternalServerError, c.path)
	}
	s.makeToken()
}

// A noDeadline is a test without a deadline, for which there is no clock in a bubble.
type noDeadline struct{ testing.TB }

// TestBounds searches for requests that cost more than their route may: twenty of each, and a
// hundred of those of which none was served. -rapid.checks=1000, as make deep has it, tries that
// many of each, in five minutes. Where time is short it only reads every prompt by every route that
// has a bound, which every route has.
func TestBounds(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	synctest.Test(t, func(t *testing.T) {
		s := newSearch(t)
		for _, route := range s.routes {
			require.Contains(t, s.bounds, route, "a route without a bound")
		}
		for route := range s.bounds {
			require.Contains(t, s.routes, route, "a bound of no route")
		}
		for _, route := range s.routes {
			require.NoError(t, s.asMade(route))
		}
		for _, route := range []string{"GET /app/prompts/{id}", "GET /prompts/{id}/text"} {
			require.True(t, s.served(route), "%s: no prompt was served as it was made", route)
		}
		if testing.Short() {
			return
		}
		checks := flag.Lookup("rapid.checks")
		usual := checks.Value.String() == checks.DefValue
		if usual {
			require.NoError(t, checks.Value.Set("20"))
			defer checks.Value.Set(checks.DefValue)
		}
		for routes := s.routes; len(routes) > 0; {
			for _, route := range routes {
				s.bringBack()
				rapid.Check(noDeadline{t}, func(rt *rapid.T) { require.NoError(rt, s.run(rt, route)) })
			}
			// where chance had nothing served that means something, once more
			blind := slices.DeleteFunc(slices.Clone(routes), s.revealing)
			require.Less(t, len(blind), len(routes), "%q: nothing that was tried of these was served, or no forged cursor was read, so nothing was found out", blind)
			routes = blind
			if usual {
				require.NoError(t, checks.Value.Set(checks.DefValue))
			}
		}
		if testing.Verbose() {
			s.print()
		}
	})
}

func (s *search) print() {
	fmt.Println("| route | inputs | served | operations | of | rows | of | answer, KiB | of | allocated, KiB | of | jobs | of |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
	all, served := 0, 0
	for _, route := range slices.Sorted(maps.Keys(s.tried)) {
		f, b := s.found[route], s.bounds[route]
		if _, method, ok := strings.Cut(route, ", "); ok {
			b = messages[method]
		}
		fmt.Printf("| `%s` | %d | %d | %d | %d | %d | %d | %d | %d | %d | %d | %.1f | %.0f |\n",
			route, s.tried[route], s.ok[route],
			f.operations, b.operations, f.rows, b.rows, f.answer, b.answer, f.allocated,
			b.allocated, s.work[route], b.work())
		all, served = all+s.tried[route], served+s.ok[route]
	}
	fmt.Println(all, "inputs,", served, "served")
}
