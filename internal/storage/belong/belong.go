// Package belong has a store and its blobs know each other. Rows name blobs, and a job may remove
// blobs that no row names: next to a store that was made anew, or that is another's, these are all
// of them.
//
// A store has an id, which is a row of a table and a blob in each container. They are written at
// the first start and compared at each start.
package belong

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/storage/blob"
	"prompthub/internal/storage/table"
)

// Mark is the name of the blob with the id, in each container.
const Mark = "store.json"

// Partition is that of the row with the id. No backup has it: a restored store is another store.
const Partition = "store"

// Foreign is the code of the refusal of blobs that belong to another store, or are missing.
const Foreign fault.Code = "FILES_OF_ANOTHER_STORE"

// A Store is tables and containers that belong together.
type Store struct {
	Tables     table.DB
	Table      string // has the row
	Blobs      blob.Store
	Containers []string

	// Old reports whether the store was made before stores had ids: it has rows then.
	Old func(context.Context) (bool, error)

	Adopt bool // takes blobs for those of this store as they are
}

// key is that of the row.
var key = table.Key{Partition: Partition, Row: "id"}

// mark is what the blob has.
type mark struct {
	Store string `json:"store"`
}

// Check compares the id of the store with that of each container, and writes what is missing of a
// store that is new. Tables and containers must be there. The error says what to do if they belong
// to different stores.
func (s Store) Check(ctx context.Context) error {
	own, known, err := s.own(ctx)
	if err != nil {
		return err
	}
	id := own
	old := false
	if id == "" {
		if old, err = s.Old(ctx); err != nil {
			return err
		}
	}
	var unmarked []string
	for _, c := range s.Containers {
		has, err := s.mark(ctx, c)
		if err != nil {
			return err
		}
		if has != "" && has == id {
			continue
		}
		files, err := s.hasFiles(ctx, c)
		switch {
		case err != nil:
			return err
		case has != "" && has != unreadable && id == "" && (old || !files || s.Adopt):
			id = has // the first start was stopped in the middle, or the store becomes that of the files
			continue
		case s.Adopt:
			if err := s.Blobs.Delete(ctx, c, Mark); err != nil {
				return err
			}
		case has == unreadable:
			return refusal("the sign in the container %s, which says whose its files are, cannot be read", c)
		case has != "" || own == "" && files && !old:
			return refusal(
				"the files in the container %s belong to another store than the rows, which are new or another's", c)
		case own != "" && (files || slices.Contains(known, c)):
			return refusal("the container %s has no sign that it belongs to this store: its files are not there", c)
		}
		unmarked = append(unmarked, c)
	}
	if len(unmarked) == 0 && !slices.ContainsFunc(s.Containers, func(c string) bool {
		return !slices.Contains(known, c)
	}) {
		return nil
	}
	if id == "" {
		var b [16]byte
		rand.Read(b[:]) // it never fails
		id = hex.EncodeToString(b[:])
	}
	return s.write(ctx, id, unmarked)
}

func refusal(text, container string) error {
	return fault.Coded(fault.Unavailable, Foreign, fmt.Sprintf(text, container)+
		"; put the store and its files back together, name another directory with --data or another account, or start once with --adopt to go on with both as they are")
}

// own returns the id of the store, "" if it has none, and the containers that have had it.
func (s Store) own(ctx context.Context) (id string, containers []string, err error) {
	row, err := s.Tables.Get(ctx, s.Table, key)
	if errors.Is(err, table.ErrNotFound) {
		return "", nil, nil
	}
	if err != nil {
		return "", nil, err
	}
	return row.Props.Get("Id").Str(), strings.Fields(row.Props.Get("Containers").Str()), nil
}

// unreadable stands for the id in a mark that has been damaged. It is the id of no store.
const unreadable = "unreadable"

// mark returns the id that a container has, "" if it has none.
func (s Store) mark(ctx context.Context, container string) (string, error) {
	got, err := s.Blobs.Get(ctx, container, Mark)
	if errors.Is(err, blob.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var m mark
	if json.Unmarshal(got.Body, &m) != nil || m.Store == "" {
		return unreadable, nil //nolint:nilerr // which its caller tells
	}
	return m.Store, nil
}

// hasFiles reports whether a container has other blobs.
func (s Store) hasFiles(ctx context.Context, container string) (bool, error) {
	for next, more := "", true; more; more = next != "" {
		page, err := s.Blobs.List(ctx, container, "", 2, next)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(page.Items, func(i blob.Item) bool { return i.Name != Mark }) {
			return true, nil
		}
		next = page.Next
	}
	return false, nil
}

// write marks containers, and then the store, so that a start that was stopped in the middle is as
// one that never was.
func (s Store) write(ctx context.Context, id string, containers []string) error {
	text, err := json.Marshal(mark{id})
	if err != nil {
		return err
	}
	for _, c := range containers {
		err := s.Blobs.Put(ctx, c, Mark, text)
		if errors.Is(err, blob.ErrExists) { // another process starts, too
			var has string
			if has, err = s.mark(ctx, c); err == nil && has != id {
				err = errors.New("another process has marked the files meanwhile; start again")
			}
		}
		if err != nil {
			return err
		}
	}
	_, err = s.Tables.Write(ctx, s.Table, table.Op{Kind: table.Upsert, Row: table.Row{Key: key, Props: table.Props{
		{Name: "Id", Value: table.String(id)},
		{Name: "Containers", Value: table.String(strings.Join(s.Containers, " "))},
	}}})
	return err
}
