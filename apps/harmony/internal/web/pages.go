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

	"prompthub/apps/harmony/internal/cities"
	"prompthub/apps/harmony/internal/cookie"
	"prompthub/apps/harmony/internal/events"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/http/auth/session"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/pages"
)

func (s *web) pages() {
	s.handle("GET "+Prefix, s.home)
	s.members("GET "+Prefix+"/news", s.numbers)
	s.handle("GET "+Prefix+"/sign-up", s.signUpPage)
	s.enter("POST "+Prefix+"/sign-up", s.signUp)
	s.handle("GET "+Prefix+"/sign-in", s.signInPage)
	s.enter("POST "+Prefix+"/sign-in", s.signIn)
	s.handle("POST "+Prefix+"/sign-out", s.signOut)
	s.handle("GET "+Prefix+"/reset", func(r *request) error { return s.tokenPage(r, resetPage) })
	s.enter("POST "+Prefix+"/reset", s.reset)
	s.handle("GET "+Prefix+"/forgot", func(r *request) error { return s.render(r, http.StatusOK, forgotPage) })
	s.enter("POST "+Prefix+"/forgot", s.forgot)
	s.handle("GET "+Prefix+"/confirm", func(r *request) error { return s.tokenPage(r, confirmPage) })
	s.enter("POST "+Prefix+"/confirm", s.confirm)
	s.handle("GET "+Prefix+"/confirm-email", func(r *request) error { return s.tokenPage(r, confirmEmailPage) })
	s.enter("POST "+Prefix+"/confirm-email", s.confirmEmail)
	s.handle("GET "+Prefix+"/unsubscribe", func(r *request) error { return s.tokenPage(r, unsubscribePage) })
	s.enter("POST "+Prefix+"/unsubscribe", s.unsubscribe)
	s.members("GET "+Prefix+"/me", s.mePage)
	s.members("POST "+Prefix+"/me", s.saveMe)
	s.pictures("POST "+Prefix+"/me/photos", s.addPhoto)
	s.members("POST "+Prefix+"/me/photos/{id}/first", s.movePhoto(func(int) int { return 0 }))
	s.members("POST "+Prefix+"/me/photos/{id}/up", s.movePhoto(func(at int) int { return at - 1 }))
	s.members("POST "+Prefix+"/me/photos/{id}/down", s.movePhoto(func(at int) int { return at + 1 }))
	s.members("POST "+Prefix+"/me/photos/{id}/delete", s.deletePhoto)
	s.members("GET "+Prefix+"/settings", func(r *request) error { return s.settings(r, nil) })
	s.members("POST "+Prefix+"/settings/preferences", s.savePreferences)
	s.members("POST "+Prefix+"/settings/privacy", s.savePrivacy)
	s.members("POST "+Prefix+"/settings/password", s.savePassword)
	s.members("POST "+Prefix+"/settings/email", s.saveEmail)
	s.members("GET "+Prefix+"/settings/data", func(r *request) error { // the session is renewed first
		goOn(r, dataPath)
		return nil
	})
	s.members("POST "+Prefix+"/settings/sign-out", s.signOutEverywhere)
	s.members("POST "+Prefix+"/settings/delete", s.deleteMe)
	s.handle("GET "+Prefix+"/restore", func(r *request) error { return s.render(r, http.StatusOK, restorePage) })
	s.enter("POST "+Prefix+"/restore", s.restore)
	s.pairs()
	s.events()
	s.forum()
	s.chats()
	s.reports()
	s.shop()
	s.blog()
	s.handle("POST "+Prefix+"/language", s.speak)
	s.handle("GET "+Prefix+"/{rest...}", func(r *request) error {
		if r.PathValue("rest") == "" {
			goOn(r, Prefix)
			return nil
		}
		return fault.Coded(fault.NotFound, httpjson.NoSuchRoute, "there is no such page")
	})
}

// dataPath is where the API serves the own data of the reader.
const dataPath = "/api/v1/auth/me/data"

// A homeBody is what the first page shows: of a member what waits, and events that come.
type homeBody struct {
	waits
	Events []events.View
}

// homeEvents is how many events the first page shows.
const homeEvents = 3

func (s *web) home(r *request) error {
	var b homeBody
	coming, err := s.Events.List(r.Context(), r.claim, events.Query{}, "", homeEvents)
	if err == nil && r.who != nil {
		b.waits, err = s.waiting(r)
	}
	if err != nil {
		return err
	}
	b.Events = coming.Events
	return s.render(r, http.StatusOK, page{Name: "home", Title: "home.title", Body: b})
}

