package web

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/http/pages"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

const (
	importPath   = Prefix + "/import"
	undoImport   = importPath + "/undo"
	undoExamples = importPath + "/undo-examples"
	// bytes of the changes that a form passes on: of one to 10,000 prompts some 500,000
	maxMade = 1 << 20
	// bytes of a form with a file, or with one that was sent before, as base64
	maxUpload = maxForm + transfer.MaxFile/3*4 + 4 + maxMade
)

func (s *web) transfers() {
	s.handle("GET "+Prefix+"/prompts/{id}/export", reader, s.exportPrompt)
	s.handle("GET "+accountPath+"/export", user, s.exportMe)
	s.handle("POST "+accountPath+"/erase", user, s.eraseMe)
	s.handle("POST "+accountPath+"/keep", user, s.keepMe)
	s.handle("GET "+importPath, user, s.importForm)
	s.register("POST "+importPath, s.action(user, maxUpload, s.importFile))
	s.register("POST "+undoImport, s.action(user, maxForm+maxMade, s.undoImport))
	s.handle("POST "+undoExamples, user, s.removeExamples)
}

// An exportPage is a prompt and the files that it can be had as.
type exportPage struct {
	Title, Address string
	Instead        int64 // the version that the files have, where the latest was recalled
	Offers         []offer
}

// An offer is one of the files.
type offer struct {
	transfer.Offer
	Link string
	Lost string
}

// lost are words for members that formats cannot hold, if their names are not clear.
var lost = map[string]string{
	"kind": "whether it is a chat", "messages.role": "roles of messages", "messages.placeholder": "places for messages",
	"variables.label": "labels of variables", "variables.type": "types of variables",
	"ownTags": "tags outside the catalog",
	"message": "why it was changed", "files": "its other files", "text": "the text as it is, letter by letter",
}

func offers(address string, list []transfer.Offer) []offer {
	all := make([]offer, len(list))
	for i, o := range list {
		all[i] = offer{Offer: o, Link: address + "/export?format=" + url.QueryEscape(string(o.Format))}
		var names []string
		for _, name := range o.Loss {
			if member, ok := strings.CutPrefix(name, "extra."); ok {
				name = member + " of its file"
			}
			names = append(names, cmp.Or(lost[name], name))
		}
		all[i].Lost = strings.Join(names, ", ")
	}
	return all
}

// exportPrompt answers with a prompt as a file, or with a page to choose one.
func (s *web) exportPrompt(r *request) error {
	id, err := idOf(r)
	if err != nil {
		return err
	}
	v, err := s.Service.GetVersion(r.Context(), r.who, id, library.LatestNotRecalled)
	if err != nil {
		return err
	}
	if !r.URL.Query().Has("format") {
		list, err := transfer.Offers(r.Context(), s.Service, v)
		if err != nil {
			return err
		}
		p := exportPage{Title: v.Title, Address: addressOf(v.ID), Offers: offers(addressOf(v.ID), list)}
		if v.LatestRecalled {
			p.Instead = v.Version
		}
		return s.render(r, http.StatusOK, "export", "Export", p)
	}
	file, err := transfer.FileOf(r.Context(), s.Service, v, r.URL.Query().Get("format"), r.URL.Query().Get("syntax"))
	if err != nil {
		return err
	}
	r.w.Header().Set("X-PromptHub-Loss", strings.Join(file.Loss, ", "))
	return attach(r.w, file.Type, file.Disposition, file.Bytes)
}

func attach(w http.ResponseWriter, mediaType, disposition string, b []byte) error {
	w.Header().Set("Content-Type", mediaType)
	w.Header().Set("Content-Disposition", disposition)
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	_, err := w.Write(b)
	return err
}

// exportMe answers with a part of all that the caller has, and where the next one is.
func (s *web) exportMe(r *request) error {
	file, next, err := transfer.Export(r.Context(), s.Service, r.who, r.URL.Query().Get("cursor"))
	if err != nil {
		return err
	}
	if next != "" {
		r.w.Header().Set("Link", "<"+accountPath+"/export?cursor="+url.QueryEscape(next)+`>; rel="next"`)
	}
	return attach(r.w, "application/jsonl", transfer.Attachment("account.jsonl"), file)
}

func (s *web) eraseMe(r *request) error {
	if _, err := s.Service.Erase(r.Context(), r.who); err != nil {
		return err
	}
	goOn(r, accountPath+"?done=erase")
	return nil
}

