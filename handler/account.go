package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
)

func (c *caller) exportAccount(ctx context.Context, std command.Streams, to string) error {
	if to != "" {
		return command.UsageError("export: --account and --to exclude each other")
	}
	if c.workspace != "" {
		return command.UsageError(
			"export: --account is all that you have yourself: leave it out, or use an access token of the workspace")
	}
	remote, err := c.client()
	if err != nil {
		return err
	}
	b := bufio.NewWriter(std.Out)
	var left error
	err = remote.Account(ctx, b, func(name string, version int64, lost string) {
		left = errDamaged
		fmt.Fprintf(std.Err, "%q: the export lacks %s of version %d, which is damaged on the server\n", name,
			lost, version)
	})
	if err = errors.Join(err, b.Flush()); err != nil {
		return fmt.Errorf("%w; the export is not complete", err)
	}
	return left
}

// importAccount takes in a file of exportAccount. Prompts that are as the file says stay as they
// are.
func (c *importing) importAccount(ctx context.Context, std command.Streams, name string) error {
	if c.dryRun || c.update || c.asContributor || c.caller.workspace != "" {
		return command.UsageError(
			"import: --account goes with none of --dry-run, --update, --as-contributor and --workspace")
	}
	file, err := readFile(std.In, name)
	if err != nil {
		return err
	}
	remote, err := c.caller.client()
	if err != nil {
		return err
	}
	counts, told := make(map[string]int), std.Out
	var failed error
	if *c.asJSON {
		told = std.Err
	}
	err = remote.ImportAccount(ctx, file, func(e client.Entry) {
		counts[e.Outcome]++
		switch {
		case *c.asJSON:
			failed = errors.Join(failed, printJSON(std.Out, e))
		case e.Reason != "":
			fmt.Fprintf(std.Out, "%s %.60q rejected: %s\n", e.Place, e.Name, e.Reason)
		case len(e.Loss) > 0:
			fmt.Fprintf(std.Out, "%s %.60q %s without %s\n", e.Place, e.Name, e.Outcome, strings.Join(e.Loss, ", "))
		}
	})
	err = errors.Join(err, failed)
	fmt.Fprintf(told, "created %d, updated %d, unchanged %d, rejected %d\n", counts["created"], counts["updated"],
		counts["unchanged"], counts["rejected"])
	switch {
	case err != nil:
		return fmt.Errorf("%w; run the same import again to go on", err)
	case counts["rejected"] > 0:
		return errRejected
	}
	return nil
}
