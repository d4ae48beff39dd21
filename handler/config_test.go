package main

import (
	"log/slog"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/promptdb"
)

// oidcDefaults are what mode oidc has without settings.
var oidcDefaults = auth.OIDC{Scopes: []string{"openid", "profile"}, Admin: "roles=admin"}

func TestSettingsByDefault(t *testing.T) {
	clean(t)
	s, err := readSettings()
	require.NoError(t, err)
	require.Equal(t, settings{
		Settings: command.Settings{
			Config: auth.Config{GroupsClaim: "groups", OIDC: oidcDefaults},
		}, MaxText: 32_768, QuotaBytes: 1 << 30,
		QuotaPrompts: 10_000, Workspaces: "everyone", Tables: promptdb.DefaultTables(),
	}, s)
}

// TestSettingsAreDocumented: docs/settings.md names every one.
func TestSettingsAreDocumented(t *testing.T) {
	t.Parallel()
	doc, err := os.ReadFile("../docs/settings.md")
	require.NoError(t, err)
	named := 0
	for _, field := range reflect.VisibleFields(reflect.TypeFor[settings]()) {
		if name := field.Tag.Get("envconfig"); name != "" {
			named++
			assert.Contains(t, string(doc), "`"+name+"`")
		}
	}
	require.Greater(t, named, 40)
}

func TestSettings(t *testing.T) {
	clean(t, "AUTH_MODE", "dev", "PUBLIC_READ", "true", "MAX_TEXT", "30000", "QUOTA_PROMPTS", "-1", "QUEUE_PREFIX",
		"test-", "TABLE_PREFIX", "test", "TABLE_PROMPTS", "P00",
		"LOG_LEVEL", "warn", "LIMIT_WRITES", "3", "CORS_ORIGINS", "https://a.example.com,http://localhost:1",
		"FUNCTIONS_CUSTOMHANDLER_PORT", "65535", "AZURE_FUNCTIONS_ENVIRONMENT", "Development",
		"TAGS", "go, C++:C plus plus ,x:", "WORKSPACES", "admins")
	s, err := readSettings()
	require.NoError(t, err)
	tables := promptdb.DefaultTables()
	tables.Prefix, tables.Prompts = "test", "P00"
	require.Equal(t, settings{
		Settings: command.Settings{
			Port: 65535, Config: auth.Config{
				Mode: "dev", Environment: "Development", GroupsClaim: "groups",
				OIDC: oidcDefaults,
			}, QueuePrefix: "test-", LogLevel: slog.LevelWarn,
			Limits:  httpjson.Limits{Writes: 3},
			Origins: httpjson.Origins{"https://a.example.com", "http://localhost:1"},
		},
		PublicRead: true, MaxText: 30000, QuotaBytes: 1 << 30, QuotaPrompts: -1, Workspaces: "admins", Tables: tables,
		Tags: tagList{
			{Tag: "go", DisplayName: "go", SortOrder: 10, Active: true},
			{Tag: "c++", DisplayName: "C plus plus", SortOrder: 20, Active: true},
			{Tag: "x", DisplayName: "x", SortOrder: 30, Active: true},
		},
	}, s)
}

// The command says what the service would do: as "local", and as the custom handler.
func TestSettingsCommand(t *testing.T) {
	for _, tt := range []struct {
		settings []string
		want     string
	}{
		{nil, ""},
		{[]string{"MAX_TEXT", "many"}, "setting MAX_TEXT cannot be"},
		{[]string{"WORKSPACES", "admin"}, `setting WORKSPACES is "admin", want everyone or admins`},
		{[]string{"QUOTA_BYTES", "-2"}, "setting QUOTA_BYTES is -2"},
		{[]string{"AUTH_MODE", "jwt"}, "setting JWT_ISSUER is not set"},
		{[]string{"FUNCTIONS_CUSTOMHANDLER_PORT", "1"}, "setting QUEUE_PREFIX is not set"},
		{[]string{"FUNCTIONS_CUSTOMHANDLER_PORT", "1", "QUEUE_PREFIX", "a-"}, "setting AUTH_MODE is not set"},
		{
			[]string{"FUNCTIONS_CUSTOMHANDLER_PORT", "1", "QUEUE_PREFIX", "a-", "AUTH_MODE", "dev"},
			`setting AUTH_MODE is "dev"`,
		},
		{[]string{
			"FUNCTIONS_CUSTOMHANDLER_PORT", "1", "QUEUE_PREFIX", "a-", "AUTH_MODE", "easyauth",
			"WEBSITE_AUTH_ENABLED", "True",
		}, ""},
	} {
		t.Run(strings.Join(tt.settings, " "), func(t *testing.T) {
			clean(t, tt.settings...)
			code, out, errs := handler(t, "settings")
			if tt.want == "" {
				require.Equal(t, command.OK, code, errs)
				require.Equal(t, "The settings are taken.\n", out)
				return
			}
			require.Equal(t, command.Failed, code)
			require.Contains(t, errs, tt.want)
		})
	}
}

func TestSettingsRefused(t *testing.T) {
	for _, tt := range []struct{ setting, value, want string }{
		{"PUBLIC_READ", "yes", `setting PUBLIC_READ cannot be "yes": want true or false`},
		{"MAX_TEXT", "many", `setting MAX_TEXT cannot be "many": want a whole number`},
		{"MAX_TEXT", "", `setting MAX_TEXT cannot be "": want a whole number, or leave it out`},
		{"MAX_TEXT", "0", "setting MAX_TEXT is 0, want 1 to 131072"},
		{"MAX_TEXT", "131073", "setting MAX_TEXT is 131073, want 1 to 131072"},
		{"LOG_LEVEL", "loud", `setting LOG_LEVEL cannot be "loud"`},
		{"LIMIT_WRITES", "many", `setting LIMIT_WRITES cannot be "many"`},
		{"CORS_ORIGINS", "*", `setting CORS_ORIGINS cannot be "*": origin "*": want one like`},
		{"TAGS", "a b", `setting TAGS cannot be "a b": tag "a b": a tag has`},
		{"TAGS", "a,b,A", `tag "a": named twice`},
		{"TAGS", "a,,b", `tag ""`},
		{"TABLE_PREFIX", "my-", `setting TABLE_PREFIX or another TABLE_ setting gives the table name "my-Prompts"`},
		{"QUEUE_PREFIX", "Staging-", `setting QUEUE_PREFIX is "Staging-", want at most 30 lower case letters`},
		{"QUEUE_PREFIX", "a--b", "setting QUEUE_PREFIX"},
		{"QUEUE_PREFIX", "-", "setting QUEUE_PREFIX"},
		{"QUEUE_PREFIX", strings.Repeat("a", 31), "setting QUEUE_PREFIX"},
		{"TABLE_VOTES", "prompts", `setting TABLE_* gives two tables the name "prompts"`},
	} {
		t.Run(tt.setting+"="+tt.value, func(t *testing.T) {
			clean(t, tt.setting, tt.value, "FUNCTIONS_CUSTOMHANDLER_PORT", "4711")
			s, err := readSettings()
			var r *auth.Refusal
			require.ErrorAs(t, err, &r)
			require.ErrorContains(t, err, tt.want)
			require.EqualValues(t, 4711, s.Port, "the port is known whatever else is wrong")
		})
	}
}
