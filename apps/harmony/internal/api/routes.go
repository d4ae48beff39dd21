package api

import (
	"cmp"
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// The parts that inputs share. They are exported because huma fills no others.
type (
	// ByUser names a member.
	ByUser struct {
		UserID string `path:"userId" doc:"The id of a member" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
	}
	// ByDevice says what program asks.
	ByDevice struct {
		UserAgent string `header:"User-Agent" hidden:"true"`
	}
	// Everywhere says which sessions end.
	Everywhere struct {
		Everywhere bool `json:"everywhere,omitempty" doc:"End all sessions of the member" example:"true"`
	}
	// PasswordChange is a new password.
	PasswordChange struct {
		CurrentPassword string `json:"currentPassword" doc:"The password until now" example:"tea under seven lamps"`
		NewPassword     string `json:"newPassword" doc:"10 to 128 characters of any kind" example:"eleven lamps over tea"`
	}
	// PasswordReset is a new password in place of one that was forgotten.
	PasswordReset struct {
		Token    string `json:"token" doc:"As a mail or an operator gave it; good once, for 30 minutes" example:"hx_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
		Password string `json:"password" doc:"10 to 128 characters of any kind" example:"eleven lamps over tea"`
	}
	// Confirmation is the answer to the mail of a registration.
	Confirmation struct {
		Token    string `json:"token" doc:"As the mail gave it; good for a day" example:"hj_aaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
		Password string `json:"password" doc:"The password of the registration" example:"tea under seven lamps"`
	}
	// EmailToken is the answer to the mail of a new address.
	EmailToken struct {
		Token string `json:"token" doc:"As the mail gave it; good for a day" example:"hm_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"`
	}
	// Forgotten names the account of a person who forgot the password.
	Forgotten struct {
		Email string `json:"email" doc:"The address of the account" example:"anna@example.com"`
	}
	// EmailChange is a new address.
	EmailChange struct {
		Password string `json:"password" doc:"The caller's password" example:"tea under seven lamps"`
		Email    string `json:"email" doc:"The new address, at most 254 characters" example:"anna@example.org"`
	}
	// Registered is the session of a new member; nothing until a mail is answered.
	Registered struct{ *Session }
	// Farewell is the password of a member who leaves.
	Farewell struct {
		Password string `json:"password" doc:"The caller's password" example:"tea under seven lamps"`
	}
	// Restorable says how long a deleted account can be restored.
	Restorable struct {
		RestorableUntil *string `json:"restorableUntil" format:"date-time" doc:"Until when; null if there is no end" example:"2026-12-01T12:00:00.000Z"`
	}
	// RoleChange is a new role.
	RoleChange struct {
		Role Role `json:"role" doc:"The new role" example:"moderator"`
	}
)

// meOutput is the caller's account with its version.
type meOutput struct {
	ETag string `header:"ETag" doc:"The version of the account; send it as If-Match to change no newer one" example:"\"3\""`
	Body Me
}

func meAnswer(m meet.Me, err error) (*meOutput, error) {
	if err != nil {
		return nil, err
	}
	return &meOutput{`"` + m.ETag() + `"`, meOf(m)}, nil
}

func sessionAnswer(s meet.SignedIn, err error) (*openapi.Body[Session], error) {
	return openapi.Answer(*sessionOf(s), err)
}

func sessionOf(s meet.SignedIn) *Session {
	return &Session{meOf(s.Me), tokensOf(s.Tokens), s.Device}
}

func (a *api) account() {
	op := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/auth/" + path, Tags: []string{"account"},
			DefaultStatus: status, Errors: errors,
			Summary: summary, Description: description,
		}
	}
	mailed := func(op huma.Operation, description string, body map[string]*huma.MediaType) huma.Operation {
		op.Responses = map[string]*huma.Response{"202": {Description: description, Content: body}}
		return op
	}
	nothing := map[string]*huma.MediaType{
		"application/json": {Schema: &huma.Schema{
			Type: huma.TypeObject, AdditionalProperties: false,
			Description: "Nothing", Examples: []any{map[string]any{}},
		}, Example: map[string]any{}},
	}
	type joined struct {
		Status int
		Body   Registered
	}
	route(a, anyone, Bound{4, 10}, mailed(op("register", http.MethodPost, "register", "Register", "Makes an account and signs it in. Of those who register one address at the same time one gets it. An address of the internet makes five accounts an hour, also such as fail: then 429 TOO_MANY_SIGN_UPS. Where the service sends mail the answer is 202 for every address, and the account is made by POST /auth/confirm.", http.StatusCreated, 409), "A mail is on its way: its link confirms the registration, or it says that there is an account", nothing),
		func(ctx context.Context, _ meet.Claim, in *struct {
			ByDevice
			AcceptLanguage string `header:"Accept-Language" hidden:"true"`
			Body           NewAccount
		},
		) (*joined, error) {
			n := in.Body
			r := meet.Registration{
				Email: n.Email, Password: n.Password, Name: n.Name, BirthDate: n.BirthDate, Gender: string(n.Gender),
				About:    account.About{Bio: n.Bio, Location: n.Location},
				Language: cmp.Or(string(n.Language), rules.Language(in.AcceptLanguage)),
				By:       asker(ctx, "", in.UserAgent),
			}
			if a.Service.SendsMail() {
				return &joined{Status: http.StatusAccepted}, a.Service.Join(ctx, r)
			}
			s, err := a.Service.Register(ctx, r)
			return &joined{http.StatusCreated, Registered{sessionOf(s)}}, err
		})
	route(a, anyone, Bound{5, 12}, op("confirm", http.MethodPost, "confirm", "Confirm a registration by its mail", "Makes the account and signs it in, with the password of the registration: else a stranger could register the address of another person, and wait for that person to confirm it.", http.StatusCreated, 401, 409),
		func(ctx context.Context, _ meet.Claim, in *struct {
			ByDevice
			Body Confirmation
		},
		) (*openapi.Body[Session], error) {
			return sessionAnswer(a.Service.Confirm(ctx, in.Body.Token, in.Body.Password, asker(ctx, "", in.UserAgent)))
		})
	route(a, anyone, Bound{1, 1},
		op("forgot-password", http.MethodPost, "forgot", "Have a mail sent by which a new password is set", "If there is an account with the address. The answer is the same if there is none. An address of the internet asks ten times an hour: then 429 TOO_MANY_MAILS. 409 MAIL_OFF where no mail is sent: an operator gives a token.", http.StatusAccepted, 409),
		func(ctx context.Context, _ meet.Claim, in *openapi.Body[Forgotten]) (*none, error) {
			return nil, a.Service.Forgot(ctx, in.Body.Email, asker(ctx, "", ""))
		})
	type moved struct{ Status int }
	route(a, member, Bound{7, 10}, mailed(op("change-email", http.MethodPost, "change-email", "Change my address", "Where mail is sent, the address is that of the account once the mail there is answered, and the answer is 202, also if an account has the address. Where none is sent it is the account's at once, or 409 EMAIL_TAKEN. Five times an hour: then 429 TOO_MANY_MAILS.", http.StatusNoContent, 409), "A mail is on its way to the new address", nil),
		func(ctx context.Context, c meet.Claim, in *openapi.Body[EmailChange]) (*moved, error) {
			mailed, err := a.Service.MoveTo(ctx, c, in.Body.Password, in.Body.Email)
			if mailed {
				return &moved{http.StatusAccepted}, err
			}
			return &moved{http.StatusNoContent}, err
		})
	route(a, anyone, Bound{9, 10},
		op("confirm-email", http.MethodPost, "confirm-email", "Confirm a new address by its mail",
			"The old address is told. Of accounts that take one address at the same time one gets it.",
			http.StatusNoContent, 401, 409),
		func(ctx context.Context, _ meet.Claim, in *openapi.Body[EmailToken]) (*none, error) {
			return nil, a.Service.ConfirmMove(ctx, in.Body.Token)
		})
	route(a, anyone, Bound{3, 4}, op("login", http.MethodPost, "login", "Sign in", "Ten wrong passwords within 15 minutes for one account from one address of the internet, or forty from it for all accounts, are answered 429 TOO_MANY_ATTEMPTS until they are over. Wrong ones from elsewhere make a sign-in wait up to 8 seconds. A device that sends the deviceToken of a sign-in within 90 days has ten of its own, and waits for no stranger.", http.StatusOK, 401),
		func(ctx context.Context, _ meet.Claim, in *struct {
			ByDevice
			Body Credentials
		},
		) (*openapi.Body[Session], error) {
			return sessionAnswer(a.Service.Login(ctx, in.Body.Email, in.Body.Password,
				asker(ctx, in.Body.DeviceToken, in.UserAgent)))
		})
	route(a, anyone, Bound{2, 3}, op("refresh", http.MethodPost, "refresh", "Get the next tokens", "The same token gets the same answer until the new one is used. After that it is answered 401 REFRESH_REUSED and the session ends.", http.StatusOK, 401),
		func(ctx context.Context, _ meet.Claim, in *openapi.Body[RefreshToken]) (*openapi.Body[Tokens], error) {
			t, err := a.Service.Refresh(ctx, in.Body.RefreshToken)
			return openapi.Answer(tokensOf(t), err)
		})
	route(a, member, Bound{1, 3},
		op("get-me", http.MethodGet, "me", "My account", "A suspended member may ask too.", http.StatusOK),
		func(ctx context.Context, c meet.Claim, _ *none) (*meOutput, error) {
			return meAnswer(a.Service.Me(ctx, c))
		})
	route(a, member, Bound{1, 3},
		op("logout", http.MethodPost, "logout", "Sign out", "Ends the session of the access token, or all sessions.",
			http.StatusNoContent),
		func(ctx context.Context, c meet.Claim, in *struct{ Body *Everywhere }) (*none, error) {
			return nil, a.Service.Logout(ctx, c, in.Body != nil && in.Body.Everywhere)
		})
	route(a, member, Bound{2, 4}, op("change-password", http.MethodPost, "change-password", "Change my password", "All other sessions end, and no device is known any more. Each session has ten wrong passwords within 15 minutes.", http.StatusNoContent),
		func(ctx context.Context, c meet.Claim, in *openapi.Body[PasswordChange]) (*none, error) {
			return nil, a.Service.ChangePassword(ctx, c, in.Body.CurrentPassword, in.Body.NewPassword)
		})
	route(a, anyone, Bound{2, 3},
		op("reset-password", http.MethodPost, "reset", "Set a new password in place of one that was forgotten",
			"By a token of a mail or of an operator. All sessions end.", http.StatusNoContent, 401),
		func(ctx context.Context, _ meet.Claim, in *openapi.Body[PasswordReset]) (*none, error) {
			return nil, a.Service.Reset(ctx, in.Body.Token, in.Body.Password)
		})
	route(a, member, Bound{5, 12}, op("delete-me", http.MethodDelete, "me", "Delete my account", "From the answer on no other member sees it, and its tokens have ended. It can be restored for 30 days; then it is erased. A suspended member may too.", http.StatusAccepted),
		func(ctx context.Context, c meet.Claim, in *openapi.Body[Farewell]) (*openapi.Body[Restorable], error) {
			until, err := a.Service.DeleteMe(ctx, c, in.Body.Password)
			var r Restorable
			if !until.IsZero() {
				at := httpjson.FormatTime(until)
				r.RestorableUntil = &at
			}
			return openapi.Answer(r, err)
		})
	route(a, anyone, Bound{8, 14}, op("restore", http.MethodPost, "restore", "Restore my deleted account", "Within the time that DELETE /auth/me has answered; after it 403 ACCOUNT_DELETED. It signs the member in. Places at events stay given back.", http.StatusOK, 401, 403, 409),
		func(ctx context.Context, _ meet.Claim, in *struct {
			ByDevice
			Body Credentials
		},
		) (*openapi.Body[Session], error) {
			return sessionAnswer(a.Service.Restore(ctx, in.Body.Email, in.Body.Password,
				asker(ctx, in.Body.DeviceToken, in.UserAgent)))
		})
}

func (a *api) people() {
	route(a, member, Bound{1, 6}, huma.Operation{
		OperationID: "get-person", Method: http.MethodGet, Path: "/users/{userId}",
		Tags: []string{"people"}, Errors: []int{404},
		Summary: "A profile", Description: "As far as the caller may see it.",
	}, func(ctx context.Context, c meet.Claim, in *ByUser) (*openapi.Body[Person], error) {
		p, err := a.Service.Person(ctx, c, in.UserID)
		return openapi.Answer(Person{
			cardOf(p.Card), p.Match, p.LikedByMe,
			httpjson.OptionalText(p.ChatID), imagesOf(p.Images),
		}, err)
	})
	route(a, member, Bound{6, 13}, huma.Operation{
		OperationID: "put-person", Method: http.MethodPut, Path: "/users/{userId}",
		Tags: []string{"people"}, Errors: []int{404, 412},
		Summary: "Change my profile", Description: "A gender changes once in 30 days, a position 5 times a day: 429 GENDER_TOO_OFTEN, POSITION_TOO_OFTEN. The profile of another member is answered 403 NOT_YOURS, or 404 if the caller may not see it.",
	}, func(ctx context.Context, c meet.Claim, in *struct {
		ByUser
		IfMatch string `header:"If-Match" doc:"Versions that the account may have; any if it is absent" example:"\"3\""`
		Body    Profile
	},
	) (*meOutput, error) {
		p := in.Body.profile()
		match := func(etag string) bool {
			return in.IfMatch == "" || httpjson.ParseETags([]string{in.IfMatch}).Match(etag)
		}
		return meAnswer(a.Service.SetProfile(ctx, c, in.UserID, p, match))
	})
}

func (a *api) preferences() {
	route(a, member, Bound{1, 4}, huma.Operation{
		OperationID: "get-settings", Method: http.MethodGet, Path: "/settings", Tags: []string{"settings"},
		Summary: "My settings", Description: "Preferences and privacy.",
	}, func(ctx context.Context, c meet.Claim, _ *none) (*openapi.Body[Settings], error) {
		s, err := a.Service.Settings(ctx, c)
		return openapi.Answer(Settings{
			preferencesOf(s.Preferences), privacyOf(s.Privacy),
			httpjson.FormatTime(s.PreferencesUpdated), httpjson.FormatTime(s.PrivacyUpdated),
		}, err)
	})
	route(a, member, Bound{6, 13}, huma.Operation{
		OperationID: "put-preferences", Method: http.MethodPut, Path: "/settings/preferences",
		Tags:        []string{"settings"},
		Summary:     "Change what I look for",
		Description: "Holds from the next request on. Up to 20 times a day: then 429 PREFERENCES_TOO_OFTEN.",
	}, func(ctx context.Context, c meet.Claim, in *openapi.Body[Preferences]) (*openapi.Body[Preferences], error) {
		return openapi.Answer(in.Body, a.Service.SetPreferences(ctx, c, in.Body.rules()))
	})
	route(a, member, Bound{6, 13}, huma.Operation{
		OperationID: "put-privacy", Method: http.MethodPut, Path: "/settings/privacy", Tags: []string{"settings"},
		Summary: "Change what I show", Description: "Holds from the next request on.",
	}, func(ctx context.Context, c meet.Claim, in *openapi.Body[Privacy]) (*openapi.Body[Privacy], error) {
		return openapi.Answer(in.Body, a.Service.SetPrivacy(ctx, c, in.Body.rules()))
	})
}

func (a *api) admin() {
	route(a, member, Bound{2, 4}, huma.Operation{
		OperationID: "put-role", Method: http.MethodPut, Path: "/admin/users/{userId}/role", Tags: []string{"admin"},
		Errors: []int{404}, DefaultStatus: http.StatusNoContent,
		Summary:     "Give a member a role; admins may",
		Description: "Holds from the member's next request on. An admin cannot change their own.",
	}, func(ctx context.Context, c meet.Claim, in *struct {
		ByUser
		Body RoleChange
	},
	) (*none, error) {
		return nil, a.Service.SetRoleOf(ctx, c, in.UserID, meet.Role(in.Body.Role))
	})
}
