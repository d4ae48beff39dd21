package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"prompthub/internal/testing/load"

	"golang.org/x/sync/errgroup"
)

// The rows that PromptHub and PocketBase are compared on. Both get them over HTTP, from several
// authors at once.
const (
	comparedPrompts = 10_000
	comparedVoters  = 100
	votesOfEach     = 5 // of each prompt
	comparedRounds  = 3
	fillers         = 16
)

// What PromptHub is compared with.
const (
	pocketbase       = "pocketbase"
	pocketbaseSynced = "pocketbase-synced"
)

// A row is a prompt as both are given it. Which one follows from its number.
type row struct {
	Title  string
	Text   string
	Tags   []string
	Public bool
}

func comparedRow(i int) row {
	r := rand.New(rand.NewPCG(uint64(i), 3))
	p := row{
		Title: fmt.Sprintf("alpha%d number%d %s", i%7, i, word(r)), Text: text(r),
		Tags: []string{"text"}, Public: !comparedPrivate(i),
	}
	if i%2 == 0 {
		p.Tags = []string{"writing"}
	}
	if i%3 == 0 {
		p.Tags = append(p.Tags, "development")
	}
	return p
}

// comparedWord is a word of one text, and of some others. PocketBase finds it as a part of words,
// too.
var comparedWord = strings.Fields(comparedRow(1).Text)[1]

// comparedPrivate says which prompts only their authors see; the last one is none.
func comparedPrivate(i int) bool { return i%62 == 0 }

// comparedVoter returns the number of a voter of a prompt.
func comparedVoter(prompt, n int) int { return (prompt + n*17) % comparedVoters }

// A side is one of the two programs, with how it is asked.
type side struct {
	name    string
	program *program
	data    string
	file    float64 // MB, after it was filled and at rest
	create  func(i int, p row) call
	vote    func(prompt, voter, value int) call
	lists   map[string]call // by comparison
	made    []string        // the ids of the prompts
	first   bool            // whether a first vote has a call of its own
}

// A comparison is a line of the table.
type comparison struct {
	name        string
	connections int
	write       bool
}

var comparisons = []comparison{
	{"newest with my votes", 16, false},
	{"newest", 16, false},
	{"most liked", 16, false},
	{"two tags", 16, false},
	{"newest, page 400", 16, false},
	{"two words, many match", 16, false},
	{"two words, 16 match", 1, false},
	{"a word in titles and texts", 16, false},
	{"a tag", 1, false},
	{"a tag and a word", 1, false},
	{"vote", 16, true},
	{"vote", 64, true},
	{"create", 16, true},
	{"create", 64, true},
}

