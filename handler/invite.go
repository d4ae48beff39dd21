package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/library"
)

const whileRunning = "\n\nIt needs AUTH_MODE \"invited\". While \"handler local\" has the embedded store open, that does it; else it works on the store itself, or on\nthat of AzureWebJobsStorage. A link begins with PUBLIC_URL where that is set."

// inviteCommand is for a service that was started without a terminal, as on Azure.
func inviteCommand() command.Command {
	return command.Command{
		Name: "invite", Short: "print a link that makes an administrator of the site, with a password",
		Long:  "The link is good once, for an hour. While the site has no administrator, the one printed before is dead." + whileRunning,
		Setup: service().Work("invite", nil),
	}
}

func resetCommand() command.Command {
	return command.Command{
		Name: "reset", Args: []string{"HANDLE"}, Short: "print a link with which a person sets a new password",
		Long: "The link is good once, for an hour. When it is used, all sessions and access tokens of the person\n" +
			"end. Make sure that it is the person who asks." + whileRunning,
		Setup: service().Work("reset", nil),
	}
}

// address returns where people find the service, as far as it is known.
func (a *app) address() string {
	return cmp.Or(a.settings.Public, a.url, "https://ADDRESS-OF-THE-SERVICE")
}

// invite makes the link of an administrator for a command.
func (a *app) invite(ctx context.Context, std command.Streams, _ []string) error {
	secret, err := a.service().AdminInvite(ctx, true)
	if err == nil {
		_, err = fmt.Fprintln(std.Out, a.address()+library.JoinPath+"#"+secret)
	}
	return err
}

// reset makes the link to set a new password for a command.
func (a *app) reset(ctx context.Context, std command.Streams, args []string) error {
	if len(args) != 1 || args[0] == "" {
		return errors.New("the command names nobody: is it of the same version?")
	}
	secret, _, err := a.service().NewReset(ctx, args[0])
	if err == nil {
		_, err = fmt.Fprintln(std.Out, a.address()+library.ResetPath+"#"+secret)
	}
	return err
}

// welcome makes the link of the first administrator for the person who starts the service, and
// warns one who forgot that people have passwords.
func (a *app) welcome(ctx context.Context, url string) (string, error) {
	a.url = url
	if a.passwords == nil {
		if !a.settings.Dev() {
			return "", nil
		}
		if there, err := a.service().HasAdmin(ctx); err != nil || !there {
			return "", err
		}
		return "The data has accounts with passwords, and this start asks for none: stop it, and start with AUTH_MODE=invited.\n\n", nil
	}
	secret, err := a.service().AdminInvite(ctx, false)
	if err != nil || secret == "" {
		return "", err
	}
	return fmt.Sprintf("Nobody has a password here yet. This link makes the first administrator, once and within an hour:\n\n  %s%s#%s\n\n", a.address(), library.JoinPath, secret), nil
}
