package api

import (
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
	"prompthub/internal/jsonsize"
	"prompthub/internal/legible"
	"prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

// Facts about prompts that huma cannot derive from the Go types: limits that only
// the domain enforces, and the meaning of statuses here.

// describe completes the document.
func (a *api) describe() {
	doc := a.huma.OpenAPI()
	doc.Components.Schemas.Map()["Problem"].Properties["current"] = &huma.Schema{
		Ref: schemas + "Prompt", Description: "With the status 412: the prompt as it is now; not for an access token without the scope read, to which ETag tells the revision",
	}
	for _, name := range []string{"Problem", "Field", "Imported"} {
		codes(doc.Components.Schemas.Map()[name].Properties["code"])
	}
	a.limits()
	a.about.Rendered = a.document.Render()
}

// codes lists the codes that programs can decide by. The list is open: a later version may have
// more, and a client that was generated from this one must not fail at them.
func codes(code *huma.Schema) {
	var known []any
	for _, c := range append(httpjson.Codes(), Codes...) {
		known = append(known, string(c))
	}
	code.Type = ""
	code.AnyOf = []*huma.Schema{{Type: huma.TypeString, Enum: known}, {Type: huma.TypeString}}
}

// Codes are those that answers of the API have besides the codes of a status; docs/errors.md says
// what to do about each.
var Codes = slices.Concat(library.Codes, []fault.Code{
	format.ArchiveBroken, format.ArchiveTooLarge, format.FileTooLarge, format.TooManyEntries,
	format.YAMLTooLarge, format.AliasesTooLarge,
	transfer.EntryRefused, transfer.OtherHistory, transfer.Unreadable, jsonsize.TooManyParts,
	archive.Broken, archive.Link, prompt.BadPath, prompt.BadSkill, prompt.NameDiffers, prompt.UnknownContent,
	prompt.FilesTooLarge, prompt.PathsCollide, prompt.TooManyFiles,
	prompt.IncludeUnresolved, legible.InvisibleCharacters, prompt.LabelIsNumber, prompt.NameTaken,
	legible.NothingVisible, prompt.TextTooLong,
	httpjson.NoSuchRoute, httpjson.RepeatedHeader, httpjson.Busy, httpjson.TooManyAtOnce, httpjson.BodyIncomplete,
	httpjson.Unfinished, httpjson.NotConfigured,
})

// limits documents limits that only the domain enforces: it counts UTF-16 code units, after
// trimming, where huma would count code points before.
func (a *api) limits() {
	all := a.huma.OpenAPI().Components.Schemas.Map()
	a.limitPrompts(all)
	openapi.Limit(all["Unfinished"].Properties["title"], "maxLength", prompt.MaxTitle)
	openapi.Limit(all["Unfinished"].Properties["text"], "maxLength", a.MaxText)
	openapi.Limit(all["Unfinished"].Properties["tags"], "maxItems", prompt.MaxTags)
	openapi.Limit(all["Reason"].Properties["reason"], "maxLength", library.MaxReason)
	openapi.Limit(all["TagEntry"].Properties["displayName"], "maxLength", library.MaxDisplayName)
}

// meanings says what each status that reports an error means here, with an example. Those that mean
// the same everywhere package openapi knows.
var meanings = map[int]openapi.Meaning{
	400: {
		Doc: "The query, the cursor or the body cannot be read", Detail: "the body is not valid JSON",
		Fields: []httpjson.Field{{Location: "body.title", Message: "the JSON ends early"}},
	},
	401: {Doc: "The caller is not signed in, or the proof of identity is not valid", Detail: "sign in to use this"},
	403: {Doc: "The caller may see this and may not do that to it", Detail: "only its author may change a prompt"},
	409: {
		Doc:    "What the request asks for is taken, or cannot be as things are",
		Detail: "another prompt of yours has this name",
		Fields: []httpjson.Field{{
			Location: "body.name",
			Message:  "choose a name that none of your prompts has, nor has as its slug",
		}},
	},
	410: {Doc: "The version was recalled", Detail: "version 3 was recalled: it deletes files outside of the folder"},
	404: {Doc: "There is no such thing, or the caller may not know of it", Detail: "there is no such prompt"},
	412: {Doc: "The prompt was changed since; the answer holds the current one", Detail: "the prompt was changed since you read it; merge your change into the current one and send its ETag in If-Match"},
	413: {Doc: "The body is too large", Detail: "the body is larger than 256 KiB"},
	422: {
		Doc: "The request can be read and breaks rules, which are named: a parameter that the route does not have is one", Detail: "the request breaks the rules named here", Fields: []httpjson.Field{{Location: "body.title", Message: "is required"}},
	},
	428: {Doc: "If-Match is missing", Detail: "send the ETag of the prompt that your change is based on in If-Match"},
}

// rare are members that only few prompts have.
var rare = []string{"formerName", "deletedAt", "purgeAt", "hidden", "messages"}
