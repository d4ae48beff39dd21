// Package assets keeps the pictures that people upload: a row that says what a picture is of, and
// two files of it.
//
//	Names     as|{asset} / r          the asset
//	Users     u|{user} / as|{asset}   names it, and is written before
//	Admin     due|asset|{yyyyMMddHH} / {ticks}|{asset}   has it looked at once more, likewise
//	assets    {user}/{asset}-{upload}.jpg, {user}/{asset}-{upload}_320.jpg   in lower case
//
// An asset is pending until its owner has sent the bytes, which are written anew as JPEG files.
// Then it is completed, and attached to one thing: the asset names the thing first, then the thing
// the asset. So what no thing names, because a request stopped or the thing has gone, is found by
// the asset, and swept. A reader gets a picture by the thing alone.
package assets

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"prompthub/apps/duuble/internal/due"
	"prompthub/apps/duuble/internal/rules"
	"prompthub/apps/duuble/internal/schema"
	"prompthub/internal/fault"
	"prompthub/internal/storage/backup"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/blob/picture"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Container is that of the files.
const Container = "assets"

const (
	// MaxBytes is how large a file may be that is sent.
	MaxBytes = 5 << 20
	// MaxPixels is how many pixels it may have: those of a telephone. One that is decoded takes up to
	// 24 bytes for each.
	MaxPixels = 13_000_000
	// side is how long the longer side of a picture is that is kept.
	side = 1600
	// UnusedFor is how long an asset stays that is of nothing.
	UnusedFor = 7 * 24 * time.Hour
	// landsIn is by when a thing names an asset that was attached to it, or never will. No request
	// takes as long.
	landsIn = 5 * time.Minute
)

// What a picture is of.
const (
	Profile = "profile"
	Hub     = "hub"
	Post    = "post"
	Comment = "comment"
	Message = "message"
	report  = "report" // a copy for those who manage the service
)

// Purposes are those for which people upload.
var Purposes = []string{Profile, Hub, Post, Comment, Message}

// The states of an asset.
const (
	Pending   = "pending"
	Completed = "completed"
	removed   = "removed" // it is going
)

// The codes of errors.
const (
	NotFound         fault.Code = "ASSET_NOT_FOUND"
	AlreadyCompleted fault.Code = "ALREADY_COMPLETED"
	Mismatch         fault.Code = "ASSET_MISMATCH"
	InUse            fault.Code = "ASSET_IN_USE"
)

// Missing is the error of an asset that is not there for the caller.
func Missing() error { return fault.Coded(fault.NotFound, NotFound, "there is no such picture") }

// A Service keeps assets. Its callers know that the user may.
type Service struct{ Config }

// A Config is what a Service needs. Every field is required.
type Config struct {
	*rowstore.Store
	Tables   schema.Tables // prefixed
	Entropy  io.Reader
	Blobs    blob.Store // prefixed
	Pictures *picture.Maker
}

// New returns the service.
func New(c Config) *Service { return &Service{c} }

// An Asset is a picture.
type Asset struct {
	ID, UserID, Purpose string
	Type                string // the media type of the file that was sent
	Size                int64  // of that file, in bytes
	Checksum            string // of that file, SHA-256 in hex; "" while it is not known
	Status              string
	Thing               string // to which it is attached, "" if to none
	Width, Height       int    // of the picture that is kept
	CreatedAt           time.Time

	path       string // the file that is kept
	attachedAt time.Time
	etag       string
}

const (
	rows  = "as|"
	thumb = "_320.jpg"
)

func keyOf(id string) table.Key { return table.Key{Partition: rows + id, Row: "r"} }

// ofUser is the key of the row by which an asset is found from its owner.
func ofUser(user, id string) table.Key {
	return table.Key{Partition: schema.User(user), Row: rows + id}
}

