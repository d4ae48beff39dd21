package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/library"
	"prompthub/internal/prompthub/prompt"
)

// OtherHistory is the code of a prompt whose name one of another past has.
const OtherHistory fault.Code = "OTHER_HISTORY"

func errOther() error {
	return fault.Coded(fault.Conflict, OtherHistory,
		"name: a prompt of yours has this name and another history; rename one of the two")
}

// history makes a prompt with all its versions, or goes on where an import was cut short. Versions
// have the numbers that they had; others see of them what they saw.
func (im *importer) history(ctx context.Context, e entry, item *Item) error {
	versions, gaps, err := allVersions(e.doc)
	if err != nil {
		return err
	}
	for _, v := range versions {
		for _, lost := range v.Loss {
			item.Loss = append(item.Loss,
				fmt.Sprintf("%s (version %d: damaged where it was exported)", lost, v.Version))
		}
	}
	item.Outcome = Unchanged
	h := &history{importer: im, entry: e, item: item, versions: versions, gaps: gaps, bytes: sentBytes(versions)}
	was, err := h.find(ctx)
	if err != nil {
		return err
	}
	if h.from != "" {
		if err := h.checkAll(ctx); err != nil {
			return err
		}
	}
	for _, v := range versions[h.have:] {
		if _, ok := h.elsewhere[v.Version]; ok {
			if im.DryRun && was == nil {
				continue
			}
			if v.Version < h.last {
				return fmt.Errorf("version %d comes first, which another part of the file brings", v.Version)
			}
			return nil // the rest comes with the next part
		}
		if err := h.add(ctx, v); err != nil {
			return inVersion(v.Version, err)
		}
	}
	if im.DryRun && was == nil {
		return nil
	}
	return h.finish(ctx)
}

// A history is one prompt that is being made with its past.
type history struct {
	*importer
	entry
	item      *Item
	versions  []format.Version
	gaps      []int64 // numbers of versions that were deleted
	now       library.View
	bytes     map[string][]byte // of files, by their SHA-256
	hasBefore bool              // whether those of the version before this line are among them
	have      int               // of the versions are there
	there     map[int64]bool    // their numbers
	recalled  map[int64]bool    // those that were recalled
	follows   map[string]bool   // whether labels move as they do in the service that it goes on in
}

// find returns the prompt of the name, nil for none, and compares what it has. One that goes on in
// another service may have got another name here.
func (h *history) find(ctx context.Context) (*library.View, error) {
	was, err := h.named(ctx, h.doc.Name)
	if err == nil && was == nil && h.from != "" {
		v, err := h.GetByName(ctx, h.who, library.IDOf(h.who), h.doc.Name, library.WantedVersion{})
		if fault.Of(err) == fault.NotFound {
			return nil, nil //nolint:nilnil // as documented
		}
		if h.now = v; err == nil {
			err = h.compare(ctx)
		}
		if fault.CodeOf(err) == OtherHistory {
			return nil, fault.Coded(fault.Conflict, OtherHistory,
				fmt.Sprintf("the name leads to %.100q here, and %s", v.Name, err))
		}
		return &v, err
	}
	if err != nil || was == nil {
		return nil, err
	}
	h.now = *was
	return was, h.compare(ctx)
}

