make install
make run
echo "Greet {{name}} as an old friend." >"$WORK/greeting.md"
prompthub save "$WORK/greeting.md"
EDITOR=edit
