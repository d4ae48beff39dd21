// Package importtest owns the architecture: the table of which package may import which. Its test
// holds the program to it.
package importtest
