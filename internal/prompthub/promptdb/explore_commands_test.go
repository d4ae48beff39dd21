package promptdb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// begin starts one to four commands.
func (e *explorer) begin() {
	if e.rnd.IntN(2) == 0 {
		e.subject("bob", e.second())
	}
	pool := []func(int){
		e.edit, e.edit, e.retag, e.unpublish, e.unpublish, e.remove, e.restoreAgain, e.vote, e.vote, e.unvote, e.waver,
		e.waverNone, e.waverNone, e.hide,
		e.unhide, e.sweep, e.reproject, e.create, e.createTwice, e.backup, e.redrive, e.putTag,
		e.look, e.look, e.votesOfOne,
		e.rename, e.label, e.labelAndUndo, e.deleteVersion, e.recall, e.include, e.includeRemoved, e.fork,
	}
	e.start(pool, 1+e.rnd.IntN(4))
}

func (e *explorer) start(pool []func(int), n int) {
	e.rnd.Shuffle(len(pool), func(i, j int) { pool[i], pool[j] = pool[j], pool[i] })
	for _, command := range pool[:n] {
		command(e.commands)
		e.commands++
	}
}

// second stores another public prompt, by another author.
func (e *explorer) second() prompt.ID {
	id, err := prompt.NewID(e.Now(), strings.NewReader("another id"))
	require.NoError(e.t, err)
	p := prompt.Prompt{
		ID: id, AuthorID: "bob", AuthorName: "Bob", Draft: draft("Other title", "text", "image"),
		CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1,
	}
	_, _, err = e.truth.Add(context.Background(), p, nil)
	require.NoError(e.t, err)
	return id
}

// beginDeleted starts one to three commands on a prompt that will be purged, and on one that is
// not.
func (e *explorer) beginDeleted() {
	s := e.subjects[0]
	s.listed, s.stays, s.purges = false, false, true
	with(deleted)(e.ring, &prompt.Prompt{ID: s.id})
	require.NoError(e.t, e.drain())
	e.Advance(32 * 24 * time.Hour)
	e.purge(9) // a run that was begun by a timer
	pool := []func(int){
		e.purge, e.purge, e.purge, e.undelete, e.undelete, e.vote, e.unvote, e.sweep,
		e.reproject, e.backup, e.redrive,
	}
	e.start(pool, 1+e.rnd.IntN(2))
}

func (e *explorer) purge(i int) {
	e.command(fmt.Sprintf("%d purge", i), func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Purge(ctx)
		return err
	}, nil)
}

// undelete restores a prompt.
func (e *explorer) undelete(i int) {
	name, s := fmt.Sprintf("%d undelete", i), e.subjects[0]
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Change(ctx, s.author, s.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			if !p.Deleted() {
				return p, promptdb.ErrUnchanged
			}
			p.DeletedAt = time.Time{}
			return p, nil
		})
		return err
	}, func() error {
		p, err := e.record(s)
		if err != nil || p.Deleted() {
			return fmt.Errorf("%s was acknowledged, and the prompt is gone: %w", name, err)
		}
		return nil
	})
}

// change is a command that edits a prompt and leaves its name in the text.
func (e *explorer) change(name string, hides bool, edit func(*prompt.Prompt)) {
	s := e.any()
	do := func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Change(ctx, s.author, s.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			if strings.Contains(p.Text, name+";") {
				return p, promptdb.ErrUnchanged
			}
			edit(&p)
			p.Text += name + ";"
			p.Revision++
			return p, nil
		})
		return err
	}
	t := e.command(name, do, func() error {
		v, err := e.record(s)
		if err == nil && !strings.Contains(v.Text, name+";") {
			return fmt.Errorf("%s was acknowledged and is lost; the text is %q", name, v.Text)
		}
		return err
	})
	if hides {
		s.stays = false
		t.hides, t.begun = s, s.listings
	}
}

func (e *explorer) edit(i int) {
	e.change(fmt.Sprintf("%d edit", i), false, func(p *prompt.Prompt) { p.Title = fmt.Sprintf("New title %d", i) })
}

func (e *explorer) retag(i int) {
	e.change(fmt.Sprintf("%d retag", i), false, func(p *prompt.Prompt) { p.Tags = []prompt.Tag{"image", "data"} })
}

func (e *explorer) unpublish(i int) {
	e.change(fmt.Sprintf("%d unpublish", i), true, func(p *prompt.Prompt) { p.Visibility = prompt.Private })
}

func (e *explorer) remove(i int) {
	e.change(fmt.Sprintf("%d delete", i), true, func(p *prompt.Prompt) { p.DeletedAt = e.Now() })
}

