package prompt_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/testing/doubling"
)

// TestDoubling: what a function takes grows in proportion to the text that it is given.
func TestDoubling(t *testing.T) {
	rules := prompt.Rules{MaxText: 1 << 30}
	query := func(q string) prompt.Query {
		parsed, err := prompt.ParseQuery(q)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	const words = "a.a. c++ word quick 翻译 needle"
	several := query(words)
	phrases := query(`"quick word" "翻译 a" "a.a" -needle -"word quick" author:word`)
	expanded := expanded(several)
	content := func(do func(c prompt.Content)) func(text string) func() {
		return func(text string) func() { c := prompt.Content{Text: text}; return func() { do(c) } }
	}
	chat := func(text string) prompt.Content {
		var list []prompt.Message
		for line := range strings.Lines(text) {
			list = append(list, prompt.Message{Role: "user", Content: line})
		}
		return prompt.Content{Kind: prompt.KindChat, Messages: list}
	}
	chats := func(do func(c prompt.Content)) func(text string) func() {
		return func(text string) func() { c := chat(text); return func() { do(c) } }
	}
	text := func(do func(text string)) func(text string) func() {
		return func(text string) func() { return func() { do(text) } }
	}
	two := func(do func(a, b prompt.Content)) func(text string) func() {
		return func(text string) func() {
			a, b := prompt.Content{Text: text}, prompt.Content{Text: doubling.Turned(text)}
			return func() { do(a, b) }
		}
	}
	draft := func(do func(prompt.Draft)) func(text string) func() {
		return content(func(c prompt.Content) { do(prompt.Draft{Title: "t", Visibility: prompt.Private}.With(c)) })
	}
	check := func(of func(text string, fields []string) prompt.Draft) func(text string) func() {
		return func(text string) func() {
			d := of(text, strings.Fields(text))
			return func() { _, _ = rules.CheckEdit(d, prompt.Draft{}) }
		}
	}
	variables := func(fields []string) (list []prompt.Variable) {
		for _, s := range fields {
			list = append(list, prompt.Variable{
				Name: s, Label: s, Type: prompt.Choice,
				Choices: fields[:min(len(fields), 5)], Default: &s,
			})
		}
		return list
	}
	template := func(do func(prompt.Template)) func(text string) func() {
		return func(text string) func() { x := prompt.ParseTemplate(nil, text); return func() { do(x) } }
	}
	values := map[string]string{"a": "A", "a1": "B", "b": ""}
	variable := func(text string) prompt.Variable {
		return prompt.Variable{
			Name: "a", Description: text, Type: prompt.Choice,
			Choices: strings.Fields(text), Default: &text,
		}
	}
	funcs := []doubling.Func{
		{Name: "TextWords", With: text(func(s string) { prompt.TextWords(s) }), Steps: prompt.CutInto},
		{Name: "NormalizeTitle", With: text(func(s string) { prompt.NormalizeTitle(s) })},
		{Name: "Tokens", With: text(func(s string) { prompt.Tokens(prompt.NormalizeTitle(s)) })},
		{Name: "ParseQuery", With: text(func(s string) { _, _ = prompt.ParseQuery(s) })},
		{Name: "Query.Match", With: text(func(s string) { several.Match(prompt.NormalizeTitle(s)) })},
		{Name: "Query.MatchTitle", With: text(func(s string) { several.MatchTitle(prompt.NormalizeTitle(s)) })},
		{Name: "Query.MatchText", With: text(func(s string) { several.MatchText("", prompt.NewText(s)) })},
		{
			Name: "Query.MatchText (one word)",
			With: text(func(s string) { query("needle").MatchText("", prompt.NewText(s+" needle")) }),
		},
		{Name: "NewText", With: text(func(s string) { prompt.NewText(s) })},
		{Name: "Query.Match (phrases)", With: text(func(s string) { phrases.Match(prompt.NormalizeTitle(s)) })},
		{Name: "Query.MatchText (phrases)", With: text(func(s string) { phrases.MatchText("", prompt.NewText(s)) })},
		{Name: "Query.LeavesOut", With: text(func(s string) {
			phrases.LeavesOut(prompt.NormalizeTitle(s), prompt.NewText(s))
		})},
		{Name: "Query.MatchAuthor", With: text(func(s string) { phrases.MatchAuthor(s) })},
		{Name: "Query.Marks", With: text(func(s string) { several.Marks(s) })},
		{Name: "Query.Marks (of other forms)", With: text(func(s string) { expanded.Marks(s) })},
		{Name: "Query.Marks (phrases)", With: text(func(s string) { phrases.Marks(s) })},
		{Name: "Query.Snippet (phrases)", With: text(func(s string) { phrases.Snippet(s) })},
		{Name: "Query.Typed", With: text(func(s string) {
			if q, err := prompt.ParseQuery(s); err == nil {
				q.Typed()
			}
		})},
		{Name: "Query.Snippet", With: text(func(s string) { several.Snippet(s) })},
		{
			Name: "Query.Snippet (a long word)",
			With: text(func(s string) { query(strings.Repeat("x", 190) + "y").Snippet(s) }),
		},
		{Name: "Query.Phrased", With: text(func(s string) {
			several.Phrased(prompt.NormalizeTitle(s), prompt.NewText(s))
		})},
		{Name: "Terms", With: text(func(s string) { prompt.Terms(s) })},
		{Name: "AppendWords", With: text(func(s string) { prompt.AppendWords(nil, s) })},
		{Name: "RunsOf", With: text(func(s string) { prompt.RunsOf(s).Like(prompt.RunsOf(s[len(s)/2:])) })},
		{Name: "Told", With: content(func(c prompt.Content) { _, lost := c.Bare(); prompt.Told(lost) })},
		{Name: "Content.Bare", With: content(func(c prompt.Content) { c.Bare() })},
		{Name: "Content.Invisible", With: content(func(c prompt.Content) { c.Invisible() })},
		{Name: "Shown", With: text(func(s string) { prompt.Shown(s) })},
		{Name: "Brief", With: text(func(s string) { prompt.Brief(s) })},
		{Name: "Excerpt", With: text(func(s string) { prompt.Excerpt(s) })},
		{Name: "Slug", With: text(func(s string) { prompt.Slug(s) })},
		{Name: "Slugs", With: text(func(s string) { prompt.Slugs(s, "01ARZ3NDEKTSV4RRFFQ69G5FAV") })},
		{Name: "ValidSlug", With: text(func(s string) { prompt.ValidSlug(s) })},
		{Name: "ValidLabel", With: text(func(s string) { prompt.ValidLabel(s) })},
		{Name: "CheckLabel", With: text(func(s string) { _ = prompt.CheckLabel(s) })},
		{Name: "ParseID", With: text(func(s string) { prompt.ParseID(s) })},
		{Name: "FindID", With: text(func(s string) { _, _ = prompt.FindID(s) })},
		{Name: "ParseTag", With: text(func(s string) { _, _ = prompt.ParseTag(s) })},
		{Name: "ParseRef", With: text(func(s string) { _, _ = prompt.ParseRef(s) })},
		{Name: "ParseVote", With: text(func(s string) { _, _ = prompt.ParseVote(s) })},
		{Name: "ParseInclude", With: text(func(s string) { prompt.ParseInclude("name=" + s + "|version=1") })},
		{Name: "NamesUser", With: text(func(s string) { prompt.NamesUser(s) })},
		{Name: "VariableName", With: text(func(s string) { prompt.VariableName(s) })},
		{Name: "Variable.Hint", With: text(func(s string) { variable(s).Hint() })},
		{Name: "CheckVariables", With: text(func(s string) {
			_, _ = prompt.CheckVariables([]prompt.Variable{variable(s)})
		})},
		{
			Name: "CheckVariables (many)",
			With: text(func(s string) { _, _ = prompt.CheckVariables(variables(strings.Fields(s))) }),
		},
		{Name: "Profile.Check", With: text(func(s string) {
			_, _ = prompt.Profile{Handle: s, Name: s, About: s}.Check()
		})},
		{Name: "GivenHandles", With: text(func(s string) { prompt.GivenHandles(s, "a_key") })},
		{Name: "Profile.Leads", With: text(func(s string) { _ = prompt.Profile{Handle: s}.Leads(s) })},
		{Name: "HandleTaken", With: text(func(s string) { _ = prompt.HandleTaken(s) })},
		{Name: "TagInfo.Revision", With: text(func(s string) { prompt.TagInfo{DisplayName: s}.Revision() })},
		{Name: "Deeper", With: text(func(s string) { prompt.Deeper(jsontext.Value(s), 1<<30) })},
		{Name: "WordsInLines", With: text(func(s string) { prompt.WordsInLines(s, doubling.Turned(s), math.MaxInt) })},
		{Name: "Words", With: text(func(s string) { prompt.Words(s, doubling.Turned(s)) })},
		{Name: "Unified", With: two(func(a, b prompt.Content) {
			prompt.Unified(prompt.Version{Content: a}, prompt.Version{Content: b})
		})},
		{Name: "UnifiedFiles", With: func(s string) func() {
			return func() { prompt.UnifiedFiles(prompt.Version{}, prompt.Version{}, "a", s, doubling.Turned(s)) }
		}},
		{Name: "Merge", With: func(s string) func() {
			base, mine, theirs := prompt.Content{Text: s}, prompt.Content{Text: s[len(s)/5:]},
				prompt.Content{Text: doubling.Turned(s)}
			return func() { prompt.Merge(base, mine, theirs) }
		}},
		{Name: "MergeDescriptions", With: text(func(s string) {
			prompt.MergeDescriptions(prompt.Version{Description: s}, s+"x", s+"y")
		})},
		{Name: "Descriptions", With: text(func(s string) {
			prompt.Descriptions(prompt.Version{Description: s}, prompt.Version{Description: s})
		})},
		{Name: "Version.Says", With: two(func(a, b prompt.Content) {
			prompt.Version{Content: a}.Says(prompt.Version{Content: b})
		})},
		{Name: "Version.Digest", With: content(func(c prompt.Content) {
			prompt.Version{Content: c, Description: c.Text}.Digest()
		})},
		{Name: "Source.Hash", With: text(func(s string) { (&prompt.Source{Bytes: []byte(s)}).Hash() })},
		{Name: "Hunks", With: func(s string) func() {
			other := doubling.Turned(s)
			return func() { prompt.Hunks(s, other) }
		}},
		{Name: "Merge (chats)", With: func(s string) func() {
			base, mine, theirs := chat(s), chat(s[:len(s)/2]+"x"+s[len(s)/2:]), chat(doubling.Turned(s))
			return func() { prompt.Merge(base, mine, theirs) }
		}},
		{Name: "Clash.String", With: text(func(s string) { _ = prompt.Clash{Mine: s, Theirs: s}.String() })},
		{Name: "Content.Hash", With: content(func(c prompt.Content) { c.Hash() })},
		{Name: "Content.Hash (chat)", With: chats(func(c prompt.Content) { c.Hash() })},
		{Name: "Content.Size", With: chats(func(c prompt.Content) { c.Size() })},
		{Name: "Content.Same", With: two(func(a, b prompt.Content) { a.Same(b) })},
		{Name: "Content.Words", With: chats(func(c prompt.Content) { c.Words() })},
		{Name: "Content.MistypedInclude", With: content(func(c prompt.Content) { c.MistypedInclude() })},
		{Name: "Content.Excerpt", With: content(func(c prompt.Content) {
			c.Text = "---\n" + c.Text + "\n---\n" + c.Text
			c.Excerpt()
		})},
		{Name: "Content.Excerpt (JSON)", With: content(func(c prompt.Content) {
			quoted, _ := json.Marshal(c.Text)
			c.Text = `{"messages":[{"role":"user","content":` + string(quoted) + `}]}`
			c.Excerpt()
		})},
		{Name: "Content.Transcript", With: chats(func(c prompt.Content) { c.Transcript() })},
		{Name: "Content.HasSystem", With: chats(func(c prompt.Content) { c.HasSystem() })},
		{Name: "Content.Includes", With: content(func(c prompt.Content) { c.Includes() })},
		{Name: "Content.Includes (chat)", With: chats(func(c prompt.Content) { c.Includes() })},
		{Name: "Content.Splice", With: content(func(c prompt.Content) {
			c.Splice(map[prompt.Include]string{{Name: "a", Version: 1}: "bb"}, 1<<30)
		})},
		{Name: "Content.Arguments", With: content(func(c prompt.Content) { c.Arguments() })},
		{Name: "Content.Template", With: content(func(c prompt.Content) { c.Template() })},
		{Name: "Content.Render", With: content(func(c prompt.Content) { _, _ = c.Render(values, 1<<30) })},
		{Name: "ParseTemplate", With: text(func(s string) { prompt.ParseTemplate(variables(strings.Fields(s)), s) })},
		{Name: "Template.Fill", With: template(func(x prompt.Template) { _, _ = x.Fill(values, 1<<30) })},
		{Name: "Template.Fill (many values)", With: func(s string) func() {
			many := map[string]string{}
			for _, f := range strings.Fields(s) {
				many[f] = f
			}
			x := prompt.ParseTemplate(nil, s)
			return func() { _, _ = x.Fill(many, 1<<30) }
		}},
		{Name: "Template.Render", With: template(func(x prompt.Template) { _, _ = x.Render(values, 1<<30) })},
		{Name: "Rules.Check", With: draft(func(d prompt.Draft) { _, _ = rules.Check(d) })},
		{Name: "Rules.CheckEdit (title and notes)", With: check(func(s string, _ []string) prompt.Draft {
			return prompt.Draft{
				Name: s, Title: s, Description: s, Message: s, Config: s,
				PreviousNames: prompt.PreviousNames{Slug: s},
			}
		})},
		{Name: "Rules.CheckEdit (config)", With: check(func(s string, _ []string) prompt.Draft {
			b, _ := json.Marshal(strings.Fields(s))
			return prompt.Draft{Text: "x", Config: string(b)}
		})},
		{
			Name: "Rules.CheckEdit (messages)",
			With: check(func(s string, _ []string) prompt.Draft { return prompt.Draft{}.With(chat(s)) }),
		},
		{Name: "Rules.CheckEdit (lists)", With: check(func(_ string, fields []string) prompt.Draft {
			d := prompt.Draft{
				Text: "x", OwnTags: fields, Labels: fields, Variables: variables(fields),
				PreviousNames: prompt.PreviousNames{OldNames: fields},
			}
			for _, f := range fields {
				d.Tags = append(d.Tags, prompt.Tag(f))
			}
			return d
		})},
		{Name: "Rules.CheckUnfinished", With: text(func(s string) { _ = rules.CheckUnfinished(s, s) })},
		{Name: "Source.WithExtra", With: func(s string) func() {
			names := strings.Fields(s)
			return func() { prompt.Source{}.WithExtra(names) }
		}},
		{Name: "Draft.Equal", With: two(func(a, b prompt.Content) {
			prompt.Draft{}.With(a).Equal(prompt.Draft{}.With(b))
		})},
		{Name: "Draft.About", With: draft(func(d prompt.Draft) { _ = d.About() })},
		{Name: "Draft.State", With: draft(func(d prompt.Draft) { d.State(strings.Fields(d.Text)) })},
		{Name: "Draft.As", With: draft(func(d prompt.Draft) {
			d.As(prompt.Version{Content: d.Content(), Description: d.Description})
		})},
		{Name: "Prompt.At", With: draft(func(d prompt.Draft) {
			prompt.Prompt{Draft: d}.At(prompt.Version{Content: d.Content()})
		})},
		{Name: "Prompt.Current", With: draft(func(d prompt.Draft) { prompt.Prompt{Draft: d}.Current() })},
		{Name: "Next", With: two(func(a, b prompt.Content) {
			prompt.Next(prompt.Prompt{Draft: prompt.Draft{}.With(a)}, prompt.Prompt{Draft: prompt.Draft{}.With(b)})
		})},
		{Name: "SuggestTags", With: text(func(s string) { prompt.SuggestTags(prompt.DefaultTags(), nil, s, s, nil) })},
		{Name: "Member.Check", With: text(func(s string) {
			_ = prompt.Member{Kind: prompt.MemberKind(s), Name: s, Role: prompt.Role(s)}.Check()
		})},
		{Name: "CheckInvite", With: text(func(s string) {
			var roles []prompt.Role
			for _, f := range strings.Fields(s) {
				roles = append(roles, prompt.Role(f))
			}
			_ = prompt.CheckInvite(1, 1, roles)
		})},
		{Name: "LabelRules.Check", With: text(func(s string) {
			_, _ = prompt.LabelRules{{Label: s, Names: s, Approvals: 1}}.Check()
		})},
		{Name: "LabelRules.ForNames", With: text(func(s string) {
			prompt.LabelRules{{Label: "a", Names: "*" + strings.Repeat("a*", len(s)/100)}}.ForNames("a", []string{s})
		})},
		{Name: "LabelRules.ForPrompt", With: text(func(s string) {
			prompt.LabelRules{{Label: "a", Names: "*a*b*"}}.ForPrompt("a",
				prompt.Prompt{Draft: prompt.Draft{Name: s}, Slug: s})
		})},
		{Name: "CheckReview", With: text(func(s string) {
			_, _ = prompt.CheckReview(prompt.Review{Verdict: prompt.Comment, Text: s})
		})},
		{Name: "CheckProposalMessage", With: text(func(s string) { _, _ = prompt.CheckProposalMessage(s) })},
		{Name: "CheckReason", With: text(func(s string) { _, _ = prompt.CheckReason(s) })},
		{Name: "NamesMember", With: text(func(s string) { prompt.NamesMember(s) })},
		{Name: "Telling", With: text(func(s string) { prompt.Telling(s, s) })},
		{Name: "SumOf", With: text(func(s string) {
			list := slices.Repeat([]prompt.Weight{"1p3"}, len(s)/10)
			prompt.SumOf(append(list, prompt.Weight(s)))
		})},
	}
	files := func(do func(prompt.Files)) func(text string) func() {
		return func(text string) func() {
			var files prompt.Files
			for _, f := range strings.Fields(text) {
				files = append(files, prompt.NewFile(prompt.FileBytes{Path: f, Bytes: []byte(text[:len(text)/100])}))
			}
			return func() { do(files) }
		}
	}
	differs := func(do func(prompt.FileDiff, map[string][]byte)) func(text string) func() {
		return func(text string) func() {
			d := prompt.FileDiff{
				Path: text, Lines: true, Before: text,
				After: doubling.Turned(text), Change: prompt.FileChanged,
			}
			d.From, d.To = prompt.NewFile(prompt.FileBytes{Path: "a"}),
				prompt.NewFile(prompt.FileBytes{Path: "a", Bytes: []byte(text)})
			all := map[string][]byte{d.From.SHA256: nil, d.To.SHA256: []byte(text)}
			return func() { do(d, all) }
		}
	}
	funcs = append(funcs, []doubling.Func{
		{Name: "Collection.Check", With: text(func(s string) {
			ids := make([]prompt.ID, len(s)/100)
			_, _ = prompt.Collection{
				Slug:            s,
				CollectionDraft: prompt.CollectionDraft{Name: s, About: s, Prompts: append(ids, prompt.ID(s))},
			}.Check()
		})},
		{Name: "MergeFiles", With: files(func(f prompt.Files) { prompt.MergeFiles(f, f[len(f)/2:], f) })},
		{Name: "CompareFiles", With: files(func(f prompt.Files) { prompt.CompareFiles(f, f[len(f)/2:]) })},
		{Name: "FileDiff.Comparable", With: differs(func(d prompt.FileDiff, _ map[string][]byte) { d.Comparable() })},
		{
			Name: "FileDiff.WithTexts",
			With: differs(func(d prompt.FileDiff, all map[string][]byte) { d.WithTexts(all) }),
		},
		{Name: "FileDiff.Hunks", With: differs(func(d prompt.FileDiff, _ map[string][]byte) { d.Hunks() })},
		{Name: "GitDiff", With: differs(func(d prompt.FileDiff, _ map[string][]byte) {
			prompt.GitDiff([]prompt.FileDiff{d})
		})},
		{Name: "UnifiedWith", With: differs(func(d prompt.FileDiff, _ map[string][]byte) {
			prompt.UnifiedWith(prompt.Version{}, prompt.Version{}, []prompt.FileDiff{d})
		})},
		{Name: "File.Mode", With: differs(func(d prompt.FileDiff, _ map[string][]byte) { _ = d.To.Mode() })},
		{Name: "Files.WrittenSkill", With: files(func(f prompt.Files) { f.WrittenSkill() })},
		{Name: "CheckPath", With: text(func(s string) { _ = prompt.CheckPath(s) })},
		{Name: "IsText", With: text(func(s string) { prompt.IsText([]byte(s)) })},
		{Name: "Quoted", With: text(func(s string) { prompt.Quoted([]byte(s)) })},
		{Name: "NewFile", With: text(func(s string) { prompt.NewFile(prompt.FileBytes{Path: s, Bytes: []byte(s)}) })},
		{Name: "NewFiles", With: text(func(s string) {
			_, _ = prompt.NewFiles([]prompt.FileBytes{{Path: "a", Bytes: []byte(s)}})
		})},
		{Name: "Files.Check", With: files(func(f prompt.Files) { _ = f.Check() })},
		{Name: "Files.Digest", With: files(func(f prompt.Files) { f.Digest() })},
		{Name: "Files.Tree", With: files(func(f prompt.Files) { f.Tree() })},
		{Name: "Files.Entries", With: files(func(f prompt.Files) { f.Entries() })},
		{Name: "Files.Written", With: files(func(f prompt.Files) { f.Written() })},
		{Name: "Files.Same", With: files(func(f prompt.Files) { f.Same(slices.Clone(f)) })},
		{Name: "Files.SkillFile", With: files(func(f prompt.Files) { f.SkillFile() })},
		{Name: "Files.Size", With: files(func(f prompt.Files) { f.Size() })},
		{Name: "Files.Scripts", With: files(func(f prompt.Files) { f.Scripts() })},
		{Name: "Files.Find", With: files(func(f prompt.Files) { f.Find("a") })},
	}...)
	doubling.Listed(t, funcs, map[string][]string{
		"a query has at most 200 characters": {
			"Query.Empty", "Query.Nothing", "Query.Tokens", "Query.String", "Query.Excludes", "Query.NeedsText",
			"Query.Tags", "Query.Author", "Query.Name", "Query.MatchName",
			"Query.Qualified", "Query.InTexts", "Query.With", "Query.Wanted", "Query.Phrases",
			"Query.Without", "IsRun", "IsStopWord",
		},
		"compares, copies or returns what it is given": {
			"NoSuchPrompt", "CollectionTaken", "CollectionDraft.Equal",
			"Draft.Content", "Draft.With", "First", "Member.Place", "Invite.Open", "Source.Kept", "TextsField",
			"Template.Parts", "Variable.Needed", "Prompt.Deleted", "Prompt.Hidden",
			"Prompt.Listed", "Workspace.Deleted", "Role.Valid", "Role.Includes", "Role.Higher", "IsWorkspace",
			"LooksLikeWorkspace", "Invite.Left",
			"Workspace.Equal", "Proposal.Needed", "Proposal.Approvals", "Prompt.Names",
			"Prompt.OwnNames", "ProgramSummary.IsNone",
		},
		"takes what the program has made": {
			"AuthorSecret.Key", "FirstID", "HandleChosen", "Hot", "NewWorkspaceID", "TokenKey", "IsTokenKey", "ID.Time",
			"Best", "NewID", "Tally.Add", "Tally.Score", "Tally.Unweighed", "Trending", "TrendingPlace", "Weight.Likes",
			"Include.String", "Include.Placed", "Include.Which", "Invite.Take", "Invite.Took",
			"LabelRule.ErrNeedsProposal", "LabelRule.ErrRuledByName", "ErrProposalOpen", "ErrProposalClosed",
			"ErrNeedsRole", "ErrRecalled", "ErrUnknownContent",
		},
	})
	doubling.Check(t, funcs)
}
