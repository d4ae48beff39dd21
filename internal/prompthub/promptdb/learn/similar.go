package learn

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

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// An author is shown public prompts that are like theirs, and the tags that such prompts have. A
// timer keeps sketches of the newest public prompts together in a few rows of SystemState, and in
// one the counts of their words by tag, which each instance reads once in a while: so no write of a
// prompt costs a row more, and a prompt is found within an hour. A prompt that a sketch finds is
// read as the caller reads any prompt, so only public ones are shown.

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

// A Sketch is that of a prompt.
type Sketch struct {
	ID     prompt.ID
	sketch prompt.Sketch
}

// KeepSketches is the job that writes the sketches of the newest public prompts, and what their
// words say of their tags. It returns how many prompts it kept, and how well words tell tags.
func (db *Learner) KeepSketches(ctx context.Context) (int, prompt.Trial, error) {
	return db.KeepNewestSketches(ctx, maxSketches)
}

// KeepNewestSketches does it for n prompts.
func (db *Learner) KeepNewestSketches(ctx context.Context, most int) (int, prompt.Trial, error) {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	parts, err := db.newestByAuthor(ctx, most)
	if err != nil {
		return 0, prompt.Trial{}, err
	}
	type looked struct {
		Sketch
		example prompt.Example
	}
	var all []looked
	var mu sync.Mutex // calls wait for storage side by side, and one processor is left to others
	err = rowstore.Each(ctx, len(parts), readsAtOnce, func(ctx context.Context, i int) error {
		return db.readPart(ctx, parts[i], func(rec schema.Record) {
			if rec.Purging || !rec.Listed() {
				return // taken back since
			}
			mu.Lock()
			defer mu.Unlock()
			// copies, because a part of a row keeps all of its page in memory
			tags := make([]prompt.Tag, len(rec.Tags))
			for i, tag := range rec.Tags {
				tags[i] = prompt.Tag(strings.Clone(string(tag)))
			}
			id, text := prompt.ID(strings.Clone(string(rec.ID))), rec.Content().Words()
			all = append(all, looked{Sketch{id, prompt.RunsOf(text).Sketch()}, prompt.NewExample(rec.Title, text, tags)})
		})
	})
	if err != nil {
		return 0, prompt.Trial{}, err
	}
	slices.SortFunc(all, func(a, b looked) int { return cmp.Compare(b.ID, a.ID) })
	sketches, examples := make([]Sketch, len(all)), make([]prompt.Example, len(all))
	for i, l := range all {
		sketches[i], examples[i] = l.Sketch, l.example
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
func (db *Learner) newestByAuthor(ctx context.Context, most int) ([]authorPart, error) {
	ids := map[prompt.UserID][]prompt.ID{}
	for after, n := "", 0; ; {
		page, err := db.query.NewestPage(ctx, after, min(most-n, table.MaxPage-1)) // which reads one more
		if err != nil {
			return nil, err
		}
		for _, p := range page.Items {
			id, ok := schema.ParseID(strings.Clone(string(p.ID)))
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
func (db *Learner) readPart(ctx context.Context, p authorPart, found func(schema.Record)) error {
	ids, next, size := p.ids, "", firstRead
	for len(ids) > 0 {
		r := table.Range{Partition: schema.AuthorPartition(p.author), From: string(ids[0]), To: table.After(string(ids[len(ids)-1]))}
		page, err := db.DB.List(ctx, db.T.Prompts, r, min(size, 2*len(ids)-1), next)
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			for len(ids) > 0 && string(ids[0]) <= d.Key.Row {
				ids = ids[1:]
			}
			next = ""
			continue
		}
		if err != nil {
			return rowstore.Unavailable(fmt.Errorf("list %s: %w", db.T.Prompts, err))
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
			if rec, err := schema.ParseRecord(row); err == nil {
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
func (db *Learner) writeSketches(ctx context.Context, all []Sketch) error {
	n := 0
	for page := range slices.Chunk(all, sketchesPerRow) {
		row := table.Row{Key: sketchesKey(n), Props: table.Props{{Name: "Sketches", Value: table.String(sketchesText(page))}}}
		if err := db.Write(ctx, db.T.SystemState, []table.Op{{Kind: table.Upsert, Row: row}}); err != nil {
			return rowstore.Unavailable(fmt.Errorf("write sketches: %w", err))
		}
		n++
	}
	return db.removeFrom(ctx, sketchesKey(n))
}

func sketchesKey(n int) table.Key {
	return table.Key{Partition: sketchesPartition, Row: fmt.Sprintf("%06d", n)}
}

// sketchesText writes sketches: an id and sixteen numbers each.
func sketchesText(all []Sketch) string {
	var b strings.Builder
	for _, s := range all {
		var numbers []byte
		for _, x := range s.sketch {
			numbers = binary.BigEndian.AppendUint32(numbers, x)
		}
		b.WriteString(string(s.ID) + base64.RawStdEncoding.EncodeToString(numbers) + "\n")
	}
	return b.String()
}

// parseSketches reads what sketchesText wrote, and skips what it did not.
func parseSketches(text string) []Sketch {
	var all []Sketch
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if len(line) <= idLength {
			continue
		}
		id, ok := schema.ParseID(line[:idLength])
		numbers, err := base64.RawStdEncoding.DecodeString(line[idLength:])
		s := Sketch{ID: id}
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

// ReadSketches reads the sketches that a job kept.
func (db *Learner) ReadSketches(ctx context.Context) (all []Sketch, err error) {
	for row, err := range table.All(ctx, db.DB, db.T.SystemState, table.Range{Partition: sketchesPartition}) {
		if err != nil {
			return nil, rowstore.Unavailable(err)
		}
		all = append(all, parseSketches(row.Props.Get("Sketches").Str())...)
	}
	return all, nil
}

// A Similar is a public prompt that is like a text.
type Similar struct {
	truth.View
	Like float64 // how much they have in common, from prompt.Alike to 1
}

// Similar returns public prompts whose texts are like one, the most alike first. The prompt that is
// being written itself is none of them.
func (db *Learner) Similar(ctx context.Context, viewer prompt.UserID, text string, itself prompt.ID) ([]Similar, error) {
	all, err := db.sketches.Now(ctx, db.Now, sketchesFor, db.ReadSketches)
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
		if n := s.sketch.Common(sketch); n > 0 && s.ID != itself {
			candidates = append(candidates, candidate{s.ID, n})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return b.common - a.common })
	candidates = candidates[:min(len(candidates), maxCandidates)]
	found := make([]Similar, len(candidates))
	g, gctx := errgroup.WithContext(ctx)
	for i, c := range candidates {
		g.Go(func() error {
			v, err := db.query.Get(gctx, viewer, c.id)
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
