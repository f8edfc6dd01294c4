import { test } from "uvu";
import * as assert from "uvu/assert";
import { candidatesOf } from "../../../src/controller/candidates.ts";
import type { KubeObject } from "../../../src/stores/types.ts";

const pod = (name: string, status: object, more: object = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "d", uid: `uid-${name}`, ...more },
  spec: { containers: [{ name: "haproxy" }, { name: "agent", ports: [{ containerPort: 5555 }] }] },
  status,
});
const running = { name: "agent", containerID: "c1", state: { running: {} } };

test("a pod that runs and has an address is a candidate, by name, with its agent's address", () => {
  const found = candidatesOf(
    [pod("b", { phase: "Running", podIP: "10.0.0.2", containerStatuses: [running] }), pod("a", { podIP: "fd00::1" })],
    5555,
  );
  assert.equal(found, [
    { id: "uid-a", namespace: "d", name: "a", address: "[fd00::1]:5555" },
    { id: "uid-b@c1", namespace: "d", name: "b", address: "10.0.0.2:5555" },
  ]);
});

test("no address, another phase, an agent that does not run, or a pod that goes and tells nothing of its containers: no candidate", () => {
  const found = candidatesOf(
    [
      pod("a", { phase: "Running" }),
      pod("b", { phase: "Pending", podIP: "10.0.0.2" }),
      pod("c", { phase: "Running", podIP: "10.0.0.3", containerStatuses: [{ ...running, state: { waiting: {} } }] }),
      pod("d", { phase: "Running", podIP: "10.0.0.4" }, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    ],
    5555,
  );
  assert.equal(found, []);
});

test("an agent that is a native sidecar is found among the init containers", () => {
  const sidecar = (state: object): KubeObject => ({
    ...pod("a", {
      phase: "Running",
      podIP: "10.0.0.1",
      containerStatuses: [{ name: "haproxy", containerID: "c9", state: { running: {} } }],
      initContainerStatuses: [{ ...running, state }],
    }),
    spec: { containers: [{ name: "haproxy" }], initContainers: [{ name: "agent", ports: [{ containerPort: 5555 }] }] },
  });
  assert.equal(
    candidatesOf([sidecar({ running: {} })], 5555).map(({ id }) => id),
    ["uid-a@c1"],
  );
  assert.equal(candidatesOf([sidecar({ terminated: {} })], 5555), []);
});

test("a pod that goes follows changes until its agent takes no more or one of its containers has ended", () => {
  const going = (haproxy: object, ready = true): readonly unknown[] =>
    candidatesOf(
      [
        pod(
          "a",
          {
            phase: "Running",
            podIP: "10.0.0.1",
            containerStatuses: [
              { ...running, ready },
              { name: "haproxy", containerID: "c2", state: haproxy },
            ],
          },
          { deletionTimestamp: "2026-01-01T00:00:00Z" },
        ),
      ],
      5555,
    );
  assert.is(going({ running: {} }).length, 1);
  assert.is(going({ running: {} }, false).length, 0);
  assert.is(going({ terminated: { exitCode: 0 } }).length, 0);
});

test("a restarted agent is another candidate", () => {
  const id = (containerID: string): string | undefined =>
    candidatesOf([pod("a", { podIP: "10.0.0.1", containerStatuses: [{ ...running, containerID }] })], 5555)[0]?.id;
  assert.is.not(id("c1"), id("c2"));
});

test.run();
