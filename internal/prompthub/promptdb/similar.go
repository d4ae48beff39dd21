package promptdb

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/singleflight"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// Who writes is told of public prompts that are like his, and of tags that such prompts have. A
// timer keeps sketches of the newest public prompts together in a few rows of SystemState, and in
// one what their words say of their tags, which each instance reads once in a while: so no write of
// a prompt costs a row more, and a prompt is found within an hour. What a sketch finds is read as
// anybody reads it, so nobody is shown what he may not see.

const (
	maxSketches    = 20_000 // the newest: some three megabytes of an instance that was asked
	sketchesPerRow = 250
	sketchesFor    = 10 * time.Minute // an instance believes what it read for so long, tag words too
	maxCandidates  = 5

	// How many prompts are read in one call, at first and at most, and in how many at once: a page is
	// in memory whole. Those of one author are read in parts.
	firstRead   = 16
	largestRead = 32
	readsAtOnce = 8
	largestPart = 500

	sketchesPartition = "sketches"
)

type sketched struct {
	id     prompt.ID
	sketch prompt.Sketch
}

// cached is what a job keeps and an instance reads once in a while. One read serves all who
// wait.
type cached[T any] struct {
	reading singleflight.Group
	mu      sync.Mutex
	value   T
	at      time.Time
}

// now returns what was read, which may be as old as keep.
func (k *cached[T]) now(ctx context.Context, now func() time.Time, keep time.Duration, read func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	value, at := k.value, k.at
	k.mu.Unlock()
	if !at.IsZero() && now().Sub(at) < keep {
		return value, nil
	}
	v, err, _ := k.reading.Do("", func() (any, error) {
		value, err := read(context.WithoutCancel(ctx))
		if err != nil {
			return value, err
		}
		k.mu.Lock()
		k.value, k.at = value, now()
		k.mu.Unlock()
		return value, nil
	})
	value, _ = v.(T)
	return value, err
}

// KeepSketches is the job that writes the sketches of the newest public prompts, and what their
// words say of their tags. It returns how many prompts it kept, and how well words tell tags.
func (db *DB) KeepSketches(ctx context.Context) (int, prompt.Trial, error) {
	return db.keepSketches(ctx, maxSketches)
}

// keepSketches does it for n prompts.
func (db *DB) keepSketches(ctx context.Context, most int) (int, prompt.Trial, error) {
	ctx, cancel := context.WithTimeout(ctx, JobEnds)
	defer cancel()
	parts, err := db.newestByAuthor(ctx, most)
	if err != nil {
		return 0, prompt.Trial{}, err
	}
	type looked struct {
		sketched
		example prompt.Example
	}
	var all []looked
	var mu sync.Mutex // calls wait for storage side by side, and one processor is left to others
	err = each(ctx, len(parts), readsAtOnce, func(ctx context.Context, i int) error {
		return db.readPart(ctx, parts[i], func(rec record) {
			if rec.purging || !rec.Listed() {
				return // taken back since
			}
			mu.Lock()
			defer mu.Unlock()
			// copies, as what is part of a row keeps all of it in memory, or all of its page
			tags := make([]prompt.Tag, len(rec.Tags))
			for i, tag := range rec.Tags {
				tags[i] = prompt.Tag(strings.Clone(string(tag)))
			}
			id, text := prompt.ID(strings.Clone(string(rec.ID))), rec.Content().Words()
			all = append(all, looked{sketched{id, prompt.RunsOf(text).Sketch()}, prompt.NewExample(rec.Title, text, tags)})
		})
	})
	if err != nil {
		return 0, prompt.Trial{}, err
	}
	slices.SortFunc(all, func(a, b looked) int { return cmp.Compare(b.id, a.id) })
	sketches, examples := make([]sketched, len(all)), make([]prompt.Example, len(all))
	for i, l := range all {
		sketches[i], examples[i] = l.sketched, l.example
	}
	if err := db.writeSketches(ctx, sketches); err != nil {
		return 0, prompt.Trial{}, err
	}
	trial, err := db.keepTagWords(ctx, examples)
	return len(all), trial, err
}

// An authorPart is some prompts of one author, the oldest first.
type authorPart struct {
	author prompt.UserID
	ids    []prompt.ID
}

// newestByAuthor returns n of the newest public prompts in parts that can be read side by
// side.
func (db *DB) newestByAuthor(ctx context.Context, most int) ([]authorPart, error) {
	ids := map[prompt.UserID][]prompt.ID{}
	for after, n := "", 0; ; {
		page, err := db.newest(ctx, after, min(most-n, table.MaxPage-1)) // which reads one more
		if err != nil {
			return nil, err
		}
		for _, p := range page.Items {
			id, ok := parseID(strings.Clone(string(p.ID)))
			if !ok {
				continue // a finding of anti-entropy
			}
			author := p.AuthorID
			if _, ok := ids[author]; !ok {
				author = prompt.UserID(strings.Clone(string(author)))
			}
			ids[author] = append(ids[author], id)
		}
		n += len(page.Items)
		if after = page.After; after == "" || n >= most {
			break
		}
	}
	var parts []authorPart
	for author, of := range ids {
		slices.Sort(of)
		for part := range slices.Chunk(of, largestPart) {
			parts = append(parts, authorPart{author, part})
		}
	}
	return parts, nil
}

