package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/cursor"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

// Words of short lists, whose values package events has.
type (
	// EventCategory is one of events.Categories.
	EventCategory string
	// EventVisibility is one of events.Visibilities.
	EventVisibility string
)

// Schema returns the values.
func (EventCategory) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(events.Categories) }

// Schema returns the values.
func (EventVisibility) Schema(huma.Registry) *huma.Schema { return openapi.OneOf(events.Visibilities) }

// A Price is what a place or an item costs.
type Price struct {
	AmountMinor int64  `json:"amountMinor"`
	Currency    string `json:"currency"`
}

// Schema returns an object that may be null.
func (Price) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeObject, Nullable: true, AdditionalProperties: false,
		Required: []string{"amountMinor", "currency"},
		Properties: map[string]*huma.Schema{
			"amountMinor": {
				Type: huma.TypeInteger, Format: "int64",
				Description: "In the smallest unit of the currency, 0 to 1,000,000,000,000", Examples: []any{250_000},
			},
			"currency": {Type: huma.TypeString, Description: "A code of ISO 4217", Examples: []any{"RUB"}},
		},
	}
}

// NewEvent is what staff write about an event.
type NewEvent struct {
	Title       string          `json:"title" doc:"3 to 120 characters" example:"Концерт на крыше"`
	Description string          `json:"description" doc:"Up to 10,000 characters" example:"Все песни подряд"`
	TimeZone    string          `json:"timeZone,omitempty" maxLength:"64" doc:"The zone that its times are told in, by its name of IANA, a place such as Europe/Moscow, or UTC: others are refused as TIME_ZONE_UNKNOWN; absent for the one that it has, UTC for a new one" example:"Europe/Moscow"`
	StartDate   string          `json:"startDate" doc:"An instant with its offset, or a time of the zone, such as 2026-12-31T23:00. A time that clocks skip is refused as TIME_SKIPPED, one that they show twice as TIME_TWICE" example:"2026-12-31T20:00:00Z"`
	EndDate     *string         `json:"endDate,omitempty" nullable:"true" doc:"Likewise, not before startDate; absent if there is no end" example:"2026-12-31T23:00:00Z"`
	Location    string          `json:"location" doc:"Up to 200 characters" example:"Москва, Большая Никитская, 1"`
	Capacity    *int            `json:"capacity,omitempty" nullable:"true" doc:"1 to 100,000 places, no fewer than members attend; absent for no limit" example:"50"`
	Category    EventCategory   `json:"category" doc:"What it is" example:"concert"`
	Price       *Price          `json:"price,omitempty" doc:"What a place costs; absent or null if nothing is said"`
	Visibility  EventVisibility `json:"visibility" doc:"public: everybody sees it; secretTeaser: title and dates, the rest by invite; secretHidden: nothing without an invite" example:"public"`
	IsPublished bool            `json:"isPublished" doc:"Until then staff alone see it" example:"true"`
	IsCancelled *bool           `json:"isCancelled,omitempty" nullable:"true" doc:"Whether it will not be: those who see it see that, and it gives no places; absent to leave it as it is" example:"false"`
}

func (n NewEvent) draft() events.Draft {
	d := events.Draft{
		Title: n.Title, Description: n.Description, Start: n.StartDate, Location: n.Location, Capacity: n.Capacity,
		Category: string(n.Category), Visibility: string(n.Visibility), Published: n.IsPublished,
		Zone: n.TimeZone, Cancelled: n.IsCancelled,
	}
	if n.EndDate != nil {
		d.End = *n.EndDate
	}
	if n.Price != nil {
		d.Price = &rules.Price{Minor: n.Price.AmountMinor, Currency: n.Price.Currency}
	}
	return d
}

