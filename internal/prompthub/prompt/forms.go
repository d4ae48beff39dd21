package prompt

import "slices"

// An Understood says in what other forms prompts have a word of a search: with another ending or
// other accents, joined or as two words with a space between them, longer, or as a known word in
// place of one that nothing has.
type Understood struct {
	Word    string
	As      []string
	Instead bool // no prompt has the word in any form
}

// A form is a sequence of one or two terms.
type form []term

func formOf(text string) form { return slices.Collect(eachTerm(text)) }

// With returns the query with other forms of its words, as Snippet and Marks show them.
func (q Query) With(us []Understood) Query {
	if len(us) == 0 {
		return q
	}
	q.others = make(map[term][]form, len(us))
	for _, u := range us {
		for _, as := range u.As {
			if f := formOf(as); len(f) > 0 {
				q.others[term(u.Word)] = append(q.others[term(u.Word)], f)
			}
		}
	}
	return q
}
