package prompt_test

import (
	"errors"
	"fmt"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/prompt"
)

// A check names every broken rule at once, each with its place and, if it has one, its code.
func ExampleRules_Check() {
	rules := prompt.Rules{MaxText: 10}
	_, err := rules.Check(prompt.Draft{Text: "Act as a terminal.", Visibility: prompt.Private})
	var broken *fault.Error
	fmt.Println(errors.As(err, &broken))
	for _, rule := range broken.Fields {
		fmt.Println(rule.Name, rule.Code, rule.Message)
	}
	// Output:
	// true
	// title  give the prompt a title
	// text TEXT_TOO_LONG shorten the text to at most 10 characters, it has 18
}

// A variable without a default needs a value, and rendering names all that are missing.
func ExampleTemplate_Render() {
	t := prompt.ParseTemplate(nil, "Greet {{name}} in {{language:English}}.")
	texts, err := t.Render(map[string]string{"name": "Ann"}, 100)
	fmt.Println(texts, err)
	_, err = t.Render(nil, 100)
	var broken *fault.Error
	fmt.Println(errors.As(err, &broken))
	for _, rule := range broken.Fields {
		fmt.Println(rule.Name, rule.Message)
	}
	// Output:
	// [Greet Ann in English.] <nil>
	// true
	// values.name is required
}

func ExampleParseRef() {
	for _, s := range []string{"greeting", "greeting@production", "@ann/reviews/code@3"} {
		r, err := prompt.ParseRef(s)
		fmt.Printf("%q %q %q %d %v\n", r.Owner, r.Name, r.Label, r.Version, err)
	}
	// Output:
	// "" "greeting" "" 0 <nil>
	// "" "greeting" "production" 0 <nil>
	// "ann" "reviews/code" "" 3 <nil>
}

// Letters of other scripts become those that everybody can type.
func ExampleSlug() {
	fmt.Println(prompt.Slug("Act as a Linux Terminal!"))
	fmt.Println(prompt.Slug("Переводчик"))
	// Output:
	// act-as-a-linux-terminal
	// perevodchik
}

// All words of a search must begin a word of the title, in any order.
func ExampleQuery() {
	q, err := prompt.ParseQuery("term lin")
	fmt.Println(q.MatchTitle(prompt.NormalizeTitle("Linux Terminal")), err)
	fmt.Println(q.MatchTitle(prompt.NormalizeTitle("Determined Linguist")))
	// Output:
	// true <nil>
	// false
}

// What two people changed at different places goes together.
func ExampleMerge() {
	content := func(text string) prompt.Content { return prompt.Content{Text: text} }
	merged, clashes := prompt.Merge(content("Be brief.\n\n\nBe kind.\n"), content("Be brief!\n\n\nBe kind.\n"),
		content("Be brief.\n\n\nBe kind!\n"))
	fmt.Printf("%q %v\n", merged.Text, clashes)
	// Output:
	// "Be brief!\n\n\nBe kind!\n" []
}
