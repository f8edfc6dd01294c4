/** The render service: templates and snapshots of stores in, files and a plan out. */
export { createRenderService, createRenderServiceInSlices, type RenderServiceOptions } from "./service.ts";
export type { RenderSpec } from "./outline.ts";
export { providedFamilies } from "./reference.ts";
export { resourceTypes } from "./resource-types.ts";
export type * from "./types.ts";
