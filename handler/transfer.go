package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/cli/folder"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

// A caller is whom a command calls, and as whom.
type caller struct{ url, user, token, workspace string }

// defaultUser returns the name of the operating system's user, as whom commands call a service in
// dev mode, and whom its page proposes: so both are the same person.
func defaultUser() string {
	me, err := user.Current()
	if err != nil {
		return "me"
	}
	name := me.Username[strings.LastIndexAny(me.Username, `\\/`)+1:] // of Windows, DOMAIN\name
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "me"
	}
	return name
}

func callerFlags(flags *flag.FlagSet) *caller {
	var c caller
	flags.StringVar(&c.url, "url", "", "`address` of the deployment or of \"handler local\" (default "+defaultURL+")")
	flags.StringVar(&c.user, "user", "", "`name` to call as, for services in dev mode (default PROMPTHUB_USER, else the user of the operating system)")
	flags.StringVar(&c.token, "token", "",
		"bearer `token` to call with; PROMPTHUB_TOKEN keeps it out of the list of processes")
	return &c
}

// workspaceFlag is the flag of commands that act on one's own prompts.
func (c *caller) workspaceFlag(flags *flag.FlagSet) {
	flags.StringVar(&c.workspace, "workspace", "",
		"`handle` of a workspace of yours, whose prompts take the place of your own")
}

// client returns the client that the flags ask for.
func (c *caller) client() (*client.Client, error) {
	if err := c.complete(); err != nil {
		return nil, err
	}
	switch {
	case c.token != "" && c.user != "":
		return nil, command.UsageError("--user and --token exclude each other")
	case c.token == "" && c.user == "":
		c.user = defaultUser()
	}
	made, err := client.New(client.Config{
		URL: c.url, User: c.user, Token: c.token,
		Workspace: strings.TrimPrefix(c.workspace, "@"),
	})
	if err != nil {
		return nil, command.UsageError("--url or PROMPTHUB_URL: " + err.Error())
	}
	return made, nil
}

// An importing is one run of import.
type importing struct {
	caller        *caller
	asContributor bool
	dryRun        bool
	update        bool
	account       bool
	syntax        *syntaxName
	page          codePageName
	key           string
	public        bool
	private       bool
	asJSON        *bool
	from          fromOther
}

// visibility returns who may see a prompt whose file does not say.
func (c *importing) visibility() (prompt.Visibility, error) {
	switch {
	case c.public && c.private:
		return "", command.UsageError("import: --public and --private exclude each other")
	case c.public:
		return prompt.Public, nil
	}
	return prompt.Private, nil
}

func importCommand() command.Command {
	return command.Command{
		Name: "import", Args: []string{"[FILE]"},
		Short: "create prompts out of files of many programs, a folder or a ZIP, by the API",
		Long: `Creates a prompt out of each row of FILE ("-" is standard input), through the HTTP API. FILE is a file, a folder or a
ZIP archive. The name of a file says what it is, or else what is in it: SKILL.md, *.prompt.yml, *.prompt, *.prompty,
*.prompt.md, Markdown, JSON of Langfuse, LangChain, Open WebUI or prompts.chat, lists of messages, YAML of Semantic Kernel and
Agent Framework, CSV, or JSON Lines as export writes them. Of a folder or an archive files that hold no prompts are passed over.

CSV has the columns act, title or name (the title), prompt, text or content (the text) and, if there, description,
tags (parted by commas), for_devs (TRUE: tag development), type (a tag), contributor, name. Line ends inside CSV texts
become single line feeds. Prompts become private if their file does not say who may see them, or public with --public.
A tag that is not in the catalog becomes the prompt's own, by which no public search finds it. With --update, a row makes a new
version of the caller's prompt of its name.

A file that is not quite as its format wants it is read all the same: each such place is printed as a warning, with what
was made of it and how to write it well. The file itself is kept with the prompt, and comes back as it was.

JSON Lines that export wrote have all versions with their labels. A prompt of such a name that has the same is unchanged, one
that has others is rejected, but with --update. What a text includes may stand anywhere in FILE.

Rows that break a rule are left out and printed with their number and reason, ten of each reason. The same file can be
imported again: what was created from it before is unchanged.

With --from langfuse there is no FILE: all prompts and skills of a project of Langfuse come over, each with its versions under
their numbers, reasons and labels, and with who made them there, and when. --url is the address of Langfuse then, and the one
of PromptHub is in PROMPTHUB_URL or its configuration; --key-file or --key-env names the key, PUBLIC:SECRET, which goes to
Langfuse alone. The same again changes nothing, goes on where it was stopped, and brings what is new there: versions, and labels
that moved there, unless they were moved here since. Prompts of such names with another history stay, and are told.`,
		Setup: func(flags *flag.FlagSet) command.Action {
			c := &importing{caller: callerFlags(flags), asJSON: jsonFlag(flags)}
			c.caller.workspaceFlag(flags)
			flags.BoolVar(&c.asContributor, "as-contributor", false,
				"call as the first contributor of each row, for services in dev mode")
			flags.BoolVar(&c.update, "update", false,
				"give prompts that there are by their names new versions, instead of creating second ones")
			c.syntax = syntaxFlag(flags, "in which placeholders are written anew, such as {x} of an f-string, which is not filled in here; files are kept as they are", format.Imported()...)
			flags.Var(&c.page, "encoding", "`name` of the code page that files are saved in which are neither UTF-8 nor UTF-16, such as windows-1250, shift_jis or ibm850; else it is guessed, with a warning")
			flags.BoolVar(&c.account, "account", false,
				"FILE is what export --account wrote: make its prompts with all their versions and labels")
			flags.BoolVar(&c.public, "public", false, "everybody may see prompts whose file does not say who may")
			flags.BoolVar(&c.private, "private", false, "only the caller may see them, which is the default")
			flags.StringVar(&c.key, "key", "", "with --update, `column` or member of each row that has the name; else name, or the slug of the title. With --from, the key itself, which others on the machine can read")
			c.from.flags(flags)
			flags.BoolVar(&c.dryRun, "dry-run", false, "hold the rows against the rules and send nothing; the service is not asked: texts have the limit in MAX_TEXT here, and tags are not looked up. With --from the service is asked, and changes nothing")
			return c.run
		},
	}
}

