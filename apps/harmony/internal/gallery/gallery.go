// Package gallery keeps the pictures of things that have one: items of the store, events and posts.
//
// A picture is two files, {thing}/{image}.jpg and a small one. They come before the row that names
// them and go after it, so a row never names a picture that is not there. The timer sweeps files
// that no row names.
package gallery

import (
	"context"
	"errors"
	"slices"
	"strings"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/fault"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// side is how long the longer side of a picture is.
const side = 2048

// A Gallery has the pictures of all things of a kind.
type Gallery struct {
	Container string
	members   *meet.Service
	path      string // of the doors
}

// Suffix ends the names of containers of pictures. Addresses of pictures have the part before it.
const Suffix = "-images"

// The containers of the kinds.
const (
	ContainerBlog   = "blog-images"
	ContainerEvents = "event-images"
	ContainerStore  = "store-images"
)

// New returns the gallery of a container.
func New(members *meet.Service, container string) Gallery {
	return Gallery{container, members, pathOf(container)}
}

// Create makes the container if it is missing.
func (g Gallery) Create(ctx context.Context) error { return g.members.Blobs.Create(ctx, g.Container) }

// pathOf returns where the doors serve the pictures of a container.
func pathOf(container string) string {
	return "/api/v1/images/" + strings.TrimSuffix(container, Suffix) + "/"
}

// fileNames returns the names of the files of the picture that an address leads to.
func (g Gallery) fileNames(url string) []string {
	name, ok := strings.CutSuffix(strings.TrimPrefix(url, g.path), ".jpg")
	if !ok {
		return nil
	}
	return []string{name + ".jpg", name + account.ThumbSuffix}
}

// Named returns the files in a container that the row of a thing names.
func Named(container string, row table.Row) (files []backup.Blob) {
	g := Gallery{Container: container, path: pathOf(container)}
	for _, name := range g.fileNames(row.Props.Get("ImageUrl").Str()) {
		files = append(files, backup.Blob{Container: container, Name: name})
	}
	return files
}

// Add makes a picture of a thing out of a file that a caller has sent, and returns its address for
// the row. It has been found out that the caller may.
func (g Gallery) Add(ctx context.Context, c meet.Claim, id string, file []byte) (url string, err error) {
	made, err := g.members.Pictures.Make(ctx, c.UserID, file, side)
	if err != nil {
		return "", err
	}
	url = g.path + id + "/" + g.members.NewID() + ".jpg"
	names := g.fileNames(url)
	return url, rowstore.Both(ctx, func(ctx context.Context) error {
		return g.members.PutFile(ctx, g.Container, names[0], made.Large)
	},
		func(ctx context.Context) error { return g.members.PutFile(ctx, g.Container, names[1], made.Thumb) })
}

// Drop removes a picture that no row names any more, after the answer.
func (g Gallery) Drop(ctx context.Context, url string) {
	g.members.DropFiles(ctx, g.Container, g.fileNames(url))
}

// File returns a file of a thing.
func (g Gallery) File(ctx context.Context, id, file string) (blob.Blob, error) {
	if image, _ := account.CutImage(file); !meet.IsID(id) || !meet.IsID(image) {
		return blob.Blob{}, Missing()
	}
	return g.members.File(ctx, g.Container, id+"/"+file)
}

// Has reports whether a file is of the picture that an address leads to.
func (g Gallery) Has(url, id, file string) bool {
	return slices.Contains(g.fileNames(url), id+"/"+file)
}

// Missing is the error of a picture that is not there for the caller.
func Missing() error {
	return fault.Coded(fault.NotFound, meet.ImageNotFound, "there is no such picture")
}

// Check looks for the files of the picture that a row names.
func (g Gallery) Check(ctx context.Context, name string, row table.Row) (found []meet.Finding, err error) {
	for _, file := range g.fileNames(row.Props.Get("ImageUrl").Str()) {
		_, err := g.members.Blobs.Get(ctx, g.Container, file)
		if errors.Is(err, blob.ErrNotFound) {
			found = append(found, meet.Finding{Table: name, Key: row.Key, Says: "a file of the picture is missing"})
		} else if err != nil {
			return nil, err
		}
	}
	return found, nil
}
