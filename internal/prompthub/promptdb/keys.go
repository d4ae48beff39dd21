package promptdb

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// All keys are built and parsed here and nowhere else. Parts that come from outside are
// encoded by enc, so that no input can leave its partition; parts that bear order are ASCII
// digits of fixed width and ULIDs.
//

const (
	minePrefix   = "!mine|"
	idemPrefix   = "!idem|"
	namePrefix   = "!name|"
	labelsPrefix = "!labels|"
	verPrefix    = "!ver|"
	movesPrefix  = "!moves|"
	usesPrefix   = "!uses|"
	sourcePrefix = "!src|"
	votePrefix   = "u|" // of rows; those of users' partitions begin alike
	userPrefix   = "u|"
	tallyPrefix  = "!tally|"
	locatorRow   = "!prompt"
	headerPrefix = "!" // sorts before every vote: the locator and the tallies

	tagPrefix    = "t|"
	tokenPrefix  = "q|"
	textPrefix   = "x|"
	accessPrefix = "t|"
	handlePrefix = "h|"
	knownPrefix  = "k|"
	profileRow   = "profile"
	erasureRow   = "erasure"
	erasePrefix  = "erase|"

	newestPrefix  = "pub|newest|"
	likedPrefix   = "pub|liked|"
	hotPrefix     = "pub|hot|"
	bestPrefix    = "pub|best|"
	trendPrefix   = "pub|trending|"
	deletedPrefix = "deleted|"

	hiddenPartition  = "hidden"
	catalogPartition = "tagcatalog"
	sweepPartition   = "sweep"

	maxVersion = 9999999999
	maxScore   = 2147483647
	maxBucket  = 9999
	perBucket  = 10

	// maxToken is how much of a token goes into a key. Longer tokens that agree in it share a
	// partition, which costs only rows read: every row is checked against its title.
	maxToken = 100

	// maxNameKey is how much of a row key a name may take. A longer one has its hash there instead,
	// behind what enc never begins with.
	maxNameKey = 400
	hashedName = "%~"
)

// userPart is the partition of a user in each table that has some for users.
func userPart(user prompt.UserID) string { return userPrefix + enc(string(user)) }

func promptKey(author prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: authorPartition(author), Row: string(id)}
}

func mineKey(author prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: authorPartition(author), Row: minePrefix + byAge(id)}
}

func idemKey(author prompt.UserID, hash string) table.Key {
	return table.Key{Partition: authorPartition(author), Row: idemPrefix + hash}
}

// nameKey is where a name or a slug of an author leads to its prompt.
func nameKey(author prompt.UserID, name string) table.Key {
	part := enc(name)
	if table.Units(part) > maxNameKey {
		sum := sha256.Sum256([]byte(name))
		part = hashedName + hex.EncodeToString(sum[:])
	}
	return table.Key{Partition: authorPartition(author), Row: namePrefix + part}
}

func labelsKey(author prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: authorPartition(author), Row: labelsPrefix + string(id)}
}

// versionKey sorts the versions of a prompt, the newest first.
func versionKey(author prompt.UserID, id prompt.ID, n int64) table.Key {
	return table.Key{Partition: authorPartition(author), Row: versionsOf(id) + fmt.Sprintf("%010d", maxVersion-n)}
}

func versionsOf(id prompt.ID) string { return verPrefix + string(id) + "|" }

func voteKey(voter prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: "p|" + string(id), Row: votePrefix + enc(string(voter))}
}

func tallyKey(id prompt.ID, shard int) table.Key {
	return table.Key{Partition: "p|" + string(id), Row: tallyPrefix + strconv.Itoa(shard)}
}

func locatorKey(id prompt.ID) table.Key {
	return table.Key{Partition: "p|" + string(id), Row: locatorRow}
}

func voterKey(voter prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: voterPartition(voter), Row: byAge(id)}
}

// favoriteKey is where a user keeps that a prompt is a favorite of his.
func favoriteKey(user prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: favoritesPartition(user), Row: byAge(id)}
}

func favoritesPartition(user prompt.UserID) string { return userPart(user) }

