package pages_test

import (
	"bytes"
	"html/template"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"prompthub/internal/http/pages"
)

// TestBar: a bar says where the reader is, and its forms are sent.
func TestBar(t *testing.T) {
	t.Parallel()
	newBar := func() pages.Bar {
		return pages.Bar{
			Label: "Pages", News: "/p/news",
			Places: []pages.Place{
				{Address: "/p", Name: "Home"},
				{Address: "/p/tea", Name: "Tea & <more>", Icon: pages.IconHeart, New: "tea"},
			},
			More: pages.Place{Name: "More", Icon: pages.IconMore},
			Rest: []pages.Place{
				{Address: "/p/tea/cups", Name: "Cups"},
				{Address: "/p/out", Name: "Out", Form: map[string]string{}},
				{Address: "/p/say", Name: "Say", Form: map[string]string{"to": "\"ru\""}},
			},
		}
	}
	for path, want := range map[string][]string{
		"/p": {"page", "", ""}, "/p/": {"", "", ""}, "/p/tea": {"", "page", ""},
		"/p/tea/1": {"", "true", ""}, "/p/teapot": {"", "", ""},
		"/p/tea/cups": {"", "", "page"}, "/p/tea/cups/1": {"", "", "true"},
		"/p/out": {"", "", ""}, "/p/coffee": {"", "", ""},
	} {
		b := newBar()
		b.At(path, "/p")
		require.Equal(t, want, []string{b.Places[0].Here, b.Places[1].Here, b.Rest[0].Here}, path)
	}
	sets := pages.Templates(fstest.MapFS{
		"templates/shared/frame.html": {Data: []byte(`{{define "frame"}}{{template "bar" .}}{{end}}`)},
		"templates/one.html":          {Data: []byte(`{{define "main"}}{{end}}`)},
	}, template.FuncMap{})
	b := newBar()
	b.At("/p/tea/cups", "/p")
	var out bytes.Buffer
	require.NoError(t, sets["one"].ExecuteTemplate(&out, "frame", b))
	const pen = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="`
	require.Equal(t, `<nav class="bar" aria-label="Pages" data-news="/p/news">
<a href="/p">`+pen+`"/></svg>Home</a>
<a href="/p/tea" data-new="tea">`+pen+pages.IconHeart+`"/></svg>Tea &amp; &lt;more&gt;<span></span></a>
<details><summary>`+pen+pages.IconMore+`"/></svg>More</summary><div>
<a href="/p/tea/cups" aria-current="page">Cups</a>
<form method="post" action="/p/out"><button class="quiet">Out</button></form>
<form method="post" action="/p/say"><input type="hidden" name="to" value="&#34;ru&#34;"><button class="quiet">Say</button></form>
</div></details>
</nav>`, out.String())
}

// TestManifest: a manifest names the files of its application as they are served.
func TestManifest(t *testing.T) {
	t.Parallel()
	s := pages.NewStatic("/p/static/", fstest.MapFS{
		"static/icon.svg":             {Data: []byte("<svg/>")},
		"static/manifest.webmanifest": {Data: []byte(`{"src": "./icon.svg"}`)},
	}, nil)
	w := get(s.Handler(admission()), "GET", s.Address("manifest.webmanifest"))
	require.Equal(t, "application/manifest+json", w.Header().Get("Content-Type"))
	require.Equal(t, `{"src": "`+s.Address("icon.svg")+`"}`, w.Body.String())
}
