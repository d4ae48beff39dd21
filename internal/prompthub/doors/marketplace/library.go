package marketplace

import (
	"encoding/json"
	"net/http"

	"prompthub/internal/http/httpjson"
	zip "prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/prompt"
)

const (
	libraryName  = "library"
	libraryFile  = libraryName + ".zip"
	libraryAbout = "The prompt library itself: search it, read and fill in its prompts, and keep new ones"
	// rises with each change of what the plugin has, as installers go by it
	libraryVersion = "1.0.0"
)

// server is an entry of an mcp.json.
type server struct {
	Type    string            `json:"type"`
	URL     string            `json:"url"`
	Headers map[string]string `json:"headers,omitempty"`
}

// libraryOf returns the plugin that connects an assistant with the endpoint of a shelf. Of a shelf
// of one's own it has the access token from the environment, as commands of prompthub do.
func libraryOf(s shelf, origin string) []byte {
	at := server{Type: "http", URL: origin + "/mcp" + s.endpoint()}
	if s.isOwn() {
		at.Headers = map[string]string{"Authorization": "Bearer ${PROMPTHUB_TOKEN}"}
	}
	b, err := json.MarshalIndent(map[string]map[string]server{"mcpServers": {s.name: at}}, "", "  ")
	if err != nil {
		panic(err) // unreachable: texts cannot fail
	}
	b = append(b, '\n')
	return zip.Write([]prompt.FileBytes{
		skill.Manifest(libraryName, libraryAbout, libraryVersion, ""),
		{Path: "mcp.json", Bytes: b},  // which Codex reads
		{Path: ".mcp.json", Bytes: b}, // which Claude Code reads
	})
}

// endpoint returns the path of a shelf below the endpoint for assistants.
func (s shelf) endpoint() string {
	if s.path == "/me" {
		return ""
	}
	return s.path
}

func libraryPlugin(s shelf, origin string) plugin {
	return plugin{
		Name: libraryName, Description: libraryAbout, Version: libraryVersion,
		Source: archive{"archive", origin + Prefix + s.path + "/" + libraryFile, skill.Sum(libraryOf(s, origin))},
	}
}

// library answers with the plugin of a shelf. It has addresses alone, so everybody may read it.
func (d *handler) library(w http.ResponseWriter, r *http.Request) error {
	if err := d.Admission.Open(w, r); err != nil {
		return err
	}
	s, err := shelfOf(r)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/zip")
	_, _ = w.Write(libraryOf(s, httpjson.Origin(r, d.Public)))
	return nil
}
