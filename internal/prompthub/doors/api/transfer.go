package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/internal/fault"
	"prompthub/internal/prompthub/files/format"
	"prompthub/internal/prompthub/prompt"
	"prompthub/internal/prompthub/transfer"
)

const linesType = "application/jsonl"

func (a *api) transfers() {
	route(a, user, huma.Operation{
		OperationID: "export-me", Method: http.MethodGet, Path: "/me/export", Tags: []string{"me"},
		Summary:     "All that I have, as JSON Lines",
		Description: "Profile, prompts with their versions, files and labels, votes, favorites. The parts, one after another, are one file, which POST /import takes.",
		Errors:      badQuery,
		Responses: map[string]*huma.Response{
			"200": {Description: "A part of the file", Content: map[string]*huma.MediaType{
				linesType: {
					Schema:  &huma.Schema{Type: huma.TypeString},
					Example: `{"profile":{"handle":"ann-lee","name":"Ann Lee"}}`,
				},
			}},
		},
	}, a.exportMe)
	route(a, user, huma.Operation{
		// which readBody lets nothing reach
		OperationID: "import", Method: http.MethodPost, Path: "/import", Tags: []string{"me"},
		MaxBodyBytes: transfer.MaxFile + 1,
		Summary:      "Take a file in",
		Description: "One prompt or many, of any format, an archive (ZIP) of such files, or what GET /me/export gave. It has at most 4 MiB and 10,000 entries, its JSON 500,000 elements and members, 50,000 in an entry, and a row of CSV 1,000 fields; each change that it makes counts as a write; one file of a caller is taken in at a time. " +
			"The answer tells of each entry; where it has next, send the same file again from there. The same file again finds what is there unchanged. " +
			"A file that is not as its format wants it is read all the same, and the entry has warnings: front matter that is not YAML, a text in Windows-1252, a title or description that is too long and was cut at a word. The file is kept as it is. " +
			"The history of a prompt may have 1,000 versions, and 100 between them that were deleted; a file of one prompt is kept with the version that it makes, up to 256 KiB, unless its YAML or JSON has more than 5,000 parts, or its YAML an alias. " +
			"In an archive all that is below the folder of a SKILL.md comes with it, as files of the prompt, as many and as large as PUT /prompts/{id}/files takes them; a folder that breaks a rule is rejected by itself, with the code of the rule. " +
			"An archive unpacks to at most 16 MiB, and 50 times its size or 1 MiB. One request makes at most 50 changes and reads at most 200 entries, 1 MiB of the file, and 256 KiB of YAML or 25,000 parts of YAML, JSON and CSV, but always one entry; aliases add at most twice what the YAML has and 1 KiB.",
		Errors: fails(badBody, 404),
	}, a.importFile)
}

// An importInput is a file, as it is.
type importInput struct {
	File       string `query:"file" maxLength:"255" doc:"The name of the file, which says what it is; else what is in it does" example:"prompts.csv"`
	DryRun     bool   `query:"dryRun" doc:"Says what would be done, and does nothing"`
	Update     bool   `query:"update" doc:"Gives prompts of mine that have the same names new versions. Otherwise they stay, and entries that differ are rejected"`
	From       int    `query:"from" minimum:"0" doc:"How many entries an earlier request was through with: its next"`
	Syntax     string `query:"syntax" enum:"dollar,mustache" doc:"Writes the placeholders of texts anew, such as {name} of an f-string, which is not filled in here; the file is kept as it is. Absent: texts stay as they are" example:"mustache"`
	Encoding   string `query:"encoding" maxLength:"40" doc:"The code page of files that are neither UTF-8 nor UTF-16, such as windows-1250, shift_jis or ibm850. Absent: Windows-1252, Windows-1251 or GBK, as it seems, with a warning; the name of no code page is refused with those there are" example:"windows-1250"`
	Visibility string `query:"visibility" enum:"private,public" doc:"Who may see prompts whose file does not say. Absent: private. An entry that was taken in before stays as it is" example:"private"`
	Workspace  string `query:"workspace" doc:"The handle of a workspace that takes the prompts in, of which the caller is author at least. Absent: the caller does" example:"billing"`
	RawBody    []byte `contentType:"application/octet-stream"`
}

// codePage returns the name of the code page, "" where none was named.
func (in *importInput) codePage() (string, error) {
	if in.Encoding == "" {
		return "", nil
	}
	page, err := format.CodePage(in.Encoding)
	if err != nil {
		return "", &fault.Error{
			Kind: fault.Invalid, Text: err.Error(),
			Fields: []fault.Field{{Name: "query.encoding", Message: err.Error(), Value: in.Encoding}},
		}
	}
	return page, nil
}

type importOutput struct {
	Body ImportReport
}

func (a *api) importFile(ctx context.Context, c call, in *importInput) (*importOutput, error) {
	leave, err := a.Admission.EnterFile(c.Key)
	if err != nil {
		return nil, err
	}
	defer leave()
	page, err := in.codePage()
	if err != nil {
		return nil, err
	}
	owner, err := a.ownerIn(ctx, c, in.Workspace)
	if err != nil {
		return nil, err
	}
	r, err := transfer.Import(ctx, a.Service, owner, in.RawBody, transfer.Options{
		File: in.File, DryRun: in.DryRun, Update: in.Update, From: in.From, Syntax: in.Syntax, CodePage: page,
		Visibility: prompt.Visibility(in.Visibility),
	})
	a.Admission.Spend(c.Key, r.Changes)
	if err != nil {
		return nil, err
	}
	out := &importOutput{ImportReport{
		Items: make([]Imported, len(r.Items)), Entries: r.Entries,
		Skipped: r.Skipped, Warning: r.Warning,
	}}
	for i, item := range r.Items {
		out.Body.Items[i] = Imported{
			Place: item.Place, Name: item.Name, Title: item.Title, ID: string(item.ID), Outcome: string(item.Outcome),
			Code: string(item.Code), Reason: item.Reason,
			Loss: item.Loss, Warnings: warned(item.Warnings),
		}
	}
	if r.More {
		out.Body.Next = &r.Through
	}
	return out, nil
}

func warned(list []format.Warning) (all []ImportWarning) {
	for _, w := range list {
		all = append(all, ImportWarning{Line: w.Line, Text: w.Text})
	}
	return all
}

type exportMeInput struct {
	Cursor string `query:"cursor" maxLength:"2048" doc:"Where the part before ended, as its Link says"`
}

type exportMeOutput struct {
	ContentType string `header:"Content-Type" hidden:"true"`
	Disposition string `header:"Content-Disposition" doc:"What to call the file" example:"attachment; filename=account.jsonl"`
	Link        string `header:"Link" doc:"The next part; absent at the end" example:"</api/v1/me/export?cursor=AZXk>; rel=\"next\""`
	Body        []byte
}

func (a *api) exportMe(ctx context.Context, c call, in *exportMeInput) (*exportMeOutput, error) {
	file, next, err := transfer.Export(ctx, a.Service, c.User, in.Cursor)
	return &exportMeOutput{
		ContentType: linesType, Disposition: "attachment; filename=account.jsonl",
		Link: nextLink(c, next), Body: file,
	}, err
}
