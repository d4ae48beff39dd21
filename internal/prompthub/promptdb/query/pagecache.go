package query

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
)

// One partition serves about two thousand rows a second: a hundred first pages of the newest, of
// the most liked or of a popular tag. So an instance keeps first pages for a moment, and callers
// who come while one is being read share it.
const (
	firstFor  = time.Second
	maxFirsts = 64
)

// A first is the first page of a list, or the reading of it.
type first struct {
	began time.Time     // of the reading: earlier writes are in it
	read  chan struct{} // closed when page and err are set
	page  Page
	err   error
}

// A firstKey names a first page.
type firstKey struct {
	list  rowstore.List // its table, and its partition where it has only one
	limit int
}

// A pageCache holds the first pages that an instance keeps. Its own writes are seen at once,
// because a projection drops the pages that it may have changed. Writes of others are seen when a
// page is firstFor old.
type pageCache struct {
	mu    sync.Mutex
	pages map[firstKey]*first
}

// page returns a first page, which read reads if no recent one is there. It holds no votes of a
// viewer.
func (f *pageCache) page(ctx context.Context, now func() time.Time, key firstKey,
	read func(context.Context) (Page, error),
) (Page, error) {
	p, mine := f.join(key, now())
	switch {
	case p == nil: // too many different ones at once
		return read(ctx)
	case mine:
		f.fill(ctx, key, p, read)
	default:
		select {
		case <-p.read:
		case <-ctx.Done():
			return Page{}, rowstore.Unavailable(ctx.Err())
		}
	}
	return Page{Items: slices.Clone(p.page.Items), After: p.page.After}, p.err
}

// fill reads a page. Others may wait for it, so that it does not end when its caller goes away.
func (f *pageCache) fill(ctx context.Context, key firstKey, p *first, read func(context.Context) (Page, error)) {
	defer close(p.read)
	p.err = errors.New("the reading of the page was cut short")
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rowstore.CallWithin)
	defer cancel()
	if p.page, p.err = read(ctx); p.err != nil {
		f.forget(key, p)
	}
}

// join returns a page that is recent enough, or one that the caller must read, or nil.
func (f *pageCache) join(key firstKey, now time.Time) (p *first, mine bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if p := f.pages[key]; p != nil && now.Sub(p.began) < firstFor {
		return p, false
	}
	if f.pages == nil {
		f.pages = make(map[firstKey]*first)
	}
	if len(f.pages) >= maxFirsts {
		f.expire(now)
	}
	if _, has := f.pages[key]; !has && len(f.pages) >= maxFirsts {
		return nil, false
	}
	p = &first{began: now, read: make(chan struct{})}
	f.pages[key] = p
	return p, true
}

func (f *pageCache) expire(now time.Time) {
	for key, p := range f.pages {
		if now.Sub(p.began) >= firstFor {
			delete(f.pages, key)
		}
	}
}

func (f *pageCache) forget(key firstKey, p *first) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.pages[key] == p {
		delete(f.pages, key)
	}
}

// FirstPages returns how many first pages the instance keeps.
func (db *Queries) FirstPages() int {
	db.pages.mu.Lock()
	defer db.pages.mu.Unlock()
	return len(db.pages.pages)
}

// Projected makes the caches follow a prompt whose index rows this instance has just written.
func (db *Queries) Projected(p prompt.Prompt) {
	db.pages.changed(db.T, p)
	if p.Listed() {
		db.partitions.listed(monthOf(p.ID.Time()))
	}
}

// changed drops the pages that the index rows of a prompt may have changed: those that show it,
// those that should, and those that are being read. A caller that waits for one of these came
// before the change was answered.
func (f *pageCache) changed(t schema.Tables, p prompt.Prompt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, kept := range f.pages {
		if !kept.done() || kept.shows(p.ID) || kept.lacks(t, key, p) {
			delete(f.pages, key)
		}
	}
}

func (p *first) done() bool {
	select {
	case <-p.read:
		return true
	default:
		return false
	}
}

func (p *first) shows(id prompt.ID) bool {
	return slices.ContainsFunc(p.page.Items, func(v truth.View) bool { return v.ID == id })
}

// lacks reports whether a prompt's row lies before the end of a page.
func (p *first) lacks(t schema.Tables, key firstKey, x prompt.Prompt) bool {
	switch {
	case !x.Listed() || key.list.Table == t.TagIndex && !slices.ContainsFunc(x.Tags, func(tag prompt.Tag) bool {
		return schema.TagPartition(tag) == key.list.Partition
	}):
		return false
	case p.page.After == "":
		return true
	}
	for _, r := range schema.Rankings {
		if r.Table(t) == key.list.Table {
			return r.Key(x).Row < p.page.After
		}
	}
	return schema.ByAge(x.ID) < p.page.After
}
