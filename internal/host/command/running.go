package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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

// A Verify compares what is in tables with the truth, has found look at each difference, and
// returns how many rows it compared. What found gets must be readable by the command that asked.
type Verify func(ctx context.Context, tables table.DB, found func(difference any), progress func(rows int)) (rows int, err error)

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
	select {
	case r.backups.one <- struct{}{}:
		defer func() { <-r.backups.one }()
	default:
		refuseAsked(w, req, fault.Coded(fault.Conflict, BackupRunning, "a backup is being made, or another verification; ask again when it has ended"))
		return
	}
	ctx, cancel := context.WithTimeout(req.Context(), r.backups.within)
	defer cancel()
	c, lines := http.NewResponseController(w), json.NewEncoder(w)
	tell := func(l verifiedLine) {
		_ = c.SetWriteDeadline(time.Now().Add(sendWithin))
		if lines.Encode(l) != nil || c.Flush() != nil {
			cancel() // the command has gone
		}
	}
	w.Header().Set("Content-Type", "application/jsonl")
	last := verifiedLine{Done: true}
	err := r.store.Snapshot(func(tables table.DB) (err error) {
		last.Rows, err = r.app.Verify(ctx, tables, func(difference any) {
			if text, err := json.Marshal(difference); err == nil {
				tell(verifiedLine{Found: text})
			}
		}, func(rows int) { tell(verifiedLine{Rows: rows}) })
		return err
	})
	if err != nil {
		last.Error = err.Error()
	}
	tell(last)
}

// AskVerify has the process that has the store in dir open verify it. Found gets each difference as
// the JSON of what the Verify of the process found.
func (s Service) AskVerify(ctx context.Context, dir string, found func(json.RawMessage) error, progress func(rows int)) (rows int, err error) {
	err = s.ask(ctx, dir, "/verify", func(body *bufio.Reader) error {
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

// socketFile returns where in dir the socket is.
func (s Service) socketFile(dir string) string { return filepath.Join(dir, s.Name+".sock") }

// listenForCommands opens the socket of a store that this process has open, so that one which is
// there is of a process that is gone. Only the user who runs the process may use it.
func (s Service) listenForCommands(dir string) (net.Listener, error) {
	path := s.socketFile(dir)
	if len(path) > maxSocketPath {
		return nil, fmt.Errorf("the path of %s has more than %d bytes, which a socket cannot have; give --data a shorter one", path, maxSocketPath)
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
		log.WarnContext(ctx, "no backup and no status by commands while this runs: stop it for that", slog.String("error", err.Error()))
		return nil
	}
	return serve(ctx, l, r.answers(), log)
}

// ask asks the process that has the store in dir open, and has read read its answer.
func (s Service) ask(ctx context.Context, dir, path string, read func(*bufio.Reader) error) error {
	socket := s.socketFile(dir)
	var dialer net.Dialer
	client := http.Client{Transport: &http.Transport{
		ResponseHeaderTimeout: notSoon,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, "unix", socket)
		},
	}}
	defer client.CloseIdleConnections()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://store"+path, http.NoBody)
	if err != nil {
		return err
	}
	resp, err := client.Do(req)
	if op := (*net.OpError)(nil); errors.As(err, &op) && op.Op == "dial" {
		return fmt.Errorf("the process that has the store open takes no request for a %s at %s, and its log says why; end it, and try again then: %w", path[1:], socket, op.Err)
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := bufio.NewReaderSize(resp.Body, 1<<16)
	if resp.StatusCode != http.StatusOK {
		var problem struct{ Detail, Code string }
		if err := json.NewDecoder(body).Decode(&problem); err != nil {
			return fmt.Errorf("the process that has the store open answered %s; is it of the same version?", resp.Status)
		}
		return fmt.Errorf("%s (%s)", problem.Detail, problem.Code)
	}
	return read(body)
}
