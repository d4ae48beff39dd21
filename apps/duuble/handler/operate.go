package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"

	"prompthub/apps/duuble/internal/backup"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/internal/host/command"
	"prompthub/internal/storage/table"
)

const (
	application = "duuble"
	alone       = "\n\nWorks on the store itself: \"handler local\" must not run on the same data, unless that is a storage account."
)

// onStore opens a store and runs do on it.
func onStore(open func(dir, queuePrefix string) (command.Store, error), data string, std command.Streams, do func(*duuble) error) (err error) {
	s, err := readSettings()
	if err != nil {
		return err
	}
	st, err := open(data, s.QueuePrefix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	log := slog.New(slog.NewTextHandler(std.Err, &slog.HandlerOptions{Level: slog.LevelWarn}))
	d, err := build(s, st, log, nil, func(do func()) { do() })
	if err != nil {
		return err
	}
	fmt.Fprintf(std.Err, "Data is in %s\n", st.Where)
	return do(d)
}

// backed are the tables of a backup, by the names that they have without a prefix.
func (d *duuble) backed() []backup.Table {
	t := d.tables
	return []backup.Table{
		{Name: "Users", Stored: t.Users},
		{Name: "Names", Stored: t.Names},
		{Name: "Posts", Stored: t.Posts},
		{Name: "Lists", Stored: t.Lists},
		{Name: "Notifications", Stored: t.Notifications},
		{Name: "Sessions", Stored: t.Sessions},
		{Name: "Hubs", Stored: t.Hubs},
		{Name: "Admin", Stored: t.Admin},
	}
}

// sums are the rows of counts and boxes, which change with each change of what they count.
var sums = backup.IsSum("c|", "!k|", "!n|", "k|", "b|")

func (d *duuble) backup(ctx context.Context, tables table.DB, w io.Writer, _ func(string)) (int, error) {
	return backup.Write(ctx, tables, application, d.backed(), sums, w)
}

func backupCommand() command.Command {
	return command.Command{
		Name: "backup", Args: []string{"FILE"}, Short: "write the whole store as JSON Lines",
		Long: `Writes every row to FILE, which appears when it is complete ("-" is standard output). The keys are not in it: keep a
copy of them elsewhere. While "handler local" has the embedded store open, that writes the backup of one moment.`,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, args []string) error {
				rows := 0
				write := func(w io.Writer) error {
					err := onStore(service().OpenExisting, *data, std, func(d *duuble) (err error) {
						rows, err = d.backup(ctx, d.DB, w, nil)
						return err
					})
					if command.InUse(err) {
						var said command.Backed
						said, err = service().AskBackup(ctx, *data, w)
						rows = said.Rows
					}
					return err
				}
				var err error
				if args[0] == "-" {
					err = write(std.Out)
				} else {
					err = command.WriteFile(args[0], write)
				}
				if err == nil {
					fmt.Fprintf(std.Err, "%d rows\n", rows)
				}
				return err
			}
		},
	}
}

func restoreCommand() command.Command {
	return command.Command{
		Name: "restore", Args: []string{"FILE"}, Short: "read a backup into an empty store",
		Long: `Reads what backup wrote from FILE ("-" is standard input), and writes the rows that follow. The keys must be those that
the data was sealed with: set SECRET_KEYS and VOTE_KEYS, or put ` + keysFile + ` into the directory first. If it fails, empty the
store before the next try.` + alone,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, args []string) error {
				in := io.NopCloser(std.In)
				if args[0] != "-" {
					file, err := os.Open(args[0])
					if err != nil {
						return err
					}
					in = file
				}
				defer in.Close()
				return onStore(service().OpenStore, *data, std, func(d *duuble) error {
					err := d.make(ctx)
					rows := 0
					if err == nil {
						rows, err = backup.Read(ctx, d.DB, application, d.backed(), in)
					}
					if err == nil {
						err = d.people.CheckKeys(ctx)
					}
					if err == nil {
						err = d.people.Repair(ctx)
					}
					if err == nil {
						err = d.posts.Repair(ctx)
					}
					if err == nil {
						err = d.hubs.Repair(ctx)
					}
					if err == nil {
						err = d.talks.Repair(ctx)
					}
					if err == nil {
						fmt.Fprintf(std.Err, "%d rows\n", rows)
					}
					return err
				})
			}
		},
	}
}

func verifyCommand() command.Command {
	return command.Command{
		Name: "verify", Short: "compare accounts, lists, counts and votes with what they follow from",
		Long: `Prints each difference; the exit code is 1 if there is one. It needs the keys, and opens every box of votes: a box that no
key opens is told of with the number of its votes, which is no difference. While people use the service it may report what
is on its way.` + alone,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, _ []string) error {
				return onStore(service().OpenExisting, *data, std, func(d *duuble) error { return d.verify(ctx, std) })
			}
		},
	}
}

