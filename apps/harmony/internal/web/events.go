package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/currency"

	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
)

// events are the pages about events, and those on which staff write them.
func (s *web) events() {
	const at, admin = Prefix + "/events", Prefix + "/admin/events"
	s.handle("GET "+at, s.eventList)
	s.handle("GET "+at+"/{id}", func(r *request) error { return s.event(r, nil) })
	s.members("POST "+at+"/{id}/register", s.register)
	s.members("POST "+at+"/{id}/leave", func(r *request) error {
		return s.eventDone(r, "left", s.Events.Unregister(r.Context(), r.claim, r.PathValue("id")))
	})
	s.members("POST "+at+"/{id}/wait", func(r *request) error {
		_, _, err := s.Events.WaitFor(r.Context(), r.claim, r.PathValue("id"), r.form("inviteCode"), r.guesser())
		return s.eventDone(r, "waiting", err)
	})
	s.members("POST "+at+"/{id}/wait-no-more", func(r *request) error {
		return s.eventDone(r, "waiting-left", s.Events.WaitNoMore(r.Context(), r.claim, r.PathValue("id")))
	})
	s.members("GET "+admin, s.eventAdmin)
	s.members("GET "+admin+"/new", func(r *request) error { return s.eventForm(r, nil) })
	s.members("POST "+admin, func(r *request) error {
		v, err := s.Events.NewEvent(r.Context(), r.claim, r.draft())
		if err != nil {
			return s.eventForm(r, err)
		}
		goOn(r, admin+"/"+v.ID+"?done=saved")
		return nil
	})
	s.members("GET "+admin+"/{id}", func(r *request) error { return s.eventForm(r, nil) })
	for what, do := range map[string]func(*request, string) error{
		"": func(r *request, id string) error {
			_, err := s.Events.Edit(r.Context(), r.claim, id, r.draft())
			return err
		},
		"/cancel": func(r *request, id string) error {
			_, err := s.Events.SetCancelled(r.Context(), r.claim, id, true)
			return err
		},
		"/revive": func(r *request, id string) error {
			_, err := s.Events.SetCancelled(r.Context(), r.claim, id, false)
			return err
		},
		"/invites": func(r *request, id string) error {
			d := events.InviteDraft{
				Code: r.form("code"), ExpiresAt: r.form("expiresAt"),
				Rotate: r.form("rotate") != "", Key: r.form("key"),
			}
			_, err := s.Events.NewInvite(r.Context(), r.claim, id, d)
			return err
		},
		"/invites/{code}/revoke": func(r *request, id string) error {
			return s.Events.Revoke(r.Context(), r.claim, id, r.PathValue("code"))
		},
		"/attendees/{user}/attended": func(r *request, id string) error {
			_, err := s.Events.SetAttended(r.Context(), r.claim, id, r.PathValue("user"), true)
			return err
		},
		"/attendees/{user}/remove": func(r *request, id string) error {
			return s.Events.Remove(r.Context(), r.claim, id, r.PathValue("user"))
		},
	} {
		s.members("POST "+admin+"/{id}"+what, func(r *request) error {
			id := r.PathValue("id")
			if err := do(r, id); err != nil {
				return s.eventForm(r, err)
			}
			goOn(r, admin+"/"+id+"?done=saved")
			return nil
		})
	}
	s.pictures("POST "+admin+"/{id}/image", func(r *request) error {
		id := r.PathValue("id")
		file, err := r.photo()
		if err == nil {
			_, err = s.Events.SetImage(r.Context(), r.claim, id, file)
		}
		if err != nil {
			return s.eventForm(r, err)
		}
		goOn(r, admin+"/"+id+"?done=saved")
		return nil
	})
	s.members("POST "+admin+"/{id}/delete", func(r *request) error {
		if err := s.Events.Delete(r.Context(), r.claim, r.PathValue("id")); err != nil {
			return err
		}
		goOn(r, admin+"?done=deleted")
		return nil
	})
}

// guesser names the caller of a request, whose guesses at invites are counted.
func (r *request) guesser() string {
	site, _ := httpjson.AddressClass(r.Request)
	return cmp.Or(r.claim.UserID, site)
}

// A month is the events of a month.
type month struct {
	Title  string
	Events []events.View
}

// An eventsBody is what the page of events shows.
type eventsBody struct {
	Months               []month
	Category, When, Next string
	Mine                 bool
	Opened               string // the code that opens these events
}

// months puts events into months, in the order that they have.
func (w words) months(all []events.View) (list []month) {
	for _, e := range all {
		start := e.Start.In(e.Clock())
		title := w.T("month."+strconv.Itoa(int(start.Month()))) + " " + strconv.Itoa(start.Year())
		if len(list) == 0 || list[len(list)-1].Title != title {
			list = append(list, month{Title: title})
		}
		list[len(list)-1].Events = append(list[len(list)-1].Events, e)
	}
	return list
}

