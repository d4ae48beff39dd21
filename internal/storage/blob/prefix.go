package blob

import "context"

// Prefixed returns a store whose containers stand in s with a prefix before their names, so that
// several applications can share s.
func Prefixed(s Store, prefix string) Store {
	if prefix == "" {
		return s
	}
	return prefixed{s, prefix}
}

type prefixed struct {
	all    Store
	prefix string
}

func (p prefixed) Put(ctx context.Context, container, name string, body []byte) error {
	return p.all.Put(ctx, p.prefix+container, name, body)
}

func (p prefixed) Get(ctx context.Context, container, name string) (Blob, error) {
	return p.all.Get(ctx, p.prefix+container, name)
}

func (p prefixed) Delete(ctx context.Context, container, name string) error {
	return p.all.Delete(ctx, p.prefix+container, name)
}

func (p prefixed) List(ctx context.Context, container, prefix string, limit int, next string) (Page, error) {
	return p.all.List(ctx, p.prefix+container, prefix, limit, next)
}

func (p prefixed) Create(ctx context.Context, containers ...string) error {
	names := make([]string, len(containers))
	for i, name := range containers {
		names[i] = p.prefix + name
	}
	return p.all.Create(ctx, names...)
}