func (s *web) keepMe(r *request) error {
	if err := s.Service.CancelErase(r.Context(), r.who); err != nil {
		return err
	}
	goOn(r, accountPath+"?done=keep")
	return nil
}

// An importPage is the form for a file, and what became of one, or would.
type importPage struct {
	Report *transfer.Report
	Undone *undoing     // of an import that is taken back
	Items  []importItem // those that something is said about, or all where there are few
	Others []importItem
	Counts []counted // with those of the requests before
	Before []string  // entries that earlier requests rejected
	Untold int       // how much of that no form had room for
	Told   string    // the rejected entries, for the next request
	Looked bool      // nothing was done yet
	File   string
	Kept   string // the file, for the next request
	Update bool
	Public bool     // whether everybody may see prompts whose file does not say
	InFile []string // members that only files have, with how many entries have them
	Held   string   // the same, for the next request
	Warned int      // how many entries have warnings
	Wrong  string
	Undoable
}

// An Undoable is what an import has changed until now, for the form that takes it back.
type Undoable struct {
	Made           string // the changes, as JSON
	Delete, Return int    // how many prompts it would delete, and bring back as they were
	Stay           int    // how many entries changed something that stays: votes, favorites, the profile
}

// A counted is how many entries had an outcome.
type counted struct {
	Outcome transfer.Outcome
	N       int
}

// countIn returns a number that a form passes on from the requests before.
func countIn(r *request, name string) int {
	n, _ := strconv.Atoi(r.PostForm.Get(name))
	return max(n, 0)
}

// counts returns how many entries had each outcome, and of those that requests before were through
// with, which the form says.
func counts(r *request, items []transfer.Item) []counted {
	all := []counted{
		{Outcome: transfer.Created},
		{Outcome: transfer.Updated},
		{Outcome: transfer.Unchanged},
		{Outcome: transfer.Rejected},
	}
	for i := range all {
		all[i].N = countIn(r, string(all[i].Outcome))
		for _, item := range items {
			if item.Outcome == all[i].Outcome {
				all[i].N++
			}
		}
	}
	return all
}

// maxTold is how many bytes about rejected entries a form passes on.
const maxTold = 32 << 10

// tell takes over the entries that earlier requests rejected, which the form has, and passes them
// on with those rejected now. The script keeps the rows themselves.
func (p *importPage) tell(r *request) {
	if told := lf(r.PostForm.Get("told")); told != "" {
		p.Before = strings.Split(told[:min(len(told), maxTold)], "\n")
	}
	p.Untold = max(countIn(r, string(transfer.Rejected))-len(p.Before), 0)
	all := slices.Clone(p.Before)
	for _, item := range p.Report.Items {
		if item.Outcome == transfer.Rejected {
			words := strings.Join([]string{item.Place, cmp.Or(item.Title, item.Name), item.Reason}, " · ")
			all = append(all, strings.Join(strings.Fields(words), " "))
		}
	}
	p.Told = passedOn(all)
}

// passedOn returns lines for the next form, as many as it has room for.
func passedOn(lines []string) string {
	told := strings.Join(lines, "\n")
	if len(told) > maxTold {
		told = told[:max(strings.LastIndexByte(told[:maxTold], '\n'), 0)]
	}
	return told
}

// May reports whether there may be something to import in a file that was looked at.
func (p importPage) May() bool {
	return p.Report.More || slices.ContainsFunc(p.Counts, func(c counted) bool {
		return c.N > 0 && (c.Outcome == transfer.Created || c.Outcome == transfer.Updated)
	})
}

// remember adds the changes of a request to those of the requests before, which the form has.
func (p *importPage) remember(r *request) error {
	made, err := madeIn(r)
	if err != nil {
		return err
	}
	made = transfer.Merge(made, p.Report.Made)
	b, err := json.Marshal(made)
	if err != nil {
		return err
	}
	p.Made = string(b)
	for _, c := range made {
		if c.Was == 0 {
			p.Delete++
		} else {
			p.Return++
		}
	}
	p.Stay = countIn(r, "stay")
	for _, item := range p.Report.Items {
		changed := func(c transfer.Change) bool { return item.ID != "" && c.ID == item.ID }
		if (item.Outcome == transfer.Created || item.Outcome == transfer.Updated) &&
			!slices.ContainsFunc(p.Report.Made, changed) {
			p.Stay++
		}
	}
	return nil
}

