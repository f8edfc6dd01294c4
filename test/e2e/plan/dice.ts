/** What kinds of random changes share. */
import { whole } from "../../support/random.ts";
import type { Model } from "./model.ts";
import type { Material, Targets } from "./start.ts";

export interface Dice {
  readonly random: () => number;
  readonly material: Material;
  readonly targets: Targets;
}

/** Without a reload from that version on; undefined: a reload is right. */
export type Since = 3.0 | 3.2 | 3.4 | undefined;

export interface Kind {
  readonly name: string;
  readonly group: "servers" | "backends" | "maps" | "certs" | "crt-lists" | "ca-files" | "files" | "text";
  readonly since: Since;
  readonly weight: number;
  /** Changes the model; false = there is nothing to change that way, and the model is as it was. */
  readonly make: (model: Model, dice: Dice) => boolean;
}

export const HOSTS = Array.from({ length: 24 }, (_, i) => `h${i}.example`);

export const chance = ({ random }: Dice, of: number): boolean => random() < of;
export function one<T>({ random }: Dice, list: readonly T[]): T | undefined {
  return list[whole(random, list.length)];
}
export const free = (dice: Dice, names: readonly string[], taken: object): string | undefined =>
  one(
    dice,
    names.filter((name) => !(name in taken)),
  );
export const numbered = (prefix: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);
