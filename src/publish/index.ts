/** Publishing: what is in force, as objects that people and tools can read. */
export { PublishDesk, type PublishDeskDeps, type PublishNews } from "./desk.ts";
export { CFG_LABEL } from "./names.ts";
export { troubleOf } from "./trouble.ts";
