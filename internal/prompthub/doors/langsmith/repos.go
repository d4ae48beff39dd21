package langsmith

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// mine names the caller's own prompts in a path.
const mine = "-"

type settings struct {
	ID        string `json:"id"`
	Name      string `json:"display_name"`
	CreatedAt string `json:"created_at"`
	Handle    string `json:"tenant_handle"`
}

// info is what clients ask for before all else, to know which requests of other parts of LangSmith
// they may send: none.
func (s *server) info(context.Context, request) (any, error) {
	return struct {
		Flags struct{} `json:"instance_flags"`
	}{}, nil
}

func (s *server) settings(ctx context.Context, r request) (any, error) {
	u, err := s.Service.Profile(ctx, r.User)
	if err != nil {
		return nil, err
	}
	// The service does not know since when a user exists, and the client of Python wants a time.
	return settings{ID: u.Key, Name: u.Name, CreatedAt: httpjson.FormatTime(time.Unix(0, 0)), Handle: handleOf(u)}, nil
}

// handleOf returns what a user is called in the names of public prompts.
func handleOf(u library.User) string {
	if u.Given { // programs may name the user by the key, which they knew before
		return u.Key
	}
	return cmp.Or(u.Handle, u.Key)
}

// A repo is a prompt.
type repo struct {
	ID          string   `json:"id"`
	Handle      string   `json:"repo_handle"`
	Type        string   `json:"repo_type"`
	Owner       string   `json:"owner"`
	FullName    string   `json:"full_name"`
	TenantID    string   `json:"tenant_id"`
	Description string   `json:"description"`
	Readme      string   `json:"readme"`
	Tags        []string `json:"tags"`
	IsPublic    bool     `json:"is_public"`
	IsArchived  bool     `json:"is_archived"`
	CreatedAt   string   `json:"created_at"`
	UpdatedAt   string   `json:"updated_at"`
	Likes       int64    `json:"num_likes"`
	Views       int64    `json:"num_views"`
	Downloads   int64    `json:"num_downloads"`
	Commits     int64    `json:"num_commits"`
	LikedByMe   bool     `json:"liked_by_auth_user"`
	LastCommit  *string  `json:"last_commit_hash"`
}

// encode returns a prompt as a repository without commits. A name that no identifier of LangSmith
// can hold shows as the slug.
func (s *server) encode(v library.View, owner string) repo {
	handle := v.Name
	if strings.ContainsAny(handle, "/:") || handle == "" {
		handle = cmp.Or(v.Slug, string(v.ID))
	}
	p := repo{
		ID: string(v.ID), Handle: handle, Type: typePrompt, Owner: owner, FullName: owner + "/" + handle,
		TenantID:    s.Service.AuthorKey(v.AuthorID),
		Description: v.About(), Tags: []string{}, IsPublic: v.Visibility == prompt.Public,
		CreatedAt: httpjson.FormatTime(v.CreatedAt), UpdatedAt: httpjson.FormatTime(v.UpdatedAt),
		Likes: int64(v.Likes), LikedByMe: v.MyVote == prompt.Like,
	}
	if library.HasFiles(v) {
		p.Type = typeSkill
	}
	for _, t := range v.Tags {
		p.Tags = append(p.Tags, string(t))
	}
	p.Tags = append(p.Tags, v.OwnTags...)
	return p
}

