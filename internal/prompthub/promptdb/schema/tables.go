package schema

import (
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Tables names the tables. Prefix goes before every name.
type Tables struct {
	Prefix       string `envconfig:"TABLE_PREFIX"`
	Prompts      string `envconfig:"TABLE_PROMPTS" default:"Prompts"`
	Files        string `envconfig:"TABLE_FILES" default:"Files"`
	Fetches      string `envconfig:"TABLE_FETCHES" default:"Fetches"`
	Votes        string `envconfig:"TABLE_VOTES" default:"PromptVotes"`
	VotesByVoter string `envconfig:"TABLE_VOTES_BY_VOTER" default:"PromptVotesByVoter"`
	TagIndex     string `envconfig:"TABLE_TAG_INDEX" default:"TagIndex"`
	TitleIndex   string `envconfig:"TABLE_TITLE_INDEX" default:"TitleSearchIndex"`
	SearchLog    string `envconfig:"TABLE_SEARCH_LOG" default:"SearchLog"`
	Newest       string `envconfig:"TABLE_NEWEST" default:"PublicPromptsNewestIndex"`
	MostLiked    string `envconfig:"TABLE_MOST_LIKED" default:"PublicPromptsMostLikedIndex"`
	Hot          string `envconfig:"TABLE_HOT" default:"PublicPromptsHotIndex"`
	Best         string `envconfig:"TABLE_BEST" default:"PublicPromptsBestIndex"`
	Trending     string `envconfig:"TABLE_TRENDING" default:"PublicPromptsTrendingIndex"`
	DeletedIndex string `envconfig:"TABLE_DELETED" default:"DeletedPromptsIndex"`
	HiddenIndex  string `envconfig:"TABLE_HIDDEN" default:"HiddenPromptsIndex"`
	TagCatalog   string `envconfig:"TABLE_TAG_CATALOG" default:"TagCatalog"`
	SystemState  string `envconfig:"TABLE_SYSTEM_STATE" default:"SystemState"`
	AccessTokens string `envconfig:"TABLE_ACCESS_TOKENS" default:"AccessTokens"`
	Users        string `envconfig:"TABLE_USERS" default:"Users"`
	Favorites    string `envconfig:"TABLE_FAVORITES" default:"PromptFavorites"`
	Git          string `envconfig:"TABLE_GIT" default:"Git"`
}

// DefaultTables returns the tables under their usual names.
func DefaultTables() Tables { return rowstore.DefaultTables[Tables]() }

// All returns every table's full name.
func (t Tables) All() []string { return rowstore.TableNames(t.Prefixed()) }

// Prefixed returns the names with the prefix before each.
func (t Tables) Prefixed() Tables {
	prefix := t.Prefix
	t.Prefix = ""
	return rowstore.PrefixTables(t, prefix)
}

// SweepKey is where a job keeps its place in SystemState.
func SweepKey(name string) table.Key { return table.Key{Partition: SweepPartition, Row: name} }
