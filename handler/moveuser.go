package main

import (
	"context"
	"flag"
	"fmt"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

func moveUserCommand() command.Command {
	return command.Command{
		Name: "move-user", Args: []string{"OLD", "NEW"}, Short: "have a user keep the account under a new sign-in id",
		Long: "For a user whom the identity provider calls by another id, because the provider changed. OLD is the id that the user\n" +
			"had, NEW is the new one. The account keeps its prompts, votes, profile, links and access tokens, and the id OLD in\n" +
			"backups and logs. A sign-in as OLD is refused with USER_MOVED from then on. Instances that run know it within a\n" +
			"minute. So run it before the user signs in anew: an id under which something is stored is refused. It can be run\n" +
			"again, also to move the user on, or back." + onTheStore,
		Setup: func(flags *flag.FlagSet) command.Action {
			data, asJSON := command.DataFlag(flags), jsonFlag(flags)
			return func(ctx context.Context, std command.Streams, args []string) error {
				return withStore(ctx, *data, std, whole, func(db *promptdb.DB) error {
					account, err := db.MoveUser(ctx, prompt.UserID(args[0]), prompt.UserID(args[1]))
					if err != nil {
						return fmt.Errorf("move-user: %w", err)
					}
					if *asJSON {
						return printJSON(std.Out, map[string]any{"signIn": args[1], "account": account})
					}
					_, err = fmt.Fprintf(std.Out, "%q signs in to the account %q\n", args[1], account)
					return err
				})
			}
		},
	}
}
