/** The levels that a log may have, and the handle by which it is changed while the program runs. */

export const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;
export type LogLevelName = (typeof LOG_LEVELS)[number];

export interface LogLevel {
  get(): string;
  set(level: LogLevelName): void;
}

export const isLogLevel = (text: string): text is LogLevelName => (LOG_LEVELS as readonly string[]).includes(text);

/** The level in the body of a request: `debug`, or `{"level": "debug"}`. */
export function readLogLevel(body: string): LogLevelName | undefined {
  let text: unknown = body.trim();
  if (body.trimStart().startsWith("{") || body.trimStart().startsWith('"')) {
    try {
      const parsed = JSON.parse(body) as unknown;
      text = typeof parsed === "object" && parsed !== null ? (parsed as { level?: unknown }).level : parsed;
    } catch {
      return undefined;
    }
  }
  if (typeof text !== "string") return undefined;
  const level = text.toLowerCase();
  return isLogLevel(level) ? level : undefined;
}
