/** The two columns that every table has. */
import { age } from "../resources/ages.ts";
import type { Column } from "../resources/definition.ts";

export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description: "Name must be unique within a namespace.",
  cell: (object) => object.metadata.name,
};

export const ageColumn: Column = {
  name: "Age",
  type: "string",
  description: "CreationTimestamp is the time at which the object was created.",
  cell: (object, now) => age(object.metadata.creationTimestamp, now),
};

export const column = (
  name: string,
  cell: Column["cell"],
  more: Partial<Pick<Column, "type" | "format" | "priority" | "description">> = {},
): Column => ({ name, type: "string", cell, ...more });

/** Shown only by `-o wide`. */
export const wide = (name: string, cell: Column["cell"]): Column => column(name, cell, { priority: 1 });