func (c *importing) run(ctx context.Context, std command.Streams, args []string) error {
	if err := c.from.check(c, len(args)); err != nil {
		return err
	}
	if c.from.service != "" {
		return c.importFrom(ctx, std)
	}
	if c.account {
		return c.importAccount(ctx, std, args[0])
	}
	rows, err := c.rows(std, args[0])
	if err != nil {
		return err
	}
	visibility, err := c.visibility()
	if err != nil {
		return err
	}
	// Twice: a file that is broken further down creates nothing, and the total is known.
	total := 0
	for _, err := range rows {
		if err != nil {
			return fmt.Errorf("%s: %w", args[0], err)
		}
		total++
	}
	do, catalog, err := c.maker(ctx, args[0])
	if err != nil {
		return err
	}
	rows = client.In(client.Prepared(rows, catalog, visibility), c.syntax.Syntax)
	if c.asContributor {
		rows = client.ByContributor(rows)
	}
	report := newReport(std, total, *c.asJSON)
	report.again = fmt.Sprintf("prompthub import --update %q", args[0])
	report.asked = c.public || c.private
	report.updates, report.authors = !c.update && !c.asContributor, c.asContributor
	err = client.Import(ctx, rows, do, report.add)
	report.end(c.dryRun)
	err = errors.Join(err, report.failed)
	switch {
	case err != nil:
		return fmt.Errorf("%w; run the same import again to go on", err)
	case report.counts[client.Rejected] > 0:
		return errRejected
	}
	return nil
}

// rows returns the rows of a file, a folder or an archive.
func (c *importing) rows(std command.Streams, name string) (iter.Seq2[format.Row, error], error) {
	var files []format.File
	var skipped []string
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		files, skipped, err = format.Folder(os.DirFS(name))
		if err != nil {
			return nil, err
		}
		skipped = folder.NoSkill(files, skipped)
	} else {
		file, err := readFile(std.In, name)
		if err != nil {
			return nil, err
		}
		if !format.IsArchive(file) {
			if c.page != "" {
				if file, err = format.InUTF8(file, string(c.page)); err != nil {
					return nil, fmt.Errorf("%s: %w", name, err)
				}
			}
			return format.Rows(filepath.ToSlash(name), file, c.key), nil
		}
		files, skipped, err = format.Archive(file, format.MaxTotal)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	tellNoise(std, skipped)
	if c.page != "" {
		files = format.FilesInUTF8(files, string(c.page))
	}
	return format.RowsOf(files, c.key), nil
}

