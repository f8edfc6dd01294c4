/** planRegistry: what templates declare of the configuration's structure, gathered for one run. */
import { planBackend, planProfile, meaningfulLines, isServerLine, sha256 } from "../plan/index.ts";
import type { BackendRecord, PlanBackend, PlanProfile } from "../plan/types.ts";
import { TemplateFault } from "../templating/index.ts";
import type { Tokens } from "./output.ts";
import { refuseDeadlyLines } from "./deadly-lines.ts";
import { backendRecord, type ProfileRecord, profileRecord } from "./records.ts";
import { type KnownSettings, type SettledSettings, settleSettings } from "./settings.ts";

export class BackendDeclaration {
  readonly text: string;
  /** Its values of settings that are read from maps, by setting; "" = none. */
  readonly settings: ReadonlyMap<string, string>;
  readonly #record: BackendRecord;
  #plan: PlanBackend | undefined;

  constructor(record: BackendRecord, text: string, settings: ReadonlyMap<string, string>) {
    this.#record = record;
    this.text = text;
    this.settings = settings;
  }

  get name(): string {
    return this.#record.name;
  }

  /** Made when it is asked for: of all Ingresses that declare one Service's backend only one declaration counts. */
  get plan(): PlanBackend {
    return (this.#plan ??= planBackend(this.#record, this.text));
  }
}

/** What one run declared. */
export interface Declared {
  readonly backends: readonly BackendDeclaration[];
  readonly profiles: ReadonlyMap<string, PlanProfile>;
  /** Profiles whose text stands where the template put it, not in the group. */
  readonly placedProfiles: ReadonlySet<string>;
  readonly mapOrder: ReadonlyMap<string, boolean>;
  /** Whether a crt-list's first entry is its default certificate, by path. */
  readonly crtLists: ReadonlyMap<string, boolean>;
  /** Settings that the profiles read from maps. */
  readonly settings: ReadonlySet<string>;
  readonly groups: number;
}

export const NOTHING_DECLARED: Declared = {
  backends: [],
  profiles: new Map(),
  placedProfiles: new Set(),
  mapOrder: new Map(),
  crtLists: new Map(),
  settings: new Set(),
  groups: 0,
};

const NO_SETTINGS: ReadonlyMap<string, string> = new Map();

/** What a recorder has to know of the configuration. */
export interface PlanContext {
  readonly profiles: ProfileCache;
  /** Path of a setting's map in haproxy.cfg. */
  readonly mapPath: (setting: string) => string;
  /** HAProxy has what came with 3.4. */
  readonly latest: boolean;
}

/** Settings of one name each, as thousands of backends declare them. */
interface SettingNames {
  readonly names: ReadonlySet<string>;
  /** None of them has a value. */
  readonly unset: ReadonlyMap<string, string>;
}

/** Profiles by what they are declared from: thousands of backends declare the same few. */
export class ProfileCache {
  readonly settings: KnownSettings = new Map();
  readonly #profiles = new Map<string, PlanProfile>();
  /** What a run declares that declares one profile, by that profile. */
  readonly #alone = new WeakMap<PlanProfile, ReadonlyMap<string, PlanProfile>>();
  readonly #names = new Map<string, SettingNames>();

