/** IP networks. */
import { TemplateFault } from "../runtime/faults.ts";
import { setMember } from "../runtime/guards.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { isIPv4, isIPv6 } from "node:net";
import { define, type TemplateFunction } from "./define.ts";
import { scalarText } from "./values.ts";

interface Network {
  readonly bits: 32 | 128;
  readonly base: bigint;
  readonly prefix: number;
}

function parseIPv6(text: string): bigint {
  const embedded = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const plain =
    embedded === null
      ? text
      : `${embedded[1]}${((Number(embedded[2]) << 8) | Number(embedded[3])).toString(16)}:${((Number(embedded[4]) << 8) | Number(embedded[5])).toString(16)}`;
  const [head = "", tail] = plain.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const groups = [
    ...left,
    ...Array.from({ length: tail === undefined ? 0 : 8 - left.length - right.length }, () => "0"),
    ...right,
  ];
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n);
}

function parseNetwork(text: string): Network {
  const [address = "", length] = text.trim().split("/");
  const bits = isIPv4(address) ? 32 : isIPv6(address) && !address.includes("%") ? 128 : undefined;
  if (bits === undefined)
    throw new TemplateFault(`cidr_partition: ${JSON.stringify(text)} is not an address or network`);
  const prefix = length === undefined ? bits : /^\d{1,3}$/.test(length) ? Number(length) : NaN;
  if (!(prefix >= 0 && prefix <= bits))
    throw new TemplateFault(`cidr_partition: ${JSON.stringify(text)} has a wrong prefix length`);
  const value =
    bits === 32 ? address.split(".").reduce((sum, part) => (sum << 8n) | BigInt(part), 0n) : parseIPv6(address);
  const host = BigInt(bits - prefix);
  return { bits, base: (value >> host) << host, prefix };
}

function networkText({ bits, base, prefix }: Network): string {
  if (bits === 32) return `${[24n, 16n, 8n, 0n].map((shift) => String((base >> shift) & 255n)).join(".")}/${prefix}`;
  const groups = Array.from({ length: 8 }, (_, i) => Number((base >> BigInt(112 - 16 * i)) & 0xffffn));
  // The longest run of at least two zero groups is written as "::" (RFC 5952).
  let best = { at: -1, length: 1 };
  for (let i = 0; i < 8; i++) {
    let n = 0;
    while (i + n < 8 && groups[i + n] === 0) n++;
    if (n > best.length) best = { at: i, length: n };
  }
  const hex = groups.map((group) => group.toString(16));
  const address =
    best.at === -1
      ? hex.join(":")
      : `${hex.slice(0, best.at).join(":")}::${hex.slice(best.at + best.length).join(":")}`;
  return `${address}/${prefix}`;
}

const contains = (outer: Network, inner: Network): boolean =>
  outer.bits === inner.bits &&
  outer.prefix <= inner.prefix &&
  inner.base >> BigInt(inner.bits - outer.prefix) === outer.base >> BigInt(outer.bits - outer.prefix);

/** Blocks of a network such that every network inside it is a union of whole blocks. */
function partition(network: Network, inside: readonly Network[], runtime: Runtime): Network[] {
  runtime.charge(1 + inside.length);
  const smaller = inside.filter((other) => other.prefix > network.prefix && contains(network, other));
  if (smaller.length === 0) return [network];
  const prefix = network.prefix + 1;
  const low: Network = { ...network, prefix };
  const high: Network = { ...network, prefix, base: network.base | (1n << BigInt(network.bits - prefix)) };
  return [...partition(low, smaller, runtime), ...partition(high, smaller, runtime)];
}

export const networkFunctions: readonly TemplateFunction[] = [
  define({
    name: "cidr_partition",
    signature: "func(networks any) map[string]any",
    doc: "For lists of networks that overlap: gives for each input the blocks it consists of, so that any two blocks of all inputs are equal or disjoint. A map from blocks then answers by one look-up which of the inputs hold an address. Addresses count as networks of one; anything else fails.",
    examples: [
      [
        '{{ cidr_partition([]string{"10.0.0.0/30", "10.0.0.2"}) | toJSON() }}',
        '{"10.0.0.0/30":["10.0.0.0/31","10.0.0.2/32","10.0.0.3/32"],"10.0.0.2":["10.0.0.2/32"]}',
      ],
    ],
    run: (runtime: Runtime, networks: unknown) => {
      const texts = (Array.isArray(networks) ? networks : []).map((item) => scalarText(item, "cidr_partition"));
      const all = texts.map(parseNetwork);
      const out: Record<string, unknown> = {};
      texts.forEach((text, i) => setMember(out, text, partition(all[i]!, all, runtime).map(networkText)));
      return out;
    },
  }),
];