// accessKey is where the row of an access token is that lets somebody in.
func accessKey(id string) table.Key { return table.Key{Partition: accessPrefix + enc(id), Row: "t"} }

// ownAccessKey is where an access token stands in the list of its owner.
func ownAccessKey(owner prompt.UserID, id string) table.Key {
	return table.Key{Partition: accessPartition(owner), Row: enc(id)}
}

func accessPartition(owner prompt.UserID) string { return userPart(owner) }

func profileKey(user prompt.UserID) table.Key {
	return table.Key{Partition: userPart(user), Row: profileRow}
}

// handleKey is where a handle leads to its user.
func handleKey(handle string) table.Key {
	return table.Key{Partition: handlePrefix + enc(handle), Row: "r"}
}

// knownKey is where the key that stands for a user in public leads to him.
func knownKey(key string) table.Key { return table.Key{Partition: knownPrefix + enc(key), Row: "r"} }

// erasureKey is where a user says that his account will be erased.
func erasureKey(user prompt.UserID) table.Key {
	return table.Key{Partition: userPart(user), Row: erasureRow}
}

// dueKey is where the job that erases accounts finds those of a day.
func dueKey(user prompt.UserID, day string) table.Key {
	return table.Key{Partition: erasePrefix + day, Row: enc(string(user))}
}

func voterPartition(voter prompt.UserID) string { return userPart(voter) }

func authorPartition(author prompt.UserID) string { return userPart(author) }

func tagKey(tag prompt.Tag, id prompt.ID) table.Key {
	return table.Key{Partition: tagPartition(tag), Row: byAge(id)}
}

func tagPartition(tag prompt.Tag) string { return tagPrefix + enc(string(tag)) }

func tokenKey(token string, id prompt.ID) table.Key {
	return table.Key{Partition: tokenPartition(token), Row: byAge(id)}
}

func tokenPartition(token string) string { return tokenPrefix + enc(cutToken(token)) }

func textKey(word string, id prompt.ID) table.Key {
	return table.Key{Partition: textPartition(word), Row: byAge(id)}
}

func textPartition(word string) string { return textPrefix + enc(word) }

func newestKey(id prompt.ID) table.Key {
	return table.Key{Partition: newestPrefix + month(id.Time()), Row: byAge(id)}
}

func likedKey(score int32, id prompt.ID) table.Key {
	return table.Key{Partition: likedPrefix + bucketDesc(score), Row: scoreDesc(score) + "|" + byAge(id)}
}

func deletedKey(day string, id prompt.ID) table.Key {
	return table.Key{Partition: deletedPrefix + day, Row: string(id)}
}

func hiddenKey(id prompt.ID) table.Key {
	return table.Key{Partition: hiddenPartition, Row: byAge(id)}
}

func catalogKey(tag prompt.Tag) table.Key {
	return table.Key{Partition: catalogPartition, Row: enc(string(tag))}
}

// byAge is the row key of most index rows: newest first, and by id inside a millisecond.
// It follows from the id alone.
func byAge(id prompt.ID) string {
	const digits = 19
	b := make([]byte, digits, digits+1+len(id))
	for i, n := digits-1, table.MaxTicks-table.Ticks(id.Time()); i >= 0; i, n = i-1, n/10 {
		b[i] = '0' + byte(n%10)
	}
	return string(append(append(b, '|'), id...))
}

// Position returns the position behind a prompt in the lists that are newest first.
func Position(id prompt.ID) string { return byAge(id) }

// parseByAge returns the id in a key made by byAge.
func parseByAge(row string) (prompt.ID, bool) {
	_, text, ok := strings.Cut(row, "|")
	if !ok {
		return "", false
	}
	id, ok := parseID(text)
	return id, ok && byAge(id) == row
}

// byAgeAlone parses the key of an index that has one partition, or one that follows from the id.
func byAgeAlone(key table.Key) (part string, id prompt.ID, ok bool) {
	id, ok = parseByAge(key.Row)
	return "", id, ok
}

// byAgeUnder parses the key of an index whose partitions are prefix and an encoded part.
func byAgeUnder(prefix string) func(table.Key) (string, prompt.ID, bool) {
	return func(key table.Key) (string, prompt.ID, bool) {
		id, ok := parseByAge(key.Row)
		part, okPart := dec(strings.TrimPrefix(key.Partition, prefix))
		return part, id, ok && okPart
	}
}

