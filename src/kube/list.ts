/** Paged lists. */
import type { KubeObject } from "../stores/types.ts";
import { objectName, resourcePath } from "./resource-path.ts";
import type { KubeTransport } from "./transport.ts";
import type { ListOptions, ResourceTarget } from "./types.ts";

const PAGE_SIZE = 100;
const METADATA_ONLY = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";

interface ListBody {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items?: KubeObject[] | null;
}

export interface ListPage {
  readonly items: KubeObject[];
  /** Of the whole list: each page shows the first one's. */
  readonly resourceVersion: string;
}

/** The pages of a list, each asked for when the former was taken and the process had a turn for other work. */
export async function* readPages(
  transport: KubeTransport,
  target: ResourceTarget,
  options: ListOptions,
  signal: AbortSignal | undefined,
  counted: () => void,
): AsyncGenerator<ListPage, void> {
  let next: string | undefined;
  do {
    counted();
    const answer = await transport.json({
      method: "GET",
      path: resourcePath(target),
      query: {
        limit: options.pageSize ?? PAGE_SIZE,
        continue: next,
        labelSelector: options.labelSelector,
        fieldSelector: options.fieldSelector,
      },
      signal,
      ...(options.metadataOnly === true && { accept: METADATA_ONLY }),
      what: `list ${objectName(target)}`,
    });
    const body = answer.body as ListBody;
    const items = body.items ?? [];
    // Items of built-in lists carry neither; those of a watch do, and both must give the same object.
    const kind = (body.kind ?? "").replace(/List$/, "");
    for (const item of items) {
      const writable = item as { kind?: string; apiVersion?: string };
      writable.kind ??= kind;
      writable.apiVersion ??= body.apiVersion ?? target.apiVersion;
    }
    yield { items, resourceVersion: body.metadata?.resourceVersion ?? "" };
    next = body.metadata?.continue === "" ? undefined : body.metadata?.continue;
    if (next !== undefined) await new Promise((resolve) => setImmediate(resolve));
  } while (next !== undefined);
}