// An Event is an event as the caller sees it.
type Event struct {
	EventID       string          `json:"eventId" format:"uuid" doc:"The id of the event" example:"7c1d2e3f-4051-4263-8475-96a7b8c9dae0"`
	Title         string          `json:"title" doc:"What it is called" example:"Концерт на крыше"`
	Description   string          `json:"description" doc:"About it; empty in a teaser" example:"Все песни подряд"`
	ImageURL      *string         `json:"imageUrl" doc:"Its picture of up to 2,048 pixels a side, or null; with _320.jpg at its end a small one" example:"/api/v1/images/event/7c1d2e3f-4051-4263-8475-96a7b8c9dae0/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925.jpg"`
	StartDate     string          `json:"startDate" format:"date-time" doc:"When it begins" example:"2026-12-31T20:00:00.000Z"`
	EndDate       *string         `json:"endDate" format:"date-time" doc:"When it ends, or null" example:"2026-12-31T23:00:00.000Z"`
	TimeZone      string          `json:"timeZone" doc:"The zone to tell its times in, by its name of IANA" example:"Europe/Moscow"`
	Location      string          `json:"location" doc:"Where it is; empty in a teaser" example:"Москва, Большая Никитская, 1"`
	Capacity      *int            `json:"capacity" doc:"How many places there are; null for no limit" example:"50"`
	Category      EventCategory   `json:"category" doc:"What it is" example:"concert"`
	Price         *Price          `json:"price" doc:"What a place costs, or null; null in a teaser"`
	OrganizerID   string          `json:"organizerId" doc:"The admin who made it; empty in a teaser" example:"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40"`
	Visibility    EventVisibility `json:"visibility" doc:"How much of it those see who do not attend" example:"public"`
	IsSecret      bool            `json:"isSecret" doc:"Whether it is not public" example:"false"`
	IsPublished   bool            `json:"isPublished" doc:"False: staff alone see it" example:"true"`
	IsCancelled   bool            `json:"isCancelled" doc:"Whether it will not be" example:"false"`
	Teaser        bool            `json:"teaser" doc:"Whether this is a teaser: an invite shows the rest" example:"false"`
	AttendeeCount *int            `json:"attendeeCount" doc:"How many members attend; null in a teaser" example:"12"`
	IsAttending   bool            `json:"isAttending" doc:"Whether the caller attends" example:"false"`
	IsNewPlace    bool            `json:"isNewPlace" doc:"Whether the caller waited, was given a place, and has not been told by the page of the event; false in lists but that of one's own" example:"false"`
	WaitingCount  *int            `json:"waitingCount" doc:"How many members wait for a place; null in a teaser" example:"0"`
	IsWaiting     bool            `json:"isWaiting" doc:"Whether the caller waits for a place" example:"false"`
	WaitingPlace  *int            `json:"waitingPlace" doc:"Where the caller stands among those who wait, 1 being the next; null for one who does not wait, and in lists" example:"2"`
	ChatID        *string         `json:"chatId" doc:"Its chat, if the caller takes part; null in lists but that of one's own" example:"5d3c2b1a-0f9e-4d8c-8b7a-695847362514"`
	Topics        []EventTopic    `json:"topics" nullable:"false" doc:"Those that the caller sees; empty in lists, and for guests"`
	CreatedAt     string          `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-11-01T12:00:00.000Z"`
	UpdatedAt     string          `json:"updatedAt" format:"date-time" doc:"When it was changed last" example:"2026-11-01T12:00:00.000Z"`
}

// An EventTopic is a topic of an event.
type EventTopic struct {
	TopicID    string          `json:"topicId" format:"uuid" doc:"The id of the topic" example:"8d2e3f40-5162-4374-8586-a7b8c9daebf1"`
	Title      string          `json:"title" doc:"What it is called" example:"Концерт на крыше"`
	Visibility TopicVisibility `json:"visibility" doc:"Whom it is for" example:"public"`
}

