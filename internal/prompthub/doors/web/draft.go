package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"prompthub/internal/fault"
	"prompthub/internal/http/auth"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// A draftForm is the form that a prompt is written in.
type draftForm struct {
	prompt.Draft // as it is shown; its messages, variables and tags have fields of their own:
	Messages     []messageField
	Variables    []variableField
	Tags         []tagChoice

	Address   string // where it is sent
	Leave     string // where not sending it leads
	New       bool
	Chat      bool
	Kept      bool // whether the variables are too many to be shown, and stay as they are
	Public    bool
	Key       string // of a new prompt: sent twice it is one prompt
	Revision  int64  // of an edit: what it is based on
	Wrong     string
	Errors    map[string]string // by field
	Theirs    *meanwhile        // the prompt as it was saved meanwhile, or the one that it was forked from
	Upstream  int64             // the version of the latter that counts as merged once this is saved, 0 for none
	MaxTitle  int
	MaxText   int
	MaxTags   int
	Asked     bool              // whether similar prompts were looked for
	Similar   []library.Similar // the prompts that were found
	AskedTags bool              // whether tags were asked for
	Suggested []tagChoice       // those that fit, which are not among Tags then
	Preview   *reading          // the draft as readers would see it, if the author asked for that
	Wanted    string            // words of titles of prompts to include
	Found     []library.View    // the author's prompts with these words
	Searched  bool              // whether the author looked for some
	Version   int64             // of an edit: the version that it is based on
	Lost      string            // which variables stay text, as there are too many
	Owners    []ownerChoice     // of a new prompt, nil where the author has no choice
	Team      *team             // of an edit: the workspace that owns the prompt, nil where a person does
	Unshared  bool              // whether the author may not make it public
	Focus     string            // the id of the field that gets the focus, "" for the first
}

// A messageField is where a message of a chat is written. The role of a placeholder is slot, its
// text the name.
type messageField struct {
	Role, Text, Wrong string
}

// slot is what the form calls the role of a placeholder for messages. No role is called so.
const slot = "[placeholder]"

// Roles returns what the role of the message can be.
func (m messageField) Roles() []string {
	roles := []string{"system", "user", "assistant", slot}
	if !slices.Contains(roles, m.Role) && m.Role != "" {
		roles = append(roles, m.Role)
	}
	return roles
}

// Rows returns how many lines of the message must be seen at once.
func (m messageField) Rows() int { return min(max(strings.Count(m.Text, "\n")+2, 3), 14) }

// A variableField is where a variable is declared.
type variableField struct {
	prompt.Variable
	Wrong string
}

// Types returns what the type of the variable can be.
func (variableField) Types() []prompt.VariableType { return prompt.VariableTypes() }

// Fallback returns the default as it is written in the form.
func (v variableField) Fallback() string {
	if v.Default == nil {
		return ""
	}
	return *v.Default
}

// Lines returns the choices as they are written in the form.
func (v variableField) Lines() string { return strings.Join(v.Choices, "\n") }

// A tagChoice is a tag that a prompt may have.
type tagChoice struct {
	Tag     string
	Name    string
	Checked bool
}

// MostUpload returns how many bytes an upload may have.
func (draftForm) MostUpload() int { return maxFilesUpload }

// Units returns the length of a text as the limits count it.
func (draftForm) Units(s string) int { return len(utf16.Encode([]rune(s))) }

// Chosen returns how many tags are checked.
func (f draftForm) Chosen() int {
	n := 0
	for _, t := range f.Tags {
		if t.Checked {
			n++
		}
	}
	return n
}

// firstTags is how many tags of the catalog a form offers at first, next to those that are chosen.
const firstTags = 6

// split returns the tags that a form shows at first, and the others, under "More tags".
func (f draftForm) split() (first, more []tagChoice) {
	left := firstTags
	for _, t := range f.Tags {
		if t.Checked || left > 0 && len(f.Suggested) == 0 {
			first = append(first, t)
			left--
		} else {
			more = append(more, t)
		}
	}
	return first, more
}

