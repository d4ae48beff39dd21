package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"prompthub/internal/host/command"
	"prompthub/internal/prompthub/cli/client"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
)

const nameHelp = `
NAME is the name, slug or id of a prompt of yours, or with --workspace of one of the workspace; @HANDLE/NAME is one of another user
or a workspace, by the handle or by the authorId that search --json prints.`

const refHelp = nameHelp + ` NAME@LABEL, NAME@latest and NAME@3
name a version. Where none is named, it is `

const callerHelp = `

The address and a token come from flags, from PROMPTHUB_URL and PROMPTHUB_TOKEN, or from config.json in the directory
prompthub of the user's configuration (PROMPTHUB_CONFIG names another file): {"url": …, "token": …}, readable by its owner alone.
For a service in developer mode a name takes the place of a token: --user, PROMPTHUB_USER, or "user" in the file.`

// columns writes columns for people to read.
func columns(w io.Writer, rows [][]string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(t, strings.Join(row, "\t"))
	}
	return t.Flush()
}

// jsonFlag is the flag --json; docs/cli.md says what each command prints with it.
func jsonFlag(flags *flag.FlagSet) *bool { return flags.Bool("json", false, "print JSON") }

func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// values is the flag --var, given once for each variable.
type values map[string]string

func (v values) String() string { return "" }

// Set reads NAME=VALUE.
func (v values) Set(s string) error {
	name, value, ok := strings.Cut(s, "=")
	if !ok || name == "" {
		return errors.New("want NAME=VALUE")
	}
	v[name] = value
	return nil
}

// limitFlag is the flag --limit, of as many as a page has at most.
func limitFlag(flags *flag.FlagSet, what string) *int {
	limit := 20
	flags.Func("limit", "most `"+what+"`, up to 100 (default 20)", func(s string) (err error) {
		if limit, err = strconv.Atoi(s); err != nil || limit < 1 || limit > 100 {
			return errors.New("want a number from 1 to 100")
		}
		return nil
	})
	return &limit
}

// asking returns a command that calls a service.
func asking(c command.Command,
	do func(flags *flag.FlagSet, asJSON *bool) func(ctx context.Context, std command.Streams, remote *client.Client,
		args []string) error,
) command.Command {
	c.Long += callerHelp
	c.Setup = func(flags *flag.FlagSet) command.Action {
		who := callerFlags(flags)
		if c.Name != "fork" { // which makes a prompt of the caller's own
			who.workspaceFlag(flags)
		}
		run := do(flags, jsonFlag(flags))
		return func(ctx context.Context, std command.Streams, args []string) error {
			remote, err := who.client()
			if err != nil {
				return err
			}
			err = run(ctx, std, remote, args)
			if client.IsUnknown(err) && strings.HasPrefix(c.Args[0], "NAME") {
				return meant(ctx, remote, args[0], err)
			}
			return err
		}
	}
	return c
}

// meant returns the error about a prompt that is not there, with those that its name may mean.
func meant(ctx context.Context, remote *client.Client, name string, err error) error {
	r, refused := prompt.ParseRef(name)
	if refused != nil {
		return err
	}
	like, failed := remote.Like(ctx, r)
	if failed != nil {
		return err
	}
	if slices.ContainsFunc(like, func(f client.Found) bool {
		return f.Mine && (f.Name == r.Name || f.Slug == r.Name)
	}) {
		return fmt.Errorf("%q: %w; \"versions %s\" lists its versions and labels", name, err, r.Name)
	}
	var b strings.Builder
	switch _, isID := prompt.ParseID(r.Name); {
	case isID, r.Owner != "":
		fmt.Fprintf(&b, "%q: %v", name, err)
	case remote.Workspace() != "":
		fmt.Fprintf(&b, "the workspace has no prompt %q", r.Name)
	default:
		fmt.Fprintf(&b, "you have no prompt %q", r.Name)
	}
	for i, f := range like {
		if i == 0 {
			b.WriteString("; did you mean")
		}
		fmt.Fprintf(&b, "\n  %s   %.60s, by %.40s", f.Address, f.Title, f.AuthorName)
	}
	return errors.New(b.String())
}

