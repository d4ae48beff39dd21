package azurite

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"

	"prompthub/internal/testing/inputs"
)

// modules is where npm puts the pinned Azurite, below the root of the repository.
const modules = "internal/tools/azurite/node_modules"

// An install is an Azurite ready to run.
type install struct {
	node string // the program
	dir  string // of the package
}

// script returns the entry point of a service.
func (i install) script(service string) string {
	return filepath.Join(i.dir, "dist", "src", service, "main.js")
}

// find returns the Azurite of the repository around the working directory.
func find() (install, error) {
	root, err := inputs.Root()
	if err != nil {
		return install{}, err
	}
	node, err := exec.LookPath("node")
	if err != nil {
		return install{}, errors.New(`node is not installed: install Node 20 or later, then run "make azurite"`)
	}
	inst := install{node: node, dir: filepath.Join(root, filepath.FromSlash(modules), "azurite")}
	if _, err := os.Stat(inst.script("table")); err != nil {
		return install{}, errors.New(`azurite is not installed: run "make azurite" once, which installs and starts it`)
	}
	return inst, nil
}
