package azure

import (
	"fmt"
	"net/url"
	"strings"

	"prompthub/internal/loopback"
)

// Config says which storage account to use and how to enter it: either by ConnectionString
// or, where that is empty, by the identity of the process at the two endpoints.
type Config struct {
	// ConnectionString names the account with its key. "UseDevelopmentStorage=true" is an
	// Azurite on its default ports.
	ConnectionString string

	// TableEndpoint and QueueEndpoint are the addresses of the services, such as
	// https://account.table.core.windows.net. Both are needed without ConnectionString.
	TableEndpoint, QueueEndpoint string

	// Blobs opens the blob service too, at BlobEndpoint where there is no ConnectionString.
	Blobs        bool
	BlobEndpoint string

	// ManagedIdentity enters with the identity that Azure gives to the process, and with no
	// other. If false, the default chain is tried: environment, workload, managed
	// identity, developer tools.
	ManagedIdentity bool

	// ClientID names a user-assigned managed identity; empty means the system-assigned one.
	ClientID string

	// RawMessages sends and receives the texts of messages as they are, for a reader or
	// writer that encodes them itself. If false they are base64 on the wire, which is what
	// the Functions host expects.
	RawMessages bool
}

// The setting that names the storage of a function app; "__" leads to its parts.
const setting = "AzureWebJobsStorage"

// FromEnv reads the settings by which the Functions host finds its own storage:
// AzureWebJobsStorage as a connection string or, where that is not set, its parts
// __tableServiceUri, __queueServiceUri and __blobServiceUri, or __accountName for an account of the
// public cloud, with __credential=managedidentity and __clientId for a managed identity.
func FromEnv(getenv func(string) string) (Config, error) {
	if s := getenv(setting); s != "" {
		cfg := Config{ConnectionString: s}
		_, err := cfg.account()
		return cfg, err
	}
	part := func(name string) string { return getenv(setting + "__" + name) }
	cfg := Config{
		TableEndpoint: part("tableServiceUri"),
		QueueEndpoint: part("queueServiceUri"),
		BlobEndpoint:  part("blobServiceUri"),
		ClientID:      part("clientId"),
	}
	if name := part("accountName"); name != "" {
		if cfg.TableEndpoint == "" {
			cfg.TableEndpoint = "https://" + name + ".table.core.windows.net"
		}
		if cfg.QueueEndpoint == "" {
			cfg.QueueEndpoint = "https://" + name + ".queue.core.windows.net"
		}
		if cfg.BlobEndpoint == "" {
			cfg.BlobEndpoint = "https://" + name + ".blob.core.windows.net"
		}
	}
	switch kind := part("credential"); {
	case strings.EqualFold(kind, "managedidentity"):
		cfg.ManagedIdentity = true
	case kind != "":
		return Config{}, fmt.Errorf("setting %s__credential is %q: want managedidentity, or none for the default chain",
			setting, kind)
	}
	_, err := cfg.account()
	return cfg, err
}

// An account is a checked Config.
type account struct {
	name, key                    string // key is empty for an identity
	tableEndpoint, queueEndpoint string
	blobEndpoint                 string
	managedIdentity              bool
	clientID                     string
	emulated                     bool // it is Azurite
}

func (c Config) account() (*account, error) {
	var acc *account
	if c.ConnectionString != "" {
		var err error
		if acc, err = parseConnection(c.ConnectionString); err != nil {
			return nil, fmt.Errorf("storage connection string: %w", err)
		}
	} else {
		acc = &account{
			tableEndpoint: strings.TrimRight(c.TableEndpoint, "/"),
			queueEndpoint: strings.TrimRight(c.QueueEndpoint, "/"),
			blobEndpoint:  strings.TrimRight(c.BlobEndpoint, "/"), managedIdentity: c.ManagedIdentity,
			clientID: c.ClientID,
		}
	}
	return acc, acc.check(c.Blobs)
}

func (a *account) check(blobs bool) error {
	services := []struct{ what, uri string }{
		{"table", a.tableEndpoint},
		{"queue", a.queueEndpoint},
		{"blob", a.blobEndpoint},
	}
	if !blobs {
		services = services[:2]
	}
	for _, e := range services {
		if e.uri == "" {
			return fmt.Errorf("no %[2]s storage: set %[1]s to a connection string, or %[1]s__accountName, or %[1]s__%[2]sServiceUri", setting, e.what)
		}
		u, err := url.Parse(e.uri)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			return fmt.Errorf("%s endpoint %q is not an http or https address", e.what, e.uri)
		}
		// Lists, cursors and backups rest on rows in the order of their keys, which Cosmos DB does not
		// promise.
		if cosmos(u.Hostname()) {
			return fmt.Errorf(
				"%s endpoint %q is Cosmos DB, whose tables do not keep their rows in order: take a storage account",
				e.what, e.uri)
		}
		if u.RawQuery != "" {
			return fmt.Errorf("the %s endpoint has a query: shared access signatures are not supported", e.what)
		}
		if a.key == "" && u.Scheme != "https" {
			return fmt.Errorf("%s endpoint %q: an identity is sent over https only", e.what, e.uri)
		}
		a.emulated = a.emulated || u.Scheme == "http" && (a.name == devName || loopback.IsHost(u.Hostname()))
	}
	if a.clientID != "" && !a.managedIdentity {
		return fmt.Errorf("setting %[1]s__clientId has no effect without %[1]s__credential=managedidentity", setting)
	}
	return nil
}

// cosmos reports a host of Cosmos DB for Table, by the two names that the SDK knows it by.
func cosmos(host string) bool {
	host = strings.ToLower(host)
	return strings.Contains(host, ".table.cosmos.") || strings.Contains(host, ".table.cosmosdb.")
}
