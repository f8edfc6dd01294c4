/** What a published file's object holds. */
import { storedBytes, storedContent } from "./content.ts";
import { CHECKSUM_ANNOTATION, COMPRESSED_ANNOTATION, type FileList } from "./names.ts";
import type { FileObject } from "./published-set.ts";

/** Value of a Secret's label that says what it holds. */
export const SECRET_TYPES: Readonly<Record<FileList, string>> = {
  sslCertificates: "ssl-certificate",
  sslCaFiles: "ssl-ca",
  mapFiles: "map",
  generalFiles: "general-file",
  crtListFiles: "crt-list",
};

const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

async function fileOf(
  { carrier, path, checksum, file }: FileObject,
  metadata: object,
  threshold: number,
): Promise<object> {
  const { content, compressed } = await storedContent(file, threshold);
  const name = fileName(path);
  const text = carrier.list === "generalFiles" ? { content } : { entries: content };
  const named =
    carrier.list === "mapFiles"
      ? { mapName: name }
      : carrier.list === "generalFiles"
        ? { fileName: name }
        : { listName: name };
  return { metadata, spec: { ...named, path, ...text, checksum, compressed, size: file.size } };
}

async function secretOf({ path, checksum, file }: FileObject, metadata: object, threshold: number): Promise<object> {
  const { bytes, compressed } = await storedBytes(file, threshold);
  const annotations = { [CHECKSUM_ANNOTATION]: checksum, [COMPRESSED_ANNOTATION]: String(compressed) };
  return {
    metadata: { ...metadata, annotations },
    type: "Opaque",
    immutable: true,
    data: { certificate: bytes.toString("base64"), path: Buffer.from(path).toString("base64") },
  };
}

/** The object without its apiVersion and kind. Throws PublishError where the file is too large for one. */
export const bodyOf = (file: FileObject, metadata: object, threshold: number): Promise<object> =>
  file.carrier.kind === "Secret" ? secretOf(file, metadata, threshold) : fileOf(file, metadata, threshold);