// more returns the address of the next page of a list, which begins after a position.
func more(r *request, next string) string {
	if next == "" {
		return ""
	}
	q := r.URL.Query()
	q.Set("after", next)
	q.Del("done")
	return r.URL.Path + "?" + q.Encode()
}

func (s *web) eventList(r *request) (err error) {
	q := r.URL.Query()
	b := eventsBody{Category: q.Get("category"), When: q.Get("when"), Mine: q.Get("mine") != ""}
	if q.Get("invite") != "" {
		return s.openEvents(r, q.Get("invite"))
	}
	var p events.Page
	if b.Mine {
		p, err = s.Events.Mine(r.Context(), r.claim, q.Get("after"), perPage)
	} else {
		p, err = s.Events.List(r.Context(), r.claim, events.Query{Category: b.Category, Past: b.When == "past"},
			q.Get("after"), perPage)
	}
	if err != nil {
		return err
	}
	b.Months, b.Next = r.words().months(p.Events), more(r, p.Next)
	return s.render(r, http.StatusOK, page{Name: "events", Title: "events.title", Body: b})
}

// openEvents goes to the event that a code opens, or shows all of them if there are several. It
// asks again for a code that opens none.
func (s *web) openEvents(r *request, code string) error {
	all, err := s.Events.Opened(r.Context(), r.claim, code, r.guesser())
	if err == nil && len(all) == 0 {
		err = fault.Coded(fault.Forbidden, events.InvalidInviteCode, "the code opens no event, or not any more")
	}
	p := page{Name: "events", Title: "events.title"}
	if err != nil {
		coming, unread := s.Events.List(r.Context(), r.claim, events.Query{}, "", perPage)
		if unread != nil {
			return unread
		}
		p.Body = eventsBody{Months: r.words().months(coming.Events)}
		r.PostForm = url.Values{"invite": {code}}
		return s.formPage(r, p, nil, err)
	}
	if len(all) == 1 {
		goOn(r, Prefix+"/events/"+all[0].ID+"?invite="+url.QueryEscape(code))
		return nil
	}
	p.Body = eventsBody{Months: r.words().months(all), Opened: code}
	return s.render(r, http.StatusOK, p)
}

// An eventBody is what the page of an event shows.
type eventBody struct {
	events.View
	Invite  string // that the reader shows
	Guests  []events.Guest
	Next    string
	Started bool
}

// event shows an event, with a form that was refused as it was sent.
func (s *web) event(r *request, refused error) error {
	id, invite := r.PathValue("id"), r.URL.Query().Get("invite")
	if refused != nil && fault.Of(refused) != fault.Forbidden && fault.Of(refused) != fault.Limited {
		invite = r.form("inviteCode") // it is not the code that is wrong
	}
	v, err := s.Events.Event(r.Context(), r.claim, id, invite, r.guesser())
	if err != nil {
		return err
	}
	b := eventBody{View: v, Invite: invite, Started: !s.Now().Before(v.Start)}
	if v.NewPlace {
		if err := s.Events.SeePlace(r.Context(), r.claim, id); err != nil {
			return err
		}
	}
	if r.who != nil && (v.Attends || r.who.Role.Staff()) {
		p, err := s.Events.Attendees(r.Context(), r.claim, id, r.URL.Query().Get("after"), perPage)
		if err != nil {
			return err
		}
		b.Guests, b.Next = p.Guests, more(r, p.Next)
	}
	return s.formPage(r, page{Name: "event", Title: "event.title", Body: b}, url.Values{}, refused)
}

func (s *web) register(r *request) error {
	_, _, err := s.Events.Register(r.Context(), r.claim, r.PathValue("id"), r.form("inviteCode"), r.guesser())
	return s.eventDone(r, "registered-event", err)
}

// eventDone goes back to an event after a form, or shows why it was refused.
func (s *web) eventDone(r *request, done string, err error) error {
	if err != nil && fault.Of(err) != fault.NotFound {
		return s.event(r, err)
	}
	if err != nil {
		return err
	}
	to := Prefix + "/events/" + r.PathValue("id")
	if done == "left" || done == "waiting-left" { // a member who has left a secret event sees it no more
		to = Prefix + "/events"
	}
	goOn(r, to+"?done="+done)
	return nil
}

func (s *web) eventAdmin(r *request) error {
	p, err := s.Events.All(r.Context(), r.claim, r.URL.Query().Get("after"), perPage)
	if err != nil {
		return err
	}
	b := eventsBody{Months: r.words().months(p.Events), Next: more(r, p.Next)}
	return s.render(r, http.StatusOK, page{Name: "admin-events", Title: "admin.events", Body: b})
}

