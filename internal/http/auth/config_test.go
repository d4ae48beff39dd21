package auth_test

import (
	"errors"
	"testing"

	"github.com/kelseyhightower/envconfig"
	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
)

func TestConfigRefused(t *testing.T) {
	t.Parallel()
	jwt := func(change func(*auth.Config)) auth.Config {
		c := auth.Config{Mode: "jwt", Issuers: []string{"https://issuer.example.com"}, Audiences: []string{audience}}
		change(&c)
		return c
	}
	oidc := func(change func(*auth.OIDC)) auth.Config {
		c := auth.Config{Mode: "oidc", OIDC: auth.OIDC{
			Issuer: "https://issuer.example.com", ClientID: "c", Scopes: []string{"openid"}, Admin: "groups=a",
			Public: "https://app.example.com",
			Keys:   []string{" " + key(1), key(2)},
		}}
		change(&c.OIDC)
		return c
	}
	issuers := func(all ...string) auth.Config { return jwt(func(c *auth.Config) { c.Issuers = all }) }
	const list = "https://a.example.com"
	tests := []struct {
		name    string
		config  auth.Config
		setting string // "": accepted
	}{
		{"nothing", auth.Config{}, "AUTH_MODE"},
		{"nothing under func start", auth.Config{Environment: "Development"}, "AUTH_MODE"},
		{"nothing in local", auth.Config{Local: true}, ""},
		{"unknown", auth.Config{Mode: "none", Local: true}, "AUTH_MODE"},
		{"another case", auth.Config{Mode: "Dev", Local: true}, "AUTH_MODE"},
		{"dev in the cloud", auth.Config{Mode: "dev"}, "AUTH_MODE"},
		{"dev in production", auth.Config{Mode: "dev", Environment: "Production"}, "AUTH_MODE"},
		{"dev in local", auth.Config{Mode: "dev", Local: true}, ""},
		{"dev under func start", auth.Config{Mode: "dev", Environment: "development"}, ""},
		{"easyauth", auth.Config{Mode: "easyauth", PlatformAuth: "True"}, ""},
		{"easyauth with spaces", auth.Config{Mode: "easyauth", PlatformAuth: " TRUE "}, ""},
		{"easyauth without the platform", auth.Config{Mode: "easyauth"}, "WEBSITE_AUTH_ENABLED"},
		{"easyauth switched off", auth.Config{Mode: "easyauth", PlatformAuth: "False"}, "WEBSITE_AUTH_ENABLED"},
		{"easyauth with a number", auth.Config{Mode: "easyauth", PlatformAuth: "1"}, "WEBSITE_AUTH_ENABLED"},
		{
			"easyauth in local",
			auth.Config{Mode: "easyauth", Local: true, Environment: "Development"},
			"WEBSITE_AUTH_ENABLED",
		},
		{
			"tenants of nothing",
			auth.Config{Mode: "easyauth", PlatformAuth: "true", Tenants: []string{"", " "}},
			"AUTH_TENANTS",
		},
		{
			"a tenant with a slash",
			auth.Config{Mode: "easyauth", PlatformAuth: "true", Tenants: []string{"a/b"}},
			"AUTH_TENANTS",
		},
		{"jwt", issuers("https://issuer.example.com/tenant/v2.0"), ""},
		{"jwt without issuer", issuers(), "JWT_ISSUER"},
		{"jwt with an empty issuer", issuers("", " "), "JWT_ISSUER"},
		{"jwt over http", issuers("http://issuer.example.com"), "JWT_ISSUER"},
		{"jwt over http to a private address", issuers("http://10.0.0.1"), "JWT_ISSUER"},
		{"jwt over http to a name like loopback", issuers("http://localhost.example.com"), "JWT_ISSUER"},
		{"jwt over http to loopback", issuers("http://127.0.0.1:8080"), ""},
		{"jwt over http to localhost", issuers("http://localhost:8080"), ""},
		{"jwt without scheme", issuers("issuer.example.com"), "JWT_ISSUER"},
		{"jwt without host", issuers("https:///issuer"), "JWT_ISSUER"},
		{"jwt with a password", issuers("https://u:secret@issuer.example.com"), "JWT_ISSUER"},
		{"jwt with a query", issuers("https://issuer.example.com?secret"), "JWT_ISSUER"},
		{"jwt with a wrong second issuer", issuers(list, "ftp://b.example.com"), "JWT_ISSUER"},
		{"jwt with several issuers", issuers(list, "https://b.example.com"), "AUTH_TENANTS"},
		{"jwt with one issuer twice", issuers(list, list), ""},
		{
			"jwt with issuers and tenants",
			jwt(func(c *auth.Config) { c.Issuers, c.Tenants = []string{list, list + "/b"}, []string{"t"} }), "",
		},
		{"jwt without audience", jwt(func(c *auth.Config) { c.Audiences = nil }), "JWT_AUDIENCE"},
		{"oidc", oidc(func(*auth.OIDC) {}), ""},
		{"oidc on this machine", oidc(func(c *auth.OIDC) {
			c.Issuer, c.Public = "http://127.0.0.1:1", "http://localhost:7071"
		}), ""},
		{"oidc without issuer", oidc(func(c *auth.OIDC) { c.Issuer = "" }), "OIDC_ISSUER"},
		{"oidc over http", oidc(func(c *auth.OIDC) { c.Issuer = "http://issuer.example.com" }), "OIDC_ISSUER"},
		{"oidc without client", oidc(func(c *auth.OIDC) { c.ClientID = "" }), "OIDC_CLIENT_ID"},
		{"oidc without openid", oidc(func(c *auth.OIDC) { c.Scopes = []string{"profile"} }), "OIDC_SCOPES"},
		{"oidc with half a claim", oidc(func(c *auth.OIDC) { c.Admin = "groups" }), "OIDC_ADMIN"},
		{"oidc without address", oidc(func(c *auth.OIDC) { c.Public = "" }), "PUBLIC_URL"},
		{"oidc with a path", oidc(func(c *auth.OIDC) { c.Public = "https://app.example.com/" }), "PUBLIC_URL"},
		{"oidc served over http", oidc(func(c *auth.OIDC) { c.Public = "http://app.example.com" }), "PUBLIC_URL"},
		{"oidc without key", oidc(func(c *auth.OIDC) { c.Keys = nil }), "SESSION_KEYS"},
		{"oidc with a short key", oidc(func(c *auth.OIDC) { c.Keys = []string{key(1), "c2VjcmV0"} }), "SESSION_KEYS"},
		{"jwt with an empty audience", jwt(func(c *auth.Config) { c.Audiences = []string{"", " "} }), "JWT_AUDIENCE"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			identify, err := auth.New(t.Context(), tt.config)
			if tt.setting == "" {
				require.NoError(t, err)
				require.NotNil(t, identify)
				return
			}
			var refusal *auth.Refusal
			require.True(t, errors.As(err, &refusal), "%v", err)
			require.Equal(t, tt.setting, refusal.Setting)
			require.Contains(t, err.Error(), "setting "+tt.setting+" ")
			require.NotContains(t, err.Error(), "secret")
			require.Nil(t, identify)
		})
	}
}

