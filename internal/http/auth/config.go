package auth

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const platformSetting = "WEBSITE_AUTH_ENABLED"

// Config says how callers are identified. Its fields with a tag are settings.
type Config struct {
	// Mode says how callers are identified: "easyauth" by App Service authentication, "jwt" by tokens,
	// "oidc" by sessions of browsers and by tokens of the same provider, "invited" by passwords of
	// people who were invited, "dev" by a header that anyone can send, which is refused but in "local"
	// and under func start. Not set: dev in "local", refused elsewhere.
	Mode string `envconfig:"AUTH_MODE"`

	// Issuers are, in mode jwt, the signers of the tokens: the https URL that the claim iss holds to
	// the letter and that OIDC discovery starts from. Several are separated by commas, each is
	// believed about every user, and Tenants must be set.
	Issuers []string `envconfig:"JWT_ISSUER"`

	// Audiences are, in mode jwt, the values of the claim aud that mean this service, separated
	// by commas. Tokens for anybody else are refused.
	Audiences []string `envconfig:"JWT_AUDIENCE"`

	// Tenants are the ids of the tenants, the claim tid, whose users are let in, separated by
	// commas. Not set: whoever the issuer, or App Service, lets in. With two or more the
	// tenant is part of the id of a user: going from one to two, users lose what they own.
	Tenants []string `envconfig:"AUTH_TENANTS"`

	// GroupsClaim is the claim that names the groups of a user, by which workspaces have members and
	// OIDC_ALLOW lets people in. Of more than 200 groups the first by name count.
	GroupsClaim string `envconfig:"GROUPS_CLAIM" default:"groups"`

	// OIDC is what mode oidc needs, in which browsers sign in with an OpenID provider.
	OIDC

	// Applications are the ids of the applications, the claim azp or appid, that may call by
	// themselves without a role, separated by commas. Not set: none. A user's token is not meant,
	// whichever application it was given to, nor that of an application to which an administrator gave
	// a role.
	Applications []string `envconfig:"AUTH_ALLOWED_APPLICATIONS"`

	// PlatformAuth is true while App Service authentication is on. The platform sets it; mode
	// easyauth is refused without, as its headers could come from anyone.
	PlatformAuth string `envconfig:"WEBSITE_AUTH_ENABLED"`

	// Environment is Development under func start, which sets it, and allows mode dev.
	Environment string `envconfig:"AZURE_FUNCTIONS_ENVIRONMENT"`

	// Accounts says that the application keeps accounts with passwords, which mode invited needs.
	Accounts bool `ignored:"true"`

	// Local says that this is a developer's own process.
	Local bool `ignored:"true"`
	// Transport sends the requests to issuers. Nil: http.DefaultTransport.
	Transport http.RoundTripper `ignored:"true"`
	// Now is the clock. Nil: time.Now.
	Now func() time.Time `ignored:"true"`
}

// A Refusal is a configuration that is not run with. It never holds a value that could be a secret.
type Refusal struct {
	Setting string // its name
	Reason  string // the mistake, after the name
}

// Error returns the setting and the reason.
func (r *Refusal) Error() string { return fmt.Sprintf("setting %s %s", r.Setting, r.Reason) }

// New returns how callers are identified. It sends no request yet: in mode jwt an issuer is asked
// when its first token comes, unless ctx has ended. The error is a *Refusal.
func New(ctx context.Context, c Config) (Identify, error) {
	tenants, err := c.tenants()
	if err != nil {
		return nil, err
	}
	allow, err := c.allow()
	if err != nil {
		return nil, err
	}
	switch mode := c.mode(); mode {
	case "easyauth":
		return EasyAuth(EasyAuthOptions{
			Enabled: isTrue(c.PlatformAuth), Tenants: tenants,
			Applications: items(c.Applications), Groups: c.groupsClaim(), allow: allow,
		})
	case "jwt":
		return c.jwt(ctx, tenants, allow)
	case "oidc":
		if err := c.check(); err != nil {
			return nil, err
		}
		return JWT(ctx, JWTOptions{
			Issuers: []string{c.Issuer}, Audiences: append(items(c.Audiences), c.ClientID), Tenants: tenants,
			Groups: c.groupsClaim(), allow: allow,
			Subjects: true, Admin: c.Admin, TrustOID: c.TrustOID, Transport: c.Transport, Now: c.Now,
		}), nil
	case "invited":
		if !c.Accounts {
			return nil, &Refusal{"AUTH_MODE", `cannot be "invited": this application keeps no passwords`}
		}
		return func(*http.Request) (User, error) { return User{}, nil }, c.checkPublic()
	case "dev":
		return c.dev()
	case "":
		return nil, &Refusal{"AUTH_MODE", "is not set: it says how callers are identified"}
	default:
		return nil, &Refusal{"AUTH_MODE", fmt.Sprintf("cannot be %q: want easyauth, jwt, oidc, invited or dev", mode)}
	}
}

