/**
 * Settings of backends that rules read from maps at run time, keyed by the backend's name. Each has a map file of its own; the
 * files' names tell them apart from maps that templates write.
 */

const PREFIX = "haptic-setting-";

/** File name of a setting's map; `pathResolver` gives its path. */
export function settingsMapName(setting: string): string {
  return `${PREFIX}${setting}.map`;
}

export function isSettingsMap(path: string): boolean {
  return path.slice(path.lastIndexOf("/") + 1).startsWith(PREFIX);
}
