package infra

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/monitor/armmonitor"
	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/privatedns/armprivatedns"
	"github.com/stretchr/testify/require"
)

// A body is a resource in infra/ of which there is no type data.
type body struct {
	Where, Type string
	Body        map[string]any
}

// models are the types of the SDK for them. The SDK passes over what it does not know, so what is lost on
// the way through it is a property that does not exist.
func model(t *testing.T, typ string) any {
	t.Helper()
	switch typ {
	case "Microsoft.Insights/actionGroups@2023-01-01":
		return new(armmonitor.ActionGroupResource)
	case "Microsoft.Insights/diagnosticSettings@2021-05-01-preview":
		return new(armmonitor.DiagnosticSettingsResource)
	case "Microsoft.Insights/metricAlerts@2018-03-01":
		return new(armmonitor.MetricAlertResource)
	case "Microsoft.Insights/scheduledQueryRules@2022-06-15":
		return new(armmonitor.ScheduledQueryRuleResource)
	case "Microsoft.Network/privateDnsZones@2020-06-01":
		return new(armprivatedns.PrivateZone)
	case "Microsoft.Network/privateDnsZones/virtualNetworkLinks@2020-06-01":
		return new(armprivatedns.VirtualNetworkLink)
	}
	require.Fail(t, "no model", typ)
	return nil
}

func bodies(t *testing.T) []body {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("node is not installed")
	}
	cmd := exec.CommandContext(t.Context(), "go", "run", "./internal/infra/bodies")
	cmd.Stderr = os.Stderr
	cmd.Dir = root
	out, err := cmd.Output()
	require.NoError(t, err)
	var all []body
	require.NoError(t, json.Unmarshal(out, &all))
	require.NotEmpty(t, all)
	for _, b := range all {
		for _, name := range []string{"parent", "scope", "dependsOn"} { // Bicep's own
			delete(b.Body, name)
		}
	}
	return all
}

// through sends a body through its model and returns what is left.
func through(t *testing.T, b body) (map[string]any, error) {
	t.Helper()
	in, err := json.Marshal(b.Body)
	require.NoError(t, err)
	m := model(t, b.Type)
	if err := errors.Join(json.Unmarshal(in, m), additional(m)); err != nil {
		return nil, err
	}
	out, err := json.Marshal(m)
	require.NoError(t, err)
	var left map[string]any
	require.NoError(t, json.Unmarshal(out, &left))
	return left, nil
}

// additional finds what the model of a metric alert keeps though it does not know it.
func additional(m any) error {
	alert, ok := m.(*armmonitor.MetricAlertResource)
	if !ok || alert.Properties == nil {
		return nil
	}
	criteria, ok := alert.Properties.Criteria.(*armmonitor.MetricAlertSingleResourceMultipleMetricCriteria)
	if !ok {
		return fmt.Errorf("criteria of type %T", alert.Properties.Criteria)
	}
	for _, c := range criteria.AllOf {
		if len(c.AdditionalProperties) > 0 {
			return fmt.Errorf("unknown: %v", c.AdditionalProperties)
		}
	}
	return nil
}

func TestBodiesFitTheSDK(t *testing.T) {
	for _, b := range bodies(t) {
		left, err := through(t, b)
		require.NoError(t, err, b.Where)
		require.Equal(t, b.Body, left, b.Where)
	}
}

func TestFaultsInBodiesAreFound(t *testing.T) {
	faults := map[string]func(properties map[string]any){
		"unknown property": func(p map[string]any) { p["severty"] = 1 },
		"wrong type":       func(p map[string]any) { p["severity"] = "high" },
		"unknown inside": func(p map[string]any) {
			p["criteria"].(map[string]any)["allOf"].([]any)[0].(map[string]any)["treshold"] = 1
		},
		"wrong type inside": func(p map[string]any) {
			p["criteria"].(map[string]any)["allOf"].([]any)[0].(map[string]any)["threshold"] = "50"
		},
	}
	for name, spoil := range faults {
		for _, b := range bodies(t) {
			properties, _ := b.Body["properties"].(map[string]any)
			if properties["severity"] == nil {
				continue
			}
			spoil(properties)
			left, err := through(t, b)
			require.False(t, err == nil && equal(t, b.Body, left), "%s in %s", name, b.Where)
		}
	}
}

func equal(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := json.Marshal(a)
	require.NoError(t, err)
	y, err := json.Marshal(b)
	require.NoError(t, err)
	return string(x) == string(y)
}
