package format

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/jsonsize"
)

// Messages is a list of messages with their roles, as APIs of models take them: JSON, or an object
// on each line.
const Messages Format = "messages"

func init() {
	register(codec{
		name: Messages, path: "*.json", read: readMessages, write: writeMessages,
		keeps: []string{fieldText, fieldMessages, fieldMessages + ".role"},
	})
}

// isChat reports whether a file is a list of messages, which are one prompt: objects with a role
// and a content and with nothing that names a prompt.
func isChat(b []byte) bool {
	b = bytes.TrimPrefix(b, bom)
	if !bytes.Contains(b[:min(len(b), chatBegin)], []byte(`"role"`)) || jsonsize.Parts(b) > jsonsize.Most {
		return false
	}
	list := messagesIn(b)
	for _, v := range list {
		o, err := parseObject(v.json)
		if err != nil || !o.has("role") || !o.has("content") ||
			o.hasAny(fieldTitle, fieldText, "prompt", "act", "command") {
			return false
		}
	}
	return len(list) > 0
}

// chatBegin is how many bytes at the beginning of a list of messages have a role in them.
const chatBegin = 1 << 20

// messagesIn returns the elements of a list, or the objects that stand one after another.
func messagesIn(b []byte) []value {
	if jsontext.Value(b).Kind() == '[' {
		return listIn(b)
	}
	return objects(b)
}

// readMessages reads a list of messages. What else they say, such as calls of tools, stays in the
// file.
func readMessages(in *input) (d Document, extra object, err error) {
	var list []object
	for _, v := range messagesIn(bytes.TrimPrefix(in.file, bom)) {
		o, err := parseObject(v.json)
		if err != nil {
			return d, nil, err
		}
		list = append(list, o)
	}
	var all object
	all.put(fieldMessages, list)
	all = in.flatten(all)
	if !all.take(fieldMessages, &d.Messages) || len(d.Messages) == 0 {
		return d, nil, errNoMessages
	}
	for _, m := range d.Messages {
		if m.Role == "" {
			return d, nil, errors.New("a message has no role")
		}
	}
	return d, nil, nil
}

func writeMessages(d Document, _ object) ([]byte, error) {
	b, err := json.Marshal(spoken(d.messages()))
	if err != nil {
		return nil, err
	}
	return indented(jsontext.Value(b))
}
