package auth

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"prompthub/internal/fault"
)

// NotLetIn is the code of a person whom OIDC_ALLOW does not name.
const NotLetIn fault.Code = "NOT_LET_IN"

// allowed is who is let in, of those whom the provider signs in; nil lets all in. It is lower case
// but for groups.
type allowed struct {
	domains, emails, groups []string
	claim                   string // that names groups
}

var (
	domainName   = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]{2,}$`)
	emailAddress = regexp.MustCompile(`^[^\s@]{1,64}@([^\s@]+)$`)
	groupName    = regexp.MustCompile(`^[ -~]{1,200}$`)
)

// allow reads OIDC_ALLOW. The error is a *Refusal. A setting of nothing but commas must not let all
// in.
func (c Config) allow() (*allowed, error) {
	if len(c.Allow) == 0 {
		return nil, nil //nolint:nilnil // all are let in
	}
	refuse := func(why string) (*allowed, error) { return nil, &Refusal{"OIDC_ALLOW", why} }
	if mode := c.mode(); mode != "oidc" && mode != "jwt" && mode != "easyauth" {
		return refuse(fmt.Sprintf("has no meaning with AUTH_MODE %q, in which no provider says who people are", mode))
	}
	a := &allowed{claim: c.groupsClaim()}
	for _, item := range items(c.Allow) {
		kind, name, _ := strings.Cut(item, ":")
		lower := strings.ToLower(strings.TrimSpace(name))
		parts := emailAddress.FindStringSubmatch(lower)
		switch {
		case kind == "domain" && domainName.MatchString(lower):
			a.domains = append(a.domains, lower)
		case kind == "email" && parts != nil && domainName.MatchString(parts[1]):
			a.emails = append(a.emails, lower)
		case kind == "group" && groupName.MatchString(strings.TrimSpace(name)):
			a.groups = append(a.groups, strings.TrimSpace(name))
		default:
			return refuse(
				fmt.Sprintf("has the item %q: want domain:example.com, email:ann@example.org or group:NAME, separated by commas", item))
		}
	}
	if len(a.domains)+len(a.emails)+len(a.groups) == 0 {
		return refuse("names nobody: want domain:example.com, email:ann@example.org or group:NAME, separated by commas")
	}
	return a, nil
}

// lets returns an error unless the person of some claims is let in. An address counts if the
// provider says that it has verified it; what ofEntra tells is how that is said.
func (a *allowed) lets(c claims, ofEntra bool) error {
	if a == nil {
		return nil
	}
	if slices.ContainsFunc(c[a.claim], func(g string) bool { return slices.Contains(a.groups, g) }) {
		return nil
	}
	if address, ok := c.verifiedEmail(ofEntra); ok {
		_, domain, _ := strings.Cut(address, "@")
		if slices.Contains(a.emails, address) || slices.Contains(a.domains, domain) {
			return nil
		}
	}
	return fault.Coded(fault.Forbidden, NotLetIn, "you are signed in with your provider, but this service does not let you in: ask its operator to name your address, once your provider has verified it, or a group of yours")
}

// verified are the claims by which providers say that they have verified an address: the second is
// that of Microsoft Entra, which gives it where it is asked to.
var verified = []string{"email_verified", "xms_edov"}

// ofAddress are the claims of an address, which count together.
var ofAddress = append([]string{"email"}, verified...)

// verifiedEmail returns the address of a user, lower case, if the provider has verified it. With
// another provider than Entra people may be able to choose the second claim.
func (c claims) verifiedEmail(ofEntra bool) (string, bool) {
	says := c["email_verified"]
	if ofEntra {
		says = c.values(verified...)
	}
	untrue := func(v string) bool { return v != "true" && v != "1" }
	if len(c["email"]) != 1 || len(says) == 0 || slices.ContainsFunc(says, untrue) {
		return "", false
	}
	address := strings.ToLower(c["email"][0])
	return address, emailAddress.MatchString(address)
}
