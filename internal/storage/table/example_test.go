package table_test

import (
	"context"
	"errors"
	"fmt"

	"prompthub/internal/storage/memory"
	"prompthub/internal/storage/table"
)

// A write under the ETag that was read changes nothing once somebody else was faster.
func Example() {
	ctx, db := context.Background(), memory.NewTables()
	if err := db.Create(ctx, "Orders"); err != nil {
		panic(err)
	}
	key := table.Key{Partition: "ann", Row: "7"}
	open := table.Row{Key: key, Props: table.Props{{Name: "State", Value: table.String("open")}}}
	etags, err := db.Write(ctx, "Orders", table.Op{Kind: table.Insert, Row: open})
	if err != nil {
		panic(err)
	}

	paid := table.Row{Key: key, ETag: etags[0], Props: table.Props{{Name: "State", Value: table.String("paid")}}}
	_, err = db.Write(ctx, "Orders", table.Op{Kind: table.Replace, Row: paid})
	fmt.Println("first:", err)
	_, err = db.Write(ctx, "Orders", table.Op{Kind: table.Replace, Row: paid})
	fmt.Println("second:", errors.Is(err, table.ErrConflict))

	row, err := db.Get(ctx, "Orders", key)
	fmt.Println(row.Props.Get("State").Str(), err)
	// Output:
	// first: <nil>
	// second: true
	// paid <nil>
}

// Keys are the order of a list: a prefix of row keys is one range, read page by page.
func ExampleAll() {
	ctx, db := context.Background(), memory.NewTables()
	if err := db.Create(ctx, "Orders"); err != nil {
		panic(err)
	}
	for _, row := range []string{"2026|b", "2025|a", "2026|a"} {
		op := table.Op{Kind: table.Insert, Row: table.Row{Key: table.Key{Partition: "ann", Row: row}}}
		if _, err := db.Write(ctx, "Orders", op); err != nil {
			panic(err)
		}
	}
	for r, err := range table.All(ctx, db, "Orders", table.Prefix("ann", "2026|")) {
		fmt.Println(r.Row, err)
	}
	// Output:
	// 2026|a <nil>
	// 2026|b <nil>
}