var columns = rowstore.Columns[Asset]{
	rowstore.Text("user_id", func(a *Asset) *string { return &a.UserID }),
	rowstore.Text("purpose", func(a *Asset) *string { return &a.Purpose }),
	rowstore.Text("content_type", func(a *Asset) *string { return &a.Type }),
	rowstore.Long("file_size_bytes", func(a *Asset) *int64 { return &a.Size }),
	rowstore.Text("status", func(a *Asset) *string { return &a.Status }),
	rowstore.Instant("created_at", func(a *Asset) *time.Time { return &a.CreatedAt }),
	rowstore.Text("gcs_object_path", func(a *Asset) *string { return &a.path }).Optional(),
	rowstore.Text("checksum_sha256", func(a *Asset) *string { return &a.Checksum }).Optional(),
	rowstore.Text("attached_to", func(a *Asset) *string { return &a.Thing }).Optional(),
	rowstore.Instant("attached_at", func(a *Asset) *time.Time { return &a.attachedAt }).Optional(),
	rowstore.Number("width", func(a *Asset) *int { return &a.Width }).Optional(),
	rowstore.Number("height", func(a *Asset) *int { return &a.Height }).Optional(),
}

func (a *Asset) toRow() table.Row {
	return table.Row{Key: keyOf(a.ID), ETag: a.etag, Props: columns.Props(a)}
}

func parse(row table.Row) *Asset {
	a := &Asset{ID: strings.TrimPrefix(row.Partition, rows), etag: row.ETag}
	columns.Read(row.Props, a)
	return a
}

// files are the names of the two files, the large one first.
func (a *Asset) files() []string {
	return []string{a.path, strings.TrimSuffix(a.path, ".jpg") + thumb}
}

// folder begins the names of all files that were written for an asset.
func folder(user, id string) string { return strings.ToLower(user+"/"+id) + "-" }

// Named returns the files that a row of Names names.
func Named(row table.Row) (files []backup.Blob) {
	if !strings.HasPrefix(row.Partition, rows) || row.Props.Get("status").Str() != Completed {
		return nil
	}
	for _, name := range parse(row).files() {
		files = append(files, backup.Blob{Container: Container, Name: name})
	}
	return files
}

// dueRows are those by which Sweep finds assets.
func (s *Service) dueRows() due.Rows {
	return due.Rows{Store: s.Store, Table: s.Tables.Admin, Prefix: "due|asset|"}
}

// Read reads an asset; nil if there is none, or it is going.
func (s *Service) Read(ctx context.Context, id string) (*Asset, error) {
	a, err := s.read(ctx, id)
	if a != nil && a.Status == removed {
		a = nil
	}
	return a, err
}

func (s *Service) read(ctx context.Context, id string) (*Asset, error) {
	if !schema.IsID(id) {
		return nil, nil //nolint:nilnil // there is none
	}
	row, err := s.GetRow(ctx, s.Tables.Names, keyOf(id))
	if err != nil || row == nil {
		return nil, err
	}
	return parse(*row), nil
}

// NewID returns the id of a new asset.
func (s *Service) NewID() string { return schema.NewID(s.Now().UTC(), s.Entropy) }

// Check returns the error of what somebody says of a file before it is sent.
func Check(purpose, media string, size int64, checksum string) error {
	var b rules.Broken
	b.OneOf("purpose", purpose, Purposes)
	b.OneOf("contentType", media, picture.Types)
	b.Add(size > 0 && size <= MaxBytes, "fileSizeBytes", "give 1 to 5242880 bytes")
	sum, err := hex.DecodeString(checksum)
	b.Add(checksum == "" || err == nil && len(sum) == sha256.Size && checksum == strings.ToLower(checksum),
		"checksumSha256", "give 64 of 0-9 a-f, or leave it out")
	return b.Err()
}

// Begin makes an asset under an id, whose bytes follow.
func (s *Service) Begin(ctx context.Context, a Asset) (Asset, error) {
	a.Status, a.CreatedAt = Pending, s.Now().UTC()
	if err := s.pointAt(ctx, a); err != nil {
		return Asset{}, err
	}
	err := s.Insert(ctx, s.Tables.Names, a.toRow())
	return a, err
}

