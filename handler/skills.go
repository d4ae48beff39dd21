package main

import (
	"context"
	"flag"
	"fmt"
	"strings"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
)

func skillsCommand() command.Command {
	return asking(command.Command{
		Name: "skills", Args: []string{"[OWNER]"}, Short: "list what skills take of the list that agents are shown",
		Long: "Lists the skills that an agent has which installs all of yours, or with --workspace of the workspace: how many characters the line\nof each takes, of 8,000 for all, and which descriptions are dropped if that is too much and none was used yet. It counts as Claude\nCode 2.1.332 does for a model of 200,000 tokens and an agent without other skills, the 500 newest; its own take some 5,200.\n\nOWNER is @HANDLE for the public skills of a user, SLUG for a collection of yours, or @HANDLE/SLUG for one of a user or workspace.",
	}, func(_ *flag.FlagSet, asJSON *bool) asked {
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			handle, collection, err := skillsOf(args)
			if err != nil {
				return err
			}
			b, err := remote.Skills(ctx, handle, collection)
			if err != nil {
				return err
			}
			if *asJSON {
				list := make([]map[string]any, len(b.Skills))
				for i, s := range b.Skills {
					list[i] = map[string]any{"name": s.Name, "characters": s.Characters, "cut": s.Cut}
				}
				return printJSON(std.Out, map[string]any{
					"characters": b.Characters,
					"limit":      b.Limit(), "skills": list,
				})
			}
			rows := [][]string{{"CHARACTERS", "SKILL", ""}}
			for _, s := range b.Skills {
				told := ""
				if s.Cut {
					told = "without its description"
				}
				rows = append(rows, []string{fmt.Sprint(s.Characters), s.Name, told})
			}
			if len(b.Skills) > 0 {
				if err := columns(std.Out, rows); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(std.Err, "characters: %d of %d; descriptions that are dropped: %d\n",
				b.Characters, b.Limit(), b.Cut())
			return err
		}
	})
}

// skillsOf reads whose skills are wanted, or those of which collection.
func skillsOf(args []string) (handle, collection string, err error) {
	if len(args) == 0 {
		return "", "", nil
	}
	handle, collection, both := strings.Cut(args[0], "/")
	of, isOwner := strings.CutPrefix(handle, "@")
	switch {
	case len(args) > 1, both && (!isOwner || collection == ""), of == "":
		return "", "", command.UsageError(
			"skills: name one owner as @HANDLE, or one collection as SLUG or @HANDLE/SLUG")
	case !isOwner:
		return "", handle, nil
	}
	return of, collection, nil
}
