/** Every event that travels on the bus. */
import type { ObservedEvent } from "../observe/index.ts";

export type BusEvent = ObservedEvent;
export type BusEventType = BusEvent["type"];
export type BusEventOf<T extends BusEventType> = Extract<BusEvent, { type: T }>;
