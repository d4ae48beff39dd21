package auth

import (
	"encoding/base64"
	"errors"
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"

	"prompthub/internal/fault"
)

// The headers of App Service authentication.
const (
	principalHeader   = "X-Ms-Client-Principal"
	principalIDHeader = "X-Ms-Client-Principal-Id"
	providerHeader    = "X-Ms-Client-Principal-Idp"
)

const (
	entra        = "aad" // how App Service calls Microsoft Entra
	maxPrincipal = 64 << 10
)

// EasyAuthOptions are what EasyAuth needs.
type EasyAuthOptions struct {
	// Enabled says that App Service authentication is on, and with it that the platform removes its
	// headers from requests of callers. False is a refused configuration.
	Enabled bool
	// Tenants are the ids of the tenants whose users are let in, lower case. None: the platform
	// decides. Two or more: the tenant is part of the id of a user.
	Tenants []string
	// Applications are the ids of the applications that may call by themselves without a role.
	Applications []string
	// Groups is the claim that names the groups of a user.
	Groups string

	allow *allowed
}

// EasyAuth believes the headers in which App Service authentication says who signed in with
// Microsoft Entra. The error is a *Refusal.
func EasyAuth(o EasyAuthOptions) (Identify, error) {
	if !o.Enabled {
		return nil, &Refusal{platformSetting, `is not true: with AUTH_MODE "easyauth" callers could say who they are; turn on App Service authentication`}
	}
	return func(r *http.Request) (User, error) {
		encoded, err := principalOf(r.Header)
		if encoded == "" || err != nil {
			return User{}, err
		}
		p, err := decodePrincipal(encoded)
		if err != nil {
			return User{}, noPrincipal(err)
		}
		c := p.claims()
		u, err := c.user(o.Tenants, o.Applications)
		if err == nil && !u.Application {
			err = o.allow.lets(c, true)
		}
		if err != nil {
			return User{}, err
		}
		u.Groups = GroupsOf(c[o.Groups])
		return u, nil
	}, nil
}

func noPrincipal(cause error) error {
	return fault.Wrap(fault.Unauthenticated, "your sign-in cannot be read: sign out and in again", cause)
}

// principalOf returns the header that describes the user, "" for an anonymous caller. The platform
// sets each of its headers once, so a header that is there twice or without its companion is not
// the platform's.
func principalOf(h http.Header) (string, error) {
	for _, name := range []string{principalHeader, principalIDHeader, providerHeader} {
		if len(h.Values(name)) > 1 {
			return "", noPrincipal(errors.New(name + " was sent more than once"))
		}
	}
	encoded := h.Get(principalHeader)
	if encoded == "" && (len(h.Values(principalHeader)) > 0 || h.Get(principalIDHeader) != "") {
		return "", noPrincipal(errors.New(principalHeader + " is missing or empty"))
	}
	if other := h.Get(providerHeader); encoded != "" && other != "" && !strings.EqualFold(other, entra) {
		return "", noPrincipal(errOtherProvider)
	}
	return encoded, nil
}

// Another provider may give one of its users any oid.
var errOtherProvider = errors.New("the user did not sign in with Microsoft Entra")

// A principal is a user as App Service authentication describes it.
type principal struct {
	Provider string `json:"auth_typ"`
	RoleType string `json:"role_typ"`
	Claims   []struct {
		Type  string `json:"typ"`
		Value string `json:"val"`
	} `json:"claims"`
}

// unpadded spells every alphabet of base64 as the standard one without padding.
var unpadded = strings.NewReplacer("-", "+", "_", "/")

// decodePrincipal reads the base64 of a principal. Errors do not quote it: it holds personal data.
func decodePrincipal(encoded string) (principal, error) {
	var p principal
	if len(encoded) > maxPrincipal {
		return p, errors.New("the principal is too long")
	}
	text, err := base64.RawStdEncoding.DecodeString(unpadded.Replace(strings.TrimRight(encoded, "=")))
	if err != nil {
		return p, errors.New("the principal is not base64")
	}
	if err := json.Unmarshal(text, &p); err != nil {
		return principal{}, errors.New("the principal is not JSON as App Service writes it")
	}
	if p.Provider != "" && !strings.EqualFold(p.Provider, entra) {
		return principal{}, errOtherProvider
	}
	return p, nil
}

// claims returns the claims, and those of the type that the platform names for roles as roles.
func (p principal) claims() claims {
	c := make(claims)
	for _, claim := range p.Claims {
		c[claim.Type] = append(c[claim.Type], claim.Value)
		if claim.Type == p.RoleType && claim.Type != "roles" {
			c["roles"] = append(c["roles"], claim.Value)
		}
	}
	return c
}
