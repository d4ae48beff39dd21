package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/table"
	"prompthub/internal/telemetry"
)

const (
	// lowRoom is the share of a disk below which an operator is warned.
	lowRoom = 0.1
	// sweptWithin is how old a complete pass of anti-entropy may be. One begins each day.
	sweptWithin = 3 * 24 * time.Hour
	// firstBackup is how long after its start a service may have written none.
	firstBackup = backupWithin
	// lateBackup is how many times the time between two backups the newest one may be old.
	lateBackup = 2
)

// A Status is what an operator wants to know of a service at one look.
type Status struct {
	Version string    `json:"version"`
	Commit  string    `json:"commit"`
	Started time.Time `json:"started,omitzero"` // of the process; zero where none runs

	RowsVersion int    `json:"rowsVersion"` // of the rows that the program writes
	Store       string `json:"store"`       // where the data is

	FileBytes int64 `json:"fileBytes,omitempty"` // of the embedded store
	Disk      Room  `json:"disk,omitzero"`       // on which that is

	Tables []Count     `json:"tables,omitempty"` // only where rows are counted
	Queues []QueueLoad `json:"queues"`

	Backups *Backups `json:"backups,omitempty"` // nil where a running service cannot write some

	Swept time.Time `json:"swept,omitzero"` // since when anti-entropy has seen every row
}

// A Room is the size of a disk, and the part that the user of the process may still fill, in bytes.
type Room struct {
	Size uint64 `json:"sizeBytes"`
	Free uint64 `json:"freeBytes"`
}

// Low reports whether so little is free that somebody must make room.
func (r Room) Low() bool { return r.Size > 0 && float64(r.Free) < lowRoom*float64(r.Size) }

// A Count is the number of rows in a table.
type Count struct {
	Table string `json:"table"`
	Rows  int    `json:"rows"`
}

// A QueueLoad is the number of messages on a queue, and of those that were set aside because they
// failed again and again.
type QueueLoad struct {
	Queue   string `json:"queue"`
	Waiting int    `json:"waiting"`
	Poison  int    `json:"poison"`
}

// Backups is what a running service has written of backups by itself.
type Backups struct {
	Every  Duration  `json:"everySeconds"`    // 0: it has not been told to write any
	Newest time.Time `json:"newest,omitzero"` // when the newest was begun
}

// A Duration is a time.Duration that JSON has in seconds.
type Duration time.Duration

// MarshalJSON writes seconds.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).Seconds()) }

// UnmarshalJSON reads seconds.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var seconds float64
	err := json.Unmarshal(b, &seconds)
	*d = Duration(seconds * float64(time.Second))
	return err
}

// A Fact is a line of a Status for people. Alert says what somebody must do about it; it is empty
// where all is well.
type Fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Alert string `json:"alert,omitempty"`
}

// ill reports whether a fact has an alert.
func (f Fact) ill() bool { return f.Alert != "" }

// Facts returns a status line by line, as it is at a time.
func (s Status) Facts(now time.Time) []Fact {
	facts := []Fact{{Name: "Version", Value: strings.TrimSpace(s.Version + " " + s.Commit)}}
	if !s.Started.IsZero() {
		facts = append(facts, Fact{Name: "Running for", Value: span(now.Sub(s.Started))})
	}
	if s.RowsVersion > 0 {
		facts = append(facts, Fact{Name: "Version of the rows", Value: fmt.Sprint(s.RowsVersion)})
	}
	facts = append(facts, Fact{Name: "Data is in", Value: s.Store})
	if s.FileBytes > 0 {
		facts = append(facts, Fact{Name: "File", Value: size(uint64(s.FileBytes))})
	}
	if s.Disk.Size > 0 {
		f := Fact{Name: "Free on its disk", Value: size(s.Disk.Free) + " of " + size(s.Disk.Size)}
		if s.Disk.Low() {
			f.Alert = "Make room: less than a tenth of the disk is free, and a full disk stops all changes."
		}
		facts = append(facts, f)
	}
	for _, t := range s.Tables {
		facts = append(facts, Fact{Name: "Rows in " + t.Table, Value: fmt.Sprint(t.Rows)})
	}
	for _, q := range s.Queues {
		f := Fact{Name: "Queue " + q.Queue, Value: fmt.Sprintf("%d waiting, %d set aside", q.Waiting, q.Poison)}
		if q.Poison > 0 {
			f.Alert = "Read in the log why its jobs fail, mend that, and send the messages again with the command redrive."
		}
		facts = append(facts, f)
	}
	if s.Backups != nil {
		facts = append(facts, s.backup(now))
	}
	return append(facts, s.sweep(now))
}

