package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
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

func (a *api) moderation() {
	op := func(id, method, path, summary, description string, errors ...int) huma.Operation {
		o := huma.Operation{OperationID: id, Method: method, Path: "/admin/users" + path, Tags: []string{"admin"}, Errors: errors, Summary: summary, Description: description}
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
	route(a, member, Bound{2, 4}, op("unsuspend", http.MethodDelete, "/{userId}/suspension", "End a suspension; staff may", "All is as it was before.", 404),
		func(ctx context.Context, c meet.Claim, in *ByUser) (*none, error) {
			return nil, a.Service.Unsuspend(ctx, c, in.UserID)
		})
	route(a, member, Bound{2, 4}, op("list-accounts", http.MethodGet, "", "Accounts; staff may", "The one with an address, or all by their ids."),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByPage
			Email string `query:"email" maxLength:"254" doc:"The address of an account"`
		},
		) (*body[List[Account]], error) {
			after, err := in.after("list-accounts", c)
			if err != nil {
				return nil, err
			}
			p, err := a.Service.Accounts(ctx, c, in.Email, after, in.Limit)
			return answer(pageOf("list-accounts", c, p.Accounts, p.Next, func(u meet.User) Account {
				account := Account{u.ID, u.Email, u.Name, rules.Age(u.BirthDate, a.Now()), Role(u.Role), nil, optionalStamp(u.DeletedAt)}
				if u.Suspended(a.Now()) {
					account.SuspendedUntil = optionalStamp(u.SuspendedUntil)
				}
				return account
			}), err)
		})
}
