package command

import (
	"context"
	"flag"
	"fmt"
)

// CheckSettings says whether a service would start with the settings of the environment.
func (s Service) CheckSettings() Command {
	return Command{
		Name: "settings", Short: "say whether " + s.Title + " would start with the settings of the environment",
		Long: `Reads the settings as "local" does, and fails with the first one that it would refuse. With
FUNCTIONS_CUSTOMHANDLER_PORT, which the Functions host sets, it reads them as the custom handler does:
AUTH_MODE and QUEUE_PREFIX must be set then. The storage is not asked.`,
		Setup: func(*flag.FlagSet) Action {
			return func(ctx context.Context, std Streams, _ []string) error {
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