// against fills PromptHub and PocketBase with the same rows and puts both under the same loads, in
// turns.
func against(ctx context.Context, o options, binary string) (err error) {
	dir, err := os.MkdirTemp("", "against")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	hub, err := newHub(ctx, binary, filepath.Join(dir, "prompthub"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hub.program.Stop()) }()
	other, err := newPocketbase(ctx, dir, o.against == pocketbaseSynced)
	if err != nil {
		return err
	}
	defer func() { _ = other.program.Stop() }() // it dies of the signal
	sides := []*side{hub, other}
	for _, s := range sides {
		if err := s.fill(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	for _, s := range sides {
		if err := s.deep(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	votes := 0
	for i := range comparedPrompts {
		if !comparedPrivate(i) {
			votes += votesOfEach
		}
	}
	fmt.Printf("%d prompts, %d votes; %d rounds of %v, in turns; requests a second\n\n", comparedPrompts,
		votes, comparedRounds, o.each)
	fmt.Print("| request | connections | PocketBase | PromptHub | ratio: median | lowest and highest | processor time of a request, ms: PocketBase | PromptHub | failed |\n|---|---:|---:|---:|---:|---:|---:|---:|---|\n")
	for _, c := range comparisons {
		if err := compare(ctx, o, sides, c); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	fmt.Print("\n| program | directory when filled, MB | memory of its own, MB | and mapped files |\n|---|---:|---:|---:|\n")
	for _, s := range sides {
		m, err := s.program.Memory()
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.0f | %.0f |\n", s.name, s.file, m.Own, m.File)
	}
	return nil
}

// compare prints one line of the table.
func compare(ctx context.Context, o options, sides []*side, c comparison) error {
	if !hasPart(c.name, o.only) {
		return nil
	}
	both, err := load.InTurns(ctx, [2]load.Side{sides[0].under(c), sides[1].under(c)}, comparedRounds,
		c.connections, o.each, c.write)
	if err != nil {
		return err
	}
	median, low, high := both.Ratios()
	told := "none"
	if both.Failed[0] != nil || both.Failed[1] != nil {
		told = fmt.Sprintf("PocketBase %v, PromptHub %v", both.Failed[1], both.Failed[0])
	}
	hub, other := both.Rates[0], both.Rates[1]
	fmt.Printf("| %s | %d | %.0f–%.0f | %.0f–%.0f | %.2f | %.2f–%.2f | %s | %s | %s |\n", c.name, c.connections,
		slices.Min(other), slices.Max(other),
		slices.Min(hub), slices.Max(hub), median, low, high, ms(both.CPU[1]), ms(both.CPU[0]), told)
	return nil
}

// under returns the program under the load of a comparison.
func (s *side) under(c comparison) load.Side {
	return load.Side{Program: s.program.Program, Requests: s.kind(c).requests}
}

// kind returns the load of a comparison.
func (s *side) kind(c comparison) kind {
	var next atomic.Int64
	next.Store(rand.Int64N(1 << 40))
	return kind{name: c.name, write: c.write, make: func(r *rand.Rand) call {
		switch c.name {
		case "create":
			n := int(next.Add(1))
			return s.create(r.IntN(comparedVoters), comparedRow(n))
		case "vote":
			i := r.IntN(comparedPrompts)
			if comparedPrivate(i) {
				i++
			}
			return s.vote(i, comparedVoter(i, r.IntN(votesOfEach)), 2*r.IntN(2)-1)
		}
		return s.lists[c.name]
	}}
}

// fill creates the prompts and votes of a new program, and waits until it is at rest.
func (s *side) fill(ctx context.Context) error {
	load.Progress("filling %s with %d prompts", s.name, comparedPrompts)
	client := load.NewClient(fillers)
	defer client.CloseIdleConnections()
	s.made = make([]string, comparedPrompts)
	var g errgroup.Group
	g.SetLimit(fillers)
	for i := range comparedPrompts {
		g.Go(func() error {
			p := comparedRow(i)
			var made struct{ ID string }
			err := load.Ask(ctx, client, s.program.URL, s.create(i%comparedVoters, p).request, &made)
			s.made[i] = made.ID
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range comparedPrompts {
		if comparedPrivate(i) {
			continue
		}
		g.Go(func() error {
			for n := range votesOfEach {
				if err := load.Ask(ctx, client, s.program.URL, s.firstVote(i, comparedVoter(i, n)).request,
					nil); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	if _, err := s.program.Quiet(ctx); err != nil {
		return err
	}
	var err error
	s.file, err = load.SizeOf(s.data)
	return err
}

func body(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // unreachable: strings, numbers and truth values
	}
	return string(b)
}

func newHub(ctx context.Context, binary, dir string) (*side, error) {
	p, err := start(ctx, binary, store{data: dir})
	if err != nil {
		return nil, err
	}
	s := &side{name: "PromptHub", program: p, data: dir}
	s.create = func(i int, p row) call {
		visibility := "private"
		if p.Public {
			visibility = "public"
		}
		return call{
			method: http.MethodPost, path: "/prompts", user: hubUser(i),
			body: body(map[string]any{"title": p.Title, "text": p.Text, "tags": p.Tags, "visibility": visibility}),
		}
	}
	s.vote = func(i, voter, value int) call {
		return call{
			method: http.MethodPut, path: "/prompts/" + s.made[i] + "/vote", user: hubUser(voter),
			body: body(map[string]any{"value": map[int]string{1: "like", -1: "dislike"}[value]}),
		}
	}
	s.lists = hubLists()
	return s, nil
}

// hubLists is how PromptHub is asked for lists, by comparison. PocketBase has no order by how well
// titles fit, so searches are asked for the newest first, as they are there.
func hubLists() map[string]call {
	get := func(query string) call { return call{method: http.MethodGet, path: "/prompts?limit=20" + query} }
	return map[string]call{
		"newest with my votes":  {method: http.MethodGet, path: "/prompts?limit=20", user: hubUser(7)},
		"newest":                get(""),
		"most liked":            get("&sort=most-liked"),
		"two tags":              get("&tag=text,development"),
		"two words, many match": get("&in=title&sort=newest&q=alpha3+number"),
		"two words, 16 match":   get("&in=title&sort=newest&q=alpha3+number99"),
		"a tag":                 get("&tag=text"),
		"a tag and a word":      get("&in=title&sort=newest&tag=text&q=alpha3"),

		"a word in titles and texts": get("&sort=newest&q=" + comparedWord),
	}
}

func (s *side) firstVote(i, voter int) call {
	c := s.vote(i, voter, 1)
	if s.first {
		c.method, c.path = http.MethodPost, "/api/collections/votes/records"
		c.body = body(map[string]any{
			"id": pocketbaseVote(i, voter), "prompt": s.made[i],
			"voter": pocketbaseUser(voter), "value": 1,
		})
	}
	return c
}

func pocketbaseVote(i, voter int) string { return fmt.Sprintf("p%08dv%05d", i, voter) }

func hubUser(i int) string { return fmt.Sprintf("user%04d", i) }

func pocketbaseUser(i int) string { return fmt.Sprintf("user%011d", i) }

// newPocketbase builds the other program and starts it.
func newPocketbase(ctx context.Context, dir string, synced bool) (*side, error) {
	load.Progress("building PocketBase")
	p, data, tokens, err := load.PocketBase(ctx, dir, synced, pocketbaseSetup())
	if err != nil {
		return nil, err
	}
	s := &side{name: "PocketBase", program: &program{Program: p}, data: data, first: true}
	s.asPocketbase(tokens)
	return s, nil
}

// asPocketbase says how PocketBase is asked: with the fields that PromptHub's lists have, and
// without counting all matches.
func (s *side) asPocketbase(tokens []string) {
	as := func(i int) http.Header { return http.Header{"Authorization": {tokens[i]}} }
	s.create = func(i int, p row) call {
		return call{
			method: http.MethodPost, path: "/api/collections/prompts/records", header: as(i),
			body: body(map[string]any{
				"title": p.Title, "text": p.Text, "tags": p.Tags, "public": p.Public,
				"author": pocketbaseUser(i),
			}),
		}
	}
	s.vote = func(i, voter, value int) call {
		return call{
			method: http.MethodPatch, path: "/api/collections/votes/records/" + pocketbaseVote(i, voter),
			header: as(voter),
			body:   body(map[string]any{"value": value}),
		}
	}
	const fields = "id,title,text:excerpt(200,true),tags,public,author,likes,dislikes,score,created,updated"
	get := func(filter, sort, more string) call {
		q := url.Values{
			"perPage": {"20"}, "skipTotal": {"1"}, "filter": {"public = true" + filter},
			"sort": {sort}, "fields": {fields},
		}
		return call{method: http.MethodGet, path: "/api/collections/prompts/records?" + q.Encode() + more}
	}
	voted := get("", "-created", "&expand=votes_via_prompt")
	voted.path = strings.Replace(voted.path, "fields=", "fields=expand.votes_via_prompt.value,", 1)
	voted.header = as(7)
	s.lists = map[string]call{
		"newest with my votes":  voted,
		"newest":                get("", "-created", ""),
		"most liked":            get("", "-score,-created", ""),
		"two tags":              get(` && tags ~ "text" && tags ~ "development"`, "-created", ""),
		"newest, page 400":      get("", "-created", "&page=400"),
		"two words, many match": get(` && title ~ "alpha3" && title ~ "number"`, "-created", ""),
		"two words, 16 match":   get(` && title ~ "alpha3" && title ~ "number99"`, "-created", ""),
		"a tag":                 get(` && tags ~ "text"`, "-created", ""),
		"a tag and a word":      get(` && tags ~ "text" && title ~ "alpha3"`, "-created", ""),

		"a word in titles and texts": get(` && (title ~ "`+comparedWord+`" || text ~ "`+comparedWord+`")`,
			"-created", ""),
	}
}

// deep finds page 400 of PromptHub, which has no numbers of pages.
func (s *side) deep(ctx context.Context) error {
	if _, known := s.lists["newest, page 400"]; known {
		return nil
	}
	c := s.lists["newest"]
	first := c.path
	for range 399 {
		var page struct{ NextCursor string }
		if err := load.Ask(ctx, http.DefaultClient, s.program.URL, c.request, &page); err != nil {
			return err
		}
		c.path = first + "&cursor=" + url.QueryEscape(page.NextCursor)
	}
	s.lists["newest, page 400"] = c
	return nil
}

// pocketbaseSetup is the prompt library as one would build it with PocketBase. Indexes are those
// that the lists need, and triggers keep the counts. A list of prompts expands their votes, and the
// rule leaves the caller's.
func pocketbaseSetup() load.Setup {
	type object = map[string]any
	text := func(name string, most int) object {
		return object{"name": name, "type": "text", "required": true, "max": most}
	}
	relation := func(name, to string, cascade bool) object {
		return object{
			"name": name, "type": "relation", "collectionId": to, "maxSelect": 1,
			"required": true, "cascadeDelete": cascade,
		}
	}
	collection := func(name, read, write string, indexes []string, fields ...object) object {
		return object{
			"id": "pbc_" + name, "name": name, "type": "base", "fields": fields, "indexes": indexes,
			"listRule": read, "viewRule": read, "createRule": write, "updateRule": write, "deleteRule": write,
		}
	}
	const users, own, mine = "_pb_users_auth_", "author = @request.auth.id", "voter = @request.auth.id"
	prompts := collection("prompts", "public = true || "+own, own,
		[]string{"CREATE INDEX idx_newest ON prompts (created)", "CREATE INDEX idx_liked ON prompts (score, created)"},
		text("title", 200), text("text", 3000),
		object{
			"name": "tags", "type": "select", "values": []string{"text", "development", "writing", "image"},
			"maxSelect": 4,
		},
		object{"name": "public", "type": "bool"}, relation("author", users, false),
		object{"name": "likes", "type": "number"}, object{"name": "dislikes", "type": "number"},
		object{"name": "score", "type": "number"}, object{"name": "created", "type": "autodate", "onCreate": true},
		object{"name": "updated", "type": "autodate", "onCreate": true, "onUpdate": true})
	votes := collection("votes", mine, mine, []string{"CREATE UNIQUE INDEX idx_vote ON votes (prompt, voter)"},
		relation("prompt", "pbc_prompts", true), relation("voter", users, true),
		object{"name": "value", "type": "number", "onlyInt": true})
	const count = `UPDATE prompts SET likes = likes + (NEW.value > 0) - %[1]s, dislikes = dislikes + (NEW.value < 0) - %[2]s,
		score = score + NEW.value - %[3]s WHERE id = NEW.prompt;`
	return load.Setup{
		Collections: []object{prompts, votes},
		SQL: append(load.Users("id, email", comparedVoters, func(i int) string {
			return fmt.Sprintf("'%s', 'user%04d@example.com'", pocketbaseUser(i), i)
		}),
			"CREATE TRIGGER votes_insert AFTER INSERT ON votes BEGIN "+fmt.Sprintf(count, "0", "0", "0")+" END",
			"CREATE TRIGGER votes_update AFTER UPDATE OF value ON votes BEGIN "+
				fmt.Sprintf(count, "(OLD.value > 0)", "(OLD.value < 0)", "OLD.value")+" END"),
	}
}
