package format_test

import (
	"fmt"

	"prompthub/internal/prompthub/files/format"
)

// A file that changes its format says what it loses.
func Example() {
	file := []byte("---\nname: greeting\ndescription: Greets a friend.\nlicense: MIT\n---\nGreet {{name}}.\n")
	f := format.Detect("greeting/SKILL.md", file)
	d, err := format.Read(f, "greeting/SKILL.md", file)
	fmt.Println(f, d.Name, err)

	markdown, loss, err := format.Write(format.Markdown, d)
	fmt.Printf("%s", markdown)
	fmt.Println(loss, err)
	// Output:
	// skill greeting <nil>
	// ---
	// name: greeting
	// description: Greets a friend.
	// ---
	//
	// Greet {{name}}.
	// [extra.license] <nil>
}

// A file of another program has columns of its own, which are found by name.
func ExampleRows() {
	file := []byte("Name,Content\nTerminal,Act as a terminal.\nReviewer,Review {{code}}.\n")
	for row, err := range format.Rows("prompts.csv", file, "") {
		fmt.Println(row.Number, row.Title, row.Text, row.Err, err)
	}
	// Output:
	// 1 Terminal Act as a terminal. <nil> <nil>
	// 2 Reviewer Review {{code}}. <nil> <nil>
}
