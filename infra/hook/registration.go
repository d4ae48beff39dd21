package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// The ids of the scope and the role, unique within a registration, and of the Azure CLI.
const (
	accessID = "6f9b5c1e-2f0b-4c59-9d4e-0f6a5f4f2d10"
	adminID  = "d3a1b6f2-7c44-4f0e-8a52-91c4c3b7e8aa"
	azureCLI = "04b07795-8ddb-461a-bbee-02f9e1bf7b46"
)

// register makes the registration. It is known by a name that is kept before anything is made, and
// every step creates or updates; ENTRA_CLIENT_ID is kept last, so with it the registration is
// complete.
func (h hook) register(ctx context.Context) error {
	if err := h.sameTenant(ctx); err != nil {
		return err
	}
	name, id := h.getenv("ENTRA_UNIQUE_NAME"), h.getenv("ENTRA_CLIENT_ID")
	if id != "" {
		there, err := h.exists(ctx, byID(id))
		switch {
		case err != nil || there:
			return err
		case name == "":
			return fmt.Errorf("this tenant has no app registration %s: correct ENTRA_CLIENT_ID, or run \"azd env set ENTRA_CLIENT_ID ''\" to have one made", id)
		}
		fmt.Fprintf(h.out, "The app registration %s is gone, another one is made.\n", id)
		name = "" // a deleted one keeps its name for 30 days
	}
	var err error
	if name == "" {
		if name, err = h.newName(ctx); err != nil {
			return err
		}
	}
	if id != "" { // after the new name is kept, so that a run that is cut short here leaves nothing over
		if err := h.forget(ctx, "ENTRA_CLIENT_ID"); err != nil {
			return err
		}
	}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"create the app registration", func() error {
			return h.upsert(ctx, "applications(uniqueName='"+name+"')",
				application("PromptHub "+h.getenv("AZURE_ENV_NAME")))
		}},
		{"read its id", func() (err error) {
			id, err = h.read(ctx, "applications(uniqueName='"+name+"')", "appId", "tsv")
			if err == nil && id == "" {
				err = errors.New("it has none")
			}
			return err
		}},
		{"expose the API", func() error { return h.patch(ctx, byID(id), exposed(id)) }},
		{"create the service principal", func() error {
			return h.upsert(ctx, "servicePrincipals(appId='"+id+"')", map[string]any{"appId": id})
		}},
	} {
		if err := h.retry(ctx, step.what, step.do); err != nil {
			return err
		}
	}
	if _, err := h.run(ctx, "azd", "env", "set", "ENTRA_CLIENT_ID", id); err != nil {
		return fmt.Errorf("the registration %s is made, but azd does not know it; run this again: %w", id, err)
	}
	fmt.Fprintln(h.out, "The app registration is", id)
	return nil
}

// sameTenant refuses to make a registration in another tenant than azd deploys to: no user could
// sign in.
func (h hook) sameTenant(ctx context.Context) error {
	az, err := h.run(ctx, "az", "account", "show", "--query", "tenantId", "--output", "tsv")
	if err != nil {
		return err
	}
	token, err := h.run(ctx, "azd", "auth", "token")
	if err != nil {
		return err
	}
	azd, err := tenantOf(token)
	if err != nil {
		return err
	}
	if !strings.EqualFold(az, azd) {
		return fmt.Errorf("az is logged in to the tenant %s and azd to %s: run az login --tenant %s", az, azd, azd)
	}
	return nil
}

// tenantOf returns the tenant that a token is of.
func tenantOf(token string) (string, error) {
	var claims struct {
		Tenant string `json:"tid"`
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return "", errors.New("azd auth token printed no token")
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return "", fmt.Errorf("azd auth token: %w", err)
	}
	return claims.Tenant, json.Unmarshal(payload, &claims)
}

// exists asks for an object of the directory, more than once, as its servers show a new one late.
func (h hook) exists(ctx context.Context, path string) (bool, error) {
	const times = 3
	for tried := 1; ; tried++ {
		_, err := h.read(ctx, path, "id", "tsv")
		if err == nil || !missing(err) {
			return err == nil, err
		}
		if tried == times {
			return false, nil
		}
		if err := h.wait(ctx, pause); err != nil {
			return false, err
		}
	}
}

// missing reports an object that the directory does not have, or does not show yet.
func missing(err error) bool { return strings.Contains(err.Error(), "Request_ResourceNotFound") }

// read returns a member of an object of Microsoft Graph.
func (h hook) read(ctx context.Context, path, member, format string) (string, error) {
	return h.run(ctx, "az", "rest", "--method", "GET", "--url", graph+path, "--query", member, "--output", format)
}

// forget empties a variable of the environment.
func (h hook) forget(ctx context.Context, name string) error {
	_, err := h.run(ctx, "azd", "env", "set", name, "")
	return err
}

