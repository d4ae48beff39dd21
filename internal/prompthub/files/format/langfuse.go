package format

import (
	"errors"
	"slices"

	"prompthub/internal/prompthub/prompt"
)

var errNoMessages = errors.New("messages: there are none")

// A langfuseMessage is one of a chat of Langfuse.
type langfuseMessage struct {
	Type    string `json:"type,omitempty"` // "placeholder", or "chatmessage", which is left out
	Role    string `json:"role,omitempty"`
	Content string `json:"content,omitempty"`
	Name    string `json:"name,omitempty"` // of a placeholder
}

const langfusePlaceholder = "placeholder"

// Langfuse is the JSON of the API of Langfuse.
const Langfuse Format = "langfuse"

func init() {
	register(codec{
		name: Langfuse, path: "*.json", list: true, read: readLangfuse, write: writeLangfuse,
		holds: func(o object) bool { return o.has("prompt") && !o.isLangChain() && !isOpenWebUI(o) && !isOther(o) },
		keeps: []string{
			fieldName, fieldText, fieldKind, fieldMessages, fieldMessages + ".role", fieldMessages + ".placeholder",
			fieldConfig, fieldTags, fieldLabels,
			fieldMessage,
		},
	})
}

// readLangfuse reads a prompt as the API of Langfuse returns it. Numbers of versions are given by
// the library, and latest is the newest, so both are passed over.
func readLangfuse(in *input) (Document, object, error) {
	o, err := parseObject(in.file)
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{Name: o.text("name"), Message: o.text("commitMessage")}
	o.take("tags", &d.Tags)
	o.take("config", &d.Config)
	var labels []string
	o.take("labels", &labels)
	for _, l := range labels {
		if l != prompt.Latest {
			d.Labels = append(d.Labels, l)
		}
	}
	o.drop("type", "version")
	var list []langfuseMessage
	if !o.take("prompt", &d.Text) && !o.take("prompt", &list) {
		return d, o, errors.New("prompt: must be a text or messages")
	}
	for _, m := range list {
		if m.Type == langfusePlaceholder {
			m = langfuseMessage{}
		}
		d.Messages = append(d.Messages, prompt.Message{Role: m.Role, Content: m.Content})
	}
	for i, m := range list {
		if m.Type == langfusePlaceholder {
			d.Messages[i].Placeholder = m.Name
		}
	}
	return d, o, nil
}

func writeLangfuse(d Document, extra object) ([]byte, error) {
	var o object
	o.put("name", d.Name)
	if len(d.Messages) == 0 {
		o.put("type", "text")
		o.put("prompt", d.Text)
	} else {
		var list []langfuseMessage
		for _, m := range d.Messages {
			if m.Placeholder != "" {
				list = append(list, langfuseMessage{Type: langfusePlaceholder, Name: m.Placeholder})
			} else {
				list = append(list, langfuseMessage{Role: m.Role, Content: m.Content})
			}
		}
		o.put("type", "chat")
		o.put("prompt", list)
	}
	if d.Config != nil {
		o = append(o, member{"config", d.Config})
	}
	o.put("tags", slices.Concat(d.Tags, d.OwnTags))
	o.put("labels", d.Labels)
	o.put("commitMessage", d.Message)
	o.add(extra)
	return indented(o)
}
