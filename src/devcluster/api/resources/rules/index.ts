/** The rules of the built-in kinds. */
import type { KindRules } from "../definition.ts";
import { crdRules } from "./crd.ts";

const rules: Readonly<Record<string, KindRules>> = {
  CustomResourceDefinition: crdRules,
};

/** No entry: nothing but what holds for every object. */
export const rulesOf = (kind: string): KindRules => rules[kind] ?? {};