// optionalStamp writes an instant, null if it is zero.
func eventOf(v events.View) Event {
	e := Event{
		EventID: v.ID, Title: v.Title, ImageURL: httpjson.OptionalText(v.ImageURL), Description: v.Description,
		StartDate: httpjson.FormatTime(v.Start), EndDate: httpjson.OptionalTime(v.End), Location: v.Location,
		Category: EventCategory(v.Category), OrganizerID: v.OrganizerID,
		Visibility: EventVisibility(v.Visibility), IsSecret: v.Secret(),
		TimeZone: v.Zone, IsCancelled: v.Cancelled, Topics: []EventTopic{}, IsPublished: v.Published,
		Teaser: v.Sight == events.Teaser, IsAttending: v.Attends, IsNewPlace: v.NewPlace, IsWaiting: v.Waits,
		ChatID: httpjson.OptionalText(v.ChatID), CreatedAt: httpjson.FormatTime(v.CreatedAt),
		UpdatedAt: httpjson.FormatTime(v.UpdatedAt),
	}
	for _, t := range v.Topics {
		e.Topics = append(e.Topics, EventTopic{t.ID, t.Title, TopicVisibility(t.Visibility)})
	}
	if v.Capacity > 0 {
		e.Capacity = &v.Capacity
	}
	if v.Price != nil {
		e.Price = &Price{v.Price.Minor, v.Price.Currency}
	}
	if !e.Teaser {
		e.AttendeeCount, e.WaitingCount = &v.Attendees, &v.Waiting
	}
	if v.WaitingPlace > 0 {
		e.WaitingPlace = &v.WaitingPlace
	}
	return e
}

// An Author is what the caller sees of a member who wrote or takes part in something.
type Author struct {
	UserID   *string `json:"userId"`
	Name     string  `json:"name"`
	ImageURL *string `json:"imageUrl"`
}

// Schema returns an object that may be null.
func (Author) Schema(huma.Registry) *huma.Schema {
	text := func(doc, example string, nullable bool) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Nullable: nullable, Description: doc, Examples: []any{example}}
	}
	return &huma.Schema{
		Type: huma.TypeObject, Nullable: true, AdditionalProperties: false,
		Required: []string{"userId", "name", "imageUrl"},
		Properties: map[string]*huma.Schema{
			"userId": text("The id of the member; null if the caller may not see their profile",
				"3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40", true),
			"name":     text("Their name", "Анна", false),
			"imageUrl": text("Their first picture, or null", "/api/v1/images/profile/3f2b8c1e-9d47-4b6a-8e0f-5a7c1d2e3f40/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925.jpg", true),
		},
	}
}

func authorOf(a *meet.Author) *Author {
	if a == nil {
		return nil
	}
	return &Author{httpjson.OptionalText(a.ID), a.Name, httpjson.OptionalText(a.ImageURL)}
}