type asked = func(context.Context, command.Streams, *client.Client, []string) error

func getCommand() command.Command {
	return asking(command.Command{
		Name: "get", Args: []string{"NAME"}, Short: "print the text of a prompt, filled in with --var",
		Long: "Prints the text of a prompt and nothing else, byte for byte; on a terminal, control characters as \\u001b. With --var or --fill its variables are filled in: those without a\nvalue by their defaults. Every value that is missing is named at once. With --format it prints a file of another program,\nand says on standard error what such a file cannot hold. Of a chat it prints the contents of the messages, with --json the messages\ntoo.\n\nWith -o it writes the files of the version into a folder, which appears when it is complete, and with --zip as an archive: of a prompt\nof a text alone a SKILL.md. Scripts are named: read them before you run them." + refHelp + "that with the label production, or else the latest.",
	}, func(flags *flag.FlagSet, asJSON *bool) asked {
		vars := values{}
		flags.Var(vars, "var", "`NAME=VALUE` of a variable; once for each")
		fill := flags.Bool("fill", false, "fill in the defaults, without a --var too")
		as := formatFlag(flags, format.Formats())
		syntax := exportSyntax(flags)
		dir := flags.String("o", "",
			"`folder` to write the files of the version into; it must be empty, or not there yet")
		zip := flags.String("zip", "", "`file` to write them into as a ZIP archive; it must not be there yet")
		force := flags.Bool("force", false, "with -o or --zip, replace what is there; files in the folder that the version does not have stay, and are told")
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			if err := syntax.of(as); err != nil {
				return err
			}
			written := *dir != "" || *zip != ""
			if written && (*dir != "" && *zip != "" || len(vars) > 0 || *fill || *asJSON || as.Format != "") ||
				*force && !written {
				return command.UsageError("get: one of -o and --zip writes files as they are: leave out --var, --fill, --format and --json; --force goes with one of them")
			}
			if as.Format != "" && (len(vars) > 0 || *fill || *asJSON) {
				return command.UsageError(
					"get: a file of --format has the text as it is: leave out --var, --fill and --json")
			}
			f, err := get(ctx, remote, args[0])
			if err == nil && written {
				return getFolder(ctx, std, remote, f, *dir, *zip, *force)
			}
			if err == nil && as.Format != "" {
				return writing{as.Format, syntax.Syntax}.print(ctx, std, remote, f)
			}
			said := f.Said
			if err == nil && (len(vars) > 0 || *fill) {
				said, err = remote.Render(ctx, f, vars)
			}
			if err != nil {
				return err
			}
			if *asJSON {
				all := map[string]any{
					"id": f.ID, "name": f.Name, "title": f.Title,
					"version": f.Version, "text": said.Words(),
				}
				if len(said.Messages) > 0 {
					all["messages"] = said.Messages
				}
				if f.Config != nil {
					all["config"] = f.Config
				}
				return printJSON(std.Out, all)
			}
			_, err = io.WriteString(std.Out, said.Words())
			return err
		}
	})
}

func get(ctx context.Context, remote *client.Client, name string) (client.Found, error) {
	r, err := ref(name)
	if err != nil {
		return client.Found{}, err
	}
	return remote.Get(ctx, r)
}

func ref(name string) (prompt.Ref, error) {
	r, err := prompt.ParseRef(name)
	if err != nil {
		return r, command.UsageError(err.Error())
	}
	return r, nil
}

