/**
 * Types of watched resources, from OpenAPI v3 documents and CustomResourceDefinitions:
 *
 *     const schemas = readSchemas(documents);                        // parsed JSON or YAML, from a cluster or from files
 *     const type = schemas.resource("networking.k8s.io/v1", "ingresses", "ingresses"); // goes to createEngine's `resources`
 */
export { readSchemas, type Schemas } from "./documents.ts";
export type { ObjectType } from "../check/types.ts";
