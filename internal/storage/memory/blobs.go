package memory

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"prompthub/internal/storage/blob"
)

// Blobs are blobs in memory: a blob.Store.
type Blobs struct {
	now func() time.Time

	mu         sync.RWMutex
	containers map[string]map[string]kept
}

var _ blob.Store = (*Blobs)(nil)

type kept struct {
	body   []byte
	stored time.Time
}

// NewBlobs returns a store without containers. now is its clock.
func NewBlobs(now func() time.Time) *Blobs {
	return &Blobs{now: now, containers: map[string]map[string]kept{}}
}

// container returns the blobs of a container.
func (b *Blobs) container(ctx context.Context, name string) (map[string]kept, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	c, ok := b.containers[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, blob.ErrNoContainer)
	}
	return c, nil
}

// Put implements blob.Store.
func (b *Blobs) Put(ctx context.Context, container, name string, body []byte) error {
	if err := blob.CheckPut(container, name, body); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, err := b.container(ctx, container)
	if err != nil {
		return err
	}
	if _, ok := c[name]; ok {
		return blob.ErrExists
	}
	c[name] = kept{bytes.Clone(body), b.now().UTC()}
	return nil
}

// Get implements blob.Store.
func (b *Blobs) Get(ctx context.Context, container, name string) (blob.Blob, error) {
	if err := blob.CheckName(container, name); err != nil {
		return blob.Blob{}, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	c, err := b.container(ctx, container)
	if err != nil {
		return blob.Blob{}, err
	}
	k, ok := c[name]
	if !ok {
		return blob.Blob{}, blob.ErrNotFound
	}
	return blob.Blob{Body: bytes.Clone(k.body), Type: blob.Type(name), ETag: blob.ETag(k.body), Stored: k.stored}, nil
}

// Delete implements blob.Store.
func (b *Blobs) Delete(ctx context.Context, container, name string) error {
	if err := blob.CheckName(container, name); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c, err := b.container(ctx, container)
	if err != nil {
		return err
	}
	delete(c, name)
	return nil
}

// List implements blob.Store. Next is the name of the last blob of a page.
func (b *Blobs) List(ctx context.Context, container, prefix string, limit int, next string) (blob.Page, error) {
	if err := blob.CheckList(container, prefix, limit); err != nil {
		return blob.Page{}, err
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	c, err := b.container(ctx, container)
	if err != nil {
		return blob.Page{}, err
	}
	var p blob.Page
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if !strings.HasPrefix(name, prefix) || name <= next {
			continue
		}
		if len(p.Items) == limit {
			p.Next = p.Items[limit-1].Name
			break
		}
		p.Items = append(p.Items, blob.Item{Name: name, Size: int64(len(c[name].body)), Stored: c[name].stored})
	}
	return p, nil
}

// Create implements blob.Store.
func (b *Blobs) Create(ctx context.Context, containers ...string) error {
	for _, name := range containers {
		if err := blob.CheckContainer(name); err != nil {
			return err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	for _, name := range containers {
		if b.containers[name] == nil {
			b.containers[name] = map[string]kept{}
		}
	}
	return nil
}
