package httpjson

const (
	// memory is how many bytes the bodies and answers of all requests may have together. The smallest
	// instance has four times as many.
	memory = 128 << 20

	heldStep = 64 << 10 // bytes that are counted at a time
	heldFree = 4 << 10  // bytes that are not counted: a connection has such a buffer anyway
	heldRows = 6 << 20  // bytes of rows that count: a request that reads more lets go of them meanwhile
)

// A held is a body, rows that were read, or an answer: it grows, and its bytes count until the
// request has ended.
type held struct {
	of      *record
	counted int
}

// grow counts the bytes of a buffer, which has n of them now. The error says that there is no room
// for them.
func (h *held) grow(n int) error {
	if n <= max(h.counted, heldFree) || h.of.admission == nil {
		return nil
	}
	more := (n - h.counted + heldStep - 1) / heldStep * heldStep
	if err := h.of.admission.memory.take(h.of.caller, more); err != nil {
		return err
	}
	h.counted += more
	h.of.held.Add(int64(more))
	return nil
}

// read counts the bytes of rows that a request has read.
func (r *record) read(bytes int) error {
	r.rows = min(r.rows+bytes, heldRows)
	return r.ofRows.grow(r.rows)
}

// release gives back what the request has held.
func (r *record) release() {
	if held := r.held.Swap(0); held > 0 {
		r.admission.memory.give(r.caller, int(held))
	}
}
