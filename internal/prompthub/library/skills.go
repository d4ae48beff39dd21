package library

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// Other services keep skills apart from prompts. To their clients a prompt with files is a skill,
// by its slug.

// HasFiles reports whether a prompt has files, and not only a SKILL.md that is made of its text: of
// a list, in the version that programs get.
func HasFiles(v View) bool {
	o := v.ProgramSummary(v.AuthorID)
	return len(v.Files) > 0 || o != nil && o.Files != nil
}

// maxSkills is how many of a user's prompts are looked at for a list of skills, the newest.
const maxSkills = 2000

// ownSkills returns the caller's prompts with files, those that were changed last first.
func (s *Service) ownSkills(ctx context.Context, who auth.User) ([]View, error) {
	page, err := s.Mine(ctx, who, MineQuery{Sort: ByNewest, Limit: maxSkills, NoVotes: true})
	all := slices.DeleteFunc(page.Items, func(v View) bool { return !HasFiles(v) })
	slices.SortStableFunc(all, func(a, b View) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	return all, err
}

// A SkillQuery says which of the caller's skills a list shows. A zero field does not filter.
type SkillQuery struct {
	Name     string // the slug
	Search   string // in slugs and descriptions
	Tag      string
	From, To time.Time // of the last change
	Page     int       // from 1
	Limit    int
}

// A SkillItem is a skill of a list.
type SkillItem struct {
	View
	Newest     prompt.Version // without its content
	Production int64          // the version with that label, 0 for none
}

// A SkillPage is a page of a list of skills.
type SkillPage struct {
	Items []SkillItem
	Total int // of all pages
}

// OwnSkills returns those of the caller's skills that a query asks for.
func (s *Service) OwnSkills(ctx context.Context, who auth.User, q SkillQuery) (SkillPage, error) {
	all, err := s.ownSkills(ctx, who)
	if err != nil {
		return SkillPage{}, err
	}
	search := strings.ToLower(q.Search)
	all = slices.DeleteFunc(all, func(v View) bool {
		return q.Name != "" && v.Slug != q.Name || !strings.Contains(strings.ToLower(v.Slug+"\n"+v.About()), search) ||
			q.Tag != "" && !slices.Contains(v.Tags, prompt.Tag(q.Tag)) && !slices.Contains(v.OwnTags, q.Tag) ||
			!q.From.IsZero() && v.UpdatedAt.Before(q.From) || !q.To.IsZero() && !v.UpdatedAt.Before(q.To)
	})
	page := SkillPage{Total: len(all)}
	first := min((q.Page-1)*q.Limit, len(all))
	all = all[first:min(first+q.Limit, len(all))]
	page.Items = make([]SkillItem, len(all))
	numbered := make([]Numbered, len(all))
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, v := range all {
		page.Items[i].View, numbered[i] = v, Numbered{ID: v.ID, Number: v.Version}
		g.Go(func() error {
			rows, err := s.db.NameRows(gctx, IDOf(who), v.Name)
			if err == nil && len(rows) == 1 {
				page.Items[i].Production = rows[0].Labelled(prompt.Production)
				numbered[i].Number = rows[0].Labelled(prompt.Latest)
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return SkillPage{}, err
	}
	heads, err := s.db.VersionHeads(ctx, IDOf(who), numbered)
	for i, v := range heads {
		page.Items[i].Newest = v
	}
	return page, err
}

// OwnSkill returns the caller's skill of a name, or of a name that it had, in a version.
func (s *Service) OwnSkill(ctx context.Context, who auth.User, name string, want WantedVersion) (View, error) {
	if want != (WantedVersion{}) {
		want.Labels = true
	}
	v, err := s.GetByName(ctx, who, IDOf(who), name, want)
	if err == nil && len(v.Files) == 0 {
		return v, fault.New(fault.NotFound,
			fmt.Sprintf("the prompt %.100q is no skill: this version of it has a text and no files", name))
	}
	return v, err
}

// SaveSkill makes a new version of the caller's skill that a SKILL.md among the files names, even
// of the same files, or a private one where there is none. Named is the skill that has the bytes of
// the SKILL.md, if they are not sent.
func (s *Service) SaveSkill(ctx context.Context, who auth.User, files []SentFile, named, message string) (View, error) {
	i := slices.IndexFunc(files, func(f SentFile) bool { return f.Path == prompt.SkillFile })
	if i < 0 {
		return View{}, badSkill("is missing: send it among the files")
	}
	if files[i].SHA256 == "" {
		head, err := format.ReadSkillHead(files[i].Bytes)
		if err != nil {
			return View{}, badSkill("cannot be read: " + err.Error())
		}
		named = head.Name
	}
	for try := 1; ; try++ {
		v, err := s.saveSkill(ctx, who, files, named, message)
		if kind := fault.Of(err); kind != fault.Conflict && kind != fault.NotFound || try == maxNamedTries {
			return v, err
		}
	}
}

func (s *Service) saveSkill(ctx context.Context, who auth.User, files []SentFile, named, message string) (View, error) {
	was, err := s.db.GetByName(ctx, IDOf(who), IDOf(who), named, WantedVersion{})
	switch {
	case fault.Of(err) == fault.NotFound || !prompt.ValidSlug(named): // an error says what is wrong with the name
		d, err := WithFiles(prompt.Draft{Kind: prompt.KindText, Message: message, Visibility: prompt.Private},
			files, nil)
		if err != nil {
			return View{}, err
		}
		v, _, err := s.Create(ctx, who, d, "")
		return v, err
	case err != nil:
		return View{}, err
	case len(was.Files) == 0:
		return View{}, fault.New(fault.Conflict, fmt.Sprintf("your prompt %q has this name, and a text but no files: choose another name, or give that prompt its files on its page", was.Name))
	}
	return s.PatchWithFiles(ctx, who, was.ID, Match{Any: true}, files, func(d *prompt.Draft) {
		d.Message, d.Anew = message, true
	})
}

// Contents are looked for in a hundred skills, those that were changed last, and the newest twenty
// versions of each, until the lists that were read have fifty thousand files.
const (
	maxSkillsSearched   = 100
	maxVersionsSearched = 20
	maxFilesSearched    = 50_000
)

// A Numbered names a version of a prompt.
type Numbered = promptdb.Numbered

// A Content is where bytes are: a file of a version of a prompt of the caller's.
type Content struct {
	View
	File prompt.File
}

// FindContent returns the file of a version of the caller's that has bytes of a SHA-256, in hex.
func (s *Service) FindContent(ctx context.Context, who auth.User, id prompt.ID, version int64,
	sha256 string,
) (Content, error) {
	v, err := s.GetVersion(ctx, who, id, WantedVersion{Number: version})
	if err != nil {
		return Content{}, err
	}
	i := slices.IndexFunc(v.Files, func(f prompt.File) bool { return f.SHA256 == sha256 })
	if i < 0 || !v.IsOwn() {
		return Content{}, errNoContent()
	}
	return Content{v, v.Files[i]}, nil
}

func errNoContent() error {
	return fault.New(fault.NotFound,
		"no skill of yours has a file of this hash: ask for the skill again, and then for the files that it names")
}

// FindContents returns for each SHA-256, in hex, a version of a skill of the caller's with a file
// that has it; those that are not found are missing.
func (s *Service) FindContents(ctx context.Context, who auth.User, sums []string) (map[string]Numbered, error) {
	all, err := s.ownSkills(ctx, who)
	if err != nil {
		return nil, err
	}
	found, searched := make(map[string]Numbered), 0
	for _, v := range all[:min(len(all), maxSkillsSearched)] {
		versions, err := s.db.FilesOfVersions(ctx, IDOf(who), v.ID, maxVersionsSearched)
		if err != nil {
			return nil, err
		}
		for _, x := range versions {
			for _, f := range x.Files {
				if _, known := found[f.SHA256]; !known && slices.Contains(sums, f.SHA256) {
					found[f.SHA256] = Numbered{ID: v.ID, Number: x.Number}
				}
			}
			searched += len(x.Files)
		}
		if len(found) == len(sums) || searched > maxFilesSearched {
			break
		}
	}
	return found, nil
}