// backup returns the line about the backups that the service writes by itself.
func (s Status) backup(now time.Time) Fact {
	f := Fact{Name: "Newest backup"}
	every, age := time.Duration(s.Backups.Every), now.Sub(s.Backups.Newest)
	switch {
	case every == 0:
		f.Value, f.Alert = "none, as the service writes none by itself",
			"Start the service with --backup-dir, or make sure that something else runs the command backup."
	case !s.Backups.Newest.IsZero():
		f.Value = fmt.Sprintf("%s old, and the next is due %s after it", span(age), span(every))
		if age > lateBackup*every {
			f.Alert = "Read in the log why no newer backup was written."
		}
	default:
		f.Value = "none yet"
		if now.Sub(s.Started) > firstBackup {
			f.Alert = "Read in the log why no backup was written."
		}
	}
	return f
}

// sweep returns the line about anti-entropy.
func (s Status) sweep(now time.Time) Fact {
	f := Fact{Name: "All rows compared"}
	age := now.Sub(s.Swept)
	if s.Swept.IsZero() {
		f.Value = "not yet"
		return f
	}
	f.Value = span(age) + " ago"
	if age > sweptWithin {
		f.Alert = "Read in the log why the timer function of anti-entropy fails or does not run."
	}
	return f
}

// span says how long something is in the largest unit that fits.
func span(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}} {
		if n := int(d / u.unit); n > 0 {
			return plural(n, u.name)
		}
	}
	return plural(int(max(d, 0)/time.Second), "second")
}

func plural(n int, name string) string {
	if n == 1 {
		return "1 " + name
	}
	return fmt.Sprintf("%d %ss", n, name)
}

