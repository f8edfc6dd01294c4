/** The envelope of Kubernetes' protobuf bodies: `k8s\0`, then Unknown{1 TypeMeta{1 apiVersion, 2 kind}, 2 raw}. */
import type { Fields } from "../objects.ts";
import { builtinType } from "../schema/compact-types.ts";
import type { StructNode } from "../schema/type-node.ts";
import { StatusError, badRequest } from "../status.ts";
import { readMessage } from "./message.ts";
import { bytesField, readFields } from "./wire.ts";

const MAGIC = Buffer.from([0x6b, 0x38, 0x73, 0x00]);

export const isProtobuf = (bytes: Buffer): boolean => bytes.subarray(0, 4).equals(MAGIC);

function typeOf(apiVersion: string, kind: string): StructNode | undefined {
  try {
    return builtinType(apiVersion === "events.k8s.io/v1" ? `events.${kind}` : kind);
  } catch {
    return undefined;
  }
}

/** The JSON form of a protobuf body. */
export function decodeProtobuf(bytes: Buffer): Fields {
  if (!isProtobuf(bytes)) throw badRequest("provided data does not appear to be a protobuf message");
  try {
    const unknown = readFields(bytes.subarray(4));
    const typeMeta = readFields(bytesField(unknown, 1) ?? Buffer.alloc(0));
    const apiVersion = bytesField(typeMeta, 1)?.toString("utf8") ?? "";
    const kind = bytesField(typeMeta, 2)?.toString("utf8") ?? "";
    const type = typeOf(apiVersion, kind);
    if (type === undefined) {
      throw new StatusError(
        415,
        "UnsupportedMediaType",
        `the embedded API reads no protobuf of ${apiVersion}, Kind=${kind}: send JSON`,
      );
    }
    return { apiVersion, kind, ...readMessage(bytesField(unknown, 2) ?? Buffer.alloc(0), type) };
  } catch (error) {
    if (error instanceof StatusError) throw error;
    throw badRequest(`unable to decode protobuf: ${error instanceof Error ? error.message : String(error)}`);
  }
}
