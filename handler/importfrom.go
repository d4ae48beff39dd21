package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
)

// A fromOther says which prompts of which other service an import brings over.
type fromOther struct {
	service          string
	keyFile, keyEnv  string
	names, reportsTo string
	insecure         bool
}

// fromLangfuse is the service that import knows.
const fromLangfuse = "langfuse"

func (f *fromOther) flags(flags *flag.FlagSet) {
	flags.StringVar(&f.service, "from", "", "`service` to bring all prompts over from: "+fromLangfuse)
	flags.StringVar(&f.keyFile, "key-file", "", "with --from, `file` with the key, PUBLIC:SECRET")
	flags.StringVar(&f.keyEnv, "key-env", "", "with --from, `name` of the environment variable with the key")
	flags.BoolVar(&f.insecure, "insecure", false,
		"with --from, send the key over http to another machine, where others may read it")
	flags.StringVar(&f.names, "names", "", "with --from, only prompts of the names of a `pattern`, as in 'billing/*': * is any number of characters, ? is one")
	flags.StringVar(&f.reportsTo, "report", "", "with --from, `file` that gets what became of each prompt, as JSON")
}

// check refuses a command line that asks for two things.
func (f *fromOther) check(c *importing, operands int) error {
	switch {
	case f.service == "" && *f != fromOther{}:
		return command.UsageError("import: --key-file, --key-env, --insecure, --names and --report go with --from")
	case f.service == "" && operands != 1:
		return command.UsageError("import: name one FILE, or a service with --from")
	case f.service == "":
		return nil
	case f.service != fromLangfuse:
		return command.UsageError("import: --from takes langfuse")
	case operands > 0:
		return command.UsageError("import: --from reads no FILE")
	case c.caller.url == "":
		return command.UsageError(
			"import: --from needs the address of the service as --url; that of PromptHub is in PROMPTHUB_URL")
	case strings.HasPrefix(c.caller.url, "http://") && !command.IsLoopback(c.caller.url) && !f.insecure:
		return command.UsageError("import: over http others between here and there can read the key: use the https address of the service, or --insecure")
	case c.update || c.account || c.asContributor || c.syntax.Syntax != "" || c.page != "":
		return command.UsageError(
			"import: --from goes with none of --update, --account, --as-contributor, --syntax and --encoding")
	}
	return nil
}

// secret returns the key, as one of three flags says it.
func (f *fromOther) secret(std command.Streams, key string) (string, error) {
	given := slices.DeleteFunc([]string{key, f.keyFile, f.keyEnv}, func(s string) bool { return s == "" })
	switch {
	case len(given) != 1:
		return "", command.UsageError(
			"import: --from needs the key of the service: name one of --key-file, --key-env and --key")
	case f.keyFile != "":
		b, err := os.ReadFile(f.keyFile)
		return string(b), err
	case f.keyEnv != "":
		if key = os.Getenv(f.keyEnv); key == "" {
			return "", command.UsageError("import: the environment has no " + f.keyEnv)
		}
		return key, nil
	}
	fmt.Fprintln(std.Err, "--key stands in the list of processes, where others on this machine can read it: --key-file and --key-env keep it out")
	return key, nil
}

// pattern returns an expression for the names that are asked for.
func (f *fromOther) pattern() *regexp.Regexp {
	expr := regexp.QuoteMeta(cmp.Or(f.names, "*"))
	return regexp.MustCompile("(?s)^" + strings.NewReplacer(`\*`, ".*", `\?`, ".").Replace(expr) + "$")
}

// importFrom brings over what another service has.
func (c *importing) importFrom(ctx context.Context, std command.Streams) error {
	key, err := c.from.secret(std, c.key)
	if err != nil {
		return err
	}
	if _, err := c.visibility(); err != nil {
		return err
	}
	r := &followed{progress: command.NewProgress(std.Err, "prompts", 0), err: std.Err}
	there, err := client.NewLangfuse(c.caller.url, key, r.say)
	if err != nil {
		return command.UsageError("import: " + err.Error())
	}
	c.caller.url = "" // that of the other service
	remote, err := c.caller.client()
	if err != nil {
		return err
	}
	if _, err := remote.Owner(ctx); err != nil {
		return err
	}
	if r.file, err = c.from.report(); err != nil {
		return err
	}
	list, err := there.List(ctx)
	if err == nil {
		pattern := c.from.pattern()
		list = slices.DeleteFunc(list, func(i client.Listed) bool { return !pattern.MatchString(i.Name) })
		r.progress = command.NewProgress(std.Err, "prompts", len(list))
		err = remote.Follow(ctx, there, list, client.Following{DryRun: c.dryRun, Public: c.public}, r.add)
	}
	r.progress.Clear()
	err = errors.Join(err, r.end(std.Out, *c.asJSON, c.dryRun))
	switch {
	case err != nil:
		return fmt.Errorf("%w; run the same import again to go on", err)
	case slices.ContainsFunc(r.all, func(f client.Followed) bool { return !f.Bare() }):
		return errRejected
	}
	return nil
}

// report makes the file for the report, before anything is done; nil without one.
func (f *fromOther) report() (io.WriteCloser, error) {
	if f.reportsTo == "" {
		return nil, nil //nolint:nilnil // as documented
	}
	return os.Create(f.reportsTo)
}

// followed is what became of the prompts of another service.
type followed struct {
	all      []client.Followed
	progress *command.Progress
	err      io.Writer
	file     io.WriteCloser
}

func (r *followed) say(text string) {
	r.progress.Clear()
	fmt.Fprintln(r.err, text)
}

func (r *followed) add(f client.Followed) {
	r.all = append(r.all, f)
	r.progress.At(len(r.all))
}

// end writes the report: a table for people, and JSON for programs.
func (r *followed) end(out io.Writer, asJSON, dryRun bool) error {
	slices.SortFunc(r.all, func(a, b client.Followed) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	counts := make(map[string]int)
	if !asJSON && len(r.all) > 0 {
		fmt.Fprintf(out, "%-9s  %-6s  %8s  %s\n", "outcome", "kind", "versions", "name")
	}
	for _, f := range r.all {
		if counts[f.Outcome]++; asJSON {
			continue
		}
		fmt.Fprintf(out, "%-9s  %-6s  %8d  %s\n", f.Outcome, f.Kind, f.Versions, shownName(f.Name))
		if f.Reason != "" {
			fmt.Fprintf(out, "           %s\n", inOneLine(f.Reason))
		}
		for _, lost := range f.Lost {
			fmt.Fprintf(out, "           without %s\n", inOneLine(lost))
		}
		for _, warning := range f.Warnings {
			fmt.Fprintf(out, "           warning: %s\n", inOneLine(warning))
		}
	}
	told := r.err
	if !asJSON {
		told = out
	}
	would := ""
	if dryRun {
		would = "a dry run, nothing was changed: "
	}
	fmt.Fprintf(told, "%smade %d, extended %d, unchanged %d, differs %d, refused %d\n", would,
		counts[client.Made], counts[client.Extended], counts[client.Same],
		counts[client.Differs], counts[client.Refused])
	var err error
	if asJSON {
		for _, f := range r.all {
			err = errors.Join(err, printJSON(out, f))
		}
	}
	if r.file != nil {
		b, failed := json.MarshalIndent(append([]client.Followed{}, r.all...), "", "  ")
		_, unwritten := r.file.Write(append(b, '\n'))
		err = errors.Join(err, failed, unwritten, r.file.Close())
	}
	return err
}

// shownName returns a name as a line of a table can have it.
func shownName(name string) string { return strings.Trim(fmt.Sprintf("%.80q", name), `"`) }

func inOneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