func (c Config) groupsClaim() string { return cmp.Or(c.GroupsClaim, "groups") }

// Dev reports whether callers say themselves who they are.
func (c Config) Dev() bool { return c.mode() == "dev" }

// Invited reports whether people sign in with passwords, after an invitation.
func (c Config) Invited() bool { return c.mode() == "invited" }

func (c Config) mode() string {
	if c.Mode == "" && c.Local {
		return "dev"
	}
	return c.Mode
}

func (c Config) dev() (Identify, error) {
	if !c.Local && !strings.EqualFold(c.Environment, "Development") {
		return nil, &Refusal{
			"AUTH_MODE",
			`is "dev", which lets callers say who they are: it is for "handler local" and func start only`,
		}
	}
	return Dev(), nil
}

func (c Config) jwt(ctx context.Context, tenants []string, allow *allowed) (Identify, error) {
	issuers, audiences := items(c.Issuers), items(c.Audiences)
	switch {
	case len(issuers) == 0:
		return nil, &Refusal{"JWT_ISSUER", `is not set: AUTH_MODE "jwt" needs the URL of the issuer of tokens`}
	case !all(issuers, issuerURL):
		return nil, &Refusal{"JWT_ISSUER", "must be an https URL without query; http is for a loopback address only"}
	case len(audiences) == 0:
		return nil, &Refusal{
			"JWT_AUDIENCE",
			`is not set: AUTH_MODE "jwt" needs the audience that tokens for this service have`,
		}
	case len(issuers) > 1 && len(tenants) == 0:
		return nil, &Refusal{
			"AUTH_TENANTS",
			"is not set: with several issuers in JWT_ISSUER it must name the tenants, so that users stay apart",
		}
	}
	return JWT(ctx, JWTOptions{
		Issuers: issuers, Audiences: audiences, Tenants: tenants,
		Applications: items(c.Applications), Groups: c.groupsClaim(), allow: allow,
		Transport: c.Transport, Now: c.Now,
	}), nil
}

// tenants returns the tenants that are let in. A setting of nothing but commas must not let in all.
func (c Config) tenants() ([]string, error) {
	tenants := items(strings.Split(strings.ToLower(strings.Join(c.Tenants, ",")), ","))
	if len(c.Tenants) > 0 && len(tenants) == 0 || !all(tenants, identifier.MatchString) {
		return nil, &Refusal{"AUTH_TENANTS", "must be the ids of tenants, separated by commas"}
	}
	return tenants, nil
}

// items returns the items of a list, trimmed and each once.
func items(list []string) []string {
	var kept []string
	for _, s := range list {
		if s = strings.TrimSpace(s); s != "" && !slices.Contains(kept, s) {
			kept = append(kept, s)
		}
	}
	return kept
}

func all(list []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(list, func(s string) bool { return !ok(s) })
}

// issuerURL reports whether keys found by way of a URL can be believed.
func issuerURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Host != "" && u.User == nil && !strings.ContainsAny(s, "?#") && secure(u)
}

// secure reports whether no other host can answer in the place of the host of a URL.
func secure(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && loopback(u.Host)
}

// isTrue reads a setting as the Functions host does.
func isTrue(s string) bool { return strings.EqualFold(strings.TrimSpace(s), "true") }
