module prompthub/internal/tools/dotprompt

go 1.26.0

require (
	github.com/google/dotprompt/go v0.0.0-20251121213842-db5416a4f7ce
	github.com/stretchr/testify v1.12.1
	go.yaml.in/yaml/v3 v3.0.6
	prompthub v0.0.0
)

require (
	github.com/aymanbagabas/go-udiff v0.4.1 // indirect
	github.com/bahlo/generic-list-go v0.2.0 // indirect
	github.com/buger/jsonparser v1.1.1 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/goccy/go-yaml v1.18.0 // indirect
	github.com/gosimple/unidecode v1.0.1 // indirect
	github.com/invopop/jsonschema v0.13.0 // indirect
	github.com/mailru/easyjson v0.9.1 // indirect
	github.com/mbleigh/raymond v0.0.0-20250414171441-6b3a58ab9e0a // indirect
	github.com/oklog/ulid/v2 v2.1.2 // indirect
	github.com/wk8/go-ordered-map/v2 v2.1.8 // indirect
	golang.org/x/text v0.44.0 // indirect
	gopkg.in/yaml.v3 v3.0.1 // indirect
)

replace prompthub => ../../..
