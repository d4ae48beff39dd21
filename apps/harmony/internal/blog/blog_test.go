package blog_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/blog"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/meettest"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/testing/calls"
)

var tables = rowstore.DefaultTables[blog.Tables]()

// A world has members and a blog.
type world struct {
	*meettest.World
	blog *blog.Service
}

func over(w *meettest.World) *world {
	w.T.Helper()
	all := &world{w, blog.New(w.Service, tables)}
	require.NoError(w.T, all.blog.Create(w.T.Context()))
	w.Handle(w.Triggers(all.blog.Settlers()...))
	return all
}

func draft(title string) blog.Draft {
	return blog.Draft{
		Title: title, Excerpt: "In short", Content: "The whole text",
		Tags: []string{"album"}, Published: true,
	}
}

// titles returns the titles that everybody sees.
func (w *world) titles() (all []string) { return w.titlesOf("") }

// titlesOf returns the titles of the posts with a tag, read two at a time.
func (w *world) titlesOf(tag string) (all []string) {
	w.T.Helper()
	for after, more := "", true; more; more = after != "" {
		p, err := w.blog.List(w.T.Context(), tag, after, 2)
		require.NoError(w.T, err)
		for _, one := range p.Posts {
			all = append(all, one.Title)
			got, err := w.blog.Post(w.T.Context(), meet.Claim{}, one.ID)
			require.NoError(w.T, err)
			require.Equal(w.T, one, got)
		}
		after = p.Next
	}
	return all
}

// TestPosts: admins write posts, and everybody sees those that are published, from their time on,
// the newest first.
func TestPosts(t *testing.T) {
	t.Parallel()
	w := over(meettest.New(t))
	ctx, admin := t.Context(), w.Members["admin"]
	_, err := w.blog.NewPost(ctx, w.Members["moderator"], draft("No"))
	meettest.RequireCode(t, meet.RoleRequired, err)
	ids := map[string]string{}
	for n := range 5 {
		w.Clock.Pass(time.Second)
		p, err := w.blog.NewPost(ctx, admin, draft(fmt.Sprint("Post ", n)))
		require.NoError(t, err)
		require.Equal(t, w.Clock.Now(), p.PublishedAt, "without a time it is now")
		require.Equal(t, admin.UserID, p.AuthorID)
		ids[p.Title] = p.ID
	}
	require.Equal(t, []string{"Post 4", "Post 3", "Post 2", "Post 1", "Post 0"}, w.titles())

	later := draft("Later")
	later.PublishedAt = w.Clock.Now().Add(time.Minute).Format(time.RFC3339)
	p, err := w.blog.NewPost(ctx, admin, later)
	require.NoError(t, err)
	hidden := draft("Hidden")
	hidden.Published = false
	h, err := w.blog.NewPost(ctx, admin, hidden)
	require.NoError(t, err)
	require.True(t, h.PublishedAt.IsZero())
	for _, id := range []string{p.ID, h.ID, w.NewID(), "x"} {
		for _, c := range []meet.Claim{{}, w.Members["anna"], w.Members["moderator"]} {
			_, err = w.blog.Post(ctx, c, id)
			meettest.RequireCode(t, blog.PostNotFound, err)
		}
	}
	for _, id := range []string{p.ID, h.ID} {
		_, err = w.blog.Post(ctx, admin, id)
		require.NoError(t, err)
	}
	require.Len(t, w.titles(), 5)
	w.Clock.Pass(time.Minute)
	require.Equal(t, "Later", w.titles()[0])
	var all []string
	for after, more := "", true; more; more = after != "" {
		p, err := w.blog.All(ctx, admin, after, 3)
		require.NoError(t, err)
		for _, one := range p.Posts {
			all = append(all, one.ID)
		}
		after = p.Next
	}
	require.Len(t, all, 7)
	require.IsIncreasing(t, all)

	// A tag in any case of its letters, also a tag that no key could hold.
	require.Equal(t, w.titles(), w.titlesOf(" ALBUM"))
	require.Empty(t, w.titlesOf("tour"))
	tagged := draft("Tagged")
	tagged.Tags, tagged.PublishedAt = []string{"Тур/2026 #1", "тур/2026 #1", "album"}, later.PublishedAt
	_, err = w.blog.Edit(ctx, admin, p.ID, tagged)
	require.NoError(t, err)
	require.Equal(t, []string{"Tagged"}, w.titlesOf("ТУР/2026 #1"))
	require.Equal(t, "Tagged", w.titlesOf("album")[0])
	tagged.Tags = nil
	_, err = w.blog.Edit(ctx, admin, p.ID, tagged)
	require.NoError(t, err)
	require.Empty(t, w.titlesOf("Тур/2026 #1"))
	require.NotContains(t, w.titlesOf("album"), "Tagged")
	require.Contains(t, w.titles(), "Tagged")
	later.Title = "Later"
	_, err = w.blog.Edit(ctx, admin, p.ID, later)
	require.NoError(t, err)
	_, err = w.blog.All(ctx, w.Members["moderator"], "", 3)
	meettest.RequireCode(t, meet.RoleRequired, err)

	// An edit keeps the time unless it gives another one, which moves the post.
	e, err := w.blog.Edit(ctx, admin, ids["Post 0"], draft("Post zero"))
	require.NoError(t, err)
	require.Equal(t, meettest.Began.Add(time.Second), e.PublishedAt)
	require.Equal(t, "Post zero", w.titles()[5])
	w.Clock.Pass(time.Second)
	moved := draft("Post one")
	moved.PublishedAt = w.Clock.Now().Format(time.RFC3339)
	_, err = w.blog.Edit(ctx, admin, ids["Post 1"], moved)
	require.NoError(t, err)
	_, err = w.blog.Edit(ctx, admin, ids["Post 2"], hidden)
	require.NoError(t, err)
	require.NoError(t, w.blog.Delete(ctx, admin, ids["Post 3"]))
	require.Equal(t, []string{"Post one", "Later", "Post 4", "Post zero"}, w.titles())
	require.Len(t, w.Rows("BlogPosts"), 6+4+4, "no place of before is left")
	for _, id := range []string{ids["Post 3"], w.NewID(), "x"} {
		_, err = w.blog.Edit(ctx, admin, id, draft("No"))
		meettest.RequireCode(t, blog.PostNotFound, err)
		meettest.RequireCode(t, blog.PostNotFound, w.blog.Delete(ctx, admin, id))
	}
	for name, spoil := range map[string]func(*blog.Draft){
		"title": func(d *blog.Draft) { d.Title = " " }, "excerpt": func(d *blog.Draft) {
			d.Excerpt = strings.Repeat("x", 501)
		},
		"content": func(d *blog.Draft) { d.Content = strings.Repeat("𝄞", 15_001) }, "publishedAt": func(d *blog.Draft) {
			d.PublishedAt = "2026-11-01"
		},
		"tags": func(d *blog.Draft) { d.Tags = slices.Repeat([]string{"x"}, 11) },
	} {
		broken := draft("A post")
		spoil(&broken)
		_, err := w.blog.NewPost(ctx, admin, broken)
		var f *fault.Error
		require.ErrorAs(t, err, &f, name)
		require.Equal(t, "body."+name, f.Fields[0].Name)
	}
	largest := draft("A post")
	largest.Content = strings.Repeat("𝄞", 15_000)
	_, err = w.blog.NewPost(ctx, admin, largest)
	require.NoError(t, err)
}

