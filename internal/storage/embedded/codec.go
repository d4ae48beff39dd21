package embedded

import (
	"encoding/binary"
	"encoding/hex"
	"hash/crc32"
	"slices"
	"strings"
	"unsafe"

	"prompthub/internal/storage/table"
)

// A stored row is one byte of version, 8 of the stamp that makes its ETag, 4 of a checksum of all
// else and of its key, the number of properties, and for each a number that holds the type and
// which name of the dictionary it has, and its value. A name that the dictionary lacks has the
// number 0 and follows. Numbers are varints; a text has its length before it. A text that an
// earlier property has too is stored as the place of that one, since rows of indexes hold titles,
// slugs and excerpts twice, and one that the key has, as ids of prompts and authors, as a place
// after all of these. One that rows share (shared.go) is stored as a reference, and the row has a
// version of its own. Versions of before have no checksum; such rows get one when they are written
// again.
const (
	rowVersion           = 4
	sharingVersion       = 5
	rowVersionNoSum      = 2
	sharingVersionNoSum  = 3
	etagLen              = 16 // of the text
	stampLen             = 8
	sumLen               = 4
	headerLen            = 1 + stampLen + sumLen
	headerLenWithoutASum = 1 + stampLen
	typeBits             = 3
	typeMask             = 1<<typeBits - 1

	typeAgain  = typeMask     // the text of an earlier property, or of the key
	typeShared = typeMask - 1 // a text that rows share
	againBytes = 2            // a text that is shorter is stored again
)

// Texts of a key that properties may have, too: the part after the last bar of the row, and after
// the first one of the partition.
const (
	ofRow = iota
	ofPartition
	keyTexts
)

func keyText(key table.Key, which int) string {
	if which == ofRow {
		return key.Row[strings.LastIndexByte(key.Row, '|')+1:]
	}
	return key.Partition[strings.IndexByte(key.Partition, '|')+1:]
}

// A reference is where a row must refer to a text that it shares.
type reference struct {
	head, at int // where the type and the ref are
	text     string
}

// encode returns the stored form of a row with room for its stamp, which seal fills in, and for the
// references to texts that it shares, which replace fills in.
func (d *dictionary) encode(key table.Key, props table.Props) ([]byte, []reference) {
	size := headerLen + binary.MaxVarintLen16
	for _, p := range props {
		size += binary.MaxVarintLen32 + binary.MaxVarintLen64 + len(p.Value.Str())
	}
	return d.encodeIn(make([]byte, 0, size), key, props)
}

// encodeIn is encode in the place of an empty b, if that is enough.
func (d *dictionary) encodeIn(b []byte, key table.Key, props table.Props) ([]byte, []reference) {
	var shared []reference
	owner, texts := ownerOf(key), [keyTexts]string{ofRow: keyText(key, ofRow), ofPartition: keyText(key, ofPartition)}
	b = append(b, make([]byte, headerLen)...)
	b[0] = rowVersion
	b = binary.AppendUvarint(b, uint64(len(props)))
	for i, p := range props {
		number, t := d.numbers[p.Name], p.Value.Type()
		earlier := d.again(texts, owner, props[:i], p.Value)
		switch {
		case d.shares(owner, p):
			b[0], t = sharingVersion, typeShared
		case earlier >= 0:
			t = typeAgain
		}
		head := len(b)
		b = binary.AppendUvarint(b, number<<typeBits|uint64(t))
		if number == 0 {
			b = appendText(b, p.Name)
		}
		switch t {
		case typeAgain:
			b = binary.AppendUvarint(b, uint64(earlier))
		case typeShared:
			shared = append(shared, reference{head: head, at: len(b), text: p.Value.Str()})
			b = append(b, make([]byte, len(ref{}))...)
		case table.TypeString:
			b = appendText(b, p.Value.Str())
		default:
			b = binary.AppendVarint(b, p.Value.Int())
		}
	}
	return b, shared
}

