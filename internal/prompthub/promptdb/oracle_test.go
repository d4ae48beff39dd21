package promptdb_test

import "prompthub/internal/table"

func bySchema(store table.DB) []string { return nil }