// TestCrashes: after any accident to any call a post is as it was or as was asked for, and the list
// follows it. A promise is kept.
func TestCrashes(t *testing.T) {
	t.Parallel()
	moved := draft("new")
	moved.PublishedAt = meettest.Began.Add(-time.Hour).Format(time.RFC3339)
	for name, c := range map[string]struct {
		do   func(w *world, s *blog.Service, id string) error
		want []string // the titles if it is done
	}{
		"new": {func(w *world, s *blog.Service, _ string) error {
			_, err := s.NewPost(w.T.Context(), w.Members["admin"], moved)
			return err
		}, []string{"old", "new"}},
		"edit": {func(w *world, s *blog.Service, id string) error {
			_, err := s.Edit(w.T.Context(), w.Members["admin"], id, moved)
			return err
		}, []string{"new"}},
		"delete": {func(w *world, s *blog.Service, id string) error {
			return s.Delete(w.T.Context(), w.Members["admin"], id)
		}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := over(meettest.New(t))
			old, err := before.blog.NewPost(t.Context(), before.Members["admin"], draft("old"))
			require.NoError(t, err)
			calls.Crashes(t, func(t *testing.T, crash *calls.Crash) {
				w := over(before.Clone(t))
				err := c.do(w, blog.New(w.Over(crash.Over(w.DB, w.Queues)), tables), old.ID)
				crash.Land(w.Pump, w.Clock.Pass)
				if err == nil {
					require.Equal(t, c.want, w.titles(), "what was promised")
				}
				w.Settle()
				all := w.titles()
				if err == nil || !slices.Equal(all, []string{"old"}) {
					require.Equal(t, c.want, all, "what was there, or what was asked for")
				}
				for _, check := range w.blog.Checks() {
					for _, row := range w.Rows("BlogPosts") {
						if strings.HasPrefix(row.Partition, "POST_") == (check.Name == "posts") {
							found, err := check.Look(t.Context(), row)
							require.NoError(t, err)
							require.Empty(t, found)
						}
					}
				}
			})
		})
	}
}