type (
	// Registration is the caller's place at an event.
	Registration struct {
		EventID       string `json:"eventId" format:"uuid" doc:"The id of the event" example:"7c1d2e3f-4051-4263-8475-96a7b8c9dae0"`
		RegisteredAt  string `json:"registeredAt" format:"date-time" doc:"Since when the caller has it" example:"2026-11-01T12:00:00.000Z"`
		AttendeeCount int    `json:"attendeeCount" doc:"How many members attend" example:"12"`
	}
	// Wait is the caller's place on the waiting list of an event.
	Wait struct {
		EventID      string `json:"eventId" format:"uuid" doc:"The id of the event" example:"7c1d2e3f-4051-4263-8475-96a7b8c9dae0"`
		WaitingSince string `json:"waitingSince" format:"date-time" doc:"Since when the caller waits" example:"2026-11-01T12:00:00.000Z"`
		WaitingPlace int    `json:"waitingPlace" doc:"1 is the next to be given a place" example:"2"`
	}
	// InviteCode is an invite that the caller shows.
	InviteCode struct {
		InviteCode string `json:"inviteCode,omitempty" doc:"Its case does not count" example:"ALOE-2026"`
	}
	// Attendee is a member who attends an event.
	Attendee struct {
		User         *Author `json:"user" doc:"Who it is; null if the account is no more"`
		RegisteredAt string  `json:"registeredAt" format:"date-time" doc:"Since when they have a place" example:"2026-11-01T12:00:00.000Z"`
		Attended     bool    `json:"attended" doc:"Whether they came, as admins note" example:"false"`
	}
	// Attendance is whether a member came.
	Attendance struct {
		Attended bool `json:"attended" doc:"Whether they came" example:"true"`
	}
	// NewInvite asks for an invite.
	NewInvite struct {
		Code      string `json:"code,omitempty" doc:"4 to 32 letters of A to Z, digits and hyphens; drawn if it is absent" example:"ALOE-2026"`
		ExpiresAt string `json:"expiresAt,omitempty" doc:"An instant with its offset, or a time of the event's zone; absent for never" example:"2026-12-31T20:00:00Z"`
		Rotate    bool   `json:"rotate,omitempty" doc:"Revoke all others" example:"true"`
	}
	// Invite is a code that opens an event.
	Invite struct {
		Code      string  `json:"code" doc:"The code" example:"ALOE-2026"`
		ExpiresAt *string `json:"expiresAt" format:"date-time" doc:"When it ends, or null" example:"2026-12-31T20:00:00.000Z"`
		Revoked   bool    `json:"revoked" doc:"Whether it opens nothing any more" example:"false"`
		Uses      int     `json:"uses" doc:"How many registrations it made" example:"3"`
		CreatedAt string  `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-11-01T12:00:00.000Z"`
	}
	// ByEvent names an event.
	ByEvent struct {
		EventID string `path:"eventId" doc:"The id of an event" example:"7c1d2e3f-4051-4263-8475-96a7b8c9dae0"`
	}
	// ByInvite shows an invite.
	ByInvite struct {
		Invite string `query:"invite" maxLength:"100" doc:"The code of an invite"`
	}
)

func inviteOf(i events.Invite) Invite {
	return Invite{i.Code, httpjson.OptionalTime(i.ExpiresAt), i.Revoked, i.Uses, httpjson.FormatTime(i.CreatedAt)}
}

func attendeeOf(g events.Guest) Attendee {
	return Attendee{authorOf(g.Author), httpjson.FormatTime(g.RegisteredAt), g.Attended}
}

// pageOf returns a page of a list as it is answered.
func pageOf[E, T any](list string, c meet.Claim, entries []E, next string, entry func(E) T) List[T] {
	l := List[T]{Items: make([]T, len(entries)), NextCursor: cursor.Seal(list+" "+c.UserID, next)}
	for i, e := range entries {
		l.Items[i] = entry(e)
	}
	return l
}

// sentAgain says of a route what an Idempotency-Key is for.
const sentAgain = "With an Idempotency-Key the same request twice makes one; with another body it makes another."

// A calendarFile is an event for a calendar.
type calendarFile struct {
	ContentType string `header:"Content-Type" doc:"text/calendar"`
	Disposition string `header:"Content-Disposition" doc:"It is a file to open elsewhere"`
	Body        []byte
}

const calendarType = "text/calendar"

