// Package backuptest proves, for the programs of applications, what a backup keeps that is made
// while people write.
package backuptest

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/internal/testing/apptest"
	"prompthub/internal/testing/azurite"
)

// Where an application keeps its data.
const (
	File    = "file"
	Azurite = "azurite"
)

// storeVar is on which store a test backs up, if it is set.
const storeVar = "BACKUP_ON"

// Writers is how many people write at once.
const Writers = 8

// deepVar asks for ten moments at which a backup, or the service, is killed, on each store. Without
// it they are three, on the first store.
const deepVar = "BACKUP_DEEP"

// A Ledger is what a service has acknowledged.
type Ledger struct {
	mu   sync.Mutex
	kept map[string]string
	gone map[string]bool
}

// Keep takes down that something is there, and what it is.
func (l *Ledger) Keep(what, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept[what] = value
}

// Drop takes down that something may be gone from now on.
func (l *Ledger) Drop(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gone[what] = true
}

// now returns what is there.
func (l *Ledger) now() map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.without(l.kept)
}

func (l *Ledger) without(kept map[string]string) map[string]string {
	kept = maps.Clone(kept)
	maps.DeleteFunc(kept, func(what, _ string) bool { return l.gone[what] })
	return kept
}

// still returns what of kept may not be gone by now.
func (l *Ledger) still(kept map[string]string) map[string]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.without(kept)
}

// A Story is what people do with a service whose backups are tested.
type Story struct {
	// Begin makes the people, and what there is before anybody writes.
	Begin func(*apptest.Process, *Ledger)

	// Turn has one of the writers write something, the nth time. A kill may cut off any request.
	Turn func(p *apptest.Process, l *Ledger, writer, n int)

	// Find looks in a service that was restored for all that must be there.
	Find func(p *apptest.Process, kept map[string]string)

	// Apart are the names of files of the data, such as keys, that are kept apart from backups.
	Apart []string
}

// UnderLoad backs up while eight people write, and kills at some moments: the command or the
// service. A backup file that exists is complete. A store that is restored from it verifies, and
// lacks nothing that was acknowledged before the backup began.
//
// It is done on each of the stores, or on that which the environment asks for.
func UnderLoad(t *testing.T, of apptest.Process, story Story, stores ...string) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes, and kills them")
	}
	if asked := os.Getenv(storeVar); asked != "" {
		stores = []string{asked}
	}
	moments := 10
	if os.Getenv(deepVar) == "" {
		moments, stores = 3, stores[:1]
	}
	for _, store := range stores {
		t.Run(store, func(t *testing.T) {
			p := of
			p.T, p.Data, p.Settings = t, t.TempDir(), slices.Clone(of.Settings)
			switch store {
			case File:
			case Azurite:
				p.Settings = append(p.Settings, "AzureWebJobsStorage="+azurite.WithBlobs(t, azurite.Account(t)))
			default:
				t.Fatalf("%s is %q: want %s or %s", storeVar, store, File, Azurite)
			}
			ledger := &Ledger{kept: map[string]string{}, gone: map[string]bool{}}
			l := &load{Process: &p, Story: story, ledger: ledger, folder: t.TempDir()}
			l.run(store, moments)
		})
	}
}

// A load is a service to which people write while it is backed up.
type load struct {
	*apptest.Process
	Story
	ledger *Ledger
	turns  [Writers]int
	folder string // of the backups
	whole  int    // backups that were complete, and were restored
}

func (l *load) run(store string, moments int) {
	kill := l.Start()
	l.Begin(l.Process, l.ledger)
	began := time.Now()
	l.Does("backup", filepath.Join(l.folder, "first.jsonl"))
	took := time.Since(began)
	for moment := range moments {
		stop := l.write()
		kept := l.ledger.now()
		file := filepath.Join(l.folder, fmt.Sprint(moment, ".jsonl"))
		backup := l.Command("backup", file, "--data", l.Data)
		require.NoError(l.T, backup.Start())
		// the moment is the test's to choose
		time.Sleep(took/time.Duration(moments)*time.Duration(moment) + rand.N(took/time.Duration(moments)))
		if moment%2 == 0 {
			_ = backup.Process.Kill()
		} else {
			kill()
		}
		err := backup.Wait()
		stop()
		if moment%2 == 1 {
			kill = l.Start()
		}
		_, missing := os.Stat(file)
		if err == nil {
			require.NoError(l.T, missing)
		}
		if missing == nil { // it is complete, also if the command did not come to its end
			l.restore(file, l.ledger.still(kept), File)
		}
	}
	l.T.Logf("%d of %d backups were complete before the kill; a backup takes %v", l.whole, moments, took)

	before := len(l.ledger.now())
	stop := l.write()
	require.Eventually(l.T, func() bool {
		return len(l.ledger.now()) > before+2*Writers
	}, time.Minute, time.Millisecond, "nobody writes")
	kept := l.ledger.now()
	last := filepath.Join(l.folder, "last.jsonl")
	l.Does("backup", last)
	stop()
	kill()
	kept = l.ledger.still(kept)
	l.restore(last, kept, store)
	l.T.Logf("found %d things in the last", len(kept))
}

// write has the people write. Stop waits for them.
func (l *load) write() (stop func()) {
	var done sync.WaitGroup
	end := make(chan struct{})
	for writer := range Writers {
		done.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					l.Turn(l.Process, l.ledger, writer, l.turns[writer])
					l.turns[writer]++
				}
			}
		})
	}
	return func() { close(end); done.Wait() }
}

// restore restores a backup elsewhere, into a file or into other tables of the same account. All
// that was kept must be there.
func (l *load) restore(file string, kept map[string]string, into string) {
	l.T.Helper()
	l.whole++
	p := *l.Process
	p.Data = l.T.TempDir()
	p.Settings = slices.Clone(l.Settings)
	for _, prefix := range []string{
		"TABLE_PREFIX=Elsewhere%d", "QUEUE_PREFIX=elsewhere%d-",
		"CONTAINER_PREFIX=elsewhere%d-",
	} {
		p.Settings = append(p.Settings, fmt.Sprintf(prefix, l.whole))
	}
	if into == File {
		p.Settings = append(p.Settings, "AzureWebJobsStorage=") // and it takes less time
	}
	for _, name := range l.Apart {
		text, err := os.ReadFile(filepath.Join(l.Data, name))
		require.NoError(l.T, err)
		require.NoError(l.T, os.WriteFile(filepath.Join(p.Data, name), text, 0o600))
	}
	p.Does("restore", file)
	p.Does("verify")
	kill := p.Start()
	defer kill()
	l.Find(&p, kept)
}
