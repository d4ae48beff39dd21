package table

import (
	"fmt"
	"slices"
	"time"
)

// A Type is the type of a Value, named as in the Entity Data Model.
type Type uint8

// The types.
const (
	TypeString Type = iota + 1
	TypeInt32
	TypeInt64
	TypeBool
	TypeTime // UTC, in ticks of 100 ns
)

// A Value is one property's value. Values are comparable with ==.
type Value struct {
	t Type
	s string
	n int64
}

// A Prop is a named value. Names are C# identifiers.
type Prop struct {
	Name  string
	Value Value
}

// Props are the properties of a row, each name once. Their order carries no meaning.
type Props []Prop

// String returns a string value. Invalid UTF-8 does not survive every store.
func String(s string) Value { return Value{t: TypeString, s: s} }

// Int32 returns a 32-bit integer.
func Int32(n int32) Value { return Value{t: TypeInt32, n: int64(n)} }

// Int64 returns a 64-bit integer.
func Int64(n int64) Value { return Value{t: TypeInt64, n: n} }

// Bool returns a truth value.
func Bool(b bool) Value {
	if b {
		return Value{t: TypeBool, n: 1}
	}
	return Value{t: TypeBool}
}

// Time returns an instant, cut to 100 ns. The zero time is not representable: leave the
// property out.
func Time(t time.Time) Value { return Value{t: TypeTime, n: Ticks(t)} }

// FromTicks returns an instant given in ticks.
func FromTicks(ticks int64) Value { return Value{t: TypeTime, n: ticks} }

// Type returns the type, zero for the zero Value.
func (v Value) Type() Type { return v.t }

// Str returns a string's text, "" for every other type.
func (v Value) Str() string { return v.s }

// Int returns the number of an Int32 or Int64, 0 or 1 for a Bool, the ticks of a Time.
func (v Value) Int() int64 { return v.n }

// Bool reports whether the value is true.
func (v Value) Bool() bool { return v.t == TypeBool && v.n == 1 }

// Time returns the instant of a Time, the zero time for every other type.
func (v Value) Time() time.Time {
	if v.t != TypeTime {
		return time.Time{}
	}
	return TimeOf(v.n)
}

// String returns the value as tests and errors show it.
func (v Value) String() string {
	switch v.t {
	case TypeString:
		return fmt.Sprintf("%q", v.s)
	case TypeBool:
		return fmt.Sprint(v.n == 1)
	case TypeTime:
		return v.Time().Format(time.RFC3339Nano)
	case TypeInt32, TypeInt64:
		return fmt.Sprint(v.n)
	}
	return "none"
}

// Get returns the value of a name, the zero Value where the row has none.
func (p Props) Get(name string) Value {
	for i := range p {
		if p[i].Name == name {
			return p[i].Value
		}
	}
	return Value{}
}

// of returns those with some names, all where names is nil.
func (p Props) of(names []string) Props {
	if names == nil {
		return p
	}
	return slices.DeleteFunc(slices.Clone(p), func(x Prop) bool { return !slices.Contains(names, x.Name) })
}

// Equal reports whether p and q hold the same values under the same names, in any order.
func (p Props) Equal(q Props) bool {
	if len(p) != len(q) {
		return false
	}
	for _, x := range p {
		if q.Get(x.Name) != x.Value || x.Value == (Value{}) {
			return false
		}
	}
	return true
}

const unixTicks = 621355968000000000 // ticks from year 1 to 1970

// MaxTicks is the last time that a value can have, the last tick of the year 9999.
const MaxTicks = 3155378975999999999

// Ticks returns t in ticks: 100 ns units since the year 1, as .NET counts them.
func Ticks(t time.Time) int64 {
	return unixTicks + t.Unix()*1e7 + int64(t.Nanosecond()/100)
}

// TimeOf is the inverse of Ticks.
func TimeOf(ticks int64) time.Time {
	n := ticks - unixTicks
	sec := n / 1e7
	rem := n % 1e7
	if rem < 0 {
		sec, rem = sec-1, rem+1e7
	}
	return time.Unix(sec, rem*100).UTC()
}
