package format

import (
	"prompthub/internal/prompthub/prompt"
)

// GitHubModels is a *.prompt.yml.
const GitHubModels Format = "github-models"

func init() {
	register(codec{
		name: GitHubModels, path: "*.prompt.yml", ends: []string{".prompt.yml", ".prompt.yaml", ".yml", ".yaml"},
		read: readGitHubModels, write: writeGitHubModels,
		keeps: []string{fieldName, fieldText, fieldDescription, fieldMessages, fieldMessages + ".role", fieldConfig},
	})
}

// readGitHubModels reads a *.prompt.yml. The parameters of its model are the rest of the config.
func readGitHubModels(in *input) (Document, object, error) {
	o, err := in.yaml(nameAndAbout, "model", "modelParameters", "messages")
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{Name: o.text("name"), Description: o.text("description"), Kind: prompt.KindChat}
	if !o.take("messages", &d.Messages) || len(d.Messages) == 0 {
		return d, o, errNoMessages
	}
	d.Config = takeConfig(&o, "model", "modelParameters")
	return d, o, nil
}

// takeConfig takes the model and its parameters into a config.
func takeConfig(o *object, model, parameters string) []byte {
	var config, more object
	config.put("model", o.text(model))
	o.take(parameters, &more)
	config.add(more)
	if len(config) == 0 {
		return nil
	}
	return config.value()
}

func writeGitHubModels(d Document, extra object) ([]byte, error) {
	var o object
	o.put("name", d.Name)
	o.put("description", d.Description)
	model, parameters := modelOf(d.Config)
	o.put("model", model)
	o.put("modelParameters", parameters)
	o.put("messages", spoken(d.messages()))
	o.add(extra)
	return writeYAML(o)
}

// messages returns the messages of a document: of a text, that text said by the user.
func (d Document) messages() []prompt.Message {
	if len(d.Messages) > 0 {
		return d.Messages
	}
	return []prompt.Message{{Role: "user", Content: d.Text}}
}
