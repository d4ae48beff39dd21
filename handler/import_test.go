package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/host/command"
)

// TestOneFileThreeWays: a file that was taken in by the command, the API or the page creates
// nothing when it comes again by any of them, whether its prompts have names or not.
func TestOneFileThreeWays(t *testing.T) {
	clean(t)
	_, address := startLocal(t, t.TempDir())
	files := map[string]string{
		"prompts.csv": "act,prompt,for_devs,type,contributor\nPoet,\"Write a poem.\r\nBe brief.\",FALSE,TEXT,ann\nPoet,Write another poem.,TRUE,,\nTranslator,Translate {{text}} to {{language:French}}.,FALSE,TEXT,bob\n",
		"notes.md":    "# Weekly notes\n\nSum up {{week}}.\n",
		"chat.json":   `{"name":"","type":"chat","prompt":[{"role":"system","content":"Be {{mood}}."}],"config":{"b":1, "a":2},"tags":["odd"]}`,
		"lines.jsonl": `{"title":"One","text":"First.","tags":["text"],"visibility":"public"}` + "\n" +
			`{"title":"Two","text":"Second.","tags":[]}` + "\n",
		"greet.prompt": "---\nmodel: small\ninput:\n  schema:\n    name: string\n---\nHello {{name}}.\n",
	}
	ways := map[string]func(t *testing.T, user, name, text string) (created, others int){
		"command": func(t *testing.T, user, name, text string) (created, others int) {
			code, out, errs := handler(t, "import", "--user", user, "--url", address, file(t, name, text))
			require.Equal(t, command.OK, code, errs)
			_, err := fmt.Sscanf(out[strings.LastIndex(out, "created "):],
				"created %d, unchanged %d", &created, &others)
			require.NoError(t, err, out)
			return created, others
		},
		"API": func(t *testing.T, user, name, text string) (created, others int) {
			status, body := sendAs(t, user, "POST", address+"/api/v1/import?file="+url.QueryEscape(name), text)
			require.Equal(t, http.StatusOK, status, body)
			var report struct {
				Items []struct{ Outcome, Reason string }
			}
			require.NoError(t, json.Unmarshal([]byte(body), &report))
			for _, item := range report.Items {
				if item.Outcome == "created" {
					created++
				} else {
					require.Equal(t, "unchanged", item.Outcome, item.Reason)
					others++
				}
			}
			return created, others
		},
		"page": func(t *testing.T, user, name, text string) (created, others int) {
			body := upload(t, address, user, name, text)
			for what, n := range map[string]*int{"created": &created, "unchanged": &others, "rejected": new(int)} {
				if m := regexp.MustCompile(`(\d+)(?:</?[a-z]+>)* ` + what).FindStringSubmatch(body); m != nil {
					*n, _ = strconv.Atoi(m[1])
					require.NotEqual(t, "rejected", what, body)
				}
			}
			return created, others
		},
	}
	for first, take := range ways {
		for name, text := range files {
			t.Run(first+" "+filepath.Ext(name), func(t *testing.T) {
				user := strings.ToLower(first) + strings.TrimPrefix(filepath.Ext(name), ".")
				n, others := take(t, user, name, text)
				require.Positive(t, n)
				require.Zero(t, others)
				for way, again := range ways {
					created, unchanged := again(t, user, name, text)
					require.Equal(t, []int{0, n}, []int{created, unchanged}, "by the %s", way)
				}
			})
		}
	}
}

// upload takes a file in by the page, as a user.
func upload(t *testing.T, address, user, name, text string) string {
	t.Helper()
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	require.NoError(t, m.WriteField("do", "import"))
	f, err := m.CreateFormFile("file", name)
	require.NoError(t, err)
	_, err = io.WriteString(f, text)
	require.NoError(t, err)
	require.NoError(t, m.Close())
	r, err := http.NewRequestWithContext(t.Context(), "POST", address+"/app/import", &b)
	require.NoError(t, err)
	r.Header.Set("Content-Type", m.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("X-Dev-User", user)
	resp, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, resp.StatusCode, "%.500s", body)
	return string(body)
}
