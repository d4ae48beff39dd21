package schema

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// All keys are built and parsed here and nowhere else. Parts that come from outside are
// encoded by rowstore.Encode, so that no input can leave its partition; parts that bear order are
// ASCII digits of fixed width and ULIDs.

// The beginnings of keys, and keys that are the same for all.
const (
	MinePrefix   = "!mine|"
	IdemPrefix   = "!idem|"
	NamePrefix   = "!name|"
	LabelsPrefix = "!labels|"
	verPrefix    = "!ver|"
	movesPrefix  = "!moves|"
	UsesPrefix   = "!uses|"
	sourcePrefix = "!src|"
	VotePrefix   = "u|" // of rows; those of users' partitions begin alike
	userPrefix   = "u|"
	tallyPrefix  = "!tally|"
	locatorRow   = "!prompt"
	HeaderPrefix = "!" // sorts before every vote: the locator and the tallies

	tagPrefix    = "t|"
	tokenPrefix  = "q|"
	AccessPrefix = "t|"
	HandlePrefix = "h|"
	KnownPrefix  = "k|"
	ProfileRow   = "profile"
	ErasureRow   = "erasure"
	ErasePrefix  = "erase|"

	NewestPrefix  = "pub|newest|"
	likedPrefix   = "pub|liked|"
	hotPrefix     = "pub|hot|"
	bestPrefix    = "pub|best|"
	trendPrefix   = "pub|trending|"
	DeletedPrefix = "deleted|"

	HiddenPartition  = "hidden"
	CatalogPartition = "tagcatalog"
	SweepPartition   = "sweep"
	MovedPartition   = "moved"

	MaxVersion = 9999999999
	maxScore   = 2147483647
	maxBucket  = 9999
	perBucket  = 10

	// maxToken is how much of a token goes into a key. Longer tokens that agree in it share a
	// partition, which costs only rows read: every row is checked against its title.
	maxToken = 100

	// maxNameKey is how much of a row key a name may take. A longer one has its hash there instead,
	// after a prefix that no encoded text begins with.
	maxNameKey = 400
	hashedName = "%~"
)

// UserPart is the partition of a user in each table that has some for users.
func UserPart(user prompt.UserID) string { return userPrefix + rowstore.Encode(string(user)) }

// PromptKey is where the truth row of a prompt is.
func PromptKey(author prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: AuthorPartition(author), Row: string(id)}
}

// MineKey is where the summary of a prompt is in its author's list.
func MineKey(author prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: AuthorPartition(author), Row: MinePrefix + ByAge(id)}
}

// IdemKey is where the answer to an idempotency key is, which is kept as a hash.
func IdemKey(author prompt.UserID, hash string) table.Key {
	return table.Key{Partition: AuthorPartition(author), Row: IdemPrefix + hash}
}

// NameKey is where a name or a slug of an author leads to its prompt.
func NameKey(author prompt.UserID, name string) table.Key {
	part := rowstore.Encode(name)
	if table.Units(part) > maxNameKey {
		sum := sha256.Sum256([]byte(name))
		part = hashedName + hex.EncodeToString(sum[:])
	}
	return table.Key{Partition: AuthorPartition(author), Row: NamePrefix + part}
}

// LabelsKey is where the labels row of a prompt is.
func LabelsKey(author prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: AuthorPartition(author), Row: LabelsPrefix + string(id)}
}

// VersionKey sorts the versions of a prompt, the newest first.
func VersionKey(author prompt.UserID, id prompt.ID, n int64) table.Key {
	return table.Key{Partition: AuthorPartition(author), Row: VersionsOf(id) + fmt.Sprintf("%010d", MaxVersion-n)}
}

// VersionsOf is how the row keys of the versions of a prompt begin.
func VersionsOf(id prompt.ID) string { return verPrefix + string(id) + "|" }

// VoteKey is where the vote of a voter on a prompt is, next to the tally.
func VoteKey(voter prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: "p|" + string(id), Row: VotePrefix + rowstore.Encode(string(voter))}
}

