// Command printcost prints what PromptHub costs a month, as docs/deploy.md shows it.
package main

import (
	"fmt"
	"os"

	"prompthub/internal/prompthub/cost"
)

func main() {
	if err := cost.WriteTables(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "printcost:", err)
		os.Exit(1)
	}
}
