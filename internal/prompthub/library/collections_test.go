package library_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/table"
)

// writes makes a prompt of a caller.
func (s *shelf) writes(who auth.User, name, text string, v prompt.Visibility) prompt.ID {
	s.t.Helper()
	made, _, err := s.Create(s.t.Context(), who, prompt.Draft{Title: name, Name: name, Text: text, Visibility: v}, "")
	require.NoError(s.t, err)
	return made.ID
}

// sees returns the slugs of the skills of a collection that a reader gets, or the kind of error.
func (s *shelf) sees(who auth.User, owner, slug string) any {
	s.t.Helper()
	c, err := s.Collection(s.t.Context(), who, owner, slug)
	if err != nil {
		return fault.Of(err)
	}
	var slugs []string
	for _, v := range c.Skills {
		slugs = append(slugs, v.Slug)
	}
	return strings.Join(slugs, " ")
}

func (s *shelf) collect(who auth.User, slug string, v prompt.Visibility, ids ...prompt.ID) error {
	_, err := s.CreateCollection(s.t.Context(), who, who, slug, prompt.CollectionDraft{Visibility: v, Prompts: ids})
	return err
}

func (s *shelf) set(who auth.User, owner, slug string, change func(*prompt.CollectionDraft)) error {
	_, err := s.EditCollection(s.t.Context(), who, owner, slug, library.Match{Any: true}, change)
	return err
}

// TestCollectionSkills: a reader gets those skills of a collection that they may see now, in order,
// in the version for programs; the rest is as if it were not there.
func TestCollectionSkills(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, ann, eve := t.Context(), auth.User{ID: "ann", Name: "Ann"}, auth.User{ID: "eve", Name: "Eve"}
	s.MakeKnown(ctx, eve)
	own := s.writes(ann, "own", "One.", prompt.Private)
	public := s.writes(ann, "public", "One.", prompt.Public)
	hers := s.writes(eve, "hers", "One.", prompt.Public)
	require.NoError(t, s.collect(ann, "support", prompt.Public, hers, s.prompt.ID, own, public))
	key := s.AuthorKey("ann")
	require.Equal(t, "hers t own public", s.sees(ann, library.Me, "support"))
	require.Equal(t, "hers public", s.sees(eve, key, "support"))
	require.Equal(t, "hers public", s.sees(auth.User{}, key, "support"))
	require.Equal(t, "hers t public", s.sees(s.members[prompt.RoleReader], key, "support"), "a member of the workspace")

	two := "Two."
	require.NoError(t, s.SetLabel(ctx, ann, public, "production", 1))
	_, err := s.Patch(ctx, ann, public, library.Match{Any: true}, func(d *prompt.Draft) { d.Text = two })
	require.NoError(t, err)
	c, err := s.Collection(ctx, eve, key, "support")
	require.NoError(t, err)
	require.Equal(t, "One.", c.Skills[1].Text, "production")
	before := c.PluginVersion()
	require.NoError(t, s.SetLabel(ctx, ann, public, "production", 2))
	c, err = s.Collection(ctx, eve, key, "support")
	require.NoError(t, err)
	require.Equal(t, two, c.Skills[1].Text)
	require.EqualValues(t, 1, c.Version)
	require.NotEqual(t, before, c.PluginVersion(), "a release reaches installers")
	require.True(t, strings.HasPrefix(c.PluginVersion(), "1."))

	_, err = s.Patch(ctx, eve, hers, library.Match{Any: true}, func(d *prompt.Draft) { d.Visibility = prompt.Private })
	require.NoError(t, err)
	require.NoError(t, s.Delete(ctx, ann, own, library.Match{Any: true}))
	require.Equal(t, "t public", s.sees(ann, library.Me, "support"))
	require.NoError(t, s.set(ann, library.Me, "support", func(d *prompt.CollectionDraft) { d.About = "Other" }))
	_, err = s.Patch(ctx, eve, hers, library.Match{Any: true}, func(d *prompt.Draft) { d.Visibility = prompt.Public })
	require.NoError(t, err)
	_, _, err = s.Restore(ctx, ann, own)
	require.NoError(t, err)
	require.Equal(t, "hers t own public", s.sees(ann, library.Me, "support"), "they are back")

	_, err = s.Patch(ctx, ann, own, library.Match{Any: true}, func(d *prompt.Draft) {
		d.Text = "@@@langfusePrompt:name=public|label=latest@@@"
	})
	require.NoError(t, err)
	require.Equal(t, "hers t public", s.sees(ann, library.Me, "support"), "it is no skill now")
}

