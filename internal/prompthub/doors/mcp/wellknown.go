package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/prompthub/files/skill"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

const (
	wellKnown        = "/.well-known/"
	agentSkills      = wellKnown + "agent-skills"
	resourceMetadata = wellKnown + "oauth-protected-resource"

	indexSchema = "https://schemas.agentskills.io/discovery/0.2.0/schema.json"
	maxIndexed  = 100
	archiveName = "archive.zip" // of all files of a skill
)

// An index lists skills for installers.
type index struct {
	Schema string    `json:"$schema"`
	Skills []indexed `json:"skills"`
}

type indexed struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Description string `json:"description"`
	URL         string `json:"url"` // relative to the index
	Digest      string `json:"digest"`
}

// index answers with the public prompts of the site, a tag, an author or a collection as skills. Of
// two with one name the first counts: an installer would put one over the other.
func (d *handler) index(w http.ResponseWriter, r *http.Request) error {
	c, err := d.admit(w, r)
	if err != nil {
		return err
	}
	leave, err := d.Door.Admission.Enter(r.Context(), c.Key)
	if err != nil {
		return err
	}
	defer leave()
	c.User = auth.User{} // what everybody sees
	all := index{Schema: indexSchema, Skills: []indexed{}}
	names := map[string]bool{}
	page, err := d.summaries(r.Context(), c, "", maxIndexed)
	if err != nil {
		return err
	}
	for _, v := range page.Items {
		if o := programSummary(c, v); o.Digest != "" && !names[v.Slug] {
			names[v.Slug] = true
			entry := indexed{
				Name: v.Slug, Type: "skill-md", Description: skill.Head(v.Prompt, o.About, o.Version).Description,
				URL: strings.ToLower(string(v.ID)) + "/" + prompt.SkillFile, Digest: o.Digest,
			}
			if f := o.Files; f != nil && f.Count > 1 {
				entry.Type, entry.URL, entry.Digest = "archive", strings.ToLower(string(v.ID))+"/"+archiveName,
					"sha256:"+f.Archive
			}
			all.Skills = append(all.Skills, entry)
		}
	}
	return keptJSON(w, all, d.Door.PublicRead)
}

// file answers with the SKILL.md of a public prompt, or an archive of all its files. Installers ask
// for all files of an index at once, so a request waits for its place.
func (d *handler) file(w http.ResponseWriter, r *http.Request) error {
	c, err := d.admit(w, r)
	if err != nil {
		return err
	}
	leave, err := d.Door.AwaitPlace(r.Context(), c.Key)
	if err != nil {
		return err
	}
	defer leave()
	c.User = auth.User{}
	v, err := d.published(r.Context(), c, r.PathValue("skill"))
	if err != nil {
		return err
	}
	whole := strings.HasSuffix(r.URL.Path, "/"+archiveName)
	path := prompt.SkillFile
	if whole {
		path = ""
	}
	folder, err := d.Service.FolderOf(r.Context(), v, path)
	if err != nil {
		return err
	}
	if whole {
		kept(w, "application/zip", d.Door.PublicRead)
		_, _ = w.Write(folder.Archive()) //nolint:gosec // an archive, and the header says so; the client may have gone away
		return nil
	}
	kept(w, markdown+"; charset=utf-8", d.Door.PublicRead)
	_, _ = w.Write(folder.Contents[0].Bytes) // the client may have gone away
	return nil
}

// published returns a public prompt that an index lists, by its id or its slug.
func (d *handler) published(ctx context.Context, c *call, name string) (library.View, error) {
	if c.set.collection != "" {
		of, err := d.Service.Collection(ctx, c.User, c.set.handle, c.set.collection)
		if err != nil {
			return library.View{}, err
		}
		id, _ := prompt.ParseID(name)
		for _, v := range of.Skills {
			if v.ID == id || v.Slug == name {
				d.Service.Fetched(ctx, c.User, v)
				return v, nil
			}
		}
		return library.View{}, errNoSkill()
	}
	v, err := d.Service.Lookup(ctx, c.User, prompt.Ref{Owner: c.set.handle, Name: name})
	if err != nil || c.set.handle == "" {
		return v, err
	}
	if owner, err := d.Service.OwnerID(ctx, c.User, c.set.handle); err != nil || owner != v.AuthorID {
		return v, errNoSkill()
	}
	return v, nil
}

// kept says that an answer may be kept for a minute, by everybody if anybody may read it.
func kept(w http.ResponseWriter, contentType string, anybody bool) {
	w.Header().Set("Content-Type", contentType)
	httpjson.Keep(w.Header(), anybody, time.Minute)
}

func keptJSON(w http.ResponseWriter, v any, anybody bool) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	kept(w, "application/json", anybody)
	_, _ = w.Write(b) // the client has gone away
	return nil
}

// A resource is what RFC 9728 says of an endpoint that takes tokens.
type resource struct {
	Resource string   `json:"resource"`
	Name     string   `json:"resource_name"`
	Servers  []string `json:"authorization_servers"`
	Scopes   []string `json:"scopes_supported,omitempty"`
	Methods  []string `json:"bearer_methods_supported"`
}

// metadata names the issuers whose tokens an endpoint takes. Without any, there is nothing to tell.
func (d *handler) metadata(w http.ResponseWriter, r *http.Request) error {
	if err := d.Door.Admission.Open(w, r); err != nil {
		return err
	}
	if len(d.Issuers) == 0 {
		return fault.New(fault.NotFound, "nobody signs tokens for this service; use an access token of your own")
	}
	path := cmp.Or(strings.TrimPrefix(r.URL.Path, resourceMetadata), Prefix)
	return keptJSON(w, resource{
		Resource: httpjson.Origin(r, d.Public) + path, Name: "PromptHub", Servers: d.Issuers,
		Scopes: d.Scopes, Methods: []string{"header"},
	}, true)
}

// refuse answers a request that goes no further. An anonymous caller, or one with too small a
// token, is told where to get one.
func (d *handler) refuse(w http.ResponseWriter, r *http.Request, err error) {
	var missing *auth.MissingScope
	var parts []string
	switch {
	case errors.As(err, &missing):
		parts = append(parts, `error="insufficient_scope"`, `scope="`+needed(missing.Scope)+`"`)
	case fault.Of(err) != fault.Unauthenticated:
		httpjson.Refuse(w, r, err)
		return
	case r.Header.Get("Authorization") != "":
		parts = append(parts, `error="invalid_token"`)
	}
	if len(d.Issuers) > 0 {
		path := r.URL.EscapedPath()
		if !strings.HasPrefix(path, Prefix) {
			path = Prefix
		}
		parts = append(parts, `resource_metadata="`+httpjson.Origin(r, d.Public)+resourceMetadata+path+`"`)
		if missing == nil && len(d.Scopes) > 0 {
			parts = append(parts, `scope="`+strings.Join(d.Scopes, " ")+`"`)
		}
	}
	p := httpjson.Describe(r.Context(), err)
	p.SetHeader("WWW-Authenticate", strings.TrimSpace("Bearer "+strings.Join(parts, ", ")))
	httpjson.Refuse(w, r, p)
}

// needed returns the scopes of an operation that needs one: each comes with those before it.
func needed(scope string) string {
	var list []string
	for _, s := range auth.Scopes() {
		if list = append(list, s); s == scope {
			break
		}
	}
	return strings.Join(list, " ")
}
