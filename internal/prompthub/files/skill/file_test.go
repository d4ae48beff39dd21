package skill_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/files/skill"
)

// TestEditsOfASkillFile: a change of text, description or name leaves all other bytes of the head.
func TestEditsOfASkillFile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, file, text, described string }{
		{
			"plain", "---\nname: a-b # ours\ndescription: Old.\nlicense: MIT\n---\n\nText.\n\n",
			"---\nname: a-b # ours\ndescription: Old.\nlicense: MIT\n---\n\nNew\n\ntext\n",
			"---\nname: a-b # ours\ndescription: \"New: \\\"one\\\"\"\nlicense: MIT\n---\n\nText.\n\n",
		},
		{
			"a folded value", "---\ndescription: >\n  Old,\n\n  and more.\n\n# a remark\nname: a-b\n---\nText.",
			"---\ndescription: >\n  Old,\n\n  and more.\n\n# a remark\nname: a-b\n---\n\nNew\n\ntext\n",
			"---\ndescription: \"New: \\\"one\\\"\"\n\n# a remark\nname: a-b\n---\nText.",
		},
		{
			"no description", "---\nname: a-b\n---\n", "---\nname: a-b\n---\n\nNew\n\ntext\n",
			"---\nname: a-b\ndescription: \"New: \\\"one\\\"\"\n---\n",
		},
		{
			"lines of Windows", "---\r\nname: a-b\r\ndescription: Old.\r\n---\r\nText.\r\n",
			"---\r\nname: a-b\r\ndescription: Old.\r\n---\r\n\nNew\n\ntext\n",
			"---\r\nname: a-b\r\ndescription: \"New: \\\"one\\\"\"\n---\r\nText.\r\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := []byte(c.file)
			require.Equal(t, "a-b", skill.NameIn(b))
			require.Equal(t, c.text, string(skill.WithText(b, "New\n\ntext")))
			require.Equal(t, "New\n\ntext", skill.TextOf(skill.WithText(b, "New\n\ntext")))
			require.Equal(t, c.described, string(skill.WithDescription(b, `New: "one"`)))
			require.Equal(t, c.file, string(skill.WithName(b, "a-b")))
			require.Equal(t, "other", skill.NameIn(skill.WithName(b, "other")))
			require.Equal(t, skill.TextOf(b), skill.TextOf(skill.WithName(b, "other")))
		})
	}
	require.Equal(t, "  indented\nlast", skill.TextOf([]byte("---\nname: a\n---\n\n \n  indented\nlast  \n\n")))
	none := []byte("no head\n---\nname: a\n---\n")
	require.Equal(t, none, skill.WithText(none, "x"))
	require.Equal(t, none, skill.WithName(none, "x"))
}
