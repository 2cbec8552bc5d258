/** AWS's shared files `config` and `credentials`, parsed as AWS's libraries do. */
import { inHome, type Surroundings, variable } from "../credentials/surroundings.ts";

/** Settings by lower-case name; a nested setting is `outer.inner`. */
export type Section = ReadonlyMap<string, string>;

export interface SharedFiles {
  config: ReadonlyMap<string, Section>;
  credentials: ReadonlyMap<string, Section>;
}

/** Paths of the files; null: neither they nor a home folder are set in the environment. */
export function sharedPaths(
  surroundings: Pick<Surroundings, "env">,
): Record<keyof SharedFiles, string | null> {
  const path = (name: string, usual: string) => {
    const named = variable(surroundings, name);
    if (named === undefined) return inHome(surroundings, usual);
    return named.startsWith("~/") ? inHome(surroundings, named.slice(2)) : named;
  };
  return {
    config: path("AWS_CONFIG_FILE", ".aws/config"),
    credentials: path("AWS_SHARED_CREDENTIALS_FILE", ".aws/credentials"),
  };
}

/** A missing or unreadable file counts as empty. */
export async function readSharedFiles(surroundings: Surroundings): Promise<SharedFiles> {
  const paths = sharedPaths(surroundings);
  const read = async (path: string | null) => {
    try {
      return sections(path === null ? "" : await surroundings.readText(path));
    } catch {
      return new Map();
    }
  };
  const [config, credentials] = await Promise.all([read(paths.config), read(paths.credentials)]);
  return { config, credentials };
}

/** The settings of a profile in both files; the credentials file takes precedence. Undefined: in neither. */
export function profileIn({ config, credentials }: SharedFiles, name: string): Section | undefined {
  const ofConfig = config.get(`profile ${name}`) ?? (name === "default" ? config.get(name) : undefined);
  const ofCredentials = credentials.get(name);
  if (ofConfig === undefined || ofCredentials === undefined) return ofConfig ?? ofCredentials;
  return new Map([...ofConfig, ...ofCredentials]);
}

/**
 * Parses the sections of an INI file. Lines may be indented. Indented lines are nested settings only after a
 * name without a value, up to the next line that is not indented.
 */
export function sections(text: string): Map<string, Section> {
  const found = new Map<string, Map<string, string>>();
  let current: Map<string, string> | undefined;
  let outer = "";
  for (const line of text.split(/\r?\n/)) {
    const said = line.replace(/(?:^|\s)[#;].*/, "").trim();
    const head = /^\[\s*(.*?)\s*\]$/.exec(said);
    if (head) {
      const name = head[1].replace(/\s+/g, " ").replace(/^([\w-]+ )(["'])(.*)\2$/, "$1$3");
      current = found.get(name) ?? new Map();
      found.set(name, current);
      outer = "";
      continue;
    }
    const equals = said.indexOf("=");
    if (equals <= 0) continue;
    const name = said.slice(0, equals).trim().toLowerCase();
    const value = said.slice(equals + 1).trim();
    if (value === "") {
      outer = `${name}.`;
      continue;
    }
    if (!/^\s/.test(line)) outer = "";
    current?.set(outer + name, value);
  }
  return found;
}
