/** The contract's mask, and helm's own times and random parts. */
import { mask as maskKubectl } from "../contract/mask.ts";

const rules: readonly (readonly [RegExp, string])[] = [
  // a watch that helm gives up while it ends: whether it tells is chance
  [/^[IWE]\d{4} .*\breflector\.go:\d+\] .*\bwatch ended with error\b.*\n/gm, ""],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}\b/g, "<time>"],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)? [+-]\d{4} \w+/g, "<time>"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)/g, "<time>"],
  [/\b(modifiedAt|createdAt)=\d+/g, "$1=<time>"],
];

export function mask(text: string): string {
  let masked = text;
  for (const [pattern, replacement] of rules) masked = masked.replaceAll(pattern, replacement);
  return maskKubectl(masked);
}
