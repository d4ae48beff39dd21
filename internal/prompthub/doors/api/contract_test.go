package api_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/openapi/openapitest"
)

func TestExamples(t *testing.T) {
	t.Parallel()
	require.Greater(t, openapitest.New(t, newWorld(t).api).Examples(t), 200)
}

// TestDocumentGrows holds that clients which check answers against the document take one with a
// further member, and that a request with one is documented as wrong.
func TestDocumentGrows(t *testing.T) {
	t.Parallel()
	var doc struct {
		Info       struct{ Version string }
		Components struct {
			Schemas map[string]struct{ AdditionalProperties any }
		}
		Paths map[string]map[string]struct{ OperationID, Summary, Description string }
	}
	require.NoError(t, json.Unmarshal([]byte(newWorld(t).as("").get("/api/v1/openapi.json").is(200).body), &doc))
	sent := []string{
		"Acceptance", "ChangedPassword", "CollectionPatch", "Credentials", "FilesDraft", "Filling", "ForWhom",
		"LabelTarget", "LoginCode", "GivenRole", "Message", "NewCollection", "NewCopy", "NewInvite", "NewPassword",
		"NewPrompt", "NewToken", "NewWorkspace", "OfferedRole", "Profile", "PromptDraft", "PromptPatch",
		"Reason", "Source", "TagEntry",
		"Unfinished", "Variable", "Vote", "WorkspacePatch", "NewProposal", "NewReview", "ProposedVersion",
		"RuleSet", "Rule", "SentFile",
	}
	for name, s := range doc.Components.Schemas {
		if slices.Contains(sent, name) {
			require.Equal(t, false, s.AdditionalProperties, name)
		} else {
			require.Nil(t, s.AdditionalProperties, name)
		}
	}
	for _, name := range append(sent, "AnsweredMessage", "AnsweredVariable", "Prompt", "Problem") {
		require.Contains(t, doc.Components.Schemas, name)
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			require.Regexp(t, `^[A-Z].*\.$`, op.Description, "%s %s", method, path)
			require.Regexp(t, `^[A-Z]`, op.Summary, "%s %s", method, path)
		}
	}
}

// Tests that run side by side are held against one document, which none of them changes.
func TestContractIsNobodys(t *testing.T) {
	t.Parallel()
	c := openapitest.New(t, newWorld(t).api)
	parts := func() (all []map[string]any) {
		for _, o := range c.Operations() {
			all = append(all, c.At(o.Pointer))
		}
		return all
	}
	want, err := json.Marshal(parts())
	require.NoError(t, err)
	var ruin func(v any)
	ruin = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, member := range v {
				ruin(member)
				delete(v, name)
			}
		case []any:
			for i, item := range v {
				ruin(item)
				v[i] = nil
			}
		}
	}
	for _, part := range parts() {
		ruin(part)
	}
	got, err := json.Marshal(parts())
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
}

// The contract itself must notice what is wrong.
func TestContractNotices(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	c := openapitest.New(t, w.api)
	r := httptest.NewRequest(http.MethodGet, "/api/v1/me", nil)
	good := http.Header{
		"Content-Type": {"application/json"}, "X-Request-Id": {"x"}, "Etag": {`"x"`},
		"Cache-Control": {"private"}, "Ratelimit-Limit": {"1"},
	}
	body := `{"id":"Ann","authorId":"a_x","name":"Ann","roles":[],"storage":{"bytes":0,"prompts":0,"favorites":0,"maxFavorites":5000}}`
	require.NoError(t, c.Check(r, 200, good, []byte(body)))
	for name, change := range map[string]func(h http.Header) (int, string){
		"status":        func(http.Header) (int, string) { return 418, body },
		"header":        func(h http.Header) (int, string) { h.Del("Etag"); return 200, body },
		"header number": func(h http.Header) (int, string) { h.Set("RateLimit-Limit", "x"); return 200, body },
		"content type":  func(h http.Header) (int, string) { h.Set("Content-Type", "text/plain"); return 200, body },
		"body":          func(http.Header) (int, string) { return 200, `{"id":"Ann","name":"Ann"}` },
		"member": func(http.Header) (int, string) {
			return 200, `{"id":"Ann","name":"Ann","roles":[],"mail":"x"}`
		},
		"304 with body": func(http.Header) (int, string) { return 304, body },
	} {
		h := good.Clone()
		status, text := change(h)
		require.Error(t, c.Check(r, status, h, []byte(text)), name)
	}
	require.Error(t, c.Check(httptest.NewRequest(http.MethodGet, "/nosuch", nil), 200, good, []byte(body)))
}
