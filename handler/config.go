package main

import (
	"fmt"
	"strings"

	"prompthub/internal/host/command"
	"prompthub/internal/http/auth"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb"
)

// settings are all settings, as environment variables: those of every application, and those of
// PromptHub.
type settings struct {
	command.Settings

	// PublicRead lets callers without identity read what is public. False: every route but
	// health, ready, openapi and docs answers them 401.
	PublicRead bool `envconfig:"PUBLIC_READ" default:"false"`

	// MaxText limits the text of a prompt, in characters, 1 to 131,072. Texts that were stored
	// under a higher limit stay readable and must be shortened with their next edit.
	MaxText int `envconfig:"MAX_TEXT" default:"32768"`

	// QuotaBytes is how many bytes one user may store: versions, files that are kept with them, and
	// moves of labels. 0 or -1: no limit. Data beyond a lowered limit stays.
	QuotaBytes int64 `envconfig:"QUOTA_BYTES" default:"1073741824"`

	// QuotaPrompts is how many prompts one user may have, deleted ones counted until they are
	// purged. 0 or -1: no limit.
	QuotaPrompts int64 `envconfig:"QUOTA_PROMPTS" default:"10000"`

	// EventsDays is for how many days the events of workspaces are kept, up to 36,500. 0: for ever.
	EventsDays int `envconfig:"EVENTS_DAYS" default:"0"`

	// Workspaces says who makes workspaces: "everyone" who is signed in, or the site's "admins" alone.
	// Those that there are stay.
	Workspaces string `envconfig:"WORKSPACES" default:"everyone"`

	// SearchMemory is how many bytes the indexes of searches may take. 0: a quarter of GOMEMLIMIT.
	SearchMemory int64 `envconfig:"SEARCH_MEMORY" default:"0"`

	// Tags is what an empty tag catalog is filled with, in this order: "tag" or "tag:Display
	// name", separated by commas. Not set: a built-in list of about thirty. Once the
	// catalog has a row it has no effect.
	Tags tagList `envconfig:"TAGS"`

	// Tables names the tables: TABLE_PREFIX goes before all, TABLE_PROMPTS and the like replace single
	// names. After a change the tables are empty; the old ones stay as they are.
	promptdb.Tables

	// ContainerPrefix goes before the name of the container of backups, so that several applications
	// can share a storage account.
	ContainerPrefix string `envconfig:"CONTAINER_PREFIX"`
}

// maxEventsDays keeps the days within what a duration holds.
const maxEventsDays = 36_500

// adminsMake is the value of WORKSPACES by which admins alone make them.
const adminsMake = "admins"

// readSettings reads the environment. The error is an *auth.Refusal.
func readSettings() (settings, error) {
	var s settings
	if err := command.ReadSettings(&s); err != nil {
		return s, err
	}
	if s.MaxText < 1 || s.MaxText > prompt.LimitMaxText {
		return s, &auth.Refusal{
			Setting: "MAX_TEXT",
			Reason:  fmt.Sprintf("is %d, want 1 to %d", s.MaxText, prompt.LimitMaxText),
		}
	}
	for name, n := range map[string]int64{"QUOTA_BYTES": s.QuotaBytes, "QUOTA_PROMPTS": s.QuotaPrompts} {
		if n < -1 {
			return s, &auth.Refusal{Setting: name, Reason: fmt.Sprintf("is %d, want -1 or more", n)}
		}
	}
	if s.EventsDays < 0 || s.EventsDays > maxEventsDays {
		return s, &auth.Refusal{
			Setting: "EVENTS_DAYS",
			Reason:  fmt.Sprintf("is %d, want 0 to %d", s.EventsDays, maxEventsDays),
		}
	}
	if s.Workspaces != "everyone" && s.Workspaces != adminsMake {
		return s, &auth.Refusal{
			Setting: "WORKSPACES",
			Reason:  fmt.Sprintf("is %q, want everyone or %s", s.Workspaces, adminsMake),
		}
	}
	if s.SearchMemory < 0 {
		return s, &auth.Refusal{Setting: "SEARCH_MEMORY", Reason: fmt.Sprintf("is %d, want 0 or more", s.SearchMemory)}
	}
	if err := command.CheckTables(s.All()...); err != nil {
		return s, err
	}
	return s, command.CheckContainers(s.ContainerPrefix + promptdb.BackupContainer)
}

// A tagList is the setting of the tag catalog.
type tagList []prompt.TagInfo

// Decode reads "tag,tag:Display name".
func (l *tagList) Decode(value string) error {
	*l = nil
	for item := range strings.SplitSeq(value, ",") {
		name, display, named := strings.Cut(strings.TrimSpace(item), ":")
		tag, err := prompt.ParseTag(strings.TrimSpace(name))
		if err != nil {
			return fmt.Errorf("tag %q: %w", name, err)
		}
		if display = strings.TrimSpace(display); !named || display == "" {
			display = string(tag)
		}
		for _, t := range *l {
			if t.Tag == tag {
				return fmt.Errorf("tag %q: named twice", tag)
			}
		}
		*l = append(*l, prompt.TagInfo{Tag: tag, DisplayName: display, SortOrder: int32(len(*l)+1) * 10, Active: true})
	}
	return nil
}
