#!/usr/bin/env bash
# A real single-node Kubernetes cluster in a box: control plane, containerd + runc, kubelet, bridge CNI, kube-proxy.
#
#   node.sh start DIR [IMAGE.tar ...]   start everything, wait until the node is Ready, import the images
#   node.sh exec DIR CMD...             run CMD inside the box (its network, mounts and pids); KUBECONFIG is set
#   node.sh import DIR IMAGE.tar ...    import image archives (OCI or docker) into the node
#   node.sh status DIR                  resident memory of each part
#   node.sh stop DIR                    end the box: one SIGKILL to its first process ends all; the cgroups are removed
#
# The box is one pid + mount + network namespace. It has no way out: lo, one empty bridge with the node's address, and
# the pods' bridge; so nothing in it can send a packet off the host, and a test client runs inside it (node.sh exec).
# Settings: KUBE_BIN (kube-apiserver, etcd, kubelet, …), KUBE_START (start.sh of the control plane), NODE_NAME (node1),
#           NODE_IP (10.250.0.1), POD_CIDR (10.244.0.0/24), SERVICE_CIDR (10.255.0.0/16), LB_CIDR (10.251.0.0/24),
#           PAUSE_IMAGE (localhost/pause:1), CLUSTER_DNS (none),
#           PROXY_MODE (nftables|iptables), CNI_BIN (/usr/lib/cni), NODE_PROXY=0 to leave kube-proxy out
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cmd=${1:-}; dir=$(realpath -m "${2:?usage: node.sh start|exec|import|status|stop DIR …}"); shift 2
: "${NODE_NAME:=node1}" "${NODE_IP:=10.250.0.1}" "${POD_CIDR:=10.244.0.0/24}" "${SERVICE_CIDR:=10.255.0.0/16}" "${LB_CIDR:=10.251.0.0/24}"
: "${PAUSE_IMAGE:=localhost/pause:1}" "${PROXY_MODE:=nftables}" "${CNI_BIN:=/usr/lib/cni}" "${NODE_PROXY:=1}" "${NODE_WAIT:=120}"
: "${KUBE_START:=$here/../kube/start.sh}"
box() { # CMD... inside the box
  nsenter -t "$(cat "$dir/box.pid")" -n -m -p -- env -C "$PWD" KUBECONFIG="$dir/cp/kubeconfig" CONTAINERD_ADDRESS=/run/containerd/containerd.sock \
    PATH="${KUBE_BIN:+$KUBE_BIN:}$PATH" "$@"
}
say() { printf '%6d ms  %s\n' $((($(date +%s%N) - t0) / 1000000)) "$*"; }
until_ok() { # NAME SECONDS CMD...
  local n=$1 end=$(($(date +%s) + $2)); shift 2
  until "$@" >/dev/null 2>&1; do
    if [ "$(date +%s)" -ge $end ]; then echo "$n is not ready" >&2; tail -n 15 "$dir/log/$n.log" >&2 || true; exit 1; fi
    sleep 0.1
  done
}
launch() { # NAME CMD... : started inside the box, its output in DIR/log/NAME.log; child of the box's pid 1 when this ends
  local n=$1; shift
  box setsid nohup "$@" > "$dir/log/$n.log" 2>&1 < /dev/null &
}

start() {
  t0=$(date +%s%N)
  mkdir -p "$dir"/{etc,log,cni,run,kubelet,var-lib-cni,podlogs}; cg=/box-$(basename "$dir")
  [ -s "$dir/box.pid" ] && kill -0 "$(cat "$dir/box.pid")" 2>/dev/null && { echo "already running" >&2; exit 1; }
  echo "$cg" > "$dir/cgroup"
  local c
  for c in /sys/fs/cgroup/*/; do          # one parent cgroup in every v1 hierarchy (and in cgroup2, where it is harmless)
    mkdir -p "$c$cg"
    case $c in */cpuset/) cat "$c/cpuset.cpus" > "$c$cg/cpuset.cpus"; cat "$c/cpuset.mems" > "$c$cg/cpuset.mems";; esac
  done
  cat > "$dir/etc/init.sh" <<'I'
