package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/testing/langfusetest"
)

// readAll reads all that is at an address, and says of each prompt its versions with their labels,
// or why it was not read.
func readAll(t testing.TB, address string) (all map[string]string, err error) {
	t.Helper()
	l, err := client.NewLangfuse(address, langfusetest.Key, func(string) {})
	require.NoError(t, err)
	list, err := l.List(t.Context())
	if err != nil {
		return nil, err
	}
	all = make(map[string]string)
	for _, i := range list {
		h, err := l.Read(t.Context(), i)
		if err != nil {
			all[i.Name] = err.Error()
			continue
		}
		for _, v := range h.Document.Versions {
			all[i.Name] += fmt.Sprintf("%d%v ", v.Version, v.Labels)
		}
		all[i.Name] = strings.TrimSpace(all[i.Name])
	}
	return all, nil
}

// many returns a project with a number of prompts of two versions each.
func many(n int) *langfusetest.Project {
	p := &langfusetest.Project{Prompts: make(map[string]*langfusetest.Prompt)}
	for i := range n {
		p.Prompts[fmt.Sprintf("p%03d", i)] = &langfusetest.Prompt{
			Versions: []langfusetest.Version{
				{Number: 1, Prompt: "a"},
				{Number: 2, Prompt: "b", Labels: []string{"production"}},
			},
		}
	}
	return p
}

// TestLangfusePages: pages of any size give all prompts, with refusals for a while in between, and
// four requests at most are on their way.
func TestLangfusePages(t *testing.T) {
	t.Parallel()
	for _, most := range []int{0, 1, 7} {
		p, n := many(25), 0
		for n := 3; n < 20; n++ {
			p.Prompts["p024"].Versions = append(p.Prompts["p024"].Versions,
				langfusetest.Version{Number: n, Prompt: "more"})
		}
		p.MostOnPage = most
		p.Before = func(*langfusetest.Project, *http.Request) int {
			if n++; n%40 == 0 {
				return http.StatusTooManyRequests
			}
			return 0
		}
		all, err := readAll(t, p.Start(t))
		require.NoError(t, err)
		require.Len(t, all, 25)
		for name, said := range all {
			require.Equal(t, name == "p024", strings.HasSuffix(said, " 19[]"))
			require.True(t, strings.HasPrefix(said, "1[] 2[production]"), said)
		}
		require.LessOrEqual(t, p.Most(), 4)
	}
	all, err := readAll(t, (&langfusetest.Project{}).Start(t))
	require.NoError(t, err)
	require.Empty(t, all, "no prompts")
}

// TestLangfuseSkills: contents are read by either of two ways, and must be what their digests name.
func TestLangfuseSkills(t *testing.T) {
	t.Parallel()
	for _, byID := range []bool{false, true} {
		p := langfusetest.Sample()
		p.ByID = byID
		l, err := client.NewLangfuse(p.Start(t)+"/", langfusetest.Key, nil)
		require.NoError(t, err)
		list, err := l.List(t.Context())
		require.NoError(t, err)
		h, err := l.Read(t.Context(), list[len(list)-1])
		require.NoError(t, err)
		require.Equal(t, "fill-forms", h.Document.Name)
		var said []string
		for _, v := range h.Document.Versions {
			for _, f := range v.Files {
				said = append(said, fmt.Sprintf("%d %s %.20q", v.Version, f.Path, f.Data))
			}
		}
		require.Equal(t, []string{
			`1 SKILL.md "---\nname: fill-forms"`, `1 empty ""`, `1 scripts/fill.py "#!/usr/bin/env pytho"`,
			// which the version before has
			`3 SKILL.md "---\nname: fill-forms"`, `3 docs/ä/b.md "# B\n"`, `3 scripts/fill.py ""`,
		}, said)
		require.Equal(t, "Run it.", h.Document.Versions[1].Text)
		p.Answer = func(w http.ResponseWriter, r *http.Request) bool {
			if !strings.Contains(r.URL.Path, "/content") {
				return false
			}
			_, _ = io.WriteString(w, `{"content":"something else"}`)
			return true
		}
		_, err = l.Read(t.Context(), list[len(list)-1])
		require.ErrorContains(t, err, "what Langfuse gives is not what its digest names")
	}
}

