package marketplace

import (
	"net/http"

	"prompthub/internal/http/httpjson"
	zip "prompthub/internal/prompthub/files/archive"
	"prompthub/internal/prompthub/files/skill"
)

const (
	libraryName = skill.LibraryName
	libraryFile = libraryName + ".zip"
)

// libraryOf returns the plugin that connects an assistant with the endpoint of a shelf.
func libraryOf(s shelf, origin string) []byte {
	return zip.Write(skill.Library(s.name, origin+"/mcp"+s.endpoint(), s.isOwn()))
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
		Name: libraryName, Description: skill.LibraryAbout, Version: skill.LibraryVersion,
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
	_, _ = w.Write(libraryOf(s, httpjson.Origin(r, d.Public))) //nolint:gosec // it is a ZIP, and the header says so; the client may have gone away
	return nil
}