// mostWaiting is how far likes that wait are counted.
const mostWaiting = 99

// waits are numbers of news for a member: likes for an answer, matches to be seen, and chats
// with messages that were not read. Matches and chats are those of the first page of their lists.
// Places are events at which the member waited and was given a place.
type waits struct {
	Likes, Matches, Chats int
	Places                []events.View
}

func (s *web) waiting(r *request) (n waits, err error) {
	received, err := s.Service.LikesReceived(r.Context(), r.claim, "", perPage)
	if err != nil {
		return n, err
	}
	matches, err := s.Service.NewMatches(r.Context(), r.claim, perPage)
	if err != nil {
		return n, err
	}
	list, err := s.Chats.Chats(r.Context(), r.claim, "", perPage)
	for _, c := range list.Chats {
		if c.Unread > 0 {
			n.Chats++
		}
	}
	if err != nil {
		return n, err
	}
	n.Likes, n.Matches = len(received.Entries)+received.Anonymous, len(matches)
	n.Places, err = s.Events.NewPlaces(r.Context(), r.claim)
	return n, err
}

// numbers answers with the numbers in the bar, unless the caller has them.
func (s *web) numbers(r *request) error {
	tag, err := s.Service.NewsTag(r.Context(), r.claim)
	if err != nil {
		return err
	}
	r.w.Header().Set("ETag", `"`+tag+`"`)
	if httpjson.ParseETags(r.Header.Values("If-None-Match")).Match(`"` + tag + `"`) {
		r.w.WriteHeader(http.StatusNotModified)
		return nil
	}
	n, err := s.waiting(r)
	if err != nil {
		return err
	}
	return pages.Numbers(r.w, map[string]string{
		"likes": pages.Number(n.Likes, mostWaiting), "matches": pages.Number(n.Matches, perPage),
		"liked": pages.Number(n.Likes+n.Matches, mostWaiting), "chats": pages.Number(n.Chats, perPage),
		"events": pages.Number(len(n.Places), perPage),
	})
}

func (s *web) signUpPage(r *request) error {
	if r.who != nil {
		goOn(r, cmp.Or(s.wanted(r), Prefix+"/me"))
		return nil
	}
	return s.render(r, http.StatusOK, s.signUpForm(r))
}

// signUpForm is the form of a new account. Its body is the page that the person wanted.
func (s *web) signUpForm(r *request) page {
	return page{Name: "sign-up", Title: "sign-up.title", Body: s.wanted(r)}
}

// wanted returns the page that a person wanted before they signed up, as a link or a form says it;
// "" for none.
func (s *web) wanted(r *request) string {
	back := s.site.Back(cmp.Or(r.form("back"), r.URL.Query().Get("back")))
	if back == Prefix || len(back) > maxWanted {
		return ""
	}
	return back
}

// maxWanted is how long the address of a wanted page may be: links in mails hold it.
const maxWanted = 500

// toward adds the wanted page to an address.
func toward(address, wanted string) string {
	if wanted == "" {
		return address
	}
	return address + "&back=" + url.QueryEscape(wanted)
}

func (s *web) signUp(r *request) error {
	registration := meet.Registration{
		Email: r.form("email"), Password: r.form("password"), Name: r.form("name"),
		BirthDate: r.form("birthDate"), Gender: r.form("gender"),
		Language: r.lang, By: r.asker(), Back: s.wanted(r),
	}
	var in meet.SignedIn
	var err error
	if s.Service.SendsMail() {
		err = s.Service.Join(r.Context(), registration)
	} else {
		in, err = s.Service.Register(r.Context(), registration)
	}
	if err != nil {
		return s.refused(r, s.signUpForm(r), err)
	}
	if s.Service.SendsMail() {
		goOn(r, toward(Prefix+"/sign-in?done=mail-join", registration.Back))
		return nil
	}
	r.keep(in)
	goOn(r, toward(Prefix+"/me?done=registered", registration.Back))
	return nil
}

// asker is who asks to be signed in, on a device that may have done so before.
func (r *request) asker() meet.Asker {
	site, network := httpjson.AddressClass(r.Request)
	return meet.Asker{
		Site: site, Network: network, Device: cookie.Device(r.Request),
		Agent: session.Device(r.UserAgent()),
	}
}

// keep has the browser keep a session, and that it has signed the member in.
func (r *request) keep(in meet.SignedIn) {
	cookie.Keep(r.w, r.Request, in.Tokens)
	cookie.KeepDevice(r.w, r.Request, in.Device)
}