// pointAt writes the rows that name an asset, before its own.
func (s *Service) pointAt(ctx context.Context, a Asset) error {
	return rowstore.Both(ctx, func(ctx context.Context) error {
		return s.Upsert(ctx, s.Tables.Users, table.Row{Key: ofUser(a.UserID, a.ID)})
	}, func(ctx context.Context) error { return s.lookAgain(ctx, a.UserID, a.ID, a.CreatedAt) })
}

// lookAgain has Sweep look at an asset UnusedFor after a time.
func (s *Service) lookAgain(ctx context.Context, user, id string, at time.Time) error {
	return s.dueRows().Add(ctx, at, id, table.Prop{Name: "user_id", Value: table.String(user)})
}

// soon is the time for lookAgain after which Sweep looks once all that goes on now has landed.
func (s *Service) soon() time.Time { return s.Now().Add(landsIn - UnusedFor) }

// Fill completes an asset of a user by the bytes of its file. The same bytes again are as good.
func (s *Service) Fill(ctx context.Context, user, id string, file []byte) (Asset, error) {
	a, err := s.Read(ctx, id)
	if err == nil && (a == nil || a.UserID != user ||
		a.Status == Pending && s.Now().Sub(a.CreatedAt) >= UnusedFor-landsIn) {
		err = Missing() // also of one that is about to be swept
	}
	if err != nil {
		return Asset{}, err
	}
	sum := sha256.Sum256(file)
	checksum := hex.EncodeToString(sum[:])
	if a.Status == Completed {
		return *a, same(a, checksum)
	}
	if err := a.mismatch(file, checksum); err != nil {
		return Asset{}, err
	}
	made, err := s.Pictures.Make(ctx, user, file, side)
	if err != nil {
		return Asset{}, err
	}
	filled := *a
	filled.Status, filled.Checksum, filled.Width, filled.Height = Completed, checksum, made.Width, made.Height
	filled.path = folder(user, id) + checksum[:16] + ".jpg"
	names := filled.files()
	err = rowstore.Both(ctx, func(ctx context.Context) error {
		return rowstore.PutBlob(ctx, s.Blobs, Container, names[0], made.Large)
	}, func(ctx context.Context) error {
		return rowstore.PutBlob(ctx, s.Blobs, Container, names[1], made.Thumb)
	})
	if err != nil {
		return Asset{}, err
	}
	err = s.Change(ctx, s.Tables.Names, func(ctx context.Context) ([]table.Op, error) {
		there, err := s.Read(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case there == nil:
			return nil, Missing()
		case there.Status == Completed:
			filled = *there
			return nil, same(there, checksum)
		}
		filled.etag = there.etag
		return []table.Op{rowstore.Put(filled.toRow())}, nil
	})
	if code := fault.CodeOf(err); code == NotFound || code == AlreadyCompleted { // the files are of nothing
		ctx := context.WithoutCancel(ctx)
		s.Background(func() { s.tell(ctx, s.drop(ctx, names)) })
	}
	if err != nil {
		return Asset{}, err
	}
	return filled, nil
}

// tell tells the log that files stay which a sweep removes later.
func (s *Service) tell(ctx context.Context, err error) {
	if err != nil {
		s.Log.WarnContext(ctx, "a picture that is of nothing is removed later: "+err.Error())
	}
}

func same(a *Asset, checksum string) error {
	if a.Checksum == checksum {
		return nil
	}
	return fault.Coded(fault.Conflict, AlreadyCompleted,
		"this picture has its bytes, and never changes; make another one")
}

