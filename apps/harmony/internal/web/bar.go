package web

import (
	"strings"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/internal/http/pages"
)

// bar returns the bar of a reader, nil for a guest, of a page that a path names.
func (w words) bar(me *meet.Me, path, shown string) pages.Bar {
	at := func(path, name, icon string) pages.Place {
		return pages.Place{Address: Prefix + path, Name: w.T(name), Icon: icon}
	}
	b := pages.Bar{Label: w.T("nav"), More: at("", "nav.more", pages.IconMore)}
	events, blog, store := at("/events", "nav.events", pages.IconDay), at("/blog", "nav.blog", pages.IconPaper),
		at("/store", "nav.store", pages.IconShop)
	if me == nil {
		b.Places = []pages.Place{events, blog, store, at("/sign-in", "sign-in.do", pages.IconEnter)}
	} else {
		likes, chats := at("/likes", "nav.likes", pages.IconHeart), at("/chats", "nav.chats", pages.IconChat)
		likes.New, chats.New, events.New = "liked", "chats", "events"
		b.News, b.Live = Prefix+"/news", true
		b.Places = []pages.Place{at("/people", "nav.people", pages.IconPeople), likes, chats, events}
		b.Rest = []pages.Place{
			at("/me", "nav.me", ""), at("/settings", "nav.set", ""),
			at("/forum", "nav.forum", ""), blog, store,
		}
		if me.Role.Staff() {
			b.Rest = append(b.Rest, at("/admin/reports", "admin.reports", ""))
		}
		b.Rest = append(b.Rest,
			pages.Place{
				Address: Prefix + "/language", Name: w.Named(w.Other()),
				Form: map[string]string{"to": w.Other(), "back": shown},
			},
			pages.Place{Address: Prefix + "/sign-out", Name: w.T("sign-out"), Form: map[string]string{}})
	}
	if strings.HasPrefix(path, Prefix+"/matches") {
		path = Prefix + "/likes/" // the two are one place
	}
	b.At(path, Prefix)
	return b
}