// TestLangfuseChangesMeanwhile: the versions and labels of a prompt are those of one moment.
func TestLangfuseChangesMeanwhile(t *testing.T) {
	t.Parallel()
	two := func(first, second []string) []langfusetest.Version {
		return []langfusetest.Version{{Number: 1, Prompt: "a", Labels: first}, {Number: 2, Prompt: "b", Labels: second}}
	}
	production := []string{"production"}
	for name, c := range map[string]struct {
		at     string // the request before which it happens
		change func(p *langfusetest.Project)
		want   map[string]string
		before string // what b was before, if that is what may be read as well
	}{
		"a label goes back": {"version=1", func(p *langfusetest.Project) {
			p.Prompts["b"].Versions = two(production, nil)
		}, map[string]string{"a": "1[]", "b": "1[production] 2[]", "c": "1[]"}, ""},
		"a label comes": {"version=2", func(p *langfusetest.Project) {
			p.Prompts["b"].Versions = two([]string{"new"}, production)
		}, map[string]string{"a": "1[]", "b": "1[new] 2[production]", "c": "1[]"}, "1[] 2[production]"},
		"a version is deleted": {"version=1", func(p *langfusetest.Project) {
			p.Prompts["b"].Versions = two(nil, production)[1:]
		}, map[string]string{"a": "1[]", "b": "2[production]", "c": "1[]"}, ""},
		"a version comes": {"version=1", func(p *langfusetest.Project) {
			p.Prompts["b"].Versions = append(two(nil, nil),
				langfusetest.Version{Number: 3, Prompt: "c", Labels: production})
		}, map[string]string{"a": "1[]", "b": "1[] 2[] 3[production]", "c": "1[]"}, "1[] 2[production]"},
		"the prompt is deleted": {
			"version=1", func(p *langfusetest.Project) { delete(p.Prompts, "b") },
			map[string]string{"a": "1[]", "b": "it was deleted there meanwhile", "c": "1[]"},
			"",
		},
		"a prompt comes": {
			"page=2", func(p *langfusetest.Project) { p.Prompts["aa"] = p.Prompts["a"] },
			map[string]string{"a": "1[]", "aa": "1[]", "b": "1[] 2[production]", "c": "1[]"},
			"",
		},
		"a prompt goes": {
			"page=2", func(p *langfusetest.Project) { delete(p.Prompts, "a") },
			map[string]string{"b": "1[] 2[production]", "c": "1[]"},
			"",
		},
	} {
		p := &langfusetest.Project{MostOnPage: 1, Prompts: map[string]*langfusetest.Prompt{
			"a": {Versions: two(nil, nil)[:1]}, "b": {Versions: two(nil, production)},
			"c": {Versions: two(nil, nil)[:1]},
		}}
		done := false
		p.Before = func(p *langfusetest.Project, r *http.Request) int {
			isPage := strings.HasPrefix(c.at, "page")
			if !done && strings.Contains(r.URL.RawQuery, c.at) && (isPage || strings.HasSuffix(r.URL.Path, "/b")) {
				done = true
				c.change(p)
			}
			return 0
		}
		all, err := readAll(t, p.Start(t))
		require.NoError(t, err, name)
		require.True(t, done, name)
		if all["b"] == c.before {
			c.want["b"] = c.before
		}
		require.Equal(t, c.want, all, name)
	}
	// a project that never stands still
	p := many(3)
	p.MostOnPage = 1
	p.Before = func(p *langfusetest.Project, _ *http.Request) int {
		p.Prompts[fmt.Sprint("new", len(p.Prompts))] = p.Prompts["p000"]
		return 0
	}
	_, err := readAll(t, p.Start(t))
	require.ErrorContains(t, err, "it changes while it is read, 5 times")
	p = many(1)
	p.Before = func(p *langfusetest.Project, r *http.Request) int {
		if n, err := strconv.Atoi(r.URL.Query().Get("version")); err == nil {
			p.Prompts["p000"].Versions = two([]string{fmt.Sprint("l", n)}, []string{fmt.Sprint("m", len(p.Prompts))})
			p.Prompts[fmt.Sprint("new", len(p.Prompts))] = &langfusetest.Prompt{}
		}
		return 0
	}
	all, err := readAll(t, p.Start(t))
	require.NoError(t, err)
	require.Equal(t, map[string]string{"p000": "it changes all the time; import it again later"}, all)
}

