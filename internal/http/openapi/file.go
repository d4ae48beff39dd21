package openapi

import "github.com/danielgtaylor/huma/v2"

// A File is an answer that is a file which never changes, such as a picture.
type File struct {
	ContentType  string `header:"Content-Type" doc:"image/jpeg"`
	CacheControl string `header:"Cache-Control" doc:"Pictures never change, but whether one may see them does"`
	ETag         string `header:"ETag" doc:"Of the file"`
	Body         []byte
}

// Binary returns bodies that are files of some types.
func Binary(types ...string) map[string]*huma.MediaType {
	all := map[string]*huma.MediaType{}
	for _, t := range types {
		all[t] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}
	}
	return all
}

// TakesFile makes an operation one whose body is a file of one of some types.
func TakesFile(op huma.Operation, types ...string) huma.Operation {
	op.RequestBody, op.SkipValidateBody, op.MaxBodyBytes = &huma.RequestBody{
		Required: true, Content: Binary(types...),
	}, true, -1
	return op
}
