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

func (b VoteRows) Value() prompt.Vote { return b.Cast().Vote }

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

func VoteProps(voter prompt.UserID, id prompt.ID, v prompt.Vote, at time.Time) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "VoterId", Value: table.String(string(voter))},
		{Name: "VoteValue", Value: table.Int32(int32(v))},
		{Name: "UpdatedAt", Value: table.Time(at)},
	}
}

func TallyProps(t prompt.Tally) table.Props {
	props := table.Props{{Name: "Likes", Value: table.Int32(t.Likes)}, {Name: "Dislikes", Value: table.Int32(t.Dislikes)}}
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

func VoterProps(id prompt.ID, author prompt.UserID, v prompt.Vote, at time.Time) table.Props {
	return table.Props{
		{Name: "PromptId", Value: table.String(string(id))},
		{Name: "AuthorId", Value: table.String(string(author))},
		{Name: "VoteValue", Value: table.Int32(int32(v))},
		{Name: "UpdatedAt", Value: table.Time(at)},
	}
}

// A Locator says where the truth row of a prompt is and who may know of it.
type Locator struct {
	Author                  prompt.UserID
	public, deleted, hidden bool
}

func LocatorOf(p prompt.Prompt) Locator {
	return Locator{Author: p.AuthorID, public: p.Visibility == prompt.Public, deleted: p.Deleted(), hidden: p.Hidden()}
}

func ParseLocator(row table.Row) Locator {
	return Locator{
		Author:  UserIn(row.Props, "AuthorId"),
		public:  row.Props.Get("Visibility").Str() == string(prompt.Public),
		deleted: row.Props.Get("IsDeleted").Bool(),
		hidden:  row.Props.Get("IsHidden").Bool(),
	}
}

func (l Locator) VisibleTo(viewer prompt.UserID) bool {
	return !l.deleted && (viewer != "" && viewer == l.Author || l.public && !l.hidden)
}

func ParseTallyShard(row string) (int, bool) {
	if len(row) != len(tallyPrefix)+1 || row[:len(tallyPrefix)] != tallyPrefix {
		return 0, false
	}
	n, err := strconv.Atoi(row[len(tallyPrefix):])
	return n, err == nil && n < Shards
}
