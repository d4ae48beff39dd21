package command

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
)

const completionHelp = `Prints a script with which a shell completes commands, flags and files.

  bash   source <(%[1]s completion bash)                       in ~/.bashrc
  zsh    source <(%[1]s completion zsh)                        in ~/.zshrc
  fish   %[1]s completion fish > ~/.config/fish/completions/%[1]s.fish`

// completion is a command of every program.
func (p Program) completion() Command {
	self := p.self()
	return Command{
		Name: "completion", Args: []string{"SHELL"},
		Short: "print a script that completes commands and flags in bash, zsh or fish",
		Long:  fmt.Sprintf(completionHelp, self),
		Setup: func(*flag.FlagSet) Action {
			return func(_ context.Context, std Streams, args []string) error {
				switch args[0] {
				case "bash":
					return p.bash(std.Out)
				case "zsh":
					if _, err := io.WriteString(std.Out,
						"autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n"); err != nil {
						return err
					}
					return p.bash(std.Out)
				case "fish":
					return p.fish(std.Out)
				}
				return UsageError(fmt.Sprintf("completion: %q is none of bash, zsh and fish", args[0]))
			}
		},
	}
}

// all returns the commands of the program, and those of every program.
func (p Program) all() []Command {
	return append(p.Commands[:len(p.Commands):len(p.Commands)], p.completion())
}

// flagsOf calls do with each flag of a command.
func flagsOf(c Command, do func(*flag.Flag)) {
	flags := c.flags()
	c.Setup(flags)
	flags.VisitAll(do)
}

func (p Program) bash(w io.Writer) error {
	self := p.self()
	var names []string
	var cases strings.Builder
	for _, c := range p.all() {
		names = append(names, c.Name)
		var flags []string
		flagsOf(c, func(f *flag.Flag) { flags = append(flags, "--"+f.Name) })
		fmt.Fprintf(&cases, "    %s) flags=%q ;;\n", c.Name, strings.Join(flags, " "))
	}
	_, err := fmt.Fprintf(w, `_%[1]s() {
  local word=${COMP_WORDS[COMP_CWORD]} flags=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W %[2]q -- "$word"))
    return
  fi
  case ${COMP_WORDS[1]} in
    help) COMPREPLY=($(compgen -W %[2]q -- "$word")); return ;;
    completion) COMPREPLY=($(compgen -W "bash zsh fish" -- "$word")); return ;;
%[3]s  esac
  case $word in
    -*) COMPREPLY=($(compgen -W "$flags -h" -- "$word")) ;;
  esac
}
complete -o default -F _%[1]s %[1]s
`, self, strings.Join(append(names, "help"), " "), cases.String())
	return err
}

func (p Program) fish(w io.Writer) error {
	self := p.self()
	var b strings.Builder
	quoted := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'" }
	for _, c := range p.all() {
		fmt.Fprintf(&b, "complete -c %s -n __fish_use_subcommand -f -a %s -d %s\n", self, c.Name, quoted(c.Short))
		flagsOf(c, func(f *flag.Flag) {
			value, usage := flag.UnquoteUsage(f)
			takes := ""
			if value != "" { // no boolean
				takes = " -r"
			}
			fmt.Fprintf(&b, "complete -c %s -n '__fish_seen_subcommand_from %s' -l %s%s -d %s\n", self, c.Name,
				f.Name, takes, quoted(usage))
		})
	}
	fmt.Fprintf(&b, "complete -c %s -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'\n", self)
	_, err := io.WriteString(w, b.String())
	return err
}
