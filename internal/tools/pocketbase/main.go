// Command pocketbase serves a prompt library as one would build it with PocketBase, for a
// comparison with PromptHub under the same load: go run ./bench -against
// pocketbase.
//
//	pocketbase [-synced] <directory> <address> <users>
//
// It makes the collections in a new directory, prints the tokens of its users as a JSON array in
// one line, and serves until it is interrupted. All is PocketBase's own: its REST API, its rules,
// its settings of SQLite, which answer before a commit has reached the disk. But for that: with
// -synced they answer after it, as PromptHub does. Indexes are those that the lists need, and
// triggers keep the counts.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"

	"github.com/pocketbase/pocketbase"
	"github.com/pocketbase/pocketbase/apis"
	"github.com/pocketbase/pocketbase/core"
	"github.com/pocketbase/pocketbase/tools/types"
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
		return fmt.Errorf("want a directory, an address and a number of users, got %q", args)
	}
	users, err := strconv.Atoi(args[2])
	if err != nil {
		return err
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
		if err := prepare(e.App, users); err != nil {
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

// prepare makes what is missing and prints the tokens.
func prepare(app core.App, users int) error {
	if _, err := app.FindCollectionByNameOrId("prompts"); err != nil {
		if err := app.RunInTransaction(collections); err != nil {
			return fmt.Errorf("collections: %w", err)
		}
	}
	tokens := make([]string, users)
	for i := range tokens {
		user, err := member(app, i)
		if err != nil {
			return fmt.Errorf("user %d: %w", i, err)
		}
		if tokens[i], err = user.NewAuthToken(); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(tokens)
}

func collections(app core.App) error {
	members, err := app.FindCollectionByNameOrId("users")
	if err != nil {
		return err
	}
	if password, ok := members.Fields.GetByName(core.FieldNamePassword).(*core.PasswordField); ok {
		password.Cost = 4 // without sign-in
	}
	if err := app.Save(members); err != nil {
		return err
	}
	prompts := core.NewBaseCollection("prompts")
	prompts.Fields.Add(
		&core.TextField{Name: "title", Required: true, Max: 200},
		&core.TextField{Name: "text", Required: true, Max: 3000},
		&core.SelectField{Name: "tags", Values: []string{"text", "development", "writing", "image"}, MaxSelect: 4},
		&core.BoolField{Name: "public"},
		&core.RelationField{Name: "author", CollectionId: members.Id, MaxSelect: 1, Required: true},
		&core.NumberField{Name: "likes"}, &core.NumberField{Name: "dislikes"}, &core.NumberField{Name: "score"},
		&core.AutodateField{Name: "created", OnCreate: true}, &core.AutodateField{Name: "updated", OnCreate: true, OnUpdate: true})
	prompts.AddIndex("idx_newest", false, "created", "")
	prompts.AddIndex("idx_liked", false, "score, created", "")
	seen, own := "public = true || author = @request.auth.id", "author = @request.auth.id"
	prompts.ListRule, prompts.ViewRule = types.Pointer(seen), types.Pointer(seen)
	prompts.CreateRule, prompts.UpdateRule, prompts.DeleteRule = types.Pointer(own), types.Pointer(own), types.Pointer(own)
	if err := app.Save(prompts); err != nil {
		return err
	}
	return votes(app, members, prompts)
}

// votes makes the collection of votes. A list of prompts expands them, and the rule leaves the
// caller's.
func votes(app core.App, members, prompts *core.Collection) error {
	votes := core.NewBaseCollection("votes")
	votes.Fields.Add(
		&core.RelationField{Name: "prompt", CollectionId: prompts.Id, MaxSelect: 1, Required: true, CascadeDelete: true},
		&core.RelationField{Name: "voter", CollectionId: members.Id, MaxSelect: 1, Required: true, CascadeDelete: true},
		&core.NumberField{Name: "value", OnlyInt: true})
	votes.AddIndex("idx_vote", true, "prompt, voter", "")
	own := "voter = @request.auth.id"
	votes.ListRule, votes.ViewRule, votes.CreateRule, votes.UpdateRule = types.Pointer(own), types.Pointer(own), types.Pointer(own), types.Pointer(own)
	if err := app.Save(votes); err != nil {
		return err
	}
	const count = `UPDATE prompts SET likes = likes + (NEW.value > 0) - %[1]s, dislikes = dislikes + (NEW.value < 0) - %[2]s,
		score = score + NEW.value - %[3]s WHERE id = NEW.prompt;`
	for _, trigger := range []string{
		"CREATE TRIGGER votes_insert AFTER INSERT ON votes BEGIN " + fmt.Sprintf(count, "0", "0", "0") + " END",
		"CREATE TRIGGER votes_update AFTER UPDATE OF value ON votes BEGIN " + fmt.Sprintf(count, "(OLD.value > 0)", "(OLD.value < 0)", "OLD.value") + " END",
	} {
		if _, err := app.NonconcurrentDB().NewQuery(trigger).Execute(); err != nil {
			return err
		}
	}
	return nil
}

// member returns a user, and makes it where there is none.
func member(app core.App, i int) (*core.Record, error) {
	name := fmt.Sprintf("user%04d@example.com", i)
	if user, err := app.FindAuthRecordByEmail("users", name); err == nil {
		return user, nil
	}
	members, err := app.FindCollectionByNameOrId("users")
	if err != nil {
		return nil, err
	}
	user := core.NewRecord(members)
	user.Id = fmt.Sprintf("user%011d", i)
	user.SetEmail(name)
	user.SetVerified(true)
	user.SetRandomPassword()
	return user, app.Save(user)
}
