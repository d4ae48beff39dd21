// Package schema says which rows a prompt, a version, a vote and a user have: their keys, their
// properties and the index rows that follow from them. It is pure: it reads and writes nothing.
//
// Keys.go has every key, record.go the truth row of a prompt, indexes.go the indexes.
package schema
