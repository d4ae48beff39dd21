package main

import (
	"log/slog"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

func TestSettingsByDefault(t *testing.T) {
	clean(t)
	s, err := readSettings()
	require.NoError(t, err)
	require.Equal(t, settings{MaxText: prompt.DefaultMaxText, Tables: promptdb.DefaultTables()}, s)
}

func TestSettings(t *testing.T) {
	clean(t, "AUTH_MODE", "dev", "PUBLIC_READ", "true", "MAX_TEXT", "30000", "TABLE_PREFIX", "test", "TABLE_PROMPTS", "P00",
		"LOG_LEVEL", "warn", "FUNCTIONS_CUSTOMHANDLER_PORT", "65535", "AZURE_FUNCTIONS_ENVIRONMENT", "Development",
		"TAGS", "go, C++:C plus plus ,x:")
	s, err := readSettings()
	require.NoError(t, err)
	tables := promptdb.DefaultTables()
	tables.Prefix, tables.Prompts = "test", "P00"
	require.Equal(t, settings{
		Port: 65535, AuthMode: "dev", PublicRead: true, MaxText: 30000, Tables: tables, LogLevel: slog.LevelWarn, Environment: "Development",
		Tags: tagList{
			{Tag: "go", DisplayName: "go", SortOrder: 10, Active: true},
			{Tag: "c++", DisplayName: "C plus plus", SortOrder: 20, Active: true},
			{Tag: "x", DisplayName: "x", SortOrder: 30, Active: true},
		},
	}, s)
}

func TestSettingsRefused(t *testing.T) {
	for _, tt := range []struct{ setting, value, want string }{
		{"PUBLIC_READ", "yes", `setting PUBLIC_READ cannot be "yes"`},
		{"MAX_TEXT", "many", `setting MAX_TEXT cannot be "many"`},
		{"MAX_TEXT", "0", "setting MAX_TEXT is 0, want 1 to 30000"},
		{"MAX_TEXT", "30001", "setting MAX_TEXT is 30001, want 1 to 30000"},
		{"LOG_LEVEL", "loud", `setting LOG_LEVEL cannot be "loud"`},
		{"TAGS", "a b", `setting TAGS cannot be "a b": tag "a b": a tag has`},
		{"TAGS", "a,b,A", `tag "a": named twice`},
		{"TAGS", "a,,b", `tag ""`},
		{"TABLE_PREFIX", "my-", `setting TABLE_PREFIX or another TABLE_ setting gives the table name "my-Prompts"`},
		{"TABLE_VOTES", "prompts", `setting TABLE_* gives two tables the name "prompts"`},
	} {
		t.Run(tt.setting+"="+tt.value, func(t *testing.T) {
			clean(t, tt.setting, tt.value, "FUNCTIONS_CUSTOMHANDLER_PORT", "4711")
			s, err := readSettings()
			var r *refusal
			require.ErrorAs(t, err, &r)
			require.ErrorContains(t, err, tt.want)
			require.EqualValues(t, 4711, s.Port, "the port is known whatever else is wrong")
		})
	}
}

func TestIdentify(t *testing.T) {
	for _, tt := range []struct {
		name  string
		s     settings
		local bool
		want  string // "" lets ann in
	}{
		{"local", settings{}, true, ""},
		{"local, said", settings{AuthMode: "dev"}, true, ""},
		{"func start", settings{AuthMode: "dev", Environment: "development"}, false, ""},
		{"func start, not set", settings{Environment: "Development"}, false, "setting AUTH_MODE is not set"},
		{"cloud, not set", settings{}, false, "setting AUTH_MODE is not set"},
		{"cloud in dev mode", settings{AuthMode: "dev", Environment: "Production"}, false, `setting AUTH_MODE is "dev"`},
		{"unknown", settings{AuthMode: "Dev"}, true, `setting AUTH_MODE cannot be "Dev"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			identify, err := tt.s.identify(tt.local)
			if tt.want != "" {
				require.ErrorContains(t, err, tt.want)
				return
			}
			require.NoError(t, err)
			r := httptest.NewRequest("GET", "http://localhost/", nil)
			r.Header.Set("X-Dev-User", "ann")
			who, err := identify(r)
			require.NoError(t, err)
			require.Equal(t, "ann", who.ID)
		})
	}
}

func TestAddressesInDevMode(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:0": true, "localhost:7071": true, "[::1]:1": true,
		":7071": false, "0.0.0.0:7071": false, "[::]:1": false, "192.0.2.1:80": false, "example.com:80": false,
	} {
		err := mayListen(settings{}, addr)
		require.Equal(t, ok, err == nil, addr)
		if !ok {
			require.ErrorContains(t, err, "anybody may claim to be anybody")
		}
		require.NoError(t, mayListen(settings{AuthMode: "jwt"}, addr), "others prove who they are")
	}
}
