package prompt

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"prompthub/internal/fault"
)

// The limits of collections. Hosts show an agent no more of its skills than some 8,000 characters,
// so a collection is chosen, and short.
const (
	MaxCollections     = 100 // of an owner
	MaxInCollection    = 20  // skills
	MaxCollectionName  = 100 // UTF-16 code units
	MaxCollectionAbout = 1000
)

// A Collection is a list of skills that an owner has chosen.
type Collection struct {
	Owner UserID
	Slug  string // its name in addresses, for ever
	CollectionDraft
	Version   int64 // how often it was changed, its making included
	CreatedAt time.Time
	UpdatedAt time.Time
}

// A CollectionDraft is what an owner says of a collection.
type CollectionDraft struct {
	Name       string
	About      string
	Visibility Visibility
	Prompts    []ID // in order
}

// Codes of refusals of collections.
const (
	NotASkill        fault.Code = "NOT_A_SKILL"
	SameSkillName    fault.Code = "SAME_SKILL_NAME"
	TooManySkills    fault.Code = "TOO_MANY_SKILLS"
	UnknownPrompt    fault.Code = "UNKNOWN_PROMPT"
	QuotaCollections fault.Code = "QUOTA_COLLECTIONS"
)

// noPrompt tells of a prompt that cannot be in a collection.
const noPrompt = "there is no such prompt, or the owner of the collection may not read it"

// NoSuchPrompt reports that a place of a collection names a prompt that its owner cannot read.
func NoSuchPrompt(i int, id ID) fault.Field {
	return fault.Field{Name: fmt.Sprintf("items[%d]", i), Code: UnknownPrompt, Message: noPrompt, Value: string(id)}
}

// ErrNoCollection answers for a collection that is not there or that the caller must not know of.
func ErrNoCollection() error { return fault.New(fault.NotFound, "there is no such collection") }

// ErrTooManyCollections refuses one more collection.
func ErrTooManyCollections() error {
	return fault.Coded(fault.Invalid, QuotaCollections,
		fmt.Sprintf("there are the %d collections that an owner may have; delete one first", MaxCollections))
}

// CollectionTaken reports that the owner has a collection of a name.
func CollectionTaken(slug string) error {
	return &fault.Error{
		Kind: fault.Conflict, Code: NameTaken, Text: "another collection has this name",
		Fields: []fault.Field{
			{Name: "slug", Message: "choose a name that no other collection of the owner has", Value: slug},
		},
	}
}

// Equal reports whether two drafts say the same.
func (d CollectionDraft) Equal(e CollectionDraft) bool {
	return d.Name == e.Name && d.About == e.About && d.Visibility == e.Visibility && slices.Equal(d.Prompts, e.Prompts)
}

// Check returns c normalised, or an error of the kind Invalid that names every broken rule. Which
// prompts there are is not asked here.
func (c Collection) Check() (Collection, error) {
	var k checker
	if c.Slug = strings.TrimSpace(c.Slug); !ValidSlug(c.Slug) {
		k.broken("slug", c.Slug, "choose a name of 1 to %d of a-z, 0-9 and -, with no hyphen at an end or twice",
			maxSlug)
	}
	if c.Name = strings.TrimSpace(c.Name); c.Name == "" {
		c.Name = c.Slug
	}
	k.line("name", c.Name, MaxCollectionName)
	k.readable("name", c.Name)
	c.About = k.note("about", c.About, MaxCollectionAbout)
	k.readable("about", c.About) // terminals print it, as what a plugin is for
	if c.Visibility == "" {
		c.Visibility = Private
	}
	if c.Visibility != Private && c.Visibility != Public {
		k.broken("visibility", string(c.Visibility), "set the visibility to private or public")
	}
	if n := len(c.Prompts); n > MaxInCollection {
		k.coded(TooManySkills, "items", fmt.Sprintf("%d skills", n),
			"keep at most %d skills, those that are not shown now included: agents are shown no more of them",
			MaxInCollection)
	} else {
		for i, id := range c.Prompts {
			if _, ok := ParseID(string(id)); !ok {
				k.coded(UnknownPrompt, fmt.Sprintf("items[%d]", i), string(id), noPrompt)
			} else if slices.Contains(c.Prompts[:i], id) {
				k.broken(fmt.Sprintf("items[%d]", i), string(id), "remove the second one of this prompt")
			}
		}
	}
	if len(k.fields) > 0 {
		return Collection{}, &fault.Error{
			Kind: fault.Invalid, Text: "the collection breaks the rules named here",
			Fields: k.fields,
		}
	}
	return c, nil
}
