package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/browsertest"
)

// foreign are the rules of axe-core that the markup of Swagger UI breaks, which is not ours.
var foreign = []string{
	"button-name", "heading-order", "label", "landmark-unique", "nested-interactive",
	"page-has-heading-one", "region", "select-name",
}

// The page that shows the API: it runs under its policy, asks no other server, and requests made
// there are answered. axe-core sees it light on a desktop and dark on a phone.
func TestBrowserReadsTheAPI(t *testing.T) {
	t.Parallel()
	b := startBrowser(t)
	a := startLocal(t, "embedded")
	source := browsertest.Axe(t)
	for i, v := range variants[:2] {
		p := b.visit(t, a.url(), v)
		p.goTo("/api/v1/docs").sees("document.querySelectorAll('.opblock').length > 40")
		require.Equal(t, "prompts", eval[string](p, "document.querySelector('.opblock-tag').dataset.tag"),
			"what matters most is first")
		p.Shots("reader")
		require.LessOrEqual(t, eval[float64](p, "document.documentElement.scrollWidth - innerWidth"),
			0.0, "wider than the window")
		p.click("#operations-system-get-health .opblock-summary-control")
		p.click("#operations-system-get-health .execute").sees("document.querySelector('#operations-system-get-health .live-responses-table tbody .response-col_status')?.textContent.includes('200')")
		p.click("#operations-prompts-list-prompts .opblock-summary-control").sees("document.querySelector('#operations-prompts-list-prompts .model-box, #operations-prompts-list-prompts .json-schema-2020-12')")
		require.LessOrEqual(t, eval[float64](p, "document.documentElement.scrollWidth - innerWidth"),
			0.0, "wider than the window")
		eval[int](p,
			"document.querySelector('#operations-prompts-list-prompts .responses-wrapper').scrollIntoView(), 1")
		p.Shots("reader answer")
		p.Scheme([]string{"light", "dark"}[i])
		// a colour on its way is none to look at
		p.sees("document.getAnimations().every(a => a.playState !== 'running')")
		eval[bool](p, source+"; true")
		found := eval[[]string](p, `axe.run({resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id))`)
		require.Subset(t, foreign, found, "what is not Swagger UI's markup")
		p.Calm()
	}
}