  /** @throws TemplateFault where the text is not to be used. */
  profile(record: ProfileRecord, settled: SettledSettings): PlanProfile {
    const { mode, balance, hashType, defaultServer, body } = record;
    const key = [mode, balance, hashType, defaultServer, body, ...settled.rules, "", ...settled.text].join("\u0001");
    let profile = this.#profiles.get(key);
    if (profile === undefined) {
      profile = profileOf(record, settled);
      if (this.#profiles.size >= 1024) this.#profiles.clear();
      this.#profiles.set(key, profile);
    }
    return profile;
  }

  /** The same for all that declare these settings. */
  names(values: ReadonlyMap<string, string>): SettingNames {
    const key = [...values.keys()].join("\u0001");
    let known = this.#names.get(key);
    if (known === undefined) {
      known = { names: new Set(values.keys()), unset: new Map([...values.keys()].map((name) => [name, ""])) };
      if (this.#names.size >= 1024) this.#names.clear();
      this.#names.set(key, known);
    }
    return known;
  }

  /** The same map for all that declare the same one profile. */
  alone(profile: PlanProfile): ReadonlyMap<string, PlanProfile> {
    let map = this.#alone.get(profile);
    if (map === undefined) this.#alone.set(profile, (map = new Map([[profile.name, profile]])));
    return map;
  }
}

function profileOf(record: ProfileRecord, { rules, text }: SettledSettings): PlanProfile {
  refuseDeadlyLines("a profile's body", record.body);
  const lines = [`    mode ${record.mode}`];
  if (record.balance !== undefined) lines.push(`    balance ${record.balance}`);
  if (record.hashType !== undefined) lines.push(`    hash-type ${record.hashType}`);
  if (record.defaultServer !== undefined) lines.push(`    default-server ${record.defaultServer}`);
  for (const line of [...rules, ...record.body.split("\n"), ...text])
    if (line.trim() !== "") lines.push(`    ${line.trim()}`);
  const body = `${lines.join("\n")}\n`;
  refuseDeadlyLines("a profile", body);
  const name = `haptic-be-${sha256(body).slice(0, 16)}`;
  return planProfile(name, `defaults ${name}\n${body}`);
}

/** The registry of one run. Its methods are what templates call; they throw TemplateFault. */
export class PlanRecorder {
  readonly #tokens: Tokens;
  readonly #context: PlanContext;
  readonly #backends: BackendDeclaration[] = [];
  readonly #profiles = new Map<string, PlanProfile>();
  // Most runs declare one backend and one profile: what is empty is not made, and what is the same is shared.
  #placed: Set<string> | undefined;
  #sections: Map<string, { readonly text: string; readonly token: string }> | undefined;
  #mapOrder: Map<string, boolean> | undefined;
  #crtLists: Map<string, boolean> | undefined;
  /** Settings by the backend that they were declared for. */
  #settingsOf: Map<string, ReadonlyMap<string, string>> | undefined;
  #settings: ReadonlySet<string> = NOTHING_DECLARED.settings;
  #groups = 0;

  constructor(tokens: Tokens, context: PlanContext) {
    this.#tokens = tokens;
    this.#context = context;
  }

  declared(): Declared {
    const [backends, profiles] = [this.#backends, this.#profiles];
    const nothing = [
      backends.length,
      profiles.size,
      this.#mapOrder?.size ?? 0,
      this.#crtLists?.size ?? 0,
      this.#groups,
    ];
    if (nothing.every((count) => count === 0)) return NOTHING_DECLARED;
    const [profile] = profiles.values();
    return {
      // A copy takes the room of what it holds; a list that grew has room for 17.
      backends: backends.slice(),
      profiles: profile !== undefined && profiles.size === 1 ? this.#context.profiles.alone(profile) : profiles,
      placedProfiles: this.#placed ?? NOTHING_DECLARED.placedProfiles,
      mapOrder: this.#mapOrder ?? NOTHING_DECLARED.mapOrder,
      crtLists: this.#crtLists ?? NOTHING_DECLARED.crtLists,
      settings: this.#settings,
      groups: this.#groups,
    };
  }

  /** Declares a backend; the token stands where its text belongs. */
  backend(value: unknown, text: string): string {
    let record = backendRecord(value);
    if (!beginsSection(text, `backend ${record.name}`)) {
      throw new TemplateFault(
        `the text of backend ${record.name} does not begin its section`,
        `it needs a line "backend ${record.name}"`,
      );
    }
    const obstacle = record.shape === "dynamic" ? dynamicObstacle(record, text) : undefined;
    if (obstacle !== undefined) record = { ...record, shape: "structural", shapeReason: obstacle };
    const settings = this.#settingsOf?.get(record.name) ?? NO_SETTINGS;
    return this.#declare(new BackendDeclaration(record, text, settings));
  }

  /**
   * Declares the named defaults section that backends inherit from; its name depends on its content alone. Settings of one backend
   * come in by rules that read maps, where a rule can say them.
   */
  profile(value: unknown): string {
    const record = profileRecord(value);
    const { profiles, mapPath, latest } = this.#context;
    const settled = settleSettings(record.settings, { mode: record.mode, latest, mapPath, known: profiles.settings });
    if (settled.values.size > 0) this.#settle(record.backend, settled.values);
    const profile = profiles.profile(record, settled);
    this.#profiles.set(profile.name, profile);
    return profile.name;
  }

  /** Declares a section by its text: kind `backend` or `profile`. The same declaration twice is one. */
  section(kind: string, name: string, text: string): string {
    if (kind !== "backend" && kind !== "profile")
      throw new TemplateFault(`section kind ${JSON.stringify(kind)} is unknown`, "it is backend or profile");
    const known = this.#sections?.get(`${kind} ${name}`);
    if (known !== undefined) {
      if (known.text === text) return known.token;
      throw new TemplateFault(`section ${kind} ${name} is declared twice with different texts`);
    }
    let token: string;
    if (kind === "backend") {
      const record = { name, servers: [], shape: "structural" as const, shapeReason: "declared as a section" };
      token = this.#declare(new BackendDeclaration(record, text, NO_SETTINGS));
    } else {
      refuseDeadlyLines(`profile ${name}`, text);
      this.#profiles.set(name, planProfile(name, text));
      (this.#placed ??= new Set()).add(name);
      token = this.#tokens.make({ kind: "section", text });
    }
    (this.#sections ??= new Map()).set(`${kind} ${name}`, { text, token });
    return token;
  }

  /** Where all profiles go. Exactly once in haproxy.cfg. */
  profileGroup(): string {
    this.#groups++;
    return this.#tokens.make({ kind: "profiles" });
  }

  /** Says whether the order of a map's entries matters. */
  mapMeta(path: string, ordered: boolean): void {
    const known = this.#mapOrder?.get(path);
    if (known !== undefined && known !== ordered)
      throw new TemplateFault(`map ${path} is declared both ordered and not ordered`);
    (this.#mapOrder ??= new Map()).set(path, ordered);
  }

  /** Says whether the first entry of a crt-list is the default certificate; it is none where the bind line has strict-sni. */
  crtListMeta(path: string, defaultFirst: boolean): void {
    const known = this.#crtLists?.get(path);
    if (known !== undefined && known !== defaultFirst)
      throw new TemplateFault(`crt-list ${path} is declared both with and without a default certificate`);
    (this.#crtLists ??= new Map()).set(path, defaultFirst);
  }

  #settle(backend: string | undefined, values: ReadonlyMap<string, string>): void {
    const { names, unset } = this.#context.profiles.names(values);
    const isSet = [...values.values()].some((value) => value !== "");
    this.#settings = this.#settings.size === 0 ? names : new Set([...this.#settings, ...names]);
    if (backend !== undefined) (this.#settingsOf ??= new Map()).set(backend, isSet ? values : unset);
    else if (isSet)
      throw new TemplateFault(
        "a profile has settings, but names no backend",
        "give the backend's name: its values stand under it in a map",
      );
  }

  #declare(backend: BackendDeclaration): string {
    this.#backends.push(backend);
    return this.#tokens.make({ kind: "backend", backend });
  }
}

/** Whether a line of the text is this header, alone or with more words. */
function beginsSection(text: string, header: string): boolean {
  for (let at = text.indexOf(header); at >= 0; at = text.indexOf(header, at + 1)) {
    const after = text[at + header.length];
    if (
      (at === 0 || text[at - 1] === "\n") &&
      (after === undefined || after === " " || after === "\n" || after === "\t")
    )
      return true;
  }
  return false;
}

/** Why a backend that says it is dynamic is not: HAProxy builds it from profile, mode, guid and servers alone. */
function dynamicObstacle(record: BackendRecord, text: string): string | undefined {
  if (record.profile === undefined) return "it has no profile";
  for (const key of ["body", "balance", "hashType", "defaultServer"] as const) {
    if (record[key] !== undefined) return `it has a ${key} of its own`;
  }
  for (const line of meaningfulLines(text)) {
    if (isServerLine(line)) continue;
    const words = line.split(/\s+/);
    const known =
      words[0] === "backend"
        ? words.length === 4 && words[2] === "from" && words[3] === record.profile
        : words[0] === "mode"
          ? words.length === 2 && words[1] === record.mode
          : words[0] === "guid"
            ? words.length === 2 && words[1] === record.guid
            : false;
    if (!known)
      return `its text holds ${JSON.stringify(words[0] === "backend" ? line : words[0])}, which its record does not account for`;
  }
  return undefined;
}
