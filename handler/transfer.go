package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"prompthub/internal/prompthub/client"
	"prompthub/internal/prompthub/prompt"
)

// A caller is whom a command calls, and as whom.
type caller struct{ url, user, token string }

const defaultUser = "me"

func callerFlags(flags *flag.FlagSet) *caller {
	var c caller
	flags.StringVar(&c.url, "url", "", "`address` of the deployment or of \"handler local\" (default "+defaultURL+")")
	flags.StringVar(&c.user, "user", "", "`name` to call as, for services in dev mode (default \""+defaultUser+"\")")
	flags.StringVar(&c.token, "token", "", "bearer `token` to call with; PROMPTHUB_TOKEN keeps it out of the list of processes")
	return &c
}

// client returns the client that the flags ask for.
func (c *caller) client() (*client.Client, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	switch {
	case c.token != "" && c.user != "":
		return nil, usageError("--user and --token exclude each other")
	case c.token == "" && c.user == "":
		c.user = defaultUser
	}
	made, err := client.New(client.Config{URL: c.url, User: c.user, Token: c.token})
	if err != nil {
		return nil, usageError("--url: " + err.Error())
	}
	return made, nil
}

// An importing is one run of import.
type importing struct {
	caller        *caller
	asContributor bool
	dryRun        bool
	update        bool
	key           string
}

func importCommand() command {
	return command{
		name: "import", args: []string{"FILE"}, short: "create prompts out of a CSV or JSON Lines file, by the API",
		long: `Creates a prompt out of each row of FILE ("-" is standard input), through the HTTP API.

CSV has the columns act (title), prompt (text) and, if there, for_devs (TRUE: tag development), type (a tag),
contributor; its prompts become public. JSON Lines, as export writes them, have the members title, text, tags,
visibility; others are ignored, so the prompts are new ones of the caller. Line ends inside CSV texts
become single line feeds. With --update, a row whose name a prompt of the caller's has becomes a new version of it.

Rows that break a rule are left out and printed with their number and reason, ten of each reason. The same file can be
imported again: what was created from it before is unchanged.`,
		setup: func(flags *flag.FlagSet) action {
			c := &importing{caller: callerFlags(flags)}
			flags.BoolVar(&c.asContributor, "as-contributor", false, "call as the first contributor of each row, for services in dev mode")
			flags.BoolVar(&c.update, "update", false, "give prompts that there are by their names new versions, instead of creating second ones")
			flags.StringVar(&c.key, "key", "", "with --update, `column` or member of each row that has the name; else name, or the slug of the title")
			flags.BoolVar(&c.dryRun, "dry-run", false, "hold the rows against the rules (with the limit in MAX_TEXT) and send nothing; tags are not looked up")
			return c.run
		},
	}
}

func (c *importing) run(ctx context.Context, std streams, args []string) error {
	file, err := readFile(std.in, args[0])
	if err != nil {
		return err
	}
	// Twice: a file that is broken further down creates nothing, and the total is known.
	total := 0
	for _, err := range client.Rows(file, c.key) {
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		total++
	}
	do, err := c.maker(ctx)
	if err != nil {
		return err
	}
	rows := client.Rows(file, c.key)
	if c.asContributor {
		rows = client.ByContributor(rows)
	}
	report := newReport(std, total)
	err = client.Import(ctx, rows, do, report.add)
	report.end(c.dryRun)
	switch {
	case err != nil:
		return fmt.Errorf("%w; run the same import again to go on", err)
	case report.counts[client.Rejected] > 0:
		return errRejected
	}
	return nil
}

// maker returns what makes a prompt of a row. It asks the service once who is calling, so that a
// service that is away or does not know the caller is told before the first row.
func (c *importing) maker(ctx context.Context) (client.Maker, error) {
	if c.dryRun {
		s, err := readSettings()
		return client.DryRun(prompt.Rules{MaxText: s.MaxText}), err
	}
	remote, err := c.caller.client()
	if err != nil {
		return nil, err
	}
	if c.asContributor && c.update {
		return nil, usageError("--as-contributor and --update exclude each other: names are those of one caller")
	}
	if c.asContributor && c.caller.token != "" {
		return nil, usageError("--as-contributor and --token exclude each other: a token says who is calling")
	}
	if _, err := remote.Me(ctx); err != nil {
		return nil, err
	}
	if c.update {
		return remote.Updater(), nil
	}
	return remote.Maker(c.asContributor), nil
}

func readFile(in io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}

func exportCommand() command {
	return command{
		name: "export", short: "write the caller's own prompts as JSON Lines, by the API",
		long: "Writes the caller's own prompts, newest first, one JSON object on a line. import reads them as new prompts.",
		setup: func(flags *flag.FlagSet) action {
			c := callerFlags(flags)
			return func(ctx context.Context, std streams, _ []string) error { return export(ctx, std, c) }
		},
	}
}

func export(ctx context.Context, std streams, c *caller) error {
	remote, err := c.client()
	if err != nil {
		return err
	}
	lines := json.NewEncoder(std.out)
	lines.SetEscapeHTML(false)
	p := newProgress(std.err, "prompts", 0)
	n := 0
	for mine, err := range remote.Mine(ctx) {
		if err == nil {
			err = lines.Encode(mine)
		}
		if err != nil {
			return errors.Join(err, errors.New("the export is not complete"))
		}
		n++
		p.at(n)
	}
	p.done(n)
	return nil
}