func searchCommand() command.Command {
	return asking(command.Command{
		Name: "search", Args: []string{"[WORD...]"}, Short: "list prompts that have the words",
		Long: "Lists public prompts, your own and those of your workspaces that have the words, the best match first: one that lacks some comes after those that have them.\nWithout a word it lists the newest public ones, and with an order of votes public ones that have all words. With --in title the words\nare looked for in titles alone.\n\n" + prompt.QueryDoc + ".\n\nQuote them for the shell, and write -- before words that begin with -. Other commands take the id of each, and the name of your own.",
	}, func(flags *flag.FlagSet, asJSON *bool) asked {
		mine := flags.Bool("mine", false, "my own prompts instead, private ones too")
		limit := limitFlag(flags, "prompts")
		in := ""
		flags.Func("in",
			"`where` the words are looked for: text, which is titles and texts (without --in too), or title",
			func(s string) error {
				if in = s; s != "text" && s != "title" {
					return errors.New("want text or title")
				}
				return nil
			})
		var tags []string
		flags.Func("tag", "only prompts with this `tag`; once for each", func(s string) error {
			tags = append(tags, s)
			return nil
		})
		author := flags.String("author", "", "only prompts of the author with this `handle`")
		sort := flags.String("sort", "", "`order`: relevance, which is the default with words, newest, which is the default without, most-liked, hot, best or trending; of your own prompts relevance, newest, updated or title")
		verbatim := flags.Bool("verbatim", false, "only the words as they are: not in other forms, and not as known ones in place of a word that no prompt has")
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			inOne := remote.Workspace() != ""
			if inOne && (*mine || *author != "") {
				return command.UsageError(
					"search: the prompts of a workspace are searched by themselves: leave out --mine and --author")
			}
			*mine = *mine || inOne
			if *verbatim && (*mine || *author != "") {
				return command.UsageError("search: your own prompts alone and those of an author are found by all forms of words: leave out --verbatim")
			}
			if *author != "" && (*mine || *sort != "") {
				return command.UsageError("search: the prompts of an author come newest first: leave out --mine and --sort, or write author:HANDLE among the words")
			}
			page, err := remote.Search(ctx, client.Search{
				Words: strings.Join(args, " "), Tags: tags, In: in, Sort: *sort,
				Author: strings.TrimPrefix(*author, "@"), Mine: *mine, Limit: *limit, Verbatim: *verbatim,
				All: !*mine && *author == "" && len(args) > 0 &&
					slices.Contains([]string{"", "relevance", "newest"}, *sort),
			})
			if err != nil {
				return err
			}
			for _, u := range page.Understood {
				if u.Instead {
					fmt.Fprintf(std.Err,
						"no prompt has %q: searching for %s; --verbatim searches for the word as it is\n",
						u.Word, strings.Join(u.As, " or "))
				}
			}
			if page.Partial {
				fmt.Fprintln(std.Err, "the service is still reading prompts, so some may be missing")
			}
			if page.LeftOut {
				fmt.Fprintln(std.Err, "of your workspaces, the ten that were made last were searched: --workspace HANDLE searches another")
			}
			rows := [][]string{{"ID", "NAME", "VERSION", "VOTES", "BY", "TITLE"}}
			for _, f := range page.Items {
				if *asJSON {
					if err := printJSON(std.Out, f.Raw); err != nil {
						return err
					}
				}
				version := fmt.Sprintf("v%d", f.Version)
				if f.Production > 0 && f.Production != f.Version {
					version += fmt.Sprintf(", production v%d", f.Production)
				}
				rows = append(rows, []string{f.ID, f.Slug, version, fmt.Sprint(f.Score), f.AuthorName, f.Title})
			}
			switch {
			case *asJSON:
				return nil
			case len(page.Items) == 0:
				where := "public prompts, your own and those of your workspaces"
				switch {
				case inOne:
					where = "the prompts of the workspace"
				case *mine:
					where = "your own prompts"
				case *author != "":
					where = "the public prompts of @" + strings.TrimPrefix(*author, "@")
				case len(args) == 0 || *sort != "" && *sort != "relevance" && *sort != "newest":
					where = "public prompts"
				}
				fmt.Fprintf(std.Err, "nothing found among %s\n", where)
				return nil
			}
			return columns(std.Out, rows)
		}
	})
}