// TallyKey is where a share of the tally of a prompt is.
func TallyKey(id prompt.ID, shard int) table.Key {
	return table.Key{Partition: "p|" + string(id), Row: tallyPrefix + strconv.Itoa(shard)}
}

// LocatorKey is where a prompt says whose it is, so that it is found by its id alone.
func LocatorKey(id prompt.ID) table.Key {
	return table.Key{Partition: "p|" + string(id), Row: locatorRow}
}

// VoterKey is where a vote is in the list of its voter.
func VoterKey(voter prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: VoterPartition(voter), Row: ByAge(id)}
}

// FavoriteKey is where a user keeps that a prompt is a favorite of his.
func FavoriteKey(user prompt.UserID, id prompt.ID) table.Key {
	return table.Key{Partition: FavoritesPartition(user), Row: ByAge(id)}
}

// FavoritesPartition has the favorites of a user.
func FavoritesPartition(user prompt.UserID) string { return UserPart(user) }

// AccessKey is where the row of an access token is that lets somebody in.
func AccessKey(id string) table.Key {
	return table.Key{Partition: AccessPrefix + rowstore.Encode(id), Row: "t"}
}

// OwnAccessKey is where an access token stands in the list of its owner.
func OwnAccessKey(owner prompt.UserID, id string) table.Key {
	return table.Key{Partition: AccessPartition(owner), Row: rowstore.Encode(id)}
}

// AccessPartition has the access tokens of an owner.
func AccessPartition(owner prompt.UserID) string { return UserPart(owner) }

// ProfileKey is where the profile of a user is.
func ProfileKey(user prompt.UserID) table.Key {
	return table.Key{Partition: UserPart(user), Row: ProfileRow}
}

// HandleKey is where a handle leads to its user.
func HandleKey(handle string) table.Key {
	return table.Key{Partition: HandlePrefix + rowstore.Encode(handle), Row: "r"}
}

// KnownKey is where the key that stands for a user in public leads to him.
func KnownKey(key string) table.Key {
	return table.Key{Partition: KnownPrefix + rowstore.Encode(key), Row: "r"}
}

// ErasureKey is where a user says that his account will be erased.
func ErasureKey(user prompt.UserID) table.Key {
	return table.Key{Partition: UserPart(user), Row: ErasureRow}
}

// DueKey is where the job that erases accounts finds those of a day.
func DueKey(user prompt.UserID, day string) table.Key {
	return table.Key{Partition: ErasePrefix + day, Row: rowstore.Encode(string(user))}
}

// MovedKey is where a sign-in id leads to the account of its user.
func MovedKey(signIn prompt.UserID) table.Key {
	return table.Key{Partition: MovedPartition, Row: rowstore.Encode(string(signIn))}
}

// VoterPartition has the votes of a voter.
func VoterPartition(voter prompt.UserID) string { return UserPart(voter) }

// AuthorPartition has the prompts of an author and all that stands next to them.
func AuthorPartition(author prompt.UserID) string { return UserPart(author) }

func tagKey(tag prompt.Tag, id prompt.ID) table.Key {
	return table.Key{Partition: TagPartition(tag), Row: ByAge(id)}
}

// TagPartition has the public prompts of a tag.
func TagPartition(tag prompt.Tag) string { return tagPrefix + rowstore.Encode(string(tag)) }

func tokenKey(token string, id prompt.ID) table.Key {
	return table.Key{Partition: TokenPartition(token), Row: ByAge(id)}
}

// TokenPartition has the public prompts that have a token in their titles.
func TokenPartition(token string) string { return tokenPrefix + rowstore.Encode(cutToken(token)) }

// NewestKey is where a public prompt is in the list that is newest first.
func NewestKey(id prompt.ID) table.Key {
	return table.Key{Partition: NewestPrefix + Month(id.Time()), Row: ByAge(id)}
}