// mismatch returns an error if a file is not what was said of it.
func (a *Asset) mismatch(file []byte, checksum string) error {
	var why string
	switch {
	case int64(len(file)) != a.Size:
		why = fmt.Sprintf("it has %d bytes, and %d were said", len(file), a.Size)
	case picture.TypeOf(file) != a.Type:
		why = "by its first bytes it is not of the type " + a.Type
	case a.Checksum != "" && a.Checksum != checksum:
		why = "it has another SHA-256 than was said"
	default:
		return nil
	}
	return &fault.Error{
		Kind: fault.Invalid, Code: Mismatch, Text: "the file is not what was said of it: " + why,
		Fields: []fault.Field{{Name: "body", Code: Mismatch, Message: why}},
	}
}

// Attach has an asset of a user be that of a thing, before the thing names it. "" is none. In
// the request a field names the asset.
func (s *Service) Attach(ctx context.Context, user, id, purpose, thing, field string) error {
	if id == "" {
		return nil
	}
	return s.Change(ctx, s.Tables.Names, func(ctx context.Context) ([]table.Op, error) {
		a, err := s.Read(ctx, id)
		switch {
		case err != nil:
			return nil, err
		case a == nil || a.UserID != user || a.Purpose != purpose || a.Status != Completed:
			return nil, &fault.Error{
				Kind: fault.Invalid, Text: "the request breaks the rules named here",
				Fields: []fault.Field{{
					Name:    "body." + field,
					Message: "is no picture that you have uploaded for this",
				}},
			}
		case a.Thing != "" && a.Thing != thing:
			return nil, fault.Coded(fault.Conflict, InUse, "this picture is that of another thing; upload it once more")
		}
		a.Thing, a.attachedAt = thing, s.Now().UTC() // also again: a sweep must not take it now
		return []table.Op{rowstore.Put(a.toRow())}, nil
	})
}

// AreAlike reports whether two assets are of the same upload, or of uploads of the same bytes.
func (s *Service) AreAlike(ctx context.Context, id, other string) (bool, error) {
	a, err := s.Read(ctx, id)
	if err != nil || a == nil {
		return false, err
	}
	b, err := s.Read(ctx, other)
	return b != nil && a.Checksum == b.Checksum, err
}

// Release has Sweep look at an asset soon, of a thing that is about to name it no more. "" is none.
func (s *Service) Release(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	a, err := s.Read(ctx, id)
	if err != nil || a == nil {
		return err
	}
	return s.lookAgain(ctx, a.UserID, id, s.soon())
}

// RemoveLater removes an asset after the answer, of which Sweep does the rest. "" is none.
func (s *Service) RemoveLater(ctx context.Context, id string) {
	if id != "" {
		ctx := context.WithoutCancel(ctx)
		s.Background(func() { s.tell(ctx, s.Remove(ctx, id)) })
	}
}

// Remove removes an asset for good, with its files. "" is none.
func (s *Service) Remove(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	var a *Asset
	err := s.Change(ctx, s.Tables.Names, func(ctx context.Context) (ops []table.Op, err error) {
		if a, err = s.read(ctx, id); err != nil || a == nil {
			return nil, err
		}
		return a.condemn(), nil
	})
	if err != nil || a == nil {
		return err
	}
	if err := s.removeAll(ctx, a.UserID, id); err != nil {
		return err
	}
	return s.RemoveKey(ctx, s.Tables.Admin, s.dueRows().Key(a.CreatedAt, id))
}

// condemn returns the write after which nothing is attached to an asset any more.
func (a *Asset) condemn() []table.Op {
	if a.Status == removed {
		return nil
	}
	a.Status = removed
	return []table.Op{rowstore.Put(a.toRow())}
}

// removeAll removes the files and the rows of an asset, of which there may be some.
func (s *Service) removeAll(ctx context.Context, user, id string) error {
	if err := s.dropFiles(ctx, folder(user, id)); err != nil {
		return err
	}
	if err := s.RemoveKey(ctx, s.Tables.Names, keyOf(id)); err != nil {
		return err
	}
	return s.RemoveKey(ctx, s.Tables.Users, ofUser(user, id)) // by which the rest is found, if it stops
}

