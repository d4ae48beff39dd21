package schema

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// An Order is an order of public prompts.
type Order string

// The orders. In all but Newest, votes move prompts, and among equals the newer comes first.
const (
	Newest    Order = "newest"
	MostLiked Order = "most-liked" // by score
	Hot       Order = "hot"        // by prompt.Hot
	// by prompt.Best if there are votes enough, the others after those by Hot
	Best Order = "best"
	// by prompt.Trending
	Trending Order = "trending"
)

// A Ranking is an order that votes change, and the index that has its rows. They lie in buckets,
// which are partitions; ascending keys are the best first.
type Ranking struct {
	Table  func(Tables) string
	Prefix string // of the buckets
	Key    func(prompt.Prompt) table.Key
	Bucket func(row string) (string, bool) // in which a row key lies, and whether it is one
}

// Rankings are the orders of public prompts that votes change.
var Rankings = map[Order]Ranking{
	MostLiked: {
		Table:  func(t Tables) string { return t.MostLiked },
		Prefix: likedPrefix,
		Key:    func(p prompt.Prompt) table.Key { return likedKey(p.Score(), p.ID) },
		Bucket: func(row string) (string, bool) {
			score, _, ok := parseLiked(row)
			return likedPrefix + bucketDesc(score), ok
		},
	},
	Hot: {
		Table:  func(t Tables) string { return t.Hot },
		Prefix: hotPrefix,
		Key:    func(p prompt.Prompt) table.Key { return hotKey(hotPart(p), p.ID) },
		Bucket: func(row string) (string, bool) {
			part, id, ok := parseHot(row)
			return hotKey(part, id).Partition, ok
		},
	},
	Best: {
		Table:  func(t Tables) string { return t.Best },
		Prefix: bestPrefix,
		Key:    func(p prompt.Prompt) table.Key { return bestKey(bestPart(p), p.ID) },
		Bucket: func(row string) (string, bool) {
			part, id, ok := parseBest(row)
			return bestKey(part, id).Partition, ok
		},
	},
	Trending: {
		Table:  func(t Tables) string { return t.Trending },
		Prefix: trendPrefix,
		Key:    func(p prompt.Prompt) table.Key { return trendKey(trendPart(p), p.ID) },
		Bucket: func(row string) (string, bool) {
			part, id, ok := parseTrend(row)
			return trendKey(part, id).Partition, ok
		},
	},
}

// Moves reports whether votes move rows of a table.
func (t Tables) Moves(name string) bool {
	for _, r := range Rankings {
		if r.Table(t) == name {
			return true
		}
	}
	return false
}

const (
	hotSteps = 20        // in one unit of prompt.Hot: a row moves when it takes one
	maxHot   = 999_999   // units; a time after the year 9999 is in no id
	maxStep  = 999999999 // steps
	hotSlack = 1e-9      // what two processors may differ by
)

// hotPart is the step on which a prompt stands.
func hotPart(p prompt.Prompt) string {
	return strconv.Itoa(int(math.Floor(prompt.Hot(p.Tally, p.ID.Time())*hotSteps + hotSlack)))
}

// bestPart is the percentage of prompt.Best, or, with few votes, the step of prompt.Hot after a
// mark that sorts after all of those.
func bestPart(p prompt.Prompt) string {
	if int64(p.Likes)+int64(p.Dislikes) < prompt.MinBest {
		return unrated + hotPart(p)
	}
	return strconv.Itoa(int(math.Floor(100*prompt.Best(p.Tally) + hotSlack)))
}

const unrated = "h"

func hotKey(part string, id prompt.ID) table.Key {
	bucket, desc := hotDesc(part)
	return table.Key{Partition: hotPrefix + bucket, Row: desc + "|" + ByAge(id)}
}

// hotDesc returns a step as bucket and row keys have it. All before the first unit share a bucket.
func hotDesc(part string) (bucket, step string) {
	n, _ := strconv.Atoi(part) // parts come from hotPart or parseHot
	unit := int(math.Floor(float64(n) / hotSteps))
	return fmt.Sprintf("%06d", maxHot+1-max(unit, 1)), fmt.Sprintf("%010d", maxStep+1-n)
}

// parseHot returns the part and the id in a row key made by hotKey.
func parseHot(row string) (part string, id prompt.ID, ok bool) {
	desc, rest, _ := strings.Cut(row, "|")
	id, ok = ParseByAge(rest)
	n, err := strconv.Atoi(desc)
	part = strconv.Itoa(maxStep + 1 - n)
	return part, id, ok && err == nil && n > 0 && hotKey(part, id).Row == row
}

func bestKey(part string, id prompt.ID) table.Key {
	if step, few := strings.CutPrefix(part, unrated); few {
		bucket, desc := hotDesc(step)
		return table.Key{Partition: bestPrefix + unrated + bucket, Row: unrated + desc + "|" + ByAge(id)}
	}
	n, _ := strconv.Atoi(part)
	return table.Key{Partition: fmt.Sprintf("%s%02d", bestPrefix, 10-n/10), Row: fmt.Sprintf("%03d|", 100-n) + ByAge(id)}
}

// parseBest returns the part and the id in a row key made by bestKey.
func parseBest(row string) (part string, id prompt.ID, ok bool) {
	if rest, few := strings.CutPrefix(row, unrated); few {
		part, id, ok = parseHot(rest)
		return unrated + part, id, ok
	}
	desc, rest, _ := strings.Cut(row, "|")
	id, ok = ParseByAge(rest)
	n, err := strconv.Atoi(desc)
	part = strconv.Itoa(100 - n)
	return part, id, ok && err == nil && n >= 0 && n <= 100 && bestKey(part, id).Row == row
}

const (
	maxTrend = 9998  // units, the last of which begins after the year 2100
	midTrend = 50000 // before and after which there are places
)

// trendPart is the place of a prompt in prompt.Trending.
func trendPart(p prompt.Prompt) string { return strconv.Itoa(prompt.TrendingPlace(p.Tally)) }

// trendKey has all prompts with more weight of dislikes in one bucket, after that of prompts
// without votes.
func trendKey(part string, id prompt.ID) table.Key {
	n, _ := strconv.Atoi(part) // parts come from trendPart or parseTrend
	unit := -1
	if n >= 0 {
		unit = n / prompt.TrendingPlaces
	}
	return table.Key{
		Partition: fmt.Sprintf("%s%04d", trendPrefix, maxTrend-unit),
		Row:       fmt.Sprintf("%05d|", midTrend-n) + ByAge(id),
	}
}

// parseTrend returns the part and the id in a row key made by trendKey.
func parseTrend(row string) (part string, id prompt.ID, ok bool) {
	desc, rest, _ := strings.Cut(row, "|")
	id, ok = ParseByAge(rest)
	n, err := strconv.Atoi(desc)
	n = midTrend - n
	part = strconv.Itoa(n)
	return part, id, ok && err == nil && n > -midTrend && n < midTrend && trendKey(part, id).Row == row
}