// FirstTags returns the chosen tags, and the first of the catalog if none were suggested.
func (f draftForm) FirstTags() []tagChoice { first, _ := f.split(); return first }

// MoreTags returns all other tags.
func (f draftForm) MoreTags() []tagChoice { _, more := f.split(); return more }

// What of variables a form shows at most; programs may declare more.
const (
	maxVariables = 30
	maxDeclared  = 16 << 10 // bytes
)

// large reports whether variables have no room in a form.
func large(list []prompt.Variable) bool {
	return len(list) > maxVariables || len(declared(list)) > maxDeclared
}

// form returns a form that shows a draft.
func (s *web) form(r *request, d prompt.Draft, has []prompt.Tag) (draftForm, error) {
	all, err := s.Service.Tags(r.Context(), r.who, false)
	if err != nil {
		return draftForm{}, err
	}
	f := draftForm{
		Draft: d, Chat: d.Kind == prompt.KindChat, Public: d.Visibility == prompt.Public,
		MaxTitle: prompt.MaxTitle, MaxText: s.MaxText, MaxTags: prompt.MaxTags,
	}
	if len(d.Files) > 0 {
		f.MaxText = max(f.MaxText, prompt.MaxSkillText)
	}
	for _, m := range d.Messages {
		field := messageField{Role: m.Role, Text: m.Content}
		if m.Placeholder != "" {
			field = messageField{Role: slot, Text: m.Placeholder}
		}
		f.Messages = append(f.Messages, field)
	}
	for _, v := range d.Variables {
		f.Variables = append(f.Variables, variableField{Variable: v})
	}
	f.Lost = lostOf(d.Content().Template().Lost)
	for _, t := range all {
		f.Tags = append(f.Tags, tagChoice{string(t.Tag), t.DisplayName, slices.Contains(d.Tags, t.Tag)})
	}
	for _, t := range has { // which the catalog may not offer any more
		if !slices.ContainsFunc(f.Tags, func(c tagChoice) bool { return c.Tag == string(t) }) {
			f.Tags = append(f.Tags, tagChoice{string(t), string(t), slices.Contains(d.Tags, t)})
		}
	}
	return f, nil
}

// maxLost is how many variables that stay text a form names.
const maxLost = 20

// lostOf says which variables of a prompt stay text, "" for none.
func lostOf(names []string) string {
	stay, more := fmt.Sprintf("These %d stay", len(names)), ""
	switch {
	case len(names) == 0:
		return ""
	case len(names) == 1:
		stay = "This one stays"
	case len(names) > maxLost:
		more = ", …"
	}
	return fmt.Sprintf("A prompt has at most %d variables. %s text: %s%s", prompt.MaxVariables, stay,
		strings.Join(names[:min(len(names), maxLost)], ", "), more)
}

// maxFound is how many prompts to include are offered at once.
const maxFound = 10

// lookAround does what a button of the form asks for that leaves the draft as it is: it shows it as
// readers will see it, or looks for prompts that are like it or that it may include, or for tags.
// Its author acts for the owner of the prompts that it may include.
func (s *web) lookAround(r *request, f *draftForm, d prompt.Draft, as auth.User, itself prompt.ID) (err error) {
	f.Wanted = r.PostForm.Get("include")
	switch r.PostForm.Get("do") {
	case "preview":
		f.Focus, f.Preview = "preview", s.preview(d.Content())
	case "find-include":
		f.Focus, f.Searched = "include", true
		return s.findIncludes(r, f, as, itself)
	case "similar":
		f.Asked, f.Focus = true, "similar"
		f.Similar, err = s.Service.Similar(r.Context(), r.who, d.Content(), itself)
	case "suggest":
		f.AskedTags, f.Focus = true, "suggest"
		var tags []prompt.TagInfo
		if tags, err = s.Service.SuggestTags(r.Context(), d); err != nil {
			return err
		}
		for _, t := range tags {
			f.Suggested = append(f.Suggested, tagChoice{Tag: string(t.Tag), Name: t.DisplayName})
		}
		f.Tags = slices.DeleteFunc(f.Tags, func(c tagChoice) bool { return slices.Contains(f.Suggested, c) })
	}
	return err
}

