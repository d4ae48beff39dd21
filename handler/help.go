package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
)

const intro = `PromptHub, the prompt library of a team or a community.

Usage:
  %[1]s COMMAND [flags]     flags may stand before and after other arguments
  %[1]s COMMAND -h          the flags of a command
  %[1]s --version
  handler                     run as the custom handler of a function app, started by the Functions host

Commands:
`

// installed is what the program is called where "make install" has put it.
const installed = "prompthub"

// self returns what the program was called as.
func self() string {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == installed {
		return installed
	}
	return "handler"
}

const outro = `
Data goes to standard output; errors and progress go to standard error.

Exit codes:
  0  done
  1  failed, or verify found differences
  2  the command line or its flags are wrong
  3  import, pull or push went through and left something alone; diff of a folder found differences

Commands that call a service take its address and a token from --url and --token, from PROMPTHUB_URL and PROMPTHUB_TOKEN, or
from the file that PROMPTHUB_CONFIG names; see "get -h".

Settings are environment variables. Those that matter most:
  AUTH_MODE            how callers are identified: easyauth, jwt, oidc or dev; "local" takes dev where it is
                       not set
  JWT_ISSUER, JWT_AUDIENCE, AUTH_TENANTS
                       whose tokens are believed, in jwt mode; the tenants, in easyauth mode too
  OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_SCOPES, OIDC_ADMIN, PUBLIC_URL, SESSION_KEYS
                       where browsers sign in, in oidc mode, who is an admin, and what seals their sessions
  PUBLIC_READ          true lets everybody read public prompts without identity
  CORS_ORIGINS         origins of pages elsewhere that may use the API; none by default
  LIMIT_WRITES         changes a caller may make in a second; likewise LIMIT_READS
  AzureWebJobsStorage  the storage account, as a connection string or as an identity by __accountName and the like;
                       where it is not set, commands work on the embedded store
`

// help prints the help of the program, or that of the command named.
func help(w io.Writer, names []string) error {
	if len(names) > 0 {
		c, err := find(names[0])
		if err != nil {
			return err
		}
		c.help(w)
		return nil
	}
	fmt.Fprintf(w, intro, self())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range commands() {
		fmt.Fprintf(t, "  %s\t%s\n", c.name, c.short)
	}
	// Like every other write to the terminal: nobody could be told.
	_ = t.Flush()
	fmt.Fprint(w, outro)
	return nil
}

func (c command) help(w io.Writer) {
	fmt.Fprintf(w, "Usage: %s\n\n%s\n", c.usage(), c.long)
	flags := c.flags()
	c.setup(flags)
	flags.SetOutput(w)
	fmt.Fprintln(w, "\nFlags:")
	flags.PrintDefaults()
	fmt.Fprintln(w, "  -h\tthis help")
}