// madeIn returns the changes that a form says.
func madeIn(r *request) (made []transfer.Change, err error) {
	if sent := r.PostForm.Get("made"); sent != "" {
		if err := json.Unmarshal([]byte(sent), &made); err != nil {
			return nil, fault.Wrap(fault.Malformed, "the form cannot be read", err)
		}
	}
	for _, c := range made {
		if _, ok := prompt.ParseID(string(c.ID)); !ok || len(c.Labels) > prompt.MaxLabels {
			return nil, fault.New(fault.Malformed, "the form cannot be read")
		}
	}
	return made, nil
}

// An importItem is an entry of a file, with notes about its file.
type importItem struct {
	transfer.Item
	TooLarge  bool // the file is not kept
	Invisible bool // characters that no reader sees were removed
}

// Most returns how many bytes a file may have.
func (importPage) Most() int { return transfer.MaxFile }

// entries are a part of those that a page shows.
type entries struct {
	Items  []importItem
	Looked bool
}

// With returns entries for their table.
func (p importPage) With(items []importItem) entries { return entries{items, p.Looked} }

// maxUnfolded is up to how many entries are shown without folding those that nothing is said about.
const maxUnfolded = 20

// list fills in the entries as the page shows them: those that were rejected first, then those with
// warnings, which are hard to find among a thousand others.
func (p *importPage) list(r *request) {
	p.Warned = countIn(r, "warned")
	members := heldBefore(r)
	for _, item := range p.Report.Items {
		shown := importItem{Item: item, TooLarge: slices.Contains(item.Loss, format.FieldSource)}
		for _, lost := range item.Loss {
			if member, ok := strings.CutPrefix(lost, "extra."); ok {
				members[member]++
			}
			shown.Invisible = shown.Invisible || strings.HasSuffix(lost, format.FieldInvisible)
		}
		if len(item.Warnings) > 0 {
			p.Warned++
		}
		p.Items = append(p.Items, shown)
	}
	for _, member := range slices.Sorted(maps.Keys(members)) {
		p.InFile = append(p.InFile, fmt.Sprintf("%s (%d)", member, members[member]))
	}
	p.Held = passedOn(p.InFile)
	rank := func(i importItem) int {
		switch {
		case i.Outcome == transfer.Rejected:
			return 0
		case len(i.Warnings) > 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(p.Items, func(a, b importItem) int { return cmp.Compare(rank(a), rank(b)) })
	if len(p.Items) > maxUnfolded || p.Report.More || p.Report.Through > len(p.Report.Items) {
		n := slices.IndexFunc(p.Items, func(i importItem) bool { return rank(i) == 2 })
		if n >= 0 {
			p.Items, p.Others = p.Items[:n], p.Items[n:]
		}
	}
}

// heldBefore returns how many entries of requests before have members that only files have.
func heldBefore(r *request) map[string]int {
	members := make(map[string]int)
	told := lf(r.PostForm.Get("held"))
	for line := range strings.Lines(told[:min(len(told), maxTold)]) {
		at := strings.LastIndex(line, " (")
		if at < 0 {
			continue
		}
		members[line[:at]], _ = strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(line[at+2:]), ")"))
	}
	return members
}

func (s *web) importForm(r *request) error {
	return s.render(r, http.StatusOK, "import", "Import", importPage{})
}

func (s *web) importFile(r *request) error {
	leave, err := s.Admission.EnterFile(r.caller)
	if err != nil {
		return err
	}
	defer leave()
	p := importPage{}
	file, err := p.read(r)
	do := r.PostForm.Get("do")
	if do == "import" { // from the first entry on, also if some were looked at
		for _, name := range passed {
			r.PostForm.Del(name)
		}
	}
	if err == nil {
		p.Looked = do != "import" && do != "rest"
		var report transfer.Report
		report, err = transfer.Import(r.Context(), s.Service, r.who, file, transfer.Options{
			File: p.File, DryRun: p.Looked, Update: p.Update, From: countIn(r, "from"), Visibility: p.visibility(),
		})
		s.Admission.Spend(r.caller, report.Changes)
		p.Report = &report
	}
	if correctable(err) {
		text, _ := describe(err)
		p = importPage{Wrong: pages.Sentence(text), Update: p.Update, Public: p.Public}
		return s.render(r, http.StatusUnprocessableEntity, "import", "Import", p)
	}
	if err != nil {
		return err
	}
	if r.PostForm.Get("starter") != "" && !p.Report.More &&
		!slices.ContainsFunc(p.Report.Items, func(i transfer.Item) bool { return i.Outcome == transfer.Rejected }) {
		goOn(r, Prefix+"?done=examples")
		return nil
	}
	p.list(r)
	p.Counts = counts(r, p.Report.Items)
	p.tell(r)
	if !p.Looked {
		if err := p.remember(r); err != nil {
			return err
		}
	}
	if p.Report.More || p.Looked && p.May() {
		p.Kept = base64.StdEncoding.EncodeToString(file)
	}
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, http.StatusOK, "import", "Import", p)
}

