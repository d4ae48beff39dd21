package main

import (
	"archive/zip"
	"bytes"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/functiontest"
)

// TestMarketplaceBehindTheHost: through the host a catalogue has addresses of packages that are
// there, with the bytes that it names, and a package of a version that was recalled says why it is
// gone.
func TestMarketplaceBehindTheHost(t *testing.T) {
	inBothModes(t, func(t *testing.T, older bool) {
		h := onAzurite(t, functiontest.Options{Older: older})
		handle := "shop-" + strings.ToLower(crand.Text()) // the store is that of other tests too
		ann := as(t, h, handle)
		ann.did("PUT", "/api/v1/me/profile", fmt.Sprintf(`{"handle":%q}`, handle))
		at := ann.made(1)
		ann.did("POST", "/api/v1/collections",
			fmt.Sprintf(`{"slug":"start","visibility":"public","items":[%q]}`, strings.TrimPrefix(at, promptsPath+"/")))
		token := "Bearer " + ann.did("POST", "/api/v1/me/tokens", `{"name":"t","scopes":["read"]}`)["token"].(string)

		get := func(address, authorization string) (int, string) {
			t.Helper()
			if authorization == "" {
				return apptest.Send(t, http.MethodGet, address, "")
			}
			return apptest.Send(t, http.MethodGet, address, "", "Authorization", authorization)
		}
		const own = "/marketplace/me/marketplace.json"
		author, collection := "/marketplace/u/"+handle+"/marketplace.json",
			"/marketplace/c/"+handle+"/start/marketplace.json"
		plugins := func(catalogue string) map[string]plugin {
			t.Helper()
			status, body := get(h.URL()+catalogue, token)
			require.Equal(t, http.StatusOK, status, body)
			var all struct{ Plugins []plugin }
			require.NoError(t, json.Unmarshal([]byte(body), &all))
			named := map[string]plugin{}
			for _, p := range all.Plugins {
				require.True(t, strings.HasPrefix(p.Source.URL, h.URL()+"/marketplace/"), "%s", p.Source.URL)
				named[p.Name] = p
			}
			return named
		}
		installs := func(p plugin) {
			t.Helper()
			status, body := get(p.Source.URL, "") // which a token of the catalogue has signed
			require.Equal(t, http.StatusOK, status, body)
			require.Equal(t, p.Source.SHA256, fmt.Sprintf("%x", sha256.Sum256([]byte(body))), p.Name)
		}
		refused := func(address, authorization string, want int, code string) string {
			t.Helper()
			status, body := get(address, authorization)
			require.Equal(t, want, status, body)
			require.Contains(t, body, `"code":"`+code+`"`)
			return body
		}

		for _, shelf := range []string{author, own, collection} {
			for _, p := range plugins(shelf) {
				installs(p)
			}
		}
		first := plugins(author)["a-prompt"]
		require.Equal(t, "1.0.0", first.Version)
		together := plugins(collection)["start"]
		require.NotEmpty(t, together.Source.URL)
		for _, shelf := range []string{author, own, collection} {
			refused(h.URL()+shelf, "", http.StatusUnauthorized, "UNAUTHENTICATED")
			refused(h.URL()+shelf, "Bearer nonsense", http.StatusUnauthorized, "UNAUTHENTICATED")
		}
		unsigned, _, _ := strings.Cut(first.Source.URL, "?")
		refused(unsigned, "", http.StatusUnauthorized, "UNAUTHENTICATED")
		refused(strings.Replace(first.Source.URL, "signature=", "signature=A", 1), "",
			http.StatusUnauthorized, "UNAUTHENTICATED")
		refused(h.URL()+"/marketplace/c/"+handle+"/nothing/marketplace.json", token, http.StatusNotFound, "NOT_FOUND")
		refused(h.URL()+"/marketplace/u/nothing/marketplace.json", token, http.StatusNotFound, "NOT_FOUND")
		refused(strings.Replace(unsigned, "/1/", "/9/", 1), token, http.StatusNotFound, "NOT_FOUND")

		ann.did("PUT", at, `{"title":"A prompt","text":"Bad","tags":["text"],"visibility":"public"}`)
		bad := plugins(author)["a-prompt"]
		require.Equal(t, "2.0.0", bad.Version)
		installs(bad)
		ann.did("POST", at+"/versions/2/recall", `{"reason":"It insults people"}`)
		require.Equal(t, first, plugins(author)["a-prompt"])
		require.Contains(t, refused(bad.Source.URL, "", http.StatusGone, "VERSION_RECALLED"), "It insults people")
		installs(plugins(collection)["start"])
		ann.did("DELETE", at+"/versions/2/recall", "")
		installs(bad)
		require.Equal(t, bad, plugins(author)["a-prompt"])
	})
}

// TestLargestFilesBehindTheHost: a skill with as many bytes as one may have goes through the host
// and comes back as it was, and one byte more is refused.
func TestLargestFilesBehindTheHost(t *testing.T) {
	h := onAzurite(t, functiontest.Options{})
	user := "files-" + strings.ToLower(crand.Text())
	ann := as(t, h, user)
	const skillFile = "---\nname: large\ndescription: Large.\n---\n\nRead data/a.bin\n"
	send := func(last int) (int, map[string]any) {
		t.Helper()
		half := func(n int) string {
			return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("\x00\xffab"), n)[:n])
		}
		body := fmt.Sprintf(`{"visibility":"private","files":[{"path":"SKILL.md","content":%q},{"path":"data/a.bin","base64":%q},{"path":"data/b.bin","base64":%q}]}`,
			skillFile, half(4<<20), half(last))
		return ann.does(http.MethodPost, promptsPath, body)
	}
	rest := prompt.MaxFilesSize - 4<<20 - len(skillFile)
	status, body := send(rest + 1)
	require.Equal(t, http.StatusUnprocessableEntity, status, body)
	require.Equal(t, "FILES_TOO_LARGE", body["code"])
	status, body = send(rest)
	require.Equal(t, http.StatusCreated, status, body)
	status, archive := apptest.Send(t, http.MethodGet, fmt.Sprint(h.URL(), promptsPath, "/", body["id"], "/archive"),
		"", "X-Dev-User", user)
	require.Equal(t, http.StatusOK, status)
	z, err := zip.NewReader(strings.NewReader(archive), int64(len(archive)))
	require.NoError(t, err)
	size := uint64(0)
	for _, f := range z.File {
		size += f.UncompressedSize64
	}
	require.Equal(t, uint64(prompt.MaxFilesSize), size)
}

// A plugin is an entry of a catalogue.
type plugin struct {
	Name, Version string
	Source        struct{ URL, SHA256 string }
}
