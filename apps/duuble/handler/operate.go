package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"regexp"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/ballot"
	"prompthub/apps/duuble/internal/due"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/host/command"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/belong"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

const (
	application = "duuble"
	alone       = "\n\nWorks on the store itself: \"handler local\" must not run on the same data, unless that is a storage account."
	running     = "\n\nWhile \"handler local\" has the embedded store open, that does it."
)

// onStore opens a store and runs do on it.
func onStore(open func(dir, queuePrefix string) (command.Store, error), data string, std command.Streams,
	do func(*duuble) error,
) (err error) {
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

// contents say what a backup has. The keys are in none, and neither is what opens an account.
func contents(s settings) *backup.Contents {
	t := s.Tables
	return &backup.Contents{
		Application: application, Prefix: s.ContainerPrefix,
		Tables: []backup.Table{
			{Name: "Users", Stored: t.Users},
			{Name: "Posts", Stored: t.Posts},
			{Name: "Lists", Stored: t.Lists},
			{Name: "Notifications", Stored: t.Notifications},
			{
				Name: "Sessions", Stored: t.Sessions,
				Out: "sessions, codes and counts of what callers ask for: people sign in anew",
			},
			{Name: "Hubs", Stored: t.Hubs},
			{Name: "Admin", Stored: t.Admin, Without: []string{belong.Partition}},
			// The rows that name a picture come before it, as names come before their reservations: so while
			// others write, a backup has the picture of each thing that it has.
			{Name: "Names", Stored: t.Names, Names: assets.Named},
		},
		Containers: []string{assets.Container},
		// Counts and boxes change with each change of what they count.
		Sums: backup.IsSum("c|", "!k|", "!n|", "k|", "b|"),
	}
}

// repair writes the rows that follow from those of a backup, once it knows that the keys are those
// of the data.
func (d *duuble) repair(ctx context.Context) error {
	for _, repair := range []func(context.Context) error{
		d.people.CheckKeys, d.people.Repair, d.assets.Repair,
		d.posts.Repair, d.hubs.Repair, d.talks.Repair,
	} {
		if err := repair(ctx); err != nil {
			return err
		}
	}
	return nil
}

// verify compares all rows of a store, which may be that of a moment ago.
func (d *duuble) verify(ctx context.Context, found func(any), progress func(int)) (rows int, err error) {
	waiting, err := d.waiting(ctx)
	if err != nil {
		return 0, err
	}
	report := func(what string) {
		if waiting[anID.FindString(what)] {
			found(command.OnItsWay(what))
			return
		}
		found(what)
	}
	for _, verify := range []func(context.Context, func(string)) (int, error){
		d.people.VerifyRows, d.posts.VerifyRows, d.hubs.VerifyRows,
	} {
		n, err := verify(ctx, report)
		if err != nil {
			return rows, err
		}
		rows += n
		progress(rows)
	}
	if err := d.talks.VerifyRows(ctx, report); err != nil {
		return rows, err
	}
	checked, err := d.ballot.Verify(ctx, func(one ballot.Difference) { report("post " + one.Post + ": " + one.Text) })
	if checked.Lost > 0 {
		d.Log.WarnContext(ctx, "votes wait for ever in boxes that none of VOTE_KEYS opens",
			slog.Int64("votes", checked.Lost))
	}
	return rows + checked.Votes, err
}

// anID finds the id of the thing that a difference or a message is of.
var anID = regexp.MustCompile(`[0-9A-Za-z-]{26,36}`)

// waiting returns the ids of things that wait for work: messages of queues and due rows name them,
// with the authors of such posts and the voters of whom their lists were not told yet.
func (d *duuble) waiting(ctx context.Context) (map[string]bool, error) {
	ids := map[string]bool{}
	note := func(text string) {
		for _, id := range anID.FindAllString(text, -1) {
			ids[id] = true
		}
	}
	for _, name := range append(posts.Queues(), people.Queues()...) {
		texts, err := d.queues.Peek(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, text := range texts {
			note(text)
		}
	}
	// How long after its time a thing is due: most count from when something ended.
	after := map[string]time.Duration{
		"end": 0, "expire": 0, "name": people.NameLasts, "asset": assets.UnusedFor,
	}
	now := d.Now()
	for row, err := range table.All(ctx, d.DB, d.tables.Admin,
		table.Range{FromPartition: "due|", ToPartition: table.After("due|")}) {
		if err != nil {
			return nil, err
		}
		kind, _, _ := strings.Cut(strings.TrimPrefix(row.Partition, "due|"), "|")
		wait, known := after[kind]
		if !known {
			wait = d.people.Keep
		}
		if at := due.At(row); people.IsAgain(row) || !at.IsZero() && at.Before(now.Add(-wait)) {
			note(row.Row)
		}
	}
	for id := range maps.Clone(ids) {
		for _, r := range []table.Range{table.Prefix(schema.Post(id), "!post"), table.Prefix(schema.Post(id), "o|")} {
			for row, err := range table.All(ctx, d.DB, d.tables.Posts, r) {
				if err != nil {
					return nil, err
				}
				if note(row.Props.Get("author_id").Str()); strings.HasPrefix(row.Row, "o|") {
					note(fmt.Sprint(row.Props)) // the voters
				}
			}
		}
	}
	return ids, nil
}

// verifyNow is the work of a timer. A store that is too large for one run is no fault: an alert
// each night would help no operator.
func (d *duuble) verifyNow(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	differ, err := d.lookTwice(ctx)
	switch {
	case differ > 0:
		return fmt.Errorf("%d rows are not as they must be: the command verify tells which", differ)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		d.Log.WarnContext(ctx, "rows were not compared to the end, for want of time: run the command verify")
		return nil
	}
	return err
}

// lookTwice looks at all rows twice, and logs and counts those alone that differ both times.
func (d *duuble) lookTwice(ctx context.Context) (differ int, err error) {
	look := func(found func(any)) error {
		_, err := d.verify(ctx, found, func(int) {})
		return err
	}
	err = command.LookTwice(look, func() error { return d.Sleep(ctx, settles) }, func(difference any) {
		differ++
		d.Log.ErrorContext(ctx, "rows differ", slog.Any("difference", difference))
	})
	return differ, err
}

// asked is the work of commands.
func (d *duuble) asked() map[string]command.Action {
	return map[string]command.Action{
		"settle": func(ctx context.Context, _ command.Streams, _ []string) error { return d.ballot.SettleAll(ctx) },
		"purge":  func(ctx context.Context, _ command.Streams, _ []string) error { return d.posts.Purge(ctx) },
		"erase": func(ctx context.Context, _ command.Streams, args []string) error {
			return with(args, 1, func() error { return d.posts.Erase(ctx, args[0]) })
		},
		"promote": func(ctx context.Context, _ command.Streams, args []string) error {
			return with(args, 2, func() error { return d.hubs.Promote(ctx, args[0], args[1]) })
		},
	}
}

// with does the work of a command that has sent n arguments.
func with(args []string, n int, do func() error) error {
	if len(args) != n {
		return errors.New("the command sends other arguments: is it of the same version?")
	}
	return do()
}

func settleCommand() command.Command {
	return command.Command{
		Name:  "settle",
		Short: "count votes that wait, as far as groups can be made, and seal the others under the newest key",
		Long:  "Does now what the timer does each hour, for all posts: votes that are younger than SETTLE_AFTER go on waiting. Run it\nbefore an old key of VOTE_KEYS goes." + running,
		Setup: service().Work("settle", nil),
	}
}

func purgeCommand() command.Command {
	return command.Command{
		Name: "purge", Short: "remove for good what was deleted longer than KEEP_DELETED ago",
		Long:  "Does now what the timer does each hour: posts with all that is around them, comments, follows,\nblocks, memberships, requests and invitations that have ended, the accounts of people who have left,\nand old activities and notifications." + running,
		Setup: service().Work("purge", nil),
	}
}

func eraseCommand() command.Command {
	return command.Command{
		Name: "erase", Args: []string{"USER"}, Short: "remove the account of a person for good, now",
		Long: `Does at once what happens 30 days after a person has left, to the account with the id USER: profile, number, posts and comments
go, and the name goes off votes, which stay counted, and messages. Nothing brings it back. It also does what purge does. Backups
that were made before still hold it, and the id stays in rows that say when something is due, until then. Discussions of the posts
go with the next purge that comes 5 minutes later or more.` + running,
		Setup: service().Work("erase", nil),
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
		Name: "promote", Args: []string{"PHONE", "HUB"},
		Short: "make the person with a number a super_admin of a hub that has no one to manage it",
		Long: `For a hub whose super_admins have all left Duuble. The person must have an account, and becomes a member of the hub where
the person is none. The command refuses a hub that has a super_admin.` + running,
		Setup: service().Work("promote", nil),
	}
}
