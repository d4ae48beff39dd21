package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"prompthub/apps/duuble/internal/assets"
	"prompthub/apps/duuble/internal/hubs"
	"prompthub/apps/duuble/internal/posts"
	"prompthub/internal/fault"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/storage/rowstore"
)

func (s *web) hubPages() {
	s.handle("GET "+Prefix+"/hubs", member, s.myHubs)
	s.handle("GET "+Prefix+"/hubs/new", member, func(r *request) error {
		return s.render(r, http.StatusOK, page{Name: "new-hub", Title: "New hub"})
	})
	s.route("POST "+Prefix+"/hubs/new", member, maxUpload, s.newHub)
	s.handle("GET "+Prefix+"/hubs/{id}", anyone, func(r *request) error { return s.hub(r, nil) })
	s.handle("GET "+Prefix+"/hubs/{id}/edit", member, func(r *request) error { return s.editing(r, nil) })
	s.route("POST "+Prefix+"/hubs/{id}/edit", member, maxUpload, s.edit)
	s.handle("GET "+Prefix+"/hubs/{id}/invitations", member, func(r *request) error {
		return s.invitations(r, invitationsBody{}, nil)
	})
	s.handle("POST "+Prefix+"/hubs/{id}/invitations", member, s.invite)
	s.handle("POST "+Prefix+"/hubs/{id}/invitations/{invitation}", member, s.changeInvitation)
	s.handle("POST "+Prefix+"/hubs/{id}/links", member, s.newLink)
	s.handle("POST "+Prefix+"/hubs/{id}/links/{link}/end", member, s.endLink)
	s.handle("POST "+Prefix+"/hubs/{id}/leave", member, func(r *request) error {
		if err := s.Hubs.Remove(r.Context(), r.claim, r.PathValue("id"), r.claim.UserID); err != nil {
			return s.hub(r, err)
		}
		goOn(r, Prefix+"/hubs?done=left")
		return nil
	})
	s.handle("GET "+Prefix+"/hubs/{id}/members", member, func(r *request) error { return s.members(r, nil) })
	s.handle("POST "+Prefix+"/hubs/{id}/members/{member}", member, s.changeMember)
	s.handle("GET "+Prefix+"/hubs/{id}/requests", member, s.requests)
	s.handle("POST "+Prefix+"/hubs/{id}/requests/{request}", member, s.decide)
	s.handle("GET "+Prefix+"/invitations/{token}", anyone, s.invitation)
	s.handle("POST "+Prefix+"/invitations/{token}", member, s.answerInvitation)
	s.handle("GET "+Prefix+"/join/{token}", anyone, s.joinPage)
	s.handle("POST "+Prefix+"/join/{token}", member, s.join)
}

// A hubsBody is what the page of one's hubs shows.
type hubsBody struct {
	Hubs        []hubs.Hub
	Invitations []hubs.Invitation
	Requests    []hubs.Request
	More        string
}

// mostOf is how many invitations and requests the page of one's hubs shows.
const mostOf = 20

func (s *web) myHubs(r *request) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	mine, err := s.Hubs.Mine(r.Context(), r.claim, after, perPage)
	if err != nil {
		return err
	}
	invited, err := s.Hubs.MyInvitations(r.Context(), r.claim, "", mostOf)
	if err != nil {
		return err
	}
	asked, err := s.Hubs.MyRequests(r.Context(), r.claim, "", mostOf)
	if err != nil {
		return err
	}
	body := hubsBody{Hubs: mine.Items, Invitations: invited.Items, More: more(r.URL.Path, mine.Next)}
	for _, one := range asked.Items {
		if one.Status == hubs.Pending && one.Hub != nil {
			body.Requests = append(body.Requests, one)
		}
	}
	return s.render(r, http.StatusOK, page{Name: "hubs", Title: "Your hubs", Body: body})
}

func (s *web) newHub(r *request) error {
	picture, err := s.sentPicture(r, assets.Hub)
	var h hubs.Hub
	if err == nil {
		h, err = s.Hubs.Create(r.Context(), r.claim,
			hubs.Draft{
				Name: r.form("name"), Description: lines(r.form("description")),
				Link: strings.TrimSpace(r.form("customLink")), Picture: picture,
			})
	}
	if err != nil {
		return s.refused(r, page{Name: "new-hub", Title: "New hub"}, err)
	}
	goOn(r, hubPath(h.ID)+"?done=made")
	return nil
}

func hubPath(id string) string { return Prefix + "/hubs/" + url.PathEscape(id) }

// A hubBody is what the page of a hub shows.
type hubBody struct {
	Hub  hubs.Hub
	List listBody // of its posts, for members

	Muted  bool  // whether the reader is told of no posts
	Active int64 // how many members did something today, 0 for others than members
}

