package main

// tooRare are faults that the explorers of applications meet too seldom. The tests of their own
// packages must notice them.
var tooRare = []mutant{
	{
		"a row of decks that says the same is not written", harmonyRooms + "deck/follow.go",
		"		case was[i] != nil: // also", "		case was[i] != nil && sameRow(*was[i], row):\n			return nil\n		case was[i] != nil: // also",
	},
	{
		"a hub of a member who came back during a purge is not found from the member", duubleRooms + "hubs/purge.go",
		"	if err == nil && m != nil && !over(m) {", "	if false && err == nil && m != nil && !over(m) {",
	},
}