// A hostile is what a service may answer, and what the reader says of it.
type hostile struct {
	list, version string // bodies; "" for good ones
	want          string // of the error of the list, or of the only prompt
}

// TestHostileLangfuse: answers that are none have bounds, and errors that say what is wrong.
func TestHostileLangfuse(t *testing.T) {
	t.Parallel()
	page := func(data string, total int) string {
		return fmt.Sprintf(`{"data":[%s],"meta":{"page":1,"limit":100,"totalItems":%d,"totalPages":%[2]d}}`,
			data, total)
	}
	one := func(versions string) string {
		return page(`{"name":"p","versions":[`+versions+`],"labels":[],"tags":[]}`, 1)
	}
	version := func(members string) string { return `{"name":"p","version":1,"labels":[],` + members + `}` }
	numbers := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = strconv.Itoa(i + 1)
		}
		return strings.Join(all, ",")
	}
	for name, c := range map[string]hostile{
		"no JSON":                {"<html>", "", "the list of prompts: the answer is not one of Langfuse"},
		"nothing":                {" ", "", "the answer is not one of Langfuse"},
		"cut":                    {page(`{"name":"p"`, 1)[:30], "", "the answer is not one of Langfuse"},
		"a list":                 {`[]`, "", "the answer is not one of Langfuse"},
		"names that are numbers": {page(`{"name":7}`, 1), "", "the answer is not one of Langfuse"},
		"no names":               {page(`{}`, 1), "", "it has an entry without a name"},
		"invalid UTF-8":          {page("{\"name\":\"\xff\"}", 1), "", "the answer is not one of Langfuse"},
		"the same page for ever": {
			page(`{"name":"p","versions":[1]}`, 3), "",
			"it says that it has 3 entries, and its pages have 1, 5 times",
		},
		"more than it says": {
			page(`{"name":"p","versions":[1]},{"name":"q","versions":[1]}`, 1), "",
			"it says that it has 1 entries, and its pages have 2, 5 times",
		},
		"a million prompts": {
			page(`{"name":"p","versions":[1]}`, 1_000_000), "",
			"it has more than 100000 entries",
		},
		"a large list": {
			page(`{"name":"`+strings.Repeat("x", 17<<20)+`"}`, 1), "",
			"the answer has more than 16 MiB",
		},
		"10,000 versions": {one(numbers(10_000)), "", "it has more than 1000 versions"},
		"version 0":       {one("0"), "", "it says that it has a version 0"},
		"a version of another": {
			one("1"), `{"name":"q","version":1,"prompt":"x"}`,
			`version 1: the answer is version 1 of "q"`,
		},
		"another version": {
			one("1"), `{"name":"p","version":2,"prompt":"x"}`,
			`version 1: the answer is version 2 of "p"`,
		},
		"no content": {
			one("1"), version(`"prompt":null`),
			"version 1: it has neither a text nor messages",
		},
		"a content of other type": {
			one("1"), version(`"prompt":{"a":1}`),
			"version 1: it has neither a text nor messages",
		},
		"messages of other types": {
			one("1"), version(`"prompt":[{"role":"user","content":[{"type":"image"}]}]`),
			"version 1: its messages are not ones of Langfuse",
		},
		"includes that are put in": {
			one("1"), version(`"prompt":"x","resolutionGraph":{"root":{"name":"p"}}`),
			"version 1: Langfuse gives it with the texts that it includes",
		},
		"a message of nothing": {
			one("1"), version(`"prompt":[{"role":"user"}]`),
			"version 1: message 1 has no role, content or name",
		},
		"labels of other types": {
			one("1"), `{"name":"p","version":1,"labels":{"a":1},"prompt":"x"}`,
			"version 1: the answer is not one of Langfuse",
		},
		"a time that is none": {
			one("1"), version(`"prompt":"x","createdAt":"yesterday"`),
			"version 1: the answer is not one of Langfuse",
		},
		"members twice": {
			one("1"), version(`"prompt":"x","prompt":"y"`),
			"version 1: the answer is not one of Langfuse",
		},
		"a large version": {
			one("1"), version(`"prompt":"` + strings.Repeat("x", 5<<20) + `"`),
			"version 1: the answer has more than 4 MiB",
		},
		"deep JSON": {
			one("1"), version(`"prompt":` + strings.Repeat("[", 100_000)),
			"version 1: the answer is not one of Langfuse",
		},
		"versions that are gone": {page(`{"name":"p","versions":[]}`, 1), "", "it was deleted there meanwhile"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case strings.Contains(r.URL.Path, "skills"):
					w.WriteHeader(http.StatusNotFound)
				case strings.HasSuffix(r.URL.Path, "/prompts"):
					_, _ = io.WriteString(w, c.list)
				default:
					_, _ = io.WriteString(w, c.version)
				}
			}))
			t.Cleanup(s.Close)
			all, err := readAll(t, s.URL)
			if err == nil {
				err = errors.New(all["p"])
			}
			require.ErrorContains(t, err, c.want)
			require.Less(t, len(err.Error()), 1000)
		})
	}
}

