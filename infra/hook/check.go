package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"prompthub/internal/testing/infra"
)

var firstOfMonth = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])-01$`)

// check refuses variables with which the deployment would fail half way, or would not do what they
// say, and settings with which the program would not start.
func (h hook) check(ctx context.Context) error {
	values, err := h.values()
	if err := errors.Join(append([]error{err}, h.misused(values)...)...); err != nil {
		return err
	}
	more, err := h.moreSettings()
	if err != nil {
		return fmt.Errorf("MORE_SETTINGS %w", err)
	}
	given := settings(values, more)
	if given["AUTH_MODE"] == "" {
		return errors.New("no sign-in is chosen, and PromptHub would answer every request with 503: " +
			"run \"azd env set ENTRA_SIGN_IN create\", or choose another way from docs/deploy.md, Who may call")
	}
	if err := h.program(ctx, given); err != nil {
		why := strings.NewReplacer("setting TAGS ", "setting TAGS, the variable PROMPTHUB_TAGS, ", "setting LOG_LEVEL ",
			"setting LOG_LEVEL, the variable PROMPTHUB_LOG_LEVEL, ")
		return fmt.Errorf("PromptHub would not start with these variables, correct them with azd env set: %s",
			why.Replace(err.Error()))
	}
	return nil
}

// variable finds the variable that a parameter has its value from, and the default.
var variable = regexp.MustCompile(`\$\{([A-Z_]+)(?:=([^}]*))?\}`)

// values returns the variables by their names, with the defaults of those that are empty, and
// refuses what does not fit its parameter: azd drops such a value without a word, and deploys the
// default.
func (h hook) values() (map[string]string, error) {
	bicep, err := os.ReadFile(filepath.Join(h.root, "infra/main.bicep"))
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(h.root, "infra/main.parameters.json"))
	if err != nil {
		return nil, err
	}
	var file struct {
		Parameters map[string]struct {
			Value string `json:"value"`
		} `json:"parameters"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	values := map[string]string{
		"ENTRA_SIGN_IN":             h.getenv("ENTRA_SIGN_IN"),
		"ENTRA_ASSIGNMENT_REQUIRED": h.getenv("ENTRA_ASSIGNMENT_REQUIRED"),
	}
	var problems []error
	for name, param := range infra.Params(string(bicep)) {
		from := variable.FindStringSubmatch(file.Parameters[name].Value)
		if from == nil {
			return nil, fmt.Errorf("infra/main.parameters.json has no variable for %s", name)
		}
		value := h.getenv(from[1])
		if value == "" {
			value = from[2]
		}
		values[from[1]] = value
		if value == "" || param.Kind == "object" {
			continue // azd asks for values that are missing; the object is read apart
		}
		if why := misfit(param, value); why != "" {
			problems = append(problems, fmt.Errorf("%s: %s", from[1], why))
		}
	}
	return values, errors.Join(problems...)
}

// misfit says why azd or Bicep would not take a value for a parameter.
func misfit(param infra.Param, value string) string {
	switch param.Kind {
	case "bool":
		b, err := strconv.ParseBool(value)
		if err != nil {
			return fmt.Sprintf("must be true or false, not %q", value)
		}
		return param.Refuses(b)
	case "int":
		n, err := strconv.Atoi(value)
		if err != nil {
			return fmt.Sprintf("must be a whole number, not %q", value)
		}
		return param.Refuses(n)
	}
	if strings.ContainsAny(value, "\"\\\n") {
		return "holds a quote, a backslash or a line break: azd puts it into JSON as it is"
	}
	return param.Refuses(value)
}

