package main

import (
	"context"
	"encoding/json"
	"os"
)

// The ids of the scope and the role, unique within a registration, and of the Azure CLI.
const (
	accessID = "6f9b5c1e-2f0b-4c59-9d4e-0f6a5f4f2d10"
	adminID  = "d3a1b6f2-7c44-4f0e-8a52-91c4c3b7e8aa"
	azureCLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
)

// application is a registration for the users of one tenant.
func application(name string) map[string]any {
	return map[string]any{
		"displayName":    name,
		"signInAudience": "AzureADMyOrg",
		"api":            api(),
		"appRoles": []any{map[string]any{
			"id": adminID, "value": "admin", "isEnabled": true, "allowedMemberTypes": []string{"User", "Application"},
			"displayName": "Administrator", "description": "Manage tags and hide prompts.",
		}},
	}
}

// api is what callers ask tokens for. Without its version 2 tokens would name another issuer than the
// one that App Service is told.
func api() map[string]any {
	return map[string]any{
		"requestedAccessTokenVersion": 2,
		"oauth2PermissionScopes": []any{map[string]any{
			"id": accessID, "value": "access", "type": "User", "isEnabled": true,
			"adminConsentDisplayName": "Use PromptHub", "adminConsentDescription": "Read, write and vote on prompts as the user.",
			"userConsentDisplayName": "Use PromptHub", "userConsentDescription": "Read, write and vote on prompts as you.",
		}},
	}
}

// exposed gives the registration its address, which holds its id, and lets the Azure CLI get tokens
// for the scope, which must exist by then.
func exposed(id string) map[string]any {
	granted := api()
	granted["preAuthorizedApplications"] = []any{map[string]any{"appId": azureCLI, "delegatedPermissionIds": []string{accessID}}}
	return map[string]any{"identifierUris": []string{"api://" + id}, "api": granted}
}

func byID(id string) string { return "applications(appId='" + id + "')" }

// graph sends a request to Microsoft Graph and returns a member of the answer.
func (r registrar) graph(ctx context.Context, method, path string, body any, member string) (string, error) {
	// By a file, as every shell has its own idea of quotes.
	f, err := os.CreateTemp("", "graph-*.json")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	if err := json.NewEncoder(f).Encode(body); err != nil {
		return "", err
	}
	if err := f.Close(); err != nil {
		return "", err
	}
	args := []string{"rest", "--method", method, "--url", "https://graph.microsoft.com/v1.0/" + path, "--body", "@" + f.Name()}
	if member != "" {
		args = append(args, "--query", member, "--output", "tsv")
	}
	return r.run(ctx, "az", args...)
}
