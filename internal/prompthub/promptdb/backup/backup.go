package backup

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/verify"
	"prompthub/internal/storage/table"
)

// backupVersion is the version of the format below. Restore reads earlier ones too: the versions in
// one of version 3 have no descriptions, and one of version 2 has no author secret, so that users
// get other keys.
const (
	backupVersion = 8
	oldestBackup  = 2
)

// A line is one line of a backup: JSON, one kind of thing each. The first is a header, the last the
// number of lines between. Index rows, tallies and counts are not in it: they follow from the rest.
type line struct {
	// backup, secret, tag, idempotency, file, content, move, proposal, review, prompt, vote, token,
	// user, favorite, workspace, member, membership, event, collection, account, invite, end
	Kind    string       `json:"kind"`
	Version int          `json:"version,omitempty"`
	Rows    *int         `json:"rows,omitempty"`
	Keys    string       `json:"authorKeys,omitempty"` // the secret of author keys: in the first row
	Tag     *tagLine     `json:"tag,omitempty"`
	Idem    *idemLine    `json:"idempotency,omitempty"`
	File    *fileLine    `json:"file,omitempty"`
	Content *contentLine `json:"content,omitempty"`
	Move    *moveLine    `json:"move,omitempty"`
	Prompt  *promptLine  `json:"prompt,omitempty"`
	Vote    *voteLine    `json:"vote,omitempty"`
	Token   *tokenLine   `json:"token,omitempty"`
	User    *userLine    `json:"user,omitempty"`

	Favorite *favoriteLine `json:"favorite,omitempty"`

	Workspace  *workspaceLine  `json:"workspace,omitempty"`
	Member     *memberLine     `json:"member,omitempty"`
	Membership *membershipLine `json:"membership,omitempty"`
	Event      *eventLine      `json:"event,omitempty"`
	Proposal   *proposalLine   `json:"proposal,omitempty"`
	Review     *reviewLine     `json:"review,omitempty"`

	Collection *collectionLine `json:"collection,omitempty"`

	Account *accountLine `json:"account,omitempty"`
	Invite  *inviteLine  `json:"invite,omitempty"`
}

type tagLine struct {
	Tag         prompt.Tag `json:"tag"`
	DisplayName string     `json:"displayName"`
	SortOrder   int32      `json:"sortOrder"`
	Active      bool       `json:"active"`
}

type idemLine struct {
	Author prompt.UserID `json:"author"`
	Key    string        `json:"key"`
	Body   string        `json:"body"`
	Prompt prompt.ID     `json:"prompt"`
}

type promptLine struct {
	ID           prompt.ID         `json:"id"`
	Author       prompt.UserID     `json:"author"`
	AuthorName   string            `json:"authorName"`
	Title        string            `json:"title"`
	Text         string            `json:"text"`
	Tags         []prompt.Tag      `json:"tags"`
	Visibility   prompt.Visibility `json:"visibility"`
	CreatedAt    time.Time         `json:"createdAt"`
	UpdatedAt    time.Time         `json:"updatedAt"`
	DeletedAt    time.Time         `json:"deletedAt,omitzero"`
	HiddenAt     time.Time         `json:"hiddenAt,omitzero"`
	HiddenBy     prompt.UserID     `json:"hiddenBy,omitempty"`
	HiddenReason string            `json:"hiddenReason,omitempty"`
	Revision     int64             `json:"revision"`
	Idempotency  string            `json:"idempotency,omitempty"`
	Library      *libraryLine      `json:"library,omitempty"` // absent where it has no name yet
}

type voteLine struct {
	Prompt    prompt.ID     `json:"prompt"`
	Voter     prompt.UserID `json:"voter"`
	Value     prompt.Vote   `json:"value"` // -1, 0 or 1
	UpdatedAt time.Time     `json:"updatedAt"`
}

// Backup writes the secret of author keys and every tag, prompt and vote as JSON Lines, in an order
// that depends on nothing but them, and returns the number of lines between the first and the last.
// The application may be running: a prompt or vote that is written meanwhile is in the backup as a
// whole or not at all, and no vote is there without its prompt. Rows that it cannot read, or that a
// newer version wrote, are left out with the rows that follow from them, and reported.
func (db *Backups) Backup(ctx context.Context, w io.Writer, report func(verify.Difference),
	progress func(rows int),
) (int, error) {
	buf := bufio.NewWriter(w)
	b := db.backup(buf, report, progress)
	if err := b.all(ctx); err != nil {
		return b.rows, err
	}
	return b.rows, buf.Flush()
}

