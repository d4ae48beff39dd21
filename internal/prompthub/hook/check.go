package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

var firstOfMonth = regexp.MustCompile(`^\d{4}-(0[1-9]|1[0-2])-01$`)

// check refuses variables with which the deployment would fail half way, or would not do what they
// say.
func (h hook) check() error {
	var problems []error
	problem := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if err := moreSettings(h.getenv("MORE_SETTINGS")); err != nil {
		problem("MORE_SETTINGS %w", err)
	}
	for _, name := range []string{"PROMPTHUB_TAGS", "CORS_ORIGINS"} {
		if strings.ContainsAny(h.getenv(name), "\"\\\n") {
			problem("%s holds a quote, a backslash or a line break: azd puts it into JSON as it is", name)
		}
	}
	switch required := h.getenv("ENTRA_ASSIGNMENT_REQUIRED"); required {
	case "", "true", "false":
	default:
		problem("ENTRA_ASSIGNMENT_REQUIRED must be true or false, not %q", required)
	}
	if amount, _ := strconv.Atoi(h.getenv("BUDGET_AMOUNT")); amount > 0 {
		if !firstOfMonth.MatchString(h.getenv("BUDGET_START")) {
			problem("BUDGET_START must be the first of a month, such as 2026-12-01, where BUDGET_AMOUNT is set")
		}
		if h.getenv("ALERT_EMAIL") == "" {
			problem("ALERT_EMAIL must say whom the budget tells, where BUDGET_AMOUNT is set")
		}
	}
	return errors.Join(problems...)
}

// moreSettings reports what is wrong with further settings. With WEBSITE_AUTH_ENABLED set by hand,
// forged headers would be believed.
func moreSettings(text string) error {
	if text == "" {
		return nil
	}
	var settings map[string]string
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		return fmt.Errorf("is no JSON object of strings: %w", err)
	}
	for name := range settings {
		if strings.HasPrefix(strings.ToUpper(name), "WEBSITE_") {
			return fmt.Errorf("may not set %s: it is the platform's", name)
		}
	}
	return nil
}
