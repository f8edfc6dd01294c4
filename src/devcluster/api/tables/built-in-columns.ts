/** The columns of the built-in kinds. */
import type { Column } from "../resources/definition.ts";
import { ageColumn, nameColumn } from "./columns.ts";

export const columnsOf = (_kind: string): readonly Column[] => [nameColumn, ageColumn];
