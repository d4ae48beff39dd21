package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/doors/api"
)

func (p person) profile(body string) api.User {
	p.w.t.Helper()
	var u api.User
	p.do(http.MethodPut, "/api/v1/me/profile", body).is(http.StatusOK).into(&u)
	return u
}

func TestProfileStory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob, nobody := w.as("Ann"), w.as("Bob"), w.as("")
	key := w.db.AuthorKey("Ann")
	var u api.User
	ann.get("/api/v1/me/profile").is(200).into(&u)
	require.Equal(t, api.User{ID: key, Name: "Ann"}, u)
	nobody.get("/api/v1/users/" + key).problem(404)

	require.Equal(t, api.User{ID: key, Handle: "ann-lee", Name: "Ann Lee", About: "a\nb"},
		ann.profile(`{"handle":"ann-lee","name":" Ann Lee ","about":"a\nb"}`))
	for _, handle := range []string{"ann-lee", key} {
		nobody.get("/api/v1/users/" + handle).is(200).into(&u)
		require.Equal(t, api.User{ID: key, Handle: "ann-lee", Name: "Ann Lee", About: "a\nb"}, u)
	}
	for _, handle := range []string{
		strings.Repeat("%20", 300), strings.Repeat("a", 2000),
		"a_" + strings.Repeat("b", 600),
	} {
		nobody.get("/api/v1/users/" + handle + "/prompts").problem(404)
		nobody.get("/api/v1/users/" + handle + "/prompts/x").problem(404)
	}
	// A handle is chosen once, and stays whoever comes.
	require.Equal(t, "ann-lee", ann.profile(`{"name":"Ann"}`).Handle)
	require.Equal(t, []string{"body.handle"},
		ann.do("PUT", "/api/v1/me/profile", `{"handle":"other"}`).problem(422).locations())
	require.Equal(t, []string{"body.handle"},
		bob.do("PUT", "/api/v1/me/profile", `{"handle":"ann-lee"}`).problem(422).locations())
	for _, bad := range []string{"me", "admin", "a--b", "-a", "A", "a_b", strings.Repeat("a", 65), "ä"} {
		require.Equal(t, []string{"body.handle"},
			bob.do("PUT", "/api/v1/me/profile", fmt.Sprintf(`{"handle":%q}`, bad)).problem(422).locations(), bad)
	}
	require.Equal(t, []string{"body.name", "body.about"},
		bob.do("PUT", "/api/v1/me/profile", `{"name":"bob@example.com","about":"`+strings.Repeat("x", 1001)+
			`"}`).problem(422).locations())
	nobody.get("/api/v1/users/me").problem(401)
	nobody.get("/api/v1/users/x%2Fy").problem(404)
}

// One handle, wanted by many at once, is one user's; and one user who wants many at once has one.
func TestHandlesRace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var mu sync.Mutex
	got := map[int]int{}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			a := w.as(fmt.Sprint("User ", i)).do("PUT", "/api/v1/me/profile", `{"handle":"wanted"}`)
			mu.Lock()
			got[a.status]++
			mu.Unlock()
		})
		wg.Go(func() { w.as("Ann").do("PUT", "/api/v1/me/profile", fmt.Sprintf(`{"handle":"ann-%d"}`, i)) })
	}
	wg.Wait()
	require.Equal(t, map[int]int{200: 1, 422: 7}, got)
	var u api.User
	w.as("Ann").get("/api/v1/me/profile").is(200).into(&u)
	shown := 0
	for i := range 8 {
		if w.as("").get(fmt.Sprintf("/api/v1/users/ann-%d", i)).status == 200 {
			shown++
			require.Equal(t, fmt.Sprintf("ann-%d", i), u.Handle)
		}
	}
	require.Equal(t, 1, shown)
}

// TestUserPromptsByTagAndWord: of an author's public prompts those with all tags and words, and no
// private one, page by page; a cursor is that of its filter.
func TestUserPromptsByTagAndWord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	for i := range 4 {
		ann.create(fmt.Sprint("Letter ", i), []string{"writing", "text"}[:1+i%2]...)
	}
	ann.create("Note", "writing")
	secret := ann.create("Letter in secret", "writing", "text")
	ann.do("PATCH", "/api/v1/prompts/"+secret.ID, `{"visibility":"private"}`, "If-Match", "*").is(200)
	bob.create("Letter of Bob", "writing", "text")
	path := "/api/v1/users/" + w.db.AuthorKey("Ann") + "/prompts"
	require.Equal(t, []string{"Letter 3", "Letter 1"}, bob.get(path+"?tag=writing,text").is(200).titles())
	require.Equal(t, []string{"Letter 3", "Letter 2", "Letter 1", "Letter 0"}, bob.get(path+"?q=let").titles())
	require.Equal(t, []string{"Letter 3", "Letter 1"}, ann.get(path+"?q=let&tag=text").titles())
	require.Empty(t, bob.get(path+"?q=nothing").titles())
	first := bob.get(path + "?q=let&limit=3").list()
	require.Equal(t, []string{"Letter 0"}, bob.get(path+"?q=let&limit=3&cursor="+first.NextCursor).titles())
	bob.get(path + "?limit=3&cursor=" + first.NextCursor).problem(400)
}

// Others see of an author what is public, whole and in order, and nothing of the rest.
func TestUserPrompts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ann, bob := w.as("Ann"), w.as("Bob")
	var want []string
	for i := range 12 {
		p := ann.create(fmt.Sprint("Prompt ", i))
		switch i % 4 {
		case 0:
			want = append([]string{p.Title}, want...)
		case 1:
			ann.do("PATCH", "/api/v1/prompts/"+p.ID, `{"visibility":"private"}`, "If-Match", "*").is(200)
		case 2:
			ann.do("DELETE", "/api/v1/prompts/"+p.ID, "").is(204)
		case 3:
			w.admin().do("PUT", "/api/v1/prompts/"+p.ID+"/hidden", `{"reason":"x"}`).is(204)
		}
	}
	bob.create("Of Bob")
	path := "/api/v1/users/" + w.db.AuthorKey("Ann") + "/prompts"
	for _, who := range []person{w.as(""), bob, ann, w.admin()} {
		a := who.get(path).is(200)
		require.Equal(t, want, a.titles())
		require.NotContains(t, a.body, "revision")
		require.NotContains(t, a.body, "hidden")
		var walked []string
		for cursor := ""; ; {
			page := who.get(path + "?limit=1&cursor=" + cursor).is(200).list()
			for _, p := range page.Items {
				walked = append(walked, p.Title)
			}
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		require.Equal(t, want, walked)
	}
	bob.get("/api/v1/users/" + w.db.AuthorKey("Eve") + "/prompts").problem(404)
	w.clock.Advance(time.Second)
}
