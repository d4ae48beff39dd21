package langsmith

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/doors"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A skill there is a repository whose commits are directories. Here it is a prompt with files.

// An entry is a file of a directory. LangSmith has links to other repositories besides, which are
// not kept here.
type entry struct {
	Type    string  `json:"type"`
	Content *string `json:"content"`
}

const typeFile = "file"

// A pulledDirectory is a commit of a skill as clients load it.
type pulledDirectory struct {
	ID    string           `json:"commit_id"`
	Hash  string           `json:"commit_hash"`
	Files map[string]entry `json:"files"`
}

// pullDirectory answers with all files of a commit, or with none of them.
func (s *server) pullDirectory(ctx context.Context, r request) (any, error) {
	if t := r.query.Get("repo_type"); t != "" && t != typeSkill {
		return nil, errNoSkill()
	}
	name := r.query.Get("commit")
	if name == "" {
		name = prompt.Latest
	}
	v, err := s.version(ctx, r, name)
	if err != nil {
		return nil, err
	}
	if len(v.Files) == 0 {
		return nil, errNoSkill()
	}
	folder, err := s.Service.FolderOf(ctx, v, "")
	if err != nil {
		return nil, err
	}
	number := v.ShownVersion.Number
	archive := fmt.Sprintf("take the archive, GET /api/v1/prompts/%s/archive?version=%d",
		strings.ToLower(string(v.ID)), number)
	hash := commitHash(v.ID, number, v.ShownVersion.Hash)
	d := pulledDirectory{ID: commitID(hash), Hash: hash, Files: make(map[string]entry, len(folder.Contents))}
	size := 0
	for _, f := range folder.Contents {
		if !prompt.IsText(f.Bytes) {
			return nil, fault.New(fault.Invalid,
				fmt.Sprintf("the file %.100q is binary, and a directory has texts alone here: %s", f.Path, archive))
		}
		if size += prompt.Quoted(f.Bytes) + prompt.Quoted([]byte(f.Path)); size > doors.MaxFilesAnswer {
			return nil, fault.New(fault.Invalid,
				fmt.Sprintf("the files have more than %d bytes as JSON: %s", doors.MaxFilesAnswer, archive))
		}
		text := string(f.Bytes)
		d.Files[f.Path] = entry{typeFile, &text}
	}
	s.Service.Fetched(ctx, r.User, v)
	return d, nil
}

func errNoSkill() error {
	return fault.New(fault.NotFound, "there is no such skill: a skill is a prompt with files")
}

type newDirectory struct {
	Files  map[string]*entry `json:"files"`
	Parent string            `json:"parent_commit"`
}

// change returns what a push does to the files of a version. A path without an entry is taken away.
func (d newDirectory) change(has prompt.Files) (library.FilesChange, error) {
	var c library.FilesChange
	for _, path := range slices.Sorted(maps.Keys(d.Files)) {
		switch e := d.Files[path]; {
		case e == nil && path == prompt.SkillFile:
			return c, fault.Coded(fault.Invalid, prompt.BadSkill,
				"a skill needs its SKILL.md: put another one in its place, or delete the skill")
		case e == nil:
			if _, ok := has.Find(path); ok {
				c.Remove = append(c.Remove, path)
			}
		case e.Type != typeFile:
			return c, fault.Coded(fault.Invalid, RepoTypeNotKept, fmt.Sprintf("%.100q is a link to another repository, and this service keeps files alone: send the files themselves", path))
		case e.Content == nil:
			return c, fault.New(fault.Invalid, fmt.Sprintf("%.100q has no content", path))
		default:
			c.Set = append(c.Set, library.SentFile{Path: path, Bytes: []byte(*e.Content), KeepsMode: true})
		}
	}
	isSkillFile := func(f library.SentFile) bool { return f.Path == prompt.SkillFile }
	if _, had := has.SkillFile(); !had && !slices.ContainsFunc(c.Set, isSkillFile) {
		return c, fault.Coded(fault.Invalid, prompt.BadSkill, "a skill needs a SKILL.md: send it among the files")
	}
	return c, nil
}

// commitDirectory puts files into those of the latest commit, as a new one. Where a parent is named
// its files must be those of the latest. The same files make no commit.
func (s *server) commitDirectory(ctx context.Context, r request) (any, error) {
	var in newDirectory
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	v, err := s.own(ctx, r)
	if err != nil {
		return nil, err
	}
	if len(v.Files) == 0 && !unpushed(v.Message) {
		return nil, errNoSkill()
	}
	if in.Parent != "" && !s.isCommit(v, v.Current(), in.Parent) {
		if err := s.checkDirectory(ctx, r, v, in.Parent); err != nil {
			return nil, err
		}
	}
	c, err := in.change(v.Files)
	if err != nil {
		return nil, err
	}
	made, err := s.Service.PatchFiles(ctx, r.User, v.ID, library.Match{Revisions: []int64{v.Revision}}, c,
		func(d *prompt.Draft) {
			d.Message = pushedMessage
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

// isCommit reports whether a hash, or the beginning of one, names a version.
func (s *server) isCommit(v library.View, of prompt.Version, hash string) bool {
	return len(hash) >= numberDigits && strings.HasPrefix(commitHash(v.ID, of.Number, of.Hash), hashOf(hash))
}

// checkDirectory checks that a parent has the files of the latest commit: a push with a new
// description changes that first, which makes a commit.
func (s *server) checkDirectory(ctx context.Context, r request, v library.View, parent string) error {
	was, err := s.find(ctx, r, library.WantedVersion{Number: numbered(hashOf(parent)), History: true})
	if err != nil && fault.Of(err) != fault.NotFound {
		return err
	}
	others := func(files prompt.Files) prompt.Files {
		return slices.DeleteFunc(slices.Clone(files), func(f prompt.File) bool { return f.Path == prompt.SkillFile })
	}
	if err != nil || !s.isCommit(v, was.ShownVersion, parent) || !was.ShownVersion.Same(v.Content()) ||
		!others(was.Files).Same(others(v.Files)) {
		return fault.New(fault.Conflict, "the skill has a newer commit than parent_commit; pull it first")
	}
	return nil
}

// deleteDirectory deletes a skill. Its author can restore it.
func (s *server) deleteDirectory(ctx context.Context, r request) (any, error) {
	v, err := s.own(ctx, r)
	if err != nil {
		return nil, err
	}
	if len(v.Files) == 0 && !unpushed(v.Message) {
		return nil, errNoSkill()
	}
	return nil, s.Service.Delete(ctx, r.User, v.ID, library.Match{Any: true})
}
