package main

import (
	"errors"
	"fmt"
	"log/slog"

	release "prompthub"
	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/folder"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/doors/mcp"
	"prompthub/internal/prompthub/doors/web"
	"prompthub/internal/prompthub/doors/worker"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/telemetry"
)

// errDiffers ends a diff of a folder that found differences.
var errDiffers = errors.New("they differ")

// errRejected ends an import that went through and left rows out.
var errRejected = errors.New("some rows were rejected")

// errDamaged ends an export that went through and lacks what is damaged.
var errDamaged = errors.New("some files are damaged")

// program returns PromptHub with all its commands.
func program() command.Program {
	s := service()
	return command.Program{
		Service: s, Intro: intro, Outro: outro,
		LeftOut: []error{errRejected, errDamaged, folder.ErrConflicts, errDiffers},
		Commands: []command.Command{
			s.Local(), getCommand(), searchCommand(), saveCommand(), versionsCommand(), diffCommand(),
			labelCommand(), recallCommand(),
			forkCommand(), copyCommand(), upstreamCommand(), skillsCommand(), importCommand(), exportCommand(),
			pullCommand(), pushCommand(),
			backupCommand(), restoreCommand(), drillCommand(), verifyCommand(), reindexCommand(), compactCommand(),
			redriveCommand(), moveUserCommand(), eraseCommand(), inviteCommand(), resetCommand(), loginCommand(),
			logoutCommand(), s.StatusCommand(), s.Doctor(), s.CheckSettings(), s.HealthCheck(), s.Version(),
		},
	}
}

// service returns PromptHub as it is served.
func service() command.Service {
	return command.Service{
		Name: "prompthub", Title: "PromptHub", About: "PromptHub. Its pages are at " + web.Prefix +
			", its API is described at " + api.Prefix + "/docs.",
		Health: api.Prefix + "/health", Ready: api.Prefix + "/ready", Pages: web.Prefix,
		Callback: web.Callback, Blobs: true,
		Release: release.Files, Posts: mcp.Prefix,
		Shared: promptdb.SharedTexts(), Read: read, Try: try,
	}
}

// read reads the settings, with which PromptHub can be built.
func read() (command.Settings, command.Build, error) {
	s, err := readSettings()
	s.Accounts = true
	return s.Settings, func(general command.Settings, st command.Store, log *slog.Logger,
		t *telemetry.Telemetry,
	) command.App {
		s.Settings = general
		a := newApp(s, st, log, t)
		return command.App{
			Create: a.db.Create, Triggers: worker.Triggers(a.db, log), Doors: a.doors, Wait: a.behind.Wait,
			Backup: a.backup, Verify: a.verify, RowsVersion: promptdb.RowsVersion, Tables: s.Tables.All(),
			Containers: []string{s.ContainerPrefix + promptdb.BackupContainer}, Swept: a.db.Swept,
			Asked:   map[string]command.Action{"erase": a.erase, "invite": a.invite, "reset": a.reset},
			Welcome: a.welcome,
		}
	}, err
}

// try tells what to try on one's own machine.
func try(s command.Settings, url string) string {
	who, browser := fmt.Sprintf("-H %q ", "X-Dev-User: "+defaultUser()),
		fmt.Sprintf("Open %s%s in a browser.", url, web.Prefix)
	if !s.Dev() {
		who = `-H "Authorization: Bearer $TOKEN" `
	}
	switch s.Mode {
	case "jwt":
		browser = "TOKEN is from your identity provider; browsers cannot sign in here."
	case "oidc", "invited":
		browser += fmt.Sprintf(" TOKEN is an access token, which you make at %s%s/me/tokens.", url, web.Prefix)
	}
	commands := "" // of prompthub find the service where it is by default
	if url != defaultURL {
		commands = "  export PROMPTHUB_URL=" + url + "     # for the commands of prompthub\n"
	}
	return fmt.Sprintf(`%[3]s

From a shell:
%[4]s  curl %[2]s-H "Content-Type: application/json" -d '{"title":"Hello","text":"Say hello.","tags":["text"],"visibility":"public"}' %[1]s/api/v1/prompts
  curl %[2]s"%[1]s/api/v1/prompts?sort=newest&limit=5"
The API is described at %[1]s/api/v1/docs
`, url, who, browser, commands)
}

const intro = `PromptHub, the prompt library of a team or a community.

Usage:
  %[1]s COMMAND [flags]     flags may stand before and after other arguments
  %[1]s COMMAND -h          the flags of a command
  %[1]s --version
  handler                     run as the custom handler of a function app, started by the Functions host

Commands:
`

const outro = `
Data goes to standard output, with --json as documents; errors and progress go to standard error. docs/cli.md says what scripts
may rely on.

Exit codes:
  0  done
  1  failed; verify found differences; status found something to look after; backup, restore or reindex left rows alone
  2  the command line or its flags are wrong
  3  import, pull or push went through and left something alone; diff of a folder found differences
  200  run as the custom handler: a signal ended it, and the Functions host starts it again

Commands that call a service take its address and a token from --url and --token, from PROMPTHUB_URL and PROMPTHUB_TOKEN, or
from the file that PROMPTHUB_CONFIG names; see "get -h". Only health, which asks the one of its own machine, takes --url alone.

Settings are environment variables. Those that matter most:
  AUTH_MODE            how callers are identified: easyauth, jwt, oidc, invited or dev; "local" takes dev where it is
                       not set
  JWT_ISSUER, JWT_AUDIENCE, AUTH_TENANTS
                       whose tokens are believed, in jwt mode; the tenants, in easyauth mode too
  OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_SCOPES, OIDC_ADMIN, OIDC_TRUST_OID, PUBLIC_URL, SESSION_KEYS
                       where browsers sign in, in oidc mode, who is an admin, and what seals their sessions
  PUBLIC_READ          true lets everybody read public prompts without identity
  CORS_ORIGINS         origins of pages elsewhere that may use the API; none by default
  LIMIT_WRITES         changes a caller may make in a second; likewise LIMIT_READS
  AzureWebJobsStorage  the storage account, as a connection string or as an identity by __accountName and the like;
                       where it is not set, commands work on the embedded store
`
