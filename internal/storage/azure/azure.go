// Package azure keeps tables, queues and blobs in an Azure Storage account, or in Azurite, its
// emulator. It owns how the account is found and how requests are sent, timed and repeated,
// and is the only package that imports the Azure SDK; no type of the SDK leaves it.
//
// No write is ever sent twice: a caller who does not hear how a write ended reads the row,
// and could not do so if a second attempt were on its way.
package azure

import (
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	blobs "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azqueue/v2"
)

// A Store is the tables, the queues and the blobs of one storage account.
type Store struct {
	Tables   *Tables
	Queues   *Queues
	Blobs    *Blobs // nil unless Config.Blobs is set
	Endpoint string // of the table service: where the account is
}

// New returns the account that cfg names. It sends nothing: a wrong key or address shows
// with the first request.
func New(cfg Config) (*Store, error) {
	return newStore(cfg, nil)
}

// newStore is New over the given transport; nil makes one.
func newStore(cfg Config, rt http.RoundTripper) (*Store, error) {
	acc, err := cfg.account()
	if err != nil {
		return nil, err
	}
	if rt == nil {
		rt = newTransport(acc.emulated)
	}
	cred, err := acc.credential()
	if err != nil {
		return nil, err
	}
	tables, err := acc.tables(cred, clientOptions(rt, acc.emulated))
	if err != nil {
		return nil, fmt.Errorf("table service %s: %w", acc.tableEndpoint, err)
	}
	queues, err := acc.queues(cred, clientOptions(rt, acc.emulated))
	if err != nil {
		return nil, fmt.Errorf("queue service %s: %w", acc.queueEndpoint, err)
	}
	s := &Store{
		Tables: &Tables{service: tables}, Queues: &Queues{service: queues, raw: cfg.RawMessages},
		Endpoint: acc.tableEndpoint,
	}
	if cfg.Blobs {
		service, err := acc.blobs(cred, clientOptions(rt, acc.emulated))
		if err != nil {
			return nil, fmt.Errorf("blob service %s: %w", acc.blobEndpoint, err)
		}
		s.Blobs = &Blobs{service: service}
	}
	return s, nil
}

// credential returns nil for an account that is entered by key.
func (a *account) credential() (azcore.TokenCredential, error) {
	if a.key != "" {
		return nil, nil
	}
	return newCredential(a.managedIdentity, a.clientID)
}

func (a *account) tables(cred azcore.TokenCredential, opts azcore.ClientOptions) (*aztables.ServiceClient, error) {
	o := &aztables.ClientOptions{ClientOptions: opts}
	if cred != nil {
		return aztables.NewServiceClient(a.tableEndpoint, cred, o)
	}
	key, err := aztables.NewSharedKeyCredential(a.name, a.key)
	if err != nil {
		return nil, err
	}
	return aztables.NewServiceClientWithSharedKey(a.tableEndpoint, key, o)
}

func (a *account) queues(cred azcore.TokenCredential, opts azcore.ClientOptions) (*azqueue.ServiceClient, error) {
	o := &azqueue.ClientOptions{ClientOptions: opts}
	if cred != nil {
		return azqueue.NewServiceClient(a.queueEndpoint, cred, o)
	}
	key, err := azqueue.NewSharedKeyCredential(a.name, a.key)
	if err != nil {
		return nil, err
	}
	return azqueue.NewServiceClientWithSharedKeyCredential(a.queueEndpoint, key, o)
}

func (a *account) blobs(cred azcore.TokenCredential, opts azcore.ClientOptions) (*blobs.Client, error) {
	o := &blobs.ClientOptions{ClientOptions: opts}
	if cred != nil {
		return blobs.NewClient(a.blobEndpoint, cred, o)
	}
	key, err := blobs.NewSharedKeyCredential(a.name, a.key)
	if err != nil {
		return nil, err
	}
	return blobs.NewClientWithSharedKeyCredential(a.blobEndpoint, key, o)
}
