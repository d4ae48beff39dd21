package command

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
)

// CheckSettings says whether a service would start with the settings of the environment.
func (s Service) CheckSettings() Command {
	return Command{
		Name: "settings", Args: []string{"[NAME=VALUE]"},
		Short: "say whether " + s.Title + " would start with the settings of the environment",
		Long: `Reads the settings as "local" does, and fails with the first one that it would refuse. With
FUNCTIONS_CUSTOMHANDLER_PORT, which the Functions host sets, it reads them as the custom handler does:
AUTH_MODE and QUEUE_PREFIX must be set then. NAME=VALUE is a setting that the environment does not have, such
as one that a deployment makes. The storage is not asked.`,
		Setup: func(*flag.FlagSet) Action {
			return func(ctx context.Context, std Streams, args []string) error {
				for _, arg := range args {
					name, value, ok := strings.Cut(arg, "=")
					if !ok || name == "" {
						return UsageError(fmt.Sprintf("%q is no NAME=VALUE", arg))
					}
					if os.Getenv(name) != "" {
						continue
					}
					if err := os.Setenv(name, value); err != nil {
						return UsageError(err.Error())
					}
				}
				set, _, err := s.read()
				if err != nil {
					return err
				}
				if set.Local = set.Port == 0; !set.Local {
					if err := set.namesQueues(); err != nil {
						return err
					}
				}
				if _, _, err := s.signing(ctx, set); err != nil {
					return err
				}
				_, err = fmt.Fprintln(std.Out, "The settings are taken.")
				return err
			}
		},
	}
}
