package skill

import (
	"encoding/json"

	"prompthub/internal/prompthub/prompt"
)

// The plugin that connects an assistant with the library itself.
const (
	LibraryName  = "library"
	LibraryAbout = "The prompt library itself: search it, read and fill in its prompts, and keep new ones"
	// LibraryVersion rises with each change of what the plugin has, as installers go by it.
	LibraryVersion = "1.0.0"
)

// server is an entry of an mcp.json.
type server struct {
	Type    string            `json:"type"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
}

// Library returns the files of that plugin in a marketplace. The address is that of the endpoint
// for assistants; one that is for its owner alone gets the access token from the environment, as
// commands of prompthub do.
func Library(marketplace, address string, isOwn bool) []prompt.FileBytes {
	at := server{Type: "http", URL: address}
	if isOwn {
		at.Headers = map[string]string{"Authorization": "Bearer ${PROMPTHUB_TOKEN}"}
	}
	b, err := json.MarshalIndent(map[string]map[string]server{"mcpServers": {marketplace: at}}, "", "  ")
	if err != nil {
		panic(err) // unreachable: texts cannot fail
	}
	b = append(b, '\n')
	return []prompt.FileBytes{
		Manifest(LibraryName, LibraryAbout, LibraryVersion, ""),
		{Path: "mcp.json", Bytes: b},  // which Codex reads
		{Path: ".mcp.json", Bytes: b}, // which Claude Code reads
	}
}
