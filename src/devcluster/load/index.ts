export { startLane, sumOf } from "./lane.ts";
export type { Answer, Lane, LanePlan, LaneReport, Target } from "./lane.ts";
