package api_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/coreos/go-oidc/v3/oidc/oidctest"
	"github.com/stretchr/testify/require"

	"prompthub/internal/http/auth"
	"prompthub/internal/http/openapi/openapitest"
	"prompthub/internal/prompthub/doors/api"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// The permission matrix: every operation of the document, by everybody, on every kind of prompt.

// targets are the kinds of prompts, in the order of the columns below.
var targets = []string{"public", "private", "deleted", "hidden", "unknown"}

// A rule says what those who are believed are answered: one status, or one for each target.
type rule struct{ other, author, admin string }

// permissions are the rules by operation.
var permissions = map[string]rule{
	"suggest":             {"200", "200", "200"},
	"get-rank":            {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"get-prompt":          {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"replace-prompt":      {"403 404 404 404 404", "200 200 404 200 404", "403 404 404 404 404"},
	"patch-prompt":        {"403 404 404 404 404", "200 200 404 200 404", "403 404 404 404 404"},
	"replace-files":       {"403 404 404 404 404", "200 200 404 200 404", "403 404 404 404 404"},
	"list-files":          {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"get-file":            {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"get-archive":         {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"delete-prompt":       {"403 404 404 404 404", "204 204 204 204 404", "403 404 404 404 404"},
	"render-prompt":       {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"get-prompt-text":     {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"restore-prompt":      {"403 404 404 404 404", "200 200 200 200 404", "403 404 404 404 404"},
	"set-vote":            {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"get-vote":            {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"delete-vote":         {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"hide-prompt":         {"403 404 404 404 404", "403 403 404 403 404", "204 404 404 204 404"},
	"unhide-prompt":       {"403 404 404 404 404", "403 403 404 403 404", "204 404 404 204 404"},
	"list-prompts":        {"200", "200", "200"},
	"create-prompt":       {"201", "201", "201"},
	"get-me":              {"200", "200", "200"},
	"list-my-prompts":     {"200", "200", "200"},
	"export-prompt":       {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"list-versions":       {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"get-version":         {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"compare-versions":    {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"list-labels":         {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"get-label-history":   {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"fork-prompt":         {"201 404 404 404 404", "201 201 404 201 404", "201 404 404 404 404"},
	"get-upstream":        {"403 404 404 404 404", "409 409 404 409 404", "403 404 404 404 404"},
	"merge-upstream":      {"403 404 404 404 404", "409 409 404 409 404", "403 404 404 404 404"},
	"list-fetches":        {"403 404 404 404 404", "200 200 404 200 404", "403 404 404 404 404"},
	"list-uses":           {"403 404 404 404 404", "200 200 404 200 404", "403 404 404 404 404"},
	"delete-version":      {"403 404 404 404 404", "204 204 404 204 404", "403 404 404 404 404"},
	"recall-version":      {"403 404 404 404 404", "204 204 404 204 404", "403 404 404 404 404"},
	"reinstate-version":   {"403 404 404 404 404", "204 204 404 204 404", "403 404 404 404 404"},
	"restore-version":     {"403 404 404 404 404", "200 200 404 200 404", "403 404 404 404 404"},
	"set-label":           {"403 404 404 404 404", "200 200 404 200 404", "403 404 404 404 404"},
	"delete-label":        {"403 404 404 404 404", "204 204 404 204 404", "403 404 404 404 404"},
	"undo-label":          {"403 404 404 404 404", "204 204 404 204 404", "403 404 404 404 404"},
	"list-my-votes":       {"200", "200", "200"},
	"set-favorite":        {"204 404 404 404 404", "204 204 404 204 404", "204 404 404 404 404"},
	"delete-favorite":     {"204 204 204 204 204", "204 204 204 204 204", "204 204 204 204 204"},
	"list-my-favorites":   {"200", "200", "200"},
	"get-prompt-by-name":  {"404 404 404 404 404", "200 200 404 200 404", "404 404 404 404 404"},
	"get-profile":         {"200", "200", "200"},
	"put-profile":         {"200", "200", "200"},
	"erase-me":            {"202", "202", "202"},
	"export-me":           {"200", "200", "200"},
	"import":              {"200", "200", "200"},
	"restore-me":          {"204", "204", "204"},
	"get-user":            {"200", "200", "200"},
	"list-user-prompts":   {"200", "200", "200"},
	"list-tokens":         {"200", "200", "200"},
	"create-token":        {"201", "201", "201"},
	"revoke-token":        {"404", "404", "404"},
	"list-hidden-prompts": {"403", "403", "200"},
	"list-tags":           {"200", "200", "200"},
	"put-tag":             {"403", "403", "200"},
	// of a collection that is not there; collections_test.go has the others
	"list-collections":  {"200", "200", "200"},
	"create-collection": {"201", "201", "201"},
	"get-collection":    {"404", "404", "404"},
	"patch-collection":  {"404", "404", "404"},
	"delete-collection": {"204", "204", "204"},
	// of a workspace that is not there; workspaces_test.go has the others
	"create-workspace":       {"201", "201", "201"},
	"list-workspaces":        {"200", "200", "200"},
	"get-workspace":          {"404", "404", "404"},
	"patch-workspace":        {"404", "404", "404"},
	"delete-workspace":       {"404", "404", "404"},
	"restore-workspace":      {"404", "404", "404"},
	"list-workspace-prompts": {"404", "404", "404"},
	"list-members":           {"404", "404", "404"},
	"put-member":             {"404", "404", "404"},
	"remove-member":          {"404", "404", "404"},
	"list-workspace-tokens":  {"404", "404", "404"},
	"create-workspace-token": {"404", "404", "404"},
	"copy-into-workspace":    {"404", "404", "404"},
	"revoke-workspace-token": {"404", "404", "404"},
	"put-rules":              {"404", "404", "404"},
	"list-open-proposals":    {"404", "404", "404"},
	"list-events":            {"404", "404", "404"},
	// what a person owns has none; reviews_test.go has those of workspaces
	"list-proposals":  {"200 404 404 404 404", "200 200 404 200 404", "200 404 404 404 404"},
	"open-proposal":   {"403 404 404 404 404", "422 422 404 422 404", "403 404 404 404 404"},
	"get-proposal":    {"404", "404", "404"},
	"change-proposal": {"403 404 404 404 404", "404", "403 404 404 404 404"},
	"close-proposal":  {"403 404 404 404 404", "404", "403 404 404 404 404"},
	"review-proposal": {"403 404 404 404 404", "404", "403 404 404 404 404"},
	"delete-tag":      {"403", "403", "204"},
	// where no person has a password; invites_test.go has the others
	"create-invite":   {"404", "404", "404"},
	"list-invites":    {"200", "200", "200"},
	"remove-invite":   {"404", "404", "404"},
	"accept-invite":   {"404", "404", "404"},
	"sign-in":         {"409", "409", "409"},
	"sign-out":        {"204", "204", "204"},
	"create-reset":    {"403", "403", "409"},
	"accept-reset":    {"409", "409", "409"},
	"change-password": {"409", "409", "409"},
	"take-login":      {"404", "404", "404"},
}

// opened are operations without identification, and read those that anonymous callers may use if
// reading is public.
var (
	passwords = []string{"sign-in", "accept-reset", "take-login"} // of any caller
	opened    = []string{"get-health", "get-ready", "get-openapi", "get-docs", "get-docs-file"}
	read      = []string{
		"list-prompts", "get-prompt", "get-rank", "list-tags", "suggest", "render-prompt",
		"get-prompt-text", "export-prompt", "list-files", "get-file", "get-archive", "list-versions", "get-version",
		"compare-versions", "list-labels", "get-label-history",
	}
)

// A caller is somebody, or claims to be.
type caller struct {
	name   string
	header []string
	status func(operation string, target int, publicRead bool) string
}

func believed(pick func(rule) string) func(string, int, bool) string {
	return func(operation string, target int, _ bool) string {
		columns := strings.Fields(pick(permissions[operation]))
		return columns[min(target, len(columns)-1)]
	}
}

func refused(string, int, bool) string { return "401" }

// An anonymous caller sees the same as other users if reading is public, and nothing else.
func nobody(operation string, target int, publicRead bool) string {
	if contains(passwords, operation) || publicRead && contains(read, operation) {
		return believed(func(r rule) string { return r.other })(operation, target, publicRead)
	}
	return "401"
}

func contains(all []string, s string) bool {
	return strings.Contains(" "+strings.Join(all, " ")+" ", " "+s+" ")
}

// A signer is an identity provider.
type signer struct {
	url string
	key *rsa.PrivateKey
}

func newSigner(t *testing.T) signer {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	provider := &oidctest.Server{
		PublicKeys: []oidctest.PublicKey{{PublicKey: key.Public(), KeyID: "k", Algorithm: oidc.RS256}},
	}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	provider.SetIssuer(server.URL)
	return signer{server.URL, key}
}

const tokenAudience = "api://prompthub"

func claims(issuer, audience, oid string, end time.Time, roles ...string) string {
	b, err := json.Marshal(map[string]any{
		"iss": issuer, "aud": audience, "sub": "x", "oid": oid, "name": oid, "email": "mail@example.com",
		"exp": end.Unix(), "roles": roles,
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (s signer) token(claims string) []string {
	return []string{
		"Authorization",
		"Bearer " + oidctest.SignIDToken(crypto.PrivateKey(s.key), "k", oidc.RS256, claims),
	}
}

func callers(t *testing.T, own signer, now time.Time) []caller {
	later := now.Add(24 * 365 * time.Hour)
	part := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	root := claims(own.url, tokenAudience, "root", later, "admin")
	stranger := newSigner(t)
	platform := base64.StdEncoding.EncodeToString(
		[]byte(`{"auth_typ":"aad","claims":[{"typ":"oid","val":"ann"},{"typ":"roles","val":"admin"}]}`))
	return []caller{
		{"nobody", nil, nobody},
		{
			"another user", own.token(claims(own.url, tokenAudience, "bob", later)),
			believed(func(r rule) string { return r.other }),
		},
		{
			"the author", own.token(claims(own.url, tokenAudience, "ann", later)),
			believed(func(r rule) string { return r.author }),
		},
		{"an admin", own.token(root), believed(func(r rule) string { return r.admin })},
		{
			"an expired token", own.token(claims(own.url, tokenAudience, "ann", now.Add(-2*time.Minute), "admin")),
			refused,
		},
		{"another audience", own.token(claims(own.url, "api://other", "ann", later, "admin")), refused},
		{"another issuer", stranger.token(claims(stranger.url, tokenAudience, "ann", later, "admin")), refused},
		{"the issuer's name on a stranger's token", stranger.token(root), refused},
		{
			"alg none",
			[]string{"Authorization", "Bearer " + part(`{"alg":"none","typ":"JWT"}`) + "." + part(root) + "."},
			refused,
		},
		{"alg none, signed", []string{"Authorization", "Bearer " + part(`{"alg":"none","kid":"k"}`) + "." +
			part(root) + ".AAAA"}, refused},
		{"a platform header", []string{"X-MS-CLIENT-PRINCIPAL", platform, "X-MS-CLIENT-PRINCIPAL-ID", "ann"}, nobody},
		{"a development header", []string{"X-Dev-User", "ann", "X-Dev-Roles", "admin"}, nobody},
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	own := newSigner(t)
	for _, publicRead := range []bool{false, true} {
		t.Run(fmt.Sprintf("public read %t", publicRead), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, func(c *api.Config) {
				c.PublicRead = publicRead
				c.Identify = auth.JWT(t.Context(),
					auth.JWTOptions{Issuers: []string{own.url}, Audiences: []string{tokenAudience}, Now: c.Now})
			})
			c := openapitest.New(t, w.api)
			w.logs.reset()
			m := byAnn(w, c, publicRead)
			all := callers(t, own, w.clock.Now())
			for _, o := range c.Operations() {
				for _, who := range all {
					m.check(o, who)
				}
			}
			require.NotContains(t, w.logs.String(), "@", "no e-mail address in the log")
			require.NotContains(t, w.logs.String(), "eyJ", "no token in the log")
		})
	}
}

type matrix struct {
	*world
	contract   *openapitest.Contract
	publicRead bool
	author     auth.User // of the prompts
	handle     string    // by which requests name the author
	made       *int      // how many workspaces were
}

// byAnn returns a matrix of prompts of ann's. She names herself.
func byAnn(w *world, c *openapitest.Contract, publicRead bool) matrix {
	return matrix{w, c, publicRead, auth.User{ID: "ann", Name: "ann"}, library.Me, new(int)}
}

// check fills the cells of one operation and one caller.
func (m matrix) check(o openapitest.Operation, who caller) {
	m.t.Helper()
	id := m.contract.At(o.Pointer)["operationId"].(string)
	if _, ok := permissions[id]; !ok {
		require.True(m.t, contains(opened, id), "operation %s has no rule", id)
		m.cell(o, who, "", "200")
		return
	}
	if !strings.Contains(o.Path, "{id}") && !strings.Contains(o.Path, "{slug}") {
		m.cell(o, who, "", who.status(id, 0, m.publicRead))
		return
	}
	unknown := map[string]answer{}
	for i, target := range targets {
		want := who.status(id, i, m.publicRead)
		if a := m.cell(o, who, target, want); want == "404" {
			unknown[target] = a
		}
	}
	for i, target := range targets {
		a, is := unknown[target]
		if !is || who.status("get-prompt", i, m.publicRead) == "200" { // what a prompt lacks may have another text
			continue
		}
		require.Equal(m.t, anonymous(unknown["unknown"]), anonymous(a),
			"%s by %s of %s can be told from an unknown prompt", id, who.name, target)
	}
}

var requestIDs = regexp.MustCompile(`"requestId":"[^"]+"`)

// anonymous returns an answer without what differs from request to request.
func anonymous(a answer) string {
	h := a.header.Clone()
	h.Del("X-Request-Id")
	h.Del("Date")
	return fmt.Sprint(a.status, h, requestIDs.ReplaceAllString(a.body, ""))
}

// cell sends one request, made from the document, on a fresh prompt.
func (m matrix) cell(o openapitest.Operation, who caller, target, want string) answer {
	m.t.Helper()
	got := m.ask(o, m.prompt(target), who.header...)
	require.Equal(m.t, want, fmt.Sprint(got.status), "%s %s by %s on a prompt that is %s: %s", o.Method,
		o.Path, who.name, target, got.body)
	return got
}

// ask sends a request that is made from the document, about a prompt.
func (m matrix) ask(o openapitest.Operation, p prompt.Prompt, header ...string) answer {
	m.t.Helper()
	path := strings.NewReplacer("{id}", string(p.ID), "{tag}", "text", "{handle}", m.handle, "{slug}", p.Slug,
		"{version}", "1", "{other}", "2",
		"{label}", "production", "{token}", "mfrggzdfmztwq2lk", "{invite}", "mfrggzdfmztwq2lk", "{workspace}",
		"no-such", "{kind}", "person", "{principal}", "me", "{number}", "1", "{file}", "page.css").Replace(o.Path)
	if strings.HasSuffix(o.Path, "{id}/export") {
		path += "?format=skill"
	}
	if strings.HasSuffix(o.Path, "/files/content") {
		path += "?path=SKILL.md"
	}
	op := m.contract.At(o.Pointer)
	body := ""
	if request, ok := op["requestBody"].(map[string]any); ok {
		content := request["content"].(map[string]any)
		var example any = map[string]any{"profile": map[string]any{}} // a file
		if c, ok := content["application/json"].(map[string]any); ok {
			example = c["example"]
		}
		if members, ok := example.(map[string]any); ok {
			delete(members, "handle") // which only one user can have
			if op["operationId"] != "open-proposal" {
				delete(members, "label") // a version is named already
			}
			delete(members, "workspace")
			if id := op["operationId"]; id == "create-workspace" {
				*m.made++
				members["handle"] = fmt.Sprint("made-", *m.made)
			}
			if op["operationId"] == "create-collection" {
				*m.made++
				members["slug"] = fmt.Sprint("made-", *m.made)
			}
			delete(members, "items") // of collections: prompts that are not there
			if strings.HasPrefix(o.Path, "/prompts") {
				delete(members, "name") // which only one prompt can have
			}
		}
		b, err := json.Marshal(example)
		require.NoError(m.t, err)
		body = string(b)
	}
	if strings.Contains(fmt.Sprint(op["parameters"]), "If-Match") {
		header = append(slices.Clone(header), "If-Match", "*")
	}
	return m.as("").do(o.Method, api.Prefix+path, body, header...)
}

// prompt makes a prompt of the author's.
func (m matrix) prompt(target string) prompt.Prompt {
	m.t.Helper()
	author, root := m.author, auth.User{ID: "root", Name: "root", Roles: []string{auth.RoleAdmin}}
	d := prompt.Draft{
		Title: "T", Text: "X {{name:Ann}} ${count:1}", Visibility: prompt.Public,
		Labels: []string{"production"},
	}
	if target == "unknown" || target == "" {
		return prompt.Prompt{ID: "01ARZ3NDEKTSV4RRFFQ69G5FAV", Slug: "unknown"}
	}
	if target == "private" {
		d.Visibility = prompt.Private
	}
	v, _, err := m.config.Service.Create(m.t.Context(), author, d, "")
	require.NoError(m.t, err)
	two := d.Text + " second"
	v, err = m.config.Service.Patch(m.t.Context(), author, v.ID, library.Match{Any: true},
		func(d *prompt.Draft) { d.Text = two })
	require.NoError(m.t, err)
	switch target {
	case "deleted":
		err = m.config.Service.Delete(m.t.Context(), author, v.ID, library.Match{Any: true})
	case "hidden":
		err = m.config.Service.Hide(m.t.Context(), root, v.ID, "x")
	}
	require.NoError(m.t, err)
	return v.Prompt
}

// The scopes that an access token of the author needs, beyond read for reading and write for
// changes: publish, on public prompts or on all.
var (
	publishesAll = []string{
		"create-prompt", "replace-prompt", "delete-prompt", "restore-prompt", "delete-version",
		"recall-version", "reinstate-version", "delete-label", "undo-label", "put-profile",
		"create-collection", "delete-collection",
	}
	publishesPublic = []string{"patch-prompt", "replace-files", "restore-version", "set-label"}
	answersAlone    = []string{"render-prompt", "suggest"}
	neverByToken    = []string{
		"list-fetches", "list-tokens", "create-token", "revoke-token", "erase-me", "restore-me",
		"create-workspace", "review-proposal", "create-invite", "list-invites", "remove-invite", "accept-invite",
		"create-reset", "change-password",
	}
)

// needed returns the scopes that an operation needs on a public prompt or a private one.
func needed(o openapitest.Operation, id, target string) []string {
	if id == "list-fetches" {
		return []string{auth.ScopeRead, "administer"}
	}
	if o.Method == http.MethodGet || contains(answersAlone, id) {
		return []string{auth.ScopeRead}
	}
	if contains(publishesAll, id) || contains(publishesPublic, id) && target == "public" {
		return []string{auth.ScopeWrite, auth.ScopePublish}
	}
	return []string{auth.ScopeWrite}
}

// TestScopes: every operation of the document with access tokens of the author that have all
// scopes, or all but one: nothing is done without each scope that it needs.
func TestScopes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withTokens)
	c := openapitest.New(t, w.api)
	m := byAnn(w, c, true)
	token := func(scopes ...string) caller {
		_, text, err := w.config.Service.CreateToken(t.Context(), auth.User{ID: "ann", Name: "ann"},
			library.TokenDraft{Name: "CI", Scopes: scopes, Claimed: true})
		require.NoError(t, err)
		return caller{name: fmt.Sprint("a token for ", scopes), header: []string{"Authorization", "Bearer " + text}}
	}
	tokens := map[string]caller{"": token(auth.Scopes()...)}
	for i, without := range auth.Scopes() {
		rest := append([]string{}, auth.Scopes()[:i]...)
		tokens[without] = token(append(rest, auth.Scopes()[i+1:]...)...)
	}
	for _, o := range c.Operations() {
		id := c.At(o.Pointer)["operationId"].(string)
		if contains(opened, id) {
			continue
		}
		for i, target := range targets[:2] {
			allowed := believed(func(r rule) string { return r.author })(id, i, true)
			for without, who := range tokens {
				want := allowed
				if slices.Contains(needed(o, id, target), without) || contains(neverByToken, id) {
					want = "403"
				}
				m.cell(o, who, target, want)
			}
		}
	}
}
