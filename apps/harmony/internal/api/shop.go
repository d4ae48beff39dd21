package api

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"prompthub/apps/harmony/internal/meet"
	"prompthub/apps/harmony/internal/rules"
	"prompthub/apps/harmony/internal/shop"
	"prompthub/internal/http/httpjson"
	"prompthub/internal/http/openapi"
)

type (
	// NewItem is what an admin writes about an item of the store.
	NewItem struct {
		Title               string `json:"title" doc:"1 to 200 characters" example:"Семь ламп, LP"`
		Description         string `json:"description" doc:"Up to 5,000 characters" example:"Две пластинки"`
		Price               *Price `json:"price" doc:"What it costs"`
		Category            string `json:"category" doc:"1 to 40 of a to z, digits and hyphens" example:"music"`
		StockQuantity       int    `json:"stockQuantity" doc:"0 to 1,000,000; the page has no link to buy one of which 0 are left" example:"12"`
		IsAvailable         bool   `json:"isAvailable" doc:"Whether it can be bought now" example:"true"`
		ExternalPurchaseURL string `json:"externalPurchaseUrl" doc:"Where it is bought: an https address without a user" example:"https://shop.example.com/lp"`
	}
	// Item is an item of the store.
	Item struct {
		NewItem
		ItemID    string  `json:"itemId" format:"uuid" doc:"The id of the item" example:"2a3b4c5d-6e7f-4809-9a1b-2c3d4e5f6071"`
		ImageURL  *string `json:"imageUrl" doc:"Its picture of up to 2,048 pixels a side, or null; with _320.jpg at its end a small one" example:"/api/v1/images/store/2a3b4c5d-6e7f-4809-9a1b-2c3d4e5f6071/0b9d4c7a-2e51-4f83-9a66-d1c0b7e8f925.jpg"`
		CreatedAt string  `json:"createdAt" format:"date-time" doc:"When it was made" example:"2026-11-01T12:00:00.000Z"`
		UpdatedAt string  `json:"updatedAt" format:"date-time" doc:"When it was changed last" example:"2026-11-01T12:00:00.000Z"`
	}
	// ByItem names an item.
	ByItem struct {
		ItemID string `path:"itemId" doc:"The id of an item" example:"2a3b4c5d-6e7f-4809-9a1b-2c3d4e5f6071"`
	}
)

func (n NewItem) item() shop.Item {
	i := shop.Item{
		Title: n.Title, Description: n.Description, Category: n.Category, Stock: n.StockQuantity,
		Available: n.IsAvailable, Link: n.ExternalPurchaseURL,
	}
	if n.Price != nil {
		i.Price = &rules.Price{Minor: n.Price.AmountMinor, Currency: n.Price.Currency}
	}
	return i
}

func itemOf(i shop.Item) Item {
	n := NewItem{
		Title: i.Title, Description: i.Description, Category: i.Category, StockQuantity: i.Stock,
		IsAvailable: i.Available, ExternalPurchaseURL: i.Link,
	}
	if i.Price != nil {
		n.Price = &Price{i.Price.Minor, i.Price.Currency}
	}
	return Item{
		NewItem: n, ItemID: i.ID, ImageURL: httpjson.OptionalText(i.ImageURL),
		CreatedAt: httpjson.FormatTime(i.CreatedAt), UpdatedAt: httpjson.FormatTime(i.UpdatedAt),
	}
}

func (a *api) shop() {
	op := func(id, method, path, tag, summary, description string, status int, errors ...int) huma.Operation {
		return huma.Operation{
			OperationID: id, Method: method, Path: path, Tags: []string{tag}, DefaultStatus: status,
			Errors: errors, Summary: summary, Description: description,
		}
	}
	const list = "list-items"
	route(a, anyone, Bound{1, 1}, op(list, http.MethodGet, "/store/items", "store", "Items of the store", "In the order that sort says: by their titles, by their prices or the dearest first, each currency by itself, or the newest first.", http.StatusOK),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByPage
			Category string `query:"category" maxLength:"40" doc:"Those of one category alone" example:"music"`
			Sort     string `query:"sort" enum:"title,price,-price,newest" default:"title" doc:"The order" example:"title"`
		},
		) (*openapi.Body[List[Item]], error) {
			scope := list + " " + in.Category + " " + in.Sort
			after, err := in.after(scope, c)
			if err != nil {
				return nil, err
			}
			p, err := a.Shop.List(ctx, in.Category, in.Sort, after, in.Limit)
			return openapi.Answer(pageOf(scope, c, p.Items, p.Next, itemOf), err)
		})
	route(a, anyone, Bound{1, 1}, op("get-item", http.MethodGet, "/store/items/{itemId}", "store", "An item",
		"With a link to where it is bought.", http.StatusOK, 404),
		func(ctx context.Context, _ meet.Claim, in *ByItem) (*openapi.Body[Item], error) {
			i, err := a.Shop.Item(ctx, in.ItemID)
			return openapi.Answer(itemOf(i), err)
		})
	route(a, member, Bound{2, 4},
		op("new-item", http.MethodPost, "/admin/store/items", "admin", "Make an item; admins may",
			"There are up to 1,000. "+sentAgain, http.StatusCreated, 409),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByKey
			Body NewItem
		},
		) (*openapi.Body[Item], error) {
			i, err := a.Shop.New(ctx, c, in.Body.item(), in.Key)
			return openapi.Answer(itemOf(i), err)
		})
	route(a, member, Bound{2, 4},
		op("put-item", http.MethodPut, "/admin/store/items/{itemId}", "admin", "Change an item; admins may",
			"All of it.", http.StatusOK, 404),
		func(ctx context.Context, c meet.Claim, in *struct {
			ByItem
			Body NewItem
		},
		) (*openapi.Body[Item], error) {
			i, err := a.Shop.Edit(ctx, c, in.ItemID, in.Body.item())
			return openapi.Answer(itemOf(i), err)
		})
	image := imageSent(op("put-item-image", http.MethodPut, "/admin/store/items/{itemId}/image", "admin",
		"Give an item a picture; admins may", sentImage, http.StatusOK, 404))
	route(a, member, Bound{3, 10}, image, func(ctx context.Context, c meet.Claim, in *struct {
		ByItem
		RawBody []byte `contentType:"image/jpeg"`
	},
	) (*openapi.Body[Item], error) {
		i, err := a.Shop.SetImage(ctx, c, in.ItemID, in.RawBody)
		return openapi.Answer(itemOf(i), err)
	})
	route(a, member, Bound{2, 8}, op("delete-item", http.MethodDelete, "/admin/store/items/{itemId}", "admin",
		"Delete an item; admins may", "At once.", http.StatusNoContent, 404),
		func(ctx context.Context, c meet.Claim, in *ByItem) (*none, error) {
			return nil, a.Shop.Delete(ctx, c, in.ItemID)
		})
}
