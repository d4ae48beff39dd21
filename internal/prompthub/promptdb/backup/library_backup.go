package backup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// A contentLine is a version of a prompt. Those of a prompt stand before it in a backup, so that a
// prompt which changes while they are read is found with all of them.
type contentLine struct {
	Prompt  prompt.ID     `json:"prompt"`
	Author  prompt.UserID `json:"author"`
	Version int64         `json:"version"`
	Text    string        `json:"text"`
	contentParts
	versionParts
	Description string        `json:"description,omitempty"`
	Message     string        `json:"message,omitempty"`
	By          prompt.UserID `json:"by"`
	At          time.Time     `json:"at"`
	MadeBy      string        `json:"madeThereBy,omitempty"`
	MadeAt      time.Time     `json:"madeThereAt,omitzero"`

	Source *sourceLine `json:"source,omitempty"`
}

// A sourceLine is the file that a version was made of.
type sourceLine struct {
	Format string   `json:"format"`
	File   string   `json:"file"`
	Bytes  []byte   `json:"bytes"`
	State  string   `json:"state"`
	Syntax string   `json:"syntax,omitempty"`
	Extra  []string `json:"extra,omitempty"`
}

// versionParts are what a version says in addition to its content. One of before that belonged to
// versions has none, nor has the prompt that holds it.
type versionParts struct {
	Described bool          `json:"described,omitempty"`
	FileHash  string        `json:"fileHash,omitempty"`
	Files     prompt.Files  `json:"files,omitempty"`
	Bundle    prompt.Bundle `json:"bundle,omitzero"`
}

// contentParts are what only some contents have in addition to the text.
type contentParts struct {
	Kind      prompt.Kind       `json:"kind,omitempty"`
	Messages  []prompt.Message  `json:"messages,omitempty"`
	Config    string            `json:"config,omitempty"`
	Variables []prompt.Variable `json:"variables,omitempty"`
}

func partsOf(c prompt.Content) contentParts {
	return contentParts{Kind: c.Kind, Messages: c.Messages, Config: c.Config, Variables: c.Variables}
}

func (p contentParts) with(text string) prompt.Content {
	return prompt.Content{Kind: p.Kind, Text: text, Messages: p.Messages, Config: p.Config, Variables: p.Variables}
}

// A moveLine tells what became of a label of a prompt. It stands before the prompt, too.
type moveLine struct {
	Prompt   prompt.ID     `json:"prompt"`
	Author   prompt.UserID `json:"author"`
	Label    string        `json:"label"`
	From     int64         `json:"from,omitempty"`
	To       int64         `json:"to,omitempty"`
	Proposal int64         `json:"proposal,omitempty"`
	Followed bool          `json:"followed,omitempty"`
	By       prompt.UserID `json:"by"`
	At       time.Time     `json:"at"`
	UndoneBy prompt.UserID `json:"undoneBy,omitempty"`
	UndoneAt time.Time     `json:"undoneAt,omitzero"`
}

// A libraryLine is what a prompt with a name has beyond one without.
type libraryLine struct {
	Name     string   `json:"name"`
	Slug     string   `json:"slug"`
	OldNames []string `json:"oldNames,omitempty"`
	// those of its names that lead to other prompts, or nowhere
	Lost        []string `json:"lost,omitempty"`
	Description string   `json:"description,omitempty"`
	versionParts
	OwnTags     []string `json:"ownTags,omitempty"`
	Version     int64    `json:"version"`
	LastVersion int64    `json:"lastVersion"`
	PublicFrom  int64    `json:"publicFrom"`
	Deleted     string   `json:"deletedVersions,omitempty"` // such as 2,5-9
	// by the numbers of their versions; a recall changes a version after its line was written
	Recalls   map[int64]prompt.Recall `json:"recalls,omitempty"`
	Labels    map[string]int64        `json:"labels,omitempty"`
	RenamedAt time.Time               `json:"renamedAt,omitzero"` // when another rule began to count for a label
	Message   string                  `json:"message,omitempty"`
	MadeBy    prompt.UserID           `json:"madeBy,omitempty"` // in a workspace
	Origin    *originLine             `json:"origin,omitempty"`
	// what it takes with what it includes; nothing else tells what that was when it was saved
	Included []prompt.Argument `json:"included,omitempty"`
	contentParts
}

// An originLine is where a fork comes from.
type originLine struct {
	Prompt  prompt.ID `json:"prompt"`
	Version int64     `json:"version"`
}

// maxBackupTries is how often a prompt is read anew that changes while its versions are read.
const maxBackupTries = 20