func saveCommand() command.Command {
	return asking(command.Command{
		Name: "save", Args: []string{"FILE"},
		Short: "make a file the text of a prompt, or a folder its files: a new one, or a new version of one",
		Long:  "Makes the text in FILE (\"-\" is standard input) that of the prompt with the name: a new prompt, or a new version of the one that\nthere is. The same text again changes nothing. Without --name it is the name of the file without what follows its last dot.\nA name with @ is refused: other commands read a label or a version behind it.\n\nA FILE that is a folder is a skill: its SKILL.md says name and description, and all that is below it becomes the files of the version.\nOnly contents that the latest version lacks are sent. Links and devices are refused; left out are .git, node_modules, __pycache__,\n.venv, __MACOSX, .DS_Store, Thumbs.db and desktop.ini. It prints each file that differs (+ added, ~ changed, - removed, x another\nexecutable bit), and which are scripts.",
	}, func(flags *flag.FlagSet, asJSON *bool) asked {
		var s format.Document
		flags.StringVar(&s.Name, "name", "", "`name` of the prompt")
		flags.StringVar(&s.Title, "title", "", "`title`; of a new prompt without one, the name")
		flags.StringVar(&s.Message, "message", "", "`why` the text is as it is")
		flags.Func("label", "`label` to put on the version; once for each", func(label string) error {
			s.Labels = append(s.Labels, label)
			return nil
		})
		public := flags.Bool("public", false, "publish it")
		tags := flags.String("tags", "", "`tags` of the catalog, separated by commas")
		ownTags := flags.String("own-tags", "", "`tags` of your own, separated by commas, in no public list")
		dryRun := flags.Bool("dry-run", false, "of a folder, tell what would be saved, and send nothing")
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			if *tags != "" {
				s.Tags = strings.Split(*tags, ",")
			}
			if *ownTags != "" {
				s.OwnTags = strings.Split(*ownTags, ",")
			}
			if strings.Contains(s.Name, "@") {
				return errAt(s.Name)
			}
			if isFolder(args[0]) {
				return saveFolder(ctx, std, remote, args[0], client.FolderDraft{
					Name: s.Name, Title: s.Title, Message: s.Message, Labels: s.Labels, Tags: s.Tags,
					OwnTags: s.OwnTags, Public: *public, DryRun: *dryRun,
				}, *asJSON)
			}
			if *dryRun {
				return command.UsageError("save: --dry-run is of a folder")
			}
			text, err := readFile(std.In, args[0])
			if err != nil {
				return err
			}
			if !utf8.Valid(text) {
				return fmt.Errorf("save: %s is not valid UTF-8: write it in UTF-8 first", args[0])
			}
			s.Text = string(text)
			if s.Name == "" && args[0] != "-" {
				base := filepath.Base(args[0])
				s.Name = strings.TrimSuffix(base, filepath.Ext(base))
			}
			if s.Name == "" {
				return command.UsageError("save: a text from standard input needs a --name")
			}
			if strings.Contains(s.Name, "@") {
				return errAt(s.Name)
			}
			if *public {
				s.Visibility = string(prompt.Public)
			}
			saved, err := remote.Save(ctx, s)
			if err != nil {
				return err
			}
			f := saved.Found
			if *asJSON {
				return printJSON(std.Out, f.Raw)
			}
			if format.HasFrontMatter(text) {
				fmt.Fprintf(std.Err, "the text begins with front matter, which is a part of the prompt now: to have it read, as pull and export write it, import %s\n", args[0])
			}
			if told := (prompt.Content{Text: string(text)}).MistypedInclude(); told != "" {
				fmt.Fprintln(std.Err, told)
			}
			if lost := (prompt.Content{Text: string(text)}).Template().Lost; len(lost) > 0 {
				fmt.Fprintf(std.Err, "a prompt has at most %d variables: %d more stay text, the first is %s\n",
					prompt.MaxVariables, len(lost), lost[0])
			}
			tellSaved(ctx, std, remote, saved)
			_, err = fmt.Fprintf(std.Out, "%s@%d %s (%s)\n", f.Name, f.Version, told(saved), f.ID)
			return err
		}
	})
}

func errAt(name string) error {
	return command.UsageError(fmt.Sprintf(
		"save: other commands would read what follows @ in %q as a label or a version: give a --name without it", name))
}

