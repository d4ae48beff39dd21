package auth

import (
	"cmp"
	"context"
	"encoding/base64"
	"net/url"
	"slices"
	"strings"
)

// OIDC are the settings of mode oidc.
type OIDC struct {
	// Issuer is the OpenID provider: the https URL that discovery starts from.
	Issuer string `envconfig:"OIDC_ISSUER"`

	// ClientID and ClientSecret are what the provider knows this service by. The secret may be
	// missing, as for a public client: the code is bound to the browser by PKCE.
	ClientID     string `envconfig:"OIDC_CLIENT_ID"`
	ClientSecret string `envconfig:"OIDC_CLIENT_SECRET"`

	// Scopes are what is asked for, separated by commas. Add offline_access where the provider needs
	// it to give a refresh token, without which sessions last 8 hours, and groups where admins are
	// known by one.
	Scopes []string `envconfig:"OIDC_SCOPES" default:"openid,profile"`

	// Admin is the claim and value by which admins are known: "groups=prompt-admins".
	Admin string `envconfig:"OIDC_ADMIN" default:"roles=admin"`

	// Allow says who is let in of those whom the provider signs in, in the modes oidc, jwt and
	// easyauth, separated by commas: domain:example.com and email:ann@example.org by an address that
	// the provider has verified, group:NAME by the claim that GROUPS_CLAIM names. Not set: everybody.
	Allow []string `envconfig:"OIDC_ALLOW"`

	// TrustOID has users known by the claim oid of their ID tokens, as those of Microsoft Entra always
	// are. It is for another provider whose users cannot choose that claim, and where people signed in
	// by it before: with false they are known by sub, as other users.
	TrustOID bool `envconfig:"OIDC_TRUST_OID" default:"false"`

	// Public is the URL of this service as browsers know it, https://prompts.example.org. The provider
	// must allow its /app/signin/callback as a redirect.
	Public string `envconfig:"PUBLIC_URL"`

	// Keys seal the cookies of sessions: 32 random bytes in base64, as openssl rand -base64 32 makes
	// them. Of several, separated by commas, the first seals and all open: put a new one first, and
	// remove the old one a week later, or at once to sign everybody out.
	Keys []string `envconfig:"SESSION_KEYS"`
}

// check returns a *Refusal, or nil.
func (o OIDC) check() error {
	_, err := o.keys()
	claim, value, _ := strings.Cut(o.Admin, "=")
	switch {
	case !issuerURL(o.Issuer):
		return &Refusal{"OIDC_ISSUER", `must be, with AUTH_MODE "oidc", the https URL of the provider without query; http is for a loopback address only`}
	case o.ClientID == "":
		return &Refusal{"OIDC_CLIENT_ID", `is not set: AUTH_MODE "oidc" needs what the provider knows this service by`}
	case !slices.Contains(items(o.Scopes), "openid"):
		return &Refusal{"OIDC_SCOPES", "must hold openid"}
	case claim == "" || value == "":
		return &Refusal{"OIDC_ADMIN", "must be a claim and its value, such as groups=prompt-admins"}
	case o.Public == "":
		return errPublic()
	}
	return cmp.Or(o.checkPublic(), err)
}

// checkPublic returns a *Refusal where the URL of the service is set and cannot be one.
func (o OIDC) checkPublic() error {
	if o.Public == "" {
		return nil
	}
	if u, err := url.Parse(o.Public); err != nil || !secure(u) || u.User != nil || o.Public != u.Scheme+"://"+u.Host {
		return errPublic()
	}
	return nil
}

func errPublic() error {
	return &Refusal{"PUBLIC_URL", "must be the https URL by which browsers find this service, without a path; http is for a loopback address only"}
}

func (o OIDC) keys() ([][]byte, error) {
	var keys [][]byte
	for _, text := range items(o.Keys) {
		key, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(key) != sealKey {
			return nil, &Refusal{
				"SESSION_KEYS",
				"must be 32 random bytes in base64, each: openssl rand -base64 32 makes them",
			}
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, &Refusal{
			"SESSION_KEYS",
			`is not set: AUTH_MODE "oidc" needs a key to seal cookies with, 32 random bytes in base64`,
		}
	}
	return keys, nil
}

// Sessions returns the sessions of browsers in mode oidc, nil in the others. The names of their
// cookies begin with that of the application; home is the path where people arrive, callback the
// one where the provider sends them. The error is a *Refusal.
func (c Config) Sessions(ctx context.Context, application, home, callback string) (*Sessions, error) {
	if c.mode() != "oidc" {
		return nil, nil //nolint:nilnil // there are none
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	keys, err := c.keys()
	if err != nil {
		return nil, err
	}
	tenants, err := c.tenants()
	if err != nil {
		return nil, err
	}
	allow, err := c.allow()
	if err != nil {
		return nil, err
	}
	return NewSessions(ctx, SessionOptions{
		allow: allow, Groups: c.groupsClaim(),
		Application: application,
		Issuer:      c.Issuer, ClientID: c.ClientID, Secret: c.ClientSecret, Scopes: items(c.Scopes), Admin: c.Admin,
		TrustOID: c.TrustOID, Keys: keys,
		Tenants: tenants, Public: c.Public, HomePath: home, CallbackPath: callback, Transport: c.Transport, Now: c.Now,
	})
}