// dropFiles removes the files whose names have a beginning.
func (s *Service) dropFiles(ctx context.Context, prefix string) error {
	for next, more := "", true; more; more = next != "" {
		page, err := s.Blobs.List(ctx, Container, prefix, blob.MaxPage, next)
		if err != nil {
			return rowstore.Unavailable(err)
		}
		var names []string
		for _, item := range page.Items {
			names = append(names, item.Name)
		}
		if err := s.drop(ctx, names); err != nil {
			return err
		}
		next = page.Next
	}
	return nil
}

func (s *Service) drop(ctx context.Context, names []string) error {
	return rowstore.Each(ctx, len(names), rowstore.MaxParallel, func(ctx context.Context, i int) error {
		ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
		defer cancel()
		if err := s.Blobs.Delete(ctx, Container, names[i]); err != nil {
			return rowstore.Unavailable(err)
		}
		return nil
	})
}

// File returns a file of an asset that is completed, the large one or the small one.
func (s *Service) File(ctx context.Context, a *Asset, small bool) (blob.Blob, error) {
	if a == nil || a.Status != Completed {
		return blob.Blob{}, Missing()
	}
	name := a.files()[0]
	if small {
		name = a.files()[1]
	}
	ctx, cancel := context.WithTimeout(ctx, rowstore.CallWithin)
	defer cancel()
	got, err := s.Blobs.Get(ctx, Container, name)
	if errors.Is(err, blob.ErrNotFound) {
		return blob.Blob{}, Missing()
	}
	if err != nil {
		return blob.Blob{}, rowstore.Unavailable(err)
	}
	return got, nil
}