func (s *web) signInPage(r *request) error {
	to := s.site.Back(r.URL.Query().Get("back"))
	if r.who != nil {
		goOn(r, to)
		return nil
	}
	return s.render(r, http.StatusOK, s.signInForm(to))
}

// A signInBody is where signing in leads, and whether a mail helps a member who forgot the
// password.
type signInBody struct {
	To    string
	Mails bool
}

func (s *web) signInForm(to string) page {
	return page{Name: "sign-in", Title: "sign-in.title", Body: signInBody{to, s.Service.SendsMail()}}
}

func (s *web) signIn(r *request) error {
	to := s.site.Back(r.form("back"))
	in, err := s.Service.Login(r.Context(), r.form("email"), r.form("password"), r.asker())
	if err != nil {
		return s.refused(r, s.signInForm(to), err)
	}
	r.keep(in)
	goOn(r, to)
	return nil
}

func (s *web) signOut(r *request) error {
	cookie.Forget(r.w, r.Request)
	if r.who != nil {
		if err := s.Service.Logout(r.Context(), r.claim, false); err != nil && fault.Of(err) != fault.Unauthenticated {
			return err
		}
	}
	goOn(r, Prefix)
	return nil
}

// Pages of forms that a link in a mail leads to. The link opens a page, and the form does the work:
// programs that look at mails open their links, too.
var (
	resetPage        = page{Name: "reset", Title: "reset.title"}
	forgotPage       = page{Name: "forgot", Title: "forgot.title"}
	confirmPage      = page{Name: "confirm", Title: "confirm.title"}
	confirmEmailPage = page{Name: "confirm-email", Title: "confirm-email.title"}
	unsubscribePage  = page{Name: "unsubscribe", Title: "unsubscribe.title"}
)

// tokenPage shows a form with the token of a link.
func (s *web) tokenPage(r *request, p page) error {
	p.Form = url.Values{"token": {r.URL.Query().Get("token")}, "back": {s.wanted(r)}}
	return s.render(r, http.StatusOK, p)
}

func (s *web) forgot(r *request) error {
	if err := s.Service.Forgot(r.Context(), r.form("email"), r.asker()); err != nil {
		return s.refused(r, forgotPage, err)
	}
	goOn(r, Prefix+"/sign-in?done=mail-reset")
	return nil
}

// confirm makes the account of a registration by the token of its mail.
func (s *web) confirm(r *request) error {
	in, err := s.Service.Confirm(r.Context(), r.form("token"), r.form("password"), r.asker())
	if err != nil {
		return s.refused(r, confirmPage, err)
	}
	r.keep(in)
	goOn(r, toward(Prefix+"/me?done=registered", s.wanted(r)))
	return nil
}

func (s *web) confirmEmail(r *request) error {
	if err := s.Service.ConfirmMove(r.Context(), r.form("token")); err != nil {
		return s.refused(r, confirmEmailPage, err)
	}
	goOn(r, Prefix+"/settings?done=email")
	return nil
}

// unsubscribe ends the mails of news of a member. A mail program sends the token in the address,
// and may be led nowhere else.
func (s *web) unsubscribe(r *request) error {
	if err := s.Service.StopNews(r.Context(), cmp.Or(r.form("token"), r.URL.Query().Get("token"))); err != nil {
		return s.refused(r, unsubscribePage, err)
	}
	p := unsubscribePage
	p.Done = r.words().T("done.unsubscribed")
	return s.render(r, http.StatusOK, p)
}

// saveEmail gives the reader another address, or has a mail sent there.
func (s *web) saveEmail(r *request) error {
	// The form has a field of its own: the page has another one for passwords.
	mailed, err := s.Service.MoveTo(r.Context(), r.claim, r.form("emailPassword"), r.form("email"))
	if err != nil {
		return s.settings(r, renamed(err, "body.password", "body.emailPassword"))
	}
	done := "email"
	if mailed {
		done = "mail-email"
	}
	goOn(r, Prefix+"/settings?done="+done)
	return nil
}

func (s *web) reset(r *request) error {
	if err := s.Service.Reset(r.Context(), strings.TrimSpace(r.form("token")), r.form("password")); err != nil {
		return s.refused(r, resetPage, err)
	}
	goOn(r, Prefix+"/sign-in?done=password")
	return nil
}

// deleteMe deletes the account of the reader.
func (s *web) deleteMe(r *request) error {
	// The form has a field of its own: the page has another one for passwords.
	if _, err := s.Service.DeleteMe(r.Context(), r.claim, r.form("leavingPassword")); err != nil {
		return s.settings(r, renamed(err, "body.password", "body.leavingPassword"))
	}
	cookie.Forget(r.w, r.Request)
	goOn(r, Prefix+"/restore?done=account")
	return nil
}

