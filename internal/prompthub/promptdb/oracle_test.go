package promptdb_test

import (
	"compress/flate"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// bySchema is a second oracle in addition to Verify, which shares the code that writes rows. It is
// written from the schema alone: names, keys and rules stand here as docs/design has them, and
// nothing of promptdb or prompt is called. It lists what is wrong with a store at rest.
func bySchema(store table.DB) []string {
	s := schema{rows: map[string]map[table.Key]table.Row{}, want: map[string]map[table.Key]bool{}}
	for _, name := range append(slices.Clone(indexNames), "Prompts", "PromptVotes", "PromptVotesByVoter") {
		s.rows[name] = map[table.Key]table.Row{}
		s.want[name] = map[table.Key]bool{}
		for row, err := range table.All(context.Background(), store, name, table.Range{}) {
			if err != nil {
				return []string{err.Error()}
			}
			s.rows[name][row.Key] = row
		}
	}
	for key, row := range s.rows["Prompts"] {
		if !strings.HasPrefix(key.Row, "!") {
			s.prompt(row)
		}
	}
	s.votes()
	s.keys()
	for _, name := range append(slices.Clone(indexNames), "PromptVotesByVoter") {
		for key, row := range s.rows[name] {
			if !s.want[name][key] && !s.tombstone(name, row) {
				s.say("%s has %s, which no row of the truth asks for", name, key)
			}
		}
	}
	slices.Sort(s.found)
	return s.found
}

var indexNames = []string{
	"TagIndex", "TitleSearchIndex", "SearchLog", "PublicPromptsNewestIndex", "PublicPromptsMostLikedIndex",
	"PublicPromptsHotIndex", "PublicPromptsBestIndex", "PublicPromptsTrendingIndex",
	"DeletedPromptsIndex", "HiddenPromptsIndex",
}

type schema struct {
	rows  map[string]map[table.Key]table.Row
	want  map[string]map[table.Key]bool
	found []string
}

// tombstone reports whether a row is what a purge leaves in the public log: of a prompt that does
// not exist, without its author.
func (s *schema) tombstone(name string, row table.Row) bool {
	_, id, _ := strings.Cut(row.Row, "|")
	for key := range s.rows["Prompts"] {
		if key.Row == id {
			return false
		}
	}
	return name == "SearchLog" && strings.HasPrefix(row.Partition, "s|") && len(row.Props) == 2 &&
		row.Props.Get("PromptId").Str() == id && row.Props.Get("Gone").Bool()
}

func (s *schema) say(format string, args ...any) {
	s.found = append(s.found, fmt.Sprintf(format, args...))
}

// has asserts that a row is there and says the same as the truth row in each of some properties.
func (s *schema) has(name string, key table.Key, truth table.Row, props ...string) {
	if s.want[name] != nil {
		s.want[name][key] = true
	}
	row, ok := s.rows[name][key]
	if !ok {
		s.say("%s lacks %s", name, key)
		return
	}
	for _, p := range props {
		if row.Props.Get(p) != truth.Props.Get(p) {
			s.say("%s of %s %s is %v, the truth is %v", p, name, key, row.Props.Get(p), truth.Props.Get(p))
		}
	}
}

// summary are the properties of every index row of a prompt.
var summary = []string{
	"PromptId", "AuthorId", "AuthorName", "Title", "TitleNormalized", "Tags", "Visibility", "IsDeleted", "CreatedAt",
	"UpdatedAt", "Likes", "Dislikes", "Weight",
}

func (s *schema) prompt(row table.Row) {
	id, p := row.Row, row.Props
	if row.Partition != "u|"+encoded(p.Get("AuthorId").Str()) || id != p.Get("PromptId").Str() {
		s.say("Prompts %s holds %s of %s", row.Key, p.Get("PromptId").Str(), p.Get("AuthorId").Str())
	}
	title := strings.ToLower(norm.NFKC.String(strings.TrimSpace(p.Get("Title").Str())))
	if p.Get("TitleNormalized").Str() != title {
		s.say("TitleNormalized of %s is %q, not %q", id, p.Get("TitleNormalized").Str(), title)
	}
	if p.Get("Pending").Str() != "" {
		s.say("Prompts %s is pending", row.Key)
	}
	created := p.Get("CreatedAt").Time()
	age := fmt.Sprintf("%019d|%s", int64(3155378975999999999)-dotNetTicks(created), id)
	s.has("Prompts", table.Key{Partition: row.Partition, Row: "!mine|" + age}, row,
		append([]string{"DeletedAt", "HiddenAt", "HiddenReason"}, summary...)...)
	s.has("PromptVotes", table.Key{Partition: "p|" + id, Row: "!prompt"}, row, "PromptId",
		"AuthorId", "Visibility", "IsDeleted")
	hidden := !p.Get("HiddenAt").Time().IsZero()
	if at := (table.Key{Partition: "p|" + id, Row: "!prompt"}); s.rows["PromptVotes"][at].Props.Get(
		"IsHidden").Bool() != hidden {
		s.say("PromptVotes %s is wrong about hidden", at)
	}
	var likes, dislikes int64
	weight := new(big.Int)
	for key, tally := range s.rows["PromptVotes"] {
		if key.Partition == "p|"+id && strings.HasPrefix(key.Row, "!tally|") {
			likes += tally.Props.Get("Likes").Int()
			dislikes += tally.Props.Get("Dislikes").Int()
			weight.Add(weight, summed(tally))
		}
	}
	if written := sumText(weight); written != p.Get("Weight").Str() {
		s.say("Prompts %s has the weight %q, its tally %q", row.Key, p.Get("Weight").Str(), written)
	}
	if likes != p.Get("Likes").Int() || dislikes != p.Get("Dislikes").Int() {
		s.say("Prompts %s counts %d and %d, the tally %d and %d", row.Key, p.Get("Likes").Int(),
			p.Get("Dislikes").Int(), likes, dislikes)
	}
	public, gone := p.Get("Visibility").Str() == "public", p.Get("IsDeleted").Bool()
	if gone {
		day := p.Get("DeletedAt").Time().UTC().Format("20060102")
		s.has("DeletedPromptsIndex", table.Key{Partition: "deleted|" + day, Row: id}, row,
			"PromptId", "AuthorId", "DeletedAt")
	}
	if public && hidden && !gone {
		s.has("HiddenPromptsIndex", table.Key{Partition: "hidden", Row: age}, row,
			append([]string{"HiddenAt", "HiddenReason"}, summary...)...)
	}
	s.logged(row, public && !hidden && !gone, gone)
	if public && !hidden && !gone {
		s.public(row, title, age, created, likes-dislikes)
	}
}

// logged asserts the rows in the logs of searches: of the scope that the prompt is in, and of one
// that it left.
func (s *schema) logged(row table.Row, listed, deleted bool) {
	p, stamp := row.Props, row.Props.Get("LoggedAt")
	public := table.Key{
		Partition: fmt.Sprintf("s|%s|%d", stamp.Time().Format("200601"), (stamp.Time().Day()-1)/4),
		Row:       fmt.Sprintf("%019d|%s", stamp.Int(), row.Row),
	}
	own := table.Key{Partition: "o|" + encoded(p.Get("AuthorId").Str()), Row: public.Row}
	logs := p.Get("Logs").Int()
	if listed && logs&1 == 0 || !listed && !deleted && logs&2 == 0 {
		s.say("Prompts %s is in the logs %d", row.Key, logs)
	}
	for key, in := range map[table.Key]bool{public: listed, own: !listed && !deleted} {
		if key == public && logs&1 == 0 || key == own && logs&2 == 0 {
			continue
		}
		if !in {
			s.has("SearchLog", key, row, "PromptId", "AuthorId")
			if got := s.rows["SearchLog"][key].Props; !got.Get("Gone").Bool() || got.Get("Terms") != (table.Value{}) {
				s.say("SearchLog %s does not say that the prompt is gone: %v", key, got)
			}
			continue
		}
		s.has("SearchLog", key, row, "PromptId", "AuthorId", "AuthorName", "Title", "Name", "Slug", "Tags", "Gone")
		text := p.Get("Tags").Str() + " " + p.Get("PromptText").Str()
		if got, want := wholes(inflated(s.rows["SearchLog"][key].Props.Get("Terms").Str())),
			wholes(strings.ReplaceAll(norm.NFKC.String(strings.ToLower(text)), "ß", "ss")); !slices.Equal(got, want) {
			s.say("SearchLog %s has the words %q, the truth %q", key, got, want)
		}
	}
}

// inflated is a text out of base 64, decompressed.
func inflated(text string) string {
	b, err := io.ReadAll(flate.NewReader(base64.NewDecoder(base64.StdEncoding, strings.NewReader(text))))
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// public asserts the rows of the public tables.
func (s *schema) public(row table.Row, title, age string, created time.Time, score int64) {
	s.has("PublicPromptsNewestIndex", table.Key{Partition: "pub|newest|" + created.UTC().Format("200601"), Row: age},
		row, summary...)
	bucket := fmt.Sprintf("pub|liked|%04d", 9999-min(max(score, 0)/10, 9999))
	s.has("PublicPromptsMostLikedIndex",
		table.Key{Partition: bucket, Row: fmt.Sprintf("%010d|%s", 2147483647-score, age)}, row, summary...)
	s.ranks(row, age, created)
	if tags := row.Props.Get("Tags").Str(); tags != "" {
		for _, tag := range strings.Split(tags, ";") {
			s.has("TagIndex", table.Key{Partition: "t|" + encoded(tag), Row: age}, row, summary...)
		}
	}
	for _, token := range pieces(title) {
		s.has("TitleSearchIndex", table.Key{Partition: "q|" + encoded(token), Row: age}, row, summary...)
	}
}

// ranks asserts the rows of the orders hot, best and trending.
func (s *schema) ranks(row table.Row, age string, created time.Time) {
	likes, dislikes := float64(row.Props.Get("Likes").Int()), float64(row.Props.Get("Dislikes").Int())
	hot := math.Log10(max(math.Abs(likes-dislikes), 1))
	if likes < dislikes {
		hot = -hot
	}
	step := int(math.Floor(20*(hot+float64(created.UnixMilli()-1704067200000)/604800000) + 1e-9))
	unit := fmt.Sprintf("%06d", 1000000-max(int(math.Floor(float64(step)/20)), 1))
	desc := fmt.Sprintf("%010d|%s", 1000000000-step, age)
	s.has("PublicPromptsHotIndex", table.Key{Partition: "pub|hot|" + unit, Row: desc}, row, summary...)
	best := table.Key{Partition: "pub|best|h" + unit, Row: "h" + desc}
	if n := likes + dislikes; n >= 3 {
		share := likes / n
		bound := (share + 1.96*1.96/(2*n) - 1.96*math.Sqrt((share*(1-share)+1.96*1.96/(4*n))/n)) / (1 + 1.96*1.96/n)
		percent := int(math.Floor(100*bound + 1e-9))
		best = table.Key{
			Partition: fmt.Sprintf("pub|best|%02d", 10-percent/10),
			Row:       fmt.Sprintf("%03d|%s", 100-percent, age),
		}
	}
	s.has("PublicPromptsBestIndex", best, row, summary...)
	place := 0 // the most sevenths of a power of two that the sum reaches
	reached := func(n int) bool {
		step := new(big.Int).Lsh(ofHour(n%7*24), uint(n/7))
		return new(big.Int).Abs(summed(row)).Cmp(step) >= 0
	}
	for reached(place + 1) {
		place++
	}
	place *= summed(row).Sign()
	week := place / 7
	if place < 0 {
		week = -1
	}
	s.has("PublicPromptsTrendingIndex",
		table.Key{
			Partition: fmt.Sprintf("pub|trending|%04d", 9998-week),
			Row:       fmt.Sprintf("%05d|%s", 50000-place, age),
		}, row, summary...)
}

// ofHour is the weight of a vote of an hour of the first week.
func ofHour(n int) *big.Int {
	return big.NewInt(int64(math.Round(1048576 * math.Pow(2, float64(n)/168))))
}

// summed is the sum of weights that a row says: hexadecimal digits, then p and how many zeros
// follow.
func summed(row table.Row) *big.Int {
	digits, zeros, _ := strings.Cut(row.Props.Get("Weight").Str(), "p")
	n, _ := strconv.Atoi(zeros)
	sum, ok := new(big.Int).SetString(digits+strings.Repeat("0", n), 16)
	if !ok {
		return new(big.Int)
	}
	return sum
}

func sumText(sum *big.Int) string {
	digits := sum.Text(16)
	short := strings.TrimRight(digits, "0")
	switch n := len(digits) - len(short); {
	case short == "":
		return ""
	case n > 0:
		return fmt.Sprintf("%sp%d", short, n)
	}
	return short
}

// weightOf is what the vote in a row weighs.
func weightOf(row table.Row) *big.Int {
	hour := int(row.Props.Get("UpdatedAt").Time().Unix()-1704067200) / 3600
	x := new(big.Int).Lsh(ofHour(hour%168), uint(hour/168))
	return x.Mul(x, big.NewInt(row.Props.Get("VoteValue").Int()))
}

// votes compares votes with tallies and with the rows of the voters.
func (s *schema) votes() {
	type sum struct {
		likes, dislikes int64
		weight          string
	}
	weights := map[string]*big.Int{}
	weigh := func(partition string, by *big.Int) string {
		if weights[partition] == nil {
			weights[partition] = new(big.Int)
		}
		return sumText(weights[partition].Add(weights[partition], by))
	}
	votes, tallies := map[string]sum{}, map[string]sum{}
	authors := map[string]string{}
	for key, row := range s.rows["Prompts"] {
		if !strings.HasPrefix(key.Row, "!") {
			authors["p|"+key.Row] = row.Props.Get("AuthorId").Str()
		}
	}
	for key, row := range s.rows["PromptVotes"] {
		if _, ok := authors[key.Partition]; !ok {
			s.say("PromptVotes %s is of no prompt", key)
		}
		t := tallies[key.Partition]
		if strings.HasPrefix(key.Row, "!tally|") {
			tallies[key.Partition] = sum{
				t.likes + row.Props.Get("Likes").Int(), t.dislikes + row.Props.Get("Dislikes").Int(),
				weigh(key.Partition+" tally", summed(row)),
			}
		}
		if !strings.HasPrefix(key.Row, "u|") {
			continue
		}
		v := votes[key.Partition]
		switch row.Props.Get("VoteValue").Int() {
		case 1:
			v.likes++
		case -1:
			v.dislikes++
		case 0:
			continue
		default:
			s.say("PromptVotes %s has a value of its own", key)
		}
		v.weight = weigh(key.Partition, weightOf(row))
		votes[key.Partition] = v
		id := row.Props.Get("PromptId").Str()
		mirror := table.Key{
			Partition: "u|" + encoded(row.Props.Get("VoterId").Str()),
			Row:       fmt.Sprintf("%019d|%s", int64(3155378975999999999)-ulidTicks(id), id),
		}
		s.has("PromptVotesByVoter", mirror, row, "PromptId", "VoteValue", "UpdatedAt")
		if got := s.rows["PromptVotesByVoter"][mirror].Props.Get("AuthorId").Str(); got != authors[key.Partition] {
			s.say("PromptVotesByVoter %s says the author is %q", mirror, got)
		}
	}
	for _, partition := range slices.Collect(maps.Keys(tallies)) {
		if tallies[partition] != votes[partition] {
			s.say("the tally of %s is %v, its votes are %v", partition, tallies[partition], votes[partition])
		}
	}
	for partition := range votes {
		if _, ok := tallies[partition]; !ok {
			s.say("%s has votes and no tally", partition)
		}
	}
}

// keys asserts that each Idempotency-Key leads to a prompt of its author.
func (s *schema) keys() {
	for key, row := range s.rows["Prompts"] {
		if !strings.HasPrefix(key.Row, "!idem|") {
			continue
		}
		if _, ok := s.rows["Prompts"][table.Key{Partition: key.Partition, Row: row.Props.Get("PromptId").Str()}]; !ok {
			s.say("Prompts %s leads to no prompt", key)
		}
	}
}

func dotNetTicks(t time.Time) int64 {
	return t.UnixMilli()*10_000 + 621_355_968_000_000_000 + int64(t.Nanosecond()%1_000_000/100)
}

// ulidTicks is the time inside a ULID: ten characters of Crockford's base 32, in milliseconds.
func ulidTicks(id string) int64 {
	var ms int64
	for _, c := range id[:10] {
		ms = ms<<5 | int64(strings.IndexRune("0123456789ABCDEFGHJKMNPQRSTVWXYZ", c))
	}
	return dotNetTicks(time.UnixMilli(ms))
}

// encoded is how a key holds what comes from outside.
func encoded(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r <= ' ' || strings.ContainsRune(`/\#?%'|`, r) || unicode.IsControl(r) || r == '\u2028' ||
			r == '\u2029' || r == '\uFFFD' {
			for _, c := range []byte(string(r)) {
				fmt.Fprintf(&b, "%%%02X", c)
			}
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// pieces are the tokens of a normalized title.
func pieces(title string) []string {
	return cut(title, func(word []rune) (all []string) {
		if len(word) == 1 {
			return []string{string(word)}
		}
		for _, n := range []int{2, 3, 5, 8, 12} {
			if n <= len(word) {
				all = append(all, string(word[:n]))
			}
		}
		return all
	})
}

// wholes are the words of a normalized text.
func wholes(text string) []string {
	return cut(text, func(word []rune) []string { return []string{string(word)} })
}

// cut returns what is made of each word of a text, each once, and pairs of characters where there
// are no spaces.
func cut(of string, made func(word []rune) []string) []string {
	var all []string
	dense := func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai)
	}
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsMark(r) || unicode.IsDigit(r) }
	text := []rune(of)
	for i := 0; i < len(text); i++ {
		if !letter(text[i]) {
			continue
		}
		end := i
		for end < len(text) && letter(text[end]) && dense(text[end]) == dense(text[i]) {
			end++
		}
		switch word := text[i:end]; {
		case !dense(text[i]):
			all = append(all, made(word)...)
		case len(word) == 1:
			all = append(all, string(word))
		default:
			for n := 0; n+2 <= len(word); n++ {
				all = append(all, string(word[n:n+2]))
			}
		}
		i = end - 1
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// mixed fills a world with a prompt of each kind, at rest.
func mixed(w *world) []prompt.Prompt {
	var all []prompt.Prompt
	titles := []string{"Plain words", "  Ｆｕｌｌ Width ", "提示词 prompt", "x", "ไทย and 한글", "Ünïcode Straße"}
	for i := range 16 {
		d := draft(titles[i%len(titles)], "text", "data")
		if i%3 == 0 {
			d.Tags = nil
		}
		if i&1 > 0 {
			d.Visibility = prompt.Private
		}
		p := w.add([]prompt.UserID{"ann", "bo/b 1", "tid|oid"}[i%3], d)
		all = append(all, p)
		for v := range i {
			if i&1 == 0 {
				w.vote(prompt.UserID(fmt.Sprintf("voter %d", v)), p.ID,
					[]prompt.Vote{prompt.Like, prompt.Like, prompt.Dislike}[v%3])
			}
		}
		if i == 8 {
			w.vote("voter 1", p.ID, prompt.None)
		}
		w.edit(p.AuthorID, p.ID, func(p *prompt.Prompt) {
			p.Text += "."
			if i&2 > 0 {
				p.HiddenAt, p.HiddenBy, p.HiddenReason = w.clock.Now(), "mod", "spam"
			}
			if i&4 > 0 {
				p.DeletedAt = w.clock.Now()
			}
		})
		for n := map[int]int64{1: 2, 8: 1}[i]; n > 0 && n <= 2; n++ { // one that programs do not get, or both
			require.NoError(w.t, w.Recall(w.t.Context(), p.AuthorID, p.ID, n, "because", prompt.Actor{}))
		}
		w.clock.Advance(7 * 24 * time.Hour)
	}
	w.run()
	return all
}

// verified returns what Verify finds.
func (w *world) verified() []string {
	var found []string
	_, err := w.Verify(w.t.Context(), func(d promptdb.Difference) { found = append(found, d.String()) }, func(int) {})
	if err != nil {
		found = append(found, err.Error())
	}
	return found
}

// TestSchemaOracle: on a library of all kinds of prompts Verify and the schema find nothing; and
// where a row was taken away, or says something else, Verify finds all that the schema does. What
// it finds beyond are properties that the schema does not name.
func TestSchemaOracle(t *testing.T) {
	w := newWorldOn(t, memory.NewTables())
	mixed(w)
	require.Empty(t, bySchema(w.store))
	require.Empty(t, w.verified())
	named := append([]string{"DeletedAt", "HiddenAt", "HiddenReason", "VoteValue", "VoterId", "Pending"}, summary...)
	tried, step := 0, 3 // coprime to the number of properties, mostly
	if testing.Short() {
		step = 17
	}
	for _, name := range append(slices.Clone(indexNames), "Prompts", "PromptVotes", "PromptVotesByVoter") {
		var rows []table.Row
		for row, err := range table.All(t.Context(), w.store, name, table.Range{}) {
			require.NoError(t, err)
			rows = append(rows, row)
		}
		require.NotEmpty(t, rows, name)
		for i := 0; i < len(rows); i += step {
			row := rows[i]
			prop := row.Props[i%len(row.Props)]
			for what, op := range map[string]table.Op{
				"without": {Kind: table.Delete, Row: table.Row{Key: row.Key, ETag: table.Any}},
				"changed " + prop.Name: {
					Kind: table.Merge,
					Row: table.Row{Key: row.Key, ETag: table.Any, Props: table.Props{
						{Name: prop.Name, Value: other(prop.Value)},
					}},
				},
			} {
				w.must(name, op)
				bySchema, byVerify := bySchema(w.store), w.verified()
				w.must(name, table.Op{Kind: table.Upsert, Row: table.Row{Key: row.Key, Props: row.Props}})
				tried++
				if len(bySchema) > 0 {
					require.NotEmpty(t, byVerify, "%s %s %s: Verify finds nothing, the schema %v",
						name, row.Key, what, bySchema)
				}
				// names, versions and labels
				beyond := name == "Prompts" && row.Row[0] == '!' && !strings.HasPrefix(row.Row, "!mine|")
				if len(byVerify) > 0 && len(bySchema) == 0 && !beyond {
					require.NotContains(t, named, strings.TrimPrefix(what, "changed "),
						"%s %s: Verify alone finds %v", name, row.Key, byVerify)
				}
			}
		}
	}
	t.Logf("%d faults", tried)
}

func (w *world) must(name string, op table.Op) {
	_, err := w.store.Write(w.t.Context(), name, op)
	require.NoError(w.t, err)
}

// other returns another value of the same type.
func other(v table.Value) table.Value {
	switch v.Type() {
	case table.TypeInt32:
		return table.Int32(int32(v.Int()) + 1)
	case table.TypeInt64:
		return table.Int64(v.Int() + 1)
	case table.TypeBool:
		return table.Bool(!v.Bool())
	case table.TypeTime:
		return table.Time(v.Time().Add(48 * time.Hour))
	}
	return table.String(v.Str() + "x")
}
