package commit

import (
	"maps"
	"slices"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/promptdb/schema"
	"prompthub/internal/storage/table"
)

// eventOps returns the insert of an event, for the batch of a change of a prompt: none where
// its owner is no workspace.
func (w *Writer) eventOps(e prompt.Event, p prompt.Prompt, by prompt.Actor) []table.Op {
	if !prompt.IsWorkspace(w.author) {
		return nil
	}
	e.By, e.Prompt, e.Name = by.Key, w.id, p.Name
	return []table.Op{w.db.EventOp(w.author, e)}
}

// changeOps returns the inserts of the events of a change of a prompt: one of what became of it,
// one of its visibility, one of the labels that moved.
func (w *Writer) changeOps(was *schema.Record, now prompt.Prompt, by prompt.Actor,
	before, after schema.LabelsRow,
) []table.Op {
	var ops []table.Op
	add := func(e prompt.Event) { ops = append(ops, w.eventOps(e, now, by)...) }
	version := prompt.Event{Type: prompt.VersionCreated, Version: now.Version, Digest: now.Current().Hash}
	switch {
	case was == nil:
		version.Type = prompt.PromptCreated
		add(version)
	case was.Deleted() != now.Deleted():
		add(prompt.Event{Type: either(now.Deleted(), prompt.PromptDeleted, prompt.PromptRestored)})
	case was.Hidden() != now.Hidden():
		add(prompt.Event{Type: either(now.Hidden(), prompt.PromptHidden, prompt.PromptUnhidden)})
	case now.Last > was.Last:
		add(version)
	case was.Visibility == now.Visibility && len(moved(before, after)) == 0 || differs(was.Draft, now.Draft):
		add(prompt.Event{Type: prompt.PromptChanged})
	}
	if isPublic := now.Visibility == prompt.Public; isPublic != (was != nil && was.Visibility == prompt.Public) {
		add(prompt.Event{Type: either(isPublic, prompt.PromptPublished, prompt.PromptUnpublished)})
	}
	return append(ops, w.movedOps(now, by, before, after, now.Version)...)
}

// differs reports whether two drafts of one version say different things, but for their visibility.
func differs(was, now prompt.Draft) bool {
	now.Visibility = was.Visibility
	return was.State(nil) != now.State(nil)
}

func either(first bool, a, b prompt.EventType) prompt.EventType {
	if first {
		return a
	}
	return b
}

// movedOps returns the insert of the event that labels moved, if any did.
func (w *Writer) movedOps(p prompt.Prompt, by prompt.Actor, before, after schema.LabelsRow, to int64) []table.Op {
	labels := moved(before, after)
	if len(labels) == 0 {
		return nil
	}
	return w.eventOps(prompt.Event{Type: prompt.LabelMoved, Version: to, Labels: labels}, p, by)
}

// moved returns which labels stand elsewhere in one labels row than in another, in order.
func moved(before, after schema.LabelsRow) []prompt.LabelMove {
	var list []prompt.LabelMove
	all := slices.Concat(slices.Collect(maps.Keys(before.Labels)), slices.Collect(maps.Keys(after.Labels)))
	slices.Sort(all)
	for _, label := range slices.Compact(all) {
		if from, to := before.Labels[label], after.Labels[label]; from != to {
			list = append(list, prompt.LabelMove{Label: label, From: from, To: to})
		}
	}
	return list
}
