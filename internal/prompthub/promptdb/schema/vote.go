package schema

import (
	"hash/fnv"
	"strconv"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/table"
)

// Shards is how many rows share the tally of a prompt, so that as many voters can write at once.
const Shards = 8

// Shard returns the share of the tally in which a voter counts.
func Shard(voter prompt.UserID) int {
	h := fnv.New32a()
	h.Write([]byte(voter))
	return int(h.Sum32() % Shards)
}

// VoteRows are what a vote reads before it writes: one partition.
type VoteRows struct {
	Vote    *table.Row // the voter's, nil for none
	Locator *table.Row
	Share   *table.Row // of the tally, where this voter counts
	Tally   prompt.Tally
}

// VoteIn returns what a row of a vote says, the vote's own or the voter's.
func VoteIn(row table.Row) prompt.Vote { return prompt.Vote(row.Props.Get("VoteValue").Int()) }

// CastOf returns that vote, and since when it is what it is.
func CastOf(row table.Row) prompt.Cast {
	return prompt.Cast{Vote: VoteIn(row), At: row.Props.Get("UpdatedAt").Time()}
}

// Cast returns the voter's vote as it was read.
func (b VoteRows) Cast() prompt.Cast {
	if b.Vote == nil {
		return prompt.Cast{}
	}
	return CastOf(*b.Vote)
}

// Value returns the voter's vote.
func (b VoteRows) Value() prompt.Vote { return b.Cast().Vote }

// SumTally adds up the shares of a tally.
func SumTally(rows []table.Row) prompt.Tally {
	var t prompt.Tally
	var weights []prompt.Weight
	for _, row := range rows {
		t.Likes += int32(row.Props.Get("Likes").Int())
		t.Dislikes += int32(row.Props.Get("Dislikes").Int())
		if w := row.Props.Get("Weight").Str(); w != "" {
			weights = append(weights, prompt.Weight(w))
		}
	}
	t.Weight = prompt.SumOf(weights)
	return t
}

// Overwrite writes a row in place of the version that was read.
func Overwrite(row table.Row, was *table.Row) table.Op {
	if was == nil {
		return table.Op{Kind: table.Insert, Row: row}
	}
	row.ETag = was.ETag
	return table.Op{Kind: table.Replace, Row: row}
}

// VoteProps returns the properties of the row of a vote.
func VoteProps(voter prompt.UserID, id prompt.ID, v prompt.Vote, at time.Time) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "VoterId", Value: table.String(string(voter))},
		{Name: "VoteValue", Value: table.Int32(int32(v))},
		{Name: "UpdatedAt", Value: table.Time(at)},
	}
}

// TallyProps returns the properties of a share of a tally.
func TallyProps(t prompt.Tally) table.Props {
	props := table.Props{
		{Name: "Likes", Value: table.Int32(t.Likes)},
		{Name: "Dislikes", Value: table.Int32(t.Dislikes)},
	}
	return append(props, weightProp(t)...)
}

// weightProp is what a row says of the weight of votes: nothing where there is none, as in rows of
// versions that weighed none.
func weightProp(t prompt.Tally) table.Props {
	if t.Weight == "" {
		return nil
	}
	return table.Props{{Name: "Weight", Value: table.String(string(t.Weight))}}
}

// VoterProps returns the properties of a vote in the list of its voter.
func VoterProps(id prompt.ID, author prompt.UserID, v prompt.Vote, at time.Time) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "AuthorId", Value: table.String(string(author))},
		{Name: "VoteValue", Value: table.Int32(int32(v))},
		{Name: "UpdatedAt", Value: table.Time(at)},
	}
}

// VoteSettled is after what time the jobs of a vote, or of a moved label, are done, or lost.
const VoteSettled = 5 * time.Minute

// A Locator names the author of a prompt, and so its truth row, and says whether it is public.
type Locator struct {
	Author                  prompt.UserID
	public, deleted, hidden bool
}

// LocatorOf returns the locator of a prompt.
func LocatorOf(p prompt.Prompt) Locator {
	return Locator{Author: p.AuthorID, public: p.Visibility == prompt.Public, deleted: p.Deleted(), hidden: p.Hidden()}
}

// ParseLocator reads the row of a locator.
func ParseLocator(row table.Row) Locator {
	return Locator{
		Author:  UserIn(row.Props, "AuthorId"),
		public:  row.Props.Get("Visibility").Str() == string(prompt.Public),
		deleted: row.Props.Get("IsDeleted").Bool(),
		hidden:  row.Props.Get("IsHidden").Bool(),
	}
}

// VisibleTo reports whether a viewer may know of the prompt.
func (l Locator) VisibleTo(viewer prompt.UserID) bool {
	return !l.deleted && (viewer != "" && viewer == l.Author || l.public && !l.hidden)
}

// ParseTallyShard returns the number of the share in a row key made by TallyKey.
func ParseTallyShard(row string) (int, bool) {
	if len(row) != len(tallyPrefix)+1 || row[:len(tallyPrefix)] != tallyPrefix {
		return 0, false
	}
	n, err := strconv.Atoi(row[len(tallyPrefix):])
	return n, err == nil && n < Shards
}
