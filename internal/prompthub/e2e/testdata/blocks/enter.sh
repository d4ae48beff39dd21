# Runs SCRIPT with a network, processes and a file system of its own: addresses such as 127.0.0.1:7071 are free, and what
# commands write to the repository at ROOT, to /etc and the like is gone afterwards. The lower layers are the real ones.
set -eu
ip link set lo up
mkdir "$WORK/layers"
mount -t tmpfs tmpfs "$WORK/layers"
for dir in "$ROOT" /etc /usr/local /var/lib; do
  layer=$WORK/layers/$(echo "$dir" | tr / _)
  mkdir "$layer" "$layer.work"
  mount -t overlay overlay -o "lowerdir=$dir,upperdir=$layer,workdir=$layer.work" "$dir"
done
cd "$ROOT"
rm -rf bin dist .data apps/*/bin apps/*/.data # of the developer
exec sh -eu "$SCRIPT"
