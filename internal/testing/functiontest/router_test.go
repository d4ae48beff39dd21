package functiontest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRoute(t *testing.T) {
	t.Parallel()
	tests := []struct {
		template, path string
		want           bool
	}{
		{"prompts", "/api/prompts", true},
		{"prompts", "/API/Prompts/", true},
		{"prompts", "/api/prompts//", false},
		{"prompts", "//api/prompts", false},
		{"prompts", "/prompts", false},
		{"prompts", "/api/promptss", false},
		{"prompts/{id}", "/api/prompts/7", true},
		{"prompts/{id}", "/api/prompts/", false},
		{"prompts/{id}", "/api/prompts/7/vote", false},
		{"prompts/{id}/vote", "/api/prompts/7/VOTE", true},
		{"prompts/{id?}", "/api/prompts", true},
		{"prompts/{id?}", "/api/prompts/7", true},
		{"prompts/{id=5}", "/api/prompts", true},
		{"prompts/{id=5}", "/api/prompts/6", true},
		{"prompts/{id:int}", "/api/prompts/-7", true},
		{"prompts/{id:int}", "/api/prompts/7a", false},
		{"prompts/{id:int}", "/api/prompts/2147483648", false},
		{"prompts/{id:int?}", "/api/prompts", true},
		{"prompts/{id:int?}", "/api/prompts/x", false},
		{"prompts/{id:guid}", "/api/prompts/3b8f2b0e-6d0c-4b9e-9a5e-0c3c8a1f2d11", true},
		{"prompts/{id:guid}", "/api/prompts/3b8f2b0e6d0c4b9e9a5e0c3c8a1f2d1", false},
		{"prompts/{id:alpha}", "/api/prompts/aZ", true},
		{"prompts/{id:alpha}", "/api/prompts/a1", false},
		{"prompts/{id:maxlength(3)}", "/api/prompts/äöü", true},
		{"prompts/{id:maxlength(3)}", "/api/prompts/four", false},
		{"prompts/{id:alpha:maxlength(3)}", "/api/prompts/four", false},
		{"{*rest}", "/api", true},
		{"{*rest}", "/api/a/b", true},
		{"{*rest}", "/apis", false},
		{"app/{*rest}", "/api/app", true},
		{"app/{*rest}", "/api/app/", true},
		{"app/{*rest}", "/api/app//x", false},
		{"app/{*rest}", "/api/app//", false},
		{"app/{*rest}", "/api/app/x//y", true},
		{"app/{*rest}", "/api/app/x//", true},
		{"tags/{**rest}", "/api/tags/a/b", true},
	}
	for _, tt := range tests {
		t.Run(tt.template+" "+tt.path, func(t *testing.T) {
			t.Parallel()
			r, err := parseRoute("api", tt.template)
			require.NoError(t, err)
			require.Equal(t, tt.want, r.match(tt.path))
		})
	}
}

func TestRouteRefused(t *testing.T) {
	t.Parallel()
	for _, template := range []string{
		"admin", "Admin/x", "administrators", "runtime/x", "a//b", "{id", "id}", "a{id}", "{a}{b}", "{}",
		"{*}", "{*rest}/b", "{id?}/b",
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
		return `{"bindings":[{"type":"httpTrigger","direction":"in","name":"req","route":"` + route +
			`"},{"type":"http","direction":"out","name":"res"}]}`
	}
	a, err := readApp(files{
		"host.json": hostJSON(""), "B-any/function.json": http("x/{id}"), "c-exact/function.json": http("x/exact"),
		"a-other/function.json": http("y"),
	}.write(t), nil)
	require.NoError(t, err)
	require.Equal(t, "B-any", a.route("GET", "/api/x/exact").name)
}
