package web

import (
	"cmp"
	"encoding/base64"
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
	importPath = Prefix + "/import"
	// where the form goes that takes the examples back
	undoExamples = importPath + "/undo"
	// bytes of a form with a file, or with one that was sent before, as base64
	maxUpload = maxForm + transfer.MaxFile/3*4 + 4
)

func (s *web) transfers() {
	s.handle("GET "+Prefix+"/prompts/{id}/export", reader, s.exportPrompt)
	s.handle("GET "+accountPath+"/export", user, s.exportMe)
	s.handle("POST "+accountPath+"/erase", user, s.eraseMe)
	s.handle("POST "+accountPath+"/keep", user, s.keepMe)
	s.handle("GET "+importPath, user, s.importForm)
	s.register("POST "+importPath, s.action(user, maxUpload, s.importFile))
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
	"variables.label": "labels of variables", "variables.type": "types of variables", "ownTags": "tags outside the catalog",
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
	Warned int      // how many entries have warnings
	Wrong  string
}

// A counted is how many entries had an outcome.
type counted struct {
	Outcome transfer.Outcome
	N       int
}

// counts returns how many entries had each outcome, and of those that requests before were through
// with, which the form says.
func counts(r *request, items []transfer.Item) []counted {
	all := []counted{{Outcome: transfer.Created}, {Outcome: transfer.Updated}, {Outcome: transfer.Unchanged}, {Outcome: transfer.Rejected}}
	for i := range all {
		before, _ := strconv.Atoi(r.PostForm.Get(string(all[i].Outcome)))
		all[i].N = max(before, 0)
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
	rejected, _ := strconv.Atoi(r.PostForm.Get(string(transfer.Rejected)))
	p.Untold = max(rejected-len(p.Before), 0)
	all := slices.Clone(p.Before)
	for _, item := range p.Report.Items {
		if item.Outcome == transfer.Rejected {
			words := strings.Join([]string{item.Place, cmp.Or(item.Title, item.Name), item.Reason}, " · ")
			all = append(all, strings.Join(strings.Fields(words), " "))
		}
	}
	p.Told = strings.Join(all, "\n")
	if len(p.Told) > maxTold {
		p.Told = p.Told[:max(strings.LastIndexByte(p.Told[:maxTold], '\n'), 0)]
	}
}

// May reports whether there may be something to import in a file that was looked at.
func (p *importPage) May() bool {
	return p.Report.More || slices.ContainsFunc(p.Report.Items, func(i transfer.Item) bool {
		return i.Outcome == transfer.Created || i.Outcome == transfer.Updated
	})
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
func (p *importPage) list() {
	members := make(map[string]int)
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
	if len(p.Items) > maxUnfolded || p.Report.More {
		n := slices.IndexFunc(p.Items, func(i importItem) bool { return rank(i) == 2 })
		if n >= 0 {
			p.Items, p.Others = p.Items[:n], p.Items[n:]
		}
	}
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
	if err == nil {
		from, _ := strconv.Atoi(r.PostForm.Get("from")) // of a form of ours
		p.Looked = r.PostForm.Get("do") != "import"
		var report transfer.Report
		report, err = transfer.Import(r.Context(), s.Service, r.who, file, transfer.Options{
			File: p.File, DryRun: p.Looked, Update: p.Update, From: from, Visibility: p.visibility(),
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
	if r.PostForm.Get("starter") != "" && !p.Report.More && !slices.ContainsFunc(p.Report.Items, func(i transfer.Item) bool { return i.Outcome == transfer.Rejected }) {
		goOn(r, Prefix+"?done=examples")
		return nil
	}
	p.list()
	p.Counts = counts(r, p.Report.Items)
	if !p.Looked {
		p.tell(r)
	}
	if p.Report.More || p.Looked && p.May() {
		p.Kept = base64.StdEncoding.EncodeToString(file)
	}
	r.w.Header().Set("Cache-Control", "no-store")
	return s.render(r, http.StatusOK, "import", "Import", p)
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
	p.File, p.Update, p.Public = r.PostForm.Get("name"), r.PostForm.Get("update") != "", r.PostForm.Get("visibility") == string(prompt.Public)
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
