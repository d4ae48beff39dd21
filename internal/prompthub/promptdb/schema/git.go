package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A repository of many skills is a line of snapshots. The row of the line is the truth, and it is
// written in one batch with each snapshot. After a withdrawal the line begins anew, in its next
// epoch: the rows of the epochs before are rubbish.

const (
	gitPrefix = "g|"
	lineRow   = "main|!" // of the one branch that there is

	// LinesKept is for how long a line stays that no client asked for.
	LinesKept = 30 * 24 * time.Hour

	maxSnapshot = 9999999999
	maxChange   = 4 << 20 // bytes of a change, unpacked
)

// A Repository names a line.
type Repository struct {
	Kind  RepositoryKind
	Owner prompt.UserID
	Slug  string // of a collection
}

// A RepositoryKind says which skills a repository has.
type RepositoryKind string

// The kinds.
const (
	OfPublic     RepositoryKind = "pub" // the public ones of an owner
	OfOwn        RepositoryKind = "own" // all of an owner
	OfCollection RepositoryKind = "col"
)

// Partition is where the rows of a line are.
func (r Repository) Partition() string {
	p := gitPrefix + string(r.Kind) + "|" + rowstore.Encode(string(r.Owner))
	if r.Kind == OfCollection {
		p += "|" + r.Slug
	}
	return p
}

// CollectionLines is how the partitions of the collections of an owner begin.
func CollectionLines(owner prompt.UserID) string {
	return Repository{Kind: OfCollection, Owner: owner}.Partition()
}

// ParseRepository is the opposite of Partition.
func ParseRepository(partition string) (r Repository, ok bool) {
	rest, isGit := strings.CutPrefix(partition, gitPrefix)
	parts := strings.Split(rest, "|")
	if !isGit || len(parts) < 2 {
		return r, false
	}
	owner, ok := rowstore.Decode(parts[1])
	if r = (Repository{Kind: RepositoryKind(parts[0]), Owner: prompt.UserID(owner)}); len(parts) > 2 {
		r.Slug = parts[2]
	}
	isKind := r.Kind == OfPublic || r.Kind == OfOwn || r.Kind == OfCollection && prompt.ValidSlug(r.Slug)
	return r, ok && isKind && r.Partition() == partition
}

// A Line is where the line of a repository has come to. It is zero if there is none.
type Line struct {
	Epoch, Seq int64
	Commit     string // of the last snapshot, its id in hex
	State      string // names what that was made of
	Readers    string // names who may read the line: for others it begins anew
	Shown      Shown  // in this epoch
	At         time.Time
	AskedAt    time.Time // in steps
	etag       string
}

// Shown are the versions of prompts that an epoch has.
type Shown map[prompt.ID]Gaps

// With returns the versions with one more. Those that it is called of may be changed.
func (s Shown) With(id prompt.ID, n int64) Shown {
	if s == nil {
		s = make(Shown)
	}
	if !s[id].Have(n) {
		s[id] = s[id].And(n)
	}
	return s
}

// LineKey is where the line of a repository is.
func LineKey(r Repository) table.Key { return table.Key{Partition: r.Partition(), Row: lineRow} }

// Op returns the write of the line: under its ETag, or for the first time.
func (l Line) Op(r Repository) table.Op {
	shown := make(map[prompt.ID]string, len(l.Shown))
	for id, n := range l.Shown {
		shown[id] = n.String()
	}
	return rowstore.Put(table.Row{Key: LineKey(r), ETag: l.etag, Props: append(table.Props{
		{Name: "Epoch", Value: table.Int64(l.Epoch)},
		{Name: "Seq", Value: table.Int64(l.Seq)},
		{Name: "Commit", Value: table.String(l.Commit)},
		{Name: "State", Value: table.String(l.State)},
		{Name: "Readers", Value: table.String(l.Readers)},
		{Name: "At", Value: table.Time(l.At)},
		{Name: "AskedAt", Value: table.Time(l.AskedAt)},
	}, TextParts("Shown", pack([]byte(JSONOf(shown))))...)})
}

// AskedOp says that a client asked for the line.
func (l Line) AskedOp(r Repository, at time.Time) table.Op {
	return table.Op{
		Kind: table.Merge,
		Row:  table.Row{Key: LineKey(r), ETag: l.etag, Props: table.Props{{Name: "AskedAt", Value: table.Time(at)}}},
	}
}

// ParseLine is the opposite of Line.Op.
func ParseLine(row table.Row) (Line, error) {
	p := row.Props
	l := Line{
		Epoch: p.Get("Epoch").Int(), Seq: p.Get("Seq").Int(), Commit: p.Get("Commit").Str(),
		State: p.Get("State").Str(), Readers: p.Get("Readers").Str(),
		At: p.Get("At").Time(), AskedAt: p.Get("AskedAt").Time(), Shown: make(Shown), etag: row.ETag,
	}
	b, err := unpackWithin(JoinedText(row, "Shown"), maxChange)
	shown := make(map[prompt.ID]string)
	if err == nil {
		err = json.Unmarshal(b, &shown)
	}
	for id, text := range shown {
		var failed error
		l.Shown[id], failed = ParseGaps(text)
		err = errors.Join(err, failed)
	}
	if err != nil {
		return l, fmt.Errorf("%w: the line of %s: %w", ErrUnreadable, row.Key, err)
	}
	return l, nil
}

// A Snapshot is a commit of a line.
type Snapshot struct {
	Seq    int64
	Commit []byte // as git has it
	Change []byte // of what the one before was made of
}

// SnapshotRow returns the row of a snapshot.
func SnapshotRow(r Repository, epoch int64, s Snapshot) table.Row {
	return table.Row{Key: snapshotKey(r, epoch, s.Seq), Props: append(
		TextParts("Commit", pack(s.Commit)), TextParts("Change", pack(s.Change))...,
	)}
}

func snapshotKey(r Repository, epoch, seq int64) table.Key {
	return table.Key{Partition: r.Partition(), Row: fmt.Sprintf("main|%010d|%010d", epoch, maxSnapshot-seq)}
}

// SnapshotsOf has the snapshots of an epoch, the last first, from a certain one on.
func SnapshotsOf(r Repository, epoch, last int64) table.Range {
	x := table.Prefix(r.Partition(), fmt.Sprintf("main|%010d|", epoch))
	x.From = snapshotKey(r, epoch, last).Row
	return x
}

// ParseSnapshot is the opposite of SnapshotRow.
func ParseSnapshot(row table.Row) (s Snapshot, epoch int64, err error) {
	if _, err = fmt.Sscanf(row.Row, "main|%d|%d", &epoch, &s.Seq); err == nil {
		s.Seq = maxSnapshot - s.Seq
		r, ok := ParseRepository(row.Partition)
		if !ok || snapshotKey(r, epoch, s.Seq) != row.Key {
			err = errors.New("its key is none")
		}
	}
	if err == nil {
		s.Commit, err = unpackWithin(JoinedText(row, "Commit"), maxChange)
	}
	if err == nil {
		s.Change, err = unpackWithin(JoinedText(row, "Change"), maxChange)
	}
	if err != nil {
		err = fmt.Errorf("%w: the snapshot at %s: %w", ErrUnreadable, row.Key, err)
	}
	return s, epoch, err
}

// IsLine reports whether a row is that of a line.
func IsLine(row table.Row) bool { return row.Row == lineRow }
