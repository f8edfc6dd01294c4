/** Kubernetes' own CEL functions, as far as custom resources use them here. */
import type { Environment } from "@marcbachmann/cel-js";
import { isIPv4, isIPv6 } from "node:net";
import { RE2JS } from "re2js";

const isCidr = (text: string): boolean => {
  const [address = "", bits = ""] = text.split("/");
  return /^\d+$/.test(bits) && ((isIPv4(address) && Number(bits) <= 32) || (isIPv6(address) && Number(bits) <= 128));
};

/** Registers them and returns the environment. */
export function registerKubernetesFunctions(environment: Environment): Environment {
  environment.registerFunction("isURL(string): bool", (text: string) => URL.canParse(text));
  environment.registerFunction("isIP(string): bool", (text: string) => isIPv4(text) || isIPv6(text));
  environment.registerFunction("isCIDR(string): bool", isCidr);
  environment.registerFunction("string.find(string): string", (text: string, pattern: string) => {
    const matcher = RE2JS.compile(pattern).matcher(text);
    return matcher.find() ? (matcher.group() ?? "") : "";
  });
  environment.registerFunction("list.isSorted(): bool", (list: unknown[]) =>
    list.every((item, i) => i === 0 || (list[i - 1] as string) <= (item as string)),
  );
  return environment;
}
