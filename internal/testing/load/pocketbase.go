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
func PocketBase(ctx context.Context, dir string, synced bool,
	s Setup,
) (p *Program, data string, tokens []string, err error) {
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

// An Object is a part of a Setup's collections.
type Object = map[string]any

// Field returns a field of a collection.
func Field(name, kind string) Object { return Object{"name": name, "type": kind} }

// Relation returns a field that leads to a record of another collection, and whose record goes with
// that one.
func Relation(name, to string) Object {
	return Object{
		"name": name, "type": "relation", "collectionId": to, "maxSelect": 1,
		"required": true, "cascadeDelete": true,
	}
}

// Rules say who may read, make and remove the records of a collection. No one may where Remove is
// nil.
type Rules struct {
	Read, Create string
	Remove       any
}

// Collection returns a collection whose records have the time at which they were made. Its id is
// pbc_ and its name.
func Collection(name string, may Rules, indexes []string, fields ...Object) Object {
	return Object{
		"id": "pbc_" + name, "name": name, "type": "base", "indexes": indexes,
		"fields":   append(fields, Object{"name": "created", "type": "autodate", "onCreate": true}),
		"listRule": may.Read, "viewRule": may.Read, "createRule": may.Create,
		"updateRule": nil, "deleteRule": may.Remove,
	}
}