func (e *explorer) hide(i int) {
	e.change(fmt.Sprintf("%d hide", i), true, func(p *prompt.Prompt) {
		p.HiddenAt, p.HiddenBy, p.HiddenReason = e.Now(), "mod", "why"
	})
}

func (e *explorer) unhide(i int) {
	e.change(fmt.Sprintf("%d unhide", i), false, func(p *prompt.Prompt) {
		p.HiddenAt, p.HiddenBy, p.HiddenReason = time.Time{}, "", ""
	})
}

// restoreAgain deletes and restores.
func (e *explorer) restoreAgain(i int) {
	s := e.any()
	s.stays = false
	e.command(fmt.Sprintf("%d restore", i), func(ctx context.Context, db *promptdb.DB) error {
		if _, err := db.Change(ctx, s.author, s.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.DeletedAt = e.Now()
			return p, nil
		}); err != nil {
			return err
		}
		_, err := db.Change(ctx, s.author, s.id, func(p prompt.Prompt) (prompt.Prompt, error) {
			p.DeletedAt = time.Time{}
			p.Visibility = prompt.Public
			return p, nil
		})
		return err
	}, nil)
}

func (e *explorer) vote(i int) {
	e.ballot(fmt.Sprintf("%d vote", i), prompt.UserID(fmt.Sprint("voter ", i)), prompt.Like)
}
func (e *explorer) unvote(i int) { e.ballot(fmt.Sprintf("%d unvote", i), "early 3", prompt.None) }

func (e *explorer) ballot(name string, voter prompt.UserID, v prompt.Vote) {
	s := e.any()
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Vote(ctx, voter, s.id, v)
		return err
	}, func() error {
		if _, err := e.record(s); s.purges && err != nil {
			return nil //nolint:nilerr // purged, with its votes
		}
		got, err := e.truth.VoteRow(context.Background(), voter, s.id)
		if err == nil && got != v {
			return fmt.Errorf("the vote %s of %s was acknowledged and is %s", v, voter, got)
		}
		return err
	})
}