func (db *Backups) backup(w io.Writer, report func(verify.Difference), progress func(int)) *backup {
	b := &backup{
		prompts: map[prompt.ID]bool{}, db: db, enc: json.NewEncoder(w), report: report, progress: progress,
		after: func(place) error { return nil },
	}
	b.enc.SetEscapeHTML(false)
	return b
}

var errForeign = errors.New("is no row that this version writes")

type backup struct {
	prompts  map[prompt.ID]bool // that are in it: about 50 bytes for each
	db       *Backups
	enc      *json.Encoder
	report   func(verify.Difference)
	progress func(int)
	rows     int
	from     place             // where it goes on; the zero place is the beginning
	after    func(place) error // is called after the lines of each row of a table
}

// A place is how far a backup has come: a row of a table whose lines are all written, and with it
// those of all rows before.
type place struct {
	Table     int    `json:"table"` // its number in the order of a backup, from 1 on
	Partition string `json:"partition,omitempty"`
	Row       string `json:"row,omitempty"`
	Rows      int    `json:"rows"`              // of the backup, until there
	LeftOut   int    `json:"leftOut,omitempty"` // rows of tables, until there
}

func (b *backup) all(ctx context.Context) error {
	if b.from.Table == 0 {
		if err := b.head(ctx); err != nil {
			return err
		}
	}
	tables := []struct {
		name string
		line func(table.Row) (*line, error)
	}{
		{b.db.T.TagCatalog, tagOf},
		{b.db.T.Prompts, func(row table.Row) (*line, error) { return b.promptOf(ctx, row) }},
		{b.db.T.Votes, b.voteOf},
		{b.db.T.AccessTokens, func(row table.Row) (*line, error) { return b.tokenOf(ctx, row) }},
		{b.db.T.Users, userOf},
		{b.db.T.Favorites, b.favoriteOf},
	}
	for i, t := range tables {
		if i+1 < b.from.Table {
			continue
		}
		if err := b.table(ctx, i+1, t.name, t.line); err != nil {
			return err
		}
	}
	if b.from.Table > len(tables) { // it has its last line
		return nil
	}
	if err := b.enc.Encode(line{Kind: "end", Rows: &b.rows}); err != nil {
		return err
	}
	return b.after(place{Table: len(tables) + 1, Rows: b.rows})
}

// head writes the first line, and the secret.
func (b *backup) head(ctx context.Context) error {
	if err := b.enc.Encode(line{Kind: "backup", Version: backupVersion}); err != nil {
		return err
	}
	switch secret, err := b.db.accounts.ReadAuthorSecret(ctx); {
	case fault.CodeOf(err) == schema.AuthorSecretDamaged:
		b.report(verify.Difference{
			Table: b.db.T.SystemState, Key: schema.AuthorSecretKey(),
			What: verify.DamagedRow + "; it was left out",
		})
	case err != nil:
		return err
	case secret != nil:
		if err := b.emit(line{Kind: "secret", Keys: schema.AuthorSecretText(*secret)}); err != nil {
			return err
		}
	}
	return b.after(place{Table: 1, Rows: b.rows})
}

// rest returns the ranges that are left of a table.
func (b *backup) rest(number int) []table.Range {
	if b.from.Table != number || b.from.Partition == "" {
		return []table.Range{{}}
	}
	return []table.Range{
		{Partition: b.from.Partition, After: b.from.Row},
		{FromPartition: b.from.Partition + "!"}, // which sorts before all that keys hold
	}
}

func (b *backup) table(ctx context.Context, number int, name string, of func(table.Row) (*line, error)) error {
	for _, r := range b.rest(number) {
		if err := b.rangeOf(ctx, number, name, r, of); err != nil {
			return err
		}
	}
	return nil
}

