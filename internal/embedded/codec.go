package embedded

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"strings"
	"unsafe"

	"prompthub/internal/table"
)

// A stored row is one byte of version, 8 of the stamp that makes its ETag, the number of
// properties, and for each a number that holds the type and which name of the dictionary it has,
// and its value. A name that the dictionary lacks has the number 0 and follows. Numbers are
// varints; a text has its length before it. A text that an earlier property has too is stored as
// the place of that one, since rows of indexes hold titles, slugs and excerpts twice.
//
// Rows of the first version, which older programs wrote, hold the ETag in hex, and each property
// its type in a byte and its name. They stay as they are until they are written again.
const (
	firstVersion = 1
	rowVersion   = 2
	etagLen      = 16 // of the text
	stampLen     = 8
	headerLen    = 1 + stampLen
	typeBits     = 3

	typeAgain  = 1<<typeBits - 1 // the text of an earlier property
	againBytes = 2               // a text that is shorter is stored again
)

// rowKey returns the key of a row. No key holds a 0x00, so rows sort by partition first.
func rowKey(partition, row string) []byte {
	key := make([]byte, 0, len(partition)+1+len(row))
	key = append(key, partition...)
	key = append(key, 0)
	return append(key, row...)
}

// encode returns the stored form of a row with room for its stamp, which seal fills in.
func (d *dictionary) encode(props table.Props) []byte {
	size := headerLen + binary.MaxVarintLen16
	for _, p := range props {
		size += binary.MaxVarintLen32 + binary.MaxVarintLen64 + len(p.Value.Str())
	}
	b := make([]byte, headerLen, size)
	b[0] = rowVersion
	b = binary.AppendUvarint(b, uint64(len(props)))
	for i, p := range props {
		number, t := d.numbers[p.Name], p.Value.Type()
		earlier := again(props[:i], p.Value)
		if earlier >= 0 {
			t = typeAgain
		}
		b = binary.AppendUvarint(b, number<<typeBits|uint64(t))
		if number == 0 {
			b = appendText(b, p.Name)
		}
		switch t {
		case typeAgain:
			b = binary.AppendUvarint(b, uint64(earlier))
		case table.TypeString:
			b = appendText(b, p.Value.Str())
		default:
			b = binary.AppendVarint(b, p.Value.Int())
		}
	}
	return b
}

// again returns which of some properties has a text already, -1 where none has.
func again(props table.Props, v table.Value) int {
	if v.Type() != table.TypeString || len(v.Str()) < againBytes {
		return -1
	}
	return slices.IndexFunc(props, func(p table.Prop) bool { return p.Value == v })
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// seal writes stamp into value and returns the ETag made of it.
func seal(value []byte, stamp uint64) string {
	binary.BigEndian.PutUint64(value[1:headerLen], stamp)
	return hex.EncodeToString(value[1:headerLen])
}

// header returns the ETag of a stored row and what follows it.
func header(value []byte) (etag [etagLen]byte, rest []byte, err error) {
	switch {
	case len(value) >= headerLen && value[0] == rowVersion:
		hex.Encode(etag[:], value[1:headerLen])
		return etag, value[headerLen:], nil
	case len(value) > etagLen && value[0] == firstVersion:
		return [etagLen]byte(value[1:]), value[1+etagLen:], nil
	}
	return etag, nil, table.ErrDamaged
}

// decode returns the row stored under key. All its strings share one copy of key and value, but for
// the names.
func (d *dictionary) decode(key, value []byte) (table.Row, error) {
	etag, rest, err := header(value)
	if err != nil {
		return table.Row{}, err
	}
	var b strings.Builder
	b.Grow(len(key) + len(etag) + len(rest))
	b.Write(key)
	b.Write(etag[:])
	b.Write(rest)
	all := b.String()

	partition, row, found := strings.Cut(all[:len(key)], "\x00")
	r := reader{rest: all[len(key)+etagLen:], version: value[0], names: d, bad: !found}
	props := r.props(nil)
	if r.bad || r.rest != "" {
		return table.Row{}, table.ErrDamaged
	}
	return table.Row{Key: table.Key{Partition: partition, Row: row}, ETag: all[len(key):][:etagLen], Props: props}, nil
}

// view returns the properties of a stored row in place of those in props. They are valid as long as
// value is.
func (d *dictionary) view(value []byte, props table.Props) (table.Props, error) {
	_, rest, err := header(value)
	if err != nil {
		return nil, err
	}
	text := unsafe.String(unsafe.SliceData(rest), len(rest)) //nolint:gosec // nobody changes value, and props are valid as long as it is
	r := reader{rest: text, version: value[0], names: d}
	props = r.props(props)
	if r.bad || r.rest != "" {
		return nil, table.ErrDamaged
	}
	return props, nil
}

// A reader takes a stored row apart from front to back. After the first thing that does
// not fit it is bad, and what it returns means nothing.
type reader struct {
	rest    string
	version byte
	names   *dictionary
	bad     bool
}

// props returns what is left, in the room of old where that suffices.
func (r *reader) props(old table.Props) table.Props {
	n := r.uvarint()
	if n > uint64(len(r.rest)/2) { // damaged, for a property takes 2 bytes: do not make room for it
		r.bad = true
		return nil
	}
	props := slices.Grow(old[:0], int(n))[:n]
	for i := range props {
		name, t := r.name()
		if r.bad {
			return nil
		}
		if props[i].Name = name; t == typeAgain {
			props[i].Value = r.again(props[:i])
		} else {
			props[i].Value = r.value(t)
		}
	}
	return props
}

// name returns the name and the type of the next property.
func (r *reader) name() (string, table.Type) {
	if r.version == firstVersion {
		t := r.text(1)
		if r.bad {
			return "", 0
		}
		return r.text(r.uvarint()), table.Type(t[0])
	}
	head := r.uvarint()
	t := table.Type(head & (1<<typeBits - 1))
	if head>>typeBits == 0 {
		return r.text(r.uvarint()), t
	}
	name := r.names.name(head >> typeBits)
	r.bad = r.bad || name == ""
	return name, t
}

// again returns the text of one of the properties before.
func (r *reader) again(props table.Props) table.Value {
	n := r.uvarint()
	if n >= uint64(len(props)) || props[n].Value.Type() != table.TypeString {
		r.bad = true
		return table.Value{}
	}
	return props[n].Value
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
