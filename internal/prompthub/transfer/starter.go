package transfer

import _ "embed" // the file

// The file has thirty prompts for an empty library, one of each kind of thing that a prompt
// can be: with variables, chats, an include, versions and labels. They are in the public domain
// (CC0).
//
//go:embed starter.jsonl
var starter []byte

// StarterFile is the name of the file that Starter returns.
const StarterFile = "starter.jsonl"

// Starter returns the prompts for an empty library, as a file to import.
func Starter() []byte { return starter }