// tellSaved tells whose a new prompt is, and of a new version that programs get another one.
func tellSaved(ctx context.Context, std command.Streams, remote *client.Client, s client.Saved) {
	f := s.Found
	if s.Outcome == client.Created {
		hint := ""
		if f.Visibility == string(prompt.Private) {
			hint = ": save it with --public to share it"
		}
		fmt.Fprintf(std.Err, "it is %s's, and %s%s\n", f.AuthorName, f.Visibility, hint)
	}
	if s.Outcome != client.Created && !s.NewVersion {
		if why, err := remote.WhyRecalled(ctx, f.ID, f.Version); err == nil && why != "" {
			fmt.Fprintf(std.Err, "version %d was recalled, and stays so: %s; take that back on the page of the version, or save a change\n", f.Version, why)
		}
	}
	if s.NewVersion {
		released, err := remote.Get(ctx, prompt.Ref{Name: f.Name, Label: prompt.Production})
		if err == nil && released.Version != f.Version {
			fmt.Fprintf(std.Err, "programs still get version %d: to release this one, label %s@%d production, or propose it on the page of the prompt where a rule asks for that\n", released.Version, f.Name, f.Version)
		}
	}
}

// told says what a save changed, such as "updated" for a new version, or "is public now".
func told(s client.Saved) string {
	var list []string
	if s.Outcome != client.Updated || s.NewVersion {
		list = append(list, s.Outcome.String())
	}
	for _, member := range s.Changed {
		switch member {
		case "visibility":
			list = append(list, "is "+s.Found.Visibility+" now")
		case "title":
			list = append(list, "has another title now")
		case "tags":
			list = append(list, "has other tags now")
		}
	}
	if len(list) == 0 { // of what the library keeps and no command shows
		return s.Outcome.String()
	}
	return strings.Join(list, " and ")
}

func versionsCommand() command.Command {
	return asking(command.Command{
		Name: "versions", Args: []string{"NAME"}, Short: "list the versions of a prompt and their labels",
		Long: "Lists the versions of a prompt, the newest first, with their labels and why they were made or\nrecalled." + nameHelp,
	}, func(flags *flag.FlagSet, asJSON *bool) asked {
		limit := limitFlag(flags, "versions")
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			r, err := ref(args[0])
			if err != nil {
				return err
			}
			versions, err := remote.Versions(ctx, r, *limit)
			if err != nil {
				return err
			}
			rows := [][]string{{"VERSION", "CREATED", "LABELS", "MESSAGE"}}
			for _, v := range versions {
				if *asJSON {
					if err := printJSON(std.Out, v); err != nil {
						return err
					}
				}
				message := v.Message
				if v.Recall != nil {
					message = "recalled: " + v.Recall.Reason
				}
				rows = append(rows, []string{fmt.Sprint(v.Version), v.CreatedAt, strings.Join(v.Labels, ","), message})
			}
			if *asJSON {
				return nil
			}
			return columns(std.Out, rows)
		}
	})
}

func diffCommand() command.Command {
	return asking(command.Command{
		Name: "diff", Args: []string{"NAME[@FROM]", "[TO]"},
		Short: "print what differs between two versions, or a folder and the library, as diff -u does",
		Long:  "Prints what differs between two versions of a prompt. FROM and TO are versions or labels, such as production and latest,\nwhich is TO where it is left out. NAME alone prints the last change: what differs between its last two versions. With the\npath of a folder instead (./NAME), it prints what differs between its files and your prompts; see pull." + nameHelp,
	}, func(_ *flag.FlagSet, asJSON *bool) asked {
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			if len(args) == 1 && isFolder(args[0]) {
				return diffFolder(ctx, std, remote, args[0], *asJSON)
			}
			if len(args) == 1 && isPath(args[0]) {
				return command.UsageError(
					fmt.Sprintf("diff: %s is no folder: name a folder, or NAME@VERSION of a prompt", args[0]))
			}
			from, to, err := compared(args)
			if err == nil && from == to && len(args) == 1 {
				from, err = lastBefore(ctx, std, remote, to)
			}
			if err != nil {
				return err
			}
			text, err := remote.Diff(ctx, from, to)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(std.Out, map[string]string{"diff": text})
			}
			_, err = io.WriteString(std.Out, text)
			return err
		}
	})
}

