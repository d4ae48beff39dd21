package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"prompthub/internal/fault"
)

// The claims that are read, as tokens spell them and as App Service authentication does, which
// renames most of them unless that is switched off.
var (
	objectTypes  = []string{"oid", "http://schemas.microsoft.com/identity/claims/objectidentifier"}
	tenantTypes  = []string{"tid", "http://schemas.microsoft.com/identity/claims/tenantid"}
	subjectTypes = []string{"sub", "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/nameidentifier"}
	roleTypes    = []string{"roles", "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"}

	// nameTypes come in the order of preference.
	nameTypes = []string{
		"name", "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name",
		"given_name", "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/givenname",
		"preferred_username",
	}
)

const (
	maxName   = 100      // UTF-16 code units
	anonymous = "Member" // the name of a user whose claims hold none that may be shown
)

// claims are what an identity provider says of a user: the values of each claim.
type claims map[string][]string

// values returns the values of claims, each once.
func (c claims) values(types ...string) []string {
	var all []string
	for _, t := range types {
		for _, v := range c[t] {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// identifier returns the one value of a claim that is part of a user's id. It has no slash, so
// that two of them joined by one stay two.
func (c claims) identifier(types []string) (string, bool) {
	all := c.values(types...)
	if len(all) != 1 || !identifier.MatchString(all[0]) {
		return "", false
	}
	return all[0], true
}

var identifier = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)

var errNoObject = errors.New("no claim oid, or not one that identifies a user")

// identifyBySubject makes the subject what identifies the user, by its hash if it cannot be an id
// of ours, or could be taken for such a hash. Microsoft Entra has oid, which stays; with other
// providers users may be able to choose that claim.
func (c claims) identifyBySubject(trustOID bool) {
	if trustOID && len(c["oid"]) > 0 {
		return
	}
	for _, name := range objectTypes {
		delete(c, name)
	}
	if len(c["sub"]) != 1 || c["sub"][0] == "" {
		return
	}
	id := c["sub"][0]
	if !identifier.MatchString(id) || subjectHash.MatchString(id) {
		sum := sha256.Sum256([]byte(id))
		id = "sub." + base64.RawURLEncoding.EncodeToString(sum[:])
	}
	c["oid"] = []string{id}
}

// subjectHash is what the hash of a subject looks like. A subject that begins with sub. and is not
// of this form cannot be taken for one, and stays the id of a user who has it.
var subjectHash = regexp.MustCompile(`^sub\.[A-Za-z0-9_-]{43}$`)

// user returns the user that the claims speak of. Where tenants are named, lower case, it must be
// of one of them; where they are several, which one is part of the id. Other claims never identify
// a user: names and addresses change hands.
//
// An application that calls by itself is no user, unless somebody gave it a role or it is one of
// those named.
func (c claims) user(tenants, applications []string) (User, error) {
	id, ok := c.identifier(objectTypes)
	if !ok {
		return User{}, fault.Wrap(fault.Unauthenticated, "your sign-in does not say who you are: it needs the claim oid, or in mode oidc sub with a provider other than Microsoft Entra", errNoObject)
	}
	if len(tenants) > 0 {
		tenant, _ := c.identifier(tenantTypes)
		tenant = strings.ToLower(tenant)
		if tenant == "" || !slices.Contains(tenants, tenant) {
			return User{}, fault.New(fault.Unauthenticated,
				"sign in with an account of an organisation that may use this service")
		}
		if len(tenants) > 1 {
			id = tenant + "/" + id
		}
	}
	u := User{ID: id, Name: c.name(), Roles: c.values(roleTypes...)}
	app, alone := c.application()
	u.Application = alone
	if alone && len(u.Roles) == 0 && !slices.Contains(applications, app) {
		return User{}, fault.Wrap(fault.Unauthenticated, "this application may not use this service: an administrator gives it a role, or names it in AUTH_ALLOWED_APPLICATIONS", errApplication)
	}
	return u, nil
}

var errApplication = errors.New("a token of an application without a role")

// application returns which application calls, and whether it does so by itself and not for a user:
// the claim idtyp says app, or where it is missing the token was given to an application that is
// its own subject.
func (c claims) application() (id string, alone bool) {
	if ids := c.values("azp", "appid"); len(ids) > 0 {
		id = ids[0]
	}
	if kind := c.values("idtyp"); len(kind) > 0 {
		return id, kind[0] == "app"
	}
	subject, object := c.values(subjectTypes...), c.values(objectTypes...)
	delegated := len(c.values("scp", "http://schemas.microsoft.com/identity/claims/scope")) > 0
	return id, id != "" && !delegated && slices.Equal(subject, object)
}

// name returns what to call the user.
func (c claims) name() string {
	for _, name := range c.values(nameTypes...) {
		if name = strings.TrimSpace(name); mayShow(name) {
			return shorten(name)
		}
	}
	return anonymous
}

// mayShow reports whether a text can be a name. A text with an at sign could be an e-mail address.
func mayShow(name string) bool {
	return name != "" && utf8.ValidString(name) && !strings.ContainsAny(name, "@＠﹫") &&
		!strings.ContainsFunc(name, unicode.IsControl)
}

// shorten cuts a name at the limit. A user cannot change the name in a directory, so it is not
// refused.
func shorten(name string) string {
	units := 0
	for i, r := range name {
		if units += utf16.RuneLen(r); units > maxName {
			return strings.TrimSpace(name[:i])
		}
	}
	return name
}
