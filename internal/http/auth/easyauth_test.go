package auth_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
)

const (
	longObject = "http://schemas.microsoft.com/identity/claims/objectidentifier"
	longTenant = "http://schemas.microsoft.com/identity/claims/tenantid"
	longRole   = "http://schemas.microsoft.com/ws/2008/06/identity/claims/role"
	longName   = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/name"
	emailType  = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/emailaddress"
)

// pairs are claims, each followed by its value.
type pairs []string

// principal returns what the platform says of a user with these claims.
func principal(c pairs) string {
	var claims []map[string]string
	for n := 0; n < len(c); n += 2 {
		claims = append(claims, map[string]string{"typ": c[n], "val": c[n+1]})
	}
	text, err := json.Marshal(map[string]any{
		"auth_typ": "aad", "claims": claims,
		"name_typ": emailType, "role_typ": longRole,
	})
	if err != nil {
		panic(err)
	}
	return string(text)
}

func std(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

func easyAuth(t testing.TB, tenants ...string) auth.Identify {
	t.Helper()
	identify, err := auth.EasyAuth(auth.EasyAuthOptions{Enabled: true, Tenants: tenants})
	require.NoError(t, err)
	return identify
}

func platform(encoded string) *http.Request {
	return request("app.example.com", "X-MS-CLIENT-PRINCIPAL", encoded, "X-MS-CLIENT-PRINCIPAL-ID", "ann-1",
		"X-MS-CLIENT-PRINCIPAL-IDP", "aad")
}

func TestEasyAuthClaims(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		claims  pairs
		tenants []string
		want    auth.User // zero: refused
	}{
		{
			"short",
			pairs{"oid", "o", "tid", "t", "name", "Ann", "roles", "admin", "roles", "b"},
			nil,
			auth.User{ID: "o", Name: "Ann", Roles: []string{"admin", "b"}},
		},
		{
			"long",
			pairs{longObject, "o", longTenant, "t", longName, "Ann", longRole, "admin"},
			nil,
			auth.User{ID: "o", Name: "Ann", Roles: []string{"admin"}},
		},
		{
			"both",
			pairs{longObject, "o", "oid", "o", longRole, "admin", "roles", "admin"},
			nil,
			auth.User{ID: "o", Name: "Member", Roles: []string{"admin"}},
		},
		{"one tenant", pairs{"oid", "o", "tid", "T1"}, []string{"t1"}, auth.User{ID: "o", Name: "Member"}},
		{
			"several tenants",
			pairs{"oid", "o", longTenant, "t2"},
			[]string{"t1", "t2"},
			auth.User{ID: "t2/o", Name: "Member"},
		},
		{
			"groups are no roles",
			pairs{"oid", "o", "groups", "admin", "role", "admin", "", "admin"},
			nil,
			auth.User{ID: "o", Name: "Member", Groups: auth.GroupsOf([]string{"admin"})},
		},
		{
			"no oid",
			pairs{"name", "Ann", "sub", "s", emailType, "ann@example.com", "preferred_username", "ann"},
			nil,
			auth.User{},
		},
		{"two oids", pairs{"oid", "o", longObject, "p"}, nil, auth.User{}},
		{"empty oid", pairs{"oid", ""}, nil, auth.User{}},
		{"oid with a slash", pairs{"oid", "t/o"}, nil, auth.User{}},
		{"oid too long", pairs{"oid", strings.Repeat("o", 101)}, nil, auth.User{}},
		{"oid of another case", pairs{"OID", "o"}, nil, auth.User{}},
		{"another tenant", pairs{"oid", "o", "tid", "t3"}, []string{"t1", "t2"}, auth.User{}},
		{"no tenant", pairs{"oid", "o"}, []string{"t1"}, auth.User{}},
		{"no tenant, and none allowed", pairs{"oid", "o"}, []string{""}, auth.User{}},
		{"two tenants", pairs{"oid", "o", "tid", "t1", longTenant, "t3"}, []string{"t1"}, auth.User{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			who, err := easyAuth(t, tt.tenants...)(platform(std(principal(tt.claims))))
			if !tt.want.Known() {
				requireRefused(t, who, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tt.want, who)
		})
	}
}

// The platform may name a type of its own for roles.
func TestEasyAuthRoleType(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(principal(pairs{"oid", "o", "app_roles", "admin", "roles", "b"}),
		`"role_typ":"`+longRole, `"role_typ":"app_roles`)
	who, err := easyAuth(t)(platform(std(text)))
	require.NoError(t, err)
	require.ElementsMatch(t, []string{"admin", "b"}, who.Roles)
}

func TestNames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		claims pairs
		want   string
	}{
		{"trimmed", pairs{"name", " Ann B "}, "Ann B"},
		{"UTF-8", pairs{"name", "Zoë 李"}, "Zoë 李"},
		{"an address", pairs{"name", "ann@example.com"}, "Member"},
		{"holds an address", pairs{"name", "Ann (ann@example.com)"}, "Member"},
		{"full width", pairs{"name", "ann＠example.com"}, "Member"},
		{"all are addresses", pairs{
			"name", "a@b", longName, "c@d", "given_name", "e@f", "preferred_username", "g@h",
			emailType, "i@j",
		}, "Member"},
		{"address is no name", pairs{emailType, "ann", "email", "ann", "upn", "ann"}, "Member"},
		{"long spelling", pairs{"name", "ann@example.com", longName, "Ann"}, "Ann"},
		{"given name", pairs{"preferred_username", "ann9", "given_name", "Ann"}, "Ann"},
		{"user name", pairs{"name", " ", "preferred_username", "ann9"}, "ann9"},
		{"control character", pairs{"name", "a\nb"}, "Member"},
		{"at the limit", pairs{"name", strings.Repeat("é", 100)}, strings.Repeat("é", 100)},
		{"beyond the limit", pairs{"name", strings.Repeat("é", 99) + " x"}, strings.Repeat("é", 99)},
		{"beyond the limit within a pair", pairs{"name", strings.Repeat("é", 99) + "🚀"}, strings.Repeat("é", 99)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			who, err := easyAuth(t)(platform(std(principal(append(tt.claims, "oid", "o")))))
			require.NoError(t, err)
			require.Equal(t, tt.want, who.Name)
		})
	}
}

