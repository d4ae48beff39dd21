package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"prompthub/internal/command"
	"prompthub/internal/prompthub/client"
)

// The export of an account is JSON Lines: the profile, then a prompt with its history on each line.

// profileLine is the first line.
type profileLine struct {
	Profile *client.Profile `json:"profile"`
}

func (c *caller) exportAccount(ctx context.Context, std command.Streams, to string) error {
	if to != "" {
		return command.UsageError("export: --account and --to exclude each other")
	}
	remote, err := c.client()
	if err != nil {
		return err
	}
	profile, err := remote.Profile(ctx)
	if err != nil {
		return err
	}
	all, err := remote.Account(ctx)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(std.Out)
	lines := json.NewEncoder(b)
	lines.SetEscapeHTML(false)
	err = lines.Encode(profileLine{&profile})
	for _, w := range all {
		err = errors.Join(err, lines.Encode(w))
	}
	return errors.Join(err, b.Flush())
}

// importAccount makes the prompts of an account anew. Those whose names are taken are left out.
func (c *importing) importAccount(ctx context.Context, std command.Streams, name string) error {
	if c.dryRun || c.update || c.asContributor {
		return command.UsageError("import: --account goes with none of --dry-run, --update and --as-contributor")
	}
	file, err := readFile(std.In, name)
	if err != nil {
		return err
	}
	remote, err := c.caller.client()
	if err != nil {
		return err
	}
	var left error
	made, n := 0, 0
	for line := range bytes.Lines(file) {
		n++
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		restored, err := importLine(ctx, remote, line)
		var refused *client.Problem
		switch {
		case errors.As(err, &refused):
			fmt.Fprintf(std.Out, "line %d %v\n", n, err)
			left = errRejected
		case err != nil:
			return fmt.Errorf("line %d: %w", n, err)
		case restored:
			made++
		}
	}
	fmt.Fprintf(std.Out, "created %d\n", made)
	return left
}

// importLine takes in one line. It reports whether that was a prompt.
func importLine(ctx context.Context, remote *client.Client, line []byte) (bool, error) {
	var first profileLine
	if err := json.Unmarshal(line, &first); err != nil {
		return false, fmt.Errorf("not the JSON of an account: %w", err)
	}
	if first.Profile != nil {
		if err := remote.SetProfile(ctx, *first.Profile); err != nil {
			return false, fmt.Errorf("profile rejected: %w", err)
		}
		return false, nil
	}
	var w client.Whole
	if err := json.Unmarshal(line, &w); err != nil {
		return false, fmt.Errorf("not the JSON of an account: %w", err)
	}
	if err := remote.Restore(ctx, w); err != nil {
		return false, fmt.Errorf("%.60q rejected: %w", w.Name, err)
	}
	return true, nil
}