// remove deletes the registration that register made: it is of no use once the application is gone.
// One that an administrator brought, which has no name of ours, stays.
func (h hook) remove(ctx context.Context) error {
	name := h.getenv("ENTRA_UNIQUE_NAME")
	if name == "" {
		return nil
	}
	err := h.sameTenant(ctx)
	if err == nil {
		err = h.retry(ctx, "delete the app registration", func() error {
			id, err := h.read(ctx, "applications(uniqueName='"+name+"')", "appId", "tsv")
			if err == nil {
				_, err = h.run(ctx, "az", "rest", "--method", "DELETE", "--url", graph+byID(id))
			}
			if err != nil && missing(err) {
				return nil
			}
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("%w\nThe app registration stays: run az ad app delete --id %s",
			err, h.getenv("ENTRA_CLIENT_ID"))
	}
	return errors.Join(h.forget(ctx, "ENTRA_CLIENT_ID"), h.forget(ctx, "ENTRA_UNIQUE_NAME"))
}

// newName makes the name by which this environment finds its registration, also after a run that
// was cut short.
func (h hook) newName(ctx context.Context) (string, error) {
	environment := h.getenv("AZURE_ENV_NAME")
	if environment == "" {
		return "", errors.New("AZURE_ENV_NAME is not set: azd runs this as a hook and sets it")
	}
	name := "prompthub-" + environment + "-" + strings.ToLower(h.random())
	_, err := h.run(ctx, "azd", "env", "set", "ENTRA_UNIQUE_NAME", name)
	return name, err
}

// callback allows sign-in with a browser at the address of the application. The application proves
// itself by its managed identity, so there is no secret that could leak or end.
func (h hook) callback(ctx context.Context) error {
	values := make(map[string]string)
	for _, name := range []string{"ENTRA_CLIENT_ID", "FUNCTION_APP_URL", "ENTRA_ISSUER", "IDENTITY_PRINCIPAL_ID"} {
		if values[name] = h.getenv(name); values[name] == "" {
			return fmt.Errorf("%s is not set: run azd provision first", name)
		}
	}
	urls := []string{values["FUNCTION_APP_URL"] + "/.auth/login/aad/callback"}
	if own := h.getenv("CUSTOM_DOMAIN"); own != "" {
		urls = append(urls, "https://"+own+"/.auth/login/aad/callback")
	}
	app := byID(values["ENTRA_CLIENT_ID"])
	err := h.retry(ctx, "allow sign-in with a browser", func() error {
		there, err := h.redirects(ctx, app)
		if err != nil {
			return err
		}
		for _, url := range urls {
			if !slices.Contains(there, url) {
				there = append(there, url)
			}
		}
		// App Service asks for ID tokens.
		return h.patch(ctx, app, map[string]any{"web": map[string]any{
			"redirectUris": there, "implicitGrantSettings": map[string]any{"enableIdTokenIssuance": true},
		}})
	})
	if err != nil {
		return err
	}
	err = h.retry(ctx, "let the application prove itself", func() error {
		return h.upsert(ctx, app+"/federatedIdentityCredentials(name='prompthub')", map[string]any{
			"name": "prompthub", "issuer": values["ENTRA_ISSUER"], "subject": values["IDENTITY_PRINCIPAL_ID"],
			"audiences": []string{"api://AzureADTokenExchange"},
		})
	})
	if err != nil {
		return err
	}
	return h.assignment(ctx, values["ENTRA_CLIENT_ID"])
}

// redirects returns the addresses to which a registration lets browsers go after sign-in. Those
// that an administrator added, such as that of a name of one's own, must stay.
func (h hook) redirects(ctx context.Context, app string) ([]string, error) {
	text, err := h.read(ctx, app, "web.redirectUris", "json")
	if err != nil || text == "" {
		return nil, err
	}
	var there []string
	if err := json.Unmarshal([]byte(text), &there); err != nil {
		return nil, fmt.Errorf("az rest printed no list of addresses: %w", err)
	}
	return there, nil
}

// assignment says whether only those who are assigned to the application are let in. Where nothing
// is asked for, what somebody set by hand stays.
func (h hook) assignment(ctx context.Context, id string) error {
	required := h.getenv("ENTRA_ASSIGNMENT_REQUIRED")
	if required == "" {
		return nil
	}
	return h.retry(ctx, "say who is let in", func() error {
		return h.patch(ctx, "servicePrincipals(appId='"+id+"')",
			map[string]any{"appRoleAssignmentRequired": required == "true"})
	})
}

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

// api is what callers ask tokens for. Without its version 2 tokens would name another issuer than
// the one that App Service is told.
func api() map[string]any {
	return map[string]any{
		"requestedAccessTokenVersion": 2,
		"oauth2PermissionScopes": []any{map[string]any{
			"id": accessID, "value": "access", "type": "User", "isEnabled": true,
			"adminConsentDisplayName": "Use PromptHub",
			"adminConsentDescription": "Read, write and vote on prompts as the user.",
			"userConsentDisplayName":  "Use PromptHub",
			"userConsentDescription":  "Read, write and vote on prompts as you.",
		}},
	}
}

// exposed gives the registration its address, which holds its id, and lets the Azure CLI get tokens
// for the scope, which must exist by then.
func exposed(id string) map[string]any {
	granted := api()
	granted["preAuthorizedApplications"] = []any{
		map[string]any{"appId": azureCLI, "delegatedPermissionIds": []string{accessID}},
	}
	return map[string]any{"identifierUris": []string{"api://" + id}, "api": granted}
}

const graph = "https://graph.microsoft.com/v1.0/"

func byID(id string) string { return "applications(appId='" + id + "')" }

// upsert creates what a path names, or updates it where it exists.
func (h hook) upsert(ctx context.Context, path string, body any) error {
	return h.patch(ctx, path, body, "--headers", "Prefer=create-if-missing")
}

// patch changes an object of Microsoft Graph.
func (h hook) patch(ctx context.Context, path string, body any, more ...string) error {
	// By a file, as every shell has its own idea of quotes.
	f, err := os.CreateTemp("", "graph-*.json")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := json.NewEncoder(f).Encode(body); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	args := []string{"rest", "--method", "PATCH", "--url", graph + path, "--body", "@" + f.Name()}
	_, err = h.run(ctx, "az", append(args, more...)...)
	return err
}