// parseDeleted returns the day and the id in a key made by deletedKey.
func parseDeleted(key table.Key) (day string, id prompt.ID, ok bool) {
	id, ok = parseID(key.Row)
	return strings.TrimPrefix(key.Partition, deletedPrefix), id, ok
}

// endOfMonth is the position behind every row of a month: as the key of the last id that its first
// millisecond can have.
func endOfMonth(m yearMonth) string {
	id, err := prompt.NewID(m.begin(), bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)))
	if err != nil {
		panic(err) // unreachable: the months are those of ids
	}
	return byAge(id)
}

// parseID reads an id from a key, where it stands in upper case.
func parseID(text string) (prompt.ID, bool) {
	id, ok := prompt.ParseID(text)
	return id, ok && string(id) == text
}

// parseLiked returns the score and the id in a row key made by likedKey.
func parseLiked(row string) (int32, prompt.ID, bool) {
	desc, rest, ok := strings.Cut(row, "|")
	if !ok {
		return 0, "", false
	}
	n, err := strconv.ParseInt(desc, 10, 64)
	if err != nil || n < 0 || n > 2*maxScore {
		return 0, "", false
	}
	id, ok := parseByAge(rest)
	score := int32(maxScore - n)
	return score, id, ok && scoreDesc(score) == desc
}

// parseMine returns the id in a row key made by mineKey.
func parseMine(row string) (prompt.ID, bool) {
	rest, ok := strings.CutPrefix(row, minePrefix)
	if !ok {
		return "", false
	}
	return parseByAge(rest)
}

// parseLabels returns the id in a row key made by labelsKey.
func parseLabels(row string) (prompt.ID, bool) {
	rest, ok := strings.CutPrefix(row, labelsPrefix)
	if !ok {
		return "", false
	}
	return parseID(rest)
}

// parseVersion returns the id and the number in a row key made by versionKey.
func parseVersion(row string) (id prompt.ID, n int64, ok bool) {
	rest, ok := strings.CutPrefix(row, verPrefix)
	if !ok {
		return "", 0, false
	}
	text, desc, _ := strings.Cut(rest, "|")
	id, ok = parseID(text)
	n, err := strconv.ParseInt(desc, 10, 64)
	n = maxVersion - n
	return id, n, ok && err == nil && n > 0 && versionKey("", id, n).Row == row
}

// sourceKey sorts the files that versions of a prompt were made of, that of the newest first.
func sourceKey(author prompt.UserID, id prompt.ID, n int64) table.Key {
	return table.Key{Partition: authorPartition(author), Row: sourcesOf(id) + fmt.Sprintf("%010d", maxVersion-n)}
}

func sourcesOf(id prompt.ID) string { return sourcePrefix + string(id) + "|" }

// parseSource returns the id and the number in a row key made by sourceKey.
func parseSource(row string) (id prompt.ID, n int64, ok bool) {
	rest, ok := strings.CutPrefix(row, sourcePrefix)
	if !ok {
		return "", 0, false
	}
	return parseVersion(verPrefix + rest)
}

// moveKey sorts what became of the labels of a prompt, the last move first.
func moveKey(author prompt.UserID, id prompt.ID, at time.Time, label string) table.Key {
	return table.Key{Partition: authorPartition(author), Row: movesOf(id) + fmt.Sprintf("%019d", table.MaxTicks-table.Ticks(at)) + "|" + label}
}

func movesOf(id prompt.ID) string { return movesPrefix + string(id) + "|" }

// parseMove returns the id in a row key made by moveKey.
func parseMove(row string) (id prompt.ID, ok bool) {
	rest, ok := strings.CutPrefix(row, movesPrefix)
	if !ok {
		return "", false
	}
	text, _, _ := strings.Cut(rest, "|")
	return parseID(text)
}

// usesKey is where a version of a prompt says that it includes the prompt of a name. All who
// include that stand together.
func usesKey(author prompt.UserID, name string, id prompt.ID, n int64) table.Key {
	return table.Key{Partition: authorPartition(author), Row: usesOf(name) + string(id) + "|" + fmt.Sprintf("%010d", n)}
}

func usesOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return usesPrefix + hex.EncodeToString(sum[:16]) + "|"
}

// parseUses returns who includes in a row key made by usesKey.
func parseUses(row string) (id prompt.ID, n int64, ok bool) {
	rest, ok := strings.CutPrefix(row, usesPrefix)
	_, rest, both := strings.Cut(rest, "|")
	text, digits, _ := strings.Cut(rest, "|")
	id, okID := parseID(text)
	n, err := strconv.ParseInt(digits, 10, 64)
	return id, n, ok && both && okID && err == nil && n > 0 && digits == fmt.Sprintf("%010d", n)
}

// parseVote returns the voter in a row key made by voteKey.
func parseVote(row string) (voter prompt.UserID, ok bool) {
	rest, ok := strings.CutPrefix(row, votePrefix)
	if !ok {
		return "", false
	}
	return decUser(rest)
}

// parseUser returns the user in a partition key of Prompts or PromptVotesByVoter.
func parseUser(partition string) (user prompt.UserID, ok bool) {
	rest, ok := strings.CutPrefix(partition, userPrefix)
	if !ok {
		return "", false
	}
	return decUser(rest)
}

func decUser(part string) (prompt.UserID, bool) {
	text, ok := dec(part)
	return prompt.UserID(text), ok
}

// userIn returns the user whom a property names.
func userIn(p table.Props, name string) prompt.UserID { return prompt.UserID(p.Get(name).Str()) }

// parsePrompt returns the id in a partition key of PromptVotes.
func parsePrompt(partition string) (prompt.ID, bool) {
	rest, ok := strings.CutPrefix(partition, "p|")
	if !ok {
		return "", false
	}
	return parseID(rest)
}

func month(t time.Time) string { return t.UTC().Format("200601") }

func day(t time.Time) string { return t.UTC().Format("20060102") }

func bucketDesc(score int32) string {
	return fmt.Sprintf("%04d", maxBucket-min(max(score, 0)/perBucket, maxBucket))
}

func scoreDesc(score int32) string { return fmt.Sprintf("%010d", int64(maxScore)-int64(score)) }

// tokensByKey drops tokens whose key another one has already: very long ones are cut.
func tokensByKey(tokens []string) []string {
	long := func(t string) bool { return cutToken(t) != t }
	if !slices.ContainsFunc(tokens, long) {
		return tokens
	}
	var kept []string
	for _, t := range tokens {
		if !slices.ContainsFunc(kept, func(k string) bool { return cutToken(k) == cutToken(t) }) {
			kept = append(kept, t)
		}
	}
	return kept
}

func cutToken(token string) string {
	n := 0
	for i := range token {
		if n++; n > maxToken {
			return token[:i]
		}
	}
	return token
}

const hexDigits = "0123456789ABCDEF"

// enc encodes text from outside for use in a key. Encoded texts are equal only where
// the texts are. What Table Storage refuses or this schema gives a meaning to
// becomes %XX, byte by byte.
func enc(s string) string {
	plain := func(r rune) bool {
		return r > ' ' && !strings.ContainsRune(`/\#?%'|`, r) && (r < 0x7f || r > 0x9f) && r != 0x2028 && r != 0x2029 && r != utf8.RuneError
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		for _, c := range []byte(s[i : i+n]) {
			if plain(r) {
				b.WriteByte(c)
			} else {
				b.WriteByte('%')
				b.WriteByte(hexDigits[c>>4])
				b.WriteByte(hexDigits[c&15])
			}
		}
		i += n
	}
	return b.String()
}

// dec is the inverse of enc; ok is false for a text that enc never makes.
func dec(s string) (text string, ok bool) {
	if !strings.Contains(s, "%") {
		return s, enc(s) == s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) {
			return "", false
		}
		hi, lo := strings.IndexByte(hexDigits, s[i+1]), strings.IndexByte(hexDigits, s[i+2])
		if hi < 0 || lo < 0 {
			return "", false
		}
		b.WriteByte(byte(hi<<4 | lo))
		i += 2
	}
	text = b.String()
	return text, enc(text) == s
}
