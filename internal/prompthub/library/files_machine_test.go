package library_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/queue"
)

// A filesMachine runs what an author may do with the files of prompts, in any order, and a model of
// it in maps.
type filesMachine struct {
	*machine
	prompts []*folders
}

// folders are the versions of a prompt as they should be.
type folders struct {
	id            prompt.ID
	slug          string
	versions      map[int64]folder
	current, last int64
	from          int64
	labels        map[string]int64
	public        bool
	deleted       bool
	told          map[int64]string // digests of versions, as they were told first
}

// A folder is a version: its text, and the files that its author sent.
type folder struct {
	text  string
	files map[string]content
}

type content struct {
	bytes      string
	executable bool
}

func (f folder) equal(g folder) bool { return f.text == g.text && maps.Equal(f.files, g.files) }

var (
	somePaths = []string{"a", "d/b.sh", "d/c", "e/f/g.py"}
	someBytes = []string{"", "one", "#!/bin/sh\n", "\x00\xff", strings.Repeat("many ", 70_000)}
)

const aboutAll = "About it."

// skillFile returns a SKILL.md that an author writes.
func skillFile(slug, text string) content {
	return content{bytes: fmt.Sprintf("---\nname: %s\nlicense: MIT\ndescription: %s\n---\n\n%s\n", slug,
		aboutAll, text)}
}

func (m *filesMachine) living() *folders {
	if len(m.prompts) == 0 {
		m.t.Skip("no prompt")
	}
	p := m.prompts[rapid.IntRange(0, len(m.prompts)-1).Draw(m.t, "prompt")]
	if p.deleted {
		m.t.Skip("it is deleted")
	}
	return p
}

func (m *filesMachine) few() {
	if len(m.prompts) == maxPrompts {
		m.t.Skip("enough prompts")
	}
}

func (m *filesMachine) add(v library.View, f folder, public bool) {
	m.prompts = append(m.prompts, &folders{
		id: v.ID, slug: v.Slug, versions: map[int64]folder{1: f}, current: 1, last: 1, from: 1,
		labels: map[string]int64{}, public: public,
		told: map[int64]string{},
	})
}

