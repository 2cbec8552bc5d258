/** The section `store` of the configuration: the database for keys, records and credits. */
import { fields, isHost, matching, seconds, stringField, type Value, whole } from "../schema/fields.ts";

const ADDRESS_WORDS = '"sqlite:PATH", "sqlite::memory:" or "postgres://USER:PASSWORD@HOST/DATABASE"';
/** Values of libpq's `sslmode`. Clients would take an unknown value for the strictest or for the weakest mode. */
const SSL_MODES = ["disable", "allow", "prefer", "require", "verify-ca", "verify-full"];
/** Values of libpq's `target_session_attrs`. The others would accept a read-only server. */
const SESSIONS = ["any", "read-write", "primary"];
/** Several hosts: commas in the authority after user and password, or in the parameters for hosts and ports. */
const SEVERAL_HOSTS =
  /^\w+:\/\/(?:[^/?]*@)?[^@/?]*(?:,|%2c)[^@/?]*(?:[/?]|$)|[?&](?:host|port)=[^&]*(?:,|%2c)/i;
const ONE_HOST = "a postgres:// address of one host, not of several with commas between: " +
  "that of a pooler, or a name that leads to the primary";

/** The error in a store address; null: none that can be found without connecting. */
export function addressTrouble(address: string): string | null {
  // SQLite would interpret a name that starts with `file:` as a URI.
  if (/^sqlite:(?!file:)[^\0]*[^\0/]$/.test(address)) return null;
  if (!/^postgres(?:ql)?:\/\/[^\s\0]+$/.test(address)) return ADDRESS_WORDS;
  if (SEVERAL_HOSTS.test(address)) return ONE_HOST;
  const url = parsed(address);
  const port = url?.searchParams.get("port") ?? null;
  if (url === null || url.port === "0" || (port !== null && !isPort(port))) {
    return "a postgres:// address with a host, and a port from 1 to 65535";
  }
  // As in libpq, the parameter `host` takes precedence.
  const named = url.searchParams.get("host");
  const host = named === null || named === "" ? decoded(url.hostname) ?? "" : named;
  if (host === "" || (!host.startsWith("/") && !isHost(host))) {
    return "a postgres:// address with the name or the IP address of a host";
  }
  if ([url.username, url.password, url.pathname].some((part) => decoded(part) === null)) {
    return "a postgres:// address in which % stands before two hexadecimal digits (%25 is % itself)";
  }
  const mode = url.searchParams.get("sslmode");
  if (mode !== null && !SSL_MODES.includes(mode)) return `an sslmode of ${SSL_MODES.join(", ")}`;
  const session = url.searchParams.get("target_session_attrs");
  if (session !== null && !SESSIONS.includes(session)) {
    return `a target_session_attrs of ${SESSIONS.join(", ")}, as the gateway writes`;
  }
  return null;
}

function parsed(address: string): URL | null {
  return URL.canParse(address) ? new URL(address) : null;
}

function isPort(text: string): boolean {
  return /^[1-9]\d{0,4}$/.test(text) && Number(text) <= 65_535;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export const STORE = fields({
  url: stringField(ADDRESS_WORDS).superRefine((address, context) => {
    const message = addressTrouble(address);
    if (message !== null) context.addIssue({ code: "custom", message, input: address });
  }).prefault("sqlite:./data/sluice.db")
    .describe(
      "Where keys, records and credits are kept: `sqlite:PATH`, `sqlite::memory:`, or `postgres://…` for several nodes. " +
        "`SLUICE_STORE` wins over it. A change takes a restart.",
    ),
  journal: matching(/^[^\0]*[^\0/]$/, "a path of a file, or null").nullable().prefault("./data/node")
    .describe(
      "With PostgreSQL: path, without ending, of the files in which a node keeps what the database does not have yet. Null, " +
        "or nothing can be written there: in bounded memory. With SQLite they are always beside its file.",
    ),
  connections: whole(3, 100).prefault(4)
    .describe(
      "With PostgreSQL: connections that one process opens at most, one of which listens for what others change. Nodes times " +
        "workers times this is what the database has to allow.",
    ),
  offline_seconds: seconds(1).prefault(3600)
    .describe("How long, in seconds, keys of the store are trusted after the database was last heard of."),
  retention_days: whole(1, 36_500).prefault(90)
    .describe("Days that the records of generations are kept. Older ones are kept as sums by day."),
  pepper: matching(/^[^]{16,}$/, "a secret of at least 16 characters, or null").nullable().prefault(null)
    .describe(
      "Secret that the hashes of keys are made with, at least 16 characters. Null: made at the first start and kept beside " +
        "the store. Keys of the store do not work with another one.",
    ),
});

export type StoreConfig = Value<typeof STORE>;
