// Command bench puts Duuble and PocketBase under the same loads, in turns and in one run: votes on
// one post that many vote on at once, and homes of people of whom each follows 50 others. It also
// counts what requests cost in a community and in one of ten times as many, and has four processes
// vote on a slow storage. It prints a report in Markdown, and on stderr how far it is. Run it from
// the root of the repository: make bench APP=apps/duuble.
package main

import (
	"context"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/testing/load"
)

func main() { load.Main(run) }

// An options is what the command line says.
type options struct {
	load.Options

	people, voters int
}

// hotPosts is how many posts there are for votes, with one shard and with 16 each. When all voters
// have voted on one, the next is the hot one.
const hotPosts = 20

// A side is one of the two programs.
type side struct {
	load.Resident

	voted atomic.Int64 // votes that were sent
	// What the loads send. The numbers are those of people and of posts.
	vote func(voter, post int, position string) load.Request
	home func(of int) load.Request
}

// A comparison is a line of the report.
type comparison struct {
	name        string
	shards      int // of votes, else 0
	connections int
	goal        float64 // how many times the rate of PocketBase is asked for
}

var comparisons = []comparison{
	{"vote on one post, 1 shard", 1, 64, 1.5},
	{"vote on one post, 16 shards", 16, 64, 1.5},
	{"home", 0, 16, 5},
	{"home", 0, 64, 5},
}

func run(ctx context.Context, args []string) (err error) {
	o := options{}
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.IntVar(&o.people, "people", 10_000, "how many people there are, a multiple of 500")
	flags.IntVar(&o.voters, "voters", 2000, "how many people vote besides")
	o.Flags(flags)
	flags.Lookup("only").Usage += ", and no costs; processes, costs: only these"
	if err := flags.Parse(args); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.Only == "" || o.Only == "processes" {
		if err := o.processes(ctx); err != nil || o.Only != "" {
			return err
		}
	}
	if o.Only == "" || o.Only == "costs" {
		if err := o.count(ctx, dir); err != nil || o.Only != "" {
			return err
		}
	}
	return o.compare(ctx, dir)
}

// processes has four processes vote on a slow storage.
func (o options) processes(ctx context.Context) error {
	fmt.Print("Votes on one post by four processes, each call of the storage 20 ms:\n\n| callers | a second with 1 shard | with 16 | times as many (goal: 4) |\n|---:|---:|---:|---:|\n")
	for _, callers := range []int{64, 512} {
		var rates [2]float64
		for i, shards := range []int{1, 16} {
			load.Progress("four processes, %d callers, %d shards", callers, shards)
			var err error
			if rates[i], err = processes(ctx, callers, shards, 2*o.Each); err != nil {
				return err
			}
		}
		fmt.Printf("| %d | %.0f | %.0f | %.1f |\n", callers, rates[0], rates[1], rates[1]/rates[0])
	}
	return nil
}

// count counts what requests cost, and computes what that is a month.
func (o options) count(ctx context.Context, dir string) error {
	var costs [2][]cost
	for i, n := range []int{o.people / 10, o.people} {
		load.Progress("counting among %d people", n)
		all, err := count(ctx, dir, n)
		if err != nil {
			return err
		}
		costs[i] = all
	}
	growth(os.Stdout, o.people, costs[0], costs[1])
	bill(os.Stdout, costs[1])
	openPage(os.Stdout, costs[1])
	return nil
}