// misused returns what is wrong with variables that fit their parameters.
func (h hook) misused(values map[string]string) []error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if create := values["ENTRA_SIGN_IN"]; create != "" && create != "create" {
		problem("ENTRA_SIGN_IN must be create, or empty, not %q", create)
	}
	switch required := values["ENTRA_ASSIGNMENT_REQUIRED"]; required {
	case "", "true", "false":
	default:
		problem("ENTRA_ASSIGNMENT_REQUIRED must be true or false, not %q", required)
	}
	if app := h.groupOf(values["AZURE_ENV_NAME"]); app != "" {
		problem("AZURE_ENV_NAME: the resource group rg-%s is that of %s's environment %s, and azd down of one would delete both: choose another name", values["AZURE_ENV_NAME"], app, strings.TrimPrefix(values["AZURE_ENV_NAME"], app+"-"))
	}
	for _, r := range list(values["ALLOWED_IP_RANGES"]) {
		if _, err := netip.ParsePrefix(r); err != nil {
			problem("ALLOWED_IP_RANGES: %q is no range such as 203.0.113.0/24, or 203.0.113.7/32 for one address", r)
		}
	}
	if amount, _ := strconv.Atoi(values["BUDGET_AMOUNT"]); amount > 0 {
		start := values["BUDGET_START"]
		this := h.now().UTC().Format("2006-01-") + "01"
		if !firstOfMonth.MatchString(start) {
			problem("BUDGET_START must be the first of a month, such as %s, if BUDGET_AMOUNT is set", this)
		} else if start < this && start != h.getenv("BUDGET_MADE_FROM") {
			problem("BUDGET_START is %s, and a new budget cannot begin before this month: set %s. If the budget is there since then: azd env set BUDGET_MADE_FROM %[1]s", start, this)
		}
		if values["ALERT_EMAIL"] == "" {
			problem("ALERT_EMAIL must say whom the budget tells, if BUDGET_AMOUNT is set")
		}
	}
	return problems
}

// groupOf returns the application in apps whose resource group an environment of this name would
// have, "" if there is none.
func (h hook) groupOf(environment string) string {
	apps, _ := os.ReadDir(filepath.Join(h.root, "apps")) // a copy without them has none to mix up
	for _, app := range apps {
		if strings.HasPrefix(environment, app.Name()+"-") {
			return app.Name()
		}
	}
	return ""
}

// list returns the items of a list, as main.bicep reads it.
func list(text string) []string {
	if text == "" {
		return nil
	}
	items := strings.Split(text, ",")
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
	}
	return items
}

// moreSettings reads further settings. With WEBSITE_AUTH_ENABLED set by hand, forged headers would
// be believed.
func (h hook) moreSettings() (map[string]string, error) {
	text, set := h.lookup("MORE_SETTINGS")
	if text == "" && set {
		return nil, errors.New(`is empty, and azd takes it for no JSON object: run "azd env set MORE_SETTINGS {}"`)
	}
	settings := make(map[string]string)
	if text == "" {
		return settings, nil
	}
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		return nil, fmt.Errorf("is no JSON object of strings: %w", err)
	}
	for name := range settings {
		if strings.HasPrefix(strings.ToUpper(name), "WEBSITE_") {
			return nil, fmt.Errorf("may not set %s: it is the platform's", name)
		}
	}
	return settings, nil
}

// settings returns what the program finds in its environment once it is deployed, its storage left
// out. It follows infra/modules/app.bicep.
func settings(values, more map[string]string) map[string]string {
	all := map[string]string{
		"FUNCTIONS_CUSTOMHANDLER_PORT": "1", // of the host: with it the program reads as it does there
		"LOG_LEVEL":                    values["PROMPTHUB_LOG_LEVEL"],
		"QUEUE_PREFIX":                 values["QUEUE_PREFIX"],
		"CONTAINER_PREFIX":             values["CONTAINER_PREFIX"],
		"PUBLIC_READ":                  values["PUBLIC_READ"],
		"MAX_TEXT":                     values["MAX_TEXT"],
	}
	switch {
	case values["ENTRA_CLIENT_ID"] != "" || values["ENTRA_SIGN_IN"] == "create":
		all["AUTH_MODE"] = "easyauth"
		all["WEBSITE_AUTH_ENABLED"] = "True" // of the platform
	case values["JWT_ISSUER"] != "" || values["JWT_AUDIENCE"] != "":
		all["AUTH_MODE"], all["JWT_ISSUER"], all["JWT_AUDIENCE"] = "jwt", values["JWT_ISSUER"], values["JWT_AUDIENCE"]
	}
	for name, value := range map[string]string{
		"AUTH_TENANTS": values["AUTH_TENANTS"], "TABLE_PREFIX": values["TABLE_PREFIX"],
		"TAGS":         values["PROMPTHUB_TAGS"],
		"CORS_ORIGINS": strings.Join(list(values["CORS_ORIGINS"]), ","),
	} {
		if value != "" {
			all[name] = value
		}
	}
	for name, value := range more {
		all[name] = value
	}
	return all
}
