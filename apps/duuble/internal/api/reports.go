package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/manage"
	"prompthub/apps/duuble/internal/people"
	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// A Reason is that of a report.
type Reason string

// Schema returns the values.
func (Reason) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(manage.Reasons) }

// A ReportState is that of a report.
type ReportState string

// Schema returns the values.
func (ReportState) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(manage.States) }

// A NewReport reports one thing.
type NewReport struct {
	Reason  Reason `json:"reason" doc:"What it is" example:"spam"`
	Details string `json:"details,omitempty" doc:"Up to 2,000 characters" example:"The same text under every post"`
	UserID  string `json:"userId,omitempty" doc:"A person" example:"01KA0000000000000000000001"`
	PostID  string `json:"postId,omitempty" doc:"Or a post" example:"01KA0000000000000000000003"`
	HubID   string `json:"hubId,omitempty" doc:"Or a hub" example:"01KA0000000000000000000004"`

	CommentID    string `json:"commentId,omitempty" doc:"Or a comment on the post postId" example:"01KA0000000000000000000008"`
	DiscussionID string `json:"discussionId,omitempty" doc:"The discussion of messageId" example:"01KA0000000000000000000010"`
	MessageID    string `json:"messageId,omitempty" doc:"Or a message of the discussion discussionId in the hub hubId" example:"01KA0000000000000000000011"`
}

// target returns what is reported.
func (r NewReport) target() (manage.Target, error) {
	switch given := (NewReport{
		UserID: r.UserID, PostID: r.PostID, HubID: r.HubID, CommentID: r.CommentID,
		DiscussionID: r.DiscussionID, MessageID: r.MessageID,
	}); given {
	case NewReport{UserID: r.UserID}:
		if r.UserID != "" {
			return manage.Target{Kind: manage.APerson, ID: r.UserID}, nil
		}
	case NewReport{PostID: r.PostID}:
		return manage.Target{Kind: manage.APost, ID: r.PostID}, nil
	case NewReport{HubID: r.HubID}:
		return manage.Target{Kind: manage.AHub, ID: r.HubID}, nil
	case NewReport{PostID: r.PostID, CommentID: r.CommentID}:
		if r.PostID != "" {
			return manage.Target{Kind: manage.AComment, ID: r.PostID + "|" + r.CommentID}, nil
		}
	case NewReport{HubID: r.HubID, DiscussionID: r.DiscussionID, MessageID: r.MessageID}:
		if r.HubID != "" && r.DiscussionID != "" && r.MessageID != "" {
			return manage.Target{Kind: manage.AMessage, ID: r.HubID + "|" + r.DiscussionID + "|" + r.MessageID}, nil
		}
	}
	return manage.Target{}, &fault.Error{
		Kind: fault.Invalid, Text: "the request breaks the rules named here",
		Fields: []fault.Field{{
			Name:    "body",
			Message: "give userId, postId or hubId, or commentId with postId, or messageId with discussionId and hubId",
		}},
	}
}

// Reported is a report as its reporter sees it.
type Reported struct {
	ReportID string      `json:"reportId" doc:"The id of the report" example:"01KA000000000000000000000A"`
	Status   ReportState `json:"status" doc:"Whether it is decided" example:"open"`
}

// reported is the answer to a report.
type reported struct {
	Status int
	Body   Reported
}

// A Report is one as those who manage the service see it.
type Report struct {
	ReportID     string      `json:"reportId" doc:"The id of the report" example:"01KA000000000000000000000A"`
	Reporter     Person      `json:"reporter" doc:"Who reported"`
	UserID       *string     `json:"userId" doc:"The person that is reported, or null" example:"01KA0000000000000000000001"`
	PostID       *string     `json:"postId" doc:"The post, or null" example:"01KA0000000000000000000003"`
	HubID        *string     `json:"hubId" doc:"The hub, or null" example:"01KA0000000000000000000004"`
	CommentID    *string     `json:"commentId" doc:"The comment on the post, or null" example:"01KA0000000000000000000008"`
	DiscussionID *string     `json:"discussionId" doc:"The discussion of the message, or null" example:"01KA0000000000000000000010"`
	MessageID    *string     `json:"messageId" doc:"The message, or null" example:"01KA0000000000000000000011"`
	Copy         Copy        `json:"copy" doc:"What the reporter saw"`
	Reason       Reason      `json:"reason" doc:"What it is" example:"spam"`
	Details      string      `json:"details" doc:"What the reporter wrote to it, or nothing" example:"The same text under every post"`
	Status       ReportState `json:"status" doc:"Whether it is decided" example:"open"`
	CreatedAt    string      `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-11-01T12:00:00.000Z"`
	DecidedAt    *string     `json:"decidedAt" format:"date-time" doc:"When it was decided, or null" example:"2026-11-01T12:00:00.000Z"`
}

