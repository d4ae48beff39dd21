package functiontest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoute(t *testing.T) {
	t.Parallel()
	type params = map[string]string
	tests := []struct {
		template, path string
		want           params // nil where the path is another's
	}{
		{"prompts", "/api/prompts", params{}},
		{"prompts", "/API/Prompts/", params{}},
		{"prompts", "/api/prompts//", nil},
		{"prompts", "//api/prompts", nil},
		{"prompts", "/prompts", nil},
		{"prompts", "/api/promptss", nil},
		{"prompts/{id}", "/api/prompts/7", params{"id": "7"}},
		{"prompts/{id}", "/api/prompts/", nil},
		{"prompts/{id}", "/api/prompts/7/vote", nil},
		{"prompts/{id}/vote", "/api/prompts/7/VOTE", params{"id": "7"}},
		{"prompts/{id?}", "/api/prompts", params{}},
		{"prompts/{id?}", "/api/prompts/7", params{"id": "7"}},
		{"prompts/{id=5}", "/api/prompts", params{"id": "5"}},
		{"prompts/{id=5}", "/api/prompts/6", params{"id": "6"}},
		{"prompts/{id:int}", "/api/prompts/-7", params{"id": "-7"}},
		{"prompts/{id:int}", "/api/prompts/7a", nil},
		{"prompts/{id:int}", "/api/prompts/2147483648", nil},
		{"prompts/{id:int?}", "/api/prompts", params{}},
		{"prompts/{id:int?}", "/api/prompts/x", nil},
		{"prompts/{id:guid}", "/api/prompts/3b8f2b0e-6d0c-4b9e-9a5e-0c3c8a1f2d11", params{"id": "3b8f2b0e-6d0c-4b9e-9a5e-0c3c8a1f2d11"}},
		{"prompts/{id:guid}", "/api/prompts/3b8f2b0e6d0c4b9e9a5e0c3c8a1f2d1", nil},
		{"prompts/{id:alpha}", "/api/prompts/aZ", params{"id": "aZ"}},
		{"prompts/{id:alpha}", "/api/prompts/a1", nil},
		{"prompts/{id:maxlength(3)}", "/api/prompts/äöü", params{"id": "äöü"}},
		{"prompts/{id:maxlength(3)}", "/api/prompts/four", nil},
		{"prompts/{id:alpha:maxlength(3)}", "/api/prompts/four", nil},
		{"{*rest}", "/api", params{}},
		{"{*rest}", "/api/a/b", params{"rest": "a/b"}},
		{"{*rest}", "/apis", nil},
		{"tags/{**rest}", "/api/tags/a/b", params{"rest": "a/b"}},
	}
	for _, tt := range tests {
		t.Run(tt.template+" "+tt.path, func(t *testing.T) {
			t.Parallel()
			r, err := parseRoute("api", tt.template)
			require.NoError(t, err)
			got, ok := r.match(tt.path)
			require.Equal(t, tt.want != nil, ok)
			if ok {
				require.Equal(t, tt.want, got)
			}
		})
	}
}

func TestRouteRefused(t *testing.T) {
	t.Parallel()
	for _, template := range []string{
		"admin", "Admin/x", "administrators", "runtime/x", "a//b", "{id", "id}", "a{id}", "{a}{b}", "{}", "{*}", "{*rest}/b", "{id?}/b",
		"{id:regex(^a$)}", "{id:bool}", "{id:maxlength(x)}",
	} {
		_, err := parseRoute("api", template)
		require.Error(t, err, template)
	}
}

// TestFirstByNameWins holds that neither the more exact route nor the order of files counts.
func TestFirstByNameWins(t *testing.T) {
	t.Parallel()
	http := func(route string) string {
		return `{"bindings":[{"type":"httpTrigger","direction":"in","name":"req","route":"` + route + `"},{"type":"http","direction":"out","name":"res"}]}`
	}
	a, err := readApp(files{
		"host.json": hostJSON(true, ""), "B-any/function.json": http("x/{id}"), "c-exact/function.json": http("x/exact"), "a-other/function.json": http("y"),
	}.write(t), nil)
	require.NoError(t, err)
	f, params := a.route("GET", "/api/x/exact")
	require.Equal(t, "B-any", f.name)
	require.Equal(t, map[string]string{"id": "exact"}, params)
}
