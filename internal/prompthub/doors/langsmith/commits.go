package langsmith

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	numberDigits = 8  // of a commit hash, which begins with the number of its version
	hashDigits   = 40 // of a commit hash, all of them
)

// commitHash names a version and its content. Its beginning is enough to find it.
func commitHash(id prompt.ID, n int64, content string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d %s", id, n, content))
	return fmt.Sprintf("%0*x", numberDigits, n) + hex.EncodeToString(sum[:])[:hashDigits-numberDigits]
}

// commitID returns the beginning of a commit hash as the UUID that clients want besides.
func commitID(hash string) string {
	return strings.Join([]string{hash[:8], hash[8:12], hash[12:16], hash[16:20], hash[20:32]}, "-")
}

// hashOf returns the beginning of a commit hash that a UUID is, and any other text as it is.
func hashOf(name string) string {
	if hash := strings.ReplaceAll(name, "-", ""); len(hash) == 32 && commitID(hash) == name {
		return hash
	}
	return name
}

// numbered returns the version that a commit hash, or the beginning of one, may name, and 0 for any
// other text.
func numbered(hash string) int64 {
	if len(hash) < numberDigits || len(hash) > hashDigits {
		return 0
	}
	n, err := strconv.ParseUint(hash[:numberDigits], 16, 63)
	if err != nil {
		return 0
	}
	return int64(n)
}

// version returns the prompt of a path in the version that a tag or a commit hash names.
func (s *server) version(ctx context.Context, r request, name string) (library.View, error) {
	hash := hashOf(name)
	if n := numbered(hash); n > 0 {
		v, err := s.find(ctx, r, library.WantedVersion{Number: n})
		if err == nil && !unpushed(v.ShownVersion.Message) &&
			strings.HasPrefix(commitHash(v.ID, n, v.ShownVersion.Hash), hash) {
			return v, nil
		}
		if err != nil && fault.Of(err) != fault.NotFound {
			return v, err
		}
	}
	want := library.WantedVersion{Label: name}
	if name == prompt.Latest { // which its clients ask for where their caller names none
		want = library.LatestForPrograms
	}
	v, err := s.find(ctx, r, want)
	if err == nil && unpushed(v.ShownVersion.Message) {
		return v, errNoCommit()
	}
	if fault.Of(err) == fault.NotFound {
		if v, err = s.find(ctx, r, library.WantedVersion{}); err == nil {
			err = errNoCommit()
		}
	}
	return v, err
}

func errNoCommit() error { return fault.New(fault.NotFound, "the prompt has no such commit") }

// A pulled is a version as clients load it.
type pulled struct {
	Hash     string         `json:"commit_hash"`
	Manifest jsontext.Value `json:"manifest"`
	Examples []struct{}     `json:"examples"`
}

func (s *server) pull(ctx context.Context, r request) (any, error) {
	v, err := s.version(ctx, r, r.commit)
	if err != nil {
		return nil, err
	}
	resolved, err := s.Service.Resolve(ctx, v)
	if err != nil {
		return nil, err
	}
	s.Service.Fetched(ctx, r.User, v)
	manifest, err := manifestOf(resolved.Content)
	return pulled{commitHash(v.ID, v.ShownVersion.Number, v.ShownVersion.Hash), manifest, []struct{}{}}, err
}

// A commit is a version in a list.
type commit struct {
	ID        string  `json:"id"`
	Hash      string  `json:"commit_hash"`
	Parent    *string `json:"parent_commit_hash"`
	CreatedAt string  `json:"created_at"`
	UpdatedAt string  `json:"updated_at"`
	Message   string  `json:"description"`
}

type commits struct {
	Commits []commit `json:"commits"`
	Total   int      `json:"total"`
}

// maxCommits is how far back a list goes.
const maxCommits = 1000