// readPart reads prompts with no more calls than they are. It reads what lies between them too, the
// more the less of that is in vain: so an import of five hundred takes some twenty calls, and
// private prompts that lie between public ones cost little. A prompt that is gone, or whose row
// cannot be read, which is a finding of anti-entropy, is left out.
func (db *DB) readPart(ctx context.Context, p authorPart, found func(record)) error {
	ids, next, size := p.ids, "", firstRead
	for len(ids) > 0 {
		r := table.Range{Partition: authorPartition(p.author), From: string(ids[0]), To: table.After(string(ids[len(ids)-1]))}
		page, err := db.store.List(ctx, db.t.Prompts, r, min(size, 2*len(ids)-1), next)
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			for len(ids) > 0 && string(ids[0]) <= d.Key.Row {
				ids = ids[1:]
			}
			next = ""
			continue
		}
		if err != nil {
			return unavailable(fmt.Errorf("list %s: %w", db.t.Prompts, err))
		}
		wanted := 0
		for _, row := range page.Rows {
			for len(ids) > 0 && string(ids[0]) < row.Row {
				ids = ids[1:]
			}
			if len(ids) == 0 || string(ids[0]) != row.Row {
				continue
			}
			ids = ids[1:]
			wanted++
			if rec, err := parseRecord(row); err == nil {
				found(rec)
			}
		}
		if page.Next == "" {
			return nil
		}
		if next = ""; len(page.Rows) == 0 {
			next = page.Next // nothing was passed, so the range is the same
		}
		if 2*wanted >= len(page.Rows) {
			size = min(2*size, largestRead)
		} else {
			size = max(size/2, 1)
		}
	}
	return nil
}

// writeSketches writes sketches in place of those that are there.
func (db *DB) writeSketches(ctx context.Context, all []sketched) error {
	n := 0
	for page := range slices.Chunk(all, sketchesPerRow) {
		row := table.Row{Key: sketchesKey(n), Props: table.Props{{Name: "Sketches", Value: table.String(sketchesText(page))}}}
		if err := db.write(ctx, db.t.SystemState, []table.Op{{Kind: table.Upsert, Row: row}}); err != nil {
			return unavailable(fmt.Errorf("write sketches: %w", err))
		}
		n++
	}
	for row, err := range table.All(ctx, db.store, db.t.SystemState, table.Range{Partition: sketchesPartition, From: sketchesKey(n).Row}) {
		if err == nil {
			err = db.remove(ctx, db.t.SystemState, row.Key)
		}
		if err != nil {
			return unavailable(err)
		}
	}
	return nil
}

func sketchesKey(n int) table.Key {
	return table.Key{Partition: sketchesPartition, Row: fmt.Sprintf("%06d", n)}
}

// sketchesText writes sketches: an id and sixteen numbers each.
func sketchesText(all []sketched) string {
	var b strings.Builder
	for _, s := range all {
		var numbers []byte
		for _, x := range s.sketch {
			numbers = binary.BigEndian.AppendUint32(numbers, x)
		}
		b.WriteString(string(s.id) + base64.RawStdEncoding.EncodeToString(numbers) + "\n")
	}
	return b.String()
}

// parseSketches reads what sketchesText wrote, and skips what it did not.
func parseSketches(text string) []sketched {
	var all []sketched
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) <= idLength {
			continue
		}
		id, ok := parseID(line[:idLength])
		numbers, err := base64.RawStdEncoding.DecodeString(line[idLength:])
		s := sketched{id: id}
		if !ok || err != nil || len(numbers) != 4*len(s.sketch) {
			continue
		}
		for i := range s.sketch {
			s.sketch[i] = binary.BigEndian.Uint32(numbers[4*i:])
		}
		all = append(all, s)
	}
	return all
}

const idLength = 26

func (db *DB) readSketches(ctx context.Context) (all []sketched, err error) {
	for row, err := range table.All(ctx, db.store, db.t.SystemState, table.Range{Partition: sketchesPartition}) {
		if err != nil {
			return nil, unavailable(err)
		}
		all = append(all, parseSketches(row.Props.Get("Sketches").Str())...)
	}
	return all, nil
}

// A Similar is a public prompt that is like a text.
type Similar struct {
	View
	Like float64 // how much they have in common, from prompt.Alike to 1
}

// Similar returns public prompts whose texts are like one, the most alike first. The prompt that is
// being written itself is none of them.
func (db *DB) Similar(ctx context.Context, viewer prompt.UserID, text string, itself prompt.ID) ([]Similar, error) {
	all, err := db.sketches.now(ctx, db.now, sketchesFor, db.readSketches)
	if err != nil {
		return nil, err
	}
	runs := prompt.RunsOf(text)
	if len(runs) == 0 {
		return nil, nil
	}
	sketch := runs.Sketch()
	type candidate struct {
		id     prompt.ID
		common int
	}
	var candidates []candidate
	for _, s := range all {
		if n := s.sketch.Common(sketch); n > 0 && s.id != itself {
			candidates = append(candidates, candidate{s.id, n})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return b.common - a.common })
	candidates = candidates[:min(len(candidates), maxCandidates)]
	found := make([]Similar, len(candidates))
	g, gctx := errgroup.WithContext(ctx)
	for i, c := range candidates {
		g.Go(func() error {
			v, err := db.Get(gctx, viewer, c.id)
			if fault.Of(err) == fault.NotFound || err == nil && !v.Listed() {
				return nil // taken back since
			}
			found[i] = Similar{v, runs.Like(prompt.RunsOf(v.Content().Words()))}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(s Similar) bool { return s.Like < prompt.Alike })
	slices.SortStableFunc(found, func(a, b Similar) int { return cmp.Compare(b.Like, a.Like) })
	return found, nil
}
