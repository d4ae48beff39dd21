// Package prose holds comments, documents, pages and the text of the API to plain English: its test
// counts words of a dialect that readers had to read twice, and the counts may only fall.
package prose