// size says how many bytes there are in a unit that fits.
func size(n uint64) string {
	if n >= 1e9 {
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// A running is a service that runs, or the store of one that does not.
type running struct {
	service Service
	app     App
	store   Store
	started time.Time
	backups *backups // nil where there are none
	plan    schedule
}

// status returns the state. It counts rows where it is asked to, for which it reads all of them.
func (r running) status(ctx context.Context, rows bool) (s Status, err error) {
	s = Status{Started: r.started, RowsVersion: r.app.RowsVersion, Store: r.store.Where}
	s.Version, s.Commit = Built()
	if r.backups != nil {
		s.Backups = new(Backups)
		if r.plan.into != "" {
			s.Backups.Every = Duration(r.plan.every)
			if s.Backups.Newest, err = r.plan.newest(); err != nil {
				return s, err
			}
		}
	}
	if r.store.File != "" {
		info, err := os.Stat(r.store.File)
		if err != nil {
			return s, err
		}
		s.FileBytes = info.Size()
		if s.Disk, err = roomAt(r.store.File); err != nil {
			return s, err
		}
	}
	for _, name := range r.app.queues() {
		q := QueueLoad{Queue: name}
		var errs [2]error
		q.Waiting, errs[0] = r.store.Queues.Len(ctx, name)
		q.Poison, errs[1] = r.store.Queues.Len(ctx, queue.Poison(name))
		if err := errors.Join(errs[:]...); err != nil {
			return s, err
		}
		s.Queues = append(s.Queues, q)
	}
	if r.app.Swept != nil {
		if s.Swept, err = r.app.Swept(ctx); err != nil {
			return s, err
		}
	}
	if rows {
		s.Tables, err = r.count(ctx)
	}
	return s, err
}

// facts returns the state line by line, without the rows.
func (r running) facts(ctx context.Context) ([]Fact, error) {
	s, err := r.status(ctx, false)
	return s.Facts(time.Now()), err
}

// gauges returns what is measured of the state.
func (r running) gauges() []telemetry.Gauge {
	since := func(at time.Time, err error) (float64, bool, error) { return float64(at.Unix()), !at.IsZero(), err }
	all := []telemetry.Gauge{{
		Name: "started", Unit: "s", About: "When the process began, since 1970",
		Read: func(context.Context) (float64, bool, error) { return since(r.started, nil) },
	}}
	if r.store.File != "" {
		all = append(all, telemetry.Gauge{
			Name: "store.size", Unit: "By", About: "The size of the file of the store",
			Read: func(context.Context) (float64, bool, error) {
				info, err := os.Stat(r.store.File)
				if err != nil {
					return 0, false, err
				}
				return float64(info.Size()), true, nil
			},
		}, r.disk("disk.size", "The size of the disk of the store", func(d Room) uint64 { return d.Size }),
			r.disk("disk.free", "What is free of the disk of the store", func(d Room) uint64 { return d.Free }))
	}
	if r.plan.into != "" {
		all = append(all, telemetry.Gauge{
			Name: "backup.newest", Unit: "s", About: "When the newest backup was begun, since 1970",
			Read: func(context.Context) (float64, bool, error) { return since(r.plan.newest()) },
		})
	}
	if r.app.Swept != nil {
		all = append(all, telemetry.Gauge{
			Name: "swept", Unit: "s",
			About: "Since when anti-entropy has compared every row with the truth, since 1970",
			Read:  func(ctx context.Context) (float64, bool, error) { return since(r.app.Swept(ctx)) },
		})
	}
	return all
}

// disk is a gauge of the disk.
func (r running) disk(name, about string, of func(Room) uint64) telemetry.Gauge {
	return telemetry.Gauge{Name: name, Unit: "By", About: about, Read: func(context.Context) (float64, bool, error) {
		d, err := roomAt(r.store.File)
		return float64(of(d)), err == nil, err
	}}
}

// lookAtRoom is how often a service looks how much of its disk is free.
const lookAtRoom = time.Hour

// warnOfRoom logs a warning while little of the disk is free, until ctx ends.
func (r running) warnOfRoom(ctx context.Context, log *slog.Logger) {
	if r.store.File == "" {
		return
	}
	for {
		if d, err := roomAt(r.store.File); err != nil {
			log.WarnContext(ctx, "the room on the disk is not known", slog.String("error", err.Error()))
		} else if d.Low() {
			log.WarnContext(ctx,
				"less than a tenth of the disk of the store is free, and a full disk stops all changes: make room",
				slog.String("store", r.store.Where), slog.Uint64("free_bytes", d.Free),
				slog.Uint64("size_bytes", d.Size))
		}
		if Sleep(ctx, lookAtRoom) != nil {
			return
		}
	}
}

// count counts the rows of each table at one moment where the storage can.
func (r running) count(ctx context.Context) (counts []Count, err error) {
	snapshot := r.store.Snapshot
	if snapshot == nil {
		snapshot = func(do func(View) error) error { return do(r.store.now()) }
	}
	err = snapshot(func(v View) error {
		for _, name := range r.app.Tables {
			n := 0
			for _, err := range table.All(ctx, v.Tables, name, table.Range{}) {
				if err != nil {
					return err
				}
				n++
			}
			counts = append(counts, Count{name, n})
		}
		return nil
	})
	return counts, err
}

// tellStatus answers a command that asks for the state.
func (r running) tellStatus(w http.ResponseWriter, req *http.Request) {
	s, err := r.status(req.Context(), req.URL.Query().Has("rows"))
	if err != nil {
		refuseAsked(w, req, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(s) // a command that is gone needs no answer
}

// StatusCommand shows the state of a service, which it asks for it where the embedded store is in
// use.
func (s Service) StatusCommand() Command {
	return Command{
		Name: "status", Short: "show the state of the service and its store at one look",
		Long: "Prints version, size and room of the store, messages that wait and that were set aside, and the age of the newest backup\n" +
			"and of the last comparison of all rows with the truth. What somebody must look after is told after a \"!\", and\n" +
			"the exit code is 1 then. Asks the running service by the socket next to the store, where there is one.",
		Setup: func(flags *flag.FlagSet) Action {
			data := DataFlag(flags)
			rows := flags.Bool("rows", false, "count the rows of each table, for which all are read")
			asJSON := flags.Bool("json", false, "print JSON")
			return func(ctx context.Context, std Streams, _ []string) error {
				st, err := s.statusOf(ctx, *data, *rows)
				if err != nil {
					return fmt.Errorf("status: %w", err)
				}
				return st.print(std.Out, *asJSON, time.Now())
			}
		},
	}
}

// statusOf returns the state of the service that has the store in dir open, or of the store.
func (s Service) statusOf(ctx context.Context, dir string, rows bool) (st Status, err error) {
	set, build, err := s.read()
	if err != nil {
		return st, err
	}
	store, err := s.OpenExisting(dir, set.QueuePrefix)
	if InUse(err) {
		path := "/status"
		if rows {
			path += "?rows"
		}
		err = s.ask(ctx, dir, http.MethodGet, path, http.NoBody, func(body *bufio.Reader) error {
			return json.NewDecoder(body).Decode(&st)
		})
		return st, err
	}
	if err != nil {
		return st, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	a := build(set, store, slog.New(slog.DiscardHandler), nil)
	return running{service: s, app: a, store: store}.status(ctx, rows)
}

// errAlerts ends a status in which somebody must look after something.
var errAlerts = errors.New("status: somebody must look after what is marked")

func (s Status) print(w io.Writer, asJSON bool, now time.Time) error {
	facts := s.Facts(now)
	var err error
	if asJSON {
		err = json.NewEncoder(w).Encode(s)
	} else {
		err = writeFacts(w, facts)
	}
	if err == nil && slices.ContainsFunc(facts, Fact.ill) {
		return errAlerts
	}
	return err
}

// writeFacts writes facts for people, with alerts below those that have one.
func writeFacts(w io.Writer, facts []Fact) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, f := range facts {
		fmt.Fprintf(t, "%s\t%s\n", f.Name, f.Value)
		if f.ill() {
			fmt.Fprintf(t, "\t! %s\n", f.Alert)
		}
	}
	return t.Flush()
}
