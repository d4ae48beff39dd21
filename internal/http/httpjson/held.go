package httpjson

const (
	// memory is how many bytes the bodies and answers of all requests may have together. The smallest
	// instance has four times as many.
	memory = 128 << 20

	heldStep = 64 << 10 // bytes that are counted at a time
	heldFree = 4 << 10  // bytes that are not counted: a connection has such a buffer anyway
)

// A held is a body or an answer that grows, whose bytes count until the request has ended.
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
	h.of.held += more
	return nil
}

// release gives back what the request has held.
func (r *record) release() {
	if r.held > 0 {
		r.admission.memory.give(r.caller, r.held)
		r.held = 0
	}
}
