package openapi

import "github.com/danielgtaylor/huma/v2"

// A Body is an input or an answer that is a body alone.
type Body[T any] struct{ Body T }

// Answer returns an answer that is a body alone, or an error.
func Answer[T any](v T, err error) (*Body[T], error) {
	if err != nil {
		return nil, err
	}
	return &Body[T]{v}, nil
}

// OneOf returns the schema of a text that is one of some values.
func OneOf(values []string) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range values {
		s.Enum = append(s.Enum, v)
	}
	return s
}