// sent returns files as a request has them. Some that the latest version has are named alone.
func (m *filesMachine) sent(f folder, has map[string]content) []library.SentFile {
	list := []library.SentFile{}
	for _, path := range slices.Sorted(maps.Keys(f.files)) {
		c := f.files[path]
		s := library.SentFile{Path: path, Bytes: []byte(c.bytes), Executable: c.executable}
		known := slices.ContainsFunc(slices.Collect(maps.Values(has)), func(h content) bool {
			return h.bytes == c.bytes
		})
		if known && rapid.Bool().Draw(m.t, "by name") {
			s.Bytes, s.SHA256 = nil, sumOf(c.bytes)
		}
		list = append(list, s)
	}
	return list
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func (m *filesMachine) create(t *rapid.T) {
	m.few()
	f := folder{text: one(t, someTexts, "text"), files: map[string]content{}}
	if rapid.Bool().Draw(t, "with files") {
		f.files[one(t, somePaths, "path")] = content{bytes: one(t, someBytes, "bytes")}
	}
	name, public := fmt.Sprintf("p%d", len(m.prompts)), rapid.Bool().Draw(t, "public")
	d := prompt.Draft{Name: name, Title: "T", Description: aboutAll, Text: f.text, Visibility: visibility(public)}
	d, err := library.WithFiles(d, m.sent(f, nil), nil)
	require.NoError(t, err)
	v, _, err := m.s.Create(context.Background(), author, d, "")
	require.NoError(t, err)
	m.add(v, f, public)
}

// change puts other files in place of those of the latest version.
func (m *filesMachine) change(p *folders, edit func(files map[string]content)) {
	was := p.versions[p.current]
	now := folder{was.text, maps.Clone(was.files)}
	edit(now.files)
	_, err := m.s.PatchWithFiles(context.Background(), author, p.id, library.Match{Any: true},
		m.sent(now, was.files), func(*prompt.Draft) {})
	require.NoError(m.t, err)
	p.holds(now)
}

// holds is what becomes of a prompt that gets a text and files.
func (p *folders) holds(f folder) {
	if !p.versions[p.current].equal(f) {
		p.last++
		p.current = p.last
		p.versions[p.last] = f
	}
}

func (m *filesMachine) set(t *rapid.T) {
	c := content{one(t, someBytes, "bytes"), rapid.Bool().Draw(t, "executable")}
	m.change(m.living(), func(files map[string]content) { files[one(t, somePaths, "path")] = c })
}

func (m *filesMachine) removeFile(t *rapid.T) {
	m.change(m.living(), func(files map[string]content) {
		delete(files, one(t, append(somePaths, prompt.SkillFile), "path"))
	})
}

func (m *filesMachine) removeAll(*rapid.T) {
	m.change(m.living(), func(files map[string]content) { clear(files) })
}

func (m *filesMachine) renameFile(t *rapid.T) {
	m.change(m.living(), func(files map[string]content) {
		from, to := one(t, somePaths, "from"), one(t, somePaths, "to")
		if c, ok := files[from]; ok {
			delete(files, from)
			files[to] = c
		}
	})
}

func (m *filesMachine) mode(t *rapid.T) {
	m.change(m.living(), func(files map[string]content) {
		path := one(t, somePaths, "path")
		if c, ok := files[path]; ok {
			files[path] = content{c.bytes, !c.executable}
		}
	})
}

// writeSkill sends a SKILL.md, of which the text follows.
func (m *filesMachine) writeSkill(t *rapid.T) {
	p, text := m.living(), one(t, someTexts, "text")
	was := p.versions[p.current]
	now := folder{text, maps.Clone(was.files)}
	now.files[prompt.SkillFile] = skillFile(p.slug, text)
	_, err := m.s.PatchWithFiles(context.Background(), author, p.id, library.Match{Any: true},
		m.sent(now, was.files), func(*prompt.Draft) {})
	require.NoError(t, err)
	p.holds(now)
}

// write sends a text, which a SKILL.md of the author follows.
func (m *filesMachine) write(t *rapid.T) {
	p, text := m.living(), one(t, someTexts, "text")
	public := rapid.Bool().Draw(t, "public")
	_, err := m.s.Patch(context.Background(), author, p.id, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Text, d.Visibility = text, visibility(public)
	})
	require.NoError(t, err)
	now := folder{text, maps.Clone(p.versions[p.current].files)}
	if _, ok := now.files[prompt.SkillFile]; ok {
		now.files[prompt.SkillFile] = skillFile(p.slug, text)
	}
	p.holds(now)
	if public && !p.public {
		p.from = p.current
	}
	p.public = public
}

func (m *filesMachine) label(t *rapid.T) {
	p, label := m.living(), one(t, someLabels, "label")
	to := rapid.Int64Range(0, p.last+1).Draw(t, "version")
	_, exists := p.versions[to]
	err := m.s.SetLabel(context.Background(), author, p.id, label, to)
	if m.answers(when(to > 0 && !exists || to == 0 && p.labels[label] == 0, fault.NotFound), err) {
		p.labels[label] = to
	}
}

func (m *filesMachine) deleteVersion(t *rapid.T) {
	p := m.living()
	n := rapid.OneOf(rapid.Just(p.current), rapid.Int64Range(1, p.last+1)).Draw(t, "version")
	_, exists := p.versions[n]
	left := int64(0)
	for v := range p.versions {
		if v != n {
			left = max(left, v)
		}
	}
	want := when(!exists, fault.NotFound)
	if exists && (left == 0 || p.public && left < p.from) {
		want = fault.Conflict
	}
	if !m.answers(want, m.s.DeleteVersion(context.Background(), author, p.id, n)) {
		return
	}
	delete(p.versions, n)
	maps.DeleteFunc(p.labels, func(_ string, of int64) bool { return of == n })
	if n == p.current {
		p.current = left
	}
}

func (m *filesMachine) restoreVersion(t *rapid.T) {
	p := m.living()
	n := rapid.Int64Range(1, p.last+1).Draw(t, "version")
	f, exists := p.versions[n]
	_, _, err := m.s.RestoreVersion(context.Background(), author, p.id, n)
	if m.answers(when(!exists, fault.NotFound), err) {
		p.holds(f)
	}
}

func (m *filesMachine) remove(*rapid.T) {
	p := m.living()
	require.NoError(m.t, m.s.Delete(context.Background(), author, p.id, library.Match{Any: true}))
	p.deleted = true
}

