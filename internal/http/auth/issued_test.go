package auth_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
)

func TestIssued(t *testing.T) {
	const entra = "https://login.microsoftonline.com/11111111-1111-1111-1111-111111111111/v2.0"
	tests := []struct {
		name            string
		config          auth.Config
		issuers, scopes []string
	}{
		{"development", auth.Config{Mode: "dev"}, nil, nil},
		{"an issuer", auth.Config{
			Mode: "jwt", Issuers: []string{"https://id.example.com"},
			Audiences: []string{"prompts"},
		}, []string{"https://id.example.com"}, nil},
		{
			"Entra",
			auth.Config{Mode: "jwt", Issuers: []string{entra}, Audiences: []string{"api://prompts"}},
			[]string{entra},
			[]string{"api://prompts/.default"},
		},
		{
			"a provider",
			auth.Config{Mode: "oidc", OIDC: auth.OIDC{Issuer: "https://id.example.com"}},
			[]string{"https://id.example.com"},
			[]string{"openid", "profile"},
		},
		{
			"the platform",
			auth.Config{Mode: "easyauth", Tenants: []string{"11111111-1111-1111-1111-111111111111"}},
			[]string{entra},
			nil,
		},
		{"the platform alone", auth.Config{Mode: "easyauth"}, nil, nil},
	}
	for _, tt := range tests {
		issuers, scopes := tt.config.Issued()
		require.Equal(t, tt.issuers, issuers, tt.name)
		require.Equal(t, tt.scopes, scopes, tt.name)
	}
}