func TestEasyAuthHeaders(t *testing.T) {
	t.Parallel()
	const all, id, idp = "X-MS-CLIENT-PRINCIPAL", "X-MS-CLIENT-PRINCIPAL-ID", "X-MS-CLIENT-PRINCIPAL-IDP"
	good := std(principal(pairs{"oid", "o"}))
	google := std(strings.Replace(principal(pairs{"oid", "o"}), `"aad"`, `"google"`, 1))
	tests := []struct {
		name   string
		header []string
		ok     bool
	}{
		{"all", []string{all, good, id, "o", idp, "AAD"}, true},
		{"only the principal", []string{all, good}, true},
		{"principal twice", []string{all, good, all, good}, false},
		{"id twice", []string{all, good, id, "o", id, "o"}, false},
		{"provider twice", []string{all, good, idp, "aad", idp, "aad"}, false},
		{"only the id", []string{id, "o"}, false},
		{"empty", []string{all, ""}, false},
		{"another provider", []string{all, good, idp, "google"}, false},
		{"another provider within", []string{all, google}, false},
		{"not base64", []string{all, "%%%"}, false},
		{"not JSON", []string{all, std("oid")}, false},
		{"null", []string{all, std("null")}, false},
		{"a list", []string{all, std("[]")}, false},
		{"two values", []string{all, std(`{}{}`)}, false},
		{"of static web apps", []string{
			all, std(`{"identityProvider":"aad","userId":"o","userDetails":"ann","userRoles":["admin"]}`),
		}, false},
		{"huge", []string{all, std(principal(pairs{"oid", "o", "x", strings.Repeat("x", 64<<10)}))}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			who, err := easyAuth(t)(request("app.example.com", tt.header...))
			if !tt.ok {
				requireRefused(t, who, err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, "o", who.ID)
		})
	}
}

func TestEasyAuthNobody(t *testing.T) {
	t.Parallel()
	who, err := easyAuth(t)(request("localhost", "Authorization", "Bearer a.b.c", auth.DevUserHeader, "ann",
		"X-MS-CLIENT-PRINCIPAL-IDP", "aad"))
	require.NoError(t, err)
	require.Equal(t, auth.User{}, who)
}

// Both alphabets of base64 are read, with and without padding.
func TestEasyAuthAlphabets(t *testing.T) {
	t.Parallel()
	for padding := range 3 {
		text := principal(pairs{"oid", "o", "name", "ß~?>¿ÿþ" + strings.Repeat("x", padding)})
		want, err := easyAuth(t)(platform(std(text)))
		require.NoError(t, err)
		require.Contains(t, std(text), "/")
		for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding} {
			who, err := easyAuth(t)(platform(e.EncodeToString([]byte(text))))
			require.NoError(t, err)
			require.Equal(t, want, who)
		}
	}
}

// A refusal goes into the log without the values that were sent.
func TestEasyAuthErrors(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"claims":[{"typ":"ann@example.com","typ":"ann@example.com"}]}`,
		`{"claims":"ann@example.com"}`, `ann@example.com`,
	} {
		_, err := easyAuth(t)(platform(std(text)))
		require.Error(t, err)
		require.NotContains(t, err.Error(), "@")
	}
}

func FuzzEasyAuth(f *testing.F) {
	for _, c := range []pairs{
		{"oid", "o"},
		{longObject, "o", longTenant, "t1", "name", "a@b"},
		{"oid", "o", "tid", "t2", "roles", "admin"},
		{},
	} {
		f.Add(std(principal(c)))
		f.Add(base64.RawURLEncoding.EncodeToString([]byte(principal(c))))
	}
	f.Add("")
	f.Add("====")
	identify := easyAuth(f, "t1", "t2")
	f.Fuzz(func(t *testing.T, encoded string) {
		r := request("app.example.com")
		r.Header["X-Ms-Client-Principal"] = []string{encoded}
		who, err := identify(r)
		if err != nil {
			requireRefused(t, who, err)
			require.Equal(t, fault.Unauthenticated, fault.Of(err))
			return
		}
		require.Regexp(t, `^t[12]/[A-Za-z0-9._-]{1,100}$`, who.ID)
		require.NotEmpty(t, who.Name)
		require.NotContains(t, who.Name, "@")
	})
}