// passed are the fields that a form passes on from the requests before.
var passed = []string{
	"from", "told", "held", "warned", "made", "stay",
	string(transfer.Created), string(transfer.Updated), string(transfer.Unchanged), string(transfer.Rejected),
}

// An undoing says what became of an import that is taken back.
type undoing struct {
	Deleted, Restored, Stay int // of the requests before, too
	Left                    []transfer.Left
	Before                  []string // those that earlier requests left as they are
	Untold                  int
	Told                    string // all of them, for the next request
	Lefts                   int
	Rest                    string // the changes for the next request, as JSON
	Blocked                 int
}

// undoImport takes back a part of what an import did, which its report says.
func (s *web) undoImport(r *request) error {
	if err := r.ParseMultipartForm(maxForm + maxMade); err != nil && !errors.Is(err, http.ErrNotMultipart) {
		return fault.Wrap(fault.Malformed, "the form cannot be read", err)
	}
	made, err := madeIn(r)
	if err != nil {
		return err
	}
	u, err := transfer.Undo(r.Context(), s.Service, r.who, made, countIn(r, "blocked"))
	s.Admission.Spend(r.caller, u.Deleted+u.Restored)
	if err != nil {
		return err
	}
	p := undoing{
		Deleted: countIn(r, "deleted") + u.Deleted, Restored: countIn(r, "restored") + u.Restored,
		Stay: countIn(r, "stay"),
		Left: u.Left, Lefts: countIn(r, "lefts") + len(u.Left), Blocked: u.Blocked,
	}
	if told := lf(r.PostForm.Get("told")); told != "" {
		p.Before = strings.Split(told[:min(len(told), maxTold)], "\n")
	}
	p.Untold = max(countIn(r, "lefts")-len(p.Before), 0)
	all := slices.Clone(p.Before)
	for _, l := range u.Left {
		all = append(all, strings.Join(strings.Fields(cmp.Or(l.Title, string(l.ID))+": "+l.Reason), " "))
	}
	p.Told = passedOn(all)
	if len(u.Rest) > 0 {
		b, err := json.Marshal(u.Rest)
		if err != nil {
			return err
		}
		p.Rest = string(b)
	}
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, http.StatusOK, "import", "Import", importPage{Undone: &p})
}

// removeExamples deletes the examples that the caller has just imported.
func (s *web) removeExamples(r *request) error {
	n, err := transfer.RemoveStarter(r.Context(), s.Service, r.who, s.Now())
	s.Admission.Spend(r.caller, n)
	if err == nil {
		goOn(r, Prefix+"?done=examples-gone")
	}
	return err
}

// visibility returns who may see a prompt whose file does not say.
func (p *importPage) visibility() prompt.Visibility {
	if p.Public {
		return prompt.Public
	}
	return prompt.Private
}

// read returns the file of a form: one that is sent now, or that was sent before.
func (p *importPage) read(r *request) ([]byte, error) {
	if err := r.ParseMultipartForm(maxUpload); err != nil {
		return nil, fault.Wrap(fault.Malformed, "the form cannot be read", err)
	}
	p.File, p.Update, p.Public = r.PostForm.Get("name"), r.PostForm.Get("update") != "",
		r.PostForm.Get("visibility") == string(prompt.Public)
	if r.PostForm.Get("starter") != "" {
		p.File, p.Public = transfer.StarterFile, true
		return transfer.Starter(), nil
	}
	if kept := r.PostForm.Get("kept"); kept != "" {
		b, err := base64.StdEncoding.DecodeString(kept)
		if err != nil {
			return nil, fault.Wrap(fault.Malformed, "the form cannot be read", err)
		}
		return b, nil
	}
	f, header, err := r.FormFile("file")
	if err != nil || header.Size == 0 {
		return nil, fault.New(fault.Invalid, "choose a file with prompts")
	}
	defer f.Close()
	p.File = header.Filename
	b, err := io.ReadAll(f)
	if err == nil && len(b) > transfer.MaxFile {
		err = fault.New(fault.Invalid, "the file has more than 4 MiB; split it, or use the command line")
	}
	return b, err
}
