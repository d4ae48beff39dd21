package azure

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	sdk "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/service"

	"prompthub/internal/storage/blob"
)

// bodyTimeout is how long one attempt may take to send or read a blob.
const bodyTimeout = 30 * time.Second

// Blobs is the blob service of an account. It implements blob.Store. Errors name the container and
// no blob: names hold user ids, and errors reach logs.
type Blobs struct {
	service *service.Client
}

var _ blob.Store = (*Blobs)(nil)

func (b *Blobs) client(container, name string) *blockblob.Client {
	return b.service.NewContainerClient(container).NewBlockBlobClient(name)
}

// Put implements blob.Store, by one request.
func (b *Blobs) Put(ctx context.Context, container, name string, body []byte) error {
	if err := blob.CheckPut(container, name, body); err != nil {
		return fmt.Errorf("put into %s: %w", container, err)
	}
	none, media := azcore.ETagAny, blob.Type(name)
	opts := &blockblob.UploadOptions{
		HTTPHeaders: &sdk.HTTPHeaders{BlobContentType: &media},
		AccessConditions: &sdk.AccessConditions{
			ModifiedAccessConditions: &sdk.ModifiedAccessConditions{IfNoneMatch: &none},
		},
	}
	once := policy.WithRetryOptions(ctx, policy.RetryOptions{MaxRetries: -1, TryTimeout: bodyTimeout})
	if _, err := b.client(container, name).Upload(once, streaming.NopCloser(bytes.NewReader(body)), opts); err != nil {
		return fmt.Errorf("put into %s: %w", container, blobError(err))
	}
	return nil
}

// Get implements blob.Store.
func (b *Blobs) Get(ctx context.Context, container, name string) (blob.Blob, error) {
	if err := blob.CheckName(container, name); err != nil {
		return blob.Blob{}, fmt.Errorf("get from %s: %w", container, err)
	}
	again := policy.WithRetryOptions(ctx,
		policy.RetryOptions{
			MaxRetries: 2, TryTimeout: bodyTimeout, RetryDelay: 100 * time.Millisecond,
			MaxRetryDelay: time.Second,
		})
	resp, err := b.client(container, name).DownloadStream(again, nil)
	if err != nil {
		return blob.Blob{}, fmt.Errorf("get from %s: %w", container, blobError(err))
	}
	body := resp.NewRetryReader(again, nil) // goes on where an answer breaks off
	defer func() { _ = body.Close() }()     // all that is wanted of it was read
	size := int64(-1)
	if resp.ContentLength != nil {
		size = *resp.ContentLength
	}
	if size < 0 || size > blob.MaxBytes || resp.LastModified == nil {
		return blob.Blob{}, fmt.Errorf("get from %s: %d bytes, which are no blob", container, size)
	}
	got := blob.Blob{Body: make([]byte, size), Type: blob.Type(name), Stored: resp.LastModified.UTC()}
	if _, err := io.ReadFull(body, got.Body); err != nil {
		return blob.Blob{}, fmt.Errorf("get from %s: %w", container, blobError(err))
	}
	got.ETag = blob.ETag(got.Body)
	return got, nil
}

// Delete implements blob.Store.
func (b *Blobs) Delete(ctx context.Context, container, name string) error {
	if err := blob.CheckName(container, name); err != nil {
		return fmt.Errorf("delete from %s: %w", container, err)
	}
	_, err := b.client(container, name).Delete(ctx, nil)
	if err = blobError(err); err != nil && !errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("delete from %s: %w", container, err)
	}
	return nil
}

// List implements blob.Store.
func (b *Blobs) List(ctx context.Context, name, prefix string, limit int, next string) (blob.Page, error) {
	if err := blob.CheckList(name, prefix, limit); err != nil {
		return blob.Page{}, fmt.Errorf("list %s: %w", name, err)
	}
	n := int32(limit)
	opts := &container.ListBlobsFlatOptions{Prefix: &prefix, MaxResults: &n}
	if next != "" {
		opts.Marker = &next
	}
	resp, err := b.service.NewContainerClient(name).NewListBlobsFlatPager(opts).NextPage(repeatable(ctx))
	if err != nil {
		return blob.Page{}, fmt.Errorf("list %s: %w", name, blobError(err))
	}
	var p blob.Page
	if resp.NextMarker != nil {
		p.Next = *resp.NextMarker
	}
	if resp.Segment == nil {
		return p, nil
	}
	for _, item := range resp.Segment.BlobItems {
		if item.Name == nil || item.Properties == nil || item.Properties.ContentLength == nil ||
			item.Properties.LastModified == nil {
			return blob.Page{}, fmt.Errorf("list %s: an item without its properties", name)
		}
		if blob.CheckName(name, *item.Name) != nil {
			continue // another program has put it there
		}
		p.Items = append(p.Items, blob.Item{
			Name: *item.Name, Size: *item.Properties.ContentLength,
			Stored: item.Properties.LastModified.UTC(),
		})
	}
	return p, nil
}

// Create implements blob.Store, under the rules of Tables.Create.
func (b *Blobs) Create(ctx context.Context, containers ...string) error {
	for _, name := range containers {
		if err := blob.CheckContainer(name); err != nil {
			return fmt.Errorf("create container: %w", err)
		}
	}
	for _, name := range containers {
		_, err := b.service.CreateContainer(repeatable(ctx), name, nil)
		if err != nil && !alreadyExists(err, "ContainerAlreadyExists") {
			return fmt.Errorf("create container %s: %w", name, describe(err))
		}
	}
	return nil
}

// blobError returns what err says of a request to a container, in the words of package blob.
func blobError(err error) error {
	if err == nil {
		return nil
	}
	err = describe(err)
	var f *failure
	if !errors.As(err, &f) {
		return err
	}
	if s := f.ofBlob(); s != nil {
		return fmt.Errorf("%w: %w", s, f)
	}
	return f
}

// ofBlob returns the error of package blob that the failure amounts to, or nil.
func (f *failure) ofBlob() error {
	switch {
	case f.code == "ContainerNotFound":
		return blob.ErrNoContainer
	case f.code == "BlobNotFound":
		return blob.ErrNotFound
	case f.code == "BlobAlreadyExists", f.status == http.StatusPreconditionFailed: // of Put alone, if there is none
		return blob.ErrExists
	case f.busy():
		return blob.ErrBusy
	case f.invalid():
		return blob.ErrInvalid
	}
	return nil
}
