package promptdb

import (
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/accounts"
	"prompthub/internal/prompthub/promptdb/backup"
	"prompthub/internal/prompthub/promptdb/commit"
	"prompthub/internal/prompthub/promptdb/learn"
	"prompthub/internal/prompthub/promptdb/query"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/prompthub/promptdb/truth"
	"prompthub/internal/prompthub/promptdb/verify"
	"prompthub/internal/storage/rowstore"
)

// What callers of a DB name, under the names by which they know it; each is described in its room.
type (
	Tables         = schema.Tables
	Order          = schema.Order
	Quota          = schema.Quota
	Usage          = schema.Usage
	Token          = schema.Token
	View           = truth.View
	Use            = truth.Use
	Edit           = commit.Edit
	Idempotency    = commit.Idempotency
	Page           = query.Page
	Search         = query.Search
	Filter         = query.Filter
	Sort           = query.Sort
	WantedVersion  = query.WantedVersion
	VersionPage    = query.VersionPage
	History        = query.History
	Numbered       = query.Numbered
	NameRow        = query.NameRow
	Node           = query.Node
	Resolution     = query.Resolution
	SourceOf       = query.SourceOf
	ExportedPrompt = query.ExportedPrompt
	Catalog        = accounts.Catalog
	Similar        = learn.Similar
	Difference     = verify.Difference
)

const (
	QueueMoves     = commit.QueueMoves
	QueueRepairs   = commit.QueueRepairs
	Lease          = commit.Lease
	JobEnds        = rowstore.JobEnds
	RowsVersion    = schema.RowsVersion
	MaxFavorites   = schema.MaxFavorites
	QuotaPrompts   = schema.QuotaPrompts
	QuotaBytes     = schema.QuotaBytes
	QuotaFavorites = schema.QuotaFavorites

	Newest    = schema.Newest
	MostLiked = schema.MostLiked
	Hot       = schema.Hot
	Best      = schema.Best
	Trending  = schema.Trending

	ByNewest  = query.ByNewest
	ByUpdated = query.ByUpdated
	ByTitle   = query.ByTitle

	AuthorSecretDamaged = schema.AuthorSecretDamaged
	RestoreIncomplete   = verify.RestoreIncomplete
)

var (
	ErrUnchanged  = commit.ErrUnchanged
	ErrNotIndexed = backup.ErrNotIndexed
	ForPrograms   = query.ForPrograms
)

// DefaultTables returns the tables under their usual names.
func DefaultTables() Tables { return schema.DefaultTables() }

// Position returns the position after a prompt in the lists that are newest first.
func Position(id prompt.ID) string { return schema.Position(id) }

// SharedTexts names the properties of summary rows that one user may have written and another reads.
func SharedTexts() []string { return schema.SharedTexts() }
