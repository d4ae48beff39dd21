package prompt

import "fmt"

// TagInfo is one entry of the tag catalog.
type TagInfo struct {
	Tag         Tag
	DisplayName string
	SortOrder   int32
	Active      bool // an inactive tag stays on the prompts that have it and is offered to no other
	Prompts     int  // how many public prompts have it, as counted within the last minute
}

// Revision tells the entry from what it was before an admin changed it.
func (t TagInfo) Revision() string {
	return fmt.Sprintf("%d %t %q", t.SortOrder, t.Active, t.DisplayName)
}

// DefaultTags returns the catalog that an empty store starts with, by sort
// order. Numbers are ten apart, so that a tag can be put between two others.
func DefaultTags() []TagInfo {
	names := [...]struct {
		tag  Tag
		name string
	}{
		{"development", "Development"},
		{"text", "Text"},
		{"structured", "Structured output"},
		{"image", "Image"},
		{"writing", "Writing"},
		{"editing", "Editing and proofreading"},
		{"translation", "Translation"},
		{"summarization", "Summarization"},
		{"research", "Research"},
		{"analysis", "Analysis"},
		{"data", "Data"},
		{"code-review", "Code review"},
		{"testing", "Testing"},
		{"debugging", "Debugging"},
		{"devops", "DevOps"},
		{"security", "Security"},
		{"design", "Design"},
		{"business", "Business"},
		{"marketing", "Marketing"},
		{"support", "Customer support"},
		{"planning", "Planning"},
		{"education", "Education"},
		{"language", "Languages"},
		{"science", "Science"},
		{"math", "Mathematics"},
		{"health", "Health"},
		{"finance", "Finance"},
		{"legal", "Legal"},
		{"career", "Career"},
		{"creative", "Creative"},
		{"roleplay", "Role play"},
		{"games", "Games"},
	}
	tags := make([]TagInfo, len(names))
	for i, n := range names {
		tags[i] = TagInfo{Tag: n.tag, DisplayName: n.name, SortOrder: int32(i+1) * 10, Active: true}
	}
	return tags
}
