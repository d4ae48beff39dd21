package picture

// A lossless WebP picture may have its pixels coded by groups of five tables, of which an image
// before them names one for each tile. The decoder makes as many groups as the largest name says,
// however few tiles there are, and ten bytes of a file make a group of 45 KiB. So that image is
// read here first.

// maxGroups is how many groups a picture may have: libwebp writes no more. All of them take less
// than 150 MiB.
const maxGroups = 2600

// groups returns how many groups of tables a decoder makes for the stream of a picture of w by h
// pixels, 0 if the stream is damaged. With a head the stream begins with a size of its own.
func groups(data []byte, w, h int, hasHead bool) int {
	s := &stream{data: data}
	if hasHead {
		if s.read(8) != 0x2f {
			return 0
		}
		w, h = s.read(14)+1, s.read(14)+1
		if s.read(4)>>1 != 0 { // the first bit is a hint
			return 0
		}
	}
	if w > maxSide || h > maxSide || w*h > maxPixels {
		return 0
	}
	const predictor, color, green, palette = 0, 1, 2, 3
	for range 4 {
		if s.read(1) == 0 {
			break
		}
		switch s.read(2) {
		case predictor, color:
			size := s.read(3) + 2
			s.largest(tiles(w, size), tiles(h, size))
		case green:
		case palette:
			n := s.read(8) + 1
			s.largest(n, 1)
			switch {
			case n <= 2:
				w = tiles(w, 3)
			case n <= 4:
				w = tiles(w, 2)
			case n <= 16:
				w = tiles(w, 1)
			}
		}
	}
	s.cache()
	n := 1
	if s.read(1) == 1 {
		size := s.read(3) + 2
		n += s.largest(tiles(w, size), tiles(h, size))
	}
	if s.wrong {
		return 0
	}
	return n
}

// tiles returns how many tiles of 2^size pixels there are in a line.
func tiles(pixels, size int) int { return (pixels + 1<<size - 1) >> size }

// A stream is read bit by bit, the lowest first.
type stream struct {
	data  []byte
	at    int  // in bits
	wrong bool // it is not as it must be
}

func (s *stream) read(n int) (value int) {
	for i := range n {
		if s.at>>3 >= len(s.data) {
			s.wrong = true
			return 0
		}
		value |= int(s.data[s.at>>3]>>(s.at&7)&1) << i
		s.at++
	}
	return value
}

// cache reads how many colors a cache has.
func (s *stream) cache() int {
	if s.read(1) == 0 {
		return 0
	}
	n := s.read(4)
	if n < 1 || n > 11 {
		s.wrong = true
		return 0
	}
	return 1 << n
}

// The symbols of the first table: literals, lengths, and then colors of the cache.
const (
	literals = 256
	lengths  = literals + 24
	offsets  = 40
)

// largest reads an image of one group, and returns the largest number that the red and the green of
// a pixel make. What a pixel copies was literal before, so these alone are looked at.
func (s *stream) largest(w, h int) (most int) {
	green := s.table(lengths + s.cache())
	red, blue, alpha, offset := s.table(literals), s.table(literals), s.table(literals), s.table(offsets)
	for p, all := 0, w*h; p < all && !s.wrong; {
		switch symbol := s.symbol(green); {
		case symbol < literals:
			most = max(most, s.symbol(red)<<8|symbol)
			s.symbol(blue)
			s.symbol(alpha)
			if p++; len(green.symbols) == 1 && len(red.symbols) == 1 &&
				len(blue.symbols) == 1 && len(alpha.symbols) == 1 {
				return most // as all pixels are
			}
		case symbol < lengths:
			n := s.number(symbol - literals)
			s.number(s.symbol(offset))
			s.wrong = s.wrong || p == 0 || p+n > all
			p += n
		default:
			p++
		}
	}
	return most
}

// number reads a length or a distance.
func (s *stream) number(symbol int) int {
	if symbol < 4 {
		return symbol + 1
	}
	more := (symbol - 2) >> 1
	return (2+symbol&1)<<more + s.read(more) + 1
}

// A table has symbols in the order of their codes, and how many codes are of each length. One
// symbol alone takes no bits.
type table struct {
	symbols []int
	of      [16]int
}

// orderOfLengths is the order in which the lengths of the codes of lengths are given.
var orderOfLengths = [19]int{17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}

// table reads a table of symbols below size.
func (s *stream) table(size int) table {
	if s.read(1) == 1 {
		two, bits := s.read(1) == 1, 1
		if s.read(1) == 1 {
			bits = 8
		}
		t := table{symbols: []int{s.read(bits)}}
		if two {
			t.symbols = append(t.symbols, s.read(8))
			t.of[1] = 2
		}
		for _, symbol := range t.symbols {
			s.wrong = s.wrong || symbol >= size
		}
		return t
	}
	var codes [19]int
	given := s.read(4) + 4
	if given > len(codes) {
		s.wrong = true
		return table{}
	}
	for _, i := range orderOfLengths[:given] {
		codes[i] = s.read(3)
	}
	of := s.tableOf(codes[:])
	most := size
	if s.read(1) == 1 {
		most = s.read(2+2*s.read(3)) + 2
	}
	sizes := make([]int, 0, size)
	for last := 8; len(sizes) < size && most > 0 && !s.wrong; most-- {
		n, value := 1, s.symbol(of)
		switch value {
		case 16:
			n, value = 3+s.read(2), last
		case 17:
			n, value = 3+s.read(3), 0
		case 18:
			n, value = 11+s.read(7), 0
		}
		if value != 0 {
			last = value
		}
		for range n {
			sizes = append(sizes, value)
		}
	}
	if len(sizes) > size || most > size {
		s.wrong = true
	}
	return s.tableOf(sizes)
}

// tableOf returns the table of codes with these lengths, which leave no code over.
func (s *stream) tableOf(sizes []int) (t table) {
	for size := 1; size < len(t.of); size++ {
		for symbol, is := range sizes {
			if is == size {
				t.symbols = append(t.symbols, symbol)
				t.of[size]++
			}
		}
	}
	left := 1
	for _, n := range t.of[1:] {
		left = left<<1 - n
		s.wrong = s.wrong || left < 0 && len(t.symbols) > 1
	}
	s.wrong = s.wrong || len(t.symbols) == 0 || left != 0 && len(t.symbols) > 1
	return t
}

// symbol reads a symbol.
func (s *stream) symbol(t table) int {
	if len(t.symbols) == 1 {
		return t.symbols[0]
	}
	code, first, at := 0, 0, 0
	for _, n := range t.of[1:] {
		code |= s.read(1)
		if code-first < n {
			return t.symbols[at+code-first]
		}
		at, first, code = at+n, (first+n)<<1, code<<1
	}
	s.wrong = true
	return 0
}
