// Package shop keeps the catalog of things that the band sells elsewhere.
//
//	StoreItems  STORE / itemId   an item
//
// There are at most 1,000 items, so a list reads them all and needs no rows of its own.
package shop

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/internal/fault"
	"prompthub/internal/storage/rowstore"
	"prompthub/internal/storage/table"
)

// Tables names the table.
type Tables struct {
	StoreItems string `table:"StoreItems"`
}

// All returns the names.
func (t Tables) All() []string { return rowstore.TableNames(t) }

// A Service is what people and admins may do with items. New makes one.
type Service struct {
	*rowstore.Store
	members *meet.Service
	tables  Tables
}

// New returns the service. The name of the table has its prefix.
func New(members *meet.Service, tables Tables) *Service {
	return &Service{members.Store, members, tables}
}

// Create makes the table and the container if they are missing.
func (s *Service) Create(ctx context.Context) error {
	if err := s.pictureGallery().Create(ctx); err != nil {
		return err
	}
	return s.DB.Create(ctx, s.tables.All()...)
}

// The codes of errors.
const (
	ItemNotFound fault.Code = "ITEM_NOT_FOUND"
	TooManyItems fault.Code = "TOO_MANY_ITEMS"
	TitleLength  fault.Code = "ITEM_TITLE_LENGTH"
	AboutLength  fault.Code = "ITEM_DESCRIPTION_LENGTH"
	CategoryForm fault.Code = "ITEM_CATEGORY_FORM"
	StockRange   fault.Code = "STOCK_RANGE"
	LinkForm     fault.Code = "LINK_FORM"
)

// The bounds of the shop.
const (
	maxItems = 1000 // two that are made at the same instant may be one more
	maxStock = 1_000_000
	maxLink  = 2000
	itemRows = "STORE"
)

// An Item is a thing that the band sells, with a link to where it is bought.
type Item struct {
	ID, Title, Description string
	Price                  *rules.Price
	Category               string
	Stock                  int
	Available              bool
	Link                   string // https
	ImageURL               string // "" if there is no picture
	CreatedAt, UpdatedAt   time.Time
}

func itemKey(id string) table.Key { return table.Key{Partition: itemRows, Row: id} }

// columns are the properties of an item but its picture.
var columns = rowstore.Columns[Item]{
	rowstore.Text("Title", func(i *Item) *string { return &i.Title }),
	rowstore.Text("Description", func(i *Item) *string { return &i.Description }),
	rowstore.Long("Price", func(i *Item) *int64 { return &i.Price.Minor }),
	rowstore.Text("Currency", func(i *Item) *string { return &i.Price.Currency }),
	rowstore.Text("Category", func(i *Item) *string { return &i.Category }),
	rowstore.Number("StockQuantity", func(i *Item) *int { return &i.Stock }),
	rowstore.Flag("IsAvailable", func(i *Item) *bool { return &i.Available }),
	rowstore.Text("ExternalPurchaseUrl", func(i *Item) *string { return &i.Link }),
	rowstore.Instant("CreatedAt", func(i *Item) *time.Time { return &i.CreatedAt }),
	rowstore.Instant("UpdatedAt", func(i *Item) *time.Time { return &i.UpdatedAt }),
}

func (i Item) toRow() table.Row {
	return table.Row{Key: itemKey(i.ID), Props: columns.Props(&i)}
}

func parseItem(row table.Row) Item {
	i := Item{ID: row.Key.Row, Price: &rules.Price{}, ImageURL: row.Props.Get("ImageUrl").Str()}
	columns.Read(row.Props, &i)
	return i
}

var categoryForm = regexp.MustCompile(`^[a-z0-9-]{1,40}$`)

