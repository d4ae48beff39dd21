package prompt

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// A vote of an hour weighs twice as much as one of the week before, for ever: new votes outweigh
// old ones, and no weight changes as time passes (forward decay).
const (
	halfLife   = 7 * 24 // hours
	weightBits = 20     // of a vote of the first hour
	// lastHour is the last that weighs more than the one before, in the year 2100: whatever a clock
	// said, a sum takes two kilobytes at most.
	lastHour = 4000 * halfLife
	maxZeros = (lastHour/halfLife + 64) / 4 // that a Weight may say to go on with
)

// weights are those of the votes of each hour of the first week. All others are these, doubled.
var weights = func() (w [halfLife]int64) {
	for hour := range w {
		w[hour] = int64(math.Round(math.Exp2(weightBits + float64(hour)/halfLife)))
	}
	return w
}()

// A Weight is the sum of the weights of votes, likes less dislikes. Weights are whole numbers, so a
// sum is exact: it is the same in any order, and a vote that is taken back leaves nothing in it.
// Equal sums are equal texts: a sign, hexadecimal digits, then p and the count of zeros at their
// end; "" for none.
type Weight string

// weigh returns the weight of a vote.
func weigh(c Cast) *big.Int {
	hour := min(max((c.At.Unix()-rankedSince)/3600, 0), lastHour)
	x := big.NewInt(weights[hour%halfLife] * int64(c.Vote))
	return x.Lsh(x, uint(hour/halfLife))
}

// number returns w as one, 0 for what no Weight is.
func (w Weight) number() *big.Int {
	digits, zeros, _ := strings.Cut(string(w), "p")
	x, ok := new(big.Int).SetString(digits, 16)
	if !ok {
		return new(big.Int)
	}
	n, _ := strconv.Atoi(zeros) // "" is 0
	return x.Lsh(x, uint(4*min(max(n, 0), maxZeros)))
}

func weightOf(x *big.Int) Weight {
	if x.Sign() == 0 {
		return ""
	}
	digits := x.Text(16)
	short := strings.TrimRight(digits, "0")
	if zeros := len(digits) - len(short); zeros > 0 {
		short += "p" + strconv.Itoa(zeros)
	}
	return Weight(short)
}

// SumOf adds weights up.
func SumOf(all []Weight) Weight {
	var sum big.Int
	for _, w := range all {
		sum.Add(&sum, w.number())
	}
	return weightOf(&sum)
}

// changed returns the sum after one vote has changed.
func (w Weight) changed(was, now Cast) Weight {
	x := w.number()
	return weightOf(x.Add(x.Sub(x, weigh(was)), weigh(now)))
}

// Likes returns of how many likes of the first hour of 2024 the sum is, with seven digits: a text,
// because numbers end at 1.8e+308.
func (w Weight) Likes() string {
	x := new(big.Float).SetInt(w.number())
	return x.SetMantExp(x, -weightBits).Text('g', 7)
}

// bitsOf returns in how many bits a sum is, beyond those of one vote of the first hour, and its
// leading ones. It is not ok where the sum is less than such a vote.
func bitsOf(x *big.Int) (beyond int, leading int64, ok bool) {
	if beyond = x.BitLen() - 1 - weightBits; beyond < 0 {
		return 0, 0, false
	}
	return beyond, new(big.Int).Rsh(new(big.Int).Abs(x), uint(beyond)).Int64(), true
}