var restorePage = page{Name: "restore", Title: "restore.title"}

// restore brings back the account of a person who has deleted it.
func (s *web) restore(r *request) error {
	in, err := s.Service.Restore(r.Context(), r.form("email"), r.form("password"), r.asker())
	if err != nil {
		return s.refused(r, restorePage, err)
	}
	r.keep(in)
	goOn(r, Prefix+"/me?done=restored")
	return nil
}

// A meBody is what the page of the profile shows besides its fields.
type meBody struct {
	Images []meet.Image
	Cities []cities.City // by which the reader says where they are
	Back   string        // the page that the reader wanted before they signed up
}

// ToEvent reports whether that is the page of an event.
func (b meBody) ToEvent() bool { return strings.HasPrefix(b.Back, Prefix+"/events/") }

func (s *web) mePage(r *request) error { return s.me(r, nil) }

// me shows the profile as it is, and a form that was refused as it was sent.
func (s *web) me(r *request, refused error) error {
	me, err := s.Service.Me(r.Context(), r.claim)
	if err != nil {
		return err
	}
	p := page{Name: "me", Title: "me.title", Body: meBody{me.Images.All, cities.All, s.wanted(r)}}
	form := url.Values{"name": {me.Name}, "gender": {me.Gender}}
	for name, text := range me.Fields() {
		form.Set(name, *text)
	}
	if at := me.Position; at != nil {
		if city, ok := cities.At(*at); ok {
			form.Set("city", city.Name(r.lang))
		} else {
			lat, lon := at.Degrees()
			form.Set("lat", fmt.Sprintf("%.1f", lat))
			form.Set("lon", fmt.Sprintf("%.1f", lon))
		}
	}
	return s.formPage(r, p, form, refused)
}

// formPage shows a page with the values that there are, or with those of a form that was refused.
func (s *web) formPage(r *request, p page, now url.Values, refused error) error {
	if refused == nil {
		p.Form = now
		return s.render(r, http.StatusOK, p)
	}
	for name, values := range now {
		if _, sent := r.PostForm[name]; !sent {
			r.PostForm[name] = values
		}
	}
	return s.refused(r, p, refused)
}

// CityUnknown is the code of a city that the list has not.
const CityUnknown fault.Code = "CITY_UNKNOWN"

func (s *web) saveMe(r *request) error {
	p := meet.Profile{Name: r.form("name"), Gender: r.form("gender")}
	for name, text := range p.Fields() {
		*text = r.form(name)
	}
	lat, lon := decimal(r.form("lat")), decimal(r.form("lon"))
	if name := strings.TrimSpace(r.form("city")); name != "" {
		city, ok := cities.Find(name)
		if !ok {
			return s.savedMe(r, &fault.Error{
				Kind: fault.Invalid, Code: CityUnknown, Text: "choose a city of the list",
				Fields: []fault.Field{{Name: "body.city", Code: CityUnknown, Message: "choose a city of the list"}},
			})
		}
		p.Lat, p.Lon, p.Located = city.Lat, city.Lon, true
	} else if lat != "" || lon != "" {
		var errLat, errLon error
		p.Lat, errLat = strconv.ParseFloat(lat, 64)
		p.Lon, errLon = strconv.ParseFloat(lon, 64)
		p.Located = true
		if errLat != nil || errLon != nil {
			p.Lat = 1000 // no latitude
		}
	}
	_, err := s.Service.SetProfile(r.Context(), r.claim, r.who.ID, p, func(string) bool { return true })
	return s.savedMe(r, err)
}

// savedMe goes back to the profile after a form, or shows why it was refused.
func (s *web) savedMe(r *request, err error) error {
	if err != nil {
		return s.me(r, err)
	}
	goOn(r, toward(Prefix+"/me?done=saved", s.wanted(r)))
	return nil
}

// photo returns the file of a form.
func (r *request) photo() ([]byte, error) { return pages.SentFile(r.Request, "photo") }

func (s *web) addPhoto(r *request) error {
	file, err := r.photo()
	if err != nil {
		return err
	}
	_, err = s.Service.AddImage(r.Context(), r.claim, r.who.ID, file)
	return s.savedMe(r, err)
}

func (s *web) deletePhoto(r *request) error {
	return s.savedMe(r, s.Service.DeleteImage(r.Context(), r.claim, r.who.ID, r.PathValue("id")))
}