// A Copy is a thing as its reporter saw it.
type Copy struct {
	UserID   *string `json:"userId" doc:"Who wrote it, or null of a hub and of reports that have no copy" example:"01KA0000000000000000000001"`
	Username *string `json:"username" doc:"The username then, or null" example:"Ann_1"`
	FullName *string `json:"fullName" doc:"The name then, or null" example:"Ann Example"`
	Text     string  `json:"text" doc:"All its texts, with empty lines between" example:"Buy my tea"`
	AssetID  *string `json:"assetId" doc:"A copy of its picture, or null" example:"01KA000000000000000000000C"`
}

func reportOf(r manage.Report) Report {
	one := Report{
		ReportID: r.ID, Reporter: personOf(r.Reporter), Reason: Reason(r.Reason), Details: r.Details,
		Status: ReportState(r.Status), CreatedAt: httpjson.FormatTime(r.CreatedAt),
		DecidedAt: httpjson.OptionalTime(r.DecidedAt),
	}
	switch r.Target.Kind {
	case manage.APerson:
		one.UserID = &r.Target.ID
	case manage.APost:
		one.PostID = &r.Target.ID
	case manage.AHub:
		one.HubID = &r.Target.ID
	case manage.AComment:
		ids := r.Target.Parts()
		one.PostID, one.CommentID = &ids[0], &ids[1]
	case manage.AMessage:
		ids := r.Target.Parts()
		one.HubID, one.DiscussionID, one.MessageID = &ids[0], &ids[1], &ids[2]
	}
	one.Copy = Copy{
		httpjson.OptionalText(r.Copy.UserID), httpjson.OptionalText(r.Copy.Username),
		httpjson.OptionalText(r.Copy.Name), r.Copy.Text, httpjson.OptionalText(r.Copy.Picture),
	}
	return one
}

// A NewSuspension says how long a person is suspended, and why.
type NewSuspension struct {
	Days   int    `json:"days" doc:"1 to 3,650" example:"7"`
	Reason string `json:"reason" doc:"1 to 500 characters, which the person reads" example:"Insults under many posts"`
}

// A Suspension is one as those who manage the service see it.
type Suspension struct {
	Until  *string `json:"until" format:"date-time" doc:"Until when the person is suspended, or null" example:"2026-11-08T12:00:00.000Z"`
	Reason *string `json:"reason" doc:"Why, or null" example:"Insults under many posts"`
}

func suspensionOf(x people.Suspension) Suspension {
	return Suspension{httpjson.OptionalTime(x.Until), httpjson.OptionalText(x.Reason)}
}

// A Decision ends a report.
type Decision struct {
	Status string `json:"status" enum:"resolved,dismissed" doc:"How" example:"resolved"`
}