// An eventAdminBody is what the page shows on which admins change an event.
type eventAdminBody struct {
	events.Event // without an id for a new one
	Invites      []events.Invite
	Guests       []events.Guest
	Next         string
	Started      bool
}

// eventForm shows the form of an event, a new one if the address names none, and a form that was
// refused as it was sent.
func (s *web) eventForm(r *request, refused error) error {
	p := page{Name: "admin-event", Title: "admin.event.new"}
	form := url.Values{"currency": {"RUB"}, "isPublished": {"on"}, "timeZone": {ourZone}}
	if id := r.PathValue("id"); id != "" {
		invites, err := s.Events.Invites(r.Context(), r.claim, id, "", 100) // of admins alone
		if err != nil {
			return err
		}
		v, err := s.Events.Event(r.Context(), r.claim, id, "", "")
		if err != nil {
			return err
		}
		guests, err := s.Events.Attendees(r.Context(), r.claim, id, r.URL.Query().Get("after"), perPage)
		if err != nil {
			return err
		}
		p.Title = "admin.event"
		p.Body = eventAdminBody{v.Event, invites.Invites, guests.Guests, more(r, guests.Next), !s.Now().Before(v.Start)}
		form = formOf(v.Event)
	} else {
		p.Body = eventAdminBody{}
	}
	if refused != nil && r.PostForm.Has("title") && r.form("isPublished") == "" { // a box without a tick is not sent
		form.Del("isPublished")
	}
	return s.formPage(r, p, form, renamed(refused, "body.location", "body.place"))
}

// ourZone is the zone of the clocks in new forms.
const ourZone = "Europe/Moscow"

// turns are the two instants of a time that clocks show twice.
var turns = []string{"first", "second"}

// setMoment has a form show an instant by the clocks of a zone.
func setMoment(form url.Values, name string, at time.Time, zone *time.Location) {
	shown := at.In(zone).Format(rules.ClockForm)
	form.Set(name, shown)
	if all, _ := rules.Moments(shown, zone); len(all) == len(turns) {
		form.Set(name+"Turn", turns[slices.IndexFunc(all, func(one time.Time) bool {
			return !one.Before(at.Truncate(time.Minute))
		})])
	}
}

// moment returns an instant of a form: as it was typed, unless it was said which of two it is.
func (r *request) moment(name string) string {
	s := r.form(name)
	zone := rules.FindZone(r.form("timeZone"))
	if turn := slices.Index(turns, r.form(name+"Turn")); turn >= 0 && zone != nil {
		if all, _ := rules.Moments(s, zone); len(all) == len(turns) {
			return all[turn].Format(time.RFC3339)
		}
	}
	return s
}

// Twice reports whether a form asks which instant a time is: clocks show it twice.
func (p page) Twice(name string) bool {
	return p.Form.Get(name+"Turn") != "" || p.Errors[name] == p.T("error."+string(rules.TimeTwice))
}

// formOf returns the values of the form of an event.
func formOf(e events.Event) url.Values {
	form := url.Values{
		"title": {e.Title}, "description": {e.Description}, "timeZone": {e.Zone}, "place": {e.Location},
		"category": {e.Category}, "visibility": {e.Visibility}, "isPublished": checked(e.Published),
		"currency": {"RUB"},
	}
	setMoment(form, "startDate", e.Start, e.Clock())
	if !e.End.IsZero() {
		setMoment(form, "endDate", e.End, e.Clock())
	}
	if e.Capacity > 0 {
		form.Set("capacity", strconv.Itoa(e.Capacity))
	}
	if e.Price != nil {
		form.Set("price", amount(*e.Price))
		form.Set("currency", e.Price.Currency)
	}
	return form
}

// digits is how many digits the smaller unit of a currency has.
func digits(code string) int {
	unit, err := currency.ParseISO(code)
	if err != nil {
		return 0
	}
	n, _ := currency.Standard.Rounding(unit)
	return n
}

// amount writes a price in the unit of its currency.
func amount(p rules.Price) string {
	n, unit := digits(p.Currency), int64(1)
	for range n {
		unit *= 10
	}
	if p.Minor%unit == 0 {
		return strconv.FormatInt(p.Minor/unit, 10)
	}
	return fmt.Sprintf("%d.%0*d", p.Minor/unit, n, p.Minor%unit)
}

// minor reads an amount in the unit of a currency; -1 is none.
func minor(s, code string) int64 {
	whole, part, _ := strings.Cut(decimal(s), ".")
	n := digits(code)
	if len(part) > n {
		return -1
	}
	v, err := strconv.ParseUint(whole+part+strings.Repeat("0", n-len(part)), 10, 62)
	if err != nil {
		return -1
	}
	return int64(v)
}