func likedKey(score int32, id prompt.ID) table.Key {
	return table.Key{Partition: likedPrefix + bucketDesc(score), Row: scoreDesc(score) + "|" + ByAge(id)}
}

// DeletedKey is where a prompt that was deleted on a day waits for the purge.
func DeletedKey(day string, id prompt.ID) table.Key {
	return table.Key{Partition: DeletedPrefix + day, Row: string(id)}
}

func hiddenKey(id prompt.ID) table.Key {
	return table.Key{Partition: HiddenPartition, Row: ByAge(id)}
}

// CatalogKey is where a tag is in the catalog.
func CatalogKey(tag prompt.Tag) table.Key {
	return table.Key{Partition: CatalogPartition, Row: rowstore.Encode(string(tag))}
}

// ByAge is the row key of most index rows: newest first, and by id inside a millisecond.
// It follows from the id alone.
func ByAge(id prompt.ID) string {
	const digits = 19
	b := make([]byte, digits, digits+1+len(id))
	for i, n := digits-1, table.MaxTicks-table.Ticks(id.Time()); i >= 0; i, n = i-1, n/10 {
		b[i] = '0' + byte(n%10)
	}
	return string(append(append(b, '|'), id...))
}

// Position returns the position after a prompt in the lists that are newest first.
func Position(id prompt.ID) string { return ByAge(id) }

// ParseByAge returns the id in a key made by byAge.
func ParseByAge(row string) (prompt.ID, bool) {
	_, text, ok := strings.Cut(row, "|")
	if !ok {
		return "", false
	}
	id, ok := ParseID(text)
	return id, ok && ByAge(id) == row
}

// byAgeAlone parses the key of an index that has one partition, or one that follows from the id.
func byAgeAlone(key table.Key) (part string, id prompt.ID, ok bool) {
	id, ok = ParseByAge(key.Row)
	return "", id, ok
}

// byAgeUnder parses the key of an index whose partitions are prefix and an encoded part.
func byAgeUnder(prefix string) func(table.Key) (string, prompt.ID, bool) {
	return func(key table.Key) (string, prompt.ID, bool) {
		id, ok := ParseByAge(key.Row)
		part, okPart := rowstore.Decode(strings.TrimPrefix(key.Partition, prefix))
		return part, id, ok && okPart
	}
}

// ParseDeleted returns the day and the id in a key made by DeletedKey.
func ParseDeleted(key table.Key) (day string, id prompt.ID, ok bool) {
	id, ok = ParseID(key.Row)
	return strings.TrimPrefix(key.Partition, DeletedPrefix), id, ok
}

// ParseID reads an id from a key, where it stands in upper case.
func ParseID(text string) (prompt.ID, bool) {
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
	id, ok := ParseByAge(rest)
	score := int32(maxScore - n)
	return score, id, ok && scoreDesc(score) == desc
}

// ParseMine returns the id in a row key made by MineKey.
func ParseMine(row string) (prompt.ID, bool) {
	rest, ok := strings.CutPrefix(row, MinePrefix)
	if !ok {
		return "", false
	}
	return ParseByAge(rest)
}

// parseLabels returns the id in a row key made by LabelsKey.
func parseLabels(row string) (prompt.ID, bool) {
	rest, ok := strings.CutPrefix(row, LabelsPrefix)
	if !ok {
		return "", false
	}
	return ParseID(rest)
}

// ParseVersion returns the id and the number in a row key made by VersionKey.
func ParseVersion(row string) (id prompt.ID, n int64, ok bool) {
	rest, ok := strings.CutPrefix(row, verPrefix)
	if !ok {
		return "", 0, false
	}
	text, desc, _ := strings.Cut(rest, "|")
	id, ok = ParseID(text)
	n, err := strconv.ParseInt(desc, 10, 64)
	n = MaxVersion - n
	return id, n, ok && err == nil && n > 0 && VersionKey("", id, n).Row == row
}

