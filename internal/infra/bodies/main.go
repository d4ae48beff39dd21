// Command bodies prints, as JSON, the resources in infra/ of which package bicep has no type data. The tests in
// internal/tools/infra hold them against the Azure SDK for Go. It runs in the root of the repository.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"prompthub/internal/infra/bicep"
)

func main() {
	if err := run(context.Background(), ".", os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bodies:", err)
		os.Exit(1)
	}
}

// A body is one resource.
type body struct {
	Where string `json:"where"`
	Type  string `json:"type"` // with its version
	Body  any    `json:"body"`
}

func run(ctx context.Context, root string, w io.Writer) error {
	texts, err := bicep.Read(root + "/infra")
	if err != nil {
		return err
	}
	files, err := bicep.Parse(ctx, root, texts)
	if err != nil {
		return err
	}
	bodies := []body{}
	for name, f := range files {
		for _, r := range f.Resources {
			if key := r.Type + "@" + r.Version; slices.Contains(bicep.WithoutTypes, key) && !r.Existing {
				bodies = append(bodies, body{name + " " + r.Symbol, key, f.JSON(r.Body)})
			}
		}
	}
	return json.NewEncoder(w).Encode(bodies)
}
