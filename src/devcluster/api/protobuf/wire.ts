/** The protobuf wire format, reading only. */

export type WireValue = bigint | Buffer;

export interface WireField {
  readonly number: number;
  readonly value: WireValue;
}

class Cursor {
  readonly #bytes: Buffer;
  #at = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  varint(): bigint {
    let result = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined) throw new RangeError("unexpected EOF");
      result |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, result);
    }
    throw new RangeError("varint is too long");
  }

  take(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#bytes.length) throw new RangeError("unexpected EOF");
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }
}

/** The fields of a message in their order. Throws RangeError for bytes that are no message. */
export function readFields(bytes: Buffer): readonly WireField[] {
  const cursor = new Cursor(bytes);
  const fields: WireField[] = [];
  while (!cursor.done) {
    const tag = Number(cursor.varint());
    const number = tag >>> 3;
    switch (tag & 7) {
      case 0:
        fields.push({ number, value: cursor.varint() });
        break;
      case 1:
        fields.push({ number, value: cursor.take(8) });
        break;
      case 2:
        fields.push({ number, value: cursor.take(Number(cursor.varint())) });
        break;
      case 5:
        fields.push({ number, value: cursor.take(4) });
        break;
      default:
        throw new RangeError(`wire type ${tag & 7} is not supported`);
    }
  }
  return fields;
}

/** The last value of a field that is written as bytes. */
export function bytesField(fields: readonly WireField[], number: number): Buffer | undefined {
  const value = fields.findLast((field) => field.number === number)?.value;
  return Buffer.isBuffer(value) ? value : undefined;
}