// draft reads the form of an event.
func (r *request) draft() events.Draft {
	d := events.Draft{
		Key: r.form("key"), Title: r.form("title"), Description: r.form("description"), Zone: r.form("timeZone"),
		Start: r.moment("startDate"), End: r.moment("endDate"), Location: r.form("place"),
		Category: r.form("category"), Visibility: r.form("visibility"), Published: r.form("isPublished") != "",
	}
	if s := strings.TrimSpace(r.form("capacity")); s != "" {
		n := number(s)
		d.Capacity = &n
	}
	if s := strings.TrimSpace(r.form("price")); s != "" {
		code := strings.ToUpper(strings.TrimSpace(r.form("currency")))
		d.Price = &rules.Price{Minor: minor(s, code), Currency: code}
	}
	return d
}

// signs are the signs of currencies: people know them better than the codes.
var signs = map[string]string{
	"RUB": "₽", "EUR": "€", "USD": "$", "GBP": "£", "UAH": "₴", "KZT": "₸", "BYN": "Br", "GEL": "₾", "AMD": "֏",
	"TRY": "₺", "ILS": "₪", "PLN": "zł", "CZK": "Kč",
}

// Price writes a price as people do: 1 990 ₽, 25,50 €, in English €25.50; "" for none.
func (w words) Price(p *rules.Price) string {
	if p == nil {
		return ""
	}
	if p.Minor == 0 {
		return w.T("store.free")
	}
	group, comma, before := "\u00a0", ",", ""
	sign := cmp.Or(signs[p.Currency], p.Currency)
	if w.Lang != rules.Languages[0] {
		group, comma = ",", "."
		if strings.Contains("$€£", sign) {
			before, sign = sign, ""
		}
	}
	whole, part, _ := strings.Cut(amount(*p), ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + group + whole[at:]
	}
	if part != "" {
		whole += comma + part
	}
	if sign != "" {
		sign = "\u00a0" + sign
	}
	return before + whole + sign
}

// offset writes how far the clocks of a place are from UTC at an instant, "UTC+3" or "UTC−3:30".
func offset(at time.Time) string {
	_, seconds := at.Zone()
	if seconds == 0 {
		return "UTC"
	}
	sign, minutes := "+", seconds/60
	if minutes < 0 {
		sign, minutes = "−", -minutes
	}
	if minutes%60 == 0 {
		return fmt.Sprintf("UTC%s%d", sign, minutes/60)
	}
	return fmt.Sprintf("UTC%s%d:%02d", sign, minutes/60, minutes%60)
}

// When says from when until when an event is, by the clocks of its zone, and which zone it is.
func (w words) When(e events.Event) template.HTML {
	zone := e.Clock()
	start := e.Start.In(zone)
	name := offset(start)
	if city := w.City(zone.String()); city != "" {
		name = city + ", " + name
	}
	return w.span(e, zone, pages.Hour) + template.HTML(" ("+template.HTMLEscapeString(name)+")") //nolint:gosec // it is escaped
}

// Own says from when until when an event is, by the clocks of the reader. The script leaves the day
// of the end out if it is that of the start.
func (w words) Own(e events.Event) template.HTML { return w.span(e, nil, pages.Date) }

// span says from when until when an event is, by the clocks of a zone, or of the reader if it is
// nil. An end on the day of the start has a form of its own.
func (w words) span(e events.Event, zone *time.Location, sameDay pages.TimeForm) template.HTML {
	name, clock := "", time.UTC
	if zone != nil {
		name, clock = zone.String(), zone
	}
	start, end := e.Start.In(clock), e.End.In(clock)
	says := pages.TimeIn(start, pages.Date, name, start.Format(eventForm))
	if e.End.IsZero() {
		return says
	}
	form, layout := pages.Date, eventForm
	if start.Format(time.DateOnly) == end.Format(time.DateOnly) {
		form, layout = sameDay, "15:04"
	}
	return template.HTML(w.T("events.span", says, pages.TimeIn(end, form, name, end.Format(layout)))) //nolint:gosec // words of ours, and times that are escaped
}

// eventForm is how pages write the times of events for readers without a script.
const eventForm = "2006-01-02 15:04"

// StampIn writes an instant by the clocks of the zone of an event.
func (words) StampIn(t time.Time, e events.Event) template.HTML {
	return pages.TimeIn(t, pages.Date, e.Clock().String(), t.In(e.Clock()).Format(eventForm))
}

// Teaser reports whether no more than the teaser of an event is seen.
func (words) Teaser(v events.View) bool { return v.Sight == events.Teaser }