// votesOfOne is a user who votes on all prompts.
func (e *explorer) votesOfOne(i int) {
	e.command(fmt.Sprintf("%d votes", i), func(ctx context.Context, db *promptdb.DB) error {
		for _, s := range e.subjects {
			if _, err := db.Vote(ctx, "early 5", s.id, prompt.Dislike); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

// waver votes one way and the other.
func (e *explorer) waver(i int) {
	voter, s := prompt.UserID(fmt.Sprint("wavering ", i)), e.any()
	e.command(fmt.Sprintf("%d waver", i), func(ctx context.Context, db *promptdb.DB) error {
		for _, v := range []prompt.Vote{prompt.Like, prompt.Dislike, prompt.Like, prompt.Dislike} {
			if _, err := db.Vote(ctx, voter, s.id, v); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

func (e *explorer) waverNone(i int) {
	voter, s := prompt.UserID(fmt.Sprint("wavering ", i)), e.any()
	e.command(fmt.Sprintf("%d waverNone", i), func(ctx context.Context, db *promptdb.DB) error {
		for _, v := range []prompt.Vote{prompt.Like, prompt.None, prompt.Like, prompt.None} {
			if _, err := db.Vote(ctx, voter, s.id, v); err != nil {
				return err
			}
			if err := db.Sleep(ctx, 2*time.Second); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}

func (e *explorer) sweep(i int) {
	e.command(fmt.Sprintf("%d sweep", i), func(ctx context.Context, db *promptdb.DB) error {
		_, _, err := db.Sweep(ctx)
		if err != nil {
			e.unswept.Store(true)
		}
		return err
	}, nil)
}

func (e *explorer) reproject(i int) {
	s := e.any()
	e.command(fmt.Sprintf("%d reproject", i), func(ctx context.Context, db *promptdb.DB) error {
		return db.Rewrite(ctx, s.author, s.id)
	}, nil)
}

// redrive puts messages that were set aside back.
func (e *explorer) redrive(i int) {
	e.command(fmt.Sprintf("%d redrive", i), func(ctx context.Context, db *promptdb.DB) error {
		_, err := db.Redrive(ctx)
		return err
	}, nil)
}

// made returns a prompt that will be created.
func (e *explorer) made(author prompt.UserID, title string, n int) prompt.Prompt {
	id, err := prompt.NewID(e.Now(), strings.NewReader(fmt.Sprintf("%010d", n)))
	require.NoError(e.t, err)
	return prompt.Prompt{
		ID: id, AuthorID: author, AuthorName: "A name", Draft: draft(title, "text", "image"),
		CreatedAt: id.Time(), UpdatedAt: id.Time(), Revision: 1,
	}
}

func (e *explorer) create(i int) {
	name := fmt.Sprintf("%d create", i)
	p := e.made("carl", "Created", 100+i)
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		_, _, err := db.Add(ctx, p, nil)
		return err
	}, func() error {
		if _, err := e.truth.Record(context.Background(), "carl", p.ID); err != nil {
			return fmt.Errorf("%s was acknowledged and is lost: %w", name, err)
		}
		return nil
	})
}

// createTwice is a client that sends one request a second time before it has the answer to the
// first.
func (e *explorer) createTwice(i int) {
	k := newKeyed(e, "carl", fmt.Sprint("key ", i))
	k.create(i * 10)
	k.create(i*10 + 1)
	e.rests = append(e.rests, k.one)
}

// A keyed is an Idempotency-Key, and the answers to its requests.
type keyed struct {
	e        *explorer
	author   prompt.UserID
	key      promptdb.Idempotency
	answered map[string]prompt.ID
	several  bool // a prompt that it made may come back
}

func newKeyed(e *explorer, author prompt.UserID, key string) *keyed {
	return &keyed{
		e: e, author: author, key: promptdb.Idempotency{Key: key, Body: "b"},
		answered: map[string]prompt.ID{},
	}
}

func (k *keyed) create(n int) {
	name := fmt.Sprintf("%d create with a key", n)
	p := k.e.made(k.author, "Keyed", 1000+n)
	var id prompt.ID
	k.e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		made, _, err := db.Add(ctx, p, &k.key)
		id = made.ID
		return err
	}, func() error {
		k.answered[name] = id
		if _, err := k.e.truth.Record(context.Background(), k.author, id); err != nil {
			return fmt.Errorf("%s was answered %s, which is not there: %w", name, id, err)
		}
		return nil
	})
}

// one looks at rest that the key made one prompt, and makes no other.
func (k *keyed) one() string {
	ids := map[prompt.ID]bool{}
	for _, id := range k.answered {
		ids[id] = true
	}
	if len(ids) > 1 && !k.several {
		return fmt.Sprintf("one key was answered %v", ids)
	}
	live := map[prompt.ID]bool{}
	for row, err := range table.All(context.Background(), k.e.store, promptdb.DefaultTables().Prompts,
		table.Range{Partition: "u|" + string(k.author)}) {
		if err != nil {
			return err.Error()
		}
		if row.Props.Get("IdempotencyHash").Str() == k.key.Key && !row.Props.Get("IsDeleted").Bool() {
			live[prompt.ID(row.Row)] = true
		}
	}
	if len(live) > 1 && !k.several {
		return fmt.Sprintf("one key made %v that live", live)
	}
	p, isNew, err := k.e.truth.Add(context.Background(), k.e.made(k.author, "Keyed", 9999), &k.key)
	switch {
	case err != nil:
		return "the last create: " + err.Error()
	case isNew && len(live) > 0 && !k.several:
		return fmt.Sprintf("the key makes %s though %v is there", p.ID, live)
	}
	return ""
}

// beginKeyed interleaves creates under one Idempotency-Key with the purge of the prompt that the
// key made a month ago, and with restoring it.
func (e *explorer) beginKeyed() {
	k := newKeyed(e, "ann", "k")
	old := e.made("ann", "Keyed", 1)
	_, _, err := e.truth.Add(context.Background(), old, &k.key)
	require.NoError(e.t, err)
	require.NoError(e.t, e.drain())
	s := &subject{id: old.ID, author: "ann", listed: true, purges: true}
	e.subjects = []*subject{s}
	if e.rnd.IntN(4) > 0 {
		with(deleted)(e.ring, &old)
		require.NoError(e.t, e.drain())
		e.Advance(32 * 24 * time.Hour)
		s.listed = false
	}
	k.create(0)
	if e.rnd.IntN(3) > 0 {
		k.create(1)
	}
	if e.rnd.IntN(3) > 0 {
		e.purge(9)
	}
	if e.rnd.IntN(4) == 0 {
		k.several = true
		e.undelete(2)
	}
	e.rests = append(e.rests, k.one)
}

// backup is restored into a store of its own when all is at rest: that must be whole, and have what
// was answered before it began.
func (e *explorer) backup(i int) {
	name := fmt.Sprintf("%d backup", i)
	var out bytes.Buffer
	before := map[prompt.ID]prompt.Prompt{}
	e.command(name, func(ctx context.Context, db *promptdb.DB) error {
		out.Reset()
		clear(before)
		for _, s := range e.subjects {
			if p, err := e.record(s); err == nil && !s.purges {
				before[s.id] = p
			}
		}
		_, err := db.Backup(ctx, &out, func(promptdb.Difference) {}, func(int) {})
		return err
	}, func() error { return e.restores(name, out.Bytes(), before) })
}

func (e *explorer) restores(name string, backup []byte, before map[prompt.ID]prompt.Prompt) error {
	to := &ring{World: e.World, t: e.t, store: memory.NewTables(), queues: memory.NewQueues(e.Now), whole: e.whole}
	to.truth = to.direct()
	if err := to.truth.Create(context.Background()); err != nil {
		return err
	}
	if err := restore(context.Background(), to.truth, bytes.NewReader(backup)); err != nil {
		return fmt.Errorf("%s does not restore: %w", name, err)
	}
	e.Advance(2 * time.Minute)
	if ds := append(to.differences(), bySchema(to.store)...); len(ds) > 0 {
		return fmt.Errorf("%s, restored: %s", name, strings.Join(ds, "; "))
	}
	for id, p := range before {
		got, err := to.truth.Record(context.Background(), p.AuthorID, id)
		if err != nil {
			return fmt.Errorf("%s, restored: prompt %s of before is not there: %w", name, id, err)
		}
		if !strings.HasPrefix(got.Text, p.Text) && got.Revision <= p.Revision {
			return fmt.Errorf("%s, restored: prompt %s is older than the backup", name, id)
		}
	}
	return nil
}

// putTag changes the catalog, which the same instance sees at once, while it reads it for others.
func (e *explorer) putTag(i int) {
	tag := prompt.TagInfo{Tag: prompt.Tag(fmt.Sprintf("brand-new-%d", i)), DisplayName: "New", Active: true}
	has := func(tags []prompt.TagInfo) bool { return slices.Contains(tags, tag) }
	name := fmt.Sprintf("%d put tag", i)
	h := e.host(0)
	before := e.hosts
	e.hosts = [2]*host{h, h}
	defer func() { e.hosts = before }()
	read := func(n int) {
		e.together(h, fmt.Sprintf("%s: reader %d", name, n), func(ctx context.Context, db *promptdb.DB) error {
			_, err := db.Tags(ctx)
			return err
		}, nil)
	}
	read(0)
	e.together(h, name, func(ctx context.Context, db *promptdb.DB) error {
		if err := db.PutTag(ctx, tag); err != nil {
			return err
		}
		tags, err := db.Tags(ctx)
		if err == nil && !has(tags) {
			e.problem = name + " was answered, and the same instance does not see it"
		}
		return err
	}, func() error {
		tags, err := e.truth.Tags(context.Background())
		if err == nil && !has(tags) {
			return errors.New(name + " was acknowledged and is lost")
		}
		return err
	})
	read(1)
}

// together starts a command in the process of others.
func (e *explorer) together(h *host, name string, do func(context.Context, *promptdb.DB) error, kept func() error) {
	t := &task{name: name, process: h.process, done: make(chan error, 1)}
	go func() { t.done <- do(context.Background(), h.db) }()
	e.tasks = append(e.tasks, t)
	if kept != nil {
		e.promises = append(e.promises, promise{t, kept})
	}
}

// look reads the first pages of an instance again and again. None shows a prompt whose going was
// answered: at once where the same instance took it away, after a second elsewhere.
func (e *explorer) look(i int) {
	h := e.host(0)
	name := fmt.Sprintf("%d look", i)
	lists := []func(*promptdb.DB, context.Context) (promptdb.Page, error){
		func(db *promptdb.DB, ctx context.Context) (promptdb.Page, error) { return db.Newest(ctx, "", 20) },
		func(db *promptdb.DB, ctx context.Context) (promptdb.Page, error) {
			return db.Ranked(ctx, promptdb.MostLiked, "", 20)
		},
	}
	e.together(h, name, func(ctx context.Context, db *promptdb.DB) error {
		for n := range 6 {
			gone := map[prompt.ID]int{}
			for _, s := range e.subjects {
				if s.gone && (s.goneIn == h.process || e.Now().Sub(s.goneAt) > time.Second) {
					gone[s.id] = s.listings
				}
			}
			page, err := lists[n%2](db, ctx)
			if err != nil {
				return err
			}
			for _, s := range e.subjects {
				since, was := gone[s.id]
				if was && since == s.listings && !s.listed &&
					slices.ContainsFunc(page.Items, func(v promptdb.View) bool { return v.ID == s.id }) {
					e.problem = name + ": a first page shows a prompt that was gone before it was asked for"
				}
			}
			if err := db.Sleep(ctx, time.Duration(n%3)*300*time.Millisecond); err != nil {
				return err
			}
		}
		return nil
	}, nil)
}