func (a *api) events() {
	event := func(id, method, path, summary, description string, errors ...int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{"events"}, Errors: errors,
			Summary: summary, Description: description,
		}
	}
	route(a, visitor, Bound{2, 44}, event("list-events", http.MethodGet, "/events", "Events", "Those that are not over, the soonest end first; or past ones, the latest first; or those that the caller attends or waits for, the newest registration first. Events with the visibility secretTeaser are teasers for every caller. With invite those alone that it opens and that are not over: none for a wrong code. Ten of these within 15 minutes: 429 TOO_MANY_ATTEMPTS.", 401),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByPage
			Category EventCategory `query:"category" doc:"Only events of a category" example:"concert"`
			When     string        `query:"when" enum:"upcoming,past" default:"upcoming" doc:"Those that are not over, or those that are" example:"upcoming"`
			Mine     bool          `query:"mine" doc:"Only events that the caller attends, past ones too, or waits for" example:"false"`
			ByInvite
		},
		) (*openapi.Body[List[Event]], error) {
			list := "list-events " + string(in.Category) + " " + in.When
			if in.Mine {
				list = "list-events mine"
			}
			after, err := in.after(list, c)
			if err != nil {
				return nil, err
			}
			var p events.Page
			if in.Invite != "" {
				p.Events, err = a.Events.Opened(ctx, c, in.Invite, from(ctx))
			} else if in.Mine {
				p, err = a.Events.Mine(ctx, c, after, in.Limit)
			} else {
				p, err = a.Events.List(ctx, c, events.Query{Category: string(in.Category), Past: in.When == "past"},
					after, in.Limit)
			}
			return openapi.Answer(pageOf(list, c, p.Events, p.Next, eventOf), err)
		})
	route(a, visitor, Bound{2, 36}, event("get-event", http.MethodGet, "/events/{eventId}", "An event", "As much of it as the caller may see, by an invite all. Ten wrong invites within 15 minutes: 429 TOO_MANY_ATTEMPTS.", 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			ByInvite
		},
		) (*openapi.Body[Event], error) {
			v, err := a.Events.Event(ctx, c, in.EventID, in.Invite, from(ctx))
			return openapi.Answer(eventOf(v), err)
		})
	calendar := event("get-event-calendar", http.MethodGet, "/events/{eventId}/calendar.ics",
		"An event, for a calendar", "A file of iCalendar with as much of the event as the caller may see. It has the same UID for ever, and the status CANCELLED once the event is.", 404)
	calendar.Responses = map[string]*huma.Response{
		"200": {
			Description: "The file",
			Content:     map[string]*huma.MediaType{calendarType: {Schema: &huma.Schema{Type: huma.TypeString}}},
		},
	}
	route(a, visitor, Bound{1, 5}, calendar, func(ctx context.Context, c meet.Claim, in *struct {
		ByEvent
		ByInvite
	},
	) (*calendarFile, error) {
		page := openapi.CallOf[visit](ctx).origin + "/app/events/" + in.EventID
		body, err := a.Events.Calendar(ctx, c, in.EventID, in.Invite, from(ctx), page)
		if err != nil {
			return nil, err
		}
		return &calendarFile{calendarType + "; charset=utf-8", `attachment; filename="event.ics"`, body}, nil
	})
	register := event("register-for-event", http.MethodPost, "/events/{eventId}/register", "Attend an event", "Of those who ask for the last place at the same time one gets it: 409 EVENT_FULL. Members who wait come first. Who had a place is answered 200. Until the event begins: 409 EVENT_STARTED; 409 EVENT_CANCELLED if it is.", 404, 409)
	register.DefaultStatus = http.StatusCreated
	register.Responses = map[string]*huma.Response{
		"200": {
			Description: "The caller had a place",
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Registration"}},
			},
		},
	}
	type registered struct {
		Status int
		Body   Registration
	}
	route(a, member, Bound{5, 14}, register, func(ctx context.Context, c meet.Claim, in *struct {
		ByEvent
		Body InviteCode
	},
	) (*registered, error) {
		r, created, err := a.Events.Register(ctx, c, in.EventID, in.Body.InviteCode, from(ctx))
		if err != nil {
			return nil, err
		}
		out := &registered{http.StatusOK, Registration{r.EventID, httpjson.FormatTime(r.RegisteredAt), r.Attendees}}
		if created {
			out.Status = http.StatusCreated
		}
		return out, nil
	})
	leave := event("leave-event", http.MethodDelete, "/events/{eventId}/register", "Attend an event no more",
		"The place is given to whoever waits first. Until the event begins: 409 EVENT_STARTED.", 404, 409)
	leave.DefaultStatus = http.StatusNoContent
	route(a, member, Bound{14, 22}, leave, func(ctx context.Context, c meet.Claim, in *ByEvent) (*none, error) {
		return nil, a.Events.Unregister(ctx, c, in.EventID)
	})
	wait := event("wait-for-event", http.MethodPost, "/events/{eventId}/wait", "Wait for a place", "At an event that is full: 409 EVENT_HAS_PLACES if it is not, ALREADY_ATTENDS for one who has a place, WAITING_LIST_FULL if 200 wait. A place that is given back, or added, is given to whoever waits first. Who waited already is answered 200.", 404, 409)
	wait.DefaultStatus = http.StatusCreated
	wait.Responses = map[string]*huma.Response{
		"200": {
			Description: "The caller waited",
			Content: map[string]*huma.MediaType{
				"application/json": {Schema: &huma.Schema{Ref: "#/components/schemas/Wait"}},
			},
		},
	}
	type waiting struct {
		Status int
		Body   Wait
	}
	route(a, member, Bound{5, 10}, wait, func(ctx context.Context, c meet.Claim, in *struct {
		ByEvent
		Body InviteCode
	},
	) (*waiting, error) {
		w, created, err := a.Events.WaitFor(ctx, c, in.EventID, in.Body.InviteCode, from(ctx))
		if err != nil {
			return nil, err
		}
		out := &waiting{http.StatusOK, Wait{w.EventID, httpjson.FormatTime(w.Since), w.Place}}
		if created {
			out.Status = http.StatusCreated
		}
		return out, nil
	})
	stop := event("leave-waiting", http.MethodDelete, "/events/{eventId}/wait", "Wait for a place no more",
		"Who was given a place meanwhile keeps it.", 404)
	stop.DefaultStatus = http.StatusNoContent
	route(a, member, Bound{5, 9}, stop, func(ctx context.Context, c meet.Claim, in *ByEvent) (*none, error) {
		return nil, a.Events.WaitNoMore(ctx, c, in.EventID)
	})
	route(a, member, Bound{3, 68},
		event("list-attendees", http.MethodGet, "/events/{eventId}/attendees", "Who attends",
			"Told to attendees and staff: 403 ATTENDEES_ONLY. Members whom the caller may not see are not in it.", 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			ByPage
		},
		) (*openapi.Body[List[Attendee]], error) {
			list := "list-attendees " + in.EventID
			after, err := in.after(list, c)
			if err != nil {
				return nil, err
			}
			p, err := a.Events.Attendees(ctx, c, in.EventID, after, in.Limit)
			return openapi.Answer(pageOf(list, c, p.Guests, p.Next, attendeeOf), err)
		})
	a.adminEvents()
}

