package shop_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"prompthub/apps/harmony/internal/meettest"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

func item(title string) shop.Item {
	return shop.Item{
		Title: title, Price: &rules.Price{Minor: 250_000, Currency: "RUB"}, Category: "music", Stock: 3,
		Available: true, Link: "https://shop.example.com/lp",
	}
}

// TestItems: admins make, change and delete items, and everybody sees them, by their titles, each
// once although some come and go on the way.
func TestItems(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	s := shop.New(w.Service, rowstore.DefaultTables[shop.Tables]())
	ctx, admin := t.Context(), w.Members["admin"]
	require.NoError(t, s.Create(ctx))
	_, err := s.New(ctx, w.Members["moderator"], item("LP"), "")
	meettest.RequireCode(t, "ROLE_REQUIRED", err)
	ids := map[string]string{}
	for n := range 10 {
		i, err := s.New(ctx, admin, item(fmt.Sprintf("LP %d", 9-n)), "")
		require.NoError(t, err)
		ids[i.Title] = i.ID
		got, err := s.Item(ctx, i.ID)
		require.NoError(t, err)
		require.Equal(t, i, got)
	}
	var titles []string
	for after, more := "", true; more; {
		p, err := s.List(ctx, "music", shop.ByTitle, after, 3)
		require.NoError(t, err)
		for _, i := range p.Items {
			titles = append(titles, i.Title)
		}
		if len(titles) == 3 { // the last one that was shown goes, and so does one that comes
			require.NoError(t, s.Delete(ctx, admin, ids["LP 2"]))
			require.NoError(t, s.Delete(ctx, admin, ids["LP 4"]))
		}
		after, more = p.Next, p.Next != ""
	}
	require.Equal(t, []string{"LP 0", "LP 1", "LP 2", "LP 3", "LP 5", "LP 6", "LP 7", "LP 8", "LP 9"}, titles)
	p, err := s.List(ctx, "clothing", shop.ByTitle, "", 3)
	require.NoError(t, err)
	require.Empty(t, p.Items)
	changed := item("A shirt")
	changed.Category = "clothing"
	_, err = s.Edit(ctx, admin, ids["LP 0"], changed)
	require.NoError(t, err)
	p, err = s.List(ctx, "clothing", shop.ByTitle, "", 3)
	require.NoError(t, err)
	require.Equal(t, ids["LP 0"], p.Items[0].ID)
	for _, id := range []string{"x", ids["LP 2"], w.NewID()} {
		_, err = s.Item(ctx, id)
		meettest.RequireCode(t, shop.ItemNotFound, err)
		_, err = s.Edit(ctx, admin, id, changed)
		meettest.RequireCode(t, shop.ItemNotFound, err)
		meettest.RequireCode(t, shop.ItemNotFound, s.Delete(ctx, admin, id))
	}
	for name, spoil := range map[string]func(*shop.Item){
		"title": func(i *shop.Item) { i.Title = " " }, "price": func(i *shop.Item) {
			i.Price = nil
		}, "category": func(i *shop.Item) { i.Category = "Music" },
		"stockQuantity": func(i *shop.Item) { i.Stock = -1 }, "externalPurchaseUrl": func(i *shop.Item) {
			i.Link = "https://anna:x@example.com"
		},
	} {
		broken := item("LP")
		spoil(&broken)
		_, err := s.New(ctx, admin, broken, "")
		var f *fault.Error
		require.ErrorAs(t, err, &f)
		require.Equal(t, "body."+name, f.Fields[0].Name)
	}
	for _, link := range []string{"http://example.com", "javascript:alert(1)", "https://", "//example.com"} {
		broken := item("LP")
		broken.Link = link
		_, err := s.New(ctx, admin, broken, "")
		require.Equal(t, fault.Invalid, fault.Of(err), link)
	}
	for n := range 1000 - 8 {
		_, err := w.DB.Write(ctx, "StoreItems",
			table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: "STORE", Row: fmt.Sprint(n)}}})
		require.NoError(t, err)
	}
	_, err = s.New(ctx, admin, item("One too many"), "")
	meettest.RequireCode(t, shop.TooManyItems, err)
}

// TestOrders: in each order a list has each item once, while the last one that was shown goes.
func TestOrders(t *testing.T) {
	t.Parallel()
	w := meettest.New(t)
	s := shop.New(w.Service, rowstore.DefaultTables[shop.Tables]())
	ctx, admin := t.Context(), w.Members["admin"]
	require.NoError(t, s.Create(ctx))
	ids := map[string]string{}
	for n, minor := range []int64{30, 1_000_000_000_000, 200, 0, 30} {
		w.Clock.Pass(time.Second)
		i := item(fmt.Sprint(n))
		i.Price.Minor = minor
		made, err := s.New(ctx, admin, i, "")
		require.NoError(t, err)
		ids[i.Title] = made.ID
	}
	for order, want := range map[string]string{shop.ByTitle: "0 1 2 3 4", shop.ByNewest: "4 3 2 1 0"} {
		require.Equal(t, want, strings.Join(titlesIn(t, s, order, nil), " "), order)
	}
	cheap := titlesIn(t, s, shop.ByPrice, nil)
	require.Equal(t, []string{"3", "2", "1"}, []string{cheap[0], cheap[3], cheap[4]})
	dear := titlesIn(t, s, shop.ByDearest, nil)
	require.Equal(t, []string{"1", "2", "3"}, []string{dear[0], dear[1], dear[4]})
	left := titlesIn(t, s, shop.ByDearest, func() { require.NoError(t, s.Delete(ctx, admin, ids["2"])) })
	require.Equal(t, dear, left)
	for _, i := range []shop.Item{{Available: true}, {Stock: 3}} {
		require.False(t, i.CanBeBought())
	}
	require.True(t, shop.Item{Available: true, Stock: 1}.CanBeBought())
}

// titlesIn returns the titles in an order, read two at a time, with something done after the first.
func titlesIn(t *testing.T, s *shop.Service, order string, between func()) (titles []string) {
	t.Helper()
	for after, more := "", true; more; {
		p, err := s.List(t.Context(), "", order, after, 2)
		require.NoError(t, err)
		for _, i := range p.Items {
			titles = append(titles, i.Title)
		}
		if after == "" && between != nil {
			between()
		}
		after, more = p.Next, p.Next != ""
	}
	return titles
}