// preview returns a draft as its page will show it, with defaults in the places of variables.
func (s *web) preview(c prompt.Content) *reading {
	left := room(len(c.Words()))
	filled, err := c.Template().Fill(nil, s.MaxText)
	read := readingOf(c, filled.Texts)
	if err != nil || !left.take(read.size()) {
		read = readingOf(c, nil)
		left.take(read.size())
	}
	read.render(s.markdown, &left)
	return &read
}

// findIncludes looks for prompts of the author that the draft may include, by words of their
// titles.
func (s *web) findIncludes(r *request, f *draftForm, as auth.User, itself prompt.ID) error {
	words, err := prompt.ParseQuery(f.Wanted)
	if fault.Of(err) == fault.Malformed {
		return nil // it finds nothing
	}
	q := library.MineQuery{Sort: "newest", Limit: maxFound, NoVotes: true}
	q.Words, q.Titles = words, true
	found, err := s.Service.Mine(r.Context(), as, q)
	f.Found = slices.DeleteFunc(found.Items, func(v library.View) bool { return v.ID == itself })
	return err
}

// lf returns a text with the ends of lines that are stored. Browsers send every one as CR LF.
func lf(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// draft returns a draft as the form changes it. What the form does not have stays: the config, and
// tags outside the catalog.
func draft(r *request, was prompt.Draft) prompt.Draft {
	get, d := r.PostForm.Get, was
	d.Title, d.Name, d.Description, d.Message = get("title"), get("name"), lf(get("description")), lf(get("message"))
	d.Visibility, d.Variables = prompt.Visibility(get("visibility")), draftVariables(r)
	d.Messages, d.Text, d.Tags = nil, "", nil
	if d.Kind = prompt.Kind(get("kind")); d.Kind == prompt.KindChat {
		d.Messages = draftMessages(r)
	} else {
		d.Text = lf(get("text"))
	}
	for _, t := range r.PostForm["tag"] {
		d.Tags = append(d.Tags, prompt.Tag(t))
	}
	return d
}

// textAt returns the text of a number among those of one name, "" beyond the last.
func textAt(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return ""
}

// draftMessages reads the messages of a chat, one more than there may be at most: that is told.
func draftMessages(r *request) []prompt.Message {
	var list []prompt.Message
	texts := r.PostForm["content"]
	for i, role := range r.PostForm["role"][:min(len(r.PostForm["role"]), prompt.MaxMessages+1)] {
		m := prompt.Message{Role: role, Content: lf(textAt(texts, i))}
		if role == slot {
			m = prompt.Message{Placeholder: strings.TrimSpace(m.Content)}
		}
		list = append(list, m)
	}
	return list
}

// draftVariables reads declared variables, one more than there may be at most: that is told.
func draftVariables(r *request) []prompt.Variable {
	var list []prompt.Variable
	form := r.PostForm
	for i, name := range form["vname"][:min(len(form["vname"]), prompt.MaxVariables+1)] {
		v := prompt.Variable{
			Name: strings.TrimSpace(name), Label: strings.TrimSpace(textAt(form["vlabel"], i)),
			Description: strings.TrimSpace(textAt(form["vabout"], i)),
			Type:        prompt.VariableType(textAt(form["vtype"], i)),
			Required:    slices.Contains(form["vrequired"], strconv.Itoa(i)),
		}
		if def := lf(textAt(form["vdefault"], i)); def != "" {
			v.Default = &def
		}
		for line := range strings.Lines(textAt(form["vchoices"], i)) {
			if line = strings.TrimSpace(line); line != "" {
				v.Choices = append(v.Choices, line)
			}
		}
		list = append(list, v)
	}
	return list
}

// named returns the variables without those rows of a form that were left empty.
func named(list []prompt.Variable) []prompt.Variable {
	return slices.DeleteFunc(list, func(v prompt.Variable) bool {
		return v.Name == "" && v.Label == "" && v.Description == "" && v.Default == nil && v.Choices == nil
	})
}

// keep keeps stored values that the browser changed, and not the author: the ends of lines, the
// order of tags, defaults that are empty, and variables that the form did not show.
func keep(d *prompt.Draft, was prompt.Draft, unseen bool) {
	d.Tags = keepOrder(was.Tags, d.Tags)
	if lf(was.Text) == d.Text {
		d.Text = was.Text
	}
	for i := range min(len(d.Messages), len(was.Messages)) {
		if m := was.Messages[i]; lf(m.Content) == d.Messages[i].Content {
			d.Messages[i].Content = m.Content
		}
	}
	if unseen {
		d.Variables = was.Variables
	}
	for i, v := range d.Variables {
		for _, w := range was.Variables {
			if w.Name == v.Name && v.Default == nil && w.Default != nil && *w.Default == "" {
				d.Variables[i].Default = w.Default
			}
		}
	}
}

// A meanwhile is what was saved while a form was open, in those parts that saving the form changes.
type meanwhile struct {
	At     time.Time
	Parts  []part
	Merged bool // whether the form has the changes of both
	Fork   bool // whether they were made to the prompt that this one was forked from
}

// A part of a prompt, as people read it. That of a text has lines next to those of the form, as far
// as there is room for them.
type part struct {
	Name, Text string
	Rows       []diffRow
	Hunks      []prompt.Hunk
}

// differingFrom returns what a prompt has otherwise than a form. What the form does not have, as
// the config, stays when it is saved.
func differingFrom(d prompt.Draft, now library.View) *meanwhile {
	m := &meanwhile{At: now.UpdatedAt}
	for _, p := range [...]struct{ name, here, there string }{
		{"Title", d.Title, now.Title},
		{"Description", d.Description, now.Description},
		{"Text", d.Content().Transcript(), now.Content().Transcript()},
		{"Variables", declared(d.Variables), declared(now.Variables)},
		{"Name for programs", d.Name, now.Name},
		{"Tags", joined(d.Tags), joined(now.Tags)},
		{"Visibility", string(d.Visibility), string(now.Visibility)},
	} {
		if p.here == p.there {
			continue
		}
		shown := part{Name: p.name, Text: p.there}
		if p.name == "Text" && d.Kind == now.Kind {
			left := room(len(p.here) + len(p.there))
			runs, few := prompt.WordsInLines(p.there, p.here, left.rows())
			if rows := rowsOf(runs); few && left.take(sizeOfRows(rows)) {
				shown.Rows = rows
				if d.Kind != prompt.KindChat && left.take(2*(len(p.here)+len(p.there))) {
					shown.Hunks = prompt.Hunks(p.here, p.there)
				}
			}
		}
		m.Parts = append(m.Parts, shown)
	}
	return m
}

// keepOrder puts chosen tags in the order that the author gave them before; new ones come last.
func keepOrder(before, chosen []prompt.Tag) []prompt.Tag {
	var tags []prompt.Tag
	for _, t := range before {
		if slices.Contains(chosen, t) {
			tags = append(tags, t)
		}
	}
	for _, t := range chosen {
		if !slices.Contains(before, t) {
			tags = append(tags, t)
		}
	}
	return tags
}

// changed does what a button of the form asks for that does not save: it changes how the draft is
// written, and returns where somebody goes on.
func changed(d prompt.Draft, do string) (prompt.Draft, string) {
	verb, number, _ := strings.Cut(do, " ")
	i, _ := strconv.Atoi(number)
	switch verb {
	case "chat":
		list := []prompt.Message{{Role: "user", Content: d.Text}}
		if strings.TrimSpace(d.Text) == "" { // nothing says yet which of them it is
			list = slices.Insert(list, 0, prompt.Message{Role: "system"})
		}
		d.Kind, d.Messages, d.Text = prompt.KindChat, list, ""
		return d, "content0"
	case "text":
		d.Text, d.Kind, d.Messages = asText(d.Content()), prompt.KindText, nil
		return d, "text"
	case "add-message":
		d.Messages = append(d.Messages, prompt.Message{Role: nextRole(d.Messages)})
		return d, fmt.Sprint("content", len(d.Messages)-1)
	case "remove-message":
		if i >= 0 && i < len(d.Messages) {
			d.Messages = slices.Delete(d.Messages, i, i+1)
		}
		return d, fmt.Sprint("content", min(i, len(d.Messages)-1))
	case "raise-message":
		if i > 0 && i < len(d.Messages) {
			d.Messages[i-1], d.Messages[i] = d.Messages[i], d.Messages[i-1]
		}
		return d, fmt.Sprint("content", max(i-1, 0))
	case "include":
		placed := prompt.Include{Name: number, Label: prompt.Production}.Placed()
		if n := len(d.Messages); d.Kind == prompt.KindChat && n > 0 {
			d.Messages[n-1].Content = below(d.Messages[n-1].Content, placed)
			return d, fmt.Sprint("content", n-1)
		}
		d.Text = below(d.Text, placed)
		return d, "text"
	case "find-variables":
		before := len(d.Variables)
		d.Variables = named(d.Variables)
		all := d.Content().Template().Variables
		d.Variables = all[:min(len(all), max(before, maxVariables))]
		return d, fmt.Sprint("vname", before)
	case "add-variable":
		d.Variables = append(d.Variables, prompt.Variable{Type: prompt.Line})
		return d, fmt.Sprint("vname", len(d.Variables)-1)
	case "remove-variable":
		if i >= 0 && i < len(d.Variables) {
			d.Variables = slices.Delete(d.Variables, i, i+1)
		}
		return d, "add-variable"
	}
	return d, ""
}

// below returns a text with a line below it.
func below(text, line string) string {
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text + line + "\n"
}

// asText returns a chat as one text: with the roles if there is more than a user's message.
func asText(c prompt.Content) string {
	c.Messages = slices.DeleteFunc(slices.Clone(c.Messages), func(m prompt.Message) bool {
		return m.Content == "" && m.Placeholder == ""
	})
	if len(c.Messages) == 1 && c.Messages[0].Role == "user" {
		return c.Words()
	}
	return c.Transcript()
}

// nextRole returns who probably speaks after some messages.
func nextRole(list []prompt.Message) string {
	if n := len(list); n > 0 && list[n-1].Role == "user" {
		return "assistant"
	}
	return "user"
}

// explain puts the broken rules next to their fields.
func (f *draftForm) explain(err error) {
	text, fields := describe(err)
	f.Wrong, f.Errors = pages.Sentence(text), map[string]string{}
	if len(fields) > 0 {
		f.Wrong = "This is not saved yet. What has to change stands at its field."
	}
	if needsRole(err) { // it may be saved as a private one
		f.Wrong = "This is not saved yet. " + f.Wrong
	}
	for _, field := range fields {
		name, i, isItem := item(field.Name)
		message := pages.Sentence(field.Message)
		switch {
		case name == "messages" && isItem && i < len(f.Messages):
			f.Messages[i].Wrong = message
		case name == "variables" && isItem && i < len(f.Variables):
			f.Variables[i].Wrong = message
		case name == "tags":
			f.Errors[name] = pages.Sentence(fmt.Sprintf("%v: %s", field.Value, field.Message))
		default:
			f.Errors[name] = message
		}
	}
}

// item returns the list and the number that the name of a field such as "messages[2].role" has.
func item(field string) (list string, i int, ok bool) {
	list, rest, ok := strings.Cut(field, "[")
	number, _, _ := strings.Cut(rest, "]")
	i, err := strconv.Atoi(number)
	return list, i, ok && err == nil
}

// declared returns variables as a text to compare.
func declared(list []prompt.Variable) string {
	if len(list) == 0 {
		return ""
	}
	b, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		panic(err) // unreachable: texts and truth values
	}
	return string(b)
}
