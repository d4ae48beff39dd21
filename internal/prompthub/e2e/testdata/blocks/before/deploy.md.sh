# Azurite stands in for the storage account: a connection string wins over its name.
mkdir "$WORK/azurite"
node internal/tools/azurite/node_modules/azurite/dist/src/azurite.js --silent --location "$WORK/azurite" --skipApiVersionCheck --disableTelemetry >"$WORK/azurite.log" 2>&1 &
export AzureWebJobsStorage=UseDevelopmentStorage=true QUEUE_PREFIX=prompthub-
make run
unset QUEUE_PREFIX
TOKEN=$(curl -H "X-Dev-User: ann" -H "Content-Type: application/json" -d '{"name":"CI","scopes":["read"]}' http://127.0.0.1:7071/api/v1/me/tokens | jq -r .token)
export TOKEN
ADMIN=ann@example.org GROUP=rg IDENTITY=id REPOSITORY=team/prompts OLD=v1
touch "prompthub-$OLD.zip"
