// Command pocketbase serves an application as one would build it with PocketBase, for a comparison
// under the same load: the bench programs of the applications start it.
//
//	pocketbase [-synced] <directory> <address> <setup>
//
// The setup is a JSON file: the collections as PocketBase exports them, and SQL that makes triggers
// and rows. The command makes them in a new directory, prints the tokens of the users, by their
// ids, as a JSON array in one line, and serves until it is interrupted. All else is PocketBase's
// own: its REST API, its rules, its settings of SQLite, which answer before a commit has reached
// the disk. With -synced they answer after it, as the embedded store does.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	"modernc.org/sqlite"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pocketbase:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("pocketbase", flag.ContinueOnError)
	synced := flags.Bool("synced", false, "answer after a commit has reached the disk")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if args = flags.Args(); len(args) != 3 {
		return fmt.Errorf("want a directory, an address and a setup, got %q", args)
	}
	var wanted setup
	text, err := os.ReadFile(args[2])
	if err == nil {
		err = json.Unmarshal(text, &wanted)
	}
	if err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	if *synced {
		sqlite.RegisterConnectionHook(sync)
	}
	app := pocketbase.NewWithConfig(pocketbase.Config{DefaultDataDir: args[0]})
	if err := app.Bootstrap(); err != nil {
		return err
	}
	app.OnServe().BindFunc(func(e *core.ServeEvent) error {
		e.InstallerFunc = nil // without an administrator
		if err := wanted.make(e.App); err != nil {
			return err
		}
		if err := printTokens(e.App); err != nil {
			return err
		}
		return e.Next()
	})
	return apis.Serve(app, apis.ServeConfig{HttpAddr: args[1]})
}

// sync makes a connection answer a commit when the disk has it. PocketBase has set
// synchronous=NORMAL in it before.
func sync(conn sqlite.ExecQuerierContext, _ string) error {
	_, err := conn.ExecContext(context.Background(), "PRAGMA synchronous = FULL", nil)
	return err
}

// A setup is what an application consists of.
type setup struct {
	Collections json.RawMessage `json:"collections"`
	SQL         []string        `json:"sql"`
}

func (s setup) make(app core.App) error {
	return app.RunInTransaction(func(app core.App) error {
		if err := app.ImportCollectionsByMarshaledJSON(s.Collections, false); err != nil {
			return fmt.Errorf("collections: %w", err)
		}
		for _, statement := range s.SQL {
			if _, err := app.NonconcurrentDB().NewQuery(statement).Execute(); err != nil {
				return fmt.Errorf("%.200s: %w", statement, err)
			}
		}
		return nil
	})
}

func printTokens(app core.App) error {
	var users []*core.Record
	if err := app.RecordQuery("users").OrderBy("id").All(&users); err != nil {
		return err
	}
	tokens := make([]string, len(users))
	for i, user := range users {
		var err error
		if tokens[i], err = user.NewAuthToken(); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(tokens)
}
