package rowstore

import (
	"context"
	"errors"

	"prompthub/internal/storage/blob"
)

// PutBlob puts a blob. One whose outcome is not known is put again: if it is there, it is this one,
// as its name is new, or follows from its bytes.
func PutBlob(ctx context.Context, in blob.Store, container, name string, body []byte) error {
	put := func() error {
		ctx, cancel := context.WithTimeout(ctx, CallWithin)
		defer cancel()
		err := in.Put(ctx, container, name, body)
		if errors.Is(err, blob.ErrExists) {
			return nil
		}
		return err
	}
	err := put()
	if err != nil {
		err = put()
	}
	if err != nil {
		return Unavailable(err)
	}
	return nil
}
