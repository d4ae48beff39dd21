package prompt_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"prompthub/internal/prompthub/prompt"
)

func including(refs ...string) string {
	var b strings.Builder
	for _, ref := range refs {
		b.WriteString("[@@@langfusePrompt:" + ref + "@@@]")
	}
	return b.String()
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("🚀", 127) + "x"
	for text, want := range map[string][]prompt.Include{
		"":                            nil,
		"no @@@":                      nil,
		including("name=a|version=3"): {{Name: "a", Version: 3}},
		including("name=folder/a b=c|label=production"): {{Name: "folder/a b=c", Label: "production"}},
		including("name=a|label=latest", "name=b|version=1"): {
			{Name: "a", Label: "latest"}, {Name: "b", Version: 1},
		},
		including("name=a|version=1", "name=a|version=1"):                {{Name: "a", Version: 1}},
		including("name=" + long + "|version=9999999998"):                {{Name: long, Version: 9999999998}},
		including("@@@langfusePrompt:name=a|version=1"):                  {{Name: "a", Version: 1}},
		including("name=" + long + "x|version=1"):                        nil,
		including("version=3|name=a"):                                    nil,
		including("name=a"):                                              nil,
		including("name=a|version=3|label=x"):                            nil,
		including("name=a|version=0", "name=a|version=-1"):               nil,
		including("name=a|version=03", "name=a|version=x"):               nil,
		including("name=|version=3", "name= a|version=3"):                nil,
		including("name=a|label=", "name=a|label=Bad"):                   nil,
		including("name=a\nb|version=1"):                                 nil,
		"@@@langfusePrompt:name=a|version=1":                             nil,
		"@@@langfusePrompt:name=a|version=1@@":                           nil,
		strings.Repeat("@@@langfusePrompt:", 7281):                       nil,
		strings.Repeat("@@@langfusePrompt:", 99) + "name=a|version=1@@@": {{Name: "a", Version: 1}},
	} {
		require.Equal(t, want, prompt.Content{Text: text}.Includes(), "%.80q", text)
	}
	chat := prompt.Content{Kind: prompt.KindChat, Messages: []prompt.Message{
		{Role: "system", Content: including("name=a|version=1")},
		{Placeholder: "p"},
		{Role: "user", Content: including("name=a|version=1", "name=b|label=x")},
	}}
	require.Equal(t, []prompt.Include{{Name: "a", Version: 1}, {Name: "b", Label: "x"}}, chat.Includes())
	whole, ok := chat.Splice(map[prompt.Include]string{
		{Name: "a", Version: 1}: "A",
		{Name: "b", Label: "x"}: including("name=c|version=1"),
	}, 3000)
	require.True(t, ok)
	require.Equal(t, []prompt.Message{
		{Role: "system", Content: "[A]"},
		{Placeholder: "p"},
		{Role: "user", Content: "[A][[@@@langfusePrompt:name=c|version=1@@@]]"},
	}, whole.Messages,
		"what is put in is not looked into")
	require.Equal(t, including("name=a|version=1"), chat.Messages[0].Content, "the content that was is as it was")
}

// TestMistypedIncludes: a text that looks like an include and is none is told, with the right form.
func TestMistypedIncludes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Be kind.": "", including("name=a|version=3"): "", "mail a@@b.c prompt": "", "@@@ diff @@@": "",
		including("name=a"):                               "name=a|label=production",
		including("name=team/a|version=0"):                "name=team/a|label=production", // no version is 0
		including("a"):                                    "name=a|label=production",
		including("version=3|name=a b"):                   "name=a b|version=3",
		including("name = a | label = Live"):              "name=a|label=live",
		"x\n@@@langfusePrompt:name=a|version=2\ny":        "name=a|version=2",
		"@@langfusePrompt:name=a|version=2@@":             "name=a|version=2",
		"@@@LangfusePrompt:name=a|label=x@@@":             "name=a|label=x",
		"@@@prompt:review@@@":                             "name=review|label=production",
		including("name=|label=x"):                        "name=NAME|label=x",
		including("name=ok|version=1") + "@@@prompt:b@@@": "name=b|label=production",
	} {
		told := prompt.Content{Text: text}.MistypedInclude()
		if want == "" {
			require.Empty(t, told, "%q", text)
			continue
		}
		require.Contains(t, told, "write @@@langfusePrompt:"+want+"@@@", "%q", text)
	}
	chat := prompt.Content{
		Kind:     prompt.KindChat,
		Messages: []prompt.Message{{Role: "user", Content: "x"}, {Role: "user", Content: "@@@prompt:a@@@"}},
	}
	require.Equal(t, "@@@prompt:a@@@ is no include, and so plain text: to include a prompt of yours write @@@langfusePrompt:name=a|label=production@@@", chat.MistypedInclude())
}

// TestSpliceKeepsToTheLimit: lengths are of UTF-16 code units, and a longer text may stay
// as long as it is.
func TestSpliceKeepsToTheLimit(t *testing.T) {
	t.Parallel()
	a := prompt.Include{Name: "a", Version: 1}
	c := prompt.Content{Text: including(a.String())}
	for length, fits := range map[int]bool{98: true, 99: false} {
		_, ok := c.Splice(map[prompt.Include]string{a: strings.Repeat("é", length)}, 100)
		require.Equal(t, fits, ok, length)
	}
	_, ok := c.Splice(map[prompt.Include]string{a: "short"}, 3)
	require.True(t, ok)
}

func TestCheckCountsIncludes(t *testing.T) {
	t.Parallel()
	var refs []string
	for i := range 20 {
		refs = append(refs, fmt.Sprintf("name=a|version=%d", i+1), "name=a|version=1")
	}
	_, err := prompt.Rules{}.Check(texted(including(refs...)))
	require.NoError(t, err, "20 different ones")
	fields := refused(t, prompt.Rules{}, texted(including(append(refs, "name=a|label=latest")...)))
	require.Equal(t, "text", fields[0].Name)
	require.Contains(t, fields[0].Message, "at most 20")
}

// TestIncludesAreNotReadOn: of more than there may be no more are looked for than tell that, and
// none in a text that is too long.
func TestIncludesAreNotReadOn(t *testing.T) {
	t.Parallel()
	var refs []string
	for i := range 100 {
		refs = append(refs, fmt.Sprintf("name=a|version=%d", i+1))
	}
	text := including(refs...)
	require.Len(t, prompt.Content{Text: text}.Includes(), prompt.MaxIncludes+1)
	for _, draft := range []prompt.Draft{
		texted(text), {
			Title: "t", Visibility: prompt.Private,
			Messages: []prompt.Message{{Role: "user", Content: text}},
		},
	} {
		fields := refused(t, prompt.Rules{MaxText: len(text) - 1}, draft)
		require.Len(t, fields, 1)
		require.Contains(t, fields[0].Message, "shorten the ")
		fields = refused(t, prompt.Rules{MaxText: len(text)}, draft)
		require.Len(t, fields, 1)
		require.Equal(t, "more than 20 includes", fields[0].Value)
	}
}
