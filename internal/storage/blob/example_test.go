package blob_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/memory"
)

// A put whose outcome is unknown is sent again: a blob never changes, so one that exists has
// landed.
func Example() {
	ctx, store := context.Background(), memory.NewBlobs(time.Now)
	if err := store.Create(ctx, "pictures"); err != nil {
		panic(err)
	}
	const name = "ann/1.jpg"
	put := func() error { return store.Put(ctx, "pictures", name, []byte("a picture")) }
	fmt.Println("first:", put())
	fmt.Println("again:", errors.Is(put(), blob.ErrExists))

	b, err := store.Get(ctx, "pictures", name)
	fmt.Println(b.Type, b.ETag, err)
	fmt.Println("removed:", store.Delete(ctx, "pictures", name))
	_, err = store.Get(ctx, "pictures", name)
	fmt.Println("gone:", errors.Is(err, blob.ErrNotFound))
	// Output:
	// first: <nil>
	// again: true
	// image/jpeg "92b2fa58028958317e408bd84ecfa70f" <nil>
	// removed: <nil>
	// gone: true
}
