// Command searchpeers serves a search of prompts as one would build it with SQLite's FTS5, or with
// Bleve, for a comparison with PromptHub: go run ./bench -against search.
//
//	searchpeers ENGINE DIRECTORY ADDRESS < prompts
//
// It reads prompts as JSON, one in a line with "title" and "text", puts them into an index in a new
// directory, prints "ready" when all are in, and serves until it is interrupted:
//
//	GET /api/search?q=WORDS&limit=N
//
// answers with the titles that fit best and an excerpt of each text. The engines are
//
//	fts5             SQLite's FTS5 with its Porter stemmer, without accents; every word must be
//	                 there, the last may be a beginning; bm25, in which a title counts ten times
//	fts5-any         the same, and one of the words is enough
//	bleve-fuzzy      Bleve with its English analyzer; every word must be in the title, or in the
//	                 text, with one slip at most; a title counts ten times
//	bleve-fuzzy-any  the same, and one of the words is enough
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"time"

	"github.com/blevesearch/bleve/v2/search/query"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "searchpeers:", err)
		os.Exit(1)
	}
}

// A prompt is what is searched.
type prompt struct {
	Title string `json:"title"`
	Text  string `json:"text"`
}

// A hit is a prompt that was found.
type hit struct {
	Title   string `json:"title"`
	Excerpt string `json:"excerpt"`
}

// An engine finds prompts.
type engine struct {
	add  func(ps []prompt) error
	find func(ctx context.Context, q string, limit int) ([]hit, error)
	stop func() error
}

// batch is how many prompts are put into an index together.
const batch = 500

func run(args []string) (err error) {
	if len(args) != 3 {
		return fmt.Errorf("want an engine, a directory and an address, got %q", args)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var e *engine
	switch args[0] {
	case "fts5":
		e, err = newFTS5(ctx, args[1], " AND ")
	case "fts5-any":
		e, err = newFTS5(ctx, args[1], " OR ")
	case "bleve-fuzzy":
		e, err = newBleve(args[1], query.MatchQueryOperatorAnd)
	case "bleve-fuzzy-any":
		e, err = newBleve(args[1], query.MatchQueryOperatorOr)
	default:
		err = fmt.Errorf("there is no engine %q", args[0])
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.stop()) }()
	if err := e.fill(); err != nil {
		return err
	}
	server := &http.Server{Addr: args[2], Handler: e.handler(), ReadHeaderTimeout: time.Minute}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServe() }()
	fmt.Println("ready")
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return server.Close()
	}
}

// fill reads prompts from the standard input.
func (e *engine) fill() error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	var ps []prompt
	for lines.Scan() {
		var p prompt
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			return err
		}
		if ps = append(ps, p); len(ps) == batch {
			if err := e.add(ps); err != nil {
				return err
			}
			ps = ps[:0]
		}
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return e.add(ps)
}

func (e *engine) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /api/search", func(w http.ResponseWriter, r *http.Request) {
		limit, err := strconv.Atoi(r.FormValue("limit"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		hits, err := e.find(r.Context(), r.FormValue("q"), limit)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(hits) // the caller has gone
	})
	return mux
}
