package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

const header = "act,prompt,for_devs,type,contributor\n"

// file returns a CSV file of rows with the titles 1 to n.
func file(n int) []byte {
	var b strings.Builder
	b.WriteString(header)
	for i := range n {
		fmt.Fprintf(&b, "%d,text,FALSE,TEXT,user%d\n", i+1, i%3)
	}
	return []byte(b.String())
}

func TestImportTellsInTheOrderOfTheFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var running, most atomic.Int32
		do := func(_ context.Context, row format.Row) (client.Outcome, error) {
			n := running.Add(1)
			defer running.Add(-1)
			for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
			}
			time.Sleep(time.Duration(100-row.Number) * time.Millisecond)
			switch row.Number % 3 {
			case 0:
				return client.Rejected, errors.New("why")
			case 1:
				return client.Created, nil
			}
			return client.Unchanged, nil
		}
		n := 0
		err := client.Import(t.Context(), format.Rows("", file(50), ""), do, func(r client.Result) {
			n++
			require.Equal(t, n, r.Row.Number)
			require.Equal(t, []client.Outcome{client.Rejected, client.Created, client.Unchanged}[n%3], r.Outcome)
			require.Equal(t, r.Outcome == client.Rejected, r.Err != nil)
		})
		require.NoError(t, err)
		require.Equal(t, 50, n)
		require.EqualValues(t, client.Parallel, most.Load())
	})
}

func TestImportEndsWithTheFirstTrouble(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("service is away")
		var begun atomic.Int32
		do := func(ctx context.Context, row format.Row) (client.Outcome, error) {
			begun.Add(1)
			if row.Number == 20 {
				return client.Created, broken
			}
			if row.Number > 20 {
				<-ctx.Done()
				return client.Created, ctx.Err()
			}
			return client.Created, nil
		}
		var told []int
		err := client.Import(t.Context(), format.Rows("", file(1000), ""), do, func(r client.Result) {
			told = append(told, r.Row.Number)
		})
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "row 20: ")
		require.Len(t, told, 19, "every row that was made is told, no other")
		require.Less(t, begun.Load(), int32(20+2*client.Parallel))
	})
}

func TestImportEndsWithTheFile(t *testing.T) {
	t.Parallel()
	broken := append(file(3), "x,\"y\nz"...)
	made := 0
	err := client.Import(t.Context(), format.Rows("", broken, ""),
		func(context.Context, format.Row) (client.Outcome, error) { return client.Created, nil },
		func(client.Result) { made++ })
	require.ErrorContains(t, err, "line 6")
	require.LessOrEqual(t, made, 3)
}

func TestImportIsInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	do := func(ctx context.Context, row format.Row) (client.Outcome, error) {
		if row.Number == 5 {
			cancel()
		}
		return client.Created, ctx.Err()
	}
	require.ErrorIs(t, client.Import(ctx, format.Rows("", file(1000), ""), do, func(client.Result) {}),
		context.Canceled)
}

func TestMakerAsContributor(t *testing.T) {
	t.Parallel()
	var users log
	c := newClient(t, func(r *http.Request, _ string) (*http.Response, error) {
		users.add(r.Header.Get("X-Dev-User"))
		return reply(http.StatusCreated, `{}`)
	})
	rows := append(file(2), "3,text,,,\n4,text,,,\"a\tb\"\n5,text,,,\"zoe, f\"\n"...)
	var results []client.Result
	tell := func(r client.Result) { results = append(results, r) }
	require.NoError(t, client.Import(t.Context(), client.ByContributor(format.Rows("", rows, "")), c.Maker(true), tell))
	require.ElementsMatch(t, []string{"user0", "user1", "zoe"}, users.all())
	require.Len(t, results, 5)
	for i, r := range results {
		bad := i == 2 || i == 3
		require.Equal(t, bad, r.Outcome == client.Rejected)
		if bad {
			require.EqualError(t, r.Err, "contributor: names nobody")
		}
	}

	users = log{}
	require.NoError(t, client.Import(t.Context(), format.Rows("", file(2), ""), c.Maker(false), tell))
	require.Equal(t, []string{"ann", "ann"}, users.all())
}

func TestMakerTellsRejectionsFromTroubles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		status        int
		asContributor bool
		rejected      bool
	}{
		{400, false, true},
		{409, false, true},
		{413, false, true},
		{422, false, true},
		{401, true, true},
		{401, false, false},
		{403, false, false},
		{404, false, false},
		{500, false, false},
	} {
		c := newClient(t, func(*http.Request, string) (*http.Response, error) {
			return reply(tt.status, `{"title":"no"}`)
		})
		outcome, err := c.Maker(tt.asContributor)(t.Context(), format.Row{Contributor: "bob"})
		require.ErrorContains(t, err, "no (status")
		require.Equal(t, tt.rejected, outcome == client.Rejected, tt.status)
	}
}

// TestTroubleIsNoRejection: a service that is away ends an import of prompts with versions, too,
// and one that goes away while a taken name is looked up. None of their rows counts as rejected.
func TestTroubleIsNoRejection(t *testing.T) {
	t.Parallel()
	row := format.Row{Number: 1, Document: format.Document{
		Name: "soup", Title: "Soup", Visibility: "private", Versions: []format.Version{{Text: "one"}, {Text: "two"}},
	}}
	away := func(path string) func(*http.Request, string) (*http.Response, error) {
		return func(r *http.Request, _ string) (*http.Response, error) {
			switch {
			case r.Method == path || path == "":
				return reply(http.StatusForbidden, `{"title":"away"}`)
			case r.Method == http.MethodGet:
				return reply(http.StatusNotFound, `{"title":"none"}`)
			}
			return reply(http.StatusConflict, `{"title":"taken"}`)
		}
	}
	single := row
	single.Versions = nil
	for name, tt := range map[string]struct {
		away string
		row  format.Row
		make func(*client.Client) client.Maker
	}{
		"its past cannot be read":            {"", row, func(c *client.Client) client.Maker { return c.Maker(false) }},
		"its past cannot be read, to update": {"", row, (*client.Client).Updater},
		"its first version is not made": {http.MethodPost, row, func(c *client.Client) client.Maker {
			return c.Maker(false)
		}},
		"what has its name cannot be read": {http.MethodGet, single, func(c *client.Client) client.Maker {
			return c.Maker(false)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, away(tt.away))
			told := 0
			err := client.Import(t.Context(), func(yield func(format.Row, error) bool) {
				yield(tt.row, nil)
			}, tt.make(c), func(client.Result) { told++ })
			require.ErrorContains(t, err, "row 1: away")
			require.Zero(t, told)
		})
	}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	check := client.DryRun(prompt.Rules{MaxText: 4})
	outcome, err := check(t.Context(),
		format.Row{Document: format.Document{Title: "t", Text: "text", Visibility: "public"}})
	require.NoError(t, err)
	require.Equal(t, client.Created, outcome)
	outcome, err = check(t.Context(),
		format.Row{Document: format.Document{Text: "texts", Tags: []string{"a", "b c"}, Visibility: "public"}})
	require.Equal(t, client.Rejected, outcome)
	require.ErrorContains(t, err,
		"title: give the prompt a title; text: shorten the text to at most 4 characters, it has 5; tag \"b c\": ")
}