# pid 1 of the box: private mounts, then wait (bash reaps the orphans)
set -e
mount --make-rshared /
mount -t tmpfs -o mode=755 tmpfs /run
mount --bind "$1/var-lib-cni" /var/lib/cni 2>/dev/null || { mkdir -p /var/lib/cni; mount --bind "$1/var-lib-cni" /var/lib/cni; }
# the kubelet would set these of the whole machine: show it files that already say what it wants
for v in vm/overcommit_memory=1 kernel/panic=10 kernel/panic_on_oops=1; do
  f=$1/etc/sysctl-$(basename "${v%=*}"); echo "${v#*=}" > "$f"; mount --bind "$f" "/proc/sys/${v%=*}"
done
ip link set lo up
ip link add node0 type bridge; ip addr add "$2/32" dev node0; ip link set node0 up
for c in $3; do ip route add "$c" dev node0 src "$2"; done   # a ClusterIP or load balancer address needs a route before kube-proxy rewrites it
sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.route_localnet=1 net.bridge.bridge-nf-call-iptables=1
trap 'exit 0' TERM
touch "$1/run/up"
while :; do sleep 3600 & wait $! || true; done
I
  rm -f "$dir/run/up"
  setsid unshare --net --mount --pid --fork --kill-child --mount-proc --propagation private \
    bash "$dir/etc/init.sh" "$dir" "$NODE_IP" "$SERVICE_CIDR $LB_CIDR" > "$dir/log/box.log" 2>&1 < /dev/null &
  local outer=$!
  until_ok box 10 test -e "$dir/run/up"
  echo $outer > "$dir/outer.pid"; pgrep -P $outer > "$dir/box.pid"
  say "box up"

  cat > "$dir/etc/containerd.toml" <<Y
version = 2
root = "$dir/containerd"
state = "/run/containerd/state"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs","io.containerd.snapshotter.v1.zfs","io.containerd.snapshotter.v1.devmapper","io.containerd.snapshotter.v1.aufs","io.containerd.internal.v1.tracing"]
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "$PAUSE_IMAGE"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$CNI_BIN"
    conf_dir = "$dir/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
Y
  cat > "$dir/cni/10-bridge.conflist" <<Y
{"cniVersion":"0.4.0","name":"pods","plugins":[
 {"type":"bridge","bridge":"cni0","isDefaultGateway":true,"hairpinMode":true,
  "ipam":{"type":"host-local","ranges":[[{"subnet":"$POD_CIDR"}]]}},
 {"type":"portmap","capabilities":{"portMappings":true}}]}
Y
  launch containerd containerd -c "$dir/etc/containerd.toml"
  until_ok containerd 30 box ctr version
  say "containerd ready"
  import "$@"
  say "images imported"

  # the control plane, inside the box
  ( export KUBE_SERVICE_CIDR=$SERVICE_CIDR KUBE_PARTS="controller-manager scheduler" KUBE_CONTROLLERS=${KUBE_CONTROLLERS:-*} \
      KUBE_APISERVER_ARGS="--endpoint-reconciler-type=lease --kubelet-client-certificate=pki/admin.crt --kubelet-client-key=pki/admin.key --kubelet-preferred-address-types=InternalIP ${KUBE_APISERVER_ARGS:-}" \
      KUBE_KCM_ARGS="--node-monitor-period=1s ${KUBE_KCM_ARGS:-}"
    box bash "$KUBE_START" start "$dir/cp" "$NODE_IP" ) | sed 's/^/           /'
  say "control plane up"
  box bash "$KUBE_START" kubeconfig "$dir/cp" "system:node:$NODE_NAME" system:nodes > "$dir/etc/kubelet.kubeconfig"
  box bash "$KUBE_START" kubeconfig "$dir/cp" system:kube-proxy system:node-proxier > "$dir/etc/proxy.kubeconfig"

  : > "$dir/etc/resolv.conf"
  cat > "$dir/etc/kubelet.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
