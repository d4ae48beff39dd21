package prompt

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"prompthub/internal/fault"
)

const (
	maxUserName = 100  // UTF-16 code units
	maxUserNote = 1000 // UTF-16 code units
)

// noHandles are words that addresses give a meaning to, and names that would pass for those who run
// the service.
var noHandles = []string{
	"about", "account", "admin", "administrator", "anonymous", "api", "app", "auth", "docs", "everyone", "handler",
	"health", "help", "hub", "login", "logout",
	"mail", "me", "member", "metrics", "mod", "moderation", "moderator", "moderators", "new", "nobody", "null",
	"official", "openapi", "owner", "postmaster",
	"prompt", "prompthub", "prompts", "public", "ready", "root", "search", "security", "settings", "signin", "signout",
	"signup", "staff", "static", "status",
	"support", "system", "tags", "team", "token", "tokens", "undefined", "user", "users", "votes", "webmaster", "www",
}

// A Profile is the public part of a user. The zero Profile is that of a user without one.
type Profile struct {
	Handle string // their name in addresses, "" until they have one; it stays theirs for ever
	Name   string
	About  string

	Given  bool   // whether the handle was made of the name: they can choose another, once
	Former string // the handle that was made of the name before they chose another; it leads to them too
}

// maxGivenTries is how many handles are made of one name before the key of the user tells them
// apart.
const maxGivenTries = 9

// GivenHandles returns the handles that a user can be given, the best first: the name as addresses
// have it, the same with a number, and with the end of the key, which is theirs alone.
func GivenHandles(name, key string) []string {
	base := strings.Trim(cutSlug(Slug(name), maxSlug-1-suffixLen), "-")
	if base == "" {
		base = "user"
	}
	var list []string
	reserved := func(part string) bool { return slices.Contains(noHandles, part) }
	if !slices.ContainsFunc(append(strings.Split(base, "-"), strings.TrimSuffix(base, "s")), reserved) {
		list = append(list, base)
		for n := 2; n <= maxGivenTries; n++ {
			list = append(list, fmt.Sprintf("%s-%d", base, n))
		}
	}
	return append(list, base+"-"+key[max(0, len(key)-suffixLen):])
}

// Leads reports whether a handle leads to the user of the profile.
func (p Profile) Leads(handle string) bool {
	return handle != "" && (handle == p.Handle || handle == p.Former)
}

// Check returns p normalised, or an error of the kind Invalid that names every broken rule.
func (p Profile) Check() (Profile, error) {
	var c checker
	p.Handle, p.Name, p.About = strings.TrimSpace(p.Handle), strings.TrimSpace(p.Name), strings.TrimSpace(p.About)
	if p.Handle != "" && !ValidSlug(p.Handle) {
		c.broken("handle", p.Handle,
			"choose a handle of at most %d of a-z, 0-9 and -, with no hyphen at an end or twice", maxSlug)
	}
	if slices.Contains(noHandles, p.Handle) {
		c.broken("handle", p.Handle, "choose another handle: this one is reserved")
	}
	c.line("name", p.Name, maxUserName)
	c.readable("name", p.Name)
	if strings.ContainsAny(p.Name, "@＠﹫") {
		c.broken("name", p.Name, "leave out the at sign: a name is no address")
	}
	control := func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }
	switch n := units(p.About); {
	case !utf8.ValidString(p.About) || strings.ContainsFunc(p.About, control):
		c.broken("about", p.About, "send valid UTF-8 without control characters")
	case n > maxUserNote:
		c.broken("about", p.About, "shorten this to at most %d characters, it has %d", maxUserNote, n)
	}
	if len(c.fields) > 0 {
		return Profile{}, &fault.Error{
			Kind: fault.Invalid, Text: "the profile breaks the rules named here",
			Fields: c.fields,
		}
	}
	return p, nil
}

// HandleTaken reports that somebody has a handle, or had it.
func HandleTaken(handle string) error {
	return &fault.Error{Kind: fault.Invalid, Text: "the profile breaks the rules named here", Fields: []fault.Field{
		{Name: "handle", Message: "choose another handle: somebody has this one", Value: handle},
	}}
}

// HandleChosen reports that a handle cannot be changed.
func HandleChosen(has string) error {
	return &fault.Error{Kind: fault.Invalid, Text: "the profile breaks the rules named here", Fields: []fault.Field{
		{Name: "handle", Message: fmt.Sprintf("keep %q: a handle is chosen once", has)},
	}}
}