func (m *filesMachine) restore(t *rapid.T) {
	if len(m.prompts) == 0 {
		t.Skip("no prompt")
	}
	p := m.prompts[rapid.IntRange(0, len(m.prompts)-1).Draw(t, "prompt")]
	_, _, err := m.s.Restore(context.Background(), author, p.id)
	require.NoError(t, err)
	p.deleted = false
}

// fork copies a version, which is named as the fork is.
func (m *filesMachine) fork(t *rapid.T) {
	m.few()
	p := m.living()
	n := rapid.Int64Range(1, p.last+1).Draw(t, "version")
	was, exists := p.versions[n]
	v, _, err := m.s.Fork(context.Background(), author, p.id, library.WantedVersion{Number: n}, "")
	if !m.answers(when(!exists, fault.NotFound), err) {
		return
	}
	f := folder{was.text, maps.Clone(was.files)}
	if _, ok := f.files[prompt.SkillFile]; ok {
		f.files[prompt.SkillFile] = skillFile(v.Slug, f.text)
	}
	m.add(v, f, false)
}

// sweep removes the bytes that no version names, more than a day later.
func (m *filesMachine) sweep(t *rapid.T) {
	m.now = m.now.Add(25 * time.Hour)
	_, found, err := m.db.Sweep(context.Background())
	require.NoError(t, err)
	require.Zero(t, found)
}

// check reads all files of all versions, as their author and as another.
func (m *filesMachine) check(*rapid.T) {
	m.now = m.now.Add(time.Second)
	for _, p := range m.prompts {
		for n := range p.last + 2 {
			want, exists := p.versions[n]
			m.reads(p, author, library.WantedVersion{Number: n}, want, exists)
			m.reads(p, reader, library.WantedVersion{Number: n}, want, exists && p.public && n >= p.from)
		}
		for _, label := range someLabels {
			n := p.labels[label]
			m.reads(p, author, library.WantedVersion{Label: label}, p.versions[n], n > 0)
			m.reads(p, reader, library.WantedVersion{Label: label}, p.versions[n], n > 0 && p.public && n >= p.from)
		}
		m.reads(p, reader, library.WantedVersion{Label: prompt.Latest}, p.versions[p.current], p.public)
	}
	messages, err := m.queues.Receive(context.Background(), promptdb.QueueRepairs, queue.MaxReceive, time.Minute)
	require.NoError(m.t, err)
	for _, x := range messages {
		require.NoError(m.t, m.db.Repair(context.Background(), x.Text))
		require.NoError(m.t, m.queues.Delete(context.Background(), promptdb.QueueRepairs, x.Receipt))
	}
	var found []string
	_, err = m.db.Verify(context.Background(), func(d promptdb.Difference) {
		found = append(found, d.String())
	}, func(int) {})
	require.NoError(m.t, err)
	require.Empty(m.t, found)
}