// library writes the versions of a prompt and returns the rest. The record becomes that which they
// belong to.
func (b *backup) library(ctx context.Context, rec *schema.Record) (*libraryLine, error) {
	written, files := int64(0), make(map[string]bool)
	for range maxBackupTries {
		to := rec.Last
		if err := b.contents(ctx, *rec, written, files); err != nil {
			return nil, err
		}
		written = to
		fresh, err := b.db.Record(ctx, rec.AuthorID, rec.ID)
		if err != nil {
			return nil, err
		}
		if fresh == nil || fresh.Purging {
			rec.Purging = true // its lines belong to no prompt, and a restore removes them
			return nil, nil
		}
		c, err := b.db.LabelsRow(ctx, rec.AuthorID, rec.ID)
		if err != nil {
			return nil, err
		}
		if *rec = *fresh; rec.Last == written && c != nil && c.Follows(rec.Prompt) && !c.Gaps.Have(rec.Version) {
			recalls, ok, err := b.recalls(ctx, *rec, *c)
			if err != nil {
				return nil, err
			}
			if !ok {
				continue
			}
			if err := b.moves(ctx, *rec); err != nil {
				return nil, err
			}
			if prompt.IsWorkspace(rec.AuthorID) {
				if err := b.proposals(ctx, *rec, *c); err != nil {
					return nil, err
				}
			}
			return b.libraryLine(ctx, *rec, *c, recalls)
		}
	}
	return nil, fmt.Errorf("prompt %s: changed %d times while it was read", rec.ID, maxBackupTries)
}

// recalls returns the recalls of versions that a labels row says were recalled. It reports false if
// the row says something else meanwhile.
func (b *backup) recalls(ctx context.Context, rec schema.Record,
	c schema.LabelsRow,
) (map[int64]prompt.Recall, bool, error) {
	if len(c.Recalled) == 0 {
		return nil, true, nil
	}
	all := make(map[int64]prompt.Recall)
	for _, n := range c.Recalled {
		row, err := b.db.VersionAt(ctx, rec.AuthorID, rec.ID, n, "Recall")
		if err != nil && !errors.Is(err, table.ErrDamaged) {
			return nil, false, err
		}
		all[n] = prompt.Recall{} // of a damaged row too: programs do not get the version
		if row != nil {
			if r := schema.RecallIn(*row); r != nil {
				all[n] = *r
			}
		}
	}
	now, err := b.db.LabelsRow(ctx, rec.AuthorID, rec.ID)
	return all, err == nil && now != nil && slices.Equal(now.Recalled, c.Recalled), err
}

func (b *backup) libraryLine(ctx context.Context, rec schema.Record, c schema.LabelsRow,
	recalls map[int64]prompt.Recall,
) (*libraryLine, error) {
	l := &libraryLine{
		Name: rec.Name, Slug: rec.Slug, OldNames: rec.OldNames, Description: rec.Description, OwnTags: rec.OwnTags,
		versionParts: versionParts{!rec.Undescribed, rec.FileHash, rec.Files, rec.Bundle},
		Version:      rec.Version, LastVersion: rec.Last, PublicFrom: rec.From, Message: rec.Message,
		Deleted: c.Gaps.String(), Recalls: recalls, Labels: c.Labels, RenamedAt: c.RenamedAt, MadeBy: rec.MadeBy,
		Included: rec.AllArguments, contentParts: partsOf(rec.Content()),
	}
	if rec.ForkedFrom.ID != "" {
		l.Origin = &originLine{rec.ForkedFrom.ID, rec.ForkedFrom.Version}
	}
	names := rec.OldNames // a living prompt has its name and slug
	if rec.Deleted() {
		names = rec.Names()
	}
	for _, name := range names {
		row, err := b.db.GetRow(ctx, b.db.T.Prompts, schema.NameKey(rec.AuthorID, name))
		if err != nil {
			return nil, err
		}
		if row == nil || prompt.ID(row.Props.Get("PromptId").Str()) != rec.ID {
			l.Lost = append(l.Lost, name)
		}
	}
	return l, nil
}

