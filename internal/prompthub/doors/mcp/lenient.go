package mcp

import (
	"bytes"
	"regexp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// withValues returns a message of prompts/get whose arguments are texts, as withTexts makes them.
// Any other message stays as it is.
func withValues(body []byte) []byte {
	var message struct {
		Method string `json:"method"`
	}
	if json.Unmarshal(body, &message) != nil || message.Method != "prompts/get" {
		return body
	}
	made, err := valuesAt(body, "params", "arguments")
	if err != nil {
		return body // the library says what is wrong with it
	}
	return made
}

// valuesAt makes texts of the members of the object at a path below an object.
func valuesAt(object jsontext.Value, path ...string) (jsontext.Value, error) {
	if len(path) == 0 {
		return withTexts(object), nil
	}
	var members map[string]jsontext.Value
	if err := json.Unmarshal(object, &members); err != nil {
		return object, err
	}
	below, ok := members[path[0]]
	if !ok {
		return object, nil
	}
	made, err := valuesAt(below, path[1:]...)
	if err != nil || bytes.Equal(made, below) {
		return object, err
	}
	members[path[0]] = made
	return json.Marshal(members)
}

// withTexts returns an object of the values of variables, each a text: numbers and booleans as they
// are written. One that is null is left out. Anything else stays as it is.
func withTexts(object jsontext.Value) jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(object, &members) != nil {
		return object
	}
	same := true
	for name, value := range members {
		switch value.Kind() {
		case '0', 't', 'f':
			members[name], _ = jsontext.AppendQuote(nil, value) // which is ASCII
			same = false
		case 'n':
			delete(members, name)
			same = false
		}
	}
	if same {
		return object
	}
	made, err := json.Marshal(members)
	if err != nil {
		return object
	}
	return made
}

// wrongType finds in a message of the library which parameter is of the wrong type, and of which it
// must be.
var wrongType = regexp.MustCompile(`(?s)(?:unmarshaling .*)?cannot unmarshal .* into Go (?:struct field \w+\.\w+?(?:map\[\w+\]\w+)?\.(\S+)|value) of type ([\w.\[\]*{}]+)`)

// typeNames say for people what a parameter must be.
var typeNames = map[string]string{
	"string": "a text", "int": "a number", "int64": "a number",
	"float64": "a number", "bool": "true or false",
}

// untyped returns a message of the library without names of Go types.
func untyped(message string) string {
	m := wrongType.FindStringSubmatchIndex(message)
	if m == nil {
		return message
	}
	what, want := "the parameters are", "as the method takes them"
	if m[2] >= 0 {
		what = "params." + message[m[2]:m[3]] + " is"
	}
	if name, ok := typeNames[message[m[4]:m[5]]]; ok {
		want = name
	}
	return message[:m[0]] + what + " of the wrong type: want " + want
}
