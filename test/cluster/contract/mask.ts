/** Makes the outputs of two servers comparable: what cannot be equal is masked, everything else must be. */

const rules: readonly (readonly [RegExp, string])[] = [
  // The real server's repair loop may pass between the allocation of a cluster IP and the Service's own entry, and say so.
  [/^.*\bClusterIPNotAllocated\b.*\n/gm, ""],
  [/^Events:\n +Type +Reason .*\n +---- +------ .*\n(?! +\S)/gm, "Events:  <none>\n"],
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  [/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w{3} \d{4} \d\d:\d\d:\d\d [+-]\d{4}/g, "<time>"],
  [/(resourceVersion"?: ?)"\d+"/g, '$1"<rv>"'],
  [/(Resource Version: +)\d+/g, "$1<rv>"],
  [/\b10\.(?:96|255)\.\d+\.\d+\b/g, "<cluster-ip>"],
  [/\b3[0-2]\d{3}\b/g, "<node-port>"],
  [/\b\d+(?:ms|s|m|h|d)(?:\d+s)?\b(?= ago|\s|$)/gm, "<age>"],
  [/https?:\/\/[\d.]+:\d+/g, "<server>"],
  [/\/tmp\/(?:LIVE|MERGED)-\d+/g, "<file>"],
  [/(gen-)[a-z0-9]{5}\b/g, "$1<random>"],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d{4}/g, "<time>"],
  [/^Context ".*" (modified|created)/gm, 'Context "<context>" $1'],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<token>"],
  [/\/tmp\/kubectl-edit-\d+\.yaml/g, "<file>"],
  // the patched object as the server's programming language orders it
  [/Invalid value: "\{.*\}": /g, "Invalid value: <object>: "],
  [/^[IWE]\d{4} [\d:.]+ +\d+ /gm, "<log> "],
];

/** The text with uids, versions, times, ages, addresses masked; runs of blanks count as one (columns shift with them). */
export function mask(text: string): string {
  let masked = text;
  for (const [pattern, replacement] of rules) masked = masked.replaceAll(pattern, replacement);
  return masked.replaceAll(/[ \t]+$/gm, "").replaceAll(/(\S) {2,}/g, "$1  ");
}
