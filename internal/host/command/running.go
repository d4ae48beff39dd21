package command

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/storage/embedded"
	"prompthub/internal/storage/table"
)

// The embedded store belongs to one process. A command that wants something of the store while that
// process runs asks it, by a socket in the directory of the store.

const (
	maxSocketPath = 103 // bytes, on the system that allows the fewest
	// notSoon is for how long a command may wait for the first byte of an answer. A backup is whole
	// before its first byte is sent.
	notSoon = backupWithin + time.Minute
)

// InUse reports whether a store was not opened because another process has it open.
func InUse(err error) bool { return errors.Is(err, embedded.ErrInUse) }

// A Verify compares what is in a store with the truth, has found look at each difference, and
// returns how many rows it compared. The queues tell for which rows a message is under way. What
// found gets must be readable by the command that asked: text, of which it prints a line, unless
// the application has a command of its own.
type Verify func(ctx context.Context, v View, found func(difference any), progress func(rows int)) (rows int, err error)

// OnItsWay is a difference that work which is still to be done will mend, such as that of a
// message. In a store that stands still it is told and is no fault; in one that is in use it is not
// told.
type OnItsWay string

// A verifiedLine is a line of the answer to a request for a verification: a difference, how far it
// is, or the end.
type verifiedLine struct {
	Found json.RawMessage `json:"found,omitempty"`
	Rows  int             `json:"rows"`
	Done  bool            `json:"done,omitempty"`
	Error string          `json:"error,omitempty"`
}

// answers is what the process does for commands that ask it.
func (r running) answers() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /status", http.HandlerFunc(r.tellStatus))
	mux.Handle("POST /do/{command}", http.HandlerFunc(r.doAsked))
	if r.backups != nil {
		mux.Handle("GET /backup", r.backups)
		if r.app.Verify != nil { // it takes its turn with backups
			mux.Handle("GET /verify", http.HandlerFunc(r.tellVerified))
		}
	}
	return mux
}

// tellVerified compares the store of one moment with its truth. The file keeps meanwhile what is
// deleted, so it may take no longer than a backup, and waits for none.
func (r running) tellVerified(w http.ResponseWriter, req *http.Request) {
	end, free := r.backups.turn()
	if !free {
		refuseAsked(w, req, fault.Coded(fault.Conflict, BackupRunning,
			"a backup is being made, or another verification; ask again when it has ended"))
		return
	}
	defer end()
	ctx, cancel := context.WithTimeout(req.Context(), r.backups.within)
	defer cancel()
	t := teller{http.NewResponseController(w), json.NewEncoder(w), cancel}
	tell := func(l verifiedLine) { t.tell(l) }
	w.Header().Set("Content-Type", "application/jsonl")
	last := verifiedLine{Done: true}
	var err error
	last.Rows, err = r.verify(ctx, func(difference any) {
		if text, err := json.Marshal(difference); err == nil {
			tell(verifiedLine{Found: text})
		}
	}, func(rows int) { tell(verifiedLine{Rows: rows}) })
	if err != nil {
		last.Error = err.Error()
	}
	end() // before the caller has its answer, so that it may ask again
	tell(last)
}

// verify compares the store of one moment. If rows may differ while a change is under way, it finds
// only what is the same in the store of a later moment.
func (r running) verify(ctx context.Context, found func(any), progress func(int)) (rows int, err error) {
	look := func(found func(any)) error {
		return r.store.Snapshot(func(v View) (err error) {
			if rows, err = r.app.Verify(ctx, v, found, progress); errors.Is(err, table.ErrDamaged) {
				return r.nameDamaged(ctx, v, found, err)
			}
			return err
		})
	}
	if r.app.Settles == 0 {
		err = look(found)
		return rows, err
	}
	err = LookTwice(look, func() error {
		progress(rows)
		return Sleep(ctx, r.app.Settles)
	}, found)
	return rows, err
}

// LookTwice tells the differences that look finds before and after a wait, for a store that is in
// use: a change under way makes one that the second look does not find. It tells no OnItsWay.
func LookTwice(look func(found func(difference any)) error, wait func() error, found func(difference any)) error {
	suspects := map[any]bool{}
	err := look(func(d any) {
		if _, waits := d.(OnItsWay); !waits {
			suspects[d] = true
		}
	})
	if err != nil || len(suspects) == 0 {
		return err
	}
	if err := wait(); err != nil {
		return err
	}
	return look(func(d any) {
		if suspects[d] {
			found(d)
		}
	})
}

// nameDamaged finds the rows that are damaged, over which a verification stopped with an error.
func (r running) nameDamaged(ctx context.Context, v View, found func(any), stopped error) error {
	for _, name := range r.app.Tables {
		for _, err := range table.All(ctx, v.Tables, name, table.Range{}) {
			d := (*table.DamagedError)(nil)
			switch {
			case errors.As(err, &d):
				found(
					fmt.Sprintf("%s %s: the row is damaged; restore a backup into an empty directory. Nothing else was compared", name, d.Key))
				stopped = nil
			case err != nil:
				return err
			}
		}
	}
	return stopped
}

// AskVerify has the process that has the store in dir open verify it. Found gets each difference as
// the JSON of what the Verify of the process found.
func (s Service) AskVerify(ctx context.Context, dir string, found func(json.RawMessage) error,
	progress func(rows int),
) (rows int, err error) {
	err = s.ask(ctx, dir, http.MethodGet, "/verify", http.NoBody, func(body *bufio.Reader) error {
		lines := json.NewDecoder(body)
		for {
			var l verifiedLine
			if err := lines.Decode(&l); err != nil {
				return fmt.Errorf("the verification was cut off, ask again: %w", err)
			}
			switch {
			case l.Error != "":
				return errors.New(l.Error)
			case l.Done:
				rows = l.Rows
				return nil
			case l.Found != nil:
				if err := found(l.Found); err != nil {
					return err
				}
			default:
				progress(l.Rows)
			}
		}
	})
	return rows, err
}