// again returns which of some properties has a text already or, after these, which of the texts of
// the key is it; -1 where none is. One that is shared does not count: a viewer may leave it out.
func (d *dictionary) again(texts [keyTexts]string, owner string, props table.Props, v table.Value) int {
	if v.Type() != table.TypeString || len(v.Str()) < againBytes {
		return -1
	}
	if i := slices.IndexFunc(props, func(p table.Prop) bool { return p.Value == v && !d.shares(owner, p) }); i >= 0 {
		return i
	}
	if i := slices.Index(texts[:], v.Str()); i >= 0 {
		return len(props) + i
	}
	return -1
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// seal writes stamp and the checksum into the value of a packed key, and returns the ETag made of
// the stamp.
func seal(key, value []byte, stamp uint64) string {
	setStamp(key, value, stamp)
	return hex.EncodeToString(value[1 : 1+stampLen])
}

// setStamp is seal without the ETag.
func setStamp(key, value []byte, stamp uint64) {
	binary.BigEndian.PutUint64(value[1:], stamp)
	binary.BigEndian.PutUint32(value[1+stampLen:], sumOf(key, value))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sumOf returns the checksum of a stored row under its packed key.
func sumOf(key, value []byte) uint32 {
	sum := crc32.Update(0, castagnoli, key)
	sum = crc32.Update(sum, castagnoli, value[:1+stampLen])
	return crc32.Update(sum, castagnoli, value[headerLen:])
}

// isIntact reports whether a stored row is what was written under its packed key, as far as it has
// a checksum. One that is too short is for body to refuse.
func isIntact(key, value []byte) bool {
	return !hasSum(value) || binary.BigEndian.Uint32(value[1+stampLen:]) == sumOf(key, value)
}

func hasSum(value []byte) bool {
	return len(value) >= headerLen && (value[0] == rowVersion || value[0] == sharingVersion)
}

// sharesTexts reports whether rows of a version may refer to texts.
func sharesTexts(version byte) bool {
	return version == sharingVersion || version == sharingVersionNoSum
}

// header returns the ETag of a stored row and the rest.
func header(value []byte) (etag [etagLen]byte, rest []byte, err error) {
	if rest, err = body(value); err != nil {
		return etag, nil, err
	}
	hex.Encode(etag[:], value[1:1+stampLen])
	return etag, rest, nil
}

// body returns what follows the header of a stored row.
func body(value []byte) ([]byte, error) {
	switch {
	case hasSum(value):
		return value[headerLen:], nil
	case len(value) >= headerLenWithoutASum && (value[0] == rowVersionNoSum || value[0] == sharingVersionNoSum):
		return value[headerLenWithoutASum:], nil
	}
	return nil, table.ErrDamaged
}

// decode returns the row stored under the key with this plain form. All its strings share one copy
// of both, but for the names and for those in texts.
func (d *dictionary) decode(plain, value []byte, texts texts) (table.Row, error) {
	etag, rest, err := header(value)
	if err != nil {
		return table.Row{}, err
	}
	var b strings.Builder
	b.Grow(len(plain) + len(etag) + len(rest))
	b.Write(plain)
	b.Write(etag[:])
	b.Write(rest)
	all := b.String()

	key := keyOf(all[:len(plain)])
	r := reader{rest: all[len(plain)+etagLen:], version: value[0], names: d, key: key, texts: texts}
	props := r.props(nil)
	if r.bad || r.rest != "" {
		return table.Row{}, table.ErrDamaged
	}
	return table.Row{Key: key, ETag: all[len(plain):][:etagLen], Props: props}, nil
}

// A viewer reads properties of rows one after the other, in the same room.
type viewer struct {
	names   *dictionary
	texts   texts
	asks    []string // for which properties, nil for all
	enough  bool     // whether to look no further than these
	numbers []uint64 // of these
	all     table.Props
	some    table.Props
}

func (d *dictionary) viewer(texts texts, asks []string) viewer {
	v := viewer{names: d, texts: texts, asks: asks, some: table.Props{}} // which are not nil where it finds none
	for _, name := range asks {
		if number := d.numbers[name]; number > 0 {
			v.numbers = append(v.numbers, number)
		}
	}
	return v
}

// wants reports whether it reads a property, whose number is 0 where it has none.
func (v *viewer) wants(number uint64, name string) bool {
	return v.asks == nil || slices.Contains(v.numbers, number) || number == 0 && slices.Contains(v.asks, name)
}

// view returns the properties of a row. They are valid as long as value is, and its key in its
// plain form, and until the next call.
func (v *viewer) view(plain, value []byte) (table.Props, error) {
	rest, err := body(value)
	if err != nil {
		return nil, err
	}
	r := reader{
		rest: alias(rest), version: value[0], names: v.names,
		key: keyOf(alias(plain)), texts: v.texts, viewer: v,
	}
	v.all = r.props(v.all)
	if r.bad || r.rest != "" {
		return nil, table.ErrDamaged
	}
	if v.asks == nil {
		return v.all, nil
	}
	return v.some, nil
}

// alias returns b as a text, which is valid while b does not change.
func alias(b []byte) string {
	return unsafe.String(unsafe.SliceData(b), len(b)) //nolint:gosec // see above
}

// A reader takes a stored row apart from front to back. After the first thing that does
// not fit it is bad, and what it returns means nothing.
type reader struct {
	rest    string
	version byte
	names   *dictionary
	key     table.Key
	texts   texts
	viewer  *viewer // nil where what it returns is valid for good
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
	if r.viewer != nil {
		r.viewer.some = r.viewer.some[:0]
	}
	for i := range props {
		number, name, t := r.name()
		if r.bad {
			return nil
		}
		wanted := r.viewer == nil || r.viewer.wants(number, name)
		props[i].Name = name
		switch {
		case t == typeAgain:
			props[i].Value = r.again(props[:i])
		case t == typeShared && sharesTexts(r.version):
			props[i].Value = r.shared(wanted)
		default:
			props[i].Value = r.value(t)
		}
		if wanted && r.viewer != nil && r.viewer.asks != nil {
			r.viewer.some = append(r.viewer.some, props[i])
			if r.viewer.enough && len(r.viewer.some) == len(r.viewer.asks) {
				r.rest = "" // be it damaged or not
				return props[:i+1]
			}
		}
	}
	return props
}

// name returns the next property: its number, 0 where it has none, its name, and its type.
func (r *reader) name() (uint64, string, table.Type) {
	head := r.uvarint()
	number, t := head>>typeBits, table.Type(head&typeMask)
	if number == 0 {
		return 0, r.text(r.uvarint()), t
	}
	name := r.names.name(number)
	r.bad = r.bad || name == ""
	return number, name, t
}

// again returns the text of one of the properties before, or of the key.
func (r *reader) again(props table.Props) table.Value {
	n := r.uvarint()
	if which := n - uint64(len(props)); which < keyTexts {
		return table.String(keyText(r.key, int(which)))
	}
	if n >= uint64(len(props)) || props[n].Value.Type() != table.TypeString {
		r.bad = true
		return table.Value{}
	}
	return props[n].Value
}

// shared returns a text that rows share, or nothing where it is not wanted.
func (r *reader) shared(wanted bool) table.Value {
	var at ref
	copy(at[:], r.text(uint64(len(at))))
	if r.bad || !wanted {
		return table.Value{}
	}
	s, ok := r.texts.text(ownerOf(r.key), at)
	if r.bad = !ok; r.viewer == nil {
		s = strings.Clone(s)
	}
	return table.String(s)
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
