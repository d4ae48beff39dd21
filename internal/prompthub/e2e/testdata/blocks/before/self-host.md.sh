mkdir -p /etc/systemd/system
go build -o bin/handler ./handler
bin/handler local --addr 127.0.0.1:7072 --data "$WORK/library" 2>"$WORK/library.log" &
until bin/handler health --url http://127.0.0.1:7072 2>/dev/null; do sleep 0.1; done
echo "Greet {{name}} as an old friend." >"$WORK/greeting.md"
bin/handler save "$WORK/greeting.md" --url http://127.0.0.1:7072
kill $!
wait
BACKUP=$WORK/prompts.jsonl
bin/handler backup --data "$WORK/library" "$BACKUP"
go run ./stage release -version v0.0.0-test -platforms linux/amd64
cp dist/release/* .