// maker returns a Maker, and the tags of the catalog. It asks the service once
// for its caller, so that a service that is away or does not know the caller is told before the
// first row.
func (c *importing) maker(ctx context.Context, from string) (client.Maker, []string, error) {
	if c.dryRun {
		s, err := readSettings()
		return c.withFiles(from, nil, client.DryRun(prompt.Rules{MaxText: s.MaxText})), nil, err
	}
	remote, err := c.caller.client()
	if err != nil {
		return nil, nil, err
	}
	if c.asContributor && c.update {
		return nil, nil, command.UsageError(
			"--as-contributor and --update exclude each other: names are those of one caller")
	}
	if c.asContributor && c.caller.workspace != "" {
		return nil, nil, command.UsageError(
			"--as-contributor and --workspace exclude each other: the prompts are the workspace's")
	}
	if c.asContributor && c.caller.token != "" {
		return nil, nil, command.UsageError(
			"--as-contributor and --token exclude each other: a token says who is calling")
	}
	if _, err := remote.Owner(ctx); err != nil {
		return nil, nil, err
	}
	catalog, err := remote.Catalog(ctx)
	if c.update {
		return c.withFiles(from, remote, remote.Updater()), catalog, err
	}
	return c.withFiles(from, remote, remote.Maker(c.asContributor)), catalog, err
}

// withFiles has a Maker make a skill with files of a row whose SKILL.md is not alone in its folder.
func (c *importing) withFiles(from string, remote *client.Client, do client.Maker) client.Maker {
	if !isFolder(from) || c.asContributor {
		return do
	}
	return func(ctx context.Context, row format.Row) (client.Outcome, error) {
		dir := path.Dir(row.Path)
		if path.Base(row.Path) != prompt.SkillFile || dir == "." {
			return do(ctx, row)
		}
		root, err := os.OpenRoot(filepath.Join(from, filepath.FromSlash(dir)))
		if err != nil {
			return client.Rejected, err
		}
		defer root.Close()
		files, _, err := folder.ReadFiles(root)
		if err == nil && len(files) == 1 {
			return do(ctx, row)
		}
		slug := ""
		if err == nil {
			slug, err = folder.SkillName(files)
		}
		if err != nil {
			return client.Rejected, err
		}
		if remote == nil {
			return do(ctx, row)
		}
		return remote.MakeFolder(ctx, client.FolderDraft{
			Name: slug, Slug: slug, Files: files, Public: row.Visibility == string(prompt.Public), NewOnly: !c.update,
			KeepBits: runtime.GOOS == "windows",
		})
	}
}

func readFile(in io.Reader, name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(in)
	}
	return os.ReadFile(name)
}

func exportCommand() command.Command {
	return command.Command{
		Name:  "export",
		Short: "write the caller's own prompts as JSON Lines, or as files of another program, by the API",
		Long: `Writes the caller's own prompts, newest first, one JSON object on a line, with all versions and labels. import reads them. With --format
and --to it writes a file for each prompt instead, and says on standard error what such files cannot hold; at a file that is
there already it stops. With --account it writes the profile, each prompt with all its versions and labels, and votes,
which import --account takes in, on another service too: the export there has the same bytes. Numbers of versions stay;
times and ids are each service's own.`,
		Setup: func(flags *flag.FlagSet) command.Action {
			c := callerFlags(flags)
			c.workspaceFlag(flags)
			as := formatFlag(flags, format.Formats())
			syntax := exportSyntax(flags)
			to := flags.String("to", "", "`folder` to write files into, with --format")
			account := flags.Bool("account", false,
				"the whole account: profile, prompts with their versions and labels, and votes")
			return func(ctx context.Context, std command.Streams, _ []string) error {
				if (as.Format == "") != (*to == "") {
					return command.UsageError("export: --format and --to go together")
				}
				if err := syntax.of(as); err != nil {
					return err
				}
				if *account {
					return c.exportAccount(ctx, std, *to)
				}
				return export(ctx, std, c, writing{as.Format, syntax.Syntax}, *to)
			}
		},
	}
}

// A formatName is the flag --format.
type formatName struct{ format.Format }

func formatFlag(flags *flag.FlagSet, of []format.Format) *formatName {
	var f formatName
	flags.Var(&f, "format", "`name` of a format: "+format.Names(of))
	return &f
}

func (f *formatName) String() string { return string(f.Format) }

// Set reads a name.
func (f *formatName) Set(s string) (err error) {
	f.Format, err = format.Parse(s)
	return err
}

// A codePageName is the flag --encoding.
type codePageName string

func (p *codePageName) String() string { return string(*p) }

// Set reads a name.
func (p *codePageName) Set(s string) error {
	name, err := format.CodePage(s)
	*p = codePageName(name)
	return err
}

// A writing is how a prompt becomes a file.
type writing struct {
	Format format.Format
	Syntax format.Syntax
}

// A syntaxName is the flag --syntax.
type syntaxName struct {
	format.Syntax
	allowed []format.Syntax
}

