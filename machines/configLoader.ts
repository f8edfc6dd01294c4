/**
 * Follows the configuration object and the libraries it refers to, and assembles them.
 *
 * Lives with the process.
 * Reads: SOURCE.CHANGED, SOURCE.GONE, from its own stream actor only.
 * Emits: CONFIG.LOADED, CONFIG.HELD, CONFIG.INVALID, CONFIG.MISSING.
 *
 * A library whose revision is not the referenced one means that an update is under way: hold, the last good configuration serves on.
 * An invalid configuration changes nothing either. Only changes of a spec are told (own status writes come back as events).
 */
import { emit, fromCallback, fromPromise, setup } from "xstate";

export type AssembleReply =
  | { readonly kind: "assembled"; readonly version: string; readonly generation: number }
  | { readonly kind: "held"; readonly generation: number; readonly message: string }
  | { readonly kind: "invalid"; readonly generation: number; readonly message: string };

export type ConfigLoaderEvent = { readonly type: "SOURCE.CHANGED" } | { readonly type: "SOURCE.GONE" };

export type ConfigLoaderEmitted =
  | { readonly type: "CONFIG.LOADED"; readonly version: string; readonly generation: number }
  | { readonly type: "CONFIG.HELD"; readonly generation: number; readonly message: string }
  | { readonly type: "CONFIG.INVALID"; readonly generation: number; readonly message: string }
  | { readonly type: "CONFIG.MISSING" };

export const configLoaderMachine = setup({
  types: {
    events: {} as ConfigLoaderEvent,
    emitted: {} as ConfigLoaderEmitted,
  },
  actors: {
    source: fromCallback<{ type: "unused" }>(() => {
      throw new Error("the source actor is provided by the wiring");
    }),
    assemble: fromPromise<AssembleReply>(() =>
      Promise.reject(new Error("the assemble actor is provided by the wiring")),
    ),
  },
  actions: {
    announceLoaded: emit((_, params: { version: string; generation: number }) => ({
      type: "CONFIG.LOADED",
      ...params,
    })),
    announceHeld: emit((_, params: { generation: number; message: string }) => ({ type: "CONFIG.HELD", ...params })),
    announceInvalid: emit((_, params: { generation: number; message: string }) => ({
      type: "CONFIG.INVALID",
      ...params,
    })),
    announceMissing: emit({ type: "CONFIG.MISSING" }),
  },
  guards: {
    assembled: (_, params: { reply: AssembleReply }) => params.reply.kind === "assembled",
    held: (_, params: { reply: AssembleReply }) => params.reply.kind === "held",
  },
  delays: { sourceRestart: 5_000 },
}).createMachine({
  id: "configLoader",
  initial: "following",
  states: {
    following: {
      invoke: {
        id: "source",
        src: "source",
        onError: "broken",
      },
      initial: "waiting",
      on: {
        "SOURCE.CHANGED": ".assembling",
        "SOURCE.GONE": { target: ".missing", actions: "announceMissing" },
      },
      states: {
        waiting: {},
        assembling: {
          invoke: {
            id: "assemble",
            src: "assemble",
            onDone: [
              {
                guard: { type: "assembled", params: ({ event }) => ({ reply: event.output }) },
                target: "current",
                actions: {
                  type: "announceLoaded",
                  params: ({ event: { output } }) => ({
                    version: output.kind === "assembled" ? output.version : "",
                    generation: output.generation,
                  }),
                },
              },
              {
                guard: { type: "held", params: ({ event }) => ({ reply: event.output }) },
                target: "holding",
                actions: {
                  type: "announceHeld",
                  params: ({ event: { output } }) => ({
                    generation: output.generation,
                    message: output.kind === "held" ? output.message : "",
                  }),
                },
              },
              {
                target: "invalid",
                actions: {
                  type: "announceInvalid",
                  params: ({ event: { output } }) => ({
                    generation: output.generation,
                    message: output.kind === "invalid" ? output.message : "",
                  }),
                },
              },
            ],
            onError: {
              target: "invalid",
              actions: {
                type: "announceInvalid",
                params: ({ event }) => ({ generation: 0, message: String(event.error) }),
              },
            },
          },
        },
        current: {},
        holding: {},
        invalid: {},
        missing: {},
      },
    },
    broken: { after: { sourceRestart: "following" } },
  },
});
