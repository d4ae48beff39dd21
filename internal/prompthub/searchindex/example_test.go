package searchindex_test

import (
	"fmt"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/searchindex"
)

// A search finds words, other forms of them and, for a slip, the nearest words. Each hit has what
// was found in place of each word. A word that no prompt has takes no hit away.
func ExampleIndex() {
	x := searchindex.New()
	for id, title := range map[prompt.ID]string{
		"01KB5DZ8000000000000000001": "Review my code",
		"01KB5DZ8000000000000000002": "Prepare a job interview",
		"01KB5DZ8000000000000000003": "Interview questions for nurses",
	} {
		x.Add(searchindex.Doc{ID: id, Revision: 1, Author: "ann", Title: prompt.Terms(title)})
	}
	ask := func(text string) {
		words, err := prompt.ParseQuery(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		s := searchindex.Ask(searchindex.Query{Words: words}, x)
		fmt.Printf("%q: %d\n", s.Words(), s.Len())
		for _, hit := range s.Next(10) {
			fmt.Printf("  %s %q\n", hit.ID, hit.Found)
		}
	}
	ask("nurse interviews")
	ask("unheard intervew")
	x.Remove("01KB5DZ8000000000000000002", 2)
	ask("job interview")
	// Output:
	// ["nurse" "interviews"]: 2
	//   01KB5DZ8000000000000000003 ["nurses" "interview"]
	//   01KB5DZ8000000000000000002 ["" "interview"]
	// ["unheard" "intervew"]: 2
	//   01KB5DZ8000000000000000002 ["" "interview"]
	//   01KB5DZ8000000000000000003 ["" "interview"]
	// ["job" "interview"]: 1
	//   01KB5DZ8000000000000000003 ["" "interview"]
}