// An askedLine is a line of the answer to a command that has the process do its work: what it
// writes to one of its streams, or the end.
type askedLine struct {
	Out   string `json:"out,omitempty"`
	Err   string `json:"err,omitempty"`
	Done  bool   `json:"done,omitempty"`
	Error string `json:"error,omitempty"`
}

// maxAsked is how many bytes the arguments of a command may have.
const maxAsked = 64 << 10

// doAsked does the work of a command on the store that the process has open. It ends when the
// command goes away.
func (r running) doAsked(w http.ResponseWriter, req *http.Request) {
	do := r.app.work(req.PathValue("command"), r.store)
	var args []string
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxAsked)).Decode(&args); err != nil || do == nil {
		http.Error(w, "no such command", http.StatusNotFound)
		return
	}
	ctx, cancel := context.WithCancel(req.Context())
	defer cancel()
	t := teller{http.NewResponseController(w), json.NewEncoder(w), cancel}
	w.Header().Set("Content-Type", "application/jsonl")
	_ = t.c.Flush() // the work may take longer than a command waits for an answer to begin
	tell := func(l askedLine) { t.tell(l) }
	last := askedLine{Done: true}
	switch err := do(ctx, Streams{
		Out: told(func(text string) { tell(askedLine{Out: text}) }),
		Err: told(func(text string) { tell(askedLine{Err: text}) }),
	}, args); {
	case err != nil && req.Context().Err() != nil:
		last.Error = "the process that has the store open ends; run the same command again"
	case err != nil:
		last.Error = err.Error()
	}
	tell(last)
}

// told is a stream of which each text is told.
type told func(text string)

func (t told) Write(b []byte) (int, error) {
	t(string(b))
	return len(b), nil
}

// A teller tells a command one line after the other, and gives up when that has gone.
type teller struct {
	c      *http.ResponseController
	lines  *json.Encoder
	giveUp func()
}

func (t teller) tell(line any) {
	_ = t.c.SetWriteDeadline(time.Now().Add(sendWithin))
	if t.lines.Encode(line) != nil || t.c.Flush() != nil {
		t.giveUp()
	}
}

// AskTo has the process that has the store in dir open do the work of a command. What that writes
// comes to std.
func (s Service) AskTo(ctx context.Context, dir string, std Streams, name string, args ...string) error {
	text, err := json.Marshal(args)
	if err != nil {
		return err
	}
	return s.ask(ctx, dir, http.MethodPost, "/do/"+name, bytes.NewReader(text), func(body *bufio.Reader) error {
		lines := json.NewDecoder(body)
		for {
			var l askedLine
			if err := lines.Decode(&l); err != nil {
				return fmt.Errorf("the answer was cut off, run the same command again: %w", err)
			}
			switch {
			case l.Error != "":
				return errors.New(l.Error)
			case l.Done:
				return nil
			}
			_, err1 := io.WriteString(std.Out, l.Out)
			_, err2 := io.WriteString(std.Err, l.Err)
			if err := errors.Join(err1, err2); err != nil {
				return err
			}
		}
	})
}

// socketFile returns where in dir the socket is.
func (s Service) socketFile(dir string) string { return filepath.Join(dir, s.Name+".sock") }

// listenForCommands opens the socket of a store that this process has open, so that one which is
// there is of a process that is gone. Only the user who runs the process may use it.
func (s Service) listenForCommands(dir string) (net.Listener, error) {
	path := s.socketFile(dir)
	if len(path) > maxSocketPath {
		return nil,
			fmt.Errorf("the path of %s has more than %d bytes, which a socket cannot have; give --data a shorter one",
				path, maxSocketPath)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	case info.Mode().IsRegular() || info.IsDir():
		return nil, fmt.Errorf("%s is no socket; move it away", path)
	default:
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// serveCommands answers commands until ctx ends. Where it cannot, the log says why, and a backup
// needs a stop.
func (s Service) serveCommands(ctx context.Context, dir string, r running, log *slog.Logger) error {
	if r.store.Snapshot == nil {
		return nil
	}
	l, err := s.listenForCommands(dir)
	if err != nil {
		log.WarnContext(ctx, "no backup and no status by commands while this runs: stop it for that",
			slog.String("error", err.Error()))
		return nil
	}
	return serve(ctx, l, r.answers(), log)
}

// ask asks the process that has the store in dir open, and has read read its answer.
func (s Service) ask(ctx context.Context, dir, method, path string, send io.Reader,
	read func(*bufio.Reader) error,
) error {
	socket := s.socketFile(dir)
	var dialer net.Dialer
	client := http.Client{Transport: &http.Transport{
		ResponseHeaderTimeout: notSoon,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		},
	}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, method, "http://store"+path, send)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return fmt.Errorf("the process that has the store open answers no command at %s, and its log says why; end it, and try again then: %w", socket, op.Err)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := bufio.NewReaderSize(resp.Body, 1<<16)
	if resp.StatusCode != http.StatusOK {
		var problem struct{ Detail, Code string }
		if err := json.NewDecoder(body).Decode(&problem); err != nil {
			return fmt.Errorf("the process that has the store open answered %s; is it of the same version?",
				resp.Status)
		}
		return fmt.Errorf("%s (%s)", problem.Detail, problem.Code)
	}
	return read(body)
}
