/** What the agent tells of its work as it happens, to whoever counts it. */
import type { OpKind } from "../plan/ops.ts";
import type { Difference } from "./read-back.ts";

/** Rules that the agent must never break; `haptic_agent_invariant_violations_total` counts the times that it did. */
export type Invariant =
  | "generation_monotonic"
  | "disk_is_the_desired_set"
  | "runtime_mode_does_not_reload"
  | "reload_mode_reloads"
  | "noop_runs_no_ops"
  | "journal_only_while_diverged"
  | "mount_probe_found_every_mount"
  | "ops_executable";

export type AgentNote =
  /** HAProxy's verdict on a reload; `lost` = it gave none. */
  | { readonly what: "reload"; readonly result: "loaded" | "refused" | "lost" }
  | { readonly what: "rollback" }
  | { readonly what: "operation refused"; readonly kind: OpKind }
  /** What was taken out of traffic and has to leave the worker: waits, has left, its name was needed or a reload came, or HAProxy keeps it. */
  | {
      readonly what: "removal";
      readonly kind: "server" | "backend";
      readonly outcome: "deferred" | "done" | "superseded" | "abandoned";
      readonly count: number;
    }
  /** The worker was read back and is not what its operations were to make of it. */
  | ({ readonly what: "divergence" } & Difference)
  | { readonly what: "broken"; readonly invariant: Invariant };

export type Note = (note: AgentNote) => void;