// TestEndlessLangfuse: versions that each have much, and a body without end, are told.
func TestEndlessLangfuse(t *testing.T) {
	t.Parallel()
	p := many(1)
	for n := 3; n < 20; n++ {
		p.Prompts["p000"].Versions = append(p.Prompts["p000"].Versions,
			langfusetest.Version{Number: n, Prompt: strings.Repeat("x", 3<<20)})
	}
	all, err := readAll(t, p.Start(t))
	require.NoError(t, err)
	require.Equal(t, "its versions have more than 32 MiB together", all["p000"])
	p = many(1)
	p.Answer = func(w http.ResponseWriter, _ *http.Request) bool {
		for _, err := io.WriteString(w, `{"data":[`); err == nil; {
			_, err = io.WriteString(w, strings.Repeat(" ", 1<<16))
		}
		return true
	}
	_, err = readAll(t, p.Start(t))
	require.ErrorContains(t, err, "the answer has more than 16 MiB")
}

// TestLangfuseKey: the key goes to no other service, and a wrong one ends the import.
func TestLangfuseKey(t *testing.T) {
	t.Parallel()
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("another service was asked, with the key: %v", r.Header["Authorization"])
	}))
	t.Cleanup(other.Close)
	p := many(1)
	p.Answer = func(w http.ResponseWriter, r *http.Request) bool {
		http.Redirect(w, r, other.URL+r.URL.Path, http.StatusPermanentRedirect)
		return true
	}
	_, err := readAll(t, p.Start(t))
	require.ErrorContains(t, err, "sends on to")
	require.ErrorContains(t, err, "name that address as --url if you trust it with the key")
	for _, key := range []string{"", "pk", ":sk", "pk:", "pk:a\x00b", "pk:a\nb"} {
		_, err := client.NewLangfuse("http://localhost", key, nil)
		require.ErrorContains(t, err, "the public and the secret key", "%q", key)
	}
	for _, address := range []string{
		"", "localhost", "ftp://localhost",
		"http://user:pass@localhost", "http://localhost?a=b",
	} {
		_, err := client.NewLangfuse(address, langfusetest.Key, nil)
		require.ErrorContains(t, err, "name the address", "%q", address)
	}
	l, err := client.NewLangfuse(many(1).Start(t), "pk-lf-public:wrong", nil)
	require.NoError(t, err)
	_, err = l.List(t.Context())
	require.ErrorContains(t, err, "refuses the key (status 401)")
	require.ErrorContains(t, err, "Invalid credentials")
	require.NotContains(t, err.Error(), "wrong")
}

