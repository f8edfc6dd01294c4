# The one image of HAPTIC: controller, agent and HAProxy run from it (see docs/install.md).
#
#   docker build -t haptic .          or          buildah bud --isolation chroot -t haptic .
#
# Nothing here names an architecture: the bases and npm choose what fits the platform that is built for.

# HAProxy 3.0 or newer on a Debian-like system, with `haproxy` on PATH. Pin it by digest for a release.
ARG HAPROXY_IMAGE=docker.io/library/haproxy:3.4.7
# Only builds; the Node that runs comes with the packages of package-lock.json.
ARG NODE_IMAGE=docker.io/library/node:24.22.3-bookworm-slim

FROM ${NODE_IMAGE} AS packages
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN --mount=type=cache,target=/var/cache/npm npm ci --ignore-scripts --no-progress --cache /var/cache/npm

FROM packages AS build
COPY .ci/bundle.ts .ci/
COPY bin/haptic.mjs bin/node-flags.mjs bin/entrypoint.sh bin/
COPY machines machines
COPY src src
RUN npm run -s build \
 && mkdir -p /image/bin /image/lib/haptic \
 && cp node_modules/node-linux-*/bin/node /image/bin/node \
 && cp -R bin dist package.json /image/lib/haptic/ \
 && rm -f /image/lib/haptic/dist/meta.json \
 && ln -s ../lib/haptic/bin/haptic.mjs /image/bin/haptic \
 && mv /image/lib/haptic/bin/entrypoint.sh /image/bin/haptic-entrypoint \
 && chmod -R a+rX /image

FROM ${HAPROXY_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG CREATED=
LABEL org.opencontainers.image.title="haptic" \
      org.opencontainers.image.description="Template-driven HAProxy ingress and gateway controller for Kubernetes" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}"
USER root
COPY --from=build /image/ /usr/local/
COPY LICENSE /usr/local/lib/haptic/
RUN haproxy -v && HAPTIC_EXEC=1 haptic version
# HAPTIC_EXEC: the launcher becomes the program instead of staying beside it.
# Nothing is written but to what is mounted at /tmp and /etc/haproxy: the root file system may be read-only.
ENV HAPTIC_EXEC=1 NODE_ENV=production NODE_COMPILE_CACHE=/tmp/haptic-compile-cache
USER 65532:65532
WORKDIR /
# At SIGUSR1 HAProxy ends its connections before it goes; SIGTERM would cut them. Controller and agent stop at either.
STOPSIGNAL SIGUSR1
ENTRYPOINT ["/usr/local/bin/haptic-entrypoint"]
CMD ["help"]
