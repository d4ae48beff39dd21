// Package manage has what the people who manage the service do: they choose whose posts the default
// feed shows, and decide reports.
package manage

import (
	"context"
	"io"

	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/rowstore"
)

// A Service is what they do. New makes one.
type Service struct{ Config }

// A Config is what a Service needs. Every field is required.
type Config struct {
	*rowstore.Store
	Tables  schema.Tables // prefixed
	Entropy io.Reader
	People  *people.Service
	Look    func(ctx context.Context, c people.Claim, t Target) (Copy, error) // an error unless the caller may see it
	// Remove deletes it. Of a person or a hub it deletes a picture: the asset copied is a copy of it.
	Remove func(ctx context.Context, c people.Claim, t Target, copied string) error
}

// New returns the service.
func New(c Config) *Service { return &Service{c} }