// checkItem checks the parts that an admin writes.
func (i *Item) checkItem() error {
	var b rules.Broken
	i.Title = b.Text("title", i.Title, 1, 200, TitleLength, false)
	i.Description = b.Text("description", i.Description, 0, 5000, AboutLength, true)
	if i.Price == nil {
		b.Add("price", rules.PriceRange, "give a price", nil)
	}
	b.Price(i.Price)
	if !categoryForm.MatchString(i.Category) {
		b.Add("category", CategoryForm, "give 1 to 40 of a to z, digits and hyphens", i.Category)
	}
	if i.Stock < 0 || i.Stock > maxStock {
		b.Add("stockQuantity", StockRange, "give 0 to 1000000", i.Stock)
	}
	if u, err := url.Parse(i.Link); err != nil || u.Scheme != "https" || u.Host == "" ||
		u.User != nil || len(i.Link) > maxLink {
		b.Add("externalPurchaseUrl", LinkForm,
			"give an address that begins with https:// and has no user, of up to 2000 characters", nil)
	}
	return b.Err()
}

// A Page is a part of the list of items.
type Page struct {
	Items []Item
	Next  string
}

// The orders of items.
const (
	ByTitle   = "title"
	ByPrice   = "price"  // the cheapest first, by currencies
	ByDearest = "-price" // the dearest first, likewise
	ByNewest  = "newest"
)

// Orders are the orders of a list.
var Orders = []string{ByTitle, ByPrice, ByDearest, ByNewest}

// placeOf returns the text by which an item is in order.
func (i Item) placeOf(order string) string {
	if i.Price == nil { // a row that is damaged
		order = ByTitle
	}
	switch order {
	case ByPrice:
		return fmt.Sprintf("%s %013d", i.Price.Currency, i.Price.Minor)
	case ByDearest:
		return fmt.Sprintf("%s %013d", i.Price.Currency, rules.MaxPrice-i.Price.Minor)
	case ByNewest:
		return rowstore.Descending(i.CreatedAt)
	}
	return i.Title
}

// CanBeBought reports whether the shop has an item and sells it.
func (i Item) CanBeBought() bool { return i.Available && i.Stock > 0 }

// List returns the items of a category, "" for all, in an order. Everybody may ask.
func (s *Service) List(ctx context.Context, category, order, after string, limit int) (Page, error) {
	rows, _, err := s.Budget().Rows(ctx, s.tables.StoreItems, table.Range{Partition: itemRows}, rowstore.MaxScan)
	if err != nil {
		return Page{}, err
	}
	all := []Item{}
	for _, row := range rows {
		if i := parseItem(row); category == "" || i.Category == category {
			all = append(all, i)
		}
	}
	slices.SortFunc(all, func(a, b Item) int {
		return cmp.Or(cmp.Compare(a.placeOf(order), b.placeOf(order)), cmp.Compare(a.ID, b.ID))
	})
	p := Page{Items: all[indexAfter(all, order, after):]}
	if len(p.Items) > limit {
		p.Items = p.Items[:limit]
		p.Next = positionOf(p.Items[limit-1], order)
	}
	return p, nil
}

// positionOf names an item in the list: by its id, and by the beginning of its place in case that
// it is gone when the list goes on. A cursor has no room for all of a title.
func positionOf(i Item, order string) string {
	place := i.placeOf(order)
	return i.ID + strings.ToValidUTF8(place[:min(len(place), 100)], "")
}

// indexAfter returns the index at which a list goes on after a position.
func indexAfter(all []Item, order, after string) int {
	if len(after) < 36 {
		return 0
	}
	if at := slices.IndexFunc(all, func(i Item) bool { return i.ID == after[:36] }); at >= 0 {
		return at + 1
	}
	at, _ := slices.BinarySearchFunc(all, after[36:], func(i Item, place string) int {
		return cmp.Compare(i.placeOf(order), place)
	})
	return at
}

