package langfuse_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func day(month time.Month, d int) time.Time { return time.Date(2024, month, d, 0, 0, 0, 0, time.UTC) }

// serveLibrary returns a client whose prompts have versions of different days, and a gap.
func serveLibrary(t *testing.T) client {
	w := newWorld(t)
	c, other := w.client("ann"), w.client("bob")
	save := func(c client, at time.Time, name, text string, more fields) {
		w.at(at.Add(-time.Millisecond)) // making it takes one
		more["name"], more["prompt"] = name, text
		c.made(more)
	}
	save(other, day(1, 1), "prompt-5", "of another", fields{"labels": []string{"production"}})
	save(c, day(1, 1), "prompt-1", "a", fields{"config": fields{"version": 1}})
	save(c, day(1, 2), "prompt-1", "b", fields{"config": fields{"version": 2}, "labels": []string{"version2"}})
	save(c, day(1, 3), "prompt-1", "c", fields{})
	save(c, day(1, 4), "prompt-1", "d", fields{"config": fields{"version": 4}, "labels": []string{"production"}})
	c.delete("prompt-1", "?version=3").is(204)
	for i, labels := range [][]string{{"production"}, {"staging"}, {"dev"}} {
		save(c, day(2, i+1), "prompt-2", fmt.Sprint(i), fields{"labels": labels})
	}
	w.at(day(1, 1))
	c.made(fields{
		"name": "prompt-3", "type": "chat", "prompt": messages{{"role": "user", "content": "x"}},
		"labels": []string{"production"}, "tags": []string{"tag-1"},
	})
	return c
}

func TestList(t *testing.T) {
	t.Parallel()
	l := serveLibrary(t).list("")
	require.Equal(t, []string{"prompt-1", "prompt-2", "prompt-3"}, l.names(), "its own, by name")
	one, two, three := l.Data[0], l.Data[1], l.Data[2]
	require.Equal(t, []int{1, 2, 4}, one.Versions)
	require.Equal(t, []string{"latest", "production", "version2"}, one.Labels)
	require.Equal(t, map[string]any{"version": 4.}, one.LastConfig)
	require.Equal(t, day(1, 4), one.LastUpdatedAt)
	require.Equal(t, []string{}, one.Tags)
	require.Equal(t, []int{1, 2, 3}, two.Versions)
	require.Equal(t, []string{"dev", "latest", "production", "staging"}, two.Labels)
	require.Equal(t, map[string]any{}, two.LastConfig)
	require.Equal(t, "text", two.Type)
	require.Equal(t, "chat", three.Type)
	require.Equal(t, []string{"tag-1"}, three.Tags)
	require.Equal(t, struct{ Page, Limit, TotalPages, TotalItems int }{1, 10, 1, 3}, l.Meta)
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	c := serveLibrary(t)
	for query, want := range map[string]string{
		"?name=prompt-1":                "prompt-1",
		"?name=prompt":                  "",
		"?name=non-existent":            "",
		"?tag=tag-1":                    "prompt-3",
		"?tag=non-existent":             "",
		"?label=production":             "prompt-1 prompt-2 prompt-3",
		"?label=dev":                    "prompt-2",
		"?label=latest&tag=tag-1":       "prompt-3",
		"?label=non-existent":           "",
		"?version=1":                    "prompt-1 prompt-2 prompt-3",
		"?version=3":                    "prompt-2",
		"?version=4&label=production":   "prompt-1",
		"?version=1&label=version2":     "",
		"?page=2&limit=2":               "prompt-3",
		"?page=3&limit=2":               "",
		"?page=2147483647&limit=100":    "",
		"?label=production&name=prompt": "",
	} {
		l := c.list(query)
		require.Equal(t, want, strings.Join(l.names(), " "), query)
	}
	dev := c.list("?label=dev").Data[0]
	require.Equal(t, []int{3}, dev.Versions, "the version that has the label, alone")
	require.Equal(t, []string{"dev", "latest"}, dev.Labels)
	require.Equal(t, map[string]any{"version": 2.}, c.list("?label=version2").Data[0].LastConfig)
	require.Equal(t, map[string]any{"version": 1.}, c.list("?version=1").Data[0].LastConfig)
	l := c.list("?page=1&limit=1")
	require.Equal(t, struct{ Page, Limit, TotalPages, TotalItems int }{1, 1, 3, 3}, l.Meta)
}

// From is the first moment of a time, to the first after it; both are asked of each version.
func TestListByTime(t *testing.T) {
	t.Parallel()
	c := serveLibrary(t)
	from, to := "fromUpdatedAt="+day(1, 2).Format(time.RFC3339), "toUpdatedAt="+day(1, 4).Format(time.RFC3339)
	l := c.list("?" + from + "&" + to)
	require.Equal(t, []string{"prompt-1"}, l.names())
	require.Equal(t, []int{2}, l.Data[0].Versions)
	require.Equal(t, day(1, 2), l.Data[0].LastUpdatedAt)
	require.Equal(t, 1, l.Meta.TotalItems)
	l = c.list("?" + from)
	require.Equal(t, []string{"prompt-1", "prompt-2"}, l.names())
	require.Equal(t, []int{2, 4}, l.Data[0].Versions)
	l = c.list("?" + to)
	require.Equal(t, []string{"prompt-1", "prompt-3"}, l.names())
	require.Equal(t, []int{1, 2}, l.Data[0].Versions)
	require.Equal(t, []string{"prompt-2"},
		c.list("?fromUpdatedAt="+url.QueryEscape("2024-02-03T02:00:00+02:00")).names())
	require.Equal(t, []string{"prompt-2"}, c.list("?fromUpdatedAt=2024-02-03T02:00:00+02:00").names())
	require.Empty(t, c.list("?toUpdatedAt=1999-01-01T00:00:00Z").Data)
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	c := serveLibrary(t)
	for _, query := range []string{
		"?page=0", "?page=-1", "?page=x", "?limit=0", "?limit=101", "?limit=1.5", "?version=x",
		"?fromUpdatedAt=yesterday", "?toUpdatedAt=2024", "?page=99999999999",
	} {
		issues := c.do("GET", base+query, "").says(400, "Invalid request data").([]any)
		name, _, _ := strings.Cut(query[1:], "=")
		require.Equal(t, []any{name}, issues[0].(map[string]any)["path"], query)
	}
}

// Long lists are refused where they cannot be told whole, and say what to ask instead.
func TestListBounds(t *testing.T) {
	t.Parallel()
	c := newWorld(t).client("ann")
	long := strings.Repeat("x", 60_000)
	for i := range 20 {
		c.made(fields{"name": fmt.Sprint("p", i), "prompt": "x", "config": long})
	}
	c.do("GET", base+"?limit=20", "").says(400, "fewer at a time")
	require.Len(t, c.list("?limit=10").Data, 10)
	for i := range 101 {
		c.made(fields{"name": "many", "prompt": fmt.Sprint(i)})
	}
	before := "?toUpdatedAt=2999-01-01T00:00:00Z"
	c.do("GET", base+before+"&name=many", "").says(400, "more than 100 versions")
	last := c.got("many", "?label=latest").CreatedAt.Format(time.RFC3339Nano)
	require.Equal(t, []int{101}, c.list("?name=many&fromUpdatedAt=" + last).Data[0].Versions)
	for i := range 81 {
		c.made(fields{"name": fmt.Sprint("q", i), "prompt": "x"})
	}
	c.do("GET", base+before, "").says(400, "more than 100 prompts")
}
