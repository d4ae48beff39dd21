package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"prompthub/apps/harmony/internal/account"
	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/internal/fault"
)

// shop are the pages of the store.
func (s *web) shop() {
	const at, admin = Prefix + "/store", Prefix + "/admin/store"
	s.handle("GET "+at, func(r *request) error {
		q := r.URL.Query()
		order := q.Get("sort")
		if !slices.Contains(shop.Orders, order) {
			order = shop.ByTitle
		}
		p, err := s.Shop.List(r.Context(), "", order, q.Get("after"), perPage)
		if err != nil {
			return err
		}
		b := struct {
			shop.Page
			More, Sort string
			Orders     []string
		}{p, more(r, p.Next), order, shop.Orders}
		return s.render(r, http.StatusOK, page{Name: "store", Title: "store.title", Body: b})
	})
	s.members("GET "+admin+"/new", func(r *request) error { return s.item(r, "", nil) })
	s.members("GET "+admin+"/{id}", func(r *request) error { return s.item(r, r.PathValue("id"), nil) })
	s.members("POST "+admin, func(r *request) error {
		_, err := s.Shop.New(r.Context(), r.claim, r.item(), r.form("key"))
		return s.savedItem(r, "", err)
	})
	s.members("POST "+admin+"/{id}", func(r *request) error {
		_, err := s.Shop.Edit(r.Context(), r.claim, r.PathValue("id"), r.item())
		return s.savedItem(r, r.PathValue("id"), err)
	})
	s.pictures("POST "+admin+"/{id}/image", func(r *request) error {
		file, err := r.photo()
		if err == nil {
			_, err = s.Shop.SetImage(r.Context(), r.claim, r.PathValue("id"), file)
		}
		return s.savedItem(r, r.PathValue("id"), err)
	})
	s.members("POST "+admin+"/{id}/delete", func(r *request) error {
		if err := s.Shop.Delete(r.Context(), r.claim, r.PathValue("id")); err != nil {
			return err
		}
		goOn(r, at+"?done=deleted")
		return nil
	})
}

// item shows the form of an item, "" for a new one.
func (s *web) item(r *request, id string, refused error) error {
	if r.who.Role != meet.Admin {
		return adminsOnly()
	}
	form := url.Values{"currency": {"RUB"}, "stockQuantity": {"1"}, "isAvailable": {"on"}}
	if id != "" {
		i, err := s.Shop.Item(r.Context(), id)
		if err != nil {
			return err
		}
		form = url.Values{
			"title": {i.Title}, "description": {i.Description}, "price": {amount(*i.Price)},
			"currency": {i.Price.Currency}, "itemCategory": {i.Category},
			"stockQuantity": {strconv.Itoa(i.Stock)}, "isAvailable": checked(i.Available),
			"externalPurchaseUrl": {i.Link},
		}
	}
	return s.formPage(r, page{Name: "admin-item", Title: "store.item", Body: id}, form,
		renamed(refused, "body.category", "body.itemCategory"))
}

func (s *web) savedItem(r *request, id string, err error) error {
	if err != nil {
		return s.item(r, id, err)
	}
	goOn(r, Prefix+"/store?done=saved")
	return nil
}

// item reads the form of an item.
func (r *request) item() shop.Item {
	i := shop.Item{
		Title: r.form("title"), Description: r.form("description"), Category: r.form("itemCategory"),
		Stock:     number(r.form("stockQuantity")),
		Available: r.form("isAvailable") != "", Link: strings.TrimSpace(r.form("externalPurchaseUrl")),
	}
	if s := strings.TrimSpace(r.form("price")); s != "" {
		code := strings.ToUpper(strings.TrimSpace(r.form("currency")))
		i.Price = &rules.Price{Minor: minor(s, code), Currency: code}
	}
	return i
}

// Admin reports whether the reader of a page is an admin.
func (p page) Admin() bool { return p.Me != nil && p.Me.Role == meet.Admin }

func adminsOnly() error {
	return fault.Coded(fault.Forbidden, meet.RoleRequired, "only admins may do this")
}

// Small returns the address of the small file of a picture.
func (words) Small(url string) string { return strings.TrimSuffix(url, ".jpg") + account.ThumbSuffix }
