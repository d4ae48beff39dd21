package format

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
)

// OpenWebUI is the JSON that a page of Open WebUI exports.
const OpenWebUI Format = "open-webui"

func init() {
	register(codec{
		name: OpenWebUI, path: "*.json", many: true, list: true, read: readOpenWebUI, write: writeOpenWebUI,
		holds: func(o object) bool { return isOpenWebUI(o) && !o.isLangChain() },
		keeps: []string{fieldName, fieldTitle, fieldText, fieldTags},
	})
}

func isOpenWebUI(o object) bool { return o.has("command") && o.has("content") }

// readOpenWebUI reads one prompt of a list that Open WebUI exports.
func readOpenWebUI(in *input) (Document, object, error) {
	o, err := parseObject(in.file)
	if err != nil {
		return Document{}, nil, err
	}
	d := Document{Name: strings.TrimPrefix(o.text("command"), "/"), Title: o.text("title"), Text: o.text("content")}
	if d.Title == "" {
		d.Title = o.text("name")
	}
	o.take(fieldTags, &d.Tags)
	return d, o, nil
}

func writeOpenWebUI(d Document, extra object) ([]byte, error) {
	var o object
	o.put("command", "/"+d.Name)
	o.put("title", d.Titled().Title)
	o.put("content", d.words())
	o.put(fieldTags, slices.Concat(d.Tags, d.OwnTags))
	o.add(extra)
	return indented([]object{o})
}

// PromptsChat is the JSON of prompts.chat.
const PromptsChat Format = "prompts.chat"

func init() {
	register(codec{
		name: PromptsChat, path: "*.json", many: true, list: true, read: readPromptsChat, write: writePromptsChat,
		holds: func(o object) bool {
			return o.has("content") && !o.has("text") && !o.isLangChain() && !o.has("prompt") &&
				!isOpenWebUI(o) && !isOther(o)
		},
		keeps: []string{fieldName, fieldTitle, fieldText, fieldDescription, fieldTags},
	})
}

// readPromptsChat reads one prompt of the list that prompts.chat serves.
func readPromptsChat(in *input) (Document, object, error) {
	o, err := parseObject(in.file)
	if err != nil {
		return Document{}, nil, err
	}
	o = o.called().worded()
	d := Document{
		Name: o.text("slug"), Title: o.text(fieldTitle),
		Description: o.text("description"), Text: o.text(fieldText),
	}
	o.take(fieldTags, &d.Tags)
	return d, o, nil
}

func writePromptsChat(d Document, extra object) ([]byte, error) {
	var o object
	o.put("title", d.Titled().Title)
	o.put("slug", d.Name)
	o.put("description", d.Description)
	o.put("content", d.words())
	o.put(fieldTags, slices.Concat(d.Tags, d.OwnTags))
	o.add(extra)
	var list object
	list.put("prompts", []object{o})
	return indented(list)
}

// JSONLines is our own export.
const JSONLines Format = "jsonl"

func init() {
	register(codec{
		name: JSONLines, path: "*.jsonl", ends: []string{".jsonl", ".ndjson"}, many: true, unnamed: true,
		read: readLine, write: writeLine, keeps: everything,
	})
}

// readLine reads a line of our own export. What the service numbers and counts is passed over.
func readLine(in *input) (d Document, extra object, err error) {
	extra, err = parseObject(in.file)
	if err != nil {
		return d, nil, err
	}
	extra = in.flatten(extra.called().worded())
	if err := json.Unmarshal(extra.value(), &d); err != nil {
		return d, nil, err
	}
	new(Document).take(&extra)
	extra.drop("id", "slug", "authorId", "authorName", "version", "revision", "createdAt", "updatedAt", "likes",
		"dislikes", "score", "myVote", "versions", "source")
	return d, extra, nil
}

func writeLine(d Document, extra object) ([]byte, error) {
	d.Source = nil
	b, err := marshal(d)
	if err != nil {
		return nil, err
	}
	o, err := parseObject(b)
	o.add(extra)
	return append(o.value(), '\n'), err
}