// lastBefore returns the version before the latest one of a prompt, or says that there is none and
// returns the latest.
func lastBefore(ctx context.Context, std command.Streams, remote *client.Client, r prompt.Ref) (prompt.Ref, error) {
	versions, err := remote.Versions(ctx, r, 2)
	if err != nil {
		return r, err
	}
	if len(versions) == 1 {
		fmt.Fprintf(std.Err, "%s has one version: nothing was changed yet\n", r.Name)
	}
	r.Label, r.Version = "", versions[len(versions)-1].Version
	return r, nil
}

// compared reads which two contents of a prompt must be compared: of a name alone, twice the latest
// one.
func compared(args []string) (from, to prompt.Ref, err error) {
	alone := len(args) == 1
	if len(args) == 3 { // as one may say it, too
		args = []string{args[0] + "@" + args[1], args[2]}
	}
	if len(args) == 1 {
		args = append(args, prompt.Latest)
	}
	if len(args) != 2 {
		return from, to, command.UsageError(`diff: name two versions, as in "greeting@1 2", or a folder`)
	}
	if from, err = ref(args[0]); err != nil {
		return from, to, err
	}
	if from.Version == 0 && from.Label == "" {
		if alone {
			from.Label = prompt.Latest
			return from, from, nil
		}
		return from, to, command.UsageError(fmt.Sprintf(`diff: %[1]q names no version: write "%[1]s@1 2", "%[1]s@1" for what came after, or "%[1]s" for the last change`, args[0]))
	}
	name := args[0][:strings.LastIndexByte(args[0], '@')+1]
	which := strings.TrimPrefix(args[1], name)
	if strings.Contains(which, "@") {
		return from, to, command.UsageError(`diff: name two versions of one prompt, as in "greeting@1 2"`)
	}
	to, err = ref(name + which)
	return from, to, err
}

func labelCommand() command.Command {
	return asking(command.Command{
		Name: "label", Args: []string{"NAME@VERSION", "LABEL"},
		Short: "put a label on a version of a prompt, or take it away",
		Long:  "Puts a label on the version that is named: \"label greeting@3 production\" has programs get version 3. With --remove the label\nis taken from the prompt." + refHelp + "the latest.",
	}, func(flags *flag.FlagSet, asJSON *bool) asked {
		remove := flags.Bool("remove", false, "take the label away")
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			r, err := ref(args[0])
			if err != nil {
				return err
			}
			f, err := remote.Label(ctx, r, args[1], *remove)
			switch {
			case err != nil:
				return err
			case *asJSON:
				return printJSON(std.Out, map[string]any{
					"id": f.ID, "name": f.Name, "label": args[1],
					"version": f.Version, "removed": *remove,
				})
			case *remove:
				_, err = fmt.Fprintf(std.Out, "%s: no %s any more\n", f.Name, args[1])
			default:
				_, err = fmt.Fprintf(std.Out, "%s: %s is version %d\n", f.Name, args[1], f.Version)
			}
			return err
		}
	})
}

func recallCommand() command.Command {
	return asking(command.Command{
		Name: "recall", Args: []string{"NAME@VERSION"},
		Short: "withdraw a version of a prompt from all programs, with a reason",
		Long: "Withdraws a version that should not be used any more: programs get the version that was in production before it, or\n" +
			"none, and one that asks for this version is told the reason. With --undo programs get it again. Only a version can be\n" +
			"recalled, so name its number: greeting@3." + nameHelp,
	}, func(flags *flag.FlagSet, asJSON *bool) asked {
		reason := flags.String("reason", "",
			"why, in one `line` of at most 500 characters, which everybody reads who can see the prompt")
		undo := flags.Bool("undo", false, "take the recall back")
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			r, err := ref(args[0])
			switch {
			case err != nil:
				return err
			case r.Version == 0:
				return command.UsageError("recall: name the version by its number, as in greeting@3")
			case *undo == (*reason != ""):
				return command.UsageError("recall: say why with --reason, or take a recall back with --undo")
			}
			var f client.Found
			told := "recalled: programs do not get it any more"
			if *undo {
				told = "is not recalled any more"
				f, err = remote.Reinstate(ctx, r)
			} else {
				f, err = remote.Recall(ctx, r, *reason)
			}
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(std.Out, map[string]any{
					"id": f.ID, "name": f.Name,
					"version": f.Version, "recalled": !*undo,
				})
			}
			_, err = fmt.Fprintf(std.Out, "%s@%d %s\n", f.Name, f.Version, told)
			return err
		}
	})
}

