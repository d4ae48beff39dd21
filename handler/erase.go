package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"time"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

func eraseCommand() command.Command {
	return command.Command{
		Name: "erase", Args: []string{"USER"}, Short: "remove all that is stored of a user, now and for good",
		Long: "Removes the prompts, versions, votes, profile and access tokens of the user with the id USER from the store, without the\n" +
			"30 days that a user has who asks for it himself. His handle stays taken. It can be stopped and run again. A backup that\n" +
			"was made before still holds him: whoever restores one erases him again. While \"handler local\" has the embedded store\n" +
			"open, that does it. The file of the embedded store has the bytes, where they are not used any more, until compact writes\n" +
			"it anew." + onTheStore,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, args []string) error {
				if args[0] == "" {
					return command.UsageError("erase: USER is empty")
				}
				err := withQueues(ctx, *data, std, whole, func(db *promptdb.DB) error {
					return erase(ctx, db, std, prompt.UserID(args[0]))
				})
				compact := `run "compact" now, before the application starts.`
				if command.InUse(err) {
					if err = command.Interrupted(ctx, service().AskTo(ctx, *data, std, "erase", args[0]),
						"run the same command again"); err != nil {
						return fmt.Errorf("erase: %w", err)
					}
					compact = `stop the application when it suits, and run "compact" then.`
				}
				if err == nil && !command.OnAzure() {
					fmt.Fprintln(std.Err, "The file of the store has the bytes still, where they are not used: "+
						compact)
				}
				return err
			}
		},
	}
}

// erase erases the user for a command that asks the process, whose store it is.
func (a *app) erase(ctx context.Context, std command.Streams, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return errors.New("the command names no user: is it of the same version?")
	}
	return erase(ctx, a.db, std, prompt.UserID(args[0]))
}

// eraseFor is for how long one call works before it looks whether it must stop.
const eraseFor = time.Minute

// settleFor is for how long the command waits for messages: longer than those are delayed that it
// leaves on the embedded store.
const settleFor = 15 * time.Second

func erase(ctx context.Context, db *promptdb.DB, std command.Streams, user prompt.UserID) error {
	account, err := db.SignsInTo(ctx, user)
	if err != nil {
		return err
	}
	if account != user {
		return fmt.Errorf("the user who signs in as %q was moved, and has the account %q: name that", user, account)
	}
	holds, err := db.Holds(ctx, user)
	if err != nil {
		return err
	}
	if !holds { // rows of others that name the user may be there still
		fmt.Fprintf(std.Err, "nothing is stored under the id %q: is it what the identity provider calls the user?\n",
			user)
	}
	if _, err := db.EraseAt(ctx, user, time.Now()); err != nil {
		return err
	}
	for {
		done, err := db.EraseNow(ctx, user, time.Now().Add(eraseFor))
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		if !done {
			continue
		}
		// What the erasure itself sent names the user, and would stay in the file until its jobs ran.
		seen, err := db.Settle(ctx, user, time.Now().Add(settleFor))
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		fmt.Fprintln(std.Out, "erased")
		if !seen {
			fmt.Fprintln(std.Err, "Some messages on the queues could not be seen yet. The application takes them within minutes; none names the user after that.")
		}
		return nil
	}
}
