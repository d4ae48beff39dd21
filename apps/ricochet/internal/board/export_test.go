package board

import "math/rand/v2"

// Places reports whether the first try for a seed found room for everything.
func Places(seed uint64) bool {
	d := draft{rnd: rand.New(rand.NewPCG(seed, 0))}
	return d.place()
}
