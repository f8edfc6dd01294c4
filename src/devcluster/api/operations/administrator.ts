/** Whoever reaches this API is its administrator. */
export const administrator = {
  username: "kubernetes-admin",
  groups: ["system:masters", "system:authenticated"],
} as const;