func (s *server) listCommits(ctx context.Context, r request) (any, error) {
	offset, limit, err := r.paging()
	if err != nil {
		return nil, err
	}
	if err := r.without("tag"); err != nil {
		return nil, err
	}
	v, err := s.find(ctx, r, library.WantedVersion{})
	if err != nil {
		return nil, err
	}
	h, err := s.Service.Versions(ctx, r.User, v.ID, maxCommits, "")
	if err != nil {
		return nil, err
	}
	all := slices.DeleteFunc(h.Items, func(x prompt.Version) bool { return unpushed(x.Message) || x.Recall != nil })
	out := commits{Commits: []commit{}, Total: len(all)}
	for i, x := range all[min(offset, len(all)):min(offset+limit, len(all))] {
		c := newCommit(v.ID, x)
		if i += offset + 1; i < len(all) {
			parent := commitHash(v.ID, all[i].Number, all[i].Hash)
			c.Parent = &parent
		}
		out.Commits = append(out.Commits, c)
	}
	return out, nil
}

func newCommit(id prompt.ID, v prompt.Version) commit {
	hash := commitHash(id, v.Number, v.Hash)
	return commit{
		ID: commitID(hash), Hash: hash, CreatedAt: httpjson.FormatTime(v.At),
		UpdatedAt: httpjson.FormatTime(v.At), Message: v.Message,
	}
}

const pushedMessage = "Pushed by a client of LangSmith"

type newCommitBody struct {
	Manifest jsontext.Value `json:"manifest"`
	Parent   string         `json:"parent_commit"`
	Message  string         `json:"description"`
}

type committed struct {
	Commit commit `json:"commit"`
}

// Known returns what names a commit.
func (c committed) Known() any {
	type named struct {
		ID   string `json:"id"`
		Hash string `json:"commit_hash"`
	}
	return struct {
		Commit named `json:"commit"`
	}{named{c.Commit.ID, c.Commit.Hash}}
}

// checkParent checks that nothing of a manifest changed since the commit that a client names as the
// one before. A push with a new description changes that first, which makes a commit.
func (s *server) checkParent(ctx context.Context, r request, v library.View, parent string) error {
	was, err := s.find(ctx, r, library.WantedVersion{Number: numbered(parent), History: true})
	if err != nil && fault.Of(err) != fault.NotFound {
		return err
	}
	if err != nil || commitHash(v.ID, was.ShownVersion.Number, was.ShownVersion.Hash) != parent ||
		!was.ShownVersion.Same(v.Content()) {
		return fault.New(fault.Conflict, "the prompt has a newer commit than parent_commit; pull it first")
	}
	return nil
}

// commit makes a version out of a manifest. Where a parent is named it must say what the latest
// does.
func (s *server) commit(ctx context.Context, r request) (any, error) {
	var in newCommitBody
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	v, err := s.own(ctx, r)
	if err != nil {
		return nil, err
	}
	if in.Parent != "" && in.Parent != commitHash(v.ID, v.Version, v.Current().Hash) {
		if err := s.checkParent(ctx, r, v, in.Parent); err != nil {
			return nil, err
		}
	}
	c, err := contentOf(in.Manifest, v.Config)
	if err != nil {
		return nil, err
	}
	c.Variables = v.Variables
	if c.Same(v.Content()) {
		return nil, fault.New(fault.Conflict, "Nothing to commit: the prompt has not changed since the latest commit")
	}
	message := cmp.Or(in.Message, pushedMessage)
	made, err := s.Service.Patch(ctx, r.User, v.ID, library.Match{Revisions: []int64{v.Revision}},
		func(d *prompt.Draft) {
			*d = d.With(c)
			d.Message = message
		})
	var stale *fault.Error
	if errors.As(err, &stale) && stale.Kind == fault.Stale {
		return nil, fault.New(fault.Conflict, "somebody committed at the same time; pull it first")
	}
	if err != nil {
		return nil, err
	}
	return committed{newCommit(made.ID, made.Current())}, nil
}

type newTag struct {
	Name   string `json:"tag_name"`
	Commit string `json:"commit_id"`
}

// Known returns what was sent.
func (t newTag) Known() any { return t }

// tag puts a label on a version.
func (s *server) tag(ctx context.Context, r request) (any, error) {
	var in newTag
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	v, err := s.version(ctx, r, in.Commit)
	if err != nil {
		return nil, err
	}
	if err := s.Service.SetLabels(ctx, r.User, v.ID, []string{in.Name}, v.ShownVersion.Number); err != nil {
		return nil, err
	}
	return in, nil
}
