package embedded

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"

	"prompthub/internal/storage/table"
)

// maxNames bounds the dictionary. A name beyond it stands in each row that has it.
const maxNames = 4096

// A dictionary numbers names of properties from 1 on, so that rows need not hold them. It is never
// changed: one that knows more takes its place.
type dictionary struct {
	names   []string
	numbers map[string]uint64
	shared  []string // names of properties whose texts rows share
}

// name returns the name of a number, "" of one that was never given out.
func (d *dictionary) name(n uint64) string {
	if n == 0 || n > uint64(len(d.names)) {
		return ""
	}
	return d.names[n-1]
}

// readNames returns the dictionary of a file. Its keys are the numbers, without a gap.
func readNames(tx *bbolt.Tx, shared []string) (*dictionary, error) {
	d := &dictionary{numbers: make(map[string]uint64), shared: shared}
	err := tx.Bucket(namesBucket).ForEach(func(k, v []byte) error {
		if len(k) != 2 || int(binary.BigEndian.Uint16(k)) != len(d.names)+1 {
			return fmt.Errorf("%w: name %x", table.ErrDamaged, k)
		}
		d.names = append(d.names, string(v))
		d.numbers[string(v)] = uint64(len(d.names))
		return nil
	})
	return d, err
}

// learn adds the names of operations to the dictionary, in a transaction of its own: a row that is
// stored needs all its names. There is little to add: names are those of a program's source.
func (s *Store) learn(ctx context.Context, of ...[]table.Op) error {
	known := s.names.Load()
	var fresh []string
	for _, ops := range of {
		for _, op := range ops {
			fresh = known.lacks(fresh, op.Row.Props)
		}
	}
	return s.learnNames(ctx, known, fresh)
}

// lacks appends the names of properties for which d has room, and which neither it nor fresh has.
func (d *dictionary) lacks(fresh []string, of table.Props) []string {
	for _, p := range of {
		if d.numbers[p.Name] == 0 && len(d.names)+len(fresh) < maxNames && !slices.Contains(fresh, p.Name) {
			fresh = append(fresh, p.Name)
		}
	}
	return fresh
}

func (s *Store) learnNames(ctx context.Context, known *dictionary, fresh []string) error {
	if fresh == nil {
		return nil
	}
	return s.update(ctx, len(fresh), func(tx *bbolt.Tx) (func() error, error) {
		d, err := readNames(tx, known.shared)
		if err != nil {
			return nil, err
		}
		return func() error {
			learnt, err := d.put(tx.Bucket(namesBucket), fresh)
			tx.OnCommit(func() { s.names.Store(learnt) }) // in the order of the commits
			return err
		}, nil
	})
}

// put stores the names that d lacks and returns a dictionary with them.
func (d *dictionary) put(b *bbolt.Bucket, names []string) (*dictionary, error) {
	more := &dictionary{
		names: slices.Clone(d.names), numbers: make(map[string]uint64, len(d.names)+len(names)),
		shared: d.shared,
	}
	for i, name := range more.names {
		more.numbers[name] = uint64(i + 1)
	}
	for _, name := range names {
		if more.numbers[name] != 0 || len(more.names) == maxNames {
			continue
		}
		more.names = append(more.names, name)
		n := uint64(len(more.names))
		more.numbers[name] = n
		if err := b.Put(binary.BigEndian.AppendUint16(nil, uint16(n)), []byte(name)); err != nil {
			return nil, err
		}
	}
	return more, nil
}
