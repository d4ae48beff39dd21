// Package azurite runs Azurite, the emulator of Azure Storage, for tests: it owns finding
// the installed program, starting it on free ports and ending it, even if the
// process that wanted it dies.
//
// Every service is a process of its own. Tables are kept in memory, queues on disk: the
// collector of in-memory queues blocks its process for seconds once thousands of messages
// have come and gone, and a table on disk is rewritten whole every five seconds.
package azurite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// The account that every Azurite has; its key is public.
const (
	account = "devstoreaccount1"
	key     = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)

// Ports are where the services listen, on 127.0.0.1.
type Ports struct{ Blob, Queue, Table int }

// Options say how to run Azurite. The zero Options give tables and queues on free ports that
// leave no files.
type Options struct {
	// Dir, which must exist, keeps the data of all services, tables too, and outlives the
	// server. If empty the data goes with the server.
	Dir string

	// Ports fixes ports; zero picks a free one.
	Ports Ports

	// Blob runs the blob service as well, which the Functions host needs.
	Blob bool

	// Accounts is how many storage accounts there are besides the usual one.
	Accounts int
}

// A Server is a running Azurite.
type Server struct {
	Ports Ports // those in use; Blob is zero where there is no blob service

	accounts int
	services []*service
}

// Run starts Azurite and returns when it takes requests. The context bounds the start; the
// server runs until Stop, or until this process ends in any way. The error says what to do
// where Azurite is not installed.
func Run(ctx context.Context, opts Options) (*Server, error) {
	inst, err := find()
	if err != nil {
		return nil, err
	}
	if opts.Dir != "" {
		if opts.Dir, err = filepath.Abs(opts.Dir); err != nil {
			return nil, err
		}
	}
	s := &Server{accounts: opts.Accounts}
	err = s.start(ctx, inst, "table", opts.Dir, opts.Ports.Table, &s.Ports.Table)
	if err == nil {
		err = s.start(ctx, inst, "queue", opts.Dir, opts.Ports.Queue, &s.Ports.Queue)
	}
	if err == nil && opts.Blob {
		err = s.start(ctx, inst, "blob", opts.Dir, opts.Ports.Blob, &s.Ports.Blob)
	}
	if err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

// start adds a service and stores its port.
func (s *Server) start(ctx context.Context, inst install, name, dir string, port int, got *int) error {
	args := []string{
		"--" + name + "Host", "127.0.0.1", "--" + name + "Port", strconv.Itoa(port),
		"--silent", "--skipApiVersionCheck", "--disableTelemetry",
	}
	if name == "table" && dir == "" {
		args = append(args, "--inMemoryPersistence")
	}
	svc, err := startService(ctx, inst, name, dir, s.allAccounts(), args...)
	if err != nil {
		return fmt.Errorf("start %s service of Azurite: %w", name, err)
	}
	s.services = append(s.services, svc)
	*got = svc.port
	return nil
}

// allAccounts returns the accounts in the form that Azurite reads from its environment.
func (s *Server) allAccounts() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%s", account, key)
	for i := range s.accounts {
		fmt.Fprintf(&b, ";%s:%s", accountName(i+1), key)
	}
	return b.String()
}

func accountName(i int) string { return fmt.Sprintf("devstoreaccount1x%d", i) }

// ConnectionString returns what AzureWebJobsStorage is set to.
func (s *Server) ConnectionString() string { return s.connection(account) }

// connection returns the connection string of one account.
func (s *Server) connection(account string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "DefaultEndpointsProtocol=http;AccountName=%s;AccountKey=%s;", account, key)
	for _, e := range []struct {
		name string
		port int
	}{{"Blob", s.Ports.Blob}, {"Queue", s.Ports.Queue}, {"Table", s.Ports.Table}} {
		if e.port != 0 {
			fmt.Fprintf(&b, "%sEndpoint=http://127.0.0.1:%d/%s;", e.name, e.port, account)
		}
	}
	return b.String()
}

// accountOf returns the account of a connection string of a server.
func accountOf(connection string) string {
	_, rest, _ := strings.Cut(connection, "AccountName=")
	name, _, _ := strings.Cut(rest, ";")
	return name
}

// Stop ends the server, its data written, and waits until it is gone.
func (s *Server) Stop() error {
	var errs []error
	for _, svc := range s.services {
		errs = append(errs, svc.stop())
	}
	s.services = nil
	return errors.Join(errs...)
}
