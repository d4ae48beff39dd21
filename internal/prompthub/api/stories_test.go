package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCreateAndGet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann := w.as("Ann")
	a := ann.do(http.MethodPost, "/api/v1/prompts", draft("A", "development")).is(201)
	t.Log(a.body, a.header)
	a = ann.get("/api/v1/prompts/" + a.prompt().ID).is(200)
	t.Log(a.body, a.header)
	a = ann.get("/api/v1/openapi.json").is(200)
	require.NotEmpty(t, a.body)
	t.Log(ann.do(http.MethodPost, "/api/v1/prompts", `{"Title":3,"text":7}`).body)
	t.Log(ann.do(http.MethodPost, "/api/v1/prompts", `{"title":"x","text":"\ud800"}`).body)
	t.Log(ann.do(http.MethodPost, "/api/v1/prompts", `{"title":"x","title":"y"}`).body)
	t.Log(w.logs.String())
}
