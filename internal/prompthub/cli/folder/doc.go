// Package folder keeps a folder of files and a user's prompts the same: a library under git.
//
// A lock file remembers which prompt each file was when both were last the same, its revision
// there, and the bytes here. So changes since then are known for either side, and a file that
// changed on both is a conflict: it is told, and nothing is overwritten unless somebody says whose
// word counts.
package folder