// movePhoto moves a photo to another place.
func (s *web) movePhoto(to func(at int) int) action {
	return func(r *request) error {
		me, err := s.Service.Me(r.Context(), r.claim)
		if err != nil {
			return err
		}
		var ids []string
		for _, image := range me.Images.All {
			ids = append(ids, image.ID)
		}
		at := slices.Index(ids, r.PathValue("id"))
		if at < 0 {
			return s.savedMe(r, fault.Coded(fault.NotFound, meet.ImageNotFound, "there is no such picture"))
		}
		id := ids[at]
		ids = slices.Delete(ids, at, at+1)
		ids = slices.Insert(ids, max(0, min(to(at), len(ids))), id)
		_, err = s.Service.OrderImages(r.Context(), r.claim, r.who.ID, ids)
		return s.savedMe(r, err)
	}
}

// decimal reads a number as people in both languages write it.
func decimal(s string) string { return strings.Replace(strings.TrimSpace(s), ",", ".", 1) }

// A settingsBody is what the page of settings shows besides its fields.
type settingsBody struct {
	Sessions []session.Info
	Blocked  meet.Page // the newest
	Mails    bool      // whether the service sends mail
}

// settings shows the settings as they are, and the form that was refused as it was sent.
func (s *web) settings(r *request, refused error) error {
	all, err := s.Service.Settings(r.Context(), r.claim)
	if err != nil {
		return err
	}
	sessions, err := s.Service.Sessions(r.Context(), r.claim)
	if err != nil {
		return err
	}
	blocked, err := s.Service.Blocked(r.Context(), r.claim, "", 50)
	if err != nil {
		return err
	}
	p := page{Name: "settings", Title: "settings.title", Body: settingsBody{sessions, blocked, s.Service.SendsMail()}}
	form := url.Values{
		"email":       {r.who.Email},
		"ageRangeMin": {strconv.Itoa(all.Preferences.AgeMin)}, "ageRangeMax": {strconv.Itoa(all.Preferences.AgeMax)},
		"maxDistanceKm": {strconv.Itoa(all.Preferences.MaxDistance)}, "showMe": {all.Preferences.ShowMe},
		"profileVisibility": {all.Privacy.Visibility}, "language": {all.Privacy.Language},
		"anonymousLikes":       checked(all.Privacy.AnonymousLikes),
		"notificationsEnabled": checked(all.Privacy.Notifications), "emailNotifications": checked(all.Privacy.Emails),
	}
	return s.formPage(r, p, form, refused)
}

func checked(yes bool) []string {
	if yes {
		return []string{"on"}
	}
	return nil
}

// saved goes back to the settings after a form, or shows why it was refused.
func (s *web) saved(r *request, err error) error {
	if err != nil {
		return s.settings(r, err)
	}
	goOn(r, Prefix+"/settings?done=saved")
	return nil
}

// number reads a whole number; any other text becomes one that breaks every rule.
func number(s string) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil {
		return -1
	}
	return n
}

func (s *web) savePreferences(r *request) error {
	return s.saved(r, s.Service.SetPreferences(r.Context(), r.claim, rules.Preferences{
		AgeMin: number(r.form("ageRangeMin")), AgeMax: number(r.form("ageRangeMax")),
		MaxDistance: number(r.form("maxDistanceKm")), ShowMe: r.form("showMe"),
	}))
}

func (s *web) savePrivacy(r *request) error {
	return s.saved(r, s.Service.SetPrivacy(r.Context(), r.claim, rules.Privacy{
		Visibility: r.form("profileVisibility"), AnonymousLikes: r.form("anonymousLikes") != "",
		Language:      r.form("language"),
		Notifications: r.form("notificationsEnabled") != "", Emails: r.form("emailNotifications") != "",
	}))
}

func (s *web) savePassword(r *request) error {
	return s.saved(r, s.Service.ChangePassword(r.Context(), r.claim, r.form("currentPassword"), r.form("newPassword")))
}

func (s *web) signOutEverywhere(r *request) error {
	if err := s.Service.Logout(r.Context(), r.claim, true); err != nil {
		return err
	}
	cookie.Forget(r.w, r.Request)
	goOn(r, Prefix)
	return nil
}

// stampForm is how pages write instants for readers without a script.
const stampForm = "2006-01-02 15:04 UTC"

// Stamp writes an instant for a page.
func (words) Stamp(t time.Time) template.HTML {
	return pages.Time(t, pages.Near, t.UTC().Format(stampForm))
}

// Dated writes an instant for a page, always with its day.
func (words) Dated(t time.Time) template.HTML {
	return pages.Time(t, pages.Date, t.UTC().Format(stampForm))
}

// Next returns the number of the thing at an index, as people count.
func (words) Next(i int) int { return i + 1 }