// contents writes the versions of a prompt above one, up to its last, and before each those of its
// files that are not written yet.
func (b *backup) contents(ctx context.Context, rec schema.Record, above int64, written map[string]bool) error {
	r := table.Range{
		Partition: schema.PromptKey(rec.AuthorID, rec.ID).Partition,
		From:      schema.VersionKey(rec.AuthorID, rec.ID, rec.Last).Row,
		To:        schema.VersionKey(rec.AuthorID, rec.ID, above).Row,
	}
	for row, err := range table.All(ctx, b.db.DB, b.db.T.Prompts, r) {
		if errors.Is(err, table.ErrDamaged) { // it is left out alone
			continue
		}
		if err != nil {
			return err
		}
		v := schema.ParseVersionRow(row)
		source, err := b.source(ctx, rec, v)
		if err != nil {
			return err
		}
		if err := b.files(ctx, rec.AuthorID, rec.ID, v.Files, written); err != nil {
			return err
		}
		if err := b.emit(line{Kind: "content", Content: &contentLine{
			Prompt: rec.ID, Author: rec.AuthorID, Version: v.Number, Text: v.Text, contentParts: partsOf(v.Content),
			Message: v.Message, By: v.By, At: v.At,
			Description: v.Description, versionParts: versionParts{!v.Undescribed, v.FileHash, v.Files, v.Bundle},
			Source: source, MadeBy: v.Made.By, MadeAt: v.Made.At,
		}}); err != nil {
			return err
		}
	}
	return nil
}

// source returns the file that a version was made of; nil for none.
func (b *backup) source(ctx context.Context, rec schema.Record, v prompt.Version) (*sourceLine, error) {
	if v.Source == "" {
		return nil, nil //nolint:nilnil // as documented
	}
	row, err := b.db.GetRow(ctx, b.db.T.Prompts, schema.SourceKey(rec.AuthorID, rec.ID, v.Number))
	if errors.Is(err, table.ErrDamaged) { // it is left out alone
		return nil, nil //nolint:nilnil // as documented
	}
	if err != nil || row == nil { // it went with its version
		return nil, err
	}
	s, err := schema.ParseSourceRow(*row)
	return &sourceLine{
		Format: s.Format, File: s.File, Bytes: s.Bytes, State: s.State,
		Syntax: s.Syntax, Extra: s.Extra,
	}, err
}

// moves writes what became of the labels of a prompt.
func (b *backup) moves(ctx context.Context, rec schema.Record) error {
	return b.sideLines(ctx, rec, schema.MovesOf(rec.ID), func(row table.Row) *line {
		m := schema.ParseMoveRow(row)
		return &line{Kind: "move", Move: &moveLine{
			Prompt: rec.ID, Author: rec.AuthorID, Label: m.Label, From: m.From, To: m.To, Proposal: m.Proposal,
			Followed: m.Followed, By: m.By, At: m.At,
			UndoneBy: m.Undone.By, UndoneAt: m.Undone.At,
		}}
	})
}

// into completes a prompt that is being restored.
func (l *libraryLine) into(p *prompt.Prompt) {
	p.Name, p.Slug, p.OldNames, p.Description, p.OwnTags, p.Message = l.Name, l.Slug, l.OldNames,
		l.Description, l.OwnTags, l.Message
	p.AllArguments, p.MadeBy = l.Included, l.MadeBy
	p.Draft = p.With(l.with(p.Text))
	if l.Origin != nil {
		p.ForkedFrom = prompt.ForkedFrom{ID: l.Origin.Prompt, Version: l.Origin.Version}
	}
	p.Versions = prompt.Versions{
		Version: l.Version, Last: l.LastVersion, From: l.PublicFrom, FileHash: l.FileHash,
		Undescribed: !l.Described, Bundle: l.Bundle,
	}
	p.Files = l.Files
}

// versionRows are those of a version of a prompt: its own is the last one.
type versionRows struct {
	of   prompt.ID
	rows []table.Row
}

// rows returns the rows of the version.
func (l *contentLine) rows() (versionRows, error) {
	id, ok := prompt.ParseID(string(l.Prompt))
	if !ok || id != l.Prompt || l.Version < 1 || l.Version >= schema.MaxVersion {
		return versionRows{}, fmt.Errorf("version %d of prompt %q", l.Version, l.Prompt)
	}
	content := l.with(l.Text)
	rows := schema.UsesRows(l.Author, id, l.Version, content.Includes())
	v, kept := prompt.Version{
		Number: l.Version, Content: content, Description: l.Description,
		FileHash: l.FileHash, Undescribed: !l.Described,
		Files: l.Files, Bundle: l.Bundle, Message: l.Message, Made: prompt.Made{By: l.MadeBy, At: l.MadeAt},
		Change: prompt.Change{By: l.By, At: l.At},
	}, 0
	if s := l.Source; s != nil {
		v.Source = s.Format
		row := schema.SourceRow(l.Author, id, v.Number,
			prompt.Source{
				Format: s.Format, File: s.File, Bytes: s.Bytes, State: s.State,
				Syntax: s.Syntax, Extra: s.Extra,
			})
		rows, kept = append(rows, row), len(schema.JoinedText(row, "Packed"))
	}
	return versionRows{id, append(rows, schema.VersionRow(l.Author, id, v, kept))}, nil
}

