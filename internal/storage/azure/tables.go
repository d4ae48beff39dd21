package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"
	"golang.org/x/sync/errgroup"

	"prompthub/internal/storage/table"
)

// Tables is the table service of an account. It implements table.DB.
type Tables struct {
	service *aztables.ServiceClient
}

var _ table.DB = (*Tables)(nil)

// Get implements table.DB. Errors name the table and no key, here and below: keys hold user ids,
// and errors reach logs.
func (t *Tables) Get(ctx context.Context, name string, key table.Key) (table.Row, error) {
	if err := table.CheckKey(key); err != nil {
		return table.Row{}, fmt.Errorf("get %s: %w", name, err)
	}
	answer := tap{stub: emptyRow}
	resp, err := t.service.NewClient(name).GetEntity(tapped(repeatable(ctx), &answer), key.Partition, key.Row, nil)
	if err != nil {
		return table.Row{}, fmt.Errorf("get %s: %w", name, tableError(name, err))
	}
	row, err := decodeRow(answer.body)
	if err != nil {
		return table.Row{}, fmt.Errorf("get %s: %w", name, err)
	}
	if row.ETag == "" {
		row.ETag = string(resp.ETag)
	}
	return row, nil
}

// List implements table.DB.
func (t *Tables) List(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	page, err := t.list(ctx, name, r, limit, next)
	if err != nil {
		return table.Page{}, fmt.Errorf("list %s: %w", name, err)
	}
	return page, nil
}

func (t *Tables) list(ctx context.Context, name string, r table.Range, limit int, next string) (table.Page, error) {
	if err := table.CheckList(r, limit); err != nil {
		return table.Page{}, err
	}
	at, err := parsePosition(next)
	if err != nil {
		return table.Page{}, err
	}
	top := int32(limit)
	opts := &aztables.ListEntitiesOptions{Top: &top, NextPartitionKey: at.Partition, NextRowKey: at.Row}
	if f := filter(r); f != "" {
		opts.Filter = &f
	}
	if r.Select != nil {
		names := "PartitionKey,RowKey," + strings.Join(r.Select, ",")
		opts.Select = &names
	}
	answer := tap{stub: emptyPage}
	resp, err := t.service.NewClient(name).NewListEntitiesPager(opts).NextPage(tapped(repeatable(ctx), &answer))
	if err != nil {
		return table.Page{}, tableError(name, err)
	}
	rows, err := decodePage(answer.body)
	if err != nil {
		return table.Page{}, err
	}
	for i, row := range rows {
		if !r.Matches(row.Props) {
			rows[i] = row.Bare()
		}
	}
	token, err := position{resp.NextPartitionKey, resp.NextRowKey}.token()
	return table.Page{Rows: rows, Next: token}, err
}

// Create implements table.DB. Making a table that exists changes nothing, so it is repeated
// like a read. An identity that may not make tables gets the service's refusal.
func (t *Tables) Create(ctx context.Context, names ...string) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(8)
	for _, name := range names {
		g.Go(func() error {
			_, err := t.service.CreateTable(repeatable(ctx), name, nil)
			if err != nil && !alreadyExists(err, "TableAlreadyExists") {
				return fmt.Errorf("create table %s: %w", name, describe(err))
			}
			return nil
		})
	}
	return g.Wait()
}

func alreadyExists(err error, code string) bool {
	var re *azcore.ResponseError
	return errors.As(err, &re) && re.StatusCode == http.StatusConflict && re.ErrorCode == code
}
