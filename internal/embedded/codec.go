package embedded

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"unsafe"

	"prompthub/internal/table"
)

// A stored row is one byte of version, 16 of ETag (a stamp in hex, as text so that it
// can be handed out as it is), the number of properties, and for each its type, name
// and value. Numbers are varints; a text has its length before it.
const (
	rowVersion = 1
	etagLen    = 16
	headerLen  = 1 + etagLen
)

var errDamaged = errors.New("damaged row")

// rowKey returns the key of a row. No key holds a 0x00, so rows sort by partition first.
func rowKey(partition, row string) []byte {
	key := make([]byte, 0, len(partition)+1+len(row))
	key = append(key, partition...)
	key = append(key, 0)
	return append(key, row...)
}

// encode returns the stored form of a row with room for its ETag, which seal fills in.
func encode(props table.Props) []byte {
	size := headerLen + binary.MaxVarintLen16
	for _, p := range props {
		size += 1 + binary.MaxVarintLen16 + len(p.Name) + binary.MaxVarintLen64 + len(p.Value.Str())
	}
	b := make([]byte, headerLen, size)
	b[0] = rowVersion
	b = binary.AppendUvarint(b, uint64(len(props)))
	for _, p := range props {
		b = append(b, byte(p.Value.Type()))
		b = appendText(b, p.Name)
		if p.Value.Type() == table.TypeString {
			b = appendText(b, p.Value.Str())
		} else {
			b = binary.AppendVarint(b, p.Value.Int())
		}
	}
	return b
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// seal writes the ETag made of stamp into value and returns it.
func seal(value []byte, stamp uint64) string {
	etag := value[1:headerLen]
	hex.Encode(etag, binary.BigEndian.AppendUint64(nil, stamp))
	return string(etag)
}

// etagOf returns the ETag of a stored row, as a view of value.
func etagOf(value []byte) ([]byte, error) {
	if len(value) < headerLen || value[0] != rowVersion {
		return nil, errDamaged
	}
	return value[1:headerLen], nil
}

// decode returns the row stored under key. All its strings share one copy of key and value.
func decode(key, value []byte) (table.Row, error) {
	if _, err := etagOf(value); err != nil {
		return table.Row{}, err
	}
	var b strings.Builder
	b.Grow(len(key) + len(value))
	b.Write(key)
	b.Write(value)
	all := b.String()

	partition, row, found := strings.Cut(all[:len(key)], "\x00")
	r := reader{rest: all[len(key)+headerLen:], bad: !found}
	props := r.props(nil)
	if r.bad || r.rest != "" {
		return table.Row{}, errDamaged
	}
	etag := all[len(key)+1:][:etagLen]
	return table.Row{Key: table.Key{Partition: partition, Row: row}, ETag: etag, Props: props}, nil
}

// view returns the properties of a stored row in place of those in props. They are valid as long as value is.
func view(value []byte, props table.Props) (table.Props, error) {
	if _, err := etagOf(value); err != nil {
		return nil, err
	}
	r := reader{rest: unsafe.String(unsafe.SliceData(value), len(value))[headerLen:]}
	props = r.props(props)
	if r.bad || r.rest != "" {
		return nil, errDamaged
	}
	return props, nil
}

// A reader takes a stored row apart from front to back. After the first thing that does
// not fit it is bad, and what it returns means nothing.
type reader struct {
	rest string
	bad  bool
}

// props returns what is left, in the room of old where that suffices.
func (r *reader) props(old table.Props) table.Props {
	n := r.uvarint()
	if n > uint64(len(r.rest)/3) { // damaged, for a property takes 3 bytes: do not make room for it
		r.bad = true
		return nil
	}
	props := slices.Grow(old[:0], int(n))[:n]
	for i := range props {
		t := r.text(1)
		if r.bad {
			return nil
		}
		props[i].Name = r.text(r.uvarint())
		props[i].Value = r.value(table.Type(t[0]))
	}
	return props
}

func (r *reader) value(t table.Type) table.Value {
	switch t {
	case table.TypeString:
		return table.String(r.text(r.uvarint()))
	case table.TypeInt32:
		return table.Int32(int32(r.varint())) // only an int32 is ever stored so
	case table.TypeInt64:
		return table.Int64(r.varint())
	case table.TypeBool:
		return table.Bool(r.varint() != 0)
	case table.TypeTime:
		return table.FromTicks(r.varint())
	}
	r.bad = true
	return table.Value{}
}

func (r *reader) text(n uint64) string {
	if n > uint64(len(r.rest)) {
		r.bad = true
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *reader) uvarint() uint64 {
	var n uint64
	for i := range min(len(r.rest), binary.MaxVarintLen64) {
		c := r.rest[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			r.rest = r.rest[i+1:]
			return n
		}
	}
	r.bad = true
	return 0
}

func (r *reader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1) // zigzag
}

// merge returns old with the values of changed put in.
func merge(old, changed table.Props) table.Props {
	merged := slices.Clone(old)
	for _, p := range changed {
		i := slices.IndexFunc(merged, func(q table.Prop) bool { return q.Name == p.Name })
		if i < 0 {
			merged = append(merged, p)
		} else {
			merged[i] = p
		}
	}
	return merged
}