// SourceKey sorts the files that versions of a prompt were made of, that of the newest first.
func SourceKey(author prompt.UserID, id prompt.ID, n int64) table.Key {
	return table.Key{Partition: AuthorPartition(author), Row: SourcesOf(id) + fmt.Sprintf("%010d", MaxVersion-n)}
}

// SourcesOf is how the row keys of the files begin that versions of a prompt were made of.
func SourcesOf(id prompt.ID) string { return sourcePrefix + string(id) + "|" }

// ParseSource returns the id and the number in a row key made by SourceKey.
func ParseSource(row string) (id prompt.ID, n int64, ok bool) {
	rest, ok := strings.CutPrefix(row, sourcePrefix)
	if !ok {
		return "", 0, false
	}
	return ParseVersion(verPrefix + rest)
}

// moveKey sorts what became of the labels of a prompt, the last move first.
func moveKey(author prompt.UserID, id prompt.ID, at time.Time, label string) table.Key {
	return table.Key{Partition: AuthorPartition(author), Row: MovesOf(id) + rowstore.Descending(at) + "|" + label}
}

// MovesOf is how the row keys of the moves of labels of a prompt begin.
func MovesOf(id prompt.ID) string { return movesPrefix + string(id) + "|" }

// ParseMove returns the id in a row key made by moveKey.
func ParseMove(row string) (id prompt.ID, ok bool) {
	rest, ok := strings.CutPrefix(row, movesPrefix)
	if !ok {
		return "", false
	}
	text, _, _ := strings.Cut(rest, "|")
	return ParseID(text)
}

// usesKey is where a version of a prompt says that it includes the prompt of a name. All who
// include that stand together.
func usesKey(author prompt.UserID, name string, id prompt.ID, n int64) table.Key {
	return table.Key{Partition: AuthorPartition(author), Row: UsesOf(name) + string(id) + "|" + fmt.Sprintf("%010d", n)}
}

// UsesOf is how the row keys of versions begin that include the prompt of a name.
func UsesOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return UsesPrefix + hex.EncodeToString(sum[:16]) + "|"
}

// ParseUses returns who includes in a row key made by usesKey.
func ParseUses(row string) (id prompt.ID, n int64, ok bool) {
	rest, ok := strings.CutPrefix(row, UsesPrefix)
	_, rest, both := strings.Cut(rest, "|")
	text, digits, _ := strings.Cut(rest, "|")
	id, okID := ParseID(text)
	n, err := strconv.ParseInt(digits, 10, 64)
	return id, n, ok && both && okID && err == nil && n > 0 && digits == fmt.Sprintf("%010d", n)
}

// ParseVote returns the voter in a row key made by VoteKey.
func ParseVote(row string) (voter prompt.UserID, ok bool) {
	rest, ok := strings.CutPrefix(row, VotePrefix)
	if !ok {
		return "", false
	}
	return decUser(rest)
}

// ParseUser returns the user in a partition key of Prompts or PromptVotesByVoter.
func ParseUser(partition string) (user prompt.UserID, ok bool) {
	rest, ok := strings.CutPrefix(partition, userPrefix)
	if !ok {
		return "", false
	}
	return decUser(rest)
}

func decUser(part string) (prompt.UserID, bool) {
	text, ok := rowstore.Decode(part)
	return prompt.UserID(text), ok
}

// UserIn returns the user whom a property names.
func UserIn(p table.Props, name string) prompt.UserID { return prompt.UserID(p.Get(name).Str()) }

// ParsePrompt returns the id in a partition key of PromptVotes.
func ParsePrompt(partition string) (prompt.ID, bool) {
	rest, ok := strings.CutPrefix(partition, "p|")
	if !ok {
		return "", false
	}
	return ParseID(rest)
}

// Month is how a key names the month of a time.
func Month(t time.Time) string { return t.UTC().Format("200601") }

// Day is how a key names the day of a time.
func Day(t time.Time) string { return t.UTC().Format("20060102") }

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

// RowsKey is the row that says which RowsVersion a store has.
func RowsKey() table.Key { return SweepKey("rows") }