// TestCollectionItems: which prompts an owner cannot have in a collection.
func TestCollectionItems(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, ann, eve := t.Context(), auth.User{ID: "ann", Name: "Ann"}, auth.User{ID: "eve", Name: "Eve"}
	shelf, err := s.In(ctx, ann, "shelf")
	require.NoError(t, err)
	own := s.writes(ann, "own", "One.", prompt.Private)
	s.writes(ann, "included", "One.", prompt.Private)
	includes := s.writes(ann, "includes", "@@@langfusePrompt:name=included|label=latest@@@", prompt.Private)
	secret := s.writes(eve, "secret", "One.", prompt.Private)
	same := s.writes(eve, "own", "One.", prompt.Public)
	code := func(who auth.User, ids ...prompt.ID) (all []fault.Code) {
		err := s.collect(who, "c"+strings.ToLower(string(ids[0])), prompt.Private, ids...)
		var f *fault.Error
		if err == nil {
			return nil
		}
		require.ErrorAs(t, err, &f)
		require.Equal(t, fault.Invalid, f.Kind)
		for _, field := range f.Fields {
			all = append(all, field.Code)
		}
		return all
	}
	require.Empty(t, code(ann, own, s.prompt.ID))
	require.Equal(t, []fault.Code{prompt.UnknownPrompt}, code(ann, own, secret))
	require.Equal(t, code(ann, secret), code(ann, "01ARZ3NDEKTSV4RRFFQ69G5FAV"), "it cannot be told from none")
	require.Equal(t, []fault.Code{prompt.UnknownPrompt}, code(ann, "nonsense"))
	require.Equal(t, []fault.Code{prompt.NotASkill}, code(ann, includes))
	require.Equal(t, []fault.Code{prompt.SameSkillName}, code(ann, own, same))
	require.Equal(t, []fault.Code{""}, code(ann, own, own))
	require.Equal(t, []fault.Code{prompt.UnknownPrompt}, code(shelf, own), "a workspace reads no prompt of a member")
	require.Empty(t, code(shelf, s.prompt.ID, same))
	many := make([]prompt.ID, prompt.MaxInCollection+1)
	for i := range many {
		many[i] = own
	}
	require.Equal(t, []fault.Code{prompt.TooManySkills}, code(ann, many...))

	// one that it had stays, though its owner cannot read it now
	require.NoError(t, s.collect(ann, "kept", prompt.Private, same))
	_, err = s.Patch(ctx, eve, same, library.Match{Any: true}, func(d *prompt.Draft) { d.Visibility = prompt.Private })
	require.NoError(t, err)
	require.NoError(t, s.set(ann, library.Me, "kept", func(d *prompt.CollectionDraft) {
		d.Prompts = append(d.Prompts, own)
	}))
	require.Equal(t, "own", s.sees(ann, library.Me, "kept"))
}