// reads holds the files that somebody reads against those that were sent, by their list, all at
// once, one at a time and as an archive.
func (m *filesMachine) reads(p *folders, who auth.User, which library.WantedVersion, want folder, seen bool) {
	ctx := context.Background()
	seen = seen && !p.deleted
	l, err := m.s.ListFiles(ctx, who, p.id, which)
	if !m.answers(when(!seen, fault.NotFound), err) {
		_, err = m.s.ReadFolder(ctx, who, p.id, which, "")
		require.Equal(m.t, fault.NotFound, fault.Of(err))
		_, err = m.s.ReadFolder(ctx, who, p.id, which, "a")
		require.Equal(m.t, fault.NotFound, fault.Of(err))
		return
	}
	all, err := m.s.ReadFolder(ctx, who, p.id, which, "")
	require.NoError(m.t, err)
	require.Equal(m.t, l.Files, all.Files)
	require.Len(m.t, all.Contents, len(l.Files))
	got, made := map[string]content{}, 0
	var sums strings.Builder // as sha256sum prints them
	for i, b := range all.Contents {
		require.Equal(m.t, []any{b.Path, b.Executable, len(b.Bytes)},
			[]any{l.Files[i].Path, l.Files[i].Executable, l.Files[i].Size})
		mark := "  "
		if b.Executable {
			mark = " *"
		}
		sums.WriteString(sumOf(string(b.Bytes)) + mark + b.Path + "\n")
		if l.Files[i].Made {
			require.Equal(m.t, prompt.SkillFile, b.Path)
			require.Contains(m.t, string(b.Bytes), want.text)
			made++
			continue
		}
		got[b.Path] = content{string(b.Bytes), b.Executable}
	}
	if _, written := want.files[prompt.SkillFile]; !written {
		require.Equal(m.t, 1, made)
	}
	require.True(m.t, maps.Equal(want.files, got), "%v is not %v", slices.Sorted(maps.Keys(got)),
		slices.Sorted(maps.Keys(want.files)))
	require.Equal(m.t, want.text, l.Text)
	require.Equal(m.t, "sha256:"+sumOf(sums.String()), l.Files.Digest())
	zip := sumOf(string(all.Archive()))
	if len(want.files) > 0 {
		require.Equal(m.t, l.Bundle.Archive, zip)
	}
	told := fmt.Sprint(l.Files.Digest(), l.Files.Tree(), zip, l.Bundle.Package)
	if before, ok := p.told[l.Version]; ok {
		require.Equal(m.t, before, told, "what was told of version %d changes", l.Version)
	}
	p.told[l.Version] = told
	for path, c := range want.files {
		f, err := m.s.ReadFolder(ctx, who, p.id, which, path)
		require.NoError(m.t, err)
		require.Equal(m.t, c.bytes, string(f.Contents[0].Bytes))
		break
	}
	_, err = m.s.ReadFolder(ctx, who, p.id, which, "no/such")
	require.Equal(m.t, fault.NotFound, fault.Of(err))
}

// TestFilesMachine runs what authors do with files in any order, with a look at all files of all
// versions after each step.
func TestFilesMachine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &filesMachine{machine: newMachine(t)}
		step := func(do func(*filesMachine, *rapid.T)) func(*rapid.T) {
			return func(t *rapid.T) { m.t = t; do(m, t) }
		}
		t.Repeat(map[string]func(*rapid.T){
			"create": step((*filesMachine).create), "set": step((*filesMachine).set),
			"remove":     step((*filesMachine).removeFile),
			"remove all": step((*filesMachine).removeAll), "rename": step((*filesMachine).renameFile),
			"mode":             step((*filesMachine).mode),
			"write a SKILL.md": step((*filesMachine).writeSkill), "write": step((*filesMachine).write),
			"label":             step((*filesMachine).label),
			"delete a version":  step((*filesMachine).deleteVersion),
			"restore a version": step((*filesMachine).restoreVersion),
			"delete":            step((*filesMachine).remove), "restore": step((*filesMachine).restore),
			"fork":  step((*filesMachine).fork),
			"sweep": step((*filesMachine).sweep), "": step((*filesMachine).check),
		})
	})
}

// TestNoFiles: an empty list takes the files away, and no list leaves them.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &filesMachine{machine: newMachine(t)}
		m.create(t)
		p := m.prompts[0]
		for _, files := range []map[string]content{{"a": {bytes: one(t, someBytes, "bytes")}}, {}} {
			m.change(p, func(now map[string]content) { clear(now); maps.Copy(now, files) })
			_, err := m.s.Patch(context.Background(), author, p.id, library.Match{Any: true},
				func(d *prompt.Draft) { d.Title += "." })
			require.NoError(t, err)
			m.check(t)
		}
	})
}

// TestForkOfAWrittenSkill: a fork of one's own prompt, whose SKILL.md names that, has a name of its
// own.
func TestForkOfAWrittenSkill(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &filesMachine{machine: newMachine(t)}
		m.create(t)
		p, text := m.prompts[0], one(t, someTexts, "text")
		m.change(p, func(now map[string]content) { now[prompt.SkillFile] = skillFile(p.slug, text) })
		p.versions[p.current] = folder{text, p.versions[p.current].files}
		v, _, err := m.s.Fork(context.Background(), author, p.id, library.WantedVersion{}, "")
		require.NoError(t, err)
		require.NotEqual(t, p.slug, v.Slug)
		f := folder{text, maps.Clone(p.versions[p.current].files)}
		f.files[prompt.SkillFile] = skillFile(v.Slug, text)
		m.add(v, f, false)
		m.check(t)
	})
}
