package main

import (
	"errors"
	"slices"
	"strings"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/host/command"
)

const running = `
While "handler local" has the embedded store open, that does it.`

var errOtherVersion = errors.New("the command sends other arguments: is it of the same version?")

var roles = []string{string(meet.Member), string(meet.Moderator), string(meet.Admin)}

// role makes the first admin; admins make others.
func role() command.Command {
	return command.Command{
		Name: "role", Args: []string{"EMAIL", "ROLE"},
		Short: "make the member with an e-mail address an admin, a moderator or a member",
		Long: `Gives a member a role: admin, moderator or member. It holds from the member's next request on.` +
			running,
		Setup: service().Work("role", func(args []string) error {
			if !slices.Contains(roles, args[1]) {
				return command.UsageError("role: want one of " + strings.Join(roles, ", "))
			}
			return nil
		}),
	}
}

// reset helps a member who has forgotten the password where no mail is sent, or none arrives.
func reset() command.Command {
	return command.Command{
		Name: "reset", Args: []string{"EMAIL"}, Short: "print a token with which a member sets a new password",
		Long: `Prints a token with which the member sets a new password at /app/reset. It is good once, for 30 minutes.
Make sure that the person who asks is the member.` + running,
		Setup: service().Work("reset", nil),
	}
}
