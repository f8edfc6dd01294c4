#!/usr/bin/env bash
# bases.sh HAPROXY_PREFIX NODE_FOLDER: the two base images of the Dockerfile in buildah's store, made from Debian's packages,
# a folder of bin/install-haproxy.sh and the Node and npm of this machine; for where no published image can be had.
#
#   localhost/haptic-base-haproxy   haproxy on PATH
#   localhost/haptic-base-node      node and npm
#
# ROOTFS=DIR keeps the Debian root folder (made once by debootstrap, then reused), IMAGES=DIR is buildah's store. Nothing is made
# that is there already.
set -euo pipefail
haproxy=$(realpath "${1:?usage: bases.sh HAPROXY_PREFIX NODE_FOLDER}") node=$(realpath "${2:?usage: bases.sh HAPROXY_PREFIX NODE_FOLDER}")
rootfs=${ROOTFS:?ROOTFS names the folder of the Debian root}
suite=bookworm
images=${IMAGES:?IMAGES names the folder of the store}
buildah() { command buildah --root "$images/root" --runroot "$images/run" "$@"; }
mirror=${DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m1 -E '/debian/?$')}
here=localhost/haptic-base
have() { buildah inspect --type image "$1" >/dev/null 2>&1; }
tag_of() { "$@" | sha256sum | cut -c1-12; }
haproxy_tag=$(tag_of cat "$haproxy/PACKAGES") node_tag=$("$node/bin/node" -p process.versions.node)

if [ ! -e "$rootfs/etc/os-release" ]; then
  rm -rf "$rootfs.new"
  debootstrap --variant=minbase "$suite" "$rootfs.new" "$mirror" >&2
  rm -rf "$rootfs.new"/var/cache/apt/archives/*.deb "$rootfs.new"/var/lib/apt/lists/* "$rootfs.new"/usr/share/{doc,man,locale,info}/*
  mv "$rootfs.new" "$rootfs"
fi

container=
begin() { container=$(buildah from scratch); buildah add -q "$container" "$rootfs" / >/dev/null; }
finish() { # IMAGE
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin --cmd '["bash"]' "$container"
  buildah commit -q --rm "$container" "$1" >/dev/null
  container=
}
work=$(mktemp -d)
trap '[ -z "$container" ] || buildah rm "$container" >/dev/null 2>&1 || true; rm -rf "$work"' EXIT

if ! have "$here-haproxy:$haproxy_tag"; then
  # The folder's own C library moves with it.
  mkdir -p "$work/opt" "$work/usr/local/sbin"
  cp -a "$haproxy" "$work/opt/haproxy"
  loader=$(basename "$(find "$work/opt/haproxy/lib" -name 'ld-linux-*.so.*' | head -n 1)")
  patchelf --set-interpreter "/opt/haproxy/lib/$loader" --force-rpath --set-rpath /opt/haproxy/lib "$work/opt/haproxy/sbin/haproxy"
  ln -s /opt/haproxy/sbin/haproxy "$work/usr/local/sbin/haproxy"
  begin
  buildah add -q "$container" "$work" / >/dev/null
  # As the published image says it: whoever builds on it must say what stops its own process.
  buildah config --stop-signal SIGUSR1 "$container"
  finish "$here-haproxy:$haproxy_tag"
fi
if ! have "$here-node:$node_tag"; then
  rm -rf "${work:?}"/*
  mkdir -p "$work/usr/local/bin" "$work/usr/local/lib/node_modules" "$work/etc/ssl/certs"
  cp "$node/bin/node" "$work/usr/local/bin/node"
  cp -aL "$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")" "$work/usr/local/lib/node_modules/npm"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$work/usr/local/bin/npm"
  begin
  # What this machine trusts and where its npm looks, so that `npm ci` does the same in there.
  authorities=${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}
  if [ -r "$authorities" ]; then
    cp -L "$authorities" "$work/etc/ssl/certs/ca-certificates.crt"
    buildah config --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt "$container"
  fi
  buildah add -q "$container" "$work" / >/dev/null
  buildah config --env "npm_config_registry=$(npm config get registry)" --env npm_config_fund=false --env npm_config_audit=false \
    --env npm_config_update_notifier=false "$container"
  finish "$here-node:$node_tag"
fi
echo "HAPROXY_IMAGE=$here-haproxy:$haproxy_tag"
echo "NODE_IMAGE=$here-node:$node_tag"