// TestLangfuseAsksToWait: a wait as long as a service asks for is kept, and told; one that is asked
// for again and again ends the import.
func TestLangfuseAsksToWait(t *testing.T) {
	t.Parallel()
	refusals := func(n int) service {
		return func(*http.Request, string) (*http.Response, error) {
			if n--; n >= 0 {
				return reply(http.StatusTooManyRequests, "", "Retry-After", "60")
			}
			return reply(http.StatusOK, `{"data":[],"meta":{"totalItems":0}}`)
		}
	}
	for n, want := range map[int]time.Duration{3: 3 * time.Minute, 1000: 15 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			var told []string
			l, err := client.NewLangfuse("http://there", langfusetest.Key, func(s string) { told = append(told, s) })
			require.NoError(t, err)
			l.Through(refusals(n))
			start := time.Now()
			_, err = l.List(context.Background())
			require.Equal(t, n > 3, err != nil, "%v", err)
			if err != nil {
				require.ErrorContains(t, err, "does not answer (status 429)")
			}
			require.InDelta(t, want.Minutes(), time.Since(start).Minutes(), 1.1)
			require.Equal(t, "Langfuse asks to wait 1m0s", told[0])
			require.Len(t, slices.Compact(told), 1)
		})
	}
}

// TestLangfuseFourAtATime: no more requests than four are on their way, however many prompts are
// read at once.
func TestLangfuseFourAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := many(3)
		for n := 3; n < 20; n++ {
			for _, prompt := range p.Prompts {
				prompt.Versions = append(prompt.Versions, langfusetest.Version{Number: n, Prompt: "more"})
			}
		}
		open, held := make(chan struct{}), atomic.Int64{}
		l, err := client.NewLangfuse("http://there", langfusetest.Key, nil)
		require.NoError(t, err)
		l.Through(service(func(r *http.Request, _ string) (*http.Response, error) {
			if r.URL.Query().Has("version") {
				held.Add(1)
				<-open
			}
			w := httptest.NewRecorder()
			p.ServeHTTP(w, r)
			return w.Result(), nil
		}))
		list, err := l.List(t.Context())
		require.NoError(t, err)
		var reading sync.WaitGroup
		for _, i := range list {
			reading.Go(func() {
				_, err := l.Read(t.Context(), i)
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		require.EqualValues(t, 4, held.Load())
		close(open)
		reading.Wait()
	})
}

// TestLangfuseSkillsAmongPrompts: the door of another PromptHub lists a prompt with files twice,
// and it is read once; in Langfuse a prompt and a skill of one name are two.
func TestLangfuseSkillsAmongPrompts(t *testing.T) {
	t.Parallel()
	for one, want := range map[bool][]string{
		true: {"prompt a/parent", "prompt chat/überall", "prompt gaps", "prompt z child", "skill fill-forms"},
		false: {
			"prompt a/parent", "prompt chat/überall", "prompt fill-forms", "prompt gaps",
			"prompt z child", "skill fill-forms",
		},
	} {
		p := langfusetest.Sample()
		p.OneLibrary = one
		p.Prompts["fill-forms"] = &langfusetest.Prompt{
			Versions: []langfusetest.Version{{Number: 1, Prompt: "x"}, {Number: 3, Prompt: "y"}},
		}
		l, err := client.NewLangfuse(p.Start(t), langfusetest.Key, nil)
		require.NoError(t, err)
		list, err := l.List(t.Context())
		require.NoError(t, err)
		var got []string
		for _, i := range list {
			got = append(got, i.Kind()+" "+i.Name)
		}
		require.Equal(t, want, got)
	}
}