// Item returns an item. Everybody may ask.
func (s *Service) Item(ctx context.Context, id string) (Item, error) {
	if !meet.IsID(id) {
		return Item{}, noItem()
	}
	row, err := s.GetRow(ctx, s.tables.StoreItems, itemKey(id))
	if err != nil {
		return Item{}, err
	}
	if row == nil {
		return Item{}, noItem()
	}
	return parseItem(*row), nil
}

func noItem() error { return fault.Coded(fault.NotFound, ItemNotFound, "there is no such item") }

// requireAdmin finds out that the caller is an admin, and does another read at the same time.
func (s *Service) requireAdmin(ctx context.Context, c meet.Claim, read func(context.Context) error) error {
	caller, err := s.members.Admit(ctx, c, read)
	if err == nil && caller.Role != meet.Admin {
		err = fault.Coded(fault.Forbidden, meet.RoleRequired, "only admins may do this")
	}
	return err
}

// New makes an item; admins may. Requests with one key, unless it is "", and the same item make
// one.
func (s *Service) New(ctx context.Context, c meet.Claim, i Item, key string) (Item, error) {
	var there []table.Row
	err := s.requireAdmin(ctx, c, func(ctx context.Context) (err error) {
		there, _, err = s.Budget().Rows(ctx, s.tables.StoreItems,
			table.Range{Partition: itemRows, Select: []string{"CreatedAt"}}, rowstore.MaxScan)
		return err
	})
	if err != nil {
		return Item{}, err
	}
	if err := i.checkItem(); err != nil {
		return Item{}, err
	}
	id, err := s.members.DraftID(c.UserID, "item", key, i)
	if err != nil {
		return Item{}, err
	}
	// the request comes again
	if slices.ContainsFunc(there, func(row table.Row) bool { return row.Key == itemKey(id) }) {
		row, err := s.GetRow(ctx, s.tables.StoreItems, itemKey(id))
		if err != nil {
			return Item{}, err
		}
		if row != nil {
			return parseItem(*row), nil
		}
	}
	if len(there) >= maxItems {
		return Item{}, fault.Coded(fault.Conflict, TooManyItems,
			"there are 1,000 items, the most that there may be; delete one first")
	}
	i.ID, i.CreatedAt = id, s.Now().UTC()
	i.UpdatedAt = i.CreatedAt
	return i, s.members.Insert(ctx, s.tables.StoreItems, i.toRow())
}

// Edit changes an item; admins may.
func (s *Service) Edit(ctx context.Context, c meet.Claim, id string, i Item) (Item, error) {
	was, err := s.readItem(ctx, c, id)
	if err != nil {
		return Item{}, err
	}
	if err := i.checkItem(); err != nil {
		return Item{}, err
	}
	i.ID, i.CreatedAt, i.UpdatedAt, i.ImageURL = id, was.CreatedAt, s.Now().UTC(), was.ImageURL
	row := i.toRow()
	row.ETag = table.Any
	err = s.Write(ctx, s.tables.StoreItems, []table.Op{{Kind: table.Merge, Row: row}})
	if rowstore.Overtaken(err) {
		return Item{}, noItem()
	}
	if err != nil {
		return Item{}, rowstore.Unavailable(err)
	}
	return i, nil
}

// readItem reads an item, for an admin.
func (s *Service) readItem(ctx context.Context, c meet.Claim, id string) (i Item, err error) {
	var missing error
	err = s.requireAdmin(ctx, c, func(ctx context.Context) (err error) {
		i, err = s.Item(ctx, id)
		if fault.CodeOf(err) == ItemNotFound {
			missing, err = err, nil
		}
		return err
	})
	return i, cmp.Or(err, missing)
}

// Delete deletes an item; admins may.
func (s *Service) Delete(ctx context.Context, c meet.Claim, id string) error {
	i, err := s.readItem(ctx, c, id)
	if err == nil {
		err = s.RemoveKey(ctx, s.tables.StoreItems, itemKey(id))
	}
	if err == nil {
		s.pictureGallery().Drop(ctx, i.ImageURL)
	}
	return err
}
