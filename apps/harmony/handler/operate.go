package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/host/command"
)

// onStore opens the store that there is and runs do on it.
func onStore(data string, std command.Streams, do func(rooms) error) (err error) {
	s, err := readSettings()
	if err != nil {
		return err
	}
	st, err := service().OpenExisting(data, s.QueuePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	log := slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	members := newService(s, st, log, nil, func(do func()) { do() })
	fmt.Fprintf(std.Err, "Data is in %s\n", st.Where)
	return do(newRooms(s, members))
}

var roles = []string{string(meet.Member), string(meet.Moderator), string(meet.Admin)}

// role makes the first admin; admins make others.
func role() command.Command {
	return command.Command{
		Name: "role", Args: []string{"EMAIL", "ROLE"}, Short: "make the member with an e-mail address an admin, a moderator or a member",
		Long: `Gives a member a role: admin, moderator or member. It holds from the member's next request on.
"handler local" must not run on the same data.`,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, args []string) error {
				if !slices.Contains(roles, args[1]) {
					return command.UsageError("role: want one of " + strings.Join(roles, ", "))
				}
				return onStore(*data, std, func(r rooms) error {
					u, err := r.members.SetRole(ctx, args[0], meet.Role(args[1]))
					if err == nil {
						fmt.Fprintf(std.Out, "%s is %s now\n", u.Email, u.Role)
					}
					return err
				})
			}
		},
	}
}

// reset helps a member who has forgotten the password: no mail is sent.
func reset() command.Command {
	return command.Command{
		Name: "reset", Args: []string{"EMAIL"}, Short: "print a token with which a member sets a new password",
		Long: `Prints a token with which the member sets a new password at /app/reset. It is good once, for 30 minutes.
Make sure that the person who asks is the member. "handler local" must not run on the same data.`,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, args []string) error {
				return onStore(*data, std, func(r rooms) error {
					token, err := r.members.NewReset(ctx, args[0])
					if err == nil {
						fmt.Fprintln(std.Out, token)
					}
					return err
				})
			}
		},
	}
}

// verifies compares rows, lists, counts and files.
func verifies() command.Command {
	return command.Command{
		Name: "verify", Short: "compare lists, counts and files with what they follow, and change nothing",
		Long: `Compares all rows with one another: a match is there if both like each other, lists are as their truths say,
counts are right, no event has more attendees than places, pictures have their files. It prints a line for each row
that is not as it must be: the table, the key and the reason. It changes nothing; the timer "tidy" mends what can be mended,
once a day, and the line says "a person must decide" of the rest.

Exit code 0: all rows are as they must be. 1: some are not, or the store cannot be read. 2: the command line is wrong.
While a service works on a storage account, a row that differs is looked at again after two minutes. "handler local" must
not run on the same data.`,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, _ []string) error {
				return onStore(*data, std, func(r rooms) error {
					differences := 0
					rows, err := r.compared().Verify(ctx, !command.OnAzure(), func(f meet.Finding) {
						differences++
						note := ""
						if f.Mend == nil {
							note = " (a person must decide)"
						}
						fmt.Fprintf(std.Out, "%s\t%s\t%s%s\n", f.Table, f.Key, f.Says, note)
					})
					if err != nil {
						return err
					}
					if differences > 0 {
						return fmt.Errorf("verify: differences: %d", differences)
					}
					fmt.Fprintf(std.Out, "%d rows are as they must be\n", rows)
					return nil
				})
			}
		},
	}
}
