package load

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// pocketbaseDir is where the program's source is, seen from the root of the repository.
const pocketbaseDir = "internal/tools/pocketbase"

// A Setup says what an application would be with PocketBase: collections in the form of its
// exports, and SQL for triggers and rows.
type Setup struct {
	Collections any      `json:"collections"`
	SQL         []string `json:"sql"`
}

// PocketBase builds PocketBase and starts it below dir, with a directory for its data. It returns
// the tokens of the users, by their ids.
func PocketBase(ctx context.Context, dir string, synced bool, s Setup) (p *Program, data string, tokens []string, err error) {
	binary, file, data := filepath.Join(dir, "pb"), filepath.Join(dir, "setup.json"), filepath.Join(dir, "pocketbase")
	text, err := json.Marshal(s)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	if err == nil {
		err = Build(ctx, pocketbaseDir, ".", binary)
	}
	if err != nil {
		return nil, "", nil, err
	}
	addr, err := FreeAddress(ctx)
	if err != nil {
		return nil, "", nil, err
	}
	cmd := exec.CommandContext(ctx, binary, fmt.Sprintf("-synced=%t", synced), data, addr, file)
	cmd.Stderr = os.Stderr
	p, line, err := StartPeer(ctx, addr, cmd)
	if err != nil {
		return nil, "", nil, err
	}
	if err := json.Unmarshal(line, &tokens); err != nil {
		return nil, "", nil, errors.Join(err, p.Stop())
	}
	return p, data, tokens, nil
}

// Users returns SQL that makes users of PocketBase with ids and the values of columns of their own,
// in a few statements.
func Users(columns string, n int, row func(i int) string) (all []string) {
	const atOnce = 500
	for from := 0; from < n; from += atOnce {
		text := "INSERT INTO users (tokenKey, password, verified, " + columns + ") VALUES "
		for i := from; i < min(from+atOnce, n); i++ {
			if i > from {
				text += ", "
			}
			text += fmt.Sprintf("('%050d', '', TRUE, %s)", i, row(i))
		}
		all = append(all, text)
	}
	return all
}
