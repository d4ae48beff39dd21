// Command typedata writes the types of the resources in infra/ for package bicep, out of the
// type data of Microsoft that the npm package @azure/mcp-linux-x64 holds. It is run by hand, where
// a resource or the version of one changes; internal/infra/bicep/types/README.md says how.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"prompthub/internal/infra/bicep"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: typedata PATH-OF-AZMCP, in the root of the repository")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], "."); err != nil {
		fmt.Fprintln(os.Stderr, "typedata:", err)
		os.Exit(1)
	}
}

// run writes a file for each provider that infra/ uses.
func run(ctx context.Context, azmcp, root string) error {
	texts, err := bicep.Read(filepath.Join(root, "infra"))
	if err != nil {
		return err
	}
	files, err := bicep.Parse(ctx, root, texts)
	if err != nil {
		return err
	}
	providers := make(map[string]bicep.Types)
	for _, f := range files {
		for _, r := range f.Resources {
			key := r.Type + "@" + r.Version
			provider, _, _ := strings.Cut(r.Type, "/")
			if slices.Contains(bicep.WithoutTypes, key) || providers[provider][key] != nil {
				continue
			}
			t, err := fetch(ctx, azmcp, key)
			if err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			if providers[provider] == nil {
				providers[provider] = make(bicep.Types)
			}
			providers[provider][key] = t
		}
	}
	return write(filepath.Join(root, "internal", "infra", "bicep", "types"), providers)
}

func write(dir string, providers map[string]bicep.Types) error {
	for provider, types := range providers {
		data, err := json.MarshalIndent(types, "", " ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, provider+".json"), append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// A sourceType is a type as the source has it.
type sourceType struct {
	Kind           string       `json:"$type"`
	Name           string       `json:"name"`
	BodyType       *sourceType  `json:"bodyType"`
	Others         string       `json:"additionalPropertiesType"`
	Discriminator  string       `json:"discriminator"`
	BaseProperties []property   `json:"baseProperties"`
	Properties     []property   `json:"properties"`
	Elements       []sourceType `json:"elements"`
}

type property struct {
	Name  string `json:"name"`
	Type  string `json:"type"`
	Flags string `json:"flags"`
}

// fetch asks for one type, of which the source has the latest version only.
func fetch(ctx context.Context, azmcp, key string) (*bicep.ResourceType, error) {
	kind, _, _ := strings.Cut(key, "@")
	cmd := exec.CommandContext(ctx, azmcp, "bicepschema", "get", "--resource-type", kind) //nolint:gosec // the developer names the program
	cmd.Env = append(os.Environ(), "AZURE_MCP_COLLECT_TELEMETRY=false")
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var answer struct {
		Results struct{ BicepSchemaResult []sourceType }
	}
	if err := json.NewDecoder(bytes.NewReader(out)).Decode(&answer); err != nil {
		return nil, err
	}
	named := make(map[string]sourceType)
	t := &bicep.ResourceType{Objects: make(map[string]*bicep.ObjectType)}
	for _, s := range answer.Results.BicepSchemaResult {
		switch s.Kind {
		case "Resource":
			if s.Name != key {
				return nil, fmt.Errorf("the type data are of %s: use that version", s.Name)
			}
			t.Body = s.BodyType.object()
		case "Object", "DiscriminatedObject":
			named[s.Name] = s
		}
	}
	if t.Body == nil {
		return nil, fmt.Errorf("no resource in the answer")
	}
	reach(t.Body, named, t.Objects)
	return t, nil
}

// object takes what a check needs.
func (s *sourceType) object() *bicep.ObjectType {
	o := &bicep.ObjectType{Others: s.Others, Discriminator: s.Discriminator}
	for _, p := range append(s.BaseProperties, s.Properties...) {
		o.Properties = append(o.Properties, bicep.PropertyType{
			Name: p.Name, Type: p.Type,
			Required: strings.Contains(p.Flags, "Required"), ReadOnly: strings.Contains(p.Flags, "ReadOnly"),
		})
	}
	for _, e := range s.Elements {
		o.Elements = append(o.Elements, e.object())
	}
	return o
}

// reach adds the named types that o refers to, but for those that only the service fills.
func reach(o *bicep.ObjectType, named map[string]sourceType, into map[string]*bicep.ObjectType) {
	refs := []string{o.Others}
	for _, p := range o.Properties {
		if !p.ReadOnly {
			refs = append(refs, strings.Split(p.Type, " | ")...)
		}
	}
	for _, ref := range refs {
		name := strings.TrimSuffix(ref, "[]")
		if s, ok := named[name]; ok && into[name] == nil {
			into[name] = s.object()
			reach(into[name], named, into)
		}
	}
	for _, e := range o.Elements {
		reach(e, named, into)
	}
}
