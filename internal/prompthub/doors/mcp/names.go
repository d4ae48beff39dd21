package mcp

import (
	"encoding/base64"
	"regexp"
	"strings"

	"prompthub/internal/prompthub/library"
)

// plain are names that every client takes as the name of a command.
var plain = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// name returns what a client calls a prompt: among prompts of one owner, its name or slug;
// elsewhere, its slug and its id. lookup understands either, in whichever list.
func name(v library.View, ofOneOwner bool) string {
	switch {
	case ofOneOwner && plain.MatchString(v.Name):
		return v.Name
	case ofOneOwner && v.Slug != "":
		return v.Slug
	}
	id := strings.ToLower(string(v.ID))
	slug := strings.TrimRight(v.Slug[:min(len(v.Slug), 64-1-len(id))], "-")
	return strings.TrimPrefix(slug+"_"+id, "_")
}

// encodedName decodes a name that a header cannot hold as it is.
func encodedName(s string) (string, bool) {
	s, begins := strings.CutPrefix(s, "=?base64?")
	s, ends := strings.CutSuffix(s, "?=")
	if !begins || !ends {
		return "", false
	}
	b, err := base64.StdEncoding.DecodeString(s)
	return string(b), err == nil
}
