package auth

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
)

// TestAllow: people are let in by the claims of their provider.
func TestAllow(t *testing.T) {
	t.Parallel()
	a, err := Config{
		Mode: "jwt",
		OIDC: OIDC{Allow: []string{" domain:Example.com", "email:ann@example.org ", "group:Prompt Writers"}},
	}.allow()
	require.NoError(t, err)
	many := make([]any, 5000)
	for i := range many {
		many[i] = strings.Repeat("x", i%50) + "group"
	}
	for _, c := range []struct {
		name string
		says map[string]any
		in   bool
	}{
		{"domain", map[string]any{"email": "Bob@EXAMPLE.com", "email_verified": true}, true},
		{"address", map[string]any{"email": "ann@example.org", "email_verified": "true"}, true},
		{"address, as Entra says", map[string]any{"email": "ann@example.org", "xms_edov": "1"}, true},
		{
			"verified for Entra, and not for the rest",
			map[string]any{"email": "ann@example.org", "email_verified": false, "xms_edov": "1"},
			false,
		},
		{"group", map[string]any{"groups": []any{"a", "Prompt Writers"}}, true},
		{"one group", map[string]any{"groups": "Prompt Writers"}, true},
		{"group among thousands", map[string]any{"groups": append(many[:len(many):len(many)], "Prompt Writers")}, true},
		{"thousands of other groups", map[string]any{"groups": many}, false},
		{"nothing", map[string]any{}, false},
		{"group in other letters", map[string]any{"groups": "prompt writers"}, false},
		{"groups that are none", map[string]any{"groups": map[string]any{"Prompt Writers": true}}, false},
		{"not verified", map[string]any{"email": "ann@example.org", "email_verified": false}, false},
		{"nobody says verified", map[string]any{"email": "ann@example.org"}, false},
		{"verified is a number", map[string]any{"email": "ann@example.org", "email_verified": 1.0}, false},
		{
			"another address of the domain of one",
			map[string]any{"email": "eve@example.org", "email_verified": true},
			false,
		},
		{"a domain below", map[string]any{"email": "eve@sub.example.com", "email_verified": true}, false},
		{"a domain that ends alike", map[string]any{"email": "eve@notexample.com", "email_verified": true}, false},
		{"a domain in the name", map[string]any{"email": "example.com@evil.net", "email_verified": true}, false},
		{"two signs", map[string]any{"email": "eve@example.com@evil.net", "email_verified": true}, false},
		{
			"two signs, the other way",
			map[string]any{"email": "eve@evil.net@example.com", "email_verified": true},
			false,
		},
		{"two addresses", map[string]any{
			"email":          []any{"eve@evil.net", "ann@example.org"},
			"email_verified": true,
		}, false},
		{"a name for an address", map[string]any{
			"preferred_username": "ann@example.org",
			"email_verified":     true,
		}, false},
		{"a line more", map[string]any{"email": "ann@example.org\n", "email_verified": true}, false},
	} {
		err := a.lets(tokenClaims(c.says), true)
		require.Equal(t, c.in, err == nil, c.name)
		if !c.in {
			require.Equal(t, NotLetIn, fault.CodeOf(err), c.name)
			require.Equal(t, fault.Forbidden, fault.Of(err), c.name)
		}
	}
	require.Error(t, a.lets(tokenClaims(map[string]any{"email": "ann@example.org", "xms_edov": "1"}), false),
		"a claim of Entra, of another provider")
	var all *allowed
	require.NoError(t, all.lets(claims{}, false), "without the setting everybody is")
}

// TestAllowOfApplications: applications of Entra that call by themselves are let in; people who
// look like one are not.
func TestAllowOfApplications(t *testing.T) {
	t.Parallel()
	const entra, other = "https://login.microsoftonline.com/t/v2.0", "https://id.example.org"
	allow := &allowed{domains: []string{"example.com"}}
	for _, says := range []map[string]any{
		{"sub": "eve", "oid": "eve", "azp": "client"},
		{"sub": "eve", "azp": "client", "idtyp": "app", "oid": "eve"},
		{"sub": "eve", "appid": "client", "idtyp": "app", "oid": "eve"},
	} {
		for _, subjects := range []bool{false, true} {
			of := func(issuer string) *tokens {
				return newTokens(t.Context(),
					JWTOptions{
						Issuers: []string{issuer}, Subjects: subjects,
						Applications: []string{"client"}, allow: allow,
					})
			}
			u, err := of(entra).caller(says)
			require.NoError(t, err, says)
			require.True(t, u.Application)
			_, err = of(other).caller(says)
			require.Equal(t, NotLetIn, fault.CodeOf(err), says)
			for _, issuer := range []string{entra, other} {
				_, err = of(issuer).person(says)
				require.Equal(t, NotLetIn, fault.CodeOf(err), says)
			}
		}
	}
	ann := map[string]any{
		"sub": "ann", "oid": "ann", "azp": "client",
		"email": "ann@example.com", "email_verified": true,
	}
	keycloak := newTokens(t.Context(), JWTOptions{Issuers: []string{other}, Subjects: true, allow: allow})
	for _, way := range []func(map[string]any) (User, error){keycloak.person, keycloak.caller} {
		u, err := way(ann)
		require.NoError(t, err)
		require.False(t, u.Application, "a person, whose provider always names the client")
	}
	for _, claim := range []string{"idtyp", "azp", "appid"} {
		require.Contains(t, signedOnly, claim)
	}
}

// TestAllowIsRefused: a list that cannot be read refuses the start by the name of the setting, and
// so does one that nothing would hold to.
func TestAllowIsRefused(t *testing.T) {
	t.Parallel()
	for _, list := range []string{
		",", " , ", "example.com", "domain:", "domain:*", "domain:.com", "domain:com", "domain:exa mple.com",
		"domain:@example.com", "domain:example.com:x", "email:", "email:ann", "email:ann@", "email:@example.org",
		"email:a@b@example.org", "mail:ann@example.org", "group:", "group:\n", "group:ü",
		"Domain:example.com", "domain:example.com,x",
	} {
		_, err := New(t.Context(), Config{
			Mode: "jwt", Issuers: []string{"https://id.example.org"},
			Audiences: []string{"x"}, OIDC: OIDC{Allow: strings.Split(list, ",")},
		})
		var r *Refusal
		require.True(t, errors.As(err, &r), list)
		require.Equal(t, "OIDC_ALLOW", r.Setting, list)
	}
	for _, mode := range []string{"dev", "invited"} {
		_, err := New(t.Context(), Config{
			Mode: mode, Local: true, Accounts: true,
			OIDC: OIDC{Allow: []string{"domain:example.com"}},
		})
		require.ErrorContains(t, err, "OIDC_ALLOW", mode)
	}
	_, err := New(t.Context(), Config{Mode: "invited"})
	require.ErrorContains(t, err, "AUTH_MODE", "of an application without accounts")
}