// The headers of another mode mean nothing.
func TestConfigMode(t *testing.T) {
	t.Parallel()
	i, c := newIssuer(t), newClock()
	all := request("localhost", auth.DevUserHeader, "dev-1", "Authorization", "Bearer "+i.token(c.now(), nil),
		"X-MS-CLIENT-PRINCIPAL", std(principal(pairs{"oid", "easy-1"})))
	for mode, id := range map[string]string{"dev": "dev-1", "jwt": "ann-1", "easyauth": "easy-1"} {
		config := auth.Config{
			Mode: mode, Issuers: []string{i.URL}, Audiences: []string{audience},
			PlatformAuth: "true", Local: true, Now: c.now,
		}
		require.Equal(t, mode == "dev", config.Dev())
		identify, err := auth.New(t.Context(), config)
		require.NoError(t, err)
		who, err := identify(all)
		require.NoError(t, err)
		require.Equal(t, id, who.ID)
	}
	require.True(t, auth.Config{Local: true}.Dev())
	require.False(t, auth.Config{}.Dev())
}

// Tenants are told apart whatever their case, and one that is named twice is one.
func TestConfigTenants(t *testing.T) {
	t.Parallel()
	tests := []struct {
		tenants []string
		want    string
	}{
		{nil, "o"},
		{[]string{"T1"}, "o"},
		{[]string{" T1 ", "t1", ""}, "o"},
		{[]string{"T2", " T1"}, "t1/o"},
		{[]string{"t2"}, ""},
	}
	for _, tt := range tests {
		identify, err := auth.New(t.Context(), auth.Config{Mode: "easyauth", PlatformAuth: "true", Tenants: tt.tenants})
		require.NoError(t, err)
		who, err := identify(platform(std(principal(pairs{"oid", "o", "tid", "t1"}))))
		require.Equal(t, tt.want == "", err != nil)
		require.Equal(t, tt.want, who.ID)
	}
}

// The settings are read from the environment, also where a larger struct holds them.
func TestConfigEnvironment(t *testing.T) {
	for name, value := range map[string]string{
		"AUTH_MODE": "jwt", "JWT_ISSUER": "https://a.example.com, https://b.example.com",
		"JWT_AUDIENCE": "a, b", "AUTH_TENANTS": "t",
		"WEBSITE_AUTH_ENABLED": "True", "AZURE_FUNCTIONS_ENVIRONMENT": "Development", "LOCAL": "true",
		"NOW": "x", "TRANSPORT": "x",
	} {
		t.Setenv(name, value)
	}
	var settings struct{ auth.Config }
	require.NoError(t, envconfig.Process("", &settings))
	require.Equal(t, auth.Config{
		Mode: "jwt", Issuers: []string{"https://a.example.com", " https://b.example.com"},
		Audiences: []string{"a", " b"}, Tenants: []string{"t"},
		GroupsClaim:  "groups",
		OIDC:         auth.OIDC{Scopes: []string{"openid", "profile"}, Admin: "roles=admin"},
		PlatformAuth: "True", Environment: "Development",
	}, settings.Config)
	_, err := auth.New(t.Context(), settings.Config)
	require.NoError(t, err)
}
