package prompt

// Limits of the files of a version.
const (
	MaxFiles     = 256       // files of a version
	MaxFile      = 4 << 20   // bytes of a file
	MaxFilesSize = 8 << 20   // bytes of all files of a version
	MaxSkillFile = 256 << 10 // bytes of SKILL.md

	maxPath      = 200      // bytes of a path
	maxPathParts = 8        // of a path
	maxPaths     = 32 << 10 // bytes of all paths of a version
)

// SkillFile is the path of the file that makes a folder a skill.
const SkillFile = "SKILL.md"

// A File is a file of a version, without its bytes. The JSON is that of stored rows.
type File struct {
	Path       string `json:"path"`   // with slashes, in the folder of the version
	SHA256     string `json:"sha256"` // of its bytes, in hex
	Blob       string `json:"blob"`   // its id in git, in hex: the SHA-1 of "blob SIZE\0" and its bytes
	Size       int    `json:"size"`   // in bytes
	Executable bool   `json:"exec,omitempty"`
	Script     bool   `json:"script,omitempty"` // whether somebody may run it
	Made       bool   `json:"made,omitempty"`   // whether the program made it of the text: a SKILL.md alone is
}

// Files are the files of a version, sorted by the bytes of their paths. A version has none, or
// SKILL.md is one of them.
type Files []File

// A FileBytes is a file with its bytes, as somebody sends it.
type FileBytes struct {
	Path       string
	Bytes      []byte
	Executable bool
}