func (d *duuble) verify(ctx context.Context, std command.Streams) error {
	n := 0
	report := func(what string) {
		n++
		fmt.Fprintln(std.Out, what)
	}
	if _, err := d.people.VerifyRows(ctx, report); err != nil {
		return err
	}
	if _, err := d.posts.VerifyRows(ctx, report); err != nil {
		return err
	}
	if _, err := d.hubs.VerifyRows(ctx, report); err != nil {
		return err
	}
	if err := d.talks.VerifyRows(ctx, report); err != nil {
		return err
	}
	checked, err := d.ballot.Verify(ctx, func(found ballot.Difference) { report("post " + found.Post + ": " + found.Text) })
	if err != nil {
		return err
	}
	if checked.Lost > 0 {
		fmt.Fprintf(std.Err, "%d votes wait for ever in boxes that none of VOTE_KEYS opens\n", checked.Lost)
	}
	fmt.Fprintf(std.Err, "%d posts with votes, %d votes\n", checked.Posts, checked.Votes)
	if n > 0 {
		return fmt.Errorf("verify: differences: %d", n)
	}
	fmt.Fprintln(std.Err, "no difference")
	return nil
}

func settleCommand() command.Command {
	return command.Command{
		Name: "settle", Short: "count votes that wait, as far as groups can be made, and seal the others under the newest key",
		Long: "Does now what the timer does each hour, for all posts: votes that are younger than SETTLE_AFTER go on waiting. Run it\nbefore an old key of VOTE_KEYS goes." + alone,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, _ []string) error {
				return onStore(service().OpenExisting, *data, std, func(d *duuble) error { return d.ballot.SettleAll(ctx) })
			}
		},
	}
}

func purgeCommand() command.Command {
	return command.Command{
		Name: "purge", Short: "remove for good what was deleted longer than KEEP_DELETED ago",
		Long: "Does now what the timer does each hour: posts with all that is around them, comments, follows,\nblocks, memberships, requests and invitations that have ended, the accounts of people who have left,\nand old activities and notifications." + alone,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, _ []string) error {
				return onStore(service().OpenExisting, *data, std, func(d *duuble) error { return d.posts.Purge(ctx) })
			}
		},
	}
}

func eraseCommand() command.Command {
	return command.Command{
		Name: "erase", Args: []string{"USER"}, Short: "remove the account of a person for good, now",
		Long: `Does at once what happens 30 days after a person has left, to the account with the id USER: profile, number, posts and comments
go, and the name goes off votes, which stay counted, and messages. Nothing brings it back. It also does what purge does. Backups
that were made before still hold it, and the id stays in rows that say when something is due, until then. Discussions of the posts
go with the next purge that comes 5 minutes later or more.` + alone,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, args []string) error {
				return onStore(service().OpenExisting, *data, std, func(d *duuble) error { return d.posts.Erase(ctx, args[0]) })
			}
		},
	}
}

func rekeyCommand() command.Command {
	return command.Command{
		Name: "rekey", Short: "name all phone numbers by the first of SECRET_KEYS, so that the others may go",
		Long: `Put a new key first in SECRET_KEYS, stop every process that works on the data, run this, and set the new key alone. Codes
that are on their way end. If it stops before its end, no process starts until it was run again with the same keys.` + alone,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, _ []string) error {
				return onStore(service().OpenExisting, *data, std, func(d *duuble) error {
					users, err := d.people.Rekey(ctx, d.hubs.Rekey)
					if err == nil {
						fmt.Fprintf(std.Err, "The numbers of %d accounts have names by the first key. Set it alone before the next start.\n", users)
					}
					return err
				})
			}
		},
	}
}

func promoteCommand() command.Command {
	return command.Command{
		Name: "promote", Args: []string{"PHONE", "HUB"}, Short: "make the person with a number a super_admin of a hub that has no one to manage it",
		Long: `For a hub whose super_admins have all left Duuble. The person must have an account, and becomes a member of the hub where
the person is none. The command refuses a hub that has a super_admin.` + alone,
		Setup: func(flags *flag.FlagSet) command.Action {
			data := command.DataFlag(flags)
			return func(ctx context.Context, std command.Streams, args []string) error {
				return onStore(service().OpenExisting, *data, std, func(d *duuble) error { return d.hubs.Promote(ctx, args[0], args[1]) })
			}
		},
	}
}