// TestCollectionRights: each role in a workspace reads, changes and deletes its collections as far
// as it may.
func TestCollectionRights(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, admin := t.Context(), s.members[prompt.RoleAdministrator]
	as := func(who auth.User) auth.User {
		acting, err := s.ForOwner(ctx, who, s.prompt.AuthorID)
		require.NoError(t, err)
		return acting
	}
	may := func(who auth.User, v prompt.Visibility) (may string) {
		require.NoError(t, s.DeleteCollection(ctx, admin, "shelf", "support", library.Match{Any: true}))
		_, err := s.CreateCollection(ctx, admin, as(admin), "support",
			prompt.CollectionDraft{Visibility: v, Prompts: []prompt.ID{s.prompt.ID}})
		require.NoError(t, err)
		all, err := s.Collections(ctx, who, "shelf")
		c, getErr := s.Collection(ctx, who, "shelf", "support")
		require.Equal(t, getErr == nil, err == nil && len(all) == 1, "the list has it if and only if it is there")
		if getErr == nil {
			may = "r"
		}
		can := s.MayEditCollection(ctx, who, "shelf", "support") == nil
		require.Equal(t, can, c.May.Edit)
		if s.set(who, "shelf", "support", func(d *prompt.CollectionDraft) { d.Name = "Other" }) == nil {
			may += "w"
		}
		require.Equal(t, can, strings.Contains(may, "w"))
		err = s.set(who, "shelf", "support", func(d *prompt.CollectionDraft) { d.Visibility = prompt.Public })
		if v == prompt.Private && err == nil {
			may += "p"
		}
		err = s.DeleteCollection(ctx, who, "shelf", "support", library.Match{Any: true})
		if err == nil {
			may += "d"
		} else if getErr != nil {
			require.Equal(t, fault.Of(getErr), fault.Of(err))
		} else {
			require.Equal(t, fault.Forbidden, fault.Of(err))
		}
		return may
	}
	for role, want := range map[prompt.Role][2]string{
		prompt.RoleReader: {"r", "r"}, prompt.RoleAuthor: {"rw", "r"}, prompt.RolePublisher: {"rwpd", "rwd"},
		prompt.RoleAdministrator: {"rwpd", "rwd"},
	} {
		who := s.members[role]
		require.Equal(t, want[0], may(who, prompt.Private), role)
		require.Equal(t, want[1], may(who, prompt.Public), role)
		who.Grant = &auth.Grant{TokenID: "t", Scopes: []string{auth.ScopeRead}}
		require.Equal(t, "r", may(who, prompt.Private), "%s with a token that reads", role)
	}
	eve := auth.User{ID: "eve", Name: "Eve"}
	require.Empty(t, may(eve, prompt.Private))
	require.Equal(t, "r", may(eve, prompt.Public), "a public collection makes the workspace known")
	none, err := s.CreateCollection(ctx, eve, eve, "hers", prompt.CollectionDraft{})
	require.NoError(t, err)
	require.Empty(t, none.Skills)

	require.NoError(t, s.DeleteCollection(ctx, admin, "shelf", "support", library.Match{Any: true}))
	require.NoError(t, s.collect(as(admin), "support", prompt.Public))
	require.Equal(t, library.HasPublic, fault.CodeOf(s.DeleteWorkspace(ctx, admin, "shelf")))
	require.NoError(t, s.set(admin, "shelf", "support", func(d *prompt.CollectionDraft) {
		d.Visibility = prompt.Private
	}))
	require.NoError(t, s.DeleteWorkspace(ctx, admin, "shelf"))
	require.Equal(t, fault.NotFound, s.sees(admin, "shelf", "support"))
}

// TestCollectionMatch: of two changes of one version, one is refused, and the same one again is
// answered as before.
func TestCollectionMatch(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ann := auth.User{ID: "ann", Name: "Ann"}
	require.NoError(t, s.collect(ann, "support", prompt.Private))
	edit := func(version int64, name string) (library.Collection, error) {
		return s.EditCollection(t.Context(), ann, library.Me, "support", library.Match{Revisions: []int64{version}},
			func(d *prompt.CollectionDraft) { d.Name = name })
	}
	for range 2 {
		c, err := edit(1, "One")
		require.NoError(t, err)
		require.EqualValues(t, 2, c.Version)
	}
	_, err := edit(1, "Two")
	require.Equal(t, fault.Stale, fault.Of(err))
	err = s.DeleteCollection(t.Context(), ann, library.Me, "support", library.Match{Revisions: []int64{1}})
	require.Equal(t, fault.Stale, fault.Of(err))
	require.NoError(t, s.DeleteCollection(t.Context(), ann, library.Me, "support",
		library.Match{Revisions: []int64{2}}))
}

// TestCollectionWithARecalledSkill: where programs that name no version would get one that was
// recalled, by damage or a moment ago, the collection has its other skills.
func TestCollectionWithARecalledSkill(t *testing.T) {
	t.Parallel()
	s := newShelf(t)
	ctx, ann := t.Context(), auth.User{ID: "ann", Name: "Ann"}
	one, two := s.writes(ann, "one", "One.", prompt.Public), s.writes(ann, "two", "Two.", prompt.Public)
	require.NoError(t, s.collect(ann, "support", prompt.Public, one, two))
	require.NoError(t, s.SetLabel(ctx, ann, one, prompt.Production, 1))
	_, err := s.Patch(ctx, ann, one, library.Match{Any: true}, func(d *prompt.Draft) { d.Text = "New." })
	require.NoError(t, err)
	prompts := promptdb.DefaultTables().Prompts
	for row, err := range table.All(ctx, s.tables, prompts, table.Range{}) {
		require.NoError(t, err)
		if strings.HasPrefix(row.Row, "!ver|"+string(one)) && row.Props.Get("Version").Int() == 1 {
			_, err := s.tables.Write(ctx, prompts,
				table.Op{Kind: table.Merge, Row: table.Row{Key: row.Key, ETag: table.Any, Props: table.Props{
					{Name: "Recall", Value: table.String(`{"reason":"because"}`)},
				}}})
			require.NoError(t, err)
		}
	}
	_, err = s.GetVersion(ctx, ann, one, library.ForPrograms)
	require.Equal(t, fault.Gone, fault.Of(err))
	require.Equal(t, "two", s.sees(ann, library.Me, "support"))
}
