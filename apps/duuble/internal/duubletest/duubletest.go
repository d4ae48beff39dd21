// Package duubletest has what the tests of several rooms build their worlds of: a telephone, rows
// over a storage, and accounts.
package duubletest

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/keyring"
	"prompthub/apps/duuble/internal/people"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/queue"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
	"prompthub/internal/testing/repeatable"
)

// Tables are all tables, without a prefix.
var Tables = rowstore.DefaultTables[schema.Tables]()

// A Phone keeps the last text that it got.
type Phone struct{ Text string }

// Send implements sms.Sender.
func (p *Phone) Send(_ context.Context, _, text string) error {
	p.Text = text
	return nil
}

// Rows are rows over a storage, which wait for nothing.
func Rows(db table.DB, now func() time.Time) *rowstore.Store {
	return &rowstore.Store{
		DB: db, Now: now, Log: slog.New(slog.DiscardHandler), Background: func(do func()) { do() },
		Sleep:  func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
		Random: func(time.Duration) time.Duration { return 0 },
	}
}

// Blobs are files in memory, with the container of pictures.
func Blobs(now func() time.Time) blob.Store {
	b := memory.NewBlobs(now)
	if err := b.Create(context.Background(), assets.Container); err != nil {
		panic(err)
	}
	return b
}

// CopyBlobs copies all files into another store.
func CopyBlobs(t testing.TB, from, to blob.Store) {
	t.Helper()
	page, err := from.List(t.Context(), assets.Container, "", blob.MaxPage, "")
	require.NoError(t, err)
	for _, item := range page.Items {
		got, err := from.Get(t.Context(), assets.Container, item.Name)
		require.NoError(t, err)
		require.NoError(t, to.Put(t.Context(), assets.Container, item.Name, got.Body))
	}
}

// Assets are pictures over rows and files.
func Assets(rows *rowstore.Store, blobs blob.Store, luck io.Reader) *assets.Service {
	return assets.New(assets.Config{
		Store: rows, Tables: Tables, Entropy: luck, Blobs: blobs,
		Pictures: picture.NewMakerOf(assets.MaxPixels),
	})
}

// PNG is a file with a small picture.
var PNG = func() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

// Photo is a file with a larger picture, in colors.
var Photo = func() []byte {
	m := image.NewRGBA(image.Rect(0, 0, 640, 480))
	for y := range 480 {
		for x := range 640 {
			m.SetRGBA(x, y, color.RGBA{R: uint8(x / 3), G: uint8(y / 2), B: 120, A: 0xff})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

// Picture uploads a picture of a person, and returns its id.
func Picture(t testing.TB, s *assets.Service, c people.Claim, purpose string) string {
	t.Helper()
	id := s.NewID()
	_, err := s.Begin(t.Context(),
		assets.Asset{ID: id, UserID: c.UserID, Purpose: purpose, Type: "image/png", Size: int64(len(PNG))})
	require.NoError(t, err)
	_, err = s.Fill(t.Context(), c.UserID, id, PNG)
	require.NoError(t, err)
	return id
}

// NewHub makes a hub of a person, with a picture unless the draft has one.
func NewHub(t testing.TB, s *hubs.Service, c people.Claim, d hubs.Draft) hubs.Hub {
	t.Helper()
	if d.Picture == "" {
		d.Picture = Picture(t, s.People.Assets, c, assets.Hub)
	}
	h, err := s.Create(t.Context(), c, d)
	require.NoError(t, err)
	return h
}

// People are accounts whose codes come to a phone, without a limit.
func People(rows *rowstore.Store, blobs blob.Store, queues queue.Queues, luck *repeatable.Luck, keys keyring.Ring,
	phone *Phone,
) *people.Service {
	return people.New(people.Config{
		Store: rows, Tables: Tables, Queues: queues, Entropy: luck, Keys: keys, SMS: phone,
		Assets: Assets(rows, blobs, luck), Keep: 30 * 24 * time.Hour, CodeLasts: time.Minute, PerPhone: -1,
		PerAddress: -1, PerNetwork: -1, PerCountry: -1, PerHour: -1,
	})
}

// Number returns the telephone number of the person i.
func Number(i int) string { return fmt.Sprintf("+346%08d", i) }

// SignIn signs the person i in, whose account may be new.
func SignIn(t testing.TB, s *people.Service, phone *Phone, i int) people.Claim {
	t.Helper()
	ctx := t.Context()
	c, err := s.RequestCode(ctx, "sms", Number(i), "sign_in", people.Asker{Site: "x"})
	require.NoError(t, err)
	code, _, _ := strings.Cut(phone.Text, " ")
	in, err := s.Verify(ctx, c.ID, code, "")
	require.NoError(t, err)
	claim, err := s.ParseAccess(in.Tokens.Access)
	require.NoError(t, err)
	return claim
}

// Enter makes an account that is complete, for the person i.
func Enter(t testing.TB, s *people.Service, phone *Phone, i int) people.Claim {
	t.Helper()
	ctx := t.Context()
	claim := SignIn(t, s, phone, i)
	name := fmt.Sprintf("Person%d", i)
	_, err := s.SetBasics(ctx, claim, people.Basics{Username: &name, FullName: &name})
	require.NoError(t, err)
	_, err = s.AcceptTerms(ctx, claim, "1", "1")
	require.NoError(t, err)
	return claim
}
