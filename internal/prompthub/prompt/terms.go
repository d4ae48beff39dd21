package prompt

// Terms returns the words of a text in their order, as a search index has them: normalized and
// folded, chains as wholes with their joiners, and runs of scripts that part no words by spaces. No
// term has white space in it.
func Terms(text string) []string {
	var all []string
	for t := range eachTerm(foldedText(text)) {
		all = append(all, string(t))
	}
	return all
}
