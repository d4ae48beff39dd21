package format

import "prompthub/internal/fault"

// The codes of files that are refused for what they are.
const (
	FileTooLarge    fault.Code = "FILE_TOO_LARGE"
	ArchiveTooLarge fault.Code = "ARCHIVE_TOO_LARGE"
	ArchiveBroken   fault.Code = "ARCHIVE_BROKEN"
	TooManyEntries  fault.Code = "TOO_MANY_ENTRIES"
	YAMLTooLarge    fault.Code = "YAML_TOO_LARGE"
	AliasesTooLarge fault.Code = "YAML_ALIASES_TOO_LARGE"
)
