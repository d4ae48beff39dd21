package command

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/embedded"
)

const (
	// backupWithin is how long the tables stand still for a backup. The file keeps what is deleted
	// meanwhile, and a write by which it must be mapped anew waits.
	backupWithin = 10 * time.Minute

	// sendWithin is how long whoever asked may take for the next sendBytes. They come from a file, so
	// that no write waits for him; another backup does.
	sendWithin = time.Minute
	sendBytes  = 1 << 16

	maxLeftOut = 1000 // rows that are told of one by one
)

// Codes of refusals of a backup.
const (
	BackupRunning fault.Code = "BACKUP_RUNNING"  // another one is being made
	BackupNoRoom  fault.Code = "BACKUP_NO_ROOM"  // there is no place to write it to
	BackupTooSlow fault.Code = "BACKUP_TOO_SLOW" // it took longer than the tables may stand still
	BackupFailed  fault.Code = "BACKUP_FAILED"   // the store cannot be read, or the file not written
)

// A Backup writes all that is in a store as lines, and returns how much that is.
type Backup func(context.Context, View, io.Writer, backup.Reports) (backup.Count, error)

// Backed says what is in a backup.
type Backed struct {
	backup.Count
	Left    int      `json:"left"`              // how many rows and files were left out
	LeftOut []string `json:"leftOut,omitempty"` // the first of them
}

// A backedLine comes before a backup: how far it is, and in the end what is in it, or why there is
// none.
type backedLine struct {
	At *backup.Count `json:"at,omitempty"`
	Backed
	Detail string     `json:"detail,omitempty"`
	Code   fault.Code `json:"code,omitempty"`
}

// Sealed has lines written to w, with the sums of a backup.
func Sealed(w io.Writer, write func(io.Writer) error) error {
	buf := bufio.NewWriterSize(w, 1<<16)
	seal := backup.NewSealer(buf)
	if err := write(seal); err != nil {
		return errors.Join(err, buf.Flush())
	}
	return errors.Join(seal.Close(), buf.Flush())
}

// SyncDir returns when the disk has the names of the files in a folder.
func SyncDir(dir string) error { return embedded.SyncDir(dir) }

// backups answers who asks for a backup.
type backups struct {
	dir      string
	snapshot func(func(View) error) error
	write    Backup
	one      chan struct{}
	within   time.Duration
}

// newBackups returns nil if there are none of this store or application.
func newBackups(dir string, st Store, write Backup) *backups {
	if st.Snapshot == nil || write == nil {
		return nil
	}
	return &backups{dir: dir, snapshot: st.Snapshot, write: write, one: make(chan struct{}, 1), within: backupWithin}
}

// turn takes the one turn for a look at the store of one moment, if it is free. It can be ended
// more than once.
func (b *backups) turn() (end func(), free bool) {
	select {
	case b.one <- struct{}{}:
		return sync.OnceFunc(func() { <-b.one }), true
	default:
		return nil, false
	}
}

func (b *backups) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	end, free := b.turn()
	if !free {
		refuseAsked(w, r, fault.Coded(fault.Conflict, BackupRunning,
			"another backup is being made; ask again when it has ended"))
		return
	}
	defer end()
	file, remove, err := nameless(b.dir)
	if err != nil {
		refuseAsked(w, r, noBackup(BackupNoRoom, "there is no place for the backup in the directory of the store; let the service write there, and ask again", err))
		return
	}
	defer remove() //nolint:errcheck // it was sent, or is of no use
	t := &progressTeller{
		teller: teller{http.NewResponseController(w), json.NewEncoder(w), func() {}},
		next:   time.Now().Add(tellEvery),
	}
	w.Header().Set("Content-Type", "application/jsonl")
	said, err := b.spool(r.Context(), file, t.at)
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	switch {
	case err != nil && t.begun:
		p := httpjson.Describe(r.Context(), err)
		t.tell(backedLine{Detail: p.Detail, Code: p.Code})
	case err != nil:
		refuseAsked(w, r, err)
	default:
		send(w, said, file)
	}
}

