// Package format reads and writes prompts as files of other programs hold them.
//
// A file is read into Documents: what the library keeps of a prompt, and next to it, in Extra, what
// only its own format knows. Nothing is dropped silently: Rewrite returns the bytes that were read
// while a document is unchanged, and Write names what a format cannot hold. The text of a template
// is never rewritten: a placeholder stays as it was written, whatever the format.
//
// Everything that comes in is bounded: see the limits.
package format

// Limits of reading.
const (
	MaxFile   = 8 << 20   // bytes of a file with many prompts
	MaxOne    = 1 << 20   // bytes of a file with one prompt
	MaxFiles  = 10_000    // files in a folder or an archive
	MaxRows   = 10_000    // prompts in a list, which is read as a whole
	MaxTotal  = 64 << 20  // bytes of all files in an archive
	MaxFolder = 512 << 20 // bytes of the files with prompts in a folder
	MaxParts  = 500_000   // elements and members of the JSON in a file

	maxRatio      = 50      // of the bytes in an archive to those of it; texts have 20
	minUnpacked   = 1 << 20 // bytes that the files of an archive may have, however small it is
	maxPath       = 1000    // bytes of the path of a file
	maxDepth      = 50      // levels of nesting in a file
	maxMembers    = 1000    // of an object, or columns of a file
	maxAliases    = 200     // of YAML, in a file
	maxStructural = 100_000 // bytes that may begin a node of YAML, in a file

	// the JSON that the aliases of a file add has at most this many times the bytes of its YAML, and
	// these bytes more, for small files
	aliasFactor = 2
	aliasFree   = 1 << 10

	// of the YAML or JSON in a file that is kept: what reading it costs at each export
	maxKeptParts = 5_000
)