// hub shows a hub to anybody, and its posts to its members.
func (s *web) hub(r *request, refused error) error {
	var body hubBody
	var err error
	if body.Hub, err = s.Hubs.Get(r.Context(), r.claim, r.PathValue("id")); err != nil {
		return err
	}
	if body.Hub.Mine != nil {
		body.Muted, body.Active = body.Hub.Mine.IsOn(s.Now()), *body.Hub.Active
		body.List, err = s.list(r, hubPath(body.Hub.ID), func(after string) (posts.Page, error) {
			return s.Posts.InHub(r.Context(), r.claim, body.Hub.ID, after, perPage)
		})
		if err != nil {
			return err
		}
	}
	p := page{Name: "hub", Title: body.Hub.Name, Body: body}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// address returns the whole address of a path, to send to a person.
func (s *web) address(r *request, path string) string {
	if s.Site != "" {
		return s.Site + path
	}
	scheme := "http://"
	if httpjson.Encrypted(r.Request) {
		scheme = "https://"
	}
	return scheme + r.Host + path
}

// editing shows the form by which admins change a hub, and why a change was refused.
func (s *web) editing(r *request, refused error) error {
	if _, _, err := s.Hubs.MembershipOf(r.Context(), r.claim, r.PathValue("id"), hubs.Admin); err != nil {
		return err
	}
	h, err := s.Hubs.Get(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	p := page{Name: "edit-hub", Title: "Edit " + h.Name, Body: h, Form: url.Values{
		"name": {h.Name}, "description": {h.Description}, "customLink": {h.Link}, "picture": {h.Picture},
	}}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

func (s *web) edit(r *request) error {
	name, description, link := r.form("name"), lines(r.form("description")), strings.TrimSpace(r.form("customLink"))
	change := hubs.Change{Name: &name, Description: &description, Link: &link}
	picture, err := s.sentPicture(r, assets.Hub)
	if picture != "" { // a hub of before may have none
		change.Picture = &picture
	}
	if err == nil {
		_, err = s.Hubs.Edit(r.Context(), r.claim, r.PathValue("id"), change)
	}
	if err != nil {
		return s.editing(r, err)
	}
	goOn(r, hubPath(r.PathValue("id"))+"?done=saved")
	return nil
}

// An invitationsBody is what the page of invitations and links of a hub shows.
type invitationsBody struct {
	Hub   hubs.Hub
	Items []hubs.Invitation // that are open: all for admins, and for others their own
	More  string
	Links []hubs.Link // likewise
	Sent  string      // a link to send to a person, which is shown once
	Who   string      // the person that it is for, "" of a link for anybody
}

func (s *web) invitations(r *request, body invitationsBody, refused error) error {
	id := r.PathValue("id")
	path := hubPath(id) + "/invitations"
	after, err := positionIn(r, path)
	if err != nil {
		return err
	}
	err = rowstore.All(r.Context(), func(ctx context.Context) (err error) {
		body.Hub, err = s.Hubs.Get(ctx, r.claim, id)
		return err
	}, func(ctx context.Context) error {
		open, err := s.Hubs.Invitations(ctx, r.claim, id, hubs.Invited, after, perPage)
		body.Items, body.More = open.Items, more(path, open.Next)
		return err
	}, func(ctx context.Context) (err error) {
		body.Links, err = s.Hubs.Links(ctx, r.claim, id)
		return err
	})
	if err != nil {
		return err
	}
	p := page{Name: "invitations", Title: "Invite to " + body.Hub.Name, Body: body}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

func (s *web) invite(r *request) error {
	all, err := s.Hubs.Invite(r.Context(), r.claim, r.PathValue("id"), []string{r.form("phone")}, hubs.Lasts)
	if err != nil {
		return s.invitations(r, invitationsBody{}, err)
	}
	return s.tellInvited(r, all[0], r.form("phone"))
}

// tellInvited shows what to send to the person who is invited.
func (s *web) tellInvited(r *request, v hubs.Invitation, who string) error {
	return s.invitations(r, invitationsBody{Sent: s.address(r, Prefix+"/invitations/"+v.Token), Who: who}, nil)
}

// changeInvitation cancels an invitation, or gives it another token.
func (s *web) changeInvitation(r *request) error {
	hub, id := r.PathValue("id"), r.PathValue("invitation")
	if r.form("cancel") == "" {
		v, err := s.Hubs.Resend(r.Context(), r.claim, hub, id, hubs.Lasts)
		if err != nil {
			return s.invitations(r, invitationsBody{}, err)
		}
		return s.tellInvited(r, v, v.Phone)
	}
	if err := s.Hubs.CancelInvitation(r.Context(), r.claim, hub, id); err != nil {
		return s.invitations(r, invitationsBody{}, err)
	}
	goOn(r, hubPath(hub)+"/invitations?done=cancelled")
	return nil
}

func (s *web) newLink(r *request) error {
	l, err := s.Hubs.NewLink(r.Context(), r.claim, r.PathValue("id"), hubs.Lasts)
	if err != nil {
		return s.invitations(r, invitationsBody{}, err)
	}
	return s.invitations(r, invitationsBody{Sent: s.address(r, Prefix+"/join/"+l.Token)}, nil)
}

func (s *web) endLink(r *request) error {
	if err := s.Hubs.EndLink(r.Context(), r.claim, r.PathValue("id"), r.PathValue("link")); err != nil {
		return err
	}
	goOn(r, hubPath(r.PathValue("id"))+"/invitations?done=revoked")
	return nil
}

// A membersBody is what the page of the members of a hub shows.
type membersBody struct {
	Hub   hubs.Hub
	Items []hubs.Listed
	More  string
}

func (s *web) members(r *request, refused error) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	all, err := s.Hubs.Members(r.Context(), r.claim, r.PathValue("id"), "", after, perPage)
	if err != nil {
		return err
	}
	h, err := s.Hubs.Get(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	p := page{
		Name: "members", Title: "Members of " + h.Name,
		Body: membersBody{h, all.Items, more(r.URL.Path, all.Next)},
	}
	if refused != nil {
		return s.refused(r, p, refused)
	}
	return s.render(r, http.StatusOK, p)
}

// changeMember gives a member the role that the button names, or ends the membership.
func (s *web) changeMember(r *request) error {
	id, user := r.PathValue("id"), r.PathValue("member")
	var err error
	if role := r.form("role"); role == "" {
		err = s.Hubs.Remove(r.Context(), r.claim, id, user)
	} else {
		_, err = s.Hubs.SetRole(r.Context(), r.claim, id, user, role)
	}
	if err != nil {
		return s.members(r, err)
	}
	goOn(r, hubPath(id)+"/members?done=saved")
	return nil
}

// A requestsBody is what the page of the requests of a hub shows.
type requestsBody struct {
	Hub   hubs.Hub
	Items []hubs.Request
	More  string
}

func (s *web) requests(r *request) error {
	after, err := position(r)
	if err != nil {
		return err
	}
	all, err := s.Hubs.Requests(r.Context(), r.claim, r.PathValue("id"), hubs.Pending, after, perPage)
	if err != nil {
		return err
	}
	h, err := s.Hubs.Get(r.Context(), r.claim, r.PathValue("id"))
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK,
		page{
			Name: "requests", Title: "Requests to join " + h.Name,
			Body: requestsBody{h, all.Items, more(r.URL.Path, all.Next)},
		})
}

func (s *web) decide(r *request) error {
	_, err := s.Hubs.Decide(r.Context(), r.claim, r.PathValue("id"), r.PathValue("request"), r.form("approve") != "")
	if err != nil && fault.CodeOf(err) != hubs.AlreadyDecided { // another admin was faster
		return err
	}
	goOn(r, hubPath(r.PathValue("id"))+"/requests?done=decided")
	return nil
}

func (s *web) invitation(r *request) error {
	v, err := s.Hubs.Invited(r.Context(), r.claim, r.PathValue("token"))
	if err != nil {
		return err
	}
	return s.render(r, http.StatusOK, page{Name: "invitation", Title: "You are invited", Body: v})
}

func (s *web) answerInvitation(r *request) error {
	k := hubs.Key{Token: r.PathValue("token")}
	if id, ok := strings.CutPrefix(k.Token, "id-"); ok { // of the list of one's own
		k = hubs.Key{ID: id}
	}
	if r.form("decline") != "" {
		if err := s.Hubs.Decline(r.Context(), r.claim, k); err != nil {
			return err
		}
		goOn(r, Prefix+"/hubs?done=declined")
		return nil
	}
	out, err := s.Hubs.Accept(r.Context(), r.claim, k)
	if err != nil {
		return err
	}
	if out.Membership == nil {
		goOn(r, Prefix+"/hubs?done=asked")
		return nil
	}
	goOn(r, hubPath(out.Membership.HubID)+"?done=joined")
	return nil
}

func (s *web) joinPage(r *request) error {
	h, err := s.Hubs.Linked(r.Context(), r.claim, r.PathValue("token"))
	if err != nil {
		return err
	}
	if h.Mine != nil {
		goOn(r, hubPath(h.ID))
		return nil
	}
	return s.render(r, http.StatusOK, page{Name: "join", Title: h.Name, Body: h})
}

func (s *web) join(r *request) error {
	id, err := s.Hubs.Join(r.Context(), r.claim, r.PathValue("token"))
	if err != nil {
		return err
	}
	if id == "" {
		goOn(r, Prefix+"/hubs")
		return nil
	}
	goOn(r, Prefix+"/hubs?done=asked")
	return nil
}

// composeBody is what the page for a new post shows besides its form.
type composeBody struct {
	Key    string
	Hubs   []hubs.Hub
	Source *posts.Card // of a repost
	From   string      // from when the ends count
	Ends   []ending
	Least  int // how many votes an end counts
}

// hubsToPost returns the hubs that a person can post into.
func (s *web) hubsToPost(r *request) ([]hubs.Hub, error) {
	mine, err := s.Hubs.Mine(r.Context(), r.claim, "", 100)
	return mine.Items, err
}

// roles are the words for them.
var roles = map[string]string{hubs.Member: "member", hubs.Admin: "admin", hubs.SuperAdmin: "owner"}

func roleOf(role string) string { return roles[role] }