func (a *api) reports() {
	report := operation("people", "report", http.MethodPost, "/reports",
		"Report a person, a post, a comment, a hub or a message", "Once, what the caller may see: again it is answered 200 with the same report. Those who manage the service alone learn of it.", http.StatusCreated, 404)
	report.Responses = map[string]*huma.Response{
		"200": {
			Description: "The caller has reported it before",
			Content: map[string]*huma.MediaType{"application/json": {
				Schema:  &huma.Schema{Ref: "#/components/schemas/Reported"},
				Example: Reported{"01KA000000000000000000000A", manage.Open},
			}},
		},
	}
	route(a, person, Bound{11, 23}, report,
		func(ctx context.Context, v visit, in *struct{ Body NewReport }) (*reported, error) {
			of, err := in.Body.target()
			if err != nil {
				return nil, err
			}
			r, isNew, err := a.Posts.Manage.Report(ctx, v.Claim, of, string(in.Body.Reason), in.Body.Details)
			if err != nil {
				return nil, err
			}
			out := &reported{http.StatusCreated, Reported{r.ID, ReportState(r.Status)}}
			if !isNew {
				out.Status = http.StatusOK
			}
			return out, nil
		})
	route(a, person, Bound{4, 50},
		operation("admin", "list-reports", http.MethodGet, "/admin/reports", "The reports",
			"With a status, the newest first.", http.StatusOK),
		func(ctx context.Context, v visit, in *struct {
			Status string `query:"status" enum:"open,resolved,dismissed" default:"open" doc:"Which" example:"open"`
			Paged
		},
		) (*openapi.Body[Items[Report]], error) {
			list := "reports " + in.Status
			after, err := in.after(list)
			if err != nil {
				return nil, err
			}
			page, err := a.Posts.Manage.Reports(ctx, v.Claim, in.Status, after, in.Limit)
			return pageOf(list, page.Items, page.Next, err, reportOf)
		})
	route(a, person, Bound{3, 10},
		operation("admin", "restore-user", http.MethodPost, "/admin/users/{id}/restore",
			"Bring back the account of a person",
			"With all that it had, up to 30 days after the person left. One that is there is as good.",
			http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Person], error) {
			p, err := a.People.RestoreUser(ctx, v.Claim, in.ID)
			return openapi.Answer(personOf(p), err)
		})
	suspension := func(id, method, summary, description string, status int) huma.Operation {
		return operation("admin", id, method, "/admin/users/{id}/suspension", summary, description, status, 404)
	}
	route(a, person, Bound{2, 6}, suspension("get-suspension", http.MethodGet, "Whether a person is suspended",
		"And until when, and why.", http.StatusOK),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Suspension], error) {
			x, _, err := a.People.SuspensionOf(ctx, v.Claim, in.ID)
			return openapi.Answer(suspensionOf(x), err)
		})
	route(a, person, Bound{3, 8}, suspension("suspend", http.MethodPut, "Suspend a person", "For some days from now, in place of a suspension that there is. The person can sign in, sign out and leave; all other routes answer 403 ACCOUNT_SUSPENDED with the time and the reason. What the person has posted stays. People who manage the service are not suspended.", http.StatusOK),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body NewSuspension
		},
		) (*openapi.Body[Suspension], error) {
			x, err := a.People.Suspend(ctx, v.Claim, in.ID, in.Body.Days, in.Body.Reason)
			return openapi.Answer(suspensionOf(x), err)
		})
	route(a, person, Bound{3, 8},
		suspension("end-suspension", http.MethodDelete, "End a suspension",
			"All is as it was. One who is not suspended is as good.", http.StatusNoContent),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.People.EndSuspension(ctx, v.Claim, in.ID)
		})
	route(a, person, Bound{6, 23},
		operation("admin", "remove-post", http.MethodDelete, "/admin/posts/{id}", "Delete a post of anybody", "At once it is not there for anybody. Its author cannot bring it back; those who manage the service can, for 30 days. So also one that its author has deleted.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.Posts.RemoveAny(ctx, v.Claim, in.ID)
		})
	route(a, person, Bound{6, 23},
		operation("admin", "restore-any-post", http.MethodPost, "/admin/posts/{id}/restore", "Bring back a post",
			"One that somebody who manages the service has deleted. One that is there is as good. "+
				"If its author had deleted it first, its author alone can bring it back then.",
			http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.Posts.RestoreAny(ctx, v.Claim, in.ID)
		})
	route(a, person, Bound{20, 40},
		operation("admin", "delete-reported", http.MethodPost, "/admin/reports/{id}/delete", "Delete what is reported",
			"A post, a comment, a message, or of a person or a hub the picture that was reported. The report is resolved, unless it was decided before.",
			http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Report], error) {
			r, err := a.Posts.Manage.DeleteReported(ctx, v.Claim, in.ID)
			return openapi.Answer(reportOf(r), err)
		})
	route(a, person, Bound{11, 15},
		operation("admin", "decide-report", http.MethodPost, "/admin/reports/{id}/decide", "Decide a report",
			"Once.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body Decision
		},
		) (*openapi.Body[Report], error) {
			r, err := a.Posts.Manage.Decide(ctx, v.Claim, in.ID, in.Body.Status)
			return openapi.Answer(reportOf(r), err)
		})
}
