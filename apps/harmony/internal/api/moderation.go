package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/reports"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

type (
	// Suspension keeps a member out.
	Suspension struct {
		Days   int    `json:"days" doc:"1 to 3,650, from now on" example:"7"`
		Reason string `json:"reason" doc:"1 to 1,000 characters, for staff" example:"Спам в форуме"`
	}
	// Account is a member as staff see them.
	Account struct {
		UserID         string  `json:"userId" format:"uuid" doc:"The id of the member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
		Email          string  `json:"email" doc:"The address of the account" example:"anna@example.com"`
		Name           string  `json:"name" doc:"Their name" example:"Анна"`
		Age            int     `json:"age" doc:"In years" example:"26"`
		Role           Role    `json:"role" doc:"What they may do beyond others" example:"member"`
		SuspendedUntil *string `json:"suspendedUntil" format:"date-time" doc:"Until when they are suspended, or null" example:"2026-11-08T12:00:00.000Z"`
		DeletedAt      *string `json:"deletedAt" format:"date-time" doc:"When the account was deleted, or null" example:"2026-11-08T12:00:00.000Z"`
	}
)

// Words of short lists, whose values package reports has.
type (
	// ReportKind is one of reports.Kinds.
	ReportKind string
	// ReportReason is one of reports.Reasons.
	ReportReason string
	// ReportAction is one of reports.Actions.
	ReportAction string
)

// Schema returns the values.
func (ReportKind) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(reports.Kinds) }

// Schema returns the values.
func (ReportReason) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(reports.Reasons) }

// Schema returns the values.
func (ReportAction) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(reports.Actions) }

type (
	// NewReport tells staff about something.
	NewReport struct {
		Kind      ReportKind   `json:"kind" doc:"What the report is about: a member (userId), a picture of one (userId and imageId), a message (chatId and messageId), a topic (topicId), a reply (topicId and replyId)" example:"user"`
		UserID    string       `json:"userId,omitempty" doc:"The id of a member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
		ImageID   string       `json:"imageId,omitempty" doc:"The id of a picture" example:"bf516273-8495-46a7-98a9-dafb10213243"`
		ChatID    string       `json:"chatId,omitempty" doc:"The id of a chat" example:"c0627384-95a6-47b8-89ba-eb1021324354"`
		MessageID string       `json:"messageId,omitempty" doc:"The id of a message" example:"2516070383999999999_d1738495-a6b7-48c9-8acb-fc2132435465"`
		TopicID   string       `json:"topicId,omitempty" doc:"The id of a topic" example:"8d2e3f40-5162-4374-8586-a7b8c9daebf1"`
		ReplyID   string       `json:"replyId,omitempty" doc:"The id of a reply" example:"2516070383999999999_9e3f4051-6273-4485-8697-b8c9daebf102"`
		Reason    ReportReason `json:"reason" doc:"What is wrong" example:"spam"`
		Text      string       `json:"text,omitempty" doc:"More about it, up to 1,000 characters" example:"Уже третий раз"`
	}
	// ReportID names a report.
	ReportID struct {
		ReportID string `json:"reportId" doc:"The id of the report" example:"2516070383999999999_af405162-7384-4596-8798-c9daebf10213"`
	}
	// Decision closes a report.
	Decision struct {
		Action ReportAction `json:"action" doc:"dismiss; remove the picture, the message, the topic or the reply; suspend its author, or the member" example:"suspend"`
		Days   int          `json:"days,omitempty" doc:"Of a suspension, 1 to 3,650" example:"7"`
	}
	// Report is a report as staff see it.
	Report struct {
		ReportID
		Kind       ReportKind        `json:"kind" doc:"What it is about" example:"user"`
		Reason     ReportReason      `json:"reason" doc:"What is wrong" example:"spam"`
		Text       string            `json:"text" doc:"More about it" example:"Уже третий раз"`
		ReporterID string            `json:"reporterId" format:"uuid" doc:"Who reported it" example:"0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925"`
		UserID     string            `json:"userId" format:"uuid" doc:"Whom it is about" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
		Snapshot   map[string]string `json:"snapshot" doc:"The texts as they were; of a message also up to nine before it, the oldest first, as before1_author, before1_reporter or before1_other and so on"`
		State      string            `json:"state" enum:"open,done" doc:"Whether staff have closed it" example:"open"`
		Action     *ReportAction     `json:"action" doc:"What they did, or null" example:"suspend"`
		CreatedAt  string            `json:"createdAt" format:"date-time" doc:"When it was sent" example:"2026-11-01T12:00:00.000Z"`
	}
)

func reportOf(r reports.Report) Report {
	out := Report{
		ReportID{r.ID},
		ReportKind(r.Kind), ReportReason(r.Reason), r.Text, r.ReporterID, r.UserID, r.Snapshot,
		r.State(), nil, httpjson.FormatTime(r.CreatedAt),
	}
	if r.Action != "" {
		action := ReportAction(r.Action)
		out.Action = &action
	}
	return out
}

func (a *api) reports() {
	op := huma.Operation{
		OperationID: "report", Method: http.MethodPost, Path: "/reports", Tags: []string{"likes"},
		DefaultStatus: http.StatusCreated, Errors: []int{404},
		Summary:     "Report something to staff",
		Description: "Something that the caller sees. The second report of the same is answered 200, with the same id.",
		Responses: map[string]*huma.Response{
			"200": {
				Description: "It was reported",
				Content: map[string]*huma.MediaType{
					"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/ReportID"}},
				},
			},
		},
	}
	type reported struct {
		Status int
		Body   ReportID
	}
	route(a, member, Bound{4, 13}, op,
		func(ctx context.Context, c meet.Claim, in *openapi.Body[NewReport]) (*reported, error) {
			n := in.Body
			id, created, err := a.Reports.Report(ctx, c,
				reports.Target{
					Kind: string(n.Kind), UserID: n.UserID, ImageID: n.ImageID, ChatID: n.ChatID,
					MessageID: n.MessageID, TopicID: n.TopicID, ReplyID: n.ReplyID,
				}, string(n.Reason), n.Text)
			if err != nil {
				return nil, err
			}
			out := &reported{http.StatusOK, ReportID{id}}
			if created {
				out.Status = http.StatusCreated
			}
			return out, nil
		})
	route(a, member, Bound{1, 3}, huma.Operation{
		OperationID: "list-reports", Method: http.MethodGet, Path: "/admin/reports", Tags: []string{"admin"},
		Summary: "Reports; staff may", Description: "The newest first.",
	}, func(ctx context.Context, c meet.Claim, in *struct {
		ByPage
		State string `query:"state" enum:"open,done" default:"open" doc:"Those that wait, or those that are closed" example:"open"`
	},
	) (*openapi.Body[List[Report]], error) {
		list := "list-reports " + in.State
		after, err := in.after(list, c)
		if err != nil {
			return nil, err
		}
		p, err := a.Reports.List(ctx, c, in.State == "done", after, in.Limit)
		return openapi.Answer(pageOf(list, c, p.Reports, p.Next, reportOf), err)
	})
	route(a, member, Bound{7, 17}, huma.Operation{
		OperationID: "close-report", Method: http.MethodPut, Path: "/admin/reports/{reportId}",
		Tags: []string{"admin"}, Errors: []int{404},
		Summary:     "Close a report; staff may",
		Description: "Does what staff decide, once. A report that is closed is answered as it is.",
	}, func(ctx context.Context, c meet.Claim, in *struct {
		ReportID string `path:"reportId" doc:"The id of a report" example:"2516070383999999999_af405162-7384-4596-8798-c9daebf10213"`
		Body     Decision
	},
	) (*openapi.Body[Report], error) {
		r, err := a.Reports.Close(ctx, c, in.ReportID, string(in.Body.Action), in.Body.Days)
		return openapi.Answer(reportOf(r), err)
	})
}

func (a *api) moderation() {
	op := func(id, method, path, summary, description string, errors ...int) huma.Operation {
		o := huma.Operation{
			OperationID: id, Method: method, Path: "/admin/users" + path, Tags: []string{"admin"},
			Errors: errors, Summary: summary, Description: description,
		}
		if method != http.MethodGet {
			o.DefaultStatus = http.StatusNoContent
		}
		return o
	}
	route(a, member, Bound{2, 4}, op("suspend", http.MethodPost, "/{userId}/suspension", "Suspend a member; staff may", "From then on every request of theirs is answered 403 ACCOUNT_SUSPENDED, and others do not see them. Only admins suspend staff.", 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByUser
			Body Suspension
		},
		) (*none, error) {
			return nil, a.Service.Suspend(ctx, c, in.UserID, in.Body.Days, in.Body.Reason)
		})
	route(a, member, Bound{2, 4},
		op("unsuspend", http.MethodDelete, "/{userId}/suspension", "End a suspension; staff may",
			"All is as it was before.", 404),
		func(ctx context.Context, c meet.Claim, in *ByUser) (*none, error) {
			return nil, a.Service.Unsuspend(ctx, c, in.UserID)
		})
	route(a, member, Bound{2, 4},
		op("list-accounts", http.MethodGet, "", "Accounts; staff may", "The one with an address, or all by their ids."),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByPage
			Email string `query:"email" maxLength:"254" doc:"The address of an account"`
		},
		) (*openapi.Body[List[Account]], error) {
			after, err := in.after("list-accounts", c)
			if err != nil {
				return nil, err
			}
			p, err := a.Service.Accounts(ctx, c, in.Email, after, in.Limit)
			return openapi.Answer(pageOf("list-accounts", c, p.Accounts, p.Next, func(u meet.User) Account {
				account := Account{
					u.ID, u.Email, u.Name, rules.Age(u.BirthDate, a.Now()), Role(u.Role), nil,
					httpjson.OptionalTime(u.DeletedAt),
				}
				if u.Suspended(a.Now()) {
					account.SuspendedUntil = httpjson.OptionalTime(u.SuspendedUntil)
				}
				return account
			}), err)
		})
}
