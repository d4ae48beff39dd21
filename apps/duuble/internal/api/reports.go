package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/duuble/internal/manage"
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

// A NewReport reports one of the three.
type NewReport struct {
	Reason  Reason `json:"reason" doc:"What it is" example:"spam"`
	Details string `json:"details,omitempty" doc:"Up to 2,000 characters" example:"The same text under every post"`
	UserID  string `json:"userId,omitempty" doc:"A person" example:"01KA0000000000000000000001"`
	PostID  string `json:"postId,omitempty" doc:"Or a post" example:"01KA0000000000000000000003"`
	HubID   string `json:"hubId,omitempty" doc:"Or a hub" example:"01KA0000000000000000000004"`
}

// target returns what is reported.
func (r NewReport) target() (manage.Target, error) {
	all := []manage.Target{{Kind: manage.APerson, ID: r.UserID}, {Kind: manage.APost, ID: r.PostID}, {Kind: manage.AHub, ID: r.HubID}}
	var of manage.Target
	n := 0
	for _, t := range all {
		if t.ID != "" {
			of = t
			n++
		}
	}
	if n != 1 {
		return of, &fault.Error{Kind: fault.Invalid, Text: "the request breaks the rules named here", Fields: []fault.Field{{Name: "body", Message: "give one of userId, postId and hubId"}}}
	}
	return of, nil
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
	ReportID  string      `json:"reportId" doc:"The id of the report" example:"01KA000000000000000000000A"`
	Reporter  Person      `json:"reporter" doc:"Who reported"`
	UserID    *string     `json:"userId" doc:"The person that is reported, or null" example:"01KA0000000000000000000001"`
	PostID    *string     `json:"postId" doc:"The post, or null" example:"01KA0000000000000000000003"`
	HubID     *string     `json:"hubId" doc:"The hub, or null" example:"01KA0000000000000000000004"`
	Reason    Reason      `json:"reason" doc:"What it is" example:"spam"`
	Details   string      `json:"details" doc:"What the reporter wrote to it, or nothing" example:"The same text under every post"`
	Status    ReportState `json:"status" doc:"Whether it is decided" example:"open"`
	CreatedAt string      `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-11-01T12:00:00.000Z"`
	DecidedAt *string     `json:"decidedAt" format:"date-time" doc:"When it was decided, or null" example:"2026-11-01T12:00:00.000Z"`
}

func reportOf(r manage.Report) Report {
	one := Report{ReportID: r.ID, Reporter: personOf(r.Reporter), Reason: Reason(r.Reason), Details: r.Details, Status: ReportState(r.Status), CreatedAt: httpjson.FormatTime(r.CreatedAt), DecidedAt: httpjson.OptionalTime(r.DecidedAt)}
	switch r.Target.Kind {
	case manage.APerson:
		one.UserID = &r.Target.ID
	case manage.APost:
		one.PostID = &r.Target.ID
	case manage.AHub:
		one.HubID = &r.Target.ID
	}
	return one
}

// A Decision ends a report.
type Decision struct {
	Status string `json:"status" enum:"resolved,dismissed" doc:"How" example:"resolved"`
}

func (a *api) reports() {
	report := operation("people", "report", http.MethodPost, "/reports", "Report a person, a post or a hub", "Once, what the caller may see: again it is answered 200 with the same report. Those who manage the service alone learn of it.", http.StatusCreated, 404)
	report.Responses = map[string]*huma.Response{"200": {Description: "The caller has reported it before", Content: map[string]*huma.MediaType{"application/json": {
		Schema: &huma.Schema{Ref: "#/components/schemas/Reported"}, Example: Reported{"01KA000000000000000000000A", manage.Open},
	}}}}
	route(a, person, Bound{6, 20}, report, func(ctx context.Context, v visit, in *struct{ Body NewReport }) (*reported, error) {
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
	route(a, person, Bound{4, 50}, operation("admin", "list-reports", http.MethodGet, "/admin/reports", "The reports", "With a status, the newest first.", http.StatusOK),
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
	route(a, person, Bound{3, 10}, operation("admin", "restore-user", http.MethodPost, "/admin/users/{id}/restore", "Bring back the account of a person", "With all that it had, up to 30 days after the person left. One that is there is as good.", http.StatusOK, 404),
		func(ctx context.Context, v visit, in *ByID) (*openapi.Body[Person], error) {
			p, err := a.People.RestoreUser(ctx, v.Claim, in.ID)
			return openapi.Answer(personOf(p), err)
		})
	route(a, person, Bound{6, 23}, operation("admin", "remove-post", http.MethodDelete, "/admin/posts/{id}", "Delete a post of anybody", "At once it is not there for anybody. Its author cannot bring it back; those who manage the service can, for 30 days.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.Posts.RemoveAny(ctx, v.Claim, in.ID)
		})
	route(a, person, Bound{6, 23}, operation("admin", "restore-any-post", http.MethodPost, "/admin/posts/{id}/restore", "Bring back a post", "One that somebody who manages the service has deleted. One that is there is as good.", http.StatusNoContent, 404),
		func(ctx context.Context, v visit, in *ByID) (*none, error) {
			return nil, a.Posts.RestoreAny(ctx, v.Claim, in.ID)
		})
	route(a, person, Bound{11, 15}, operation("admin", "decide-report", http.MethodPost, "/admin/reports/{id}/decide", "Decide a report", "Once.", http.StatusOK, 404, 409),
		func(ctx context.Context, v visit, in *struct {
			ByID
			Body Decision
		},
		) (*openapi.Body[Report], error) {
			r, err := a.Posts.Manage.Decide(ctx, v.Claim, in.ID, in.Body.Status)
			return openapi.Answer(reportOf(r), err)
		})
}