func (b *backup) rangeOf(ctx context.Context, number int, name string, r table.Range,
	of func(table.Row) (*line, error),
) error {
	leftOut := func(key table.Key, why string) {
		b.report(verify.Difference{Table: name, Key: key, What: why + "; it was left out"})
	}
	for row, err := range table.All(ctx, b.db.DB, name, r) {
		if d := (*table.DamagedError)(nil); errors.As(err, &d) {
			leftOut(d.Key, verify.DamagedRow)
			continue
		}
		if err != nil {
			return err
		}
		l, err := of(row)
		switch {
		case errors.Is(err, table.ErrDamaged):
			leftOut(row.Key, verify.NeedsDamaged)
		case errors.Is(err, schema.ErrUnreadable) || errors.Is(err, schema.ErrNewer) || errors.Is(err, errForeign):
			leftOut(row.Key, err.Error())
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case l != nil:
			if err := b.emit(*l); err != nil {
				return err
			}
		}
		if err := b.after(place{Table: number, Partition: row.Partition, Row: row.Row, Rows: b.rows}); err != nil {
			return err
		}
	}
	return nil
}

func (b *backup) emit(l line) error {
	if b.rows++; b.rows%verify.ProgressEvery == 0 {
		b.progress(b.rows)
	}
	return b.enc.Encode(l)
}

func tagOf(row table.Row) (*line, error) {
	t := schema.ParseTag(row)
	return &line{Kind: "tag", Tag: &tagLine{
		Tag: t.Tag, DisplayName: t.DisplayName,
		SortOrder: t.SortOrder, Active: t.Active,
	}}, nil
}

func (b *backup) promptOf(ctx context.Context, row table.Row) (*line, error) {
	if key, ok := strings.CutPrefix(row.Row, schema.IdemPrefix); ok {
		author, ok := schema.ParseUser(row.Partition)
		if !ok {
			return nil, errForeign
		}
		return &line{Kind: "idempotency", Idem: &idemLine{
			Author: author, Key: key, Body: row.Props.Get("BodyHash").Str(),
			Prompt: prompt.ID(row.Props.Get("PromptId").Str()),
		}}, nil
	}
	if strings.HasPrefix(row.Row, schema.WorkspacePrefix) {
		return workspaceOf(row)
	}
	if strings.HasPrefix(row.Row, schema.EventPrefix) {
		return eventOf(row)
	}
	if strings.HasPrefix(row.Row, schema.CollectionPrefix) {
		return collectionOf(row)
	}
	if strings.HasPrefix(row.Row, "!") { // follows from truth rows, or goes with one
		return nil, nil
	}
	rec, err := schema.ParseRecord(row)
	switch {
	case err != nil:
		return nil, err
	case rec.RowsVersion > schema.RowsVersion:
		return nil, schema.ErrNewer
	}
	var library *libraryLine
	if !rec.Purging {
		if library, err = b.library(ctx, &rec); err != nil {
			return nil, err
		}
	}
	if rec.Purging { // since, perhaps
		return nil, nil
	}
	b.prompts[rec.ID] = true
	tags := rec.Tags
	if tags == nil {
		tags = []prompt.Tag{}
	}
	return &line{Kind: "prompt", Prompt: &promptLine{
		ID: rec.ID, Author: rec.AuthorID, AuthorName: rec.AuthorName, Title: rec.Title, Text: rec.Text, Tags: tags,
		Visibility: rec.Visibility, CreatedAt: rec.CreatedAt, UpdatedAt: rec.UpdatedAt, DeletedAt: rec.DeletedAt,
		HiddenAt: rec.HiddenAt, HiddenBy: rec.HiddenBy, HiddenReason: rec.HiddenReason, Revision: rec.Revision,
		Idempotency: rec.Idem, Library: library,
	}}, nil
}

func (b *backup) voteOf(row table.Row) (*line, error) {
	voter, ok := schema.ParseVote(row.Row)
	if !ok {
		return nil, nil
	}
	id, ok := schema.ParsePrompt(row.Partition)
	if !ok {
		return nil, errForeign
	}
	if !b.prompts[id] { // made, purged or left out since
		return nil, nil
	}
	return &line{Kind: "vote", Vote: &voteLine{
		Prompt: id, Voter: voter, Value: schema.VoteIn(row), UpdatedAt: row.Props.Get("UpdatedAt").Time(),
	}}, nil
}
