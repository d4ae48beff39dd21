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
func onStore(data string, std command.Streams, do func(*meet.Service) error) (err error) {
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
	return do(members)
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
				return onStore(*data, std, func(s *meet.Service) error {
					u, err := s.SetRole(ctx, args[0], meet.Role(args[1]))
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
				return onStore(*data, std, func(s *meet.Service) error {
					token, err := s.NewReset(ctx, args[0])
					if err == nil {
						fmt.Fprintln(std.Out, token)
					}
					return err
				})
			}
		},
	}
}
