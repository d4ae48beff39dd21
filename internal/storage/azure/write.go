package azure

import (
	"context"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/aztables"

	"prompthub/internal/storage/table"
)

// Write implements table.DB.
func (t *Tables) Write(ctx context.Context, name string, ops ...table.Op) ([]string, error) {
	etags, err := t.write(ctx, name, ops)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", name, err)
	}
	return etags, nil
}

func (t *Tables) write(ctx context.Context, name string, ops []table.Op) ([]string, error) {
	if err := table.Check(ops); err != nil {
		return nil, err
	}
	client := t.service.NewClient(name)
	if len(ops) > 1 {
		return writeBatch(ctx, client, name, ops)
	}
	etag, err := writeOne(ctx, client, ops[0])
	if err != nil {
		return nil, opError(tableError(name, err), 0, ops[0])
	}
	return []string{string(etag)}, nil
}

// writeOne sends a single operation, which costs the service less than a batch of one.
func writeOne(ctx context.Context, client *aztables.Client, op table.Op) (azcore.ETag, error) {
	match := azcore.ETag(op.Row.ETag)
	if op.Kind == table.Delete {
		_, err := client.DeleteEntity(ctx, op.Row.Partition, op.Row.Row, &aztables.DeleteEntityOptions{IfMatch: &match})
		return "", err
	}
	entity, err := encode(op.Row)
	if err != nil {
		return "", err
	}
	switch op.Kind {
	case table.Insert:
		quiet := policy.WithHTTPHeader(ctx, http.Header{"Prefer": {"return-no-content"}})
		resp, err := client.AddEntity(quiet, entity, nil)
		return resp.ETag, err
	case table.Upsert:
		resp, err := client.UpsertEntity(ctx, entity,
			&aztables.UpsertEntityOptions{UpdateMode: aztables.UpdateModeReplace})
		return resp.ETag, err
	}
	mode := aztables.UpdateModeReplace
	if op.Kind == table.Merge {
		mode = aztables.UpdateModeMerge
	}
	resp, err := client.UpdateEntity(ctx, entity, &aztables.UpdateEntityOptions{IfMatch: &match, UpdateMode: mode})
	return resp.ETag, err
}

// actions are the kinds of operation in a batch. Update without a condition would insert a
// missing row; Check sees to it that there is one.
var actions = map[table.Kind]aztables.TransactionType{
	table.Insert:  aztables.TransactionTypeAdd,
	table.Replace: aztables.TransactionTypeUpdateReplace,
	table.Merge:   aztables.TransactionTypeUpdateMerge,
	table.Upsert:  aztables.TransactionTypeInsertReplace,
	table.Delete:  aztables.TransactionTypeDelete,
}

func writeBatch(ctx context.Context, client *aztables.Client, name string, ops []table.Op) ([]string, error) {
	batch := make([]aztables.TransactionAction, len(ops))
	for i, op := range ops {
		if op.Kind == table.Delete {
			op.Row.Props = nil
		}
		entity, err := encode(op.Row)
		if err != nil {
			return nil, err
		}
		batch[i] = aztables.TransactionAction{ActionType: actions[op.Kind], Entity: entity}
		if op.Row.ETag != "" {
			match := azcore.ETag(op.Row.ETag)
			batch[i].IfMatch = &match
		}
	}
	answer := tap{stub: emptyBatch}
	if _, err := client.SubmitTransaction(tapped(ctx, &answer), batch, nil); err != nil {
		return nil, tableError(name, err)
	}
	return batchResult(name, answer.body, ops)
}
