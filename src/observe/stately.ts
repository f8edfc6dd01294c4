/**
 * Stately's inspection messages on a WebSocket, for those who have that tool: `@xstate.actor`, `@xstate.event`, `@xstate.snapshot`, each with
 * `sessionId`, `rootId`, `createdAt`, `id`, `_version`. Of a snapshot the state's value and status, of an event its type: no context, input,
 * output or content.
 */
import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { WebSocketServer } from "ws";
import type { WebSocket } from "ws";
import type { AnyActorRef, InspectionEvent } from "xstate";
import type { LiveFeed } from "./live-feed.ts";

const PROTOCOL_VERSION = "0.7.2";
const MAX_TOOLS = 4;
/** A tool that takes no more is cut off: it may come again and gets the present state. */
const BACKLOG_LIMIT = 4 << 20;

/** A chart's definition without what it closes over: functions become their names. */
function definitionOf(actor: AnyActorRef): string | undefined {
  const { logic } = actor as unknown as { readonly logic?: { readonly config?: object } };
  if (logic?.config === undefined) return undefined;
  return JSON.stringify(logic.config, (key, value: unknown) => {
    if (key === "context" || key === "input" || key === "params") return undefined;
    return typeof value === "function" ? { type: value.name } : value;
  });
}

/** XState tells of an actor before it can be asked for its snapshot. */
function presentOf(actor: AnyActorRef): unknown {
  try {
    return actor.getSnapshot();
  } catch {
    return undefined;
  }
}

function snapshotOf(snapshot: unknown): object {
  const { status, value } = (snapshot ?? {}) as { readonly status?: unknown; readonly value?: unknown };
  return { status: status ?? "active", ...(value !== undefined && { value }), context: {} };
}

export function messageOf(event: InspectionEvent, number: number): object | undefined {
  const actor = event.actorRef as AnyActorRef;
  const common = {
    _version: PROTOCOL_VERSION,
    id: String(number),
    sessionId: actor.sessionId,
    rootId: event.rootId,
    createdAt: String(number),
  };
  const parent = (actor as { readonly _parent?: AnyActorRef })._parent;
  switch (event.type) {
    case "@xstate.actor":
      return {
        ...common,
        type: event.type,
        name: actor.id,
        parentId: parent?.sessionId,
        definition: definitionOf(actor),
        snapshot: snapshotOf(presentOf(actor)),
      };
    case "@xstate.event":
      return {
        ...common,
        type: event.type,
        event: { type: event.event.type },
        sourceId: event.sourceRef?.sessionId,
      };
    case "@xstate.snapshot":
      return {
        ...common,
        type: event.type,
        event: { type: event.event.type },
        snapshot: snapshotOf(event.snapshot),
      };
    case "@xstate.transition":
    case "@xstate.microstep":
    case "@xstate.action":
      return undefined;
  }
}

/** Serves it at `path` of the server. Returns the function that ends every connection. */
export function serveInspection(
  server: Server,
  path: string,
  feed: LiveFeed,
  admits: (request: IncomingMessage) => boolean,
): () => void {
  const sockets = new WebSocketServer({ noServer: true, maxPayload: 1_024 });
  let count = 0;

  const follow = (socket: WebSocket): void => {
    const tell = (event: InspectionEvent): void => {
      if (socket.readyState !== socket.OPEN) return;
      if (socket.bufferedAmount > BACKLOG_LIMIT) return socket.terminate();
      count += 1;
      const message = messageOf(event, count);
      if (message !== undefined) socket.send(JSON.stringify(message));
    };
    const leave = feed.inspect(tell);
    for (const actor of feed.actors()) {
      tell({ type: "@xstate.actor", actorRef: actor, rootId: actor.sessionId });
    }
    socket.on("close", leave);
    socket.on("error", () => socket.terminate());
  };

  const upgrade = (request: IncomingMessage, stream: Duplex, head: Buffer): void => {
    // Node takes its own handler off with an upgrade: a client that resets the connection would end the process.
    stream.on("error", () => stream.destroy());
    const { origin, host } = request.headers;
    const isOurs = origin === undefined || origin === `http://${host}`;
    const isHere = URL.parse(request.url ?? "/", "http://localhost")?.pathname === path;
    if (!isHere || !isOurs || !admits(request) || sockets.clients.size >= MAX_TOOLS) {
      stream.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
      return;
    }
    sockets.handleUpgrade(request, stream, head, follow);
  };
  server.on("upgrade", upgrade);
  return () => {
    for (const socket of sockets.clients) socket.terminate();
    sockets.close();
  };
}
