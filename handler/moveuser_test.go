package main

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
	"prompthub/internal/testing/apptest"
)

// TestMoveUser moves a user whom the identity provider calls by another id: prompts and access
// tokens stay his, the old sign-in is refused, and a backup and an erasure know of it.
func TestMoveUser(t *testing.T) {
	clean(t)
	data := t.TempDir()
	p, url := startLocal(t, data)
	save := func(user, text string) (int, string) {
		return sendAs(t, user, http.MethodPost, url+"/api/v1/prompts",
			`{"title":"Soup","text":"`+text+`","visibility":"private"}`)
	}
	status, body := save("cook|7", "Stir it")
	require.Equal(t, http.StatusCreated, status, body)
	var made struct{ ID string }
	require.NoError(t, json.Unmarshal([]byte(body), &made))
	status, body = sendAs(t, "cook|7", http.MethodPost, url+"/api/v1/me/tokens", `{"name":"CI","scopes":["read"]}`)
	require.Equal(t, http.StatusCreated, status, body)
	var token struct{ Token string }
	require.NoError(t, json.Unmarshal([]byte(body), &token))
	status, _ = save("bob", "Boil it")
	require.Equal(t, http.StatusCreated, status)
	p.stop()
	require.Equal(t, command.OK, <-p.code)

	run := func(want int, args ...string) string {
		t.Helper()
		code, out, errs := handler(t, append(args, "--data", data)...)
		require.Equal(t, want, code, out+errs)
		return out + errs
	}
	require.Contains(t, run(command.Failed, "move-user", "cook|8", "new|7"), `nothing is stored under the id "cook|8"`)
	require.Contains(t, run(command.Failed, "move-user", "cook|7", "bob"), "something is stored")
	for range 2 {
		require.Contains(t, run(command.OK, "move-user", "cook|7", "new|7"), `"new|7" signs in to the account "cook|7"`)
	}
	run(command.OK, "verify")
	require.Contains(t, run(command.OK, "backup", "-"), `{"kind":"user","user":{"id":"cook|7","signIn":"new|7"}}`)

	p, url = startLocal(t, data)
	is := func(want int, text, header, value string) {
		t.Helper()
		status, body := apptest.Send(t, http.MethodGet, url+"/api/v1/prompts/"+made.ID, "", header, value)
		require.Equal(t, want, status, body)
		require.Contains(t, body, text)
	}
	is(http.StatusOK, "Stir it", "X-Dev-User", "new|7")
	is(http.StatusForbidden, `"code":"USER_MOVED"`, "X-Dev-User", "cook|7")
	is(http.StatusOK, "Stir it", "Authorization", "Bearer "+token.Token)
	p.stop()
	require.Equal(t, command.OK, <-p.code)

	require.Contains(t, run(command.Failed, "erase", "new|7"), `has the account "cook|7": name that`)
	run(command.OK, "erase", "cook|7")
	require.NotContains(t, run(command.OK, "backup", "-"), "|7")
}
