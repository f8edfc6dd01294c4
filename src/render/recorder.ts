/** What one run declares; made only as far as the run uses it, since most runs are short and use little. */
import { type Segment, Tokens } from "./output.ts";
import type { PathResolver } from "./paths.ts";
import { NOTHING_DECLARED, type PlanContext, PlanRecorder } from "./plan-registry.ts";
import { FileRecorder } from "./registered-files.ts";
import { SharedValues } from "./shared.ts";
import { HttpRequests } from "./http.ts";
import type { HttpRequest, RecordedCall, TemplateEvent } from "./types.ts";
import { EMPTY_RESULT, type RunResult } from "./unit.ts";

export class Recorder {
  readonly tokens: Tokens;
  readonly #paths: PathResolver;
  readonly #context: PlanContext;
  #plan: PlanRecorder | undefined;
  #files: FileRecorder | undefined;
  #events: TemplateEvent[] | undefined;
  #shared: SharedValues | undefined;
  #calls: RecordedCall[] | undefined;
  #requests: HttpRequests | undefined;

  /** `shared` = values shared with other runs; absent = the run has its own. */
  constructor(nonce: string, paths: PathResolver, context: PlanContext, shared?: SharedValues) {
    this.tokens = new Tokens(nonce);
    this.#paths = paths;
    this.#context = context;
    this.#shared = shared;
  }

  get plan(): PlanRecorder {
    return (this.#plan ??= new PlanRecorder(this.tokens, this.#context));
  }

  get files(): FileRecorder {
    return (this.#files ??= new FileRecorder(this.#paths));
  }

  get events(): TemplateEvent[] {
    return (this.#events ??= []);
  }

  /** Notes a call whose consequences lie outside the render. */
  call(call: RecordedCall): void {
    (this.#calls ??= []).push(call);
  }

  /** Notes a request for content; a fault when the run asks for the same URL in another way. */
  request(request: HttpRequest): void {
    (this.#requests ??= new HttpRequests()).add(request);
    this.call(request);
  }

  get shared(): SharedValues {
    return (this.#shared ??= new SharedValues());
  }

  /** What the run leaves, with its output. */
  result(segments: readonly Segment[]): RunResult {
    return {
      segments,
      declared: this.#plan?.declared() ?? NOTHING_DECLARED,
      events: this.#events ?? EMPTY_RESULT.events,
      files: this.#files?.files() ?? EMPTY_RESULT.files,
      calls: this.#calls ?? EMPTY_RESULT.calls,
    };
  }
}