// Copy makes a copy of an asset for a report, and returns its id, "" if there is nothing to copy.
// The copy has the same owner, and goes with the account of the owner.
func (s *Service) Copy(ctx context.Context, id, thing string) (string, error) {
	if id == "" {
		return "", nil
	}
	a, err := s.Read(ctx, id)
	if err != nil || a == nil || a.Status != Completed {
		return "", err
	}
	copied := *a
	copied.ID, copied.etag, copied.Purpose, copied.Thing = s.NewID(), "", report, thing
	copied.CreatedAt = s.Now().UTC()
	copied.attachedAt, copied.path = copied.CreatedAt, folder(a.UserID, copied.ID)+a.Checksum[:16]+".jpg"
	if err := s.pointAt(ctx, copied); err != nil {
		return "", err
	}
	names := copied.files()
	err = rowstore.Each(ctx, len(names), len(names), func(ctx context.Context, i int) error {
		got, err := s.File(ctx, a, i == 1)
		if err == nil {
			err = rowstore.PutBlob(ctx, s.Blobs, Container, names[i], got.Body)
		}
		return err
	})
	if fault.CodeOf(err) == NotFound { // it goes at this moment
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return copied.ID, s.Insert(ctx, s.Tables.Names, copied.toRow())
}

// Sweep removes assets that are of nothing for UnusedFor: the job of a timer. named returns the
// asset that a thing names, also a thing that was deleted and can come back.
func (s *Service) Sweep(ctx context.Context,
	named func(ctx context.Context, thing string) (id string, err error),
) error {
	ctx, cancel := context.WithTimeout(ctx, rowstore.JobEnds)
	defer cancel()
	return s.dueRows().Run(ctx, s.Now().Add(-UnusedFor), func(ctx context.Context, row table.Row) error {
		id, user := row.Row, row.Props.Get("user_id").Str()
		a, err := s.read(ctx, id)
		if err != nil {
			return err
		}
		if a == nil { // a request stopped before it was made
			return s.removeAll(ctx, user, id)
		}
		if a.Thing != "" && a.Status != removed {
			is, err := named(ctx, a.Thing)
			if err != nil || is == id {
				return err
			}
		}
		late := a.Status != removed && s.Now().Sub(a.attachedAt) < landsIn
		if ops := a.condemn(); !late && len(ops) > 0 {
			err = s.Write(ctx, s.Tables.Names, ops)
			late = rowstore.Overtaken(err) // it was attached or completed at this moment
		}
		if late {
			return s.lookAgain(ctx, user, id, s.soon())
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
		return s.removeAll(ctx, user, id)
	})
}

// ForgetUser removes all assets of a user whose account goes.
func (s *Service) ForgetUser(ctx context.Context, user string) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Prefix(schema.User(user), rows)) {
		id := strings.TrimPrefix(row.Row, rows)
		if err == nil {
			err = s.Remove(ctx, id)
		}
		if err == nil {
			err = s.removeAll(ctx, user, id) // of one that was never made
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return s.dropFiles(ctx, strings.ToLower(user)+"/") // of uploads that went on meanwhile
}

// Of returns the assets of a user.
func (s *Service) Of(ctx context.Context, user string) (found []Asset, err error) {
	for row, err := range table.All(ctx, s.DB, s.Tables.Users, table.Prefix(schema.User(user), rows)) {
		if err != nil {
			return nil, rowstore.Unavailable(err)
		}
		a, err := s.Read(ctx, strings.TrimPrefix(row.Row, rows))
		if err != nil {
			return nil, err
		}
		if a != nil {
			found = append(found, *a)
		}
	}
	return found, nil
}

// all calls do for each asset.
func (s *Service) all(ctx context.Context, do func(*Asset) error) error {
	for row, err := range table.All(ctx, s.DB, s.Tables.Names,
		table.Range{FromPartition: rows, ToPartition: table.After(rows)}) {
		if err == nil {
			err = do(parse(row))
		}
		if err != nil {
			return rowstore.Unavailable(err)
		}
	}
	return nil
}

// VerifyRows reports assets whose files are missing, or the row by which they are found from their
// owners.
func (s *Service) VerifyRows(ctx context.Context, report func(string)) (n int, err error) {
	err = s.all(ctx, func(a *Asset) error {
		n++
		if a.Status == removed {
			return nil
		}
		row, err := s.GetRow(ctx, s.Tables.Users, ofUser(a.UserID, a.ID))
		if err != nil {
			return err
		}
		if row == nil {
			report(fmt.Sprintf("picture %s: the row by which it is found from its owner is missing", a.ID))
		}
		if row != nil && a.Thing == "" { // one that is of a thing goes with that
			due, err := s.GetRow(ctx, s.Tables.Admin, s.dueRows().Key(a.CreatedAt, a.ID))
			if err != nil {
				return err
			}
			if due == nil {
				report(fmt.Sprintf("picture %s: it is of nothing, and the row by which it is swept is missing", a.ID))
			}
		}
		for i := range a.files() {
			if a.Status != Completed {
				break
			}
			if _, err := s.File(ctx, a, i == 1); fault.CodeOf(err) == NotFound {
				report(fmt.Sprintf("picture %s: a file of it is missing", a.ID))
			} else if err != nil {
				return err
			}
		}
		return nil
	})
	return n, err
}

// VerifyThing reports that a thing names an asset that is not its own.
func (s *Service) VerifyThing(ctx context.Context, thing, id string, report func(string)) error {
	missing, err := s.IsMissing(ctx, thing, id)
	if missing {
		report(fmt.Sprintf("%s: it names the picture %s, which is not its own",
			strings.ReplaceAll(thing, "|", " "), id))
	}
	return err
}

// IsMissing reports whether a thing names an asset that is not its own, or not there. "" is none.
func (s *Service) IsMissing(ctx context.Context, thing, id string) (bool, error) {
	if id == "" {
		return false, nil
	}
	a, err := s.read(ctx, id)
	return err == nil && (a == nil || a.Thing != thing || a.Status != Completed), err
}

// Repair writes the rows by which assets are found, and has each be looked at. After a restore some
// may be missing.
func (s *Service) Repair(ctx context.Context) error {
	return s.all(ctx, func(a *Asset) error { return s.pointAt(ctx, *a) })
}