address: $NODE_IP
authentication:
  anonymous: {enabled: false}
  webhook: {enabled: false}
  x509: {clientCAFile: $dir/cp/pki/ca.crt}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: $cg
failCgroupV1: false
failSwapOn: false
containerRuntimeEndpoint: unix:///run/containerd/containerd.sock
resolvConf: $dir/etc/resolv.conf
clusterDomain: cluster.local
${CLUSTER_DNS:+clusterDNS: [$CLUSTER_DNS]}
podLogsDir: $dir/podlogs
volumePluginDir: $dir/kubelet/volumeplugins
enforceNodeAllocatable: []
cpuManagerPolicy: none
oomScoreAdj: 0
localStorageCapacityIsolation: true
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
evictionHard: {memory.available: 64Mi, nodefs.available: "1%", imagefs.available: "1%", nodefs.inodesFree: "1%", imagefs.inodesFree: "1%"}
nodeStatusUpdateFrequency: 5s
syncFrequency: 10s
maxPods: 200
Y
  launch kubelet kubelet --config="$dir/etc/kubelet.yaml" --kubeconfig="$dir/etc/kubelet.kubeconfig" --root-dir="$dir/kubelet" \
    --cert-dir="$dir/kubelet/pki" --hostname-override="$NODE_NAME" --node-ip="$NODE_IP" -v="${KUBELET_V:-1}"
  if [ "$NODE_PROXY" != 0 ]; then
    cat > "$dir/etc/proxy.yaml" <<Y
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: $PROXY_MODE
oomScoreAdj: 0
hostnameOverride: $NODE_NAME
clientConnection: {kubeconfig: $dir/etc/proxy.kubeconfig}
clusterCIDR: $POD_CIDR
bindAddress: $NODE_IP
conntrack: {maxPerCore: 0, min: 0, tcpCloseWaitTimeout: 0s, tcpEstablishedTimeout: 0s}
iptables: {minSyncPeriod: 0s, syncPeriod: 30s}
nftables: {minSyncPeriod: 0s, syncPeriod: 30s}
Y
    launch kube-proxy kube-proxy --config="$dir/etc/proxy.yaml" -v=1
  fi
  until_ok kubelet "$NODE_WAIT" box curl -sf http://127.0.0.1:10248/healthz   # first, since a kept DIR has an old Ready
  until_ok kubelet "$NODE_WAIT" box kubectl wait --for=condition=Ready "node/$NODE_NAME" --timeout=1s
  say "node Ready"
}

import() { local i; for i in "$@"; do box ctr -n k8s.io images import "$(realpath "$i")" > /dev/null; done; }

stop() {
  local p d i
  if [ -s "$dir/outer.pid" ]; then
    p=$(cat "$dir/outer.pid"); kill -9 "$p" 2>/dev/null || true     # --kill-child: the box's pid 1 gets SIGKILL, and with it all
    for i in $(seq 100); do kill -0 "$(cat "$dir/box.pid")" 2>/dev/null || break; sleep 0.05; done
    rm -f "$dir/outer.pid" "$dir/box.pid"
  fi
  [ -s "$dir/cgroup" ] || exit 0
  for i in $(seq 40); do                   # a cgroup can be removed once its last process is reaped
    find /sys/fs/cgroup/*"$(cat "$dir/cgroup")" -depth -type d -exec rmdir {} + 2>/dev/null || true
    ls -d /sys/fs/cgroup/*"$(cat "$dir/cgroup")" >/dev/null 2>&1 || break
    sleep 0.1
  done
}

status() { # all processes of the box by name: count, RSS
  box ps -eo rss=,comm= | awk '{r[$2] += $1; n[$2]++} END {for (c in r) printf "%-24s x%-3d %6.1f MB\n", c, n[c], r[c] / 1024}' | sort
}

case $cmd in
  start) start "$@" ;;
  exec) box "$@" ;;
  import) import "$@" ;;
  status) status ;;
  stop) stop ;;
  *) sed -n '2,17s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
