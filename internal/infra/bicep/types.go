package bicep

import (
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Types are the types of resources, by "type@version".
type Types map[string]*ResourceType

// A ResourceType says what a resource may hold. Objects are the types that are named in it.
type ResourceType struct {
	Body    *ObjectType            `json:"body"`
	Objects map[string]*ObjectType `json:"objects,omitempty"`
}

// An ObjectType is an object, or one of several, told apart by the value of a property.
type ObjectType struct {
	Properties    []PropertyType `json:"properties,omitempty"`
	Others        string         `json:"others,omitempty"` // type of properties that are not named here
	Discriminator string         `json:"discriminator,omitempty"`
	Elements      []*ObjectType  `json:"elements,omitempty"`
}

// A PropertyType is a property. Type is "string", "int", "bool", "any", the name of an object,
// a literal, several of these with " | " between, or one of these with "[]" after it.
type PropertyType struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Required bool   `json:"required,omitempty"`
	ReadOnly bool   `json:"readOnly,omitempty"`
}

//go:embed types/*.json
var typeData embed.FS

// LoadTypes returns the types that are kept in types/.
func LoadTypes() (Types, error) {
	names, err := typeData.ReadDir("types")
	if err != nil {
		return nil, err
	}
	types := make(Types, len(names))
	for _, e := range names {
		data, err := typeData.ReadFile(path.Join("types", e.Name()))
		if err != nil {
			return nil, err
		}
		var some Types
		if err := json.Unmarshal(data, &some); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		for name, t := range some {
			types[name] = t
		}
	}
	return types, nil
}

// WithoutTypes are the resources of which there is no type data, in the versions that infra/
// uses. They are checked against the Azure SDK for Go instead, in internal/tools/infra.
var WithoutTypes = []string{
	"Microsoft.Insights/actionGroups@2023-01-01",
	"Microsoft.Insights/diagnosticSettings@2021-05-01-preview",
	"Microsoft.Insights/metricAlerts@2018-03-01",
	"Microsoft.Insights/scheduledQueryRules@2022-06-15",
	"Microsoft.Network/privateDnsZones@2020-06-01",
	"Microsoft.Network/privateDnsZones/virtualNetworkLinks@2020-06-01",
}

func (o *ObjectType) property(name string) *PropertyType {
	i := slices.IndexFunc(o.Properties, func(p PropertyType) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Properties[i]
}

// choose returns the element of o that value is meant to be.
func (o *ObjectType) choose(value *Node) *ObjectType {
	if o.Discriminator == "" {
		return o
	}
	if value.Get(o.Discriminator) == nil {
		return nil
	}
	want, _ := value.Get(o.Discriminator).Literal()
	for _, e := range o.Elements {
		if p := e.property(o.Discriminator); p != nil && slices.Contains(strings.Split(p.Type, " | "), want) {
			return e
		}
	}
	return nil
}