// compare finds out how many of the versions are there. They must be the same, and no more.
func (h *history) compare(ctx context.Context) error {
	h.item.ID, h.there, h.recalled = h.now.ID, make(map[int64]bool), make(map[int64]bool)
	for cursor, n := "", 0; ; {
		page, err := h.Versions(ctx, h.who, h.now.ID, 100, cursor)
		if err != nil {
			return err
		}
		for _, v := range page.Items {
			if err := h.same(v); err != nil {
				return err
			}
			h.there[v.Number], h.recalled[v.Number] = true, v.Recall != nil
			h.have = max(h.have, int(v.Number))
		}
		if n += len(page.Items); n > maxHistory {
			return fmt.Errorf("it has more than %d versions, which is the most that is compared; rename it here, or leave the other out", maxHistory)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	for n := range h.have {
		if h.there[int64(n+1)] || slices.Contains(h.gaps, int64(n+1)) {
			continue
		}
		if h.from == "" {
			return errOther()
		}
		h.item.Loss = append(h.item.Loss, fmt.Sprintf("version %d (it was deleted here)", n+1))
	}
	return nil
}

// same compares a version that is there. One that was deleted in the service where the prompt goes
// on stays here.
func (h *history) same(v prompt.Version) error {
	n := v.Number
	switch {
	case n <= int64(len(h.versions)) && h.names(h.versions[n-1], v.Hash):
		return nil
	case h.from == "":
		return errOther()
	case n > int64(len(h.versions)):
		return fault.Coded(fault.Conflict, OtherHistory,
			fmt.Sprintf("version %d was made here and not there; the prompt stays as it is", n))
	case !slices.Contains(h.gaps, n):
		return fault.Coded(fault.Conflict, OtherHistory, fmt.Sprintf("version %d says something else here than there; the prompt stays as it is: rename one of the two to have both", n))
	}
	h.gaps = slices.DeleteFunc(slices.Clone(h.gaps), func(gap int64) bool { return gap == n })
	h.item.Loss = append(h.item.Loss, fmt.Sprintf("the deletion of version %d (it stays here)", n))
	return nil
}

// checkAll holds the versions that are not there against the rules, so that a prompt of which one
// breaks them is not made in part.
func (h *history) checkAll(ctx context.Context) error {
	for _, v := range h.versions[h.have:] {
		if _, ok := h.elsewhere[v.Version]; ok {
			continue
		}
		draft, err := h.draft(ctx, v)
		if err == nil {
			err = h.Check(ctx, h.who, draft, h.now.Tags)
		}
		if err != nil {
			return inVersion(v.Version, err)
		}
	}
	return nil
}

// inVersion says of an error in which version it is.
func inVersion(n int64, err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return fmt.Errorf("version %d: %w", n, err)
	}
	in := *f
	in.Text, in.Fields = fmt.Sprintf("version %d: %s", n, f.Text), slices.Clone(f.Fields)
	for i := range in.Fields {
		in.Fields[i].Name = fmt.Sprintf("version %d: %s", n, f.Fields[i].Name)
	}
	return &in
}

// files returns the files of a version with their bytes, which a line of the history has, or a
// version that is there.
func (h *history) files(ctx context.Context,
	list []format.VersionFile,
) (files prompt.Files, all map[string][]byte, err error) {
	files, all = prompt.Files{}, make(map[string][]byte)
	for _, f := range list {
		b, ok := h.bytes[f.SHA256]
		if !ok && !h.hasBefore {
			if err := h.readBefore(ctx); err != nil {
				return nil, nil, err
			}
			b, ok = h.bytes[f.SHA256]
		}
		if !ok {
			return nil, nil, fault.Coded(fault.Invalid, prompt.UnknownContent, fmt.Sprintf(
				"the file %.100q: its bytes are neither here nor in a version before it; export it again", f.Path))
		}
		files = append(files, prompt.NewFile(prompt.FileBytes{Path: f.Path, Bytes: b, Executable: f.Executable}))
		all[f.SHA256] = b
	}
	slices.SortFunc(files, func(a, b prompt.File) int { return strings.Compare(a.Path, b.Path) })
	return files, all, files.Check()
}

// lookedBack is how many versions are looked through for bytes that the lines of a history name and
// do not have. An export leaves out only those of the version right before.
const lookedBack = 20

// readBefore reads the bytes that this line lacks of versions that are there, the newest first.
func (h *history) readBefore(ctx context.Context) error {
	h.hasBefore = true
	lacks := make(map[string]bool)
	for _, v := range h.versions {
		for _, f := range v.Files {
			if _, ok := h.bytes[f.SHA256]; !ok {
				lacks[f.SHA256] = true
			}
		}
	}
	there := slices.Sorted(maps.Keys(h.there))
	slices.Reverse(there)
	for _, n := range there[:min(len(there), lookedBack)] {
		l, err := h.ListFiles(ctx, h.who, h.now.ID, library.WantedVersion{Number: n, History: true})
		if fault.Of(err) == fault.NotFound { // no skill
			continue
		}
		if err != nil {
			return err
		}
		for _, f := range l.Files {
			if !lacks[f.SHA256] {
				continue
			}
			delete(lacks, f.SHA256)
			folder, err := h.FolderOf(ctx, l.View, f.Path)
			if err != nil {
				return err
			}
			h.bytes[f.SHA256] = folder.Contents[0].Bytes
		}
		if len(lacks) == 0 {
			return nil
		}
	}
	return nil
}

// sentBytes returns the bytes of files that versions come with, by their SHA-256.
func sentBytes(versions []format.Version) map[string][]byte {
	all := map[string][]byte{prompt.NewFile(prompt.FileBytes{}).SHA256: {}} // an empty file is not written
	for _, v := range versions {
		for _, f := range v.Files {
			if f.Data != nil {
				all[prompt.NewFile(prompt.FileBytes{Bytes: f.Data}).SHA256] = f.Data
			}
		}
	}
	return all
}

// draft returns what a version makes of the prompt.
func (h *history) draft(ctx context.Context, v format.Version) (draft prompt.Draft, err error) {
	d := v.In(h.doc)
	d.Versions, d.Visibility = nil, string(prompt.Private)
	if at := h.publishedAt(); at > 0 && v.Version >= at {
		d.Visibility = string(prompt.Public)
	}
	draft = d.Draft()
	if h.from != "" && h.now.ID != "" { // the other members may have been changed here
		draft.Name, draft.Title, draft.Tags, draft.OwnTags = h.now.Name, h.now.Title, h.now.Tags, h.now.OwnTags
		if h.now.Visibility == prompt.Public {
			draft.Visibility = prompt.Public
		}
		if draft.Labels, err = h.followed(ctx, draft.Labels); err != nil {
			return draft, err
		}
	}
	draft.Anew, draft.AsBefore, draft.FilesAsBefore = true, v.Description == nil, true
	draft.Made, draft.Follows = prompt.Made{By: v.MadeBy, At: v.MadeAt}, h.from != ""
	draft.Files, draft.FileBytes, err = h.files(ctx, v.Files)
	return draft, err
}

// followed returns those of the labels that move as they do in the service that the prompt goes on
// in, and notes the others: they were moved here since.
func (h *history) followed(ctx context.Context, labels []string) (list []string, err error) {
	for _, label := range labels {
		follows, known := h.follows[label]
		if !known {
			if follows, err = h.isFollowed(ctx, label); err != nil {
				return nil, err
			}
			if h.follows == nil {
				h.follows = make(map[string]bool)
			}
			if h.follows[label] = follows; !follows {
				h.item.Loss = append(h.item.Loss, fmt.Sprintf("labels (%s was moved here since)", label))
			}
		}
		if follows {
			list = append(list, label)
		}
	}
	return list, nil
}

// isFollowed reports whether a label was not moved but by an import.
func (h *history) isFollowed(ctx context.Context, label string) (bool, error) {
	for cursor, more := "", true; more; more = cursor != "" {
		page, err := h.LabelHistory(ctx, h.who, h.now.ID, label, 1, cursor)
		if err != nil {
			return false, err
		}
		for _, m := range page.Items {
			return m.Followed && m.Undone.At.IsZero(), nil
		}
		cursor = page.Next
	}
	return true, nil
}

// add makes a version.
func (h *history) add(ctx context.Context, v format.Version) error {
	draft, err := h.draft(ctx, v)
	if err != nil {
		return err
	}
	if h.item.Outcome == Unchanged {
		if h.item.Outcome = Updated; h.now.ID == "" {
			h.item.Outcome = Created
		}
	}
	if h.DryRun {
		return h.Check(ctx, h.who, draft, nil)
	}
	if err := h.write(); err != nil {
		return err
	}
	labels := draft.Labels
	var before map[string]int64
	if h.now.ID != "" {
		if before, err = h.labelsBefore(ctx, h.now.ID, labels); err != nil {
			return err
		}
	}
	made, err := h.save(ctx, draft)
	if fault.CodeOf(err) == prompt.NeedsProposal { // the version comes all the same
		draft.Labels = nil
		made, err = h.save(ctx, draft)
	}
	if err != nil {
		return err
	}
	h.importer.made = append(h.importer.made, Change{
		ID: made.ID, Now: made.Version, Is: made.Revision, Was: h.now.Version, Labels: before,
	})
	if h.now = made; draft.Labels == nil {
		if _, err := h.setEach(ctx, labels, v.Version); err != nil {
			return err
		}
	}
	if h.item.ID = h.now.ID; h.now.Version != v.Version {
		return fmt.Errorf("became version %d: the prompt was changed meanwhile", h.now.Version)
	}
	if h.there != nil {
		h.there[v.Version] = true
	}
	if v.Recall == "" {
		return nil
	}
	return h.Recall(ctx, h.who, h.now.ID, v.Version, v.Recall)
}

// save makes the prompt, or its next version.
func (h *history) save(ctx context.Context, d prompt.Draft) (v library.View, err error) {
	if h.now.ID != "" {
		return h.Replace(ctx, h.who, h.now.ID, library.Match{Any: true}, d)
	}
	d.PreviousNames = h.former
	v, _, err = h.Create(ctx, h.who, d, "")
	return v, err
}

// setEach puts those labels on a version that no rule of a workspace keeps for proposals, and notes
// the others. It returns how many it put there.
func (h *history) setEach(ctx context.Context, labels []string, version int64) (n int, err error) {
	for _, label := range labels {
		err := h.put(ctx, []string{label}, version)
		if fault.CodeOf(err) == prompt.NeedsProposal {
			if note := fmt.Sprintf("labels (%s moves by a proposal alone)",
				label); !slices.Contains(h.item.Loss, note) {
				h.item.Loss = append(h.item.Loss, note)
			}
			continue
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// put puts labels on a version.
func (h *history) put(ctx context.Context, labels []string, version int64) error {
	if h.from != "" {
		return h.FollowLabels(ctx, h.who, h.now.ID, labels, version)
	}
	return h.SetLabels(ctx, h.who, h.now.ID, labels, version)
}

// finish deletes what stands for deleted versions, and sets labels and visibility where an earlier
// import was cut short.
func (h *history) finish(ctx context.Context) error {
	for _, n := range h.gaps {
		if h.there != nil && !h.there[n] {
			continue
		}
		if err := h.change(func() error { return h.DeleteVersion(ctx, h.who, h.now.ID, n) }); err != nil {
			return err
		}
	}
	if h.have > 0 { // else all versions were made with theirs
		if err := h.labels(ctx); err != nil {
			return err
		}
	}
	for _, v := range h.versions[:h.have] {
		if v.Recall == "" || h.recalled[v.Version] {
			continue
		}
		if err := h.change(func() error { return h.Recall(ctx, h.who, h.now.ID, v.Version, v.Recall) }); err != nil {
			return err
		}
	}
	if h.publishedAt() > 0 && h.now.Visibility != prompt.Public {
		if err := h.change(func() error {
			public, err := h.Patch(ctx, h.who, h.now.ID, library.Match{Any: true},
				func(d *prompt.Draft) { d.Visibility = prompt.Public })
			if last := len(h.importer.made) - 1; err == nil && last >= 0 && h.importer.made[last].ID == public.ID {
				h.importer.made[last].Is = public.Revision
			}
			return err
		}); err != nil {
			return err
		}
	}
	if h.entry.vote == "" {
		return nil
	}
	return h.voteOn(ctx, h.now, h.entry.vote, h.item)
}

func (h *history) change(do func() error) error {
	if h.item.Outcome == Unchanged {
		h.item.Outcome = Updated
	}
	if h.DryRun {
		return nil
	}
	if err := h.write(); err != nil {
		return err
	}
	return do()
}

func (h *history) labels(ctx context.Context) error {
	has, _, err := h.importer.Labels(ctx, h.who, h.now.ID)
	if err != nil {
		return err
	}
	for _, v := range h.versions {
		if h.recalled[v.Version] || h.from != "" && !h.there[v.Version] {
			continue
		}
		missing := slices.DeleteFunc(slices.Clone(v.Labels), func(l string) bool {
			return has[l] == v.Version || l == prompt.Latest
		})
		if h.from != "" {
			if missing, err = h.followed(ctx, missing); err != nil {
				return err
			}
		}
		if len(missing) == 0 {
			continue
		}
		before, set := h.item.Outcome, len(missing)
		err := h.change(func() error { return h.put(ctx, missing, v.Version) })
		if fault.CodeOf(err) == prompt.NeedsProposal {
			set, err = h.setEach(ctx, missing, v.Version)
		}
		if err != nil {
			return err
		}
		if set == 0 {
			h.item.Outcome = before
		}
	}
	return nil
}