func syntaxFlag(flags *flag.FlagSet, usage string, allowed ...format.Syntax) *syntaxName {
	f := syntaxName{allowed: allowed}
	flags.Var(&f, "syntax", fmt.Sprintf("`name` of a syntax, one of %s, %s", f.names(), usage))
	return &f
}

// exportSyntax is the flag of commands that write files.
func exportSyntax(flags *flag.FlagSet) *syntaxName {
	return syntaxFlag(flags, "in which --format writes the placeholders of the text", format.Syntaxes()...)
}

func (f *syntaxName) names() string {
	names := make([]string, len(f.allowed))
	for i, s := range f.allowed {
		names[i] = string(s)
	}
	return strings.Join(names, ", ")
}

func (f *syntaxName) String() string { return string(f.Syntax) }

// Set reads a name.
func (f *syntaxName) Set(s string) error {
	if !slices.Contains(f.allowed, format.Syntax(s)) {
		return errors.New("want one of " + f.names())
	}
	f.Syntax = format.Syntax(s)
	return nil
}

// of refuses a syntax without a format.
func (f *syntaxName) of(as *formatName) error {
	if f.Syntax != "" && as.Format == "" {
		return command.UsageError("--syntax goes with --format: a text is printed as it is")
	}
	return nil
}

func export(ctx context.Context, std command.Streams, c *caller, as writing, to string) error {
	remote, err := c.client()
	if err != nil {
		return err
	}
	write := func(mine client.Prompt) error {
		mine, err := remote.WithVersions(ctx, mine)
		if err != nil {
			return err
		}
		lines := json.NewEncoder(std.Out)
		lines.SetEscapeHTML(false)
		return lines.Encode(mine)
	}
	if to != "" {
		if err := os.MkdirAll(to, 0o777); err != nil {
			return err
		}
		folder, err := os.OpenRoot(to) // a link in it does not lead out of it
		if err != nil {
			return err
		}
		defer folder.Close()
		write = func(mine client.Prompt) error { return as.save(ctx, std, remote, folder, mine) }
	}
	p := command.NewProgress(std.Err, "prompts", 0)
	n := 0
	for mine, err := range remote.Mine(ctx) {
		if err == nil {
			err = write(mine)
		}
		if err != nil {
			return errors.Join(err, errors.New("the export is not complete"))
		}
		n++
		p.At(n)
	}
	p.Done(n)
	return nil
}

// save writes one prompt into a folder, by its slug.
func (as writing) save(ctx context.Context, std command.Streams, remote *client.Client,
	to *os.Root, mine client.Prompt,
) error {
	named := mine.Document
	named.Name = cmp.Or(mine.Slug, mine.Name)
	name := as.Format.Path(named)
	b, err := as.file(ctx, std, remote, mine.ID, 0, mine.Title)
	if err != nil {
		return err
	}
	if folder := format.KernelFolder(mine.Name, b); folder != "" && as.Format == format.SemanticKernel {
		text, config, err := format.SplitKernel(b)
		if err == nil && config != nil {
			err = writeNew(to, path.Join(folder, format.KernelConfig), config)
		}
		return cmp.Or(err, writeNew(to, path.Join(folder, format.KernelText), text))
	}
	return writeNew(to, name, b)
}

// writeNew writes a file that is not there yet.
func writeNew(to *os.Root, name string, b []byte) error {
	if err := to.MkdirAll(path.Dir(name), 0o777); err != nil {
		return fmt.Errorf("%s cannot be written, name another folder: %w", filepath.Join(to.Name(), name), err)
	}
	f, err := to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already and stays: name another folder", filepath.Join(to.Name(), name))
	}
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Close())
}

// print prints a prompt.
func (as writing) print(ctx context.Context, std command.Streams, remote *client.Client, f client.Found) error {
	b, err := as.file(ctx, std, remote, f.ID, f.Version, f.Name)
	if err != nil {
		return err
	}
	_, err = std.Out.Write(b)
	return err
}

// file returns a prompt as a file and tells what is lost. The service makes it: it has the files
// that versions were made of.
func (as writing) file(ctx context.Context, std command.Streams, remote *client.Client, id string, version int64,
	name string,
) ([]byte, error) {
	b, loss, err := remote.File(ctx, id, version, as.Format, as.Syntax)
	if err != nil {
		return nil, fmt.Errorf("%.60s: %w", name, err)
	}
	if loss != "" {
		fmt.Fprintf(std.Err, "%.60s: %s cannot hold %s\n", name, as.Format, loss)
	}
	return b, nil
}
