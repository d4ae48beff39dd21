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

// The types that callers of a DB name; each is described in its room.
type (
	// Tables names the tables.
	Tables = schema.Tables
	// An Order is one that lists of public prompts may have.
	Order = schema.Order
	// An OrderInfo is what doors say of an order.
	OrderInfo = schema.OrderInfo
	// A Quota is what one user may store.
	Quota = schema.Quota
	// Usage is what a user takes.
	Usage = schema.Usage
	// A Scope names prompts that are searched together.
	Scope = schema.Scope
	// A Token is an access token, without its secret.
	Token = schema.Token
	// A View is a prompt as one user sees it.
	View = truth.View
	// A Use is a prompt that includes another.
	Use = truth.Use
	// An Edit returns what becomes of a prompt.
	Edit = commit.Edit
	// Idempotency names a request, so that the same one again makes nothing twice.
	Idempotency = commit.Idempotency
	// A Page is a part of a list.
	Page = query.Page
	// A Search says what prompts to find.
	Search = query.Search
	// A Filter chooses among an author's prompts.
	Filter = query.Filter
	// A Sort is an order of an author's prompts.
	Sort = query.Sort
	// A WantedVersion names a version by its number or a label.
	WantedVersion = query.WantedVersion
	// A VersionPage is a part of the versions of a prompt.
	VersionPage = query.VersionPage
	// A Lineage is a prompt with its versions for programs.
	Lineage = query.Lineage
	// A LineageVersion is one of them.
	LineageVersion = query.LineageVersion
	// A Standing is what decides which versions of a prompt a reader gets.
	Standing = query.Standing
	// A Repository names a line of snapshots.
	Repository = schema.Repository
	// A Line is where such a line has come to.
	Line = schema.Line
	// A Snapshot is a commit of it.
	Snapshot = schema.Snapshot
	// A History is what became of the labels of a prompt.
	History = query.History
	// A Numbered names a version of a prompt.
	Numbered = query.Numbered
	// A NameRow is a prompt as the row of its name tells of it.
	NameRow = query.NameRow
	// A Node is a prompt among those that a text includes.
	Node = query.Node
	// A Resolution is a text with what it includes.
	Resolution = query.Resolution
	// An EventQuery says which events of a workspace are wanted.
	EventQuery = query.Events
	// An OpenProposal is a proposal of a workspace that is open.
	OpenProposal = query.Open
	// A Proposing is a change of a proposal.
	Proposing = commit.Proposing
	// Reviewers say who may approve.
	Reviewers = commit.Reviewers
	// A LabelsRow is what is kept of the labels of a prompt.
	LabelsRow = schema.LabelsRow
	// A SourceOf is the file that a version was made of.
	SourceOf = query.SourceOf
	// An ExportedPrompt is a prompt with some of its versions.
	ExportedPrompt = query.ExportedPrompt
	// A Catalog is the tags that prompts may have.
	Catalog = accounts.Catalog
	// An AuthorCount is an author with how many public prompts they have.
	AuthorCount = accounts.AuthorCount
	// A KnownUser is a user with their profile.
	KnownUser = accounts.KnownUser
	// An Account lets a user in by a password.
	Account = schema.Account
	// A Newcomer makes an account by an invitation.
	Newcomer = accounts.Newcomer
	// A Login is a sign-in of a command line that a person allowed.
	Login = schema.Login
	// Members is a workspace with its members.
	Members = accounts.Members
	// A Similar is a prompt that is like another.
	Similar = learn.Similar
	// A Kept is what a run of Keep did.
	Kept = backup.Kept
	// A Fetch is what an access token fetched of a prompt last.
	Fetch = schema.Fetch
	// A Difference is a row that is not as the truth says.
	Difference = verify.Difference
)

// Constants of the rooms.
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
	MaxAuthorsKept = accounts.MaxAuthorsKept

	OfPublic     = schema.OfPublic
	OfOwn        = schema.OfOwn
	OfCollection = schema.OfCollection

	Newest    = schema.Newest
	Relevance = schema.Relevance
	MostLiked = schema.MostLiked
	Hot       = schema.Hot
	Best      = schema.Best
	Trending  = schema.Trending

	ByNewest    = query.ByNewest
	ByRelevance = query.ByRelevance
	ByUpdated   = query.ByUpdated
	ByTitle     = query.ByTitle

	PageTooLarge        = query.PageTooLarge
	AuthorSecretDamaged = schema.AuthorSecretDamaged
	UserMoved           = accounts.UserMoved
	NoAccount           = accounts.NoAccount
	SessionPrefix       = schema.SessionPrefix
	MaxMoved            = accounts.MaxMoved
	BackupContainer     = backup.Container
	RestoreIncomplete   = verify.RestoreIncomplete
)

// Values of the rooms.
var (
	ErrUnchanged  = commit.ErrUnchanged
	ErrNotIndexed = backup.ErrNotIndexed
	ForPrograms   = query.ForPrograms

	LatestForPrograms = query.LatestForPrograms

	LatestNotRecalled = query.LatestNotRecalled
)

// ErrNoAccount answers for a person without a password here.
func ErrNoAccount() error { return accounts.ErrNoAccount() }

// Orders returns the orders of public prompts: first the default of a search for words, then that
// of other lists.
func Orders() []OrderInfo { return schema.Orders() }

// DefaultTables returns the tables under their usual names.
func DefaultTables() Tables { return schema.DefaultTables() }

// Position returns the position after a prompt in the lists that are newest first.
func Position(id prompt.ID) string { return schema.Position(id) }

// SharedTexts names the properties of summary rows that one user may have written and another
// reads.
func SharedTexts() []string { return schema.SharedTexts() }

// CheckBackup refuses the first line of a file that is none of PromptHub's backups, or one that
// this version does not read.
func CheckBackup(first []byte) error { return backup.CheckFirst(first) }