// content puts a version, of a number, into the batch.
func (re *restore) content(ctx context.Context, n int64, v versionRows) error {
	re.begin(v.of)
	re.sizes[n] = schema.SizeIn(v.rows[len(v.rows)-1])
	for _, row := range v.rows {
		re.versions[n] = append(re.versions[n], row.Key)
		if err := re.add(ctx, re.db.T.Prompts, row); err != nil {
			return err
		}
	}
	return nil
}

// begin forgets what was read of the prompt before, with any line of another one: a backup may lack
// the versions of a prompt, the moves of its labels, or its proposals.
func (re *restore) begin(id prompt.ID) {
	if id != re.of {
		re.of, re.versions, re.sizes, re.beside = id, map[int64][]table.Key{}, map[int64]int64{}, schema.LabelsRow{}
	}
}

// forget removes the rows of a version that was deleted while its prompt was backed up.
func (re *restore) forget(ctx context.Context, n int64) error {
	if len(re.versions[n]) == 0 {
		return nil
	}
	delete(re.sizes, n)
	if err := re.flush(ctx); err != nil {
		return err
	}
	var ops []table.Op
	for _, key := range re.versions[n] {
		ops = append(ops, rowstore.Removal(key))
	}
	if err := re.db.Write(ctx, re.db.T.Prompts, ops); err != nil {
		return rowstore.Unavailable(err)
	}
	return nil
}

// recalls writes recalls into the rows of their versions, and returns the numbers of the versions.
func (re *restore) recalls(ctx context.Context, rec schema.Record,
	recalls map[int64]prompt.Recall,
) (schema.Gaps, error) {
	if len(recalls) == 0 {
		return nil, nil
	}
	if err := re.flush(ctx); err != nil {
		return nil, err
	}
	numbers := slices.Sorted(maps.Keys(recalls))
	for _, n := range numbers {
		if len(re.versions[n]) == 0 { // its row was damaged
			continue
		}
		r := recalls[n]
		row := table.Row{
			Key: schema.VersionKey(rec.AuthorID, rec.ID, n), ETag: table.Any,
			Props: schema.RecallProps(&r),
		}
		if err := re.db.Write(ctx, re.db.T.Prompts, []table.Op{{Kind: table.Merge, Row: row}}); err != nil {
			return nil, rowstore.Unavailable(err)
		}
	}
	return numbers, nil
}

// move puts what became of a label into the batch.
func (re *restore) move(ctx context.Context, l moveLine) error {
	id, ok := prompt.ParseID(string(l.Prompt))
	if !ok || id != l.Prompt || !prompt.ValidLabel(l.Label) {
		return fmt.Errorf("label %q of prompt %q", l.Label, l.Prompt)
	}
	re.begin(id)
	re.beside.Moves++
	if l.At.After(re.beside.MovedAt) {
		re.beside.MovedAt = l.At
	}
	return re.add(ctx, re.db.T.Prompts, schema.MoveRow(l.Author, id, prompt.Move{
		Label: l.Label, From: l.From, To: l.To, Proposal: l.Proposal, Followed: l.Followed,
		Change: prompt.Change{By: l.By, At: l.At}, Undone: prompt.Change{By: l.UndoneBy, At: l.UndoneAt},
	}))
}

// library puts the rows of labels and names of a prompt into the batch.
func (re *restore) library(ctx context.Context, rec schema.Record, l *libraryLine) error {
	re.begin(rec.ID)
	deleted, err := schema.ParseGaps(l.Deleted)
	if err != nil {
		return err
	}
	for _, n := range deleted {
		if err := re.forget(ctx, n); err != nil {
			return err
		}
	}
	c := re.beside.Of(rec.Prompt)
	c.Labels, c.Gaps, c.RenamedAt = l.Labels, deleted, l.RenamedAt
	if c.Recalled, err = re.recalls(ctx, rec, l.Recalls); err != nil {
		return err
	}
	for _, size := range re.sizes {
		c.Bytes += size
	}
	errs := []error{re.add(ctx, re.db.T.Prompts, c.Row(rec.AuthorID, rec.ID))}
	add := func(name string, props table.Props) {
		if !slices.Contains(l.Lost, name) {
			errs = append(errs, re.add(ctx, re.db.T.Prompts,
				table.Row{Key: schema.NameKey(rec.AuthorID, name), Props: props}))
		}
	}
	for _, name := range rec.OwnNames() {
		add(name, schema.NameProps(rec.Prompt, c))
	}
	for _, name := range rec.OldNames {
		add(name, schema.Redirect(rec.ID))
	}
	return errors.Join(errs...)
}
