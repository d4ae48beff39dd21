package api

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/doors/web/theme"
)

// The page at /docs is Swagger UI in the colours of ours. It runs only files of this route, and
// asks only this API. The files of Swagger UI are those that internal/tools/web pins, which
// "make swagger" puts here, compressed.

//go:embed docs
var docsFiles embed.FS

const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// docsTypes are the files that the page loads, with their types.
var docsTypes = map[string]string{
	"page.css": "text/css; charset=utf-8", "page.js": "text/javascript; charset=utf-8",
	"swagger-ui.css": "text/css; charset=utf-8", "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
}

func (a *api) docs() {
	route(a, open, huma.Operation{
		OperationID: "get-docs", Method: http.MethodGet, Path: "/docs", Tags: []string{"system"},
		Summary:     "A page to read this document and try it",
		Description: "Swagger UI, which is part of this service and loads nothing from elsewhere. It sends requests as the caller that Authorize names, or as the one who is signed in.",
		Responses: map[string]*huma.Response{
			"200": {
				Description: "HTML",
				Content: map[string]*huma.MediaType{
					"text/html": {Schema: &huma.Schema{Type: huma.TypeString}, Example: "<!doctype html>"},
				},
			},
		},
	}, a.docsPage)
	route(a, open, huma.Operation{
		OperationID: "get-docs-file", Method: http.MethodGet, Path: "/docs/{file}", Tags: []string{"system"},
		Summary:     "A file that the page loads",
		Description: "Its styles and scripts.", Errors: []int{http.StatusNotFound},
		Responses: map[string]*huma.Response{
			"200": {Description: "A style sheet or a script", Content: map[string]*huma.MediaType{
				"text/css": {
					Schema:  &huma.Schema{Type: huma.TypeString},
					Example: ":root { color-scheme: light dark; }",
				},
				"text/javascript": {Schema: &huma.Schema{Type: huma.TypeString}, Example: `"use strict";`},
			}},
		},
	}, a.docsFile)
}

func (a *api) docsPage(context.Context, call, *struct{}) (*rawOutput, error) {
	page, err := docsFiles.ReadFile("docs/page.html")
	return &rawOutput{ContentType: "text/html; charset=utf-8", CSP: docsPolicy, Body: page}, err
}

type docsFileInput struct {
	File     string `path:"file" doc:"Its name" example:"page.css"`
	Encoding string `header:"Accept-Encoding" hidden:"true"`
}

type docsFileOutput struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Encoding    string `header:"Content-Encoding" hidden:"true"`
	Vary        string `header:"Vary" hidden:"true"`
	Body        []byte
}

func (a *api) docsFile(_ context.Context, _ call, in *docsFileInput) (*docsFileOutput, error) {
	out := &docsFileOutput{ContentType: docsTypes[in.File], Vary: "Accept-Encoding"}
	if out.ContentType == "" {
		return nil, fault.New(fault.NotFound, "the page has no such file")
	}
	var err error
	if out.Body, err = docsFiles.ReadFile("docs/" + in.File); err == nil {
		if in.File == "page.css" {
			out.Body = append([]byte(theme.Colours), out.Body...)
		}
		return out, nil
	}
	if out.Body, err = docsFiles.ReadFile("docs/" + in.File + ".gz"); err != nil {
		return nil, fmt.Errorf("the file %s of the page: %w", in.File, err)
	}
	if httpjson.TakesGzip([]string{in.Encoding}) {
		out.Encoding = "gzip"
		return out, nil
	}
	out.Body, err = inflated[in.File]()
	return out, err
}

// inflated are the files of Swagger UI for clients that take none compressed: each is inflated for
// the first of them.
var inflated = map[string]func() ([]byte, error){
	"swagger-ui.css":       inflate("swagger-ui.css"),
	"swagger-ui-bundle.js": inflate("swagger-ui-bundle.js"),
}

func inflate(file string) func() ([]byte, error) {
	return sync.OnceValues(func() ([]byte, error) {
		packed, err := docsFiles.ReadFile("docs/" + file + ".gz")
		if err != nil {
			return nil, err
		}
		plain, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(plain)
	})
}
