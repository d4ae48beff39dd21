make install
PUBLIC_READ=true make run
URL=http://127.0.0.1:7071 HANDLE=ann NAME=greeting
curl -X PUT -H "X-Dev-User: ann" -H "Content-Type: application/json" -d '{"handle":"ann","name":"Ann"}' $URL/api/v1/me/profile
echo "Greet {{name}} as an old friend." >"$WORK/greeting.md"
bin/handler save "$WORK/greeting.md" --public --user ann
made=$(curl -H "X-Dev-User: ann" -H "Content-Type: application/json" -d '{"name":"CI","scopes":["read"]}' $URL/api/v1/me/tokens)
TOKEN=$(echo "$made" | jq -r .token) TOKEN_ID=$(echo "$made" | jq -r .id)
