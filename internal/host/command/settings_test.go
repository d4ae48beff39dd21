package command

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
)

func TestAddressesInDevMode(t *testing.T) {
	for addr, ok := range map[string]bool{
		"127.0.0.1:0": true, "localhost:7071": true, "[::1]:1": true,
		":7071": false, "0.0.0.0:7071": false, "[::]:1": false, "192.0.2.1:80": false, "example.com:80": false,
	} {
		err := Service{}.mayListen(Settings{Config: auth.Config{Local: true}}, addr)
		require.Equal(t, ok, err == nil, addr)
		if !ok {
			require.ErrorContains(t, err, "anybody may claim to be anybody")
		}
		err = Service{}.mayListen(Settings{Config: auth.Config{Mode: "easyauth", Local: true}}, addr)
		require.Equal(t, ok, err == nil, "%s: no platform stands before it", addr)
		for _, mode := range []string{"jwt", "oidc"} {
			require.NoError(t, Service{}.mayListen(Settings{Config: auth.Config{Mode: mode, Local: true}}, addr),
				"in mode %s others prove who they are", mode)
		}
		invited := func(public string) error {
			c := auth.Config{Mode: "invited", Local: true, Accounts: true}
			c.Public = public
			return Service{}.mayListen(Settings{Config: c}, addr)
		}
		require.NoError(t, invited("https://prompts.example.org"))
		for _, public := range []string{"", "http://prompts.example.org"} {
			err = invited(public)
			require.Equal(t, ok, err == nil, "%s: passwords in the clear", addr)
			require.True(t, ok || strings.Contains(err.Error(), "PUBLIC_URL"))
		}
		require.NoError(t, Service{SignIn: OwnAccounts}.mayListen(Settings{}, addr),
			"callers prove who they are to the application")
		err = Service{SignIn: OwnAccounts}.mayListen(Settings{ForThisMachine: "DEV_CODES"}, addr)
		require.Equal(t, ok, err == nil, addr)
		require.True(t, ok || strings.Contains(err.Error(), "DEV_CODES"))
		require.Equal(t, ok, Service{SignIn: NoSignIn}.mayListen(Settings{}, addr) == nil, addr)
	}
}

func TestContainers(t *testing.T) {
	require.NoError(t, CheckContainers())
	require.NoError(t, CheckContainers("a-pictures", "a-files"))
	for _, bad := range [][]string{{"ab"}, {"A-pictures"}, {"a--pictures"}, {"abc", "-abc"}, {"abc", "abc"}} {
		var refused *auth.Refusal
		require.ErrorAs(t, CheckContainers(bad...), &refused, "%q", bad)
		require.Equal(t, "CONTAINER_PREFIX", refused.Setting)
	}
}
