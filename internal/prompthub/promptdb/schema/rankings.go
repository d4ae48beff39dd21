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

// The orders. Among equals the newer comes first.
const (
	Newest    Order = "newest"
	Relevance Order = "relevance" // of a search for words alone: it has no index
	MostLiked Order = "most-liked"
	Hot       Order = "hot"
	Best      Order = "best"
	Trending  Order = "trending"
)

// An OrderInfo is what doors say of an order.
type OrderInfo struct {
	Order
	Title string // for people
	Doc   string // which prompts come first
}

// Orders returns the orders of public prompts: first the default of a search for words, then that
// of other lists.
func Orders() []OrderInfo {
	all := []OrderInfo{
		{Relevance, "Relevance", "first the exact title, then those that have most of what the words tell: rare words, words of titles and words near to each other count most; without words it is newest"},
		{Order: Newest, Title: "Newest"},
	}
	for _, r := range Rankings {
		all = append(all, r.OrderInfo)
	}
	return all
}

// A Ranking is an order with an index of its own. Its rows lie in buckets, which are partitions;
// ascending keys are the best first.
type Ranking struct {
	OrderInfo
	Prefix string // of the buckets
	Table  func(Tables) string

	code  string // names the index in the property Pending, which is stored: never reused
	part  func(prompt.Prompt) string
	key   func(part string, id prompt.ID) table.Key
	parse func(row string) (part string, id prompt.ID, ok bool) // the inverse of key
	// properties of its rows in addition to the summary
	props    func(part string) table.Props
	programs bool // whether programs are shown lists of it
}

// Rankings are the orders of public prompts but Newest. A new one is an entry here, with its key
// and its table in Tables; projection, repair, anti-entropy, verify, reindex and all doors follow.
var Rankings = []Ranking{
	{
		OrderInfo: OrderInfo{MostLiked, "Most liked", "by likes - dislikes"},
		Prefix:    likedPrefix,
		Table:     func(t Tables) string { return t.MostLiked },
		code:      codeLiked,
		part:      func(p prompt.Prompt) string { return strconv.Itoa(int(p.Score())) },
		key:       func(part string, id prompt.ID) table.Key { return likedKey(scoreOf(part), id) },
		parse: func(row string) (string, prompt.ID, bool) {
			score, id, ok := parseLiked(row)
			return strconv.Itoa(int(score)), id, ok
		},
		props: func(part string) table.Props {
			return table.Props{{Name: "Score", Value: table.Int32(scoreOf(part))}}
		},
		programs: true,
	},
	{
		OrderInfo: OrderInfo{Hot, "Hot", "ten times the score is worth one week of age"},
		Prefix:    hotPrefix,
		Table:     func(t Tables) string { return t.Hot },
		code:      "o",
		part:      hotPart,
		key:       hotKey,
		parse:     parseHot,
	},
	{
		OrderInfo: OrderInfo{Best, "Best", "by the share of likes, as far as its votes make sure of it"},
		Prefix:    bestPrefix,
		Table:     func(t Tables) string { return t.Best },
		code:      "b",
		part:      bestPart,
		key:       bestKey,
		parse:     parseBest,
	},
	{
		OrderInfo: OrderInfo{
			Trending, "Trending",
			"by likes - dislikes, where a vote counts twice as much as one of a week before",
		},
		Prefix: trendPrefix,
		Table:  func(t Tables) string { return t.Trending },
		code:   "r",
		part:   trendPart,
		key:    trendKey,
		parse:  parseTrend,
	},
}

// RankingOf returns the ranking of an order other than Newest.
func RankingOf(order Order) Ranking {
	for _, r := range Rankings {
		if r.Order == order {
			return r
		}
	}
	return Ranking{}
}

// Key returns the key of a prompt's row.
func (r Ranking) Key(p prompt.Prompt) table.Key { return r.key(r.part(p), p.ID) }

// Bucket returns in which partition a row key lies, and whether it is one.
func (r Ranking) Bucket(row string) (string, bool) {
	part, id, ok := r.parse(row)
	if !ok {
		return "", false
	}
	return r.key(part, id).Partition, true
}

// indexesOfRankings returns the index of each ranking.
func indexesOfRankings() (all []index) {
	for _, r := range Rankings {
		all = append(all, index{
			code:  r.code,
			table: r.Table,
			parts: func(p Record) []string { return ranked(p.Prompt, r.part) },
			key:   r.key,
			parse: func(key table.Key) (string, prompt.ID, bool) { return r.parse(key.Row) },
			props: func(summaryProps table.Props, part string, _ Record) table.Props {
				if r.props == nil {
					return summaryProps
				}
				return with(summaryProps, r.props(part)...)
			},
			programs: r.programs,
		})
	}
	return all
}

// Moves reports whether rows of a table move, by votes or by each change.
func (t Tables) Moves(name string) bool {
	if name == t.SearchLog {
		return true
	}
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
	return table.Key{
		Partition: fmt.Sprintf("%s%02d", bestPrefix, 10-n/10),
		Row:       fmt.Sprintf("%03d|", 100-n) + ByAge(id),
	}
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