// nameless makes a file for a backup in dir, in that of the system for temporary files for "", and
// returns what removes it. Its name goes at once where the system can do that, so that the file
// does not stay after a kill.
func nameless(dir string) (file *os.File, remove func() error, err error) {
	file, err = os.CreateTemp(dir, "backup-*.tmp")
	if err != nil {
		return nil, nil, err
	}
	if runtime.GOOS == "windows" {
		return file, func() error { return errors.Join(file.Close(), os.Remove(file.Name())) }, nil
	}
	if err := os.Remove(file.Name()); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, file.Close, nil
}

// tellEvery is how often whoever waits for a backup hears how far it is.
const tellEvery = time.Second

// A progressTeller tells how far a backup is, from a second after its beginning on.
type progressTeller struct {
	teller
	next  time.Time
	begun bool
}

func (t *progressTeller) at(c backup.Count) {
	if now := time.Now(); now.After(t.next) {
		t.begun, t.next = true, now.Add(tellEvery)
		t.tell(backedLine{At: &c})
	}
}

// spool writes a backup of one moment.
func (b *backups) spool(ctx context.Context, to io.Writer, progress func(backup.Count)) (said Backed, err error) {
	ctx, cancel := context.WithTimeout(ctx, b.within)
	defer cancel()
	reports := backup.Reports{Progress: progress, Left: func(what string) {
		if said.Left++; said.Left <= maxLeftOut {
			said.LeftOut = append(said.LeftOut, what)
		}
	}}
	err = b.snapshot(func(v View) error {
		return Sealed(to, func(w io.Writer) (err error) {
			said.Count, err = b.write(ctx, v, w, reports)
			return err
		})
	})
	if errors.Is(err, context.DeadlineExceeded) {
		return said, noBackup(BackupTooSlow, fmt.Sprintf("the backup takes longer than %v, for which the file keeps what is deleted; stop the service and back up then", b.within), err)
	}
	if err != nil {
		return said, noBackup(BackupFailed, "the backup cannot be written; make room on the disk of the store, or restore an older backup if the store is damaged, and ask again", err)
	}
	return said, nil
}

// noBackup returns why there is no backup. The cause is told, because the caller owns the store.
func noBackup(code fault.Code, text string, cause error) error {
	return &fault.Error{Kind: fault.Unavailable, Code: code, Text: text + ": " + cause.Error(), Cause: cause}
}

// send sends a backup as long as somebody takes it.
func send(w http.ResponseWriter, said Backed, file io.Reader) {
	c := http.NewResponseController(w)
	err := json.NewEncoder(w).Encode(backedLine{Backed: said})
	for err == nil {
		if err = c.SetWriteDeadline(time.Now().Add(sendWithin)); err == nil {
			_, err = io.CopyN(w, file, sendBytes)
		}
	}
	if !errors.Is(err, io.EOF) {
		panic(http.ErrAbortHandler) // else it would pass for all of it
	}
}

func refuseAsked(w http.ResponseWriter, r *http.Request, err error) {
	httpjson.WriteProblem(w, httpjson.Describe(r.Context(), err))
}

// AskBackup has the process that has the store in dir open write a backup.
func (s Service) AskBackup(ctx context.Context, dir string, w io.Writer,
	progress func(backup.Count),
) (said Backed, err error) {
	err = s.ask(ctx, dir, http.MethodGet, "/backup", http.NoBody, func(body *bufio.Reader) error {
		for {
			var l backedLine
			line, err := body.ReadBytes('\n')
			if err == nil {
				err = json.Unmarshal(line, &l)
			}
			switch {
			case err != nil:
				return cutOff(err)
			case l.Code != "":
				return fmt.Errorf("%s (%s)", l.Detail, l.Code)
			case l.At != nil:
				progress(*l.At)
				continue
			}
			said = l.Backed
			if _, err := io.Copy(w, body); err != nil {
				return cutOff(err)
			}
			return nil
		}
	})
	return said, err
}

func cutOff(err error) error { return fmt.Errorf("the backup was cut off, ask again: %w", err) }