// encodeAll returns prompts of one author as repositories with their commits; owner is how the
// request names him.
func (s *server) encodeAll(ctx context.Context, r request, views []library.View, owner string) ([]repo, error) {
	public := func(v library.View) bool { return v.Visibility == prompt.Public }
	own := len(views) > 0 && views[0].AuthorID == library.IDOf(r.User)
	var ends []library.VersionEnds
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		ends, err = s.Service.VersionEnds(gctx, views)
		return err
	})
	if own && slices.ContainsFunc(views, public) {
		g.Go(func() error {
			u, err := s.Service.Profile(gctx, r.User)
			owner = handleOf(u) // as settings have it: a client changes nothing whose owner has another name
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	list := []repo{}
	for i, v := range views {
		called := owner
		if own && !public(v) {
			called = mine // a client takes a prompt of another owner for a public one, and does not pull it
		}
		p := s.encode(v, called)
		p.Commits, p.LastCommit = commitsOf(v.ID, ends[i])
		list = append(list, p)
	}
	return list, nil
}

// commitsOf returns how many commits a prompt has, and the hash of the last.
func commitsOf(id prompt.ID, e library.VersionEnds) (int64, *string) {
	n := e.Count
	switch {
	case e.Last.Number == 0, e.Last.Recall != nil: // which programs do not get
		return n, nil
	case unpushed(e.Last.Message): // and so are those before it
		return 0, nil
	case unpushed(e.First.Message):
		n--
	}
	hash := commitHash(id, e.Last.Number, e.Last.Hash)
	return n, &hash
}

// find returns the prompt of a path, in a version.
func (s *server) find(ctx context.Context, r request, want library.WantedVersion) (library.View, error) {
	owner := r.owner
	if owner == mine {
		owner = library.Me
	}
	id, err := s.Service.OwnerID(ctx, r.User, owner)
	if err != nil {
		return library.View{}, prompt.ErrUnknown()
	}
	v, err := s.Service.GetByName(ctx, r.User, id, r.repo, want)
	if fault.Of(err) == fault.NotFound && want == (library.WantedVersion{}) {
		return v, prompt.ErrUnknown()
	}
	return v, err
}

// own returns the caller's prompt of a path.
func (s *server) own(ctx context.Context, r request) (library.View, error) {
	v, err := s.find(ctx, r, library.WantedVersion{})
	if err == nil && v.AuthorID != library.IDOf(r.User) {
		return v, fault.New(fault.Forbidden, "only its author may change a prompt")
	}
	return v, err
}

// one answers with a repository.
type one struct {
	Repo repo `json:"repo"`
}

// Known returns what names a repository.
func (o one) Known() any {
	type named struct {
		ID string `json:"id"`
	}
	return struct {
		Repo named `json:"repo"`
	}{named{o.Repo.ID}}
}

func (s *server) getRepo(ctx context.Context, r request) (any, error) {
	v, err := s.find(ctx, r, library.WantedVersion{})
	if err != nil {
		return nil, err
	}
	return s.one(ctx, r, v)
}

func (s *server) one(ctx context.Context, r request, v library.View) (any, error) {
	list, err := s.encodeAll(ctx, r, []library.View{v}, r.owner)
	if err != nil {
		return nil, err
	}
	return one{list[0]}, nil
}

type newRepo struct {
	Handle      string   `json:"repo_handle"`
	Type        string   `json:"repo_type"`
	Description string   `json:"description"`
	Tags        []string `json:"tags"`
	IsPublic    bool     `json:"is_public"`
}

// The types of repositories here. LangSmith has agents and files besides.
const (
	typePrompt = "prompt"
	typeSkill  = "skill" // a prompt with files
)

// RepoTypeNotKept says that a repository of another type cannot be made.
const RepoTypeNotKept fault.Code = "REPO_TYPE_NOT_KEPT"

// There is no prompt without content, and a repository is made before its first commit. So it has a
// version that says so, which is no commit.
const (
	unpushedText    = "Nothing was pushed yet."
	unpushedMessage = "Made by a client of LangSmith, before its first commit"

	// of a version that differs from the one before in its description
	describedMessage = "Described by a client of LangSmith"
)

func unpushed(message string) bool { return message == unpushedMessage }

func (s *server) createRepo(ctx context.Context, r request) (any, error) {
	var in newRepo
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if strings.TrimSpace(in.Handle) == "" {
		return nil, fault.New(fault.Invalid, "give the prompt a repo_handle")
	}
	switch {
	case in.Type == typeSkill && !prompt.ValidSlug(in.Handle):
		return nil, fault.Coded(fault.Invalid, prompt.BadSkill,
			"call the skill by at most 64 of a-z 0-9 and single hyphens inside, as its SKILL.md must")
	case in.Type != "" && in.Type != typePrompt && in.Type != typeSkill:
		return nil, fault.Coded(fault.Invalid, RepoTypeNotKept, "leave repo_type out, or make it prompt or skill: this service keeps no agents or files as LangSmith has them")
	}
	tags, own, err := s.Service.SplitTags(ctx, in.Tags, nil)
	if err != nil {
		return nil, err
	}
	v, _, err := s.Service.Create(ctx, r.User, prompt.Draft{
		Name: in.Handle, Title: library.TitleOf(in.Handle), Text: unpushedText, Message: unpushedMessage,
		Description: in.Description, Tags: tags, OwnTags: own, Visibility: visibility(in.IsPublic),
	}, "")
	if err != nil {
		return nil, err
	}
	return s.one(ctx, r, v)
}

// A repoPatch says what to change of a prompt; absent members leave it as it is.
type repoPatch struct {
	Description *string   `json:"description"`
	Tags        *[]string `json:"tags"`
	IsPublic    *bool     `json:"is_public"`
	IsArchived  *bool     `json:"is_archived"`
}

func visibility(isPublic bool) prompt.Visibility {
	if isPublic {
		return prompt.Public
	}
	return prompt.Private
}

func (s *server) updateRepo(ctx context.Context, r request) (any, error) {
	var in repoPatch
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	if in.IsArchived != nil && *in.IsArchived {
		return nil, fault.New(fault.Invalid,
			"there is no archive here; delete the prompt, which can be undone for 30 days")
	}
	v, err := s.own(ctx, r)
	if err != nil {
		return nil, err
	}
	var tags []prompt.Tag
	var own []string
	if in.Tags != nil {
		if tags, own, err = s.Service.SplitTags(ctx, *in.Tags, v.Tags); err != nil {
			return nil, err
		}
	}
	message := v.Message
	if in.Description != nil && *in.Description != v.Description && !unpushed(message) {
		message = describedMessage
	}
	if v, err = s.Service.Patch(ctx, r.User, v.ID, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Message = message
		library.Set(&d.Description, in.Description)
		if in.Tags != nil {
			d.Tags, d.OwnTags = tags, own
		}
		if in.IsPublic != nil {
			d.Visibility = visibility(*in.IsPublic)
		}
	}); err != nil {
		return nil, err
	}
	return s.one(ctx, r, v)
}

func (s *server) deleteRepo(ctx context.Context, r request) (any, error) {
	v, err := s.own(ctx, r)
	if err != nil {
		return nil, err
	}
	return nil, s.Service.Delete(ctx, r.User, v.ID, library.Match{Any: true})
}

type like struct {
	Like bool `json:"like"`
}

type likes struct {
	Likes int64 `json:"likes"`
}

func (s *server) like(ctx context.Context, r request) (any, error) {
	var in like
	if err := r.decode(&in); err != nil {
		return nil, err
	}
	v, err := s.find(ctx, r, library.WantedVersion{})
	if err != nil {
		return nil, err
	}
	vote := prompt.None
	if in.Like {
		vote = prompt.Like
	}
	ballot, err := s.Service.Vote(ctx, r.User, v.ID, vote)
	return likes{int64(ballot.Likes)}, err
}

type repos struct {
	Repos []repo `json:"repos"`
	Total int    `json:"total"`
}

// maxRepos is how many of a user's prompts a list can show.
const maxRepos = 2000

// listRepos lists the caller's own prompts, those that were changed last first.
func (s *server) listRepos(ctx context.Context, r request) (any, error) {
	offset, limit, err := r.paging()
	if err != nil {
		return nil, err
	}
	if err := r.without("tags", "tag_value_id", "upstream_repo_owner", "upstream_repo_handle"); err != nil {
		return nil, err
	}
	q := library.MineQuery{Sort: library.ByUpdated, Limit: maxRepos}
	switch r.query.Get("is_public") {
	case "true":
		q.Visibility = prompt.Public
	case "false":
		q.Visibility = prompt.Private
	}
	out := repos{Repos: []repo{}}
	ofAll, ofSkills := r.wants(typePrompt), r.wants(typeSkill)
	if r.query.Get("is_archived") == "true" || !ofAll && !ofSkills {
		return out, nil
	}
	page, err := s.Service.Mine(ctx, r.User, q)
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(page.Items, func(v library.View) bool {
		return !ofAll && !library.HasFiles(v) || !matches(v, r.query.Get("query"))
	})
	out.Total = len(found)
	out.Repos, err = s.encodeAll(ctx, r, found[min(offset, len(found)):min(offset+limit, len(found))], mine)
	return out, err
}

// wants reports whether a list has a type among those that it is narrowed to.
func (r request) wants(repoType string) bool {
	types := strings.Trim(r.query.Get("repo_type")+","+strings.Join(r.query["repo_types"], ","), ",")
	return types == "" || slices.Contains(strings.Split(types, ","), repoType)
}

func matches(v library.View, text string) bool {
	text = strings.ToLower(text)
	return strings.Contains(strings.ToLower(v.Name+"\n"+v.Title+"\n"+v.About()), text)
}

// without refuses parameters by which LangSmith narrows a list and this service does not: a request
// for a part must not be answered with the whole. Others that are not known are left alone, as
// LangSmith does: a newer client may send them.
func (r request) without(names ...string) error {
	for _, name := range names {
		if r.query.Has(name) {
			return fault.New(fault.Invalid,
				fmt.Sprintf("this service has no list by %s; leave it out, or search by query", name))
		}
	}
	return nil
}

// paging reads which part of a list is wanted.
func (r request) paging() (offset, limit int, err error) {
	read := func(name string, otherwise, most int) int {
		n, wrong := strconv.Atoi(cmp.Or(r.query.Get(name), strconv.Itoa(otherwise)))
		if wrong != nil || n < 0 || n > most {
			err = fault.New(fault.Invalid, fmt.Sprintf("%s must be a whole number of at most %d", name, most))
		}
		return n
	}
	offset, limit = read("offset", 0, 1<<30), read("limit", 20, 100)
	return offset, limit, err
}