func forkCommand() command.Command {
	return asking(command.Command{
		Name: "fork", Args: []string{"NAME"}, Short: "make a private copy of a prompt that knows where it comes from",
		Long: "Makes a private copy of a prompt of yours or another user's, which can follow what is changed there: see upstream. The same\nfork again is the one that was made." + refHelp + "the latest.",
	}, func(_ *flag.FlagSet, asJSON *bool) asked {
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			r, err := ref(args[0])
			if err != nil {
				return err
			}
			f, err := remote.Fork(ctx, r)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(std.Out, f.Raw)
			}
			_, err = fmt.Fprintf(std.Out, "%s@%d forked from %s (%s)\n", f.Name, f.Version, args[0], f.ID)
			return err
		}
	})
}

func copyCommand() command.Command {
	return asking(command.Command{
		Name: "copy", Args: []string{"NAME", "WORKSPACE"},
		Short: "copy a prompt into a workspace, with its versions and labels",
		Long:  "Copies a prompt of yours, or with --workspace of another workspace, into the workspace with the handle WORKSPACE: its versions keep\ntheir numbers and files, and it is private there. Labels that a rule of the workspace keeps for proposals are left out, which is told on standard\nerror. The same again goes on where it was cut short." + nameHelp,
	}, func(_ *flag.FlagSet, asJSON *bool) asked {
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			r, err := ref(args[0])
			if err != nil {
				return err
			}
			to := strings.TrimPrefix(args[1], "@")
			f, isNew, loss, err := remote.Copy(ctx, r, to)
			if err != nil {
				return err
			}
			if len(loss) > 0 {
				fmt.Fprintf(std.Err, "the copy has not: %s\n", strings.Join(loss, ", "))
			}
			if *asJSON {
				return printJSON(std.Out, f.Raw)
			}
			what := "unchanged"
			if isNew {
				what = "copied"
			}
			_, err = fmt.Fprintf(std.Out, "@%s/%s@%d %s (%s)\n", to, f.Name, f.Version, what, f.ID)
			return err
		}
	})
}

func upstreamCommand() command.Command {
	return asking(command.Command{
		Name: "upstream", Args: []string{"NAME"},
		Short: "print or merge what was changed in the prompt that a fork comes from",
		Long:  "Prints what was changed in the prompt that a fork of yours comes from, as diff -u does, and nothing where nothing was.\nWith --merge it becomes a new version of the fork, line by line. Where both changed the same that is refused, and told: change\nyours and run it with --take mine, or take theirs.",
	}, func(flags *flag.FlagSet, asJSON *bool) asked {
		merge := flags.Bool("merge", false, "merge it")
		take := flags.String("take", "", "`side` to take, mine or theirs, instead of merging line by line")
		return func(ctx context.Context, std command.Streams, remote *client.Client, args []string) error {
			r, err := ref(args[0])
			if err != nil {
				return err
			}
			if *merge || *take != "" {
				f, err := remote.MergeUpstream(ctx, r, *take)
				if err != nil {
					return err
				}
				if *asJSON {
					return printJSON(std.Out, f.Raw)
				}
				_, err = fmt.Fprintf(std.Out, "%s@%d\n", f.Name, f.Version)
				return err
			}
			text, err := remote.Upstream(ctx, r)
			if err != nil {
				return err
			}
			if *asJSON {
				return printJSON(std.Out, map[string]string{"diff": text})
			}
			_, err = io.WriteString(std.Out, text)
			return err
		}
	})
}
