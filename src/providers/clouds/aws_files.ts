/** The two files that AWS's tools share, `config` and `credentials`, as its libraries read them. */
import { inHome, type Surroundings, variable } from "../credentials/surroundings.ts";

/** Names in lower case; a setting within another is `outer.inner`. */
export type Section = ReadonlyMap<string, string>;

export interface SharedFiles {
  config: ReadonlyMap<string, Section>;
  credentials: ReadonlyMap<string, Section>;
}

/** Where the files are; null: the environment names neither them nor a home. */
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

/** A file that is not there, or may not be read, counts as empty. */
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

/** All that both files say of a profile; what the credentials file says wins. Undefined: neither has it. */
export function profileIn({ config, credentials }: SharedFiles, name: string): Section | undefined {
  const ofConfig = config.get(`profile ${name}`) ?? (name === "default" ? config.get(name) : undefined);
  const ofCredentials = credentials.get(name);
  if (ofConfig === undefined || ofCredentials === undefined) return ofConfig ?? ofCredentials;
  return new Map([...ofConfig, ...ofCredentials]);
}

/**
 * Sections of an INI file. Lines may be indented. Only behind a name without a value are indented lines settings within that one,
 * up to the next line that is not indented.
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