func (a *api) adminEvents() {
	admin := func(id, method, path, summary, description string, status int, errors ...int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: "/admin/events" + path, Tags: []string{"admin"},
			DefaultStatus: status, Errors: errors,
			Summary: summary, Description: description,
		}
	}
	route(a, member, Bound{2, 23},
		admin("list-all-events", http.MethodGet, "", "All events; staff may",
			"By their ends, past ones first; those that are not published too.", http.StatusOK),
		func(ctx context.Context, c meet.Claim, in *ByPage) (*openapi.Body[List[Event]], error) {
			after, err := in.after("list-all-events", c)
			if err != nil {
				return nil, err
			}
			p, err := a.Events.All(ctx, c, after, in.Limit)
			return openapi.Answer(pageOf("list-all-events", c, p.Events, p.Next, eventOf), err)
		})
	route(a, member, Bound{5, 18},
		admin("new-event", http.MethodPost, "", "Make an event; admins may",
			"If it is published, it is in the lists when the answer is there, with a chat and two topics. "+sentAgain,
			http.StatusCreated),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByKey
			Body NewEvent
		},
		) (*openapi.Body[Event], error) {
			d := in.Body.draft()
			d.Key = in.Key
			v, err := a.Events.NewEvent(ctx, c, d)
			return openapi.Answer(eventOf(v), err)
		})
	route(a, member, Bound{6, 20},
		admin("put-event", http.MethodPut, "/{eventId}", "Change an event; admins may",
			"Places that are taken cannot be taken away: 409 CAPACITY_TOO_SMALL.", http.StatusOK, 404, 409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			Body NewEvent
		},
		) (*openapi.Body[Event], error) {
			v, err := a.Events.Edit(ctx, c, in.EventID, in.Body.draft())
			return openapi.Answer(eventOf(v), err)
		})
	route(a, member, Bound{5, 17},
		imageSent(admin("put-event-image", http.MethodPut, "/{eventId}/image", "Give an event a picture; admins may",
			sentImage, http.StatusOK, 404)),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			RawBody []byte `contentType:"image/jpeg"`
		},
		) (*openapi.Body[Event], error) {
			v, err := a.Events.SetImage(ctx, c, in.EventID, in.RawBody)
			return openapi.Answer(eventOf(v), err)
		})
	route(a, member, Bound{4, 16},
		admin("delete-event", http.MethodDelete, "/{eventId}", "Delete an event; admins may",
			"From then on no caller finds it.", http.StatusNoContent, 404),
		func(ctx context.Context, c meet.Claim, in *ByEvent) (*none, error) {
			return nil, a.Events.Delete(ctx, c, in.EventID)
		})
	route(a, member, Bound{1, 4},
		admin("list-invites", http.MethodGet, "/{eventId}/invites", "The invites of an event; admins may",
			"By their codes, those that are revoked too.", http.StatusOK, 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			ByPage
		},
		) (*openapi.Body[List[Invite]], error) {
			list := "list-invites " + in.EventID
			after, err := in.after(list, c)
			if err != nil {
				return nil, err
			}
			p, err := a.Events.Invites(ctx, c, in.EventID, after, in.Limit)
			return openapi.Answer(pageOf(list, c, p.Invites, p.Next, inviteOf), err)
		})
	route(a, member, Bound{4, 7},
		admin("new-invite", http.MethodPost, "/{eventId}/invites", "Make an invite; admins may",
			"Good for any number of members, for its event alone. With rotate all others are revoked. "+sentAgain,
			http.StatusCreated, 404, 409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			ByKey
			Body NewInvite
		},
		) (*openapi.Body[Invite], error) {
			i, err := a.Events.NewInvite(ctx, c, in.EventID,
				events.InviteDraft{
					Code: in.Body.Code, ExpiresAt: in.Body.ExpiresAt,
					Rotate: in.Body.Rotate, Key: in.Key,
				})
			return openapi.Answer(inviteOf(i), err)
		})
	route(a, member, Bound{2, 4},
		admin("revoke-invite", http.MethodDelete, "/{eventId}/invites/{code}", "Revoke an invite; admins may",
			"Members who attend by it still do.", http.StatusNoContent, 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			Code string `path:"code" doc:"The code of an invite" example:"ALOE-2026"`
		},
		) (*none, error) {
			return nil, a.Events.Revoke(ctx, c, in.EventID, in.Code)
		})
	route(a, member, Bound{3, 8},
		admin("put-attendee", http.MethodPut, "/{eventId}/attendees/{userId}", "Note whether a member came; admins may",
			"Once the event has begun: 409 EVENT_NOT_STARTED.", http.StatusOK, 404, 409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			ByUser
			Body Attendance
		},
		) (*openapi.Body[Attendee], error) {
			g, err := a.Events.SetAttended(ctx, c, in.EventID, in.UserID, in.Body.Attended)
			return openapi.Answer(attendeeOf(g), err)
		})
	route(a, member, Bound{14, 22},
		admin("remove-attendee", http.MethodDelete, "/{eventId}/attendees/{userId}",
			"Take a member's place back; admins may", "At any time; there is no harm in doing it twice.",
			http.StatusNoContent, 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByEvent
			ByUser
		},
		) (*none, error) {
			return nil, a.Events.Remove(ctx, c, in.EventID, in.UserID)
		})
}
