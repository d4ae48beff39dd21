package command

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
)

// self returns what the program was called as: the name that "make install" gives to it, or
// handler.
func (p Program) self() string {
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") == p.Service.Name {
		return p.Service.Name
	}
	return "handler"
}

// help prints the help of the program, or that of the command named.
func (p Program) help(w io.Writer, names []string) error {
	if len(names) > 0 {
		c, err := p.find(names[0])
		if err != nil {
			return err
		}
		p.helpOf(w, c)
		return nil
	}
	fmt.Fprintf(w, p.Intro, p.self())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, c := range p.all() {
		fmt.Fprintf(t, "  %s\t%s\n", c.Name, c.Short)
	}
	// Like every other write to the terminal: there is no way to tell of a failure.
	_ = t.Flush()
	fmt.Fprint(w, p.Outro)
	return nil
}

var longFlag = regexp.MustCompile(`(?m)^(  -)(\w{2})`)

func (p Program) helpOf(w io.Writer, c Command) {
	fmt.Fprintf(w, "Usage: %s\n\n%s\n", p.usage(c), c.Long)
	flags := c.flags()
	c.Setup(flags)
	var b strings.Builder
	flags.SetOutput(&b)
	flags.PrintDefaults()
	// as documents and examples write them; one hyphen does too
	fmt.Fprint(w, "\nFlags:\n", longFlag.ReplaceAllString(b.String(), "$1-$2"))
	fmt.Fprintln(w, "  -h\tthis help")
}