// compare puts both programs under the loads.
func (o options) compare(ctx context.Context, dir string) (err error) {
	load.Progress("building and filling PocketBase")
	theirs := &side{Resident: load.Resident{Name: "PocketBase"}}
	var tokens []string
	if theirs.Program, theirs.Data, tokens, err = load.PocketBase(ctx, dir, o.Synced,
		setup(o.people, o.voters, 2*hotPosts)); err != nil {
		return err
	}
	defer func() { _ = theirs.Program.Stop() }() // it dies of the signal
	theirs.asPocketBase(o.people, tokens)
	load.Progress("building and filling Duuble")
	ours, err := o.newDuuble(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.Program.Stop()) }()
	sides := [2]*side{ours, theirs}
	for _, s := range sides {
		if err := s.Settle(ctx); err != nil {
			return err
		}
	}
	fmt.Print("\n", o.Machine(fmt.Sprintf("%d people with %d follows each, %d voters", o.people, follows, o.voters)),
		"\n\n")
	load.Head(os.Stdout, "Duuble")
	votes, sizes := [2]int64{}, [2]float64{}
	for _, c := range comparisons {
		if !strings.Contains(c.name, o.Only) {
			continue
		}
		load.Progress("%s, %d connections", c.name, c.connections)
		both, err := load.InTurns(ctx,
			[2]load.Side{
				{Program: ours.Program, Requests: ours.load(o, c)},
				{Program: theirs.Program, Requests: theirs.load(o, c)},
			}, o.Rounds, c.connections, o.Each, c.shards > 0)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		both.Report(os.Stdout, "Duuble", c.name, c.connections, c.goal)
		for i, s := range sides {
			votes[i] += s.voted.Swap(0)
		}
		if c.shards > 0 {
			for i, s := range sides {
				if sizes[i], err = load.SizeOf(s.Data); err != nil {
					return err
				}
			}
		}
	}
	fmt.Print("\n| program | directory when filled, MB | bytes of it that a vote adds, with all that follows from it | memory of its own at rest, MB | and mapped files | memory after the loads | and mapped files |\n|---|---:|---:|---:|---:|---:|---:|\n")
	for i, s := range sides {
		m, err := s.Program.Memory()
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.1f | %.0f | %.0f | %.0f | %.0f | %.0f |\n", s.Name, s.MB,
			max(0, sizes[i]-s.MB)*1e6/float64(max(votes[i], 1)), s.Rest.Own, s.Rest.File, m.Own, m.File)
	}
	return nil
}

// load returns what is sent for a comparison.
func (s *side) load(o options, c comparison) load.Maker {
	if c.shards == 0 {
		return func(r *rand.Rand) load.Request { return s.home(r.IntN(o.people * 2 / 5)) }
	}
	first := 0
	if c.shards > 1 {
		first = hotPosts
	}
	var n atomic.Int64
	return func(*rand.Rand) load.Request {
		i := int(n.Add(1) - 1)
		s.voted.Add(1)
		return s.vote(i%o.voters, first+i/o.voters%hotPosts, ballot.Positions()[i%5])
	}
}

// newDuuble fills a store, and starts the program on it.
func (o options) newDuuble(ctx context.Context, dir string) (*side, error) {
	s := &side{Resident: load.Resident{Name: "Duuble", Data: filepath.Join(dir, "duuble")}}
	c, err := o.fill(ctx, s.Data)
	if err != nil {
		return nil, err
	}
	key := base64.StdEncoding.EncodeToString(secret)
	s.Program, err = o.Local(ctx, dir, "duuble", s.Data, "SECRET_KEYS="+key, "VOTE_KEYS="+key, "VOTES_PER_HOUR=-1",
		"POSTS_PER_DAY=-1", "COMMENTS_PER_DAY=-1", "MESSAGES_PER_DAY=-1")
	if err != nil {
		return nil, err
	}
	s.vote = func(voter, post int, position string) load.Request {
		const longest = len("strong_right")
		return load.Call(http.MethodPost, "/api/v1/posts/"+c.hot[post]+"/vote", "Bearer "+c.voters[voter].access,
			map[string]any{"position": position, "pad": strings.Repeat("x", longest-len(position))})
	}
	s.home = func(of int) load.Request {
		return load.Call(http.MethodGet, "/api/v1/feed/home?limit=20", "Bearer "+c.posters[of].access, nil)
	}
	return s, nil
}

// fill makes the community of the program, half of whose hot posts have 16 shards.
func (o options) fill(ctx context.Context, data string) (c *community, err error) {
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, err
	}
	store, err := embedded.Open(filepath.Join(data, "duuble.db"), time.Now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	r, err := over(store.Tables, store.Queues, store.Transact)
	if err != nil {
		return nil, err
	}
	shards := slices.Concat(slices.Repeat([]int{1}, hotPosts), slices.Repeat([]int{16}, hotPosts))
	return r.fill(ctx, o.people, o.voters, shards...)
}
