/** Publishing: what is in force, as objects that people and tools can read. */
export { PublishDesk, type PublishDeskDeps, type PublishNews } from "./desk.ts";
export { CFG_LABEL, CONFIG_LABEL, PLAN_ANNOTATION } from "./names.ts";
export { troubleOf } from "./trouble.ts";
